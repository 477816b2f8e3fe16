"""What the lowering knows: the analyses and decisions of one kernel, and what a name means in one of its functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property

from ...toolchain.cc import Libm
from ...values import dataclass
from ..analysis.code_numbers import code_numbers
from ..analysis.known_signs import KnownSigns
from ..analysis.locations import Locations
from ..analysis.objects import RECORD, Object
from ..analysis.points_to import PointsTo
from ..decide.decisions import Decisions, Place
from ..decide.extents import Extents, kept
from ..decide.guards import Guards
from ..decide.line_moves import LineMoves
from ..decide.overlaps import Overlaps
from ..ir import ir
from ..ir import walk as ir_walk
from ..ir.call_graph import CallGraph
from ..types import ctype
from . import checks, nodes

STREAMS = ("stdin", "stdout", "stderr")
_VARIABLES = frozenset({"errno", *STREAMS})  # of the library, that the device has


@dataclass(frozen=True)
class Rules:
    """How an expression is lowered for its value, and for what it does (`exprs`)."""

    value: Callable[[ir.Expr, Scope], ir.Expr]
    effect: Callable[[ir.Expr, Scope], ir.Expr]


@dataclass(frozen=True)
class LoweringFacts:
    """Facts and decisions that are handed to the lowering."""

    calls: CallGraph
    points_to: PointsTo
    locations: Locations
    decisions: Decisions
    guards: Guards
    moves: LineMoves
    extents: Extents


@dataclass(frozen=True)
class KernelContext:
    """libm: whose exp, log, pow ... the filters call."""

    rules: Rules
    program: ir.Program
    known: LoweringFacts
    libm: Libm

    @property
    def points_to(self) -> PointsTo:
        return self.known.points_to

    @property
    def decisions(self) -> Decisions:
        return self.known.decisions

    @property
    def guards(self) -> Guards:
        return self.known.guards

    @property
    def extents(self) -> Extents:
        return self.known.extents

    @cached_property
    def known_signs(self) -> KnownSigns:
        return KnownSigns(self.program)

    @cached_property
    def helpers(self) -> tuple[ir.Function, ...]:
        """The functions that the region reaches, in the program's order."""
        found = self.known.calls.of(self.program.region.body)
        return tuple(f for f in self.program.functions if f.name in found)

    @property
    def bodies(self) -> tuple[tuple[str, ir.Block], ...]:
        """What the kernel runs, by the names of the functions: the region, then the helpers."""
        return ((self.program.region.function, self.program.region.body), *((f.name, f.body) for f in self.helpers))

    @cached_property
    def calls(self) -> dict[str, frozenset[str]]:
        """Helper -> the helpers that it reaches, itself only where it is recursive."""
        return {f.name: frozenset(self.known.calls.below(f.name)) for f in self.helpers}

    @cached_property
    def uses_errno(self) -> bool:
        """Does the region or a helper look at errno?"""
        return any(ir_walk.names(body) & {"errno", "__errno_location"} for _, body in self.bodies)

    @cached_property
    def capacity(self) -> frozenset[Object]:
        """What getline's second argument points to."""
        loop = ir.record_loop(self.program.region)
        reads = [n for n in ir_walk.walk(loop.cond) if isinstance(n, ir.ReadRecord)] if loop is not None else []
        targets = (self.points_to.targets(self.program.region.function, r.capacity) for r in reads if r.kind == "getline")
        return frozenset(obj for found in targets for obj in found)

    @cached_property
    def externs(self) -> frozenset[str]:
        """Names of the C library."""
        return frozenset(s.name for s in self.program.externs if s.storage == "extern")

    @cached_property
    def code_numbers(self) -> dict[str, int]:
        return code_numbers(self.program)

    @cached_property
    def _overlaps(self) -> Overlaps:
        return Overlaps(self.known.locations)

    def own(self, name: str) -> bool:
        return name in self.program.by_name

    def may_overlap(self, function: str, node: ir.Call | ir.Assign) -> bool:
        """May a library call, or a struct's assignment, copy to where it copies from? The addresses are compared then."""
        if isinstance(node, ir.Assign):
            return self._overlaps.assigned(function, node)
        return not self.own(ir.called(node)) and self._overlaps.may(function, node)


