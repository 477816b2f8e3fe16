"""Output calls -> the lane's print and warn with one piece per conversion; sprintf and snprintf likewise.

`problem` says which conversions have no exact device form, so that `support` refuses them by name.
"""

from __future__ import annotations

import re
from dataclasses import replace

from ...errors import CompilerBug
from ..analysis.libc_effects import writes
from ..ir import formats, ir
from ..ir import walk as ir_walk
from ..ir.pieces import make_pieces
from ..normalise import stdio
from ..types import ctype
from ..types.ctype import CType, Int
from . import expr, guard, leaf
from .rules import promoted
from .scope import Scope
from .types import declare

_PARTS = re.compile(r"%([-+ #0']*)(\*|\d+)?(?:(\.)(\*|-?\d+)?)?")
_FLAGS = {"-": 1, "+": 2, " ": 4, "#": 8, "0": 16}
_CHARACTERS = frozenset({"putchar", "fputc", "putc"})


# ------------------------------------------------------------------------------------------ calls


def call(node: ir.Emit | ir.Stderr, scope: Scope) -> str:
    """The call for what it writes."""
    out = "print" if isinstance(node, ir.Emit) else "warn"
    return _written(f"hd.{out}(", node.pieces, scope)


def result(node: ir.Emit | ir.Stderr, scope: Scope) -> str:
    """The call for its value too: glibc's, which is not always the number of bytes."""
    name = node.call.removesuffix("_unlocked")
    error = "" if isinstance(node, ir.Emit) else "_error"
    piece = node.pieces[0] if node.pieces else None
    if name in _CHARACTERS and isinstance(piece, ir.Format):
        return f"hd::put{error}(hd, {expr.value(promoted(piece.args[0]), scope)})"
    if name == "fwrite" and isinstance(piece, ir.Format):
        return _put_items(f"hd::put_items{error}(hd, ", piece, scope)
    if name in _CHARACTERS and isinstance(piece, ir.Text):
        return f"({call(node, scope)}, {piece.data[0]})"
    return f"({call(node, scope)}, 1)" if name == "fputs" else call(node, scope)


def _put_items(called: str, piece: ir.Format, scope: Scope) -> str:
    texts = [expr.value(a, scope) for a in piece.args]
    strict, guards = _guards(piece.args[0], scope)
    if not guards:
        return f"{called}{', '.join(texts)})"
    check = f"hd::check_bytes<{strict}>(hd, hd_0, (uint64_t)hd_1 * hd_2, {_line(piece.args[0])}, {guards});"
    plan = guard.Call({}, (check,), ())
    return guard.lambda_text([a.type for a in piece.args], texts, plan, called, ctype.ULONG)


def to_string(node: ir.Call, name: str, scope: Scope) -> str:
    """sprintf(to, format, ...) and snprintf(to, size, format, ...)."""
    first = node.args[: 1 if name == "sprintf" else 2]
    arguments = [expr.value(a, scope) for a in first]
    pieces = string_pieces(node)
    if pieces is None:
        raise CompilerBug(f"the format of {name} is not known")
    guards = guard.target_guards(node.args[0], scope)
    apart = scope.env.may_overlap(scope.function.name, node)
    called = f"hd::{name.removesuffix('f')}{f'_apart(hd, {max(node.span.line, 0)}, ' if apart else '('}"
    if not guards:
        return _written(f"{called}{', '.join(arguments)}{', ' if pieces else ''}", pieces, scope)
    names = [f"hd_{n}to" for n in range(len(first))]
    made = [f"{declare(a.type, to)} = {text};" for a, to, text in zip(first, names, arguments, strict=True)]
    text = _written(f"{called}{', '.join(names)}{', ' if pieces else ''}", pieces, scope)
    written = "hd_r + 1" if name == "sprintf" else "hd::put_by_snprint(hd_r, hd_1to)"
    after = f"hd::wrote_bytes(hd_0to, {written}, {guards}); return hd_r;"
    return f"[&] {{ {' '.join(made)} const int hd_r = {text}; {after} }}()"


def string_pieces(node: ir.Call) -> tuple[ir.Piece, ...] | None:
    """The pieces of a call of sprintf or snprintf; None where its format is not a literal that fits."""
    at = 1 if ir.called(node) == "sprintf" else 2
    text = stdio.literal(node.args[at])
    return None if text is None else make_pieces(text, node.args[at + 1 :])


def _written(call: str, pieces: tuple[ir.Piece, ...], scope: Scope) -> str:
    """`call` with its pieces. C reads strings when all arguments are known: where making those may change memory, they come
    first, as temporaries, since a piece looks at its string when it is made."""
    if not (any(_reads_memory(p) for p in pieces) and any(_acts(p, scope) for p in pieces)):
        return f"{call}{_pieces(pieces, scope)})"
    first: list[str] = []
    plain: list[ir.Piece] = []
    for piece in pieces:
        names = []
        for node in piece.args if isinstance(piece, ir.Format) else ():
            name = f"hd_{len(first)}"
            first.append(f"{declare(node.type, name)} = {expr.value(node, scope)};")
            names.append(leaf.Spelt(node.type, name, node, span=node.span))
        plain.append(replace(piece, args=tuple(names)) if isinstance(piece, ir.Format) else piece)
    return f"[&] {{ {' '.join(first)} return {call}{_pieces(tuple(plain), scope)}); }}()"


def _reads_memory(piece: ir.Piece) -> bool:
    return isinstance(piece, ir.Format) and piece.spec[-1] in "s!"


def _acts(piece: ir.Piece, scope: Scope) -> bool:
    """May making the arguments of a conversion change memory?"""
    for node in ir_walk.walk(piece):
        if isinstance(node, (ir.Assign, ir.Step, ir.Emit)):
            return True
        if isinstance(node, ir.Call) and (scope.env.own(ir.called(node)) or writes(ir.called(node))):
            return True
    return False


