"""Memory of the heap that the loop reaches by one pointer only, as an array with a name, so that records may gather in it.

    int *hist = calloc(256, sizeof *hist);   ...   hist[c]++;

Where a pointer is set once but for NULL, before the region, to an allocation, what runs for a record does nothing with it
but `p[i]`, `*p` and `p->m`, and nothing else may lead there, the memory is what an array would be that lies where the
pointer says. The array is a static symbol of the program, `p$memory` (`ir.MEMORY`), which only those mention.

    int *hist = calloc(n, sizeof *hist);   ...   hist[c]++;

Where the program computes the size, the array has MOST_BYTES, and the prologue says in a variable, `p$room` (`ir.ROOM`),
how many of these there are. Each index is compared with that: what is beyond becomes an index behind the array, which is an
access outside of it like any other.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

from ...values import dataclass
from ..ir import build, ir
from ..ir import walk as ir_walk
from ..ir.call_graph import CallGraph
from ..types import ctype
from .flow_objects import allocated_size
from .objects import Global, Heap, Object
from .points_to import PointsTo
from .pure import pure
from .writers import Writers

MOST_BYTES = 1 << 20  # of memory whose size the program computes: each task has all of them, however few there are
_SIZES = {"malloc": 1, "calloc": 2}  # arguments


@dataclass(frozen=True)
class Allocation:
    """An allocation: the pointer variable that leads to it, and the array that it is. room: what says its bytes where these
    are not constant."""

    pointer: Object
    site: Object
    symbol: ir.Symbol
    room: ir.Symbol | None = None


def memories(program: ir.Program, points_to: PointsTo, calls: CallGraph) -> tuple[Allocation, ...]:
    """Those that could be named."""
    direct = {number for _, body in calls.bodies for node in ir_walk.walk(body) for number in _direct(node)}
    mentioned = {points_to.key(function, node.name) for function, body in calls.bodies
                 for node in ir_walk.walk(body) if isinstance(node, ir.Name) and node.number in direct}
    if not mentioned:
        return ()
    writers = Writers(program, points_to, calls)
    found = [made for key in sorted(mentioned) if (made := _memory(program, points_to, writers, key)) is not None]
    others = set(_others(points_to, calls, direct, {one.pointer for one in found}))
    others |= set(_acting(points_to, calls, {one.pointer for one in found if one.room is not None}))
    return tuple(one for one in found if one.pointer not in others and one.site not in others)


def named(program: ir.Program, points_to: PointsTo, calls: CallGraph, wanted: Collection[Allocation]) -> ir.Program:
    """The program in which what runs for a record knows these by their names."""
    arrays = {one.pointer: one for one in wanted}
    if not arrays:
        return program

    def changed(function: str, body: ir.Block) -> ir.Block:
        return ir_walk.rewrite(body, lambda node: _by_name(node, function, program, points_to, arrays))

    helpers = {f.name for f in calls.helpers}
    functions = tuple(replace(f, body=changed(f.name, f.body)) if f.name in helpers else f for f in program.functions)
    region = replace(program.region, body=changed(program.region.function, program.region.body))
    symbols = (*program.globals, *(one.symbol for one in arrays.values()))
    externs = (*program.externs, *(one.room for one in arrays.values() if one.room is not None))
    return replace(program, functions=functions, region=region, globals=symbols, externs=externs)


def _direct(node: ir.Node) -> Iterator[int]:
    """Numbers of names that are pointers whose memory a node accesses."""
    pointer = node.base if isinstance(node, ir.Index) else node.pointer if isinstance(node, ir.Deref) else None
    if isinstance(pointer, ir.Name):
        yield pointer.number


def _memory(program: ir.Program, points_to: PointsTo, writers: Writers, key: Object) -> Allocation | None:
    """That of a pointer that is set once, to an allocation; it may be NULL besides."""
    symbol, written = points_to.symbol(key), [write for write in writers.of(key) if not _null(write.value)]
    outer = isinstance(key, Global) or (symbol is not None and symbol in program.enclosing.locals)
    if symbol is None or not outer or writers.wild or len(written) != 1 or not isinstance(symbol.type, ctype.Pointer):
        return None
    call = ir_walk.uncast(written[0].value) if isinstance(written[0].value, ir.Expr) else None
    size = program.layouts.size(symbol.type.to)
    nbytes = allocated_size(call) if isinstance(call, ir.Call) else None
    computed = nbytes is None and isinstance(call, ir.Call) and len(call.args) == _SIZES.get(ir.called(call))
    nbytes = MOST_BYTES if computed and size and 2 * size <= MOST_BYTES else nbytes
    site = points_to.sites.get(call.number) if isinstance(call, ir.Call) else None
    if not nbytes or not size or nbytes < size or not isinstance(site, Heap) or not written[0].early:
        return None
    if points_to.contents(key) != {site} or (writers.foreign and symbol.storage == "global"):
        return None
    kind = ctype.Array(symbol.type.to, nbytes // size)
    owner = symbol.owner or ("" if isinstance(key, Global) else program.enclosing.name)
    made = ir.Symbol(f"{symbol.name}{ir.MEMORY}", symbol.original, kind, "static", owner=owner, span=symbol.span)
    said = f"hd_live_in_room({symbol.original}, {MOST_BYTES - size}UL)"  # no record reaches the last element
    room = ir.Symbol(f"{symbol.name}{ir.ROOM}", said, ctype.ULONG, "call", span=symbol.span) if computed else None
    return Allocation(key, site, made, room)


def _null(value: ir.Init | None) -> bool:
    plain = ir_walk.uncast(value) if isinstance(value, ir.Expr) else None
    return isinstance(plain, ir.Const) and plain.value == 0


def _others(
    points_to: PointsTo, calls: CallGraph, direct: Collection[int], pointers: Collection[Object],
) -> Iterator[Object]:
    """Those of the pointers that are used otherwise, and what all else may lead to."""
    for function, body in calls.bodies:
        for node in ir_walk.walk(body):
            if not isinstance(node, ir.Expr) or not isinstance(node.type, ctype.Pointer):
                continue
            key = points_to.key(function, node.name) if isinstance(node, ir.Name) else None
            if key is not None and key in pointers:
                yield from () if node.number in direct else (key,)
            elif not isinstance(node, (ir.AddressOf, ir.Decay)):
                yield from points_to.targets(function, node)


def _acting(points_to: PointsTo, calls: CallGraph, pointers: Collection[Object]) -> Iterator[Object]:
    """Those of the pointers behind which an index stands that does more than to read: it would be computed twice."""
    for function, body in calls.bodies:
        for node in ir_walk.walk(body):
            if isinstance(node, ir.Index) and isinstance(node.base, ir.Name) and not pure(node.index):
                yield from {points_to.key(function, node.base.name)} & {*pointers}


def _by_name(
    node: Any, function: str, program: ir.Program, points_to: PointsTo, arrays: dict[Object, Allocation],
) -> Any:
    pointer = node.base if isinstance(node, ir.Index) else node.pointer if isinstance(node, ir.Deref) else None
    memory = arrays.get(points_to.key(function, pointer.name)) if isinstance(pointer, ir.Name) else None
    if memory is None or pointer is None:
        return node
    array = ir.Name(memory.symbol.type, memory.symbol.name, span=pointer.span)
    decayed = ir.Decay(pointer.type, array, span=pointer.span)
    if memory.room is not None:
        index = node.index if isinstance(node, ir.Index) else build.const(0, ctype.LONG, node.span)
        return ir.Index(node.type, decayed, _inside(index, memory, program), span=node.span)
    return replace(node, base=decayed) if isinstance(node, ir.Index) else replace(node, pointer=decayed)


def _inside(index: ir.Expr, memory: Allocation, program: ir.Program) -> ir.Expr:
    """The index where there is memory, else that behind the array. A negative one is beyond all, too."""
    kind, room = memory.symbol.type, memory.room
    assert isinstance(kind, ctype.Array) and kind.length is not None and room is not None
    place, span = build.cast(ctype.ULONG, index), index.span
    size = build.const(program.layouts.size(kind.of) or 1, ctype.ULONG, span)
    count = build.binary("/", ir.Name(ctype.ULONG, room.name, span=span), size, span)
    behind = build.const(kind.length, ctype.ULONG, span)
    return build.conditional(build.binary("<", place, count, span), ir_walk.copied(place), behind, span)
