"""Output of the device IR -> the lane's print and warn with one piece per conversion; sprintf and snprintf likewise."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from ..device import nodes
from ..device.arithmetic import promoted
from ..ir import ir
from ..types import ctype
from . import extent, guard, leaf, map_fold
from .scope import Scope, line
from .types import declare

_TEXT = ctype.Pointer(ctype.CHAR, const=True)


# A number in a literal as printf would put it there, which is no part of a longer word or number.
_NUMBER = re.compile(rb"(?<![\w.+-])(?:0|-?[1-9]\d{0,17})(?![\w.])")


def _print(node: nodes.Print, scope: Scope) -> str:
    if node.stream != "stdout":
        return _written("hd.warn(", node.first, node.pieces, scope)
    form = scope.kernel.map_fold
    pair = map_fold.folded(node, form) if form is not None else None
    if pair is not None:
        folded, numbers = pair
        return _written(map_fold.call(numbers), node.first, folded, scope)
    pieces = [*_apart(node.pieces, scope.kernel.copies)] if scope.kernel.numbers else node.pieces
    return _written("hd.print(", node.first, pieces, scope)


def _apart(pieces: Sequence[nodes.Piece], copies: bool) -> Iterator[nodes.Piece]:
    """The pieces of a line, the constant numbers of its value apart from the text around them, and its doubles that are
    printed to the last digit as the numbers that they are. copies: strings before the value may have been copied."""
    in_value = False
    for piece in pieces:
        if not isinstance(piece, ir.Text):
            if in_value and isinstance(piece, nodes.Converted):
                yield _as_number(piece)
            elif copies and isinstance(piece, nodes.Converted) and piece.how == "str" and piece.spec is None:
                yield replace(piece, how="copied")
            else:
                yield piece
            continue
        key, tab, value = (b"", b"", piece.data) if in_value else piece.data.partition(b"\t")
        in_value = in_value or bool(tab)
        at, before = 0, key + tab
        for match in _NUMBER.finditer(value) if in_value else ():
            yield from _literal(before + value[at : match.start()])
            yield nodes.Converted("dec", None, ir.Const(ctype.LONG, int(match[0])))
            at, before = match.end(), b""
        yield from _literal(before + value[at:])


def _as_number(piece: nodes.Converted) -> nodes.Converted:
    """A conversion that prints so many digits of a double that they read back as that double is a number to a sink."""
    spec = piece.spec
    if spec is None or spec.flags or spec.width != 0 or not isinstance(spec.precision, int):
        return piece
    whole = (spec.letter == "g" and spec.precision >= 17) or (spec.letter == "e" and spec.precision >= 16)
    return replace(piece, how="significant") if whole else piece


def _literal(data: bytes) -> Iterator[nodes.Piece]:
    if data:
        yield ir.Text(data)


def _put_char(node: nodes.PutChar, scope: Scope) -> str:
    return f"hd::put{_error(node)}(hd, {scope.value(promoted(node.value))})"


def _put_items(node: nodes.PutItems, scope: Scope) -> str:
    called, items = f"hd::put_items{_error(node)}(hd, ", node.items
    arguments = [items.address, items.size, items.count]
    texts = [scope.value(a) for a in arguments]
    if items.asked is None:
        return f"{called}{', '.join(texts)})"
    check = guard.bytes_checked(items.asked, "hd_0", "(uint64_t)hd_1 * hd_2", items, scope)
    return guard.lambda_text([a.type for a in arguments], texts, called, ctype.ULONG, [check], [])


def _error(node: nodes.PutChar | nodes.PutItems) -> str:
    return "" if node.stream == "stdout" else "_error"


def _print_to(node: nodes.PrintTo, scope: Scope) -> str:
    arguments = [scope.value(a) for a in node.args]
    limited, comma = len(node.args) > 1, ", " if node.pieces else ""
    called = f"hd::{'snprint' if limited else 'sprint'}{f'_apart(hd, {line(node)}, ' if node.apart else '('}"
    if node.room is not None:
        called = f"hd::{'snprint' if limited else 'sprint'}_in{'_apart' if node.apart else ''}(hd, {line(node)}, "
    if not node.marks:
        if node.room is not None:
            arguments[0] = extent.roomy(node.room, arguments[0], scope)
        return _written(f"{called}{', '.join(arguments)}{comma}", node.first, node.pieces, scope)
    names = [f"hd_{n}to" for n in range(len(arguments))]
    made = [f"{declare(a.type, to)} = {text};" for a, to, text in zip(node.args, names, arguments, strict=True)]
    to = names[0] if node.room is None else extent.roomy(node.room, names[0], scope)
    text = _written(f"{called}{', '.join([to, *names[1:]])}{comma}", node.first, node.pieces, scope)
    written = "hd::put_by_snprint(hd_r, hd_1to)" if limited else "hd_r + 1"
    after = f"hd::wrote_bytes(hd_0to, {written}, {guard.guards(node.marks, scope)}); return hd_r;"
    return f"[&] {{ {' '.join(made)} const int hd_r = {text}; {after} }}()"


def _sign_checked(node: nodes.SignChecked, scope: Scope) -> str:
    return f"hd::checked(hd, {scope.value(node.operand)}, {line(node)})"


TEXTS: dict[type, Callable[[Any, Scope], str]] = {
    nodes.Print: _print, nodes.PutChar: _put_char, nodes.PutItems: _put_items, nodes.PrintTo: _print_to,
    nodes.SignChecked: _sign_checked,
}


def _written(call: str, first: Sequence[nodes.Bind], pieces: Sequence[nodes.Piece], scope: Scope) -> str:
    """`call` with its pieces, behind their temporaries."""
    made = f"{call}{', '.join(_piece(piece, scope) for piece in pieces)})"
    if not first:
        return made
    binds = (f"{declare(b.temp.type, b.temp.name)} = {scope.value(b.value)};" for b in first)
    return f"[&] {{ {' '.join(binds)} return {made}; }}()"


# ------------------------------------------------------------------------------------------ pieces


def _piece(piece: nodes.Piece, scope: Scope) -> str:
    if isinstance(piece, ir.Text):
        return f"hd::text({leaf.string(piece.data)}, {len(piece.data)})"
    return _bytes(piece, scope) if isinstance(piece, nodes.Bytes) else _converted(piece, scope)


def _bytes(piece: nodes.Bytes, scope: Scope) -> str:
    data, size, count = (scope.value(a, leaf.UNARY) for a in (piece.address, piece.size, piece.count))
    if piece.asked is not None:
        rest = guard.guards(piece.asked.keys, scope)
        data = f"hd::guarded_bytes<{guard.strict(piece.asked.strict)}>(hd, {data}, {size} * {count}, {line(piece)}, {rest})"
    return f"hd::bytes({data}, {size} * {count})"


def _converted(piece: nodes.Converted, scope: Scope) -> str:
    argument = _argument(piece, scope)
    spec = _spec(piece.spec, scope) if piece.spec is not None else ""
    if piece.asked is not None and piece.spec is not None and piece.spec.precision != -1:
        rest = f"{line(piece)}, {guard.guards(piece.asked.keys, scope)}"
        return f"hd::guarded_str<{guard.strict(piece.asked.strict)}>(hd, {spec}, {argument}, {rest})"
    if piece.asked is not None:
        argument = guard.text_checked(piece.asked, argument, "hd::whole_text", piece, scope)
    return f"hd::{piece.how}({f'{spec}, ' if spec else ''}{argument})"


def _argument(piece: nodes.Converted, scope: Scope) -> str:
    if piece.how == "str":
        return scope.converted(_TEXT, piece.argument)
    return scope.value(piece.argument if piece.how == "real" else promoted(piece.argument))


def _spec(spec: nodes.Spec, scope: Scope) -> str:
    width, precision = (str(n) if isinstance(n, int) else scope.typed(n) for n in (spec.width, spec.precision))
    return f"hd::spec({spec.flags}, {width}, {precision}, '{spec.letter}')"
