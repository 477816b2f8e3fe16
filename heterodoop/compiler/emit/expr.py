"""IR expressions -> CUDA text with C's meaning: signed arithmetic wraps, shifts mask, conversions are x86's.

`value` gives the text of a value, `effect` that of an expression whose value nobody wants. Where C++ converts as C does
by itself (promotions, initialisation, arguments), the IR's casts are left out. Non-goals: statements, output calls'
pieces (`emit.output`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...errors import CompilerBug
from ..analysis import device_calls
from ..analysis.points_to import RECORD
from ..decide import cuda_names
from ..ir import build, ir
from ..types import ctype
from ..types.ctype import CType, Float, Int, Pointer
from . import guard, init, leaf, output, signs
from .leaf import PREC, UNARY, Text
from .rules import (
    cannot_overflow,
    divides_unchecked,
    implicit_pointer,
    is_bool,
    plain_compound,
    plain_shift,
    promoted,
    unconverted,
)
from .scope import Scope
from .types import declare, is_signed, root

ARGUMENT = PREC["="]
POSTFIX = PREC["postfix"]
_LVALUES = (ir.Name, ir.Index, ir.Member, ir.Deref)
_MIXED = {("|", "&"), ("|", "^"), ("^", "&"), ("||", "&&")}  # compilers warn without brackets here
_WRAPPING = {"+": "add", "-": "sub", "*": "mul"}


def value(node: ir.Expr, scope: Scope, least: int = ARGUMENT) -> str:
    """A value, in brackets where it binds weaker than `least`."""
    return _bracket(_text(node, scope), least)


def effect(node: ir.Expr, scope: Scope) -> str:
    """An expression that stands for what it does."""
    if isinstance(node, ir.Cast) and node.type == ctype.VOID:
        return effect(node.operand, scope)
    if isinstance(node, (ir.Emit, ir.Stderr)):
        return output.call(node, scope)
    if isinstance(node, ir.Comma):
        return f"{effect(node.first, scope)}, {effect(node.second, scope)}"
    if isinstance(node, ir.Step):
        return _step(node, scope, wanted=False)[0]
    return value(node, scope, 0)


def converted(kind: CType, node: ir.Expr, scope: Scope, least: int = ARGUMENT) -> str:
    """A value where C++ itself converts to `kind`: initialiser, assigned value, argument, returned value."""
    operand = node if scope.keeps_sign(node) else unconverted(kind, node)
    if isinstance(kind, Pointer) and kind.const:
        return _bracket(_plain_pointer(operand, scope), least)
    return value(operand, scope, least)


def typed(node: ir.Expr, scope: Scope) -> str:
    """A value whose C++ type is the IR's, for templates: comparisons are bool there, and an int here."""
    if is_bool(node):
        return f"(int)({value(node, scope, 0)})"
    if isinstance(node, ir.Const) and isinstance(node.type, Pointer):
        return f"({declare(node.type)})nullptr" if node.value == 0 else value(node, scope)
    return value(node, scope)


def _bracket(text: Text, least: int) -> str:
    return f"({text[0]})" if text[1] < least else text[0]


def _text(node: ir.Expr, scope: Scope) -> Text:
    handler = signs.text if scope.keeps_sign(node) else _TEXTS.get(type(node))
    if handler is None:
        raise CompilerBug(f"{type(node).__name__} has no CUDA text")
    text = handler(node, scope)
    checked = guard.checked(node, text[0], scope) if isinstance(node, _LVALUES) else ""
    return (checked, POSTFIX) if checked else text


# ------------------------------------------------------------------------------------------ conversions


def _cast(node: ir.Cast, scope: Scope) -> Text:
    kind, operand = node.type, node.operand
    if kind == ctype.VOID:
        return f"(void)({effect(operand, scope)})", UNARY
    if isinstance(operand.type, Float) and isinstance(kind, Int):
        return _to_integer(kind, operand, scope)
    if isinstance(kind, Pointer) and isinstance(operand.type, Pointer):
        if implicit_pointer(kind, operand.type):
            return _plain_pointer(operand, scope)
        if isinstance(operand, ir.Cast) and isinstance(operand.operand.type, Pointer):
            operand = operand.operand  # (T *)(void *)p
    return f"({declare(kind)}){value(operand, scope, UNARY)}", UNARY


def _plain_pointer(operand: ir.Expr, scope: Scope) -> Text:
    """A pointer that is going to be one to const: of a constant's address nothing has to be cast away."""
    if isinstance(operand, ir.Decay) and not isinstance(operand.type, ctype.Func):
        return _text(operand.operand, scope)
    if isinstance(operand, ir.AddressOf):
        return f"&{value(operand.operand, scope, UNARY)}", UNARY
    return _text(operand, scope)


