"""tail against gpu-first on the clusters of the paper's Table 3, for the speedups that its figure 5 spans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from .policies import CPU_ONLY, POLICIES
from .simulate import IDEAL, Conditions, Shape, simulate

SPEEDUPS = (3, 6, 9, 12, 20, 30, 47)


class PaperCluster(NamedTuple):
    """Nodes, GPUs and CPU map slots of a node (Table 3); map tasks of word count and of BlackScholes (Table 2)."""

    nodes: int
    gpus: int
    cpu_slots: int
    tasks: tuple[int, ...]


CLUSTERS: Mapping[str, PaperCluster] = {
    "Cluster1": PaperCluster(48, 1, 20, (5760, 3600)),
    "Cluster2": PaperCluster(32, 3, 4, (1024, 5120)),
}


class Row(NamedTuple):
    """Makespans in GPU tasks."""

    cluster: str
    tasks: int
    speedup: int
    cpu_only: float
    gpu_first: float
    tail: float
    forced: int


def compare(speedups: Sequence[int] = SPEEDUPS, conditions: Conditions = IDEAL) -> list[Row]:
    """Every cluster, number of tasks and speedup."""
    rows = []
    for name, setup in CLUSTERS.items():
        for tasks in setup.tasks:
            one = Shape(setup.nodes, setup.gpus, setup.cpu_slots, tasks, 1.0)
            cpu_only = simulate(one, CPU_ONLY, conditions).makespan  # of CPU tasks as long as a GPU task
            for speedup in speedups:
                shape = one._replace(cpu_seconds=float(speedup))
                gpu_first, tail = (simulate(shape, POLICIES[policy], conditions) for policy in ("gpu-first", "tail"))
                rows.append(
                    Row(name, tasks, speedup, cpu_only * speedup, gpu_first.makespan, tail.makespan, tail.forced))
    return rows
