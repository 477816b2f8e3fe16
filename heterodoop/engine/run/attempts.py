"""One attempt from its folder to its outcome: what a slot's thread does.

Every file of an attempt is private until it ends well; then its results wait for a commit, and what its filters left
behind is removed. A failed attempt leaves its log and nothing else.
"""

from __future__ import annotations

import contextlib
from collections import deque
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import HeteroDoopError
from ...executor.kernel.host_reduce import HostReduces
from ...executor.native.runtime import Native, Progress
from ...executor.task.cpu_task import MapRun, OnCpu, Place, TaskRunner, changed_file, run_reduce
from ...executor.task.report import AttemptResult, Crash, TaskFailure
from ...executor.task.streaming_env import TaskNames
from ...scheduler.model import Attempt, TaskId
from ...storage.codecs import Form, compress
from ...values import dataclass
from ..job.layout import AttemptFolder, Layout, part_name, remove_tree
from .commit import commit_attempt
from .plan import Plan
from .shuffle import Shuffle

if TYPE_CHECKING:
    from ..devices.first_check import MapTask


WATCHED_BYTES = 128 << 10  # twice what a filter's stdin reads at a time (runtime/cpu/stdio_buffers.c)


class _Cancelled(Exception):
    """The attempt was told to stop while its part file was compressed."""


