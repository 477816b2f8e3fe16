"""Calls that copy, and whether source and target may overlap: on a device the address ranges are compared then, unless the
program shows that they are the same (HD262). What C leaves open there the C library decides, on the CPU.

Not here: memmove and bcopy, which may overlap.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...manifest import Reason
from ..analysis.locations import Locations
from ..ir import ir
from ..ir import walk as ir_walk
from ..ir.call_graph import CallGraph
from ..types import ctype

_COPIES = frozenset("memcpy mempcpy strcpy stpcpy strncpy stpncpy strcat strncat".split())
_PRINTS = {"sprintf": 1, "snprintf": 2}  # the number of the format's argument


class Overlaps:
    def __init__(self, locations: Locations) -> None:
        self._locations = locations

    def may(self, function: str, node: ir.Call) -> bool:
        """May a call write where it reads?"""
        places = self._locations
        pairs = ((places.around(function, to), places.around(function, source)) for to, source in _pairs(node))
        return any(places.any_overlap(to, source) for to, source in pairs)

    def assigned(self, function: str, node: ir.Assign) -> bool:
        """May a struct be assigned onto a part of itself: by pointers, or in a union?"""
        if node.op != "=" or not isinstance(node.type, ctype.Struct):
            return False
        to = self._locations.of(function, node.target)
        sources = (source for source in _sources(node.value) if source != node.target)
        return any(self._locations.any_overlap(to, self._locations.of(function, source)) for source in sources)


def _sources(value: ir.Expr) -> Iterator[ir.Expr]:
    """The lvalues that a struct's value may be copied from."""
    if isinstance(value, ir.Conditional):
        yield from (*_sources(value.then), *_sources(value.other))
    elif isinstance(value, ir.Comma):
        yield from _sources(value.second)
    else:
        yield value.target if isinstance(value, ir.Assign) else value


def overlap_refusals(calls: CallGraph) -> tuple[Reason, ...]:
    """sprintf(s, "%s...", s), strcat(s, s): source and target are written as the same."""
    found = []
    for node in (n for _, body in calls.bodies for n in ir_walk.walk(body) if isinstance(n, ir.Call)):
        name = ir.called(node)
        if name in (*_PRINTS, "strcat", "strncat") and any(_same(to, source) for to, source in _pairs(node)):
            text = f"{name}() reads the text that it writes over"
            found.append(Reason("HD262", text, node.span))
    return tuple(dict.fromkeys(found))


def _pairs(node: ir.Call) -> Iterator[tuple[ir.Expr, ir.Expr]]:
    """Pointers that a call writes by with those that it reads by meanwhile."""
    name = ir.called(node)
    if name in _COPIES:
        yield node.args[0], node.args[1]
    elif name == "sscanf":
        yield from ((target, node.args[0]) for target in node.args[2:])
    elif name in _PRINTS:
        yield from ((node.args[0], a) for a in node.args[_PRINTS[name] + 1 :] if isinstance(a.type, ctype.Pointer))


def _same(to: ir.Expr, source: ir.Expr) -> bool:
    one, other = ir_walk.uncast(to), ir_walk.uncast(source)
    acts = any(isinstance(n, (ir.Assign, ir.Step, ir.Call)) for n in ir_walk.walk(one))
    return one == other and not acts
