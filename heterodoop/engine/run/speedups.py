"""How much faster a GPU was in a bundle's last job on this machine: the next one begins with it (decision 0014).

Kept in the user's cache, under a hash of the bundle and of what ran it; forgotten after a day, since a GPU that was busy
with something else would otherwise never be tried again. What cannot be read or written costs time, never a result.
"""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

from ... import manifest, scratch
from ...errors import HeteroDoopError
from ...toolchain import cache
from .plan import Plan

SECONDS = 86_400.0
_MOST = 1e9


def recall(plan: Plan) -> float | None:
    """S of the bundle's last job on the same GPUs with as many CPU slots; None: there was none, or its GPUs are emulated."""
    path = _path(plan)
    try:
        if path is None or time.time() - path.stat().st_mtime > SECONDS:
            return None
        speedup = float(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
    return speedup if 0 < speedup < _MOST else None


def remember(plan: Plan, speedup: float | None) -> None:
    """`speedup`: what the job measured; None: too little."""
    path = _path(plan)
    if path is None or not speedup:
        return
    with contextlib.suppress(OSError):
        path.parent.mkdir(mode=0o700, exist_ok=True)
        with scratch.folder(".making-", path.parent) as folder:
            (folder / path.name).write_text(f"{speedup:.6g}\n", encoding="ascii")
            scratch.into_place(folder / path.name, path)


def _path(plan: Plan) -> Path | None:
    if not plan.offload or not plan.offload.gpus:
        return None
    try:
        bundle = (plan.bundle / manifest.FILE).read_bytes()  # it has the hash of every other file
        gpus = sorted(gpu.name for gpu in plan.offload.gpus)
        key = cache.key([bundle, *gpus, str(plan.slots.cpu), str(plan.offload.sessions)])
        return cache.folder() / "speedups" / key
    except (OSError, HeteroDoopError):
        return None
