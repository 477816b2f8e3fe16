"""Starting a worker process: its channels, its environment, and who it dies with.

It has its own process group, no input, nothing of the engine's but its channels, and dies with the thread that started it
(Linux counts threads there), so start it from one that lives as long as the job. Imports little, so that a command can start
its worker before it has imported what a job needs. Not here: what the engine and its worker say to each other
(process.py), what runs inside (main.py).
"""

from __future__ import annotations

import mmap
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import NamedTuple

from ...daemon.start import Child, python
from ..gpu.gpus import SESSIONS

MODULE = "heterodoop.executor.worker.main"
_FEW_THREADS = {"OPENBLAS_NUM_THREADS": "1"}  # PyCUDA imports numpy, which starts a thread per core for nothing


class Spawned(NamedTuple):
    """A process that has just begun, and what is the engine's of it.

    channels  our ends of its sockets, the control channel first.
    blocks    descriptors of memory, a page each, for the numbers of a session's running task.
    stderr    the file that its stderr goes to.
    owned     closes all of them.
    """

    kind: str
    process: Child
    channels: tuple[socket.socket, ...]
    blocks: tuple[int, ...]
    stderr: int
    owned: ExitStack

    @property
    def sessions(self) -> int:
        return len(self.blocks)


def spawn(kind: str, sessions: int, number: int | None = None) -> Spawned:
    """Start a worker. Raises OSError: the system has no process or memory for it.

    kind    "cuda" or "emulated".
    number  of the GPU that it will probably be told to open: it wakes it at once. None: nobody knows.
    """
    with ExitStack() as theirs, ExitStack() as ours:
        pairs = [socket.socketpair() for _ in range(sessions + 1)]
        for one, other in pairs:
            ours.enter_context(one)
            theirs.enter_context(other)
        blocks = [_page(ours) for _ in range(sessions)]
        stderr = _memory("heterodoop-worker-stderr", ours)
        words = [kind, "-" if number is None else str(number)]
        process = _process(words, [other.fileno() for _, other in pairs], blocks, stderr)
        return Spawned(kind, process, tuple(one for one, _ in pairs), tuple(blocks), stderr, ours.pop_all())


def kill(process: Child) -> None:
    """End it now, with all that is in its group; may be called at any time by any thread."""
    with suppress(ProcessLookupError, PermissionError):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)


def discard(spawned: Spawned) -> None:
    """End a process that nothing was said to."""
    kill(spawned.process)
    spawned.process.wait()
    spawned.owned.close()


class Early:
    """A worker process that was started before anybody knew whether it would be used.

    asleep  why a job that may use a GPU had better not; "" where nothing speaks against it.
    """

    def __init__(self, spawned: Spawned | None, asleep: str = "") -> None:
        self._spawned = spawned
        self.asleep = asleep

    def take(self, kind: str, sessions: int) -> Spawned | None:
        """The process, which is the caller's from now on; None where there is none of this kind with so many sessions."""
        found = self._spawned
        if found is None or (found.kind, found.sessions) != (kind, sessions):
            return None
        self._spawned = None
        return found

    def close(self) -> None:
        """End the process, if nobody took it."""
        if self._spawned:
            discard(self._spawned)
            self._spawned = None


@contextmanager
def started(kind: str, number: int) -> Iterator[Early]:
    """A worker with as many sessions as where nothing else is said; it ends with the block, if nobody took it. Where there
    can be none, the one who needs it will meet the same error."""
    early = Early(None)
    with suppress(OSError):
        early = Early(spawn(kind, SESSIONS, number))
    try:
        yield early
    finally:
        early.close()


def _memory(name: str, owned: ExitStack) -> int:
    fd = os.memfd_create(name, os.MFD_CLOEXEC)
    owned.callback(os.close, fd)
    return fd


def _page(owned: ExitStack) -> int:
    fd = _memory("heterodoop-progress", owned)
    os.ftruncate(fd, mmap.PAGESIZE)
    return fd


def _process(words: list[str], channels: list[int], blocks: list[int], stderr: int) -> Child:
    control, *sessions = channels
    words = [*words, str(os.getpid()), str(control), ",".join(map(str, sessions)), ",".join(map(str, blocks))]
    return python(["-m", MODULE, *words], stderr=stderr, pass_fds=[*channels, *blocks], cwd=None, more=_FEW_THREADS)
