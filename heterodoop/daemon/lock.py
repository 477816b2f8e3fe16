"""One process at a time: a lock in a file that says who holds it. It ends with its process, however that ends.

Not here: what a caller says where somebody else holds it.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from .processes import Process, identify

LOOK_SECONDS = 0.1  # for which `held` waits at least: who asks for a lock's owner holds it for a moment
_TICK_SECONDS = 0.05


class Owner(NamedTuple):
    """Who holds a lock. `since`: seconds since the epoch. `more`: what else it says of itself."""

    process: Process
    since: float
    more: dict[str, Any]

    @property
    def pid(self) -> int:
        return self.process.pid

    def __str__(self) -> str:
        return f"process {self.pid}, since {time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(self.since))}"


class Lock(NamedTuple):
    """A lock, by the open file that it is on."""

    fd: int

    def take(self, how: int = fcntl.LOCK_EX) -> bool:
        """Hold it from now on, unless somebody else does."""
        try:
            fcntl.flock(self.fd, how | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def sign(self, **more: object) -> None:
        """Write down that this process is the owner, with what others should know of it."""
        me = identify(os.getpid()) or Process(os.getpid(), 0)
        os.ftruncate(self.fd, 0)
        os.pwrite(self.fd, json.dumps({**me._asdict(), "since": time.time(), **more}).encode(), 0)

    def signed(self) -> Owner | None:
        """Who has signed; None: nobody, or nothing that can be read."""
        try:
            said = json.loads(os.pread(self.fd, 4096, 0))
            pid = int(said.pop("pid"))
            start = said.pop("start", None)  # a driver of before has not written it
            process = identify(pid) if start is None else Process(pid, int(start))
            return Owner(process or Process(pid, 0), float(said.pop("since")), said)
        except (ValueError, KeyError, TypeError, AttributeError):
            return None


@contextmanager
def held(path: Path, refuse: Callable[[Owner | None], Exception], seconds: float = 0.0) -> Iterator[Lock]:
    """Hold the lock. Raises what `refuse` makes of its owner, where another one holds it for longer than `seconds`.

    The owner is None where that one has not signed. Nobody's name stays in the file behind the block. Raises OSError.
    """
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        end = time.monotonic() + max(seconds, LOOK_SECONDS)
        while not Lock(fd).take():
            if time.monotonic() >= end:
                raise refuse(owner_of(path))
            time.sleep(_TICK_SECONDS)
        os.ftruncate(fd, 0)
        try:
            yield Lock(fd)
        finally:
            os.ftruncate(fd, 0)
    finally:
        os.close(fd)


def owner_of(path: Path) -> Owner | None:
    """Who holds the lock; None: nobody, or one that has not signed."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        return None if Lock(fd).take(fcntl.LOCK_SH) else Lock(fd).signed()
    finally:
        os.close(fd)


def released(path: Path, seconds: float) -> bool:
    """Wait until nobody has signed the lock, `seconds` at most. Is it so?"""
    end = time.monotonic() + seconds
    while owner_of(path):
        if time.monotonic() > end:
            return False
        time.sleep(_TICK_SECONDS)
    return True
