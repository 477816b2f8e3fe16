"""One connection of a map attempt, from OFFER to its end: what is asked, answered, run and sent. A lease is its life.

offered (10 s to RUN) - queued - running - sent - installed; or cpu, from the answer or from a refusal on. The connection's
end closes it at any time. Not here: frames (protocol.py), running (tasks.py), connections as such (server.py).
"""

from __future__ import annotations

import itertools
import os
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from ..errors import HeteroDoopError, UsageError
from ..executor.native.runtime import Native
from ..scheduler.node import Decision, Node
from ..scheduler.policies import CPU_ONLY
from .cluster.knowledge import Source
from .faults import Faults
from .job.fair_queue import FairQueue
from .job.fetch import TaskReader
from .job.files import Folders, JobFile, Store, parse_files
from .job.gpus import Gpus
from .job.jobs import Job, Jobs
from .job.modules import Modules
from .job.offer import Declined, Offer
from .job.speedups import Speedups
from .job.tasks import Cancelled, Result, Say, Tasks, Work
from .job.work import WorkFolder
from .pulse import Pulse, TakenBack
from .wire.log import Log
from .wire.protocol import (
    BIG_CONTROL,
    CONTROL,
    VERSION,
    Closed,
    Failed,
    Field,
    Malformed,
    Message,
    Silent,
    Stream,
    Type,
    encode,
)

OFFER_SECONDS = RUN_SECONDS = 10.0
PREPARE_SECONDS = 3600.0  # from ANSWER to RUN, with a WAIT at least every RUN_SECONDS
DATA_SECONDS = 30.0  # for the next frame of a file or of a split
INSTALL_SECONDS = 600.0
_NEED_BYTES = 48 << 10  # of names in one NEED
_RESULT_TEXT = 4 << 10


class Services(NamedTuple):
    """What conversations share."""

    native: Native
    gpus: Gpus
    queue: FairQueue
    store: Store
    folders: Folders
    jobs: Jobs
    tasks: Tasks
    node: Node
    speedups: Speedups
    source: Source
    faults: Faults
    log: Log
    work: WorkFolder
    modules: Modules


@dataclass
class Lease:
    """An attempt whose connection is open; for `driver status`."""

    number: int
    offer: Offer
    state: str = "offered"
    since: float = field(default_factory=time.time)
    say: Say = field(default_factory=Say)

    def become(self, state: str) -> None:
        self.state, self.since = state, time.time()

    @property
    def holds_gpu(self) -> bool:
        """Whether the driver may not end without ending this. One that was only offered can still run on the CPU."""
        return self.state not in ("cpu", "offered")


class Leases:
    """All leases, and what became of those that ended. Any thread may use it."""

    def __init__(self) -> None:
        self.open: dict[int, Lease] = {}
        self.counts: Counter[str] = Counter()
        self._numbers = itertools.count(1)
        self._lock = Lock()

    def add(self, offer: Offer) -> Lease:
        with self._lock:
            lease = Lease(next(self._numbers), offer)
            self.open[lease.number] = lease
            return lease

    def remove(self, lease: Lease) -> None:
        with self._lock:
            self.open.pop(lease.number, None)

    def count(self, what: str) -> None:
        with self._lock:
            self.counts[what] += 1

    @property
    def on_gpu(self) -> int:
        return sum(lease.holds_gpu for lease in list(self.open.values()))


