"""The flow analysis of a region: statements, loops to their fixed point, helpers in line, the record loop once.

For a mapper the state before each record is empty: whatever is read before it was written in the same record comes from
an earlier one (or from before the loop). For a combiner it is the state of the whole run, from the region's start.
Paths are kept apart by the known values of variables (a flag, a call's result), up to a limit.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ..ir import ir
from ..ir import walk as ir_walk
from ..types import ctype
from ..types.ranges import Range
from .flow_expr import Evaluator, Exhausted
from .flow_findings import Findings, Outcomes, Touched, Walk
from .flow_loops import changed_in, counting, filled_arrays, runs_at_least_once
from .flow_memo import Memo
from .flow_objects import ObjectModel
from .flow_state import ANY, LIMIT, Addr, Same, State, Value, by_value, merge, same, widened
from .libc_effects import EFFECTS
from .objects import RECORD, Arena, Local, Object, Unnamed
from .points_to import PointsTo

SETTLED = 3  # rounds of a loop after which numbers that go down are given up
ROUNDS = 24  # of a loop, before values are forgotten
STEPS = 45_000  # statements in all: loops in loops are gone through again in every round of the outer ones
JOINED = 24  # values of a state that cost as much as a statement where a loop's rounds are joined


Counted = tuple[Object | None, int, list[tuple[ir.Index, int]]]  # a loop's variable, its end, and arrays that it fills


@dataclass
class Frame:
    """Where a function's or loop's jumps collect."""

    breaks: list[State] = field(default_factory=list)
    continues: list[State] = field(default_factory=list)


@dataclass
class Active:
    """A function that is being walked: its arguments, what it returned so far."""

    name: str
    args: list[Value]
    returns: Outcomes = field(default_factory=list)



def analyse_flow(model: ObjectModel) -> Findings:
    """What the region does to every object outside it; nothing is found where no record loop was recognised."""
    if ir.record_loop(model.program.region) is None:
        return Findings()
    findings = _findings(model, line_ends=True)
    return findings if findings.line_ends else _findings(model, line_ends=False)


def _findings(model: ObjectModel, *, line_ends: bool) -> Findings:
    flow = _Flow(model, line_ends)
    try:
        flow.region()
    except Exhausted:
        flow.findings.problem("HD231", "the region has too many paths to follow", model.program.region.span)
    flow.findings.line_ends = flow.findings.line_ends and line_ends
    return flow.findings


class _Flow:
    """Statements, loops and own functions; what they are made of is the evaluator's."""

    def __init__(self, model: ObjectModel, line_ends: bool) -> None:
        self._model, self._program = model, model.program
        self._walk = Walk(model.program.region.function, line_ends)
        self._evaluator = Evaluator(model, self._walk, self.enter)
        self._memory = self._evaluator.memory
        self._frames: list[Frame] = []
        self._switches: list[list[State]] = []
        self._steps = 0
        self._counts: dict[int, Counted] = {}
        self._pointed: dict[str, frozenset[str]] = {}
        self._active: list[Active] = [Active(self._walk.function, [])]
        self._memo = Memo(model, self._walk)

    @property
    def findings(self) -> Findings:
        return self._walk.findings

    def _merge(self, states: list[State]) -> list[State]:
        return merge(states, LIMIT) if states else []

    # ------------------------------------------------------------------------------------- region

    def region(self) -> None:
        states = [State()]
        for stmt in self._program.region.body.body:
            states = self.stmt(stmt, states)

    def _records(self, loop: ir.RecordLoop, states: list[State]) -> list[State]:
        if isinstance(self._program.region, ir.MapRegion):
            self._record(loop, [State()])
            return states
        head = states
        for _ in range(ROUNDS):
            back, ended = self._record(loop, head)
            new = widened(head, self._merge(head + back))
            if same(new, head):
                break
            head = new
        return self._merge(ended)

    def _record(self, loop: ir.RecordLoop, states: list[State]) -> tuple[list[State], list[State]]:
        """One round: (states at its end, states in which the loop has ended)."""
        self._walk.in_loop = self._walk.reading = True
        going, ended = self._evaluator.conditions.branch(loop.cond, states)
        self._walk.reading = False
        self._frames.append(Frame())
        after = self.block(loop.body, self._merge(going))
        frame = self._frames.pop()
        back = self._step(loop.step, after + frame.continues)
        self._walk.in_loop = False
        return back, ended + frame.breaks

    # ------------------------------------------------------------------------------------- statements

    def block(self, block: ir.Block, states: list[State]) -> list[State]:
        for stmt in block.body:
            states = self.stmt(stmt, states)
        return states

    def stmt(self, stmt: ir.Stmt, states: list[State]) -> list[State]:
        """States after a statement. Runs through dead code too, which a label may bring to life."""
        self._spend(1)
        handler = getattr(self, f"_{type(stmt).__name__.lower()}", None)
        return self._merge(handler(stmt, states)) if handler is not None else states

    def _spend(self, steps: int) -> None:
        self._steps += steps
        if self._steps > STEPS:
            raise Exhausted

    def _exprstmt(self, stmt: ir.ExprStmt, states: list[State]) -> list[State]:
        return [s for state in states for s in self._evaluator.effect(stmt.expr, state)]

    def _decl(self, stmt: ir.Decl, states: list[State]) -> list[State]:
        cell = self._evaluator.key(stmt.name).cell
        out = []
        for state in states:
            if stmt.init is None:
                out.append(state.without(cell.obj))
            elif isinstance(stmt.init, ir.Fill):
                out.append(self._evaluator.initialise(cell, stmt.init, state, stmt.span))
            else:
                outcomes = self._evaluator.eval(stmt.init, state)
                out += [self._memory.write([Touched(cell)], s, v, stmt.span) for v, s in outcomes]
        return out

    def _block(self, stmt: ir.Block, states: list[State]) -> list[State]:
        return self.block(stmt, states)

    def _if(self, stmt: ir.If, states: list[State]) -> list[State]:
        yes, no = self._evaluator.conditions.branch(stmt.cond, states)
        after = self.block(stmt.then, self._merge(yes))
        return after + (self.block(stmt.other, self._merge(no)) if stmt.other is not None else no)

    def _while(self, stmt: ir.While, states: list[State]) -> list[State]:
        return self._loop(stmt.cond, None, stmt.body, states)

    def _dowhile(self, stmt: ir.DoWhile, states: list[State]) -> list[State]:
        return self._loop(stmt.cond, None, stmt.body, states, test_first=False)

    def _for(self, stmt: ir.For, states: list[State]) -> list[State]:
        if stmt.init is not None:
            states = self.stmt(stmt.init, states)
        counted, end, fills = self._counted(stmt)
        if counted is not None:
            self._evaluator.ends[counted] = end
        out = self._loop(stmt.cond, stmt.step, stmt.body, states, test_first=not runs_at_least_once(stmt))
        if counted is not None:
            self._evaluator.ends.pop(counted, None)
        for target, count in fills:
            out = [self._fill(target, count, s) for s in out]
        return out

    def _counted(self, loop: ir.For) -> Counted:
        """What a loop counts, if it does; a loop in loops is asked many times."""
        if loop.number not in self._counts:
            bounds = counting(loop) if self._counts_alone(loop) else None
            if bounds is None or changed_in(loop.body, bounds[0]):
                self._counts[loop.number] = None, 0, []
            else:
                self._counts[loop.number] = self._evaluator.key(bounds[0]), bounds[2], filled_arrays(loop)
        return self._counts[loop.number]

    def _counts_alone(self, loop: ir.For) -> bool:
        """Is the loop's variable a local that no pointer reaches?"""
        bounds = counting(loop)
        if bounds is None or self._program.by_name[self._walk.function].symbol(bounds[0]) is None:
            return False
        return bounds[0] not in self._taken(self._walk.function)

    def _taken(self, function: str) -> frozenset[str]:
        """Variables of which the function, or the region, takes the address."""
        if function not in self._pointed:
            parts = (self._program.by_name[function].body, self._program.region.body)
            taken = (n.operand for part in parts for n in ir_walk.walk(part) if isinstance(n, ir.AddressOf))
            self._pointed[function] = frozenset(n.name for n in taken if isinstance(n, ir.Name))
        return self._pointed[function]

    def _fill(self, target: ir.Index, count: int, state: State) -> State:
        """A loop that surely assigned elements 0 to count - 1."""
        for value, s in self._evaluator.eval(target.base, state):
            places = self._evaluator.places_at(target.base, value, target.type)
            return self._memory.write_bytes(places, s, count * (self._model.size(target.type) or 0), target.span)
        return state

    def _loop(
        self, cond: ir.Expr | None, step: ir.Expr | None, body: ir.Block, states: list[State], *, test_first: bool = True,
    ) -> list[State]:
        head = states
        early: list[State] = []
        if not test_first:
            head, early = self._round(body, step, states)
        for number in range(3 * ROUNDS):
            going, ended = self._evaluator.conditions.branch(cond, head) if cond is not None else (head, [])
            back, breaks = self._round(body, step, going)
            new = merge(head + back, LIMIT if number < ROUNDS else 1) if head + back else []
            if number >= SETTLED:
                new = widened(head, new, self._walk.thresholds if number < ROUNDS else ())
            if same(new, head):
                return ended + breaks + early
            head = new
        raise Exhausted

    def _round(self, body: ir.Block, step: ir.Expr | None, states: list[State]) -> tuple[list[State], list[State]]:
        """Once through a loop's body: (states before the next test, states at its breaks)."""
        self._spend(sum(len(s.env) + len(s.marks) for s in states) // JOINED)
        self._frames.append(Frame())
        after = self.block(body, self._merge(states))
        frame = self._frames.pop()
        return self._step(step, after + frame.continues), frame.breaks

    def _step(self, step: ir.Expr | None, states: list[State]) -> list[State]:
        states = self._merge(states)
        return states if step is None else self._merge([s for state in states for _, s in self._evaluator.eval(step, state)])

    def _switch(self, stmt: ir.Switch, states: list[State]) -> list[State]:
        entry = [s for state in states for _, s in self._evaluator.eval(stmt.value, state)]
        for name in (n.name for n in ir_walk.walk(stmt.body) if isinstance(n, ir.Decl)):  # a label may jump over it
            entry = [s.without(self._evaluator.key(name)) for s in entry]
        self._switches.append(self._merge(entry))
        self._frames.append(Frame())
        after = self.block(stmt.body, [])
        frame = self._frames.pop()
        self._switches.pop()
        if self._frames:
            self._frames[-1].continues += frame.continues
        skipped = [] if _has_default(stmt.body) else entry
        return after + frame.breaks + skipped

    def _caselabel(self, stmt: ir.CaseLabel, states: list[State]) -> list[State]:
        return states + (self._switches[-1] if self._switches else [])

    def _break(self, stmt: ir.Break, states: list[State]) -> list[State]:
        self._frames[-1].breaks += states
        return []

    def _continue(self, stmt: ir.Continue, states: list[State]) -> list[State]:
        self._frames[-1].continues += states
        return []

    def _return(self, stmt: ir.Return, states: list[State]) -> list[State]:
        for state in states:
            outcomes: Outcomes = [(ANY, state)] if stmt.value is None else self._evaluator.eval(stmt.value, state)
            self._active[-1].returns += outcomes
        return []

    def _recordloop(self, stmt: ir.RecordLoop, states: list[State]) -> list[State]:
        return self._records(stmt, states)

    def _opaque(self, stmt: ir.Opaque, states: list[State]) -> list[State]:
        self.findings.problem(stmt.code, stmt.message, stmt.span)
        return states

    # ------------------------------------------------------------------------------------- own functions

    def enter(self, function: ir.Function, args: list[Value], state: State, node: ir.Call) -> Outcomes:
        if any(a.name == function.name for a in self._active):
            return self._recursion(function, args, state, node)
        call = self._memo.call(function, args, state)
        if call is None:
            return self._entered(function, args, state)
        found = self._memo.found.get(call.key)
        if found is None:
            found = self._memo.found[call.key] = self._entered(function, args, call.state)
        return call.outcomes(found)

    def _entered(self, function: ir.Function, args: list[Value], state: State) -> Outcomes:
        """The outcomes of a function's body."""
        if function.name in self._model.calls.recursive:
            args = [self._of_any_call(function, param, value) for param, value in zip(function.params, args, strict=False)]
        for param, value in zip(function.params, args, strict=False):
            cell = Local(function.name, param.name).cell
            state = self._memory.bind(state, cell, value).with_value(cell, value)
        outer = (self._walk.function, self._frames, self._switches, self._walk.recursing)
        self._walk.function, self._frames, self._switches = function.name, [], []
        self._walk.recursing = self._walk.recursing or function.name in self._model.calls.recursive
        self._active.append(Active(function.name, args))
        after = self.block(function.body, [state])
        active = self._active.pop()
        self._walk.function, self._frames, self._switches, self._walk.recursing = outer
        outcomes = active.returns + [(ANY, s) for s in after]
        return by_value([(self._returned(v, s, function.name), s.left(function.name)) for v, s in outcomes])

    def _of_any_call(self, function: ir.Function, param: ir.Symbol, value: Value) -> Value:
        """What is known of an argument whichever of the calls within each other it is of: to which variable it points."""
        cell = Local(function.name, param.name)
        allocated = any(isinstance(obj, Arena) for obj in self._model.points_to.contents(cell))
        return value if isinstance(value, Addr) and not allocated else ANY

    def _returned(self, value: Value, state: State, function: str) -> Value:
        """A value as it is known when the variables of the function that returns it are gone."""
        if isinstance(value, Same) and value.cell.obj.within(function):
            low, high = self._memory.range(value, state)
            return Range(low, high) if low is not None and low >= 0 else ANY
        if isinstance(value, Addr) and value.by is not None and value.by.cell.obj.within(function):
            more = state.known.below.get((value.cell.obj, value.by.cell), 0) - value.by.plus
            return replace(value, by=None, more=max(more, 0) if self._memory.natural(value.by, state) else 0)
        return value

    def _recursion(self, function: ir.Function, args: list[Value], state: State, node: ir.Call) -> Outcomes:
        """A function that calls itself is followed once. That is enough where it writes nothing outside itself: what it
        reads was then read by the first call, with no more written before."""
        first = next(a for a in self._active if a.name == function.name)
        if writes_outside(self._program, function.name, self._model.points_to):
            text = f"'{function.name}' calls itself and writes to variables outside"
            self.findings.problem("HD217", text, node.span)
        elif not all(map(self._same_object, first.args, args, node.args)):
            text = f"'{function.name}' calls itself with a pointer to another variable"
            self.findings.problem("HD217", text, node.span)
        return [(ANY, state)]


    def _same_object(self, first: Value, now: Value, arg: ir.Expr) -> bool:
        """Does a pointer argument of the inner call point where the outer call's did?"""
        if not isinstance(arg.type, ctype.Pointer) or now == 0:
            return True
        if isinstance(first, Addr) and isinstance(now, Addr):
            return first.cell == now.cell
        return not any(self._model.outer(o) for o in self._model.points_to.targets(self._walk.function, arg))


def writes_outside(program: ir.Program, name: str, points_to: PointsTo) -> bool:
    """May a function, or one that it calls, write to anything but its own variables?"""
    pending, seen = [name], set[str]()
    while pending:
        current = pending.pop()
        seen.add(current)
        for node in ir_walk.walk(program.by_name[current].body):
            if isinstance(node, (ir.Assign, ir.Step, ir.Accumulate)):
                if any(not _own(o, current) for o in points_to.objects(current, node.target)):
                    return True
            if isinstance(node, (ir.ReadRecord, ir.ReadPair)):
                return True
            if isinstance(node, ir.Call):
                callees = points_to.callees(current, node)
                if not callees and not _harmless(node, points_to) and not _writes_own(current, node, points_to):
                    return True
                pending += [c.name for c in callees if c.name not in seen]
    return False


def _own(obj: Object, function: str) -> bool:
    return obj.within(function) or isinstance(obj, (Unnamed, Arena)) or obj is RECORD


def _harmless(node: ir.Call, points_to: PointsTo) -> bool:
    effect = EFFECTS.get(ir.called(node))
    new = effect is not None and effect.result == "new" and not isinstance(points_to.sites.get(node.number), Arena)
    return effect is not None and not effect.writes and not new


def _writes_own(function: str, node: ir.Call, points_to: PointsTo) -> bool:
    """Does a library function write to nothing but what the record has allocated?"""
    effect = EFFECTS.get(ir.called(node))
    if effect is None or effect.stores or effect.result == "new":
        return False
    targets = [points_to.targets(function, node.args[access.arg]) for access in effect.writes if access.arg < len(node.args)]
    return all(isinstance(obj, Arena) for found in targets for obj in found)


def _has_default(body: ir.Block) -> bool:
    """A `default` of this switch itself."""
    pending: list[ir.Node] = [body]
    while pending:
        node = pending.pop()
        if isinstance(node, ir.CaseLabel) and node.value is None:
            return True
        pending += [c for c in ir_walk.children(node) if isinstance(c, ir.Stmt) and not isinstance(c, ir.Switch)]
    return False
