"""What the code behind a map's region needs to run behind the task's records: what these begin with, a folder to work in.

Its run is the native runtime's (runtime/host/task/epilogue.cpp). Not here: the program (compiler/emit/epilogue.py).
"""

from __future__ import annotations

import contextlib
import math
import os
import shutil
import struct
from collections.abc import Iterator
from pathlib import Path

from ...manifest import Kernel, Total


def nothing_gathered(kernel: Kernel) -> bytes:
    """A task's totals before its first record: numbers that change nothing."""
    totals = bytearray(kernel.total_bytes)
    for total in kernel.totals:
        run = _nothing(total).to_bytes(total.size, "little") * total.inner
        runs, first = total.count // total.inner, total.offset
        if runs < len(run):
            for at in range(first, first + runs * total.stride, total.stride):
                totals[at : at + len(run)] = run
        else:  # the first bytes of all runs, then the second ones
            for i, byte in enumerate(run):
                totals[first + i : first + i + (runs - 1) * total.stride + 1 : total.stride] = bytes([byte]) * runs
    return bytes(totals)


def _nothing(total: Total) -> int:
    """As an unsigned number of the same bytes."""
    every = (1 << 8 * total.size) - 1
    greatest = every >> 1 if total.signed else every
    if total.op in ("first-min", "last-min", "first-max", "last-max"):
        infinity = math.inf if total.op.endswith("min") else -math.inf
        return int.from_bytes(struct.pack("<d" if total.size == 8 else "<f", infinity), "little")
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
