"""Jobs of map tasks on a cluster, in virtual time, decided by the same machine and policies as under Hadoop.

Every node has a container per CPU slot and one per GPU, all alike. At any moment as many of the free ones as GPUs are free
ask first, node by node, then the others. All know at once what YARN says of a job (a driver asks once a second).
A task that is forced keeps its container until the GPU has done it, and that GPU's own stays empty. A task that a GPU has
and its container would do sooner from the beginning is taken back. With `heartbeat` a node gets tasks only then, as in
Hadoop 1. With `cap` it gets at most as many as it has GPUs once the paper's job tail has begun (its JobTracker half,
Algorithm 2). Several jobs get containers in turn; who waits for a GPU waits in the machine's line.

Tasks of a kind take the same time, give or take `jitter`. Not simulated: reduce tasks, locality, failures of attempts, start
of a JVM.
"""

from __future__ import annotations

import heapq
import math
import random
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from .node.job import MIB, of_yarn
from .node.machine import NodeMachine
from .node.model import (
    Action,
    Advanced,
    Answer,
    Device,
    Devices,
    Done,
    Event,
    Heard,
    Knowledge,
    Offered,
    Ready,
    Recalled,
    Refused,
    Run,
    Start,
    TurnAway,
)
from .policies import CPU_ONLY, Policy

PROGRAM = "the jobs' own"
ALWAYS = -math.inf  # the age of what is never forgotten


class Shape(NamedTuple):
    """A cluster and a job. cpu_seconds, gpu_seconds: a map task on a CPU slot, and on a GPU that it has for itself."""

    nodes: int
    gpus: int
    cpu_slots: int
    tasks: int
    cpu_seconds: float
    gpu_seconds: float = 1.0

    @property
    def speedup(self) -> float:
        return self.cpu_seconds / self.gpu_seconds


class Conditions(NamedTuple):
    """heartbeat: seconds between two times a node gets tasks, 0 = at once. cap: the JobTracker half; needs a heartbeat.
    jitter: a task takes up to this share less or more. learn: nodes do not know the speedup before they have measured it."""

    heartbeat: float = 0.0
    cap: bool = False
    jitter: float = 0.0
    learn: bool = False
    seed: int = 1


IDEAL = Conditions()


class Besides(NamedTuple):
    """What else there is. jobs: tasks of each further job, which begins with the first one.

    down  seconds from which and until which the first GPU of the first node is out of service; None: it never is.
    """

    jobs: tuple[int, ...] = ()
    down: tuple[float, float] | None = None


NOTHING = Besides()
_DOWN, _UP = -2, -1


class Span(NamedTuple):
    """A task on a node: `asked` when it got its container, `start` and `end` on the processor or GPU that did it."""

    node: int
    gpu: bool
    forced: bool
    asked: float
    start: float
    end: float


class Outcome(NamedTuple):
    """Seconds, tasks, and the share of the makespan in which GPUs and CPU slots had work (a slot that waits has none).

    ends  of each job, in seconds.
    """

    policy: str
    makespan: float
    on_gpus: int
    forced: int
    gpus_busy: float
    cpus_busy: float
    spans: tuple[Span, ...]
    ends: tuple[float, ...]


class _OnGpu(NamedTuple):
    """A task that a GPU has begun. `slot`: it keeps two containers, its own and that GPU's."""

    forced: bool
    asked: float
    start: float
    end: float
    device: int
    slot: bool

    def fraction(self, now: float) -> float:
        return (now - self.start) / (self.end - self.start)


class _Job:
    """left: tasks that nobody has decided on."""

    __slots__ = ("completed", "end", "left", "name", "tasks")

    def __init__(self, name: str, tasks: int) -> None:
        self.name, self.tasks, self.left, self.completed, self.end = name, tasks, tasks, 0, 0.0


