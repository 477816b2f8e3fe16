"""Builds the C++ test programs of the native runtime's parts; with sanitizers in a sanitized run."""

from __future__ import annotations

import os
from pathlib import Path

from heterodoop.resources import native_library

from .. import kept

HERE = Path(__file__).parent
HOST = HERE.parent.parent / "runtime" / "host"

KIND = "sanitized" if "HETERODOOP_SANITIZED" in os.environ else "plain"  # set by tests/sanitized.py
FLAGS = {
    "plain": ["-O2"],
    "sanitized": ["-O1", "-g1", "-fno-omit-frame-pointer", "-fsanitize=address,undefined",
                  "-fno-sanitize-recover=undefined"],
}
# What the ingest consists of, for a build of its own with another sanitizer.
INGEST = ("base/split_file", "device/emu_device", "device/emu_memory", "device/radix_sort", "input/ingest",
          "input/ingest_cuts", "input/ingest_file", "input/ingest_readers", "input/records", "input/delimiter_cut",
          "input/sub_splits")


def environment() -> dict[str, str]:
    """Without a preloaded sanitizer library: the programs bring their own, the compiler needs none."""
    return {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}


def build(name: str) -> Path:
    """The program NAME.cpp of this folder, linked with the library that is tested; built again when either changes."""
    compiler = ["g++", "-std=c++20", "-fwrapv", "-pthread", "-Wall", "-Wextra", "-Werror", *FLAGS[KIND], f"-I{HOST}"]
    library = native_library().resolve()
    words = [*compiler, HERE / f"{name}.cpp", library, f"-Wl,-rpath,{library.parent}"]
    return kept.program(words, folders=[HOST, HERE], name=name)
