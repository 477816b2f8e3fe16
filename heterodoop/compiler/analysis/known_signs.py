"""Which numbers are just what a text said: a NaN among them has the sign that its text gave it, on every processor.

A NaN that arithmetic makes has a set sign bit on x86 and none on a GPU, and of two NaNs gcc chooses by the order of the
operands: who prints one has to know where it came from. Known is what strtod, atof, scanf, a constant or an integer gave,
through copies (locals, globals, structs, parameters, results, ?:), conversions between float and double, unary minus, fabs
and copysign: on x86 these are moves and operations on the sign bit. A GPU's own may lose the sign, so the kernel has forms
of them that keep it (runtime/device/libc/bits.cuh); which nodes need these, `exact` says. Everything else is not known; nor
is what a pointer may have written. Flow-insensitive.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..ir import formats, ir
from ..ir import walk as ir_walk
from ..normalise import stdio
from ..types import ctype
from ..types.ctype import CType
from .objects import Local, Object, Returned, variable

_READERS = frozenset({"atof", "strtod", "strtof"})
_SIGN_CALLS = frozenset({"fabs", "fabsf", "copysign", "copysignf"})
_CONSTANTS = frozenset({"__hd_inff", "__hd_huge_val", "__hd_nanf"})
_REAL = frozenset("eEfFgGaA")


class KnownSigns:
    """`known(function, expr)`: is the printed expression a number whose sign is known though it be a NaN?
    `exact(function, node)`: does the sign of one that is printed hang on this operation?"""

    def __init__(self, program: ir.Program) -> None:
        self._program = program
        self._written: dict[Object, list[tuple[str, ir.Expr]]] = {}
        self._returned: dict[str, list[ir.Expr]] = {}
        self._lost: set[Object] = set()
        for symbol in program.globals:
            if symbol.init is not None:
                self._initialise("", symbol.name, symbol.init)
                self._visit("", symbol.init)
        for function, body in ir_walk.bodies(program):
            self._visit(function, body)
        self._known: set[tuple[str, ir.Expr]] = set()
        self._exact: set[tuple[str, ir.Expr]] = set()
        for function, body in ir_walk.bodies(program):
            for expr in _printed(body):
                self._judge(function, expr)

    def known(self, function: str, expr: ir.Expr) -> bool:
        return (function, expr) in self._known

    def exact(self, function: str, node: ir.Expr) -> bool:
        """Never true of a copysign: a device's own is one on bits."""
        return isinstance(node, (ir.Cast, ir.Unary, ir.Call)) and _real(node.type) and (function, node) in self._exact

    def _judge(self, function: str, expr: ir.Expr) -> None:
        trace = _Trace(self._program, self._written, self._returned, self._lost)
        if trace.known(function, expr):
            self._known.add((function, expr))
            self._exact |= trace.exact

    # ------------------------------------------------------------------------------------- what writes them

    def _visit(self, function: str, node: Any) -> None:
        if isinstance(node, (ir.Assign, ir.Step)):
            plain = isinstance(node, ir.Assign) and node.op == "="
            self._write(function, node.target, node.value if plain and isinstance(node, ir.Assign) else None)
        elif isinstance(node, ir.Decl):
            self._initialise(function, node.name, node.init)
        elif isinstance(node, ir.Return) and node.value is not None:
            self._returned.setdefault(function, []).append(node.value)
        elif isinstance(node, ir.Call) and ir.called(node) in self._program.by_name:
            self._pass(function, node)
        elif isinstance(node, ir.Name) and node.name in self._program.by_name:
            self._lost |= {Local(node.name, param.name) for param in self._program.by_name[node.name].params}
        elif isinstance(node, (ir.AddressOf, ir.Decay)):
            self._lose(function, node.operand)
        for part in self._parts(function, node):
            self._visit(function, part)

    def _parts(self, function: str, node: Any) -> Iterator[Any]:
        """What is to be visited below a node: not the addresses that only a reader of numbers or an index uses."""
        harmless = {target.number for target in self._targets(node)}
        for part in node.args if isinstance(node, ir.Call) and ir.called(node) else ir_walk.children(node):
            indexed = isinstance(node, ir.Index) and part is node.base and isinstance(part, ir.Decay)
            if part.number in harmless or indexed:
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
            if isinstance(target, ir.AddressOf) and scan.letter in _REAL:
                if target.operand.type == {"l": ctype.DOUBLE, "": ctype.FLOAT}.get(scan.length):
                    yield target

    def _write(self, function: str, target: ir.Expr, value: ir.Expr | None) -> None:
        self._store(function, _object(self._program, function, target), value, target.type)

    def _store(self, writer: str, key: Object | None, value: ir.Expr | None, kind: CType) -> None:
        """`writer`: the function in which the value is one; None: not just a value."""
        if key is None or not _may_hold(kind):
            return
        if value is None or not (_real(kind) or isinstance(kind, ctype.Struct)):
            self._lost.add(key)
        else:
            self._written.setdefault(key, []).append((writer, value))

    def _initialise(self, function: str, name: str, init: ir.Init | None) -> None:
        values = [value for _, value in init.items] if isinstance(init, ir.Fill) else [init]
        for value in values:
            if isinstance(value, ir.Expr):
                self._store(function, variable(self._program, function, name), value, value.type)

    def _pass(self, function: str, call: ir.Call) -> None:
        """The arguments of a call are written to the parameters."""
        callee = self._program.by_name[ir.called(call)]
        for param, value in zip(callee.params, call.args, strict=False):
            self._store(function, Local(callee.name, param.name), value, param.type)

    def _lose(self, function: str, operand: ir.Expr) -> None:
        """Something gets the address: it may write there."""
        key = _object(self._program, function, operand)
        if key is not None and _may_hold(operand.type):
            self._lost.add(key)


