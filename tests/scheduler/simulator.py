"""Jobs of map tasks on paper: how long they take under a policy, with tasks that all take the same time on a kind of slot.

Two forms of the same rule. `nodes`: as under Hadoop, where a task that a policy refuses on its CPU slot queues for its
node's GPU and keeps the slot. `engine`: the real state machine, where such a task waits undecided and the CPU slot idles.
Not a test module.
"""

from __future__ import annotations

import heapq
from math import floor, inf
from typing import NamedTuple

from heterodoop.scheduler.estimates import SAMPLES, Estimates
from heterodoop.scheduler.machine import Machine
from heterodoop.scheduler.model import (
    Attempt,
    Commit,
    Event,
    Finish,
    JobShape,
    Kill,
    Launch,
    Opened,
    Slot,
    SlotKind,
    Start,
    Succeeded,
    TaskId,
    Tick,
)
from heterodoop.scheduler.policies import Policy, View
from heterodoop.scheduler.several import Several


class Shape(NamedTuple):
    """`tasks` map tasks on `nodes` identical nodes of `gpus` GPUs (with a slot each) and `cpus` CPU slots."""

    tasks: int
    nodes: int
    gpus: int
    cpus: int
    t_cpu: float
    t_gpu: float = 1.0

    @property
    def speedup(self) -> float:
        return self.t_cpu / self.t_gpu


class Ran(NamedTuple):
    makespan: float
    forced: int = 0


class Nodes:
    """See the module. First come, first served: at the same time all GPU slots ask before all CPU slots, and a node's slots
    (its heartbeat) one after the other, as many as are free."""

    def __init__(self, shape: Shape, policy: Policy) -> None:
        self.shape, self.policy = shape, policy
        self.left, self.forced, self.now = shape.tasks, 0, 0.0
        self.free_gpus, self.free_cpus = [shape.gpus] * shape.nodes, [shape.cpus] * shape.nodes
        self.queued = [0] * shape.nodes  # tasks that were forced and have no GPU yet
        self.ends: list[tuple[float, int, bool, bool]] = []  # of a task: when, node, gives back a GPU, a CPU slot

    def run(self) -> Ran:
        while True:
            self.ask()
            if not self.ends:
                return Ran(self.now, self.forced)
            self.now = self.ends[0][0]
            while self.ends and self.ends[0][0] == self.now:
                _, node, gpu, cpu_slot = heapq.heappop(self.ends)
                self.free_gpus[node] += gpu
                self.free_cpus[node] += cpu_slot

    def ask(self) -> None:
        for node in range(self.shape.nodes):
            self.serve_queue(node)
            while self.left and self.free_gpus[node]:
                on_gpu = self.takes(node, "gpu")
                if not on_gpu and self.policy.name != "tail":
                    break
                self.left -= 1
                if on_gpu:
                    self.start_on_gpu(node, cpu_slot=False)
                else:  # in the container of that GPU
                    self.free_gpus[node] -= 1
                    heapq.heappush(self.ends, (self.now + self.shape.t_cpu, node, True, False))
        for node in range(self.shape.nodes):
            while self.left and self.free_cpus[node]:
                on_cpu = self.takes(node, "cpu")
                self.left -= 1
                self.free_cpus[node] -= 1
                if on_cpu:
                    heapq.heappush(self.ends, (self.now + self.shape.t_cpu, node, False, True))
                else:
                    self.forced += 1
                    self.queued[node] += 1
                    self.serve_queue(node)

    def takes(self, node: int, kind: SlotKind) -> bool:
        shape = self.shape
        busy = shape.gpus - self.free_gpus[node] + self.queued[node]
        without = max(0, self.left - sum(self.free_cpus) - sum(self.free_gpus))  # what YARN says
        undecided = self.left if shape.nodes == 1 else max(1, without)
        view = View(undecided, shape.gpus, busy, shape.speedup, shape.nodes, 1.0, 1 / shape.speedup, self.room(node))
        return self.policy.takes(view, kind)

    def room(self, node: int) -> int:
        """GPU tasks that can end on the node within t_cpu from now, and that nobody has taken."""
        shape = self.shape
        free = [end - self.now for end, where, gpu, _ in self.ends if where == node and gpu]
        free += [0.0] * (shape.gpus - len(free))
        return sum(floor((shape.t_cpu - end) / shape.t_gpu + 1e-9) for end in free if end <= shape.t_cpu) - self.queued[node]

    def serve_queue(self, node: int) -> None:
        while self.queued[node] and self.free_gpus[node]:
            self.queued[node] -= 1
            self.start_on_gpu(node, cpu_slot=True)

    def start_on_gpu(self, node: int, *, cpu_slot: bool) -> None:
        self.free_gpus[node] -= 1
        heapq.heappush(self.ends, (self.now + self.shape.t_gpu, node, True, cpu_slot))


