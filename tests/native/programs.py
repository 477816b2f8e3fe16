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
INGEST = ("emu_device", "emu_memory", "ingest", "ingest_cuts", "ingest_file", "ingest_readers", "radix_sort", "records",
          "split_file", "sub_splits")
PARTS = ("collector", "combine", "crc32", "fan_in", "file_io", "group_table", "ifile", "merge", "pair_check", "region",
         "segment_merger", "segment_reader", "sorted_load", "spill", "spill_set", *INGEST)
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
