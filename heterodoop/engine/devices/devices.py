"""The devices of a job: whether map tasks can run on one, starting what they need, running them there.

Only jobs that may use a device import this. Not here: what a device does, and who takes which
(executor), CPU tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any

from ...diag import Diagnostic
from ...errors import DeviceError, ToolError, UsageError
from ...executor.device_pool import LocalPool, Pool, PoolWorker, WorkerPool
from ...executor.gpu import gpus, kept_survey
from ...executor.gpu.gpus import Gpu
from ...executor.kernel import cuda, gpu_task
from ...executor.kernel.emulated import device_code, runtime_module
from ...executor.kernel.gpu_task import DeviceCode, DeviceRefusal
from ...executor.kernel.native_device import DeviceOptions
from ...executor.kernel.prologue import Prologues
from ...executor.lent import meeting
from ...executor.lent.lender import Connection
from ...executor.lent.words import Lender
from ...executor.lent_pool import LentPool
from ...executor.native.runtime import Native, Progress
from ...executor.task import orphans
from ...executor.task.cpu_task import MapRun, OnCpu, TaskRunner
from ...executor.task.report import AttemptResult, TaskFailure
from ...executor.worker.client import Limits, Worker
from ...executor.worker.messages import Setup
from ...executor.worker.spawn import Early
from ...job.devices import device_options
from ...job.jobconf import JobConf
from ...job.settings import CHECK, EMULATED_WORKERS, SESSIONS
from ...manifest import Manifest
from ...values import dataclass
from ..job.device_names import AUTO, CPU, CUDA, EMULATED
from . import borrowing
from .first_check import CheckMode, DeviceCheck, check_mode


@dataclass(frozen=True)
class Target:
    """What a kind of device runs: the job's kernels; `setup` gives HeteroDoop's own and what drives it, which may
    have to be built. Of a driver's device it is not asked: its worker has both."""

    code: DeviceCode
    setup: Callable[[], Setup]


@dataclass(frozen=True)
class DevicePlan:
    """How the job's map tasks run on devices.

    targets   by the GPU's architecture, "" for the emulated device.
    gpus      one worker process each; () = emulated devices in this process.
    sessions  map tasks that run on them at a time; 0 = as many as ask.
    check     which of the map tasks that a device did are compared with the CPU.
    driver    for the report: whether a running driver lends them, and why not.
    """

    targets: Mapping[str, Target]
    options: DeviceOptions
    gpus: tuple[Gpu, ...] = ()
    sessions: int = 0
    check: CheckMode = "none"
    driver: Mapping[str, Any] = field(default_factory=dict)


class Devices:
    """The open devices of a job, and what its kernels get from `prologues`. Threads run map tasks on them."""

    def __init__(self, plan: DevicePlan, pool: Pool, prologues: Prologues) -> None:
        self._plan = plan
        self._prologues = prologues
        self._pool = pool

    def run_map(
        self, on_cpu: OnCpu, run: MapRun, progress: Progress, options: DeviceOptions | None = None,
    ) -> AttemptResult:
        """A map task on a device, or, with the reason in the result, `on_cpu`. `options`: other ones than the job's."""
        nbytes = run.split.length
        try:
            with self._pool.take(options or self._plan.options, nbytes, progress) as taken:
                code = self._plan.targets[taken.arch].code
                done = gpu_task.run_on_device(taken.device, code, self._prologues, run, progress)
        except DeviceError as error:  # there is none
            return replace(on_cpu(run, progress), reason=error.message)
        if isinstance(done, DeviceRefusal):  # the device is free meanwhile: it may be another job's, too
            if done.blamed:
                self._pool.blame(done.reason)
            return gpu_task.left(on_cpu, run, progress, done)
        result = done
        if result.device != CPU and not result.failure and not result.retried:
            self._pool.took(nbytes, result.seconds.get("total", 0.0))
        return result

    def run_several(self, run: MapRun, progress: Progress) -> AttemptResult:
        """Several splits as one on a device; where it does not do them it has failed, with the reason in the result."""
        return self.run_map(_not_here, run, progress)

    @property
    def driver(self) -> Mapping[str, Any]:
        """For the report: whose devices they are."""
        return self._pool.driver or self._plan.driver

    @property
    def ready(self) -> int:
        """Sessions of workers on which a task would begin at once."""
        return self._pool.ready

    def when_ready(self, tell: Callable[[], None]) -> None:
        """`tell` is called, by another thread, whenever there are more of them."""
        self._pool.when_ready(tell)

    def stop(self) -> None:
        """There are no more map tasks: the devices may close while something else goes on."""
        self._pool.stop()

    def close(self) -> None:
        """Close all devices; call it when the tasks are done."""
        self._pool.close()

    @property
    def stats(self) -> dict[str, int]:
        """What the closed devices did together (hd_gpu_stats in runtime/host/task/gpu_api.h says what each counts)."""
        return self._pool.stats

    @property
    def warnings(self) -> list[Diagnostic]:
        """What a user should know of the devices: GPUs that failed, or were left out."""
        return self._pool.warnings


