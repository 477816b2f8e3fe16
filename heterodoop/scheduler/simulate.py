"""A job of map tasks on a cluster, in virtual time, decided by the same NodeMachine and policies as under Hadoop.

Every node has a container per CPU slot and one per GPU. At any moment free GPUs ask first, node by node, then free CPU
slots; all of a cluster know at once what is decided (the coordinator tells a driver within a second). A task that is
forced keeps its CPU slot until the GPU has done it; one that gets no GPU though its GPU is free (S < 1) runs in that GPU's
container on the CPU. Once it is measured to be no slower, that GPU goes to the next task in whichever container. A task
that a GPU has and its container would do sooner from the beginning is taken back. With
`heartbeat` a node gets tasks only then, as in Hadoop 1; with `cap` it gets at most as many as it has GPUs once the paper's
job tail has begun (its JobTracker half, Algorithm 2).

Tasks of a kind take the same time, give or take `jitter`. Not simulated: reduce tasks, locality, failures, start of a JVM.
"""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from .node.job import MIB
from .node.machine import NodeMachine
from .node.model import Action, Advanced, Answer, Cancel, Done, Event, Heard, Knowledge, Offered, Ready, Refused, Run, Start
from .policies import CPU_ONLY, Policy

JOB = "job"
TOLD = 20  # times that nodes tell what their GPUs have, while one does a task


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


class Span(NamedTuple):
    """A task on a node: `asked` when it got its container, `start` and `end` on the processor or GPU that did it."""

    node: int
    gpu: bool
    forced: bool
    asked: float
    start: float
    end: float


class Outcome(NamedTuple):
    """Seconds, tasks, and the share of the makespan in which GPUs and CPU slots had work (a slot that waits has none)."""

    policy: str
    makespan: float
    on_gpus: int
    forced: int
    gpus_busy: float
    cpus_busy: float
    spans: tuple[Span, ...]


class _OnGpu(NamedTuple):
    """A task that a GPU has begun. `slot`: its container is a CPU slot's, besides the GPU's own."""

    forced: bool
    asked: float
    start: float
    end: float
    slot: bool

    def fraction(self, now: float) -> float:
        return (now - self.start) / (self.end - self.start)


class _Place:
    """A node. free_gpus: GPUs whose container is free, and they are. lent: leases that run on the CPU in a GPU's container.
    waiting: forced tasks that wait for a GPU, with when they asked. on_gpus: what runs there, by lease."""

    __slots__ = ("free_cpus", "free_gpus", "lent", "mine", "node", "now", "number", "on_gpus", "room", "waiting")

    def __init__(self, number: int, shape: Shape) -> None:
        self.number = number
        self.node = NodeMachine(shape.gpus)
        self.now = 0.0  # of its last event
        self.room: int | None = None  # as the others know it
        self.free_gpus, self.free_cpus = shape.gpus, shape.cpu_slots
        self.lent: list[int] = []
        self.waiting: dict[int, float] = {}
        self.on_gpus: dict[int, _OnGpu] = {}
        self.mine = 0  # tasks that it has decided on

    def handle(self, event: Event, now: float) -> list[Action]:
        self.now = max(self.now, now)
        return self.node.handle(event, now)

    def take(self, lease: int, *, on_gpu: bool, cpu_slot: bool) -> None:
        """A task starts. `cpu_slot`: it asked from a CPU slot, and was not forced."""
        if on_gpu and cpu_slot:
            self.lent.pop()  # containers are alike: this one is that GPU's now, and the lent one a CPU slot
        elif on_gpu or not cpu_slot:
            self.free_gpus -= 1
            if not on_gpu:
                self.lent.append(lease)

    def give_back(self, lease: int, *, on_gpu: bool, slot: bool) -> None:
        """A task has ended. `slot`: it had a GPU and a CPU slot's container."""
        lent = lease in self.lent
        if lent:
            self.lent.remove(lease)
        self.free_gpus += on_gpu or lent
        self.free_cpus += slot or not (on_gpu or lent)

    def tell(self, now: float, waiting: Iterable[int]) -> list[int]:
        """How far all tasks on GPUs are. Returns those, and of those that wait, that their containers would do sooner."""
        fractions = {lease: task.fraction(now) for lease, task in self.on_gpus.items()}
        return [lease for lease, fraction in {**fractions, **dict.fromkeys(waiting, 0.0)}.items()
                if Cancel(lease) in self.handle(Advanced(lease, fraction), now)]


