"""What the prologue hands over, and the layout of the kernel's `struct Shared`: from places, pure.

Kinds and fields are described at `manifest.SharedVar` and `decisions.SharedField`.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from ...manifest import SharedKind
from ..analysis.code_numbers import code_numbers
from ..analysis.objects import Behind, Code, Object
from ..analysis.points_to import PointsTo
from ..ir import ir
from ..types import ctype
from .decisions import Place, SharedField

_INLINE_BYTES = 256  # of a firstprivate object; a larger one is copied from device memory
_POINTER = 8


def fields(
    program: ir.Program, points_to: PointsTo, places: tuple[Place, ...], bases: Mapping[Object, Object],
    strings: Set[Object],
) -> tuple[tuple[SharedField, ...], int]:
    """The objects that the prologue writes, in order, and sizeof(struct Shared).

    bases    key of memory -> key of the pointer that the prologue reaches it by.
    strings  keys of pointers to text outside the program's objects (arguments, environment, literals).
    """
    found: list[SharedField] = []
    offset, align = 0, 1
    bases_done: set[Object] = set()
    for place in (p for p in places if p.live_in):
        if place.key in bases:
            base = bases[place.key]
            if base not in bases_done:
                bases_done.add(base)
                found.append(SharedField(place.name, place.key, "heap", place.type, -1, 0, _source(points_to, base)))
            continue
        kind = _kind(place)
        size, own = _field(program, place, kind)
        offset = -(-offset // own) * own
        value = _source(points_to, place.key)
        value = _number(program, points_to, place.key, value) if _is_code(place.type) else value
        found.append(SharedField(place.name, place.key, kind, place.type, offset, place.nbytes, value))
        offset, align = offset + size + (kind == "array"), max(align, own)  # a byte behind an array: see extent.cuh
    for place in (p for p in places if p.key in strings):
        name, value = f"*{program.shown(place.name)}", _source(points_to, place.key)
        offset = -(-offset // _POINTER) * _POINTER  # where the text's object begins, and its size
        found.append(SharedField(name, Behind(place.key), "string", ctype.CHAR, offset, 0, value))
        offset, align = offset + 2 * _POINTER, max(align, _POINTER)
    return tuple(found), -(-offset // align) * align or 1


def _kind(place: Place) -> SharedKind:
    if place.space == "texture":
        return "texture"
    if _is_code(place.type):
        return "scalar"
    if isinstance(place.type, ctype.Pointer) and place.space in ("parameter", "private", "lane"):
        return "pointer"
    inline = place.space in ("parameter", "parameter-array") or (
        place.space in ("private", "warp", "lane") and 0 < place.nbytes <= _INLINE_BYTES)
    if not inline:
        return "object"
    return "array" if isinstance(place.type, ctype.Array) else "scalar"


def _field(program: ir.Program, place: Place, kind: SharedKind) -> tuple[int, int]:
    """Size and alignment of the field."""
    if kind == "texture":
        return 2 * _POINTER, _POINTER
    if kind in ("object", "pointer"):
        return _POINTER, _POINTER
    return place.nbytes, program.layouts.align(place.type)


def _is_code(kind: ctype.CType) -> bool:
    return isinstance(kind, ctype.Pointer) and isinstance(kind.to, ctype.Func)


def _number(program: ir.Program, points_to: PointsTo, key: Object, value: str) -> str:
    """The number of the function that a pointer leads to, as C with an address; one that nobody knows is no function's."""
    numbers = code_numbers(program)
    found = sorted(obj.name for obj in points_to.contents(key) if isinstance(obj, Code) and obj.name in numbers)
    known = "".join(f"({value}) == {name} ? {numbers[name]}UL : " for name in found)
    return f"(unsigned long){{({value}) == 0 ? 0UL : {known}~0UL}}"


def _source(points_to: PointsTo, key: Object) -> str:
    """An object as the prologue names it: its name in the user's source, or the call whose result it is, with an address."""
    symbol = points_to.symbol(key)
    if symbol is not None and symbol.storage == "call":
        kind = "char *" if isinstance(symbol.type, ctype.Pointer) else "unsigned long"
        return f"({kind}){{{symbol.original}}}"
    return symbol.original if symbol is not None else str(key)
