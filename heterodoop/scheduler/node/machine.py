"""The state machine of one node's driver under Hadoop: handle(event, now) -> actions. No clock, no socket, no thread inside.

Every map attempt asks it whether to run on a GPU or in its container:

    force the GPU  iff  max(1, R/N) <= room        else gpu-first, where S >= 1           (policies.tail)

R = min(total - decided, mapsTotal - mapsCompleted): map tasks of the job that nobody has decided on, the asking one
included. Decided tasks count by task id, not by attempt: an id stays while an attempt of it lives or has given a result.
What happens on other nodes is heard from the ApplicationMaster (Heard); a node that has heard nothing takes all that it has
not decided itself for its own to do, which can only make the tail begin later. `room`: tasks that the node's GPUs would have
done besides what they have, until the container would have done one. S is the job's own, by the estimates that the embedded
engine has, too (estimates.py), of seconds without the wait for a GPU and the start of a JVM; until there are enough of them,
that of the program's last job.

    offered - [Ready] - queued - [Start] - running - [Sent] - sent - [Done]
       any of them - [Refused] - cpu - [Done]          any of them - [Closed]          lent: queued - running - [Closed]

An attempt that gets no GPU is a host kernel where the node has slots for those, its job may, and not too many wait already
(host.py). They have a line of their own, and say nothing of S, which is a container's seconds over a GPU's.

An attempt that was answered GPU waits in one line with all others, round robin by job, for a session of a device. A forced
one keeps its container until its GPU result is in, or until it would be done sooner there from the beginning (Cancel). Where
no device is in service any more, or the driver stops, all that wait are turned away at once.

An event of a lease that is over, or never was, changes nothing. What can only be a bug of the caller raises InvalidEvent,
with the story.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..policies import CPU_ONLY
from ..story import STORY, InvalidEvent
from .devices import Sessions
from .host import HostSlots
from .invariants import check, check_host
from .job import MIB, Job
from .lease import TRANSITIONS, Lease
from .line import Line
from .load import Load
from .model import (
    Action,
    Advanced,
    Answer,
    Cancel,
    Closed,
    Decision,
    Device,
    DeviceFree,
    Devices,
    Done,
    Event,
    Forgotten,
    Heard,
    JobReport,
    Lend,
    Measured,
    Offered,
    OfLease,
    Ready,
    Recalled,
    Refused,
    Run,
    Sent,
    Start,
    Stopping,
    TurnAway,
    Unfit,
    Why,
)
from .programs import Programs

STOPPING = Why("the GPU driver is stopping", "HD619")
FULL = Why("the GPU driver's queue is full", "HD619")
CPU_POLICY = Why("the job's policy is cpu-only")
BUSY = Why("the node's GPUs are busy")
HOST_BUSY = Why("the node's slots for host kernels are busy")


class Step(NamedTuple):
    """One line of the story: the event's number, when (seconds), the lease (None: all of the node), what happened."""

    event: int
    when: float
    lease: int | None
    words: tuple[object, ...]

    @property
    def text(self) -> str:
        return " ".join(map(str, self.words))

    def __str__(self) -> str:
        who = "node" if self.lease is None else f"lease {self.lease}"
        return f"{self.event}: {self.when:.3f} s: {who}: {self.text}"


