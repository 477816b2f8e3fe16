"""Every task of a job on both sides, CPU filters and kernels on a device or as host kernel, and where outputs differ.

The emulated device runs each task in several configurations: lanes in other orders, and other patterns in memory that
nobody has written. A program whose records depend on each other, or that reads such memory, differs in one of them.
Nothing is left behind. Of reduce tasks there are two sides on the CPU only, filters and host kernel (checked_reduce.py). Not
here: printing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any, Literal

from ... import manifest, scratch
from ...diag import Diagnostic
from ...errors import UsageError
from ...executor.kernel.host_kernel import HostMaps, refusal
from ...executor.kernel.prologue import Prologues
from ...executor.native.runtime import Native
from ...executor.task.map_output import MapOutput
from ...job.spec import JobSpec
from ...scheduler.model import TaskKind
from ...values import dataclass
from ..devices.devices import DeviceSource
from ..job.device_names import CPU, check_device
from ..job.layout import Layout
from ..run.commit import reserve
from ..run.inputs import check_inputs
from ..run.job_report import HOST_KERNEL
from ..run.plan import Plan, RunOptions, make_plan
from ..run.slots import CLOSE_SECONDS
from ..terminal.signals import StopSignals
from .checked_reduce import ReduceChecker
from .checker import TaskChecker, Verdict, as_host_kernel, on_device

_POLL_SECONDS = 0.1
FORMAT = "heterodoop-verify-1"


@dataclass(frozen=True)
class Verification:
    """`verdicts` in the order of the tasks; `warnings` of the job's settings, inputs and program.

    device  a device's name, or HOST_KERNEL.
    """

    name: str
    device: str
    verdicts: tuple[Verdict, ...]
    warnings: tuple[Diagnostic, ...]

    def count(self, outcome: Literal["equal", "cpu-only", "different"], kind: TaskKind | None = None) -> int:
        """Verdicts of one kind of task, or of all."""
        return sum(verdict.outcome == outcome and kind in (None, verdict.kind) for verdict in self.verdicts)

    def to_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT, "name": self.name, "device": self.device,
            "equal": self.count("equal"), "cpu_only": self.count("cpu-only"), "different": self.count("different"),
            "tasks": [verdict.to_json() for verdict in self.verdicts],
            "warnings": [{"code": w.code, "message": w.message} for w in self.warnings],
        }


def verify(
    bundle: Path, inputs: Sequence[str], options: RunOptions, tell: Callable[[Verdict], None] = lambda verdict: None, *,
    host: bool = False,
) -> Verification:
    """Compare device and CPU on every map task of a job, or with `host` the host kernel and filters on every task.

    `tell` hears of each task, in order. Of a bundle with a combiner, tasks combine, unless `options` say 0 reducers.

    Raises UsageError, Limitation: as for a job. ToolError: kernels cannot be built. JobFailed: a filter fails on the
    CPU, or an input changes. Interrupted: SIGINT, SIGTERM or SIGHUP.
    """
    check_device(options.device)
    options = options._replace(combining=True)
    if host:
        return _verify_host(bundle, inputs, options, tell)
    if options.device == CPU:
        raise UsageError("--device cpu: there is nothing to compare it with", code="HD032", help="use --device emulated")
    with StopSignals() as stop, scratch.folder("verify-") as folder, closing(DeviceSource()) as source:
        layout = reserve(str(folder / "out")).layout
        layout.logs.mkdir(parents=True)
        plan = make_plan(JobSpec.of(bundle, inputs, str(layout.output), options), layout, options, stop.check, source)
        verdicts = tuple(_verdicts(plan, layout, source, stop, tell))
        check_inputs(plan)
    return Verification(plan.name, plan.device, verdicts, plan.warnings)


def _verify_host(
    bundle: Path, inputs: Sequence[str], options: RunOptions, tell: Callable[[Verdict], None],
) -> Verification:
    options = options._replace(device=CPU)
    with StopSignals() as stop, scratch.folder("verify-") as folder:
        layout = reserve(str(folder / "out")).layout
        layout.logs.mkdir(parents=True)
        plan = make_plan(JobSpec.of(bundle, inputs, str(layout.output), options), layout, options, stop.check)
        found, native = manifest.load(plan.bundle), Native.load()
        kept: dict[int, MapOutput] | None = {} if plan.host_reduce and plan.cpu.reducers else None
        if plan.host is None:
            verdicts = _not_as_host_kernel(plan, layout, native, _why_not(plan) or refusal(found), kept, stop, tell)
        else:
            ways = as_host_kernel(HostMaps(plan.host, native, Prologues(native)))
            verdicts = tuple(_checked(TaskChecker(plan, layout, native, ways, kept), stop, tell))
        if plan.host_reduce and kept is not None:
            checker = ReduceChecker(plan, plan.host_reduce, layout, native, kept)
            verdicts += tuple(_reduced(checker, stop, tell))
        check_inputs(plan)
    return Verification(plan.name, HOST_KERNEL, verdicts, plan.warnings)


def _not_as_host_kernel(
    plan: Plan, layout: Layout, native: Native, why: str, kept: dict[int, MapOutput] | None, stop: StopSignals,
    tell: Callable[[Verdict], None],
) -> tuple[Verdict, ...]:
    """Map tasks without a host kernel, which run where their outputs are wanted."""
    if kept is not None:
        for _ in _checked(TaskChecker(plan, layout, native, (), kept), stop, lambda verdict: None):
            pass
    return tuple(_told(verdict, tell) for verdict in _none(plan, why))


def _reduced(checker: ReduceChecker, stop: StopSignals, tell: Callable[[Verdict], None]) -> Iterator[Verdict]:
    tasks = checker.plan.shape.reduces
    yield from _in_turn(_Workers(checker.check, checker.cancel, tasks, checker.plan.slots.cpu), tasks, stop, tell)


def _none(plan: Plan, reason: str) -> Iterator[Verdict]:
    """Nothing is to be compared."""
    return (Verdict(number, str(split), "cpu-only", reason=reason) for number, split in enumerate(plan.splits))


def _why_not(plan: Plan, code: str = "") -> str:
    """What the job's warnings say of why filters do all tasks: that of `code`, or the settings for which they do."""
    return next((w.message.partition(": ")[2] for w in plan.warnings if w.code in (code, "HD435")), "")


