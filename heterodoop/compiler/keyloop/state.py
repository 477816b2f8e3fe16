"""What a symbolic run of a combiner knows, and the ways it ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field
from typing import Literal

from ...source import Span
from ...values import dataclass
from ..analysis.objects import Object
from ..types import ctype
from ..types.ctype import CType
from .terms import Term, Text

VALUES: dict[CType, Literal["int32", "int64", "uint32", "uint64"]] = {  # what may be gathered
    ctype.INT: "int32", ctype.UINT: "uint32", ctype.LONG: "int64", ctype.LLONG: "int64",
    ctype.ULONG: "uint64", ctype.ULLONG: "uint64",
}
Situation = Literal["first", "same", "other", "flush"]  # first: nothing kept; same, other: K equals PREV, or does not


@dataclass(frozen=True)
class Printed:
    """One conversion of what is printed: its argument as a value or a text, and a value's type."""

    spec: str
    what: Term | Text
    type: CType | None = None


Emitted = list[bytes | Printed]


class Refused(Exception):
    """The combiner does something that a fold does not do, or that is not understood.

    why        said where that is known, else `span` is the statement and `situation` the pair that it was run for.
    """

    def __init__(self, why: str = "") -> None:
        super().__init__(why)
        self.why = why
        self.span: Span | None = None
        self.situation: Situation | None = None


@contextmanager
def placed(span: Span) -> Iterator[None]:
    """A refusal inside is about this place, where none further inside is known."""
    try:
        yield
    except Refused as refused:
        refused.span = refused.span or span
        raise


class Stop(Exception):
    """A jump: "continue", "return" (with its value), or "fork": a comparison of V and ACC has to be decided."""

    def __init__(self, how: str, value: Term = None) -> None:
        super().__init__(how)
        self.how, self.value = how, value


@dataclass
class State:
    """What variables hold, and arrays; of the line: is it cut at the tab, chopped at its newline?"""

    terms: dict[Object, Term] = field(default_factory=dict)
    contents: dict[Object, Text | None] = field(default_factory=dict)
    cut: bool = False
    chopped: bool = False

    def copy(self) -> State:
        return State(dict(self.terms), dict(self.contents), self.cut, self.chopped)
