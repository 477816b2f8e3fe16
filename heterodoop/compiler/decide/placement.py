"""Where each outer object of a region lives in the kernel, and what cannot live there: the paper's Algorithm 1.

Two steps: pointers first (`pointers`: what they point to decides where that must lie), then everything else. What the
prologue must hand over becomes `Decisions.shared`. Not here: code for it (`emit.kernel`, `emit.prologue`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ...kernel_plan import KernelPlan
from ...manifest import Reason
from ...values import dataclass
from ..analysis.known import Known, holds_pointers
from ..analysis.objects import ERRNO, STRTOK, Global, Object
from ..analysis.uses import Use, UseTable
from ..ir import ir
from ..ir import walk as ir_walk
from ..normalise.streams import STREAMS
from ..source.clauses import WARP
from ..types import ctype
from ..types.ctype import CType
from . import optimisations
from .decisions import Decisions, Place, Space
from .launch import LaunchConfig
from .live_in import fields
from .pointers import Pointers

CONSTANT_BYTES = 2048  # small read-only objects inside the parameter block, all together
SHARED_BYTES = 40 * 1024  # of 48 KB that every block may have; the rest is the sinks'
TOTAL_BYTES = 8 * 1024  # of a block's totals in shared memory; more of them would leave fewer blocks room
_WARP_ALIGN = 16  # the largest alignment of an array in a warp's part of it
TEXTURE_ELEMENTS = 1 << 27  # of a linear texture, as every architecture allows
_THREAD_BYTES = 64  # of a struct of which each thread has its own totals
_FILLED_BYTES = 1024  # of an array that is copied for each record, though no clause asks for it
_OWN = frozenset({"record", "private", "guarded", "firstprivate"})
SLOWER = "measured slower than shared and plain global memory"


@dataclass(frozen=True)
class Placement:
    """`reasons`: objects that no place was found for; the region stays on the CPU."""

    decisions: Decisions
    reasons: tuple[Reason, ...]


def decide(
    program: ir.Program, table: UseTable, known: Known, shape: LaunchConfig, scope: Mapping[str, str],
    options: tuple[str, ...] = optimisations.chosen(),
) -> Placement:
    """All decisions about the kernel of a program's region.

    scope    variables that are visible at the directive, by their names in the source -> "local", "param", "global",
             "static": the prologue can name these only.
    options  names of optimisations that are on (`optimisations.chosen`).
    """
    kind = "combiner" if isinstance(program.region, ir.CombineRegion) else "mapper"
    plan = optimisations.plan(kind, options)
    if any(use.cls == "accumulator" for use in table.uses):
        plan = replace(plan, gather=True)
    placer = _Placer(program, table, known, scope, plan)
    places = placer.run()
    if plan.one_per_warp:
        places = _in_warps(places, shape.threads // WARP)
    shared, size = fields(program, table.points_to, places, placer.bases, placer.strings)
    decisions = Decisions(
        places, shape.threads, shape.blocks, plan, shape.stack_bytes, shape.kvpairs, shape.slot_bytes, shared, size,
    )
    return Placement(decisions, tuple(dict.fromkeys(placer.reasons)))


def _in_warps(places: tuple[Place, ...], warps: int) -> tuple[Place, ...]:
    """Private arrays into shared memory, each warp its own (the paper's Listing 4), as far as there is room."""
    room = SHARED_BYTES - sum(p.nbytes for p in places if p.space == "shared")
    found = []
    for place in places:
        nbytes = -(-place.nbytes // _WARP_ALIGN) * _WARP_ALIGN * warps
        fits = place.space == "private" and isinstance(place.type, ctype.Array) and 0 < nbytes <= room
        if fits and not place.name.startswith("*"):
            room -= nbytes
            place = replace(place, space="warp", reason=f"{place.reason}; one thread of a warp works (warp-combine)")
        found.append(place)
    return tuple(found)


class _Placer:
    """bases: memory's key -> the pointer it is reached by. strings: keys of pointers to text of the C library."""

    def __init__(
        self, program: ir.Program, table: UseTable, known: Known, scope: Mapping[str, str], plan: KernelPlan,
    ) -> None:
        self._program, self._table, self._known, self._scope, self._plan = program, table, known, scope, plan
        self._pointers = Pointers(program, table, known)
        self._budget = CONSTANT_BYTES
        self._totals = TOTAL_BYTES
        self._shared = SHARED_BYTES - min(sum(u.nbytes for u in table.uses if u.cls == "accumulator"), TOTAL_BYTES)
        self.reasons: list[Reason] = []
        self.bases: dict[Object, Object] = {}
        self.strings: set[Object] = set()

    def run(self) -> tuple[Place, ...]:
        return tuple(self._constants_first([p for use in self._table.uses if (p := self._place(use)) is not None]))

    def _constants_first(self, places: list[Place]) -> list[Place]:
        """Constants in front, each behind those that its initialiser names; the region need not mention these."""
        known = {p.key: p for p in places if p.space == "constant"}
        done: dict[Object, Place] = {}

        def add(key: Object) -> None:
            place = known.get(key) or self._unmentioned(key)
            if place is not None and key not in done:
                known[key] = place
                for named in self._known.named(place.init):
                    if named != key:
                        add(named)
                done[key] = place

        for key in list(known):
            add(key)
        return [*done.values(), *(p for p in places if p.space != "constant")]

    def _unmentioned(self, key: Object) -> Place | None:
        symbol = self._known.symbol(key)
        if symbol is None or isinstance(symbol.type, ctype.Func):
            return None
        nbytes = self._program.layouts.size(symbol.type) or 0
        reason = "a constant table holds its address"
        return Place(symbol.name, key, symbol.type, "unused", "constant", nbytes, False, reason, symbol.init)

    def _refuse(self, code: str, text: str, use: Use | None) -> None:
        span = (use.read or use.write or use.place) if use is not None else self._program.region.span
        self.reasons.append(Reason(code, text, span))

    def _place(self, use: Use) -> Place | None:
        if use.cls in ("unused", "carried") or use.key in (ERRNO, STRTOK) or _is_stream(use.key):
            return None
        symbol = self._known.symbol(use.key)
        if symbol is None:
            return self._memory(use)
        if use.cls == "accumulator":
            return self._total(use, symbol)
        if use.cls in _OWN:
            return self._own(use, symbol)
        if isinstance(use.type, ctype.Pointer):
            return self._pointer(use, symbol)
        return self._read_only(use, symbol)

    # ------------------------------------------------------------------------------------- what records gather

    def _total(self, use: Use, symbol: ir.Symbol) -> Place:
        """Numbers by themselves, and small structs of them, are each thread's own until it ends; of arrays each block has
        one where there is room."""
        if not self._visible(use.key):
            where = f"a static variable of {symbol.owner}()" if symbol.owner else "not visible where the region begins"
            self._refuse("HD248", f"'{_shown(use.name)}' is {where}, so what records gather cannot be put into it", use)
        space: Space = "thread-total"
        if isinstance(use.type, ctype.Array) or use.nbytes > _THREAD_BYTES:
            fits = use.nbytes <= self._totals
            self._totals -= use.nbytes if fits else 0
            space = "block-total" if fits else "device-total"
        return Place(use.name, use.key, use.type, use.cls, space, use.nbytes, False, use.reason, ops=use.ops)

    # ------------------------------------------------------------------------------------- each thread's own

    def _own_space(self, key: Object) -> Space:
        return "private" if self._known.local(key) else "lane"

    def _own(self, use: Use, symbol: ir.Symbol) -> Place:
        space = self._own_space(use.key)
        self._check_size(use)
        if use.cls != "firstprivate" and not self._starts_filled(use):
            reason = use.reason if use.cls == "record" else "the loop writes it: each thread has its own"
            return Place(use.name, use.key, use.type, use.cls, space, use.nbytes, False, reason)
        init = self._known.start_value(use.key, symbol)
        if init is not None and self._pointers.own_value(use.key, init):
            reason = "each thread's own, and its value at the region's start is known"
            return Place(use.name, use.key, use.type, use.cls, space, use.nbytes, False, reason, init)
        self._check_live_in(use, symbol)
        if not isinstance(use.type, ctype.Pointer):
            self._check_contents(use)
        reason = "each thread's own copy of what it held before the region"
        return Place(use.name, use.key, use.type, use.cls, space, use.nbytes, True, reason)

    def _starts_filled(self, use: Use) -> bool:
        """Is it an array that held something before the loop, zeros at least, and that a record may only write in part?

        `char year[5] = ""` and in the loop `strncpy(year, line, 4)`: the NUL is the one from before the loop.
        """
        if use.cls != "guarded" or not isinstance(use.type, ctype.Array) or not 0 < use.nbytes <= _FILLED_BYTES:
            return False
        numbers = isinstance(ctype.element(use.type), (ctype.Int, ctype.Float))
        if not numbers or not self._visible(use.key):
            return False
        return not self._known.local(use.key) or any(write.early for write in self._known.writers.of(use.key))

    # ------------------------------------------------------------------------------------- pointers and memory

    def _pointer(self, use: Use, symbol: ir.Symbol) -> Place:
        found = self._pointers.found[use.key]
        if found.problem:
            self._refuse(found.code, found.problem, use)
        if found.how != "handed":
            space: Space = self._own_space(use.key) if found.how == "own" else "constant"
            return Place(use.name, use.key, use.type, use.cls, space, 8, False, found.why, found.init)
        self._check_live_in(use, symbol)
        if found.string:
            self.strings.add(use.key)
        reason = "made a device address when the task starts"
        if use.cls == "texture":
            reason += f"; not a texture object, since memory is reached through a pointer (textures are {SLOWER})"
        return Place(use.name, use.key, use.type, use.cls, "parameter", 8, True, reason)

    def _memory(self, use: Use) -> Place | None:
        """Memory that was allocated before the region (or a compound literal)."""
        shown = _shown(use.name)
        if use.cls in _OWN:
            owner = self._pointers.owner(use.key)
            if owner is None or use.cls == "firstprivate" or not use.nbytes:
                why = "keeps a value from before the loop" if use.cls == "firstprivate" else (
                    "is not of known size" if owner is not None else "is not given to one pointer once")
                text = f"the loop writes memory '{shown}' that was allocated before it and {why}"
                self._refuse("HD247", f"{text}; use an array", use)
                return None
            space = self._own_space(owner)
            return Place(use.name, use.key, use.type, use.cls, space, use.nbytes, False, "scratch memory of each thread")
        base = self._pointers.base(use.key)
        if base is None or not self._visible(base):
            text = f"'{shown}' is memory that the prologue cannot name: no visible pointer was only ever set to allocations"
            self._refuse("HD248", text, use)
            return None
        self._check_contents(use)
        self.bases[use.key] = base
        why = "device memory, from the heap"
        return Place(use.name, use.key, use.type, use.cls, "global", use.nbytes, True, why, base=base)

    # ------------------------------------------------------------------------------------- read-only objects

    def _read_only(self, use: Use, symbol: ir.Symbol) -> Place:
        pinned = use.key in self._pointers.pinned
        leads = self._table.points_to.contents(use.key) & self._pointers.pinned
        if not pinned and not leads and use.cls != "texture" and self._known.constant(use.key, symbol):
            init = self._known.constant_init(use.key, symbol)
            reason = "its initialiser is known and nobody writes it"
            return Place(use.name, use.key, use.type, use.cls, "constant", use.nbytes, False, reason, init)
        self._check_live_in(use, symbol)
        self._check_contents(use)
        space, why = self._space(use) if not pinned else ("global", "device memory, since a pointer points to it")
        return Place(use.name, use.key, use.type, use.cls, space, use.nbytes, True, why)

    def _space(self, use: Use) -> tuple[Space, str]:
        simple = isinstance(use.type, (ctype.Int, ctype.Float))
        if simple:
            return "parameter", "a kernel parameter"
        note = ""
        if use.cls == "texture" or (self._plan.textures and _numbers(use.type) is not None):
            problem = self._not_a_texture(use)
            if not problem:
                return "texture", f"read through a texture object ({SLOWER})"
            note = f"; no texture object: {problem}" if use.cls == "texture" else ""
        array = isinstance(use.type, ctype.Array)
        if use.nbytes and use.nbytes <= self._budget:
            self._budget -= use.nbytes
            return ("parameter-array" if array else "parameter"), f"small, in the constant bank{note}"
        divergent = self._known.divergent(use.key)
        if array and self._plan.shared_tables and use.nbytes and use.nbytes <= self._shared and divergent:
            self._shared -= use.nbytes
            return "shared", f"fits shared memory, and threads read different elements{note}"
        return "global", f"read-only device memory{note}"

    def _not_a_texture(self, use: Use) -> str:
        """Why an array cannot be read through a texture object, "" where it can."""
        inner = _numbers(use.type)
        if inner is None or not use.nbytes:
            return "not an array of numbers of known size"
        size = self._program.layouts.size(inner) or 0
        if size not in (1, 2, 4, 8):
            return f"elements of {size} bytes have no texture form"
        if use.nbytes // size > TEXTURE_ELEMENTS:
            return f"more than {TEXTURE_ELEMENTS} elements"
        if isinstance(use.type, ctype.Array) and isinstance(use.type.of, ctype.Array):
            return "it has more than one dimension"
        return "" if self._known.only_indexed(use.key) else "it is used other than by name[index]"

    # ------------------------------------------------------------------------------------- checks

    def _visible(self, key: Object) -> bool:
        """Does the object's name in the source mean this object at the directive?"""
        symbol = self._known.symbol(key)
        if symbol is None:
            return False
        if symbol.storage == "call":  # the prologue makes it, whatever is in scope
            return True
        enclosing = self._program.enclosing
        statics = [s for s in self._program.globals if s.owner == enclosing.name]
        same = [s for s in (*enclosing.params, *enclosing.locals, *statics) if s.original == symbol.original]
        if self._known.local(key) or symbol.owner == enclosing.name:
            return len(same) == 1 or symbol.name in ir_walk.names(self._program.region.body)
        return not same and not symbol.owner and self._scope.get(symbol.original) in ("global", "static")

    def _check_live_in(self, use: Use, symbol: ir.Symbol) -> None:
        if not self._visible(use.key):
            where = f"a static variable of {symbol.owner}()" if symbol.owner else "not visible where the region begins"
            text = f"'{_shown(use.name)}' is {where}, so its value cannot be handed to the GPU"
            self._refuse("HD248", text, use)

    def _check_size(self, use: Use) -> None:
        """A thread's own copy must be of constant size."""
        if not use.nbytes:
            text = f"'{_shown(use.name)}' ({use.type}) is not of constant size"
            self._refuse("HD247", f"{text}; give its dimensions as constants", use)

    def _check_contents(self, use: Use) -> None:
        if holds_pointers(self._program, use.type) or self._table.points_to.contents(use.key):
            text = f"'{_shown(use.name)}' ({use.type}) holds pointers to memory that the GPU does not have"
            self._refuse("HD249", text, use)


def _is_stream(key: Object) -> bool:
    return isinstance(key, Global) and key.name in STREAMS


def _numbers(kind: CType) -> CType | None:
    """The numbers that an array holds, None for other types."""
    inner = ctype.element(kind) if isinstance(kind, ctype.Array) else None
    while isinstance(inner, ctype.Array):
        inner = inner.of
    return inner if isinstance(inner, (ctype.Int, ctype.Float)) else None


def _shown(name: str) -> str:
    return name.split("$")[0]
