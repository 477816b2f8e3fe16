"""A driver that lends its devices to this process's job, and a device that it lent.

A connection serves one attempt at a time. Where the driver dies in the middle, its worker may still write for a moment what
it was told to: it is killed and its end waited for, before anybody else does the task. Not here: what a job does with a
device (kernel/gpu_task.py), which task gets one (lent_pool.py), the driver's side (driver/lending.py).
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import socket
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

from ...errors import DeviceError
from ..kernel.gpu_task import KernelCall
from ..kernel.native_device import DeviceOptions
from ..native.runtime import MapSpec, Progress, TaskResult, TaskStatus
from ..worker.client import no_result
from ..worker.messages import Reply, RunTask
from . import meeting, terms
from .words import ASK, GiveBack, Granted, Lender, LentChannel, LoanDeclined, LoanWish, Page, Working

SILENT_SECONDS = 30.0  # without a beat, after which the driver is taken to be gone
HELLO_SECONDS = 5.0
_SEND_SECONDS = 30.0
_TICK_SECONDS = 0.1
_DEAD_SECONDS = 10.0  # from kill -9 to the end of a worker: the GPU's memory is freed first
_ENDED = "the GPU driver has ended, or closed the connection"


class Stopped(Exception):
    """The attempt was told to stop."""


class Connection:
    """To a driver. Not for two threads at a time. `lender`: what it said of itself."""

    def __init__(self, folder: Path) -> None:
        """Raises DeviceError: why nobody lends."""
        found = meeting.connect(folder)
        if isinstance(found, str):
            raise DeviceError(found, code="HD434")
        self._channel = LentChannel(found)
        self._page_fd = self._process = -1
        self._calls: tuple[KernelCall, KernelCall | None] | None = None
        try:
            self._page_fd = Page.memory()
            self.page = Page(self._page_fd)
            found.settimeout(HELLO_SECONDS)
            found.sendall(ASK)
            self.lender = self._hello(found)
            found.settimeout(_SEND_SECONDS)
        except (OSError, EOFError) as error:
            self.close()
            why = getattr(error, "strerror", None) or "it does not know how to lend, or says nothing"
            raise DeviceError(f"it cannot be used: {why}", code="HD434") from None
        except DeviceError:
            self.close()
            raise

    def _hello(self, sock: socket.socket) -> Lender:
        """Raises DeviceError: it does not do for us; OSError, EOFError."""
        try:
            lender, _ = self._channel.receive()
        except ValueError:
            lender = None
        if not isinstance(lender, Lender):
            raise DeviceError("it is of another version of HeteroDoop", code="HD434")
        if why := lender.why_not or terms.difference(terms.here(), lender.terms):
            raise DeviceError(why, code="HD434")
        os.close(os.pidfd_open(meeting.peer(sock)[0]))  # a system without cannot end a dead driver's workers
        return lender

    def take(self, wish: LoanWish, progress: Progress) -> Granted:
        """Wait for a device. Raises DeviceError: the driver gives none; OSError, EOFError: it is gone; Stopped."""
        ctypes.memset(ctypes.byref(self.page.block), 0, ctypes.sizeof(self.page.block))  # of the attempt before
        self._channel.send(wish, self._page_fd)
        said = self._answer(progress)
        if isinstance(said, LoanDeclined):
            raise DeviceError(said.reason, code=said.code)
        if not isinstance(said, Granted):
            raise OSError(f"{type(said).__name__} is no answer to a wish")
        self._calls = None
        return said

    def run(
        self, spec: MapSpec, calls: tuple[KernelCall, KernelCall | None], options: DeviceOptions,
    ) -> Reply | LoanDeclined:
        """A map task on the device that was taken. Raises OSError, EOFError: the driver is gone."""
        new = None if calls == self._calls else calls
        fd = spec.input if isinstance(spec.input, int) else -1
        self._channel.send(RunTask(spec, new, options), fd)
        self._calls = calls
        said: Reply | LoanDeclined = self._answer(None)
        if isinstance(said, LoanDeclined):
            self._calls = None
        elif not isinstance(said, Reply):
            raise OSError(f"{type(said).__name__} is no answer to a task")
        return said

    def give_back(self) -> None:
        """Raises OSError: the driver is gone."""
        self._channel.send(GiveBack())

    def end_worker(self) -> None:
        """Kill the worker that had the last task, and wait for its end. For a driver that is gone."""
        if self._process < 0:
            return
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._process, signal.SIGKILL)
        poll = select.poll()
        poll.register(self._process, select.POLLIN)
        poll.poll(_DEAD_SECONDS * 1000)

    def close(self) -> None:
        self._channel.close()
        for fd in (self._page_fd, self._process):
            if fd >= 0:
                os.close(fd)
        self._page_fd = self._process = -1

    def _answer(self, progress: Progress | None) -> Any:
        """The driver's next word that is not about a process. Raises OSError, EOFError; Stopped, with a progress."""
        while True:
            self._wait(progress)
            try:
                said, fd = self._channel.receive()
            except ValueError as error:
                raise OSError(str(error)) from None
            if not isinstance(said, Working):
                return said
            if self._process >= 0:
                os.close(self._process)
            self._process = fd

    def _wait(self, progress: Progress | None) -> None:
        poll = select.poll()
        poll.register(self._channel.socket, select.POLLIN)
        beat, since = self.page.beat, time.monotonic()
        while not poll.poll(_TICK_SECONDS * 1000):
            if progress and progress.cancelled:
                raise Stopped
            now = time.monotonic()
            if self.page.beat != beat:
                beat, since = self.page.beat, now
            elif now - since > SILENT_SECONDS:
                raise OSError(f"the GPU driver has said nothing for {SILENT_SECONDS:g} s")


class LentDevice:
    """What a connection was granted, as a device. `lost`: why there is no driver behind it any more."""

    def __init__(self, name: str, connection: Connection, options: DeviceOptions) -> None:
        self.name = name
        self.options = options
        self.lost = ""
        self.stats: Counter[str] = Counter()
        self._connection = connection

    @property
    def usable(self) -> bool:
        """A worker that failed is replaced by the driver."""
        return not self.lost

    def map_task(
        self, spec: MapSpec, map: KernelCall, combine: KernelCall | None, progress: Progress | None = None,
    ) -> TaskResult:
        """As WorkerDevice; status DEVICE_LOST where the driver is gone."""
        seen, begun = progress or Progress(), time.monotonic()
        with seen.shared(self._connection.page.block):
            try:
                said = self._connection.run(spec, (map, combine), self.options)
            except (OSError, EOFError) as error:
                self._connection.end_worker()
                self.lost = str(error) if isinstance(error, OSError) and not error.errno else _ENDED
                return no_result(TaskStatus.DEVICE_LOST, self.lost, begun)
        if isinstance(said, LoanDeclined):
            return no_result(TaskStatus.RUN_ON_CPU, said.reason, begun)
        self.stats.update(said.stats)
        return said.result
