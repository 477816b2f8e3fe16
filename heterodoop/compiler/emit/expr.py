"""Expressions of the device IR -> CUDA text. Every node has one; what it does was decided when it was made (`device`).

Where C++ converts as C does by itself (promotions, initialisation, arguments), casts are left out. Non-goals: statements,
output's pieces (`output`), checks of library calls (`guard`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..analysis import device_calls
from ..analysis.objects import RECORD, Code, Object
from ..decide import cuda_names
from ..device import nodes
from ..device.arithmetic import is_bool, promoted
from ..device.types import root
from ..ir import build, ir
from ..types import ctype
from ..types.ctype import CType, Pointer
from . import extent, guard, init, leaf, output, totals
from .leaf import PREC, UNARY, Text
from .rules import implicit_pointer, unconverted
from .scope import Scope, Texts, line
from .types import declare

POSTFIX = PREC["postfix"]
_ATOM = PREC["atom"]
_MIXED = {("|", "&"), ("|", "^"), ("^", "&"), ("||", "&&")}  # compilers warn without brackets here
_NAMES = {"+": "add", "-": "sub", "*": "mul", "<<": "shl", ">>": "shr", "/": "div", "%": "rem"}
_DIVISIONS = {"/": "divide", "%": "remainder"}
_STREAMS = {"stdin": 1, "stdout": 2, "stderr": 3}  # addresses that only serve to tell the streams apart


def _value(node: ir.Expr, scope: Scope, least: int) -> str:
    return _bracket(_text(node, scope), least)


def _converted(kind: CType, node: ir.Expr, scope: Scope, least: int) -> str:
    operand = unconverted(kind, node)
    if isinstance(kind, Pointer) and kind.const:
        return _bracket(_plain_pointer(operand, scope), least)
    return _value(operand, scope, least)


def _typed(node: ir.Expr, scope: Scope) -> str:
    """For templates: comparisons are bool there, and an int here."""
    if is_bool(node):
        return f"(int)({scope.value(node, 0)})"
    if isinstance(node, ir.Const) and isinstance(node.type, Pointer):
        return f"({declare(node.type)})nullptr" if node.value == 0 else scope.value(node)
    return scope.value(node)


def condition(node: ir.Expr, scope: Scope, least: int = 0) -> str:
    """A value that decides."""
    return scope.value(promoted(node), least)


def _bracket(text: Text, least: int) -> str:
    return f"({text[0]})" if text[1] < least else text[0]


def _text(node: ir.Expr, scope: Scope) -> Text:
    return _TEXTS[type(node)](node, scope)


# ------------------------------------------------------------------------------------------ conversions


def _cast(node: ir.Cast, scope: Scope) -> Text:
    kind, operand = node.type, node.operand
    if kind == ctype.VOID:
        return f"(void)({scope.value(operand, 0)})", UNARY
    if isinstance(kind, Pointer) and isinstance(operand.type, Pointer):
        if implicit_pointer(kind, operand.type):
            return _plain_pointer(operand, scope)
        if isinstance(operand, ir.Cast) and isinstance(operand.operand.type, Pointer):
            operand = operand.operand  # (T *)(void *)p
    return f"({declare(kind)}){scope.value(operand, UNARY)}", UNARY


def _plain_pointer(operand: ir.Expr, scope: Scope) -> Text:
    """A pointer that is going to be one to const: of a constant's address nothing has to be cast away."""
    if isinstance(operand, ir.Decay):
        return _text(operand.operand, scope)
    if isinstance(operand, ir.AddressOf):
        return f"&{scope.value(operand.operand, UNARY)}", UNARY
    return _text(operand, scope)


def _to_integer(node: nodes.ToInteger, scope: Scope) -> Text:
    """Narrow types by way of int, unsigned int by way of long."""
    kind, operand = node.type, node.operand
    assert isinstance(kind, ctype.Int)
    if kind == ctype.BOOL:
        return f"{scope.value(operand, PREC['!='] + 1)} != 0", PREC["!="]
    call = f"hd::to_{'i' if kind.signed else 'u'}{kind.bits}({scope.value(operand)})"
    return (f"({kind}){call}", UNARY) if kind in (ctype.CHAR, ctype.LLONG, ctype.ULLONG) else (call, POSTFIX)


# ------------------------------------------------------------------------------------------ leaves and lvalues


def _object(node: nodes.Var | nodes.Memory, scope: Scope) -> Text:
    text = scope.variable(node)
    return text, POSTFIX if "." in text else _ATOM


def _string(node: ir.Str, scope: Scope) -> Text:
    name = scope.kernel.literals.get(node.data)
    return (leaf.string(node.data), _ATOM) if name is None else (f"hd_texts.{name}", POSTFIX)


