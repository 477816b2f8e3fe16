"""What a map attempt asks for (OFFER), read strictly, and what of it a driver never does.

Not here: whether a GPU is free, which side the scheduler chooses (server.py).
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from ...executor.task.cpu_task import LEAST_LINE, LINE_MAX
from ...scheduler.policies import POLICIES, Policy
from ...storage.local import SUFFIXES, UNSUPPORTED, suffix_of
from ..wire.protocol import VERSION, Malformed, Message, text_of
from .codec import CODECS
from .fetch import SplitRequest

_ATTEMPT = re.compile(r"attempt_((?:local)?[0-9]{1,19}_[0-9]{1,10})_m_([0-9]{1,10})_([0-9]{1,10})")
_SHA256 = re.compile(r"[0-9a-f]{64}|")
_NO_LIMIT = str(2**31 - 1)
_MOST_REDUCES = 100_000
TESTS = "HETERODOOP_DRIVER_TESTS"  # of the driver's own environment
_DEFAULT_POLICY = "tail"


class Declined(Exception):
    """The attempt runs on the CPU. `reason`: one sentence; `code`: of the error index."""

    def __init__(self, reason: str, code: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.code = code


@dataclass(frozen=True)
class Offer:
    """A map attempt. Sizes in bytes; `conf`: settings by their Hadoop name."""

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
    conf: Mapping[str, str]

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
        conf = _settings(message)
        request = request._replace(longest=_line_max(conf))
        return cls(
            message.number("version"), job, attempt, request, message.number("maps", 0, 2**31 - 1),
            message.number("reduces", most=2**31 - 1), bundle, message.text("codec", ""), message.text("node", ""),
            message.flag("combine"), message.text("policy", ""), conf,
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

    def setting(self, key: str, default: str = "") -> str:
        return self.conf.get(key, default)

    @property
    def scheduling(self) -> Policy:
        """Raises Declined: there is no such policy."""
        name = self.policy or _DEFAULT_POLICY
        if name not in POLICIES:
            raise Declined(f"there is no policy {name!r}", "HD615")
        return POLICIES[name]

    @property
    def delay(self) -> float:
        """heterodoop.gpu.delay: seconds that the task takes longer than it must. For tests and measurements."""
        return float(self.setting("heterodoop.gpu.delay", "0"))

    @property
    def sort_bytes(self) -> int:
        return int(self.setting("mapreduce.task.io.sort.mb", "") or self.setting("io.sort.mb", "") or "100") << 20

    @property
    def accepts_exit_code(self) -> bool:
        return self.setting("stream.non.zero.exit.is.failure", "true").strip().lower() == "false"

    @property
    def reporter_prefix(self) -> str:
        return self.setting("stream.stderr.reporter.prefix") or "reporter:"

    @property
    def bundle_name(self) -> str:
        return self.setting("heterodoop.bundle")

    def check(self) -> None:
        """Raises Declined: a driver never does such a task."""
        self.scheduling  # noqa: B018  an unknown one is declined
        if self.version != VERSION:
            raise Declined(f"the job's plug-in speaks version {self.version}, this driver {VERSION}", "HD615")
        if not self.bundle or not re.fullmatch(r"[^/\0]+", self.bundle_name) or self.bundle_name in (".", ".."):
            raise Declined("the job names no bundle", "HD615")
        if self.reduces > _MOST_REDUCES:
            raise Declined(f"{self.reduces} reducers are more than {_MOST_REDUCES}", "HD615")
        if self.codec not in CODECS:
            raise Declined(f"the map output's codec is {self.codec}", "HD615")
        if self.setting("mapreduce.input.linerecordreader.line.maxlength", _NO_LIMIT).strip() not in ("", _NO_LIMIT):
            raise Declined("the job limits the length of a line", "HD615")
        if (suffix := suffix_of(self.split.uri)) in SUFFIXES or suffix in UNSUPPORTED:
            raise Declined(f"the input is compressed ({suffix})", "HD615")
        try:
            fit = 0 <= self.delay < math.inf and 0 < self.sort_bytes <= 2047 << 20 and self.split.longest >= LEAST_LINE
        except ValueError:
            fit = False
        if fit and self.delay and os.environ.get(TESTS) != "1":
            raise Declined(f"heterodoop.gpu.delay is for tests, and this driver was started without {TESTS}=1", "HD615")
        if not fit:
            raise Declined("a setting of the job is no number that can be", "HD615")


def _line_max(conf: Mapping[str, str]) -> int:
    """heterodoop.line.max.bytes; 0 where it is no number, which no attempt may have (`check`)."""
    text = conf.get("heterodoop.line.max.bytes", "").strip() or str(LINE_MAX)
    return int(text) if re.fullmatch("[0-9]{1,18}", text) else 0


def _settings(message: Message) -> dict[str, str]:
    found = {}
    for field in message.all("conf"):
        key, equals, value = text_of(field, "OFFER conf").partition("=")
        if not equals or not key:
            raise Malformed("OFFER: a setting is not key=value")
        found[key] = value
    return found
