"""Builds the C++ test programs of the collector and the merge once per test process; with sanitizers in a sanitized run."""

from __future__ import annotations

import functools
import os
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
HOST = HERE.parent.parent / "runtime" / "host"

KIND = "sanitized" if "HETERODOOP_SANITIZED" in os.environ else "plain"  # set by tests/sanitized.py
FLAGS = {
    "plain": ["-O2"],
    "sanitized": ["-O1", "-g1", "-fno-omit-frame-pointer", "-fsanitize=address,undefined",
                  "-fno-sanitize-recover=undefined"],
}
# The collector's half of the runtime; the other half (processes, tasks, C ABI) is tested through the library.
PARTS = ("collector", "combine", "crc32", "fan_in", "file_io", "group_table", "ifile", "merge", "pair_check", "region",
         "segment_merger", "segment_reader", "sorted_load", "spill")
PROGRAMS = ("collector_tool", "unit_checks")


def environment() -> dict[str, str]:
    """Without a preloaded sanitizer library: the programs bring their own, the compiler needs none."""
    return {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}


@functools.cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="hd-native-tests-")


@functools.cache
def build() -> dict[str, Path]:
    """Program name -> path."""
    folder = Path(_folder().name)
    compiler = ["g++", "-std=c++20", "-fwrapv", "-Wall", "-Wextra", "-Werror", *FLAGS[KIND], f"-I{HOST}"]

    def run(argv: list[str]) -> None:
        subprocess.run(argv, check=True, env=environment())

    def compiled(source: Path) -> str:
        target = str(folder / f"{source.stem}.o")
        run([*compiler, "-c", str(source), "-o", target])
        return target

    sources = [HERE / f"{name}.cpp" for name in PROGRAMS] + [HOST / f"{name}.cpp" for name in PARTS]
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        objects = list(pool.map(compiled, sources))
    for i, name in enumerate(PROGRAMS):
        run([*compiler, objects[i], *objects[len(PROGRAMS):], "-o", str(folder / name)])
    return {name: folder / name for name in PROGRAMS}
