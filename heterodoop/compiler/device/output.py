"""Output calls -> pieces: one per conversion, its argument as the conversion takes it; sprintf and snprintf likewise.

A conversion without an exact device form is left over as Unsupported.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from ..analysis import device_calls
from ..analysis.flow_findings import TEXT
from ..analysis.libc_effects import writes
from ..ir import formats, ir
from ..ir import walk as ir_walk
from ..ir.pieces import make_pieces
from ..normalise.stdio import literal
from ..types import ctype
from ..types.ctype import CType, Int
from . import nodes
from .scope import Scope

_PARTS = re.compile(r"%([-+ #0']*)(\*|\d+)?(?:(\.)(\*|-?\d+)?)?")
_FLAGS = {"-": 1, "+": 2, " ": 4, "#": 8, "0": 16}
_CHARACTERS = frozenset({"putchar", "fputc", "putc"})
_TEXT = ctype.Pointer(ctype.CHAR, const=True)


# ------------------------------------------------------------------------------------------ calls


def effect(node: ir.Emit | ir.Stderr, scope: Scope) -> ir.Expr:
    """The call for what it writes. perror prints what errno means, which only the CPU's library knows."""
    made = written(node, scope)
    if is_perror(node):
        return nodes.Unsupported(node.type, "HD232", device_calls.why_not("perror"), (made,), span=node.span)
    return made


def is_perror(node: ir.Expr) -> bool:
    return isinstance(node, ir.Stderr) and node.call == "perror"


def written(node: ir.Emit | ir.Stderr, scope: Scope) -> ir.Expr:
    """The call for what it writes, of a perror its text: before a failure, which the CPU shows, nobody sees the rest."""
    first, pieces = _lowered(node, node.pieces, scope)
    return nodes.Print(node.type, _stream(node), node.call, first, pieces, span=node.span)


def value(node: ir.Emit | ir.Stderr, scope: Scope) -> ir.Expr:
    """The call for its value too: glibc's, which is not always the number of bytes."""
    name = node.call.removesuffix("_unlocked")
    piece = node.pieces[0] if node.pieces else None
    if name in _CHARACTERS and isinstance(piece, ir.Format):
        return nodes.PutChar(node.type, _stream(node), scope.value(piece.args[0]), span=node.span)
    if name == "fwrite" and isinstance(piece, ir.Format):
        items = _bytes(piece, [scope.value(arg) for arg in piece.args], scope)
        return nodes.PutItems(node.type, _stream(node), items, span=node.span)
    made = effect(node, scope)
    result = piece.data[0] if name in _CHARACTERS and isinstance(piece, ir.Text) else 1 if name == "fputs" else None
    return made if result is None else ir.Comma(ctype.INT, made, ir.Const(ctype.INT, result), span=node.span)


def _stream(node: ir.Emit | ir.Stderr) -> nodes.StreamName:
    return "stdout" if isinstance(node, ir.Emit) else "stderr"


def to_string(node: ir.Call, scope: Scope) -> ir.Expr:
    """sprintf(to, format, ...) and snprintf(to, size, format, ...)."""
    at = 1 if ir.called(node) == "sprintf" else 2
    args = tuple(scope.value(arg) for arg in node.args[:at])
    made = string_pieces(node)
    if made is None:
        parts = (*args, *(scope.value(arg) for arg in node.args[at:]))
        text = formats.unread(ir.called(node), literal(node.args[at]))
        return nodes.Unsupported(node.type, "HD229", text, parts, span=node.span)
    first, pieces = _lowered(node, made, scope)
    return nodes.PrintTo(
        node.type, args, first, pieces, scope.kernel.may_overlap(scope.function.name, node),
        scope.guards_of(scope.targets(node.args[0])), scope.room(node, 0), span=node.span,
    )


def string_pieces(node: ir.Call) -> tuple[ir.Piece, ...] | None:
    """The pieces of a call of sprintf or snprintf; None where its format is not a literal that fits."""
    at = 1 if ir.called(node) == "sprintf" else 2
    text = literal(node.args[at])
    return None if text is None else make_pieces(text, node.args[at + 1 :])


# ------------------------------------------------------------------------------------------ order of arguments


def _lowered(
    node: ir.Expr, pieces: Sequence[ir.Piece], scope: Scope,
) -> tuple[tuple[nodes.Bind, ...], tuple[nodes.Piece, ...]]:
    """Temporaries and pieces of a call. C reads strings when all arguments are known: where making those may change memory,
    they come first, as temporaries, since a piece looks at its string when it is made."""
    apart = any(_reads_memory(p) for p in pieces) and any(_acts(p, scope) for p in pieces)
    first: list[nodes.Bind] = []
    made: list[nodes.Piece] = []
    for piece in pieces:
        if isinstance(piece, ir.Text):
            made.append(piece)
            continue
        args = [scope.value(arg) for arg in piece.args]
        if apart:
            bound = [_bind(arg, len(first) + number) for number, arg in enumerate(args)]
            first += bound
            args = [bind.temp for bind in bound]
        made.append(_piece(node, piece, args, scope))
    return tuple(first), tuple(made)


