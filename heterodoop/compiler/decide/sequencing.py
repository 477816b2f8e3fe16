"""Order of evaluation: effects that C leaves without an order, so that filter and kernel might each choose (HD260).

C17 6.5: operands and arguments are evaluated in any order, what ++, -- and = change may be changed at any time before the
next sequence point, and calls come one after the other, but in any order. Where two such parts of one expression touch
the same object and one changes it, the program's bytes depend on the compiler. `&& || ?: ,` give an order, and so does
the entry of a call.

Looked at: the region, what runs before it, and the helpers of both. Conservative about what may be the same object
(`locations`). Not here: the order of statements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from typing import Any

from ...manifest import Reason
from ...source import Span
from ..analysis.call_effects import NONE, STDERR, STDIN, STDOUT, CallEffects, Effects, state
from ..analysis.locations import NOWHERE, Location, Locations, Places
from ..analysis.objects import ERRNO, RECORD, STRTOK, Local, Object, Variable
from ..analysis.points_to import SCOPED_CALLS, PointsTo
from ..ir import build, ir
from ..ir import walk as ir_walk
from ..ir.call_graph import CallGraph
from ..types import ctype


def order_refusals(
    program: ir.Program, points_to: PointsTo, locations: Locations, calls: CallGraph,
) -> tuple[Reason, ...]:
    """Every place where C leaves an order open that the program's output may depend on, each once."""
    return _Order(program, points_to, locations).refusals(calls)


