"""Watching a task in a worker process: one that makes no progress hangs, and one that was told to stop does so soon.

Not here: what follows from it (client.py).
"""

from __future__ import annotations

import select
import time
from collections.abc import Callable

from ..native.runtime import Phase, Progress
from .process import SessionChannel

CANCEL_SECONDS = 1.0  # that a task told to stop may still run: no kernel can be stopped in the middle
_TICK_SECONDS = 0.1
_WAITING = 3  # times the limit, for a task without progress while the GPU's other tasks go on
# Phases in which the user's own programs or the disk set the pace: nobody can say what is too long.
_UNLIMITED = (Phase.COMBINE, Phase.FINISH)


class Stopped(Exception):
    """The task was told to stop."""

    @staticmethod
    def check(progress: Progress) -> Callable[[], None]:
        def check() -> None:
            if progress.cancelled:
                raise Stopped

        return check


class Hung(Exception):
    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds


class Watch:
    """Waits for the end of a task, but not for one that makes no progress or does not stop.

    others  what the GPU's other sessions have done: a task that waits for their kernels does not hang, up to a point.
    """

    def __init__(self, progress: Progress, limit: float, others: Callable[[], object]) -> None:
        self._progress = progress
        self._limit = limit
        self._others = others
        self._seen: object = None
        self._others_seen: object = None
        self._since = self._others_since = time.monotonic()
        self._stop: float | None = None

    def wait(self, session: SessionChannel) -> None:
        """Returns when there is something to receive. Raises Hung, Stopped."""
        poll = select.poll()
        poll.register(session.channel.socket, select.POLLIN)
        while not poll.poll(_TICK_SECONDS * 1000):
            self._look(time.monotonic())

    def _look(self, now: float) -> None:
        seen = self._progress
        if seen.cancelled:
            self._stop = self._stop or now
            if now - self._stop > CANCEL_SECONDS:
                raise Stopped
        state = seen.phase, seen.bytes_in, seen.records_in, seen.pairs_out, seen.bytes_out
        if state != self._seen or seen.phase in _UNLIMITED:
            self._seen, self._since = state, now
        others = self._others()
        if others != self._others_seen:
            self._others_seen, self._others_since = others, now
        limit = self._limit if now - self._others_since > self._limit else self._limit * _WAITING
        if now - self._since > limit:
            raise Hung(now - self._since)