def _to_integer(kind: Int, operand: ir.Expr, scope: Scope) -> Text:
    """x86's conversion: narrow types by way of int, unsigned int by way of long."""
    if kind == ctype.BOOL:
        return f"{value(operand, scope, PREC['!='] + 1)} != 0", PREC["!="]
    call = f"hd::to_{'i' if kind.signed else 'u'}{kind.bits}({value(operand, scope)})"
    return (f"({kind}){call}", UNARY) if kind in (ctype.CHAR, ctype.LLONG, ctype.ULLONG) else (call, POSTFIX)


# ------------------------------------------------------------------------------------------ leaves and lvalues


def _str(node: ir.Str, scope: Scope) -> Text:
    return leaf.string(node.data), PREC["atom"]


def _name(node: ir.Name, scope: Scope) -> Text:
    text = scope.variable(node.name)
    return text, UNARY if text.startswith("(") else POSTFIX if "." in text else PREC["atom"]


def _deref(node: ir.Deref, scope: Scope) -> Text:
    if isinstance(node.pointer, ir.Call) and ir.called(node.pointer) == "__errno_location":
        return "hd.err", POSTFIX
    return f"*{_address_operand(node.pointer, scope, UNARY)}", UNARY


def _address_operand(pointer: ir.Expr, scope: Scope, least: int) -> str:
    """A pointer that is followed at once: an array by its name."""
    if isinstance(pointer, ir.Decay):
        return value(pointer.operand, scope, least)
    return value(pointer, scope, least)


def _address(node: ir.AddressOf, scope: Scope) -> Text:
    text = f"&{value(node.operand, scope, UNARY)}"
    return (f"({declare(node.type)}){text}" if scope.is_constant(root(node.operand)) else text), UNARY


def _decay(node: ir.Decay, scope: Scope) -> Text:
    text = _text(node.operand, scope)
    if isinstance(node.operand.type, ctype.Array) and scope.is_constant(root(node.operand)):
        return f"({declare(node.type)}){_bracket(text, UNARY)}", UNARY
    return text


def _index(node: ir.Index, scope: Scope) -> Text:
    texture = _texture(node.base, scope)
    if texture:
        return f"hd::fetch({texture}, {texture}_texture, {value(promoted(node.index), scope)})", POSTFIX
    number = value(promoted(node.index), scope, 0)
    inner = f"({number})" if number.startswith("[") else number  # a lambda; [[ begins an attribute
    return f"{_address_operand(node.base, scope, POSTFIX)}[{inner}]", POSTFIX


def _texture(base: ir.Expr, scope: Scope) -> str:
    """The field of an array that is read through a texture object, "" for any other pointer."""
    if isinstance(base, ir.Decay) and isinstance(base.operand, ir.Name):
        place = scope.place(base.operand.name)
        if place is not None and place.space == "texture":
            return scope.variable(base.operand.name)
    return ""


def _member(node: ir.Member, scope: Scope) -> Text:
    field = cuda_names.escape(node.field)
    if isinstance(node.base, ir.Deref) and not isinstance(node.base.pointer, ir.Decay):
        return f"{value(node.base.pointer, scope, POSTFIX)}->{field}", POSTFIX
    return f"{value(node.base, scope, POSTFIX)}.{field}", POSTFIX


# ------------------------------------------------------------------------------------------ operators


def _unary(node: ir.Unary, scope: Scope) -> Text:
    if node.op == "-" and is_signed(node.type) and promoted(node.operand) is node.operand:
        return f"hd::neg({typed(node.operand, scope)})", POSTFIX
    inner = value(promoted(node.operand), scope, UNARY)
    return f"{node.op}{' ' if inner.startswith(node.op) else ''}{inner}", UNARY


def _binary(node: ir.Binary, scope: Scope) -> Text:
    if isinstance(node.left.type, Pointer) or isinstance(node.right.type, Pointer):
        return _pointer_binary(node, scope)
    if node.op in _WRAPPING and is_signed(node.type) and not cannot_overflow(node):
        return _wrapping(node, scope)
    if node.op in ("/", "%") and not divides_unchecked(node.right):
        name = "divide" if node.op == "/" else "remainder"
        sides = f"{typed(node.left, scope)}, {typed(node.right, scope)}"
        return f"hd::{name}(hd, {sides}, {_line(node)})", POSTFIX
    if node.op in build.SHIFTS and not plain_shift(node):
        name = "shl" if node.op == "<<" else "shr"
        return f"hd::{name}({typed(node.left, scope)}, {value(node.right, scope)})", POSTFIX
    return _infix(node.op, node.left, node.right, scope)


