"""One map task on the CPU and, several times, on a device; and the record at which the two part.

What filters are told (attempt, folders) is the same on both sides. Not here: which tasks there are (verify.py), how
outputs are compared (compare.py).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from ..errors import JobFailed
from ..executor.cpu_task import CpuJob, MapRun, Place, run_map
from ..executor.emulated import NAME as EMULATED
from ..executor.emulated import DeviceOptions
from ..executor.native import Native, Progress
from ..executor.report import AttemptResult
from ..executor.split import Split
from ..executor.streaming_env import TaskNames
from ..scheduler.model import Attempt, Slot, TaskId
from .compare import WHOLE_TASK, Comparison, Difference, LineDifference, TaskOutput, first_line, same_bytes, shown
from .devices import Devices
from .layout import AttemptFolder, Layout, remove_tree
from .plan import Plan

_OTHER_PATTERN = 0xA5
_SMALL = 100_000  # bytes of a sub-split on a GPU: many of them, cut at other records


@dataclass(frozen=True)
class Verdict:
    """What came of one map task. `reason`: why the CPU alone ran it. pairs: that the map wrote."""

    task: int
    split: str
    outcome: Literal["equal", "cpu-only", "different"]
    records: int = 0
    pairs: int = 0
    reason: str = ""
    difference: Difference | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Configuration:
    name: str
    options: DeviceOptions


def configurations(device: str, options: DeviceOptions) -> tuple[Configuration, ...]:
    """Ways to run a task that give the same result for a right program. `options`: the job's sizes and seed.

    A GPU orders its lanes as it likes: there, runs are repeated, and other sub-splits put other records side by side.
    """
    if device != EMULATED:
        return (
            Configuration("first run", options), Configuration("second run", options),
            Configuration(f"sub-splits of {_SMALL} bytes", replace(options, sub_split=_SMALL)),
        )
    other = replace(options, order="forward", pattern=_OTHER_PATTERN)
    return (
        Configuration("lanes forward, unwritten memory 0x00", replace(options, order="forward", pattern=0)),
        Configuration("lanes in reverse", replace(options, order="reverse", pattern=0)),
        Configuration(f"lanes in random order (seed {options.seed})", replace(options, order="random", pattern=0)),
        Configuration(f"unwritten memory 0x{_OTHER_PATTERN:02X}", other),
    )


@dataclass
class TaskChecker:
    """Checks tasks of one job; several threads may call `check` at a time."""

    plan: Plan
    layout: Layout
    native: Native
    devices: Devices
    _running: list[Progress] = field(default_factory=list)
    _cancelled: bool = False

    def check(self, number: int) -> Verdict:
        """Run the task on both sides and compare. Raises JobFailed where it fails on the CPU, OSError."""
        return _Check(self, number, self.plan.splits[number]).run()

    def cancel(self) -> None:
        """Stop what runs; the calls end with an error."""
        self._cancelled = True
        for progress in list(self._running):
            progress.cancel()

    def progress(self) -> Progress:
        progress = Progress()
        self._running.append(progress)
        if self._cancelled:
            progress.cancel()
        return progress


@dataclass
class _Check:
    """One task's check."""

    owner: TaskChecker
    number: int
    split: Split

    def run(self) -> Verdict:
        job = self.owner.plan.cpu
        cpu = self._on_cpu(job, self.split, "cpu")
        counters = cpu.result.counters
        verdict = Verdict(
            self.number, str(self.split), "equal", counters["MAP_INPUT_RECORDS"], counters["MAP_OUTPUT_RECORDS"],
        )
        if not verdict.records:  # no output either, whatever the program prints (Hadoop Streaming throws it away)
            return verdict
        try:
            for number, configuration in enumerate(configurations(self.owner.plan.device, self._options)):
                device = self._on_device(job, self.split, configuration, "device")
                if device.result.reason and not number and not device.result.device_failed:
                    return replace(verdict, outcome="cpu-only", reason=device.result.reason)
                difference = self._difference(job, cpu, device, configuration)
                if difference:
                    return replace(verdict, outcome="different", difference=difference)
            return verdict
        finally:
            self._remove("cpu", "device")

    @property
    def _options(self) -> DeviceOptions:
        offload = self.owner.plan.offload
        return offload.options if offload else DeviceOptions()

    def _on_cpu(self, job: CpuJob, split: Split, name: str) -> TaskOutput:
        native = self.owner.native
        return self._attempt(job, split, name, lambda run, progress: run_map(
            native, run.job, run.split, run.place, run.out, run.index, progress))

    def _on_device(self, job: CpuJob, split: Split, configuration: Configuration, name: str) -> TaskOutput:
        owner = self.owner
        return self._attempt(job, split, name, lambda run, progress: owner.devices.run_map(
            owner.native, run, progress, configuration.options))

    def _attempt(
        self, job: CpuJob, split: Split, name: str, run: Callable[[MapRun, Progress], AttemptResult],
    ) -> TaskOutput:
        """Run the task into files called `name`, in folders that are new but have the same names every time."""
        layout, number = self.owner.layout, self.number
        attempt = Attempt(TaskId("map", number), 0, Slot(0, "cpu"))
        folder, log = layout.attempt(attempt), layout.log(attempt)
        data, index = self._files(name)
        folder.make(self.owner.plan.files, None)
        try:
            result = run(MapRun(job, split, self._place(folder, log, split), data, index), self.owner.progress())
        finally:
            remove_tree(folder.root)
            log.unlink(missing_ok=True)
        if result.failure or result.cancelled:
            what = result.failure.message if result.failure else "it was stopped"
            code = result.failure.code if result.failure else "HD409"
            raise JobFailed(f"map task {number} ({split}) cannot be compared: {what}", code=code)
        return TaskOutput(result, data)

    def _files(self, name: str) -> tuple[Path, Path]:
        folder = self.owner.layout.maps
        return folder / f"{self.number}.{name}.out", folder / f"{self.number}.{name}.index"

    def _remove(self, *names: str) -> None:
        for name in names:
            for path in self._files(name):
                path.unlink(missing_ok=True)

    def _place(self, folder: AttemptFolder, log: Path, split: Split) -> Place:
        names = TaskNames(self.owner.plan.job_id, True, self.number, 0, folder.out, folder.tmp, split)
        return Place(folder.work, folder.root, log, names)

    def _difference(
        self, job: CpuJob, cpu: TaskOutput, device: TaskOutput, configuration: Configuration,
    ) -> Difference | None:
        """Also one: a device that failed, or that left to the CPU what it could do in the configurations before."""
        if device.result.reason:
            return Difference(configuration.name, WHOLE_TASK, "", "a result", f"none: {device.result.reason}")
        found = self._compare(job, cpu, device, configuration)
        return self._with_record(found, configuration) if found else None

    def _compare(
        self, job: CpuJob, cpu: TaskOutput, device: TaskOutput, configuration: Configuration,
    ) -> Difference | None:
        owner, layout = self.owner, self.owner.layout
        folder = AttemptFolder(layout.attempts / f"compare{self.number}")
        names = self._place(folder, layout.logs / f"compare{self.number}", self.split).names
        comparison = Comparison(owner.native, job, folder, owner.plan.files, names, owner.progress())
        return comparison.difference(cpu, device, configuration.name)

    def _with_record(self, difference: Difference, configuration: Configuration) -> Difference:
        """The difference with the record that it comes from, found by running ever shorter beginnings of the split."""
        if self.split.file.codec:
            return replace(difference, note="the record is not looked for in a compressed file")
        job = replace(self.owner.plan.cpu, reducers=0)
        try:
            with suppress(JobFailed):  # a beginning on which the filter fails: then the record stays unknown
                return self._locate(job, difference, configuration)
            return difference
        finally:
            self._remove("cpu-part", "device-part")

    def _locate(self, job: CpuJob, difference: Difference, configuration: Configuration) -> Difference:
        def differ(length: int) -> LineDifference | None:
            part = self.split._replace(length=length)
            cpu = self._on_cpu(job, part, "cpu-part")
            device = self._on_device(job, part, configuration, "device-part")
            return None if same_bytes(cpu.data, device.data) else first_line(cpu.data, device.data)

        low, high = -1, self.split.length
        found = differ(high)
        if not found:
            return replace(difference, note="both sides have the same pairs before they are combined: the combiner differs")
        while high - low > 1:
            middle = (low + high) // 2
            line = differ(middle)
            low, high, found = (low, middle, line) if line else (middle, high, found)
        record, text = self._record(low, high, job.delimiter)
        sides = f"it gives {shown(found.first)!r} on the CPU and {shown(found.second)!r} on the device"
        return replace(difference, record=record, record_text=shown(text) or "", note=sides)

    def _record(self, low: int, high: int, delimiter: bytes) -> tuple[int, bytes]:
        """Number and text of the record that the beginning of `high` bytes has, and that of `low` bytes has not."""
        read, path, start = self.owner.native.read_records, self.split.file.path, self.split.start
        whole, count = read(path, start, high, delimiter)
        before = read(path, start, low, delimiter)[0] if low >= 0 else b""
        return count, whole[len(before):].rstrip(b"\n")
