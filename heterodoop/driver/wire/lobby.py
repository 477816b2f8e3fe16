"""Connections that have not yet said what they want, or who they are: so many at a time, and the oldest goes for the newest.

One who means it needs milliseconds here, so that he is not among the oldest; one who is silent or slow is. Not here: how
long each may take (server.py), proofs (place.py).
"""

from __future__ import annotations

from threading import Lock

from .protocol import Stream


class Lobby:
    """Any thread may use it."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._waiting: dict[Stream, None] = {}  # the oldest first
        self._lock = Lock()

    def enter(self, stream: Stream) -> bool:
        """Whether another one had to go for it; its thread sees a closed connection."""
        with self._lock:
            crowded = len(self._waiting) >= self._limit
            if crowded:
                oldest = next(iter(self._waiting))
                del self._waiting[oldest]
                oldest.shut()
            self._waiting[stream] = None
            return crowded

    def leave(self, stream: Stream) -> None:
        """It has said what was waited for, or is over."""
        with self._lock:
            self._waiting.pop(stream, None)