class _Trace:
    """Where one number comes from: whether all of it is known, and the operations on the way that may touch the sign."""

    def __init__(
        self, program: ir.Program, written: dict[Object, list[tuple[str, ir.Expr]]], returned: dict[str, list[ir.Expr]],
        lost: set[Object],
    ) -> None:
        self._program, self._written, self._returned, self._lost = program, written, returned, lost
        self._seen: set[Object] = set()  # what is only copied among these comes from elsewhere
        self.exact: set[tuple[str, ir.Expr]] = set()

    def known(self, function: str, expr: ir.Expr) -> bool:
        match expr:
            case ir.Cast(type=kind, operand=operand) if not _integer(operand.type):
                return self._through(function, expr, (operand,), needed=kind != operand.type)
            case ir.Unary(op="-", operand=operand) if not _integer(operand.type):
                return self._through(function, expr, (operand,))
            case ir.Conditional(then=then, other=other):
                return self.known(function, then) and self.known(function, other)
            case ir.Comma(second=second):
                return self.known(function, second)
            case ir.Assign(op="=", value=value):
                return self.known(function, value)
            case ir.Call():
                return self._call(function, expr)
        if isinstance(expr, ir.Const):
            return expr.value == expr.value
        if isinstance(expr, ir.Cast):  # of an integer, which is never a NaN
            return True
        return _carries(expr.type) and self._stored(_object(self._program, function, expr))

    def _through(self, function: str, node: ir.Expr, operands: tuple[ir.Expr, ...], *, needed: bool = True) -> bool:
        """An operation on the sign, or a conversion, of numbers that are known themselves.

        fabs of others is not known: of what cannot be negative, `x * x`, gcc leaves it out.
        """
        if not _carries(node.type) or not all(_carries(o.type) and self.known(function, o) for o in operands):
            return False
        if needed:
            self.exact.add((function, node))
        return True

    def _call(self, function: str, call: ir.Call) -> bool:
        name = ir.called(call)
        if name in self._program.by_name:
            if Returned(name) in self._seen:
                return True
            self._seen.add(Returned(name))
            return _carries(call.type) and all(self.known(name, value) for value in self._returned.get(name, ()))
        if name in _SIGN_CALLS:
            return self._through(function, call, call.args, needed=name.startswith("fabs"))
        return name in _READERS or name in _CONSTANTS

    def _stored(self, key: Object | None) -> bool:
        if key is None or key in self._lost:
            return False
        if key in self._seen:
            return True
        self._seen.add(key)
        return all(self.known(function, value) for function, value in self._written.get(key, ()))


def _printed(body: ir.Block) -> Iterator[ir.Expr]:
    """The real numbers that output calls get."""
    for node in ir_walk.walk(body):
        args = node.args if isinstance(node, ir.Format) else ()
        if isinstance(node, ir.Call) and ir.called(node) in ("sprintf", "snprintf"):
            args = node.args
        yield from (arg for arg in args if _real(arg.type))


def _object(program: ir.Program, function: str, expr: ir.Expr) -> Object | None:
    """The variable that an lvalue is, or is a part of; None where a pointer leads to it, or a union."""
    while not isinstance(expr, ir.Name):
        if isinstance(expr, ir.Member) and isinstance(expr.base.type, ctype.Struct) and not expr.base.type.union:
            expr = expr.base
        elif isinstance(expr, ir.Index) and isinstance(expr.base, ir.Decay):
            expr = expr.base.operand
        else:
            return None
    found = variable(program, function, expr.name)
    return found if isinstance(found, Local) or any(symbol.name == expr.name for symbol in program.globals) else None


def _carries(kind: CType) -> bool:
    return _real(kind) or (isinstance(kind, ctype.Struct) and not kind.union)


def _real(kind: CType) -> bool:
    return kind in (ctype.FLOAT, ctype.DOUBLE)


def _integer(kind: CType) -> bool:
    return isinstance(kind, ctype.Int)


def _may_hold(kind: CType) -> bool:
    """May there be a real number in it?"""
    while isinstance(kind, ctype.Array):
        kind = kind.of
    return isinstance(kind, (ctype.Float, ctype.Struct))
