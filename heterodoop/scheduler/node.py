"""One node's half of the scheduler under Hadoop: every map attempt asks it whether to run on a GPU or in its container.

    force the GPU  iff  max(1, R/N) <= room, or P/N + 1 <= room and R <= room + that of the other nodes
                                                                    else gpu-first, where S >= 1           (policies.tail)

R = min(total - decided, mapsTotal - mapsCompleted): map tasks of the job that nobody has decided on, the asking one
included. Decided tasks count by task id, not by attempt: an id stays while an attempt of it lives or has given a result.
What happens on other nodes is heard from the coordinator or from the ApplicationMaster (`hear`); a node that has heard
nothing takes all that it has not decided itself for its own to do, which can only make the tail begin later. `room`: tasks
that the node's GPUs would have done besides what they have, until the container would have done one; P: map tasks that have
no container yet. S is the job's own:
median CPU seconds per MiB of split by median GPU seconds per MiB, each over the last WINDOW attempts, without the wait for
a GPU and the start of a JVM; until there are enough of them, that of other nodes, else of the program's last job.

A forced attempt keeps its container until its GPU result is in, or until it would be done sooner there from the beginning
(`overtaken`). `now` is seconds of any clock that only goes forward. The methods may be called from several threads.
Not here: sockets, processes, clocks, the order in which queued attempts get a GPU.
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict, deque
from collections.abc import Mapping, Sequence
from statistics import median
from typing import NamedTuple

from .estimates import SAMPLES, WINDOW
from .model import SlotKind
from .on_gpu import OnGpu, ends
from .policies import ROUNDING, Policy, View

MIB = 1 << 20
PROGRAMS = 256  # whose last speedup is remembered
REMEMBERED_SECONDS = 86_400.0  # a GPU that others kept busy is tried again


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
    room               tasks that the GPUs of the other nodes would have done besides what they have, until a container would
                       have done one; None: not known of all of them.
    pending            map tasks that have no container yet; None: the ApplicationMaster does not say so.
    """

    total: int | None = None
    completed: int | None = None
    decided_elsewhere: int = 0
    nodes: int = 1
    speedups: tuple[float, ...] = ()
    room: int | None = None
    pending: int | None = None


class JobReport(NamedTuple):
    """What this node can tell others of a job. `decided`: task ids. Seconds are per MiB of split, None before SAMPLES.

    total: mapreduce.job.maps, 0 before an attempt asked; live: attempts whose lease is open.
    room: of this node's GPUs, as others hear of it (Knowledge); None: S is not known.
    """

    decided: frozenset[str]
    total: int
    live: int
    speedup: float | None
    cpu_seconds: float | None
    gpu_seconds: float | None
    room: int | None = None


class Measured(NamedTuple):
    """S of a program's last job.

    when  seconds of the node's clock.  gpu_seconds: of a GPU per MiB, 0 = not known.
    own   by this node's attempts since its driver began.
    """

    speedup: float
    when: float
    gpu_seconds: float = 0.0
    own: bool = False


