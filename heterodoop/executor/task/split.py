"""Cutting input files into splits, by Hadoop's FileInputFormat rule. Which records a split holds is the reader's business.

Pure: sizes in, byte ranges out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ...storage.local import InputFile

SPLIT_BYTES = 64 << 20  # where something else about the size is said
_MOST, _LEAST, _WHOLE = SPLIT_BYTES, 4 << 20, 1 << 20
_SPLITS = 32  # of an input that is neither small nor large
SPLIT_SLOP = 1.1  # FileInputFormat.SPLIT_SLOP: a rest of up to a tenth of a split stays with the last one


class Split(NamedTuple):
    """Bytes [start, start + length) of a file; a compressed file is one split, its length that of the file on disk."""

    file: InputFile
    start: int
    length: int

    def __str__(self) -> str:
        if self.file.codec:
            return f"{self.file.shown} ({self.file.codec}, whole file)"
        return f"{self.file.shown}, bytes {self.start} to {self.start + self.length}"


def default_size(total: int) -> int:
    """Bytes of a split of `total` input bytes where nothing is said about them.

    A 32nd of the input: enough for 16 slots to have equal shares, and no more, since each holds the same keys again (word
    count of 256 MiB takes 1.2 times as long in 64 splits as in 32). At least 4 MiB, which outweigh what a task costs, at
    most 64 MiB. Nothing of the machine, for the splits decide what a combiner sees together.
    """
    share = -(-total // _SPLITS)
    return min(_MOST, max(_LEAST, -(-share // _WHOLE) * _WHOLE))


class SplitSize(NamedTuple):
    """What decides the size of a split (bytes). `maps` is mapreduce.job.maps, a hint; 0 = none given.

    block  0 = `default_size`.
    """

    block: int = SPLIT_BYTES
    minimum: int = 1
    maximum: int = 0  # 0 = no limit
    maps: int = 0

    def of(self, total: int) -> int:
        """Size for a job of `total` input bytes: max(minimum, min(total / maps, maximum, block))."""
        limits = [self.block or default_size(total)]
        if self.maximum:
            limits.append(self.maximum)
        if self.maps:
            limits.append(total // self.maps)
        return max(1, self.minimum, min(limits))


def plan_splits(files: Iterable[InputFile], size: SplitSize) -> list[Split]:
    """The job's splits, in file order. A file of no bytes is one empty split, so that its map task exists."""
    files = list(files)
    nbytes = size.of(sum(file.size for file in files))
    return [split for file in files for split in _cut(file, nbytes)]


def _cut(file: InputFile, nbytes: int) -> Iterator[Split]:
    if file.codec or not file.size:
        yield Split(file, 0, file.size)
        return
    rest = file.size
    while rest / nbytes > SPLIT_SLOP:
        yield Split(file, file.size - rest, nbytes)
        rest -= nbytes
    if rest:
        yield Split(file, file.size - rest, rest)
