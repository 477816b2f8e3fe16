"""SIGINT, SIGTERM and SIGHUP while a job runs: the first one ends the job in order, more of them change nothing.

The handler only notes the signal and wakes the main loop, so that it can strike at any instruction, in the middle of
the clean-up too, without harm.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType, TracebackType
from typing import Any, NamedTuple

from ...errors import Interrupted

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopRequest(NamedTuple):
    """Put into the job's events by the first signal."""

    reason: str


def _nobody(request: StopRequest) -> None:
    """Who only asks with `check` needs no waking."""


class StopSignals:
    """A `with` block in which the signals do not end the process. Does nothing outside the main thread.

    Of one block in another, the inner begins with the signal that the outer one noted, and hands on what it notes itself.
    """

    def __init__(self, wake: Callable[[StopRequest], None] = _nobody) -> None:
        self._wake = wake
        self._old: dict[signal.Signals, Any] = {}
        self.request: StopRequest | None = None

    def __enter__(self) -> StopSignals:
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                if signal.getsignal(number) is not signal.SIG_IGN:  # under nohup SIGHUP stays ignored
                    self._old[number] = signal.signal(number, self._handle)
        for outer in self._outer():
            self.request = self.request or outer.request
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        for number, handler in self._old.items():
            signal.signal(number, handler)
        for outer in self._outer():
            outer.request = outer.request or self.request

    def _outer(self) -> Iterator[StopSignals]:
        """The block around this one, once for each signal that it handled."""
        for handler in self._old.values():
            owner = getattr(handler, "__self__", None)
            if isinstance(owner, StopSignals):
                yield owner

    def check(self) -> None:
        """Raises Interrupted if a signal has come; for the phases without a main loop."""
        if self.request:
            raise Interrupted(self.request.reason)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.request is None:
            self.request = StopRequest(f"interrupted by {signal.Signals(number).name}; what the job had made is removed")
            self._wake(self.request)
