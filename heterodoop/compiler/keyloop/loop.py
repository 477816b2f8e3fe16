"""A combiner or reducer as what it is: per pair, if the key changed, print what was gathered and begin again, else add.

`KeyLoop` says it in values: what a pair's value is read as, what is kept of a key from pair to pair, what that is after the
key's first pair and after each further one, and what is printed when the key is over. Nothing here runs, prints or decides.
"""

from __future__ import annotations

from typing import Literal

from ...values import dataclass
from ..types.ctype import CType

Reduction = Literal["sum", "min", "max", "and", "or", "xor"]


@dataclass(frozen=True)
class ValueField:
    """One number of a pair's value: the type that it is read as, which is what the program's variable then holds."""

    type: CType


@dataclass(frozen=True)
class ValueForm:
    """How a value is read: its fields from left to right, and the bytes that stand between them (one fewer).

    No fields: the program does not look at the value, as where it counts pairs. Texts of numbers are those that
    `manifest.PairReader` says read back: else what the program reads is not known.
    """

    fields: tuple[ValueField, ...]
    between: tuple[bytes, ...] = ()


@dataclass(frozen=True)
class State:
    """What is kept of a key in one variable. `name` is the program's own."""

    name: str
    type: CType


@dataclass(frozen=True)
class Kept:
    """The value of `KeyLoop.state[number]` before this pair."""

    number: int
    type: CType


@dataclass(frozen=True)
class Read:
    """The value of `KeyLoop.reads.fields[number]` of this pair."""

    number: int
    type: CType


@dataclass(frozen=True)
class Number:
    """A constant."""

    value: int | float
    type: CType


@dataclass(frozen=True)
class Convert:
    """A conversion to `type`, as C does it."""

    operand: Term
    type: CType


@dataclass(frozen=True)
class Operation:
    """An operator of C, its operands of the type that C computes in; integers wrap. `type` is the result's.

    op  "+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "==", "!=", "<", "<=", ">", ">=" with two operands; "-", "~", "!"
        with one; "abs" of an integer, "fabs" and "sqrt" of a floating number.
    """

    op: str
    operands: tuple[Term, ...]
    type: CType


@dataclass(frozen=True)
class Choice:
    """`then` where `condition` is not 0, else `other`; only that one is computed."""

    condition: Term
    then: Term
    other: Term
    type: CType


Term = Kept | Read | Number | Convert | Operation | Choice


@dataclass(frozen=True)
class PrintedKey:
    """The key, as the collector has it, or, of a reducer, cut and padded as `spec` ("%-20s", "%.3s") says."""

    spec: str = "%s"


@dataclass(frozen=True)
class PrintedTerm:
    """A conversion of printf with flags, width and precision as in `spec` ("%d", "%.1f"), of a value."""

    spec: str
    term: Term


Piece = bytes | PrintedKey | PrintedTerm


@dataclass(frozen=True)
class Finish:
    """What is printed of a key: `pieces` where `condition` (None: always) is not 0, else `other` (None: nothing).

    A combiner's pieces are a line, key, tab and value, or none. A reducer's are any text.
    """

    pieces: tuple[Piece, ...]
    condition: Term | None = None
    other: Finish | None = None


@dataclass(frozen=True)
class KeyLoop:
    """The whole. `first` and `same` have a term for each of `state`: after a key's first pair, after another one of it.

    Terms of `first` and `same` see this pair (Read), those of `same` and `finish` what was kept (Kept); of a key's pairs the
    steps happen in the order of the reference: the map output, sorted stably by key.

    nonempty  the program takes an empty key for none: all this is not true of one, and what it does then is another thing.
    head      what a reducer prints before the first pair; tail: behind the last key.
    """

    reads: ValueForm
    state: tuple[State, ...]
    first: tuple[Term, ...]
    same: tuple[Term, ...]
    finish: Finish
    nonempty: bool = False
    head: bytes = b""
    tail: bytes = b""