class _Place:
    """A node. free: containers. waiting: forced tasks that wait for a GPU, with when they asked. on_gpus: what runs there,
    by lease. mine: tasks of each job that it has decided on."""

    __slots__ = ("free", "mine", "node", "now", "number", "on_gpus", "waiting")

    def __init__(self, number: int, shape: Shape) -> None:
        self.number = number
        self.node = NodeMachine(shape.gpus)
        self.now = 0.0  # of its last event
        self.free = shape.gpus + shape.cpu_slots
        self.waiting: dict[int, float] = {}
        self.on_gpus: dict[int, _OnGpu] = {}
        self.mine: Counter[str] = Counter()

    def handle(self, event: Event, now: float) -> list[Action]:
        self.now = max(self.now, now)
        return self.node.handle(event, now)

    def for_gpus(self) -> int:
        """Free containers that count as those of free GPUs."""
        return min(self.free, self.node.in_service - len(self.on_gpus))

    def tell(self, now: float, waiting: Iterable[int]) -> list[int]:
        """How far all tasks on GPUs are. Returns those, and of those that wait, that their containers would do sooner."""
        fractions = {lease: task.fraction(now) for lease, task in self.on_gpus.items()}
        return [lease for lease, fraction in {**fractions, **dict.fromkeys(waiting, 0.0)}.items()
                if self.handle(Advanced(lease, fraction), now)]


def simulate(
    shape: Shape, policy: Policy, conditions: Conditions = IDEAL, besides: Besides = NOTHING, *, spans: bool = False,
) -> Outcome:
    """Run the jobs. `spans`: keep what ran when and where. Raises ValueError where nothing may run a task."""
    slots = shape.cpu_slots if policy is CPU_ONLY or not shape.gpus else shape.gpus + shape.cpu_slots
    if min(shape.nodes, shape.tasks, slots, *besides.jobs) < 1:
        raise ValueError("no task can run there")
    if policy is CPU_ONLY:
        shape = shape._replace(gpus=0)
    return _Run(shape, policy, conditions, besides, spans).run()


