"""Job settings as a user gives them: `-D key=value` as in Hadoop, checked against the table (settings.py) and parsed.

What the table does not have goes to the filters untouched. Not here: what `submit` makes of them (hadoop/submit).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ..diag import Diagnostic
from ..errors import UsageError
from ..executor.task.split import SPLIT_BYTES, SplitSize
from ..executor.task.streaming_env import OLD_NAMES
from . import settings as names
from .kinds import integer
from .setting import Party

_HEEDED, _REFUSED = names.heeded_by(Party.RUN), names.refused_by(Party.RUN)
_NEW_NAMES = {old: new for new, old in OLD_NAMES.items()}
_UNITS = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "0": "\0", "\\": "\\"}

Options = Mapping[str, tuple[str, str]]


class JobConf(NamedTuple):
    """All settings of a job by Hadoop name (`text`), those of the table parsed (`get`), and what to warn of.

    party  who reads them: some defaults differ.
    """

    text: Mapping[str, str]
    warnings: tuple[Diagnostic, ...] = ()
    party: Party = Party.RUN

    def get(self, key: str) -> Any:
        """Parsed value of a setting of the table; None where it has no default and was not set.

        Raises ValueError: it has a value that cannot be. `parse` has refused such a job.
        """
        setting = names.SETTINGS[key]
        if key in self.text:
            return setting.kind.parse(self.text[key])
        default = setting.default_for(self.party)
        return setting.kind.parse(default) if default else None

    @property
    def sort_bytes(self) -> int:
        """Memory that one task's sort or merge may hold. The setting in bytes is for tests of `run`."""
        exact: int = self.get(names.SORT_BYTES) if self.party is Party.RUN else 0
        return exact or self.get("mapreduce.task.io.sort.mb") << 20

    @property
    def skip_from(self) -> int:
        """Length from which records are passed over; 0: none is."""
        length: int = self.get(names.MAX_LENGTH)
        return 0 if length == names.NO_LIMIT else length

    def memory(self, key: str) -> int:
        """Bytes that a task's program may use, of the setting `key`; 0: any. Under Hadoop the container is YARN's."""
        return (self.get(key) or 0) << 20 if self.party is Party.RUN else 0

    @property
    def split_size(self) -> SplitSize:
        """Where a user says something about it, the rest is Hadoop's."""
        maps = self.get(names.MAPS) or 0
        said = maps or names.MIN_SPLIT in self.text
        return SplitSize(self.get(names.MAX_SPLIT) or (SPLIT_BYTES if said else 0), self.get(names.MIN_SPLIT), maps=maps)


def parse(definitions: Sequence[str], options: Options) -> JobConf:
    """Settings of `-D` and of the command line's own options, for `run`.

    Raises as `gather`; UsageError HD030, HD032 (a value that cannot be), HD031 (a setting that is not supported).
    """
    text, warnings = gather(definitions, options, _refuse)
    for key, value in text.items():
        if key in _HEEDED or key in options:
            _value(key, value, options[key][0] if key in options else f"-D {key}")
    return JobConf(text, (*warnings, *names.misspelt(text, _HEEDED)))


def gather(
    definitions: Sequence[str], options: Options, refuse: Callable[[str, str], None],
) -> tuple[dict[str, str], list[Diagnostic]]:
    """What settings a command line has, by their present names (mapred.reduce.tasks is an old one), and what to warn of.

    definitions  `key=value`, of `-D`; the last of a key wins.
    options      key -> (option's name for messages, value); an option wins over a -D, with a warning if they differ.
    refuse       looks at each -D, and raises if it may not be.
    Raises UsageError HD030 (no `key=value`).
    """
    text: dict[str, str] = {}
    warnings = []
    for definition in definitions:
        key, value = _definition(definition)
        refuse(key, value)
        text[key] = value
    for key, (option, value) in options.items():
        if key in text and text[key].strip() != value:
            warnings.append(Diagnostic("warning", "HD034", f"{option} {value} wins over -D {key}={text[key]}"))
        text[key] = value
    return text, warnings


def parse_size(text: str, option: str) -> int:
    """Bytes of `64m`, `1g`, `4096`; raises UsageError HD032 naming the option."""
    match = re.fullmatch(r"([0-9]{1,18})([bkmgt]?)(?:i?b)?", text.strip().lower())
    if not match or not 1 <= (nbytes := int(match[1]) * _UNITS[match[2]]) <= names.MAX_BYTES:
        raise UsageError(f"{option} {text!r}: must be a number of bytes from 1, like 4096, 64m or 1g", code="HD032")
    return nbytes


def parse_count(text: str, option: str, low: int, high: int) -> int:
    """A whole number; raises UsageError HD032 naming the option."""
    try:
        return int(integer(low, high).parse(text))
    except ValueError as error:
        raise UsageError(f"{option} {text!r}: {error}", code="HD032") from None


def unescape(text: str, option: str) -> str:
    r"""`\n \r \t \0 \\ \xHH` of an option's text to what they mean (bytes above 127 as surrogate escapes).

    Raises UsageError HD032 for an empty text or another escape.
    """
    def one(match: re.Match[str]) -> str:
        body = match[1]
        if body[:1] == "x" and len(body) == 3:
            return bytes([int(body[1:], 16)]).decode("utf-8", "surrogateescape")
        if body not in _ESCAPES:
            raise UsageError(rf"{option} {text!r}: \{body} is no escape; there are \n \r \t \0 \\ \xHH", code="HD032")
        return _ESCAPES[body]

    if not text:
        raise UsageError(f"{option} must not be empty", code="HD032")
    return re.sub(r"\\(x[0-9A-Fa-f]{2}|.|$)", one, text, flags=re.DOTALL)


def _definition(definition: str) -> tuple[str, str]:
    key, equals, value = definition.partition("=")
    key = key.strip()
    if not equals or not key or "\0" in definition:
        raise UsageError(f"-D {definition!r}: must be KEY=VALUE", code="HD030")
    return _NEW_NAMES.get(key, key), value


def _value(key: str, value: str, option: str) -> Any:
    try:
        return names.SETTINGS[key].kind.parse(value)
    except ValueError as error:
        raise UsageError(f"{option} {value!r}: {error}", code="HD032" if option.startswith("--") else "HD030") from None


def _refuse(key: str, value: str) -> None:
    refusal = _REFUSED.get(key)
    if refusal and value not in refusal.allowed and value.strip().lower() not in refusal.allowed:
        raise UsageError(
            f"-D {key}={value}: this setting is not supported: {refusal.why}", code="HD031",
            help="remove it, or run the job under Hadoop",
        )
