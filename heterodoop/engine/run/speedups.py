"""What a job begins with: what its bundle's last job on the same GPUs and as many CPU slots measured (decision 0014).

Not here: the file that keeps it (toolchain/speeds.py).
"""

from __future__ import annotations

from ... import manifest
from ...scheduler.estimates import Remembered
from ...toolchain import speeds
from ..job.device_names import EMULATED
from .plan import Plan

MIB = 1 << 20


def recall(plan: Plan) -> Remembered | None:
    """None: there was no such job within a day, or its GPUs are emulated."""
    name = _name(plan)
    found = speeds.recall(name) if name else None
    if found is None:
        return None
    gpu = found.gpu_seconds / MIB
    if not gpu:
        return Remembered(found.speedup, wakes=found.wakes, first=found.first)
    return Remembered(found.speedup, gpu * found.speedup, gpu * _sessions(plan), found.wakes, found.first)


def remember(plan: Plan, measured: Remembered | None) -> None:
    """`measured`: by the job; None: too little."""
    name = _name(plan)
    if name and measured:
        gpu = (measured.gpu or 0.0) * MIB / _sessions(plan)
        speeds.remember(name, speeds.Speeds(measured.speedup, gpu, measured.wakes, measured.first))


def _sessions(plan: Plan) -> float:
    """GPU slots of one GPU."""
    slots = plan.slots
    return (len(slots.every) - slots.cpu) / slots.gpus


def _name(plan: Plan) -> str:
    """"": nothing is kept of such a job."""
    gpus = [gpu.name for gpu in plan.offload.gpus] if plan.offload else []
    if not plan.offload or not gpus or EMULATED in gpus:
        return ""
    try:
        bundle = (plan.bundle / manifest.FILE).read_bytes()  # it has the hash of every other file
    except OSError:
        return ""
    whose = "lent" if plan.offload.driver.get("use") == "driver" else "run"  # a driver's GPUs are awake, and others use them
    return speeds.key(whose, bundle, gpus, str(plan.slots.cpu), str(_sessions(plan)), str(bool(plan.host)))