@dataclass(frozen=True)
class AttemptRunner:
    """Runs attempts of one job; several threads may call it at a time.

    on_cpu       runs the map tasks of CPU slots.
    on_device    runs those of GPU slots; None: there are no such slots. `spare`: folders that can serve again.
    several      runs one of several splits, on a device or of small files as a host kernel, or fails.
    host_reduce  runs reduce tasks; None: they run as filters.
    crashes    of tasks whose filter failed and that are tried again: the last attempt's.
    """

    plan: Plan
    layout: Layout
    shuffle: Shuffle
    runner: TaskRunner
    on_cpu: OnCpu
    on_device: MapTask | None = None
    host_reduce: HostReduces | None = None
    several: MapTask | None = None
    spare: deque[AttemptFolder] = field(default_factory=deque)
    crashes: dict[TaskId, Crash] = field(default_factory=dict)

    def __call__(self, attempt: Attempt, progress: Progress) -> AttemptResult:
        folder = self.layout.attempt(attempt)
        try:
            result = self._run(attempt, folder, progress)
        except OSError as error:
            why = f"{error.filename}: {error.strerror}" if error.filename else str(error)
            result = AttemptResult(failure=TaskFailure(f"cannot use the task's files: {why}", "HD405"))
        except HeteroDoopError as error:
            result = AttemptResult(failure=TaskFailure(error.message, error.code))
        if result.failure and attempt.task.kind == "reduce":
            result = self._lost(result, progress)
        if result.failure and attempt.splits > 1:  # no failure of a task: each is tried by itself
            self.layout.log(attempt).unlink(missing_ok=True)
        elif result.failure:
            _append(self.layout.log(attempt), result.failure)
        if result.failure or result.cancelled:
            remove_tree(folder.root)
        else:
            folder.tidy()
        return result

    def commit(self, attempt: Attempt) -> None:
        """The attempt's files become its task's. Raises JobFailed HD406."""
        folder = self.layout.attempt(attempt)
        commit_attempt(self.layout, folder)
        if folder.can_serve_again():
            self.spare.append(folder)
        else:
            remove_tree(folder.root)

    def discard(self, attempt: Attempt) -> None:
        """Nothing of the attempt is wanted: another one of its task was sooner. What it left is removed, its log too."""
        remove_tree(self.layout.attempt(attempt).root)
        for path in (*self.layout.map_output(attempt), self.layout.log(attempt)):
            with contextlib.suppress(OSError):
                path.unlink()

    def _run(self, attempt: Attempt, folder: AttemptFolder, progress: Progress) -> AttemptResult:
        try:
            used = self.spare.pop()
        except IndexError:
            used = None
        folder.make(self.plan.files, used)
        run = self._map if attempt.task.kind == "map" else self._reduce
        result = run(attempt, folder, progress)
        part = folder.out / part_name(attempt.task.number)
        if self.plan.packing and not result.failure and not result.cancelled and part.exists():
            return self._pack(part, self.plan.packing, result, progress)
        return result

    def _pack(self, part: Path, form: Form, result: AttemptResult, progress: Progress) -> AttemptResult:
        """The attempt's part file, compressed. Raises OSError."""
        def check() -> None:
            if progress.cancelled:
                raise _Cancelled

        try:
            compress(part, part.with_name(part.name + form.suffix), form.codec, check)
        except _Cancelled:
            return AttemptResult(cancelled=True)
        part.unlink()
        return result

    def _map(self, attempt: Attempt, folder: AttemptFolder, progress: Progress) -> AttemptResult:
        out, index = self.layout.map_output(attempt)
        if not self.plan.cpu.reducers:
            out = folder.out / part_name(attempt.task.number)
        split = self.plan.splits[attempt.task.number]
        run = MapRun(self.plan.cpu, split, self._place(attempt, folder), out, index)
        on_device = self.on_device if attempt.slot.kind == "gpu" else None
        if attempt.splits > 1:
            result = self._together(run, attempt, progress)
        else:
            result = (on_device or self.on_cpu)(run, progress)
        changed = None if result.cancelled else changed_file(split)
        failure = changed or self._crashed(attempt.task, result.failure)
        return replace(result, failure=failure) if failure else result

    def _together(self, run: MapRun, attempt: Attempt, progress: Progress) -> AttemptResult:
        """Several splits of a file as one, or several files.

        Fails where a pair does not read back: then nobody knows what the reducer makes of what was combined over them all.
        """
        assert self.several is not None
        splits = [self.plan.splits[number] for number in attempt.numbers]
        names = [run.place.names._replace(number=number, split=self.plan.splits[number]) for number in attempt.numbers]
        others = tuple(run.place._replace(names=one) for one in names[1:])
        whole = splits[0]._replace(length=sum(split.length for split in splits))
        result = self.several(replace(run, split=whole, others=others), progress)
        if not result.failure and not result.cancelled and (result.runs > 1 or result.counters.get("UNREADABLE_PAIRS")):
            return replace(result, failure=TaskFailure("a pair does not read back", "HD407"))
        return result

    def _crashed(self, task: TaskId, failure: TaskFailure | None) -> TaskFailure | None:
        """The failure; permanent where a filter ended by the signal of the attempt before, on a record both had. One that
        ends with an exit status is tried as often as Hadoop does; its record is known from the second attempt on.

        On which record that one failed is not known: a filter reads ahead, by 64 KiB as a rule.
        """
        if failure is None or failure.crash is None:
            return failure
        crash, before = failure.crash, self.crashes.get(task)
        self.crashes[task] = crash
        same = before is not None and (crash.signal, crash.combiner) == (before.signal, before.combiner)
        if before is None or not same or not crash.signal or not crash.record or crash.read > before.read:
            return failure
        what = "the attempt before ended by the same signal there or close behind, so the task is not tried again"
        return failure._replace(message=f"{failure.message}; {what}", permanent=True)

    def _reduce(self, attempt: Attempt, folder: AttemptFolder, progress: Progress) -> AttemptResult:
        segments = self.shuffle.segments(attempt.task.number)
        out = folder.out / part_name(attempt.task.number)
        place, job = self._place(attempt, folder), self.plan.cpu
        if self.host_reduce:
            result = self.host_reduce.run_reduce(job, segments, place, out, progress)
        else:
            result = run_reduce(self.runner, job, segments, place, out, progress)
        failure = self._crashed(attempt.task, result.failure)
        return replace(result, failure=failure) if failure else result

    def _lost(self, result: AttemptResult, progress: Progress) -> AttemptResult:
        """A failed reduce attempt; where map outputs made it fail, these are named."""
        failure, reducers = result.failure, self.plan.cpu.reducers
        if failure is None or failure.code != "HD405" or not isinstance(self.runner, Native):
            return result
        lost = self.shuffle.damaged(failure.message, reducers, self.runner, progress)
        return replace(result, lost=lost, failure=failure._replace(code="HD431")) if lost else result

    def _place(self, attempt: Attempt, folder: AttemptFolder) -> Place:
        task = attempt.task
        split = self.plan.splits[task.number] if task.kind == "map" else None
        names = TaskNames(
            self.plan.job_id, task.kind == "map", task.number, attempt.number, folder.out, folder.tmp, split,
        )
        crash = self.crashes.get(task)
        place = Place(folder.work, folder.root, self.layout.log(attempt), names)
        if crash is None:
            return place
        watch_from = max(crash.read - WATCHED_BYTES, 0)
        return place._replace(combine_watch_from=watch_from) if crash.combiner else place._replace(watch_from=watch_from)


def _append(log: Path, failure: TaskFailure) -> None:
    """The reason goes to the attempt's log too; a full disk must not hide it from the user."""
    try:
        with open(log, "ab") as file:
            file.write(f"heterodoop: {failure.message}\n".encode("utf-8", "backslashreplace"))
    except OSError:
        pass