def _not_here(run: MapRun, progress: Progress) -> AttemptResult:
    """In the CPU's place, which does each split by itself."""
    return AttemptResult(failure=TaskFailure("the device does not do these splits together", "HD410"))


class DeviceSource:
    """The devices of one job, from the first look at the machine on. Close it at the job's end, whatever happens.

    lasting  of several jobs with the same settings, one after the other, as rounds are: `end` it, too, after the last one.
    early    has a worker process that was started already.
    borrow   a running driver's devices may do for the job's own.
    last     this process ends behind the job: nobody waits until the CUDA driver has let go of the worker processes' GPUs.
    """

    def __init__(
        self, *, lasting: bool = False, early: Early | None = None, borrow: bool = False, last: bool = False,
    ) -> None:
        self._lasting = lasting
        self._last = last
        self._borrow = borrow
        self._lender: Connection | None = None  # until a pool has it
        self._pool: LentPool | None = None
        self._driver: dict[str, Any] = {}
        self._early = early or Early(None)
        self._name = CPU
        self._numbers: tuple[int, ...] | None = None
        self._sessions = 0
        self._limits = Limits()
        self._workers: list[Worker] = []
        self._warnings: list[Diagnostic] = []

    def start(self, name: str, choice: str, found: Manifest, conf: JobConf) -> None:
        """Begin, in the background, what takes time: a worker process, which wakes the GPUs. `choice`: of `--gpus`.

        Raises UsageError HD037, ToolError HD517: there is no GPU and one is asked for.
        """
        if self._workers:  # an earlier job's
            return
        self._name = name
        self._numbers = gpus.parse(choice)
        self._sessions = conf.get(SESSIONS)
        self._limits = Limits(conf.get("heterodoop.gpu.hang.seconds"), conf.get("heterodoop.gpu.faults"))
        maybe = name == AUTO and self._numbers != () and gpus.present() and is_compiled(found)
        if self._borrow and (name in (EMULATED, CUDA) or maybe) and self._borrows(conf):
            pass
        elif name == EMULATED:
            for _ in range(conf.get(EMULATED_WORKERS)):
                self._start(EMULATED)
        elif name == CUDA:
            self._check_wish()
            self._start(CUDA, gpus.first(self._numbers))
        elif maybe:
            self._start(CUDA, gpus.first(self._numbers))
        self._early.close()

    def plan(
        self, found: Manifest, bundle: Path, conf: JobConf, check: Callable[[], None] = lambda: None,
    ) -> tuple[DevicePlan | None, list[Diagnostic]]:
        """How map tasks run on the device; None for the CPU, with a warning where another one was asked for by name.

        Builds what is not in the cache: seconds, the first time. Waits for the driver's list of GPUs; `check` is called
        meanwhile. Raises UsageError HD037, ToolError, DeviceError: what was asked for by name cannot be had.
        """
        self._warnings = []
        if self._lender and self._name != EMULATED:
            made = self._plan_lent(self._lender.lender, found, bundle, conf, check)
        elif self._name == EMULATED:
            made = self._plan_emulated(found, bundle, conf)
        elif not self._workers:
            return None, []
        else:
            made = self._try_cuda(found, bundle, conf, check)
        if made is None and not self._warnings:
            self._warn_without(_refusals(found))
        if made is None:
            self.close()
            return None, self._warnings
        return replace(made, check=check_mode(conf.get(CHECK)), driver=self._driver), self._warnings

    def _warn_without(self, why: str) -> None:
        text = f"all map tasks run on the CPU, none on the {self._name} device: {why}"
        self._warnings.append(Diagnostic("warning", "HD411", text))

    def open(self, native: Native, plan: DevicePlan, prologues: Prologues) -> Devices:
        """The devices of a plan, which open in the background; the first task waits for them."""
        if self._lender:
            self._pool, self._lender = LentPool(meeting.folder_of(), self._lender, self._limits.hang_seconds), None
            return Devices(plan, self._pool, prologues)
        if not plan.gpus:
            (target,) = plan.targets.values()
            return Devices(plan, LocalPool(native, target.setup().runtime), prologues)
        members = []
        for worker, gpu in zip(self._workers, plan.gpus, strict=True):
            worker.setup(plan.targets[gpu.arch].setup)
            members.append(PoolWorker(worker, gpu))
        return Devices(plan, WorkerPool(members, lasting=self._lasting, last=self._last), prologues)

    def open_checked(
        self, native: Native, plan: DevicePlan, prologues: Prologues, runner: TaskRunner, on_cpu: OnCpu,
        files: tuple[tuple[str, Path], ...],
    ) -> tuple[Devices, DeviceCheck]:
        """As `open`, with what compares their results with those of filters through `runner`; `files`: that these find,
        (name, path). on_cpu: does what is left to the CPU."""
        devices = self.open(native, plan, prologues)
        return devices, DeviceCheck(plan.check, native, runner, files, partial(devices.run_map, on_cpu), on_cpu)

    def close(self) -> None:
        """A job's end."""
        for lent in (self._lender, self._pool):
            if lent:
                lent.close()
        self._lender = self._pool = None
        if not self._lasting:
            self.end()
        for worker in self._workers:
            worker.next_job()

    def end(self) -> None:
        """End every worker process that was started."""
        for worker in self._workers:
            worker.stop()
        for worker in self._workers:
            if self._last and (pid := worker.last_pid):
                orphans.let_go(pid)
            else:
                worker.close()

    def _borrows(self, conf: JobConf) -> bool:
        """Whether a running driver's devices do; if not, `_driver` says why."""
        found = borrowing.find(EMULATED if self._name == EMULATED else CUDA, self._numbers, conf)
        if isinstance(found, str):
            self._driver = {"use": "own", "why": found, "refused": found not in borrowing.QUIET}
            return False
        self._lender, self._driver = found, {"use": "driver", "pid": found.lender.pid}
        return True

    def _start(self, kind: str, number: int | None = None) -> Worker:
        spawned = self._early.take(kind, self._sessions)
        worker = Worker(kind, self._sessions, self._limits, number=number, spawned=spawned)
        self._workers.append(worker)
        worker.start()
        return worker

    def _check_wish(self) -> None:
        if self._numbers == ():
            raise UsageError("--gpus none leaves no GPU for --device cuda", code="HD037", help="use --device cpu")
        gpus.check_present(code="HD517", help="--device emulated runs the kernels on the CPU")

    def _plan_emulated(self, found: Manifest, bundle: Path, conf: JobConf) -> DevicePlan | None:
        said: list[str] = []
        code = device_code(bundle, found, said.append)
        if code is None:
            self._warn_without(said[0] if said else _refusals(found))
            return None
        self._warnings += [Diagnostic("warning", "HD426", text) for text in said]
        if self._lender:
            return _lent_plan(self._lender.lender, {"": Target(code, _of_the_driver)}, conf)
        named = tuple(Gpu(number, EMULATED, "", 0) for number, _ in enumerate(self._workers))
        for worker in self._workers:
            worker.open(0)
        options = self._own_options(conf, len(named))
        made = Setup(runtime_module(), None)
        return DevicePlan({"": Target(code, lambda: made)}, options, named, options.workers)

    def _plan_lent(
        self, lender: Lender, found: Manifest, bundle: Path, conf: JobConf, check: Callable[[], None],
    ) -> DevicePlan | None:
        """On a driver's GPUs; where one of them could not run the bundle, on GPUs of workers of the job's own."""
        codes = {gpu.arch: cuda.device_code(bundle, found, gpu.arch) for gpu in lender.gpus}
        targets = {arch: Target(code, _of_the_driver) for arch, code in codes.items() if code}
        if targets and len(targets) == len(codes):
            return _lent_plan(lender, targets, conf)
        if not _has_kernel(found):
            return None
        missing = ", ".join(sorted(codes.keys() - targets.keys()))
        why = f"it has GPUs for which the bundle has no kernels: {missing}"
        self._driver = {"use": "own", "why": why, "refused": True}
        if self._lender:
            self._lender.close()
            self._lender = None
        self._check_wish()
        self._start(CUDA, gpus.first(self._numbers))
        return self._try_cuda(found, bundle, conf, check)

    def _try_cuda(self, found: Manifest, bundle: Path, conf: JobConf, check: Callable[[], None]) -> DevicePlan | None:
        """Raises as `plan`; with --device auto, what is wrong with the GPUs is a warning."""
        try:
            return self._plan_cuda(found, bundle, conf, check)
        except (ToolError, DeviceError) as error:
            if self._name == CUDA:
                raise
            self._warnings.append(Diagnostic("warning", "HD417", f"no GPU is used: {error.message}"))
            return None

    def _plan_cuda(self, found: Manifest, bundle: Path, conf: JobConf, check: Callable[[], None]) -> DevicePlan | None:
        chosen = self._kept_gpus()
        if not chosen:
            survey = self._workers[0].survey(check)
            if survey != kept_survey.recall():
                kept_survey.remember(survey)
            chosen = gpus.usable(survey, self._numbers, code="HD517")
        codes = {arch: cuda.device_code(bundle, found, arch) for arch in {gpu.arch for gpu in chosen}}
        used = [gpu for gpu in chosen if codes[gpu.arch]]
        for gpu in chosen if _has_kernel(found) else ():
            if gpu not in used:
                what = f"{gpu} is left out: the bundle has no kernels for {gpu.arch}"
                self._warnings.append(Diagnostic("warning", "HD417", what))
        if not used:
            return None
        for gpu in used[len(self._workers):]:
            self._start(CUDA, gpu.number)
        for worker, gpu in zip(self._workers, used, strict=True):
            worker.open(gpu.number)
        archs = sorted({gpu.arch for gpu in used})
        libraries = _Libraries(archs)
        if self._name == CUDA:  # who asks for it by name hears of what is missing before anything runs
            libraries.of(archs[0])
        targets = {arch: Target(code, partial(libraries.of, arch)) for arch in archs if (code := codes[arch])}
        options = self._own_options(conf, len(used))
        return DevicePlan(targets, options, tuple(used), options.workers)

    def _kept_gpus(self) -> list[Gpu]:
        """The GPUs to use by what the last command found; []: the worker has to say it, which takes a tenth of a second.

        A job that asks for GPUs by name hears at once why it cannot have them.
        """
        kept = kept_survey.recall() if self._name == AUTO else None
        if kept is None:
            return []
        try:
            chosen = gpus.usable(kept, self._numbers, code="HD517")
        except (UsageError, ToolError):
            return []
        return chosen if self._workers[0].expect(kept, kept_survey.forget) else []

    def _own_options(self, conf: JobConf, gpus: int) -> DeviceOptions:
        """Input stays in the memory of devices that have another job behind this one."""
        keep = conf.get("heterodoop.gpu.keep.percent") if self._lasting else 0
        return replace(device_options(conf, gpus, conf.get(SESSIONS) if gpus else 0), keep=keep)


