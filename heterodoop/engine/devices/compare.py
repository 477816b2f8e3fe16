"""Where two outputs of the same map task differ: the bytes first, and only where those differ, pair by pair.

Map outputs are turned into text by the native runtime's merge, so no second reader of IFile is needed. Not here: which
outputs are compared and why (verify.py, first_check.py).
"""

from __future__ import annotations

import os
from itertools import zip_longest
from pathlib import Path

from ...errors import JobFailed
from ...executor.native.runtime import FilterCommand, Native, Progress, ReduceSpec, Segment
from ...executor.task.cpu_task import CpuJob, Place, filter_command
from ...executor.task.map_output import MapOutput
from ...executor.task.report import AttemptResult
from ...executor.task.streaming_env import TaskNames
from ...values import dataclass
from ..job.layout import AttemptFolder, remove_tree

_CHUNK = 1 << 20
_SHOWN = 200  # characters of a pair or record in a message
_COUNTERS = ("MAP_INPUT_RECORDS", "MAP_INPUT_BYTES", "MAP_OUTPUT_RECORDS", "MAP_OUTPUT_BYTES")
WHOLE_TASK = "the whole task"


@dataclass(frozen=True)
class Difference:
    """The first difference between two outputs of a task.

    configuration  of the device, in which it shows; "" for the job's own.
    where          "partition 2, pair 17", "line 17", "counter MAP_OUTPUT_RECORDS", WHOLE_TASK (the device gave no output).
    key, cpu, device   what each side has there, as text; None: it has ended.
    record         number (from 1) in the split of the first record whose output differs; None: not found.
    record_text    that record. note: what else is known.
    """

    configuration: str
    where: str
    key: str
    cpu: str | None
    device: str | None
    record: int | None = None
    record_text: str = ""
    note: str = ""


@dataclass(frozen=True)
class TaskOutput:
    """What one side made of a map task: IFile and index (`result.output`), or text at `data`."""

    result: AttemptResult
    data: Path


@dataclass(frozen=True)
class LineDifference:
    """The first line (from 1) that two texts do not share, without its line end; None: that text has ended."""

    number: int
    first: bytes | None
    second: bytes | None

    @property
    def key(self) -> bytes:
        """Of sorted pairs, the key at which they part: the smaller one, which the other side lacks or has otherwise."""
        keys = [line.split(b"\t", 1)[0] for line in (self.first, self.second) if line is not None]
        return min(keys)


def same_bytes(first: Path, second: Path, *, parts: tuple[Segment, Segment] | None = None) -> bool:
    """Whether two files, or a part of each, hold the same bytes. Raises OSError."""
    starts, sizes = [0, 0], [os.stat(first).st_size, os.stat(second).st_size]
    if parts:
        starts, sizes = [part.start for part in parts], [part.part_length for part in parts]
    if sizes[0] != sizes[1]:
        return False
    with open(first, "rb") as a, open(second, "rb") as b:
        a.seek(starts[0])
        b.seek(starts[1])
        left = sizes[0]
        while left:
            piece = a.read(min(_CHUNK, left))
            if not piece or b.read(len(piece)) != piece:
                return False
            left -= len(piece)
    return True


def first_line(first: Path, second: Path) -> LineDifference | None:
    """The first line that differs between two texts; None where they are equal. Raises OSError."""
    with open(first, "rb") as a, open(second, "rb") as b:
        for number, (one, two) in enumerate(zip_longest(a, b), 1):
            if one != two:
                return LineDifference(number, *(line.rstrip(b"\n") if line is not None else None for line in (one, two)))
    return None


