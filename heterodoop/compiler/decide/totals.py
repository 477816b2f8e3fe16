"""Where each variable that records gather lies in a task's totals, and what a launch begins with: from places, pure.

A task has one `struct Totals` in device memory, its fields in the order of the places, aligned as x86-64 does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...manifest import Total
from ..ir import ir
from ..types import ctype, parts
from .decisions import TOTALS, Place


def totals(program: ir.Program, places: Sequence[Place]) -> tuple[Total, ...]:
    """The variables in their order, of a struct each member that records gather in."""
    return tuple(total for _, total in by_place(program, places))


def by_place(program: ir.Program, places: Sequence[Place]) -> Iterator[tuple[Place, Total]]:
    """The same, with the place of each one's variable."""
    end = 0
    for place in places:
        if place.space not in TOTALS:
            continue
        align = program.layouts.align(place.type)
        base = -(-end // align) * align
        end = base + place.nbytes
        for path, op in (place.ops or {}).items():
            part = members(program, place, path)
            assert isinstance(part.kind, (ctype.Int, ctype.Float))
            signed = isinstance(part.kind, ctype.Float) or part.kind.signed
            name = ".".join([program.shown(place.name), *path])
            size = part.kind.bits // 8
            yield place, Total(name, base, place.nbytes, part.at, size, part.count, part.inner, part.stride, op, signed)


def members(program: ir.Program, place: Place, path: parts.Path) -> parts.Part:
    """Where the numbers of a variable lie that records gather in."""
    found = parts.part(program.layouts, place.type, path)
    assert isinstance(found, parts.Part)  # or it were no accumulator
    return found
