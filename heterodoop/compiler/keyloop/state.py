"""What a symbolic run of a combiner knows, and the ways it ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field
from typing import Literal

from ...source import UNKNOWN, Span
from ...values import dataclass
from ..analysis.objects import Object
from ..types import ctype
from ..types.ctype import CType
from . import loop
from .terms import Content, Term

VALUES: dict[CType, Literal["int32", "int64", "uint32", "uint64"]] = {  # what may be gathered
    ctype.INT: "int32", ctype.UINT: "uint32", ctype.LONG: "int64", ctype.LLONG: "int64",
    ctype.ULONG: "uint64", ctype.ULLONG: "uint64",
}
Situation = Literal["first", "same", "other", "flush"]  # first: nothing kept; same, other: K equals PREV, or does not
SITUATIONS: dict[Situation, str] = {
    "first": "with its first pair", "same": "with another pair of the same key", "other": "with a pair of another key",
    "flush": "before the first or after the last pair",
}


@dataclass(frozen=True)
class Printed:
    """One conversion of what is printed: its argument as a value or a text, a value's type, and the call's place.

    variable  that the argument is, where it is one.
    """

    spec: str
    what: Term | Content
    type: CType | None = None
    span: Span = UNKNOWN
    variable: Object | None = None


@dataclass(frozen=True)
class Either:
    """What is printed in a loop inside where `condition` is not 0, or else."""

    condition: loop.Term
    then: Emitted
    other: Emitted


Emitted = list["bytes | Printed | Either"]


class NoKeyLoop(Exception):
    """The program does something that a key loop does not do, or that is not understood.

    why        said where that is known, else `span` is the statement and `situation` the pair that it was run for.
    unknown    a variable whose value is not known, where that is why.
    """

    def __init__(self, why: str = "", unknown: Object | None = None) -> None:
        super().__init__(why)
        self.unknown = unknown
        self.why = why
        self.span: Span | None = None
        self.situation: Situation | None = None


@contextmanager
def placed(span: Span) -> Iterator[None]:
    """A refusal inside is about this place, where none further inside is known."""
    try:
        yield
    except NoKeyLoop as refused:
        refused.span = refused.span or span
        raise


class Jump(Exception):
    """A jump: "continue", "return" (with its value), or "fork": `condition` has to be decided."""

    def __init__(self, how: str, value: Term = None, condition: loop.Term | None = None) -> None:
        super().__init__(how)
        self.how, self.value, self.condition = how, value, condition


@dataclass
class RunState:
    """What variables hold, and arrays; of the line: is it cut at the tab, chopped at its newline?

    cuts    bytes that became NULs where the number at a place of the value ends: those of which the first that is there
            did (strtok), or, with b"", whatever stands there.
    outside does the program go outside of an array?
    strtok  the place of the number that strtok gave last; None: it is not in the value. by: where strtok_r keeps it.
    """

    terms: dict[Object, Term] = field(default_factory=dict)
    contents: dict[Object, Content | None] = field(default_factory=dict)
    cut: bool = False
    chopped: bool = False
    cuts: dict[int, bytes] = field(default_factory=dict)
    strtok: int | None = None
    by: Object | None = None
    outside: loop.Term = loop.Number(0, ctype.INT)

    def copy(self) -> RunState:
        return RunState(dict(self.terms), dict(self.contents), self.cut, self.chopped, dict(self.cuts), self.strtok, self.by,
                     self.outside)

    def new_line(self) -> None:
        self.cut = self.chopped = False
        self.cuts, self.strtok, self.by = {}, None, None


@dataclass(frozen=True)
class RunEnd:
    """One way through the program: what it leaves behind and prints, and the place of the first that prints."""

    state: RunState
    emitted: Emitted
    at: Span = UNKNOWN


@dataclass(frozen=True)
class Fork:
    """Two, by a condition."""

    condition: loop.Term
    then: Ways
    other: Ways


Ways = RunEnd | Fork


def plain_text(emitted: Emitted) -> bytes | None:
    """What is printed, where nothing of it is computed."""
    return b"".join(piece for piece in emitted if isinstance(piece, bytes)) if all(
        isinstance(piece, bytes) for piece in emitted) else None


def without_end(ways: Ways, end: bytes) -> Ways:
    """Ways that print `end` at last, without that. Raises Refused where one does not."""
    if isinstance(ways, Fork):
        return Fork(ways.condition, without_end(ways.then, end), without_end(ways.other, end))
    left, emitted = end, list(ways.emitted)
    while left:
        last = emitted.pop() if emitted else b""
        if not isinstance(last, bytes) or not last or not (last.endswith(left) or left.endswith(last)):
            raise NoKeyLoop("what it prints at the end depends on whether there are keys")
        if len(last) > len(left):
            emitted.append(last[: -len(left)])
        left = left[: -len(last)] if len(last) < len(left) else b""
    return RunEnd(ways.state, emitted, ways.at)


def printed_at(ways: Ways) -> Span:
    """The place of the first that prints, on the first way that does."""
    return next((way.at for way in each_way(ways) if way.at.line), UNKNOWN)


def each_way(ways: Ways) -> Iterator[RunEnd]:
    if isinstance(ways, RunEnd):
        yield ways
    else:
        yield from each_way(ways.then)
        yield from each_way(ways.other)
