"""Where a map task may run: pure functions of what is free and what is left. The same code serves every engine.

A policy is asked once for each free slot while a map task waits. Reduce tasks are not asked about: they run on
CPU slots only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from .model import Slot, TaskId


class View(NamedTuple):
    """What a policy may look at.

    undecided  map tasks that no slot has taken yet, the asking one included (design: R).
    gpu_slots  GPU slots of the job (design: G).
    gpu_busy   map tasks that run on them now (design: q).
    """

    undecided: int
    gpu_slots: int
    gpu_busy: int


Policy = Callable[[View, Slot, TaskId], bool]


def cpu_only(view: View, slot: Slot, task: TaskId) -> bool:
    """Every task on a CPU slot; GPU slots stay idle."""
    return slot.kind == "cpu"


POLICIES: Mapping[str, Policy] = {"cpu-only": cpu_only}
