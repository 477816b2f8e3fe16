"""One attempt of a map task on a device: the same result as `cpu_task.run_map`, or exactly what that gives.

A device does a task exactly or not at all. What it cannot do (a failing program, data that only the CPU treats
exactly, a prologue that cannot run alone) the CPU does inside the same attempt, and the result says why.
Not here: opening devices (emulated.py), compiling kernels, which tasks go to a device (engine).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, Protocol

from ...errors import DeviceError
from ...manifest import Fold, Kernel
from ...values import dataclass
from ..native.runtime import FilterCommand, MapSpec, Progress, TaskResult, TaskStatus
from ..task.cpu_task import (
    MapRun,
    OnCpu,
    Place,
    begin_again,
    changed_file,
    filter_command,
    map_result,
    map_spec,
    run_split,
)
from ..task.report import AttemptResult, TaskFailure
from .epilogue import private_folder
from .host_kernel import TEXT
from .prologue import LiveIns, Prologues

# Answers of a device after which the CPU decides. An I/O error or a failed combiner is a failure on either side.
_FAILED = (TaskStatus.DEVICE_FAILED, TaskStatus.DEVICE_LOST)
_FOR_THE_CPU = (TaskStatus.RUN_ON_CPU, *_FAILED, TaskStatus.INTERNAL)
REFUSED_STAGE = "refused"


@dataclass(frozen=True)
class KernelCode:
    """A kernel of a bundle, compiled for a device. `prologue`, `epilogue`: absolute paths, None where it needs none. `fold`:
    of a combiner whose pairs all read as numbers of the fold's own kinds. `host`: the map's host kernel."""

    kernel: Kernel
    module: Path
    prologue: Path | None = None
    fold: Fold | None = None
    epilogue: Path | None = None
    host: Path | None = None

    @property
    def ordered(self) -> bool:
        """Is it a combiner's ordered loop, which does the pairs of a task in their order?"""
        return self.kernel.plan.ordered


@dataclass(frozen=True)
class DeviceCode:
    """What a device runs of a job. `combine`: of a fold that may run on its own output (manifest.Fold.regroup), or of an
    ordered loop."""

    map: KernelCode
    combine: KernelCode | None = None


@dataclass(frozen=True)
class KernelCall:
    """A kernel, what it gets from the code before its region, and what runs behind its records."""

    code: KernelCode
    live_ins: LiveIns
    epilogue: FilterCommand | None = None


class Device(Protocol):
    """A device that runs one map task at a time. `name` is for reports; not `usable` any more once it failed itself."""

    @property
    def name(self) -> str: ...

    @property
    def usable(self) -> bool: ...

    def map_task(
        self, spec: MapSpec, map: KernelCall, combine: KernelCall | None, progress: Progress | None,
    ) -> TaskResult: ...


@dataclass(frozen=True)
class _Launcher:
    """A device with the kernels of one task, as `cpu_task.run_split` wants it."""

    device: Device
    map: KernelCall
    combine: KernelCall | None

    def map_task(self, spec: MapSpec, progress: Progress | None = None) -> TaskResult:
        return self.device.map_task(spec, self.map, self.combine, progress)


@dataclass(frozen=True)
class DeviceRefusal:
    """Why the device did not do a task, which is the CPU's now.

    seconds        on the device, in vain.
    device_failed  the device itself failed, or a kernel did what none may do.
    retried        why it was tried twice.
    blamed         it was this task that made the device fail: alone on it, and after it had failed at it before.
    """

    reason: str
    seconds: float = 0.0
    device_failed: bool = False
    retried: str = ""
    blamed: bool = False


def run_map(
    device: Device, code: DeviceCode, prologues: Prologues, on_cpu: OnCpu, run: MapRun, progress: Progress,
) -> AttemptResult:
    """A map task on `device`; where that cannot do it, `on_cpu`, with `reason` set.

    As `run_on_device`. `seconds` also has "refused" for the time on the device that was in vain.
    """
    done = run_on_device(device, code, prologues, run, progress)
    return done if isinstance(done, AttemptResult) else left(on_cpu, run, progress, done)


