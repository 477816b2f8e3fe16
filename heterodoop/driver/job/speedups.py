"""S of bundles' last jobs on this node, kept over restarts of its driver: the next job begins with it (decision 0014).

Not here: the files (toolchain/speeds.py), what follows from S (scheduler/node).
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Protocol

from ...scheduler.node.model import Measured
from ...toolchain import speeds

SAVE_SECONDS = 10.0  # between two times that a program is written: every attempt changes S a little


class SpeedupSource(Protocol):
    """Who knows what jobs of programs measured: the node."""

    def knows(self, program: str) -> bool: ...

    def measured(self) -> dict[str, Measured]: ...

    def recall(self, program: str, speedup: float, age: float) -> None: ...


class Speedups:
    """gpus: the names of the node's GPUs; none: they are emulated, and nothing is kept. Any thread may use it."""

    def __init__(self, node: SpeedupSource, gpus: Sequence[str]) -> None:
        self._node, self._gpus = node, tuple(gpus)
        self._saved: dict[str, float] = {}  # program -> when it had been measured
        self._lock = Lock()

    def begin(self, program: str) -> None:
        """An attempt of this program is about to ask. `program`: its bundle's hash, "" = not known."""
        if program and self._gpus and not self._node.knows(program) and (found := speeds.recall(self._key(program))):
            self._node.recall(program, found.speedup, found.age)

    def save(self, *, every: bool = False) -> None:
        """Write what was measured since it was last written; `every`: no matter how short ago that was."""
        if not self._gpus:
            return
        with self._lock:
            measured = self._node.measured()
            for program, one in measured.items():
                if one.when - self._saved.get(program, float("-inf")) > (0.0 if every else SAVE_SECONDS):
                    self._saved[program] = one.when
                    speeds.remember(self._key(program), speeds.Speeds(one.speedup, one.gpu_seconds))
            self._saved = {program: when for program, when in self._saved.items() if program in measured}

    def _key(self, program: str) -> str:
        return speeds.key("hadoop", program.encode(), self._gpus)