class _Job:
    """`decided`: task id -> attempts of it that live or have given a result."""

    def __init__(self) -> None:
        self.program = ""
        self.total = 0
        self.live = 0
        self.mib = 1.0  # of the split of the attempt that asked last
        self.decided: dict[str, int] = {}
        self.knowledge: Knowledge | None = None
        self.rates: dict[SlotKind, deque[float]] = {"cpu": deque(maxlen=WINDOW), "gpu": deque(maxlen=WINDOW)}
        self.medians: dict[SlotKind, float | None] = {"cpu": None, "gpu": None}
        self.slow: float | None = None  # GPU seconds per MiB by an attempt's rate, where the CPU's are fewer; before SAMPLES
        self.taken_back = -math.inf  # when an attempt last was whose rate was not known

    def sample(self, kind: SlotKind, seconds_per_mib: float) -> None:
        rates = self.rates[kind]
        rates.append(seconds_per_mib)
        if len(rates) >= SAMPLES:
            self.medians[kind] = median(rates)

    def speedup(self) -> float | None:
        """S from this node's own attempts."""
        cpu, gpu = self.medians["cpu"], self.medians["gpu"]
        if not gpu and self.slow:
            cpu, gpu = self._any("cpu"), self.slow
        return cpu / gpu if cpu and gpu else None

    def known_speedup(self, remembered: float | None) -> float | None:
        """S by the best source. `remembered`: S of the program's last job."""
        others = self.knowledge.speedups if self.knowledge else ()
        return self.speedup() or (median(others) if others else remembered)

    def seconds(self, kind: SlotKind, remembered: float | None) -> float | None:
        """Per MiB on this kind; None: not known. From one attempt on; but the first on a GPU may have loaded kernels, and
        says something only of a program whose S is known. Where there is none, from the other kind's and S."""
        speedup, found = self.known_speedup(remembered), self._any(kind)
        if found and (kind == "cpu" or speedup):
            return found
        other = self._any("gpu" if kind == "cpu" else "cpu")
        if not speedup or not other:
            return None
        return other * speedup if kind == "cpu" else other / speedup

    def _any(self, kind: SlotKind) -> float | None:
        rates = self.rates[kind]
        return self.medians[kind] or (median(rates) if rates else None)

    def view(self, task: str, gpus: int, busy: int, remembered: float | None, free: Sequence[float]) -> View:
        """`remembered`: S of the program's last job; `free`: when each GPU has done what it has, in tasks of a GPU."""
        known = self.knowledge or Knowledge()
        left = self.total - (len(self.decided) - (task in self.decided)) - known.decided_elsewhere
        if known.total is not None and known.completed is not None:
            left = min(left, known.total - known.completed)
        view = View(max(1, left), gpus, busy, self.known_speedup(remembered), max(1, known.nodes))
        if not view.speedup or not free:
            return view
        # An attempt that gets no GPU has its container's processor at once: one t_cpu, whatever the other slots do.
        return view._replace(
            cpus_need=1.0, gpu_needs=1 / view.speedup, room=room_of(free, view.speedup), elsewhere=known.room,
            pending=known.pending)

    def report(self, room: int | None) -> JobReport:
        medians = self.medians
        return JobReport(
            frozenset(self.decided), self.total, self.live, self.speedup(), medians["cpu"], medians["gpu"], room)

    def enter(self, task: str) -> None:
        self.decided[task] = self.decided.get(task, 0) + 1

    def leave(self, task: str) -> None:
        """An attempt of `task` ended without a result."""
        self.decided[task] -= 1
        if not self.decided[task]:
            del self.decided[task]


def room_of(free: Sequence[float], speedup: float) -> int:
    """Tasks that GPUs would have done until a container would have done one. `free`: when each has done what it has, in
    tasks of a GPU."""
    return sum(math.floor(max(0.0, speedup - end) + ROUNDING) for end in free)


class _Lease:
    """A map attempt that asked and whose socket is open. `on_gpu`: what is known of it as one of a GPU."""

    __slots__ = ("job", "kind", "mib", "on_gpu", "overtakes", "task")

    def __init__(self, job: _Job, task: str, nbytes: int, kind: SlotKind, overtakes: bool) -> None:
        self.job, self.task, self.mib, self.kind = job, task, max(nbytes, 1) / MIB, kind
        self.overtakes = overtakes  # whether its container may take it back
        self.on_gpu = OnGpu()


