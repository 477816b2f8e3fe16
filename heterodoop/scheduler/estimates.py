"""How long a map task takes on each kind of slot, from those that finished. Pure: seconds and bytes are handed in.

Seconds count per byte of the split, and a slot's time is what its tasks took on it, whatever they did there: a task that
the GPU left to the CPU counts as the time of a GPU slot, since the next one may be left too. What a GPU slot did first
counts as long as there is nothing better: it may have loaded kernels, or waited until a first result was checked.

Where GPUs are so fast that they overtake every task of the CPU slots, none of those finishes. How long they had run by
then is less than they would have taken, and so gives an S that is too low, but not too high: better than none.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from statistics import median
from typing import NamedTuple

from .model import SlotKind

SAMPLES = 3  # of each kind, before anything is built on them
WINDOW = 16  # the last finished tasks of a kind that count: a GPU can fail, and its tasks are the CPU's then


class Sample(NamedTuple):
    """A finished map task: bytes of its split, seconds on its slot."""

    size: int
    seconds: float


class Total(NamedTuple):
    """Of several samples."""

    tasks: int
    size: int
    seconds: float

    @property
    def rate(self) -> float:
        """Seconds per byte."""
        return self.seconds / self.size


def _total(*samples: Iterable[Sample]) -> Total:
    found = [sample for some in samples for sample in some]
    return Total(len(found), sum(s.size for s in found), sum(s.seconds for s in found))


class Remembered(NamedTuple):
    """What an earlier job of the same program measured.

    speedup   S.  cpu, gpu: seconds of a slot per byte, None: not kept.
    wakes     seconds until the first GPU slot opened.  first: seconds that a GPU slot's first task took longer than others.
    """

    speedup: float
    cpu: float | None = None
    gpu: float | None = None
    wakes: float = 0.0
    first: float = 0.0

    def seconds(self, kind: SlotKind, size: int) -> float | None:
        """Of a task of `size` bytes; None: not kept."""
        one = self.cpu if kind == "cpu" else self.gpu
        return None if one is None else one * max(size, 1)


class Estimates:
    """The last finished map tasks of each kind of slot, and what follows from them for the next.

    remembered  of an earlier job: S counts until there are SAMPLES of each kind, seconds until one of theirs has finished.
    wakes       seconds from the job's start until its first GPU slot opened; 0: none has, or all were open.
    slow        seconds per byte of a GPU whose first task goes on and will take longer than a CPU slot's; None: none does.
    """

    def __init__(self, remembered: Remembered | None = None) -> None:
        self.remembered = remembered
        self.wakes = 0.0
        self.slow: float | None = None
        self._samples: dict[SlotKind, deque[Sample]] = {"cpu": deque(maxlen=WINDOW), "gpu": deque(maxlen=WINDOW)}
        self._first: deque[Sample] = deque(maxlen=WINDOW)  # of GPU slots
        self._overtaken: deque[Sample] = deque(maxlen=WINDOW)  # of CPU slots
        # Both are asked for more often than they change.
        self._totals: dict[SlotKind, Total] = {}  # of the samples that count
        self._measured: dict[tuple[float, float | None, float | None], float | None] = {}

    def finished(self, kind: SlotKind, size: int, seconds: float, *, first: bool = False) -> None:
        """Note a map task of `size` bytes that succeeded on a slot of this kind; `first`: the first one there."""
        samples = self._first if first and kind == "gpu" else self._samples[kind]
        samples.append(Sample(max(size, 1), max(seconds, 0.0)))
        self._totals.pop(kind, None)
        self._measured.clear()

    def overtaken(self, size: int, seconds: float) -> None:
        """Note a map task of `size` bytes that a CPU slot had for so long when a GPU finished it."""
        self._overtaken.append(Sample(max(size, 1), max(seconds, 0.0)))
        self._measured.clear()

    def count(self, kind: SlotKind) -> int:
        """Finished tasks that count."""
        return self._total(kind).tasks

    def seconds(self, kind: SlotKind, size: int) -> float | None:
        """What a task of `size` bytes is expected to take; None where none of the kind has finished, now or earlier."""
        total = self._total(kind)
        if not total.tasks:
            return self.remembered.seconds(kind, size) if self.remembered else None
        return max(size, 1) * total.seconds / total.size

    def speedup(self, sessions: float = 1.0) -> float | None:
        """S of the policies: tasks that one GPU finishes while a CPU slot finishes one; None: nothing is known.

        sessions  GPU slots per GPU. They share it, so a GPU's rate is sessions / (seconds of a task on such a slot), and
                  S = sessions * CPU seconds / GPU seconds. G * S is then the same for one slot per GPU as for several.
        """
        measured = self.measured(sessions)
        return self._known if measured is None else measured

    def measured(self, sessions: float = 1.0) -> float | None:
        """`speedup` of this job's own tasks; None before SAMPLES of each kind, or where it is more by what is remembered.

        That a GPU is slower is seen by its first task's rate. That it is faster is seen when some have ended.
        """
        known = self.remembered
        asked = sessions, self.slow, known.speedup if known else None
        try:
            return self._measured[asked]
        except KeyError:
            found = self._measured[asked] = self._measure(sessions)
            return found

    def _measure(self, sessions: float) -> float | None:
        cpu, gpu = self._total("cpu"), self._total("gpu")
        if min(cpu.tasks, gpu.tasks) >= SAMPLES:
            return sessions * _ratio(cpu, gpu) or None
        if self.slow and cpu.tasks and gpu.tasks < SAMPLES:
            return cpu.rate / self.slow or None
        if min(len(self._overtaken), gpu.tasks) < SAMPLES:
            return None
        least = sessions * _ratio(_total(self._samples["cpu"], self._overtaken), gpu)
        return least if least > (self._known or 0.0) else None

    def to_remember(self, sessions: float = 1.0) -> Remembered | None:
        """What the program's next job should begin with; None: this one measured too little."""
        speedup, gpu = self.measured(sessions), self.seconds("gpu", 1)
        if not speedup or not gpu:
            return None
        return Remembered(speedup, speedup * gpu / sessions, gpu, self.wakes, self._longer_at_first(gpu))

    def _longer_at_first(self, gpu: float) -> float:
        """Seconds that first tasks of GPU slots took longer than at `gpu` seconds per byte, by their median."""
        return max(0.0, median(s.seconds - gpu * s.size for s in self._first)) if self._first else 0.0

    @property
    def _known(self) -> float | None:
        return self.remembered.speedup if self.remembered else None

    def _total(self, kind: SlotKind) -> Total:
        """Of the samples that count."""
        total = self._totals.get(kind)
        if total is None:
            samples = self._samples[kind]
            first = self._first if kind == "gpu" and len(samples) < SAMPLES else ()
            total = self._totals[kind] = _total(first, samples)
        return total


def _ratio(cpu: Total, gpu: Total) -> float:
    """Seconds per byte of the one against the other's; 0: the clock was too coarse to tell."""
    fast = gpu.rate
    return cpu.rate / fast if fast else 0.0
