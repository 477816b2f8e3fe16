"""A split's bytes for a worker: a path, and what reading took. Local files as they are; others into a sparse memory file.

In the memory file every byte lies at its own offset of the input, so that the byte order mark, the rule of splits and error
messages are those of the file; nothing before the split takes memory. It goes on behind the split's end as far as the last
record does. HDFS is read in parallel ranges; what this process cannot read itself, the task reads. Not here: records.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Condition
from typing import NamedTuple

from ...storage.hadoop_conf import HadoopConf, hadoop_user
from ...storage.hdfs import HdfsData, RangeReader, split_uri

RANGE = 16 << 20
PAST_END = 64 << 10  # first look behind the split's end
READERS = 4
_TICK_SECONDS = 0.2


class SplitRequest(NamedTuple):
    """What a task is to read. `uri`: Hadoop's Path as a URI. longest: bytes of the longest record, 0: any."""

    uri: str
    start: int
    length: int
    delimiter: bytes
    user: str
    longest: int = 0

    @property
    def end(self) -> int:
        return self.start + self.length


@dataclass(frozen=True)
class SplitInput:
    """A split that can be read: `path` holds its bytes at their offsets, up to `size` at least.

    read     "driver" or "task".
    why      the task did, "" else.
    nbytes   that were moved to get it; 0 for a local file, which the worker reads itself.
    """

    path: str
    size: int
    read: str
    nbytes: int
    why: str = ""


class TooBig(Exception):
    """The split does not fit the memory that the driver may use."""


class TooLong(Exception):
    """The split's last record goes on behind it for more than a record may have."""


