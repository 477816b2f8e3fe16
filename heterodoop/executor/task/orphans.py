"""Processes that filters left behind. What makes itself a daemon leaves its group; it does not leave the job.

Inside `held` orphans of this process become its children (a subreaper's), and at the end every child that was not there
before is killed, with all below it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from ... import last_resort

_SET_CHILD_SUBREAPER = 36
_SECONDS = 2.0
_let_go: set[int] = set()


@contextlib.contextmanager
def held() -> Iterator[None]:
    """Use it around everything that starts filters, workers included: none of them lives on."""
    before = frozenset(_children())
    _subreaper(True)
    try:
        with last_resort.cleaning(lambda: kill(before)):
            yield
    finally:
        kill(before)
        _subreaper(False)


def let_go(pid: int) -> None:
    """This child is ending, has nothing left to do, and dies with this process: nobody waits for it."""
    _let_go.add(pid)


def kill(but: frozenset[int]) -> None:
    """Kill all children of this process and theirs, but for `but`; returns when they are gone, or after two seconds."""
    end = time.monotonic() + _SECONDS
    while (left := set(_children()) - but - _let_go) and time.monotonic() < end:
        for pid in left:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(OSError):
                os.waitpid(pid, os.WNOHANG)  # what it had started is ours in the next round
        time.sleep(0.002)


def _children() -> list[int]:
    found: list[int] = []
    with contextlib.suppress(OSError, ValueError):
        for task in Path("/proc/self/task").iterdir():
            with contextlib.suppress(OSError):
                found += map(int, (task / "children").read_text().split())
    return found


def _subreaper(on: bool) -> None:
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, int(on), 0, 0, 0)
