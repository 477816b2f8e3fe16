"""Accesses that may lie outside their objects: what the kernel compares before each (decision 0020).

In C that is undefined: what happens depends on where things lie, and on a device they lie elsewhere. The flow analysis says
which accesses surely lie inside. Of the others, an element of an array that stands there by its name is compared with the
array's length; what a pointer leads to is compared, by its address, with each object that it may lead to. Where those begin
and how large they are keeps runtime/device/lane/extent.cuh. Pure: program and findings in, a value out.

Not here: accesses to the line (`guards`, `line_moves`); strings that library calls read (`guards`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ...manifest import Reason
from ...values import dataclass
from ..analysis.flow_expr import known_array
from ..analysis.flow_findings import ITSELF, Findings, Site
from ..analysis.libc_effects import EFFECTS
from ..analysis.objects import ANY_TEXT, EXTERNAL, RECORD, Arena, Global, Heap, Local, Object, is_literal
from ..analysis.points_to import PointsTo
from ..analysis.uses import UseTable
from ..ir import ir
from ..ir import walk as ir_walk
from ..ir.call_graph import CallGraph
from ..types import ctype
from . import cuda_names
from .guards import object_bytes, object_place


@dataclass(frozen=True)
class Extent:
    """name    its field of the kernel's `Extents`.
    nbytes  of the object, 0: known when the task has started (memory of the heap that the prologue hands over).
    """

    key: Object
    name: str
    nbytes: int


@dataclass(frozen=True)
class TouchedBytes:
    """What a library call touches: `nbytes` to the end of what stands there by its name, None: one of the objects."""

    nbytes: int | None
    keys: frozenset[Object]


@dataclass(frozen=True)
class Extents:
    """by_key    objects whose place the kernel keeps, by their keys.
    indexes   numbers of nodes: elements of an array of known length whose index is compared with it.
    sites     numbers of nodes -> the objects that a pointer may lead to there, RECORD among them.
    rooms     what library calls write, or read by its size, as the flow analysis names it, that is compared with the room
              that is there.
    shared    objects that an access may take for one another, by its address: something lies between them, and a pointer
              that may lead into them is looked at when it is moved. What the record allocates is among them.
    addressed  numbers of nodes: elements that a pointer leads to, of which the address alone is taken, not known to be
               there.
    """

    by_key: Mapping[Object, Extent]
    indexes: frozenset[int]
    sites: Mapping[int, frozenset[Object]]
    rooms: Mapping[Site, TouchedBytes]
    shared: frozenset[Object]
    addressed: frozenset[int] = frozenset()
    refusals: tuple[Reason, ...] = ()


def decide(program: ir.Program, table: UseTable, flow: Findings, calls: CallGraph) -> Extents:
    """The extents of a program's kernel."""
    found = _Accesses(table.points_to, flow, calls, program.layouts)
    by_key: dict[Object, Extent] = {}
    refusals: list[Reason] = []
    wanted = set().union(*found.sites.values(), *(r.keys for r in found.rooms.values() if r.nbytes is None))
    for key in sorted(key for key in wanted - {RECORD, ANY_TEXT} if not isinstance(key, Arena)):
        nbytes = object_bytes(program, table, key)
        if isinstance(key, Local) and key.function in calls.recursive:
            text = f"a pointer into '{key.shown}', in a function that calls itself, is moved: where to is not known"
            refusals.append(Reason("HD251", text, object_place(program, key)))
            continue
        shown = key.shown if isinstance(key, (Local, Global)) else str(key)
        name = cuda_names.unique(shown.replace("@", "_"), [e.name for e in by_key.values()])
        by_key[key] = Extent(key, name, nbytes)
    refusals += found.refusals
    return Extents(by_key, frozenset(found.indexes), found.sites, found.rooms, found.shared(), frozenset(found.addressed),
                   tuple(refusals))


