"""Where the numbers of a part of an object lie: of a member, of a member of each struct of an array."""

from __future__ import annotations

from collections.abc import Sequence

from ...values import dataclass
from . import ctype
from .ctype import CType

Path = tuple[str, ...]  # names of members, outermost first; what is an array is all of its elements


@dataclass(frozen=True)
class Part:
    """`count` values of type `kind`, the first at byte `at` of the object: `inner` of them lie one behind the other, and the
    next as many begin `stride` bytes further."""

    at: int
    kind: CType
    count: int
    inner: int
    stride: int


def part(layouts: ctype.Layouts, kind: CType, path: Path) -> Part | str:
    """That of an object of a type; text: why there is none, said of the part."""
    at, dims = 0, list[tuple[int, int]]()
    for name in (*path, None):
        while isinstance(kind, ctype.Array):
            size = layouts.size(kind.of)
            if not kind.length or not size:
                return "is not of known size"
            dims.append((kind.length, size))
            kind = kind.of
        if name is None:
            break
        layout = layouts.table.get(kind.tag) if isinstance(kind, ctype.Struct) else None
        field = layout.field(name) if layout is not None else None
        if layout is None or field is None:
            return "is of a type that is not known"
        if field.bits or any(_overlap(layouts, field, other) for other in layout.fields if other is not field):
            return "shares its bytes with another one"
        at, kind = at + field.offset, field.type
    return _part(layouts, at, kind, dims)


def _overlap(layouts: ctype.Layouts, one: ctype.Field, other: ctype.Field) -> bool:
    ends = [field.offset + (layouts.size(field.type) or 1) for field in (one, other)]
    return one.offset < ends[1] and other.offset < ends[0]


def _part(layouts: ctype.Layouts, at: int, kind: CType, dims: Sequence[tuple[int, int]]) -> Part | str:
    size = layouts.size(kind)
    if not size or at % size:
        return "does not lie as a number of its size does"
    levels: list[tuple[int, int]] = []  # outermost first; each is not what the next one ends with
    for count, stride in dims:
        if levels and levels[-1][1] == count * stride:
            levels[-1] = (levels[-1][0] * count, stride)
        else:
            levels.append((count, stride))
    inner = levels.pop()[0] if levels and levels[-1][1] == size else 1
    if len(levels) > 1:
        return "lies in arrays of structs that hold arrays of structs"
    count, stride = levels[0] if levels else (1, inner * size)
    return "does not lie as a number of its size does" if stride % size else Part(at, kind, count * inner, inner, stride)
