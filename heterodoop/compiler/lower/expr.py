"""pycparser expressions -> IR expressions. Statements are `lower.stmt`'s, names `lower`'s.

`expr` keeps lvalues as they are, `value` is what C's lvalue conversion makes of them. Raises literals.Unsupported
for what the IR has no form for; the statement around it becomes an Opaque.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from pycparser import c_ast

from ...source import Span
from ..ir import build, ir
from ..ir import walk as ir_walk
from ..source.parse import SAME
from ..types import ctype, literals
from ..types.const_eval import evaluate, generic_choice
from ..types.ctype import CType, Func
from ..types.literals import Unsupported
from ..types.table import TypeTable
from . import ahead, convert
from .init import initialiser


class Context(Protocol):
    """What expressions need to know of the function around them."""

    types: TypeTable
    ahead: list[ir.Stmt] | None
    lasting: bool

    def temporary(self, kind: CType, span: Span, at: int | None = None) -> str: ...

    def own(self, name: str) -> bool: ...

    def statement_expression(self, node: c_ast.Compound) -> ir.Expr: ...

    def span(self, node: c_ast.Node) -> Span: ...

    def resolve(self, name: str, node: c_ast.Node) -> ir.Expr: ...

    def size_of(self, name: str, node: c_ast.Node) -> ir.Expr | None: ...

    def element(self, node: c_ast.ArrayRef) -> ir.Expr | None: ...

    def first_element(self, node: c_ast.Node) -> ir.Expr | None: ...

    def value(self, node: c_ast.Node) -> ir.Expr: ...

    def expr(self, node: c_ast.Node) -> ir.Expr: ...


def value(node: Any, context: Context) -> ir.Expr:
    """An expression as a value: arrays and functions decayed."""
    return decay(expr(node, context))


def decay(operand: ir.Expr) -> ir.Expr:
    """`(*f)` of a function pointer is f again."""
    if isinstance(operand, ir.Deref) and isinstance(operand.type, Func):
        return operand.pointer
    return build.decay(operand)


def expr(node: Any, context: Context) -> ir.Expr:
    """An expression as an lvalue where it is one."""
    handler = _HANDLERS.get(type(node))
    if handler is None:
        raise Unsupported(f"{type(node).__name__} expression", node)
    try:
        return handler(node, context)
    except Unsupported as error:
        if error.node is None:
            error.node = node
        raise


def condition(node: Any, context: Context) -> ir.Expr:
    """A value that decides: any scalar."""
    result = value(node, context)
    if isinstance(result.type, (ctype.Struct, ctype.Void)):
        raise Unsupported(f"condition of type {result.type}", node)
    return result


def _constant(node: c_ast.Constant, context: Context) -> ir.Expr:
    span = context.span(node)
    if node.type == "string":
        return build.string(literals.string_bytes(node.value), span)
    found = evaluate(node, context.types)
    if found is None:
        raise Unsupported(f"constant {node.value}", node)
    return ir.Const(found[1], found[0], span=span)


def _id(node: c_ast.ID, context: Context) -> ir.Expr:
    return context.resolve(node.name, node)


def _unary(node: c_ast.UnaryOp, context: Context) -> ir.Expr:
    op, span = node.op, context.span(node)
    if op == "sizeof" and isinstance(node.expr, c_ast.ID) and (size := context.size_of(node.expr.name, node)) is not None:
        return size
    if op in ("sizeof", "_Alignof", "alignof"):
        return _constant_only(node, context)
    if op in ("++", "--", "p++", "p--"):
        target = expr(node.expr, context)
        if isinstance(target.type, (ctype.Array, Func, ctype.Struct)) or target.type == ctype.LDOUBLE:
            raise Unsupported(f"{op[-2:]} of a value of type {target.type}", node)
        return build.step(op[-2:], target, not op.startswith("p"), span)
    if op == "&":
        operand = expr(node.expr, context)
        return _address(_as_variable(operand, context) if isinstance(operand, ir.Compound) else operand, span)
    operand = value(node.expr, context)
    if op == "*":
        return build.deref(operand, span)
    if op == "!":
        return build.unary(op, operand, span)
    if not convert.arithmetic(operand) or operand.type == ctype.LDOUBLE:
        raise Unsupported(f"operator {op} on {operand.type}", node)
    promoted = convert.promote(operand)
    return promoted if op == "+" else build.unary(op, promoted, span)


def _address(operand: ir.Expr, span: Span) -> ir.Expr:
    if isinstance(operand, ir.Binary):  # `lower.stmt.element`
        raise Unsupported("a pointer to a row of an array of several variable dimensions")
    if isinstance(operand, ir.Deref):
        return operand.pointer
    return build.decay(operand) if isinstance(operand.type, Func) else build.address(operand, span)


def _constant_only(node: c_ast.Node, context: Context) -> ir.Expr:
    found = evaluate(node, context.types)
    if found is None:
        raise Unsupported("sizeof of an object whose size is not constant", node)
    return ir.Const(found[1], found[0], span=context.span(node))


def _binary(node: c_ast.BinaryOp, context: Context) -> ir.Expr:
    left, right = value(node.left, context), _sometimes(node.right, context, node.op in build.LOGICAL)
    return convert.binary(node.op, left, right, context.span(node))


def _assignment(node: c_ast.Assignment, context: Context) -> ir.Expr:
    target = expr(node.lvalue, context)
    if isinstance(target.type, (ctype.Array, Func)):
        raise Unsupported(f"assignment to a value of type {target.type}", node)
    return convert.assign(node.op, target, value(node.rvalue, context), context.span(node))


def _ternary(node: c_ast.TernaryOp, context: Context) -> ir.Expr:
    cond = condition(node.cond, context)
    if isinstance(node.iftrue, c_ast.ID) and node.iftrue.name == SAME:
        cond = _once(cond, node, context)
        then: ir.Expr = ir_walk.copied(cond)
    else:
        then = _sometimes(node.iftrue, context)
    return convert.conditional(cond, then, _sometimes(node.iffalse, context), context.span(node))


def _once(cond: ir.Expr, node: c_ast.Node, context: Context) -> ir.Expr:
    """A condition that is its conditional's value, too, and is computed once."""
    acts = any(isinstance(n, (ir.Assign, ir.Step, ir.Call)) for n in ir_walk.walk(cond))
    if not acts:
        return cond
    made = ahead.unnamed(context, cond.type, cond, context.span(node))
    if made is None:
        raise Unsupported("conditional with its middle operand left out, in a condition or a loop's head,", node)
    return made


