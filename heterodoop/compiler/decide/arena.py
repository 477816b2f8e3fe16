"""How much memory a thread has for what its record allocates (runtime/device/lane/arena.cuh).

Calls of constant size say what they need; others get 16 KiB together. Nothing is used twice within a record, so what a
record frees counts, too; one that needs more leaves its task to the CPU. Host kernels, of which there is one, have more.
"""

from __future__ import annotations

from ..analysis.flow_objects import allocated_size
from ..analysis.objects import Arena
from ..analysis.points_to import PointsTo
from ..ir import ir

LEAST = 16 * 1024
MOST = 128 * 1024  # of 256 KB that a thread may have, beside all else
ON_HOSTS = 64 * 1024 * 1024
_STEP = 1024
_HEAD = 16


def arena_bytes(program: ir.Program, points_to: PointsTo) -> int:
    """Bytes of a device's thread, 0 where no record allocates or sorts."""
    sorts = any(s.name == "__hd_sort_begin" for s in program.externs)
    calls = [node for site, (_, node) in points_to.site_nodes.items() if isinstance(site, Arena)]
    known = sum(size + 2 * _HEAD for node in calls if (size := allocated_size(node)) is not None)
    needed = (LEAST if calls else 0) + (LEAST if sorts else 0) + known
    return min(-(-needed // _STEP) * _STEP, MOST)


def room_bytes(arena: int) -> int:
    """Of an arena with what is noted of it: to which block each 16 bytes belong, which bytes are written."""
    return arena + arena // 4 + arena // 8
