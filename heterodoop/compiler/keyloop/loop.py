"""A combiner or reducer as what it is: per pair, if the key changed, print what was gathered and begin again, else add.

`KeyLoop` says it in values: what a pair's value is read as, what is kept of a key from pair to pair, what that is after the
key's first pair and after each further one, and what is printed when the key is over. Nothing here runs, prints or decides.
"""

from __future__ import annotations

from ...values import dataclass
from ..types import ctype
from ..types.ctype import CType

TEXT = ctype.Pointer(ctype.CHAR)  # of a term that is a text: bytes without a NUL


@dataclass(frozen=True)
class ValueField:
    """One number of a pair's value: the type that it is read as, which is what the program's variable then holds."""

    type: CType


@dataclass(frozen=True)
class ValueText:
    """A text that is a field of a pair's value: no NUL, no end of a line, none of `stops`.

    most     bytes; 0: any. empty: may it have none? indented: may it begin with white space?
    """

    stops: bytes
    most: int
    empty: bool
    indented: bool
    type: CType = TEXT


@dataclass(frozen=True)
class ValueForm:
    """How a value is read: its fields from left to right, and the bytes that stand between them (one fewer).

    No fields: the program does not look at the value, as where it counts pairs. Texts of numbers are those that
    `manifest.PairReader` says read back: else what the program reads is not known.
    """

    fields: tuple[ValueField | ValueText, ...]
    between: tuple[bytes, ...] = ()


@dataclass(frozen=True)
class KeptVariable:
    """What is kept of a key in one variable: a number, an array of numbers, or (an array of char) a text. `name` is the
    program's own."""

    name: str
    type: CType


NOT_KNOWN = -1  # the number of an array of which nothing is known, while a loop is being found


@dataclass(frozen=True)
class KeptValue:
    """The value of `KeyLoop.state[number]` before this pair."""

    number: int
    type: CType


@dataclass(frozen=True)
class PairField:
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


@dataclass(frozen=True)
class LiteralText:
    """A text that stands in the program."""

    data: bytes
    type: CType = TEXT


@dataclass(frozen=True)
class TextPrefix:
    """The first `most` bytes of a text, or all of it."""

    operand: Term
    most: int
    type: CType = TEXT


@dataclass(frozen=True)
class Order:
    """Below 0, 0 or above 0, as strcmp has it of two texts: no more is known of the number."""

    operands: tuple[Term, Term]
    type: CType = ctype.INT


@dataclass(frozen=True)
class Length:
    """strlen of a text."""

    operand: Term
    type: CType = ctype.ULONG


@dataclass(frozen=True)
class Byte:
    """The first byte of a text, of an empty one 0."""

    operand: Term
    type: CType = ctype.CHAR


@dataclass(frozen=True)
class Zeros:
    """An array of zeros."""

    type: ctype.Array


@dataclass(frozen=True)
class Stored:
    """An array with `value` at `index`, a long that is inside of it."""

    array: Term
    index: Term
    value: Term
    type: ctype.Array


@dataclass(frozen=True)
class Element:
    """A number of an array, at `index` as in `Stored`."""

    array: Term
    index: Term
    type: CType


@dataclass(frozen=True)
class Joined:
    """A text, or its first bytes, and behind it what conversions print of numbers and of texts of the value.

    upto  how many bytes of `text`, at most as many as it has; None: all.
    """

    text: Term
    pieces: tuple[bytes | PrintedTerm, ...]
    upto: Term | None = None
    type: CType = TEXT


@dataclass(frozen=True)
class Size:
    """How many bytes a conversion prints."""

    spec: str
    operand: Term
    type: CType = ctype.ULONG


Term = (KeptValue | PairField | Number | Convert | Operation | Choice | LiteralText | TextPrefix | Order | Length | Byte
        | Zeros | Stored | Element | Joined | Size)


@dataclass(frozen=True)
class PrintedKey:
    """The key, as the collector has it, or, of a reducer, cut and padded as `spec` ("%-20s", "%.3s") says."""

    spec: str = "%s"


@dataclass(frozen=True)
class PrintedTerm:
    """A conversion of printf with flags, width and precision as in `spec` ("%d", "%.1f", "%-9s"), of a value."""

    spec: str
    term: Term


@dataclass(frozen=True)
class PrintedIf:
    """`then` where `condition` is not 0, else `other`."""

    condition: Term
    then: tuple[Piece, ...]
    other: tuple[Piece, ...]


Piece = bytes | PrintedKey | PrintedTerm | PrintedIf


@dataclass(frozen=True)
class KeyOutput:
    """What is printed of a key: `pieces` where `condition` (None: always) is not 0, else `other` (None: nothing).

    A combiner's pieces are a line, key, tab and value, or none. A reducer's are any text.
    """

    pieces: tuple[Piece, ...]
    condition: Term | None = None
    other: KeyOutput | None = None


@dataclass(frozen=True)
class KeyLoop:
    """The whole. `first` and `same` have a term for each of `state`: after a key's first pair, after another one of it.

    Terms of `first` and `same` see this pair (Read), those of `same` and `finish` what was kept (Kept); of a key's pairs the
    steps happen in the order of the reference: the map output, sorted stably by key.

    outside   of `first` and of `same`: the program goes outside of an array, so that nobody knows what it does.
    nonempty  the program takes an empty key for none: all this is not true of one, and what it does then is another thing.
    head      what a reducer prints before the first pair; tail: behind the last key.
    """

    reads: ValueForm
    state: tuple[KeptVariable, ...]
    first: tuple[Term, ...]
    same: tuple[Term, ...]
    finish: KeyOutput
    nonempty: bool = False
    head: bytes = b""
    tail: bytes = b""
    outside: tuple[Term, Term] = (Number(0, ctype.INT), Number(0, ctype.INT))
