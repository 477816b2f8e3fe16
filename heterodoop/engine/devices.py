"""The device that a job's map tasks were asked to run on: whether it can, and the devices that the slots share.

A slot that gets a map task takes a device for it, so there are never more of them than slots. Not here: what a device
does (executor), CPU tasks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock

from ..diag import Diagnostic
from ..errors import DeviceError, UsageError
from ..executor import cpu_task, cuda, gpu_task
from ..executor.cpu_task import TaskRunner
from ..executor.cuda import CudaDevice
from ..executor.emulated import NAME as EMULATED
from ..executor.emulated import DeviceOptions, EmulatedDevice, device_code, runtime_module
from ..executor.gpu_task import DeviceCode, MapRun
from ..executor.native import Native, Progress
from ..executor.native_device import NativeDevice
from ..executor.prologue import Prologues
from ..executor.report import AttemptResult
from ..manifest import Manifest
from .jobconf import JobConf

CPU = "cpu"
DEVICES = (CPU, EMULATED, cuda.NAME)


@dataclass(frozen=True)
class DevicePlan:
    """The compiled kernels of the job's map (and fold), HeteroDoop's own, and the options of the devices.

    library  what drives a CUDA device; None for the emulated one.
    """

    code: DeviceCode
    runtime: Path
    options: DeviceOptions
    library: Path | None = None


def check_device(name: str) -> None:
    """Raises UsageError HD032 for a device that there is not."""
    if name not in DEVICES:
        raise UsageError(f"--device {name!r}: must be one of {', '.join(DEVICES)}", code="HD032")


def plan_device(name: str, found: Manifest, bundle: Path, conf: JobConf) -> tuple[DevicePlan | None, list[Diagnostic]]:
    """How map tasks run on the device; None for the CPU, with a warning HD411 where another one was asked for.

    Builds what is not in the cache: seconds, the first time. Raises ToolError where it cannot be built.
    """
    if name == CPU:
        return None, []
    options = device_options(conf)
    if name == EMULATED:
        code = device_code(bundle, found)
        made = DevicePlan(code, runtime_module(), options) if code else None
    else:
        made = _plan_cuda(found, bundle, options)
    if made is None:
        text = f"all map tasks run on the CPU, none on the {name} device: {_refusals(found)}"
        return None, [Diagnostic("warning", "HD411", text)]
    return made, []


def _plan_cuda(found: Manifest, bundle: Path, options: DeviceOptions) -> DevicePlan | None:
    arch = cuda.architecture()
    code = cuda.device_code(bundle, found, arch)
    if code is None:
        return None
    library, runtime = cuda.device_library(arch)
    return DevicePlan(code, runtime, options, library)


def device_options(conf: JobConf) -> DeviceOptions:
    """The job's settings for its devices."""
    return DeviceOptions(
        sub_split=conf.get("heterodoop.gpu.sub-split.bytes"), arena=conf.get("heterodoop.gpu.arena.bytes"),
        memory=conf.get("heterodoop.emulated.memory.bytes"), order=conf.get("heterodoop.emulated.order"),
        seed=conf.get("heterodoop.emulated.seed"), pattern=conf.get("heterodoop.emulated.pattern"),
        ingest_threads=conf.get("heterodoop.gpu.ingest.threads"),
    )


def _refusals(found: Manifest) -> str:
    program = found.program("map")
    reasons = program.gpu_refusals if program else ()
    if not reasons:
        return "the bundle holds no kernel for the map that can run on it"
    first = reasons[0]
    place = f" ({first.place})" if first.place else ""
    more = f", and {len(reasons) - 1} more" if len(reasons) > 1 else ""
    return f"{first.message}{place} [{first.code}]{more}"


class Devices:
    """The open devices of a job, and what its kernels get from their prologues. Threads take a device for each map task."""

    def __init__(self, native: Native, plan: DevicePlan) -> None:
        self._native = native
        self._plan = plan
        self._prologues = Prologues(native)
        self._free: list[NativeDevice] = []
        self._stats: Counter[str] = Counter()
        self._lock = Lock()

    def run_map(
        self, runner: TaskRunner, run: MapRun, progress: Progress, options: DeviceOptions | None = None,
    ) -> AttemptResult:
        """A map task on a device, or, with the reason in the result, on the CPU. `options`: other ones than the job's."""
        try:
            with self._take(options or self._plan.options) as device:
                return gpu_task.run_map(device, self._plan.code, self._prologues, runner, run, progress)
        except DeviceError as error:  # there is none
            return replace(cpu_task.run_map(runner, run.job, run.split, run.place, run.out, run.index, progress),
                           reason=error.message)

    def close(self) -> None:
        """Close all devices; call it when the tasks are done."""
        while self._free:
            self._close(self._free.pop())

    @property
    def stats(self) -> dict[str, int]:
        """What the closed devices did, together (hd_gpu_stats in runtime/host/gpu_api.h says what each number counts)."""
        return dict(self._stats)

    @contextmanager
    def _take(self, options: DeviceOptions) -> Iterator[NativeDevice]:
        with self._lock:
            device = self._free.pop() if self._free else None
        if device is None:
            device = self._open()
        device.options = options
        try:
            yield device
        finally:
            self._give_back(device)

    def _open(self) -> NativeDevice:
        plan = self._plan
        if plan.library:
            return CudaDevice(self._native, plan.runtime, library=plan.library)
        return EmulatedDevice(self._native, plan.runtime)

    def _give_back(self, device: NativeDevice) -> None:
        with self._lock:
            if device.usable:
                self._free.append(device)
                return
        self._close(device)

    def _close(self, device: NativeDevice) -> None:
        with self._lock:
            self._stats.update(device.stats())
        device.close()
