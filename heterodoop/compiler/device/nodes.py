"""The device dialect of the IR: nodes that say what a kernel does where C leaves it open, or a GPU has it otherwise.

Plain nodes (Const, Member, Binary without overflow, If, ...) stay those of `ir`. All others are here: arithmetic that wraps,
accesses that are checked, output in pieces, library calls with what their guards need, names with the memory that they lie
in. Values only, frozen, compared without spans; a node's span gives the source line of its checks. Made by `lower`; every
printer has text for every node but `Unsupported`, which no program that is printed holds.
"""

from __future__ import annotations

from typing import Literal

from ...manifest import Accumulation
from ...values import dataclass
from ..analysis.objects import Object
from ..decide.decisions import TOTALS, Space
from ..ir import ir
from ..types.ctype import CType
from .checks import Asked, Check, Mark, Parts, Room

StreamName = Literal["stdout", "stderr"]


@dataclass(frozen=True)
class Unsupported(ir.Expr):
    """What a device has no form for, and why. `parts`: what is below it, lowered, so that its reasons are found as well."""

    code: str
    message: str
    parts: tuple[ir.Node, ...] = ()


# ------------------------------------------------------------------------------------------ names


@dataclass(frozen=True)
class Var(ir.Expr):
    """A variable. `key`: its object. `space`: where it lies; "" for what the function has for itself."""

    name: str
    key: Object
    space: Space | Literal[""]

    @property
    def is_constant(self) -> bool:
        """Is it the same for all threads, so that nothing writes it?"""
        return self.space not in ("", "private", "warp", "lane") and self.space not in TOTALS


@dataclass(frozen=True)
class Memory(ir.Expr):
    """The thread's array that stands for what an allocation before the region made. `key`: of its place."""

    key: Object


@dataclass(frozen=True)
class Errno(ir.Expr):
    """The thread's errno."""


@dataclass(frozen=True)
class Stream(ir.Expr):
    """stdin, stdout or stderr as a value: it only tells the streams apart."""

    name: str


@dataclass(frozen=True)
class Special(ir.Expr):
    """A value that the C library gives by a call without arguments: an infinity, a NaN."""

    name: str


@dataclass(frozen=True)
class Temp(ir.Expr):
    """A temporary of the lowering."""

    name: str


# ------------------------------------------------------------------------------------------ arithmetic


@dataclass(frozen=True)
class ToInteger(ir.Expr):
    """A floating value as an integer, as x86 converts what does not fit."""

    operand: ir.Expr


@dataclass(frozen=True)
class KeepSign(ir.Expr):
    """An operation on a float or double whose NaN keeps its payload, with the sign that x86-64 gives it."""

    how: Literal["widened", "narrowed", "flipped", "cleared"]
    operand: ir.Expr


@dataclass(frozen=True)
class Gather(ir.Expr):
    """target = target OP value of what all records gather together, of type void. own: the target is the thread's own part;
    else the update is an atomic operation."""

    op: Accumulation
    target: ir.Expr
    value: ir.Expr
    own: bool


@dataclass(frozen=True)
class Wrap(ir.Expr):
    """Signed + - * that may overflow and wraps."""

    op: str
    left: ir.Expr
    right: ir.Expr


@dataclass(frozen=True)
class Negate(ir.Expr):
    """- of a signed value, which wraps."""

    operand: ir.Expr


@dataclass(frozen=True)
class Shift(ir.Expr):
    """<< >> whose count is masked, as x86 does."""

    op: str
    left: ir.Expr
    right: ir.Expr


@dataclass(frozen=True)
class Divide(ir.Expr):
    """/ % of integers; a divisor that x86 traps on ends the task for the CPU, with the line."""

    op: str
    left: ir.Expr
    right: ir.Expr


@dataclass(frozen=True)
class WrapAssign(ir.Expr):
    """target op= value, computed in value's type with nothing undefined. `op` without its "="."""

    op: str
    target: ir.Expr
    value: ir.Expr


