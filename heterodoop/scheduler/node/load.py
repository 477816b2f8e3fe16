"""What a node's GPUs have to do, how long that takes, and which of it a container would have done sooner. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from ..policies import ROUNDING
from .job import Job, Remembered
from .lease import Lease
from .on_gpu import ends


class Load:
    """Attempts that run on the GPUs or are to. gpus: those that are in service; now: set by the machine before it asks.

    remembered  S of the last job of a job's program; None: not known.
    """

    def __init__(self, gpus: int, remembered: Remembered) -> None:
        self.gpus = gpus
        self.now = 0.0
        self.running = 0
        self._leases: dict[int, Lease] = {}  # oldest first
        self._remembered = remembered

    def __len__(self) -> int:
        return len(self._leases)

    def __contains__(self, lease: Lease) -> bool:
        return lease.number in self._leases

    def add(self, lease: Lease) -> None:
        self._leases[lease.number] = lease

    def start(self, lease: Lease) -> None:
        self.running += 1
        lease.on_gpu.shared, lease.on_gpu.started = self.running, self.now

    def remove(self, lease: Lease) -> None:
        if self._leases.pop(lease.number, None):
            self.running -= lease.on_gpu.shared > 0
            lease.on_gpu.shared = 0

    def free_in_tasks(self, job: Job) -> list[float]:
        """When each GPU is done with what it has, in tasks of the job, as large as the last one that asked; one of which
        nothing is known counts as a whole one."""
        one = job.seconds("gpu", job.nbytes, self._remembered)
        if not one:
            return ends([1.0] * len(self), self.gpus)
        return ends([left / one if left is not None else 1.0 for left in self._lefts(self._in_turn())], self.gpus)

    def share(self, lease: Lease) -> float:
        """Attempts that a GPU has at a time while it has this one. They take longer each, and the GPU is no slower."""
        shared = lease.on_gpu.shared
        return max(1.0, (shared + self.running) / 2 / self.gpus) if shared and self.gpus else 1.0

    def overtaken(self, lease: Lease) -> bool:
        """Whether it would be done sooner in its container from now on. The job's later attempts are told so by S."""
        cpu = lease.job.seconds("cpu", lease.nbytes, self._remembered)
        if cpu is None:
            return False
        self._compare(lease, cpu)
        needs = self._until(lease)
        if needs is None or needs <= cpu + ROUNDING:
            return False
        if lease.on_gpu.shared and lease.on_gpu.whole() is None:
            self._late(lease, needs)
        return True

    def _in_turn(self) -> list[Lease]:
        """Attempts on GPUs, then those that wait for one, oldest first."""
        every = self._leases.values()
        if self.running == len(every):
            return list(every)
        return [*(one for one in every if one.on_gpu.shared), *(one for one in every if not one.on_gpu.shared)]

    def _left(self, lease: Lease) -> float | None:
        """Seconds of a GPU that the attempt still needs; None: not known. One that shares its GPU needs its share."""
        on_gpu, share = lease.on_gpu, self.share(lease)
        left = on_gpu.known_left(self.now)
        if left is None:
            needs = lease.job.seconds("gpu", lease.nbytes, self._remembered)
            left = on_gpu.left(needs * share if needs else None, self.now)
        return left / share if left is not None else None

    def _lefts(self, leases: Iterable[Lease]) -> list[float | None]:
        """`_left` of each. It is the same for all that wait of one job and size, and many may."""
        waiting: dict[tuple[Job, int], float | None] = {}
        found = []
        for lease in leases:
            kind = lease.job, lease.nbytes
            if lease.on_gpu.shared:
                found.append(self._left(lease))
            else:
                if kind not in waiting:
                    waiting[kind] = self._left(lease)
                found.append(waiting[kind])
        return found

    def _until(self, lease: Lease) -> float | None:
        """Seconds until the attempt's end on a GPU; None: not known."""
        own = self._left(lease)
        if own is None or not self.gpus:
            return None
        if lease.on_gpu.shared:
            return own * self.share(lease)
        before = self._in_turn()
        needs = self._lefts(before[:before.index(lease)])
        return min(ends([one for one in needs if one is not None], self.gpus)) + own

    def _late(self, lease: Lease, needs: float) -> None:
        """An attempt that is taken back before its rate is known is one of several that say how slow a GPU is. Those that
        began with it say nothing more: they wait for the same kernels."""
        job, started = lease.job, lease.on_gpu.started
        if started >= job.taken_back:
            job.taken_back = self.now
            job.estimates.finished("gpu", lease.nbytes, (self.now - started + needs) / self.share(lease))

    def _compare(self, lease: Lease, cpu: float) -> None:
        """A first attempt's rate is enough to see that a GPU is slower."""
        if (whole := lease.on_gpu.whole()) is not None:
            seconds = whole / self.share(lease)
            lease.job.estimates.slow = seconds / lease.nbytes if seconds > cpu else None