@dataclass(frozen=True)
class PairTexts:
    """Makes the text of a partition: its pairs in order, through `combine` if given (a fold, to combine them fully)."""

    native: Native
    combine: FilterCommand | None
    scratch: Path
    merge_bytes: int
    progress: Progress

    def difference(self, first: MapOutput, second: MapOutput, partition: int) -> LineDifference | None:
        """The first pair of a partition that two outputs do not share. Raises OSError, JobFailed HD409."""
        parts = first.segment(partition), second.segment(partition)
        if same_bytes(Path(first.data), Path(second.data), parts=parts):
            return None
        texts = [self._text(part, partition, self.scratch / f"side{i}") for i, part in enumerate(parts)]
        try:
            return first_line(*texts)
        finally:
            for text in texts:
                text.unlink(missing_ok=True)

    def _text(self, part: Segment, partition: int, path: Path) -> Path:
        spec = ReduceSpec(self.combine, [part], path, partition, self.merge_bytes, work_dir=self.scratch)
        result = self.native.reduce_task(spec, self.progress)
        if not result.ok:
            raise JobFailed(f"a map output cannot be read back to be compared: {result.message}", code="HD409")
        return path


@dataclass(frozen=True)
class Comparison:
    """Compares the two sides' outputs of one map task.

    folder    where pairs become text, and where a fold combines them fully: made for that and removed again.
    files     (name, absolute path) that the combiner finds in its working folder.
    names     what the combiner is told of the task, but for its folders.
    progress  may stop it.
    """

    native: Native
    job: CpuJob
    folder: AttemptFolder
    files: tuple[tuple[str, Path], ...]
    names: TaskNames
    progress: Progress

    def difference(self, cpu: TaskOutput, device: TaskOutput, configuration: str = "") -> Difference | None:
        """The first difference, of pairs or else of counters. Raises OSError, JobFailed HD409 (an output cannot be read)."""
        lines = self._lines(cpu, device)
        if lines:
            where, line = lines
            key = line.key.decode("utf-8", "backslashreplace")
            return Difference(configuration, where, key, shown(line.first), shown(line.second))
        for name, one, two in _counts(self.job, cpu.result, device.result):
            if one != two:
                return Difference(configuration, f"counter {name}", "", str(one), str(two))
        return None

    def line(self, cpu: TaskOutput, device: TaskOutput) -> LineDifference | None:
        """The first line or pair that the outputs do not share. Raises as `difference`."""
        lines = self._lines(cpu, device)
        return lines[1] if lines else None

    def _lines(self, cpu: TaskOutput, device: TaskOutput) -> tuple[str, LineDifference] | None:
        """Where the outputs differ, and how. Of a fold the pairs are combined fully first: that it must do at some time."""
        first, second = cpu.result.output, device.result.output
        if not first or not second:
            line = None if same_bytes(cpu.data, device.data) else first_line(cpu.data, device.data)
            return (f"line {line.number}", line) if line else None
        self.folder.make(self.files, None)
        try:
            texts = PairTexts(self.native, self._combine(), self.folder.root, self.job.sort_bytes, self.progress)
            for partition in range(self.job.reducers):
                line = texts.difference(first, second, partition)
                if line:
                    return f"partition {partition}, pair {line.number}", line
        finally:
            remove_tree(self.folder.root)
        return None

    def _combine(self) -> FilterCommand | None:
        if not self.job.combine or not self.job.regroup:
            return None
        folder = self.folder
        names = self.names._replace(output_dir=folder.out, tmp_dir=folder.tmp)
        return filter_command(self.job, self.job.combine, Place(folder.work, folder.root, folder.root / "log", names))


def _counts(job: CpuJob, cpu: AttemptResult, device: AttemptResult) -> list[tuple[str, int, int]]:
    """Counters that both sides must agree on. Those of the user only where no combiner can have run more than once."""
    rows = [(name, cpu.counters[name], device.counters[name]) for name in _COUNTERS]
    if not job.combine or not job.reducers or (device.host and not cpu.counters["SPILLS"]):
        one, two = cpu.user_counters, device.user_counters
        rows += [(",".join(name), one.get(name, 0), two.get(name, 0)) for name in sorted({*one, *two})]
    return rows


def shown(line: bytes | None) -> str | None:
    """A pair or record as a message shows it: printable, and not too long."""
    if line is None:
        return None
    text = line.decode("utf-8", "backslashreplace")
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}... ({len(line)} bytes)"
