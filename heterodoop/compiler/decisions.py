"""Everything the CUDA emitter needs besides the IR: where variables live, and how a kernel is launched.

Plain values that print (`--emit decisions`) and compare. Made by `placement`, `launch` and `optimisations`, read by
`emit_cuda`, `emit_host` and `explain`. No decision is taken here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..manifest import VariableClass
from .ctype import CType

Space = Literal["constant", "parameter", "parameter-array", "global", "shared", "texture", "private", "lane"]
Sink = Literal["BlockCursor", "ThreadArea"]

SPACES: dict[Space, str] = {
    "constant": "a constant table in the kernel's text: its initialiser is known and nobody writes it",
    "parameter": "a kernel parameter (constant bank)",
    "parameter-array": "an array inside the kernel's parameter block (constant bank)",
    "global": "device memory, read-only, filled from the prologue's bytes",
    "shared": "a copy in each block's shared memory, taken from device memory when the block starts",
    "texture": "device memory read through a texture object",
    "private": "each thread's own registers or local memory, fresh for every work item",
    "lane": "each thread's own copy of a global or static variable, reachable from helpers",
}


@dataclass(frozen=True)
class Place:
    """One outer object of a region and where it lives in the kernel.

    name     the IR's (`*p` for memory that pointer p was given).
    key      its name in PointsTo.
    live_in  its value from before the region is needed: it comes from the prologue.
    nbytes   0 where the size is not known before the program runs (`*p`).
    """

    name: str
    key: str
    type: CType
    cls: VariableClass
    space: Space
    nbytes: int
    live_in: bool
    reason: str


@dataclass(frozen=True)
class Decisions:
    """Decisions about one kernel.

    threads      per block. blocks: 0 = chosen when the kernel is launched (multiprocessors times resident blocks).
    stack_bytes  local memory per thread that arrays and helper frames may take; 0 = the device's default is enough.
    kvpairs      most pairs that one work item writes (clause), 0 = not said.
    slot_bytes   bytes of one pair's text in a ThreadArea, key, tab, value and line end included.
    optimisations  names of what is switched on, in the order of `optimisations.ALL`.
    """

    places: tuple[Place, ...]
    threads: int
    blocks: int
    sink: Sink
    optimisations: tuple[str, ...]
    stack_bytes: int
    kvpairs: int
    slot_bytes: int

    def place(self, name: str) -> Place | None:
        """The place of the object with this IR name."""
        return next((p for p in self.places if p.name == name), None)

    def by_key(self, key: str) -> Place | None:
        """The place of the object with this PointsTo key."""
        return next((p for p in self.places if p.key == key), None)

    def live_ins(self) -> tuple[Place, ...]:
        """What the prologue hands over, in the order of the fields of `Shared`."""
        return tuple(p for p in self.places if p.live_in)


def text(decisions: Decisions) -> str:
    """One line per decision, for `--emit decisions`."""
    blocks = str(decisions.blocks) if decisions.blocks else "chosen at launch"
    lines = [
        f"launch   threads {decisions.threads}, blocks {blocks}, stack {decisions.stack_bytes} bytes",
        f"sink     {decisions.sink}, pairs per item {decisions.kvpairs or 'not said'}, slot {decisions.slot_bytes} bytes",
        f"options  {', '.join(decisions.optimisations) or 'none'}",
    ]
    rows = [(p.name, str(p.type), p.space, str(p.nbytes) if p.nbytes else "-", p.cls, p.reason) for p in decisions.places]
    widths = [max((len(row[i]) for row in rows), default=0) for i in range(5)]
    for row in rows:
        lines.append("  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[5]]))
    return "".join(line + "\n" for line in lines)
