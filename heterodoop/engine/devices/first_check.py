"""Whether a device's results are the CPU's: what ran on the device runs on the CPU too, and the two are compared.

A kernel checks itself what it reads (decision 0017), so that nothing has to be compared for the bytes to be right. What is
asked for is a check of HeteroDoop, or of a program of which one is not sure: of the first map task that a device did, both
sides do the first part of the split once more, as a sample; or the CPU does this whole task, or every one, as well: all
inside the same attempt. No other result of a device counts before the first verdict. Where the two differ, the CPU does
that task and the rest of the job. A sample finds what shows in it, not what later records bring.
Not here: looking for the record (checker.py), how outputs are compared (compare.py).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from threading import Condition
from typing import Any, Literal, NamedTuple

from ...diag import Diagnostic
from ...errors import JobFailed
from ...executor.kernel.gpu_task import REFUSED_STAGE
from ...executor.native.runtime import Native, Progress
from ...executor.task import cpu_task
from ...executor.task.cpu_task import MapRun, OnCpu, TaskRunner
from ...executor.task.report import AttemptResult
from ...values import dataclass
from ..job.layout import AttemptFolder, remove_tree
from .compare import WHOLE_TASK, Comparison, Difference, TaskOutput

CheckMode = Literal["none", "sample", "first", "all"]
CHECK_STAGE = "check"
SAMPLE_BYTES = 256 << 10  # some thousand lines; about a hundredth of a second of the CPU's time
_POLL_SECONDS = 0.1  # how soon a task that waits for the verdict sees that it was cancelled

MapTask = Callable[[MapRun, Progress], AttemptResult]


def check_mode(asked: str) -> CheckMode:
    """What a job checks. `asked`: heterodoop.gpu.check; "auto" is "none", since kernels rest on no assumption."""
    match asked:
        case "sample" | "first" | "all":
            return asked
    return "none"


class FoundDifference(NamedTuple):
    """A map task whose two results differ. `split`, or the part of it that was compared, as text."""

    task: int
    split: str
    difference: Difference


class _Outcome(NamedTuple):
    """The CPU's result of a run, and where the device's differs; not `judged`: there was nothing to compare."""

    cpu: AttemptResult
    judged: bool
    difference: Difference | None = None


class DeviceCheck:
    """Runs map tasks on the devices of one job, and on the CPU what is to be checked; several threads call it at a time.

    files      what filters find in their working folder: (name, absolute path).
    on_device  runs a map task on a device, or, with a reason in the result, on the CPU.
    on_cpu     runs one that no device is to run. What is compared, filters run.
    """

    def __init__(
        self, mode: CheckMode, native: Native, runner: TaskRunner, files: tuple[tuple[str, Path], ...], on_device: MapTask,
        on_cpu: OnCpu,
    ) -> None:
        self.mode = mode
        self.found: FoundDifference | None = None  # the first of them
        self._compared = {"tasks": 0, "samples": 0}
        self._native = native
        self._runner = runner
        self._files = files
        self._on_device = on_device
        self._instead_of_it = on_cpu
        self._gate = _Gate(every=mode == "all")

    def run_map(self, run: MapRun, progress: Progress) -> AttemptResult:
        """A map task on a device, checked if it is its turn; on the CPU once a device gave a wrong result.

        Waits, where the first check is under way in another thread, for its verdict. Raises OSError.
        """
        if self._gate.refused:
            return self._left_to_cpu(run, progress)
        result = self._on_device(run, progress)
        if self.mode == "none" or not _is_the_devices(result):
            return result
        match self._gate.enter(progress):
            case "trusted":
                return result
            case "cancelled":
                return AttemptResult(cancelled=True)
            case "refused":
                self._clear(run)
                return self._left_to_cpu(self._made(run), progress)
        try:
            return self._checked(result, run, progress)
        finally:
            self._gate.leave()

    def to_json(self) -> dict[str, Any]:
        """For the job's report."""
        found = self.found
        return {
            "mode": self.mode, **self._compared,
            "different": {"task": found.task, "split": found.split, **asdict(found.difference)} if found else None,
        }

    def warnings(self, device: str) -> list[Diagnostic]:
        """What the user must know: one warning HD414 where a result on `device` was wrong."""
        if not self.found:
            return []
        task, split, difference = self.found
        what = (
            f"map task {task} ({split}) has another result on the {device} device than on the CPU: {_sentence(difference)};"
            " the CPU's counts, and the CPU did all map tasks from there on"
        )
        help = f"`heterodoop verify BUNDLE INPUT... --device {device}` looks for the record that it comes from"
        return [Diagnostic("warning", "HD414", what, help=help)]

    def _checked(self, result: AttemptResult, run: MapRun, progress: Progress) -> AttemptResult:
        """The device's result, or the CPU's where they differ, or where the CPU has none: then that is how it is."""
        begun = time.monotonic()
        with _set_aside(result, run, "device") as aside:
            instead = self._instead(aside.output, run, progress)
            if instead:
                refused = {REFUSED_STAGE: result.seconds.get("total", 0.0)}
                return replace(instead, seconds={**instead.seconds, **refused})
            aside.put_back()
        return replace(result, seconds={**result.seconds, CHECK_STAGE: time.monotonic() - begun})

    def _instead(self, device: TaskOutput, run: MapRun, progress: Progress) -> AttemptResult | None:
        """What counts in place of the device's result. None: nothing, and of the check no file is left."""
        sample = self._sample(run, progress)
        if sample and not sample.difference:
            return None
        if progress.cancelled:
            return AttemptResult(cancelled=True)
        if sample:
            return self._left_to_cpu(self._made(run), progress)
        whole = self._compare(device, run, progress, "tasks")
        if not whole.judged:
            return whole.cpu
        if whole.difference:
            return replace(whole.cpu, reason=self._reason)
        self._clear(run)
        return None

    def _sample(self, run: MapRun, progress: Progress) -> _Outcome | None:
        """What came of the first part of the split, of which nothing stays. None: no verdict, compare the whole task."""
        part = _first_part(run) if self.mode == "sample" else None
        if not part:
            return None
        try:
            with progress.aside():
                result = self._on_device(self._made(part), progress)
                if not _is_the_devices(result):
                    return None
                with _set_aside(result, part, "sample") as aside:
                    outcome = self._compare(aside.output, part, progress, "samples")
        finally:
            self._clear(part)
        return outcome if outcome.judged else None

    def _compare(
        self, device: TaskOutput, run: MapRun, progress: Progress, what: Literal["tasks", "samples"],
    ) -> _Outcome:
        """Run it on the CPU and give the verdict."""
        progress.restart()
        cpu = self._by_filters(self._made(run), progress)
        if cpu.failure or cpu.cancelled:
            return _Outcome(cpu, judged=False)
        difference = self._difference(TaskOutput(cpu, run.out), device, run, progress)
        if progress.cancelled:
            return _Outcome(AttemptResult(cancelled=True), judged=False)
        found = FoundDifference(run.place.names.number, str(run.split), difference) if difference else None
        with self._gate.settle(good=not found):
            self._compared[what] += 1
            self.found = self.found or found
        return _Outcome(cpu, True, difference)

    def _difference(self, cpu: TaskOutput, device: TaskOutput, run: MapRun, progress: Progress) -> Difference | None:
        """Also one: a device's output that cannot be read, or that the combiner cannot."""
        folder = AttemptFolder(_beside(run.place.scratch, "compare"))
        comparison = Comparison(self._native, run.job, folder, self._files, run.place.names, progress)
        try:
            return comparison.difference(cpu, device)
        except JobFailed as error:
            return Difference("", WHOLE_TASK, "", "a result", error.message)

    def _left_to_cpu(self, run: MapRun, progress: Progress) -> AttemptResult:
        progress.restart()
        return replace(self._instead_of_it(run, progress), reason=self._reason)

    def _made(self, run: MapRun) -> MapRun:
        """The run, now with folders to work in."""
        AttemptFolder(run.place.scratch).make(self._files, None)
        return run

    def _by_filters(self, run: MapRun, progress: Progress) -> AttemptResult:
        return cpu_task.run_map(self._runner, run.job, run.split, run.place, run.out, run.index, progress)

    @staticmethod
    def _clear(run: MapRun) -> None:
        """An attempt's files and folders go."""
        for path in (run.out, run.index, run.place.log):
            path.unlink(missing_ok=True)
        remove_tree(run.place.scratch)

    @property
    def _reason(self) -> str:
        return f"its result of map task {self.found.task} is not the CPU's" if self.found else ""