class Conversation:
    """Serves one connection in its caller's thread."""

    def __init__(self, services: Services, leases: Leases, stream: Stream, why_not: str) -> None:
        """why_not: why this driver gives out no leases at all now; "" = it does."""
        self._s = services
        self._leases = leases
        self._stream = stream
        self._why_not = why_not

    def serve(self, message: Message) -> None:
        """From the offer on. Raises Closed and its kinds: the connection is over."""
        offer = Offer.of(message)
        self._s.faults.at("offer")
        lease = self._leases.add(offer)
        try:
            with self._s.jobs.attempt(offer.job) as job:
                self._live(lease, job)
        except (Closed, Cancelled) as end:
            self._s.node.closed(lease.number)
            self._count(lease, "closed", reason=str(end))
            if isinstance(end, Closed):
                raise
        except BaseException:
            self._s.node.closed(lease.number)
            raise
        finally:
            self._leases.remove(lease)

    def _live(self, lease: Lease, job: Job) -> None:
        decision, refusal = self._decide(lease, job)
        on_gpu = decision.kind == "gpu"
        self._stream.send(
            Type.ANSWER, ("run", decision.kind), ("reason", refusal.reason), ("code", refusal.code),
            ("ahead", decision.ahead), ("forced", int(decision.forced)), ("version", VERSION), ("waits", 1),
        )
        self._count(lease, f"answered_{decision.kind}", reason=refusal.reason)
        self._s.faults.at("answer")
        if on_gpu:
            try:
                self._gpu(lease, job)
                return
            except Declined as declined:
                self._refuse(lease, declined)
        self._cpu(lease)

    def _decide(self, lease: Lease, job: Job) -> tuple[Decision, Declined]:
        """The node's decision, and why it is the CPU (empty where it is not)."""
        offer, why = lease.offer, Declined("", "")
        policy = CPU_ONLY
        try:
            self._check(offer, job)
            policy = offer.scheduling
        except Declined as declined:
            why = declined
        self._s.source.watch(offer.job)
        self._s.speedups.begin(offer.bundle)
        decision = self._s.node.offer(
            lease.number, offer.job, offer.task, offer.split.length, offer.maps, policy, offer.bundle, time.monotonic())
        if decision.kind == "cpu" and not why.reason:
            why = Declined("the job's policy is cpu-only" if policy is CPU_ONLY else "the node's GPUs are busy", "")
        return decision, why

    def _check(self, offer: Offer, job: Job) -> None:
        """Raises Declined: this attempt cannot have a GPU."""
        if self._why_not:
            raise Declined(self._why_not, "HD619")
        offer.check()
        if job.refusal:
            raise Declined(*job.refusal)
        self._s.gpus.check()
        if self._s.queue.full:
            raise Declined("the GPU driver's queue is full", "HD619")

    def _refuse(self, lease: Lease, declined: Declined) -> None:
        if not isinstance(declined, TakenBack):
            self._stream.send(Type.REFUSED, ("reason", declined.reason), ("code", declined.code))
        self._s.node.refused(lease.number)
        self._count(lease, "refused", reason=declined.reason, code=declined.code)

    def _cpu(self, lease: Lease) -> None:
        """The attempt runs in its container; the connection stays until it says how long it took."""
        lease.become("cpu")
        seconds = self._stream.receive((Type.CPU_DONE,), None).seconds("seconds")
        self._s.node.done(lease.number, seconds)
        self._count(lease, "cpu_done", seconds=seconds)

    def _gpu(self, lease: Lease, job: Job) -> None:
        """Raises Declined: the attempt runs on the CPU, on this connection."""
        message = self._prepared(lease)
        if message.type is Type.FAILED:
            raise Declined(f"the task gave its lease back: {message.text('reason', '')}", "HD619")
        self._s.faults.at("run")
        environment = message.all("env")
        if any(b"\0" in variable or variable.find(b"=") < 1 for variable in environment):
            raise Malformed("RUN: a variable is not NAME=VALUE")
        begun = 0.0

        def started() -> None:
            nonlocal begun
            begun = time.monotonic()
            self._s.node.started(lease.number, begun)
            lease.become("running")
            self._s.faults.at("running")

        with ExitStack() as used:
            scratch = self._scratch(lease, used)
            with Pulse(self._stream, lease, self._s.faults, self._s.node) as pulse:
                work = self._work(lease, job, message.all("file"), environment, used)
                lease.become("queued")
                self._s.faults.at("queued")
                reader = TaskReader(partial(self._read, pulse))
                result = self._run(lease, pulse, partial(self._s.tasks.run, work, scratch, reader, lease.say, started))
            self._s.faults.at("result")
            lease.become("sent")
            self._send(result)
        self._s.faults.at("sent")
        end = self._stream.receive((Type.INSTALLED, Type.FAILED), INSTALL_SECONDS)
        if end.type is Type.FAILED:
            raise Declined(f"the task could not install the result: {end.text('reason', '')}", "HD619")
        seconds = time.monotonic() - begun
        self._s.node.done(lease.number, seconds)
        self._count(lease, "installed", seconds=seconds, gpu=result.gpu, read=result.source.read, why=result.source.why,
                    bytes=result.read_bytes, stages={name: round(value, 6) for name, value in _seconds(result).items()})

    @staticmethod
    def _run(lease: Lease, pulse: Pulse, run: Callable[[], Result]) -> Result:
        """The device's result, unless the attempt was taken back meanwhile. Raises Declined, TakenBack, Cancelled."""
        try:
            result = run()
        except (Cancelled, Declined):
            pulse.stop()
            if pulse.taken_back:
                raise TakenBack from None
            raise
        pulse.stop()
        if pulse.taken_back:
            raise TakenBack
        return result

    def _prepared(self, lease: Lease) -> Message:
        """RUN or FAILED, which the task may keep waiting for as long as it says that it is still at work. Raises Closed."""
        end = time.monotonic() + PREPARE_SECONDS
        while time.monotonic() < end:
            message = self._stream.receive((Type.RUN, Type.FAILED, Type.WAIT), RUN_SECONDS, BIG_CONTROL)
            if message.type is not Type.WAIT:
                return message
            lease.say.text = "the task prepares its files"
        raise Silent(f"the task has prepared its files for {PREPARE_SECONDS:g} s")

    def _scratch(self, lease: Lease, used: ExitStack) -> Path:
        """A private folder for the attempt. Raises Declined."""
        try:
            if not self._s.work.ensure():
                self._s.log.event("work_made_again", folder=self._s.work.path)
            return used.enter_context(self._s.tasks.folder(lease.offer, lease.number))
        except UsageError as error:
            raise Declined(error.message, error.code) from None
        except OSError as error:
            raise Declined(f"the GPU driver's folder: {error}", "HD617") from None

    def _work(
        self, lease: Lease, job: Job, fields: Iterable[bytes], environment: Sequence[bytes], used: ExitStack,
    ) -> Work:
        """The attempt with all its files here, until `used` ends. Raises Declined."""
        try:
            files = parse_files(fields)
            with job.files_lock:
                folder = used.enter_context(self._s.folders.use(files, self._need))
                bundle = self._s.jobs.bundle(lease.offer, files, self._need, used)
            if why := bundle.codes.never:
                raise UsageError(why, code="HD615")
            lease.say.length = lease.offer.split.length
            return Work(lease.offer, job, bundle, folder, environment)
        except Failed as error:
            raise Declined(f"the task cannot send its files: {error}", "HD616") from None
        except OSError as error:
            raise Declined(f"the GPU driver's store: {error}", "HD616") from None
        except HeteroDoopError as error:
            if error.code != "HD616":  # the bundle itself: it will not be another one
                job.refusal = error.message, error.code
            raise Declined(error.message, error.code) from None

    def _need(self, files: list[JobFile]) -> None:
        """Ask the task for files. Raises Failed, Closed, UsageError HD616, OSError."""
        while files:
            size, count = 0, 0
            while count < len(files) and (count == 0 or size + len(files[count].name) < _NEED_BYTES):
                size += len(os.fsencode(files[count].name)) + 16
                count += 1
            now, files = files[:count], files[count:]
            self._stream.send(Type.NEED, *(("name", file.name) for file in now))
            wrong: HeteroDoopError | OSError | None = None
            for file in now:  # all are read, also behind one that is wrong: the task sends them anyway
                pieces = self._stream.receive_data(file.size, DATA_SECONDS)
                try:
                    self._s.store.take(file, pieces)
                except (HeteroDoopError, OSError) as error:
                    wrong = error
                    deque(pieces, maxlen=0)
            if wrong:
                raise wrong

    def _read(self, pulse: Pulse, offset: int, size: int) -> bytes:
        """The task reads a range of its split. Raises Declined; Cancelled: it was told to run on the CPU."""
        with pulse.asking:
            if pulse.taken_back:
                raise Cancelled
            self._stream.send(Type.READ, ("offset", offset), ("length", size))
            try:
                return b"".join(self._stream.receive_data(size, DATA_SECONDS))
            except Failed as error:
                raise Declined(f"neither driver nor task can read the split: {error}", "HD617") from None

    def _send(self, result: Result) -> None:
        """RESULT and its bytes."""
        sizes = [(path, os.stat(path).st_size) for path in (result.index, result.data) if path]
        text = result.index is None
        fields = [
            *_result_fields(result), ("index", 0 if text else sizes[0][1]), ("data", sizes[-1][1]), ("text", int(text)),
        ]
        if len(encode(Type.RESULT, fields)) > CONTROL:
            raise Declined(f"too many counters of its own: {len(result.attempt.user_counters)}", "HD615")
        self._stream.send(Type.RESULT, *fields)
        for path, size in sizes:
            if path == result.data and self._s.faults:
                self._send_faulty(path, size)
                continue
            with open(path, "rb") as file:
                self._stream.send_file(file.fileno(), size)

    def _send_faulty(self, path: Path, size: int) -> None:
        """The data as tests want it: with another byte, or ending in the middle."""
        data = bytearray(path.read_bytes())
        if self._s.faults.corrupts() and data:
            data[len(data) // 2] ^= 1
        if self._s.faults.in_data():
            self._stream.send_part(bytes(data[: size // 2]))
            self._s.faults.at("data")
        self._stream.send_data(bytes(data))

    def _count(self, lease: Lease, what: str, **more: object) -> None:
        self._leases.count(what)
        self._s.log.event(what, lease=lease.number, attempt=lease.offer.attempt, **more)


def _seconds(result: Result) -> dict[str, float]:
    return {**result.attempt.seconds, **result.seconds}


def _result_fields(result: Result) -> list[Field]:
    done = result.attempt
    fields: list[Field] = [("counter", f"{name}={value}") for name, value in sorted(done.counters.items())]
    fields += [("user", f"{group}\0{name}\0{value}") for (group, name), value in sorted(done.user_counters.items())]
    fields += [("seconds", f"{stage}={value:.6f}") for stage, value in sorted(_seconds(result).items()) if value]
    return [
        *fields, ("status", done.status_text[:_RESULT_TEXT]), ("stderr", result.stderr), ("retried", done.retried),
        ("gpu", result.gpu), ("read", result.source.read), ("read_bytes", result.read_bytes),
    ]
