"""What a job begins with: what its bundle's last job on the same GPUs and as many CPU slots measured (decision 0014).

Not here: the file that keeps it (toolchain/speeds.py).
"""

from __future__ import annotations

from ... import manifest
from ...executor.gpu import gpus
from ...scheduler.estimates import Remembered
from ...scheduler.policies import CPU_ONLY, TAIL
from ...toolchain import short_jobs, speeds
from ..job.device_names import EMULATED
from .plan import Plan, RunOptions

MIB = 1 << 20
SAME = 0.1  # parts by which a time may differ and is not written down again


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
        known = speeds.recall(name) or speeds.Speeds(0.0)
        wakes, first = speeds.least(measured.wakes, known.wakes), speeds.least(measured.first, known.first)
        speeds.remember(name, speeds.Speeds(measured.speedup, gpu, wakes, first))
        if measured.wakes:
            short_jobs.remember_waking(measured.wakes + measured.first)


def remember_short(plan: Plan, options: RunOptions, seconds: float) -> None:
    """A job whose map tasks the CPU did all took so long for them. Nothing is kept where no GPU can be."""
    if not gpus.present() or plan.slots.policy not in (CPU_ONLY, TAIL):
        return
    name = short_jobs.name_of(plan.bundle, options.__getattribute__)
    known = short_jobs.expected(name, plan.input_bytes)
    if known is None or abs(seconds - known) > SAME * known:
        short_jobs.remember(name, plan.input_bytes, seconds)


def _sessions(plan: Plan) -> float:
    """GPU slots of one GPU."""
    slots = plan.slots
    return (len(slots.every) - slots.cpu) / slots.gpus


def _name(plan: Plan) -> str:
    """"": nothing is kept of such a job."""
    names = [gpu.name for gpu in plan.offload.gpus] if plan.offload else []
    if not plan.offload or not names or EMULATED in names:
        return ""
    try:
        bundle = (plan.bundle / manifest.FILE).read_bytes()  # it has the hash of every other file
    except OSError:
        return ""
    whose = "lent" if plan.offload.driver.get("use") == "driver" else "run"  # a driver's GPUs are awake, and others use them
    return speeds.key(whose, bundle, names, str(plan.slots.cpu), str(_sessions(plan)), str(bool(plan.host)))
