"""Whose turn it is: leases that wait for a device, round robin by job. Pure.

A job that comes with a hundred attempts does not keep away one that comes with two. Not here: which device (devices.py).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator


class Line:
    """Leases by job, in the order in which jobs have their turn; a job's own first come, first served."""

    def __init__(self) -> None:
        self._waiting: dict[str, deque[int]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    def __iter__(self) -> Iterator[int]:
        return (lease for line in self._waiting.values() for lease in line)

    def add(self, job: str, lease: int) -> None:
        self._waiting.setdefault(job, deque()).append(lease)

    @property
    def first(self) -> int | None:
        """The lease that is next; None: nobody waits."""
        return next(iter(self._waiting.values()))[0] if self._waiting else None

    def has_its_turn(self, job: str, lease: int) -> None:
        """The lease has a device: the job's next one comes after all other jobs'."""
        self.leave(job, lease)
        if rest := self._waiting.pop(job, None):
            self._waiting[job] = rest

    def leave(self, job: str, lease: int) -> None:
        """It waits no longer."""
        line = self._waiting[job]
        line.remove(lease)
        if not line:
            del self._waiting[job]

    def ahead(self, job: str, lease: int) -> int:
        """How many come before: one of each other job per round, and of those jobs that come first in it one more."""
        place = self._waiting[job].index(lease)
        count, before = place, True
        for other, line in self._waiting.items():
            if other == job:
                before = False
            else:
                count += min(len(line), place + before)
        return count
