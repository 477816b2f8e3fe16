"""What `heterodoop run` and the driver that lends to it say to each other, over the driver's unix socket.

    run      ASK                    a frame of the driver's protocol (driver/wire/protocol.py), type LEND, without fields
    driver   Lender                 who it is, what it has, on what terms
    run      Wish + page            a device for one attempt, please; from here on the driver beats in the page
    driver   Granted, or Declined
    run      Run (+ input)          as to a worker: any number, one after the other
    driver   Working + process      a descriptor of the worker that has it now: if the driver dies, run ends it
    driver   Reply, or Declined
    run      GiveBack               or the end of the connection, at any time

Pickled, as between an engine and its workers, but only values of the classes named here are read: what comes in may make no
other object. Both ends are one user's, as the kernel says. Not here: who acts on it (lender.py, driver/lending.py).
"""

from __future__ import annotations

import ctypes
import importlib
import io
import mmap
import os
import pickle
from enum import Enum
from pathlib import PurePath
from typing import Any, NamedTuple

from ..gpu.gpus import Gpu
from ..native import abi as abi
from ..worker.messages import Channel
from .terms import Terms

LEND = 48  # the type of the frame
ASK = bytes((0, 0, 0, 3, LEND, 0, 0))
_PACKAGE = __name__.split(".")[0]
_OURS = frozenset(f"{_PACKAGE}.{module}" for module in (
    "manifest", "kernel_plan", "executor.gpu.gpus", "executor.kernel.gpu_task", "executor.kernel.native_device",
    "executor.kernel.prologue", "executor.native.runtime", "executor.worker.messages", "executor.lent.terms",
    "executor.lent.words",
))
_PATHS = frozenset({"pathlib", "pathlib._local"})
_BEAT_AT = 2048  # in the page, behind the numbers of a task


class Lender(NamedTuple):
    """A driver. gpus: those in service; why_not: why it lends nothing now, "" = it does."""

    pid: int
    device: str
    gpus: tuple[Gpu, ...]
    sessions: int
    terms: Terms
    why_not: str = ""


class LoanWish(NamedTuple):
    """A device for one attempt of a map task of so many bytes. job: whose turn it is; hang_seconds: as of Limits."""

    job: str
    nbytes: int
    hang_seconds: float


class Granted(NamedTuple):
    """It is the asker's until it gives it back."""

    gpu: int
    arch: str


class LoanDeclined(NamedTuple):
    reason: str
    code: str


class Working(NamedTuple):
    """A worker is about to have the task."""

    pid: int


class GiveBack(NamedTuple):
    """The attempt needs the device no more."""


class Page:
    """Memory that both ends share: the numbers of the running task, and a beat that shows that the driver lives."""

    def __init__(self, fd: int) -> None:
        """Maps the memory behind `fd`, which stays the caller's. Raises OSError, ValueError: it is none."""
        if os.fstat(fd).st_size < mmap.PAGESIZE:
            raise ValueError("the memory is too small")
        memory = mmap.mmap(fd, mmap.PAGESIZE)
        self.block = abi.ProgressBlock.from_buffer(memory)
        self._beat = ctypes.c_uint64.from_buffer(memory, _BEAT_AT)

    @staticmethod
    def memory() -> int:
        """A new one's descriptor. Raises OSError."""
        fd = os.memfd_create("heterodoop-lent", os.MFD_CLOEXEC)
        os.ftruncate(fd, mmap.PAGESIZE)
        return fd

    @property
    def beat(self) -> int:
        return int(self._beat.value)

    def beats(self) -> None:
        self._beat.value += 1


class LentChannel(Channel):
    """A channel whose other end is no child of ours: `receive` also raises ValueError, for what belongs not here."""

    def _write(self, message: object) -> bytes:
        data = io.BytesIO()
        _Writer(data, pickle.HIGHEST_PROTOCOL).dump(message)
        return data.getvalue()

    def _read(self, data: bytearray) -> object:
        try:
            return _Reader(io.BytesIO(data)).load()
        except Exception as error:
            raise ValueError(f"a message that is none: {error}") from None


class _Writer(pickle.Pickler):
    def reducer_override(self, value: object) -> Any:
        """Python 3.11.2 writes a member of an enumeration as a call of getattr, which the reader does not take."""
        return (type(value), (value.value,)) if isinstance(value, Enum) else NotImplemented


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> object:
        if module in _OURS or module in _PATHS:
            found = getattr(importlib.import_module(module), name, None)
            if isinstance(found, type) and _is_value(found):
                return found
        raise pickle.UnpicklingError(f"{module}.{name} does not belong here")


def _is_value(found: type) -> bool:
    return hasattr(found, "__dataclass_fields__") or issubclass(found, (tuple, Enum, PurePath))
