"""Host kernels for map attempts: how many at a time, what they did, and the run of one.

A host kernel is a program of the bundle that does the work of the map filter, and of the combiner where that folds
(executor/kernel/host_kernel.py). What it leaves, and where it fails, is streaming's in the attempt's own container. Not
here: who has which slot (scheduler/node), the split and the check of the result (tasks.py).
"""

from __future__ import annotations

import math
import os
from pathlib import Path
from threading import Lock

from ...errors import UsageError
from ...executor.kernel.host_kernel import HostMaps, Left
from ...executor.native.runtime import Native, Progress
from ...executor.task.cpu_task import MapRun
from ...executor.task.report import AttemptResult
from ...scheduler.node.model import Why
from .jobs import Bundle, Job
from .offer import Declined, Offer

AUTO = "auto"
MOST = 1024
_CGROUPS = Path("/sys/fs/cgroup")


def processors(cgroup: str | None = None, root: Path = _CGROUPS) -> int:
    """That this process may use: those of its affinity, and no more than its cgroup, or one above it, has time for.

    cgroup  as /proc/self/cgroup names it, where version 2 is mounted at `root`.
    """
    count: float = len(os.sched_getaffinity(0))
    folder = root / (_cgroup() if cgroup is None else cgroup).strip("/")
    while True:
        count = min(count, _quota(folder))
        if folder == root:
            return max(1, int(count))
        folder = folder.parent


def _cgroup() -> str:
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return ""
    return next((line.removeprefix("0::") for line in lines if line.startswith("0::")), "")


def _quota(folder: Path) -> float:
    """Processors' worth of time that a cgroup has, rounded up; infinity where nobody says."""
    try:
        most, period = (folder / "cpu.max").read_text().split()
        return math.ceil(int(most) / int(period))
    except (OSError, ValueError, ZeroDivisionError):  # "max"; no such file; version 1
        return math.inf


class HostKernels:
    """The driver's host kernels. `slots`: at a time, 0: none at all. Any thread may use it."""

    def __init__(self, native: Native, slots: int) -> None:
        self.slots = slots
        self._native = native
        self._tasks = self._bytes = 0
        self._seconds = 0.0
        self._lock = Lock()

    def maps(self, job: Job, bundle: Bundle, offer: Offer) -> HostMaps:
        """What runs an attempt. Raises UsageError HD615: the bundle has no host kernel."""
        code = bundle.host_code(offer)
        if code is None:
            raise UsageError(f"the map has no host kernel: {bundle.no_host}", code="HD615")
        return job.host_maps(code, self._native)

    def run(self, job: Job, maps: HostMaps, run: MapRun, progress: Progress) -> AttemptResult:
        """Raises Declined: the filters are to do it. Three such in a row, or one that was silent for too long, and no other
        attempt of the job comes here."""
        done = maps.run_alone(run, progress)
        if isinstance(done, AttemptResult) or not progress.cancelled:
            job.tries.note(done)
        if job.tries.given_up:
            job.unfit(Why(f"host kernels are {job.tries.given_up}", "HD615"), "host")
        if isinstance(done, Left):
            if progress.cancelled:
                return AttemptResult(cancelled=True)
            raise Declined(f"the host kernel leaves it to the filters: {done.reason}", "HD615")
        return done

    def took(self, nbytes: int, seconds: float) -> None:
        """One did a task of so many bytes in this time."""
        with self._lock:
            self._tasks += 1
            self._bytes += nbytes
            self._seconds += seconds

    def status(self) -> dict[str, object]:
        """For `driver status`."""
        with self._lock:
            return {"slots": self.slots, "tasks": self._tasks, "bytes": self._bytes, "seconds": round(self._seconds, 3)}
