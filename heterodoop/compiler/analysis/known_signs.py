"""Which numbers are just what a text said: a NaN among them has the sign that its text gave it, on every processor.

A NaN that arithmetic makes has a set sign bit on x86 and none on a GPU, so who prints one has to know where it came from.
What strtod, atof or scanf has read and nothing but copies has touched is known: both sides move a double bit by bit.
Everything else is not, negation, fabs and conversions included; nor is what a pointer may have written. Flow-insensitive.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..ir import formats, ir
from ..ir import walk as ir_walk
from ..normalise import stdio
from ..types import ctype
from ..types.ctype import CType

_READERS = frozenset({"atof", "strtod"})
_REAL = frozenset("eEfFgGaA")
_Key = tuple[str, str]


class KnownSigns:
    """`known(function, expr)`: is the expression, in that function, a double whose sign is known though it be a NaN?"""

    def __init__(self, program: ir.Program) -> None:
        self._program = program
        self._written: dict[_Key, list[ir.Expr]] = {}
        self._lost: set[_Key] = set()
        for function, body in ir_walk.bodies(program):
            self._visit(function, body)

    def known(self, function: str, expr: ir.Expr) -> bool:
        return self._known(function, expr, set())

    def _known(self, function: str, expr: ir.Expr, seen: set[_Key]) -> bool:
        """`seen`: objects that are looked at already; what is only copied among them comes from elsewhere."""
        while isinstance(expr, ir.Cast) and expr.operand.type == expr.type:
            expr = expr.operand
        if expr.type != ctype.DOUBLE:
            return False
        if isinstance(expr, ir.Const):
            return expr.value == expr.value
        if isinstance(expr, ir.Call):
            return ir.called(expr) in _READERS and ir.called(expr) not in self._program.by_name
        key = self._object(function, expr)
        if key is None or key in self._lost:
            return False
        if key in seen:
            return True
        seen.add(key)
        return all(self._known(function, value, seen) for value in self._written.get(key, ()))

    def _object(self, function: str, expr: ir.Expr) -> _Key | None:
        """The local that an lvalue is, or is a part of; None where a pointer leads to it, and for what is no local."""
        while not isinstance(expr, ir.Name):
            if isinstance(expr, ir.Member) and isinstance(expr.base.type, ctype.Struct) and not expr.base.type.union:
                expr = expr.base
            elif isinstance(expr, ir.Index) and isinstance(expr.base, ir.Decay):
                expr = expr.base.operand
            else:
                return None
        local = any(symbol.name == expr.name for symbol in self._program.by_name[function].locals)
        return (function, expr.name) if local else None

    # ------------------------------------------------------------------------------------- what writes them

    def _visit(self, function: str, node: Any) -> None:
        if isinstance(node, (ir.Assign, ir.Step)):
            plain = isinstance(node, ir.Assign) and node.op == "="
            self._write(function, node.target, node.value if plain and isinstance(node, ir.Assign) else None)
        elif isinstance(node, ir.Decl):
            self._declare(function, node)
        elif isinstance(node, (ir.AddressOf, ir.Decay)):
            self._lose(function, node.operand)
        for part in self._parts(function, node):
            self._visit(function, part)

    def _parts(self, function: str, node: Any) -> Iterator[Any]:
        """What is to be visited below a node: not the addresses that only a reader of numbers or an index uses."""
        harmless = {id(target) for target in self._targets(node)}
        for part in ir_walk.children(node):
            indexed = isinstance(node, ir.Index) and part is node.base and isinstance(part, ir.Decay)
            if id(part) in harmless or indexed:
                yield from ir_walk.children(part)
            else:
                yield part

    def _targets(self, node: Any) -> Iterator[ir.AddressOf]:
        """Where a scanf puts doubles."""
        if isinstance(node, ir.ReadPair):
            text, targets = node.format, node.targets
        elif isinstance(node, ir.Call) and ir.called(node) == "sscanf" and len(node.args) > 1:
            text, targets = stdio.literal(node.args[1]) or b"", node.args[2:]
        else:
            return
        stored = [scan for scan in formats.split_scanf(text) or [] if scan.stores]
        for scan, target in zip(stored, targets, strict=False):
            if isinstance(target, ir.AddressOf) and scan.letter in _REAL and scan.length == "l":
                if target.operand.type == ctype.DOUBLE:
                    yield target

    def _write(self, function: str, target: ir.Expr, value: ir.Expr | None) -> None:
        key = self._object(function, target)
        if key is None or not _may_hold(target.type):
            return
        if value is None or target.type != ctype.DOUBLE:
            self._lost.add(key)
        else:
            self._written.setdefault(key, []).append(value)

    def _declare(self, function: str, node: ir.Decl) -> None:
        if isinstance(node.init, ir.Fill):
            for _, value in node.init.items:
                if _may_hold(value.type):
                    self._write(function, ir.Name(value.type, node.name, span=node.span), value)
        elif isinstance(node.init, ir.Expr):
            self._write(function, ir.Name(node.init.type, node.name, span=node.span), node.init)

    def _lose(self, function: str, operand: ir.Expr) -> None:
        """Something gets the address: it may write there."""
        key = self._object(function, operand)
        if key is not None and _may_hold(operand.type):
            self._lost.add(key)


def _may_hold(kind: CType) -> bool:
    """May there be a real number in it?"""
    while isinstance(kind, ctype.Array):
        kind = kind.of
    return isinstance(kind, (ctype.Float, ctype.Struct))