def _is_the_devices(result: AttemptResult) -> bool:
    """Whether there is something to compare: what has no record has no output either, whatever the program prints."""
    gone = result.failure or result.cancelled or result.reason
    return not gone and bool(result.counters.get("MAP_INPUT_RECORDS"))


def _first_part(run: MapRun) -> MapRun | None:
    """The same run over the first part of its split. None: that is all of it, or one that is piped, which has no parts."""
    if run.split.piped or run.split.length <= SAMPLE_BYTES:
        return None
    split = run.split._replace(length=SAMPLE_BYTES)
    return replace(run, split=split, place=run.place._replace(names=run.place.names._replace(split=split)))


Turn = Literal["check", "trusted", "refused", "cancelled"]


class _Gate:
    """Who checks, and what came of it. `every`: all tasks check themselves, and none waits for another.

    A task whose check ends without a verdict (it failed, or was cancelled) passes its turn to the next one.
    """

    def __init__(self, *, every: bool) -> None:
        self._every = every
        self._busy = False
        self._verdict: Literal["trusted", "refused"] | None = None
        self._changed = Condition()

    @property
    def refused(self) -> bool:
        return self._verdict == "refused"

    def enter(self, progress: Progress) -> Turn:
        """What a task that the device has done must do now. After "check" the caller must `leave`."""
        with self._changed:
            while self._busy and not self._every and self._verdict is None and not progress.cancelled:
                self._changed.wait(_POLL_SECONDS)
            if progress.cancelled:
                return "cancelled"
            if self._verdict is None:
                self._busy = True
                return "check"
            return self._verdict

    @contextmanager
    def settle(self, *, good: bool) -> Iterator[None]:
        """The verdict, for all that wait; what the caller notes in the block is there before they go on."""
        with self._changed:
            yield
            if not good:
                self._verdict = "refused"
            elif not self._every:
                self._verdict = "trusted"

    def leave(self) -> None:
        with self._changed:
            self._busy = False
            self._changed.notify_all()


