"""What a symbolic run of a combiner knows of a value, and of a text.

A pair has a key K and a value V; kept are the key of the pairs before it and what was made of their values, the accumulator.
A value of which nothing is known is None.
"""

from __future__ import annotations

from enum import Enum

from ...values import dataclass
from ..analysis.objects import Object


@dataclass(frozen=True)
class Named:
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
class Array:
    """The address of a char array's start."""

    obj: Object
    truth = True
    gathered = False


@dataclass(frozen=True)
class Address:
    """The address of a scalar variable."""

    obj: Object
    truth = True
    gathered = False


Value = Named | Const | Array | Address
Term = Value | None

KEY = Named("K", None)  # the key, where it is read as a number
KEPT = Named("the kept key", None)
VALUE = Named("V", None)
ACC = Named("ACC", None, True)
SUM = Named("ACC + V", None, True)
NEXT = Named("ACC + 1", None, True)
NONZERO = Named("any but 0")
POSITIVE = Named("more than 0")
LENGTH = Named("the line's length")
LINE_END = Named("the index of the line's newline", None)
NULL = Named("NULL", False)
LINE = Named("the line")
TAB = Named("the line's first tab")
REST = Named("behind the tab")
ZERO, ONE = Const(0), Const(1)


class Text(Enum):
    """What a char array, or what a pointer leads to, holds. A text of which nothing is known is None."""

    KEY = "K"
    OPEN_KEY = "K, its NUL perhaps missing"
    KEPT = "the kept key"
    EMPTY = "nothing"
    REST = "what stands behind the tab"


def first_byte(text: Text | None) -> Term:
    """What a text begins with."""
    if text == Text.EMPTY:
        return ZERO
    return NONZERO if text in (Text.KEY, Text.KEPT) else None
