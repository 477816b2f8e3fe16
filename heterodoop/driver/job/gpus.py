"""The node's devices for all jobs: worker processes, one per GPU, and a job's kernels in the form that each runs.

Workers start with the driver and know no job; what differs between jobs travels with a task. A device's number is that of
its worker here, from 0; its GPU has another one. Not here: who gets which session (scheduler/node), what a task does with it
(tasks.py).
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from ...errors import DeviceError, ToolError
from ...executor.device_pool import PATIENCE, PoolWorker
from ...executor.gpu import gpus
from ...executor.gpu.gpus import Gpu
from ...executor.kernel import cuda, emulated
from ...executor.kernel.gpu_task import DeviceCode
from ...executor.kernel.native_device import DeviceOptions
from ...executor.worker.client import Limits, Worker, WorkerDevice
from ...executor.worker.messages import Setup
from ...job.devices import device_options
from ...job.jobconf import JobConf
from ...job.setting import Party
from ...job.settings import SESSIONS_OF_A_DRIVER
from ...manifest import Manifest
from ...scheduler.node.model import Device, Session
from .shares import WHOLE, Shares, folder_of, key_of, limit_of

EMULATED, CUDA = emulated.NAME, cuda.NAME
MEMORY_PER_BYTE = 32  # device memory that a byte of input takes at most (runtime/host/gpu/task.cpp)
EMULATED_BYTES = 1 << 30  # memory of an emulated device (EmulatedMemory::kUsual)
_LEAST_SUB_SPLIT = 1 << 20
NOTHING_SAID = JobConf({}, party=Party.DRIVER)
REST_SECONDS = 300.0  # after which a GPU that is out of service is tried again


class DeviceWish(NamedTuple):
    """Which devices, and how they are used.

    device   "cuda" or "emulated".
    choice   --gpus: all, or numbers; the emulated device has as many workers as there are numbers, one for "all".
    memory   bytes of a GPU's memory that tasks may take, about; 0 = as much as there is. Of an emulated one: all it has.
    share    hundredths of a GPU's memory that tasks may take, exactly; 0 = all that no other driver has.
    """

    device: str
    choice: str = "all"
    sessions: int = SESSIONS_OF_A_DRIVER
    limits: Limits = Limits(forgive=True, rest=REST_SECONDS)
    memory: int = 0
    share: int = 0


class Gpus:
    """The devices. Close them when done; `start` is for the thread that lives as long as the driver.

    needed  False: there may be none, on a machine that can have none or with --gpus none.
    """

    def __init__(self, wish: DeviceWish, *, needed: bool = True) -> None:
        self.wish = wish
        self._needed = needed
        self._workers: list[Worker] = []
        self._members: list[PoolWorker] = []
        self._sessions: dict[Session, WorkerDevice] = {}
        self._pace = 0.0, 0.0  # bytes and seconds of all tasks that were done
        self._done: Counter[tuple[int, str]] = Counter()  # (GPU's number, what) -> sum
        self._lock = threading.Lock()
        self._shares = Shares(folder_of())
        self._share = WHOLE
        self._held = ExitStack()

    def start(self) -> None:
        """Raises ToolError, DeviceError, UsageError: there is nothing to run tasks on."""
        numbers = gpus.parse(self.wish.choice)
        if not self._needed and (numbers == () or (numbers is None and self.wish.device == CUDA and not gpus.present())):
            return
        if numbers == ():
            raise ToolError("--gpus none leaves the driver without a device", code="HD614",
                            help="--cpu serves host kernels")
        if self.wish.device == EMULATED:
            self._start_emulated(len(numbers or (0,)))
        else:
            self._start_cuda(numbers)
        for number, member in enumerate(self._members):
            for session in range(self.wish.sessions):
                self._sessions[Session(number, session)] = WorkerDevice(member.worker, session)

    def _start_emulated(self, count: int) -> None:
        if self.wish.share:  # else nobody shares it
            self._hold([Gpu(number, EMULATED, "", 0) for number in range(count)])
        setup = Setup(emulated.runtime_module(), None)
        for number in range(count):
            worker = self._worker()
            worker.open(0)
            worker.setup(setup)
            self._members.append(PoolWorker(worker, Gpu(number, EMULATED, "", 0)))

    def _start_cuda(self, numbers: tuple[int, ...] | None) -> None:
        gpus.check_present(
            code="HD614", help="--cpu serves host kernels; --device emulated runs the kernels on the CPU, for tests")
        first = self._worker()
        chosen = gpus.usable(first.survey(), numbers, code="HD614")
        self._hold(chosen)
        library, runtimes = cuda.device_library(sorted({gpu.arch for gpu in chosen}))
        workers = [first, *(self._worker() for _ in chosen[1:])]
        for worker, gpu in zip(workers, chosen, strict=True):
            worker.open(gpu.number)
            worker.setup(Setup(runtimes[gpu.arch], library))
            self._members.append(PoolWorker(worker, gpu))
        self._wait_for_one()

    def _hold(self, chosen: Sequence[Gpu]) -> None:
        """Keep this driver's part of their memory until `close`. Raises UsageError, ToolError HD669."""
        gpus = [(key_of(gpu), str(gpu)) for gpu in chosen]
        self._share = self._held.enter_context(self._shares.held(gpus, self.wish.share))

    def _wait_for_one(self) -> None:
        """Raises DeviceError: no GPU can be used, and why the last one cannot."""
        failed: DeviceError | None = None
        for member in self._members:
            try:
                member.worker.opened()
                return
            except DeviceError as error:
                failed = error
        if failed:
            raise failed

    def _worker(self) -> Worker:
        worker = Worker(self.wish.device, self.wish.sessions, self.wish.limits)
        self._workers.append(worker)
        worker.start()
        return worker

    @property
    def count(self) -> int:
        """GPUs that get tasks."""
        return sum(not member.worker.out_of_service for member in self._members)

    @property
    def in_service(self) -> tuple[Gpu, ...]:
        return tuple(member.gpu for member in self._members if not member.worker.out_of_service)

    @property
    def archs(self) -> set[str]:
        """Of all GPUs, as `Codes` wants them."""
        return {member.gpu.arch for member in self._members}

    @property
    def names(self) -> list[str]:
        """Of all GPUs; the emulated device has none."""
        return [member.gpu.name for member in self._members if self.wish.device != EMULATED]

    def states(self) -> tuple[Device, ...]:
        """How each device is now."""
        return tuple(Device(member.worker.out_of_service, member.worker.ready) for member in self._members)

    def renew(self, device: int) -> None:
        """Its next task gets a new process; call it while no task has it."""
        self._members[device].worker.replace()

    def options(self, conf: JobConf = NOTHING_SAID) -> DeviceOptions:
        """How tasks of a job with these settings run. Raises ValueError: a setting is none."""
        wished = device_options(conf, len(self._members), self.wish.sessions)
        wished = replace(wished, limit=self._limit // self.wish.sessions)
        if not self.wish.memory or wished.sub_split:
            return wished
        share = self.wish.memory // self.wish.sessions // MEMORY_PER_BYTE
        return replace(wished, sub_split=max(_LEAST_SUB_SPLIT, share))

    def lent(self, wished: DeviceOptions) -> DeviceOptions:
        """How tasks of a job that another process runs are run: as it wishes, but for what is the driver's to say."""
        own = self.options()
        return replace(wished, sub_split=wished.sub_split or own.sub_split, workers=own.workers, sessions=own.sessions,
                       limit=own.limit)

    @property
    def _limit(self) -> int:
        """Bytes that tasks may take of a GPU's memory; 0: no limit. That of the smallest GPU holds for all."""
        size = min((member.gpu.memory for member in self._members), default=0) or self.wish.memory
        return limit_of(size or EMULATED_BYTES, self._share)

    def session(self, session: Session, options: DeviceOptions, nbytes: int) -> tuple[WorkerDevice, Gpu]:
        """What runs a task of so many bytes there, and the GPU that it runs on."""
        device, member = self._sessions[session], self._members[session.device]
        with self._lock:
            before, seconds = self._pace
        device.options = options
        hang_seconds = max(member.worker.limits.hang_seconds, PATIENCE * seconds * nbytes / before if before else 0.0)
        device.hang_seconds = hang_seconds * self._sharers(member.gpu)
        return device, member.gpu

    def _sharers(self, gpu: Gpu) -> int:
        """Drivers whose tasks take turns on it."""
        return max(1, len(self._shares.holders(key_of(gpu)))) if self._share < WHOLE else 1

    def gpu(self, device: int) -> int:
        """The GPU's number."""
        return self._members[device].gpu.number

    def took(self, number: int, nbytes: int, seconds: float) -> None:
        """A GPU did a task of so many bytes in this time."""
        with self._lock:
            self._pace = self._pace[0] + nbytes, self._pace[1] + seconds
            self._done[number, "tasks"] += 1
            self._done[number, "bytes"] += nbytes
            self._done[number, "milliseconds"] += round(seconds * 1000)

    def status(self) -> list[dict[str, object]]:
        """One row per GPU, for `driver status`."""
        return [self._row(member) for member in self._members]

    def _row(self, member: PoolWorker) -> dict[str, object]:
        worker, gpu = member.worker, member.gpu
        number = gpu.number
        memory = self._memory(worker)
        with self._lock:
            return {
                "gpu": number, "name": gpu.name, "arch": gpu.arch, "ready": worker.ready, "pid": worker.pid,
                "out_of_service": worker.out_of_service, "restarts": len(worker.faults),
                "last_fault": (worker.faults or [""])[-1],
                "tasks": self._done[number, "tasks"], "bytes": self._done[number, "bytes"],
                "seconds": self._done[number, "milliseconds"] / 1000, **memory, **self._part(gpu),
            }

    @staticmethod
    def _memory(worker: Worker) -> dict[str, object]:
        """At the worker's start; the GPU itself is never asked here: that would take a CUDA context."""
        opened = worker.memory
        return {"memory_total": opened.total, "memory_free_at_start": opened.free} if opened and opened.total else {}

    def _part(self, gpu: Gpu) -> dict[str, object]:
        """Of its memory: this driver's part, and those of others."""
        if self._share >= WHOLE:
            return {"share": WHOLE}
        others = [{"uid": one.uid, "pid": one.owner.pid, "share": one.share} for one in self._shares.holders(key_of(gpu))]
        return {"share": self._share, "memory_limit": self._limit,
                "others": [one for one in others if one["pid"] != os.getpid()]}

    def close(self) -> None:
        """End the worker processes; only then others may have their memory."""
        for worker in self._workers:
            worker.stop()
        for worker in self._workers:
            worker.close()
        self._held.close()


class Codes:
    """A bundle's kernels by architecture; each compiled or chosen once."""

    def __init__(self, device: str, bundle: Path, manifest: Manifest) -> None:
        self._device = device
        self._bundle = bundle
        self._manifest = manifest
        self._found: dict[str, DeviceCode | None] = {}
        self._said: list[str] = []  # by compilers that failed on a kernel's text
        self._lock = threading.Lock()

    @property
    def never(self) -> str:
        """Why no device can run the bundle's map; "" where one may."""
        program = self._manifest.program("map")
        if program and program.kernel:
            return ""
        reasons = program.gpu_refusals if program else ()
        return f"the map has no kernel: {reasons[0].message} [{reasons[0].code}]" if reasons else "the map has no kernel"

    def get(self, arch: str) -> DeviceCode:
        """Raises DeviceError HD615: the bundle has nothing for it; ToolError: it cannot be built here."""
        with self._lock:
            if arch not in self._found:
                self._found[arch] = self._load(arch)
            code = self._found[arch]
        if code is None:
            why = self._said[0] if self._said else f"the bundle has no kernels for {arch or self._device}"
            raise DeviceError(why, code="HD615")
        return code

    def _load(self, arch: str) -> DeviceCode | None:
        if self._device == EMULATED:
            return emulated.device_code(self._bundle, self._manifest, self._said.append)
        return cuda.device_code(self._bundle, self._manifest, arch)
