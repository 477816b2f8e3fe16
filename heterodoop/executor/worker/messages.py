"""What the engine and its worker processes say to each other, and how: pickled values of our own over socket pairs.

A worker has one control channel and one channel per session. Both ends are ours (a child and its parent, over sockets
that nobody else has), so pickle is safe here. Descriptors travel along with a message. The numbers of a running task do
not: they lie in memory that both ends share. Not here: processes (process.py), what a message causes (worker.py).
"""

from __future__ import annotations

import ctypes
import mmap
import os
import pickle
import socket
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..gpu.gpus import OpenedGpu, Survey
from ..kernel.gpu_task import KernelCall
from ..kernel.native_device import DeviceOptions
from ..native import abi as abi
from ..native.runtime import MapSpec, TaskResult

_HEAD = struct.Struct("<Q")
_INT = struct.Struct("=i")
_LARGEST = 1 << 36  # bytes: more than any task's data, less than a head that is not one
_PIECE = 1 << 20


class CannotServe(NamedTuple):
    """The worker cannot serve, and another one could not either."""

    message: str
    code: str
    help: str = ""


class OpenGpu(NamedTuple):
    """Use the GPU of this number."""

    number: int


class Setup(NamedTuple):
    """HeteroDoop's own kernels for the device, and the library that drives it (None: the native runtime does).

    probe  see first whether the device works: it is used again after a fault.
    """

    runtime: Path
    library: Path | None
    probe: bool = False


class SessionsReady(NamedTuple):
    """The sessions' devices are open."""


class RunTask(NamedTuple):
    """A map task. `calls` None: the kernels and live-ins of the session's previous task, which can be large."""

    spec: MapSpec
    calls: tuple[KernelCall, KernelCall | None] | None
    options: DeviceOptions


class Reply(NamedTuple):
    """What came of it; `stats`: of all tasks of the session so far."""

    result: TaskResult
    stats: dict[str, int]


Message = Survey | CannotServe | OpenGpu | OpenedGpu | Setup | SessionsReady | RunTask | Reply


class Channel:
    """One end of a socket pair. Not for two threads at a time."""

    def __init__(self, sock: socket.socket) -> None:
        self.socket = sock

    def send(self, message: object, fd: int = -1) -> None:
        """Send a message, and a copy of the descriptor `fd`. Raises OSError: the other end is gone."""
        data = self._write(message)
        head = _HEAD.pack(len(data))
        if fd >= 0:
            socket.send_fds(self.socket, [head], [fd])
        else:
            self.socket.sendall(head)
        self.socket.sendall(data)

    def receive(self) -> tuple[Any, int]:
        """The next message and its descriptor (-1: none), which is the receiver's to close.

        Raises EOFError: the other end is closed, in the middle of a message or not. OSError.
        """
        # Not socket.recv_fds, which forgets the flag: programs that another thread starts would inherit the descriptor.
        head, ancillary, _, _ = self.socket.recvmsg(_HEAD.size, socket.CMSG_SPACE(_INT.size), socket.MSG_CMSG_CLOEXEC)
        fd = _INT.unpack(ancillary[0][2])[0] if ancillary else -1
        try:
            head += self._exactly(_HEAD.size - len(head))
            (size,) = _HEAD.unpack(head)
            if size > _LARGEST:
                raise OSError(f"a message of {size} bytes is none of ours")
            message = self._read(self._exactly(size))
        except BaseException:
            if fd >= 0:
                os.close(fd)
            raise
        return message, fd

    def close(self) -> None:
        self.socket.close()

    def _write(self, message: object) -> bytes:
        return pickle.dumps(message, pickle.HIGHEST_PROTOCOL)

    def _read(self, data: bytearray) -> object:
        return pickle.loads(data)

    def _exactly(self, size: int) -> bytearray:
        data = bytearray()
        while len(data) < size:
            piece = self.socket.recv(min(_PIECE, size - len(data)))
            if not piece:
                raise EOFError("the other end is closed")
            data += piece
        return data


def shared_block(fd: int) -> abi.ProgressBlock:
    """The block of a running task's numbers in the memory behind `fd`; it stays mapped as long as it is used."""
    return abi.ProgressBlock.from_buffer(mmap.mmap(fd, ctypes.sizeof(abi.ProgressBlock)))


def numbers(text: str) -> Sequence[int]:
    """Descriptors as they stand in a worker's arguments."""
    return tuple(map(int, text.split(",")))
