"""The expressions of the IR (its statements, and the whole picture, are in `ir`).

Each carries its C type and the place where the user wrote it. Operands are converted already: what C does silently is
a Cast or a Decay here.
"""

from __future__ import annotations

from dataclasses import field
from itertools import count
from typing import Literal

from ...manifest import Accumulation
from ...source import UNKNOWN, Span
from ...values import dataclass
from ..types.ctype import CType

_numbers = count(1)


@dataclass(frozen=True)
class Numbered:
    """Base of all parts of a program. `number` is a part's own from when it is made: tables of facts go by it.

    A part that takes another's place keeps its number (`dataclasses.replace`), and with it what is known of it.
    """

    number: int = field(default_factory=_numbers.__next__, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class Node(Numbered):
    """Base of expressions and statements; `span` is where the user wrote it."""

    span: Span = field(default=UNKNOWN, compare=False, repr=False, kw_only=True)


# ------------------------------------------------------------------------------------------ expressions


@dataclass(frozen=True)
class Expr(Node):
    type: CType


@dataclass(frozen=True)
class Const(Expr):
    """An integer, a floating value, or a pointer made of an integer (NULL is 0)."""

    value: int | float


@dataclass(frozen=True)
class Str(Expr):
    """A string literal, an lvalue of type char[len(data) + 1]."""

    data: bytes


@dataclass(frozen=True)
class Name(Expr):
    """A variable (an lvalue) or a function."""

    name: str


@dataclass(frozen=True)
class Unary(Expr):
    """- ~ ! of a value of the promoted type."""

    op: Literal["-", "~", "!"]
    operand: Expr


@dataclass(frozen=True)
class Deref(Expr):
    pointer: Expr


@dataclass(frozen=True)
class AddressOf(Expr):
    operand: Expr


@dataclass(frozen=True)
class Decay(Expr):
    """The address of an array's first element, or of a function."""

    operand: Expr


@dataclass(frozen=True)
class Binary(Expr):
    """Operands of equal type, but for shifts, pointer + integer and && ||. pointer - pointer counts elements."""

    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True)
class Index(Expr):
    """base[index], an lvalue; `base` is a pointer value (a Decay for an array)."""

    base: Expr
    index: Expr


@dataclass(frozen=True)
class Member(Expr):
    """base.field; `p->f` is Member(Deref(p), f)."""

    base: Expr
    field: str


@dataclass(frozen=True)
class Cast(Expr):
    """Any conversion, written or implied."""

    operand: Expr


@dataclass(frozen=True)
class Assign(Expr):
    """op is "=", or "+=" and so on: target = (T)((C)target op value), where C = `build.compute_type`."""

    op: str
    target: Expr
    value: Expr


@dataclass(frozen=True)
class Step(Expr):
    """++ and --, before (value: the new one) or after (value: the old one)."""

    op: Literal["++", "--"]
    target: Expr
    prefix: bool


@dataclass(frozen=True)
class Conditional(Expr):
    cond: Expr
    then: Expr
    other: Expr


@dataclass(frozen=True)
class Comma(Expr):
    first: Expr
    second: Expr


@dataclass(frozen=True)
class Call(Expr):
    """`callee` is Decay(Name) for a direct call, else a function pointer."""

    callee: Expr
    args: tuple[Expr, ...]


@dataclass(frozen=True)
class Compound(Expr):
    """A compound literal, an unnamed object of its block."""

    init: Init


# ------------------------------------------------------------------------------------------ nodes of our own


@dataclass(frozen=True)
class Text(Numbered):
    """Bytes of a format as they are (%% is one %)."""

    data: bytes


@dataclass(frozen=True)
class Format(Numbered):
    """One conversion, `spec` as in printf ("%-*d"), its arguments those of `*` first. "%!" writes args[1] * args[2] bytes
    from args[0] (fwrite)."""

    spec: str
    args: tuple[Expr, ...]


Piece = Text | Format


@dataclass(frozen=True)
class ReadRecord(Expr):
    """getline(target, capacity, stdin), or fgets(target, capacity, stdin); the value is the call's."""

    kind: Literal["getline", "fgets"]
    target: Expr
    capacity: Expr


@dataclass(frozen=True)
class ReadPair(Expr):
    """scanf(format, targets...)."""

    format: bytes
    targets: tuple[Expr, ...]


@dataclass(frozen=True)
class Emit(Expr):
    """Bytes to stdout, and the call that wrote them; the value is the call's."""

    call: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True)
class Stderr(Expr):
    """Bytes to stderr."""

    call: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True)
class Accumulate(Expr):
    """target = target OP value, of type void: records change the target by such updates only and none reads it, so that any
    order will do. `value` has the target's type; a difference is the sum of the negated value."""

    op: Accumulation
    target: Expr
    value: Expr


@dataclass(frozen=True)
class Exit(Expr):
    """The end of the process: exit, _exit, abort, a failed assert. One of LEAVES is not the program's own: what a rewrite
    relies on does not hold, and the filter does the task."""

    call: str
    args: tuple[Expr, ...]


LEAVES = frozenset({"left_early", "carried", "reads_on"})  # statuses of runtime/device/steps/abi.h


# ------------------------------------------------------------------------------------------ initialisers


@dataclass(frozen=True)
class Fill(Numbered):
    """An aggregate's initialiser: scalars (and strings, for char arrays) by path; what is not named is zero."""

    items: tuple[tuple[tuple[int | str, ...], Expr], ...]


Init = Expr | Fill
