"""The emulated device: the kernels of a bundle on the CPU, lanes as fibers. It is never called a GPU.

It is there to find out whether kernels are right: their lanes can run in several orders, and memory that a program may
not read before it writes it holds a pattern. Modules are built on first use (`toolchain.emulated`). Not here: how a
task uses a device (gpu_task.py), real GPUs.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ...errors import ToolError, strict
from ...manifest import Kernel, Manifest
from ...resources import find
from ...toolchain import cc, emulated
from . import native_device
from .gpu_task import DeviceCode
from .native_device import DeviceOptions, EmulatedDevice, LaneOrder

__all__ = ["NAME", "DeviceOptions", "EmulatedDevice", "LaneOrder", "device_code", "runtime_module"]

NAME = EmulatedDevice.NAME
_REFUSED = frozenset({"HD503", "HD513"})  # the compiler did not end, or not well


def device_code(
    bundle: Path, manifest: Manifest, tell: Callable[[str], None], cache: Path | None = None,
) -> DeviceCode | None:
    """The bundle's kernels as modules of the emulator; None where its map has none.

    tell  hears why one cannot be compiled, which is the CPU's then.
    Raises ToolError HD510, HD516: nothing can be built on this machine; HD503 and HD513, the compiler fails on a kernel's
    text, only where `errors.strict` says so.
    """

    def module(kernel: Kernel) -> Path | None:
        try:
            return emulated.emulated_module(bundle / kernel.source, cache)
        except ToolError as error:
            if error.code not in _REFUSED or strict():
                raise
            said = cc.main_line(error.message)
            tell(f"the text of {kernel.source} cannot be compiled (please report this, with the program): {said}")
            return None

    return native_device.device_code(bundle, manifest, module)


def runtime_module(cache: Path | None = None) -> Path:
    """HeteroDoop's own kernels for the emulated device. Raises as `device_code`."""
    return emulated.emulated_module(find("runtime", "device", "steps", "kernels.cu"), cache)