def simulate(shape: Shape, policy: Policy, conditions: Conditions = IDEAL, *, spans: bool = False) -> Outcome:
    """Run the job. `spans`: keep what ran when and where. Raises ValueError where nothing may run a task."""
    slots = shape.cpu_slots if policy is CPU_ONLY or not shape.gpus else shape.gpus + shape.cpu_slots
    if min(shape.nodes, shape.tasks, slots) < 1:
        raise ValueError("no task can run there")
    if policy is CPU_ONLY:
        shape = shape._replace(gpus=0)
    return _Run(shape, policy, conditions, spans).run()


class _Run:
    def __init__(self, shape: Shape, policy: Policy, conditions: Conditions, spans: bool) -> None:
        self.shape, self.policy, self.conditions = shape, policy, conditions
        self.places = [_Place(number, shape) for number in range(shape.nodes)]
        self.listens = policy.name in ("tail", "paper-tail")  # the others decide without
        self.left, self.completed, self.now = shape.tasks, 0, 0.0
        self.on_gpus = self.forced = 0
        self.busy = {True: 0.0, False: 0.0}
        self.lent = False  # whether GPUs' containers ran tasks on the CPU
        self.spans: list[Span] | None = [] if spans else None
        self.speedups: tuple[float, ...] = () if conditions.learn else (shape.speedup,)
        self.random = random.Random(conditions.seed)
        self.looked, self.room = -math.inf, 0  # when all nodes last told their room, and its sum
        # (when, lease, node, on a GPU, has a CPU slot besides, seconds)
        self.ends: list[tuple[float, int, int, bool, bool, float]] = []

    def run(self) -> Outcome:
        for now, places in self._heartbeats() if self.conditions.heartbeat else self._moments():
            self.now = now
            self._hand_out(places)
        while self.ends:
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
        """The next task ends; returns its node."""
        self.now, lease, number, on_gpu, slot, seconds = heapq.heappop(self.ends)
        place = self.places[number]
        if self.policy.duplicates and place.now < self.now:
            place.tell((place.now + self.now) / 2, ())  # a rate needs two looks; nothing has changed since the last event
        place.on_gpus.pop(lease, None)
        self.completed += 1
        place.give_back(lease, on_gpu=on_gpu, slot=slot)
        self._obey(place, place.handle(Done(lease, seconds), self.now))
        if not self.speedups and (measured := place.node.speedup(JOB)):
            self.speedups = (measured,)  # the coordinator tells it to all
        if self.policy.duplicates:
            for lease in place.tell(self.now, place.waiting):
                self._take_back(place, lease)
        return number

    def _obey(self, place: _Place, actions: list[Action]) -> None:
        """Forced tasks that waited have a GPU."""
        for action in actions:
            if isinstance(action, Start):
                self._start(place, action.lease, place.waiting.pop(action.lease), on_gpu=True, forced=True)

    def _take_back(self, place: _Place, lease: int) -> None:
        """A task that a GPU has, or that waits for one, begins anew in its container."""
        if task := place.on_gpus.pop(lease, None):
            self.busy[True] -= task.end - self.now
            self.on_gpus -= 1
            self.ends = [end for end in self.ends if end[1] != lease]
            heapq.heapify(self.ends)
            if self.spans is not None:
                self.spans.remove(Span(place.number, True, *task[:4]))
            place.free_gpus += task.slot
            if not task.slot:
                place.lent.append(lease)
            self.lent |= not task.slot
            asked = task.asked
        else:
            asked = place.waiting.pop(lease)
        self._run(place, lease, asked, on_gpu=False, forced=False)
        self._obey(place, place.handle(Refused(lease), self.now))

    def _hand_out(self, places: list[_Place]) -> None:
        """Free GPUs ask, then free CPU slots."""
        most = {place.number: self._most() for place in places} if self.conditions.cap else {}
        for place in places:
            while self.left and place.free_gpus and most.get(place.number, 1) > 0:
                self._offer(place, most)
        for place in places:
            while self.left and place.free_cpus and most.get(place.number, 1) > 0:
                place.free_cpus -= 1
                self._offer(place, most, container=True)

    def _most(self) -> int:
        """Tasks that a node may get at a heartbeat: the JobTracker half of Algorithm 2."""
        shape = self.shape
        tail = shape.gpus * shape.speedup * shape.nodes
        return shape.gpus if self.left <= tail else shape.tasks

    def _offer(self, place: _Place, most: dict[int, int], container: bool = False) -> None:
        """A GPU's container asks, or (`container`) a CPU slot's."""
        shape = self.shape
        lease = shape.tasks - self.left
        if self.listens:
            elsewhere = lease - place.mine
            known = Knowledge(shape.tasks, self.completed, elsewhere, shape.nodes, self.speedups)
            if (room := self._room_elsewhere(place)) is not None:
                known = known._replace(room=room, pending=self._pending(container))
            place.handle(Heard(JOB, known), self.now)
        (answer,) = place.handle(Offered(lease, JOB, str(lease), MIB, shape.tasks, self.policy), self.now)
        assert isinstance(answer, Answer)
        on_gpu, forced = answer.decision.kind == "gpu", answer.decision.forced
        place.mine += 1
        self.left -= 1
        if place.room is not None:
            self._look(place)
        self.forced += forced
        if most:
            most[place.number] -= 1
        if on_gpu:
            place.handle(Ready(lease), self.now)
            starts = bool(place.handle(Run(lease), self.now))
        if forced:
            assert not starts, "q counts those that wait"
            place.waiting[lease] = self.now
        else:
            self._start(place, lease, self.now, on_gpu=on_gpu, forced=False, container=container)

    def _room_elsewhere(self, place: _Place) -> int | None:
        """Of all other nodes' GPUs; None: not known, or too little for all that is left in any case.

        Nodes tell it a few times while a GPU does a task, and whenever they have decided on one.
        """
        shape = self.shape
        if shape.nodes == 1 or not self.speedups or self.left > shape.nodes * shape.gpus * max(self.speedups):
            return None
        if self.now >= self.looked + shape.gpu_seconds / TOLD:
            self.looked = self.now
            for one in self.places:
                one.handle(Heard(JOB, Knowledge(shape.tasks, speedups=self.speedups)), self.now)
                self._look(one)
        return self.room - (place.room or 0)

    def _pending(self, container: bool) -> int:
        """Tasks that find no container free. `container`: the one that asks does not count as free any more."""
        return max(0, self.left - container - sum(place.free_cpus + place.free_gpus for place in self.places))

    def _look(self, place: _Place) -> None:
        found = place.node.room(JOB, self.now) or 0
        self.room += found - (place.room or 0)
        place.room = found

    def _start(
        self, place: _Place, lease: int, asked: float, *, on_gpu: bool, forced: bool, container: bool = False,
    ) -> None:
        own = container or (forced and not place.free_gpus)  # that GPU's container runs a task on the CPU
        place.take(lease, on_gpu=on_gpu, cpu_slot=own)
        self.lent |= not (on_gpu or container)
        self._run(place, lease, asked, on_gpu=on_gpu, forced=forced, slot=forced and not own)

    def _run(
        self, place: _Place, lease: int, asked: float, *, on_gpu: bool, forced: bool, slot: bool = False,
    ) -> None:
        """The task has what it runs on. `slot`: a CPU slot's container, and a GPU."""
        jitter = self.conditions.jitter
        seconds = self.shape.gpu_seconds if on_gpu else self.shape.cpu_seconds
        if jitter:
            seconds *= 1 + jitter * self.random.uniform(-1, 1)
        task = _OnGpu(forced, asked, self.now, self.now + seconds, slot)
        if on_gpu:
            place.on_gpus[lease] = task
        self.on_gpus += on_gpu
        self.busy[on_gpu] += seconds
        heapq.heappush(self.ends, (task.end, lease, place.number, on_gpu, slot, seconds))
        if self.spans is not None:
            self.spans.append(Span(place.number, on_gpu, *task[:4]))

    def _outcome(self) -> Outcome:
        shape = self.shape
        gpus, cpus = (
            self.busy[gpu] / (self.now * shape.nodes * slots) if slots and self.now else 0.0
            for gpu, slots in ((True, shape.gpus), (False, shape.cpu_slots + self.lent * shape.gpus))
        )
        return Outcome(self.policy.name, self.now, self.on_gpus, self.forced, gpus, cpus, tuple(self.spans or ()))