class SplitMemory:
    """What all splits in memory files may take together, in bytes."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0
        self._changed = Condition()

    @contextmanager
    def reserved(self, nbytes: int, check: Callable[[], None]) -> Iterator[None]:
        """Waits until there is room; `check` is called meanwhile and may raise. Raises TooBig."""
        if nbytes > self.limit:
            raise TooBig(f"a split of {nbytes} bytes is more than the driver's --memory of {self.limit}")
        with self._changed:
            while self.used + nbytes > self.limit:
                check()
                self._changed.wait(_TICK_SECONDS)
            self.used += nbytes
        try:
            yield
        finally:
            with self._changed:
                self.used -= nbytes
                self._changed.notify_all()


class OwnFiles:
    """What this process can read by itself: the default file system, as its own user."""

    def __init__(self, conf: HadoopConf) -> None:
        self._conf = conf
        self._filesystem = conf.default_fs()
        self._data: HdfsData | None = None
        self._pool = ThreadPoolExecutor(READERS, thread_name_prefix="hdfs")

    def open(self, request: SplitRequest) -> RangeReader:
        """Raises OSError: the task must read."""
        scheme, authority, path = split_uri(request.uri)
        if scheme != "hdfs" or self._filesystem != f"hdfs://{authority}":
            raise OSError(f"{scheme}://{authority} is not the driver's file system, {self._filesystem}")
        if self._conf.secure:
            raise OSError("the cluster wants Kerberos")
        if request.user != hadoop_user():
            raise OSError(f"the driver reads as {hadoop_user()}, not as {request.user}")
        data = self._data or HdfsData(self._filesystem, self._conf)
        self._data = None  # a client that fails is not used again
        reader = data.open(path)
        self._data = data
        return reader

    def map(self, function: Callable[[int], int], offsets: list[int]) -> list[int]:
        return list(self._pool.map(function, offsets))

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)


class TaskReader:
    """The task reads, and sends what it read: one range after the other. `read` raises Failed, Closed.

    ask   offset, size, part: number of the part whose file it is, of an attempt of several splits.
    """

    def __init__(self, ask: Callable[[int, int, int], bytes], part: int = 0) -> None:
        self._ask = ask
        self._part = part

    def of(self, part: int) -> TaskReader:
        return TaskReader(self._ask, part)

    def read(self, offset: int, size: int) -> bytes:
        return self._ask(offset, size, self._part)


@contextmanager
def fetched(
    request: SplitRequest, cluster: OwnFiles, task: TaskReader, check: Callable[[], None],
) -> Iterator[SplitInput]:
    """The split, until the block ends. `check` is called between ranges and may raise, as `task` may.

    Raises OSError; TooLong.
    """
    if path := local_path(request.uri):
        yield SplitInput(path, request.end, "driver", 0)
        return
    fd = os.memfd_create("heterodoop-split", os.MFD_CLOEXEC)
    try:
        nbytes, why = _fill(fd, request, cluster, task, check)
        if not request.length:  # nothing need be there
            os.ftruncate(fd, max(request.start, os.fstat(fd).st_size))
        size = os.fstat(fd).st_size
        if size < request.end:
            raise OSError(f"{request.uri} ends at {size}, before the split does at {request.end}")
        yield SplitInput(f"/proc/{os.getpid()}/fd/{fd}", size, "task" if why else "driver", nbytes, why)
    finally:
        os.close(fd)


def local_path(uri: str) -> str:
    """The path of a file: URI that this process can read; "" else."""
    scheme, authority, path = split_uri(uri)
    if scheme != "file" or authority not in ("", "localhost") or not path.startswith("/"):
        return ""
    try:
        regular = stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError):  # ValueError: a NUL byte
        return ""
    return path if regular and os.access(path, os.R_OK) else ""


def _fill(
    fd: int, request: SplitRequest, cluster: OwnFiles, task: TaskReader, check: Callable[[], None],
) -> tuple[int, str]:
    """How many bytes were read, and why the task did so ("": it did not)."""
    try:
        reader = cluster.open(request)
        return _fill_parallel(fd, request, reader, cluster, check), ""
    except OSError as error:
        why = str(error) or type(error).__name__
        os.ftruncate(fd, 0)
    return _fill_serial(fd, request, task.read, check), why


def _fill_parallel(
    fd: int, request: SplitRequest, reader: RangeReader, cluster: OwnFiles, check: Callable[[], None],
) -> int:
    end = min(request.end, reader.length)

    def piece(offset: int) -> int:
        check()
        data = reader.read(offset, min(RANGE, end - offset))
        _write(fd, data, offset)
        return len(data)

    total = sum(cluster.map(piece, list(range(request.start, end, RANGE))))
    return total + _fill_rest(fd, request, reader.read, check)


def _fill_serial(fd: int, request: SplitRequest, read: Callable[[int, int], bytes], check: Callable[[], None]) -> int:
    total = 0
    for offset in range(request.start, request.end, RANGE):
        check()
        wanted = min(RANGE, request.end - offset)
        data = read(offset, wanted)
        _write(fd, data, offset)
        total += len(data)
        if len(data) < wanted:
            return total
    return total + _fill_rest(fd, request, read, check)


def _fill_rest(fd: int, request: SplitRequest, read: Callable[[int, int], bytes], check: Callable[[], None]) -> int:
    """What the split's last record has behind the split: up to a line end, or a delimiter that lies wholly behind it, and
    one byte, which may be the \\n of a \\r\\n."""
    delimiter = request.delimiter
    begin = request.end + max(0, len(delimiter) - 1)
    at, size, kept = request.end, PAST_END, b""
    while True:
        check()
        data = read(at, size)
        _write(fd, data, at)
        at += len(data)
        kept = (kept + data)[-(len(data) + max(1, len(delimiter))):]
        base = at - len(kept)
        found = _end_of_record(kept, max(0, begin - base), delimiter)
        if len(data) < size or (0 <= found < len(kept)):
            return at - request.end
        if request.longest and at - request.end > request.longest:
            raise TooLong(f"{request.uri}: the record at byte {request.end} has more than {request.longest} bytes")
        size = min(2 * size, RANGE)


def _end_of_record(data: bytes, begin: int, delimiter: bytes) -> int:
    """Just behind the first end of a record that starts at `begin` or later; -1: there is none."""
    if delimiter:
        hit = data.find(delimiter, begin)
        return hit + len(delimiter) if hit >= 0 else -1
    hits = [hit for hit in (data.find(b"\n", begin), data.find(b"\r", begin)) if hit >= 0]
    return min(hits) + 1 if hits else -1


def _write(fd: int, data: bytes, offset: int) -> None:
    view = memoryview(data)
    while view:
        done = os.pwrite(fd, view, offset)
        view, offset = view[done:], offset + done
