"""Where two outputs of the same map task differ: the bytes first, and only where those differ, pair by pair.

Map outputs are turned into text by the native runtime's merge, so no second reader of IFile is needed. Not here: which
outputs are compared and why (verify.py).
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from ..errors import JobFailed
from ..executor.map_output import MapOutput
from ..executor.native import FilterCommand, Native, Progress, ReduceSpec, Segment

_CHUNK = 1 << 20


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
        result = self.native.reduce_task(spec, Progress())
        if not result.ok:
            raise JobFailed(f"a map output cannot be read back to be compared: {result.message}", code="HD409")
        return path
