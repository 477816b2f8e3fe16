"""The region IR: a region, its enclosing function and the helpers it calls, as typed C with its conversions explicit.

Values only: frozen, compared without spans, printed and read back by `ir.text` and `ir.read`, checked by `verify`.
Operands of arithmetic have equal types (casts are nodes), arrays decay through `Decay`, integer constants are folded,
names are unique within a function and the program's globals (`i$2` is a shadowing `i`), initialisers are lists of
scalars by path. `lower` makes plain C of it; the passes of `passes` put the nodes of our own in.
Not here: what a variable is for (`uses`), GPU memory, C text.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import Literal

from ...manifest import Reason
from ...source import UNKNOWN, Span
from ...values import dataclass
from ..types.ctype import CType, Func, Layout, Layouts
from .expr import (
    LEAVES,
    Accumulate,
    AddressOf,
    Assign,
    Binary,
    Call,
    Cast,
    Comma,
    Compound,
    Conditional,
    Const,
    Decay,
    Deref,
    Emit,
    Exit,
    Expr,
    Fill,
    Format,
    Index,
    Init,
    Member,
    Name,
    Node,
    Numbered,
    Piece,
    ReadPair,
    ReadRecord,
    Stderr,
    Step,
    Str,
    Text,
    Unary,
)

__all__ = [
    "LEAVES", "Accumulate", "AddressOf", "Assign", "Binary", "Block", "Break", "Call", "CaseLabel", "Cast", "CombineRegion",
    "Comma", "Compound", "Conditional", "Const", "Continue", "Decay", "Decl", "Deref", "DoWhile", "Emit", "Exit", "Expr",
    "ExprStmt", "Fill", "For", "Format", "Function", "Goto", "If", "Index", "Init", "Label", "MapRegion", "Member",
    "Name", "Node", "Numbered", "Opaque", "Piece", "Program", "ReadPair", "ReadRecord", "RecordLoop", "Region",
    "RegionHere", "Return", "Stderr", "Step", "Stmt", "Str", "Switch", "Symbol", "Text", "Unary", "While", "called",
    "is_memory", "record_loop",
]

MEMORY = "$memory"  # ends the names of arrays that lie where a pointer leads
ROOM = "$room"  # and those of variables that have the bytes of such memory, where the program computes them


# ------------------------------------------------------------------------------------------ statements


@dataclass(frozen=True)
class Stmt(Node):
    """Base of statements."""


@dataclass(frozen=True)
class Decl(Stmt):
    """A local comes to life. `length`: elements of a variable-length array."""

    name: str
    init: Init | None = None
    length: Expr | None = None


@dataclass(frozen=True)
class ExprStmt(Stmt):
    expr: Expr


@dataclass(frozen=True)
class Block(Stmt):
    body: tuple[Stmt, ...]


@dataclass(frozen=True)
class If(Stmt):
    cond: Expr
    then: Block
    other: Block | None


@dataclass(frozen=True)
class While(Stmt):
    cond: Expr
    body: Block


@dataclass(frozen=True)
class DoWhile(Stmt):
    body: Block
    cond: Expr


@dataclass(frozen=True)
class For(Stmt):
    """Several declarations in a `for` stand before it, in a block of their own."""

    init: Stmt | None
    cond: Expr | None
    step: Expr | None
    body: Block


@dataclass(frozen=True)
class Switch(Stmt):
    """Labels are statements of the body, at any depth; control falls through as in C."""

    value: Expr
    body: Block


@dataclass(frozen=True)
class CaseLabel(Stmt):
    """None: default."""

    value: int | None


@dataclass(frozen=True)
class Break(Stmt):
    pass


@dataclass(frozen=True)
class Continue(Stmt):
    pass


@dataclass(frozen=True)
class Return(Stmt):
    value: Expr | None


@dataclass(frozen=True)
class Goto(Stmt):
    label: str


@dataclass(frozen=True)
class Label(Stmt):
    name: str


@dataclass(frozen=True)
class RecordLoop(Stmt):
    """for (; cond; step) body, where `cond` reads a record and is true just when there was one."""

    cond: Expr
    step: Expr | None
    body: Block


@dataclass(frozen=True)
class RegionHere(Stmt):
    """Where the region stands in its function's body."""


