"""Everything the CUDA emitter needs besides the IR: where variables live, and how a kernel is launched.

Plain values that print (`--emit decisions`) and compare. Made by `placement`, `launch` and `optimisations`, read by
`emit.kernel` (kernel, struct Shared), `emit.prologue` (prologue) and `explain`. No decision is taken here.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...kernel_plan import KernelPlan
from ...manifest import Accumulation, SharedKind, Space, VariableClass
from ...values import dataclass
from ..analysis.objects import Object
from ..ir import ir
from ..types.ctype import CType
from ..types.parts import Path
from . import optimisations

__all__ = ["SPACES", "TOTALS", "Decisions", "Place", "SharedField", "Space", "text"]

SPACES: dict[Space, str] = {
    "constant": "a constant table in the kernel's text: its initialiser is known and nobody writes it",
    "parameter": "a kernel parameter (constant bank)",
    "parameter-array": "an array inside the kernel's parameter block (constant bank)",
    "global": "device memory, read-only, filled from the prologue's bytes",
    "shared": "a copy in each block's shared memory, taken from device memory when the block starts",
    "texture": "device memory read through a texture object",
    "private": "each thread's own registers or local memory, fresh for every work item",
    "warp": "each warp's own part of shared memory, fresh for every work item: one thread of a warp works",
    "lane": "each thread's own copy of a global or static variable, reachable from helpers",
    "thread-total": "what records gather: each thread's own part, then its block's, then the task's",
    "block-total": "what records gather: each block's own part in shared memory, then the task's",
    "device-total": "what records gather, in device memory",
}
TOTALS: tuple[Space, ...] = ("thread-total", "block-total", "device-total")


@dataclass(frozen=True)
class Place:
    """One outer object of a region and where it lives in the kernel.

    name     the IR's (`*p` for memory that pointer p was given).
    key      what it is to the analyses.
    live_in  its value from before the region is needed: it comes from the prologue, through `Decisions.shared`.
    nbytes   0 where the size is not known before the program runs (`*p`).
    init     what the object holds when a work item starts, as an expression or initialiser of the program: of a
             "constant", and of a "private" or "lane" object whose value is known (`char *p = word;`, a combiner's
             `count = 0`). A call of malloc in it stands for the start of the object that it made (`PointsTo.sites`),
             which has a place too. None: a "constant" is zero, of others nothing is known.
    base     of memory that all threads share: the pointer that leads to it.
    ops      of what records gather: how, by the members that are updated; () is the variable itself, or an array's elements.
    """

    name: str
    key: Object
    type: CType
    cls: VariableClass
    space: Space
    nbytes: int
    live_in: bool
    reason: str
    init: ir.Init | None = None
    base: Object | None = None
    ops: Mapping[Path, Accumulation] | None = None


@dataclass(frozen=True)
class SharedField:
    """One object that the prologue hands over, and its field in the kernel's `struct Shared` (kinds: manifest.SharedVar).

    name     the IR name of the object; memory behind a pointer is `*p`, and has no field but for a "string", of which the
             field is the beginning of what holds it, with its size right behind. `key`: to the analyses.
    type     of the field: the object's for "scalar", "array", "pointer"; for "object" and "texture" the object's too, but
             the field is a pointer to its first element (to itself, if it is no array). A "texture" has a second field
             right behind, `unsigned long long NAME_texture`, 0 where the device has no texture objects.
    offset   in bytes, -1 without a field; fields come in this order, aligned as x86-64 does.
    nbytes   of the object, 0 = known only when the prologue has run.
    value    C expression of the prologue: the object itself (an lvalue), or the pointer to the memory.
    """

    name: str
    key: Object
    kind: SharedKind
    type: CType
    offset: int
    nbytes: int
    value: str


@dataclass(frozen=True)
class Decisions:
    """Decisions about one kernel.

    threads      per block. blocks: 0 = chosen when the kernel is launched (multiprocessors times resident blocks).
    stack_bytes  local memory per thread that arrays and helper frames may take; 0 = the device's default is enough.
    kvpairs      most pairs that one work item writes (clause), 0 = not said.
    slot_bytes   bytes of one pair's text in a ThreadArea, key, tab, value and line end included.
    shared       what the prologue hands over, in its order; `shared_bytes` is sizeof(struct Shared), 1 if it has no field.
    plan         how the kernel does its work.
    """

    places: tuple[Place, ...]
    threads: int
    blocks: int
    plan: KernelPlan
    stack_bytes: int
    kvpairs: int
    slot_bytes: int
    shared: tuple[SharedField, ...] = ()
    shared_bytes: int = 1

    def place(self, name: str) -> Place | None:
        """The place of the object with this IR name."""
        return next((p for p in self.places if p.name == name), None)

    def by_key(self, key: Object) -> Place | None:
        """The place of an object."""
        return next((p for p in self.places if p.key == key), None)

    def live_ins(self) -> tuple[Place, ...]:
        """Places whose value comes from the prologue, in the order of `shared` (memory `*p` among them)."""
        return tuple(p for p in self.places if p.live_in)

    def fields(self) -> tuple[SharedField, ...]:
        """The fields of `struct Shared`, by offset: `live_ins` in order, memory behind pointers left out."""
        return tuple(f for f in self.shared if f.offset >= 0)


def text(decisions: Decisions) -> str:
    """One line per decision, for `--emit decisions`."""
    blocks = str(decisions.blocks) if decisions.blocks else "chosen at launch"
    plan = decisions.plan
    lines = [
        f"launch   threads {decisions.threads}, blocks {blocks}, stack {decisions.stack_bytes} bytes",
        f"sink     {plan.sink}, pairs per item {decisions.kvpairs or 'not said'}, slot {decisions.slot_bytes} bytes",
        f"options  {', '.join(optimisations.names(plan)) or 'none'}",
    ]
    rows = [(p.name, str(p.type), p.space, str(p.nbytes) if p.nbytes else "-", p.cls, p.reason) for p in decisions.places]
    widths = [max((len(row[i]) for row in rows), default=0) for i in range(5)]
    for row in rows:
        lines.append("  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[5]]))
    return "".join(line + "\n" for line in lines)
