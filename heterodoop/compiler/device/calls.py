"""Calls -> the device dialect: the program's own, the C library's with what their guards need, readers, ends of the process.

A call that the device does not have is left over as Unsupported, with its name. Not here: output (`output`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from ..analysis import device_calls
from ..analysis.flow_findings import ITSELF, KEPT
from ..analysis.libc_effects import EFFECTS, REFUSED
from ..analysis.objects import RECORD, Arena, Code
from ..analysis.points_to import known_call
from ..analysis.pure import pure
from ..decide.extents import READS_ALL
from ..ir import formats, ir
from ..ir.walk import fails
from ..normalise.stdio import literal
from ..types import ctype
from ..types.ctype import CType
from . import checks, nodes, output
from .scope import Scope

# Arguments of which a function reads no more than so many bytes, though they are strings.
_UP_TO = {
    "strnlen": {0: 1}, "strncmp": {0: 2, 1: 2}, "strncasecmp": {0: 2, 1: 2}, "strncpy": {1: 2}, "stpncpy": {1: 2},
    "strncat": {1: 2}, "strndup": {0: 1},
}
_APPENDS = {"strcat": None, "strncat": 2}  # -> the argument that says how much at most
_TOKENS = frozenset({"strtok", "strtok_r", "__strtok_r", "strsep"})
_SORTED = "__hd_sort_end"
_SHRINKING = frozenset({"memmove", "memcpy", "strcpy", "strtok", "strtok_r", "strsep"})  # what they write was there before


def call(node: ir.Call, scope: Scope) -> ir.Expr:
    name = ir.called(node)
    if not name:
        if not _targets(node, scope):
            text = "it calls a function through a pointer that cannot be followed"
            return _refused(node, "HD224", text, scope, node.callee)
        return _by_pointer(node, scope)
    if scope.kernel.own(name):
        return nodes.Call(node.type, name, _arguments(node, scope), _params(node), span=node.span)
    return _grows(node, name, scope) or _library_call(node, name, scope)


def _by_pointer(node: ir.Call, scope: Scope) -> ir.Expr:
    """A call of whichever of the known functions the pointer leads to; where it leads to none the task is the CPU's."""
    if not pure(node.callee):
        text = "a function is called through a pointer that the call itself changes"
        return _refused(node, "HD235", text, scope, node.callee)
    fail: ir.Expr = nodes.Fail(ctype.VOID, "no_function", span=node.span)
    if isinstance(node.type, (ctype.Int, ctype.Float, ctype.Pointer)):
        nothing = ir.Const(node.type, 0.0 if isinstance(node.type, ctype.Float) else 0)
        fail = ir.Comma(node.type, fail, nothing, span=node.span)
    elif node.type != ctype.VOID:
        return _refused(node, "HD235", "a function that returns a struct is called through a pointer", scope, node.callee)
    for target in reversed(_targets(node, scope)):
        number = ir.Const(node.callee.type, scope.kernel.code_numbers[target.name], span=node.span)
        is_it = ir.Binary(ctype.INT, "==", scope.value(node.callee), number, span=node.span)
        way = call(replace(node, callee=ir.Decay(node.callee.type, target, span=node.span)), scope)
        fail = ir.Conditional(node.type, is_it, way, fail, span=node.span)
    return fail


def _targets(node: ir.Call, scope: Scope) -> list[ir.Name]:
    """The functions that a pointer may lead to, of its own type."""
    kind, program = ctype.element(node.callee.type), scope.kernel.program
    names = sorted(obj.name for obj in scope.targets(node.callee) if isinstance(obj, Code))
    known = {**{s.name: s.type for s in program.externs}, **{f.name: f.type for f in program.functions}}
    return [ir.Name(known[name], name, span=node.span) for name in names if known.get(name) == kind]


def _refused(node: ir.Call, code: str, text: str, scope: Scope, *more: ir.Expr) -> nodes.Unsupported:
    parts = tuple(scope.value(part) for part in (*more, *node.args))
    return nodes.Unsupported(node.type, code, text, parts, span=node.span)


def _arguments(node: ir.Call, scope: Scope) -> tuple[ir.Expr, ...]:
    return tuple(scope.value(arg) for arg in node.args)


