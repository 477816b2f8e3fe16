"""One reduce task by its filter and as a host kernel, over the same map outputs, and where the two parts differ.

Not here: which tasks there are, and the map tasks (verify.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...errors import JobFailed
from ...executor.kernel.host_kernel import Left
from ...executor.kernel.host_reduce import HostReduces
from ...executor.native.runtime import Native, Progress, Segment
from ...executor.task.cpu_task import Place, run_reduce
from ...executor.task.map_output import MapOutput
from ...executor.task.report import AttemptResult
from ...executor.task.streaming_env import TaskNames
from ...scheduler.model import Attempt, Slot, TaskId
from ..devices.compare import Difference, first_line, shown
from ..job.layout import Layout, remove_tree
from ..run.job_report import HOST_KERNEL
from ..run.plan import Plan
from .checker import Verdict

_COUNTERS = ("REDUCE_INPUT_GROUPS", "REDUCE_INPUT_RECORDS", "REDUCE_OUTPUT_RECORDS")
_THREADS = 3  # of the host kernel: parts are done in other orders than one thread does them


@dataclass
class ReduceChecker:
    """Checks reduce tasks of one job; several threads may call `check` at a time.

    program  the host kernel. outputs: of the job's map tasks, made by filters.
    """

    plan: Plan
    program: Path
    layout: Layout
    native: Native
    outputs: dict[int, MapOutput]
    _running: list[Progress] = field(default_factory=list)
    _cancelled: bool = False

    def check(self, number: int) -> Verdict:
        """Raises JobFailed where the filter fails, OSError."""
        verdict = Verdict(number, f"partition {number} of {self.plan.shape.reduces}", "equal", kind="reduce")
        segments = self._segments(number)
        files = self.layout.maps / f"reduce{number}.filter", self.layout.maps / f"reduce{number}.host"
        try:
            return self._compared(verdict, segments, files)
        finally:
            for path in files:
                path.unlink(missing_ok=True)

    def cancel(self) -> None:
        """Stop what runs; the calls end with an error."""
        self._cancelled = True
        for progress in list(self._running):
            progress.cancel()

    def _compared(self, verdict: Verdict, segments: list[Segment], files: tuple[Path, Path]) -> Verdict:
        job, number = self.plan.cpu, verdict.task
        one = self._attempt(number, lambda place, progress: run_reduce(
            self.native, job, segments, place, files[0], progress))
        assert isinstance(one, AttemptResult)
        verdict = replace(
            verdict, records=one.counters["REDUCE_INPUT_RECORDS"], pairs=one.counters["REDUCE_OUTPUT_RECORDS"])
        if not segments:  # the filter's in every job
            return verdict
        host = HostReduces(self.program, self.native, _THREADS)
        other = self._attempt(number, lambda place, progress: host.run_alone(job, segments, place, files[1], progress))
        if isinstance(other, Left):
            return replace(verdict, outcome="cpu-only", reason=other.reason)
        difference = _difference(one, other, files)
        return replace(verdict, outcome="different", difference=difference) if difference else verdict

    def _segments(self, number: int) -> list[Segment]:
        found = (output.segment(number) for _, output in sorted(self.outputs.items()))
        return [segment for segment in found if not segment.empty]

    def _attempt(
        self, number: int, run: Callable[[Place, Progress], AttemptResult | Left],
    ) -> AttemptResult | Left:
        """Run the task in folders that are new but have the same names every time."""
        attempt, progress = Attempt(TaskId("reduce", number), 0, Slot(0, "cpu")), Progress()
        folder, log = self.layout.attempt(attempt), self.layout.log(attempt)
        self._running.append(progress)
        if self._cancelled:
            progress.cancel()
        folder.make(self.plan.files, None)
        try:
            names = TaskNames(self.plan.job_id, False, number, 0, folder.out, folder.tmp, None)
            result = run(Place(folder.work, folder.root, log, names), progress)
        finally:
            remove_tree(folder.root)
            log.unlink(missing_ok=True)
        if isinstance(result, AttemptResult) and (result.failure or result.cancelled):
            what = result.failure.message if result.failure else "it was stopped"
            code = result.failure.code if result.failure else "HD409"
            raise JobFailed(f"reduce task {number} cannot be compared: {what}", code=code)
        return result


def _difference(one: AttemptResult, other: AttemptResult, files: tuple[Path, Path]) -> Difference | None:
    found = first_line(*files)
    if found is not None:
        key = shown(found.key) or ""
        return Difference(HOST_KERNEL, f"line {found.number}", key, shown(found.first), shown(found.second))
    for name in _COUNTERS:
        if one.counters[name] != other.counters[name]:
            return Difference(HOST_KERNEL, f"counter {name}", "", str(one.counters[name]), str(other.counters[name]))
    if one.user_counters != other.user_counters:
        return Difference(HOST_KERNEL, "user counters", "", str(one.user_counters), str(other.user_counters))
    return None
