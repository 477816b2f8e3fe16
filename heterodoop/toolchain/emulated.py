"""Kernel text -> a library that the emulated device loads: the same text that nvcc gets, compiled by g++.

Built on first use into the cache (`toolchain.cache`). Settings: CXX (the compiler, words allowed, default g++). Not here:
loading the library (the executor), lanes and memory of the emulated device (runtime/emu).
"""

from __future__ import annotations

from pathlib import Path

from .. import resources
from ..errors import ToolError
from . import cache as build_cache
from . import cc, cxx

# -O1: a module is used for a few tasks or tests, and g++ -O2 takes twice as long for it. Signed overflow, aliasing and
# contraction as in the CPU filter, so that both compute the same.
FLAGS = ("-std=c++17", "-O1", "-fwrapv", "-fno-strict-aliasing", "-ffp-contract=off", "-fPIC", "-shared", "-pthread")
SANITIZE_FLAGS = ("-g", "-fno-omit-frame-pointer", "-fsanitize=address")
SUFFIXES = (".h", ".cuh", ".cu", ".hpp")


def emulated_module(source: Path, cache: Path | None = None, *, sanitize: bool = False) -> Path:
    """The emulator's library of a kernel file (`.cu`), built if the cache does not hold it.

    cache     folder to keep it in, default `build_cache.folder()`.
    sanitize  with AddressSanitizer; the process that loads it needs libasan first (`toolchain.native.sanitizer_preload`).
    Raises ToolError: HD510 no C++ compiler, HD513 it refused the text (its messages, placed in the user's C), HD503 it did
    not end, HD516 no cache folder; OSError where `source` cannot be read.
    """
    compiler = cxx.find_cxx()
    flags = [*FLAGS, *(SANITIZE_FLAGS if sanitize else ())]
    device, emulator = resources.find("runtime", "device"), resources.find("runtime", "emu")
    text = source.read_bytes()
    math = resources.find("runtime", "math")
    headers = [word for folder in (device, emulator, math) for word in build_cache.tree(folder, SUFFIXES)]
    told = text if sanitize else build_cache.placeless(text)
    name = build_cache.key([*flags, *compiler, build_cache.identity(compiler[0]), *cc.environment(), told, *headers])
    include = ["-include", str(emulator / "cuda_emu.h"), "-I", str(device)]

    def build(partial: Path) -> None:
        copy = partial.with_name(source.name)  # compiled under its hash: what changes the original now is too late
        copy.write_bytes(text)
        words = [*compiler, *flags, *include, "-I", str(source.resolve().parent), "-x", "c++", str(copy)]
        result = cc.run([*words, "-o", str(partial)], timeout=cc.patience())
        if result.returncode:
            message = result.stderr.strip().replace(str(copy), str(source)) or cc.ended(result.returncode)
            raise ToolError(f"{compiler[0]} cannot compile the kernels of {source}:\n{message[:8000]}", code="HD513")

    return build_cache.get((cache or build_cache.folder()) / "emulated" / f"{name}.so", build)