@dataclass(frozen=True)
class _Aside:
    """A task's files that were moved (from, to), to make room for another run under the same names."""

    output: TaskOutput
    moved: list[tuple[Path, Path]]

    def put_back(self) -> None:
        """Where they were; the other run's files are gone. Raises OSError."""
        for place, aside in self.moved:
            os.rename(aside, place)


@contextmanager
def _set_aside(result: AttemptResult, run: MapRun, what: str) -> Iterator[_Aside]:
    """Move the files of a run, to names with `what`; what is not put back is removed at the end. Raises OSError."""
    folder = AttemptFolder(_beside(run.place.scratch, what))
    data = folder.out / run.out.name
    names = [run.place.scratch, run.place.log]
    output = result.output
    if output:
        data = _beside(run.out, what)
        names += [run.out, run.index]
        output = replace(output, data=os.fspath(data), index=os.fspath(_beside(run.index, what)))
    moves = [(name, _beside(name, what)) for name in names if name.exists()]
    try:
        for place, aside in moves:
            os.rename(place, aside)
        yield _Aside(TaskOutput(replace(result, output=output), data), moves)
    finally:
        for _, aside in moves:
            if aside.is_dir():
                remove_tree(aside)
            else:
                aside.unlink(missing_ok=True)


def _beside(path: Path, what: str) -> Path:
    return path.with_name(f"{path.name}.{what}")


def _sentence(difference: Difference) -> str:
    if difference.where == WHOLE_TASK:
        return f"they cannot be compared: {difference.device}"
    key = f", key {difference.key!r}" if difference.key else ""
    return f"at {difference.where}{key} it is {_side(difference.device)} and not {_side(difference.cpu)}"


def _side(text: str | None) -> str:
    return "nothing more" if text is None else repr(text)
