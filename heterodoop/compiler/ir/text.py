"""Prints the IR as C with nodes of our own as builtin calls; `ir.read.read_ir` reads the text back.

Stable: the same program gives the same text. Attributes `[[hd::...]]` carry what C has no words for (layouts, record
loops). A name that C23 reserves gets a final `$`, the tag of an unnamed struct a first one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch

from ...manifest import Reason
from ..types import ctype
from ..types.ctype import Int, Pointer
from . import ir
from . import walk as ir_walk
from .names import declare, escape, mangle, region_clauses, tag_name, type_name

_PREC = {
    ",": 1, "=": 2, "?": 3, "||": 4, "&&": 5, "|": 6, "^": 7, "&": 8, "==": 9, "!=": 9, "<": 10, ">": 10, "<=": 10, ">=": 10,
    "<<": 11, ">>": 11, "+": 12, "-": 12, "*": 13, "/": 13, "%": 13, "unary": 14, "postfix": 15, "atom": 16,
}
_SUFFIX = {"int": "", "unsigned int": "U", "long": "L", "unsigned long": "UL", "long long": "LL",
           "unsigned long long": "ULL"}
_NO_STATEMENT = (ir.Decl, ir.RegionHere, ir.CaseLabel, ir.Label)  # after them a label needs a `;`
_MIXED = {("|", "&"), ("|", "^"), ("^", "&"), ("||", "&&")}  # gcc -Wparentheses wants brackets here


def print_ir(program: ir.Program) -> str:
    """The whole program; ends in a newline."""
    lines = [_refusal(reason) for reason in program.refusals]
    lines += [f"{declare(kind, '').rstrip()};" for kind in _tags(program)]
    for tag, union, layout in program.structs:
        lines += _struct(tag, union, layout)
    lines += [_extern(symbol) for symbol in program.externs]
    lines += [f"static {_head(function)};" for function in program.functions]
    for symbol in program.globals:
        lines += _global(symbol)
    for function in program.functions:
        lines += ["", *_function(function, program)]
    return "\n".join(lines) + "\n"


def _refusal(reason: Reason) -> str:
    span = reason.span
    file, message = (escape(text.encode("utf-8", "surrogateescape")) for text in (span.file, reason.message))
    return f'[[hd::refusal("{reason.code}", {file}, "{span.line}:{span.col}:{span.end}", {message})]];'


def _tags(program: ir.Program) -> list[ctype.Struct]:
    """Every struct and union that is mentioned, in order: declared first, so that any type can name it."""
    found: dict[ctype.Struct, None] = {}
    pending = list(ir_walk.types((program.structs, program.externs, program.globals, program.functions, program.region)))
    for kind in pending:
        if isinstance(kind, ctype.Struct):
            found[kind] = None
        pending += ir_walk.inner_types(kind)
    return list(found)


def _struct(tag: str, union: bool, layout: ctype.Layout) -> list[str]:
    lines = [f"{'union' if union else 'struct'} [[hd::layout({layout.size}, {layout.align})]] {tag_name(tag)} {{"]
    for item in layout.fields:
        bits = f" : {item.bits}" if item.bits else ""
        lines.append(f"  [[hd::at({item.offset})]] {declare(item.type, mangle(item.name))}{bits};")
    return [*lines, "};"]


def _extern(symbol: ir.Symbol) -> str:
    call = f"[[hd::call({escape(symbol.original.encode())})]] " if symbol.storage == "call" else ""
    return f"{call}extern {declare(symbol.type, mangle(symbol.name))};"


def _global(symbol: ir.Symbol) -> list[str]:
    owner = f"[[hd::owner({symbol.owner})]] " if symbol.owner else ""
    words = "static " if symbol.storage == "static" else ""
    text = f"{owner}{words}{_variable(symbol)}"
    return [text + (f" = {init_text(symbol.init)};" if symbol.init is not None else ";")]


def _head(function: ir.Function) -> str:
    params = ", ".join(_variable(p) for p in function.params)
    if function.type.variadic:
        params = f"{params}, ..." if params else ""
    elif not params:
        params = "void"
    return declare(function.type.result, f"{mangle(function.name)}({params})")


def _variable(symbol: ir.Symbol) -> str:
    """A declaration; `const` of a pointer, or of an array of pointers, stands behind the `*`."""
    inner = symbol.type
    while isinstance(inner, ctype.Array):
        inner = inner.of
    name, const = mangle(symbol.name), "const " if symbol.const else ""
    if isinstance(inner, Pointer):
        return declare(symbol.type, const + name)
    return const + declare(symbol.type, name)


def _function(function: ir.Function, program: ir.Program) -> list[str]:
    printer = Printer(function, program)
    return [f"static {_head(function)}", "{", *printer.block(function.body, 1), "}"]


class Printer:
    """Statements. A dialect adds its expressions to `rendered`, and its statements by a class of its own."""

    def __init__(self, function: ir.Function, program: ir.Program) -> None:
        self._function, self._program = function, program

    def block(self, block: ir.Block, depth: int) -> list[str]:
        lines: list[str] = []
        for number, stmt in enumerate(block.body):
            following = block.body[number + 1] if number + 1 < len(block.body) else None
            lines += self._stmt(stmt, depth, following)
        return lines

    def _stmt(self, stmt: ir.Stmt, depth: int, following: ir.Stmt | None) -> list[str]:
        pad = "  " * depth
        if isinstance(stmt, ir.RegionHere):
            body = self.block(self._program.region.body, depth + 1)
            return [f"#pragma mapreduce {region_clauses(self._program.region)}", f"{pad}{{", *body, f"{pad}}}"]
        if isinstance(stmt, (ir.CaseLabel, ir.Label)):
            null = ";" if following is None or isinstance(following, _NO_STATEMENT) else ""
            return [f"{pad[:-1]}{_label(stmt)}:{' ' if null else ''}{null}"]
        if isinstance(stmt, ir.Block):
            return [f"{pad}{{", *self.block(stmt, depth + 1), f"{pad}}}"]
        if isinstance(stmt, ir.If):
            return list(self._if(stmt, pad, depth))
        if isinstance(stmt, ir.DoWhile):
            return [f"{pad}do {{", *self.block(stmt.body, depth + 1), f"{pad}}} while ({expr_text(stmt.cond)});"]
        head = _loop_head(stmt, self)
        if head:
            return [f"{pad}{head} {{", *self.block(stmt.body, depth + 1), f"{pad}}}"]  # type: ignore[attr-defined]
        return [pad + self.simple(stmt)]

    def _if(self, stmt: ir.If, pad: str, depth: int) -> Iterator[str]:
        yield f"{pad}if ({expr_text(stmt.cond)}) {{"
        yield from self.block(stmt.then, depth + 1)
        if stmt.other is not None:
            yield f"{pad}}} else {{"
            yield from self.block(stmt.other, depth + 1)
        yield f"{pad}}}"

    def simple(self, stmt: ir.Stmt) -> str:
        if isinstance(stmt, ir.Decl):
            return self.decl(stmt)
        if isinstance(stmt, ir.ExprStmt):
            return f"{expr_text(stmt.expr)};"
        if isinstance(stmt, ir.Return):
            return f"return {expr_text(stmt.value)};" if stmt.value is not None else "return;"
        if isinstance(stmt, ir.Goto):
            return f"goto {mangle(stmt.label)};"
        if isinstance(stmt, ir.Opaque):
            return f'__opaque("{stmt.code}", {escape(stmt.message.encode())});'
        return "break;" if isinstance(stmt, ir.Break) else "continue;"

    def decl(self, stmt: ir.Decl) -> str:
        symbol = self._function.symbol(stmt.name)
        assert symbol is not None
        text = _variable(symbol)
        if stmt.length is not None:
            text = f"[[hd::length]] {text.replace('[]', f'[{expr_text(stmt.length)}]', 1)}"
        return text + (f" = {init_text(stmt.init)};" if stmt.init is not None else ";")


def _label(stmt: ir.CaseLabel | ir.Label) -> str:
    if isinstance(stmt, ir.Label):
        return mangle(stmt.name)
    return "default" if stmt.value is None else f"case {stmt.value}"


def _loop_head(stmt: ir.Stmt, printer: Printer) -> str:
    if isinstance(stmt, ir.While):
        return f"while ({expr_text(stmt.cond)})"
    if isinstance(stmt, ir.Switch):
        return f"switch ({expr_text(stmt.value)})"
    if isinstance(stmt, ir.RecordLoop):
        step = expr_text(stmt.step) if stmt.step is not None else ""
        return f"[[hd::records]] for (; {expr_text(stmt.cond)};{' ' if step else ''}{step})"
    if isinstance(stmt, ir.For):
        init = printer.simple(stmt.init) if stmt.init is not None else ";"
        cond = f" {expr_text(stmt.cond)}" if stmt.cond is not None else ""
        step = f" {expr_text(stmt.step)}" if stmt.step is not None else ""
        return f"for ({init}{cond};{step})"
    return ""


# ------------------------------------------------------------------------------------------ expressions


def expr_text(node: ir.Expr, least: int = 0) -> str:
    """An expression, in brackets where it binds weaker than `least`."""
    text, binds = rendered(node)
    return f"({text})" if binds < least else text


def init_text(init: ir.Init) -> str:
    """An initialiser: a scalar, a string, or a list by path."""
    if isinstance(init, ir.Expr):
        return expr_text(init, _PREC["="])
    items = ", ".join(f"{_path(path)} = {expr_text(value, _PREC['='])}" for path, value in init.items)
    return f"{{ {items} }}" if items else "{}"


def _path(path: tuple[int | str, ...]) -> str:
    return "".join(f"[{p}]" if isinstance(p, int) else f".{mangle(p)}" for p in path)


@singledispatch
def rendered(node: ir.Expr) -> tuple[str, int]:
    """The text and how tightly it binds; each node registers its own."""
    raise TypeError(f"no text for {type(node).__name__}")


@rendered.register
def _const(node: ir.Const) -> tuple[str, int]:
    if isinstance(node.type, ctype.Float):
        text = repr(node.value).replace("inf", "1e999") + ("f" if node.type.bits == 32 else "")
        return text, _PREC["unary" if text.startswith("-") else "atom"]
    if not isinstance(node.type, Int):
        return f"({type_name(node.type)}){_number(ctype.LONG, int(node.value))[0]}", _PREC["unary"]
    return _number(node.type, int(node.value))


def _number(kind: Int, value: int) -> tuple[str, int]:
    if kind.bits == 128:
        high, low = value >> 64, value & (1 << 64) - 1
        name = type_name(kind)
        return f"(({name}){_number(ctype.LONG, ctype.wrap(ctype.LONG, high))[0]} << 64 | ({name}){low}UL)", _PREC["atom"]
    if kind.name not in _SUFFIX:
        return f"({type_name(kind)}){value}", _PREC["unary"]
    if value == -(1 << (kind.bits - 1)):
        return f"(-{-(value + 1)}{_SUFFIX[kind.name]} - 1)", _PREC["atom"]
    return f"{value}{_SUFFIX[kind.name]}", _PREC["unary" if value < 0 else "atom"]


@rendered.register
def _str(node: ir.Str) -> tuple[str, int]:
    return escape(node.data), _PREC["atom"]


@rendered.register
def _name(node: ir.Name) -> tuple[str, int]:
    return mangle(node.name), _PREC["atom"]


@rendered.register
def _unary(node: ir.Unary) -> tuple[str, int]:
    inner = expr_text(node.operand, _PREC["unary"])
    return f"{node.op}{' ' if inner.startswith(node.op) else ''}{inner}", _PREC["unary"]


@rendered.register
def _deref(node: ir.Deref) -> tuple[str, int]:
    return f"*{expr_text(node.pointer, _PREC['unary'])}", _PREC["unary"]


@rendered.register
def _address(node: ir.AddressOf) -> tuple[str, int]:
    return f"&{expr_text(node.operand, _PREC['unary'])}", _PREC["unary"]


@rendered.register
def _decay(node: ir.Decay) -> tuple[str, int]:
    return rendered(node.operand)


@rendered.register
def _binary(node: ir.Binary) -> tuple[str, int]:
    binds = _PREC[node.op]
    sides = []
    for side, least in ((node.left, binds), (node.right, binds + 1)):
        mixed = isinstance(side, ir.Binary) and ((node.op, side.op) in _MIXED or node.op in ("<<", ">>"))
        sides.append(expr_text(side, _PREC["unary"] if mixed else least))
    return f"{sides[0]} {node.op} {sides[1]}", binds


@rendered.register
def _index(node: ir.Index) -> tuple[str, int]:
    return f"{expr_text(node.base, _PREC['postfix'])}[{expr_text(node.index)}]", _PREC["postfix"]


@rendered.register
def _member(node: ir.Member) -> tuple[str, int]:
    if isinstance(node.base, ir.Deref):
        return f"{expr_text(node.base.pointer, _PREC['postfix'])}->{mangle(node.field)}", _PREC["postfix"]
    return f"{expr_text(node.base, _PREC['postfix'])}.{mangle(node.field)}", _PREC["postfix"]


@rendered.register
def _cast(node: ir.Cast) -> tuple[str, int]:
    return f"({type_name(node.type)}){expr_text(node.operand, _PREC['unary'])}", _PREC["unary"]


@rendered.register
def _assign(node: ir.Assign) -> tuple[str, int]:
    return f"{expr_text(node.target, _PREC['unary'])} {node.op} {expr_text(node.value, _PREC['='])}", _PREC["="]


@rendered.register
def _step(node: ir.Step) -> tuple[str, int]:
    if node.prefix:
        return f"{node.op}{expr_text(node.target, _PREC['unary'])}", _PREC["unary"]
    return f"{expr_text(node.target, _PREC['postfix'])}{node.op}", _PREC["postfix"]


@rendered.register
def _conditional(node: ir.Conditional) -> tuple[str, int]:
    then, other = expr_text(node.then, _PREC["="]), expr_text(node.other, _PREC["?"])
    return f"{expr_text(node.cond, _PREC['||'])} ? {then} : {other}", _PREC["?"]


@rendered.register
def _comma(node: ir.Comma) -> tuple[str, int]:
    return f"{expr_text(node.first)}, {expr_text(node.second, _PREC['='])}", _PREC[","]


@rendered.register
def _call(node: ir.Call) -> tuple[str, int]:
    return f"{expr_text(node.callee, _PREC['postfix'])}{_args(node.args)}", _PREC["postfix"]


@rendered.register
def _compound(node: ir.Compound) -> tuple[str, int]:
    init = init_text(node.init)
    braces = init if isinstance(node.init, ir.Fill) else f"{{ {init} }}"
    return f"({type_name(node.type)}){braces}", _PREC["postfix"]


def _args(args: tuple[ir.Expr, ...]) -> str:
    return f"({', '.join(expr_text(a, _PREC['=']) for a in args)})"


# ------------------------------------------------------------------------------------------ nodes of our own


@rendered.register
def _read_record(node: ir.ReadRecord) -> tuple[str, int]:
    return f"__read_{node.kind}{_args((node.target, node.capacity))}", _PREC["postfix"]


@rendered.register
def _read_pair(node: ir.ReadPair) -> tuple[str, int]:
    return _call_text("__read_pair", [escape(node.format)], node.targets), _PREC["postfix"]


@rendered.register
def _emit(node: ir.Emit) -> tuple[str, int]:
    return _output("__emit", node.call, node.pieces), _PREC["postfix"]


@rendered.register
def _stderr(node: ir.Stderr) -> tuple[str, int]:
    return _output("__stderr", node.call, node.pieces), _PREC["postfix"]


@rendered.register
def _accumulate(node: ir.Accumulate) -> tuple[str, int]:
    return _call_text("__accumulate", [f'"{node.op}"'], (node.target, node.value)), _PREC["postfix"]


@rendered.register
def _exit(node: ir.Exit) -> tuple[str, int]:
    return _call_text("__exit", [f'"{node.call}"'], node.args), _PREC["postfix"]


def format_text(pieces: tuple[ir.Piece, ...]) -> bytes:
    """The pieces as one printf format ("%!" where bytes are written by count)."""
    parts = (p.data.replace(b"%", b"%%") if isinstance(p, ir.Text) else p.spec.encode("latin-1") for p in pieces)
    return b"".join(parts)


def _output(builtin: str, call: str, pieces: tuple[ir.Piece, ...]) -> str:
    args = tuple(a for p in pieces if isinstance(p, ir.Format) for a in p.args)
    return _call_text(builtin, [f'"{call}"', escape(format_text(pieces))], args)


def _call_text(builtin: str, first: list[str], args: tuple[ir.Expr, ...]) -> str:
    return f"{builtin}({', '.join([*first, *(expr_text(a, _PREC['=']) for a in args)])})"
