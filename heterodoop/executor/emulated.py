"""The emulated device: the kernels of a bundle on the CPU, lanes as fibers. It is never called a GPU.

It is there to find out whether kernels are right: their lanes can run in several orders, and memory that a program may
not read before it writes it holds a pattern. Modules are built on first use (toolchain_emulated). Not here: how a
task uses a device (gpu_task.py), real GPUs.
"""

from __future__ import annotations

from pathlib import Path

from .. import toolchain_emulated
from ..manifest import Manifest
from ..resources import find
from . import native_device
from .gpu_task import DeviceCode
from .native_device import DeviceOptions, EmulatedDevice, LaneOrder

__all__ = ["NAME", "DeviceOptions", "EmulatedDevice", "LaneOrder", "device_code", "runtime_module"]

NAME = EmulatedDevice.NAME


def device_code(bundle: Path, manifest: Manifest, cache: Path | None = None) -> DeviceCode | None:
    """The bundle's kernels as modules of the emulator; None where its map has none.

    Raises ToolError HD510, HD513, HD516: they cannot be built on this machine.
    """
    return native_device.device_code(
        bundle, manifest, lambda kernel: toolchain_emulated.emulated_module(bundle / kernel.source, cache))


def runtime_module(cache: Path | None = None) -> Path:
    """HeteroDoop's own kernels for the emulated device. Raises as `device_code`."""
    return toolchain_emulated.emulated_module(find("runtime", "device", "kernels.cu"), cache)
