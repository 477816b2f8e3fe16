"""Walking and rebuilding the IR without knowing every node: children by dataclass fields."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any, TypeVar, get_args, get_type_hints

from ..types import ctype
from ..types.ctype import CType
from . import ir

T = TypeVar("T")
Owner = TypeVar("Owner", bound=ir.Function | ir.MapRegion | ir.CombineRegion)

@cache
def _fields(kind: Any) -> tuple[str, ...]:
    """Fields of a class of parts that can hold parts, by their types."""
    return tuple(name for name, hint in get_type_hints(kind).items() if _holds_parts(hint))


def _holds_parts(hint: Any) -> bool:
    if isinstance(hint, type):
        return issubclass(hint, ir.Numbered)
    return any(map(_holds_parts, get_args(hint)))


def children(node: Any) -> Iterator[Any]:
    """Direct parts of a node in source order; tuples are looked through."""
    return iter(_children(node))


def _children(node: Any) -> list[Any]:
    found: list[Any] = []
    for name in _fields(node.__class__):
        _flatten(getattr(node, name), found)
    return found


def _flatten(value: Any, found: list[Any]) -> None:
    if isinstance(value, ir.Numbered):
        found.append(value)
    elif isinstance(value, tuple):
        for item in value:
            _flatten(item, found)


def walk(node: Any) -> Iterator[Any]:
    """The node and everything below it, parents first."""
    stack = [node]
    while stack:
        top = stack.pop()
        yield top
        stack.extend(reversed(_children(top)))


def uncast(node: T) -> T | ir.Expr:
    """What is converted, where it is; else the node itself."""
    found: T | ir.Expr = node
    while isinstance(found, ir.Cast):
        found = found.operand
    return found


def rewrite(node: T, change: Callable[[Any], Any]) -> T:
    """Rebuild bottom-up: `change` gets each node with its parts already changed and gives its replacement.

    Nodes whose parts did not change keep their identity, so that an untouched program stays the same object.
    """
    new: dict[str, Any] = {}
    for name in _fields(type(node)):  # type: ignore[arg-type]
        old = getattr(node, name)
        value = _rebuild(old, change)
        if value is not old:
            new[name] = value
    result: T = change(dataclasses.replace(node, **new) if new else node)  # type: ignore[type-var]
    return result


def _rebuild(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, ir.Numbered):
        return rewrite(value, change)
    if isinstance(value, tuple):
        items = tuple(_rebuild(item, change) for item in value)
        return items if any(a is not b for a, b in zip(items, value, strict=True)) else value
    return value


def copied(node: T) -> T:
    """The same with numbers of its own, to stand in a second place."""
    return rewrite(node, lambda part: dataclasses.replace(part, number=ir.Numbered().number))


def expressions(node: Any) -> Iterator[ir.Expr]:
    """Every expression at or below a node."""
    return (n for n in walk(node) if isinstance(n, ir.Expr))


def unwanted(node: Any) -> Iterator[ir.Expr]:
    """Expressions in a node of which nobody wants the value: what stands for what it does, and what gives its value.

    These are a statement's expression, a loop's step, what stands before a comma or is made void; of `c ? a : b` both sides.
    A node's own only: a walk over all nodes finds each such expression once.
    """
    if isinstance(node, ir.ExprStmt):
        yield from _valueless(node.expr)
    elif isinstance(node, (ir.For, ir.RecordLoop)) and node.step is not None:
        yield from _valueless(node.step)
    elif isinstance(node, ir.Comma):
        yield from _valueless(node.first)
    elif isinstance(node, ir.Cast) and node.type == ctype.VOID:
        yield from _valueless(node.operand)


def _valueless(node: ir.Expr) -> Iterator[ir.Expr]:
    yield node
    if isinstance(node, ir.Comma):
        yield from _valueless(node.second)
    elif isinstance(node, ir.Conditional):
        yield from _valueless(node.then)
        yield from _valueless(node.other)
    elif isinstance(node, ir.Cast) and node.type != ctype.VOID:
        yield from _valueless(node.operand)


def names(node: Any) -> set[str]:
    """Every variable and function that a node mentions."""
    return {n.name for n in walk(node) if isinstance(n, ir.Name)}


def changed(node: Any) -> ir.Expr | None:
    """The lvalue that a node itself changes, or lets others change by taking its address; None for all else."""
    if isinstance(node, (ir.Assign, ir.Step, ir.Accumulate)):
        return node.target
    return node.operand if isinstance(node, ir.AddressOf) else None


def fails(node: ir.Exit) -> bool:
    """Does an Exit surely tell failure?"""
    if node.call in ("exit", "_exit", "_Exit", "quick_exit"):
        code = node.args[0]
        return isinstance(code, ir.Const) and isinstance(code.value, int) and code.value & 0xFF != 0
    return True


def bodies(program: ir.Program) -> Iterator[tuple[str, ir.Block]]:
    """Every body of the program with its function's name, the region's among them."""
    for function in program.functions:
        yield function.name, function.body
    yield program.region.function, program.region.body


def map_functions(program: ir.Program, change: Callable[[str, Any], Any]) -> ir.Program:
    """Apply `change(function name, node)` bottom-up to every body, the region's included (under its function's name).

    The same object where no body changes.
    """
    functions = tuple(_with_body(f, rewrite(f.body, partial(change, f.name))) for f in program.functions)
    region = _with_body(program.region, rewrite(program.region.body, partial(change, program.region.function)))
    if region is program.region and all(map(operator.is_, functions, program.functions)):
        return program
    return dataclasses.replace(program, functions=functions, region=region)


def _with_body(owner: Owner, body: ir.Block) -> Owner:
    return owner if body is owner.body else dataclasses.replace(owner, body=body)


def inner_types(kind: CType) -> tuple[CType, ...]:
    """The types that a type is made of, members of structs left out."""
    if isinstance(kind, ctype.Func):
        return (kind.result, *kind.params)
    inner = ctype.element(kind)
    return (inner,) if inner is not None else ()


def types(value: object) -> Iterator[CType]:
    """Every type that a piece of a program holds."""
    if isinstance(value, CType):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from types(item)
    elif isinstance(value, (ir.Expr, ir.Stmt)):
        for node in walk(value):
            if isinstance(node, ir.Expr):
                yield node.type
    elif dataclasses.is_dataclass(value):
        for item in dataclasses.fields(value):
            yield from types(getattr(value, item.name))
