"""Jobs of map tasks on paper: how long they take under a policy, with tasks that all take the same time on a kind of slot.

Two forms of the same rule. `nodes`: as under Hadoop, where a task that a policy refuses on its CPU slot queues for its
node's GPU and keeps the slot. `engine`: the real state machine, where such a task waits undecided and the CPU slot idles.
Not a test module.
"""

from __future__ import annotations

import heapq
from math import floor
from typing import NamedTuple

from heterodoop.scheduler.estimates import SAMPLES, Estimates
from heterodoop.scheduler.machine import Machine
from heterodoop.scheduler.model import Commit, Finish, JobShape, Kill, Launch, Slot, SlotKind, Start, Succeeded, Tick
from heterodoop.scheduler.policies import Policy, View


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
        view = View(self.left, shape.gpus, busy, shape.speedup, shape.nodes, 1.0, 1 / shape.speedup, self.room(node))
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


def engine(
    shape: Shape, policy: Policy, *, sessions: int = 1, estimates: Estimates | None = None, tick: float = 0.0,
) -> float:
    """The makespan on one node. A GPU's `sessions` slots take sessions * t_gpu for a task each.

    tick  seconds after an event at which the machine looks at the clock again, then ever more of them; 0: it does not.
    """
    assert shape.nodes == 1
    on_gpu = sessions * shape.t_gpu
    slots = [*(Slot(i, "gpu") for i in range(shape.gpus * sessions)),
             *(Slot(shape.gpus * sessions + i, "cpu") for i in range(shape.cpus))]
    machine = Machine(JobShape(shape.tasks, 0), slots, policy, gpus=shape.gpus,
                      estimates=estimates or known(shape.t_cpu, on_gpu))
    now, order, committed, finished = 0.0, 0, set(), False
    ends: list[tuple[float, bool, int, object]] = []
    wait = tick
    todo = machine.handle(Start(), now)
    while True:
        for instruction in todo:
            match instruction:
                case Launch(attempt):
                    order += 1
                    gpu = attempt.slot.kind == "gpu"
                    heapq.heappush(ends, (now + (on_gpu if gpu else shape.t_cpu), not gpu, order, attempt))
                case Kill(attempt):
                    ends = [(now, *end[1:]) if end[3] == attempt else end for end in ends]
                    heapq.heapify(ends)
                case Commit(attempt):
                    assert attempt.task not in committed
                    committed.add(attempt.task)
                case Finish(outcome):
                    assert outcome == "succeeded" and len(committed) == shape.tasks
                    finished = True
        if finished:
            return now
        if tick and now + wait < ends[0][0]:
            now, wait = now + wait, 2 * wait
            todo = machine.handle(Tick(), now)
            continue
        wait = tick
        now, _, _, attempt = heapq.heappop(ends)
        todo = machine.handle(Succeeded(attempt), now)  # type: ignore[arg-type]
        machine.validate()
