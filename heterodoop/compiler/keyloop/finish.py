"""What a key loop prints of a key: from what was emitted on every way through the program."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ...source import UNKNOWN
from ..ir import formats
from ..types import ctype
from ..types.ctype import Int
from . import algebra, loop
from .state import Either, Emitted, Fork, NoKeyLoop, Printed, Ways, placed
from .terms import KEPT, Made, TextTerm, number, value_text

_PLAIN: dict[Int, frozenset[str]] = {
    ctype.INT: frozenset({"%d", "%i"}), ctype.UINT: frozenset({"%u"}),
    ctype.LONG: frozenset({"%ld", "%li", "%zd", "%jd", "%td"}), ctype.ULONG: frozenset({"%lu", "%zu", "%ju"}),
    ctype.LLONG: frozenset({"%lld", "%lli"}), ctype.ULLONG: frozenset({"%llu"}),
}
_PADDED = re.compile(r"%-?\d*(\.\d*)?s")
_Alternatives = list[tuple[loop.Term | None, tuple[loop.Piece, ...]]]  # conditions in turn, the last without


def plain(kind: ctype.CType | None, spec: str) -> bool:
    """Does a conversion print a number of that type as its plain decimal form?"""
    return isinstance(kind, Int) and spec in _PLAIN.get(kind, ())


def finish_of(ways: Ways, *, lines: bool = True) -> loop.KeyOutput:
    """What is printed of a key. lines: as a combiner may, one line of it, or nothing; else any text."""
    *others, (_, last) = _alternatives(ways, lines)
    finish = loop.KeyOutput(last) if last or not others else None
    for condition, pieces in reversed(others):
        finish = loop.KeyOutput(pieces, condition, finish)
    assert finish is not None
    return finish


def _alternatives(ways: Ways, lines: bool) -> _Alternatives:
    if not isinstance(ways, Fork):
        with placed(ways.at):
            return [(None, pieces_of(ways.emitted, lines=lines))]
    then, other = _alternatives(ways.then, lines), _alternatives(ways.other, lines)
    if repr(then) == repr(other):
        return then
    here = ways.condition
    return [(here if inner is None else algebra.both(here, inner), pieces) for inner, pieces in then] + other


def pieces_of(emitted: Emitted, *, lines: bool) -> tuple[loop.Piece, ...]:
    """lines: a line of the key that is kept, a tab, numbers and what stands between them, a newline, or nothing; else what
    there is."""
    merged: list[loop.Piece] = []
    for piece in emitted:
        if isinstance(piece, bytes) and merged and isinstance(merged[-1], bytes):
            merged[-1] += piece
        elif isinstance(piece, Either):
            then, other = pieces_of(piece.then, lines=False), pieces_of(piece.other, lines=False)
            merged.append(loop.PrintedIf(piece.condition, then, other))
        else:
            with placed(piece.span if isinstance(piece, Printed) else UNKNOWN):
                merged.append(piece if isinstance(piece, bytes) else printed(piece))
    if lines and merged and not _is_line(merged):
        raise NoKeyLoop("what it prints for a key is not the key, a tab, the number and a newline")
    return tuple(merged)


def _is_line(pieces: list[loop.Piece]) -> bool:
    if len(pieces) < 2 or pieces[0] != loop.PrintedKey():
        return False
    first, last = pieces[1], pieces[-1]
    if not isinstance(first, bytes) or not isinstance(last, bytes) or first[:1] != b"\t" or last[-1:] != b"\n":
        return False
    rest = pieces[1:]
    plain = list(flat(rest))
    text = b"".join(piece for piece in plain if isinstance(piece, bytes))
    once = not any(isinstance(piece, loop.PrintedKey) for piece in plain)
    return once and text.count(b"\n") == 1 and b"\r" not in text and b"\0" not in text


def printed(made: Printed) -> loop.Piece:
    """A conversion of a key, a text or a number, as far as it is understood."""
    if made.what == TextTerm.KEPT and _PADDED.fullmatch(made.spec):
        return loop.PrintedKey(made.spec)
    if made.what == KEPT and plain(made.type, made.spec):
        return loop.PrintedKey()
    text = value_text(made.what) if isinstance(made.what, (Made, TextTerm)) else None
    if text is not None and _PADDED.fullmatch(made.spec) and not algebra.is_joined(text):
        return loop.PrintedTerm(made.spec, text)
    conversion = formats.conversion(made.spec)
    if made.type is None or conversion.letter == "s" or made.what == KEPT:
        raise NoKeyLoop("it does not print the key that it keeps as %s or %d, or what it prints is not understood")
    wanted = formats.argument_type(conversion)
    term = number(made.what, made.type) if not isinstance(made.what, (Made, TextTerm)) else None
    if made.what is None and made.variable is not None:
        raise NoKeyLoop("what it prints of a key is not understood", made.variable)
    if term is None or conversion.stars or conversion.letter not in "diuxXofFeEgGaA" or wanted is None:
        raise NoKeyLoop("what it prints of a key is not understood")
    if not algebra.computes(wanted) or not _same_size(wanted, term.type):
        raise NoKeyLoop("what it prints of a key is of another type than its conversion")
    converted = algebra.convert(term, wanted)
    assert converted is not None
    return loop.PrintedTerm(made.spec, converted)


def _same_size(wanted: ctype.CType, given: ctype.CType) -> bool:
    if isinstance(wanted, Int) and isinstance(given, Int):
        return wanted.bits == given.bits
    return wanted == given


# ------------------------------------------------------------------------------------------ looking at one


def flat(pieces: Iterable[loop.Piece]) -> Iterator[loop.Piece]:
    """All pieces that may be printed."""
    for piece in pieces:
        if isinstance(piece, loop.PrintedIf):
            yield from flat(piece.then)
            yield from flat(piece.other)
        else:
            yield piece


def _terms(pieces: Iterable[loop.Piece]) -> Iterator[loop.Term]:
    for piece in pieces:
        if isinstance(piece, loop.PrintedTerm):
            yield piece.term
        elif isinstance(piece, loop.PrintedIf):
            yield from (piece.condition, *_terms(piece.then), *_terms(piece.other))


def _changed(pieces: Iterable[loop.Piece], change: algebra.Change) -> tuple[loop.Piece, ...]:
    found: list[loop.Piece] = []
    for piece in pieces:
        if isinstance(piece, loop.PrintedTerm):
            piece = loop.PrintedTerm(piece.spec, algebra.replaced(piece.term, change))
        elif isinstance(piece, loop.PrintedIf):
            condition = algebra.replaced(piece.condition, change)
            piece = loop.PrintedIf(condition, _changed(piece.then, change), _changed(piece.other, change))
        found.append(piece)
    return tuple(found)


def terms_of(finish: loop.KeyOutput | None) -> list[loop.Term]:
    """Every term in it, those of the first line first."""
    if finish is None:
        return []
    condition = [finish.condition] if finish.condition is not None else []
    return [*_terms(finish.pieces), *condition, *terms_of(finish.other)]


def changed(finish: loop.KeyOutput, change: algebra.Change) -> loop.KeyOutput:
    """It with the leaves of its terms changed."""
    pieces = _changed(finish.pieces, change)
    condition = algebra.replaced(finish.condition, change) if finish.condition is not None else None
    return loop.KeyOutput(pieces, condition, changed(finish.other, change) if finish.other is not None else None)


def between(finish: loop.KeyOutput) -> tuple[bytes, ...] | None:
    """What stands between the numbers of the first line that is printed; None where that is not all of the value."""
    numbers = [n for n, piece in enumerate(finish.pieces) if isinstance(piece, loop.PrintedTerm)]
    if not numbers or finish.pieces[1:2] != (b"\t",) or finish.pieces[-1] != b"\n":
        return None
    inner = [finish.pieces[a + 1 : b] for a, b in zip(numbers, numbers[1:], strict=False)]
    return tuple(b"".join(p for p in found if isinstance(p, bytes)) for found in inner)
