"""C's implicit conversions made explicit: promotion, the usual arithmetic ones, assignment, arguments, pointers.

Takes operands as values (already decayed) and returns IR with the casts in place (C17 6.3, 6.5).
"""

from __future__ import annotations

from ...source import Span
from ..ir import build, ir
from ..types import ctype
from ..types.ctype import CType, Float, Func, Int, Pointer
from ..types.literals import Unsupported


def promote(value: ir.Expr) -> ir.Expr:
    return build.cast(ctype.promote(value.type), value)


def to(kind: CType, value: ir.Expr) -> ir.Expr:
    """As by assignment to an object of type `kind`."""
    if isinstance(kind, (ctype.Array, Func)):
        raise Unsupported(f"a value of type {kind}")
    if isinstance(kind, ctype.Struct) or isinstance(value.type, ctype.Struct):
        if kind != value.type:
            raise Unsupported(f"conversion from {value.type} to {kind}")
        return value
    if kind == ctype.LDOUBLE or value.type == ctype.LDOUBLE:
        raise Unsupported("long double")
    return build.cast(kind, value)


def argument(value: ir.Expr) -> ir.Expr:
    """The default argument promotions, for `...` and functions without prototype."""
    if value.type == ctype.FLOAT:
        return build.cast(ctype.DOUBLE, value)
    return promote(value)


def arithmetic(value: ir.Expr) -> bool:
    return isinstance(value.type, (Int, Float))


def is_null(value: ir.Expr) -> bool:
    return isinstance(value, ir.Const) and value.value == 0 and (
        isinstance(value.type, Int) or value.type == Pointer(ctype.VOID)
    )


def binary(op: str, left: ir.Expr, right: ir.Expr, span: Span) -> ir.Expr:
    """left op right with everything that C does to the operands first."""
    if op in build.LOGICAL:
        return build.binary(op, left, right, span)
    if op in build.SHIFTS:
        return build.binary(op, promote(left), promote(right), span)
    if arithmetic(left) and arithmetic(right):
        kind = ctype.common(left.type, right.type)
        return build.binary(op, to(kind, left), to(kind, right), span)
    if op in build.COMPARISONS:
        return build.binary(op, *pointers(left, right), span)
    return _pointer_sum(op, left, right, span)


def pointers(left: ir.Expr, right: ir.Expr) -> tuple[ir.Expr, ir.Expr]:
    """Two operands, one at least a pointer, in one pointer type: NULL takes the other's, `void *` wins."""
    if not isinstance(left.type, Pointer) or is_null(left):
        return build.cast(right.type, left), right
    if not isinstance(right.type, Pointer) or is_null(right):
        return left, build.cast(left.type, right)
    kind = right.type if right.type.to == ctype.VOID else left.type
    return build.cast(kind, left), build.cast(kind, right)


def _pointer_sum(op: str, left: ir.Expr, right: ir.Expr, span: Span) -> ir.Expr:
    if op == "+" and isinstance(right.type, Pointer):
        left, right = right, left
    if op not in "+-" or not isinstance(left.type, Pointer):
        raise Unsupported(f"operator {op} on {left.type} and {right.type}")
    if isinstance(right.type, Pointer):
        return build.binary(op, left, build.cast(left.type, right), span)
    return build.binary(op, left, promote(right), span)


def conditional(cond: ir.Expr, then: ir.Expr, other: ir.Expr, span: Span) -> ir.Expr:
    if arithmetic(then) and arithmetic(other):
        kind = ctype.common(then.type, other.type)
        return build.conditional(cond, to(kind, then), to(kind, other), span)
    if isinstance(then.type, Pointer) or isinstance(other.type, Pointer):
        return build.conditional(cond, *pointers(then, other), span)
    if ctype.VOID in (then.type, other.type):
        then, other = build.cast(ctype.VOID, then), build.cast(ctype.VOID, other)
    return build.conditional(cond, then, other, span)


def assign(op: str, target: ir.Expr, value: ir.Expr, span: Span) -> ir.Expr:
    """target op value; `value` is converted to what the operation computes in."""
    if op == "=":
        return build.assign(op, target, to(target.type, value), span)
    if op[:-1] in build.SHIFTS or isinstance(target.type, Pointer):
        return build.assign(op, target, promote(value), span)
    if not (arithmetic(target) and arithmetic(value)):
        raise Unsupported(f"operator {op} on {target.type} and {value.type}")
    return build.assign(op, target, to(ctype.common(target.type, value.type), value), span)


def call(callee: ir.Expr, args: list[ir.Expr], span: Span) -> ir.Expr:
    function = ctype.element(callee.type)
    if not isinstance(function, Func):
        raise Unsupported(f"call of a value of type {callee.type}")
    params = function.params
    if len(args) < len(params) or (len(args) > len(params) and not function.variadic):
        raise Unsupported("call with a wrong number of arguments")
    fixed = [to(kind, arg) for kind, arg in zip(params, args, strict=False)]
    return build.call(callee, tuple(fixed + [argument(a) for a in args[len(params) :]]), span)