class Scope:
    """One function's names. region: those of the enclosing function, as the region's body has them."""

    def __init__(self, kernel: KernelContext, function: ir.Function, *, region: bool = False) -> None:
        self.kernel, self.function, self.region = kernel, function, region
        self.reads_record = False  # inside the call that reads a record
        self._own = {symbol.name for symbol in (*function.params, *function.locals)}

    def keeps_sign(self, node: ir.Expr) -> bool:
        """Is the operation's NaN to have the sign that x86-64 gives it?"""
        return self.kernel.known_signs.exact(self.function.name, node)

    def value(self, node: ir.Expr) -> ir.Expr:
        """An expression for its value."""
        return self.kernel.rules.value(node, self)

    def effect(self, node: ir.Expr) -> ir.Expr:
        """An expression for what it does."""
        return self.kernel.rules.effect(node, self)

    def key(self, name: str) -> Object:
        """The object of a variable."""
        return self.kernel.points_to.key(self.function.name, name)

    def place(self, name: str) -> Place | None:
        """The place of an outer variable, None for what a helper or the region has for itself."""
        if name in self._own and not self.region:
            return None
        return self.kernel.decisions.by_key(self.key(name))

    def code_number(self, node: ir.Name) -> int:
        """The number that a function has as a pointer's value; 0: it is none of which that is known."""
        return self.kernel.code_numbers.get(node.name, 0) if isinstance(node.type, ctype.Func) else 0

    def variable(self, node: ir.Name) -> ir.Expr:
        """What a name stands for."""
        if node.name not in self._own:
            if node.name == "errno":
                return nodes.Errno(node.type, span=node.span)
            if node.name in STREAMS:
                return nodes.Stream(node.type, node.name, span=node.span)
        return self._problem(node) or self._var(node)

    def _var(self, node: ir.Name) -> nodes.Var:
        return self.var(node.name, node.type, node)

    def var(self, name: str, kind: ctype.CType, origin: ir.Node | None = None) -> nodes.Var:
        """A variable of this function, or of the program; `origin`: what has its place in the source."""
        place = self.place(name)
        space = place.space if place is not None else "" if name in self._own else "constant"
        made = nodes.Var(kind, name, self.key(name), space)
        return made if origin is None else nodes.Var(kind, name, made.key, space, span=origin.span)

    def _problem(self, node: ir.Name) -> nodes.Unsupported | None:
        if isinstance(node.type, ctype.Func):
            return nodes.Unsupported(node.type, "HD235", "the address of a function is taken", span=node.span)
        if not self.reads_record and self.kernel.points_to.key(self.function.name, node.name) in self.kernel.capacity:
            text = f"'{node.name.split('$')[0]}', the capacity of getline's buffer, is used: it depends on earlier lines"
            return nodes.Unsupported(node.type, "HD241", text, span=node.span)
        if node.name in self.kernel.externs and node.name not in self._own:
            text = f"the library's variable '{node.name}' is not on the device"
            return nodes.Unsupported(node.type, "HD232", text, span=node.span)
        return None

    def memory(self, node: ir.Call) -> nodes.Memory | None:
        """The local array that stands for what an allocation before the region made, None for any other call."""
        site = self.kernel.points_to.sites.get(node.number)
        place = self.kernel.decisions.by_key(site) if site is not None else None
        if place is None or place.space not in ("private", "lane"):
            return None
        return nodes.Memory(node.type, place.key, span=node.span)

    # ------------------------------------------------------------------------------------- guards

    def objects(self, node: ir.Expr) -> set[Object]:
        """What an lvalue may be."""
        return self.kernel.points_to.objects(self.function.name, node)

    def targets(self, pointer: ir.Expr) -> set[Object]:
        """What a pointer may lead to."""
        return self.kernel.points_to.targets(self.function.name, pointer)

    def guards_of(self, keys: set[Object]) -> tuple[Object, ...]:
        """Those of the objects that have guards, in order; the line's own guard needs no mark."""
        guards = self.kernel.guards
        return tuple(sorted(key for key in keys if key in guards.by_key or key in guards.arena))

    def asked(self, node: ir.Node, *part: int) -> checks.Asked | None:
        """The guards that a read asks, None where it is proven."""
        keys = self.kernel.guards.of(node, *part)
        return checks.Asked(tuple(sorted(keys)), self.kernel.guards.only(node, *part)) if keys else None

    def room(self, node: ir.Node, part: int) -> checks.Room | None:
        """How much a call may write through an argument, where that is looked at."""
        found = self.kernel.extents.rooms.get((node.number, part))
        return checks.Room(found.nbytes, tuple(sorted(found.keys))) if found is not None else None

    def rooms(self, node: ir.Node, numbers: Iterable[int]) -> tuple[tuple[int, checks.Room], ...]:
        return tuple((n, room) for n in numbers if (room := self.room(node, n)) is not None)

    def moves(self, node: ir.Expr) -> tuple[Object, ...]:
        """The objects, the line among them, that a moved pointer must not leave, where the kernel looks at that."""
        moves, name = self.kernel.known.moves, self.function.name
        extents = self.kernel.extents
        proven = isinstance(node, ir.Index) and node.number not in extents.sites and node.number not in extents.addressed
        found = kept(moves.targets(name, node)) & extents.shared if extents.shared and not proven else frozenset()
        return tuple(sorted(found | ({RECORD} if moves.checked(name, node) else set())))

    def writes_line(self, node: ir.Assign | ir.Step) -> bool:
        """May it change the line that getline gave? Behind that, on the device, the next record may lie."""
        return not isinstance(node.target, ir.Name) and RECORD in self.objects(node.target)