class _Order:
    def __init__(self, program: ir.Program, points_to: PointsTo, locations: Locations) -> None:
        self._program, self._points_to, self._locations = program, points_to, locations
        self._calls = CallEffects(points_to, locations)
        self._summaries: dict[str, Effects] = {}
        self._found: dict[Reason, None] = {}
        self._span: Span = program.region.span
        self._errno_lives = _Errno(program).lives()

    def refusals(self, calls: CallGraph) -> tuple[Reason, ...]:
        program, function = self._program, self._program.region.function
        early = list(takewhile(lambda found: not isinstance(found[0], ir.RegionHere), _expressions(program.enclosing.body)))
        helpers = calls.of(program.region.body, *(stmt for stmt, _ in early))
        self._summarise(sorted(helpers))
        self._found.clear()
        for stmt, part in early:
            self._span = stmt.span
            self._whole(function, part)
        self._body(function, program.region.body)
        for name in sorted(helpers):
            self._body(name, program.by_name[name].body)
        return tuple(self._found)

    def _summarise(self, names: Sequence[str]) -> None:
        """What a call of each function does, its own variables left out, until nothing is added (recursion)."""
        before: dict[str, Effects] | None = None
        while before != self._summaries:
            before = dict(self._summaries)
            for name in names:
                self._summaries[name] = self._outside(name, self._body(name, self._program.by_name[name].body))

    def _outside(self, name: str, effects: Effects) -> Effects:
        function = self._program.by_name[name]
        own: set[Object] = {Local(name, symbol.name) for symbol in (*function.params, *function.locals)}
        own |= {site for site, (where, node) in self._points_to.site_nodes.items()
                if where == name and isinstance(node, ir.Call) and ir.called(node) in SCOPED_CALLS}
        ignored = own if self._errno_lives else {*own, ERRNO}
        sets = any(place.obj == ERRNO for place in effects.changes)
        return Effects(frozenset(p for p in effects.reads if p.obj not in ignored),
                       frozenset(p for p in effects.changes if p.obj not in ignored), NOWHERE, effects.errno or sets)

    def _body(self, function: str, body: ir.Block) -> Effects:
        found = NONE
        for stmt, part in _expressions(body):
            self._span = stmt.span
            found |= self._whole(function, part)
        return found.done()

    def _whole(self, function: str, part: ir.Init | None) -> Effects:
        if part is None:
            return NONE
        return self._items(function, part) if isinstance(part, ir.Fill) else self.value(function, part)

    # ------------------------------------------------------------------------------------- expressions

    def value(self, function: str, node: ir.Expr) -> Effects:
        """The effects of evaluating an expression for its value."""
        rule = _VALUES.get(type(node))
        return rule(self, function, node) if rule else NONE

    def place(self, function: str, node: ir.Expr) -> Effects:
        """The effects of finding out which object an lvalue names, without reading it."""
        if isinstance(node, (ir.Name, ir.Str)):
            return NONE
        if isinstance(node, ir.Member):
            return self.place(function, node.base)
        if isinstance(node, ir.Deref):
            return self.value(function, node.pointer)
        if isinstance(node, ir.Index):
            return self._apart(node, [self.value(function, node.base), self.value(function, node.index)])
        if isinstance(node, ir.Compound):
            return self._whole(function, node.init)
        return self.value(function, node)

    def load(self, function: str, node: ir.Expr) -> Effects:
        if isinstance(node.type, ctype.Func):
            return NONE
        return self.place(function, node) | Effects(reads=self._locations.of(function, node))

    def binary(self, function: str, node: ir.Binary) -> Effects:
        left, right = self.value(function, node.left), self.value(function, node.right)
        return left.done() | right if node.op in build.LOGICAL else self._apart(node, [left, right])

    def conditional(self, function: str, node: ir.Conditional) -> Effects:
        cond = self.value(function, node.cond).done()
        return cond | self.value(function, node.then) | self.value(function, node.other)

    def comma(self, function: str, node: ir.Comma) -> Effects:
        return self.value(function, node.first).done() | self.value(function, node.second)

    def assign(self, function: str, node: ir.Assign) -> Effects:
        """The change itself comes when the operands' values are known, but not always behind what they change."""
        target = self._locations.of(function, node.target)
        place = self.place(function, node.target)
        if node.op != "=":
            place |= Effects(reads=target)
        before = self._apart(node, [place, self.value(function, node.value)])
        self._compare(node, before.pending - self._same_value(function, node), target)
        return before | Effects(changes=target, pending=target)

    def _same_value(self, function: str, node: ir.Assign) -> Places:
        """`a[i] = a[j] = 0`: objects that get the same value from the rest of the chain, in whatever order."""
        targets, others, last = NOWHERE, NOWHERE, node
        while last.op == "=" and isinstance(inner := ir_walk.uncast(last.value), ir.Assign) and inner.type == node.type:
            if inner.op != "=":
                break
            last = inner
            targets |= self._locations.of(function, last.target)
            others |= self.place(function, last.target).pending
        return targets - others - self.value(function, last.value).pending if targets else targets

    def step(self, function: str, node: ir.Step) -> Effects:
        target = self._locations.of(function, node.target)
        before = self.place(function, node.target) | Effects(reads=target)
        self._compare(node, before.pending, target)
        return before | Effects(changes=target, pending=target)

    def accumulate(self, function: str, node: ir.Accumulate) -> Effects:
        target = self._locations.of(function, node.target)
        place = self.place(function, node.target) | Effects(reads=target)
        before = self._apart(node, [place, self.value(function, node.value)])
        self._compare(node, before.pending, target)
        return before | Effects(changes=target, pending=target)

    def call(self, function: str, node: ir.Call) -> Effects:
        parts = [self.value(function, part) for part in (node.callee, *node.args)]
        return self._entered(node, parts, self._work(function, node))

    def _entered(self, node: ir.Expr, parts: list[Effects], work: Effects) -> Effects:
        """All that the arguments do is done before the call begins."""
        return self._apart(node, parts).done() | work

    def _work(self, function: str, node: ir.Call) -> Effects:
        callees = self._points_to.callees(function, node)
        found = NONE if callees else self._calls.of(function, node)
        for callee in callees:
            work = self._summaries.get(callee.name, NONE)
            reads, changes = (
                frozenset(seen for place in places for seen in self._locations.at_call(function, node, callee, place))
                for places in (work.reads, work.changes))
            found |= Effects(reads, changes, NOWHERE, work.errno)
        return found

    def output(self, function: str, node: ir.Emit | ir.Stderr) -> Effects:
        arguments = [arg for piece in node.pieces if isinstance(piece, ir.Format) for arg in piece.args]
        texts = [self._locations.around(function, a) for a in arguments if isinstance(a.type, ctype.Pointer)]
        work = state(STDOUT if isinstance(node, ir.Emit) else STDERR) | Effects(reads=frozenset().union(*texts))
        return self._entered(node, [self.value(function, a) for a in arguments], work)

    def read(self, function: str, node: ir.ReadRecord | ir.ReadPair) -> Effects:
        targets = (node.target, node.capacity) if isinstance(node, ir.ReadRecord) else node.targets
        pointers = [t for t in targets if isinstance(t.type, ctype.Pointer)]
        filled = frozenset().union(*(self._locations.around(function, t) for t in pointers))
        work = state(STDIN) | Effects(changes=filled | {Location(RECORD)})
        return self._entered(node, [self.value(function, t) for t in targets], work)

    def ends(self, function: str, node: ir.Exit) -> Effects:
        return self._entered(node, [self.value(function, a) for a in node.args], NONE)

    def _items(self, function: str, init: ir.Fill) -> Effects:
        return self._apart(init, [self.value(function, item) for _, item in init.items])

    # ------------------------------------------------------------------------------------- comparing

    def _apart(self, node: ir.Expr | ir.Fill, parts: Sequence[Effects]) -> Effects:
        """Parts in any order: none may change what another reads or changes."""
        whole = NONE
        for part in parts:
            self._compare(node, part.changes, whole.reads | whole.changes)
            self._compare(node, whole.changes, part.reads)
            self._compare_errno(node, whole, part)
            self._compare_errno(node, part, whole)
            whole |= part
        return whole

    def _compare_errno(self, node: ir.Expr | ir.Fill, one: Effects, other: Effects) -> None:
        """Library calls that may set errno have no order that shows, but where it is read or cleared."""
        if one.errno and any(place.obj == ERRNO for place in other.reads | other.changes):
            self._report(node, Location(ERRNO))

    def _compare(self, node: ir.Expr | ir.Fill, changes: Places, touched: Places) -> None:
        for change in sorted(changes, key=_first) if touched else ():
            if any(self._locations.overlap(change, place) for place in touched):
                self._report(node, change)
                return

    def _report(self, node: ir.Expr | ir.Fill, place: Location) -> None:
        span = node.span if isinstance(node, ir.Expr) and node.span.line else self._span
        text = f"{_shown(place)} is changed and used in one expression, and C leaves open what comes first"
        self._found[Reason("HD260", text, span)] = None