class NodeMachine:
    """See the module.

    devices   GPUs; all are in service until Devices says otherwise.  sessions: attempts that one takes at a time.
    limit     leases that may wait for one.
    host      host kernels at a time; 0: none at all.
    """

    def __init__(self, devices: int, sessions: int = 1, limit: int = 1 << 30, host: int = 0) -> None:
        self.lent = 0  # times that another process asked for a device
        self._sessions = Sessions(devices, sessions)
        self._host = HostSlots(host)
        self._limit = limit
        self._line, self._host_line = Line(), Line()
        self._leases: dict[int, Lease] = {}
        self._jobs: dict[str, Job] = {}
        self._programs = Programs()
        self._load = Load(devices, self._remembered)
        self._stopping = False
        self._now = 0.0
        self._events = 0
        self._story: deque[Step] = deque(maxlen=STORY)

    def handle(self, event: Event, now: float = 0.0) -> list[Action]:
        """Take in one event that happened at `now` (seconds of any clock; one that goes back stands still here).

        Raises InvalidEvent for what only a bug of the caller can bring; the state is then unchanged.
        """
        self._events += 1
        self._load.now = self._now = max(now, self._now)
        match event:
            case Offered():
                return self._offered(event)
            case Lend():
                return self._lend(event)
            case Devices(devices):
                return self._devices_are(devices)
            case Stopping():
                self._stopping = True
                self._note(None, "stopping")
                return [*self._turn_away(STOPPING, self._line), *self._turn_away(STOPPING, self._host_line)]
            case Unfit() | Heard() | Forgotten() | Recalled():
                self._learn(event)
                return []
        lease = self._leases.get(event.lease)
        return self._of_lease(event, lease) if lease else []

    def story(self, lease: int | None = None) -> list[Step]:
        """What happened, oldest first; of one lease where it is given."""
        return [step for step in self._story if lease is None or step.lease == lease]

    # What is so now

    @property
    def busy(self) -> int:
        """q: attempts that run on this node's GPUs or wait for one, of all jobs."""
        return len(self._load)

    @property
    def in_service(self) -> int:
        """Devices that get tasks."""
        return self._sessions.in_service

    @property
    def waiting(self) -> int:
        return len(self._line) + len(self._host_line)

    @property
    def running(self) -> int:
        """Sessions and slots in use."""
        return sum(lease.session is not None for lease in self._leases.values())

    @property
    def closed(self) -> Why:
        """Why nobody gets a device; empty where somebody may."""
        return STOPPING if self._stopping else _none(self._sessions.out) if self._sessions.out else Why()

    def leases(self) -> list[Lease]:
        """Those that are open, oldest first. For reading only."""
        return list(self._leases.values())

    def ahead(self, lease: int) -> int:
        """How many wait before it; 0 where it waits no longer."""
        found = self._leases.get(lease)
        return self._line_of(found).ahead(found.name, lease) if found and found.waits else 0

    def speedup(self, job: str) -> float | None:
        """S of a job from this node's attempts; None: not known."""
        return self._jobs[job].estimates.measured() if job in self._jobs else None

    def report(self) -> Mapping[str, JobReport]:
        """What this node knows of each job."""
        return {name: job.report() for name, job in self._jobs.items()}

    def knows(self, program: str) -> bool:
        """Whether S of the program's last job is known, however old."""
        return program in self._programs

    def measured(self) -> dict[str, Measured]:
        """What this node itself has measured, by program."""
        return self._programs.own()

    # Events of the node and of jobs

    def _devices_are(self, devices: Sequence[Device]) -> list[Action]:
        before = self._sessions.now
        self._sessions.update(devices)
        self._load.gpus = self._sessions.in_service
        for number, (old, new) in enumerate(zip(before, devices, strict=True)):
            if old.out != new.out:
                self._note(None, "device", number, "is out of service:" if new.out else "is back", new.out)
        return self._turn_away(self.closed, self._line) if self.closed.reason else self._assign()

    def _learn(self, event: Unfit | Heard | Forgotten | Recalled) -> None:
        match event:
            case Unfit(name, why, side):
                job = self._job(name)
                if side == "gpu":
                    job.why = job.why if job.why.reason else why
                else:
                    job.no_host = job.no_host if job.no_host.reason else why
                self._note(None, "no", "GPU" if side == "gpu" else "host kernels", "for", name, why.reason)
            case Heard(name, knowledge):
                self._job(name).knowledge = knowledge
            case Forgotten(name):
                self._jobs.pop(name, None)
            case Recalled(program, speedup, age):
                if program not in self._programs:
                    self._programs.keep(program, Measured(speedup, self._now - age))

    def _job(self, name: str) -> Job:
        job = self._jobs.get(name)
        if job is None:
            job = self._jobs[name] = Job()
        return job

    def _remembered(self, job: Job) -> float | None:
        return self._programs.speedup(job.program, self._now)

    # An attempt asks

    def _offered(self, event: Offered) -> list[Action]:
        self._require(event.lease not in self._leases, event.lease, "is taken")
        job = self._job(event.job)
        job.total, job.program, job.nbytes = max(event.maps, 1), event.program, max(event.nbytes, 1)
        why = self._why_not(event, job)
        policy = CPU_ONLY if why.reason else event.policy
        view = job.view(event.task, self._load.gpus, self.busy, self._remembered, self._load.free_in_tasks(job))
        sessions = view.gpus * self._sessions.sessions
        if view.gpu_busy < sessions:
            decision = Decision("gpu" if policy.takes(view, "gpu") else "cpu")
        elif not sessions or policy.takes(view, "cpu"):
            decision = Decision("cpu")
        else:
            decision = Decision("gpu", forced=True, ahead=view.gpu_busy - sessions + 1)
        if decision.kind == "cpu" and not why.reason:
            why = CPU_POLICY if policy is CPU_ONLY else BUSY
        if decision.kind == "cpu":
            decision, why = self._or_host(event, job, why)
        job.enter(event.task)
        lease = Lease(event.lease, event.job, job, decision.kind, event.task, max(event.nbytes, 1), policy.duplicates)
        self._enter(lease, event.job, event.task, decision.kind, "forced" if decision.forced else why.reason)
        if decision.kind == "gpu":
            self._load.add(lease)
        elif decision.kind == "cpu":
            self._become(lease, "cpu")
        return [Answer(event.lease, decision, why)]

    def _why_not(self, event: Offered, job: Job) -> Why:
        """Why this attempt cannot have a GPU, whatever its policy; empty where it may."""
        if self._stopping:
            return STOPPING
        return event.why if event.why.reason else job.why if job.why.reason else self._why_no_device()

    def _or_host(self, event: Offered, job: Job, why: Why) -> tuple[Decision, Why]:
        """An attempt that gets no GPU, and why: a host kernel, or its container, and why that. Of a node without devices
        nothing is said of these."""
        if self._stopping or event.why.reason or not self._host.slots:
            return Decision("cpu"), why
        why = why if self._sessions.now else Why()
        ahead = self._host.ahead(self._leases.values())
        if not job.no_host.reason and ahead is not None:
            return Decision("host", ahead=ahead), why if why.code else Why()
        own = job.no_host if job.no_host.reason else HOST_BUSY
        return Decision("cpu"), why if why.code else own

    def _why_no_device(self) -> Why:
        """Why nobody new can wait for a device; empty where somebody may."""
        return self.closed if self.closed.reason else FULL if len(self._line) >= self._limit else Why()

    def _lend(self, event: Lend) -> list[Action]:
        self._require(event.lease not in self._leases, event.lease, "is taken")
        self.lent += 1
        lease = Lease(event.lease, event.job, Job(), "lent")
        self._enter(lease, event.job, "asks for a device")
        self._become(lease, "queued")
        return self._run(lease, event.user)

    # Events of a lease

    def _of_lease(self, event: OfLease, lease: Lease) -> list[Action]:
        match event:
            case Ready():
                self._require(lease.kind in ("gpu", "host"), lease.number, "is for its container")
                self._become(lease, "queued")
            case Run(_, user):
                self._require(lease.state == "queued" and not lease.waits, lease.number, "may not run now")
                return self._run(lease, user)
            case DeviceFree():
                return self._free(lease)
            case Sent():
                self._become(lease, "sent")
            case Advanced(_, fraction):
                return self._advanced(lease, fraction)
            case Refused():
                if lease.kind in ("gpu", "host"):
                    self._load.remove(lease)
                    actions = self._free(lease)
                    lease.kind = "cpu"
                    self._become(lease, "cpu")
                    return actions
            case Done() | Closed():
                return self._over(event, lease)
        return []

    def _run(self, lease: Lease, user: str) -> list[Action]:
        why = (STOPPING if self._stopping else Why()) if lease.kind == "host" else self._why_no_device()
        if why.reason:
            return [TurnAway(lease.number, why)]
        lease.user, lease.waits = user, True
        self._line_of(lease).add(lease.name, lease.number)
        self._note(lease.number, "waits, ahead:", self.ahead(lease.number))
        return self._assign()

    def _line_of(self, lease: Lease) -> Line:
        return self._host_line if lease.kind == "host" else self._line

    def _slots_of(self, lease: Lease) -> Sessions | HostSlots:
        return self._host if lease.kind == "host" else self._sessions

    def _assign(self) -> list[Action]:
        """Sessions and slots for those whose turn it is."""
        return [*self._assign_from(self._line, self._sessions), *self._assign_from(self._host_line, self._host)]

    def _assign_from(self, line: Line, slots: Sessions | HostSlots) -> list[Action]:
        """Who comes first waits for a device that has another user's tasks, and nobody passes him."""
        actions: list[Action] = []
        while (first := line.first) is not None and (taken := slots.take(self._leases[first].user)):
            lease, (session, fresh) = self._leases[first], taken
            line.has_its_turn(lease.name, first)
            lease.waits, lease.session, lease.device = False, session, session.device
            if lease in self._load:
                self._load.start(lease)
            self._become(lease, "running")
            self._note(first, "has", session)
            actions.append(Start(first, session, fresh))
        return actions

    def _free(self, lease: Lease) -> list[Action]:
        if lease.waits:
            self._leave_line(lease)
            return self._assign()
        if lease.session is None:
            return []
        self._slots_of(lease).give_back(lease.session)
        self._note(lease.number, "has left", lease.session)
        lease.session = None
        return self._assign()

    def _turn_away(self, why: Why, line: Line) -> list[Action]:
        away = [self._leases[number] for number in line]
        for lease in away:
            self._leave_line(lease)
        return [TurnAway(lease.number, why) for lease in away]

    def _leave_line(self, lease: Lease) -> None:
        self._line_of(lease).leave(lease.name, lease.number)
        lease.waits = False
        self._note(lease.number, "waits no longer")

    def _advanced(self, lease: Lease, fraction: float) -> list[Action]:
        if not lease.overtakes or lease not in self._load or lease.state not in ("queued", "running"):
            return []
        lease.on_gpu.advance(fraction, self._now)
        return [Cancel(lease.number)] if self._load.overtaken(lease) else []

    def _over(self, event: Done | Closed, lease: Lease) -> list[Action]:
        self._require(lease.kind != "lent" or isinstance(event, Closed), lease.number, "is no attempt")
        del self._leases[lease.number]
        if isinstance(event, Done):
            self._measure(lease, event)
        elif lease.kind != "lent":
            lease.job.leave(lease.task)
        self._note(lease.number, "done" if isinstance(event, Done) else "closed")
        self._load.remove(lease)
        return self._free(lease)

    def _measure(self, lease: Lease, done: Done) -> None:
        job, on_gpu = lease.job, lease.kind == "gpu"
        job.live -= 1
        if lease.kind == "host":
            return
        if not done.again:
            seconds = max(done.seconds, 0.0) / self._load.share(lease)
            job.finished("gpu" if on_gpu else "cpu", lease.nbytes, seconds, lease.device if on_gpu else None)
        speedup, gpu = job.estimates.measured(), job.estimates.seconds("gpu", MIB)
        if job.program and speedup:
            slow = (job.estimates.slow or 0.0) * MIB
            self._programs.keep(job.program, Measured(speedup, self._now, gpu or slow, own=True))

    # Bookkeeping

    def _enter(self, lease: Lease, *words: object) -> None:
        lease.since = self._now
        self._leases[lease.number] = lease
        self._note(lease.number, *words)

    def _become(self, lease: Lease, state: str) -> None:
        self._require((lease.state, state) in TRANSITIONS, lease.number, "cannot become", state)
        lease.state, lease.since = state, self._now

    def _note(self, lease: int | None, *words: object) -> None:
        self._story.append(Step(self._events, self._now, lease, words))

    def _require(self, condition: bool, lease: int, *words: object) -> None:
        if not condition:
            raise InvalidEvent(" ".join(map(str, ("lease", lease, *words))), self.story(lease))

    # Invariants

    def validate(self) -> None:
        """Check every invariant; raises AssertionError with the story. For tests."""
        try:
            check(self._leases, self._line, self._sessions, self._load, stopping=self._stopping)
            check_host(self._leases, self._host_line, self._host, stopping=self._stopping)
        except AssertionError as error:
            raise AssertionError("\n".join([str(error), *map(str, self.story())])) from None


def _none(why: str) -> Why:
    return Why(f"no GPU is in service: {why}", "HD619")