def _pieces(pieces: tuple[ir.Piece, ...], scope: Scope) -> str:
    return ", ".join(_text(p) if isinstance(p, ir.Text) else _format(p, scope) for p in pieces)


def _text(piece: ir.Text) -> str:
    return f"hd::text({leaf.string(piece.data)}, {len(piece.data)})"


# ------------------------------------------------------------------------------------------ conversions


def problem(piece: ir.Format) -> str:
    """Why a conversion has no exact device form, "" where it has."""
    conv = formats.conversion(piece.spec)
    if conv.letter == "!":
        return ""
    shown = f"'{piece.spec}'"
    if conv.letter in "pnmCS" or conv.length == "L" or (conv.letter in "sc" and conv.length):
        return f"the conversion {shown} has no device form"
    if ".-" in piece.spec:
        return f"the conversion {shown} has a negative precision"
    wanted, given = formats.argument_type(conv), piece.args[-1].type
    return "" if _fits(wanted, given) else f"the conversion {shown} is given a value of type '{given}'"


def _fits(wanted: CType | None, given: CType) -> bool:
    """May the argument be taken as what the conversion wants? A wider integer is cut, as the registers would be."""
    if isinstance(wanted, Int):
        return isinstance(given, Int) and given.bits >= wanted.bits
    if isinstance(wanted, ctype.Pointer):
        inner = ctype.element(given)
        return isinstance(given, ctype.Pointer) and (inner == ctype.VOID or isinstance(inner, Int) and inner.bits == 8)
    return wanted is not None and wanted == given


def _format(piece: ir.Format, scope: Scope) -> str:
    conv = formats.conversion(piece.spec)
    if conv.letter == "!":
        data, size, count = (expr.value(a, scope, leaf.UNARY) for a in piece.args)
        strict, guards = _guards(piece.args[0], scope)
        if guards:
            data = f"hd::guarded_bytes<{strict}>(hd, {data}, {size} * {count}, {_line(piece.args[0])}, {guards})"
        return f"hd::bytes({data}, {size} * {count})"
    argument = _argument(conv, piece.args[-1], scope)
    match = _PARTS.match(piece.spec)
    assert match is not None
    plain = match[0] == "%"
    if conv.letter == "s":
        strict, guards = _guards(piece.args[-1], scope)
        line = _line(piece.args[-1])
        if guards and "." in piece.spec:
            return f"hd::guarded_str<{strict}>(hd, {_spec(match, conv, piece, scope)}, {argument}, {line}, {guards})"
        if guards:
            argument = f"hd::guarded_text<{strict}>(hd, {argument}, hd::whole_text, {line}, {guards})"
    if conv.letter in "sc":
        name = "str" if conv.letter == "s" else "chr"
        return f"hd::{name}({argument})" if plain else f"hd::{name}({_spec(match, conv, piece, scope)}, {argument})"
    if plain and conv.letter in "diu":
        return f"hd::dec({argument})"
    name = "real" if conv.letter in "fFeEgGaA" else "integer" if conv.letter in "di" else "natural"
    return f"hd::{name}({_spec(match, conv, piece, scope)}, {argument})"


def _guards(pointer: ir.Expr, scope: Scope) -> tuple[str, str]:
    """Of the text that is printed, whether its pointer is a temporary by now or not."""
    origin = pointer.origin if isinstance(pointer, leaf.Spelt) else None
    return guard.piece_guards(origin or pointer, scope)


def _line(node: ir.Expr) -> int:
    return max(node.span.line, 0)


def _spec(match: re.Match[str], conv: formats.Conversion, piece: ir.Format, scope: Scope) -> str:
    flags = sum(_FLAGS[flag] for flag in set(match[1]) & set(_FLAGS))
    stars = [expr.typed(a, scope) for a in piece.args[:-1]]
    width = stars.pop(0) if match[2] == "*" else match[2] or "0"
    precision = stars.pop(0) if match[4] == "*" else (match[4] or "0") if match[3] else "-1"
    letter = "d" if conv.letter == "i" else conv.letter
    return f"hd::spec({flags}, {int(width) if width.isdigit() else width}, {precision}, '{letter}')"


def _argument(conv: formats.Conversion, node: ir.Expr, scope: Scope) -> str:
    """The value as the conversion takes it: `%hhd` cuts to a char, `%u` makes an unsigned of an int."""
    if conv.letter in "fFeEgGaA":
        text = expr.value(node, scope)
        origin = node.origin if isinstance(node, leaf.Spelt) else node
        known = origin is not None and scope.env.known_signs.known(scope.function.name, origin)
        return text if known else f"hd::checked(hd, {text}, {max(node.span.line, 0)})"
    if conv.letter == "s":
        return expr.converted(ctype.Pointer(ctype.CHAR, const=True), _as_text(node), scope)
    wanted = ctype.INT if conv.letter == "c" else _integer(conv)
    if node.type == wanted:
        return expr.value(promoted(node), scope)
    return f"({wanted}){expr.value(node, scope, leaf.UNARY)}"


def _integer(conv: formats.Conversion) -> CType:
    """The type that is printed, before promotion."""
    kinds = formats.integer_types(conv.length)
    if kinds is None:
        raise CompilerBug(f"length modifier in {conv.spec!r}")
    return kinds[0] if conv.letter in "di" else kinds[1]


def _as_text(node: ir.Expr) -> ir.Expr:
    """A string argument as `const char *`, whatever pointer to bytes it is."""
    return ir.Cast(ctype.Pointer(ctype.CHAR, const=True), node, span=node.span)
