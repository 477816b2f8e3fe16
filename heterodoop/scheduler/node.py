"""One node's half of the scheduler under Hadoop: every map attempt asks it whether to run on a GPU or in its container.

    force the GPU  iff  max(1, R/N) + q <= G * S          else gpu-first, where S >= 1           (policies.tail)

R = min(total - decided, mapsTotal - mapsCompleted): map tasks of the job that nobody has decided on, the asking one
included. Decided tasks count by task id, not by attempt: an id stays while an attempt of it lives or has given a result.
What happens on other nodes is heard from the coordinator or from the ApplicationMaster (`hear`); a node that has heard
nothing takes all that it has not decided itself for its own to do, which can only make the tail begin later. S is the job's
own: median CPU seconds per MiB of split by median GPU seconds per MiB, each over the last WINDOW attempts, without the
wait for a GPU and the start of a JVM; until there are enough of them, that of other nodes, else of the program's last job.

A forced attempt keeps its container until its GPU result is in. The methods may be called from several threads.
Not here: sockets, processes, clocks, the order in which queued attempts get a GPU.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Mapping
from statistics import median
from typing import NamedTuple

from .estimates import SAMPLES, WINDOW
from .model import SlotKind
from .policies import Policy, View

MIB = 1 << 20
PROGRAMS = 256  # whose last speedup is remembered


class Decision(NamedTuple):
    """`forced`: no GPU slot is free, and the policy refuses the container's processor all the same. `ahead`: GPU attempts
    that must end before this one can start."""

    kind: SlotKind
    forced: bool = False
    ahead: int = 0


class Knowledge(NamedTuple):
    """What is known of a job beyond this node, from the coordinator or the job's ApplicationMaster.

    total, completed   mapsTotal and mapsCompleted of the ApplicationMaster; None where it was not asked.
    decided_elsewhere  task ids that only other nodes have decided on.
    nodes              N: nodes that serve the job, this one included.
    speedups           S of other nodes, for a node that has too few attempts of its own.
    """

    total: int | None = None
    completed: int | None = None
    decided_elsewhere: int = 0
    nodes: int = 1
    speedups: tuple[float, ...] = ()


class JobReport(NamedTuple):
    """What this node can tell others of a job. `decided`: task ids. Seconds are per MiB of split, None before SAMPLES.

    total: mapreduce.job.maps, 0 before an attempt asked; live: attempts whose lease is open.
    """

    decided: frozenset[str]
    total: int
    live: int
    speedup: float | None
    cpu_seconds: float | None
    gpu_seconds: float | None


class _Job:
    """`decided`: task id -> attempts of it that live or have given a result."""

    def __init__(self) -> None:
        self.program = ""
        self.total = 0
        self.live = 0
        self.decided: dict[str, int] = {}
        self.knowledge: Knowledge | None = None
        self.rates: dict[SlotKind, deque[float]] = {"cpu": deque(maxlen=WINDOW), "gpu": deque(maxlen=WINDOW)}
        self.medians: dict[SlotKind, float | None] = {"cpu": None, "gpu": None}

    def sample(self, kind: SlotKind, seconds_per_mib: float) -> None:
        rates = self.rates[kind]
        rates.append(seconds_per_mib)
        if len(rates) >= SAMPLES:
            self.medians[kind] = median(rates)

    def speedup(self) -> float | None:
        """S from this node's own attempts."""
        cpu, gpu = self.medians["cpu"], self.medians["gpu"]
        return cpu / gpu if cpu and gpu else None

    def view(self, task: str, gpus: int, busy: int, remembered: float | None) -> View:
        """`remembered`: S of the program's last job."""
        known = self.knowledge or Knowledge()
        left = self.total - (len(self.decided) - (task in self.decided)) - known.decided_elsewhere
        if known.total is not None and known.completed is not None:
            left = min(left, known.total - known.completed)
        speedup = self.speedup() or (median(known.speedups) if known.speedups else remembered)
        # An attempt that gets no GPU has its container's processor at once: one t_cpu, whatever the other slots do.
        needs = (1.0, 1 / speedup) if speedup else (None, None)
        return View(max(1, left), gpus, busy, speedup, max(1, known.nodes), *needs)

    def report(self) -> JobReport:
        medians = self.medians
        return JobReport(
            frozenset(self.decided), self.total, self.live, self.speedup(), medians["cpu"], medians["gpu"])

    def enter(self, task: str) -> None:
        self.decided[task] = self.decided.get(task, 0) + 1

    def leave(self, task: str) -> None:
        """An attempt of `task` ended without a result."""
        self.decided[task] -= 1
        if not self.decided[task]:
            del self.decided[task]


class _Lease:
    """A map attempt that asked and whose socket is open. `shared`: GPU attempts that ran when this one started."""

    __slots__ = ("job", "kind", "nbytes", "shared", "task")

    def __init__(self, job: _Job, task: str, nbytes: int, kind: SlotKind) -> None:
        self.job, self.task, self.nbytes, self.kind = job, task, nbytes, kind
        self.shared = 0  # 0: has not started