def _bind(arg: ir.Expr, number: int) -> nodes.Bind:
    return nodes.Bind(nodes.Temp(arg.type, f"hd_{number}", span=arg.span), arg, span=arg.span)


def _reads_memory(piece: ir.Piece) -> bool:
    return isinstance(piece, ir.Format) and piece.spec[-1] in "s!"


def _acts(piece: ir.Piece, scope: Scope) -> bool:
    """May making the arguments of a conversion change memory?"""
    for node in ir_walk.walk(piece):
        if isinstance(node, (ir.Assign, ir.Step, ir.Emit)):
            return True
        if isinstance(node, ir.Call) and (scope.kernel.own(ir.called(node)) or writes(ir.called(node))):
            return True
    return False


# ------------------------------------------------------------------------------------------ conversions


def _piece(node: ir.Expr, piece: ir.Format, args: list[ir.Expr], scope: Scope) -> nodes.Piece:
    """A conversion of a call, whose arguments, lowered, are `args`."""
    conv = formats.conversion(piece.spec)
    if conv.letter == "!":
        return _bytes(piece, args, scope)
    code, why = _problem(piece, conv)
    if why:
        left = nodes.Unsupported(ctype.INT, code, why, tuple(args), span=node.span)
        return nodes.Converted("dec", None, left, span=node.span)
    match = _PARTS.match(piece.spec)
    assert match is not None
    origin, spec = piece.args[-1], None
    how: Literal["str", "chr", "dec", "real", "integer", "natural"]
    if conv.letter in "sc":
        how = "str" if conv.letter == "s" else "chr"
    else:
        how = "real" if conv.letter in "fFeEgGaA" else "integer" if conv.letter in "di" else "natural"
    if match[0] == "%" and conv.letter in "diu":
        how = "dec"
    elif match[0] != "%" or conv.letter not in "sc":
        spec = _spec(match, conv, args[:-1])
    asked = scope.asked(origin, TEXT) if how == "str" else None
    return nodes.Converted(how, spec, _argument(conv, origin, args[-1], scope), asked, span=origin.span)


def _bytes(piece: ir.Format, args: list[ir.Expr], scope: Scope) -> nodes.Bytes:
    address, size, count = args
    return nodes.Bytes(address, size, count, scope.asked(piece.args[0], TEXT), span=piece.args[0].span)


def _problem(piece: ir.Format, conv: formats.Conversion) -> tuple[str, str]:
    """(code, why) a conversion has no exact device form, both "" where it has."""
    shown = f"'{piece.spec}'"
    if conv.letter == "n":
        return "HD229", "%n stores how much was written, which no record knows"
    if conv.letter in "pmCS" or conv.length == "L" or (conv.letter in "sc" and conv.length):
        return "HD233", f"the conversion {shown} has no device form"
    if ".-" in piece.spec:
        return "HD233", f"the conversion {shown} has a negative precision"
    wanted, given = formats.argument_type(conv), piece.args[-1].type
    return ("", "") if _fits(wanted, given) else ("HD233", f"the conversion {shown} is given a value of type '{given}'")


def _fits(wanted: CType | None, given: CType) -> bool:
    """May the argument be taken as what the conversion wants? A wider integer is cut, as the registers would be."""
    if isinstance(wanted, Int):
        return isinstance(given, Int) and given.bits >= wanted.bits
    if isinstance(wanted, ctype.Pointer):
        inner = ctype.element(given)
        return isinstance(given, ctype.Pointer) and (inner == ctype.VOID or isinstance(inner, Int) and inner.bits == 8)
    return wanted is not None and wanted == given


def _spec(match: re.Match[str], conv: formats.Conversion, stars: list[ir.Expr]) -> nodes.Spec:
    flags = sum(_FLAGS[flag] for flag in set(match[1]) & set(_FLAGS))
    width = stars[0] if match[2] == "*" else int(match[2] or 0)
    precision = stars[-1] if match[4] == "*" else int(match[4] or 0) if match[3] else -1
    return nodes.Spec(flags, width, precision, "d" if conv.letter == "i" else conv.letter)


def _argument(conv: formats.Conversion, origin: ir.Expr, made: ir.Expr, scope: Scope) -> ir.Expr:
    """The value as the conversion takes it: `%hhd` cuts to a char, `%u` makes an unsigned of an int."""
    if conv.letter in "fFeEgGaA":
        known = scope.kernel.known_signs.known(scope.function.name, origin)
        return made if known else nodes.SignChecked(made.type, made, span=origin.span)
    if conv.letter == "s":
        return ir.Cast(_TEXT, made, span=origin.span)
    kinds = formats.integer_types(conv.length)
    assert kinds is not None  # `_problem` has found others
    wanted = ctype.INT if conv.letter == "c" else kinds[0] if conv.letter in "di" else kinds[1]
    return made if origin.type == wanted else ir.Cast(wanted, made, span=origin.span)


