"""One worker process as the engine sees it: its channels, ending it, and how it ended.

Not here: starting one (spawn.py), when to start another one (client.py), what runs inside (worker.py).
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from threading import Lock

from ..kernel.gpu_task import KernelCall
from ..native import abi as abi
from . import spawn
from .messages import Channel, Message, shared_block
from .spawn import Spawned

START_SECONDS = 60.0  # for one step of the start: a driver that wakes eight GPUs takes ten
SEND_SECONDS = 30.0  # for a message that has begun: a process that does not take it is stopped, or gone
_END_SECONDS = 2.0  # to end by itself, once its channels are closed
_DEAD_SECONDS = 10.0  # from kill -9 to the end: the driver frees the GPU's memory first
_TAIL = 4000


class SessionChannel:
    """A channel for map tasks, and the numbers of the one that runs.

    calls  the kernels that the worker has.
    stats  what all its tasks so far did (NativeDevice.stats).
    """

    def __init__(self, channel: Channel, block: abi.ProgressBlock) -> None:
        self.channel = channel
        self.block = block
        self.calls: tuple[KernelCall, KernelCall | None] | None = None
        self.stats: dict[str, int] = {}
        self.lock = Lock()


class WorkerProcess:
    """A running worker. `receive` is for one thread, a session for one at a time."""

    def __init__(self, spawned: Spawned) -> None:
        self._stderr, self._process, self._open = spawned.stderr, spawned.process, spawned.owned
        control, *channels = spawned.channels
        self._sessions = [
            SessionChannel(_channel(one, SEND_SECONDS), shared_block(fd)) for one,
            fd in zip(channels, spawned.blocks, strict=True)
        ]
        self._control = _channel(control, START_SECONDS)
        self.pid = self._process.pid
        self._how = ""
        self._killed = False
        self._lock = Lock()

    def send(self, message: Message) -> None:
        """Raises OSError: the worker is gone."""
        self._control.send(message)

    def receive(self) -> Message:
        """The worker's next word about its start. Raises EOFError, OSError: it is gone, or says nothing."""
        message: Message = self._control.receive()[0]
        return message

    @contextmanager
    def session(self, number: int) -> Iterator[SessionChannel]:
        session = self._sessions[number]
        with session.lock:
            yield session

    def others(self, number: int) -> tuple[int, ...]:
        """Numbers that change as long as any session but this one makes progress."""
        blocks = [session.block for session in self._sessions[:number] + self._sessions[number + 1 :]]
        return tuple(n for b in blocks for n in (b.phase, b.bytes_in, b.records_in, b.pairs_out, b.bytes_out))

    def handle(self) -> int:
        """A descriptor of the process (pidfd_open), which is the caller's to close; -1: it has ended. Raises OSError."""
        try:
            fd = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return -1
        if self._process.poll() is None:  # so nobody has waited for it, and no other process has its number
            return fd
        os.close(fd)
        return -1

    def kill(self) -> None:
        """End it now, with all that is in its group; may be called at any time by any thread."""
        if self._process.poll() is None:
            self._killed = True
            spawn.kill(self._process)

    def was_killed(self) -> bool:
        """Whether it ended by SIGKILL that was not `kill`'s: by the system for want of memory, or by a person."""
        return self._ended(_END_SECONDS) and self._process.returncode == -signal.SIGKILL and not self._killed

    def finish(self) -> None:
        """Let it end by itself, with its channels shut; kill it where it does not. Frees what belongs to it here."""
        channels = [self._control, *(session.channel for session in self._sessions)]
        for channel in channels[::-1]:
            with suppress(OSError):
                channel.socket.shutdown(socket.SHUT_RDWR)
        if not self._ended(_END_SECONDS):
            self.kill()
            self._ended(_DEAD_SECONDS)
        self.how_it_ended()
        with ExitStack() as users:
            for session in self._sessions:
                users.enter_context(session.lock)  # who used it has seen the end of the channel
            self._open.close()

    def how_it_ended(self) -> str:
        """In words, with the end of what it wrote to stderr: a process that ends for a fault says why there."""
        if not self._ended(_DEAD_SECONDS):
            return f"its process {self.pid} cannot be killed"
        with self._lock:
            if not self._how:
                self._how = self._status()
            return self._how

    def _status(self) -> str:
        status = self._process.returncode
        how = f"exit status {status}"
        if status < 0:
            names = {number.value: number.name for number in signal.Signals}
            how = f"killed by {names.get(-status, f'signal {-status}')}"
        said = self._tail()
        return f"{how}: {said}" if said else how

    def _ended(self, seconds: float) -> bool:
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def _tail(self) -> str:
        with suppress(OSError):
            size = os.fstat(self._stderr).st_size
            data = os.pread(self._stderr, _TAIL, max(0, size - _TAIL))
            return data.decode("utf-8", "backslashreplace").strip()
        return ""


def _channel(sock: socket.socket, seconds: float) -> Channel:
    sock.settimeout(seconds)
    return Channel(sock)
