"""One attempt from its folder to its outcome: what a slot's thread does.

Every file of an attempt is private until it ends well; then its results wait for a commit, and what its filters left
behind is removed. A failed attempt leaves its log and nothing else.
"""

from __future__ import annotations

import contextlib
from collections import deque
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import HeteroDoopError
from ..executor.cpu_task import MapRun, Place, TaskRunner, changed_file, run_map, run_reduce
from ..executor.native import Progress
from ..executor.report import AttemptResult, TaskFailure
from ..executor.streaming_env import TaskNames
from ..scheduler.model import Attempt
from .commit import commit_attempt
from .layout import AttemptFolder, Layout, part_name, remove_tree
from .plan import Plan
from .shuffle import Shuffle

if TYPE_CHECKING:
    from .first_check import MapTask


@dataclass(frozen=True)
class AttemptRunner:
    """Runs attempts of one job; several threads may call it at a time.

    on_device  runs the map tasks of GPU slots; None: there are no such slots. `spare`: folders that can serve again.
    """

    plan: Plan
    layout: Layout
    shuffle: Shuffle
    runner: TaskRunner
    on_device: MapTask | None = None
    spare: deque[AttemptFolder] = field(default_factory=deque)

    def __call__(self, attempt: Attempt, progress: Progress) -> AttemptResult:
        folder = self.layout.attempt(attempt)
        try:
            result = self._run(attempt, folder, progress)
        except OSError as error:
            why = f"{error.filename}: {error.strerror}" if error.filename else str(error)
            result = AttemptResult(failure=TaskFailure(f"cannot use the task's files: {why}", "HD405"))
        except HeteroDoopError as error:
            result = AttemptResult(failure=TaskFailure(error.message, error.code))
        if result.failure:
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
        return run(attempt, folder, progress)

    def _map(self, attempt: Attempt, folder: AttemptFolder, progress: Progress) -> AttemptResult:
        out, index = self.layout.map_output(attempt)
        if not self.plan.cpu.reducers:
            out = folder.out / part_name(attempt.task.number)
        split = self.plan.splits[attempt.task.number]
        run = MapRun(self.plan.cpu, split, self._place(attempt, folder), out, index)
        if self.on_device and attempt.slot.kind == "gpu":
            result = self.on_device(run, progress)
        else:
            result = run_map(self.runner, run.job, run.split, run.place, run.out, run.index, progress)
        changed = None if result.cancelled else changed_file(split)
        return replace(result, failure=changed) if changed else result

    def _reduce(self, attempt: Attempt, folder: AttemptFolder, progress: Progress) -> AttemptResult:
        segments = self.shuffle.segments(attempt.task.number)
        out = folder.out / part_name(attempt.task.number)
        return run_reduce(self.runner, self.plan.cpu, segments, self._place(attempt, folder), out, progress)

    def _place(self, attempt: Attempt, folder: AttemptFolder) -> Place:
        task = attempt.task
        split = self.plan.splits[task.number] if task.kind == "map" else None
        names = TaskNames(
            self.plan.job_id, task.kind == "map", task.number, attempt.number, folder.out, folder.tmp, split,
        )
        return Place(folder.work, folder.root, self.layout.log(attempt), names)


def _append(log: Path, failure: TaskFailure) -> None:
    """The reason goes to the attempt's log too; a full disk must not hide it from the user."""
    try:
        with open(log, "ab") as file:
            file.write(f"heterodoop: {failure.message}\n".encode("utf-8", "backslashreplace"))
    except OSError:
        pass
