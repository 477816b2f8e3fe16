"""What the code behind a map's region needs to run behind the task's records: what these begin with, a folder to work in.

Its run is the native runtime's (runtime/host/task/epilogue.cpp). Not here: the program (compiler/emit/epilogue.py).
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from ...manifest import Kernel, Total


def nothing_gathered(kernel: Kernel) -> bytes:
    """A task's totals before its first record: numbers that change nothing."""
    totals = bytearray(kernel.total_bytes)
    for total in kernel.totals:
        nothing = _nothing(total).to_bytes(total.size, "little")
        totals[total.offset : total.offset + total.size * total.count] = nothing * total.count
    return bytes(totals)


def _nothing(total: Total) -> int:
    """As an unsigned number of the same bytes."""
    every = (1 << 8 * total.size) - 1
    greatest = every >> 1 if total.signed else every
    if total.op == "min":
        return greatest
    if total.op == "max":
        return every - greatest
    return every if total.op == "and" else 0


@contextlib.contextmanager
def private_folder(work: Path, scratch: Path, name: str) -> Iterator[Path]:
    """A working folder with the same files, so that the CPU filter finds its own as new if it must run after all."""
    folder = scratch / name
    folder.mkdir()
    try:
        for file in os.listdir(work):
            os.symlink(os.path.join(os.path.abspath(work), file), folder / file)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
