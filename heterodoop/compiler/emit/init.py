"""Initialisers of the device IR -> CUDA text: a value or nested braces, else statements that assign item by item."""

from __future__ import annotations

from ..decide import cuda_names
from ..device import nodes
from ..ir import ir
from ..types import ctype
from ..types.ctype import CType
from . import leaf
from .scope import Scope

_CHARS = {True: ctype.SCHAR, False: ctype.UCHAR}


def initialiser(kind: CType, init: ir.Expr | nodes.Chars | nodes.Braces, scope: Scope) -> str:
    """The initialiser of an object as one expression or brace list."""
    if isinstance(init, nodes.Chars):
        return _characters(init)
    return _list(init, scope) if isinstance(init, nodes.Braces) else scope.converted(kind, init)


def assignments(target: str, init: ir.Fill, scope: Scope) -> list[str]:
    """Statements: all zero first, then each item."""
    lines = [f"hd::zero({target});"]
    for path, item in init.items:
        place = target + "".join(f"[{p}]" if isinstance(p, int) else f".{cuda_names.escape(p)}" for p in path)
        if isinstance(item, ir.Str):
            lines.append(f"hd::copy_text({place}, {leaf.string(item.data)}, {len(item.data) + 1});")
        else:
            lines.append(f"{place} = {scope.value(item)};")
    return lines


def assigned(target: str, kind: CType, init: nodes.Init, scope: Scope) -> list[str]:
    """An object's initialiser as statements."""
    if isinstance(init, ir.Fill):
        return assignments(target, init, scope)
    if isinstance(init, nodes.Chars):
        size = min(len(init.data) + 1, init.length)
        return [f"hd::zero({target});", f"hd::copy_text({target}, {leaf.string(init.data)}, {size});"]
    return [f"{target} = {initialiser(kind, init, scope)};"]


def _list(init: nodes.Braces, scope: Scope) -> str:
    """C++ converts nothing in it that may lose a bit."""
    return f"{{{', '.join(_item(item, scope) for item in init.items)}}}"


def _item(item: ir.Expr | nodes.Chars | nodes.Braces | None, scope: Scope) -> str:
    if item is None:
        return "{}"
    if isinstance(item, nodes.Chars):
        return _characters(item)
    return _list(item, scope) if isinstance(item, nodes.Braces) else scope.value(item)


def _characters(init: nodes.Chars) -> str:
    """A string that fills a character array; C++ wants room for its NUL, C does not."""
    if len(init.data) < init.length:
        return leaf.string(init.data)
    return f"{{{', '.join(str(ctype.wrap(_CHARS[init.signed], byte)) for byte in init.data[: init.length])}}}"
