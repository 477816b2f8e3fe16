"""Terms of a key loop: made as C computes them, and simplified only to what is always exactly the same value.

What is None here has no term: it is not computed as C does it everywhere (a floating number converted to an integer that
does not hold it), or may end the process (a division by 0).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from ..ir import build, ir
from ..types import ctype
from ..types.ctype import CType, Float, Int
from .loop import (
    Byte,
    Choice,
    Convert,
    Element,
    Joined,
    KeptValue,
    Length,
    LiteralText,
    Number,
    Operation,
    Order,
    PairField,
    PrintedTerm,
    Size,
    Stored,
    Term,
    TextPrefix,
    Zeros,
)

Change = Callable[[KeptValue | PairField], Term]
_MIRROR = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}
_NEUTRAL_RIGHT = {"+": 0, "-": 0, "*": 1, "|": 0, "^": 0, "<<": 0, ">>": 0, "/": 1, "&": -1}
_COMMUTES = frozenset("+*|^&")
_FLOATS = frozenset("+-*/")


def computes(kind: CType | None) -> bool:
    """May a term have this type: integers of up to 64 bits, float, double?"""
    return isinstance(kind, (Int, Float)) and kind.bits <= 64


def is_text(kind: CType | None) -> bool:
    """May a variable of this type be a text that is kept?"""
    return isinstance(kind, ctype.Array) and kind.of == ctype.CHAR and bool(kind.length)


def is_numbers(kind: CType | None) -> bool:
    """May a variable of this type be an array of numbers that is kept?"""
    return (isinstance(kind, ctype.Array) and isinstance(kind.of, (Int, Float)) and kind.of.bits in (32, 64)
            and bool(kind.length))


def same_kind(left: CType, right: CType) -> bool:
    """Do two types hold the same values in the same way (long and long long)?"""
    if isinstance(left, Int) and isinstance(right, Int):
        return (left.bits, left.signed, left == ctype.BOOL) == (right.bits, right.signed, right == ctype.BOOL)
    return left == right


def equal(left: Term | None, right: Term | None) -> bool:
    """Are two terms the same? 0.0 is not -0.0."""
    return left == right and repr(left) == repr(right)


def least(kind: Int) -> int:
    return -(1 << (kind.bits - 1)) if kind.signed else 0


def greatest(kind: Int) -> int:
    return (1 << (kind.bits - kind.signed)) - 1


def convert(term: Term, kind: CType) -> Term | None:
    """A conversion to `kind`."""
    if same_kind(term.type, kind):
        return term
    if not computes(kind) or (isinstance(term.type, Float) and isinstance(kind, Int)):
        return None
    if isinstance(term, Convert) and same_kind(term.operand.type, kind) and _holds(term.type, kind):
        return term.operand
    if isinstance(term, Number):
        made = build.cast(kind, ir.Const(term.type, term.value))
        return Number(made.value, kind) if isinstance(made, ir.Const) else None
    return Convert(term, kind)


def _holds(kind: CType, other: CType) -> bool:
    """Does a type of integers hold all bits of another's?"""
    return isinstance(kind, Int) and isinstance(other, Int) and kind.bits >= other.bits and ctype.BOOL not in (kind, other)


def unary(op: str, operand: Term) -> Term | None:
    """- ~ ! of a promoted operand. None for - of a floating number: it changes a NaN's sign, which compilers may not."""
    if op == "!":
        return _not(operand)
    if isinstance(operand.type, Float):
        return None
    if isinstance(operand, Number):
        value = int(operand.value)
        return Number(ctype.wrap(operand.type, -value if op == "-" else ~value), operand.type)  # type: ignore[arg-type]
    return Operation(op, (operand,), operand.type)


def magnitude(operand: Term) -> Term:
    """abs() of an integer of 32 or 64 bits: that of the least one is itself."""
    if isinstance(operand, Number) and isinstance(operand.type, Int):
        return Number(ctype.wrap(operand.type, abs(int(operand.value))), operand.type)
    return Operation("abs", (operand,), operand.type)


def real(op: str, operand: Term) -> Term:
    """fabs or sqrt of a double or float, which is rounded correctly. The sign of a NaN is not known, and printed nowhere."""
    return Operation(op, (operand,), operand.type)


