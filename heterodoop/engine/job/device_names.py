"""The names of devices, and whether a job needs one at all: what a job on the CPU knows of devices, and no more.

Everything else about them is in devices.py, which only jobs import that may use one (docs/decisions/0005).
"""

from __future__ import annotations

from ...errors import UsageError
from ...executor.gpu import gpus

CPU = "cpu"
EMULATED = "emulated"
CUDA = "cuda"
AUTO = "auto"  # the GPUs, where there are any that can be used and the program has kernels; else the CPU
DEVICES = (CPU, EMULATED, CUDA, AUTO)


def check_device(name: str) -> None:
    """Raises UsageError HD032 for a device that there is not."""
    if name not in DEVICES:
        raise UsageError(f"--device {name!r}: must be one of {', '.join(DEVICES)}", code="HD032")


def cpu_instead_of(device: str) -> str:
    """The device of `--cpu-only`. Raises UsageError HD032 where another one is asked for as well."""
    if device not in (AUTO, CPU):
        raise UsageError(f"--cpu-only and --device {device} exclude each other", code="HD032")
    return CPU


def may_use_device(name: str) -> bool:
    """Whether a job with this `--device` needs devices.py; costs two looks at the file system at most."""
    return name in (EMULATED, CUDA) or (name == AUTO and gpus.present())
