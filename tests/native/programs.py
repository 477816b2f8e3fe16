"""Builds the C++ test programs of the collector and the merge once per test run; with sanitizers in a sanitized run."""

from __future__ import annotations

import fcntl
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

HERE = Path(__file__).parent
HOST = HERE.parent.parent / "runtime" / "host"

KIND = "sanitized" if "HETERODOOP_SANITIZED" in os.environ else "plain"  # set by tests/sanitized.py
FLAGS = {
    "plain": ["-O2"],
    "sanitized": ["-O1", "-g1", "-fno-omit-frame-pointer", "-fsanitize=address,undefined",
                  "-fno-sanitize-recover=undefined"],
}
# The collector and the ingest; the rest of the runtime (processes, tasks, C ABI) is tested through the library.
INGEST = ("emu_device", "emu_memory", "ingest", "ingest_cuts", "ingest_file", "ingest_readers", "radix_sort", "records",
          "split_file", "sub_splits")
PARTS = ("collector", "combine", "crc32", "fan_in", "file_io", "group_table", "ifile", "merge", "pair_check", "region",
         "segment_merger", "segment_reader", "sorted_load", "spill", "spill_set", *INGEST)
PROGRAMS = ("collector_tool", "unit_checks", "ingest_checks")


def environment() -> dict[str, str]:
    """Without a preloaded sanitizer library: the programs bring their own, the compiler needs none."""
    return {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}


def build(factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Program name -> path. The workers of one pytest-xdist run share a build; the first to come makes it."""
    base = factory.getbasetemp().parent if "PYTEST_XDIST_WORKER" in os.environ else factory.getbasetemp()
    folder = base / "native-programs"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "complete").exists():
            _build_in(folder)
            (folder / "complete").touch()
    return {name: folder / name for name in PROGRAMS}


def _build_in(folder: Path) -> None:
    compiler = ["g++", "-std=c++20", "-fwrapv", "-pthread", "-Wall", "-Wextra", "-Werror", *FLAGS[KIND], f"-I{HOST}"]

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
