"""Prints the device IR for a reader and for tests: C with the dialect's nodes as calls (`--emit device`).

`name@space` is a variable of outside the function and where it lies; `checked(x: a, line)` is a read that asks the guards of
`a` and of the line (`or other`: it may touch something else, too), `written(x: a)` a write that they note. What a library
call needs for its guards stands behind it in braces, by the numbers of its arguments. Not read back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..analysis.objects import RECORD, Object, Variable
from ..ir import ir
from ..ir.names import declare, escape, region_clauses, type_name
from ..ir.text import Printer, expr_text, rendered
from . import checks, nodes, program
from .program import Function, Program

_CALL, _ATOM = 15, 16  # how tightly these bind
_WORDS = {"+": "add", "-": "sub", "*": "mul", "<<": "shl", ">>": "shr", "/": "div", "%": "rem"}
_DIVISIONS = {"/": "divide", "%": "remainder"}
Rendered = tuple[str, int]


def print_device(kernel: Program) -> str:
    """The whole kernel; ends in a newline."""
    source = kernel.source
    lines = [f"const {declare(table.type, _short(table.key))} = {_init(table.init)};" for table in kernel.tables]
    for function in kernel.helpers:
        lines += [*([""] if lines else []), *_function(function, source)]
    printer = _Statements(source.enclosing, source)
    start, body = printer.block(ir.Block(kernel.start), 1), printer.block(kernel.body, 1)
    head = f"// {region_clauses(source.region)}"
    lines += [*([""] if lines else []), head, "record {", *start, *([""] if start else []), *body, "}"]
    lines += [f"{_text(node)};" for node in kernel.left]
    return "\n".join(lines) + "\n"


def _function(function: Function, source: ir.Program) -> list[str]:
    words = [word for word, on in (("context", function.context), ("recursive", function.recursive)) if on]
    params = ", ".join(declare(p.type, p.name) for p in function.params)
    head = declare(function.type.result, f"{function.name}({params})")
    body = _Statements(source.by_name[function.name], source).block(function.body, 1)
    return [f"{head} {{" + (f"  // {', '.join(words)}" if words else ""), *body, "}"]


# ------------------------------------------------------------------------------------------ statements


class _Statements(Printer):
    def simple(self, stmt: ir.Stmt) -> str:
        rule = _STATEMENTS.get(type(stmt))
        return super().simple(stmt) if rule is None else f"{rule(stmt)};"


def _declared(stmt: program.Declare) -> str:
    text = declare(stmt.variable.type, stmt.variable.name)
    if stmt.init is not None:
        text += f"{'; =' if stmt.apart else ' ='} {_init(stmt.init)}"
    return f"{text} {{guarded}}" if stmt.guard else text


def _begin(stmt: program.Begin) -> str:
    return f"begin({_short(stmt.guard)}{'' if stmt.object is None else f': {_text(stmt.object)}'})"


def _lies(stmt: program.Lies) -> str:
    return f"lies({_short(stmt.key)}{'' if stmt.object is None else f': {_text(stmt.object)}'})"


def _search(stmt: program.SearchAhead) -> str:
    parts = f"{_text(stmt.bounds)}; {_text(stmt.element)}; {_text(stmt.goes)}"
    return f"search_ahead({_text(stmt.variable)} < {stmt.size}: {parts})"


def _copy(stmt: program.CopyAhead) -> str:
    limits = "".join(f"; {_text(n.variable)} {'<=' if n.upto else '<'} {_text(n.end)}" for n in stmt.limits)
    places = f"{_text(stmt.target)}[{_text(stmt.to)}] = {_text(stmt.source)}[{_text(stmt.of)}]"
    return f"copy_ahead({places}{limits}{'; in line' if stmt.in_line else ''}; {_text(stmt.goes)})"


def _fresh(stmt: program.Fresh) -> str:
    return f"fresh {declare(stmt.object.type, _text(stmt.object))}{' = 0' if stmt.zero else ''}"


def _start_shared(stmt: program.StartShared) -> str:
    return f"{_text(stmt.object)} = {'*' if stmt.by_pointer else ''}before()"


_STATEMENTS: dict[type, Callable[[Any], str]] = {
    program.Declare: _declared, program.Begin: _begin, program.Lies: _lies, program.SearchAhead: _search,
    program.CopyAhead: _copy, program.Fresh: _fresh,
    program.FreshGlobals: lambda stmt: "fresh globals", program.Zero: lambda stmt: f"{_text(stmt.object)} = 0",
    program.Start: lambda stmt: f"{_text(stmt.object)} = {_init(stmt.init)}", program.StartShared: _start_shared,
}


def _init(init: nodes.Init | None) -> str:
    if isinstance(init, nodes.Chars):
        return escape(init.data)
    if isinstance(init, nodes.Braces):
        return f"{{{', '.join(_init(item) for item in init.items)}}}"
    if isinstance(init, ir.Fill):
        return f"{{{', '.join(f'{_path(path)} = {_text(item)}' for path, item in init.items)}}}"
    return "0" if init is None else _text(init)


def _path(path: tuple[int | str, ...]) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)


# ------------------------------------------------------------------------------------------ expressions


def _text(node: ir.Expr) -> str:
    return expr_text(node, 2)


def _call(name: str, *parts: ir.Expr, more: Iterable[str] = ()) -> Rendered:
    return f"{name}({', '.join([*map(_text, parts), *more])})", _CALL


def _short(key: Object) -> str:
    return "line" if key is RECORD else key.name if isinstance(key, Variable) else str(key)


def _keys(keys: Iterable[Object]) -> str:
    return ", ".join(map(_short, keys))


def _asked(asked: checks.Asked) -> str:
    return _keys(asked.keys) + ("" if asked.strict else " or other")


@rendered.register
def _var(node: nodes.Var) -> Rendered:
    return f"{node.name}@{node.space}" if node.space else node.name, _ATOM


@rendered.register
def _memory(node: nodes.Memory) -> Rendered:
    return f"memory({_short(node.key)})", _CALL


@rendered.register
def _errno(node: nodes.Errno) -> Rendered:
    return "errno", _ATOM


@rendered.register
def _named_only(node: nodes.Stream | nodes.Special | nodes.Temp) -> Rendered:
    return node.name, _ATOM


@rendered.register
def _to_integer(node: nodes.ToInteger) -> Rendered:
    return _call(f"to_integer<{type_name(node.type)}>", node.operand)


@rendered.register
def _keep_sign(node: nodes.KeepSign) -> Rendered:
    return _call(f"sign_{node.how}", node.operand)


@rendered.register
def _wrap(node: nodes.Wrap) -> Rendered:
    return _call(f"wrap_{_WORDS[node.op]}", node.left, node.right)


@rendered.register
def _negate(node: nodes.Negate) -> Rendered:
    return _call("wrap_neg", node.operand)


@rendered.register
def _shift(node: nodes.Shift) -> Rendered:
    return _call(f"shift_{'left' if node.op == '<<' else 'right'}", node.left, node.right)


@rendered.register
def _divide(node: nodes.Divide) -> Rendered:
    return _call(_DIVISIONS[node.op], node.left, node.right)


@rendered.register
def _wrap_assign(node: nodes.WrapAssign) -> Rendered:
    return _call(f"wrap_{_WORDS[node.op]}_to", node.target, node.value)


@rendered.register
def _divide_assign(node: nodes.DivideAssign) -> Rendered:
    return _call(f"{_DIVISIONS[node.op]}_to", node.target, node.value)


@rendered.register
def _assign_apart(node: nodes.AssignApart) -> Rendered:
    return _call("assign_apart", node.target, node.value)


@rendered.register
def _wrap_step(node: nodes.WrapStep) -> Rendered:
    return _call(f"wrap_{'' if node.prefix else 'post_'}{'inc' if node.op == '++' else 'dec'}", node.target)


@rendered.register
def _fetch(node: nodes.Fetch) -> Rendered:
    return _call("fetch", node.array, node.index)


@rendered.register
def _within(node: nodes.Within) -> Rendered:
    return f"within({_text(node.index)}: {node.length})", _CALL


@rendered.register
def _inside(node: nodes.Inside) -> Rendered:
    return f"inside({_text(node.operand)}: {_keys(node.keys)})", _CALL


@rendered.register
def _in_line(node: nodes.InLine) -> Rendered:
    return f"in_line({_text(node.operand)}{'' if node.strict else ' or other'})", _CALL


@rendered.register
def _named(node: nodes.Named) -> Rendered:
    return f"checked({_text(node.operand)}: {_short(node.guard)}+{node.at})", _CALL


@rendered.register
def _guarded(node: nodes.Guarded) -> Rendered:
    return f"checked({_text(node.operand)}: {_asked(node.asked)})", _CALL


@rendered.register
def _named_write(node: nodes.NamedWrite) -> Rendered:
    return f"written({_text(node.operand)}: {_short(node.guard)}+{node.at})", _CALL


@rendered.register
def _guarded_write(node: nodes.GuardedWrite) -> Rendered:
    return f"written({_text(node.operand)}: {_keys(node.keys)})", _CALL


@rendered.register
def _moved(node: nodes.Moved) -> Rendered:
    return f"move_{_WORDS[node.op]}({_text(node.pointer)}, {_text(node.by)}{_among(node.keys)})", _CALL


def _among(keys: tuple[Object, ...]) -> str:
    others = tuple(key for key in keys if key is not RECORD)
    return f": {_keys(others)}" if others else ""


@rendered.register
def _move_assign(node: nodes.MoveAssign) -> Rendered:
    return f"move_{_WORDS[node.op]}_to({_text(node.target)}, {_text(node.value)}{_among(node.keys)})", _CALL


@rendered.register
def _move_step(node: nodes.MoveStep) -> Rendered:
    name = f"move_{'' if node.prefix else 'post_'}{'inc' if node.op == '++' else 'dec'}"
    return f"{name}({_text(node.target)}{_among(node.keys)})", _CALL


@rendered.register
def _whole(node: nodes.Whole) -> Rendered:
    return _call("whole", node.operand)


@rendered.register
def _gather(node: nodes.Gather) -> Rendered:
    return _call(f"gather_{node.op.replace('-', '_')}", node.target, node.value)


@rendered.register
def _compound(node: nodes.Compound) -> Rendered:
    return f"({type_name(node.type)}){_init(node.init)}", _CALL


@rendered.register
def _unsupported(node: nodes.Unsupported) -> Rendered:
    return f"unsupported({node.code}, {escape(node.message.encode())})", _CALL


# ------------------------------------------------------------------------------------------ calls and output


@rendered.register
def _own_call(node: nodes.Call) -> Rendered:
    return _call(node.name, *node.args)


@rendered.register
def _library(node: nodes.Library) -> Rendered:
    words = ["apart"] if node.apart else []
    words += [_check(check) for check in node.checks] + [_mark(mark) for mark in node.marks] + _rooms(node.rooms)
    state = [node.state] if node.state in ("err", "token") else []
    return f"{node.name}({', '.join([*state, *map(_text, node.args)])}){_braced(words)}", _CALL


def _braced(words: list[str]) -> str:
    return f" {{{', '.join(words)}}}" if words else ""


def _check(check: checks.Check) -> str:
    if isinstance(check, checks.FitsCheck):
        return _room(check.arg, check.room)
    if isinstance(check, checks.RoomCheck):
        return f"room in line for {check.arg}"
    if isinstance(check, checks.TextCheck):
        return f"reads text {check.arg} of {_asked(check.asked)}"
    if isinstance(check, checks.BytesCheck):
        return f"reads {check.arg} of {_asked(check.asked)}"
    what = {checks.SearchCheck: "searches", checks.KeptCheck: "goes on from", checks.KeptTextCheck: "goes on in"}
    return f"{what[type(check)]} {_asked(check.asked)}"


def _room(arg: int, room: checks.Room) -> str:
    return f"room for {arg} in {_keys(room.keys) if room.nbytes is None else f'{room.nbytes} bytes'}"


def _rooms(rooms: Iterable[tuple[int, checks.Room]]) -> list[str]:
    return [_room(arg, room) for arg, room in rooms]


def _mark(mark: checks.Mark) -> str:
    return f"writes {mark.arg} of {_keys(mark.keys)}{'' if mark.reached is None else f' from {mark.reached} on'}"


@rendered.register
def _read(node: nodes.Read) -> Rendered:
    return _call(node.kind, node.target, node.capacity)[0] + _braced(_rooms([(0, node.room)] if node.room else [])), _CALL


@rendered.register
def _scan_pair(node: nodes.ScanPair) -> Rendered:
    called = f"scanf({', '.join([escape(node.format), *map(_text, node.targets)])})"
    return called + _braced([*(_mark(mark) for mark in node.marks), *_rooms(node.rooms)]), _CALL


@rendered.register
def _fail(node: nodes.Fail) -> Rendered:
    return f"fail({'' if node.status == 'exit_called' else node.status})", _CALL


@rendered.register
def _print(node: nodes.Print) -> Rendered:
    return _with_pieces("print" if node.stream == "stdout" else "warn", (), node.first, node.pieces), _CALL


@rendered.register
def _print_to(node: nodes.PrintTo) -> Rendered:
    text = _with_pieces("print_to", node.args, node.first, node.pieces)
    words = [*(["apart"] if node.apart else []), *([f"writes 0 of {_keys(node.marks)}"] if node.marks else []),
             *([_room(0, node.room)] if node.room else [])]
    return text + _braced(words), _CALL


@rendered.register
def _put_char(node: nodes.PutChar) -> Rendered:
    return _call(f"put_{node.stream}", node.value)


@rendered.register
def _put_items(node: nodes.PutItems) -> Rendered:
    return f"put_{node.stream}({_piece(node.items)})", _CALL


@rendered.register
def _sign_checked(node: nodes.SignChecked) -> Rendered:
    return _call("sign_checked", node.operand)


def _with_pieces(
    name: str, args: Iterable[ir.Expr], first: Iterable[nodes.Bind], pieces: Iterable[nodes.Piece],
) -> str:
    made = ", ".join(f"{bind.temp.name} = {_text(bind.value)}" for bind in first)
    call = f"{name}({', '.join([*map(_text, args), *map(_piece, pieces)])})"
    return f"let {made} in {call}" if made else call


def _piece(piece: nodes.Piece) -> str:
    if isinstance(piece, ir.Text):
        return escape(piece.data)
    if isinstance(piece, nodes.Bytes):
        text = f"bytes({', '.join(map(_text, (piece.address, piece.size, piece.count)))}"
    else:
        text = f"{piece.how}({', '.join([*_spec(piece.spec), _text(piece.argument)])}"
    return f"{text}: {_asked(piece.asked)})" if piece.asked is not None else f"{text})"


def _spec(spec: nodes.Spec | None) -> Iterator[str]:
    """As printf has it: "%05d" is flags 16, width 5."""
    if spec is not None:
        width, precision = (str(n) if isinstance(n, int) else _text(n) for n in (spec.width, spec.precision))
        yield f"'{spec.letter}' flags {spec.flags} width {width} precision {precision}"
