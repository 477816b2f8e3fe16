"""Inputs that can be read once only, from their beginning: stdin, pipes. Each is kept in a file before the job is planned.

Splits are read at their offsets, by several tasks, again where an attempt fails: from the kept file, which is cut as any
other, so that a stream gives the bytes that a file of the same content gives. All streams of a job are read at a time,
each to its end: what writes them may write several in turn, and would wait for ever for a reader of one after the other.
"""

from __future__ import annotations

import errno
import os
import select
import stat
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from ..errors import JobFailed, UsageError

STDIN = "-"
_STDIN = 0  # its descriptor
_OF_PROCESS = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")  # names that mean something else in a worker process
_CHUNK = 1 << 20
_WAIT_MS = 100  # between looks at whether the job was stopped
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class Stream(NamedTuple):
    """name  as the user wrote it. path: absolute, for filters and messages; stdin's is /dev/stdin.
    kept  the file that gets what it holds.
    """

    name: str
    path: str
    kept: Path


def is_stream(name: str, status: os.stat_result | None) -> bool:
    """Whether an input that was named by itself is read once, from its beginning."""
    if name == STDIN or name.startswith(_OF_PROCESS):
        return True
    return status is not None and stat.S_ISFIFO(status.st_mode)


def path_of(name: str) -> str:
    return "/dev/stdin" if name == STDIN else os.path.abspath(name)


def keep(streams: Sequence[Stream], check: Callable[[], None]) -> None:
    """Read all streams to their ends, each into its file. Waits for whoever writes them.

    check  called at least every 0.1 s; may raise to stop.
    Raises UsageError HD010 (one cannot be opened or read, or is named twice), JobFailed HD053 (there is no room).
    """
    with ExitStack() as stack:
        sources = {_open(stream, stack): stream for stream in streams}
        _refuse_repeated(sources)
        targets = {source: stack.enter_context(_create(stream)) for source, stream in sources.items()}
        poll = select.poll()
        for source in sources:
            poll.register(source, select.POLLIN)
        while targets:
            check()
            for source, _ in poll.poll(_WAIT_MS):
                data = _read(source, sources[source])
                if data is None:
                    continue
                if not data:
                    poll.unregister(source)
                    targets.pop(source).close()
                    continue
                try:
                    targets[source].write(data)
                except OSError as error:
                    raise _no_room(sources[source], error) from None


def _open(stream: Stream, stack: ExitStack) -> int:
    """A descriptor to read from. Stdin's own is used, and stays as it is: others have it, too."""
    if stream.path == "/dev/stdin":
        return _STDIN
    try:
        source = os.open(stream.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # without it, opening waits for a writer
    except OSError as error:
        raise _unreadable(stream, error) from None
    stack.callback(os.close, source)
    return source


def _refuse_repeated(sources: dict[int, Stream]) -> None:
    seen: dict[tuple[int, int], Stream] = {}
    for source, stream in sources.items():
        status = os.fstat(source)
        if (earlier := seen.setdefault((status.st_dev, status.st_ino), stream)) is not stream:
            raise repeated(stream.name, earlier.name)


def repeated(name: str, earlier: str) -> UsageError:
    what = "is named twice" if name == earlier else f"is the same as {earlier!r}"
    return UsageError(f"the input {name!r} {what}: a stream is read once", code="HD010", help="write it to a file first")


class _Kept:
    """The file that a stream is kept in."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._fd, view):]

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = -1

    def __enter__(self) -> _Kept:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _create(stream: Stream) -> _Kept:
    try:
        stream.kept.parent.mkdir(parents=True, exist_ok=True)
        return _Kept(os.open(stream.kept, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise _no_room(stream, error) from None


def _read(source: int, stream: Stream) -> bytes | None:
    """The next bytes, b"" at the end; None: there are none now."""
    try:
        return os.read(source, _CHUNK)
    except BlockingIOError:
        return None
    except OSError as error:
        raise _unreadable(stream, error) from None


def _unreadable(stream: Stream, error: OSError) -> UsageError:
    return UsageError(f"cannot read the input {stream.name!r}: {error.strerror}", code="HD010")


def _no_room(stream: Stream, error: OSError) -> JobFailed:
    try:
        kept = stream.kept.stat().st_size
    except OSError:
        kept = 0
    help = "name an output on a disk with room for the input as well" if error.errno in _FULL else ""
    return JobFailed(
        f"the input {stream.name!r} cannot be kept in {str(stream.kept)!r}, behind {kept} bytes of it: {error.strerror}",
        code="HD053", help=help,
    )
