"""Whose turn it is: attempts that wait for a device, round robin by job, at most so many.

A job that comes with a hundred attempts does not keep away one that comes with two. Not here: which device (device_pool.py).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition

_TICK_SECONDS = 0.1


class Full(Exception):
    """As many wait as may."""


class Ticket:
    """A place in the queue."""

    def __init__(self, job: str) -> None:
        self.job = job


class FairQueue:
    """Any thread may use it.

    slots  how many may run at a time, now. Where nobody can ever have a turn it raises, and so does each that waits.
    """

    def __init__(self, slots: Callable[[], int], limit: int) -> None:
        self._slots = slots
        self._limit = limit
        self._waiting: dict[str, deque[Ticket]] = {}  # in the order in which jobs have their turn
        self._running = 0
        self._changed = Condition()

    @property
    def waiting(self) -> int:
        return sum(map(len, self._waiting.values()))

    @property
    def running(self) -> int:
        return self._running

    @property
    def full(self) -> bool:
        return self.waiting >= self._limit

    @contextmanager
    def turn(self, job: str, waits: Callable[[int], None]) -> Iterator[None]:
        """Wait for the job's turn, and keep it until the block ends.

        waits  is called meanwhile with the number of those that come before; it may raise, which gives the place up.
        Raises Full; what `slots` raises.
        """
        ticket = Ticket(job)
        with self._changed:
            if self.waiting >= self._limit:
                raise Full
            self._waiting.setdefault(job, deque()).append(ticket)
            try:
                while self._running >= self._slots() or self._ahead(ticket):
                    waits(self._ahead(ticket))
                    self._changed.wait(_TICK_SECONDS)
            except BaseException:
                self._drop(ticket)
                raise
            self._drop(ticket)
            if rest := self._waiting.pop(job, None):  # the job's next turn comes after all others'
                self._waiting[job] = rest
            self._running += 1
        try:
            yield
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()

    def _drop(self, ticket: Ticket) -> None:
        line = self._waiting[ticket.job]
        line.remove(ticket)
        if not line:
            del self._waiting[ticket.job]
        self._changed.notify_all()

    def _ahead(self, ticket: Ticket) -> int:
        """How many come before: one of each other job per round, and of those jobs that come first in it one more."""
        place = self._waiting[ticket.job].index(ticket)
        count = place
        before = True
        for job, line in self._waiting.items():
            if job == ticket.job:
                before = False
            else:
                count += min(len(line), place + before)
        return count
