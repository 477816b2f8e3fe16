"""A map task's output on disk: Hadoop's IFile (`file.out`) and its index, read side only.

Every executor, CPU or GPU, leaves this form; the shuffle reads nothing but the index.
"""

from __future__ import annotations

import os
import struct
import zlib
from pathlib import Path

from ...errors import HeteroDoopError
from ...values import dataclass
from ..native.runtime import AnyPath, Segment

_ENTRY = struct.Struct(">qqq")


@dataclass(frozen=True, slots=True)
class MapOutput:
    """An IFile and its index. `empty`: no partition holds a pair.

    checks  four bytes a partition: the CRC of its row in the index, as it was when the task ended.
    The paths are text: a job may hold 100,000 of these, and a Path is five times as large.
    """

    data: str
    index: str
    empty: bool
    checks: bytes = b""

    def segment(self, partition: int) -> Segment:
        """One partition's part, read from the index file: a big job keeps no index in memory.

        Raises OSError; HeteroDoopError HD405 where the index has no such partition, or not the row that it had.
        """
        fd = os.open(self.index, os.O_RDONLY | os.O_CLOEXEC)
        try:
            raw = os.pread(fd, _ENTRY.size, partition * _ENTRY.size)
        finally:
            os.close(fd)
        if len(raw) != _ENTRY.size:
            raise HeteroDoopError(f"{self.index} has no partition {partition}", code="HD405")
        if self.checks[4 * partition : 4 * partition + 4] != _check(raw):
            raise HeteroDoopError(f"{self.index} is damaged: partition {partition} is not what was committed", code="HD405")
        return Segment(self.data, *_ENTRY.unpack(raw))


def open_map_output(data: Path, index: Path, partitions: int) -> MapOutput:
    """Check a new map output: its index whole, of `partitions` rows, and the data file as long as it says.

    Raises OSError, HeteroDoopError HD405.
    """
    segments = read_index(data, index, partitions)
    end = max(segment.start + segment.part_length for segment in segments)
    size = os.stat(data).st_size
    if end != size:
        raise HeteroDoopError(f"{data} is {size} bytes, its index says {end}", code="HD405")
    rows = (_ENTRY.pack(segment.start, segment.raw_length, segment.part_length) for segment in segments)
    return MapOutput(
        os.fspath(data), os.fspath(index), all(segment.empty for segment in segments), b"".join(map(_check, rows)))


def _check(row: bytes) -> bytes:
    return zlib.crc32(row).to_bytes(4, "big")


def read_index(data_path: AnyPath, index_path: AnyPath, partitions: int) -> list[Segment]:
    """The segments of a map output file, by partition (Hadoop: SpillRecord; three big-endian longs each, then a CRC).

    Raises HeteroDoopError HD405 where the index is damaged or is not one of `partitions`, OSError as open does.
    """
    data = Path(os.fsdecode(index_path)).read_bytes()
    body = data[:-8]
    if len(body) != 24 * partitions or struct.unpack(">q", data[-8:])[0] != zlib.crc32(body):
        raise HeteroDoopError(f"{os.fsdecode(index_path)} is not a whole index of {partitions} partitions", code="HD405")
    return [Segment(data_path, *row) for row in struct.iter_unpack(">qqq", body)]
