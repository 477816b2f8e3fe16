"""Where a map task may run: pure functions of what is free and what is left. The same code serves every engine.

A policy is asked once for each free slot while a map task waits, GPU slots first. Reduce tasks are not asked about: they
run on CPU slots only. Where a CPU slot is refused, the task is for a GPU: the embedded engine lets it wait for a GPU slot,
and the CPU slot idles; a Hadoop task, which holds its container anyway, queues for its node's GPU.

The tail rule (paper, Algorithm 2, whose printed comparisons are inverted): a CPU slot that takes a task now needs t_cpu;
the node's GPUs need (R/N + q) * t_gpu / G for all that is left for them. Refuse the CPU slot if that is no later. The
paper's own rule forgets q, what the GPUs have taken already, and can so lose to gpu-first by many GPU tasks. It also
forgets GPUs that are slower than a core: here `tail` has the same rule the other way round. A GPU slot is refused where the
CPU slots are expected to be done with all that is left before it would be with one task.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

from .model import SlotKind

ROUNDING = 1e-9  # of times that are equal on paper
# CPU slots that do less than a ninth of all are in the way: sixteen that did a seventeenth of word count took a fifth
# to a third of what one H200 read meanwhile (docs/decisions/0038).
OUTWEIGHS = 8


class View(NamedTuple):
    """What a policy may look at.

    undecided  R: map tasks of the job that no slot has taken yet, the asking one included.
    gpus       G: GPUs of the asking slot's node; not its GPU slots, of which a GPU may have several.
    gpu_busy   q: map tasks that run on or queue for them now.
    speedup    S: tasks that one GPU finishes while a CPU slot finishes one (estimates.py); None: not known yet.
    nodes      N: nodes that serve the job.
    cpus_need  until CPU slots would have done all that is left without the GPUs; None: not known. In times t_cpu.
    gpu_needs  for the task on a GPU slot; None: not known. In times t_cpu.
    room       tasks that the GPUs would have done besides what they have, until this CPU slot would have done one; None: not
               known, and `gpu_busy` counts each task that they have as a whole one.
    later      what the GPUs need before they work as fast as S says, in times t_cpu.
    beside     times t_cpu that a CPU slot's task takes while the slots' processors also feed GPUs.
    """

    undecided: int
    gpus: int
    gpu_busy: int
    speedup: float | None = None
    nodes: int = 1
    cpus_need: float | None = None
    gpu_needs: float | None = None
    room: int | None = None
    later: float = 0.0
    beside: float = 1.0


class Policy(NamedTuple):
    """`takes`: whether a slot of this kind may take the next map task. `duplicates`: whether a slot that has nothing left to
    do may run again what still runs on a slot of the other kind; under Hadoop, whether a container may take back what its
    node's GPU has. `yields`: whether CPU slots leave their processors to those that read for the GPUs where these are worth
    more than OUTWEIGHS times as much; under Hadoop a container has its processor anyway."""

    name: str
    takes: Callable[[View, SlotKind], bool]
    duplicates: bool = False
    yields: bool = False


def cpu_only(view: View, kind: SlotKind) -> bool:
    """Every task on a CPU slot; GPU slots stay idle."""
    return kind == "cpu"


def gpu_only(view: View, kind: SlotKind) -> bool:
    """Every task on a GPU slot; CPU slots have the reduce tasks only."""
    return kind == "gpu"


def gpu_first(view: View, kind: SlotKind) -> bool:
    """A task goes to whichever slot asks first."""
    return True


def tail(view: View, kind: SlotKind) -> bool:
    """gpu-first, until one side is expected to be done with all that is left before a slot of the other is with one task."""
    if _cpus_are_sooner(view):
        return kind == "cpu"
    if view.room is not None:
        return view.room >= 1 if kind == "gpu" else _share(view) > view.room
    return kind == "gpu" or not _gpus_are_sooner(view, _share(view) + view.gpu_busy)


def paper_tail(view: View, kind: SlotKind) -> bool:
    """`tail` as the paper means it: without regard to what the GPUs have taken already."""
    return kind == "gpu" or not _gpus_are_sooner(view, _share(view))


def _share(view: View) -> float:
    """Undecided tasks that fall to one node."""
    return max(1.0, view.undecided / view.nodes)


def _gpus_are_sooner(view: View, tasks: float) -> bool:
    """tasks * t_gpu / G <= t_cpu, in whole tasks of a GPU's session. Never where a GPU is slower, or nothing is known. Up to
    what the task takes beside GPUs that are fed, where the CPU slots alone would not be done by then either."""
    if view.speedup is None or view.speedup < 1 or tasks > view.gpus * view.speedup * view.beside:
        return False
    needs = view.gpu_needs or 1 / view.speedup
    sessions = max(1, round(view.gpus * view.speedup * needs))
    done = view.later + math.ceil(tasks / sessions) * needs - ROUNDING
    return done <= 1 or (done <= view.beside and (view.cpus_need is None or done <= view.cpus_need))


def _cpus_are_sooner(view: View) -> bool:
    return view.cpus_need is not None and view.gpu_needs is not None and view.cpus_need < view.gpu_needs


CPU_ONLY = Policy("cpu-only", cpu_only)
GPU_ONLY = Policy("gpu-only", gpu_only)
TAIL = Policy("tail", tail, duplicates=True, yields=True)
POLICIES: Mapping[str, Policy] = {
    policy.name: policy
    for policy in (CPU_ONLY, GPU_ONLY, Policy("gpu-first", gpu_first), TAIL, Policy("paper-tail", paper_tail))
}