class _Accesses:
    """Accesses of the kernel that are not proven, by the numbers of their nodes. `&a[n]` is none yet."""

    def __init__(self, points_to: PointsTo, flow: Findings, calls: CallGraph, layouts: ctype.Layouts) -> None:
        self._points_to, self._layouts = points_to, layouts
        self.indexes: set[int] = set()
        self.rooms: dict[Site, TouchedBytes] = {}
        self.sites: dict[int, frozenset[Object]] = {}
        self.addressed: set[int] = set()
        self.refusals: list[Reason] = []
        moved = _moved(calls.bodies, points_to, layouts)
        for function, body in calls.bodies:
            addresses = {n.operand.number for n in ir_walk.walk(body) if isinstance(n, ir.AddressOf)}
            for node in ir_walk.walk(body):
                if isinstance(node, (ir.Index, ir.Deref)) and not flow.inside.get((node.number, ITSELF), False):
                    if node.number in addresses:
                        self.addressed.add(node.number)
                    else:
                        self._access(function, node, moved)
                for part, pointer in _touched(node):
                    if flow.inside.get((node.number, part)) is False:
                        self._room(function, (node.number, part), pointer)

    def _room(self, function: str, site: Site, pointer: ir.Expr) -> None:
        """Of a call that writes or reads bytes through a pointer."""
        objects = kept(self._points_to.targets(function, pointer))
        if objects == {RECORD} or not all(isinstance(o, _KEPT) or o in (RECORD, ANY_TEXT) for o in objects):
            return
        plain = ir_walk.uncast(pointer)
        named = isinstance(plain, (ir.Decay, ir.AddressOf)) and not isinstance(plain.operand, ir.Index)
        nbytes = self._layouts.size(plain.operand.type) if named and isinstance(plain, (ir.Decay, ir.AddressOf)) else None
        self.rooms[site] = TouchedBytes(nbytes, objects)

    def shared(self) -> frozenset[Object]:
        rooms = (room.keys for room in self.rooms.values() if room.nbytes is None)
        several = (keys - {RECORD} for keys in (*self.sites.values(), *rooms))
        arena = (obj for obj in self._points_to.site_nodes if isinstance(obj, Arena))
        return frozenset(key for keys in several if len(keys) > 1 or ANY_TEXT in keys for key in keys) | frozenset(arena)

    def _access(self, function: str, node: ir.Index | ir.Deref, moved: set[Object]) -> None:
        array = known_array(node.base) if isinstance(node, ir.Index) else None
        if array is not None and isinstance(node, ir.Index):
            index = node.index
            if not (isinstance(index, ir.Const) and 0 <= index.value < (array.length or 0)):
                self.indexes.add(node.number)
            return
        found = self._points_to.objects(function, node)
        objects = kept(found)
        allocated = any(isinstance(obj, Arena) for obj in objects)
        if allocated and not all(isinstance(o, _KEPT) or o in (RECORD, ANY_TEXT) for o in objects):
            text = "a pointer leads to memory that the record allocates, or to what cannot be named"
            self.refusals.append(Reason("HD251", text, node.span))
        known = objects != {RECORD} and all(isinstance(o, _KEPT) or o in (RECORD, ANY_TEXT) for o in objects)
        if known and (allocated or found & moved):
            self.sites[node.number] = objects


def kept(objects: Iterable[Object]) -> frozenset[Object]:
    """Objects as a kernel knows where they lie: all texts that nobody writes are one table."""
    return frozenset(ANY_TEXT if is_literal(obj) or obj is EXTERNAL else obj for obj in objects)


def _touched(node: ir.Node) -> Iterator[tuple[int, ir.Expr]]:
    """Arguments of a library call, by their numbers, through which it writes, or reads as many bytes as it is told."""
    if isinstance(node, ir.ReadPair):
        yield from enumerate(node.targets)
    elif isinstance(node, ir.ReadRecord) and node.kind == "fgets":
        yield ITSELF, node.target
    elif isinstance(node, ir.Call):
        name = ir.called(node)
        effect = EFFECTS.get(name)
        numbers = [a.arg for a in effect.writes] if effect else [0] if name in _PRINTS else []
        numbers += [a.arg for a in effect.reads if a.how == "bytes"] if effect and name in READS_ALL else []
        numbers = list(range(2, len(node.args))) if name == "sscanf" else numbers
        yield from ((n, node.args[n]) for n in numbers if n < len(node.args) and not isinstance(node.args[n], ir.Const))


READS_ALL = frozenset("memcmp bcmp memcpy mempcpy memmove bcopy memmem".split())  # others stop at a byte that they find
_PRINTS = frozenset({"sprintf", "snprintf"})
_KEPT = (Local, Global, Heap)


def _moved(bodies: Iterable[tuple[str, ir.Block]], points_to: PointsTo, layouts: ctype.Layouts) -> set[Object]:
    """Objects of which a pointer may be moved: others are reached where they begin, or where a member does."""
    found: set[Object] = set()
    for function, body in bodies:
        for node in ir_walk.walk(body):
            for pointer in _moves(node, layouts):
                found |= points_to.targets(function, pointer)
    return found


def _moves(node: ir.Node, layouts: ctype.Layouts) -> Iterator[ir.Expr]:
    """Pointers that an expression moves, takes for others, or hands to the library."""
    if isinstance(node, ir.Index):
        if not (isinstance(node.index, ir.Const) and node.index.value == 0):
            yield node.base
    elif isinstance(node, ir.Binary):
        if isinstance(node.type, ctype.Pointer):
            yield from (side for side in (node.left, node.right) if isinstance(side.type, ctype.Pointer))
    elif isinstance(node, ir.Step) or (isinstance(node, ir.Assign) and node.op != "="):
        if isinstance(node.target.type, ctype.Pointer):
            yield node.target
    elif isinstance(node, ir.Cast):
        to, source = ctype.element(node.type), ctype.element(node.operand.type)
        if isinstance(node.operand.type, ctype.Pointer) and _width(layouts, to) > _width(layouts, source):
            yield node.operand
    elif isinstance(node, ir.Call):
        effect = EFFECTS.get(ir.called(node))
        if isinstance(node.type, ctype.Pointer) or (effect is not None and effect.stores):
            yield from (arg for arg in node.args if isinstance(arg.type, ctype.Pointer))


def _width(layouts: ctype.Layouts, kind: ctype.CType | None) -> int:
    return (layouts.size(kind) or 0) if kind is not None else 0


def text(extents: Extents) -> str:
    """One line per object, then how many accesses are compared."""
    lines = [f"{e.key}: {e.nbytes or 'as many'} bytes\n" for e in extents.by_key.values()]
    return "".join([*lines, f"{len(extents.indexes)} indexes, {len(extents.sites)} pointers\n"])
