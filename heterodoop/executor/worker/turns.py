"""Tasks of one worker: any number side by side, or one alone.

After a fault nobody knows whose it was where several tasks ran. So each of them runs again alone, and one that fails then is
the one to blame. Not here: what a fault is (client.py), what follows from it (gpu_task.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition

_TICK_SECONDS = 0.1


class Turns:
    """Any thread may use it. Who wants to be alone comes before all that have not begun yet."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._running = 0
        self._waiting_alone = 0
        self._alone = False

    @contextmanager
    def side_by_side(self, check: Callable[[], None]) -> Iterator[None]:
        """`check` is called while this waits, and may raise."""
        with self._changed:
            self._wait(lambda: not self._alone and not self._waiting_alone, check)
            self._running += 1
        try:
            yield
        finally:
            self._end()

    @contextmanager
    def alone(self, check: Callable[[], None]) -> Iterator[None]:
        """As `side_by_side`, when no other one runs, and until the block ends no other one begins."""
        with self._changed:
            self._waiting_alone += 1
            try:
                self._wait(lambda: not self._running, check)
                self._alone = True
                self._running = 1
            finally:
                self._waiting_alone -= 1
                self._changed.notify_all()
        try:
            yield
        finally:
            self._alone = False
            self._end()

    def _end(self) -> None:
        with self._changed:
            self._running -= 1
            self._changed.notify_all()

    def _wait(self, ready: Callable[[], bool], check: Callable[[], None]) -> None:
        while not ready():
            check()
            self._changed.wait(_TICK_SECONDS)
