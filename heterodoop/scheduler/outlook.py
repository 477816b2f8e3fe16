"""How long each side of a job still needs, in times of a task on a CPU slot: what `tail` compares. Pure."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable

from .estimates import Estimates
from .running import FIRST_SECONDS, Running


def gpu_needs(
    estimates: Estimates, running: Running, size: Callable[[int], int], now: float, sessions: float, speedup: float | None,
    *, cold: bool = False,
) -> float | None:
    """What a GPU's session needs for a task; None: not known.

    Where every GPU task that runs has taken longer than was expected, that is how long they take.

    cold  they are the first ones, which may take as much longer as those of the program's last job did.
    """
    expected = sessions / speedup if speedup else None
    one = estimates.seconds("cpu", 1)
    first = estimates.remembered.first if cold and estimates.remembered else 0.0
    taken = [max(0.0, seconds - first) / max(nbytes, 1) for nbytes, seconds in running.on("gpu", size, now)]
    if not one or not taken:
        return expected
    least = min(taken) / one
    return max(expected, least) if expected is not None else least if least > 1 else None


def cpus_need(
    estimates: Estimates, running: Running, size: Callable[[int], int], now: float, slots: int, tasks: int, enough: float,
) -> float:
    """Until so many CPU slots would have done what they have and so many tasks more; `enough` where it is more than that."""
    one = estimates.seconds("cpu", 1)
    left = [abs(1 - seconds / (one * max(nbytes, 1))) if one else 1.0 for nbytes, seconds in running.on("cpu", size, now)]
    if enough <= 1 or (tasks + sum(left)) / slots >= enough:  # no end is sooner than the mean of all slots
        return enough
    ends = [*left, *([0.0] * (slots - len(left)))]
    heapq.heapify(ends)
    last = 0.0
    for _ in range(tasks):
        last = heapq.heappop(ends) + 1
        heapq.heappush(ends, last)
    return last


def wakes(estimates: Estimates, size: int, elapsed: float) -> float:
    """Until the GPUs of a job that began `elapsed` seconds ago are awake: as long as last time, in times of a CPU task of
    `size` bytes.

    They are expected to need as long again as they are late. Where nothing is known of either, they are waited for a while.
    """
    expected = estimates.remembered.wakes if estimates.remembered else 0.0
    one = estimates.seconds("cpu", size)
    if not one:
        return 0.0 if elapsed < FIRST_SECONDS else math.inf
    return abs(expected - elapsed) / one


def longer_at_first(estimates: Estimates, size: int) -> float:
    """What a GPU slot's first task needs more than later ones, in times of a CPU task of `size` bytes."""
    one = estimates.seconds("cpu", size)
    return estimates.remembered.first / one if estimates.remembered and one else 0.0
