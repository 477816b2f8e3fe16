"""What a symbolic run of a combiner knows of a value, and of a text.

A pair has a key K and numbers; kept are the key of the pairs before it and what was made of their numbers. A value of which
nothing is known is None.
"""

from __future__ import annotations

from enum import Enum

from ...values import dataclass
from ..analysis.objects import Object
from ..types.ctype import CType, Int
from . import algebra, loop


@dataclass(frozen=True)
class Atom:
    """A value that has no parts. `truth`: is it other than 0 or NULL? None: not for every pair, or it cannot be told.

    gathered  Does it depend on the pairs before this one?
    text      for who reads a dump.
    """

    text: str
    truth: bool | None = True
    gathered: bool = False


@dataclass(frozen=True)
class Const:
    """An integer."""

    value: int
    gathered = False

    @property
    def truth(self) -> bool:
        return self.value != 0


@dataclass(frozen=True)
class ArrayStart:
    """The address of a char array's start."""

    obj: Object
    truth = True
    gathered = False


@dataclass(frozen=True)
class Words:
    """The address of a text of the program, or of one of several."""

    text: loop.Term
    truth = True

    @property
    def gathered(self) -> bool:
        return bool(algebra.kept(self.text))


@dataclass(frozen=True)
class TextAddress:
    """The address of a place in a char array: a long from its start on."""

    obj: Object
    at: loop.Term
    truth = True

    @property
    def gathered(self) -> bool:
        return bool(algebra.kept(self.at))


@dataclass(frozen=True)
class Address:
    """The address of a scalar variable."""

    obj: Object
    truth = True
    gathered = False


@dataclass(frozen=True)
class Num:
    """A number that was computed from those of the pair and what is kept."""

    term: loop.Term

    @property
    def truth(self) -> bool | None:
        return bool(self.term.value) if isinstance(self.term, loop.Number) else None

    @property
    def gathered(self) -> bool:
        return bool(algebra.kept(self.term))


@dataclass(frozen=True)
class NumberStart:
    """Where the number at a place of the value begins."""

    at: int
    truth = True
    gathered = False


@dataclass(frozen=True)
class End:
    """Where it ends."""

    at: int
    truth = True
    gathered = False


@dataclass(frozen=True)
class Compared:
    """What strcmp gave: of it only the sign is known."""

    order: loop.Term
    truth = None

    @property
    def gathered(self) -> bool:
        return bool(algebra.kept(self.order))


Value = Atom | Const | ArrayStart | Words | TextAddress | Address | Num | NumberStart | End | Compared
Term = Value | None

KEY = Atom("K", None)  # the key, where it is read as a number
KEPT = Atom("the kept key", None)
NONZERO = Atom("any but 0")
POSITIVE = Atom("more than 0")
LENGTH = Atom("the line's length")
KEY_LENGTH = Atom("the key's length")
KEY_SIZE = Atom("the key's length and 1")
LINE_END = Atom("the index of the line's newline", None)
NULL = Atom("NULL", False)
LINE = Atom("the line")
TAB = Atom("the line's first tab")
NEWLINE = Atom("the line's newline")
ZERO = Const(0)


class TextTerm(Enum):
    """What a char array, or what a pointer leads to, holds. A text of which nothing is known is None."""

    KEY = "K"
    OPEN_KEY = "K, its NUL perhaps missing"
    KEPT = "the kept key"
    EMPTY = "nothing"


@dataclass(frozen=True)
class Made:
    """A text of the pair's value, or what is kept of such.

    room  None, or its NUL is missing where it has as many bytes, or more.
    """

    term: loop.Term
    room: int | None = None

    @property
    def gathered(self) -> bool:
        return bool(algebra.kept(self.term))


Content = TextTerm | Made


def either_words(condition: loop.Term, then: Term, other: Term) -> Term:
    """One of two texts of the program."""
    if not isinstance(then, Words) or not isinstance(other, Words):
        return None
    return Words(algebra.choice(condition, then.text, other.text))


def literal_text(data: bytes) -> Content:
    return Made(loop.LiteralText(data)) if data else TextTerm.EMPTY


def newline_behind(at: int) -> Term:
    """The index of the newline from a place of the value on."""
    return Atom(f"the index of the newline behind {at}", None)


def value_text(content: Content | None) -> loop.Term | None:
    """A text of values as a term; None for a key, and for what is not known or not ended."""
    if content == TextTerm.EMPTY:
        return loop.LiteralText(b"")
    return content.term if isinstance(content, Made) and content.room is None else None


def first_byte(text: Content | None) -> Term:
    """What a text begins with."""
    if isinstance(text, Made):
        return known(algebra.first_byte(text.term)) if text.room is None else None
    if text == TextTerm.EMPTY:
        return ZERO
    return NONZERO if text in (TextTerm.KEY, TextTerm.KEPT) else None


def known(term: loop.Term | None) -> Term:
    """A computed number as a value; None where there is no term for it."""
    if isinstance(term, loop.Number) and isinstance(term.value, int):
        return Const(term.value)
    return Num(term) if term is not None else None


def number(value: Term, kind: CType) -> loop.Term | None:
    """A value that an expression of type `kind` has, as a term; None where it is no number."""
    if isinstance(value, Const):
        return loop.Number(value.value, kind) if isinstance(kind, Int) and kind.bits <= 64 else None
    return value.term if isinstance(value, Num) and algebra.same_kind(value.term.type, kind) else None