def binary(op: str, left: Term, right: Term, kind: CType) -> Term | None:
    """An operator with operands of the type that C computes in; `kind` is the result's."""
    if op in build.COMPARISONS:
        return _comparison(op, left, right)
    if isinstance(kind, Float):
        return Operation(op, (left, right), kind) if op in _FLOATS else None
    assert isinstance(kind, Int)
    if op in ("/", "%", "<<", ">>") and not _safe(op, right, kind):
        return None
    if isinstance(left, Number) and isinstance(right, Number):
        made = build.binary(op, ir.Const(left.type, left.value), ir.Const(right.type, right.value), ir.Const(kind, 0).span)
        return Number(made.value, kind) if isinstance(made, ir.Const) else None
    if isinstance(left, Number) and op in _COMMUTES:
        left, right = right, left
    if isinstance(right, Number) and op in _NEUTRAL_RIGHT and right.value == ctype.wrap(kind, _NEUTRAL_RIGHT[op]):
        return left
    return Operation(op, (left, right), kind)


def _safe(op: str, right: Term, kind: Int) -> bool:
    """Does it neither trap nor leave C: no division by 0, none of the least by -1, no shift by more than there is?"""
    if not isinstance(right, Number):
        return False
    if op in ("/", "%"):
        return right.value not in (0, ctype.wrap(kind, -1))
    return 0 <= right.value < kind.bits


def _comparison(op: str, left: Term, right: Term) -> Term:
    if isinstance(left, Number) and isinstance(right, Number):
        return Number(int(_COMPARE[op](left.value, right.value)), ctype.INT)
    kind = left.type
    if isinstance(kind, Int):
        if left == right:
            return Number(int(op in ("==", "<=", ">=")), ctype.INT)
        if isinstance(left, Number):
            left, right, op = right, left, _MIRROR[op]
        if isinstance(right, Number):
            low, high, value = least(kind), greatest(kind), right.value
            always = {"<": (value > high, value <= low), ">": (value < low, value >= high),
                      "<=": (value >= high, value < low), ">=": (value <= low, value > high)}.get(op, (False, False))
            if any(always):
                return Number(int(always[0]), ctype.INT)
            if value == 0 and op in ("==", "!=") and truth_value(left):
                return left if op == "!=" else _not(left)
    return Operation(op, (left, right), ctype.INT)


_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}


def truth_value(term: Term) -> bool:
    """Is it surely 0 or 1, as an int?"""
    if isinstance(term, Number):
        return term.type == ctype.INT and term.value in (0, 1)
    if isinstance(term, Choice):
        return truth_value(term.then) and truth_value(term.other)
    return isinstance(term, Operation) and (term.op in build.COMPARISONS or term.op == "!")


def truth(term: Term) -> Term:
    """`term` != 0."""
    return term if truth_value(term) else _comparison("!=", term, Number(_zero(term.type), term.type))


def _zero(kind: CType) -> int | float:
    return 0.0 if isinstance(kind, Float) else 0


def _not(term: Term) -> Term:
    """A negation is an operator of its own: a comparison of floating numbers has no opposite."""
    term = truth(term)
    if isinstance(term, Number):
        return Number(int(not term.value), ctype.INT)
    if isinstance(term, Operation) and term.op == "!":
        return term.operands[0]
    return Operation("!", (term,), ctype.INT)


def choice(condition: Term, then: Term, other: Term) -> Term:
    """`condition` is the truth of something; the arms have one type."""
    if isinstance(condition, Number):
        return then if condition.value else other
    if equal(then, other):
        return then
    if isinstance(condition, Operation) and condition.op == "!":
        return choice(condition.operands[0], other, then)
    if then == Number(1, ctype.INT) and other == Number(0, ctype.INT):
        return condition
    if then == Number(0, ctype.INT) and other == Number(1, ctype.INT):
        return _not(condition)
    made = Choice(condition, then, other, then.type)
    found = extreme(made)
    return (_extreme_of_constant(*found) if found else None) or made


def cut(text: Term, most: int) -> Term:
    """The first `most` bytes of a text."""
    if isinstance(text, LiteralText):
        return LiteralText(text.data[:most])
    if isinstance(text, TextPrefix):
        return TextPrefix(text.operand, min(text.most, most))
    return TextPrefix(text, most)


def order(left: Term, right: Term) -> Term:
    """What strcmp gives of two texts, as far as it is known."""
    if isinstance(left, LiteralText) and isinstance(right, LiteralText):
        return Number((left.data > right.data) - (left.data < right.data), ctype.INT)
    return Number(0, ctype.INT) if equal(left, right) else Order((left, right))


def length(text: Term) -> Term:
    if isinstance(text, Choice) and is_joined(text):
        return choice(text.condition, length(text.then), length(text.other))
    if isinstance(text, Joined):
        return added([text.upto if text.upto is not None else length(text.text), *map(size, text.pieces)])
    return Number(len(text.data), ctype.ULONG) if isinstance(text, LiteralText) else Length(text)


def added(sizes: list[Term]) -> Term:
    """A sum of lengths."""
    found: Term = Number(0, ctype.ULONG)
    for one in sizes:
        made = binary("+", found, one, ctype.ULONG)
        assert made is not None
        found = made
    return found


