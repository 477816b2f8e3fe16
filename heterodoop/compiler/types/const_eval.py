"""Types of C expressions, and values of constant ones, over pycparser's tree.

Used for array lengths, enumerators, bit-field widths, `_Static_assert`, `sizeof` and numeric directive clauses.
Arithmetic is C's: operands are converted to their common type and results wrap in it. Side effects, and objects'
contents (even of `const` ones), are not constant; neither is a division by zero.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pycparser import c_ast

from . import ctype, literals
from .ctype import CType, Float, Int
from .literals import Unsupported

if TYPE_CHECKING:
    from .table import TypeTable

Value = tuple[int | float, CType]

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}
_INTEGER: dict[str, Callable[[int, int], int]] = {"&": operator.and_, "|": operator.or_, "^": operator.xor}
_ANY: dict[str, Callable[[Any, Any], Any]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}


def const_eval(node: c_ast.Node, types: TypeTable) -> int | None:
    """Value of an integer constant expression, or None where it is not constant (or not an integer)."""
    try:
        value = evaluate(node, types)
    except Unsupported:
        return None
    return value[0] if value is not None and isinstance(value[0], int) and isinstance(value[1], Int) else None


def expr_type(node: c_ast.Node, types: TypeTable) -> CType:
    """Type of an expression as written (arrays not decayed). Raises Unsupported where it cannot be told."""
    handler = _TYPES.get(type(node))
    if handler is None:
        raise Unsupported(_describe(node), node)
    return handler(node, types)


def evaluate(node: c_ast.Node, types: TypeTable) -> Value | None:
    """Value and type of a constant expression; None where it is not constant. May raise Unsupported."""
    handler = _VALUES.get(type(node))
    return handler(node, types) if handler else None


def _describe(node: c_ast.Node) -> str:
    if isinstance(node, c_ast.Compound):
        return "statement expression"
    return f"{type(node).__name__} expression"


# ---------------------------------------------------------------------------------------------- types


def _type_constant(node: c_ast.Constant, types: TypeTable) -> CType:
    if node.type == "string":
        return literals.string_type(node.value)
    value = _value_constant(node, types)
    if value is None:
        raise Unsupported(f"constant {node.value}", node)
    return value[1]


def _type_id(node: c_ast.ID, types: TypeTable) -> CType:
    found = types.lookup(node.name)
    if found is None:
        raise Unsupported(f"undeclared name {node.name!r}", node)
    return found.ctype


def _type_element(node: c_ast.Node, kind: CType) -> CType:
    inner = ctype.element(kind)
    if inner is None:
        raise Unsupported(f"indirection through {kind}", node)
    return inner


def _type_array_ref(node: c_ast.ArrayRef, types: TypeTable) -> CType:
    kind = expr_type(node.name, types)
    return _type_element(node, kind if ctype.element(kind) else expr_type(node.subscript, types))


def _type_struct_ref(node: c_ast.StructRef, types: TypeTable) -> CType:
    kind = expr_type(node.name, types)
    kind = _type_element(node, kind) if node.type == "->" else kind
    layout = types.layouts.table.get(kind.tag) if isinstance(kind, ctype.Struct) else None
    member = layout.field(node.field.name) if layout else None
    if member is None:
        raise Unsupported(f"member {node.field.name!r} of {kind}", node)
    return member.type


def _type_unary(node: c_ast.UnaryOp, types: TypeTable) -> CType:
    if node.op in ("sizeof", "_Alignof"):
        return ctype.ULONG
    if node.op == "!":
        return ctype.INT
    kind = expr_type(node.expr, types)
    if node.op == "*":
        return kind if isinstance(kind, ctype.Func) else _type_element(node, kind)
    if node.op == "&":
        return ctype.Pointer(kind)
    return kind if node.op in ("++", "--", "p++", "p--") else ctype.promote(kind)


def _type_binary(node: c_ast.BinaryOp, types: TypeTable) -> CType:
    if node.op in _COMPARE or node.op in ("&&", "||"):
        return ctype.INT
    left, right = expr_type(node.left, types), expr_type(node.right, types)
    if node.op in ("<<", ">>"):
        return ctype.promote(left)
    if node.op == "-" and ctype.element(left) and ctype.element(right):
        return ctype.LONG
    return ctype.common(left, right)


def _type_ternary(node: c_ast.TernaryOp, types: TypeTable) -> CType:
    return ctype.common(expr_type(node.iftrue, types), expr_type(node.iffalse, types))


def _type_call(node: c_ast.FuncCall, types: TypeTable) -> CType:
    if isinstance(node.name, c_ast.ID) and node.name.name == "offsetof":
        return ctype.ULONG
    kind = expr_type(node.name, types)
    kind = kind.to if isinstance(kind, ctype.Pointer) else kind
    if not isinstance(kind, ctype.Func):
        raise Unsupported(f"call of {kind}", node)
    return kind.result


def generic_choice(node: c_ast.GenericSelection, types: TypeTable) -> c_ast.Node:
    """The expression that `_Generic` selects. Raises Unsupported where no association fits."""
    kind = ctype.decay(expr_type(node.expr, types))
    default = None
    for association in node.associations:
        if association.type is None:
            default = association.expr
        elif types.type_of(association.type) == kind:
            return association.expr
    if default is None:
        raise Unsupported("_Generic without a match", node)
    return default


_TYPES: dict[type, Callable[[Any, TypeTable], CType]] = {
    c_ast.Constant: _type_constant,
    c_ast.ID: _type_id,
    c_ast.ArrayRef: _type_array_ref,
    c_ast.StructRef: _type_struct_ref,
    c_ast.UnaryOp: _type_unary,
    c_ast.BinaryOp: _type_binary,
    c_ast.TernaryOp: _type_ternary,
    c_ast.FuncCall: _type_call,
    c_ast.Assignment: lambda node, types: expr_type(node.lvalue, types),
    c_ast.Cast: lambda node, types: types.type_of(node.to_type),
    c_ast.CompoundLiteral: lambda node, types: types.complete(types.type_of(node.type), node.init),
    c_ast.ExprList: lambda node, types: ctype.decay(expr_type(node.exprs[-1], types)),
    c_ast.GenericSelection: lambda node, types: expr_type(generic_choice(node, types), types),
}


# --------------------------------------------------------------------------------------------- values


def convert(value: int | float, kind: CType) -> Value | None:
    """A value converted to another arithmetic type; None for other types and for floats that do not fit (undefined in C)."""
    if isinstance(kind, Int):
        if isinstance(value, int):
            return ctype.wrap(kind, value), kind
        if kind == ctype.BOOL:
            return int(value != 0), kind
        whole = int(value) if value == value and abs(value) != float("inf") else None
        return (whole, kind) if whole is not None and ctype.wrap(kind, whole) == whole else None
    if isinstance(kind, Float) and kind != ctype.LDOUBLE:
        return (literals.to_float(value) if kind == ctype.FLOAT else float(value)), kind
    return None


def _value_constant(node: c_ast.Constant, types: TypeTable) -> Value | None:
    if node.type == "string":
        return None
    if node.value.endswith("'"):
        return literals.char_value(node.value), ctype.INT
    if node.type == "bool":
        return int(node.value == "true"), ctype.BOOL
    if node.type.endswith("int"):
        return literals.int_value(node.value)
    if node.type in ("float", "double", "long double"):
        return literals.float_value(node.value)
    return None


def _value_id(node: c_ast.ID, types: TypeTable) -> Value | None:
    found = types.lookup(node.name)
    return (found.value, found.ctype) if found is not None and found.value is not None else None


def _value_size(node: c_ast.UnaryOp, types: TypeTable) -> Value | None:
    operand = node.expr
    kind = types.type_of(operand) if isinstance(operand, c_ast.Typename) else expr_type(operand, types)
    if node.op == "_Alignof":
        return types.layouts.align(kind), ctype.ULONG
    size = types.layouts.size(kind)
    return None if size is None else (size, ctype.ULONG)


def _value_unary(node: c_ast.UnaryOp, types: TypeTable) -> Value | None:
    if node.op in ("sizeof", "_Alignof"):
        return _value_size(node, types)
    if node.op not in ("+", "-", "~", "!"):
        return None
    operand = evaluate(node.expr, types)
    if operand is None:
        return None
    value, kind = operand[0], ctype.promote(operand[1])
    if node.op == "!":
        return int(not value), ctype.INT
    if node.op == "~":
        return convert(~value, kind) if isinstance(value, int) else None
    return convert(-value if node.op == "-" else value, kind)


def _value_logic(node: c_ast.BinaryOp, types: TypeTable) -> Value | None:
    left = evaluate(node.left, types)
    if left is None:
        return None
    if bool(left[0]) == (node.op == "||"):
        return int(node.op == "||"), ctype.INT
    right = evaluate(node.right, types)
    return None if right is None else (int(bool(right[0])), ctype.INT)


def _value_binary(node: c_ast.BinaryOp, types: TypeTable) -> Value | None:
    if node.op in ("&&", "||"):
        return _value_logic(node, types)
    left, right = evaluate(node.left, types), evaluate(node.right, types)
    if left is None or right is None:
        return None
    if node.op in ("<<", ">>"):
        return _value_shift(node.op, left, right)
    kind = ctype.common(left[1], right[1])
    a, b = convert(left[0], kind), convert(right[0], kind)
    if a is None or b is None:
        return None
    if node.op in _COMPARE:
        return int(_COMPARE[node.op](a[0], b[0])), ctype.INT
    return _arithmetic(node.op, a[0], b[0], kind)


def _arithmetic(op: str, a: int | float, b: int | float, kind: CType) -> Value | None:
    if op in _ANY:
        return convert(_ANY[op](a, b), kind)
    if isinstance(a, int) and isinstance(b, int):
        if op in _INTEGER:
            return convert(_INTEGER[op](a, b), kind)
        if b == 0:
            return None
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return convert(quotient if op == "/" else a - quotient * b, kind)
    return convert(a / b, kind) if op == "/" and b != 0 else None


def _value_shift(op: str, left: Value, right: Value) -> Value | None:
    kind = ctype.promote(left[1])
    value, count = left[0], right[0]
    if not isinstance(kind, Int) or not isinstance(value, int) or not isinstance(count, int) or not 0 <= count < kind.bits:
        return None
    value = ctype.wrap(kind, value)
    return convert(value << count if op == "<<" else value >> count, kind)


def _value_ternary(node: c_ast.TernaryOp, types: TypeTable) -> Value | None:
    cond = evaluate(node.cond, types)
    if cond is None:
        return None
    chosen = evaluate(node.iftrue if cond[0] else node.iffalse, types)
    return None if chosen is None else convert(chosen[0], _type_ternary(node, types))


def _value_cast(node: c_ast.Cast, types: TypeTable) -> Value | None:
    operand = evaluate(node.expr, types)
    return None if operand is None else convert(operand[0], types.type_of(node.to_type))


def _value_offsetof(node: c_ast.FuncCall, types: TypeTable) -> Value | None:
    if not isinstance(node.name, c_ast.ID) or node.name.name != "offsetof":
        return None
    kind, path = node.args.exprs
    found = _offset(types.type_of(kind), path, types)
    return None if found is None else (found[0], ctype.ULONG)


def _offset(kind: CType, path: c_ast.Node, types: TypeTable) -> tuple[int, CType] | None:
    """Byte offset and type of an offsetof designator `a.b[2]` inside `kind`."""
    base = (0, kind) if isinstance(path, c_ast.ID) else _offset(kind, path.name, types)
    if base is None:
        return None
    if isinstance(path, c_ast.ArrayRef):
        inner, index = ctype.element(base[1]), const_eval(path.subscript, types)
        size = types.layouts.size(inner) if inner else None
        return None if inner is None or index is None or size is None else (base[0] + index * size, inner)
    name = path.name if isinstance(path, c_ast.ID) else path.field.name
    layout = types.layouts.table.get(base[1].tag) if isinstance(base[1], ctype.Struct) else None
    member = layout.field(name) if layout else None
    return (base[0] + member.offset, member.type) if member else None


_VALUES: dict[type, Callable[[Any, TypeTable], Value | None]] = {
    c_ast.Constant: _value_constant,
    c_ast.ID: _value_id,
    c_ast.UnaryOp: _value_unary,
    c_ast.BinaryOp: _value_binary,
    c_ast.TernaryOp: _value_ternary,
    c_ast.Cast: _value_cast,
    c_ast.FuncCall: _value_offsetof,
    c_ast.GenericSelection: lambda node, types: evaluate(generic_choice(node, types), types),
}