@dataclass(frozen=True)
class Opaque(Stmt):
    """A statement or declaration that could not be lowered, and why."""

    code: str
    message: str


# ------------------------------------------------------------------------------------------ program


@dataclass(frozen=True)
class Symbol:
    """A variable or function. `owner`: the function of a static local; `original`: its name in the source.

    Storage "call": the result of a call of the source that is made once, where the region begins; `original` is the call.
    """

    name: str
    original: str
    type: CType
    storage: Literal["param", "local", "global", "static", "extern", "call"]
    const: bool = False
    owner: str = ""
    init: Init | None = None
    span: Span = field(default=UNKNOWN, compare=False, repr=False)


@dataclass(frozen=True)
class Function:
    """`locals` lists every variable that a Decl of the body names."""

    name: str
    type: Func
    params: tuple[Symbol, ...]
    locals: tuple[Symbol, ...]
    body: Block
    span: Span = field(default=UNKNOWN, compare=False, repr=False)

    def symbol(self, name: str) -> Symbol | None:
        return self._symbols.get(name)

    @cached_property
    def _symbols(self) -> dict[str, Symbol]:
        return _by_name(*self.params, *self.locals)


@dataclass(frozen=True)
class Region:
    """The annotated statement, in `body`, with its clauses (names as in the IR; lengths in elements, 0 = absent)."""

    function: str
    key: str
    value: str
    keylength: int
    vallength: int
    kvpairs: int
    blocks: int
    threads: int
    firstprivate: tuple[str, ...]
    sharedRO: tuple[str, ...]
    texture: tuple[str, ...]
    body: Block
    span: Span = field(default=UNKNOWN, compare=False, repr=False)


@dataclass(frozen=True)
class MapRegion(Region):
    """After `record_loop` the body is the RecordLoop alone."""


@dataclass(frozen=True)
class CombineRegion(Region):
    """After `record_loop` the body is statements, one RecordLoop, statements (the flush)."""

    keyin: str = ""
    valuein: str = ""


@dataclass(frozen=True)
class Program:
    """`externs` are the library functions and variables that are named, and the results of calls that were moved out of
    the region; `structs` every tag with its layout."""

    structs: tuple[tuple[str, bool, Layout], ...]
    globals: tuple[Symbol, ...]
    externs: tuple[Symbol, ...]
    functions: tuple[Function, ...]
    region: MapRegion | CombineRegion
    refusals: tuple[Reason, ...] = ()

    @cached_property
    def layouts(self) -> Layouts:
        return Layouts({tag: layout for tag, _, layout in self.structs})

    @cached_property
    def by_name(self) -> dict[str, Function]:
        return {f.name: f for f in self.functions}

    @property
    def enclosing(self) -> Function:
        return self.by_name[self.region.function]

    def symbol(self, function: str, name: str) -> Symbol | None:
        """What `name` means inside `function`."""
        inner = self.by_name[function].symbol(name) if function in self.by_name else None
        return inner or self._symbols.get(name)

    @cached_property
    def _symbols(self) -> dict[str, Symbol]:
        """Those that belong to no function."""
        return _by_name(*self.globals, *self.externs)

    def shown(self, name: str) -> str:
        """A variable as the user knows it: by its IR name, as the call whose result it is, or as what a pointer leads to."""
        if is_memory(name):
            return f"*{name.removesuffix(MEMORY)}"
        if name.endswith(ROOM):
            return f"size of *{name.removesuffix(ROOM)}"
        symbol = next((s for s in self.externs if s.name == name and s.storage == "call"), None)
        return symbol.original if symbol is not None else name


def is_memory(name: str) -> bool:
    """Is it the name of an array that lies where a pointer leads (`analysis.named_memory`)?"""
    return name.endswith(MEMORY)


def _by_name(*symbols: Symbol) -> dict[str, Symbol]:
    """The first of each name."""
    return {s.name: s for s in reversed(symbols)}


def record_loop(region: Region) -> RecordLoop | None:
    """The region's record loop, None before or without its recognition."""
    return next((s for s in region.body.body if isinstance(s, RecordLoop)), None)


def called(call: Call) -> str:
    """Name of the function that is called, "" through a pointer."""
    callee = call.callee
    return callee.operand.name if isinstance(callee, Decay) and isinstance(callee.operand, Name) else ""
