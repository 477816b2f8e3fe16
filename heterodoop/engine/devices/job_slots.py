"""The slots of a job and who takes which map task: from options, settings and the devices at hand. Pure.

CPU slots come first in number, then GPU slots: one for each session of a device. Reduce tasks run on CPU slots only.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from ...errors import UsageError
from ...job import jobconf
from ...job.jobconf import JobConf
from ...job.settings import EMULATED_SLOTS, INGEST_THREADS
from ...scheduler.model import Slot
from ...scheduler.policies import CPU_ONLY, GPU_ONLY, POLICIES, TAIL, Policy
from ..job.device_names import CPU, EMULATED

if TYPE_CHECKING:
    from .devices import DevicePlan

MAX_SLOTS = 4096
BESIDE = 1.25  # measured: docs/decisions/0038
KEPT_PER_GPU = 4  # processors; more threads than these read while a link is the bottleneck, and sleep while kernels are


class Slots(NamedTuple):
    """`every` slot of the job; `late` those that open when their GPU is awake; `gpus` behind the GPU slots.

    spare  CPU slots whose processors read for the GPUs: they take map tasks only where these are not worth it.
    beside  times as long that a map task takes on a CPU slot while GPUs are fed.
    """

    every: tuple[Slot, ...]
    late: tuple[Slot, ...] = ()
    gpus: int = 0
    policy: Policy = CPU_ONLY
    spare: tuple[Slot, ...] = ()
    beside: float = 1.0

    @property
    def cpu(self) -> int:
        return sum(slot.kind == "cpu" for slot in self.every)


def check_policy(name: str | None, device: str) -> None:
    """Raises UsageError HD032 for a policy that there is not, or that the device cannot serve."""
    if name is not None and name not in POLICIES:
        raise UsageError(f"--policy {name!r}: must be one of {', '.join(POLICIES)}", code="HD032")
    if name == GPU_ONLY.name and device == CPU:
        raise UsageError("--policy gpu-only: no map task could run, since no GPU is used", code="HD032",
                         help="use --device cuda, or --device emulated")


def plan_slots(
    device: str, policy: str | None, cpu_slots: str | int | None, offload: DevicePlan | None, conf: JobConf,
) -> Slots:
    """The slots of a job whose map tasks may run on `offload`. Raises UsageError HD032: --cpu-slots is no number."""
    rule = _policy(device, policy, offload)
    cpus, spare = _cpu_slots(device, cpu_slots, offload, conf)
    if offload is None:
        return Slots(_slots(cpus, 0), policy=rule)
    count = offload.sessions or conf.get(EMULATED_SLOTS) or (cpus if rule is GPU_ONLY else 1)
    every = _slots(cpus, count)
    # Where CPU slots take map tasks too, none waits for a GPU's context to stand.
    late = every[cpus:] if offload.gpus and rule is not GPU_ONLY else ()
    beside = BESIDE if offload.gpus and device != EMULATED else 1.0
    return Slots(every, late, len(offload.gpus) or count, rule, every[cpus - spare:cpus], beside)


def kept_for_ingest(conf: JobConf, gpus: int) -> int:
    """CPU slots that are spare, so that reading for the GPUs has their processors.

    One per thread where the user set their number (a GPU's sessions take turns at reading), else a few per GPU and at most
    half of all.
    """
    chosen: int = conf.get(INGEST_THREADS)
    return chosen * gpus or min(KEPT_PER_GPU * gpus, _processors() // 2)


def _policy(device: str, name: str | None, offload: DevicePlan | None) -> Policy:
    """All map tasks on the emulated device, unless told otherwise: it is there to try kernels out."""
    if offload is None:
        return CPU_ONLY
    if name is None:
        return GPU_ONLY if device == EMULATED else TAIL
    return POLICIES[name]


def _cpu_slots(device: str, given: str | int | None, offload: DevicePlan | None, conf: JobConf) -> tuple[int, int]:
    """How many, and how many of them are spare."""
    if given is not None:
        return jobconf.parse_count(str(given), "--cpu-slots", 1, MAX_SLOTS), 0
    every = _processors()
    if offload is None or device == EMULATED:
        return every, 0
    return every, min(every - 1, kept_for_ingest(conf, len(offload.gpus)))


def _slots(cpus: int, gpus: int) -> tuple[Slot, ...]:
    return (*(Slot(number, "cpu") for number in range(cpus)), *(Slot(cpus + number, "gpu") for number in range(gpus)))


def _processors() -> int:
    return len(os.sched_getaffinity(0))