def size(piece: bytes | PrintedTerm) -> Term:
    """How many bytes a piece of a text has."""
    if isinstance(piece, bytes):
        return Number(len(piece), ctype.ULONG)
    return length(piece.term) if piece.spec == "%s" else Size(piece.spec, piece.term)


def program_texts(term: Term) -> Iterator[bytes]:
    """The texts of the program that it, or what it prints, is made of."""
    for part in parts(term):
        if isinstance(part, LiteralText):
            yield part.data
        elif isinstance(part, Joined):
            yield from (piece for piece in part.pieces if isinstance(piece, bytes))


def is_joined(text: Term) -> bool:
    """Are texts put together in it?"""
    return any(isinstance(part, Joined) for part in parts(text))


def joined(text: Term, upto: Term | None, pieces: tuple[bytes | PrintedTerm, ...]) -> Term | None:
    """Pieces behind a text, or behind its first bytes; None where that is not known."""
    if upto is not None and (equal(upto, length(text)) or equal(text, LiteralText(b""))):
        upto = None
    if isinstance(text, Choice) and upto is None:
        then, other = joined(text.then, None, pieces), joined(text.other, None, pieces)
        return choice(text.condition, then, other) if then is not None and other is not None else None
    if isinstance(text, Joined):
        return replace(text, pieces=(*text.pieces, *pieces)) if upto is None else None
    return Joined(text, pieces, upto)


def first_byte(text: Term) -> Term:
    if isinstance(text, LiteralText):
        return Number(ctype.wrap(ctype.CHAR, text.data[0]) if text.data else 0, ctype.CHAR)
    return Byte(text)


def element(array: Term, index: Term) -> Term:
    """A number of an array, where `index` is a long that is inside."""
    assert isinstance(array.type, ctype.Array)
    if isinstance(array, Zeros):
        return Number(_zero(array.type.of), array.type.of)
    if isinstance(array, Choice):
        return choice(array.condition, element(array.then, index), element(array.other, index))
    if isinstance(array, Stored):
        same = _comparison("==", array.index, index)
        return choice(same, array.value, element(array.array, index))
    return Element(array, index, array.type.of)


def stored(array: Term, index: Term, value: Term) -> Term:
    """An array with another number at a place. Numbers at constant places that follow each other are in order."""
    assert isinstance(array.type, ctype.Array)
    kind = array.type
    if not isinstance(index, Number):
        array = array.array if isinstance(array, Stored) and equal(array.index, index) else array
        return Stored(array, index, value, kind)
    values = {int(index.value): value}
    while isinstance(array, Stored) and isinstance(array.index, Number):
        values.setdefault(int(array.index.value), array.value)
        array = array.array
    if len(values) == kind.length:
        array = Zeros(kind)
    if isinstance(array, Zeros):
        zero = Number(_zero(kind.of), kind.of)
        values = {at: stored for at, stored in values.items() if not equal(stored, zero)}
    for at in sorted(values):
        array = Stored(array, Number(at, ctype.LONG), values[at], kind)
    return array


def outside(index: Term, length: int) -> Term:
    """Is a long not an index of an array of `length`?"""
    low, high = _range(index)
    if 0 <= low and high < length:
        return Number(0, ctype.INT)
    if high < 0 or low >= length:
        return Number(1, ctype.INT)
    below, above = (_comparison(op, index, Number(end, ctype.LONG)) for op, end in (("<", 0), (">=", length)))
    if low >= 0 or high < length:
        return above if low >= 0 else below
    return either(below, above)


def _range(term: Term) -> tuple[int, int]:
    """The least and greatest number that a term of integers may be."""
    kind = term.type
    assert isinstance(kind, Int)
    whole = (least(kind), greatest(kind))
    found = whole
    if isinstance(term, Number):
        found = (int(term.value), int(term.value))
    elif truth_value(term):
        found = (0, 1)
    elif isinstance(term, Convert) and isinstance(term.operand.type, Int):
        found = _range(term.operand)
    elif isinstance(term, Choice):
        sides = _range(term.then), _range(term.other)
        found = (min(sides[0][0], sides[1][0]), max(sides[0][1], sides[1][1]))
    elif isinstance(term, Operation) and len(term.operands) == 2 and isinstance(term.operands[1], Number):
        by, low = int(term.operands[1].value), _range(term.operands[0])[0]
        if term.op == "%" and by > 0:
            found = (0 if low >= 0 else 1 - by, by - 1)
        elif term.op == "&" and by >= 0:
            found = (0, by)
    return found if whole[0] <= found[0] and found[1] <= whole[1] else whole


MOST_PARTS = 2000


