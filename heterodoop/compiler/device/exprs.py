"""Expressions of the IR -> the device dialect: what wraps, what is checked, which memory is read, what has no device form.

`value` lowers an expression for its value, `effect` one whose value nobody wants; both are in `RULES`, by which the other
parts of the lowering reach them. Not here: calls (`calls`), output (`output`), initialisers (`inits`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from ..analysis.objects import RECORD
from ..ir import build, ir
from ..ir import walk as ir_walk
from ..types import ctype
from ..types.ctype import Float, Int, Pointer
from . import accesses, calls, inits, nodes, output
from .arithmetic import cannot_overflow, divides_unchecked, plain_compound, plain_shift, promoted
from .scope import Rules, Scope
from .types import is_signed, no_device_type, root

_WRAPPING = frozenset("+-*")


def value(node: ir.Expr, scope: Scope) -> ir.Expr:
    rule = _keep_sign if scope.keeps_sign(node) else _VALUES[type(node)]
    return _typed(node, rule(node, scope))


def effect(node: ir.Expr, scope: Scope) -> ir.Expr:
    """An expression that stands for what it does."""
    if isinstance(node, ir.Cast) and node.type == ctype.VOID:
        return effect(node.operand, scope)
    if isinstance(node, ir.Comma):
        return ir.Comma(node.type, _first(node, scope), effect(node.second, scope), span=node.span)
    if isinstance(node, (ir.Emit, ir.Stderr)):
        return output.effect(node, scope)
    if isinstance(node, ir.Step):
        return _typed(node, _step(node, scope, wanted=False))
    return value(node, scope)


def _typed(node: ir.Expr, made: ir.Expr) -> ir.Expr:
    """What was made of a node, if the device has values of its type."""
    why = no_device_type(node.type)
    return nodes.Unsupported(node.type, "HD237", why, (made,), span=node.span) if why else made


def _refused(node: ir.Expr, code: str, text: str, *parts: ir.Expr) -> nodes.Unsupported:
    return nodes.Unsupported(node.type, code, text, parts, span=node.span)


def _values(scope: Scope, *parts: ir.Expr) -> tuple[ir.Expr, ...]:
    return tuple(value(part, scope) for part in parts)


# ------------------------------------------------------------------------------------------ leaves and lvalues


def _same(node: ir.Expr, scope: Scope) -> ir.Expr:
    return node


def _lvalue(node: ir.Expr, scope: Scope) -> ir.Expr:
    return accesses.checked(node, _place(node, scope), scope)


def _place(node: ir.Expr, scope: Scope) -> ir.Expr:
    """An lvalue as it stands, without the check of its reading."""
    return _PLACES[type(node)](node, scope)


def _name(node: ir.Name, scope: Scope) -> ir.Expr:
    return scope.variable(node)


def _deref(node: ir.Deref, scope: Scope) -> ir.Expr:
    if isinstance(node.pointer, ir.Call) and ir.called(node.pointer) == "__errno_location":
        return nodes.Errno(node.type, span=node.span)
    pointer = value(node.pointer, scope)
    if isinstance(ir_walk.uncast(node.pointer), ir.Const):
        return _refused(node, "HD239", "a constant address is followed", pointer)
    return accesses.inside(node, ir.Deref(node.type, pointer, span=node.span), scope)


def _index(node: ir.Index, scope: Scope) -> ir.Expr:
    base, index = _values(scope, node.base, node.index)
    if isinstance(ir_walk.uncast(node.base), ir.Const):
        return _refused(node, "HD239", "a constant address is followed", base, index)
    array = base.operand if isinstance(base, ir.Decay) and not _open_ended(base.operand.type) else None
    index = accesses.within(node, index, scope)
    if isinstance(array, nodes.Var) and array.space == "texture":
        return nodes.Fetch(node.type, array, index, span=node.span)
    if array is None and (keys := scope.moves(node)):
        moved = nodes.Moved(base.type, "+", base, index, keys, span=node.span)
        return accesses.inside(node, ir.Deref(node.type, moved, span=node.span), scope)
    return accesses.inside(node, ir.Index(node.type, base, index, span=node.span), scope)


def _open_ended(kind: ctype.CType) -> bool:
    """Is it an array at the end of a struct that goes on as far as there is memory?"""
    return isinstance(kind, ctype.Array) and kind.length is None


def _member(node: ir.Member, scope: Scope) -> ir.Expr:
    """Of `p->f` only the member is read, not all of `*p`."""
    whole = isinstance(node.base, ir.Deref) and not isinstance(node.base.pointer, ir.Decay)
    base = _typed(node.base, _place(node.base, scope)) if whole else value(node.base, scope)
    if RECORD in scope.moves(node):
        base = nodes.Whole(base.type, base, span=node.span)
    return ir.Member(node.type, base, node.field, span=node.span)


def _address(node: ir.AddressOf, scope: Scope) -> ir.Expr:
    operand = value(node.operand, scope)
    if isinstance(root(node.operand), ir.Compound):
        return _refused(node, "HD239", "the address of an unnamed object (compound literal)", operand)
    return ir.AddressOf(node.type, operand, span=node.span)


def _decay(node: ir.Decay, scope: Scope) -> ir.Expr:
    if isinstance(node.operand, ir.Name) and (number := scope.code_number(node.operand)):
        return ir.Const(node.type, number, span=node.span)
    return ir.Decay(node.type, value(node.operand, scope), span=node.span)


def _compound(node: ir.Compound, scope: Scope) -> ir.Expr:
    init = inits.lowered(node.type, node.init, scope)
    if isinstance(node.type, ctype.Array):
        parts = (init,) if isinstance(init, ir.Node) else tuple(item for _, item in init.items)
        return nodes.Unsupported(node.type, "HD239", "an unnamed array (compound literal)", parts, span=node.span)
    return nodes.Compound(node.type, init, span=node.span)


# ------------------------------------------------------------------------------------------ operators


def _cast(node: ir.Cast, scope: Scope) -> ir.Expr:
    if node.type == ctype.VOID:
        return ir.Cast(node.type, effect(node.operand, scope), span=node.span)
    operand = value(node.operand, scope)
    if isinstance(node.operand.type, Float) and isinstance(node.type, Int):
        return nodes.ToInteger(node.type, operand, span=node.span)
    return ir.Cast(node.type, operand, span=node.span)


def _keep_sign(node: ir.Expr, scope: Scope) -> ir.Expr:
    """A conversion between float and double, unary minus, or fabs."""
    how: Literal["widened", "narrowed", "flipped", "cleared"]
    if isinstance(node, ir.Cast):
        how, operand = "widened" if node.type == ctype.DOUBLE else "narrowed", node.operand
    elif isinstance(node, ir.Unary):
        how, operand = "flipped", node.operand
    else:
        assert isinstance(node, ir.Call)
        how, operand = "cleared", node.args[0]
    return nodes.KeepSign(node.type, how, value(operand, scope), span=node.span)


def _unary(node: ir.Unary, scope: Scope) -> ir.Expr:
    operand = value(node.operand, scope)
    if node.op == "-" and is_signed(node.type) and promoted(node.operand) is node.operand:
        return nodes.Negate(node.type, operand, span=node.span)
    return ir.Unary(node.type, node.op, operand, span=node.span)


def _binary(node: ir.Binary, scope: Scope) -> ir.Expr:
    left, right = _values(scope, node.left, node.right)
    if keys := scope.moves(node):
        pointer, by = (left, right) if isinstance(left.type, Pointer) else (right, left)
        return nodes.Moved(node.type, node.op, pointer, by, keys, span=node.span)
    if isinstance(node.left.type, Pointer) or isinstance(node.right.type, Pointer):
        return ir.Binary(node.type, node.op, left, right, span=node.span)
    if node.op in _WRAPPING and is_signed(node.type) and not cannot_overflow(node):
        return nodes.Wrap(node.type, node.op, left, right, span=node.span)
    if node.op in ("/", "%") and not divides_unchecked(node.right):
        return nodes.Divide(node.type, node.op, left, right, span=node.span)
    if node.op in build.SHIFTS and not plain_shift(node):
        return nodes.Shift(node.type, node.op, left, right, span=node.span)
    return ir.Binary(node.type, node.op, left, right, span=node.span)


def _conditional(node: ir.Conditional, scope: Scope) -> ir.Expr:
    return ir.Conditional(node.type, *_values(scope, node.cond, node.then, node.other), span=node.span)


def _comma(node: ir.Comma, scope: Scope) -> ir.Expr:
    return ir.Comma(node.type, _first(node, scope), value(node.second, scope), span=node.span)


def _first(node: ir.Comma, scope: Scope) -> ir.Expr:
    if isinstance(node.first, ir.Stderr) and isinstance(ir_walk.uncast(node.second), ir.Exit):
        return output.written(node.first, scope)
    return effect(node.first, scope)


# ------------------------------------------------------------------------------------------ assignments


def _target(node: ir.Assign | ir.Step, scope: Scope) -> ir.Expr:
    """The lvalue that is written; one that may lie in the line is checked to lie there."""
    target = value(node.target, scope)
    if scope.writes_line(node):
        strict = scope.objects(node.target) == {RECORD}
        target = nodes.InLine(target.type, target, strict, span=node.span)
        if strict:
            return target
    return accesses.written(node, target, scope)


def _of_void(node: ir.Assign | ir.Step) -> bool:
    """Arithmetic of a void pointer, which C++ does not have?"""
    return node.op != "=" and isinstance(node.type, Pointer) and node.type.to == ctype.VOID


def _accumulate(node: ir.Accumulate, scope: Scope) -> ir.Expr:
    operand, target = value(node.value, scope), value(node.target, scope)
    variable = value(root(node.target), scope)
    own = isinstance(variable, nodes.Var) and variable.space == "thread-total"
    return nodes.Gather(node.type, node.op, target, operand, own, span=node.span)


def _assign(node: ir.Assign, scope: Scope) -> ir.Expr:
    target, operand = _target(node, scope), value(node.value, scope)
    if _of_void(node):
        return _refused(node, "HD239", f"'{node.op}' of a void pointer", target, operand)
    op = node.op[:-1]
    if keys := scope.moves(node):
        return nodes.MoveAssign(node.type, op, target, operand, keys, span=node.span)
    if not op and scope.kernel.may_overlap(scope.function.name, node):
        return nodes.AssignApart(node.type, target, operand, span=node.span)
    if not op or plain_compound(node):
        return ir.Assign(node.type, node.op, target, operand, span=node.span)
    if op in ("/", "%") and not divides_unchecked(node.value):
        return nodes.DivideAssign(node.type, op, target, operand, span=node.span)
    return nodes.WrapAssign(node.type, op, target, operand, span=node.span)


def _step(node: ir.Step, scope: Scope, *, wanted: bool) -> ir.Expr:
    """Narrow integers are stepped as an int and cut, which C++'s operators do as well; bool has no `++` in C++."""
    target = _target(node, scope)
    if _of_void(node):
        return _refused(node, "HD239", f"'{node.op}' of a void pointer", target)
    if keys := scope.moves(node):
        return nodes.MoveStep(node.type, node.op, target, node.prefix or not wanted, keys, span=node.span)
    if is_signed(node.type) or node.type == ctype.BOOL:
        return nodes.WrapStep(node.type, node.op, target, node.prefix or not wanted, span=node.span)
    return ir.Step(node.type, node.op, target, node.prefix and wanted, span=node.span)


def _step_value(node: ir.Step, scope: Scope) -> ir.Expr:
    return _step(node, scope, wanted=True)


_PLACES: dict[type, Callable[[Any, Scope], ir.Expr]] = {
    ir.Name: _name, ir.Deref: _deref, ir.Index: _index, ir.Member: _member,
}
_VALUES: dict[type, Callable[[Any, Scope], ir.Expr]] = {
    ir.Const: _same, ir.Str: _same, nodes.Temp: _same, **dict.fromkeys(_PLACES, _lvalue),
    ir.AddressOf: _address, ir.Decay: _decay, ir.Cast: _cast, ir.Unary: _unary, ir.Binary: _binary, ir.Assign: _assign,
    ir.Step: _step_value, ir.Accumulate: _accumulate, ir.Conditional: _conditional, ir.Comma: _comma,
    ir.Compound: _compound, ir.Call: calls.call,
    ir.ReadRecord: calls.read_record, ir.ReadPair: calls.read_pair, ir.Exit: calls.exit_,
    ir.Emit: output.value, ir.Stderr: output.value,
}
RULES = Rules(value, effect)
