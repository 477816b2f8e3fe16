"""The slots of this machine: one thread each, which runs one attempt at a time and tells how it ended.

A thread does little itself: native code, outside Python's lock, feeds the filter and collects. It lives as long as
the job, because the kernel kills a filter when the thread that started it ends.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from queue import SimpleQueue
from threading import Lock, Thread
from typing import NamedTuple

from ...executor.native.runtime import Progress
from ...executor.task.report import AttemptResult
from ...scheduler.model import Attempt, Slot

CLOSE_SECONDS = 1.5


class AttemptEnd(NamedTuple):
    """`result` is an exception only for a bug in an executor. Times are seconds since the epoch, and of wall clock."""

    attempt: Attempt
    result: AttemptResult | Exception
    started: float
    seconds: float


class Silence:
    """For how long attempts have made no progress."""

    def __init__(self) -> None:
        self._seen: dict[Attempt, tuple[object, float]] = {}

    def of(self, attempt: Attempt, progress: Progress) -> float:
        """Seconds since what `progress` says of a running attempt was another thing."""
        now = time.monotonic()
        state = progress.phase, progress.bytes_in, progress.records_in, progress.pairs_out, progress.bytes_out
        seen, since = self._seen.get(attempt, (None, now))
        if seen != state:
            since = now
        self._seen[attempt] = state, since
        return now - since


Runner = Callable[[Attempt, Progress], AttemptResult]


class SlotPool:
    """Runs attempts; puts an AttemptEnd into `events` for each, in the order they end."""

    def __init__(self, slots: tuple[Slot, ...], run: Runner, events: SimpleQueue[object]) -> None:
        self._run = run
        self._events = events
        self._work: SimpleQueue[tuple[Attempt, Progress] | None] = SimpleQueue()
        self._running: dict[Attempt, Progress] = {}
        self._lock = Lock()
        names = [f"heterodoop-slot-{slot.number}" for slot in slots]
        self._threads = [Thread(target=self._serve, name=name, daemon=True) for name in names]
        for thread in self._threads:
            thread.start()

    def launch(self, attempt: Attempt) -> None:
        """Start an attempt; the caller never has more of them than there are slots."""
        progress = Progress()
        with self._lock:
            self._running[attempt] = progress
        self._work.put((attempt, progress))

    def kill(self, attempt: Attempt) -> None:
        """Ask an attempt to stop; its AttemptEnd comes as for any other."""
        with self._lock:
            if attempt in self._running:
                self._running[attempt].cancel()

    def running(self) -> list[tuple[Attempt, Progress]]:
        with self._lock:
            return list(self._running.items())

    def close(self) -> None:
        """Stop everything and wait for the threads, but not for one that hangs in the kernel (a dead network mount)."""
        for attempt, _ in self.running():
            self.kill(attempt)
        for _ in self._threads:
            self._work.put(None)
        end = time.monotonic() + CLOSE_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))

    def _serve(self) -> None:
        while (item := self._work.get()) is not None:
            attempt, progress = item
            started, clock = time.time(), time.monotonic()
            try:
                result: AttemptResult | Exception = self._run(attempt, progress)
            except Exception as error:  # carried to the main thread, which raises it
                result = error
            with self._lock:
                del self._running[attempt]
            self._events.put(AttemptEnd(attempt, result, started, time.monotonic() - clock))
