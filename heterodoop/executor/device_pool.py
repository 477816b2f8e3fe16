"""The open devices that map tasks share: a thread takes one for each task.

Either in this process (the emulated device; as many as there are threads that ask), or sessions of worker processes, of
which there are so many and no more. Not here: what a device does with a task (gpu_task.py), which job uses which devices
(engine/devices/devices.py, driver/job/gpus.py).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from threading import Condition, Lock
from typing import Any, NamedTuple

from ..diag import Diagnostic
from ..errors import DeviceError
from .gpu.gpus import Gpu
from .kernel.emulated import EmulatedDevice
from .kernel.gpu_task import Device
from .kernel.native_device import DeviceOptions, NativeDevice
from .native.runtime import Native, Progress
from .worker.client import Worker, WorkerDevice

PATIENCE = 20  # times what earlier tasks took for so many bytes: then a task without progress is taken to hang
_TICK_SECONDS = 0.1


class Taken(NamedTuple):
    """A device, and the architecture whose kernels it runs ("" for the emulated device)."""

    device: Device
    arch: str


class Pool(ABC):
    """Devices for the tasks of one job, or of several."""

    @abstractmethod
    def take(
        self, options: DeviceOptions, nbytes: int, progress: Progress, user: str = "",
    ) -> AbstractContextManager[Taken]:
        """A device for a task of so many input bytes, until the block ends; who comes first is served first.

        user  whose task it is: what another one's tasks left in a device's memory is gone before.
        Raises DeviceError: why there is none.
        """

    @property
    def ready(self) -> int:
        """Sessions on which a task would begin at once."""
        return 0

    @abstractmethod
    def when_ready(self, tell: Callable[[], None]) -> None:
        """`tell` is called, by another thread, whenever there are more of them."""

    @abstractmethod
    def took(self, nbytes: int, seconds: float) -> None:
        """A device did a task of so many bytes in this time."""

    @abstractmethod
    def stop(self) -> None:
        """There are no more tasks: what takes time may begin to close."""

    @abstractmethod
    def close(self) -> None:
        """Close all devices; call it when the tasks are done."""

    def blame(self, reason: str) -> None:  # noqa: B027
        """A task of the job made a device fail, alone on it, too. Of workers of the job's own faults are counted."""

    @property
    def driver(self) -> dict[str, Any]:
        """For the job's report: whose devices these are, where they are not the job's own."""
        return {}

    @property
    @abstractmethod
    def stats(self) -> dict[str, int]:
        """What the devices did, together (hd_gpu_stats in runtime/host/task/gpu_api.h); complete when they are closed."""

    @property
    def warnings(self) -> list[Diagnostic]:
        """What a user should know of the devices."""
        return []


class LocalPool(Pool):
    """Emulated devices in this process. One that failed is closed."""

    def __init__(self, native: Native, runtime: Path) -> None:
        self._native = native
        self._runtime = runtime
        self._free: list[NativeDevice] = []
        self._stats: Counter[str] = Counter()
        self._lock = Lock()

    @contextmanager
    def take(self, options: DeviceOptions, nbytes: int, progress: Progress, user: str = "") -> Iterator[Taken]:
        with self._lock:
            device = self._free.pop() if self._free else None
        if device is None:
            device = EmulatedDevice(self._native, self._runtime)
        device.options = options
        try:
            yield Taken(device, "")
        finally:
            self._give_back(device)

    def when_ready(self, tell: Callable[[], None]) -> None:
        """There are no sessions, and there is nothing to wait for."""

    def took(self, nbytes: int, seconds: float) -> None:
        """Nothing follows from it: a lane that never ends cannot be stopped here."""

    def stop(self) -> None:
        """Closing takes no time."""

    def close(self) -> None:
        while self._free:
            self._close(self._free.pop())

    @property
    def stats(self) -> dict[str, int]:
        return dict(self._stats)

    def _give_back(self, device: NativeDevice) -> None:
        with self._lock:
            if device.usable:
                self._free.append(device)
                return
        self._close(device)

    def _close(self, device: NativeDevice) -> None:
        with self._lock:
            self._stats.update(device.stats())
        device.close()


class PoolWorker(NamedTuple):
    """A worker of the pool, and the GPU that it holds."""

    worker: Worker
    gpu: Gpu