def _stream(node: nodes.Stream, scope: Scope) -> Text:
    return f"(struct _IO_FILE *){_STREAMS[node.name]}", UNARY


def _deref(node: ir.Deref, scope: Scope) -> Text:
    return f"*{_followed(node.pointer, scope, UNARY)}", UNARY


def _followed(pointer: ir.Expr, scope: Scope, least: int) -> str:
    """A pointer that is followed at once: an array by its name."""
    return scope.value(pointer.operand if isinstance(pointer, ir.Decay) else pointer, least)


def _is_constant(node: ir.Expr) -> bool:
    """Is an object that stands by its name constant in the text, so that its address is one of a constant?"""
    whole = root(node)
    return isinstance(whole, ir.Str) or (isinstance(whole, nodes.Var) and whole.is_constant)


def _address(node: ir.AddressOf, scope: Scope) -> Text:
    text = f"&{scope.value(node.operand, UNARY)}"
    return (f"({declare(node.type)}){text}" if _is_constant(node.operand) else text), UNARY


def _decay(node: ir.Decay, scope: Scope) -> Text:
    text = _text(node.operand, scope)
    return (f"({declare(node.type)}){_bracket(text, UNARY)}", UNARY) if _is_constant(node.operand) else text


def _index(node: ir.Index, scope: Scope) -> Text:
    number = scope.value(promoted(node.index), 0)
    inner = f"({number})" if number.startswith("[") else number  # a lambda; [[ begins an attribute
    return f"{_followed(node.base, scope, POSTFIX)}[{inner}]", POSTFIX


def _fetch(node: nodes.Fetch, scope: Scope) -> Text:
    texture = scope.variable(node.array)
    return f"hd::fetch({texture}, {texture}_texture, {scope.value(promoted(node.index))})", POSTFIX


def _member(node: ir.Member, scope: Scope) -> Text:
    field = cuda_names.escape(node.field)
    if isinstance(node.base, ir.Deref) and not isinstance(node.base.pointer, ir.Decay):
        return f"{scope.value(node.base.pointer, POSTFIX)}->{field}", POSTFIX
    return f"{scope.value(node.base, POSTFIX)}.{field}", POSTFIX


# ------------------------------------------------------------------------------------------ operators


def _unary(node: ir.Unary, scope: Scope) -> Text:
    inner = scope.value(promoted(node.operand), UNARY)
    return f"{node.op}{' ' if inner.startswith(node.op) else ''}{inner}", UNARY


def _binary(node: ir.Binary, scope: Scope) -> Text:
    kind = node.left.type
    if node.op in "+-" and isinstance(kind, Pointer) and kind.to == ctype.VOID:
        return _of_void(node, scope)
    binds = PREC[node.op]
    sides = []
    for side, other, least in ((node.left, node.right, binds), (node.right, node.left, binds + 1)):
        mixed = isinstance(side, ir.Binary) and ((node.op, side.op) in _MIXED or node.op in build.SHIFTS)
        compared = node.op in build.COMPARISONS and is_bool(side)
        sides.append(_operand(side, other, scope, UNARY if mixed or compared else least))
    return f"{sides[0]} {node.op} {sides[1]}", binds


def _operand(side: ir.Expr, other: ir.Expr, scope: Scope, least: int) -> str:
    """One side of an operator, its promotion left to it; a number beside a char is a character."""
    if isinstance(side, ir.Const) and side.type == ctype.INT and promoted(other).type == ctype.CHAR:
        character = leaf.character(int(side.value))
        if character:
            return character
    return scope.value(promoted(side), least)


def _of_void(node: ir.Binary, scope: Scope) -> Text:
    """Arithmetic of void pointers, which C++ does not have, by bytes."""
    sides = [f"(char *){scope.value(s, UNARY)}" if isinstance(s.type, Pointer) else scope.value(s, PREC["*"])
             for s in (node.left, node.right)]
    whole = f"{sides[0]} {node.op} {sides[1]}"
    return (f"({declare(node.type)})({whole})", UNARY) if isinstance(node.type, Pointer) else (f"({whole})", POSTFIX)


def _keep_sign(node: nodes.KeepSign, scope: Scope) -> Text:
    name = f"sign_{node.how}" if node.how in ("flipped", "cleared") else node.how
    return f"hd::{name}({scope.value(node.operand)})", POSTFIX


def _wrap(node: nodes.Wrap, scope: Scope) -> Text:
    return f"hd::{_NAMES[node.op]}({scope.typed(node.left)}, {scope.typed(node.right)})", POSTFIX


def _negate(node: nodes.Negate, scope: Scope) -> Text:
    return f"hd::neg({scope.typed(node.operand)})", POSTFIX