def nodes(shape: Shape, policy: Policy) -> Ran:
    """The job under Hadoop's form of the rule."""
    return Nodes(shape, policy).run()


def known(t_cpu: float, t_gpu: float) -> Estimates:
    """As after jobs of such tasks."""
    estimates = Estimates()
    for _ in range(SAMPLES):
        estimates.finished("cpu", 1, t_cpu)
        estimates.finished("gpu", 1, t_gpu)
    return estimates


class Warmth(NamedTuple):
    """What a GPU costs before it works. opens: seconds until its slots open; first: seconds more of a slot's first task.
    spare: CPU slots that read for the GPUs while these are worth it; without GPUs they are as all others.
    most: tasks of one attempt. start: share of t_gpu that such an attempt has but once. beside: as in `View`."""

    opens: float = 0.0
    first: float = 0.0
    spare: int = 0
    most: int = 1
    start: float = 0.0
    beside: float = 1.0


WARM = Warmth()


def engine(
    shape: Shape, policy: Policy, *, sessions: int = 1, estimates: Estimates | None = None, tick: float = 0.0,
    warmth: Warmth = WARM,
) -> float:
    """The makespan on one node. A GPU's `sessions` slots take sessions * t_gpu for a task each.

    tick  seconds after an event at which the machine looks at the clock again, then ever more of them; 0: it does not.
    """
    assert shape.nodes == 1
    return _Engine(shape, policy, sessions, estimates or known(shape.t_cpu, sessions * shape.t_gpu), tick, warmth).run()


class _Engine:
    def __init__(
        self, shape: Shape, policy: Policy, sessions: int, estimates: Estimates, tick: float, warmth: Warmth,
    ) -> None:
        self.shape, self.tick, self.warmth, self.on_gpu = shape, tick, warmth, sessions * shape.t_gpu
        gpus = 0 if policy.name == "cpu-only" else shape.gpus
        cpus = shape.cpus + warmth.spare
        slots = [*(Slot(i, "cpu") for i in range(cpus)), *(Slot(cpus + i, "gpu") for i in range(gpus * sessions))]
        self.late = slots[cpus:] if warmth.opens and policy.name != "gpu-only" else []
        self.machine = Machine(JobShape(shape.tasks, 0), slots, policy, gpus=gpus, estimates=estimates, late=self.late,
                               spare=slots[shape.cpus:cpus] if gpus else (),
                               several=Several(warmth.most, follows=lambda number: True), beside=warmth.beside)
        self.cold = dict.fromkeys(slots[cpus:], warmth.first if self.late else warmth.first + warmth.opens)
        self.now, self.order, self.committed, self.finished = 0.0, 0, set[TaskId](), False
        self.ends: list[tuple[float, bool, int, Attempt]] = []

    def run(self) -> float:
        wait = self.tick
        self.tell(Start())
        while not self.finished:
            opens = self.warmth.opens if self.late else inf
            ends = self.ends[0][0] if self.ends else inf
            if self.tick and self.now + wait < min(ends, opens):
                self.now, wait = self.now + wait, 2 * wait
                self.tell(Tick())
                continue
            wait = self.tick
            if opens <= ends:
                self.now = opens
                self.tell(Opened(self.late.pop(0)))
                continue
            self.now, _, _, attempt = heapq.heappop(self.ends)
            self.tell(Succeeded(attempt))
            self.machine.validate()
        return self.now

    def tell(self, event: Event) -> None:
        for instruction in self.machine.handle(event, self.now):
            match instruction:
                case Launch(attempt):
                    self.launch(attempt)
                case Kill(attempt):
                    self.ends = [(self.now, *end[1:]) if end[3] == attempt else end for end in self.ends]
                    heapq.heapify(self.ends)
                case Commit(attempt):
                    assert self.committed.isdisjoint(attempt.tasks)
                    self.committed.update(attempt.tasks)
                case Finish(outcome):
                    assert outcome == "succeeded" and len(self.committed) == self.shape.tasks
                    self.finished = True

    def launch(self, attempt: Attempt) -> None:
        self.order += 1
        gpu = attempt.slot.kind == "gpu"
        tasks = attempt.splits - (attempt.splits - 1) * self.warmth.start
        seconds = tasks * self.on_gpu + self.cold.pop(attempt.slot, 0.0) if gpu else self.shape.t_cpu
        heapq.heappush(self.ends, (self.now + seconds, not gpu, self.order, attempt))
