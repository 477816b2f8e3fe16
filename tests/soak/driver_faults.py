"""What can happen to a GPU driver: its own death and its workers', clients that lie or go away, damage in its store, calls
that fail in it. After each fault it must give right results again, or after its death a new one on the same folders.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..driver import client as protocol
from ..driver.client import Client, ClosedByDriver
from .damage import spoil
from .drivers import Driver
from .faults import AT_REST, ERRORS, Place, failing, hinders
from .page import COUNT, FULL, SIGNAL, TAKES_ROOM, Page, Rule
from .verdict import Problem

FAMILY = "driver"
_KINDS = {"wire": 30, "cut": 14, "worker": 16, "death": 8, "store": 12, "call": 20, "disk": 4, "told": 4}
_CALLS = ("read", "write", "open", "create", "rename", "unlink", "mkdir", "link", "close", "list", "truncate")
_FILES = ("/w/", "/d/", "/cache/", "/in/")
_PLACES = (
    *(Place(call, pattern) for call in _CALLS for pattern in _FILES),
    *(Place(call, "socket:") for call in ("read", "write", "send", "receive", "accept", "close")),
    *(Place(call, "") for call in ("fork", "exec", "thread", "pipe", "socket", "memory")),
)
_WAIT_SECONDS = 0.05  # for the driver's answer to nonsense
_EDGES = (0, 1, 2, 0x7F, 0x80, 0x100, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, (4 << 20) + 1, (1 << 20) + 1)
_NUMBERS = (b"-1", b"0", b"1", b"9223372036854775808", b"9" * 400, b"1e9", b"nan", b"inf", b" 1", b"0x10", b"", b"\0")
_NAMES = ("a", "conf", "env", "file", "version", "path", "start", "length", "user", "reduces", "now", "json")
_TOLD = ("cut@offer", "cut@answer", "cut@run", "cut@queued", "cut", "cut@sent", "die@offer", "die@queued", "die", "die@data",
         "die@sent", "error", "error@queued", "error@result")


class DriverCases:
    """The driver family of a lane."""

    def __init__(self, driver: Driver, page: Page) -> None:
        self.driver = driver
        self.page = page
        self.calls: dict[Place, int] = {}
        self.seconds = 0.0

    def do(self, seed: int) -> dict[str, Any]:
        """The case of a seed: what it did, and what was wrong afterwards."""
        rnd = random.Random(seed)
        rnd.random()  # chose the family
        kind = rnd.choices(list(_KINDS), list(_KINDS.values()))[0]
        driver, faults = self.driver, list[tuple[str, bool]]()
        try:
            self._serves()
            for what, hit in getattr(self, f"_{kind}")(rnd):
                faults.append((what, hit))
            self.page.disarm()
            self._serves()
            if not driver.clean() and not driver.alive:  # it was dying still
                self._serves()
                driver.clean()
        except RuntimeError as error:
            driver.problems.append(Problem("healed", str(error)))
        said = driver.said()
        if "Traceback" in said:
            driver.problems.append(Problem("traceback", said[-3000:]))
        problems, driver.problems = driver.problems, []
        return {
            "family": FAMILY, "job": kind, "device": driver.device, "fresh": False, "faults": [what for what, _ in faults],
            "where": [], "meant": len(faults), "struck": sum(hit for _, hit in faults), "status": 0, "problems": problems,
            "said": said[-600:],
        }

    def _serves(self) -> None:
        """A driver runs, and it is known what it does for an attempt."""
        if not self.driver.alive:
            if self.driver.pid:
                self.driver.gone()
            self.driver.start()
            self.driver.descriptors = 0
            if not self.driver.clean():
                raise RuntimeError("a new driver gives no attempt a GPU")
        if not self.calls:
            self.page.arm(*(Rule((place.call,), COUNT, pattern=self._pattern(place)) for place in _PLACES))
            begun = time.monotonic()
            self.driver.clean()
            self.seconds = time.monotonic() - begun
            self.calls = {place: n for number, place in enumerate(_PLACES) if (n := self.page.seen(number))}
            self.page.disarm()

    def _pattern(self, place: Place) -> str:
        return f"{self.driver.room.root}{place.pattern}" if place.pattern.startswith("/") else place.pattern

    def _struck_attempt(self, extra: dict[str, Path] | None = None) -> str:
        """An attempt that may end in any way but in silence; how it did."""
        attempt = self.driver.attempt(extra)
        try:
            with self.driver.client() as client:
                return self.driver.run(attempt, client).kind
        except TimeoutError:
            self.driver.problems.append(Problem("hang", f"an attempt has heard nothing for {self.driver.seconds:.0f} s"))
            return "silent"
        except (ClosedByDriver, OSError):
            return "closed"

    def _wire(self, rnd: random.Random) -> Iterator[tuple[str, bool]]:
        """Nonsense on the wire, some of it at a time."""
        with contextlib.ExitStack() as silent:
            for _ in range(rnd.randrange(3, 8)):
                what = rnd.choice(["offer", "offer bytes", "run", "run bytes", "noise", "types", "length", "silence"])
                stranger = socket.socket(socket.AF_UNIX)
                silent.callback(stranger.close)
                stranger.settimeout(_WAIT_SECONDS)
                with contextlib.suppress(OSError):
                    stranger.connect(str(self.driver.folder / "driver.sock"))
                    self._nonsense(what, stranger, rnd)
                if what != "silence":
                    stranger.close()
                yield f"wire: {what}", True
            self._struck_attempt()

    def _nonsense(self, what: str, stranger: socket.socket, rnd: random.Random) -> None:
        attempt = self.driver.attempt()
        offer, run = attempt.offer(), attempt.run()
        if what in ("run", "run bytes"):
            stranger.sendall(protocol.pack(protocol.OFFER, offer))
            stranger.recv(65536)
        if what in ("offer", "run"):
            fields = _other_fields(offer if what == "offer" else run, rnd)
            stranger.sendall(protocol.pack(protocol.OFFER if what == "offer" else protocol.RUN, fields))
        elif what in ("offer bytes", "run bytes"):
            whole = protocol.pack(protocol.OFFER, offer) if what == "offer bytes" else protocol.pack(protocol.RUN, run)
            stranger.sendall(_other_bytes(whole, rnd))
        elif what == "noise":
            stranger.sendall(rnd.randbytes(rnd.choice([1, 4, 5, 6, 100, 5000])))
        elif what == "types":
            stranger.sendall(b"".join(protocol.pack(_type(rnd, 40), _other_fields(offer, rnd)) for _ in range(3)))
        elif what == "length":
            stranger.sendall(struct.pack(">IB", rnd.choice(_EDGES), _type(rnd, 256)) + rnd.randbytes(rnd.randrange(2000)))
        if what != "silence":
            stranger.recv(65536)

    def _cut(self, rnd: random.Random) -> Iterator[tuple[str, bool]]:
        """Clients that go away in the middle of what they say or hear."""
        for _ in range(rnd.randrange(2, 5)):
            extra = self.driver.room.root / "log" / "extra"
            extra.write_bytes(rnd.randbytes(rnd.randrange(1, 60_000)))
            after = int(2 ** rnd.uniform(0, 19))
            try:
                client = _Breaking(self.driver.folder / "driver.sock", self.driver.seconds, after)
                with client:
                    self.driver.run(self.driver.attempt({"extra": extra}), client)
            except (ClosedByDriver, OSError):
                pass
            yield f"the client goes away after {after} bytes", client.left < 0

    def _worker(self, rnd: random.Random) -> Iterator[tuple[str, bool]]:
        number = rnd.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM, signal.SIGSTOP])
        after = rnd.uniform(0, self.seconds * 1.2)
        with self._strikes(number, after, self.driver.workers) as hit:
            self._struck_attempt()
        yield f"{signal.Signals(number).name} to a worker after {after:.3f} s", bool(hit)

    def _death(self, rnd: random.Random) -> Iterator[tuple[str, bool]]:
        number = rnd.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGSTOP])
        after = rnd.uniform(0, self.seconds * 1.2)
        with self._strikes(number, after, lambda: [self.driver.pid]) as hit:
            self._struck_attempt()
        yield f"{signal.Signals(number).name} to the driver after {after:.3f} s", bool(hit)
        if hit and number != signal.SIGSTOP:
            self.driver.gone()
            if number != signal.SIGKILL:
                self.driver.swept()

    @contextmanager
    def _strikes(self, number: int, after: float, whom: Any) -> Iterator[list[int]]:
        """A signal while the block runs; afterwards in the list who got it. A stopped process goes on a moment later."""
        hit: list[int] = []

        def strike() -> None:
            time.sleep(after)
            for pid in whom()[:1]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)
                    hit.append(pid)
                    if number == signal.SIGSTOP:
                        time.sleep(0.1)
                        os.kill(pid, signal.SIGCONT)

        thread = threading.Thread(target=strike)
        thread.start()
        try:
            yield hit
        finally:
            thread.join()

    def _store(self, rnd: random.Random) -> Iterator[tuple[str, bool]]:
        for _ in range(rnd.randrange(1, 4)):
            files = sorted(path for name in ("store", "folders") for path in (self.driver.work / name).rglob("*")
                           if path.is_file() and not path.is_symlink())
            if not files:
                yield "nothing in the store", False
                continue
            path, how = rnd.choice(files), rnd.choice(AT_REST)
            spoil(path, how, rnd)
            yield f"{how} {path.relative_to(self.driver.work)}", True
            self._struck_attempt()

    def _call(self, rnd: random.Random) -> Iterator[tuple[str, bool]]:
        place = rnd.choice([place for place in self.calls if place.call in ERRORS])
        rule = failing(rnd, Place(place.call, self._pattern(place)), self.calls[place])
        if rnd.random() < 0.2:
            rule = replace(rule, action=SIGNAL, value=signal.SIGKILL, sticky=False)
        yield self._armed(rule)
        if hinders(rule) and self.driver.alive:  # what it could not remove is for the next one
            self.driver.gone(signal.SIGKILL)

    def _disk(self, rnd: random.Random) -> Iterator[tuple[str, bool]]:
        yield self._armed(Rule(TAKES_ROOM, FULL, rnd.randrange(120_000), pattern=str(self.driver.work)), new_files=True)

    def _armed(self, rule: Rule, new_files: bool = False) -> tuple[str, bool]:
        """An attempt or two under a rule."""
        extra = self.driver.room.root / "log" / "extra"
        extra.write_bytes(os.urandom(20_000))
        self.page.arm(rule)
        for _ in range(2):
            if self.driver.alive:
                self._struck_attempt({"extra": extra} if new_files else None)
        hit = bool(self.page.struck())
        self.page.disarm()
        return str(rule), hit

    def _told(self, rnd: random.Random) -> Iterator[tuple[str, bool]]:
        """What a driver does to itself, as its own tests have it."""
        fault = rnd.choice(_TOLD)
        self.driver.stop()
        self.driver.start(f"{fault}*1")
        self._struck_attempt()
        yield f"told to: {fault}", True
        if fault.startswith("die"):
            self.driver.gone()
        else:
            self.driver.stop()


class _Breaking(Client):
    """A client that is gone after so many bytes, said and heard together."""

    def __init__(self, path: Path, seconds: float, after: int) -> None:
        self.left = after
        super().__init__(path, seconds)

    def raw(self, data: bytes) -> None:
        super().raw(data[: max(0, self.left)])
        self._spend(len(data))

    def exactly(self, size: int) -> bytes:
        data = super().exactly(min(size, max(0, self.left)))
        self._spend(size)
        return data

    def _spend(self, size: int) -> None:
        self.left -= size
        if self.left < 0:
            self.socket.close()
            raise ClosedByDriver


def _type(rnd: random.Random, limit: int) -> int:
    """A message's type; not STOP, which is nonsense that is obeyed."""
    return rnd.choice([number for number in range(limit) if number != protocol.STOP])


