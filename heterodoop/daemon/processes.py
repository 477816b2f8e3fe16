"""Processes by pid and start time, read from /proc: a pid alone may have become somebody else's.

Not here: starting them (start.py).
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

PROC = Path("/proc")
_POLL = 0.1


class Process(NamedTuple):
    """`start`: when it began, in the kernel's ticks since it booted. The two together never come again until a reboot."""

    pid: int
    start: int


def boot() -> str:
    """The id of this run of the kernel: pids and start times of another one say nothing."""
    return (PROC / "sys/kernel/random/boot_id").read_text().strip()


def identify(pid: int) -> Process | None:
    """The process that has this pid now; None: there is none, or only what its parent has not taken notice of."""
    fields = stat(pid)
    return None if fields is None or fields[0] in "ZX" else Process(pid, int(fields[19]))


def alive(process: Process) -> bool:
    return identify(process.pid) == process


def resident(pid: int) -> int:
    """Bytes of memory that it holds now; 0 if it is gone."""
    with suppress(OSError, ValueError, IndexError):
        return int((PROC / str(pid) / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def send(process: Process, number: int) -> None:
    """Send a signal to this process, and to no other one that has its pid by now."""
    if alive(process):
        with suppress(ProcessLookupError):
            os.kill(process.pid, number)


def wait_end(process: Process, seconds: float) -> bool:
    """Wait until it ends, `seconds` at most. Has it ended?"""
    return not _wait([process], seconds)


def end(processes: Iterable[Process], grace: float) -> list[Process]:
    """SIGTERM in the order given, SIGKILL to those that are left after `grace` seconds. Returns those that live on."""
    all_of_them = list(processes)
    for process in all_of_them:
        send(process, signal.SIGTERM)
    left = _wait(all_of_them, grace)
    for process in left:
        send(process, signal.SIGKILL)
    return _wait(left, 10)


def stat(pid: int) -> list[str] | None:
    """The fields of /proc/PID/stat from the third (the state) on; None: there is no such process."""
    try:
        text = (PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return None
    return text.rpartition(")")[2].split()


def _wait(processes: Collection[Process], seconds: float) -> list[Process]:
    deadline = time.monotonic() + seconds
    while True:
        left = [p for p in processes if alive(p)]
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(_POLL)
