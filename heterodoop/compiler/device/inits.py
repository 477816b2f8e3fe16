"""Initialisers -> the device dialect: nested braces where C++17 has them, else items by path, which are assigned.

Items name scalars by path; what is not named is zero, as in C.
"""

from __future__ import annotations

from typing import Any

from ..ir import ir
from ..types import ctype
from ..types.ctype import CType, Layouts
from . import nodes
from .scope import Scope

MOST_HOLES = 4096  # elements of an array that nothing names: more are not written out
Tree = dict[Any, Any]


def lowered(kind: CType, init: ir.Init, scope: Scope, *, apart: bool = False) -> nodes.Init:
    """The initialiser of an object, as items where it has no form as one value or brace list.

    apart  as items in any case, since it is assigned.
    """
    if isinstance(init, ir.Expr):
        return _leaf(kind, init, scope)
    if not apart:
        made = _braces(kind, _tree(init), scope)
        if made is not None:
            return made
    return ir.Fill(tuple((path, _item(item, scope)) for path, item in init.items))


def _leaf(kind: CType, item: ir.Expr, scope: Scope) -> ir.Expr | nodes.Chars:
    if isinstance(kind, ctype.Array) and isinstance(item, ir.Str):
        assert isinstance(kind.of, ctype.Int)
        length = kind.length if kind.length is not None else len(item.data) + 1
        return nodes.Chars(item.data, length, kind.of.signed, span=item.span)
    return _item(item, scope)


def _item(item: ir.Expr, scope: Scope) -> ir.Expr:
    made = scope.value(item)
    if isinstance(item.type, ctype.Array) and not isinstance(item, ir.Str):
        text = "an array that is initialised from another"
        return nodes.Unsupported(item.type, "HD239", text, (made,), span=item.span)
    return made


def _tree(init: ir.Fill) -> Tree:
    tree: Tree = {}
    for path, item in init.items:
        node = tree
        for step in path[:-1]:
            node = node.setdefault(step, {})
        node[path[-1]] = item
    return tree


def _braces(kind: CType, tree: Tree, scope: Scope) -> nodes.Braces | None:
    layouts = scope.kernel.program.layouts
    parts = _array_parts(kind, tree) if isinstance(kind, ctype.Array) else _struct_parts(kind, tree, layouts)
    if parts is None:
        return None
    items: list[ir.Expr | nodes.Chars | nodes.Braces | None] = []
    for inner, item in parts:
        made = None
        if item is not None:
            made = _leaf(inner, item, scope) if isinstance(item, ir.Expr) else _braces(inner, item, scope)
            if made is None:
                return None
        items.append(made)
    return nodes.Braces(tuple(items))


def _array_parts(kind: ctype.Array, tree: Tree) -> list[tuple[CType, Any]] | None:
    last = max(tree, default=-1)
    if last + 1 - len(tree) > MOST_HOLES:
        return None
    return [(kind.of, tree.get(number)) for number in range(last + 1)]


def _struct_parts(kind: CType, tree: Tree, layouts: Layouts) -> list[tuple[CType, Any]] | None:
    """Members up to the last one named; None for a union's member that is not its first, and for unnamed unions."""
    assert isinstance(kind, ctype.Struct)
    fields = layouts.table[kind.tag].fields
    if kind.union:
        return [(fields[0].type, tree[fields[0].name])] if set(tree) == {fields[0].name} else ([] if not tree else None)
    if len({f.offset for f in fields}) != len(fields):
        return None
    last = max((n for n, f in enumerate(fields) if f.name in tree), default=-1)
    return [(f.type, tree.get(f.name)) for f in fields[: last + 1]]
