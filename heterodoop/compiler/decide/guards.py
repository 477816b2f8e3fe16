"""Which objects of a kernel are guarded: what a record writes of them is noted, what it reads checked (decision 0017).

The analysis (`flow`) says which reads it could not prove. Every object that such a read may touch gets a guard, which
runtime/device/lane/guard.cuh keeps; the line guards itself. What no guard can be exact for is a reason against the GPU.
Pure: program and decisions in, a value out; the text is `emit.guard`'s.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...manifest import Reason
from ...source import Span
from ...values import dataclass
from ..analysis.flow_findings import ITSELF
from ..analysis.flow_findings import Site as Read
from ..analysis.objects import RECORD, Arena, Local, Object, Site, Variable
from ..analysis.uses import UseTable
from ..ir import ir
from ..ir import walk as ir_walk
from ..ir.call_graph import CallGraph
from ..types import ctype
from . import cuda_names
from .decisions import Decisions

_OWN = frozenset({"guarded", "firstprivate", "record"})
_MASKED = 64  # bytes: runtime/device/lane/guard.cuh's guarded_by_mask


@dataclass(frozen=True)
class Guard:
    """name   its field of the kernel's `Guards`.
    limit  no record writes bytes from here on: they are what they were before the loop.
    based  is it reached by addresses, so that the guard must know where it lies?
    """

    key: Object
    name: str
    nbytes: int
    limit: int
    based: bool

    @property
    def words(self) -> int:
        """Words of the bits that say what is written apart from its beginning."""
        return 0 if self.nbytes <= _MASKED else -(-self.nbytes // 32)


@dataclass(frozen=True)
class Guards:
    """by_key    the guards, by their objects' keys.
    sites     unproven reads -> the guarded objects that each may touch, RECORD among them.
    strict    those of them that touch nothing else.
    arena     what the record allocates: all of it has one guard, the thread's arena (runtime/device/lane/arena.cuh).
    refusals  objects that need a guard and cannot have one.
    """

    by_key: Mapping[Object, Guard]
    sites: Mapping[Read, frozenset[Object]]
    strict: frozenset[Read]
    arena: frozenset[Object] = frozenset()
    refusals: tuple[Reason, ...] = ()

    def of(self, node: ir.Node, part: int = ITSELF) -> frozenset[Object]:
        return self.sites.get((node.number, part), frozenset())

    def only(self, node: ir.Node, part: int = ITSELF) -> bool:
        """Does a read touch nothing but guarded objects?"""
        return (node.number, part) in self.strict


def decide(program: ir.Program, table: UseTable, decisions: Decisions, calls: CallGraph) -> Guards:
    """The guards of a program's kernel."""
    wanted = _wanted(program, table)
    arena = frozenset(key for key in table.points_to.site_nodes if isinstance(key, Arena))
    based = _by_address(program, table)
    by_key: dict[Object, Guard] = {}
    refusals: list[Reason] = []
    for key in (key for key in wanted if key not in arena):
        nbytes = object_bytes(program, table, key)
        shown = key.shown if isinstance(key, Variable) else str(key)
        if not nbytes or (isinstance(key, Local) and key.function in calls.recursive):
            why = "in a function that calls itself" if nbytes else "of unknown size"
            text = f"'{shown}', {why}, may be read before the record has written it"
            refusals.append(Reason("HD251", text, object_place(program, key)))
            continue
        name = cuda_names.unique(shown.replace("@", "_"), [g.name for g in by_key.values()])
        by_key[key] = Guard(key, name, nbytes, _limit(table, decisions, key, nbytes), key in based)
    guarded = set(by_key) | {RECORD} | arena
    sites = {site: found for site, keys in table.unproven.items() if (found := keys & guarded)}
    strict = frozenset(site for site, keys in sites.items() if table.touched[site] <= keys)
    return Guards(by_key, sites, strict, arena, tuple(refusals))


def _wanted(program: ir.Program, table: UseTable) -> list[Object]:
    """Objects that unproven reads may touch and that the record has to itself, in order of their keys. What no record
    writes is for each what it was before the loop."""
    classes = {use.key: use.cls if use.write is not None else "unused" for use in table.uses}
    own = _OWN if isinstance(program.region, ir.MapRegion) else _OWN - {"firstprivate"}
    found: set[Object] = set().union(*table.unproven.values()) - {RECORD}
    return sorted(key for key in found if key not in classes or classes[key] in own)


def object_bytes(program: ir.Program, table: UseTable, key: Object) -> int:
    """Bytes of an object, 0: not known before the program runs."""
    use = next((u for u in table.uses if u.key == key), None)
    if use is not None:
        return use.nbytes
    symbol = table.points_to.symbol(key)
    return (program.layouts.size(symbol.type) or 0) if symbol is not None else 0


def object_place(program: ir.Program, key: Object) -> Span:
    """Where a local is declared; the region for all else."""
    symbol = program.symbol(key.function, key.name) if isinstance(key, Local) else None
    return symbol.span if symbol is not None else program.region.span


def _limit(table: UseTable, decisions: Decisions, key: Object, nbytes: int) -> int:
    """What a record does not write is what it was before the loop where no record can have written it."""
    place, reach = decisions.by_key(key), table.reach.get(key)
    begins_filled = place is not None and (place.live_in or place.init is not None)
    return min(nbytes, reach) if begins_filled and reach is not None else nbytes


def _by_address(program: ir.Program, table: UseTable) -> set[Object]:
    """Keys of memory, of arrays and of what holds them, and of variables whose address is taken."""
    found: set[Object] = {use.key for use in table.uses if isinstance(use.key, Site)}
    for function, body in ir_walk.bodies(program):
        for node in ir_walk.walk(body):
            if isinstance(node, (ir.AddressOf, ir.Decay)) and not isinstance(node.operand.type, ctype.Func):
                found |= table.points_to.objects(function, node.operand)
    return found


def leaves(kind: ctype.CType, layouts: ctype.Layouts, at: int = 0) -> Iterator[tuple[int, int]]:
    """(offset, bytes) of what a value of a type is made of, without what lies between a struct's members."""
    layout = layouts.table.get(kind.tag) if isinstance(kind, ctype.Struct) and not kind.union else None
    if layout is None:
        yield at, layouts.size(kind) or 0
        return
    for field in layout.fields:
        yield from leaves(field.type, layouts, at + field.offset)


def text(guards: Guards) -> str:
    """One line per guard."""
    return "".join(f"{g.key}: {g.nbytes} bytes, {g.limit} of them ever written, {g.words} words of bits\n"
                   for g in guards.by_key.values())