def _params(node: ir.Call) -> tuple[CType, ...]:
    """The types of a call's arguments, those beyond what was declared included."""
    function = ctype.element(node.callee.type)
    assert isinstance(function, ctype.Func)
    return (*function.params, *(arg.type for arg in node.args[len(function.params) :]))


# ------------------------------------------------------------------------------------------ the library


def _library_call(node: ir.Call, name: str, scope: Scope) -> ir.Expr:
    if name in ("sprintf", "snprintf"):
        return output.to_string(node, scope)
    if name == "__builtin_expect":
        return scope.value(node.args[0])
    if name in device_calls.CONSTANTS:
        return nodes.Special(node.type, name, span=node.span)
    if name == "free" and isinstance(node.args[0], ir.Const):  # of NULL
        return ir.Cast(ctype.VOID, node.args[0], span=node.span)
    memory = scope.memory(node)
    if memory is not None:
        return memory
    if name in device_calls.MEMORY and (why := _no_memory(node, name, scope)):
        return _refused(node, "HD234", f"{name}() is called in the record loop {why}", scope)
    if name == "sscanf":
        return _scan_text(node, scope)
    return _row(node, name, scope)


def _row(node: ir.Call, name: str, scope: Scope) -> ir.Expr:
    """A function of the table of `device_calls`; what is not there is left over."""
    code, why = _no_call(name, scope)
    row = device_calls.find(name)
    if why or row is None:
        return _refused(node, code, why, scope)
    state = row.first(scope.kernel.uses_errno)
    given = scope.guards_of(scope.targets(node.args[1])) if name == _SORTED else ()
    return nodes.Library(
        node.type, name, _arguments(node, scope), _params(node), state, scope.kernel.may_overlap(scope.function.name, node),
        _checks(node, name, scope), () if name == _SORTED else tuple(_marks(node, name, scope)), given=given, span=node.span,
    )


def _no_memory(node: ir.Call, name: str, scope: Scope) -> str:
    """Why a call that allocates or frees has no place in the thread's arena, "" where it has."""
    if name == "alloca" and scope.region:
        return "itself, where a filter's stack grows with each record: call it in a function"
    given = scope.targets(node.args[0]) if name in ("free", "realloc", "reallocarray") else set()
    others = sorted(obj for obj in given if not isinstance(obj, Arena))
    if name != "free" and not isinstance(scope.kernel.points_to.sites.get(node.number), Arena):
        if not isinstance(scope.kernel.program.region, ir.MapRegion):
            return "of a combiner, whose memory would last from pair to pair"
        return "by a function that the code outside of the loop calls, too: give the loop a function of its own"
    if RECORD in others:
        return "with the line's buffer, which getline keeps"
    return f"with {others[0].shown}, which is no memory that the record has allocated" if others else ""


def _no_call(name: str, scope: Scope) -> tuple[str, str]:
    """(code, why) a library function cannot be called, both "" where it can."""
    refused = REFUSED.get(name)
    if refused is not None:
        return refused.code, f"{name.removeprefix('__builtin_')}() is called: {refused.why}"
    if not known_call(name):
        return "HD223", f"{name}() is called, whose effects are not known"
    why = device_calls.why_not(name, scope.kernel.libm, scope.kernel.uses_errno)
    return ("HD232", why) if why else ("", "")


def _grows(node: ir.Call, name: str, scope: Scope) -> nodes.Unsupported | None:
    """Writing to getline's buffer more than the line: a record's slot has room for its own bytes only."""
    effect = EFFECTS.get(name) if name != _SORTED else None  # which leaves all bytes where the elements were
    written = [a.arg for a in effect.writes] if effect else [0] if name in ("sprintf", "snprintf") else []
    for number in written:
        if number < len(node.args) and RECORD in scope.targets(node.args[number]):
            source = node.args[1] if name in _SHRINKING and len(node.args) > 1 else None
            if source is None or scope.targets(source) != {RECORD}:
                text = f"{name}() writes to the line's buffer, which has room for the line only"
                return _refused(node, "HD241", text, scope)
    return None


# ------------------------------------------------------------------------------------------ checks of what is read


