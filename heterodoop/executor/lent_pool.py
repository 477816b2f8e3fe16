"""Devices of a running driver as a pool: each task asks it for one, and has its turn among all jobs of the machine.

A driver that is gone leaves its tasks to the CPU, each in its attempt; one that is started again is asked again. Not here:
the conversation (lent/lender.py), whether a job asks a driver at all (engine/devices/borrowing.py).
"""

from __future__ import annotations

import itertools
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any

from ..diag import Diagnostic
from ..errors import DeviceError
from .device_pool import Pool, Taken
from .kernel.native_device import DeviceOptions
from .lent.lender import Connection, LentDevice, Stopped
from .lent.words import Lender, LoanWish
from .native.runtime import Progress

_JOBS = itertools.count(1)


class LentPool(Pool):
    """Devices that `first.lender` lends to one job. Any thread may use it."""

    def __init__(self, folder: Path, first: Connection, hang_seconds: float) -> None:
        """folder: where the driver is met again. first: a connection to it, which is the pool's from now on."""
        self._folder = folder
        self._lender: Lender = first.lender
        self._hang_seconds = hang_seconds
        self._job = f"run-{os.getpid()}-{int(time.time())}-{next(_JOBS)}"
        self._free = [first]
        self._lost: list[str] = []  # why, of each device that was
        self._blamed = ""
        self._stats: Counter[str] = Counter()
        self._lock = Lock()

    @contextmanager
    def take(self, options: DeviceOptions, nbytes: int, progress: Progress, user: str = "") -> Iterator[Taken]:
        if self._blamed:
            raise DeviceError(self._blamed, code="HD415")
        connection, arch = self._granted(LoanWish(self._job, nbytes, self._hang_seconds), progress)
        device = LentDevice(self._lender.device, connection, options)
        kept = False
        try:
            yield Taken(device, arch)
            kept = not device.lost
        finally:
            if kept:
                with suppress(OSError):  # the next one who takes it will see
                    connection.give_back()
                self._give_back(connection)
            else:
                connection.close()
            with self._lock:
                self._stats.update(device.stats)
                self._lost += [device.lost] if device.lost else []

    @property
    def ready(self) -> int:
        return len(self._lender.gpus) * self._lender.sessions

    def when_ready(self, tell: Callable[[], None]) -> None:
        tell()

    def took(self, nbytes: int, seconds: float) -> None:
        """The driver counts itself."""

    def blame(self, reason: str) -> None:
        """A task of the job made a device fail, alone, twice. Each further one would cost all jobs a worker."""
        self._blamed = self._blamed or f"a task of the job made a GPU of the driver fail: {reason}"

    def stop(self) -> None:
        """Connections close when they are given back."""

    def close(self) -> None:
        with self._lock:
            while self._free:
                self._free.pop().close()

    @property
    def stats(self) -> dict[str, int]:
        return {**self._stats, "worker_faults": 0}

    @property
    def warnings(self) -> list[Diagnostic]:
        said = []
        if self._lost:
            what = f"the GPU driver, process {self._lender.pid}, was gone before {len(self._lost)} map tasks were done"
            said.append(f"{what}, which the CPU did: {self._lost[0]}")
        said += [f"{self._blamed}; it gets no more of them"] if self._blamed else []
        return [Diagnostic("warning", "HD434", text) for text in said]

    @property
    def driver(self) -> dict[str, Any]:
        """For the job's report."""
        return {"use": "driver", "pid": self._lender.pid, "folder": str(self._folder), "lost_tasks": len(self._lost)}

    def _granted(self, wish: LoanWish, progress: Progress) -> tuple[Connection, str]:
        """A connection with a device, and the device's architecture. Raises DeviceError: there is none for this task."""
        while True:
            connection, used = self._connection()
            try:
                return connection, connection.take(wish, progress).arch
            except (OSError, EOFError):
                connection.close()
                if not used:
                    raise DeviceError("the GPU driver has ended", code="HD434") from None
            except Stopped:
                connection.close()
                raise DeviceError("the task was stopped", code="HD410") from None
            except DeviceError:
                self._give_back(connection)
                raise

    def _connection(self) -> tuple[Connection, bool]:
        """One that no task uses, and whether one did. Raises DeviceError: there is no driver, or another kind of one."""
        with self._lock:
            if self._free:
                return self._free.pop(), True
        made = Connection(self._folder)
        if made.lender.device != self._lender.device or _archs(made.lender) - _archs(self._lender):
            made.close()
            raise DeviceError("the GPU driver was started anew, with other devices", code="HD434")
        return made, False

    def _give_back(self, connection: Connection) -> None:
        with self._lock:
            self._free.append(connection)


def _archs(lender: Lender) -> set[str]:
    return {gpu.arch for gpu in lender.gpus}
