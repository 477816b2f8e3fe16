"""libhd_cuda, the CUDA device of the native runtime, and the runtime's own kernels, both made by nvcc on first use.

One object a file and per set of architectures: each of CUB's algorithms takes nvcc ten seconds, so they are compiled
in parallel and kept in `toolchain.cache`. Not here: a program's kernels (`toolchain.nvcc.build`), loading the library (the
executor).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .. import resources
from ..errors import ToolError
from ..together import Threads
from . import cache as build_cache
from . import cc
from .nvcc import FLAGS, Nvcc, check_environment, environment

_SUFFIXES = (".h", ".cuh", ".cu", ".cpp")
_OBJECT_FLAGS = ("-std=c++17", "-O3", "-Xcompiler", "-fPIC")
_LIBRARY_FLAGS = ("-shared", "-cudart", "static")


def cuda_library(nvcc: Nvcc, archs: Sequence[str], cache: Path | None = None) -> Path:
    """Path of libhd_cuda for the architectures (sm_90, ...), built if the cache does not hold it.

    Raises ToolError HD515 with nvcc's messages; HD516 without a cache folder.
    """
    home = (cache or build_cache.folder()) / "cuda"
    sources = sorted(p for p in resources.find("runtime", "cuda").iterdir() if p.suffix in (".cu", ".cpp"))
    generate = [word for arch in archs for word in ("-gencode", f"arch={arch.replace('sm_', 'compute_')},code={arch}")]
    flags = [*_OBJECT_FLAGS, *generate]
    headers = [resources.find("runtime", "host", "device", "device.h"), resources.find("runtime", "cuda", "algorithms.h")]
    common: list[str | bytes] = [
        *flags, build_cache.identity(nvcc.path), *environment(), *(h.read_bytes() for h in headers),
    ]

    def object_file(source: Path) -> Path:
        kept = home / f"{build_cache.key([*common, source.name, source.read_bytes()])}.o"
        return build_cache.get(kept, lambda path: _run(nvcc, [*flags, "-c", str(source)], path, source.name))

    with Threads() as work:
        objects = [begun.result() for begun in [work.begin(object_file, source) for source in sources]]
    kept = home / f"libhd_cuda.{build_cache.key([*_LIBRARY_FLAGS, *environment(), *(o.name for o in objects)])}.so"
    words = [*_LIBRARY_FLAGS, *map(str, objects), *library_folder(nvcc)]
    return build_cache.get(kept, lambda path: _run(nvcc, words, path, "libhd_cuda"))


def runtime_kernels(nvcc: Nvcc, arch: str, cache: Path | None = None) -> Path:
    """runtime/device/steps/kernels.cu as a cubin for one architecture. Raises as `cuda_library`, and ToolError HD514."""
    device = resources.find("runtime", "device")
    source = device / "steps" / "kernels.cu"
    flags = [*FLAGS, "-cubin", f"-arch={arch}"]
    check_environment()
    folders = (device, resources.find("runtime", "math"))
    headers = [word for folder in folders for word in build_cache.tree(folder, _SUFFIXES)]
    key = build_cache.key([*flags, build_cache.identity(nvcc.path), *environment(), source.read_bytes(), *headers])
    kept = (cache or build_cache.folder()) / "cuda" / f"{key}.cubin"
    include = ["-I", str(device)]
    return build_cache.get(kept, lambda path: _run(nvcc, [*flags, *include, str(source)], path, source.name))


def library_folder(nvcc: Nvcc) -> list[str]:
    """-L for a compiler from Python packages: it does not know that its libraries lie in lib, not in lib64."""
    folder = Path(nvcc.path).resolve().parent.parent / "lib"
    return ["-L", str(folder)] if (folder / "libcudart_static.a").is_file() else []


def _run(nvcc: Nvcc, words: list[str], out: Path, what: str) -> None:
    result = cc.run([nvcc.path, *words, "-o", str(out)], timeout=900)
    if result.returncode:
        said = result.stderr.strip() or result.stdout.strip() or f"exit status {result.returncode}"
        raise ToolError(f"nvcc cannot make {what}:\n{said[:8000]}", code="HD515")