def _checks(node: ir.Call, name: str, scope: Scope) -> tuple[checks.Check, ...]:
    others = _token_checks(node, name, scope) if name in _TOKENS else _other_checks(node, name, scope)
    return (*_text_checks(node, name, scope), *others, *_line_room(node, name, scope), *_fits(node, name, scope))


def _text_checks(node: ir.Call, name: str, scope: Scope) -> Iterator[checks.Check]:
    effect = EFFECTS.get(name)
    arguments = [a.arg for a in effect.reads if a.how == "string"] if effect else [0] if name == "sscanf" else []
    for number in [*arguments, *([1] if name in _TOKENS else [])]:
        asked = scope.asked(node, number)
        if asked is not None and number not in _UP_TO.get(name, {}):
            yield checks.TextCheck(number, asked, wraps=True)


def _other_checks(node: ir.Call, name: str, scope: Scope) -> Iterator[checks.Check]:
    """Checks of what other arguments say how much of is read."""
    for number, most in _UP_TO.get(name, {}).items():
        if (asked := scope.asked(node, number)) is not None:
            yield checks.TextCheck(number, asked, most)
    effect = EFFECTS.get(name)
    for access in effect.reads if effect else ():
        asked = scope.asked(node, access.arg)
        if asked is None or access.how == "string" or access.arg in _UP_TO.get(name, {}):
            continue
        if name in ("memchr", "rawmemchr"):
            yield checks.SearchCheck(2 if name == "memchr" else None, asked)
        else:
            yield checks.BytesCheck(access.arg, access.size, asked)


def _token_checks(node: ir.Call, name: str, scope: Scope) -> Iterator[checks.Check]:
    """strtok and its like: the place that is kept, and the string there, all of it."""
    if (asked := scope.asked(node, KEPT)) is not None:
        yield checks.KeptCheck(asked)
    if (asked := scope.asked(node, 0)) is not None:
        yield checks.KeptTextCheck(asked)


def _line_room(node: ir.Call, name: str, scope: Scope) -> Iterator[checks.Check]:
    """What is written into the line must lie in it: `_grows` lets functions pass that move parts of it."""
    effect = EFFECTS.get(name)
    for access in effect.writes if effect else ():
        objects = scope.targets(node.args[access.arg])
        if RECORD in objects and access.how in ("string", "bytes"):
            yield checks.RoomCheck(access.arg, access.size if access.how == "bytes" else None, objects == {RECORD})


def _fits(node: ir.Call, name: str, scope: Scope) -> Iterator[checks.FitsCheck]:
    """What is written has room there, and what is read by its size is there."""
    effect = EFFECTS.get(name)
    read = [a for a in effect.reads if a.how == "bytes"] if effect and name in READS_ALL else []
    for access in (*read, *effect.writes) if effect else ():
        room = scope.room(node, access.arg)
        if room is None:
            continue
        if access.how == "string":
            how: Literal["copy", "append"] = "append" if name in _APPENDS else "copy"
            yield checks.FitsCheck(access.arg, room, how, most=_APPENDS.get(name))
        elif access.how == "object":
            yield checks.FitsCheck(access.arg, room, "object")
        else:
            yield checks.FitsCheck(access.arg, room, "bytes", access.size)


# ------------------------------------------------------------------------------------------ marks of what is written


def _marks(node: ir.Call, name: str, scope: Scope) -> Iterator[checks.Mark]:
    effect = EFFECTS.get(name)
    for access in effect.writes if effect else ():
        if keys := scope.guards_of(scope.targets(node.args[access.arg])):
            size = access.size if access.how == "bytes" else None
            yield checks.TextMark(access.arg, keys) if access.how == "string" else checks.BytesMark(access.arg, size, keys)
    if name in ("strtok_r", "__strtok_r") and (keys := scope.guards_of(scope.targets(node.args[2]))):
        yield checks.BytesMark(2, None, keys)


def _scan_marks(text: bytes, targets: tuple[ir.Expr, ...], first: int, scope: Scope) -> Iterator[checks.Mark]:
    """What scanf stored through its targets, arguments FIRST ...: those that its count reaches, and %n right behind one."""
    stored, number = 0, first
    certain = True  # that a %n here was reached when the count is `stored`
    for item in formats.split_scanf(text) or []:
        if not item.stores:
            certain = certain and item.letter == " "
            continue
        at, target = number, targets[number - first]
        number += 1
        stored += item.letter != "n"
        if keys := scope.guards_of(scope.targets(target)):
            reached = stored if certain or item.letter != "n" else stored + 1
            size = item.width or 1 if item.letter == "c" else None
            yield checks.TextMark(at, keys, reached) if item.letter in "s[" else checks.BytesMark(at, size, keys, reached)
        certain = certain if item.letter == "n" else True


