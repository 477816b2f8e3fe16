"""Smart constructors of IR expressions: they give each node its type and fold integer constants, as C says.

Operands come converted (`convert.py` does that for C's implicit conversions; the printed IR has them as casts), so
the lowering and the reader of printed IR build the same nodes. Signed results wrap (-fwrapv). Floating arithmetic is
never folded; conversions of constants are.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable

from ...source import UNKNOWN, Span
from ..types import ctype, literals
from ..types.ctype import CType, Float, Int, Pointer
from . import ir

_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}
_FOLD: dict[str, Callable[[int, int], int]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "&": operator.and_, "|": operator.or_, "^": operator.xor,
}
COMPARISONS = frozenset(_COMPARE)
SHIFTS = frozenset({"<<", ">>"})
LOGICAL = frozenset({"&&", "||"})


def const(value: int, kind: CType = ctype.INT, span: Span = UNKNOWN) -> ir.Const:
    return ir.Const(kind, value, span=span)


def string(data: bytes, span: Span = UNKNOWN) -> ir.Str:
    return ir.Str(ctype.Array(ctype.CHAR, len(data) + 1), data, span=span)


def decay(operand: ir.Expr) -> ir.Expr:
    """The value of an lvalue or function: arrays and functions become pointers, others stay."""
    if isinstance(operand.type, (ctype.Array, ctype.Func)):
        return ir.Decay(ctype.decay(operand.type), operand, span=operand.span)
    return operand


def cast(kind: CType, operand: ir.Expr, span: Span | None = None) -> ir.Expr:
    """`operand` converted to `kind`; nothing where it has that type, a constant where it is one."""
    span = span or operand.span
    if operand.type == kind:
        return operand
    if isinstance(operand, ir.Const):
        folded = _cast_value(kind, operand)
        if folded is not None:
            return ir.Const(kind, folded, span=span)
    return ir.Cast(kind, operand, span=span)


def _cast_value(kind: CType, operand: ir.Const) -> int | float | None:
    value = operand.value
    if isinstance(kind, Pointer):
        return value if isinstance(value, int) else None
    if isinstance(kind, Int):
        if kind == ctype.BOOL:
            return int(value != 0)
        if isinstance(value, int):
            return ctype.wrap(kind, value)
        whole = math.trunc(value) if math.isfinite(value) else None
        return whole if whole is not None and ctype.wrap(kind, whole) == whole else None
    if isinstance(kind, Float) and kind.bits <= 64 and not isinstance(operand.type, Pointer):
        return literals.to_float(value) if kind.bits == 32 else _double(value)
    return None


def _double(value: int | float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def unary(op: str, operand: ir.Expr, span: Span) -> ir.Expr:
    """- ~ ! of an operand already promoted."""
    kind = ctype.INT if op == "!" else operand.type
    if isinstance(operand, ir.Const):
        if op == "!":
            return const(int(operand.value == 0), span=span)
        if op == "-" and isinstance(operand.value, float):
            return ir.Const(kind, -operand.value, span=span)
        if isinstance(kind, Int) and isinstance(operand.value, int):
            return const(ctype.wrap(kind, -operand.value if op == "-" else ~operand.value), kind, span)
    return ir.Unary(kind, op, operand, span=span)  # type: ignore[arg-type]


def binary(op: str, left: ir.Expr, right: ir.Expr, span: Span) -> ir.Expr:
    """Operands already converted to what C computes in."""
    if isinstance(left, ir.Const) and isinstance(right, ir.Const):
        folded = _fold_binary(op, left, right)
        if folded is not None:
            return const(folded, binary_type(op, left.type, right.type), span)
    return ir.Binary(binary_type(op, left.type, right.type), op, left, right, span=span)


def binary_type(op: str, left: CType, right: CType) -> CType:
    if op in COMPARISONS or op in LOGICAL:
        return ctype.INT
    if isinstance(left, Pointer):
        return ctype.LONG if isinstance(right, Pointer) else left
    return right if isinstance(right, Pointer) else left


def compare(op: str, left: int, right: int) -> bool:
    """left op right for one of COMPARISONS."""
    return _COMPARE[op](left, right)


def _fold_binary(op: str, left: ir.Const, right: ir.Const) -> int | None:
    a, b, kind = left.value, right.value, left.type
    if not (isinstance(kind, Int) and isinstance(right.type, Int) and isinstance(a, int) and isinstance(b, int)):
        return None
    if op in _COMPARE:
        return int(_COMPARE[op](a, b))
    if op in LOGICAL:
        return int(bool(a and b) if op == "&&" else bool(a or b))
    if op in _FOLD:
        return ctype.wrap(kind, _FOLD[op](a, b))
    if op in SHIFTS:
        return ctype.wrap(kind, a << b if op == "<<" else a >> b) if 0 <= b < kind.bits else None
    if b == 0:
        return None
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    result = quotient if op == "/" else a - quotient * b
    return result if ctype.wrap(kind, quotient) == quotient else None


def index(base: ir.Expr, subscript: ir.Expr, span: Span) -> ir.Index:
    return ir.Index(_pointee(base), base, subscript, span=span)


def deref(pointer: ir.Expr, span: Span) -> ir.Expr:
    """*pointer; `*&x` and `*array` keep their nodes apart, as the address may be what matters."""
    return ir.Deref(_pointee(pointer), pointer, span=span)


def address(operand: ir.Expr, span: Span) -> ir.Expr:
    return ir.AddressOf(Pointer(operand.type), operand, span=span)


def _pointee(pointer: ir.Expr) -> CType:
    inner = ctype.element(pointer.type)
    if inner is None:
        raise literals.Unsupported(f"access through a value of type {pointer.type}")
    return inner


def member(base: ir.Expr, name: str, layouts: ctype.Layouts, span: Span) -> ir.Member:
    """base.name; raises Unsupported for bit-fields and incomplete types."""
    layout = layouts.table.get(base.type.tag) if isinstance(base.type, ctype.Struct) else None
    found = layout.field(name) if layout else None
    if found is None:
        raise literals.Unsupported(f"member {name!r} of an incomplete type")
    if found.bits:
        raise literals.Unsupported(f"bit-field {name!r}")
    return ir.Member(found.type, base, name, span=span)


def assign(op: str, target: ir.Expr, value: ir.Expr, span: Span) -> ir.Assign:
    return ir.Assign(target.type, op, target, value, span=span)


def compute_type(assign_: ir.Assign) -> CType:
    """The type a compound assignment computes in before it converts back to its target's."""
    op = assign_.op[:-1]
    if not op:
        return assign_.type
    if isinstance(assign_.type, Pointer):
        return assign_.type
    return ctype.promote(assign_.type) if op in SHIFTS else assign_.value.type


def step(op: str, target: ir.Expr, prefix: bool, span: Span) -> ir.Step:
    return ir.Step(target.type, op, target, prefix, span=span)  # type: ignore[arg-type]


def conditional(cond: ir.Expr, then: ir.Expr, other: ir.Expr, span: Span) -> ir.Expr:
    """Arms already converted to one type; a constant condition chooses."""
    if isinstance(cond, ir.Const):
        return then if cond.value else other
    return ir.Conditional(then.type, cond, then, other, span=span)


def comma(first: ir.Expr, second: ir.Expr, span: Span) -> ir.Comma:
    return ir.Comma(second.type, first, second, span=span)


def call(callee: ir.Expr, args: tuple[ir.Expr, ...], span: Span) -> ir.Call:
    function = ctype.element(callee.type)
    if not isinstance(function, ctype.Func):
        raise literals.Unsupported(f"call of a value of type {callee.type}")
    return ir.Call(function.result, callee, args, span=span)
