"""Builds the C++ test programs of the native runtime's parts; with sanitizers in a sanitized run."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

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
          "input/ingest_cuts", "input/ingest_file", "input/ingest_kept", "input/ingest_readers", "input/kept_texts",
          "input/records", "input/delimiter_cut", "input/sub_splits")
# And what the output goes through.
OUTPUT = ("base/crc32", "base/file_io", "base/file_range", "base/text_output", "device/emu_device", "device/emu_memory",
          "device/radix_sort", "ifile/ifile", "output/room", "output/segments", "output/writers")


def environment() -> dict[str, str]:
    """Without a preloaded sanitizer library: the programs bring their own, the compiler needs none."""
    return {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}


def thread_sanitized(name: str, parts: Sequence[str], folder: Path) -> Path:
    """The program NAME.cpp with its `parts` of the runtime, built with ThreadSanitizer.

    They are one source, since two thirds of the time is reading headers: each name of theirs is there once.
    """
    asked = subprocess.run(["g++", "-print-file-name=libtsan.so"], capture_output=True, text=True, check=True)
    if not Path(asked.stdout.strip()).is_absolute():
        pytest.skip("g++ has no ThreadSanitizer")
    sources = [*(HOST / f"{part}.cpp" for part in parts), HERE / f"{name}.cpp"]
    whole = folder / "whole.cpp"
    whole.write_text("".join(f'#include "{source}"\n' for source in sources))
    subprocess.run(["g++", "-std=c++20", "-fwrapv", "-O1", "-g1", "-fsanitize=thread", "-pthread", f"-I{HOST}", whole,
                    "-o", folder / name], check=True)
    return folder / name


def build(name: str) -> Path:
    """The program NAME.cpp of this folder, linked with the library that is tested; built again when either changes."""
    compiler = ["g++", "-std=c++20", "-fwrapv", "-pthread", "-Wall", "-Wextra", "-Werror", *FLAGS[KIND], f"-I{HOST}"]
    library = native_library().resolve()
    words = [*compiler, HERE / f"{name}.cpp", library, f"-Wl,-rpath,{library.parent}"]
    return kept.program(words, folders=[HOST, HERE], name=name)