def _verdicts(
    plan: Plan, layout: Layout, source: DeviceSource, stop: StopSignals, tell: Callable[[Verdict], None],
) -> Iterator[Verdict]:
    if plan.offload is None:
        yield from (_told(verdict, tell) for verdict in _none(plan, _why_not(plan, "HD411")))
        return
    native = Native.load()
    devices = source.open(native, plan.offload, Prologues(native))
    try:
        yield from _checked(TaskChecker(plan, layout, native, on_device(plan, native, devices)), stop, tell)
    finally:
        devices.close()


def _checked(checker: TaskChecker, stop: StopSignals, tell: Callable[[Verdict], None]) -> Iterator[Verdict]:
    def check(number: int) -> Verdict:
        verdict = checker.check(number)
        check_inputs(checker.plan, number)
        return verdict

    tasks = len(checker.plan.splits)
    yield from _in_turn(_Workers(check, checker.cancel, tasks, checker.plan.slots.cpu), tasks, stop, tell)


def _in_turn(workers: _Workers, tasks: int, stop: StopSignals, tell: Callable[[Verdict], None]) -> Iterator[Verdict]:
    try:
        for number in range(tasks):
            yield _told(workers.verdict(number, stop), tell)
    finally:
        workers.close()


class _Workers:
    """Threads that check tasks, in their order. They do not keep the process alive: a kernel may never end."""

    def __init__(self, check: Callable[[int], Verdict], cancel: Callable[[], None], tasks: int, most: int) -> None:
        self._check = check
        self._cancel = cancel
        self._todo = iter(range(tasks))
        self._done: SimpleQueue[tuple[int, Verdict | Exception]] = SimpleQueue()
        self._early: dict[int, Verdict | Exception] = {}
        self._lock = Lock()
        self._threads = [Thread(target=self._work, daemon=True) for _ in range(min(tasks, most))]
        for thread in self._threads:
            thread.start()

    def verdict(self, number: int, stop: StopSignals) -> Verdict:
        """The verdict on one task. Raises what its check raised; Interrupted."""
        while number not in self._early:
            stop.check()
            with suppress(Empty):
                task, result = self._done.get(timeout=_POLL_SECONDS)
                self._early[task] = result
        found = self._early.pop(number)
        if isinstance(found, Exception):
            raise found
        return found

    def close(self) -> None:
        """Stop what still runs, and wait for it, but not for a kernel that never ends."""
        with self._lock:
            self._todo = iter(())
        self._cancel()
        end = time.monotonic() + CLOSE_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))

    def _next(self) -> int | None:
        with self._lock:
            return next(self._todo, None)

    def _work(self) -> None:
        while (number := self._next()) is not None:
            try:
                self._done.put((number, self._check(number)))
            except Exception as error:  # carried to the main thread, which raises it
                self._done.put((number, error))


def _told(verdict: Verdict, tell: Callable[[Verdict], None]) -> Verdict:
    tell(verdict)
    return verdict
