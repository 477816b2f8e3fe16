"""A driver with instruments. `python -m tests.driver.instrumented driver start ...` is `heterodoop driver start ...` with
parts of it replaced; the product has no way to ask for any of this. Not a test module.

Faults: $HETERODOOP_DRIVER_FAULT of the driver's own environment, KIND[@MOMENT][*COUNT], several separated by commas.

KIND     cut: the connection closes. die: the driver is killed. error: the task is refused. corrupt: a byte of the result's
         data is another one, after the check. hang: nothing more is said for an hour.
MOMENT   offer, answer, run, queued, running, result (before it), data (in the middle of its bytes), sent (after it).
         Default: data for cut and corrupt, running for the others.
COUNT    how often; without it always.

Delays: a task whose environment has tests_gpu_delay=SECONDS holds its session for so long before it begins. Under Hadoop
`-D tests.gpu.delay=SECONDS` makes that variable.
"""

from __future__ import annotations

import os
import re
import signal
import struct
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

from heterodoop.daemon import start
from heterodoop.driver import conversation, lending, node, pulse, server
from heterodoop.driver.job import tasks
from heterodoop.driver.job.fetch import TaskReader
from heterodoop.driver.job.offer import Declined
from heterodoop.driver.wire.protocol import DATA_BYTES, ConnectionClosed, Message, Type
from heterodoop.executor.kernel.gpu_task import KernelCall
from heterodoop.executor.lent import words
from heterodoop.executor.worker.client import WorkerDevice
from heterodoop.executor.worker.messages import Reply, RunTask
from heterodoop.scheduler.node.model import Action, Event, Ready, Sent, Session

MODULE = "tests.driver.instrumented"
COMMAND = [sys.executable, "-m", MODULE]  # in place of support.COMMAND
VARIABLE = "HETERODOOP_DRIVER_FAULT"
DELAY = "tests.gpu.delay"
MOMENTS = ("offer", "answer", "run", "queued", "running", "result", "data", "sent")
KINDS = ("cut", "die", "error", "corrupt", "hang")
_RULE = re.compile(rf"({'|'.join(KINDS)})(?:@({'|'.join(MOMENTS)}))?(?:\*([0-9]{{1,6}}))?")
_HANG_SECONDS = 3600.0
_TICK_SECONDS = 0.05


