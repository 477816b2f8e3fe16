"""Cutting input files into splits, by Hadoop's FileInputFormat rule. Which records a split holds is the reader's business.

Sizes in, byte ranges out; only NLineInputFormat's splits are what is in the files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ...storage.codecs import CHUNK, decompressed
from ...storage.local import InputFile
from ...storage.readers import Reader
from ...storage.sequence_file import SYNC_INTERVAL

SPLIT_BYTES = 64 << 20  # where something else about the size is said
_MOST, _LEAST, _WHOLE = SPLIT_BYTES, 4 << 20, 1 << 20
_SPLITS = 32  # of an input that is neither small nor large
SPLIT_SLOP = 1.1  # FileInputFormat.SPLIT_SLOP: a rest of up to a tenth of a split stays with the last one


class Split(NamedTuple):
    """Bytes [start, start + length) of a file; a compressed file is one split, its length that of the file on disk.

    reader  what makes text of its records; None: they are lines, which the native runtime reads.
    """

    file: InputFile
    start: int
    length: int
    reader: Reader | None = None

    @property
    def piped(self) -> bool:
        """Whether its text comes through a pipe: then no part of it can be read by itself."""
        return bool(self.file.codec or self.reader)

    def text(self) -> Iterator[bytes]:
        """Of a piped one. Raises DamagedInput, OSError."""
        if self.reader:
            return self.reader.text(self.file, self.start, self.length)
        return decompressed(self.file.path, self.file.codec)

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


def plan_splits(files: Iterable[InputFile], size: SplitSize, reader: Reader | None = None) -> list[Split]:
    """The job's splits, in file order. A file of no bytes is one empty split, so that its map task exists."""
    files = list(files)
    nbytes = size.of(sum(file.size for file in files))
    if reader and reader.of_sequence_files:
        nbytes = max(nbytes, SYNC_INTERVAL)  # as SequenceFileInputFormat
    return [split._replace(reader=reader) if reader else split for file in files for split in _cut(file, nbytes)]


def splits_of_lines(files: Iterable[InputFile], lines: int, reader: Reader | None) -> list[Split]:
    """So many lines each, as NLineInputFormat has them: a split begins with the last byte of the line before, for whoever
    reads it begins behind the first line's end. A file of no bytes has none. Raises OSError."""
    found = []
    for file in files:
        begin = 0
        for end in _ends(file, lines):
            start = max(begin - 1, 0)
            found.append(Split(file, start, end - 1 - start, reader))
            begin = end
    return found


_LINE_END = re.compile(rb"\r\n|\r|\n")


def _ends(file: InputFile, lines: int) -> Iterator[int]:
    """Where each `lines`-th line ends, and the last one."""
    at = ends = last = 0
    with open(file.path, "rb", buffering=0) as data:
        half = b""  # a \r that may be half of a line's end
        while piece := data.read(CHUNK):
            whole = half + piece
            half = b"\r" if whole.endswith(b"\r") else b""
            for match in _LINE_END.finditer(whole, 0, len(whole) - len(half)):
                ends += 1
                if ends % lines == 0:
                    last = at + match.end()
                    yield last
            at += len(whole) - len(half)
    if at + len(half) > last:
        yield at + len(half)


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
