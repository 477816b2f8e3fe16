"""What a driver's tasks did since it began, in sums: seconds by stage, bytes, and why attempts had to run on the CPU.

A reason is told by a word of a small set, the code of the error index where there is one: sums by whole sentences, which
name files, would grow without end. Not here: what is done with the sums (metrics.py), the log (daemon/log.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from threading import Lock

from ..scheduler.node.machine import BUSY, CPU_POLICY, FULL, HOST_BUSY, STOPPING
from ..scheduler.node.model import Why
from .pulse import SLOWER

OTHER = "other"
_WORDS = {STOPPING: "stopping", FULL: "queue-full", BUSY: "busy", HOST_BUSY: "busy", CPU_POLICY: "policy", SLOWER: "slower"}
_OVERLAPS = frozenset({"total", "gpu"})  # seconds of all stages of a task


class Tally:
    """See the module. Any thread may use it."""

    def __init__(self) -> None:
        self._declined: Counter[str] = Counter()
        self._seconds: Counter[str] = Counter()
        self._bytes: Counter[str] = Counter()
        self._lock = Lock()

    def declined(self, why: Why) -> None:
        """An attempt has no device."""
        with self._lock:
            self._declined[word(why)] += 1

    def done(self, seconds: Mapping[str, float], nbytes: Mapping[str, int]) -> None:
        """A device's result has reached its task. seconds: by stage; nbytes: by where from or to ("in", "out")."""
        with self._lock:
            for stage, spent in seconds.items():
                if spent and stage not in _OVERLAPS:
                    self._seconds[stage] += spent  # type: ignore[assignment]  # a Counter's sums are numbers of any kind
            self._bytes.update(nbytes)

    def status(self) -> dict[str, dict[str, float]]:
        """For `driver status`."""
        with self._lock:
            return {"declined": dict(self._declined), "seconds": dict(self._seconds), "bytes": dict(self._bytes)}


def word(why: Why) -> str:
    """The reason in a word."""
    return _WORDS.get(why) or why.code or OTHER