class _Run:
    def __init__(self, shape: Shape, policy: Policy, conditions: Conditions, besides: Besides, spans: bool) -> None:
        self.shape, self.policy, self.conditions = shape, policy, conditions
        self.places = [_Place(number, shape) for number in range(shape.nodes)]
        for place in () if conditions.learn else self.places:
            place.handle(Recalled(PROGRAM, shape.speedup, ALWAYS), 0.0)
        self.listens = policy.name in ("tail", "paper-tail")  # the others decide without
        self.jobs = [_Job(f"job {number}", tasks) for number, tasks in enumerate((shape.tasks, *besides.jobs))]
        self.turns = deque(self.jobs)  # jobs with tasks left, in the order in which they get containers
        self.of: list[_Job] = []  # by lease, whose task it is
        self.left, self.now = sum(job.tasks for job in self.jobs), 0.0
        self.on_gpus = self.forced = 0
        self.free = sum(place.free for place in self.places)
        self.busy = {True: 0.0, False: 0.0}
        self.lent = False  # whether GPUs' containers ran tasks on the CPU
        self.spans: list[Span] | None = [] if spans else None
        self.random = random.Random(conditions.seed)
        # (when, lease, node, on a GPU, keeps a second container, seconds); leases of the first GPU's faults are below 0
        self.ends: list[tuple[float, int, int, bool, bool, float]] = []
        if besides.down and shape.gpus:
            self.ends += [(besides.down[0], _DOWN, 0, False, False, 0.0), (besides.down[1], _UP, 0, False, False, 0.0)]
            heapq.heapify(self.ends)

    def run(self) -> Outcome:
        for now, places in self._heartbeats() if self.conditions.heartbeat else self._moments():
            self.now = now
            self._hand_out(places)
        while any(job.completed < job.tasks for job in self.jobs):
            self._end()
        return self._outcome()

    def _moments(self) -> Iterator[tuple[float, list[_Place]]]:
        """Until every task is decided: the nodes that have something free, as soon as they have."""
        yield 0.0, self.places
        while self.left:
            now = self.ends[0][0]
            touched = set()
            while self.ends and self.ends[0][0] == now:
                touched.add(self._end())
            yield now, [self.places[number] for number in sorted(touched)]

    def _heartbeats(self) -> Iterator[tuple[float, list[_Place]]]:
        """Until every task is decided: one node after the other, all of them once in a heartbeat."""
        beat = 0
        while self.left:
            now = beat * self.conditions.heartbeat / self.shape.nodes
            while self.ends and self.ends[0][0] <= now:
                self._end()
            yield now, [self.places[beat % self.shape.nodes]]
            beat += 1

    def _end(self) -> int:
        """The next task ends, or a GPU's service does or begins; returns its node."""
        self.now, lease, number, on_gpu, slot, seconds = heapq.heappop(self.ends)
        place = self.places[number]
        if lease < 0:
            self._turn_gpu(place, out=lease == _DOWN)
            return number
        if self.policy.duplicates and place.now < self.now:
            place.tell((place.now + self.now) / 2, ())  # a rate needs two looks; nothing has changed since the last event
        place.on_gpus.pop(lease, None)
        job = self.of[lease]
        job.completed, job.end = job.completed + 1, self.now
        self._gives(place, 1 + slot)
        self._obey(place, place.handle(Done(lease, seconds), self.now))
        if self.policy.duplicates:
            for lease in place.tell(self.now, place.waiting):
                self._take_back(place, lease)
        return number

    def _turn_gpu(self, place: _Place, *, out: bool) -> None:
        """The first GPU is out of service, and its tasks begin anew in their containers; or it is back."""
        others = (Device(),) * (self.shape.gpus - 1)
        self._obey(place, place.handle(Devices((Device("it failed" if out else ""), *others)), self.now))
        for lease in [lease for lease, task in place.on_gpus.items() if out and task.device == 0]:
            self._take_back(place, lease)

    def _obey(self, place: _Place, actions: list[Action]) -> None:
        """Forced tasks that waited have a GPU, or get none."""
        for action in actions:
            if isinstance(action, Start):
                asked, slot = place.waiting.pop(action.lease), place.free > 0
                self._gives(place, -slot)
                self._run_on_gpu(place, action, asked, forced=True, slot=slot)
            elif isinstance(action, TurnAway):
                self._take_back(place, action.lease)

    def _take_back(self, place: _Place, lease: int) -> None:
        """A task that a GPU has, or that waits for one, begins anew in its container."""
        if task := place.on_gpus.pop(lease, None):
            self.busy[True] -= task.end - self.now
            self.on_gpus -= 1
            self.ends = [end for end in self.ends if end[1] != lease]
            heapq.heapify(self.ends)
            if self.spans is not None:
                self.spans.remove(Span(place.number, True, *task[:4]))
            self._gives(place, task.slot)
            self.lent |= not task.slot
            asked = task.asked
        else:
            asked = place.waiting.pop(lease)
        self._run_on_cpu(place, lease, asked)
        self._obey(place, place.handle(Refused(lease), self.now))

    def _hand_out(self, places: list[_Place]) -> None:
        """Free GPUs ask, then free CPU slots."""
        most = {place.number: self._most() for place in places} if self.conditions.cap else {}
        for place in places:
            for _ in range(place.for_gpus()):
                if self.left and most.get(place.number, 1) > 0:
                    self._offer(place, most)
        for place in places:
            while self.left and place.free > 0 and most.get(place.number, 1) > 0:
                self._offer(place, most, container=True)

    def _most(self) -> int:
        """Tasks that a node may get at a heartbeat: the JobTracker half of Algorithm 2."""
        shape = self.shape
        tail = shape.gpus * shape.speedup * shape.nodes
        return shape.gpus if self.left <= tail else shape.tasks

    def _offer(self, place: _Place, most: dict[int, int], container: bool = False) -> None:
        """A GPU's container asks, or (`container`) a CPU slot's."""
        job, lease = self.turns[0], len(self.of)
        if self.listens:
            place.handle(Heard(job.name, self._known(place, job)), self.now)
        offered = Offered(lease, job.name, str(job.tasks - job.left), MIB, job.tasks, self.policy, PROGRAM)
        (answer,) = place.handle(offered, self.now)
        assert isinstance(answer, Answer)
        self._count(place, job, most)
        if answer.decision.kind == "cpu":
            self.lent |= not container
            self._run_on_cpu(place, lease, self.now)
        else:
            self._run(place, lease, forced=answer.decision.forced)

    def _gives(self, place: _Place, containers: int) -> None:
        place.free += containers
        self.free += containers

    def _known(self, place: _Place, job: _Job) -> Knowledge:
        """What the node has heard of the job when one of its containers asks."""
        without = min(job.left, max(0, self.left - self.free))  # its tasks that find no container free, at most
        return of_yarn(job.tasks, job.completed, without, self.shape.nodes, place.mine[job.name])

    def _run(self, place: _Place, lease: int, *, forced: bool) -> None:
        """A task that was told to run on a GPU: at once, or when one is free."""
        self.forced += forced
        place.handle(Ready(lease), self.now)
        starts = place.handle(Run(lease), self.now)
        assert bool(starts) != forced, "q counts those that wait"
        if forced:
            place.waiting[lease] = self.now
        for start in starts:
            assert isinstance(start, Start)
            self._run_on_gpu(place, start, self.now, forced=False, slot=False)

    def _count(self, place: _Place, job: _Job, most: dict[int, int]) -> None:
        """A task of the job is decided; the next job has its turn."""
        self.of.append(job)
        place.mine[job.name] += 1
        self._gives(place, -1)
        job.left -= 1
        self.left -= 1
        self.turns.rotate(-1)
        if not job.left:
            self.turns.remove(job)
        if most:
            most[place.number] -= 1

    def _run_on_gpu(self, place: _Place, start: Start, asked: float, *, forced: bool, slot: bool) -> None:
        seconds = self._seconds(on_gpu=True)
        task = _OnGpu(forced, asked, self.now, self.now + seconds, start.session.device, slot)
        place.on_gpus[start.lease] = task
        self.on_gpus += 1
        self._begin(place, start.lease, Span(place.number, True, *task[:4]), seconds, slot)

    def _run_on_cpu(self, place: _Place, lease: int, asked: float) -> None:
        """In its own container, which it has by now."""
        shape, others = self.shape, len(place.waiting) + sum(1 + task.slot for task in place.on_gpus.values())
        self.lent |= shape.gpus + shape.cpu_slots - place.free - others > shape.cpu_slots
        seconds = self._seconds(on_gpu=False)
        self._begin(place, lease, Span(place.number, False, False, asked, self.now, self.now + seconds), seconds, False)

    def _seconds(self, *, on_gpu: bool) -> float:
        """That a task takes."""
        seconds, jitter = self.shape.gpu_seconds if on_gpu else self.shape.cpu_seconds, self.conditions.jitter
        return seconds * (1 + jitter * self.random.uniform(-1, 1)) if jitter else seconds

    def _begin(self, place: _Place, lease: int, span: Span, seconds: float, slot: bool) -> None:
        self.busy[span.gpu] += seconds
        heapq.heappush(self.ends, (span.end, lease, place.number, span.gpu, slot, seconds))
        if self.spans is not None:
            self.spans.append(span)

    def _outcome(self) -> Outcome:
        shape = self.shape
        gpus, cpus = (
            self.busy[gpu] / (self.now * shape.nodes * slots) if slots and self.now else 0.0
            for gpu, slots in ((True, shape.gpus), (False, shape.cpu_slots + self.lent * shape.gpus))
        )
        return Outcome(self.policy.name, self.now, self.on_gpus, self.forced, gpus, cpus, tuple(self.spans or ()),
                       tuple(job.end for job in self.jobs))
