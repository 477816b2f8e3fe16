"""Jobs that the CPU has done before a GPU would be awake: what the last one took, and how long this machine's GPUs sleep.

A command that knows both before it starts anything leaves such a job to the CPU: a worker's start takes processors from its
map tasks, and its GPU would have nothing to do. A job is like another one where bundle and options are the same; how much
input it has may differ. Entries are those of `speeds`: they count for a day, so that a GPU is tried again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ..manifest import FILE
from . import cache, speeds

# What of `heterodoop run` a map phase on the CPU depends on, besides the bundle and the size of the input.
OPTIONS = ("settings", "files", "filters", "reducers", "record_delimiter", "split_size", "cpu_slots", "input_format")


def name_of(bundle: Path, option: Callable[[str], Any]) -> str:
    """Of jobs like this. option: gives those of OPTIONS. "": nothing is known of such jobs."""
    try:
        content = (bundle / FILE).read_bytes()  # it has the hash of every other file
    except OSError:
        return ""
    given = [repr(tuple(value)) if isinstance(value, list | tuple) else str(value) for value in map(option, OPTIONS)]
    return cache.key(["alone", os.uname().nodename, str(len(os.sched_getaffinity(0))), content, *given])


def size_of(inputs: Sequence[str]) -> int | None:
    """Bytes of inputs that are files; None: some are not, or nobody knows."""
    total = 0
    for name in inputs:
        if not os.path.isfile(name):
            return None
        total += os.path.getsize(name)
    return total


def expected(name: str, nbytes: int) -> float | None:
    """Seconds of a map phase on the CPU alone, at most; None: not known."""
    found = speeds.numbers(name, ("nbytes", "seconds")) if name else None
    if not found or not found[0]:
        return None
    return found[1] * max(1.0, nbytes / found[0])


def remember(name: str, nbytes: int, seconds: float) -> None:
    """Of a job whose map tasks the CPU has done all."""
    if name and nbytes:
        speeds.keep(name, {"nbytes": nbytes, "seconds": seconds})


def waking() -> float | None:
    """Seconds of a map phase before a GPU does tasks as fast as later ones; None: not known."""
    found = speeds.numbers(_machine(), ("waking",))
    return found[0] if found else None


def remember_waking(seconds: float) -> None:
    """As a job measured it. The least counts: beside map tasks on all processors a GPU wakes later."""
    known = waking()
    kept = speeds.least(seconds, known)
    if known is None or seconds < known or kept < seconds:
        speeds.keep(_machine(), {"waking": kept})


def _machine() -> str:
    return cache.key(["waking", os.uname().nodename])