def _infix(op: str, left: ir.Expr, right: ir.Expr, scope: Scope) -> Text:
    """The operator itself; its operands' promotions are left to it."""
    binds = PREC[op]
    sides = []
    for side, other, least in ((left, right, binds), (right, left, binds + 1)):
        mixed = isinstance(side, ir.Binary) and ((op, side.op) in _MIXED or op in ("<<", ">>"))
        compared = op in build.COMPARISONS and is_bool(side)
        sides.append(_operand(side, other, scope, UNARY if mixed or compared else least))
    return f"{sides[0]} {op} {sides[1]}", binds


def _operand(side: ir.Expr, other: ir.Expr, scope: Scope, least: int) -> str:
    """One side of an operator; a number beside a char is a character."""
    plain = promoted(side)
    if isinstance(side, ir.Const) and side.type == ctype.INT and promoted(other).type == ctype.CHAR:
        character = leaf.character(int(side.value))
        if character:
            return character
    return value(plain, scope, least)


def _wrapping(node: ir.Binary, scope: Scope) -> Text:
    return f"hd::{_WRAPPING[node.op]}({typed(node.left, scope)}, {typed(node.right, scope)})", POSTFIX


def _pointer_binary(node: ir.Binary, scope: Scope) -> Text:
    kind = node.left.type
    if node.op in "+-" and isinstance(kind, Pointer) and kind.to == ctype.VOID:
        sides = [f"(char *){value(s, scope, UNARY)}" if isinstance(s.type, Pointer) else value(s, scope, PREC["*"])
                 for s in (node.left, node.right)]
        whole = f"{sides[0]} {node.op} {sides[1]}"
        return (f"({declare(node.type)})({whole})", UNARY) if isinstance(node.type, Pointer) else (f"({whole})", POSTFIX)
    return _infix(node.op, node.left, node.right, scope)


# ------------------------------------------------------------------------------------------ assignments


def _target(node: ir.Assign | ir.Step, scope: Scope, least: int = 0) -> str:
    """The lvalue that is written; one that may lie in the line is checked to lie there."""
    if scope.env.writes_line(scope.function.name, node):
        only = scope.env.points_to.objects(scope.function.name, node.target) == {RECORD}
        text = f"hd::in_line{'' if only else '_or_own'}(hd, {value(node.target, scope)}, {_line(node)})"
        return text if only else guard.written(node, text, scope)
    text = value(node.target, scope, 0)
    guarded = guard.written(node, text, scope)
    return value(node.target, scope, least) if guarded == text else guarded


def _assign(node: ir.Assign, scope: Scope) -> Text:
    target = _target(node, scope, UNARY)
    if node.op == "=":
        return init.assigned(node, target, converted(node.type, node.value, scope), scope)
    if plain_compound(node):
        return f"{target} {node.op} {value(promoted(node.value), scope)}", PREC["="]
    op = node.op[:-1]
    if op in ("/", "%") and not divides_unchecked(node.value):
        name = "divide_to" if op == "/" else "remainder_to"
        return f"hd::{name}(hd, {target}, {typed(node.value, scope)}, {_line(node)})", POSTFIX
    name = {**_WRAPPING, "<<": "shl", ">>": "shr", "/": "div", "%": "rem"}[op] + "_to"
    operand = value(node.value, scope) if op in build.SHIFTS else typed(node.value, scope)
    return f"hd::{name}({target}, {operand})", POSTFIX


def _step_prefix(node: ir.Step, scope: Scope) -> Text:
    return _step(node, scope, wanted=True)


def _step(node: ir.Step, scope: Scope, *, wanted: bool) -> Text:
    """Narrow integers are stepped as an int and cut, which C++'s operators do as well; bool has no `++` in C++."""
    plain = not is_signed(node.type) and node.type != ctype.BOOL
    if plain and (node.prefix or not wanted) and not wanted:
        return f"{_target(node, scope, POSTFIX)}{node.op}", POSTFIX
    if plain:
        if node.prefix:
            return f"{node.op}{_target(node, scope, UNARY)}", UNARY
        return f"{_target(node, scope, POSTFIX)}{node.op}", POSTFIX
    target = _target(node, scope)
    if wanted and not node.prefix:
        return f"hd::post_{'inc' if node.op == '++' else 'dec'}({target})", POSTFIX
    return f"hd::{'inc' if node.op == '++' else 'dec'}rement({target})", POSTFIX


def _conditional(node: ir.Conditional, scope: Scope) -> Text:
    then, other = value(node.then, scope), value(node.other, scope, PREC["?"])
    return f"{condition(node.cond, scope, PREC['||'])} ? {then} : {other}", PREC["?"]


def condition(node: ir.Expr, scope: Scope, least: int = 0) -> str:
    """A value that decides."""
    return value(promoted(node), scope, least)


def _comma(node: ir.Comma, scope: Scope) -> Text:
    return f"{effect(node.first, scope)}, {value(node.second, scope)}", PREC[","]


