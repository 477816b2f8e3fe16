"""What a key loop says that a combiner prints: KeyLoop run in Python over sorted pairs, number by number as C computes.

Not a test module.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from heterodoop.compiler.keyloop.loop import (
    Byte,
    Choice,
    Convert,
    Element,
    Joined,
    KeptValue,
    KeyLoop,
    KeyOutput,
    Length,
    LiteralText,
    Number,
    Operation,
    Order,
    PairField,
    Piece,
    PrintedIf,
    PrintedKey,
    PrintedTerm,
    Size,
    Stored,
    Term,
    TextPrefix,
    ValueForm,
    ValueText,
    Zeros,
)
from heterodoop.compiler.types import ctype, literals
from heterodoop.compiler.types.ctype import CType, Float, Int

Value = Any  # int, float, bytes, or a tuple of numbers


class Outside(Exception):
    """The program goes outside of an array."""


Pair = tuple[bytes, bytes]
_OPERATORS = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "<<": operator.lshift, ">>": operator.rshift, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}


def printed(loop: KeyLoop, pairs: Sequence[Pair]) -> bytes:
    """The output for pairs that are sorted by key."""
    return b"".join(_key(loop, key, [read(loop.reads, value) for _, value in found])
                    for key, found in groupby(pairs, lambda pair: pair[0]))


def _key(loop: KeyLoop, key: bytes, values: list[tuple[Value, ...]]) -> bytes:
    kept: tuple[Value, ...] = ()
    for number, value in enumerate(values):
        if evaluate(loop.outside[number > 0], kept, value):
            raise Outside
        kept = tuple(evaluate(term, kept, value) for term in (loop.same if number else loop.first))
    return b"".join(_pieces(loop.finish, key, kept))


def _pieces(finish: KeyOutput | None, key: bytes, kept: tuple[Value, ...]) -> Iterator[bytes]:
    while finish is not None and finish.condition is not None and not evaluate(finish.condition, kept, ()):
        finish = finish.other
    yield from _each(finish.pieces if finish is not None else (), key, kept)


def _each(pieces: Sequence[Piece], key: bytes, kept: tuple[Value, ...]) -> Iterator[bytes]:
    for piece in pieces:
        if isinstance(piece, PrintedIf):
            yield from _each(piece.then if evaluate(piece.condition, kept, ()) else piece.other, key, kept)
        elif isinstance(piece, bytes):
            yield piece
        elif isinstance(piece, PrintedKey):
            yield key
        else:
            yield _conversion(piece.spec, evaluate(piece.term, kept, ()))


def _conversion(spec: str, value: Value) -> bytes:
    if isinstance(value, bytes):
        return spec.encode() % value
    return (re.sub("[hlqjzt]", "", spec) % value).encode()


def read(form: ValueForm, text: bytes) -> tuple[Value, ...]:
    """The numbers of a value. Raises ValueError where it is not of that form."""
    found: list[Value] = []
    for number, field in enumerate(form.fields):
        if isinstance(field, ValueText):
            found.append(_text(field, text))
            text = text[len(found[-1]) :]
            behind = form.between[number] if number < len(form.between) else b""
            if not text.startswith(behind) or (not behind and text):
                raise ValueError(text)
            text = text[len(behind) :]
            continue
        part, stop, text = text.partition(form.between[number]) if number < len(form.between) else (text, b"", b"")
        if number < len(form.between) and not stop:
            raise ValueError(part)
        if isinstance(field.type, Int) and not re.fullmatch(rb"-?\d+", part):
            raise ValueError(part)
        value: Value = float(part) if isinstance(field.type, Float) else int(part)
        if isinstance(value, int) and wrapped(value, field.type) != value:
            raise ValueError(part)
        found.append(wrapped(value, field.type))
    return tuple(found)


def _text(field: ValueText, text: bytes) -> bytes:
    """What stands at the beginning of a text, up to what ends it. Raises ValueError where it does not read back."""
    stops = {0, 10, 13, *field.stops}
    found = text[: next((n for n, c in enumerate(text) if c in stops), len(text))]
    white = found[:1] in (b" ", b"\t", b"\v", b"\f") and not field.indented
    if (not found and not field.empty) or white or (field.most and len(found) > field.most):
        raise ValueError(found)
    return found


def evaluate(term: Term, kept: tuple[Value, ...], value: tuple[Value, ...]) -> Value:
    """A term's value where what was kept is `kept`, and the pair's numbers are `value`."""
    if isinstance(term, Number):
        return term.value
    if isinstance(term, KeptValue):
        return kept[term.number]
    if isinstance(term, PairField):
        return value[term.number]
    if isinstance(term, Size):
        return len(_conversion(term.spec, evaluate(term.operand, kept, value)))
    if isinstance(term, Joined):
        text = evaluate(term.text, kept, value)
        text = text if term.upto is None else text[: evaluate(term.upto, kept, value)]
        return text + b"".join(_conversion(piece.spec, evaluate(piece.term, kept, value))
                               if isinstance(piece, PrintedTerm) else piece for piece in term.pieces)
    if isinstance(term, Zeros):
        return (0,) * (term.type.length or 0)
    if isinstance(term, (Element, Stored)):
        array, at = evaluate(term.array, kept, value), evaluate(term.index, kept, value)
        if isinstance(term, Element):
            return array[at]
        return (*array[:at], evaluate(term.value, kept, value), *array[at + 1 :])
    if isinstance(term, LiteralText):
        return term.data
    if isinstance(term, (TextPrefix, Length, Byte)):
        text = evaluate(term.operand, kept, value)
        if isinstance(term, TextPrefix):
            return text[: term.most]
        return len(text) if isinstance(term, Length) else ctype.wrap(ctype.CHAR, text[0] if text else 0)
    if isinstance(term, Order):
        left, right = (evaluate(part, kept, value) for part in term.operands)
        return (left > right) - (left < right)
    if isinstance(term, Convert):
        return wrapped(evaluate(term.operand, kept, value), term.type)
    if isinstance(term, Choice):
        return evaluate(term.then if evaluate(term.condition, kept, value) else term.other, kept, value)
    return wrapped(_operation(term, [evaluate(part, kept, value) for part in term.operands]), term.type)


def _operation(term: Operation, operands: list[Value]) -> Value:
    if len(operands) == 1:
        (only,) = operands
        if term.op.isalpha():
            return _root(only) if term.op == "sqrt" else abs(only)
        return int(not only) if term.op == "!" else -only if term.op == "-" else ~int(only)
    left, right = operands
    if term.op in "/%" and isinstance(term.type, Int):
        quotient = abs(int(left)) // abs(int(right)) * (1 if (left < 0) == (right < 0) else -1)
        return quotient if term.op == "/" else left - quotient * right
    result: Value = left / right if term.op == "/" else _OPERATORS[term.op](left, right)
    return result


def _root(value: Value) -> float:
    return math.sqrt(value) if value >= 0 else math.nan


def wrapped(value: Value, kind: CType) -> Value:
    """As an object of the type holds it."""
    if isinstance(kind, Int):
        return ctype.wrap(kind, int(value))
    return literals.to_float(value) if kind == ctype.FLOAT else float(value)
