"""Builds the native runtime: runtime/host/*/*.cpp -> heterodoop/_native/libhd_host.so, with g++ alone.

The sources of a folder are compiled as one: most of a small source's time is its headers' (docs/decisions/0043). So two of
them cannot have the same name in their anonymous namespaces.

setup.py calls `compile_library` while it makes the wheel; `python -m heterodoop.toolchain.native [-o FILE]` does the same
for an installation that was made on a machine without a C++ compiler. Settings: CXX (the compiler, default g++),
HETERODOOP_SANITIZE=1 (AddressSanitizer and UndefinedBehaviorSanitizer, for tests).

Not here: loading the library (executor/native/runtime.py) and anything that needs nvcc.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .. import scratch
from ..errors import HeteroDoopError, ToolError
from ..resources import BUILD_NATIVE, NATIVE_LIBRARY, find
from . import compiler_words

# No -march=native: a wheel must run on every x86-64 machine, not only on the one that built it. -fwrapv: the
# HashPartitioner's int32 arithmetic wraps, as in Java. -fno-semantic-interposition: position-independent code may
# inline its own functions all the same.
CXX_FLAGS = ("-std=c++20", "-O3", "-fwrapv", "-fPIC", "-fno-semantic-interposition", "-pthread", "-Wall", "-Wextra")
PRECOMPILED = "base/precompiled.h"  # below runtime/host
WORTHWHILE = 8  # folders for which it takes less time than it saves
SANITIZE_FLAGS = ("-Og", "-g1", "-fno-omit-frame-pointer", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined")


def compile_library(sources: Sequence[Path], target: Path, *, sanitize: bool = False) -> Path:
    """Compile `sources`, folders in parallel, and link them to `target`, which appears complete or not at all.

    sources   the .cpp files; quoted includes start at runtime/host.
    sanitize  build with AddressSanitizer and UndefinedBehaviorSanitizer; the process that loads the library then
              needs libasan first (LD_PRELOAD, see `sanitizer_preload`).
    Raises ToolError HD510: no C++ compiler, or it refused a file (its own output is in the message).
    """
    if not sources:
        raise ToolError("runtime/host holds no .cpp file", code="HD510", help="install HeteroDoop again (pip install .)")
    flags = [*CXX_FLAGS, *(SANITIZE_FLAGS if sanitize else ()), "-I", str(find("runtime", "host"))]
    target.parent.mkdir(parents=True, exist_ok=True)
    # Beside the target, so that the rename stays inside one file system and a running job keeps its old library.
    with scratch.folder(f".{target.name}.", target.parent) as folder:
        units = _units(sources)
        objects = [folder / f"{i}-{unit[0].parent.name}.o" for i, unit in enumerate(units)]
        jobs = [_words(unit, obj) for unit, obj in zip(units, objects, strict=True)]
        quick = [*_precompiled(flags, folder), *flags] if len(units) >= WORTHWHILE else flags
        with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
            list(pool.map(lambda words: _object(words, quick, flags, folder), jobs))
        partial = folder / target.name
        _compiler([*flags, "-shared", *map(str, objects), "-ldl", "-o", str(partial)], folder)
        scratch.into_place(partial, target)
    return target


def sanitizer_preload() -> dict[str, str]:
    """Environment under which an ordinary Python can load a library that was built with `sanitize`.

    libstdc++ comes first in the process too: AddressSanitizer looks for its exceptions only once, at the start. Leaks
    are not reported, since CPython itself keeps memory at exit. Raises ToolError HD510 where g++ has no libasan.
    """
    paths = [_compiler([f"-print-file-name={name}"]).strip() for name in ("libasan.so", "libstdc++.so")]
    if not os.path.isabs(paths[0]):
        raise ToolError("g++ has no libasan.so", code="HD510", help="install libasan of your g++ (Debian: libgcc-12-dev)")
    options = {"ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1"}
    return {"LD_PRELOAD": " ".join(paths), **options}


def wants_sanitizer() -> bool:
    """Whether HETERODOOP_SANITIZE asks for a sanitizer build."""
    return os.environ.get("HETERODOOP_SANITIZE", "") not in ("", "0")


def native_sources() -> list[Path]:
    """The .cpp files of the native runtime, in a stable order."""
    return sorted(find("runtime", "host").rglob("*.cpp"))


def _units(sources: Sequence[Path]) -> list[list[Path]]:
    """The sources of each folder, the largest unit first: nobody waits for one that begins last."""
    folders: dict[Path, list[Path]] = {}
    for source in sources:
        folders.setdefault(source.parent, []).append(source)
    return sorted(folders.values(), key=lambda unit: -sum(source.stat().st_size for source in unit))


def _words(unit: Sequence[Path], target: Path) -> list[str]:
    """For the compiler, which reads all but the last as if it included them."""
    *before, last = map(str, unit)
    return [*(word for source in before for word in ("-include", source)), "-c", last, "-o", str(target)]


def _precompiled(flags: Sequence[str], folder: Path) -> list[str]:
    """Compile PRECOMPILED below `folder`; the words that use it. Half of the work is to read the standard's headers."""
    source, target = find("runtime", "host", *PRECOMPILED.split("/")), folder / f"{PRECOMPILED}.gch"
    target.parent.mkdir()
    try:
        _compiler([*flags, "-x", "c++-header", str(source), "-o", str(target)], folder)
    except ToolError:
        return []  # the sources say what is wrong, if anything is
    return ["-I", str(folder), "-include", PRECOMPILED]


def _object(words: Sequence[str], quick: Sequence[str], flags: Sequence[str], folder: Path) -> None:
    """Compile one unit, without the precompiled header where it fails with it: not every system lets g++ load one."""
    try:
        _compiler([*quick, *words], folder)
    except ToolError:
        if quick == flags:
            raise
        _compiler([*flags, *words], folder)


def _compiler(arguments: Sequence[str], folder: Path | None = None) -> str:
    """Run the C++ compiler and return its stdout. `folder`: for its temporary files."""
    env = {**os.environ, "TMPDIR": str(folder)} if folder else None
    argv = [*compiler_words.own(shlex.split(os.environ.get("CXX", "")) or ["g++"]), *arguments]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, errors="replace", check=False, env=env)
    except OSError as error:
        raise ToolError(
            f"C++ compiler not found: {argv[0]}: {error.strerror}", code="HD510",
            help=f"install g++ (Debian: apt install g++), or set CXX, then run: {BUILD_NATIVE}",
        ) from None
    if done.returncode:
        raise ToolError(f"{shlex.join(argv)} failed:\n{done.stderr.rstrip()}", code="HD510")
    return done.stdout


def main() -> None:
    """Build the library into this installation, or to the file after -o, and say where it lies."""
    parser = argparse.ArgumentParser(prog=BUILD_NATIVE, description="Build HeteroDoop's native runtime with g++.")
    parser.add_argument("-o", "--output", type=Path, default=NATIVE_LIBRARY, help="the library to write")
    target: Path = parser.parse_args().output
    try:
        print(compile_library(native_sources(), target, sanitize=wants_sanitizer()))
    except HeteroDoopError as error:
        print(error.told, file=sys.stderr)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
