"""Where a C++ conversion does just what C's does, so that the text can leave it out. Pure questions about IR nodes."""

from __future__ import annotations

from ..ir import ir
from ..types import ctype
from ..types.ctype import CType, Float, Int, Pointer


def unconverted(kind: CType, node: ir.Expr) -> ir.Expr:
    """The operand of a conversion that C++ makes by itself where a `kind` is wanted."""
    while isinstance(node, ir.Cast) and node.type == kind and _implicit(kind, node.operand.type):
        node = node.operand
        if not isinstance(kind, Pointer):
            break
        kind = node.type
    return node


def _implicit(kind: CType, source: CType) -> bool:
    if isinstance(kind, Int):
        return isinstance(source, Int)
    if isinstance(kind, Float):
        return isinstance(source, (Int, Float))
    return isinstance(kind, Pointer) and isinstance(source, Pointer) and implicit_pointer(kind, source)


def implicit_pointer(kind: Pointer, source: Pointer) -> bool:
    """Adding `const`, and to `void *`."""
    if source.const and not kind.const:
        return False
    return kind.to == source.to or kind.to == ctype.VOID
