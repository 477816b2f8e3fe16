"""The splits of an attempt that does several, as one: the records of each part, part behind part, in a memory file.

A record belongs to the split in which it begins; one that begins where a split ends belongs to that one, too, and so the
next split leaves out what comes first (Hadoop's LineRecordReader). Each part is fetched for itself (fetch.py).
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from .fetch import OwnFiles, SplitInput, SplitRequest, TaskReader, fetched

_MARK = b"\xef\xbb\xbf"  # a byte order mark, which is no part of a file's first record


@contextmanager
def fetched_group(
    parts: Sequence[SplitRequest], cluster: OwnFiles, task: Callable[[int], TaskReader], check: Callable[[], None],
) -> Iterator[SplitInput]:
    """All parts' records as a file, until the block ends. task: what reads the part of that number. Raises as `fetched`."""
    fd = os.memfd_create("heterodoop-group", os.MFD_CLOEXEC)
    try:
        size = nbytes = 0
        why = ""
        for number, part in enumerate(parts):
            check()
            with fetched(part, cluster, task(number), check) as source:
                text = records(source.path, part)
            size += _append(fd, text, first=not size)
            nbytes += source.nbytes
            why = why or source.why
        yield SplitInput(f"/proc/{os.getpid()}/fd/{fd}", size, "task" if why else "driver", nbytes, why)
    finally:
        os.close(fd)


def records(path: str, part: SplitRequest) -> bytes:
    """What lies from the beginning of the first record of a split to the end of its last; `path`: bytes at their offsets.

    Without the mark that begins a file. Raises OSError.
    """
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if not size:
            return b""
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            begin = _behind(data, part.start, size) if part.start else 0
            text = data[begin:max(begin, _behind(data, part.end, size))]
    return text if part.start else text.removeprefix(_MARK)


def _behind(data: mmap.mmap, at: int, size: int) -> int:
    """Where the next record begins behind the one in which `at` lies."""
    newline = data.find(b"\n", at)
    carriage = data.find(b"\r", at, size if newline < 0 else newline)
    if carriage >= 0:
        return carriage + (2 if data[carriage + 1 : carriage + 2] == b"\n" else 1)
    return size if newline < 0 else newline + 1


def _append(fd: int, text: bytes, *, first: bool) -> int:
    """Records behind those that are there, the last one with its end; returns how many bytes that are."""
    if first and text.startswith(_MARK):
        text = _MARK + text  # whoever reads the whole leaves one out
    if text and not text.endswith(b"\n"):
        text += b"\n"  # behind \r, too: what follows may begin with \n, which is a record's end of its own
    view = memoryview(text)
    while view:
        view = view[os.write(fd, view):]
    return len(text)
