"""One map attempt on a device, or as a host kernel: its split, the run, the check of what it made.

The thread that calls must outlive the task: its helpers die with it. No user code runs in this process: the code before
the region runs in a child in a private folder, as does a host kernel, everything else in a worker. Not here: talking to the
task (conversation.py), which attempts come here and when (scheduler/node).
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from ...errors import DeviceError, HeteroDoopError
from ...executor.kernel.gpu_task import DeviceRefusal, run_on_device
from ...executor.native.runtime import Native, Phase, Progress
from ...executor.task.cpu_task import MapRun, Place
from ...executor.task.report import AttemptResult
from ...executor.task.split import Split
from ...executor.task.streaming_env import TaskNames
from ...scheduler.node.model import Session, Side, Why
from ...storage.local import InputFile
from .codec import compress
from .fetch import OwnFiles, SplitInput, SplitMemory, TaskReader, TooBig, TooLong, fetched
from .gpus import Gpus
from .group import fetched_group
from .host import HostKernels
from .jobs import Bundle, Job
from .offer import Declined, Offer
from .removals import Removals

_SLACK = 1 << 20  # of a split's memory: what is read behind its end


class Cancelled(Exception):
    """The attempt is gone."""


class Say:
    """What is told about a running attempt; read by another thread."""

    def __init__(self) -> None:
        self.text = "loading"
        self.ahead: int | None = None  # not None: it waits for a device
        self.waits_for = "GPU"
        self.progress = Progress()
        self.length = 0

    @property
    def fraction(self) -> float:
        if not self.length:
            return 0.0
        part = min(1.0, self.progress.bytes_in / self.length)
        return 0.95 * part if self.progress.phase < Phase.END else 0.95

    def check(self) -> None:
        """Raises Cancelled."""
        if self.progress.cancelled:
            raise Cancelled

    def waits(self, ahead: int) -> None:
        self.check()
        self.ahead = ahead


@dataclass(frozen=True)
class DeviceResult:
    """What a device made, or a host kernel, checked. `index` None: text, for a job without reducers. seconds: by stage.
    `gpu`: the device's name; "" for a host kernel."""

    attempt: AttemptResult
    data: Path
    index: Path | None
    seconds: dict[str, float]
    gpu: str
    source: SplitInput
    read_bytes: int
    stderr: bytes
    side: Side = "gpu"


Turn = Callable[[], AbstractContextManager[Session]]  # waits for a session, which is the attempt's in the block


@dataclass(frozen=True)
class Work:
    """An attempt that can run: its files are here. `folder`: with the job's files. `environment`: NAME=VALUE. `side`: what
    the node said."""

    offer: Offer
    job: Job
    bundle: Bundle
    folder: Path
    environment: Sequence[bytes]
    side: Side = "gpu"