def too_large(term: Term) -> bool:
    """Has a term more than so many parts, each counted as often as it stands in it?"""
    sizes: dict[int, int] = {}

    def size(part: Term) -> int:
        known = sizes.get(id(part))
        if known is None:
            known = sizes[id(part)] = 1 + sum(map(size, _inner(part)))
        return known

    return size(term) > MOST_PARTS


def either(left: Term, right: Term) -> Term:
    """left || right, of truths."""
    return left if equal(left, right) else choice(left, Number(1, ctype.INT), right)


def both(left: Term, right: Term) -> Term:
    """left && right, of truths."""
    return choice(left, right, Number(0, ctype.INT))


def extreme(term: Term) -> tuple[str, Term, Term] | None:
    """("min" or "max", one, the other) where a choice of integers takes the less or greater of the two that it compares."""
    if not isinstance(term, Choice) or not isinstance(term.type, Int) or not isinstance(term.condition, Operation):
        return None
    op, operands = term.condition.op, term.condition.operands
    if op not in ("<", "<=", ">", ">="):
        return None
    if operands == (term.then, term.other):
        return ("min" if op[0] == "<" else "max"), term.then, term.other
    if operands == (term.other, term.then):
        return ("max" if op[0] == "<" else "min"), term.then, term.other
    return None


def _extreme_of_constant(which: str, one: Term, other: Term) -> Term | None:
    """The least of x and the greatest number there is, which is x, and its like."""
    if isinstance(one, Number):
        one, other = other, one
    if not isinstance(other, Number) or not isinstance(other.type, Int):
        return None
    if other.value == (greatest(other.type) if which == "min" else least(other.type)):
        return one
    return other if other.value == (least(other.type) if which == "min" else greatest(other.type)) else None


# ------------------------------------------------------------------------------------------ walking


def parts(term: Term) -> Iterator[Term]:
    """The term and all below it."""
    yield term
    for inner in _inner(term):
        yield from parts(inner)


def _inner(term: Term) -> tuple[Term, ...]:
    if isinstance(term, (Convert, TextPrefix, Length, Byte)):
        return (term.operand,)
    if isinstance(term, (Operation, Order)):
        return term.operands
    if isinstance(term, Stored):
        return (term.array, term.index, term.value)
    if isinstance(term, Element):
        return (term.array, term.index)
    if isinstance(term, Size):
        return (term.operand,)
    if isinstance(term, Joined):
        upto = (term.upto,) if term.upto is not None else ()
        return (term.text, *upto, *(piece.term for piece in term.pieces if isinstance(piece, PrintedTerm)))
    return (term.condition, term.then, term.other) if isinstance(term, Choice) else ()


def kept(*terms: Term | None) -> set[int]:
    """The numbers of what was kept that terms depend on."""
    return {part.number for term in terms if term is not None for part in parts(term) if isinstance(part, KeptValue)}


def narrowed(terms: list[Term], at: int) -> Int | None:
    """The narrower type of the same sign that the number `at` of the value is converted to wherever it is used."""
    found: set[CType | None] = set()
    for term in terms:
        for part in parts(term):
            if any(isinstance(inner, PairField) and inner.number == at for inner in _inner(part)):
                found.add(part.type if isinstance(part, Convert) else None)
        if isinstance(term, PairField) and term.number == at:
            found.add(None)
    kind = found.pop() if len(found) == 1 else None
    return kind if isinstance(kind, Int) and kind.bits >= 32 else None


def replaced(term: Term, change: Change) -> Term:
    """The term with its leaves changed."""
    if isinstance(term, (KeptValue, PairField)):
        return change(term)
    if isinstance(term, Convert):
        operand = replaced(term.operand, change)
        return convert(operand, term.type) or Convert(operand, term.type)
    if isinstance(term, Joined):
        upto = replaced(term.upto, change) if term.upto is not None else None
        pieces = tuple(replace(piece, term=replaced(piece.term, change)) if isinstance(piece, PrintedTerm) else piece
                       for piece in term.pieces)
        return Joined(replaced(term.text, change), pieces, upto)
    if isinstance(term, (TextPrefix, Length, Byte, Size)):
        return replace(term, operand=replaced(term.operand, change))
    if isinstance(term, Element):
        return replace(term, array=replaced(term.array, change), index=replaced(term.index, change))
    if isinstance(term, Stored):
        return replace(term, array=replaced(term.array, change), index=replaced(term.index, change),
                       value=replaced(term.value, change))
    if isinstance(term, Order):
        return Order((replaced(term.operands[0], change), replaced(term.operands[1], change)))
    if isinstance(term, Operation):
        return Operation(term.op, tuple(replaced(part, change) for part in term.operands), term.type)
    if isinstance(term, Choice):
        return Choice(replaced(term.condition, change), replaced(term.then, change), replaced(term.other, change), term.type)
    return term

