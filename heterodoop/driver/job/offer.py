"""What a map attempt asks for (OFFER), read strictly, and what of it a driver never does.

Not here: whether a GPU is free, which side the scheduler chooses (server.py).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...job import settings
from ...job.jobconf import JobConf
from ...job.setting import Party
from ...scheduler.policies import POLICIES, Policy
from ...storage.codecs import SUFFIXES
from ...storage.local import UNSUPPORTED, suffix_of
from ..wire.protocol import VERSION, Malformed, Message, text_of
from .codec import CODECS
from .fetch import SplitRequest

_ATTEMPT = re.compile(r"attempt_((?:local)?[0-9]{1,19}_[0-9]{1,10})_m_([0-9]{1,10})_([0-9]{1,10})")
_SHA256 = re.compile(r"[0-9a-f]{64}|")


class Declined(Exception):
    """The attempt runs on the CPU. `reason`: one sentence; `code`: of the error index."""

    def __init__(self, reason: str, code: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.code = code


@dataclass(frozen=True)
class Offer:
    """A map attempt. Sizes in bytes; `conf`: the settings that the plug-in tells.

    parts  of an attempt of several splits: these, and `split` has the length of all; empty for others.
    retry  an attempt of the task has failed: this one runs the filters, and is only counted.
    """

    version: int
    job: str
    attempt: str
    split: SplitRequest
    maps: int
    reduces: int
    bundle: str
    codec: str
    node: str
    combine: bool
    policy: str
    conf: JobConf
    parts: tuple[SplitRequest, ...] = ()
    retry: bool = False

    @classmethod
    def of(cls, message: Message) -> Offer:
        """Raises Malformed."""
        attempt, job = message.text("attempt"), message.text("job")
        found = _ATTEMPT.fullmatch(attempt)
        if not found or job != f"job_{found[1]}":
            raise Malformed("OFFER: attempt and job do not belong together")
        bundle = message.text("bundle", "")
        if not _SHA256.fullmatch(bundle):
            raise Malformed("OFFER: bundle is no SHA-256")
        request = SplitRequest(
            message.text("path"), message.number("start"), message.number("length"), message.raw("delimiter", b""),
            message.text("user"),
        )
        conf = JobConf(_settings(message), party=Party.DRIVER)
        request = request._replace(longest=_line_max(conf))
        return cls(
            message.number("version"), job, attempt, request, message.number("maps", 0, 2**31 - 1),
            message.number("reduces", most=2**31 - 1), bundle, message.text("codec", ""), message.text("node", ""),
            message.flag("combine"), message.text("policy", ""), conf,
            tuple(_part(field, request) for field in message.all("part")), message.flag("retry"),
        )

    @property
    def task(self) -> str:
        """The id of the task that this is an attempt of."""
        return f"task{self.attempt[7:].rpartition('_')[0]}"

    @property
    def numbers(self) -> tuple[int, int]:
        """Number of the task, and of the attempt."""
        _, number, attempt = self.attempt.rsplit("_", 2)
        return int(number), int(attempt)

    @property
    def scheduling(self) -> Policy:
        """Raises Declined: there is no such policy."""
        name = self.policy or settings.SETTINGS[settings.POLICY].default
        if name not in POLICIES:
            raise Declined(f"there is no policy {name!r}", "HD615")
        return POLICIES[name]

    @property
    def bundle_name(self) -> str:
        return self.conf.get(settings.BUNDLE) or ""

    def check(self) -> None:
        """Raises Declined: a driver never does such a task."""
        self.scheduling  # noqa: B018  an unknown one is declined
        if self.version != VERSION:
            raise Declined(f"the job's plug-in speaks version {self.version}, this driver {VERSION}", "HD615")
        if self.retry:
            raise Declined("an earlier attempt of the task failed", "")
        if not self.bundle or not re.fullmatch(r"[^/\0]+", self.bundle_name) or self.bundle_name in (".", ".."):
            raise Declined("the job names no bundle", "HD615")
        if self.reduces > settings.MAX_REDUCERS:
            raise Declined(f"{self.reduces} reducers are more than {settings.MAX_REDUCERS}", "HD615")
        if self.codec not in CODECS:
            raise Declined(f"the map output's codec is {self.codec}", "HD615")
        for part in self.parts or (self.split,):
            if (suffix := suffix_of(part.uri)) in SUFFIXES or suffix in UNSUPPORTED:
                raise Declined(f"the input is compressed ({suffix})", "HD615")
        if self.parts and self.split.delimiter:
            raise Declined("records of several splits end at a delimiter", "HD615")
        if self.parts and sum(part.length for part in self.parts) != self.split.length:
            raise Declined("the lengths of the parts are not that of the whole", "HD615")
        self._check_settings()

    def _check_settings(self) -> None:
        """Raises Declined: one is refused, or can have no such value."""
        for key in sorted(self.conf.text.keys() & settings.heeded_by(Party.DRIVER).keys()):
            self._check(key)
        for key, refusal in settings.refused_by(Party.DRIVER).items():
            self._check(key)
            if str(self.conf.get(key)) not in refusal.allowed:
                raise Declined(refusal.why, "HD615")

    def _check(self, key: str) -> None:
        try:
            self.conf.get(key)
        except ValueError as error:
            raise Declined(f"the job's setting {key} {error}", "HD615") from None


def _line_max(conf: JobConf) -> int:
    """heterodoop.line.max.bytes; 0 where it is no number, which no attempt may have (`check`)."""
    try:
        most: int = conf.get(settings.LINE_BYTES)
    except ValueError:
        return 0
    return most


def _part(field: bytes, whole: SplitRequest) -> SplitRequest:
    """ADDRESS NUL START NUL LENGTH. Raises Malformed."""
    uri, *numbers = text_of(field, "OFFER part").split("\0")
    if len(numbers) != 2 or not all(re.fullmatch("[0-9]{1,18}", number) for number in numbers):
        raise Malformed("OFFER: a part is not address, start and length")
    return whole._replace(uri=uri, start=int(numbers[0]), length=int(numbers[1]))


def _settings(message: Message) -> dict[str, str]:
    found = {}
    for field in message.all("conf"):
        key, equals, value = text_of(field, "OFFER conf").partition("=")
        if not equals or not key:
            raise Malformed("OFFER: a setting is not key=value")
        found[key] = value
    return found
