"""One attempt of a reduce task as a host kernel: a program of the bundle that does what merge and reduce filter do.

Its result is what `cpu_task.run_reduce` gives, or the filter does the task in the same attempt, and the result says why. Not
here: the program's run (runtime/host/host_kernel/reduce.cpp), the program itself (runtime/hostlane/reduce).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...manifest import Manifest
from ..native.runtime import Progress, Segment, TaskStatus
from ..task.cpu_task import CpuJob, Place, TaskRunner, begin_again, filter_command, reduce_result, reduce_spec, run_reduce
from ..task.report import AttemptResult
from .host_kernel import Left, Tries, by_filters


def reduce_program(found: Manifest, bundle: Path) -> Path | None:
    """The host kernel that a job's reduce tasks can run as; None: there is none. bundle: absolute."""
    program = found.program("reduce")
    return bundle / program.host.binary if program and program.host else None


@dataclass
class HostReduces:
    """The reduce tasks of a job as host kernels; several threads may run them at a time. threads: of one task, at most."""

    program: Path
    runner: TaskRunner
    threads: int = 1
    _tries: Tries = field(default_factory=Tries)

    def run_reduce(
        self, job: CpuJob, segments: Sequence[Segment], place: Place, out: Path, progress: Progress,
    ) -> AttemptResult:
        """A reduce task, as `cpu_task.run_reduce`; with `left` set where the filter did it.

        An attempt whose filter is watched, because it failed before, is the filter's, and so is a task without a pair: what
        a filter without input prints is thrown away.
        """
        if self._tries.given_up or place.watch_from is not None or not segments:
            left = Left(self._tries.given_up if segments else "")
            return by_filters(run_reduce(self.runner, job, segments, place, out, progress), left)
        done = self.run_alone(job, segments, place, out, progress)
        self._tries.note(done)
        if isinstance(done, AttemptResult):
            return done
        if progress.cancelled:
            return AttemptResult(cancelled=True)
        begin_again(place, progress)
        return by_filters(run_reduce(self.runner, job, segments, place, out, progress), done)

    def run_alone(
        self, job: CpuJob, segments: Sequence[Segment], place: Place, out: Path, progress: Progress,
    ) -> AttemptResult | Left:
        """A reduce task as a host kernel, or why the filter must run it."""
        host = filter_command(job, self.program, place)
        spec = replace(reduce_spec(job, segments, place, out), host=host, threads=self.threads)
        result = self.runner.reduce_task(spec, progress)
        if result.status in (TaskStatus.HOST_LEFT, TaskStatus.HOST_SILENT):
            return Left(result.message, result.seconds.get("total", 0.0), result.status is TaskStatus.HOST_SILENT)
        return replace(reduce_result(result), host=True)