class WorkerPool(Pool):
    """Sessions of worker processes.

    lasting  these outlive the pool, there are other jobs before it or behind it.  last: nobody waits here for their end.
    """

    def __init__(self, members: Sequence[PoolWorker], *, lasting: bool = False, last: bool = False) -> None:
        self._members = list(members)
        self._lasting = lasting
        self._last = last
        self._free = [(WorkerDevice(m.worker, n), m) for n in range(max(m.worker.sessions for m in members)) for m in members
                      if n < m.worker.sessions]
        self._all = [device for device, _ in self._free]
        self._changed = Condition()
        self._line: deque[object] = deque()  # who waits, in the order in which they came
        self._users: dict[int, str] = {}  # id of a worker -> whose tasks it ran
        self._nbytes = self._seconds = 0.0  # of the tasks that were done

    @property
    def ready(self) -> int:
        """Sessions on which a task would begin at once."""
        return sum(m.worker.sessions for m in self._members if m.worker.ready)

    def when_ready(self, tell: Callable[[], None]) -> None:
        for member in self._members:
            member.worker.on_ready = tell

    @contextmanager
    def take(self, options: DeviceOptions, nbytes: int, progress: Progress, user: str = "") -> Iterator[Taken]:
        with self._changed:
            chosen = self._wait(progress, user)
            self._free.remove(chosen)
            pace = self._seconds / self._nbytes if self._nbytes else 0.0
        device, member = chosen
        device.options = options
        device.hang_seconds = max(member.worker.limits.hang_seconds, PATIENCE * pace * nbytes)
        try:
            yield Taken(device, member.gpu.arch)
        finally:
            with self._changed:
                self._free.append(chosen)
                self._changed.notify_all()

    def took(self, nbytes: int, seconds: float) -> None:
        with self._changed:
            self._nbytes += nbytes
            self._seconds += seconds

    def stop(self) -> None:
        for member in self._members if not self._lasting else ():
            member.worker.stop()

    def close(self) -> None:
        self.stop()
        for member in self._members if not self._lasting and not self._last else ():
            member.worker.close()

    @property
    def stats(self) -> dict[str, int]:
        stats: Counter[str] = Counter()
        for device in self._all:
            stats.update(device.stats())
        return {**stats, "worker_faults": sum(len(member.worker.new_faults) for member in self._members)}

    @property
    def warnings(self) -> list[Diagnostic]:
        return [warning for member in self._members for warning in _warnings(member)]

    def _wait(self, progress: Progress, user: str) -> tuple[WorkerDevice, PoolWorker]:
        """A session, of a worker that holds nothing of another user. Raises DeviceError."""
        me = object()
        self._line.append(me)
        try:
            while (chosen := self._choose(user) if self._line[0] is me else None) is None:
                if progress.cancelled:
                    raise DeviceError("the task was stopped", code="HD410")
                self._changed.wait(_TICK_SECONDS)
        finally:
            self._line.remove(me)
            self._changed.notify_all()
        worker = chosen[1].worker
        if self._users.setdefault(id(worker), user) != user:
            self._users[id(worker)] = user
            worker.replace()
        return chosen

    def _choose(self, user: str) -> tuple[WorkerDevice, PoolWorker] | None:
        """A free session, of the worker with the most of them; None: wait for one.

        Raises DeviceError where a GPU is out of service: its slots run tasks on the CPU, and do not wait for the others.
        """
        free = Counter(id(member.worker) for _, member in self._free)

        def ours(worker: Worker) -> bool:
            return self._users.get(id(worker), user) == user

        usable = [row for row in self._free if row[0].usable]
        fit = [row for row in usable if ours(row[1].worker) or free[id(row[1].worker)] == row[1].worker.sessions]
        if fit:
            return max(fit, key=lambda row: (ours(row[1].worker), row[1].worker.ready, free[id(row[1].worker)]))
        for member in self._members if not usable else ():
            if why := member.worker.out_of_service:
                raise DeviceError(f"{member.gpu} is not used: {why}", code="HD415")
        return None


def _warnings(member: PoolWorker) -> list[Diagnostic]:
    worker, gpu = member.worker, member.gpu
    if worker.out_of_service and not worker.faults:
        return [Diagnostic("warning", "HD417", f"{gpu} is left out: {worker.out_of_service}")]
    if worker.out_of_service:
        return [Diagnostic("warning", "HD415", f"{gpu} is {worker.out_of_service}; its tasks ran on the CPU")]
    if faults := worker.new_faults:
        times = "once" if len(faults) == 1 else f"{len(faults)} times"
        return [Diagnostic("warning", "HD416", f"{gpu} failed {times}, and was used again: {faults[0]}")]
    return []