def run_on_device(
    device: Device, code: DeviceCode, prologues: Prologues, run: MapRun, progress: Progress,
) -> AttemptResult | DeviceRefusal:
    """A map task on `device`, or why it must run on the CPU.

    A device that failed and is usable all the same (a worker process was replaced) gets the task once more, with `retried`
    set. `seconds` has the native stages. Raises OSError where the prologue's folder cannot be made.
    """
    changed = changed_file(run.split)
    if changed:
        return AttemptResult(failure=changed)
    try:
        launcher = _launcher(device, code, prologues, run, progress)
    except DeviceError as error:
        return DeviceRefusal(error.message)
    tried = _try(launcher, run, progress)
    retried, wasted = "", 0.0
    if tried.failed and device.usable and not progress.cancelled:
        retried, wasted = tried.result.message, tried.seconds
        begin_again(run.place, progress)
        tried = _try(launcher, run, progress)
    if tried.result.status in _FOR_THE_CPU and not tried.fault:
        status = tried.result.status
        failed = bool(retried) or status is not TaskStatus.RUN_ON_CPU
        blamed = status is TaskStatus.INTERNAL or (bool(retried) and status is TaskStatus.DEVICE_FAILED)
        return DeviceRefusal(tried.result.message, wasted + tried.seconds, failed, retried, blamed)
    done = map_result(tried.result, tried.fault, tried.runs, run.job, run.out, run.index)
    seconds = {**done.seconds, REFUSED_STAGE: wasted} if retried else done.seconds
    return replace(done, device=device.name, retried=retried, seconds=seconds)


class _Try(NamedTuple):
    """One run on the device. `fault`: of the input. `runs`: 2 where the fold was left out in the second one."""

    result: TaskResult
    fault: TaskFailure | None
    runs: int

    @property
    def failed(self) -> bool:
        return self.result.status in _FAILED and not self.fault

    @property
    def seconds(self) -> float:
        return self.result.seconds.get("total", 0.0)


def _try(launcher: _Launcher, run: MapRun, progress: Progress) -> _Try:
    program = launcher.map.code.epilogue
    if program is None:
        return _tried(launcher, run, progress)
    command = filter_command(run.job, program, run.place)
    with private_folder(run.place.work, run.place.scratch, "epilogue") as folder:
        call = replace(launcher.map, epilogue=replace(command, cwd=folder))
        return _tried(replace(launcher, map=call), run, progress)


def _tried(launcher: _Launcher, run: MapRun, progress: Progress) -> _Try:
    spec = map_spec(run.job, run.split, run.place, run.out, run.index)
    host = launcher.map.code.host
    if host:
        command = filter_command(run.job, host, run.place)
        spec = replace(spec, host=replace(command, argv=[*command.argv, TEXT]), host_folds=False)
    result, fault = run_split(launcher, spec, run.split, progress)
    if result.status is TaskStatus.RETRY_NO_FOLD and not fault:
        progress.restart()
        return _Try(*run_split(replace(launcher, combine=None), replace(spec, regroup=False), run.split, progress), 2)
    return _Try(result, fault, 1)


def _launcher(device: Device, code: DeviceCode, prologues: Prologues, run: MapRun, progress: Progress) -> _Launcher:
    def call(code: KernelCode) -> KernelCall:
        live_ins = of_place(code, run.place)
        asks = code.kernel.prologue and code.kernel.prologue_runs != "once"
        if asks and any(of_place(code, place) != live_ins for place in run.others):
            raise DeviceError("the code before the region gives another result for each split", code="HD410")
        return KernelCall(code, live_ins)

    def of_place(code: KernelCode, place: Place) -> LiveIns:
        program = code.prologue or code.module
        command = filter_command(run.job, program, place)
        return prologues.live_ins(
            code.kernel, program, command, run.place.scratch, progress, run.job.timeout_seconds)

    combine = code.combine if run.job.combine and run.job.reducers else None
    if combine and not (run.job.regroup or combine.ordered):
        combine = None
    return _Launcher(device, call(code.map), call(combine) if combine else None)


def left(on_cpu: OnCpu, run: MapRun, progress: Progress, refusal: DeviceRefusal) -> AttemptResult:
    """The CPU does the task from its start, as `run_map` has it."""
    if progress.cancelled:
        result = AttemptResult(cancelled=True)
    else:
        begin_again(run.place, progress)
        result = on_cpu(run, progress)
        result = replace(result, reason=refusal.reason, seconds={**result.seconds, REFUSED_STAGE: refusal.seconds})
    return replace(result, device_failed=refusal.device_failed, retried=refusal.retried)
