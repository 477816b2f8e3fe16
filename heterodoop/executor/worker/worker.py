"""A worker process: holds one GPU for a whole job and runs map tasks on it, one per session at a time.

It says what GPUs there are (Survey), opens the one it is told to (Open, Opened), opens a device per session (Setup,
Ready), and answers each Run with a Reply. Where it cannot go on it says Refused, and ends.

It ends when its channels close, dies with its parent, and ends by itself for a fault of its own: the engine takes any end
for a fault and starts another one. Not here: how the process begins (main.py); starting, watching and replacing
workers (spawn.py, process.py, client.py).
"""

from __future__ import annotations

import os
import signal
import socket
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from queue import SimpleQueue
from threading import Thread

from ...errors import EXIT_BUG, DeviceError, HeteroDoopError
from ..gpu.device import load_driver, open_gpu, survey
from ..gpu.gpus import Gpu, OpenedGpu, Survey
from ..gpu.waking import Waking
from ..kernel.native_device import CudaDevice, EmulatedDevice, NativeDevice
from ..native.runtime import Native, Progress
from .messages import CannotServe, Channel, OpenGpu, Reply, RunTask, SessionsReady, Setup, numbers, shared_block

_LAST_SECONDS = 1.0  # for the sessions to close their devices, once the engine is gone or done
Opener = Callable[[], NativeDevice]


def main(kind: str, descriptors: Sequence[str], waking: Waking | None) -> None:
    """The process from its imports to its end. `descriptors`: as in main.py."""
    control, sessions, blocks = descriptors
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the engine's to handle
    channel = Channel(socket.socket(fileno=int(control)))
    served = [SessionThread(Channel(socket.socket(fileno=s)), b) for s,
              b in zip(numbers(sessions), numbers(blocks), strict=True)]
    try:
        serve(_Cuda(waking) if kind == CudaDevice.NAME else _Emulated(), channel, served)
    except HeteroDoopError as error:
        channel.send(CannotServe(error.message, error.code, error.help))
    except (EOFError, OSError):  # the engine does not need us any more
        pass


def serve(devices: _Cuda | _Emulated, channel: Channel, sessions: list[SessionThread]) -> None:
    """The worker's life. Raises HeteroDoopError: it cannot serve. EOFError, OSError: the engine is gone."""
    channel.send(devices.survey())
    order, _ = channel.receive()
    assert isinstance(order, OpenGpu)
    with devices.open(order.number) as opened:
        channel.send(opened)
        setup, _ = channel.receive()
        assert isinstance(setup, Setup)
        native = Native.load()
        started: SimpleQueue[HeteroDoopError | None] = SimpleQueue()
        for session in sessions:
            session.start(lambda: _device(devices, native, setup, order.number), started)
        for error in [started.get() for _ in sessions]:
            if error:
                raise error
        channel.send(SessionsReady())
        try:
            channel.receive()  # the end: nothing more is ever said here
        finally:
            _finish(sessions)


def _device(devices: _Cuda | _Emulated, native: Native, setup: Setup, number: int) -> NativeDevice:
    made = devices.device(native, setup, number)
    if setup.probe:
        try:
            made.probe()
        except DeviceError:
            made.close()
            raise
    return made


def _finish(sessions: list[SessionThread]) -> None:
    """Leave in order where no task runs; a task whose engine has gone ends here and now."""
    for session in sessions:
        if not session.ended(_LAST_SECONDS):
            os.kill(os.getpid(), signal.SIGKILL)


class SessionThread:
    """Serves one channel, with a device of its own, in a thread of its own (CUDA's current device belongs to a thread)."""

    def __init__(self, channel: Channel, block: int) -> None:
        self._channel = channel
        self._progress = Progress(shared_block(block))
        self._thread: Thread | None = None

    def start(self, open: Opener, started: SimpleQueue[HeteroDoopError | None]) -> None:
        """`open` gives the device; `started` hears of it, or of the error."""
        self._thread = Thread(target=self._guard, args=(open, started), daemon=True)
        self._thread.start()

    def ended(self, seconds: float) -> bool:
        """Wait for the end of its last task, or of that time."""
        if self._thread:
            self._thread.join(seconds)
        return self._thread is None or not self._thread.is_alive()

    def _guard(self, open: Opener, started: SimpleQueue[HeteroDoopError | None]) -> None:
        try:
            self._run(open, started)
        except (EOFError, OSError):  # the engine does not need us any more
            pass
        except BaseException:  # a bug: the engine must see an end, not wait for an answer
            traceback.print_exc()
            os._exit(EXIT_BUG)

    def _run(self, open: Opener, started: SimpleQueue[HeteroDoopError | None]) -> None:
        try:
            device = open()
        except HeteroDoopError as error:
            started.put(error)
            return
        started.put(None)
        try:
            self._serve(device)
        finally:
            device.close()

    def _serve(self, device: NativeDevice) -> None:
        calls = None
        while True:
            request, fd = self._channel.receive()
            assert isinstance(request, RunTask)
            calls = request.calls or calls
            assert calls is not None
            device.options = request.options
            spec = replace(request.spec, input=fd) if fd >= 0 else request.spec
            try:
                result = device.map_task(spec, *calls, self._progress)
            finally:
                if fd >= 0:
                    os.close(fd)
            self._channel.send(Reply(result, device.stats()))


class _Cuda:
    def __init__(self, waking: Waking | None) -> None:
        self._driver = load_driver(waited_for=waking is not None and waking.number is not None)
        self._waking = waking

    def survey(self) -> Survey:
        return survey(self._driver)

    def open(self, number: int) -> AbstractContextManager[OpenedGpu]:
        if self._waking:
            self._waking.keep(number)
        return open_gpu(number, self._driver)

    def device(self, native: Native, setup: Setup, number: int) -> NativeDevice:
        return CudaDevice(native, setup.runtime, ordinal=number, library=setup.library)


class _Emulated:
    """For tests of everything around a GPU: the worker, its faults, who replaces it."""

    def survey(self) -> Survey:
        return Survey((0, 0), (Gpu(0, EmulatedDevice.NAME, "", 0),))

    @contextmanager
    def open(self, number: int) -> Iterator[OpenedGpu]:
        yield OpenedGpu(0, 0)

    def device(self, native: Native, setup: Setup, number: int) -> NativeDevice:
        return EmulatedDevice(native, setup.runtime, library=setup.library)
