"""Statements of the device dialect, and the whole of a kernel: what `lower` makes and the printers take."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from functools import cached_property

from ...source import UNKNOWN, Span
from ...values import dataclass
from ..analysis.objects import Object
from ..decide.decisions import Decisions
from ..decide.extents import Extents
from ..decide.guards import Guards
from ..ir import ir
from ..ir import walk as ir_walk
from ..types import ctype
from ..types.ctype import CType
from .nodes import Init, Memory, Temp, Unsupported, Var

# ------------------------------------------------------------------------------------------ statements


@dataclass(frozen=True)
class Declare(ir.Stmt):
    """A local comes to life. apart: without its initialiser, which is assigned, since a label may jump over it.
    guard: whose guard begins here. extent: who lies there from here on, where somebody asks."""

    variable: Var
    init: Init | None
    apart: bool = False
    guard: Object | None = None
    extent: Object | None = None


@dataclass(frozen=True)
class Begin(ir.Stmt):
    """From here on nothing of a guarded object is written. object: where it lies, None: not known yet."""

    guard: Object
    object: ir.Expr | None = None


@dataclass(frozen=True)
class Lies(ir.Stmt):
    """Where an object that an access may miss lies from here on: `object`, None: nowhere yet. Of memory of the heap that all
    threads share it is the pointer that leads there."""

    key: Object
    object: Var | Memory | None = None


@dataclass(frozen=True)
class SearchAhead(ir.Stmt):
    """Before a loop that steps `variable` while `bounds` and `goes` hold: it is moved to where the loop stops.

    bounds   of `index`. element: of a read-only array of `size`. goes: of `index` and `read`, the element's value.
    """

    variable: Var
    size: int
    index: Temp
    read: Temp
    bounds: ir.Expr
    element: ir.Expr
    goes: ir.Expr


@dataclass(frozen=True)
class Limit(ir.Node):
    """A loop goes on while `variable` is below a number that it does not change, or (upto) is that."""

    variable: Var
    end: ir.Expr
    upto: bool


@dataclass(frozen=True)
class CopyAhead(ir.Stmt):
    """Before a loop that copies bytes from source[of] to target[to], and steps both indexes, while `goes` of the byte,
    `read`, and the `limits` hold: some of its first rounds. in_line: they stop where the line ends, too."""

    target: ir.Expr
    to: Var
    source: ir.Expr
    of: Var
    limits: tuple[Limit, ...]
    read: Temp
    goes: ir.Expr
    in_line: bool


# ------------------------------------------------------------------------------------------ a record's own variables


@dataclass(frozen=True)
class Fresh(ir.Stmt):
    """An outer variable, or scratch memory, of which each work item has its own. zero: it begins as zeros. starts: a Start
    follows, so that nothing else has to be put there."""

    object: Var | Memory
    zero: bool = False
    starts: bool = False


@dataclass(frozen=True)
class FreshGlobals(ir.Stmt):
    """All of the thread's own globals hold nothing from the record before."""


@dataclass(frozen=True)
class Zero(ir.Stmt):
    """The object begins as zeros."""

    object: Var | Memory


@dataclass(frozen=True)
class Start(ir.Stmt):
    """The object gets what it held before the region: a known value."""

    object: Var | Memory
    init: Init


@dataclass(frozen=True)
class StartShared(ir.Stmt):
    """The object gets what it held before the region: from the field of `Shared` with its key, by a pointer or as it is."""

    object: Var | Memory
    by_pointer: bool


# ------------------------------------------------------------------------------------------ program


@dataclass(frozen=True)
class Function:
    """A helper. context: it, or a callee, needs the thread or outer variables. recursive: it may call itself."""

    name: str
    type: ctype.Func
    params: tuple[ir.Symbol, ...]
    locals: tuple[ir.Symbol, ...]
    body: ir.Block
    context: bool
    recursive: bool
    span: Span = field(default=UNKNOWN, compare=False, repr=False)


@dataclass(frozen=True)
class Table:
    """A constant with its initialiser; None: zero."""

    key: Object
    type: CType
    init: Init | None


@dataclass(frozen=True)
class Program:
    """A kernel.

    source   the program that it was made of: clauses, symbols, layouts.
    structs  (tag, is it a union?) of what its text mentions, those first that are declared only.
    tables   constants, each behind those whose addresses it holds.
    start    of each work item, before the region's `body`.
    guarded  does it keep guards, or check what is written into the line?
    arena    bytes of a thread for what a record allocates, 0: none allocates.
    left     what no function or table holds of what is not supported.
    """

    source: ir.Program
    decisions: Decisions
    guards: Guards
    extents: Extents
    structs: tuple[tuple[str, bool], ...]
    tables: tuple[Table, ...]
    helpers: tuple[Function, ...]
    start: tuple[ir.Stmt, ...]
    body: ir.Block
    guarded: bool
    arena: int
    left: tuple[Unsupported, ...]

    @cached_property
    def by_name(self) -> dict[str, Function]:
        return {f.name: f for f in self.helpers}

    def nodes(self) -> Iterator[ir.Node]:
        """Every node: the region's, the helpers', the tables'."""
        yield from ir_walk.walk(self.body)
        for function in self.helpers:
            yield from ir_walk.walk(function.body)
        for part in (*self.start, *(t.init for t in self.tables if t.init is not None), *self.left):
            yield from ir_walk.walk(part)

    def unsupported(self) -> tuple[Unsupported, ...]:
        """The nodes without a device form, in the order of the text, each once; of a label and the jumps to it the first."""
        found: dict[tuple[object, ...], Unsupported] = {}
        for node in self.nodes():
            if isinstance(node, Unsupported):
                place = () if node.code == "HD216" else (node.span,)
                found.setdefault((node.code, node.message, *place), node)
        return tuple(found.values())
