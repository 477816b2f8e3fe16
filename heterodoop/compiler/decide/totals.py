"""Where each variable that records gather lies in a task's totals, and what a launch begins with: from places, pure.

A task has one `struct Totals` in device memory, its fields in the order of the places, aligned as x86-64 does.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...manifest import Total
from ..ir import ir
from ..types import ctype
from .decisions import TOTALS, Place


def totals(program: ir.Program, places: Sequence[Place]) -> tuple[Total, ...]:
    """The variables in their order."""
    found: list[Total] = []
    end = 0
    for place in places:
        if place.space not in TOTALS or place.op is None:
            continue
        inner = element(place.type)
        size = inner.bits // 8
        offset = -(-end // size) * size
        end = offset + place.nbytes
        found.append(Total(program.shown(place.name), offset, size, place.nbytes // size, place.op, inner.signed))
    return tuple(found)


def element(kind: ctype.CType) -> ctype.Int:
    """The integers that such a variable holds."""
    while isinstance(kind, ctype.Array):
        kind = kind.of
    assert isinstance(kind, ctype.Int)
    return kind
