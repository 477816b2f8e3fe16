"""What an expression comes to when a read of the input gives a certain result."""

from __future__ import annotations

from typing import Any, TypeGuard

from ..ir import build, formats, ir
from ..ir import walk as ir_walk
from ..types import ctype
from ..types.ctype import Int, Pointer
from .token_formats import may_take_nothing, why_no_tokens

ACTS = (ir.Assign, ir.Step, ir.Call, ir.Emit, ir.Stderr, ir.Exit, ir.ReadRecord, ir.ReadPair)
_UPPER, _LOWER, _DIGITS = (frozenset(range(ord(a), ord(z) + 1)) for a, z in ("AZ", "az", "09"))
_GRAPH = frozenset(range(33, 127))
# Functions of ctype.h -> the characters of the C locale that they are true for: what they give then is any number.
_CLASSES = {
    "isupper": _UPPER, "islower": _LOWER, "isdigit": _DIGITS, "isalpha": _UPPER | _LOWER, "isgraph": _GRAPH,
    "isalnum": _UPPER | _LOWER | _DIGITS, "isspace": frozenset(range(9, 14)) | {32}, "isblank": frozenset({9, 32}),
    "ispunct": _GRAPH - _UPPER - _LOWER - _DIGITS, "isprint": _GRAPH | {32},
    "isxdigit": _DIGITS | frozenset(b"abcdefABCDEF"), "iscntrl": frozenset(range(32)) | {127},
}
Read = ir.ReadRecord | ir.ReadPair
_ADDRESS = 0x7F0000001000  # stands for a buffer's address where fgets returns it


def reads(node: Any) -> list[Read]:
    return [n for n in ir_walk.walk(node) if isinstance(n, (ir.ReadRecord, ir.ReadPair))]


def is_record_condition(cond: ir.Expr, tokens: bool) -> bool:
    """False at the end of the input, true for each record, whatever else is in the program.

    tokens  a mapper: of the scanf formats only those whose words and numbers never cross a line's end (`token_formats`).
    """
    found = reads(cond)
    if len(found) != 1:
        return False
    read = found[0]
    ends, records = results(read, cond, tokens)
    if not records:
        return False
    return all(truth(cond, read, r) is False for r in ends) and all(truth(cond, read, r) is True for r in records)


def results(read: Read, cond: ir.Expr, tokens: bool) -> tuple[list[int], list[int]]:
    """What the call returns where the loop must end: at the end of input, and where it takes nothing of it; and samples of
    what it returns otherwise, around every constant."""
    if isinstance(read, ir.ReadPair):
        stored = sum(part.stores and part.letter != "n" for part in formats.split_scanf(read.format) or [])
        if tokens and why_no_tokens(read.format):
            return [-1], []
        return [-1, 0] if tokens and may_take_nothing(read.format) else [-1], [stored] if stored else []
    if read.kind == "fgets":
        return [0], [_ADDRESS]
    constants = [n.value for n in ir_walk.walk(cond) if isinstance(n, ir.Const) and isinstance(n.value, int)]
    near = {c + d for c in constants for d in (-1, 0, 1)}
    return [-1], sorted({1, 2, 3, 1 << 20, (1 << 31) - 1} | {n for n in near if 1 <= n < 1 << 31})


def truth(cond: ir.Expr, read: Read, result: int) -> bool | None:
    """The condition's outcome when the read gives `result`; None where it depends on anything else."""
    return holds(cond, {}, read, result)


def holds(cond: ir.Expr, known: dict[str, int], read: ir.Expr | None = None, result: int = 0) -> bool | None:
    """Is an expression other than zero, as `evaluated` has it?"""
    try:
        return _Evaluator(known, read, result).holds(cond)
    except _Unknown:
        return None


def evaluated(node: ir.Expr, known: dict[str, int], read: ir.Expr | None = None, result: int = 0) -> int | None:
    """An expression's value where variables have the values of `known`, which its assignments change; None where it depends
    on anything else."""
    try:
        return _Evaluator(known, read, result).value(node)
    except _Unknown:
        return None


