"""One map task by filters and, in one or several ways, by what is compared with them; the record at which the two part.

What is compared is a device or the host kernel. What programs are told (attempt, folders) is the same on both sides. Not
here: which tasks there are (verify.py), how outputs are compared (compare.py).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ...errors import JobFailed
from ...executor.kernel.emulated import NAME as EMULATED
from ...executor.kernel.emulated import DeviceOptions
from ...executor.kernel.host_kernel import HostMaps
from ...executor.native.runtime import Native, Progress
from ...executor.task.cpu_task import CpuJob, MapRun, Place, by_filters, run_map
from ...executor.task.map_output import MapOutput
from ...executor.task.report import AttemptResult
from ...executor.task.split import Split
from ...executor.task.streaming_env import TaskNames
from ...scheduler.model import Attempt, Slot, TaskId, TaskKind
from ...values import dataclass
from ..devices.compare import WHOLE_TASK, Comparison, Difference, LineDifference, TaskOutput, shown
from ..devices.devices import Devices
from ..job.layout import AttemptFolder, Layout, remove_tree
from ..run.job_report import HOST_KERNEL
from ..run.plan import Plan

_OTHER_PATTERN = 0xA5
_SMALL = 100_000  # bytes of a sub-split on a GPU: many of them, cut at other records


@dataclass(frozen=True)
class Verdict:
    """What came of one task. `reason`: why filters alone ran it ("cpu-only"). pairs: that the map, or the reducer, wrote.

    split  of a map task its split, of a reduce task its partition.
    """

    task: int
    split: str
    outcome: Literal["equal", "cpu-only", "different"]
    records: int = 0
    pairs: int = 0
    reason: str = ""
    difference: Difference | None = None
    kind: TaskKind = "map"

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


class Configuration(NamedTuple):
    """Options of a device, under which a task gives the same result for a right program."""

    name: str
    options: DeviceOptions


def configurations(device: str, options: DeviceOptions) -> tuple[Configuration, ...]:
    """Of a device, those to compare. `options`: the job's sizes and seed.

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


class Way(NamedTuple):
    """A way to run a task that is compared with filters.

    run      the task's result; with a `reason` where it has none, or where it is the CPU's after all.
    combine  it does nothing without the combiner.
    """

    name: str
    run: Callable[[MapRun, Progress], AttemptResult]
    combine: bool = False


def on_device(plan: Plan, native: Native, devices: Devices) -> tuple[Way, ...]:
    """On the job's device, in all configurations."""
    options = plan.offload.options if plan.offload else DeviceOptions()

    def run(other: DeviceOptions, run: MapRun, progress: Progress) -> AttemptResult:
        return devices.run_map(by_filters(native), run, progress, other)

    return tuple(Way(one.name, partial(run, one.options)) for one in configurations(plan.device, options))


def as_host_kernel(maps: HostMaps) -> tuple[Way, ...]:
    def run(run: MapRun, progress: Progress) -> AttemptResult:
        done = maps.run_alone(run, progress)
        return done if isinstance(done, AttemptResult) else AttemptResult(reason=done.reason)

    return (Way(HOST_KERNEL, run, combine=True),)


@dataclass
class TaskChecker:
    """Checks tasks of one job; several threads may call `check` at a time. kept: what filters made of each task, where that
    is wanted; else their files are removed."""

    plan: Plan
    layout: Layout
    native: Native
    ways: tuple[Way, ...]
    kept: dict[int, MapOutput] | None = None
    _running: list[Progress] = field(default_factory=list)
    _cancelled: bool = False

    def check(self, number: int) -> Verdict:
        """Run the task on both sides and compare. Raises JobFailed where filters fail, OSError."""
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
            for number, way in enumerate(self.owner.ways):
                other = self._attempt(job, self.split, "other", way.run)
                if other.result.reason and not number and not other.result.device_failed:
                    return replace(verdict, outcome="cpu-only", reason=other.result.reason)
                difference = self._difference(job, cpu, other, way)
                if difference:
                    return replace(verdict, outcome="different", difference=difference)
            return verdict
        finally:
            keeps = self.owner.kept is not None and cpu.result.output is not None
            self._remove("other", *(() if keeps else ("cpu",)))
            if self.owner.kept is not None and cpu.result.output is not None:
                self.owner.kept[self.number] = cpu.result.output

    def _on_cpu(self, job: CpuJob, split: Split, name: str) -> TaskOutput:
        native = self.owner.native
        return self._attempt(job, split, name, lambda run, progress: run_map(
            native, run.job, run.split, run.place, run.out, run.index, progress))

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

    def _difference(self, job: CpuJob, cpu: TaskOutput, other: TaskOutput, way: Way) -> Difference | None:
        """Also one: a device that failed, or that left to the CPU what it could do in the ways before."""
        if other.result.reason:
            return Difference(way.name, WHOLE_TASK, "", "a result", f"none: {other.result.reason}")
        found = self._comparison(job).difference(cpu, other, way.name)
        return self._with_record(found, way) if found else None

    def _comparison(self, job: CpuJob) -> Comparison:
        owner, layout = self.owner, self.owner.layout
        folder = AttemptFolder(layout.attempts / f"compare{self.number}")
        names = self._place(folder, layout.logs / f"compare{self.number}", self.split).names
        return Comparison(owner.native, job, folder, owner.plan.files, names, owner.progress())

    def _with_record(self, difference: Difference, way: Way) -> Difference:
        """The difference with the record that it comes from, found by running ever shorter beginnings of the split."""
        if self.split.piped:
            kind = "of a file that is no plain text" if self.split.reader else "in a compressed file"
            return replace(difference, note=f"the record is not looked for {kind}")
        job = self.owner.plan.cpu if way.combine else replace(self.owner.plan.cpu, reducers=0)
        try:
            with suppress(JobFailed):  # a beginning on which the filter fails: then the record stays unknown
                return self._locate(job, difference, way)
            return difference
        finally:
            self._remove("cpu-part", "other-part")

    def _locate(self, job: CpuJob, difference: Difference, way: Way) -> Difference:
        def differ(length: int) -> LineDifference | None:
            part = self.split._replace(length=length)
            cpu, other = self._on_cpu(job, part, "cpu-part"), self._attempt(job, part, "other-part", way.run)
            if way.combine and other.result.reason:  # there is nothing to compare
                raise JobFailed(other.result.reason)
            return self._comparison(job).line(cpu, other)

        low, high = -1, self.split.length
        found = differ(high)
        if not found:
            where = "" if way.combine else " before they are combined: the combiner differs"
            return replace(difference, note=f"both sides have the same pairs{where}")
        while high - low > 1:
            middle = (low + high) // 2
            line = differ(middle)
            low, high, found = (low, middle, line) if line else (middle, high, found)
        record, text = self._record(low, high, job.delimiter)
        names = ("by filters", "as host kernel") if way.combine else ("on the CPU", "on the device")
        sides = f"it gives {shown(found.first)!r} {names[0]} and {shown(found.second)!r} {names[1]}"
        return replace(difference, record=record, record_text=shown(text) or "", note=sides)

    def _record(self, low: int, high: int, delimiter: bytes) -> tuple[int, bytes]:
        """Number and text of the record that the beginning of `high` bytes has, and that of `low` bytes has not."""
        read, path, start = self.owner.native.read_records, self.split.file.path, self.split.start
        whole, count = read(path, start, high, delimiter)
        before = read(path, start, low, delimiter)[0] if low >= 0 else b""
        return count, whole[len(before):].rstrip(b"\n")
