"""What a job's settings ask of the devices that run its map tasks."""

from __future__ import annotations

from ..executor.kernel.native_device import DeviceOptions
from .jobconf import JobConf
from .settings import INGEST_THREADS


def device_options(conf: JobConf, gpus: int = 0, sessions: int = 0) -> DeviceOptions:
    """Of `sessions` tasks at a time on each of `gpus` devices with worker processes. Raises ValueError as `JobConf.get`."""
    return DeviceOptions(
        sub_split=conf.get("heterodoop.gpu.sub-split.bytes"), arena=conf.get("heterodoop.gpu.arena.bytes"),
        memory=conf.get("heterodoop.emulated.memory.bytes"), order=conf.get("heterodoop.emulated.order"),
        seed=conf.get("heterodoop.emulated.seed"), pattern=conf.get("heterodoop.emulated.pattern"),
        ingest_threads=conf.get(INGEST_THREADS), workers=gpus * sessions, sessions=sessions,
    )