def is_assignment(node: Any) -> TypeGuard[Assignment]:
    """Does it give a variable a value?"""
    return isinstance(node, ir.Assign) and node.op == "=" and isinstance(node.target, ir.Name)


def quiet(node: ir.Numbered) -> bool:
    """Does it do nothing but give a value?"""
    return not any(isinstance(n, ACTS) for n in ir_walk.walk(node))


def fixed(node: ir.Numbered) -> bool:
    """Is it the same whenever it is evaluated: a constant, an array's place?"""
    inner = ir_walk.uncast(node)
    if isinstance(inner, (ir.Decay, ir.AddressOf)):
        return isinstance(inner.operand, (ir.Name, ir.Str))
    return isinstance(inner, ir.Const)


def classifies(node: ir.Node) -> bool:
    """Is it a call of a function of ctype.h that says of what class a character is?"""
    return isinstance(node, ir.Call) and ir.called(node) in _CLASSES and len(node.args) == 1


class Assignment(ir.Assign):
    """To a variable: what `is_assignment` finds."""

    target: ir.Name


class _Unknown(Exception):
    pass


class _Evaluator:
    def __init__(self, known: dict[str, int], read: ir.Expr | None, result: int) -> None:
        self._known, self._read, self._result = known, read, result

    def value(self, node: ir.Expr) -> int:
        if node is self._read:
            return self._result
        if isinstance(node, ir.Const) and isinstance(node.value, int):
            return node.value
        if isinstance(node, ir.Name) and node.name in self._known:
            return self._known[node.name]
        if isinstance(node, ir.Cast):
            return self._cast(node.type, self.value(node.operand))
        if isinstance(node, ir.Assign) and node.op == "=" and isinstance(node.target, ir.Name):
            self._known[node.target.name] = self.value(node.value)
            return self._known[node.target.name]
        if isinstance(node, ir.Comma):
            self._effect(node.first)
            return self.value(node.second)
        if isinstance(node, ir.Unary) and node.op == "!":
            return int(not self.holds(node.operand))
        if isinstance(node, ir.Unary):
            folded = build.unary(node.op, self._const(node.operand), node.span)
            return self._folded(folded)
        if isinstance(node, ir.Binary):
            return self._binary(node)
        if isinstance(node, ir.Conditional):
            return self.value(node.then if self.holds(node.cond) else node.other)
        if classifies(node) and not self.holds(node):
            return 0
        raise _Unknown

    def holds(self, node: ir.Expr) -> bool:
        if isinstance(node, ir.Call) and classifies(node):
            return self.value(node.args[0]) in _CLASSES[ir.called(node)]
        return self.value(node) != 0

    def _effect(self, node: ir.Expr) -> None:
        try:
            self.value(node)
        except _Unknown:
            if not (is_assignment(node) and quiet(node.value)):
                raise
            self._known.pop(node.target.name, None)

    def _binary(self, node: ir.Binary) -> int:
        if node.op in build.LOGICAL:
            left = self.holds(node.left)
            return int(left) if left == (node.op == "||") else int(self.holds(node.right))
        left_const, right_const = self._const(node.left), self._const(node.right)
        if isinstance(node.left.type, Pointer) and node.op in ("==", "!="):
            return int((left_const.value == right_const.value) == (node.op == "=="))
        return self._folded(build.binary(node.op, left_const, right_const, node.span))

    def _const(self, node: ir.Expr) -> ir.Const:
        return ir.Const(node.type, self.value(node))

    def _folded(self, node: ir.Expr) -> int:
        if isinstance(node, ir.Const) and isinstance(node.value, int):
            return node.value
        raise _Unknown

    def _cast(self, kind: ctype.CType, value: int) -> int:
        if isinstance(kind, Int):
            return ctype.wrap(kind, value)
        if isinstance(kind, Pointer):
            return value
        raise _Unknown