def _sometimes(node: Any, context: Context, really: bool = True) -> ir.Expr:
    """An operand that is not always computed, so that nothing of it goes ahead."""
    if not really:
        return value(node, context)
    with ahead.nothing_ahead(context):
        return value(node, context)


def _cast(node: c_ast.Cast, context: Context) -> ir.Expr:
    kind = context.types.type_of(node.to_type)
    operand = value(node.expr, context)
    if kind == ctype.VOID:
        return build.cast(kind, operand, context.span(node))
    result = convert.to(kind, operand)
    return result if result is operand else build.cast(kind, operand, context.span(node))


def _array_ref(node: c_ast.ArrayRef, context: Context) -> ir.Expr:
    if (element := context.element(node)) is not None:
        return element
    base, subscript = value(node.name, context), value(node.subscript, context)
    if isinstance(subscript.type, ctype.Pointer):
        base, subscript = subscript, base
    return build.index(base, convert.promote(subscript), context.span(node))


def _struct_ref(node: c_ast.StructRef, context: Context) -> ir.Expr:
    span = context.span(node)
    if node.type == "->":
        base = build.deref(value(node.name, context), span)
    else:
        base = expr(node.name, context)
    return build.member(base, node.field.name, context.types.layouts, span)


def _comma(node: c_ast.ExprList, context: Context) -> ir.Expr:
    result = value(node.exprs[0], context)
    for part in node.exprs[1:]:
        result = build.comma(result, _sometimes(part, context), context.span(part))
    return result


def _call(node: c_ast.FuncCall, context: Context) -> ir.Expr:
    if isinstance(node.name, c_ast.ID) and node.name.name == "offsetof":
        return _constant_only(node, context)
    callee = value(node.name, context)
    given = node.args.exprs if node.args is not None else []
    args = [_argument(argument, number, callee, context) for number, argument in enumerate(given)]
    return convert.call(callee, args, context.span(node))


def _argument(node: c_ast.Node, number: int, callee: ir.Expr, context: Context) -> ir.Expr:
    kind = ctype.element(callee.type)
    params = kind.params if isinstance(kind, Func) else ()
    if number < len(params) and params[number] == ctype.Pointer(ctype.VOID):
        return context.first_element(node) or value(node, context)
    return value(node, context)


def _compound(node: c_ast.CompoundLiteral, context: Context) -> ir.Expr:
    kind: CType = context.types.complete(context.types.type_of(node.type), node.init)
    init, kind = initialiser(kind, node.init, context)
    made = ir.Compound(kind, init, span=context.span(node))
    return _as_variable(made, context) if isinstance(kind, ctype.Array) else made


def _as_variable(node: ir.Compound, context: Context) -> ir.Expr:
    return ahead.unnamed(context, node.type, node.init, node.span) or node


_HANDLERS: dict[type, Callable[[Any, Context], ir.Expr]] = {
    c_ast.Constant: _constant,
    c_ast.ID: _id,
    c_ast.UnaryOp: _unary,
    c_ast.BinaryOp: _binary,
    c_ast.Assignment: _assignment,
    c_ast.TernaryOp: _ternary,
    c_ast.Cast: _cast,
    c_ast.ArrayRef: _array_ref,
    c_ast.StructRef: _struct_ref,
    c_ast.ExprList: _comma,
    c_ast.FuncCall: _call,
    c_ast.CompoundLiteral: _compound,
    c_ast.Compound: lambda node, context: context.statement_expression(node),
    c_ast.GenericSelection: lambda node, context: expr(generic_choice(node, context.types), context),
}