@dataclass(frozen=True)
class DivideAssign(ir.Expr):
    """target /= or %= value, checked as Divide."""

    op: str
    target: ir.Expr
    value: ir.Expr


@dataclass(frozen=True)
class AssignApart(ir.Expr):
    """target = value of a struct, which fails where the two overlap."""

    target: ir.Expr
    value: ir.Expr


@dataclass(frozen=True)
class WrapStep(ir.Expr):
    """++ or -- that wraps; prefix: its value is the new one, or nobody wants it."""

    op: str
    target: ir.Expr
    prefix: bool


# ------------------------------------------------------------------------------------------ accesses


@dataclass(frozen=True)
class Fetch(ir.Expr):
    """An element of an array that is read through a texture object."""

    array: Var
    index: ir.Expr


@dataclass(frozen=True)
class Within(ir.Expr):
    """The index of an element of an array, which must be less than its length and not negative."""

    index: ir.Expr
    length: int


@dataclass(frozen=True)
class Inside(ir.Expr):
    """What a pointer leads to, which must lie in one of these objects."""

    operand: ir.Expr
    keys: tuple[Object, ...]


@dataclass(frozen=True)
class InLine(ir.Expr):
    """An access that must lie in the line; one of another object passes unless `strict`."""

    operand: ir.Expr
    strict: bool


@dataclass(frozen=True)
class Named(ir.Expr):
    """A read of what stands by its name, `at` bytes from the beginning of the guarded object `guard`."""

    operand: ir.Expr
    guard: Object
    at: int
    parts: Parts


@dataclass(frozen=True)
class Guarded(ir.Expr):
    """A read that is checked, by its address, with the guards of all that it may touch."""

    operand: ir.Expr
    asked: Asked
    parts: Parts


@dataclass(frozen=True)
class NamedWrite(ir.Expr):
    """An lvalue about to be written, which its guard notes at a known offset."""

    operand: ir.Expr
    guard: Object
    at: int


@dataclass(frozen=True)
class GuardedWrite(ir.Expr):
    """The same by its address, with the guards of all that it may be."""

    operand: ir.Expr
    keys: tuple[Object, ...]


@dataclass(frozen=True)
class Moved(ir.Expr):
    """pointer + by or - by, of a pointer that may lead into these objects: it must not leave the one that it leads into. The
    line it may leave, but not by far."""

    op: str
    pointer: ir.Expr
    by: ir.Expr
    keys: tuple[Object, ...]


@dataclass(frozen=True)
class MoveAssign(ir.Expr):
    """target += value or -= value, of such a pointer. `op` without its "="."""

    op: str
    target: ir.Expr
    value: ir.Expr
    keys: tuple[Object, ...]


@dataclass(frozen=True)
class MoveStep(ir.Expr):
    """++ or -- of such a pointer; prefix as in WrapStep."""

    op: str
    target: ir.Expr
    prefix: bool
    keys: tuple[Object, ...]


@dataclass(frozen=True)
class Whole(ir.Expr):
    """A large struct of which a member is named: where it is the line's, it must lie in the line."""

    operand: ir.Expr


# ------------------------------------------------------------------------------------------ calls


@dataclass(frozen=True)
class Call(ir.Expr):
    """A call of a function of the program. `params`: what each argument is converted to."""

    name: str
    args: tuple[ir.Expr, ...]
    params: tuple[CType, ...]


@dataclass(frozen=True)
class Library(ir.Expr):
    """A call of the C library's function on the device.

    state   of the thread that it gets first: errno, where strtok goes on, or the thread itself for its failures.
    apart   it fails where source and target overlap.
    checks  of what it reads, and marks of what it writes, in order.
    given   objects whose guards it is given, behind its arguments.
    rooms   of sscanf: for its arguments, by their numbers, how much may be written there, where that is looked at.
    """

    name: str
    args: tuple[ir.Expr, ...]
    params: tuple[CType, ...]
    state: Literal["", "err", "token", "lane"] = ""
    apart: bool = False
    checks: tuple[Check, ...] = ()
    marks: tuple[Mark, ...] = ()
    rooms: tuple[tuple[int, Room], ...] = ()
    given: tuple[Object, ...] = ()


