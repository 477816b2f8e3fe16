"""A job that runs again and again: a round's output is the next round's side file, until the program's criterion is met.

Each round is an ordinary job (`run_job`) with an output of its own below OUT.rounds. What is done stays there until
the job has ended, so that the same command goes on where an interrupt or a failed round stopped it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...diag import Diagnostic
from ...errors import Interrupted, JobFailed, UsageError
from ...job import jobconf
from ...job.input_format import input_format
from ...job.iterate import Iteration, SideFile
from ...job.rounds import Rounds, identity
from ...job.settings import COMPRESS, INPUT_FORMAT, ROUND
from ...job.spec import JobSpec
from ...job.stopping import Round, StopRules, content
from ...storage import inputs as storage
from ...storage.shipped import shipped
from ..job.layout import Layout
from ..run.commit import refuse_existing
from ..run.job_report import check_place
from ..run.local import JobResult, run_job
from ..run.plan import RunOptions
from ..terminal.signals import StopSignals
from .folder import FolderStore

if TYPE_CHECKING:
    from ..devices.devices import DeviceSource


def run_iterated(
    spec: JobSpec, options: RunOptions, *, devices: DeviceSource | None = None,
    tell: Callable[[Round], None] = lambda done: None,
) -> JobResult:
    """Run rounds until the criterion is met, the output is the side file again, or so many were run.

    spec     with a Wish in it. options: what is not in it.
    devices  as for `run_job`, a lasting one: workers stay from round to round. It is ended at the end.
    tell     called after each round, and at the start for those that an earlier run left.
    Returns the last round as the job's result; its report has all rounds as "iterate".
    Raises as `run_job`, and UsageError HD031 (a compressed output), HD040 (no such side file), HD041 to HD043, JobFailed
    HD044 (a criterion on a counter that no round had). What was done is kept in OUT.rounds, except after the first round's
    failure.
    """
    refuse_existing(spec.output)
    layout = Layout(Path(os.path.abspath(storage.local_path(spec.output))))
    check_place(layout)
    job = _Job(spec, layout, options, devices, tell)
    with StopSignals() as signals:
        job.rounds.open(job.identity())
        try:
            return job.run(signals)
        except Interrupted as error:
            raise job.interrupted(error) from None
        finally:
            if devices:
                devices.end()
            job.rounds.close(keep=False)


class _Job:
    def __init__(
        self, spec: JobSpec, layout: Layout, options: RunOptions, devices: DeviceSource | None,
        tell: Callable[[Round], None],
    ) -> None:
        if spec.again is None:
            raise ValueError("a job that runs once has no rounds")
        form = {} if options.input_format is None else {INPUT_FORMAT: ("-inputformat", options.input_format)}
        conf = jobconf.parse(spec.settings, {**spec.again.options, **form})
        self.stop = StopRules.of(spec.again, conf)
        self.spec, self.options, self.layout = spec, options, layout
        self.devices, self.tell = devices, tell
        if conf.get(COMPRESS):
            raise UsageError(
                f"{COMPRESS} is true: a round's output is the next one's side file, which programs read as it is",
                code="HD031", help=f"-D {COMPRESS}=false",
            )
        self.as_text: bool = conf.get(storage.AS_TEXT)
        self.sequence = input_format(conf).of_sequence_files
        self.name = spec.again.side_file
        self.files = dict(shipped(spec.files))
        if self.name not in self.files or self.files[self.name].is_dir():
            raise spec.again.missing()
        self.first = SideFile(self.files[self.name], content(self.files[self.name]))
        self.store = FolderStore(layout)
        self.rounds = Rounds(self.store)
        self.warnings: list[Diagnostic] = []

    def identity(self) -> dict[str, Any]:
        ignore = (str(self.layout.output), str(self.layout.report), str(self.store.root))
        found = storage.resolve(self.spec.inputs, ignore=ignore, as_text=self.as_text, sequence=self.sequence).files
        settings, given = sorted(text for text in self.spec.settings if not text.startswith("heterodoop.")), self.options
        return identity(
            self.spec.bundle, [[file.path, *_stamp(file.path)] for file in found],
            {name: content(path) for name, path in self.files.items()}, self.name,
            [*settings, str(given.reducers), str(given.record_delimiter), *filter(None, [given.input_format])],
        )

    def run(self, signals: StopSignals) -> JobResult:
        def one(number: int, side: SideFile) -> dict[str, Any]:
            signals.check()
            return self._round(number, side)

        job = Iteration(self.rounds, self.stop, self.name, self.first, self.store.side, self.tell)
        stopped = job.run(one)
        self.warnings += job.unmet(stopped)
        report = self.store.commit(len(self.rounds.done), self.rounds.done[-1], job.summary(stopped))
        return JobResult(self.layout.output, self.layout.report, tuple(self.warnings), report)

    def interrupted(self, error: Interrupted) -> Interrupted:
        done = len(self.rounds.done)
        if not done:
            return error
        return Interrupted(
            f"{error.message.partition(';')[0]} in round {done + 1}; those before are kept in {self.store.where}",
            help="the same command goes on there",
        )

    def _round(self, number: int, side: SideFile) -> dict[str, Any]:
        files = {**self.files, self.name: side.path}
        spec = self.spec._replace(
            output=str(self.store.output(number)), files=tuple(f"{path}#{name}" for name, path in files.items()),
            settings=(*self.spec.settings, f"{ROUND}={number}"),
        )
        options = self.options._replace(ignore=(*self.options.ignore, *self._own()))
        self.store.clear(number)
        try:
            result = run_job(spec, options, devices=self.devices)
        except JobFailed as error:
            raise self._failed(number, error) from None
        self.warnings += [warning for warning in result.warnings if warning not in self.warnings]
        return result.report

    def _own(self) -> tuple[str, ...]:
        return str(self.store.root), str(self.layout.output), str(self.layout.report)

    def _failed(self, number: int, error: JobFailed) -> JobFailed:
        """The failed round's report is the job's, as after any job that failed."""
        message = self.store.publish(number, f"round {number}: {error.message}")
        return JobFailed(message, code=error.code, help=self.rounds.kept(number) or error.help)


def _stamp(path: str) -> tuple[int, int]:
    status = os.stat(path)
    return status.st_size, status.st_mtime_ns