# ------------------------------------------------------------------------------------------ calls


def _call(node: ir.Call, scope: Scope) -> Text:
    name = ir.called(node)
    if scope.env.own(name):
        first = ["hd"] if scope.calls_with_context(name) else []
        return f"{scope.variable(name)}({', '.join([*first, *_arguments(node, scope)])})", POSTFIX
    if name in ("sprintf", "snprintf"):
        return output.to_string(node, name, scope), POSTFIX
    if name == "__builtin_expect":
        return _text(node.args[0], scope)
    if name in device_calls.CONSTANTS:
        return device_calls.CONSTANTS[name], POSTFIX
    if name == "sscanf":
        arguments = [value(a, scope) for a in node.args]
        apart = "_apart" if scope.env.may_overlap(scope.function.name, node) else ""
        return _library(node, f"hd::sscanf{apart}(hd, {_line(node)}, ", [a.type for a in node.args], arguments, scope)
    memory = scope.memory(node)
    if memory:
        return memory, PREC["atom"]
    if name == "free":  # of NULL: `support` lets no other pass
        return "(void)0", UNARY
    row = device_calls.find(name)
    if row is None:
        raise CompilerBug(f"a call of '{name}' has no device form")
    state = row.first(scope.env.uses_errno)
    called = f"{row.spelling}({f'{state}, ' if state and node.args else state}"
    if scope.env.may_overlap(scope.function.name, node):
        called = f"{row.spelling}_apart(hd, {_line(node)}, "
    return _library(node, called, _kinds(node), _arguments(node, scope), scope)


def _library(node: ir.Call, called: str, kinds: list[CType], arguments: list[str], scope: Scope) -> Text:
    """A call of the library with what its guards need: checks around its arguments, or statements before and after it."""
    plan = guard.library_call(node, scope)
    if plan.before or plan.after:
        return guard.lambda_text(kinds, arguments, plan, called, node.type), POSTFIX
    for number, check in plan.wrap.items():
        arguments[number] = check.format(arguments[number])
    return f"{called}{', '.join(arguments)})", POSTFIX


def _kinds(node: ir.Call) -> list[CType]:
    """The types of a call's arguments, those beyond what was declared included."""
    function = ctype.element(node.callee.type)
    assert isinstance(function, ctype.Func)
    return [*function.params, *(arg.type for arg in node.args[len(function.params) :])]


def _arguments(node: ir.Call, scope: Scope) -> list[str]:
    return [converted(kind, arg, scope) for kind, arg in zip(_kinds(node), node.args, strict=True)]


def _read_record(node: ir.ReadRecord, scope: Scope) -> Text:
    text = f"hd.in.{node.kind}({value(node.target, scope)}, {value(node.capacity, scope)})"
    return guard.filled(node, text, scope), POSTFIX


def _read_pair(node: ir.ReadPair, scope: Scope) -> Text:
    targets = [value(t, scope) for t in node.targets]
    called = ", ".join([f"hd::scanf(hd, {_line(node)}, {leaf.string(node.format)}", *([""] if targets else [])])
    marks = tuple(guard.scan_marks(node.format, node.targets, 0, scope))
    if not marks:
        return f"{called}{', '.join(targets)})", POSTFIX
    plan, kinds = guard.Call({}, (), marks), [t.type for t in node.targets]
    return guard.lambda_text(kinds, targets, plan, called, node.type), POSTFIX


def _exit(node: ir.Exit, scope: Scope) -> Text:
    return f"hd.fail(hd::Status::exit_called, {_line(node)})", POSTFIX


def _line(node: ir.Expr) -> int:
    return max(node.span.line, 0)


def _output(node: ir.Emit | ir.Stderr, scope: Scope) -> Text:
    return output.result(node, scope), POSTFIX


def _compound(node: ir.Compound, scope: Scope) -> Text:
    return init.compound(node, scope), POSTFIX


_TEXTS: dict[type, Callable[[Any, Scope], Text]] = {
    ir.Const: lambda node, scope: leaf.const(node),
    leaf.Spelt: lambda node, scope: (node.text, PREC["atom"]),
    ir.Str: _str, ir.Name: _name, ir.Deref: _deref, ir.AddressOf: _address, ir.Decay: _decay,
    ir.Index: _index, ir.Member: _member, ir.Cast: _cast, ir.Unary: _unary, ir.Binary: _binary, ir.Assign: _assign,
    ir.Step: _step_prefix, ir.Conditional: _conditional, ir.Comma: _comma, ir.Call: _call, ir.Compound: _compound,
    ir.ReadRecord: _read_record, ir.ReadPair: _read_pair, ir.Exit: _exit, ir.Emit: _output, ir.Stderr: _output,
}