class Node:
    """See the module. gpus: G, the GPUs that can be used now; sessions: attempts that one GPU takes at a time.

    A lease is the caller's number for one connection. An event of a lease that is over, or never was, changes nothing.
    """

    def __init__(self, gpus: int, sessions: int = 1) -> None:
        self._gpus, self._sessions = gpus, sessions
        self._leases: dict[int, _Lease] = {}
        self._jobs: dict[str, _Job] = {}
        self._speedups: OrderedDict[str, float] = OrderedDict()  # by program, the one that was used last at the end
        self._queued_or_running = 0  # q
        self._running = 0  # of them
        self._lock = threading.Lock()

    @property
    def busy(self) -> int:
        """q: attempts that run on this node's GPUs or wait for one, of all jobs."""
        return self._queued_or_running

    def resize(self, gpus: int) -> None:
        """Set G: a GPU was given up, or is back. What it had is told by `refused` or `closed`."""
        with self._lock:
            self._gpus = gpus

    def offer(
        self, lease: int, job: str, task: str, nbytes: int, maps: int, policy: Policy, program: str = "",
    ) -> Decision:
        """Decide on a map attempt. An attempt that cannot have a GPU at all is offered with policies.CPU_ONLY.

        task     the task's id, the same for all its attempts; nbytes: bytes of its split; maps: mapreduce.job.maps.
        program  what the job runs (its bundle's hash): its jobs have the same S until they have measured their own.
        Raises ValueError where the lease is taken.
        """
        with self._lock:
            if lease in self._leases:
                raise ValueError(f"lease {lease} is taken")
            state = self._job(job)
            state.total, state.program = max(maps, 1), program
            view = state.view(task, self._gpus, self._queued_or_running, self._speedups.get(program))
            decision = self._decide(view, policy)
            state.enter(task)
            state.live += 1
            self._leases[lease] = _Lease(state, task, nbytes, decision.kind)
            self._queued_or_running += decision.kind == "gpu"
            return decision

    def _decide(self, view: View, policy: Policy) -> Decision:
        slots = view.gpus * self._sessions
        if view.gpu_busy < slots:
            return Decision("gpu" if policy.takes(view, "gpu") else "cpu")
        if not slots or policy.takes(view, "cpu"):
            return Decision("cpu")
        return Decision("gpu", forced=True, ahead=view.gpu_busy - slots + 1)

    def started(self, lease: int) -> None:
        """The attempt has its GPU: its seconds count from here."""
        with self._lock:
            found = self._leases.get(lease)
            if found and found.kind == "gpu" and not found.shared:
                self._running += 1
                found.shared = self._running

    def done(self, lease: int, seconds: float) -> None:
        """The attempt's result is in place; it took `seconds` where it ran, without waiting for a GPU."""
        with self._lock:
            if found := self._leases.pop(lease, None):
                if found.kind == "gpu" and self._gpus:
                    # Attempts that share a GPU take longer each, and the GPU is no slower: count its share only.
                    seconds /= max(1.0, (found.shared + self._running) / 2 / self._gpus)
                found.job.live -= 1
                found.job.sample(found.kind, max(seconds, 0.0) * MIB / max(found.nbytes, 1))
                self._remember(found.job)
                self._leave_gpu(found)

    def _remember(self, job: _Job) -> None:
        speedup = job.speedup()
        if job.program and speedup:
            self._speedups[job.program] = speedup
            self._speedups.move_to_end(job.program)
            if len(self._speedups) > PROGRAMS:
                self._speedups.popitem(last=False)

    def refused(self, lease: int) -> None:
        """The GPU gives the attempt back: it runs in its container, and stays decided."""
        with self._lock:
            if found := self._leases.get(lease):
                self._leave_gpu(found)

    def closed(self, lease: int) -> None:
        """The attempt is gone without a result: its task will be tried again, here or elsewhere."""
        with self._lock:
            if found := self._leases.pop(lease, None):
                found.job.live -= 1
                found.job.leave(found.task)
                self._leave_gpu(found)

    def hear(self, job: str, knowledge: Knowledge | None) -> None:
        """What is known of a job by now; None: nothing but what this node does itself."""
        with self._lock:
            self._job(job).knowledge = knowledge

    def report(self) -> Mapping[str, JobReport]:
        """What this node knows of each job."""
        with self._lock:
            return {name: job.report() for name, job in self._jobs.items()}

    def speedup(self, job: str) -> float | None:
        """S of a job from this node's attempts; None: not known."""
        with self._lock:
            return self._jobs[job].speedup() if job in self._jobs else None

    def forget(self, job: str) -> None:
        """The job has ended. Attempts of it that still hold a GPU count in q until they end."""
        with self._lock:
            self._jobs.pop(job, None)

    def _job(self, name: str) -> _Job:
        job = self._jobs.get(name)
        if job is None:
            job = self._jobs[name] = _Job()
        return job

    def _leave_gpu(self, lease: _Lease) -> None:
        if lease.kind == "gpu":
            self._queued_or_running -= 1
            self._running -= lease.shared > 0
            lease.kind = "cpu"