class Faults:
    """The faults that were asked for."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        """Raises ValueError: the variable does not say a fault."""
        self._left: dict[tuple[str, str], int] = {}
        self._lock = Lock()
        self.silent = False  # nothing more is said
        for word in filter(None, environ.get(VARIABLE, "").split(",")):
            found = _RULE.fullmatch(word.strip())
            if not found:
                raise ValueError(f"{VARIABLE}={word!r}: must be KIND@MOMENT*COUNT")
            moment = found[2] or ("data" if found[1] in ("cut", "corrupt") else "running")
            self._left[found[1], moment] = int(found[3]) if found[3] else -1

    def __bool__(self) -> bool:
        return bool(self._left)

    def at(self, moment: str) -> None:
        """What was asked for at this moment happens. Raises Closed, Declined."""
        if self.takes("die", moment):
            os.kill(os.getpid(), signal.SIGKILL)
        if self.takes("hang", moment):
            self.silent = True
            time.sleep(_HANG_SECONDS)
        if self.takes("cut", moment):
            raise ConnectionClosed("cut on purpose")
        if self.takes("error", moment):
            raise Declined("refused on purpose", "HD619")

    def in_data(self) -> bool:
        """Whether something is to happen in the middle of the data."""
        return any(moment == "data" and kind != "corrupt" and left for (kind, moment), left in self._left.items())

    def takes(self, kind: str, moment: str) -> bool:
        """Whether it is to happen now; it is counted then."""
        with self._lock:
            left = self._left.get((kind, moment), 0)
            if left > 0:
                self._left[kind, moment] = left - 1
            return left != 0


class SlowTasks(tasks.Tasks):
    def run(
        self, work: tasks.Work, scratch: Path, reader: TaskReader, say: tasks.Say, turn: tasks.Turn,
    ) -> tasks.DeviceResult:
        @contextmanager
        def slow() -> Iterator[Session]:
            with turn() as session:
                _wait(_delay(work.environment), say)
                yield session

        return super().run(work, scratch, reader, say, slow)


def _delay(environment: Sequence[bytes]) -> float:
    """Seconds."""
    name = DELAY.replace(".", "_").encode() + b"="
    return next((float(variable.removeprefix(name)) for variable in environment if variable.startswith(name)), 0.0)


def _wait(seconds: float, say: tasks.Say) -> None:
    end = time.monotonic() + seconds
    while (rest := end - time.monotonic()) > 0:
        say.ahead, say.text = None, f"delayed by {DELAY}"
        say.check()
        time.sleep(min(rest, _TICK_SECONDS))


class FaultyConversation(conversation.Conversation):
    faults: Faults
    _data: Path | None = None

    def serve(self, message: Message) -> None:
        self.faults.at("offer")
        super().serve(message)

    def _count(self, attempt: conversation.OpenAttempt, what: str, **more: object) -> None:
        super()._count(attempt, what, **more)
        if what.startswith("answered_"):
            self.faults.at("answer")

    def _prepared(self, attempt: conversation.OpenAttempt) -> Message:
        message = super()._prepared(attempt)
        if message.type is Type.RUN:
            self.faults.at("run")
        return message

    @contextmanager
    def _turn(self, attempt: conversation.OpenAttempt, begun: list[float]) -> Iterator[Session]:
        with super()._turn(attempt, begun) as session:
            self.faults.at("running")
            yield session

    def _send(self, result: tasks.DeviceResult) -> None:
        self._data = result.data
        super()._send(result)
        self.faults.at("sent")

    def _send_file(self, path: Path, size: int) -> None:
        if path == self._data and size and self.faults.takes("corrupt", "data"):
            _spoil(path, size // 2)
        if path == self._data and self.faults.in_data():
            self._send_half(path, size)
            self.faults.at("data")
        super()._send_file(path, size)

    def _send_half(self, path: Path, size: int) -> None:
        """Frames without an END, as a driver that ends in the middle leaves them."""
        half = path.read_bytes()[: size // 2]
        for at in range(0, len(half), DATA_BYTES):
            piece = half[at : at + DATA_BYTES]
            self._stream.socket.sendall(struct.pack(">IB", 1 + len(piece), Type.DATA) + piece)


class FaultyLending(lending.Lending):
    faults: Faults

    def _run(
        self, device: WorkerDevice, task: RunTask, fd: int, calls: tuple[KernelCall, KernelCall | None], seen: lending.Seen,
        nbytes: int, number: int,
    ) -> Reply | words.LoanDeclined:
        try:
            self.faults.at("running")
        except Declined as declined:
            return words.LoanDeclined(declined.reason, declined.code)
        return super()._run(device, task, fd, calls, seen, nbytes, number)


class FaultyNode(node.Node):
    faults: Faults

    def tell(self, event: Event) -> list[Action]:
        if isinstance(event, Sent):
            self.faults.at("result")
        actions = super().tell(event)
        if isinstance(event, Ready):
            self.faults.at("queued")
        return actions


class FaultyPulse(pulse.Pulse):
    faults: Faults

    def _tell(self) -> None:
        if not self.faults.silent:
            super()._tell()


def faulty(faults: Faults) -> list[tuple[Any, str, type]]:
    """Parts of a driver that fail so: module, name in it, and what stands there instead."""
    parts: list[tuple[Any, str, type]] = [
        (server, "Conversation", FaultyConversation), (server, "Lending", FaultyLending), (server, "Node", FaultyNode),
        (conversation, "Pulse", FaultyPulse),
    ]
    return [(module, name, type(name, (part,), {"faults": faults})) for module, name, part in parts]


def _spoil(path: Path, at: int) -> None:
    with open(path, "r+b") as file:
        file.seek(at)
        (byte,) = file.read(1)
        file.seek(at)
        file.write(bytes([byte ^ 1]))


def replaced(environ: Mapping[str, str] = os.environ) -> list[tuple[Any, str, Any]]:
    """Of a driver in such an environment: module, name in it, and what stands there instead. Raises ValueError."""
    faults = Faults(environ)
    return [(server, "Tasks", SlowTasks), *(faulty(faults) if faults else [])]


def install(environ: Mapping[str, str] = os.environ) -> None:
    """Make drivers of this process, and those that it starts behind itself, such ones. Raises ValueError."""
    plain = start.python

    def python(command: Sequence[str], **options: Any) -> start.Child:
        own = [*command[:1], MODULE, *command[2:]] if list(command[:2]) == ["-m", "heterodoop"] else command
        return plain(own, **options)

    for module, name, part in [*replaced(environ), (start, "python", python)]:
        if not hasattr(module, name):
            raise AttributeError(f"{module.__name__} has no {name} to replace")
        setattr(module, name, part)


if __name__ == "__main__":
    from heterodoop import __main__ as entry

    install()
    entry.start()
