"""One connection of `heterodoop run`: this driver's devices for the tasks of a job that another process runs.

The other end does all but the device's part of a task: it reads the bundle, runs the code before the region, says where
input and output lie, and does on the CPU what is refused. Here are the turn among all jobs, the worker, and its faults.
Not here: what the two say (executor/lent/words.py), attempts of Hadoop (conversation.py).
"""

from __future__ import annotations

import os
import pwd
import time
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import Any

from ..errors import HeteroDoopError
from ..executor.kernel.gpu_task import KernelCall
from ..executor.lent.words import GiveBack, Granted, Lender, LentChannel, LoanDeclined, LoanWish, Page, Working
from ..executor.native.runtime import AnyPath, Progress
from ..executor.worker.client import WorkerDevice
from ..executor.worker.messages import Reply, RunTask
from ..executor.worker.process import WorkerProcess
from ..scheduler.node.machine import FULL, STOPPING
from ..scheduler.node.model import Lend
from .conversation import Services
from .job import offer
from .wire.protocol import ConnectionClosed, Malformed, Stream

BETWEEN_SECONDS = 600.0  # from a device to a task for it: the code before the region runs meanwhile
FRAME_SECONDS = 30.0  # for a message that has begun
_NOT_NOW = (FULL.reason, STOPPING.reason)


class Seen(Progress):
    """A task's numbers in the page that its job sees; it is stopped by the job, and by the job's end.

    Who waits for the task looks at `cancelled` every tenth of a second; each look is a beat.
    """

    def __init__(self, page: Page, stream: Stream) -> None:
        super().__init__(page.block)
        self._page = page
        self._stream = stream

    @property
    def cancelled(self) -> bool:
        page, now = self._page.block, self._block
        self._page.beats()
        if now is not page:  # a worker writes its own
            for name in ("bytes_in", "records_in", "pairs_out", "bytes_out", "phase"):
                setattr(page, name, getattr(now, name))
        if not self._cancelled and (page.cancel or self._stream.gone()):
            self.cancel()
        return super().cancelled

    def waits(self, ahead: int) -> None:
        """Raises Closed."""
        if self.cancelled:
            raise ConnectionClosed("the job's task was stopped")


class Lending:
    """Serves one connection in its caller's thread."""

    def __init__(self, services: Services, stream: Stream) -> None:
        self._s = services
        self._stream = stream
        self._channel = LentChannel(stream.socket)
        stream.socket.settimeout(FRAME_SECONDS)

    def serve(self) -> None:
        """Until the other end closes it. Raises Closed and its kinds."""
        try:
            self._channel.send(self._lender())
            while True:
                self._lend(*self._receive(None))
        except (EOFError, OSError) as error:
            raise ConnectionClosed(str(error)) from None

    def _lender(self) -> Lender:
        gpus, why = self._s.gpus, self._s.node.closed()
        return Lender(os.getpid(), gpus.wish.device, gpus.in_service, gpus.wish.sessions, self._s.terms, why.reason)

    def _receive(self, seconds: float | None) -> tuple[Any, int]:
        """The next message, and its descriptor. Raises EOFError, OSError, Malformed, Silent."""
        self._stream.wait(seconds)
        try:
            return self._channel.receive()
        except ValueError as error:
            raise Malformed(str(error)) from None

    def _lend(self, wish: object, fd: int) -> None:
        """One attempt's device, from the wish to the end of its use."""
        try:
            if not isinstance(wish, LoanWish) or fd < 0:
                raise Malformed(f"{type(wish).__name__} is no wish for a device")
            seen = Seen(Page(fd), self._stream)
        except ValueError as error:
            raise Malformed(str(error)) from None
        finally:
            if fd >= 0:
                os.close(fd)
        with ExitStack() as used:
            ticket = used.enter_context(self._s.node.ticket(wish.job, seen))
            try:
                turn = self._s.node.device(ticket, Lend(ticket.number, wish.job, _user()), seen.waits)
                session = used.enter_context(turn)
            except offer.Declined as declined:
                self._channel.send(LoanDeclined(declined.reason, "HD434" if declined.reason in _NOT_NOW else declined.code))
                return
            device, gpu = self._s.gpus.session(session, self._s.gpus.options(), wish.nbytes)
            self._channel.send(Granted(gpu.number, gpu.arch))
            self._serve(device, wish, seen, gpu.number)

    def _serve(self, device: WorkerDevice, wish: LoanWish, seen: Seen, number: int) -> None:
        device.hang_seconds = max(device.hang_seconds, wish.hang_seconds)
        device.on_process = self._tell
        calls: tuple[KernelCall, KernelCall | None] | None = None
        try:
            while True:
                message, fd = self._receive(BETWEEN_SECONDS)
                try:
                    if isinstance(message, GiveBack):
                        return
                    if not isinstance(message, RunTask):
                        raise Malformed(f"{type(message).__name__} is no task")
                    try:
                        calls = self._kept(message.calls) if message.calls else calls
                    except (HeteroDoopError, OSError) as error:
                        self._channel.send(LoanDeclined(f"the GPU driver cannot keep the kernels: {error}", "HD434"))
                        continue
                    if calls is None:
                        raise Malformed("a task without kernels")
                    self._channel.send(self._run(device, message, fd, calls, seen, wish.nbytes, number))
                finally:
                    if fd >= 0:
                        os.close(fd)
        finally:
            device.on_process = _nobody

    def _kept(self, calls: tuple[KernelCall, KernelCall | None]) -> tuple[KernelCall, KernelCall | None]:
        self._s.work.ensure()
        map, combine = calls
        return self._s.modules.kept(map), self._s.modules.kept(combine) if combine else None

    def _run(
        self, device: WorkerDevice, task: RunTask, fd: int, calls: tuple[KernelCall, KernelCall | None], seen: Seen,
        nbytes: int,
        number: int,
    ) -> Reply | LoanDeclined:
        device.options = self._s.gpus.lent(task.options)
        spec = replace(task.spec, input=fd) if fd >= 0 else task.spec
        before, begun = device.stats(), time.monotonic()
        result = device.map_task(spec, *calls, seen)
        if result.ok:
            self._s.gpus.took(number, nbytes, time.monotonic() - begun)
            self._s.tally.done(result.seconds, {"in": nbytes, "out": _size(spec.out_path)})
        stats = {name: count - before.get(name, 0) for name, count in device.stats().items()}
        return Reply(result, stats)

    def _tell(self, process: WorkerProcess) -> None:
        """Who asked for the task ends the process where this one dies. Raises OSError."""
        fd = process.handle()
        if fd < 0:
            return
        try:
            self._channel.send(Working(process.pid), fd)
        finally:
            os.close(fd)


def _size(path: AnyPath) -> int:
    """0: it is gone, with its job."""
    with suppress(OSError):
        return os.stat(path).st_size
    return 0


def _nobody(process: WorkerProcess) -> None:
    """Whom else a worker's tasks do not concern."""


def _user() -> str:
    """Whose tasks a worker runs for us: its own user's, who may be that of jobs of Hadoop too."""
    with suppress(KeyError):
        return pwd.getpwuid(os.getuid()).pw_name
    return str(os.getuid())
