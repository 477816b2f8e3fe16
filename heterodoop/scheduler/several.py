"""Map tasks that a slot does several of in one: how many, and when they are better done singly. Pure.

A GPU is done with a task in milliseconds, and each costs it a launch sequence and the reducers a segment. So a slot takes
neighbours as one attempt; fewer of them as less is left (guided self-scheduling), so that all slots end together. A CPU
slot does so with small files: a process for each takes longer than its work.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import NamedTuple

from .estimates import Estimates
from .model import Attempt

SECONDS = 0.25  # that such an attempt is expected to take at most: in tasks that are longer the start is nothing

LEAST = 256 << 10  # bytes of small files that a CPU slot does in less time than it starts a process


def alone(number: int) -> bool:
    """No split follows another one."""
    return False


class Several(NamedTuple):
    """What an attempt of several splits may be.

    most     splits; 1: there is none.
    nbytes   of input together, at most; 0: any.
    follows  whether a map task's split begins where that of the task before ends, in the same file.
    """

    most: int = 1
    nbytes: int = 0
    follows: Callable[[int], bool] = alone


SINGLY = Several()


class Small(NamedTuple):
    """What an attempt of a CPU slot may be that does several tasks: whole files that are small.

    nbytes  of input together, at most; 0: there is none.
    joins   whether a map task's split may be in one with that of the task before.
    """

    nbytes: int = 0
    joins: Callable[[int], bool] = alone


NO_SMALL = Small()


def small_files(first: int, small: Small, wanted: float, tasks: int, size: Callable[[int], int]) -> int:
    """How many tasks, of `tasks` in all, a CPU slot takes from `first` on: those that are allowed and wanted, or LEAST."""
    count, nbytes = 1, size(first)
    while first + count < tasks and small.joins(first + count):
        nbytes += size(first + count)
        if nbytes > small.nbytes or (count + 1 > wanted and nbytes > LEAST):
            break
        count += 1
    return count


def fair(left: int, gpus: int, sessions: float, cpus: int, speedup: float | None) -> float:
    """Tasks that a GPU slot does in half of the time that all slots together need for those that are left.

    cpus     CPU slots that take map tasks. speedup: S; None: not known, and a slot gets one task.
    One task also where a slot of a GPU is no faster than a CPU slot: it has nothing to gain. Where there are GPU slots only
    each gets its share: those of a GPU that end first leave it to the others.
    """
    slots = gpus * sessions
    if not cpus:
        return left / slots
    one = speedup / sessions if speedup else 0.0
    return left * one / (2 * (one * slots + cpus)) if one > 1 else 1.0


def at_least(on_cpus: Iterable[tuple[int, float]], estimates: Estimates) -> float:
    """How often a GPU slot does a task while a CPU slot does one, at least, by tasks that CPU slots have not ended.

    on_cpus  (bytes, seconds since it began) of each. 0: nothing is known.
    """
    one = estimates.seconds("gpu", 1)
    return max((seconds / max(nbytes, 1) for nbytes, seconds in on_cpus), default=0.0) / one if one else 0.0


def splits(
    first: int, several: Several, wanted: float, tasks: int, size: Callable[[int], int], estimates: Estimates,
) -> int:
    """How many tasks, of `tasks` in all, a GPU slot takes from `first` on: the neighbours that are wanted and allowed."""
    count, nbytes = 1, size(first)
    while count + 1 <= min(wanted, several.most) and first + count < tasks and several.follows(first + count):
        nbytes += size(first + count)
        seconds = estimates.seconds("gpu", nbytes)
        if seconds is None or seconds > SECONDS or nbytes > several.nbytes > 0:
            break
        count += 1
    return count


def size_of(attempt: Attempt, size: Callable[[int], int]) -> int:
    """Bytes of all that it does."""
    return sum(map(size, attempt.numbers))


def left(attempt: Attempt, elapsed: float, size: Callable[[int], int], estimates: Estimates) -> int:
    """How many of its tasks an attempt of a GPU slot that began `elapsed` seconds ago still has to do, as is expected."""
    seconds = estimates.seconds("gpu", size_of(attempt, size)) if attempt.splits > 1 else None
    return max(1, math.ceil(attempt.splits * (1 - elapsed / seconds))) if seconds else attempt.splits


def late(
    running: Iterable[tuple[Attempt, float]], idle: int, size: Callable[[int], int], estimates: Estimates,
) -> Attempt | None:
    """Of attempts of several splits (and the seconds since each began) the one whose tasks so many idle CPU slots would do
    from their start before it ends, by the most; None: they would of none."""
    gains = [(gain, attempt) for attempt, elapsed in running
             if (gain := _gain(attempt, elapsed, idle, size, estimates)) > 0]
    return max(gains)[1] if gains else None


def _gain(attempt: Attempt, elapsed: float, idle: int, size: Callable[[int], int], estimates: Estimates) -> float:
    """Seconds. One that is late by some time is expected to need as long again (running.py)."""
    nbytes = size_of(attempt, size)
    on_gpu, on_cpu = (estimates.seconds(kind, nbytes) for kind in ("gpu", "cpu"))
    if on_gpu is None or on_cpu is None:
        return 0.0
    return abs(on_gpu - elapsed) - math.ceil(attempt.splits / idle) * on_cpu / attempt.splits
