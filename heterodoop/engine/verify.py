"""Every map task of a job on both sides, CPU filters and device kernels, and where their outputs differ.

The emulated device runs each task in several configurations: lanes in other orders, and other patterns in memory that
nobody has written. A program whose records depend on each other, or that reads such memory, differs in one of them.
Nothing is left behind. Not here: reducers (the CPU runs them either way), printing.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ..diag import Diagnostic
from ..errors import UsageError
from ..executor.native import Native
from .checker import TaskChecker, Verdict
from .commit import reserve
from .devices import CPU, Devices, check_device
from .layout import Layout
from .plan import Plan, RunOptions, make_plan
from .signals import StopSignals

_POLL_SECONDS = 0.1
FORMAT = "heterodoop-verify-1"


@dataclass(frozen=True)
class Verification:
    """`verdicts` in the order of the tasks; `warnings` of the job's settings, inputs and program."""

    name: str
    device: str
    verdicts: tuple[Verdict, ...]
    warnings: tuple[Diagnostic, ...]

    def count(self, outcome: Literal["equal", "cpu-only", "different"]) -> int:
        return sum(verdict.outcome == outcome for verdict in self.verdicts)

    def to_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT, "name": self.name, "device": self.device,
            "equal": self.count("equal"), "cpu_only": self.count("cpu-only"), "different": self.count("different"),
            "tasks": [verdict.to_json() for verdict in self.verdicts],
            "warnings": [{"code": w.code, "message": w.message} for w in self.warnings],
        }


def verify(
    bundle: Path, inputs: Sequence[str], options: RunOptions, tell: Callable[[Verdict], None] = lambda verdict: None,
) -> Verification:
    """Compare device and CPU on every map task of a job. `tell` hears of each task, in order.

    Raises UsageError, Limitation: as for a job. ToolError: kernels cannot be built. JobFailed: a filter fails on the
    CPU. Interrupted: SIGINT, SIGTERM or SIGHUP.
    """
    check_device(options.device)
    if options.device == CPU:
        raise UsageError("--device cpu: there is nothing to compare it with", code="HD032", help="use --device emulated")
    with StopSignals(lambda request: None) as stop, tempfile.TemporaryDirectory(prefix="heterodoop-verify-") as scratch:
        layout = reserve(str(Path(scratch) / "out")).layout
        layout.logs.mkdir(parents=True)
        plan = make_plan(bundle, inputs, layout, options, stop.check)
        verdicts = tuple(_verdicts(plan, layout, stop, tell))
    return Verification(plan.name, plan.device, verdicts, plan.warnings)


def _verdicts(plan: Plan, layout: Layout, stop: StopSignals, tell: Callable[[Verdict], None]) -> Iterator[Verdict]:
    if plan.offload is None:
        reason = next(warning.message for warning in plan.warnings if warning.code == "HD411")
        for number, split in enumerate(plan.splits):
            yield _told(Verdict(number, str(split), "cpu-only", reason=reason), tell)
        return
    native = Native.load()
    devices = Devices(native, plan.offload)
    checker = TaskChecker(plan, layout, native, devices)
    pool = ThreadPoolExecutor(len(plan.slots), "heterodoop-verify")
    try:
        for future in [pool.submit(checker.check, number) for number in range(len(plan.splits))]:
            yield _told(_wait(future, stop), tell)
    finally:
        checker.cancel()  # what still runs after an error
        pool.shutdown(cancel_futures=True)
        devices.close()


def _wait(future: Future[Verdict], stop: StopSignals) -> Verdict:
    while True:
        stop.check()
        try:
            return future.result(_POLL_SECONDS)
        except NotYet:
            continue


def _told(verdict: Verdict, tell: Callable[[Verdict], None]) -> Verdict:
    tell(verdict)
    return verdict


