"""When a job that runs again and again is done: a program's criterion, an output that is the side file again, enough rounds.

Not here: what a criterion is (`criterion`), the loop (`iterate`), and where rounds are kept (`rounds`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .. import manifest
from ..diag import Diagnostic
from ..errors import UsageError
from . import criterion
from .criterion import Criterion
from .jobconf import JobConf
from .settings import ROUNDS, UNTIL

_MOST = 100  # rounds, where nothing is said

Report = Mapping[str, Any]


class IterateOptions(NamedTuple):
    """The options of an iterated job, as text where the user gave text; None = not given.

    side_file  the name of the side file, one of `--file`, that a round's output takes the place of.
    rounds     at most so many.
    until      criterion.py.
    """

    side_file: str
    rounds: str | int | None = None
    until: str | None = None

    @property
    def options(self) -> dict[str, tuple[str, str]]:
        """The setting that an option stands for -> (the option, its value), as `jobconf.parse` takes them."""
        return {ROUNDS: ("--rounds", str(self.rounds))} if self.rounds is not None else {}

    def missing(self) -> UsageError:
        """HD040: no --file has the name."""
        return UsageError(
            f"--iterate {self.side_file!r}: there is no --file of this name for the first round", code="HD040",
            help=f"add --file PATH#{self.side_file}",
        )


class Round(NamedTuple):
    """A round that is done. `report` has "job", "seconds", "counters" and "user_counters", as report.json has them."""

    number: int
    report: Report
    until: Criterion | None
    earlier: bool  # by an earlier run of the command

    def to_json(self) -> dict[str, Any]:
        kept = {key: self.report[key] for key in ("seconds", "counters", "user_counters")}
        value = {"value": self.until.value(self.report)} if self.until else {}
        job = self.report["job"]["id"]
        return {"round": self.number, "job": job, "earlier": self.earlier, **kept, **self._input(), **value}

    def _input(self) -> dict[str, Any]:
        """Bytes of input that maps read, and those that a device had kept; of a cluster nothing is known."""
        device, sides = self.report.get("device", {}), self.report.get("map", {})
        if "cpu" not in sides:
            return {}
        read = sides["cpu"]["bytes"] + device.get("read_bytes", 0)
        return {"input": {"read_bytes": read, "kept_bytes": device.get("kept_bytes", 0)}}


class StopRules(NamedTuple):
    """The rules. `limit`: rounds at most."""

    limit: int
    until: Criterion | None

    @classmethod
    def of(cls, wish: IterateOptions, conf: JobConf) -> StopRules:
        """`conf`: with the wish's options in it; the wish's `until` wins. Raises UsageError HD041."""
        text = wish.until if wish.until is not None else conf.get(UNTIL)
        return cls(conf.get(ROUNDS) or _MOST, criterion.parse(text) if text is not None else None)

    def why(self, reports: Sequence[Report], unchanged: Callable[[], bool]) -> str:
        """Why no further round runs: "until", "unchanged", "rounds"; "" where one does.

        unchanged  whether the last round gave the side file that it was made with; asked only if the criterion is not met.
        Raises JobFailed HD044.
        """
        if reports and self.until and self.until.met(reports):
            return "until"
        if reports and unchanged():
            return "unchanged"
        return "rounds" if len(reports) >= self.limit else ""

    def unmet(self, stopped: str, reports: Sequence[Report]) -> list[Diagnostic]:
        """The warning HD045 where there were enough rounds before the criterion was met."""
        if stopped != "rounds" or not self.until:
            return []
        value = self.until.value(reports[-1]) or 0
        what = f"--until {self.until} was not met after {self.limit} rounds: {self.until.name} is {value}"
        return [Diagnostic("warning", "HD045", what)]

    def summary(self, side_file: str, stopped: str, rounds: Iterable[Round]) -> dict[str, Any]:
        """What a report has as "iterate"."""
        return {
            "side_file": side_file, "until": str(self.until) if self.until else None, "limit": self.limit,
            "stopped": stopped, "rounds": [done.to_json() for done in rounds],
        }

    def rounds(self, reports: Sequence[Report], earlier: int) -> list[Round]:
        """`earlier`: how many an earlier run of the command left."""
        return [Round(number, report, self.until, number <= earlier) for number, report in enumerate(reports, 1)]


def program(bundle: Path) -> dict[str, str]:
    """The filters of a bundle by their SHA-256: what decides a round's result. Kernels give the same bytes."""
    return {item.path: item.sha256 for item in manifest.load(bundle).binaries if item.path.startswith("bin/")}


def content(path: Path) -> str:
    """A side file's SHA-256; of a folder its name alone, for what is in it is the user's affair."""
    if path.is_dir():
        return str(path)
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
