"""The GPU driver of a lane: started, asked for attempts, ended; and whether it is as it was before a fault."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from ..driver import instrumented
from ..driver.client import INSTALLED, STOP, Attempt, Client, ClosedByDriver, Outcome
from ..driver.on_cpu import run_on_cpu
from .processes import Family, children
from .room import Room
from .verdict import Problem

START_SECONDS, STOP_SECONDS, HEAL_SECONDS, TIDY_SECONDS = 30.0, 10.0, 20.0, 3.0
FEW_DESCRIPTORS = 6  # that may be open more than at the start: a worker that is new, a log that has rolled over
_MARKS = ("store", "folders", "attempts")
STAYS = ("driver.lock", "driver.log", "secret")


@dataclass
class Driver:
    """One driver at a time, in the folders `d` and `w` of a lane. Every attempt is of a job of its own.

    seconds  that anything may take.
    """

    room: Room
    family: Family
    device: str
    bundle: Path
    seconds: float
    pid: int = 0
    count: int = 0
    descriptors: int = 0
    told: int = 0  # bytes of what it said that were looked at
    right: tuple[bytes, bytes] = (b"", b"")
    problems: list[Problem] = field(default_factory=list)

    @property
    def folder(self) -> Path:
        return self.room.root / "d"

    @property
    def work(self) -> Path:
        """The driver's own below --work."""
        return self.room.root / "w" / "driver"

    @property
    def log(self) -> Path:
        return self.room.root / "log" / "driver"

    def client(self, seconds: float = 0.0) -> Client:
        return Client(self.folder / "driver.sock", seconds or self.seconds)

    def attempt(self, extra: Mapping[str, Path] | None = None) -> Attempt:
        """Word count of the whole text, of a job that the driver has not heard of."""
        self.count += 1
        text = self.room.text
        return Attempt(
            self.bundle, f"file:{text}", length=text.stat().st_size, reduces=2, job=f"job_{os.getpid()}_{self.count:04d}",
            extra=dict(extra or {}),
        )

    def run(self, attempt: Attempt, client: Client) -> Outcome:
        """The attempt to its end; a result that is not right is a problem. Raises ClosedByDriver, OSError."""
        outcome = client.map(attempt)
        if outcome.kind == "result":
            self.check(outcome)
            client.send(INSTALLED)
        return outcome

    def check(self, outcome: Outcome) -> None:
        if (outcome.index, outcome.data) != self.right:
            kind = "lost" if len(outcome.data) < len(self.right[1]) else "wrong"
            self.problems.append(Problem(kind, f"a driver's result: {len(outcome.data)} of {len(self.right[1])} bytes"))

    def start(self, faults: str = "") -> None:
        """Raises RuntimeError: it does not serve. faults: of a driver with instruments."""
        if not self.right[1]:
            self.right = run_on_cpu(self.attempt(), self.room.text, self.room.root / "log" / "cpu")[1:]
        self.folder.mkdir(mode=0o700, exist_ok=True)
        reader, writer = os.pipe()
        words = ["driver", "start", "--foreground", "--ready-fd", str(writer), "--dir", str(self.folder), "--work",
                 str(self.work.parent), "--device", self.device]
        extra = {instrumented.VARIABLE: faults}
        be = partial(instrumented.install, extra) if faults else None
        self.pid, self.told = self.family.fork(words, self.room.root, self.log, be=be), 0
        self.family.keep.add(self.pid)
        os.close(writer)
        with open(reader, "rb") as ready:
            said = ready.read() if select.select([ready], [], [], START_SECONDS)[0] else b""
        if said != b"ready\n":
            self.gone(signal.SIGKILL)
            raise RuntimeError(f"the driver does not start: {self.said()[-1500:]}")

    @property
    def alive(self) -> bool:
        self.family.reap()
        return bool(self.pid) and self.pid not in self.family.statuses

    def workers(self) -> list[int]:
        return children(self.pid)

    def said(self) -> str:
        """Since the last question."""
        with contextlib.suppress(OSError):
            text = self.log.read_bytes()[self.told :]
            self.told += len(text)
            return text.decode(errors="replace")
        return ""

    def gone(self, number: int = 0) -> bool:
        """It ends, by a signal if one is given; whether it has in time. It and what it started are gone afterwards."""
        with contextlib.suppress(ProcessLookupError):
            if self.alive and number:
                os.kill(self.pid, number)
        ended = _wait(lambda: not self.alive, STOP_SECONDS)
        self.family.keep.discard(self.pid)
        self.family.statuses.pop(self.pid, None)
        if not ended:
            why = f"the driver has not ended after {STOP_SECONDS:.0f} s: {self.said()[-1500:]}"
            self.problems.append(Problem("hang", why))
            self.family.end([self.pid])
        self.problems += [Problem("orphan", name) for name in self.family.orphans()]
        self.pid = 0
        return ended

    def stop(self) -> None:
        """Tell it to end; nothing of it may be left."""
        with contextlib.suppress(ClosedByDriver, OSError), self.client(STOP_SECONDS) as client:
            client.send(STOP, ("now", 1))
            client.frame()
        self.gone()
        self.swept()

    def swept(self) -> None:
        """Whether a driver that ended in order has left nothing."""
        left = [path.name for path in self.folder.iterdir() if not path.name.startswith(STAYS)]
        left += [path.name for path in self.work.rglob("*") if path.name not in _MARKS]
        if left:
            self.problems.append(Problem("leftover", f"after the driver's end: {', '.join(sorted(left)[:10])}"))

    def clean(self) -> bool:
        """Attempts without a fault must get a GPU again, and leave nothing behind. False: they do not, or it is dead."""
        end, why = time.monotonic() + HEAL_SECONDS, "nothing was tried"
        while time.monotonic() < end:
            if not self.alive:
                return False
            try:
                with self.client() as client:
                    outcome = self.run(self.attempt(), client)
            except (ClosedByDriver, OSError) as error:
                outcome, why = Outcome("closed"), repr(error)
            if outcome.kind == "result":
                self._tidy()
                return True
            why = str(outcome.fields) if outcome.fields else why
            time.sleep(0.2)
        self.problems.append(Problem("healed", f"no attempt gets a GPU after {HEAL_SECONDS:.0f} s: {why[-600:]}"))
        self.gone(signal.SIGKILL)  # it would spoil the cases behind this one
        return False

    def _tidy(self) -> None:
        attempts = self.work / "attempts"
        if not _wait(lambda: not list(attempts.glob("*")), TIDY_SECONDS):
            names = ", ".join(path.name for path in attempts.glob("*"))
            self.problems.append(Problem("leftover", f"of attempts that are over: {names}"))
            self.gone(signal.SIGKILL)  # or every case behind this one would find it too
            return
        self.descriptors = self.descriptors or len(self._open())
        if not _wait(lambda: len(self._open()) <= self.descriptors + FEW_DESCRIPTORS, TIDY_SECONDS):
            new = [name for name in self._open() if not name.startswith("/proc")]
            why = f"{len(new)} descriptors are open, at first {self.descriptors}: {new[-10:]}"
            self.problems.append(Problem("leftover", why))

    def _open(self) -> list[str]:
        names = []
        with contextlib.suppress(OSError):
            for fd in os.listdir(f"/proc/{self.pid}/fd"):
                with contextlib.suppress(OSError):
                    names.append(os.readlink(f"/proc/{self.pid}/fd/{fd}"))
        return names


def _wait(done: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not done():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True
