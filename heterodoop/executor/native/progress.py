"""What can be seen of a task while it runs, and how it is told to stop."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum

from . import abi as abi


class Phase(IntEnum):
    """What a running task is doing (enum hd_phase)."""

    START = 0
    FILTER = 1
    COMBINE = 2
    FINISH = 3
    END = 4


class Progress:
    """Numbers of a running task, readable from any thread; `cancel` stops it and kills its filters within 0.1 s.

    They lie in memory of this process, or for the time of a task in what it shares with the process that runs it.
    """

    def __init__(self, block: abi.ProgressBlock | None = None) -> None:
        self._block = block or abi.ProgressBlock()
        self._cancelled = False

    @property
    def bytes_in(self) -> int:
        return int(self._block.bytes_in)

    @property
    def records_in(self) -> int:
        return int(self._block.records_in)

    @property
    def pairs_out(self) -> int:
        return int(self._block.pairs_out)

    @property
    def bytes_out(self) -> int:
        return int(self._block.bytes_out)

    @property
    def phase(self) -> Phase:
        return Phase(self._block.phase)

    @property
    def cancelled(self) -> bool:
        return self._cancelled or bool(self._block.cancel)

    def cancel(self) -> None:
        self._cancelled = True  # first: a block that takes the old one's place in this moment looks here
        self._block.cancel = 1

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Inside, something else than the task runs under this progress, which can stop it; the numbers are kept."""
        block = self._block
        kept = block.bytes_in, block.records_in, block.pairs_out, block.bytes_out, block.phase
        self.restart()
        try:
            yield
        finally:
            block.bytes_in, block.records_in, block.pairs_out, block.bytes_out, block.phase = kept

    def restart(self) -> None:
        """The task begins again; a request to stop stays."""
        self._block.bytes_in = self._block.records_in = self._block.pairs_out = self._block.bytes_out = 0

    @contextmanager
    def shared(self, block: abi.ProgressBlock) -> Iterator[None]:
        """`block`, which another process writes, stands for this task; its last numbers stay."""
        own = self._block
        ctypes.memset(ctypes.byref(block), 0, ctypes.sizeof(block))
        self._block = block
        try:
            if self._cancelled:
                block.cancel = 1
            yield
        finally:
            ctypes.memmove(ctypes.byref(own), ctypes.byref(block), ctypes.sizeof(own))
            self._block = own
            own.cancel = self._cancelled
