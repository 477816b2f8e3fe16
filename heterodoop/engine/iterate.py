"""A job that runs again and again: a round's output is the next round's side file, until the program's criterion is met.

Each round is an ordinary job (`run_local`) with an output of its own below OUT.rounds. What is done stays there until
the job has ended, so that the same command goes on where an interrupt or a failed round stopped it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import manifest
from ..diag import Diagnostic
from ..errors import Interrupted, JobFailed, UsageError
from ..storage import inputs as storage
from . import criterion, jobconf
from .commit import refuse_existing
from .criterion import Criterion
from .job_report import check_place
from .layout import Layout
from .local import JobResult, run_local
from .plan import RunOptions, shipped
from .rounds import Rounds
from .signals import StopSignals

if TYPE_CHECKING:
    from .devices import DeviceSource

ROUNDS = 100
ROUND = "heterodoop.iterate.round"
_LIMIT = "heterodoop.iterate.rounds"
_UNTIL = "heterodoop.iterate.until"


class Wish(NamedTuple):
    """The options of an iterated job, as text where the user gave text; None = not given.

    side_file  the name of the side file, one of `--file`, that a round's output takes the place of.
    rounds     at most so many.
    until      criterion.py.
    """

    side_file: str
    rounds: str | int | None = None
    until: str | None = None


class Round(NamedTuple):
    """A round that is done: `report` is its report.json."""

    number: int
    report: Mapping[str, Any]
    until: Criterion | None
    earlier: bool  # by an earlier run of the command

    def to_json(self) -> dict[str, Any]:
        kept = {key: self.report[key] for key in ("seconds", "counters", "user_counters")}
        value = {"value": self.until.value(self.report)} if self.until else {}
        return {"round": self.number, "job": self.report["job"]["id"], "earlier": self.earlier, **kept, **value}


def run_iterated(
    bundle: Path, inputs: Sequence[str], output: str, options: RunOptions, wish: Wish, *,
    devices: DeviceSource | None = None, tell: Callable[[Round], None] = lambda done: None,
) -> JobResult:
    """Run rounds until the criterion is met, the output is the side file again, or so many were run.

    devices  as for `run_local`, a lasting one: workers stay from round to round. It is ended at the end.
    tell     called after each round, and at the start for those that an earlier run left.
    Returns the last round as the job's result; its report has all rounds as "iterate".
    Raises as `run_local`, and UsageError HD040 (no such side file), HD041 to HD043, JobFailed HD044 (a criterion on a
    counter that no round had). What was done is kept in OUT.rounds, except after the first round's failure.
    """
    refuse_existing(output)
    layout = Layout(Path(os.path.abspath(storage.local_path(output))))
    check_place(layout)
    job = _Iteration(bundle, inputs, layout, options, wish, devices, tell)
    with StopSignals() as stop:
        job.rounds.open(job.identity())
        try:
            return job.run(stop)
        except Interrupted as error:
            raise job.interrupted(error) from None
        finally:
            if devices:
                devices.end()
            job.rounds.close()


class _Iteration:
    def __init__(
        self, bundle: Path, inputs: Sequence[str], layout: Layout, options: RunOptions, wish: Wish,
        devices: DeviceSource | None, tell: Callable[[Round], None],
    ) -> None:
        given = {_LIMIT: ("--rounds", str(wish.rounds))} if wish.rounds is not None else {}
        conf = jobconf.parse(options.settings, given)
        until = wish.until if wish.until is not None else conf.get(_UNTIL)
        self.limit: int = conf.get(_LIMIT) or ROUNDS
        self.until = criterion.parse(until) if until is not None else None
        self.bundle, self.inputs, self.options, self.layout = bundle, inputs, options, layout
        self.devices, self.tell = devices, tell
        self.name = wish.side_file
        self.files = dict(shipped(options.files))
        if self.name not in self.files or self.files[self.name].is_dir():
            raise UsageError(
                f"--iterate {self.name!r}: there is no --file of this name for the first round", code="HD040",
                help=f"add --file PATH#{self.name}",
            )
        self.rounds = Rounds(layout)
        self.warnings: list[Diagnostic] = []

    def identity(self) -> dict[str, Any]:
        """What decides the rounds' results. Not in it: where and in what pieces tasks run, and when the job ends."""
        binaries = {item.path: item.sha256 for item in manifest.load(self.bundle).binaries if item.path.startswith("bin/")}
        ignore = (str(self.layout.output), str(self.layout.report), str(self.rounds.root))
        found = storage.resolve(self.inputs, ignore=ignore).files
        settings = sorted(text for text in self.options.settings if not text.startswith("heterodoop."))
        return {
            "program": binaries,
            "input": [[file.path, *_stamp(file.path)] for file in found],
            "side files": {name: _content(path) for name, path in self.files.items()} | {"": self.name},
            "settings": [*settings, str(self.options.reducers), str(self.options.record_delimiter)],
        }

    def run(self, stop: StopSignals) -> JobResult:
        earlier = len(self.rounds.reports)
        for number in range(1, earlier + 1):
            self._tell(number, earlier)
        while not (stopped := self._stopped()):
            stop.check()
            self._round()
            self._tell(len(self.rounds.reports), earlier)
        if stopped == "rounds" and self.until:
            value = self.until.value(self.rounds.reports[-1]) or 0
            what = f"--until {self.until} was not met after {self.limit} rounds: {self.until.name} is {value}"
            self.warnings.append(Diagnostic("warning", "HD045", what))
        done = [self._done(number, earlier).to_json() for number in range(1, len(self.rounds.reports) + 1)]
        report = self.rounds.commit({
            "side_file": self.name, "until": str(self.until) if self.until else None, "limit": self.limit,
            "stopped": stopped, "rounds": done,
        })
        return JobResult(self.layout.output, self.layout.report, tuple(self.warnings), report)

    def interrupted(self, error: Interrupted) -> Interrupted:
        done = len(self.rounds.reports)
        if not done:
            return error
        return Interrupted(
            f"{error.message.partition(';')[0]} in round {done + 1}; those before are kept in {str(self.rounds.root)!r}",
            help="the same command goes on there",
        )

    def _stopped(self) -> str:
        """Why no further round runs, "" where one does."""
        done = len(self.rounds.reports)
        if done and self.until and self.until.met(self.rounds.reports):
            return "until"
        if done:
            before = self.rounds.digest(done - 1) if done > 1 else _content(self.files[self.name])
            if self.rounds.digest(done) == before:
                return "unchanged"
        return "rounds" if done >= self.limit else ""

    def _round(self) -> None:
        number = len(self.rounds.reports) + 1
        files = {**self.files, self.name: self.rounds.side_file()} if number > 1 else self.files
        options = self.options._replace(
            files=[f"{path}#{name}" for name, path in files.items()], ignore=(*self.options.ignore, *self._own()),
            settings=[*self.options.settings, f"{ROUND}={number}"],
        )
        try:
            result = run_local(self.bundle, self.inputs, str(self.rounds.begin(number)), options, devices=self.devices)
        except JobFailed as error:
            raise self._failed(number, error) from None
        self.warnings += [warning for warning in result.warnings if warning not in self.warnings]
        self.rounds.add(result.report)

    def _own(self) -> tuple[str, ...]:
        return str(self.rounds.root), str(self.layout.output), str(self.layout.report)

    def _failed(self, number: int, error: JobFailed) -> JobFailed:
        """The failed round's report is the job's, as after any job that failed."""
        message = self.rounds.publish(number, f"round {number}: {error.message}")
        kept = f"the rounds before are kept in {str(self.rounds.root)!r}: the same command tries round {number} again"
        return JobFailed(message, code=error.code, help=kept if number > 1 else error.help)

    def _done(self, number: int, earlier: int) -> Round:
        return Round(number, self.rounds.reports[number - 1], self.until, number <= earlier)

    def _tell(self, number: int, earlier: int) -> None:
        self.tell(self._done(number, earlier))


def _stamp(path: str) -> tuple[int, int]:
    status = os.stat(path)
    return status.st_size, status.st_mtime_ns


def _content(path: Path) -> str:
    """A side file's SHA-256; of a folder its name alone, for what is in it is the user's affair."""
    if path.is_dir():
        return str(path)
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