class Tasks:
    """Runs attempts, each in its caller's thread."""

    def __init__(
        self, native: Native, gpus: Gpus, cluster: OwnFiles, memory: SplitMemory, scratch: Path, removals: Removals,
        host: HostKernels,
    ) -> None:
        self._native = native
        self._gpus = gpus
        self._cluster = cluster
        self._memory = memory
        self._scratch = scratch
        self._removals = removals
        self._host = host
        scratch.mkdir(0o700, parents=True, exist_ok=True)

    @contextmanager
    def folder(self, offer: Offer, lease: int) -> Iterator[Path]:
        """A private folder for one attempt, removed at the end."""
        folder = self._scratch / f"{offer.attempt}-{lease}"
        folder.mkdir(0o700)
        try:
            yield folder
        finally:
            self._removals.remove(folder)

    def run(self, work: Work, scratch: Path, reader: TaskReader, say: Say, turn: Turn) -> DeviceResult:
        """Run it with the session that it gets. Raises Declined: it must run on the CPU, and why; Cancelled; what
        `reader` and `turn` raise.
        """
        try:
            if work.side == "host":
                result = self._as_host_kernel(work, scratch, reader, say, turn)
            else:
                self._load(work, say)
                result = self._on_device(work, scratch, reader, say, turn)
        except HeteroDoopError as error:
            say.check()
            raise Declined(error.message, error.code or "HD619") from None
        except OSError as error:
            say.check()
            raise Declined(f"the GPU driver: {error}", "HD617") from None
        except TooLong as error:
            raise Declined(str(error), "HD051") from None
        except (TooBig, ValueError) as error:  # ValueError: a setting of the job is none
            raise Declined(str(error), "HD617" if isinstance(error, TooBig) else "HD615") from None
        return self._checked(work, result, say)

    def _load(self, work: Work, say: Say) -> None:
        """Build or find the kernels, before a device has to wait for them."""
        say.text = "loading kernels"
        for arch in self._gpus.archs:
            with suppress(DeviceError):  # another GPU may have some: whose device it is says so
                work.bundle.codes.get(arch)

    def _on_device(self, work: Work, scratch: Path, reader: TaskReader, say: Say, turn: Turn) -> DeviceResult:
        offer = work.offer
        options = self._gpus.options(offer.conf)
        with turn() as session:
            say.ahead = None
            begun = time.monotonic()
            say.text = "reading"
            device, gpu = self._gpus.session(session, options, offer.split.length)
            code = work.bundle.codes.get(gpu.arch)
            with self._input(offer, reader, say) as source:
                read = time.monotonic() - begun
                say.text = "running"
                run = self._map_run(work, scratch, source)
                done = run_on_device(device, code, work.job.prologues, run, say.progress)
                self._judge(work, done, say)
                assert isinstance(done, AttemptResult)
                seconds = {"read": read, "gpu": time.monotonic() - begun - read}
            if not done.retried:
                self._gpus.took(gpu.number, offer.split.length, time.monotonic() - begun)
        nbytes = source.nbytes or done.counters.get("MAP_INPUT_BYTES", 0)
        index = run.index if offer.reduces else None
        name = f"{device.name} {gpu.number}"
        return DeviceResult(done, run.out, index, seconds, name, source, nbytes, _tail(run.place.log))

    def _as_host_kernel(self, work: Work, scratch: Path, reader: TaskReader, say: Say, turn: Turn) -> DeviceResult:
        """It waits for its slot with the split at hand: reading takes next to no processor."""
        offer, begun = work.offer, time.monotonic()
        maps = self._host.maps(work.job, work.bundle, offer)
        say.text = "reading"
        with self._input(offer, reader, say) as source:
            read = time.monotonic() - begun
            run = self._map_run(work, scratch, source)
            with turn():
                say.ahead, say.text, started = None, "running", time.monotonic()
                done = self._host.run(work.job, maps, run, say.progress)
                self._judge(work, done, say)
                took = time.monotonic() - started
        self._host.took(offer.split.length, took)
        nbytes = source.nbytes or done.counters.get("MAP_INPUT_BYTES", 0)
        index = run.index if offer.reduces else None
        seconds = {"read": read, "host": took}
        return DeviceResult(done, run.out, index, seconds, "", source, nbytes, _tail(run.place.log), "host")

    @contextmanager
    def _input(self, offer: Offer, reader: TaskReader, say: Say) -> Iterator[SplitInput]:
        largest = max((part.length for part in offer.parts), default=0)  # it is there twice for a moment
        with self._memory.reserved(offer.split.length + largest + _SLACK, say.check):
            with (fetched_group(offer.parts, self._cluster, reader.of, say.check) if offer.parts else
                  fetched(offer.split, self._cluster, reader, say.check)) as source:
                yield source

    def _map_run(self, work: Work, scratch: Path, source: SplitInput) -> MapRun:
        offer = work.offer
        own = scratch / "work"
        own.mkdir(0o700)
        for name in os.listdir(work.folder):  # filters may write beside their files, but not into another attempt's
            os.symlink(work.folder / name, own / name)
        start, length = (0, source.size) if offer.parts else (offer.split.start, offer.split.length)
        split = Split(InputFile(source.path, source.size), start, length)
        names = TaskNames(offer.job, True, *offer.numbers, scratch, scratch, split)
        place = Place(own, scratch, scratch / "stderr", names)
        job = work.bundle.cpu_job(offer, work.environment)
        return MapRun(job, split, place, scratch / "file.out", scratch / "file.out.index")

    def _judge(self, work: Work, done: AttemptResult | DeviceRefusal, say: Say) -> None:
        """Raises Declined, Cancelled: it is no result."""
        say.check()
        if isinstance(done, DeviceRefusal):
            if done.blamed:
                work.job.blame(work.offer.task, done.reason)
            raise Declined(done.reason, "HD619" if done.device_failed else "HD615")
        if done.cancelled:
            raise Cancelled
        if done.failure:
            raise Declined(done.failure.message, done.failure.code)

    def _checked(self, work: Work, result: DeviceResult, say: Say) -> DeviceResult:
        """The result after the check of its bytes, with the job's codec. Raises Declined, Cancelled."""
        if result.index is None:
            return result
        say.text = "checking"
        begun = time.monotonic()
        try:
            self._native.check_map_output(result.data, result.index, work.offer.reduces, say.progress)
        except HeteroDoopError as error:
            say.check()
            if work.side == "gpu":
                work.job.blame(work.offer.task, error.message)
            else:
                work.job.unfit(Why(f"a host kernel of the job made no right result: {error.message}", "HD618"), "host")
            raise Declined(error.message, "HD618") from None
        check = time.monotonic() - begun
        try:
            compress(result.data, result.index, work.offer.codec, say.check)
            counters = {**result.attempt.counters, "MAP_OUTPUT_MATERIALIZED_BYTES": result.data.stat().st_size}
        except OSError as error:
            raise Declined(f"the GPU driver: {error}", "HD617") from None
        seconds = {**result.seconds, "check": check}
        if work.offer.codec:
            seconds["compress"] = time.monotonic() - begun - check
        return replace(result, seconds=seconds, attempt=replace(result.attempt, counters=Counter(counters)))


_TAIL = 16 << 10


def _tail(path: Path) -> bytes:
    """The end of a log, for the attempt's own."""
    try:
        with open(path, "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _TAIL))
            return file.read()
    except OSError:
        return b""
