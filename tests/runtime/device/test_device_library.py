"""The device's C library, built by g++ as host code, against the C library of this machine (glibc).

The drivers in device/ compare with seeded random inputs and with corner cases. Each is built twice: as kernels are on the
emulator, and with sanitizers for fewer cases. Not here: the same text as device code.
"""

from __future__ import annotations

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from heterodoop.toolchain import probe

from ... import kept

HERE = Path(__file__).parent
HEADERS = HERE.parents[2] / "runtime" / "device"
LIBRARY = (
    "arith bits ctype dates decimal format format_real format_text math memory numbers parse_real powers round_decimal scan "
    "scan_set library string_words strings"
).split()
# Cases per driver: a second or two each.
DRIVERS = {"print_reals": 300_000, "print_text": 1_000_000, "parse_numbers": 1_000_000, "text": 1_000_000, "scan": 600_000,
           "arithmetic": 2_000_000, "dates": 60_000}
AS_KERNELS = ["-std=c++17", "-O1", "-fwrapv", "-fno-strict-aliasing", "-ffp-contract=off"]
WARNINGS = ["-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Wno-format-nonliteral", "-Werror"]
# Behaviours that differ among libraries (runtime/device/libc/library.cuh), as this machine's library has them. g++ defines
# _GNU_SOURCE, so that newer headers lead to C23's functions.
LIBRARY_MACROS = sorted({
    macro for name in probe.machine().behaviour for macro in probe.machine().macros(name) or ()
})
SANITIZERS = ["-O0", "-g1", "-fno-wrapv",  # -O0: most of the time is the compiler's
              "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}


def build(name: str, options: list[str]) -> Path:
    # -fno-builtin: glibc's functions are to be called, not what the compiler knows of them.
    options = [*options, *(f"-D{macro}=1" for macro in LIBRARY_MACROS)]
    argv = ["g++", *AS_KERNELS, "-fno-builtin", *WARNINGS, *options, f"-I{HEADERS}", str(HERE / f"{name}.cpp")]
    return kept.program(argv, folders=[HEADERS, HERE], name=name)


def build_all(options: list[str]) -> dict[str, Path]:
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(DRIVERS, pool.map(lambda name: build(name, options), DRIVERS), strict=True))


@pytest.fixture(scope="module")
def drivers() -> dict[str, Path]:
    return build_all([])


@pytest.fixture(scope="module")
def sanitized_drivers() -> dict[str, Path]:
    return build_all(SANITIZERS)


def run(program: Path, cases: int, seed: int) -> None:
    done = subprocess.run([str(program), str(cases), str(seed)], capture_output=True, text=True, errors="replace",
                          env=ENVIRONMENT, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", DRIVERS)
def test_as_glibc(drivers: dict[str, Path], name: str) -> None:
    run(drivers[name], DRIVERS[name], 1)


@pytest.mark.parametrize("name", DRIVERS)
def test_as_glibc_with_sanitizers(sanitized_drivers: dict[str, Path], name: str) -> None:
    run(sanitized_drivers[name], DRIVERS[name] // 20, 2)


@pytest.mark.parametrize("options", [[], SANITIZERS], ids=["plain", "sanitized"])
def test_strings_by_words_as_glibc(options: list[str]) -> None:
    run(build("text", ["-DHD_WORD_STRINGS=1", *options]), DRIVERS["text"] // (20 if options else 1), 3)


@pytest.mark.parametrize("name", LIBRARY)
def test_each_header_stands_alone(name: str) -> None:
    argv = ["g++", *AS_KERNELS, *WARNINGS, f"-I{HEADERS}", "-fsyntax-only", "-x", "c++", "-"]
    subprocess.run(argv, input=f'#include "libc/{name}.cuh"\n', text=True, check=True, env=ENVIRONMENT)