class Node:
    """See the module. gpus: G, the GPUs that can be used now; sessions: attempts that one GPU takes at a time.

    A lease is the caller's number for one connection. An event of a lease that is over, or never was, changes nothing.
    """

    def __init__(self, gpus: int, sessions: int = 1) -> None:
        self._gpus, self._sessions = gpus, sessions
        self._leases: dict[int, _Lease] = {}
        self._on_gpus: dict[int, _Lease] = {}  # of them, those that run on GPUs or wait for one
        self._jobs: dict[str, _Job] = {}
        # By program, the one that was measured last at the end.
        self._speedups: OrderedDict[str, Measured] = OrderedDict()
        self._running = 0  # on GPUs
        self._now = 0.0
        self._lock = threading.Lock()

    @property
    def busy(self) -> int:
        """q: attempts that run on this node's GPUs or wait for one, of all jobs."""
        return len(self._on_gpus)

    def resize(self, gpus: int) -> None:
        """Set G: a GPU was given up, or is back. What it had is told by `refused` or `closed`."""
        with self._lock:
            self._gpus = gpus

    def offer(
        self, lease: int, job: str, task: str, nbytes: int, maps: int, policy: Policy, program: str = "", now: float = 0.0,
    ) -> Decision:
        """Decide on a map attempt. An attempt that cannot have a GPU at all is offered with policies.CPU_ONLY.

        task     the task's id, the same for all its attempts; nbytes: bytes of its split; maps: mapreduce.job.maps.
        program  what the job runs (its bundle's hash): its jobs have the same S until they have measured their own.
        Raises ValueError where the lease is taken.
        """
        with self._lock:
            if lease in self._leases:
                raise ValueError(f"lease {lease} is taken")
            self._now = max(self._now, now)
            state = self._job(job)
            state.total, state.program, state.mib = max(maps, 1), program, max(nbytes, 1) / MIB
            free = self._free_in_tasks(state)
            view = state.view(task, self._gpus, len(self._on_gpus), self._remembered(program), free)
            decision = self._decide(view, policy)
            state.enter(task)
            state.live += 1
            found = self._leases[lease] = _Lease(state, task, nbytes, decision.kind, policy.duplicates)
            if decision.kind == "gpu":
                self._on_gpus[lease] = found
            return decision

    def _free_in_tasks(self, job: _Job) -> list[float]:
        """When each GPU is done with what it has, in tasks of the job, as large as the last one that asked; one of which
        nothing is known counts as a whole one."""
        one = job.seconds("gpu", self._remembered(job.program))
        needs = []
        for found in self._in_turn():
            left = self._left(found) if one else None
            needs.append(left / (one * job.mib) if one and left is not None else 1.0)
        return ends(needs, self._gpus)

    def _in_turn(self) -> list[_Lease]:
        """Attempts on GPUs, then those that wait for one, oldest first."""
        return sorted(self._on_gpus.values(), key=lambda found: not found.on_gpu.shared)

    def _left(self, lease: _Lease) -> float | None:
        """Seconds of a GPU that the attempt still needs; None: not known. One that shares its GPU needs its share."""
        rate = lease.job.seconds("gpu", self._remembered(lease.job.program))
        share = self._share(lease)
        left = lease.on_gpu.left(rate * lease.mib * share if rate else None, self._now)
        return left / share if left is not None else None

    def _share(self, lease: _Lease) -> float:
        """Attempts that a GPU has at a time while it has this one. They take longer each, and the GPU is no slower."""
        shared = lease.on_gpu.shared
        return max(1.0, (shared + self._running) / 2 / self._gpus) if shared and self._gpus else 1.0

    def overtaken(self, lease: int, fraction: float, now: float) -> bool:
        """Whether an attempt that runs on a GPU, or waits for one, would be done sooner in its container from now on.

        fraction  how much of it is done, 0 to 1. What is true here should then be `refused`; the job's later attempts are
        told so by the speedup.
        """
        with self._lock:
            self._now = max(self._now, now)
            found = self._on_gpus.get(lease)
            if not found or not found.overtakes:
                return False
            found.on_gpu.advance(fraction, now)
            cpu = found.job.seconds("cpu", self._remembered(found.job.program))
            if cpu is None:
                return False
            self._compare(found, cpu)
            needs = self._until(found)
            if needs is None or needs <= cpu * found.mib + ROUNDING:
                return False
            if found.on_gpu.shared and found.on_gpu.whole() is None:
                self._late(found, needs)
            return True

    def _until(self, lease: _Lease) -> float | None:
        """Seconds until the attempt's end on a GPU; None: not known."""
        own = self._left(lease)
        if own is None or not self._gpus:
            return None
        if lease.on_gpu.shared:
            return own * self._share(lease)
        before = self._in_turn()
        needs = [self._left(found) for found in before[:before.index(lease)]]
        return min(ends([one for one in needs if one is not None], self._gpus)) + own

    def _late(self, lease: _Lease, needs: float) -> None:
        """An attempt that is taken back before its rate is known is one of several that say how slow a GPU is. Those that
        began with it say nothing more: they wait for the same kernels."""
        job, started = lease.job, lease.on_gpu.started
        if started >= job.taken_back:
            job.taken_back = self._now
            job.sample("gpu", (self._now - started + needs) / self._share(lease) / lease.mib)

    def _compare(self, lease: _Lease, cpu: float) -> None:
        """A first attempt's rate is enough to see that a GPU is slower. That it is faster is seen when some have ended."""
        if (whole := lease.on_gpu.whole()) is not None:
            rate = whole / self._share(lease) / lease.mib
            lease.job.slow = rate if rate > cpu else None

    def _decide(self, view: View, policy: Policy) -> Decision:
        slots = view.gpus * self._sessions
        if view.gpu_busy < slots:
            return Decision("gpu" if policy.takes(view, "gpu") else "cpu")
        if not slots or policy.takes(view, "cpu"):
            return Decision("cpu")
        return Decision("gpu", forced=True, ahead=view.gpu_busy - slots + 1)

    def started(self, lease: int, now: float = 0.0) -> None:
        """The attempt has its GPU: its seconds count from here."""
        with self._lock:
            self._now = max(self._now, now)
            found = self._on_gpus.get(lease)
            if found and not found.on_gpu.shared:
                self._running += 1
                found.on_gpu.shared, found.on_gpu.started = self._running, now

    def done(self, lease: int, seconds: float) -> None:
        """The attempt's result is in place; it took `seconds` where it ran, without waiting for a GPU."""
        with self._lock:
            if found := self._leases.pop(lease, None):
                found.job.live -= 1
                found.job.sample(found.kind, max(seconds, 0.0) / self._share(found) / found.mib)
                self._remember(found.job)
                self._leave_gpu(lease, found)

    def _remember(self, job: _Job) -> None:
        speedup = job.speedup()
        if job.program and speedup:
            self._keep(job.program, Measured(speedup, self._now, job.medians["gpu"] or job.slow or 0.0, own=True))

    def _keep(self, program: str, measured: Measured) -> None:
        self._speedups[program] = measured
        self._speedups.move_to_end(program)
        if len(self._speedups) > PROGRAMS:
            self._speedups.popitem(last=False)

    def knows(self, program: str) -> bool:
        """Whether S of the program's last job is known, however old."""
        with self._lock:
            return program in self._speedups

    def begin_with(self, program: str, speedup: float, age: float) -> None:
        """What was measured `age` seconds ago, before this node's driver began, unless something is known by now."""
        with self._lock:
            if program not in self._speedups:
                self._keep(program, Measured(speedup, self._now - age))

    def measured(self) -> dict[str, Measured]:
        """What this node itself has measured, by program."""
        with self._lock:
            return {program: one for program, one in self._speedups.items() if one.own}

    def _remembered(self, program: str) -> float | None:
        """S of the program's last job, a day at most."""
        found = self._speedups.get(program)
        return found.speedup if found and self._now - found.when <= REMEMBERED_SECONDS else None

    def refused(self, lease: int) -> None:
        """The GPU gives the attempt back: it runs in its container, and stays decided."""
        with self._lock:
            if found := self._leases.get(lease):
                self._leave_gpu(lease, found)

    def closed(self, lease: int) -> None:
        """The attempt is gone without a result: its task will be tried again, here or elsewhere."""
        with self._lock:
            if found := self._leases.pop(lease, None):
                found.job.live -= 1
                found.job.leave(found.task)
                self._leave_gpu(lease, found)

    def hear(self, job: str, knowledge: Knowledge | None) -> None:
        """What is known of a job by now; None: nothing but what this node does itself."""
        with self._lock:
            self._job(job).knowledge = knowledge

    def report(self) -> Mapping[str, JobReport]:
        """What this node knows of each job."""
        with self._lock:
            return {name: job.report(self._room(job)) for name, job in self._jobs.items()}

    def room(self, job: str, now: float) -> int | None:
        """As in `report`; None, too, where nothing is known of the job."""
        with self._lock:
            self._now = max(self._now, now)
            return self._room(self._jobs[job]) if job in self._jobs else None

    def _room(self, job: _Job) -> int | None:
        speedup = job.known_speedup(self._remembered(job.program))
        return room_of(self._free_in_tasks(job), speedup) if speedup else None

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

    def _leave_gpu(self, lease: int, found: _Lease) -> None:
        if self._on_gpus.pop(lease, None):
            self._running -= found.on_gpu.shared > 0
            found.kind, found.on_gpu.shared = "cpu", 0
