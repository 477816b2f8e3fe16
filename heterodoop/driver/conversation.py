"""One connection of a map attempt, from OFFER to its end: what is asked, answered, run and sent. A lease is its life.

What its states are, and what follows from which event, says the node's machine (scheduler/node/machine.py); the connection's
end closes the lease at any time. Not here: frames (protocol.py), running (tasks.py), connections as such (server.py).
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ..daemon.log import Log
from ..errors import HeteroDoopError, UsageError
from ..executor.native.runtime import Native
from ..scheduler.node.model import Answer, Done, Offered, Ready, Refused, Run, Sent, Session, Side, Why
from ..scheduler.policies import CPU_ONLY
from .cluster.knowledge import Source
from .job.fetch import TaskReader
from .job.files import FileStore, Folders, JobFile, parse_files
from .job.gpus import Gpus
from .job.host import HostKernels
from .job.jobs import Bundle, Job, Jobs
from .job.modules import Modules
from .job.offer import Declined, Offer
from .job.speedups import Speedups
from .job.tasks import Cancelled, DeviceResult, Say, Tasks, Work
from .job.work import WorkFolder
from .node import Node, Ticket
from .pulse import Pulse, TakenBack
from .tally import Tally
from .wire.protocol import (
    BIG_CONTROL,
    CONTROL,
    VERSION,
    ConnectionClosed,
    Field,
    Malformed,
    Message,
    PeerFailed,
    PeerSilent,
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
SIDES: tuple[Side, ...] = ("gpu", "host")


class Services(NamedTuple):
    """What conversations share."""

    native: Native
    gpus: Gpus
    host: HostKernels
    store: FileStore
    folders: Folders
    jobs: Jobs
    tasks: Tasks
    node: Node
    speedups: Speedups
    source: Source
    log: Log
    work: WorkFolder
    modules: Modules
    terms: Any
    tally: Tally


class OpenAttempt(NamedTuple):
    """An attempt whose connection is open."""

    ticket: Ticket
    offer: Offer
    say: Say

    @property
    def number(self) -> int:
        """Of its lease."""
        return self.ticket.number


class Conversation:
    """Serves one connection in its caller's thread."""

    def __init__(self, services: Services, stream: Stream) -> None:
        self._s = services
        self._stream = stream

    def serve(self, message: Message) -> None:
        """From the offer on. Raises Closed and its kinds: the connection is over."""
        offer = Offer.of(message)
        say = Say()
        with self._s.node.ticket(offer.attempt, say.progress, say) as ticket:
            attempt = OpenAttempt(ticket, offer, say)
            try:
                with self._s.jobs.attempt(offer.job) as job:
                    self._live(attempt, job)
            except (ConnectionClosed, Cancelled) as end:
                self._count(attempt, "closed", reason=str(end))
                if isinstance(end, ConnectionClosed):
                    raise

    def _live(self, attempt: OpenAttempt, job: Job) -> None:
        answer = self._ask(attempt)
        decision, why = answer.decision, answer.why
        self._stream.send(
            Type.ANSWER, ("run", decision.kind), ("reason", why.reason), ("code", why.code),
            ("ahead", decision.ahead), ("forced", int(decision.forced)), ("version", VERSION), ("waits", 1),
            ("pid", os.getpid()),
        )
        self._count(attempt, f"answered_{decision.kind}", reason=why.reason)
        if decision.kind != "gpu" and why.reason:
            self._s.tally.declined(why)
        if decision.kind != "cpu":
            try:
                self._here(attempt, job, decision.kind)
                return
            except Declined as declined:
                self._refuse(attempt, declined)
        self._cpu(attempt)

    def _ask(self, attempt: OpenAttempt) -> Answer:
        """The node's decision."""
        offer, why, policy = attempt.offer, Why(), CPU_ONLY
        try:
            offer.check()
            policy = offer.scheduling
        except Declined as declined:
            why = Why(declined.reason, declined.code)
        self._s.source.watch(offer.job)
        self._s.speedups.begin(offer.bundle)
        return self._s.node.answer(Offered(
            attempt.number, offer.job, offer.task, offer.split.length, offer.maps, policy, offer.bundle, why))

    def _refuse(self, attempt: OpenAttempt, declined: Declined) -> None:
        if not isinstance(declined, TakenBack):
            self._stream.send(Type.REFUSED, ("reason", declined.reason), ("code", declined.code))
        self._s.node.tell(Refused(attempt.number))
        self._s.tally.declined(Why(declined.reason, declined.code))
        self._count(attempt, "refused", reason=declined.reason, code=declined.code)

    def _cpu(self, attempt: OpenAttempt) -> None:
        """The attempt runs in its container; the connection stays until it says how long it took."""
        seconds = self._stream.receive((Type.CPU_DONE,), None).seconds("seconds")
        self._s.node.tell(Done(attempt.number, seconds))
        self._count(attempt, "cpu_done", seconds=seconds)

    def _here(self, attempt: OpenAttempt, job: Job, side: Side) -> None:
        """On a GPU, or as a host kernel. Raises Declined: the attempt runs in its container, on this connection."""
        attempt.say.waits_for = "GPU" if side == "gpu" else "a slot for host kernels"
        message = self._prepared(attempt)
        if message.type is Type.FAILED:
            raise Declined(f"the task gave its lease back: {message.text('reason', '')}", "HD619")
        environment = message.all("env")
        if any(b"\0" in variable or variable.find(b"=") < 1 for variable in environment):
            raise Malformed("RUN: a variable is not NAME=VALUE")
        begun: list[float] = []
        with ExitStack() as used:
            scratch = self._scratch(attempt, used)
            with Pulse(self._stream, attempt.number, attempt.say, self._s.node) as pulse:
                work = self._work(attempt, job, side, message.all("file"), environment, used)
                self._s.node.tell(Ready(attempt.number))
                reader = TaskReader(partial(self._read, pulse))
                turn = partial(self._turn, attempt, begun)
                result = self._run(pulse, partial(self._s.tasks.run, work, scratch, reader, attempt.say, turn))
            self._s.node.tell(Sent(attempt.number))
            nbytes = self._send(result)
        end = self._stream.receive((Type.INSTALLED, Type.FAILED), INSTALL_SECONDS)
        if end.type is Type.FAILED:
            raise Declined(f"the task could not install the result: {end.text('reason', '')}", "HD619")
        seconds = time.monotonic() - begun[0]
        self._s.node.tell(Done(attempt.number, seconds, bool(result.attempt.retried)))
        if side == "gpu":
            self._s.tally.done(_seconds(result), {"in": result.read_bytes, "out": nbytes})
        self._count(attempt, "installed" if side == "gpu" else "installed_host", seconds=seconds, gpu=result.gpu,
                    read=result.source.read, why=result.source.why, bytes=result.read_bytes,
                    stages={name: round(value, 6) for name, value in _seconds(result).items()})

    @contextmanager
    def _turn(self, attempt: OpenAttempt, begun: list[float]) -> Iterator[Session]:
        """Wait for a session, which is the attempt's in the block; `begun`: when it got it. Raises Declined, Cancelled."""
        run = Run(attempt.number, attempt.offer.split.user)
        with self._s.node.device(attempt.ticket, run, attempt.say.waits) as session:
            begun.append(time.monotonic())
            yield session

    @staticmethod
    def _run(pulse: Pulse, run: Callable[[], DeviceResult]) -> DeviceResult:
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

    def _prepared(self, attempt: OpenAttempt) -> Message:
        """RUN or FAILED, which the task may keep waiting for as long as it says that it is still at work. Raises Closed."""
        end = time.monotonic() + PREPARE_SECONDS
        while time.monotonic() < end:
            message = self._stream.receive((Type.RUN, Type.FAILED, Type.WAIT), RUN_SECONDS, BIG_CONTROL)
            if message.type is not Type.WAIT:
                return message
            attempt.say.text = "the task prepares its files"
        raise PeerSilent(f"the task has prepared its files for {PREPARE_SECONDS:g} s")

    def _scratch(self, attempt: OpenAttempt, used: ExitStack) -> Path:
        """A private folder for the attempt. Raises Declined."""
        try:
            if not self._s.work.ensure():
                self._s.log.event("work_made_again", folder=self._s.work.path)
            return used.enter_context(self._s.tasks.folder(attempt.offer, attempt.number))
        except UsageError as error:
            raise Declined(error.message, error.code) from None
        except OSError as error:
            raise Declined(f"the GPU driver's folder: {error}", "HD617") from None

    def _work(
        self, attempt: OpenAttempt, job: Job, side: Side, fields: Iterable[bytes], environment: Sequence[bytes],
        used: ExitStack,
    ) -> Work:
        """The attempt with all its files here, until `used` ends. Raises Declined."""
        try:
            files = parse_files(fields)
            with job.files_lock:
                folder = used.enter_context(self._s.folders.use(files, self._need))
                bundle = self._s.jobs.bundle(attempt.offer, files, self._need, used)
            self._fits(attempt.offer, job, bundle, side)
            attempt.say.length = attempt.offer.split.length
            return Work(attempt.offer, job, bundle, folder, environment, side)
        except PeerFailed as error:
            raise Declined(f"the task cannot send its files: {error}", "HD616") from None
        except OSError as error:
            raise Declined(f"the GPU driver's store: {error}", "HD616") from None
        except HeteroDoopError as error:
            if error.code != "HD616":  # the bundle itself: it will not be another one
                for one in SIDES:
                    job.unfit(Why(error.message, error.code), one)
            raise Declined(error.message, error.code) from None

    @staticmethod
    def _fits(offer: Offer, job: Job, bundle: Bundle, side: Side) -> None:
        """The node learns of both sides what the bundle has nothing for. Raises Declined: it is this one."""
        nothing: dict[Side, str] = {"gpu": bundle.codes.never, "host": ""}
        if bundle.host_code(offer) is None:
            nothing["host"] = f"the map has no host kernel: {bundle.no_host}"
        for one, reason in nothing.items():
            if reason:
                job.unfit(Why(reason, "HD615"), one)
        if nothing[side]:
            raise Declined(nothing[side], "HD615")

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

    def _read(self, pulse: Pulse, offset: int, size: int, part: int) -> bytes:
        """The task reads a range of a file of its split. Raises Declined; Cancelled: it was told to run on the CPU."""
        with pulse.asking:
            if pulse.taken_back:
                raise Cancelled
            self._stream.send(Type.READ, ("offset", offset), ("length", size), ("part", part))
            try:
                return b"".join(self._stream.receive_data(size, DATA_SECONDS))
            except PeerFailed as error:
                raise Declined(f"neither driver nor task can read the split: {error}", "HD617") from None

    def _send(self, result: DeviceResult) -> int:
        """RESULT and its bytes. Returns how many these are."""
        sizes = [(path, os.stat(path).st_size) for path in (result.index, result.data) if path]
        text = result.index is None
        fields = [
            *_result_fields(result), ("index", 0 if text else sizes[0][1]), ("data", sizes[-1][1]), ("text", int(text)),
        ]
        if len(encode(Type.RESULT, fields)) > CONTROL:
            raise Declined(f"too many counters of its own: {len(result.attempt.user_counters)}", "HD615")
        self._stream.send(Type.RESULT, *fields)
        for path, size in sizes:
            self._send_file(path, size)
        return sum(size for _, size in sizes)

    def _send_file(self, path: Path, size: int) -> None:
        with open(path, "rb") as file:
            self._stream.send_file(file.fileno(), size)

    def _count(self, attempt: OpenAttempt, what: str, **more: object) -> None:
        self._s.log.count(what)
        self._s.log.event(what, lease=attempt.number, attempt=attempt.offer.attempt, **more)


def _seconds(result: DeviceResult) -> dict[str, float]:
    return {**result.attempt.seconds, **result.seconds}


def _result_fields(result: DeviceResult) -> list[Field]:
    done = result.attempt
    fields: list[Field] = [("counter", f"{name}={value}") for name, value in sorted(done.counters.items())]
    fields += [("user", f"{group}\0{name}\0{value}") for (group, name), value in sorted(done.user_counters.items())]
    fields += [("seconds", f"{stage}={value:.6f}") for stage, value in sorted(_seconds(result).items()) if value]
    return [
        *fields, ("side", result.side), ("status", done.status_text[:_RESULT_TEXT]), ("stderr", result.stderr),
        ("retried", done.retried), ("gpu", result.gpu), ("read", result.source.read), ("read_bytes", result.read_bytes),
    ]