def _first(place: Location) -> tuple[bool, str, str]:
    """Hidden state is what an order is missed for first."""
    return place.obj not in (STRTOK, ERRNO), str(place.obj), repr(place.parts)


def _shown(place: Location) -> str:
    """The object as the user knows it."""
    members = "".join(f".{part[1]}" for part in place.parts if isinstance(part, tuple))
    return f"'{place.obj.shown}{members}'" if isinstance(place.obj, Variable) else place.obj.shown


def _expressions(node: ir.Node) -> Iterator[tuple[ir.Stmt, ir.Init | None]]:
    """Every full expression and initialiser of a body with its statement, in the order of the text; None at the region."""
    for part in ir_walk.children(node):
        if isinstance(part, (ir.Expr, ir.Fill)):
            assert isinstance(node, ir.Stmt)
            yield node, part
        elif isinstance(part, ir.RegionHere):
            yield part, None
        else:
            yield from _expressions(part)


class _Errno:
    """Is errno read somewhere without having been set just before? If not, nobody sees in which order calls set it."""

    def __init__(self, program: ir.Program) -> None:
        self._program = program
        self._seen: dict[str, bool] = {}

    def lives(self) -> bool:
        return self._block(self._program.region.body) or any(map(self._function, self._program.by_name))

    def _function(self, name: str) -> bool:
        if name not in self._seen:
            self._seen[name] = False
            self._seen[name] = self._block(self._program.by_name[name].body)
        return self._seen[name]

    def _block(self, block: ir.Block) -> bool:
        """Up to a statement that sets it."""
        for stmt in block.body:
            if isinstance(stmt, ir.ExprStmt) and isinstance(stmt.expr, ir.Assign) and _is_errno(stmt.expr.target):
                return stmt.expr.op != "=" or self._reads(stmt.expr.value)
            if self._statement(stmt):
                return True
        return False

    def _statement(self, stmt: ir.Stmt) -> bool:
        for part in ir_walk.children(stmt):
            found = (self._block(part) if isinstance(part, ir.Block) else self._statement(part) if isinstance(part, ir.Stmt)
                     else self._reads(part))
            if found:
                return True
        return False

    def _reads(self, node: ir.Init) -> bool:
        for part in ir_walk.walk(node):
            if _is_errno(part) or (isinstance(part, ir.Call) and self._called(ir.called(part))):
                return True
        return False

    def _called(self, name: str) -> bool:
        return name in self._program.by_name and self._function(name)


def _is_errno(node: Any) -> bool:
    if isinstance(node, ir.Deref) and isinstance(node.pointer, ir.Call):
        return ir.called(node.pointer) == "__errno_location"
    return isinstance(node, ir.Name) and node.name == ERRNO.name


_VALUES: dict[type, Callable[[_Order, str, Any], Effects]] = {
    ir.Name: _Order.load, ir.Member: _Order.load, ir.Index: _Order.load, ir.Deref: _Order.load, ir.Compound: _Order.load,
    ir.Decay: lambda self, function, node: self.place(function, node.operand),
    ir.AddressOf: lambda self, function, node: self.place(function, node.operand),
    ir.Cast: lambda self, function, node: self.value(function, node.operand),
    ir.Unary: lambda self, function, node: self.value(function, node.operand),
    ir.Binary: _Order.binary, ir.Conditional: _Order.conditional, ir.Comma: _Order.comma, ir.Assign: _Order.assign,
    ir.Step: _Order.step, ir.Accumulate: _Order.accumulate, ir.Call: _Order.call,
    ir.Emit: _Order.output, ir.Stderr: _Order.output,
    ir.ReadRecord: _Order.read, ir.ReadPair: _Order.read, ir.Exit: _Order.ends,
}