class _Libraries:
    """The library and the runtime's kernels for GPUs of these architectures, built or found in the cache when a worker first
    asks for them: CPU slots are at work meanwhile."""

    def __init__(self, archs: list[str]) -> None:
        self._archs = archs
        self._made: tuple[Path, dict[str, Path]] | None = None
        self._lock = Lock()

    def of(self, arch: str) -> Setup:
        """Raises ToolError HD518, HD515."""
        with self._lock:
            self._made = self._made or cuda.device_library(self._archs)
        library, runtimes = self._made
        return Setup(runtimes[arch], library)


def _of_the_driver() -> Setup:
    raise AssertionError("a driver's worker has its own")


def _lent_plan(lender: Lender, targets: Mapping[str, Target], conf: JobConf) -> DevicePlan:
    """On the devices of a driver, which has the modules and the library that are the same for all jobs."""
    return DevicePlan(targets, device_options(conf), lender.gpus, len(lender.gpus) * lender.sessions)


def is_compiled(found: Manifest) -> bool:
    """Whether the map has kernels that some GPU could run; else --device auto is the CPU without a word."""
    program = found.program("map")
    return bool(program and program.kernel and program.kernel.cubins)


def _has_kernel(found: Manifest) -> bool:
    program = found.program("map")
    return bool(program and program.kernel)


def _refusals(found: Manifest) -> str:
    program = found.program("map")
    reasons = program.gpu_refusals if program else ()
    if not reasons:
        return "the bundle holds no kernel for the map that can run on it"
    first = reasons[0]
    place = f" ({first.place})" if first.place else ""
    more = f", and {len(reasons) - 1} more" if len(reasons) > 1 else ""
    return f"{first.message}{place} [{first.code}]{more}"
