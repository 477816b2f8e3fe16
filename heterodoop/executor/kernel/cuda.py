"""CUDA devices: which compiled kernels of a bundle run on this machine's GPU, and opening it.

The CUDA library and HeteroDoop's own kernels are built on first use (`cuda_library`). Not here: how a task uses a device
(gpu_task.py), the resident worker processes of the GPU driver.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from ...errors import ToolError
from ...manifest import Cubin, Kernel, Manifest
from ...toolchain import cuda_library
from ...toolchain import nvcc as toolchain_cuda
from ...toolchain.nvcc import capability
from . import native_device
from .gpu_task import DeviceCode
from .native_device import CudaDevice

__all__ = ["NAME", "CudaDevice", "choose", "device_code", "device_library"]

NAME = CudaDevice.NAME


def device_library(archs: Sequence[str], cache: Path | None = None) -> tuple[Path, dict[str, Path]]:
    """libhd_cuda for GPUs of these architectures, and HeteroDoop's own kernels for each of them.

    Raises ToolError HD518 without nvcc, HD515 where it fails.
    """
    nvcc = toolchain_cuda.find_nvcc()
    if nvcc is None:
        raise ToolError(
            "the CUDA library cannot be built: there is no nvcc", code="HD518",
            help="install the CUDA toolkit, or: pip install 'heterodoop[nvcc]'",
        )
    library = cuda_library.cuda_library(nvcc, archs, cache)
    return library, {arch: cuda_library.runtime_kernels(nvcc, arch, cache) for arch in archs}


def device_code(bundle: Path, manifest: Manifest, arch: str) -> DeviceCode | None:
    """The bundle's kernels for the architecture; None where its map has none, compiled or at all."""

    def module(kernel: Kernel) -> Path | None:
        cubin = choose(kernel.cubins, arch)
        return bundle / cubin.path if cubin else None

    return native_device.device_code(bundle, manifest, module)


def choose(cubins: Iterable[Cubin], arch: str) -> Cubin | None:
    """What runs on `arch`: its own code, else that of an older one of its generation (the newest), else the newest PTX
    that is not newer than it."""
    major, minor = capability(arch)
    known = [(capability(cubin.arch), cubin) for cubin in cubins]
    own = [(of, c) for of, c in known if c.arch.startswith("sm_") and of[0] == major and of[1] <= minor]
    ptx = [(of, c) for of, c in known if c.arch.startswith("compute_") and of <= (major, minor)]
    return max(own or ptx, key=lambda row: row[0], default=(None, None))[1]