def _shift(node: nodes.Shift, scope: Scope) -> Text:
    return f"hd::{_NAMES[node.op]}({scope.typed(node.left)}, {scope.value(node.right)})", POSTFIX


def _divide(node: nodes.Divide, scope: Scope) -> Text:
    return f"hd::{_DIVISIONS[node.op]}(hd, {scope.typed(node.left)}, {scope.typed(node.right)}, {line(node)})", POSTFIX


def _moved(node: nodes.Moved, scope: Scope) -> Text:
    sides = f"{scope.value(node.pointer)}, {scope.value(promoted(node.by))}"
    return f"hd::moved{_way(node.op)}(hd, {sides}, {line(node)}{_among(node.keys, scope)})", POSTFIX


def _among(keys: tuple[Object, ...], scope: Scope) -> str:
    """The objects that a moved pointer must not leave; nothing where that is the line alone."""
    return "" if keys == (RECORD,) else f", {extent.objects(keys, scope)}"


def _way(op: str) -> str:
    return "_back" if op.startswith("-") else ""


def _whole(node: nodes.Whole, scope: Scope) -> Text:
    return f"hd::whole(hd, {scope.value(node.operand)}, {line(node)})", POSTFIX


# ------------------------------------------------------------------------------------------ assignments


def _assign(node: ir.Assign, scope: Scope) -> Text:
    value = scope.converted(node.type, node.value) if node.op == "=" else scope.value(promoted(node.value))
    return f"{scope.value(node.target, UNARY)} {node.op} {value}", PREC["="]


def _wrap_assign(node: nodes.WrapAssign, scope: Scope) -> Text:
    operand = scope.value(node.value) if node.op in build.SHIFTS else scope.typed(node.value)
    return f"hd::{_NAMES[node.op]}_to({scope.value(node.target, UNARY)}, {operand})", POSTFIX


def _divide_assign(node: nodes.DivideAssign, scope: Scope) -> Text:
    sides = f"{scope.value(node.target, UNARY)}, {scope.typed(node.value)}"
    return f"hd::{_DIVISIONS[node.op]}_to(hd, {sides}, {line(node)})", POSTFIX


def _assign_apart(node: nodes.AssignApart, scope: Scope) -> Text:
    sides = f"{scope.value(node.target, UNARY)}, {scope.converted(node.type, node.value)}"
    return f"hd::assign_apart(hd, {line(node)}, {sides})", POSTFIX


def _step(node: ir.Step, scope: Scope) -> Text:
    if node.prefix:
        return f"{node.op}{scope.value(node.target, UNARY)}", UNARY
    return f"{scope.value(node.target, POSTFIX)}{node.op}", POSTFIX


def _wrap_step(node: nodes.WrapStep, scope: Scope) -> Text:
    name = "inc" if node.op == "++" else "dec"
    return f"hd::{f'{name}rement' if node.prefix else f'post_{name}'}({scope.value(node.target, 0)})", POSTFIX


def _move_assign(node: nodes.MoveAssign, scope: Scope) -> Text:
    sides = f"{scope.value(node.target)}, {scope.value(promoted(node.value))}"
    return f"hd::move{_way(node.op)}(hd, {sides}, {line(node)}{_among(node.keys, scope)})", POSTFIX


def _move_step(node: nodes.MoveStep, scope: Scope) -> Text:
    rest = f"{line(node)}{_among(node.keys, scope)}"
    if node.prefix:
        return f"hd::move{_way(node.op)}(hd, {scope.value(node.target)}, 1, {rest})", POSTFIX
    return f"hd::move_after(hd, {scope.value(node.target)}, {'1' if node.op == '++' else '-1'}, {rest})", POSTFIX


def _gather(node: nodes.Gather, scope: Scope) -> Text:
    how = "gather" if node.own or scope.kernel.one_thread else "gather_atomically"
    operation = totals.operation(scope.kernel, node.op)
    value = scope.converted(node.target.type, node.value)
    value = f"{operation}::taken<{declare(node.target.type, '')}>({value})" if node.op in totals.ORDERED else value
    return f"hd::{how}<{operation}>({scope.value(node.target, 0)}, {value})", POSTFIX


def _conditional(node: ir.Conditional, scope: Scope) -> Text:
    then, other = scope.value(node.then), scope.value(node.other, PREC["?"])
    return f"{condition(node.cond, scope, PREC['||'])} ? {then} : {other}", PREC["?"]


def _comma(node: ir.Comma, scope: Scope) -> Text:
    return f"{scope.value(node.first, 0)}, {scope.value(node.second, PREC[','])}", PREC[","]


# ------------------------------------------------------------------------------------------ calls


