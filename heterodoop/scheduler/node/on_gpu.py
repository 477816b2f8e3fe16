"""How long attempts that a node's GPUs have still need, from the clock and from how much of their split is done. Pure.

Under Hadoop nothing runs a second time, but the container of an attempt that is on a GPU has a processor to itself: what
would be sooner there from the beginning is taken back from the GPU.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from ..running import FIRST_SECONDS


class OnGpu:
    """One attempt. `shared`: GPU attempts that ran when this one started, itself included; 0: it waits for a GPU.

    A fraction counts from the second one on: what comes before the first is mostly the start of a kernel.
    """

    __slots__ = ("first", "last", "shared", "started")

    def __init__(self) -> None:
        self.shared = 0
        self.started = 0.0
        self.first: tuple[float, float] | None = None  # when, fraction
        self.last: tuple[float, float] | None = None

    def advance(self, fraction: float, now: float) -> None:
        """So much of it is done, 0 to 1."""
        if not 0 < fraction <= 1:
            return
        if self.first is None:
            self.first = self.last = now, fraction
        elif self.last is not None and fraction > self.last[1] and now > self.first[0]:
            self.last = now, fraction

    def whole(self) -> float | None:
        """Seconds that all of it takes at the rate at which it advances; None: not known."""
        if self.first is None or self.last is None or self.last[1] <= self.first[1]:
            return None
        return (self.last[0] - self.first[0]) / (self.last[1] - self.first[1])

    def known_left(self, now: float) -> float | None:
        """Seconds that it still needs at the rate at which it advances; None: not known.

        One that is late by some time is expected to need as long again, as in the embedded engine (running.py).
        """
        if not self.shared or self.last is None or (whole := self.whole()) is None:
            return None
        return abs((1 - self.last[1]) * whole - (now - self.last[0]))

    def left(self, expected: float | None, now: float) -> float | None:
        """Seconds that it still needs, also where its rate is not known; None: not known. `expected`: what it was expected
        to take; None: not known."""
        if not self.shared:
            return expected
        if (known := self.known_left(now)) is not None:
            return known
        elapsed = now - self.started
        if expected is not None:
            return abs(expected - elapsed)
        return elapsed if elapsed > FIRST_SECONDS else None


def ends(needs: Iterable[float], gpus: int) -> list[float]:
    """When each of so many GPUs is done with attempts that need so long, each on the GPU that is free first."""
    free = [0.0] * gpus
    for one in needs if gpus else ():
        heapq.heapreplace(free, free[0] + one)
    return free
