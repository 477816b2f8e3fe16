"""Initialisers -> CUDA text: nested braces where C++17 has them, else member by member.

Items name scalars by path; what is not named is zero, as in C. Non-goals: where an object lives.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..decide import cuda_names
from ..ir import ir
from ..types import ctype
from ..types.ctype import CType, Layouts
from . import expr
from . import leaf as emit_expr_leaf
from .scope import Scope
from .types import declare

MOST_HOLES = 4096  # elements of an array that nothing names: more are not written out
Tree = dict[Any, Any]


def braces(kind: CType, init: ir.Init, scope: Scope) -> str | None:
    """The initialiser as one expression or brace list; None where only assignments can say it."""
    if isinstance(init, ir.Expr):
        if isinstance(kind, ctype.Array) and isinstance(init, ir.Str):
            return _characters(kind, init)
        return expr.converted(kind, init, scope)
    return _list(kind, _tree(init), scope.env.program.layouts, lambda k, e: _leaf(k, e, scope))


def expressible(kind: CType, init: ir.Init, layouts: Layouts) -> bool:
    """Has the initialiser a form as one brace list?"""
    return isinstance(init, ir.Expr) or _list(kind, _tree(init), layouts, lambda k, e: "0") is not None


def assignments(target: str, init: ir.Fill, scope: Scope) -> list[str]:
    """The same as statements: all zero first, then each item."""
    lines = [f"hd::zero({target});"]
    for path, item in init.items:
        place = target + "".join(f"[{p}]" if isinstance(p, int) else f".{cuda_names.escape(p)}" for p in path)
        if isinstance(item, ir.Str):
            lines.append(f"hd::copy_text({place}, {emit_expr_leaf.string(item.data)}, {len(item.data) + 1});")
        else:
            lines.append(f"{place} = {expr.value(item, scope)};")
    return lines


def text_assignment(target: str, init: ir.Str, kind: CType) -> list[str]:
    """A character array's initialiser as statements."""
    assert isinstance(kind, ctype.Array)
    size = min(len(init.data) + 1, kind.length or 0)
    return [f"hd::zero({target});", f"hd::copy_text({target}, {emit_expr_leaf.string(init.data)}, {size});"]


def compound(node: ir.Compound, scope: Scope) -> str:
    """A compound literal as a value: a struct or scalar that a lambda makes."""
    kind = declare(node.type, "made")
    text = braces(node.type, node.init, scope)
    if text is not None:
        body = f"{kind} = {text};"
    else:
        assert isinstance(node.init, ir.Fill)
        body = f"{kind}; {' '.join(assignments('made', node.init, scope))}"
    return f"[&] {{ {body} return made; }}()"


def _tree(init: ir.Fill) -> Tree:
    tree: Tree = {}
    for path, item in init.items:
        node = tree
        for step in path[:-1]:
            node = node.setdefault(step, {})
        node[path[-1]] = item
    return tree


def _list(kind: CType, tree: Tree, layouts: Layouts, leaf: Callable[[CType, ir.Expr], str]) -> str | None:
    parts = _array_parts(kind, tree) if isinstance(kind, ctype.Array) else _struct_parts(kind, tree, layouts)
    if parts is None:
        return None
    texts: list[str] = []
    for inner, item in parts:
        text: str | None = "{}"
        if item is not None:
            text = leaf(inner, item) if isinstance(item, ir.Expr) else _list(inner, item, layouts, leaf)
        if text is None:
            return None
        texts.append(text)
    return f"{{{', '.join(texts)}}}"


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


def _leaf(kind: CType, item: ir.Expr, scope: Scope) -> str:
    """One item of a brace list, in which C++ converts nothing that may lose a bit."""
    if isinstance(kind, ctype.Array) and isinstance(item, ir.Str):
        return _characters(kind, item)
    return expr.value(item, scope)


def _characters(kind: ctype.Array, item: ir.Str) -> str:
    """A string that fills a character array; C++ wants room for its NUL, C does not."""
    length = kind.length if kind.length is not None else len(item.data) + 1
    if len(item.data) < length:
        return emit_expr_leaf.string(item.data)
    assert isinstance(kind.of, ctype.Int)
    return f"{{{', '.join(str(ctype.wrap(kind.of, byte)) for byte in item.data[:length])}}}"


def assigned(node: ir.Assign, target: str, value: str, scope: Scope) -> emit_expr_leaf.Text:
    """`target = value`; of a struct that may be assigned onto a part of itself, with the addresses compared."""
    if scope.env.may_overlap(scope.function.name, node):
        return f"hd::assign_apart(hd, {max(node.span.line, 0)}, {target}, {value})", emit_expr_leaf.PREC["postfix"]
    return f"{target} = {value}", emit_expr_leaf.PREC["="]
