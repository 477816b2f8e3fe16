"""What a node knows of one job: its decided tasks, how long tasks take, and so what a policy may look at. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ..estimates import SAMPLES, Estimates
from ..model import SlotKind
from ..policies import ROUNDING, View
from .model import JobReport, Knowledge, Why

MIB = 1 << 20
Remembered = Callable[["Job"], float | None]  # S of the last job of a job's program; None: not known


class Job:
    """decided    task id -> attempts of it that live or have given a result.
    nbytes     of the split of the attempt that asked last.
    why        why none of its attempts gets a GPU.  no_host: why none gets a host kernel.
    estimates  from this node's own attempts; seconds of one that has a GPU for itself.
    """

    def __init__(self) -> None:
        self.program = ""
        self.total = 0
        self.live = 0
        self.nbytes = MIB
        self.decided: dict[str, int] = {}
        self.knowledge: Knowledge | None = None
        self.why = Why()
        self.no_host = Why()
        self.estimates = Estimates()
        self.used: set[int] = set()  # devices that have done a task of it
        self.taken_back = -math.inf  # when an attempt last was whose rate was not known

    def enter(self, task: str) -> None:
        self.decided[task] = self.decided.get(task, 0) + 1
        self.live += 1

    def leave(self, task: str) -> None:
        """An attempt of `task` ended without a result."""
        self.live -= 1
        self.decided[task] -= 1
        if not self.decided[task]:
            del self.decided[task]

    def finished(self, kind: SlotKind, nbytes: int, seconds: float, device: int | None) -> None:
        """An attempt is done; `device`: where."""
        first = device is not None and device not in self.used
        if device is not None:
            self.used.add(device)
        self.estimates.finished(kind, nbytes, seconds, first=first)

    def known_speedup(self, remembered: Remembered) -> float | None:
        """S by the best source."""
        return self.estimates.measured() or remembered(self)

    def seconds(self, kind: SlotKind, nbytes: int, remembered: Remembered) -> float | None:
        """Of a task of so many bytes on this kind; None: not known. From one attempt on; but the first on a GPU may have
        loaded kernels, and says something only of a program whose S is known. Where there is none, from the other kind's
        and S."""
        found = self.estimates.seconds(kind, nbytes)
        if found and kind == "cpu":
            return found
        speedup = self.known_speedup(remembered)
        if found and speedup:
            return found
        other = self.estimates.seconds("gpu" if kind == "cpu" else "cpu", nbytes)
        if not speedup or not other:
            return None
        return other * speedup if kind == "cpu" else other / speedup

    def view(self, task: str, gpus: int, busy: int, remembered: Remembered, free: Sequence[float]) -> View:
        """`free`: when each GPU has done what it has, in tasks of a GPU."""
        known = self.knowledge or Knowledge()
        left = self.total - (len(self.decided) - (task in self.decided)) - known.decided_elsewhere
        if known.total is not None and known.completed is not None:
            left = min(left, known.total - known.completed)
        view = View(max(1, left), gpus, busy, self.known_speedup(remembered), max(1, known.nodes))
        if not view.speedup or not free:
            return view
        # An attempt that gets no GPU has its container's processor at once: one t_cpu, whatever the other slots do.
        return view._replace(cpus_need=1.0, gpu_needs=1 / view.speedup, room=room_of(free, view.speedup))

    def report(self) -> JobReport:
        cpu, gpu = (self.estimates.seconds(kind, MIB) if self.estimates.count(kind) >= SAMPLES else None
                    for kind in ("cpu", "gpu"))
        return JobReport(frozenset(self.decided), self.total, self.live, self.estimates.measured(), cpu, gpu)


def of_yarn(total: int, completed: int, pending: int | None, nodes: int, decided: int) -> Knowledge:
    """What a node concludes of a job that has decided on so many of its tasks and hears nothing of other nodes.

    total, completed, pending  mapsTotal, mapsCompleted and mapsPending of the ApplicationMaster; None: it does not say.

    Tasks that have a container are taken for decided: more than are, since a JVM takes seconds to start, so R may be too
    small by those. A task is forced only where the GPUs are expected to have it done before a CPU slot would, so that costs
    little. Where the ApplicationMaster hides that count, only this node's decisions count.
    """
    elsewhere = max(0, total - pending - decided) if nodes > 1 and pending is not None else 0
    return Knowledge(total, completed, elsewhere, nodes)


def room_of(free: Sequence[float], speedup: float) -> int:
    """Tasks that GPUs would have done until a container would have done one. `free`: when each has done what it has, in
    tasks of a GPU."""
    return sum(math.floor(max(0.0, speedup - end) + ROUNDING) for end in free)
