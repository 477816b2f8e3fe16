"""Damage at rest: a file that is not what it was when somebody reads it again."""

from __future__ import annotations

import os
import random
from pathlib import Path


def spoil(path: Path, how: str, rnd: random.Random) -> None:
    """`how`: of faults.AT_REST; `rnd` chooses where."""
    data = bytearray(path.read_bytes())
    mode = path.stat().st_mode & 0o777
    path.unlink()
    if how in ("remove", "fifo", "folder"):
        {"remove": lambda: None, "fifo": lambda: os.mkfifo(path), "folder": path.mkdir}[how]()
        return
    if how == "flip" and data:
        data[rnd.randrange(len(data))] ^= 1 << rnd.randrange(8)
    elif how == "zero":
        at = rnd.randrange(len(data) + 1) & ~0xFFF
        data[at : at + 4096] = bytes(len(data[at : at + 4096]))
    elif how == "longer":
        data += rnd.randbytes(rnd.randrange(1, 5000))
    else:
        del data[0 if how == "empty" else rnd.randrange(len(data) + 1) :]
    path.write_bytes(data)
    path.chmod(mode)
