"""One attempt of a map task on a device: the same result as `cpu_task.run_map`, or exactly what that gives.

A device does a task exactly or not at all. What it cannot do (a failing program, data that only the CPU treats
exactly, a prologue that cannot run alone) the CPU filter does inside the same attempt, and the result says why.
Not here: opening devices (emulated.py), compiling kernels, which tasks go to a device (engine).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from ..errors import DeviceError
from ..manifest import Fold, Kernel
from .cpu_task import CpuJob, Place, TaskRunner, changed_file, filter_command, map_result, map_spec, run_split
from .cpu_task import run_map as run_on_cpu
from .native import MapSpec, Progress, TaskResult, TaskStatus
from .prologue import LiveIns, Prologues
from .report import AttemptResult
from .split import Split

# Answers of a device after which the CPU decides. An I/O error or a failed combiner is a failure on either side.
_FOR_THE_CPU = (TaskStatus.RUN_ON_CPU, TaskStatus.DEVICE_FAILED, TaskStatus.INTERNAL)
REFUSED_STAGE = "refused"


@dataclass(frozen=True)
class KernelCode:
    """A kernel of a bundle, compiled for a device. `prologue`: absolute path, None where it needs none. `fold`: of a
    combiner whose pairs all read as numbers of the fold's own kind."""

    kernel: Kernel
    module: Path
    prologue: Path | None = None
    fold: Fold | None = None


@dataclass(frozen=True)
class DeviceCode:
    """What a device runs of a job. `combine`: only of a fold that may run on its own output (manifest.Fold.regroup)."""

    map: KernelCode
    combine: KernelCode | None = None


@dataclass(frozen=True)
class KernelCall:
    """A kernel and what it gets from the code before its region."""

    code: KernelCode
    live_ins: LiveIns


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
class MapRun:
    """Where a map task's input and output are, for either side."""

    job: CpuJob
    split: Split
    place: Place
    out: Path
    index: Path


def run_map(
    device: Device, code: DeviceCode, prologues: Prologues, runner: TaskRunner, run: MapRun, progress: Progress,
) -> AttemptResult:
    """A map task on `device`; where that cannot do it, on the CPU through `runner`, with `reason` set.

    `seconds` has the native stages, and "refused" for the time on the device where that was in vain. Raises OSError
    where the prologue's folder cannot be made.
    """
    changed = changed_file(run.split)
    if changed:
        return AttemptResult(failure=changed)
    try:
        launcher = _launcher(device, code, prologues, run, progress)
    except DeviceError as error:
        return _on_cpu(runner, run, progress, error.message, 0.0)
    spec = map_spec(run.job, run.split, run.place, run.out, run.index)
    result, fault = run_split(launcher, spec, run.split, progress)
    runs = 1
    if result.status is TaskStatus.RETRY_NO_FOLD and not fault:
        progress.restart()
        result, fault = run_split(replace(launcher, combine=None), replace(spec, regroup=False), run.split, progress)
        runs = 2
    if result.status in _FOR_THE_CPU and not fault:
        done = _on_cpu(runner, run, progress, result.message, result.seconds.get("total", 0.0))
        return replace(done, device_failed=result.status is not TaskStatus.RUN_ON_CPU)
    return replace(map_result(result, fault, runs, run.job, run.out, run.index), device=device.name)


def _launcher(device: Device, code: DeviceCode, prologues: Prologues, run: MapRun, progress: Progress) -> _Launcher:
    def call(code: KernelCode) -> KernelCall:
        program = code.prologue or code.module
        command = filter_command(run.job, program, run.place)
        return KernelCall(code, prologues.live_ins(code.kernel, program, command, run.place.scratch, progress))

    combine = code.combine if run.job.combine and run.job.reducers and run.job.regroup else None
    return _Launcher(device, call(code.map), call(combine) if combine else None)


def _on_cpu(runner: TaskRunner, run: MapRun, progress: Progress, reason: str, wasted: float) -> AttemptResult:
    """The CPU does the task from its start. What the device's run logged is gone: the filter will say it again."""
    if progress.cancelled:
        return AttemptResult(cancelled=True)
    run.place.log.unlink(missing_ok=True)
    progress.restart()
    result = run_on_cpu(runner, run.job, run.split, run.place, run.out, run.index, progress)
    return replace(result, reason=reason, seconds={**result.seconds, REFUSED_STAGE: wasted})