def _call(node: nodes.Call, scope: Scope) -> Text:
    helper = scope.kernel.program.by_name[node.name]
    arguments = [*(["hd"] if helper.context else []), *_arguments(node, scope)]
    return f"{scope.kernel.global_names[Code(node.name)]}({', '.join(arguments)})", POSTFIX


def _arguments(node: nodes.Call | nodes.Library, scope: Scope) -> list[str]:
    return [scope.converted(kind, arg) for kind, arg in zip(node.params, node.args, strict=True)]


def _library(node: nodes.Library, scope: Scope) -> Text:
    row = device_calls.find(node.name)
    spelling = row.spelling if row is not None else f"hd::{node.name}"
    if node.apart or node.state == "lane":
        called = f"{spelling}{'_apart' if node.apart else ''}(hd, {line(node)}, "
    else:
        called = f"{spelling}({f'hd.{node.state}' if node.state else ''}{', ' if node.state and node.args else ''}"
    return guard.library_call(node, called, _arguments(node, scope), scope), POSTFIX


def _special(node: nodes.Special, scope: Scope) -> Text:
    return device_calls.CONSTANTS[node.name], POSTFIX


def _read(node: nodes.Read, scope: Scope) -> Text:
    target, capacity = scope.value(node.target), scope.value(node.capacity)
    text = f"hd.in.{node.kind}({target}, {capacity})"
    if node.room is not None:
        text = f"hd::fgets_in(hd, {line(node)}, {extent.roomy(node.room, target, scope)}, {capacity})"
    return f"hd::filled(hd, {text}, {guard.guards(node.marks, scope)})" if node.marks else text, POSTFIX


def _scan_pair(node: nodes.ScanPair, scope: Scope) -> Text:
    targets = [scope.value(t) for t in node.targets]
    called = f"hd::scanf(hd, {line(node)}, {leaf.string(node.format)}{', ' if targets else ''}"
    if not node.marks:
        return f"{called}{', '.join(guard.roomy(targets, node.rooms, scope))})", POSTFIX
    kinds, after = [t.type for t in node.targets], [guard.mark(mark, scope) for mark in node.marks]
    given = partial(guard.roomy, rooms=node.rooms, scope=scope)
    return guard.lambda_text(kinds, targets, called, node.type, [], after, given), POSTFIX


def _fail(node: nodes.Fail, scope: Scope) -> Text:
    return f"hd.fail(hd::Status::{node.status}, {line(node)})", POSTFIX


def _compound(node: nodes.Compound, scope: Scope) -> Text:
    """A struct or scalar that a lambda makes."""
    kind = declare(node.type, "made")
    if isinstance(node.init, ir.Fill):
        body = f"{kind}; {' '.join(init.assignments('made', node.init, scope))}"
    else:
        body = f"{kind} = {init.initialiser(node.type, node.init, scope)};"
    return f"[&] {{ {body} return made; }}()", POSTFIX


def _called(text: Callable[[Any, Scope], str]) -> Callable[[Any, Scope], Text]:
    """The rule of a node whose text is a call."""
    return lambda node, scope: (text(node, scope), POSTFIX)


_TEXTS: dict[type, Callable[[Any, Scope], Text]] = {
    ir.Const: lambda node, scope: leaf.const(node), ir.Str: _string,
    nodes.Temp: lambda node, scope: (node.name, _ATOM), nodes.Errno: lambda node, scope: ("hd.err", POSTFIX),
    nodes.Var: _object, nodes.Memory: _object, nodes.Stream: _stream, nodes.Special: _special,
    ir.Deref: _deref, ir.AddressOf: _address, ir.Decay: _decay, ir.Index: _index, ir.Member: _member, nodes.Fetch: _fetch,
    ir.Cast: _cast, ir.Unary: _unary, ir.Binary: _binary, ir.Assign: _assign, ir.Step: _step,
    ir.Conditional: _conditional, ir.Comma: _comma, nodes.Compound: _compound, nodes.ToInteger: _to_integer,
    nodes.KeepSign: _keep_sign, nodes.Wrap: _wrap, nodes.Negate: _negate, nodes.Shift: _shift, nodes.Divide: _divide,
    nodes.WrapAssign: _wrap_assign, nodes.DivideAssign: _divide_assign,
    nodes.AssignApart: _assign_apart, nodes.WrapStep: _wrap_step, nodes.Moved: _moved, nodes.MoveAssign: _move_assign,
    nodes.MoveStep: _move_step, nodes.Gather: _gather, nodes.Whole: _whole,
    **{kind: _called(text) for kind, text in {**extent.TEXTS, **guard.TEXTS, **output.TEXTS}.items()},
    nodes.Call: _call, nodes.Library: _library, nodes.Read: _read, nodes.ScanPair: _scan_pair, nodes.Fail: _fail,
}
TEXTS = Texts(_value, _converted, _typed)
