"""Which GPUs the last command found: the next one plans its job by that, and its CPU slots begin while the driver wakes.

One small file for this machine since it was started, and for what its environment lets a process see. A worker says itself
what there is as soon as its driver is awake: where that is something else, its GPUs are not used by that job
(worker/client.py). What is damaged or cannot be kept counts as nothing.
"""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

from ... import scratch
from ...errors import HeteroDoopError
from ...regular import read_regular
from ...toolchain import cache
from .gpus import Gpu, Survey

BOOT = Path("/proc/sys/kernel/random/boot_id")
DEVICES = Path("/dev")
_MOST_BYTES = 1 << 16
_VISIBLE = ("CUDA_", "NVIDIA_")  # variables that say which GPUs there are, and in what order


def recall() -> Survey | None:
    """None: nothing is known."""
    try:
        fields = json.loads(read_regular(_file(), _MOST_BYTES))
        (major, minor), found = fields["driver"], [Gpu(**gpu) for gpu in fields["gpus"]]
        return Survey((major, minor), tuple(found)) if all(map(_is_one, found)) else None
    except (OSError, ValueError, TypeError, KeyError, RecursionError, HeteroDoopError):
        return None


def remember(survey: Survey) -> None:
    """For commands to come."""
    with contextlib.suppress(OSError, HeteroDoopError):
        fields = {"driver": survey.driver, "gpus": [gpu._asdict() for gpu in survey.gpus]}
        scratch.write(_file(), json.dumps(fields) + "\n")


def forget() -> None:
    """It was wrong."""
    with contextlib.suppress(OSError, HeteroDoopError):
        _file().unlink(missing_ok=True)


def _file() -> Path:
    """Raises OSError, HeteroDoopError: there is none."""
    visible = sorted(f"{name}={value}" for name, value in os.environ.items() if name.startswith(_VISIBLE))
    nodes = sorted(name for name in os.listdir(DEVICES) if name.startswith("nvidia"))
    name = cache.key([BOOT.read_text(), os.uname().nodename, *visible, "", *nodes])
    return cache.folder() / "gpus" / name


def _is_one(gpu: Gpu) -> bool:
    numbers, texts = (gpu.number, gpu.memory), (gpu.name, gpu.arch, gpu.uuid)
    return all(type(number) is int and number >= 0 for number in numbers) and all(type(text) is str for text in texts)
