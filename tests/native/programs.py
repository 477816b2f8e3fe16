"""Builds the C++ test programs of the collector and the merge; with sanitizers in a sanitized run."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .. import kept

HERE = Path(__file__).parent
HOST = HERE.parent.parent / "runtime" / "host"

KIND = "sanitized" if "HETERODOOP_SANITIZED" in os.environ else "plain"  # set by tests/sanitized.py
FLAGS = {
    "plain": ["-O2"],
    "sanitized": ["-O1", "-g1", "-fno-omit-frame-pointer", "-fsanitize=address,undefined",
                  "-fno-sanitize-recover=undefined"],
}
# The collector and the ingest; the rest of the runtime (processes, tasks, C ABI) is tested through the library.
INGEST = ("base/split_file", "device/emu_device", "device/emu_memory", "device/radix_sort", "input/ingest",
          "input/ingest_cuts", "input/ingest_file", "input/ingest_readers", "input/records", "input/sub_splits")
PARTS = ("base/crc32", "base/file_io", "base/region", "collect/collector", "collect/combine", "collect/group_table",
         "collect/pair_check", "collect/sorted_load", "collect/spill", "collect/spill_set", "ifile/fan_in", "ifile/ifile",
         "ifile/merge", "ifile/segment_merger", "ifile/segment_reader", *INGEST)
PROGRAMS = ("collector_tool", "unit_checks", "ingest_checks")


def environment() -> dict[str, str]:
    """Without a preloaded sanitizer library: the programs bring their own, the compiler needs none."""
    return {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}


def build() -> dict[str, Path]:
    """Program name -> path. What changed since they were last built is compiled again."""
    compiler = ["g++", "-std=c++20", "-fwrapv", "-pthread", "-Wall", "-Wextra", "-Werror", *FLAGS[KIND], f"-I{HOST}"]

    def compiled(source: Path) -> Path:
        return kept.program([*compiler, "-c", source], folders=[HOST, HERE], name=f"{source.stem}.o")

    sources = [HERE / f"{name}.cpp" for name in PROGRAMS] + [HOST / f"{name}.cpp" for name in PARTS]
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        objects = list(pool.map(compiled, sources))
    parts = objects[len(PROGRAMS):]
    return {name: kept.program([*compiler, objects[i], *parts], name=name) for i, name in enumerate(PROGRAMS)}
