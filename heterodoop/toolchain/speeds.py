"""How fast a bundle's last job was on this machine's processors and GPUs: its next job begins with that (decision 0014).

One small file per bundle and machine in the user's cache, of the embedded engine and of a node's driver. It counts for a
day, since a GPU that was busy with something else would otherwise never be tried again. What is old or damaged counts as
nothing; what cannot be read or written costs time, never a result.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from .. import scratch
from ..errors import HeteroDoopError
from ..regular import read_regular
from . import cache

SECONDS = 86_400.0
_MOST_BYTES = 1024
_MOST = 1e9
_GROWTH = 1.1


class Speeds(NamedTuple):
    """speedup      S: map tasks that one GPU does while a CPU slot does one.
    gpu_seconds  of one GPU per MiB of split; 0: not known.
    wakes        seconds from a job's start until its first GPU slot opened; 0 under Hadoop, where GPUs are awake.
    first        seconds that a GPU slot's first task takes longer than others.
    age          seconds since it was written.
    """

    speedup: float
    gpu_seconds: float = 0.0
    wakes: float = 0.0
    first: float = 0.0
    age: float = 0.0


def key(side: str, bundle: bytes, gpus: Iterable[str], *more: str) -> str:
    """The name of an entry. side: "run" or "hadoop", whose CPU slots are not the same; bundle: what tells it from others;
    gpus: their names."""
    return cache.key([side, os.uname().nodename, bundle, *sorted(gpus), *more])


def recall(name: str) -> Speeds | None:
    """None: there is nothing, it is older than a day, or it is not what was written."""
    found = _found(name, Speeds._fields[:-1])
    if found is None or not found[0][0]:
        return None
    numbers, age = found
    return Speeds(*numbers)._replace(age=max(0.0, age))


def remember(name: str, speeds: Speeds) -> None:
    """Replace the entry, and remove those of which nothing counts any more."""
    keep(name, dict(zip(Speeds._fields[:-1], speeds, strict=False)))


def numbers(name: str, fields: Sequence[str]) -> list[float] | None:
    """These of an entry that `keep` made; None as `recall`."""
    found = _found(name, fields)
    return found[0] if found else None


def keep(name: str, fields: Mapping[str, float]) -> None:
    """As `remember`, of any numbers from 0 on."""
    with contextlib.suppress(OSError, HeteroDoopError):
        text = json.dumps({field: float(f"{value:.6g}") for field, value in fields.items()})
        scratch.write(_folder() / name, text + "\n")
        _remove_old(_folder())


def least(new: float, old: float | None) -> float:
    """What to keep of seconds that other work makes longer, map tasks on all processors above all: what is longer than the
    last time counts little by little."""
    return min(new, old * _GROWTH) if old else new


def _found(name: str, fields: Sequence[str]) -> tuple[list[float], float] | None:
    """The numbers, and how many seconds ago they were written."""
    try:
        path = _folder() / name
        age = time.time() - path.stat().st_mtime
        found = json.loads(read_regular(path, _MOST_BYTES)) if age <= SECONDS else None
    except (OSError, ValueError, RecursionError, HeteroDoopError):
        return None
    if not isinstance(found, dict):
        return None
    numbers = [_number(found.get(field)) for field in fields]
    return ([number or 0.0 for number in numbers], age) if None not in numbers else None


def _folder() -> Path:
    return cache.folder() / "speedups"


def _remove_old(folder: Path) -> None:
    limit = time.time() - SECONDS
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_file(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_mtime < limit:
                os.unlink(entry.path)


def _number(value: Any) -> float | None:
    """None: it is no number that can be."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if isfinite(value) and 0 <= value < _MOST else None