def _other_fields(fields: list[tuple[str, Any]], rnd: random.Random) -> list[tuple[str, Any]]:
    """Some of a message's fields missing, double, renamed or with other values."""
    found = [(name, value if isinstance(value, bytes) else str(value).encode()) for name, value in fields]
    for _ in range(rnd.randrange(1, 4)):
        at = rnd.randrange(len(found))
        name, value = found[at]
        other = bytearray(value)
        if other:
            other[rnd.randrange(len(other))] = rnd.randrange(256)
        found[at : at + 1] = rnd.choice([
            [], [found[at]] * 2, [(rnd.choice(_NAMES), value)], [(name, bytes(other))], [(name, rnd.choice(_NUMBERS))],
            [(name, rnd.randbytes(rnd.choice([1, 16, 255, 4096])))], [(name, value * rnd.choice([2, 10, 100]))],
            [(name, value + rnd.choice([b"\0", b"/../../../etc/passwd", b"\n", b"%n%s", b"\xff\xfe"]))],
            [found[at], *[("conf", b"k=v")] * 1000], [(name, b"../x\0" + b"a" * 64 + b"\0" + b"1\0-")],
        ])
        if not found:
            break
    return found


def _other_bytes(data: bytes, rnd: random.Random) -> bytes:
    """A frame with bits flipped, bytes lost or put in, or lengths that are not its own."""
    found = bytearray(data)
    for _ in range(rnd.randrange(1, 6)):
        at = rnd.randrange(len(found) - 4) if len(found) > 5 else 0
        how = rnd.randrange(5)
        if how == 0 and found:
            found[at] ^= 1 << rnd.randrange(8)
        elif how == 1:
            del found[at : at + rnd.randrange(1, 20)]
        elif how == 2:
            found[at:at] = rnd.randbytes(rnd.randrange(1, 20))
        else:
            found[0 if how == 3 else at : 4 if how == 3 else at + 4] = struct.pack(">I", rnd.choice(_EDGES))
    if len(found) > 4 and found[4] == protocol.STOP:
        found[4] = protocol.OFFER
    return bytes(found)