@dataclass(frozen=True)
class Read(ir.Expr):
    """getline or fgets. `marks`: the guards of what fgets fills. room: of it, where that is looked at."""

    kind: Literal["getline", "fgets"]
    target: ir.Expr
    capacity: ir.Expr
    marks: tuple[Object, ...] = ()
    room: Room | None = None


@dataclass(frozen=True)
class ScanPair(ir.Expr):
    """scanf from stdin; marks: what it stored. rooms: as of Library, by the targets' numbers."""

    format: bytes
    targets: tuple[ir.Expr, ...]
    marks: tuple[Mark, ...] = ()
    rooms: tuple[tuple[int, Room], ...] = ()


@dataclass(frozen=True)
class Fail(ir.Expr):
    """The program ends with a failure here: so does the launch, and the CPU shows it. status: as steps/abi.h has it."""

    status: str = "exit_called"


# ------------------------------------------------------------------------------------------ output


@dataclass(frozen=True)
class Spec(ir.Node):
    """A conversion's flags (their sum in libc/format.cuh), width (0: none), precision (-1: none) and letter."""

    flags: int
    width: int | ir.Expr
    precision: int | ir.Expr
    letter: str


@dataclass(frozen=True)
class Converted(ir.Node):
    """One conversion with its argument. how: the device's function; of a host kernel also "significant", of a double
    whose text reads back as it, and "copied", of a string that a loop may have copied; spec None: a plain one. asked: of a
    string's text."""

    how: Literal["str", "chr", "dec", "real", "integer", "natural", "significant", "copied"]
    spec: Spec | None
    argument: ir.Expr
    asked: Asked | None = None


@dataclass(frozen=True)
class Bytes(ir.Node):
    """size * count bytes from an address."""

    address: ir.Expr
    size: ir.Expr
    count: ir.Expr
    asked: Asked | None = None


Piece = ir.Text | Converted | Bytes


@dataclass(frozen=True)
class Bind(ir.Node):
    """A temporary gets its value before the pieces of an output are made."""

    temp: Temp
    value: ir.Expr


@dataclass(frozen=True)
class Print(ir.Expr):
    """Pieces to stdout or stderr; the value is their bytes. `call`: of the source. `first`: where arguments change what
    others read, they come first, since a piece looks at its string when it is made."""

    stream: StreamName
    call: str
    first: tuple[Bind, ...]
    pieces: tuple[Piece, ...]


@dataclass(frozen=True)
class PutChar(ir.Expr):
    """One character, whose value is wanted too."""

    stream: StreamName
    value: ir.Expr


@dataclass(frozen=True)
class PutItems(ir.Expr):
    """fwrite, whose value is wanted too."""

    stream: StreamName
    items: Bytes


@dataclass(frozen=True)
class PrintTo(ir.Expr):
    """sprintf (args: to) and snprintf (to, size). marks: guards of what it writes. room: of it, where that is looked at."""

    args: tuple[ir.Expr, ...]
    first: tuple[Bind, ...]
    pieces: tuple[Piece, ...]
    apart: bool
    marks: tuple[Object, ...] = ()
    room: Room | None = None


@dataclass(frozen=True)
class SignChecked(ir.Expr):
    """A floating value that is printed: a NaN that arithmetic made ends the task for the CPU."""

    operand: ir.Expr


# ------------------------------------------------------------------------------------------ initialisers


@dataclass(frozen=True)
class Chars(ir.Node):
    """A string that fills a character array of `length`."""

    data: bytes
    length: int
    signed: bool


@dataclass(frozen=True)
class Braces(ir.Node):
    """An aggregate's initialiser as C++17 has it: members in order, None: zero; those behind the last one are zero too."""

    items: tuple[ir.Expr | Chars | Braces | None, ...]


Init = ir.Expr | Chars | Braces | ir.Fill


@dataclass(frozen=True)
class Compound(ir.Expr):
    """A compound literal's value: a struct or a number."""

    init: Init
