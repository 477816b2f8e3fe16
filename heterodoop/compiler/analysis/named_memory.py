"""Memory of the heap that the loop reaches by one pointer only, as an array with a name, so that records may gather in it.

    int *hist = calloc(256, sizeof *hist);   ...   hist[c]++;

Where a pointer is set once but for NULL, before the region, to an allocation of constant size, what runs for a record does
nothing with it but `p[i]`, `*p` and `p->m`, and nothing else may lead there, the memory is what an array would be that lies
where the pointer says. The array is a static symbol of the program, `p$memory` (`ir.MEMORY`), which only those mention.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

from ...values import dataclass
from ..ir import ir
from ..ir import walk as ir_walk
from ..ir.call_graph import CallGraph
from ..types import ctype
from .flow_objects import allocated_size
from .objects import Global, Heap, Object
from .points_to import PointsTo
from .writers import Writers


@dataclass(frozen=True)
class Memory:
    """An allocation: the pointer variable that leads to it, and the array that it is."""

    pointer: Object
    site: Object
    symbol: ir.Symbol


def memories(program: ir.Program, points_to: PointsTo, calls: CallGraph) -> tuple[Memory, ...]:
    """Those that could be named."""
    direct = {number for _, body in calls.bodies for node in ir_walk.walk(body) for number in _direct(node)}
    mentioned = {points_to.key(function, node.name) for function, body in calls.bodies
                 for node in ir_walk.walk(body) if isinstance(node, ir.Name) and node.number in direct}
    if not mentioned:
        return ()
    writers = Writers(program, points_to, calls)
    found = [made for key in sorted(mentioned) if (made := _memory(program, points_to, writers, key)) is not None]
    others = set(_others(points_to, calls, direct, {one.pointer for one in found}))
    return tuple(one for one in found if one.pointer not in others and one.site not in others)


def named(program: ir.Program, points_to: PointsTo, calls: CallGraph, wanted: Collection[Memory]) -> ir.Program:
    """The program in which what runs for a record knows these by their names."""
    arrays = {one.pointer: one.symbol for one in wanted}
    if not arrays:
        return program

    def changed(function: str, body: ir.Block) -> ir.Block:
        return ir_walk.rewrite(body, lambda node: _by_name(node, function, points_to, arrays))

    helpers = {f.name for f in calls.helpers}
    functions = tuple(replace(f, body=changed(f.name, f.body)) if f.name in helpers else f for f in program.functions)
    region = replace(program.region, body=changed(program.region.function, program.region.body))
    return replace(program, functions=functions, region=region, globals=(*program.globals, *arrays.values()))


def _direct(node: ir.Node) -> Iterator[int]:
    """Numbers of names that are pointers whose memory a node accesses."""
    pointer = node.base if isinstance(node, ir.Index) else node.pointer if isinstance(node, ir.Deref) else None
    if isinstance(pointer, ir.Name):
        yield pointer.number


def _memory(program: ir.Program, points_to: PointsTo, writers: Writers, key: Object) -> Memory | None:
    """That of a pointer that is set once, to an allocation of constant size; it may be NULL besides."""
    symbol, written = points_to.symbol(key), [write for write in writers.of(key) if not _null(write.value)]
    outer = isinstance(key, Global) or (symbol is not None and symbol in program.enclosing.locals)
    if symbol is None or not outer or writers.wild or len(written) != 1 or not isinstance(symbol.type, ctype.Pointer):
        return None
    call = ir_walk.uncast(written[0].value) if isinstance(written[0].value, ir.Expr) else None
    nbytes, size = allocated_size(call) if isinstance(call, ir.Call) else None, program.layouts.size(symbol.type.to)
    site = points_to.sites.get(call.number) if isinstance(call, ir.Call) else None
    if not nbytes or not size or nbytes < size or not isinstance(site, Heap) or not written[0].early:
        return None
    if points_to.contents(key) != {site} or (writers.foreign and symbol.storage == "global"):
        return None
    kind = ctype.Array(symbol.type.to, nbytes // size)
    owner = symbol.owner or ("" if isinstance(key, Global) else program.enclosing.name)
    made = ir.Symbol(f"{symbol.name}{ir.MEMORY}", symbol.original, kind, "static", owner=owner, span=symbol.span)
    return Memory(key, site, made)


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


def _by_name(node: Any, function: str, points_to: PointsTo, arrays: dict[Object, ir.Symbol]) -> Any:
    pointer = node.base if isinstance(node, ir.Index) else node.pointer if isinstance(node, ir.Deref) else None
    symbol = arrays.get(points_to.key(function, pointer.name)) if isinstance(pointer, ir.Name) else None
    if symbol is None or pointer is None:
        return node
    array = ir.Name(symbol.type, symbol.name, span=pointer.span)
    decayed = ir.Decay(pointer.type, array, span=pointer.span)
    return replace(node, base=decayed) if isinstance(node, ir.Index) else replace(node, pointer=decayed)