# ------------------------------------------------------------------------------------------ readers


def _scan_text(node: ir.Call, scope: Scope) -> ir.Expr:
    text = literal(node.args[1])
    if text is None or formats.split_scanf(text) is None:
        return _refused(node, "HD229", formats.unread("sscanf", text), scope)
    if reasons := _no_scan(text, node.args[2:]):
        return _no_form(node, reasons, _arguments(node, scope))
    return nodes.Library(
        node.type, "sscanf", _arguments(node, scope), tuple(a.type for a in node.args), "lane",
        scope.kernel.may_overlap(scope.function.name, node), _checks(node, "sscanf", scope),
        tuple(_scan_marks(text, node.args[2:], 2, scope)), scope.rooms(node, range(2, len(node.args))), span=node.span,
    )


def read_pair(node: ir.ReadPair, scope: Scope) -> ir.Expr:
    targets = tuple(scope.value(t) for t in node.targets)
    if reasons := _no_scan(node.format, node.targets):
        return _no_form(node, reasons, targets)
    marks = tuple(_scan_marks(node.format, node.targets, 0, scope))
    rooms = scope.rooms(node, range(len(node.targets)))
    return nodes.ScanPair(node.type, node.format, targets, marks, rooms, span=node.span)


def _no_form(node: ir.Expr, reasons: list[str], parts: tuple[ir.Expr, ...]) -> nodes.Unsupported:
    """A scanf without a device form, for each of these reasons."""
    first, *others = (nodes.Unsupported(node.type, "HD236", text, span=node.span) for text in reasons)
    return replace(first, parts=(*others, *parts))


def _no_scan(text: bytes, given: tuple[ir.Expr, ...]) -> list[str]:
    """Why a call of scanf has no device form: what is stored must be what the target holds."""
    scans = formats.split_scanf(text)
    if scans is None:
        return [formats.unread("scanf", text)]
    reasons = ["the format of scanf has characters beyond ASCII"] if any(byte >= 0x80 for byte in text) else []
    targets = list(given)
    for item in scans:
        target = targets.pop(0) if item.stores and targets else None
        if item.letter in "pCS" or item.length in ("m", "L") or (item.letter in "sc[" and item.length):
            reasons.append(f"scanf's conversion '%{item.length}{item.letter}' has no device form")
        elif item.stores and target is None:
            return [*reasons, "scanf has fewer targets than conversions"]
        elif target is not None:
            reasons += _no_target(item, target)
    return reasons


def _no_target(item: formats.Scan, target: ir.Expr) -> list[str]:
    inner, wanted = ctype.element(target.type), item.target
    size = inner.bits if isinstance(inner, (ctype.Int, ctype.Float)) else 0
    fits = isinstance(wanted, (ctype.Int, ctype.Float)) and type(inner) is type(wanted) and size == wanted.bits
    return [] if fits else [f"scanf's conversion '%{item.length}{item.letter}' is given a target of type '{target.type}'"]


def read_record(node: ir.ReadRecord, scope: Scope) -> ir.Expr:
    scope.reads_record = True
    target, capacity = scope.value(node.target), scope.value(node.capacity)
    scope.reads_record = False
    marks = scope.guards_of(scope.targets(node.target)) if node.kind == "fgets" else ()
    return nodes.Read(node.type, node.kind, target, capacity, marks, scope.room(node, ITSELF), span=node.span)


def exit_(node: ir.Exit, scope: Scope) -> ir.Expr:
    """The arguments of one that fails, whatever they are, are the CPU's."""
    if not fails(node):
        text = f"{node.call}() with a status that is not a failure ends the program before the end of the input"
        return nodes.Unsupported(node.type, "HD214", text, span=node.span)
    return nodes.Fail(node.type, node.call if node.call in ir.LEAVES else "exit_called", span=node.span)
