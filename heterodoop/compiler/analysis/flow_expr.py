"""Expressions in the use analysis: each evaluates to outcomes, pairs of a value and the state after it.

An outcome's value is a constant, an address, or only known to be (non)zero, so that tests of a call's result choose the
states in which it gave that result: `(off = next_word(...)) != -1` leaves those where the word was written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..ir import build, ir
from ..ir import walk as ir_walk
from ..types import ctype, ranges
from ..types.ctype import Int, Pointer
from ..types.ranges import INT_MAX, TRUTH, Range
from .flow_calls import Enter, FlowCalls
from .flow_findings import ITSELF, Outcomes, PlaceOutcomes, Touched, Walk
from .flow_memory import MemoryFlow
from .flow_objects import ObjectModel
from .flow_state import ANY, LIMIT, NATURAL, NONZERO, Addr, Bound, Same, State, Value, by_value, joined, merge, truth
from .flow_tests import Branches, keeps_value
from .objects import RECORD, Cell, Code, Hidden, Object, Variable


class Exhausted(Exception):
    """The program has too many paths for the analysis."""


class Evaluator:
    """`eval` and `lvalue`; conditions and calls are evaluated by its parts.

    ends  variables that a loop counts up -> the number that they stay below in it.
    """

    def __init__(self, model: ObjectModel, walk: Walk, enter: Enter) -> None:
        self.model, self.walk, self.memory = model, walk, MemoryFlow(model, walk)
        self.conditions, self.calls = Branches(self), FlowCalls(self, enter)
        self.ends: dict[Object, int] = {}
        self._steps = 0

    STEP_LIMIT = 400_000

    def eval(self, node: ir.Expr, state: State) -> Outcomes:
        self._steps += 1
        if self._steps > self.STEP_LIMIT:
            raise Exhausted
        outcomes = _EVAL[type(node)](self, node, state)
        return outcomes if len(outcomes) <= LIMIT else by_value(outcomes)

    def eval_all(self, nodes: tuple[ir.Expr, ...], state: State) -> list[tuple[list[Value], State]]:
        """Several expressions one after the other."""
        results: list[tuple[list[Value], State]] = [([], state)]
        for node in nodes:
            results = [([*values, v], s) for values, before in results for v, s in self.eval(node, before)]
            if len(results) > LIMIT:
                results = _fewer(results)
        return results

    def key(self, name: str) -> Variable | Hidden:
        return self.model.points_to.key(self.walk.function, name)

    # ------------------------------------------------------------------------------------- places

    def lvalue(self, node: ir.Expr, state: State) -> PlaceOutcomes:
        if isinstance(node, ir.Name):
            return [([Touched(self.key(node.name).cell)], state)]
        if isinstance(node, ir.Deref):
            return [(self._target(node, node.pointer, v, s), s) for v, s in self.eval(node.pointer, state) if v != 0]
        if isinstance(node, ir.Index):
            return self._index(node, state)
        if isinstance(node, ir.Member):
            return [
                ([self.model.member(p, node.base.type, node.type, node.field) for p in places], s)
                for places, s in self.lvalue(node.base, state)
            ]
        if isinstance(node, ir.Str):
            return [([Touched(self.model.points_to.literal(node).cell)], state)]
        if isinstance(node, ir.Compound):
            return self._compound(node, state)
        return [([], s) for _, s in self.eval(node, state)]

    def _index(self, node: ir.Index, state: State) -> PlaceOutcomes:
        out: PlaceOutcomes = []
        array = known_array(node.base)
        for base, s in self.eval(node.base, state):
            for number, s2 in self.eval(node.index, s):
                moved = _moved(base, number)
                places = self.places_at(node.base, moved, node.type)
                if array is not None:
                    self.memory.indexed(node, number, array, s2)
                else:
                    certain = self.memory.within(base, number, node.type, s2)
                    self.memory.followed(node, places, s2, certain=certain)
                starts = isinstance(base, Addr) and base.offset == 0
                end = self._end(node.index) if starts and not isinstance(number, int) else None
                out.append(([replace(p, end=end) for p in places] if end is not None else places, s2))
        return out

    def _target(self, node: ir.Expr, pointer: ir.Expr, value: Value, state: State) -> list[Touched]:
        """What `*pointer` is, noted where it may lie outside its object."""
        places = self.places_at(pointer, value, node.type)
        self.memory.followed(node, places, state)
        return places

    def _end(self, index: ir.Expr) -> int | None:
        plain = ir_walk.uncast(index)
        return self.ends.get(self.key(plain.name)) if isinstance(plain, ir.Name) else None

    def _compound(self, node: ir.Compound, state: State) -> PlaceOutcomes:
        cell = self.model.points_to.sites[node.number].cell
        state = self.initialise(cell, node.init, state, node.span)
        return [([Touched(cell)], state)]

    def places_at(self, pointer: ir.Expr, value: Value, kind: ctype.CType) -> list[Touched]:
        """What a pointer's target may be: the address it is known to hold, else all that it may point to."""
        if isinstance(value, Addr):
            return [self.model.pointee(value, kind)]
        found = sorted(self.model.points_to.targets(self.walk.function, pointer))
        places = [self.model.pointee(Addr(o.cell, None), kind) for o in found if not isinstance(o, Code)]
        return [replace(p, elem=None) for p in places]

    def initialise(self, cell: Cell, init: ir.Init, state: State, span: Any) -> State:
        """A declaration's initialiser; what an aggregate's list leaves out is zero."""
        if isinstance(init, ir.Fill):
            for _, item in init.items:
                state = self._after(item, state)
            return self.memory.write([Touched(cell)], state, ANY, span)
        value, state = self.single_outcome(init, state)
        return self.memory.write([Touched(cell)], state, value, span)

    def single_outcome(self, node: ir.Expr, state: State) -> tuple[Value, State]:
        """All outcomes as one: used where they need not be kept apart."""
        outcomes = self.eval(node, state)
        if not outcomes:
            return ANY, state
        values = {v for v, _ in outcomes}
        merged = joined([s for _, s in outcomes])
        return (next(iter(values)) if len(values) == 1 else ANY), merged

    def _after(self, node: ir.Expr, state: State) -> State:
        return self.single_outcome(node, state)[1]

    # ------------------------------------------------------------------------------------- rvalues

    def load(self, node: ir.Expr, state: State) -> Outcomes:
        made = _returned_struct(node)
        if made is not None and isinstance(node.type, (Int, ctype.Float)):  # whoever returned it has read all of it
            return [(ranges.narrow(node.type) or ANY, s) for _, s in self.eval(made, state)]
        out: Outcomes = []
        for places, s in self.lvalue(node, state):
            self.memory.read(places, s, node.span, site=(node.number, ITSELF))
            out.append((self._loaded(node, places, s), self.memory.learn(places, s)))
        return out

    def _loaded(self, node: ir.Expr, places: list[Touched], state: State) -> Value:
        cell = places[0].cell if len(places) == 1 and not places[0].part and self.model.single(places[0].cell.obj) else None
        known = state.value(cell) if cell is not None else ANY
        if isinstance(node.type, Int) and cell is not None and known in (ANY, NONZERO):
            return Same(cell, nonzero=known == NONZERO)
        if isinstance(known, Addr):
            return replace(known, by=Same(cell)) if cell is not None else known
        if known not in (ANY, NONZERO) or not isinstance(node.type, Pointer):
            return ranges.narrow(node.type) or ANY if known == ANY else known
        targets = self.model.points_to.targets(self.walk.function, node)
        target = next(iter(targets)) if len(targets) == 1 else None
        if target is not None and (self.model.single(target) or target is RECORD) and not isinstance(target, Code):
            if cell is not None and cell.obj in self.model.starts:
                return Addr(target.cell, 0, by=Same(cell))
            return Addr(target.cell, None, known == ANY, Same(cell) if cell is not None else None)
        return known

    def decay(self, node: ir.Decay, state: State) -> Outcomes:
        if isinstance(node.operand.type, ctype.Func):
            return [(NONZERO, state)]
        return [(self._address(places, inner=True), s) for places, s in self.lvalue(node.operand, state)]

    def address(self, node: ir.AddressOf, state: State) -> Outcomes:
        return [(self._address(places, inner=False), s) for places, s in self.lvalue(node.operand, state)]

    def _address(self, places: list[Touched], *, inner: bool) -> Value:
        """Address of a place; for an array that is an element of another its own elements are not told apart."""
        if len(places) != 1:
            return NONZERO
        place = places[0]
        if place.part:
            return Addr(place.cell, None if inner else place.elem, by=None if inner else place.by)
        return Addr(place.cell, 0)

    def effect(self, node: ir.Expr, state: State) -> list[State]:
        """An expression whose value nobody wants: a variable that stands there is not read."""
        if isinstance(node, ir.Cast) and node.type == ctype.VOID:
            return self.effect(node.operand, state)
        if isinstance(node, (ir.Name, ir.Index, ir.Deref, ir.Member)):
            return [s for _, s in self.lvalue(node, state)]
        return [s for _, s in self.eval(node, state)]

    def cast(self, node: ir.Cast, state: State) -> Outcomes:
        if node.type == ctype.VOID:
            return [(ANY, s) for s in self.effect(node.operand, state)]
        return [(self._cast_value(node, v, s), s) for v, s in self.eval(node.operand, state)]

    def _cast_value(self, node: ir.Cast, value: Value, state: State) -> Value:
        kind = node.type
        if isinstance(value, (Same, Bound, Range)):
            return self._cast_number(node, value, state)
        if isinstance(value, int):
            if isinstance(kind, Int):
                return ctype.wrap(kind, value)
            return value if isinstance(kind, Pointer) else ANY
        if isinstance(value, Addr) and isinstance(kind, Pointer):
            same = self.model.size(ctype.element(node.operand.type)) == self.model.size(kind.to)
            return value if same or value.offset == 0 else replace(value, offset=None, by=None, more=0)
        if truth(value) and isinstance(kind, Int):
            if kind == ctype.BOOL:
                return 1
            number = isinstance(node.operand.type, (Int, Pointer))
            return NONZERO if number and (self.model.size(node.operand.type) or 99) <= kind.bits // 8 else ANY
        return NONZERO if value == NONZERO and isinstance(kind, Pointer) else ANY

    def _cast_number(self, node: ir.Cast, value: Value, state: State) -> Value:
        """A number of a variable under another type; one that is not negative is small enough for all but the narrowest."""
        old, new = node.operand.type, node.type
        if not isinstance(old, Int) or not isinstance(new, Int) or new == ctype.BOOL:
            return NONZERO if truth(value) else ANY
        widens = new.signed == old.signed and new.bits >= old.bits
        low, high = self.memory.range(value, state)
        small = low is not None and low >= 0 and (high is None or high <= INT_MAX)
        if widens or keeps_value(node) or (new.bits >= 32 and small) or ranges.within((low, high), ranges.narrow(new)):
            return value
        if (narrow := ranges.narrow(new)) is not None:
            return narrow
        return Range(0, (1 << new.bits) - 1) if not new.signed else ANY

    def unary(self, node: ir.Unary, state: State) -> Outcomes:
        out: Outcomes = []
        for value, s in self.eval(node.operand, state):
            known = truth(value)
            if node.op == "!":
                out.append((TRUTH if known is None else int(not known), s))
            else:
                folded = isinstance(value, int) and isinstance(node.operand.type, Int)
                const = build.unary(node.op, ir.Const(node.operand.type, value), node.span) if folded else None  # type: ignore[arg-type]
                out.append((_int(const), s))
        return out

    def binary(self, node: ir.Binary, state: State) -> Outcomes:
        if node.op in build.LOGICAL:
            return self._logical(node, state)
        return [
            (self._combine(node, left, right, s2), s2)
            for left, s in self.eval(node.left, state)
            for right, s2 in self.eval(node.right, s)
        ]

    def _combine(self, node: ir.Binary, left: Value, right: Value, state: State) -> Value:
        if node.op in ("==", "!=") and (left == 0 or right == 0):
            known = truth(right if left == 0 else left)
            return TRUTH if known is None else int(known == (node.op == "!="))
        if isinstance(node.type, Pointer):
            return self._pointer_sum(node, left, right)
        if isinstance(left, int) and isinstance(right, int) and isinstance(node.left.type, Int):
            return _int(build.binary(node.op, ir.Const(node.left.type, left), ir.Const(node.right.type, right), node.span))
        return self._number(node, left, right, state) if isinstance(node.type, Int) else ANY

    def _number(self, node: ir.Binary, left: Value, right: Value, state: State) -> Value:
        """A sum or difference of numbers that variables hold."""
        if node.op == "-" and isinstance(node.left.type, Pointer):
            whole = isinstance(right, Addr) and right.offset == 0 and isinstance(left, Addr) and left.cell == right.cell
            return left.by if whole and isinstance(left, Addr) and left.by is not None else ANY
        if node.op == "+" and isinstance(left, int):
            left, right = right, left
        if node.op in ("+", "-") and isinstance(left, Same) and isinstance(right, int):
            return Same(left.cell, left.plus + (right if node.op == "+" else -right))
        if node.op == "-" and isinstance(left, Same) and isinstance(right, Same):
            ordered = (left.cell, right.cell) in state.known.order
            return NATURAL if ordered and left.plus >= right.plus else ANY
        if node.op in build.COMPARISONS:
            return TRUTH
        return ranges.result(node.op, node.type, self.memory.range(left, state), self.memory.range(right, state)) or ANY

    def _pointer_sum(self, node: ir.Binary, left: Value, right: Value) -> Value:
        pointer, number = (left, right) if isinstance(node.left.type, Pointer) else (right, left)
        if node.op == "-":
            number = -number if isinstance(number, int) else ANY
        return _moved(pointer, number)

    def _logical(self, node: ir.Binary, state: State) -> Outcomes:
        stop = node.op == "||"
        out: Outcomes = []
        yes, no = self.conditions.branch(node.left, [state])
        going, stopped = (no, yes) if stop else (yes, no)
        out += [(int(stop), s) for s in stopped]
        for s in going:
            for value, s2 in self.eval(node.right, s):
                known = truth(value)
                out.append((TRUTH if known is None else int(known), s2))
        return out

    def conditional(self, node: ir.Conditional, state: State) -> Outcomes:
        """What both sides leave alike is one outcome: of conditionals in each other's conditions there would be too many."""
        yes, no = self.conditions.branch(node.cond, [state])
        sides = [(node.then, s) for s in yes] + [(node.other, s) for s in no]
        return by_value([o for side, s in sides for o in self.eval(side, s)])

    def comma(self, node: ir.Comma, state: State) -> Outcomes:
        return [o for s in self.effect(node.first, state) for o in self.eval(node.second, s)]

    def assign(self, node: ir.Assign, state: State) -> Outcomes:
        out: Outcomes = []
        for value, s in self.eval(node.value, state):
            for places, s2 in self.lvalue(node.target, s):
                new = value
                if node.op != "=":
                    self.memory.read(places, s2, node.span, site=(node.number, ITSELF))
                    s2 = self.memory.learn(places, s2)
                    new = self._changed(node, node.op[:-1], self._loaded(node.target, places, s2), value, s2)
                out.append((new, self.memory.write(places, s2, new, node.span, zero=new == 0)))
        return out

    def accumulate(self, node: ir.Accumulate, state: State) -> Outcomes:
        """What records have gathered is nobody's to read, and all of it counts: neither a read nor a write."""
        return [(ANY, s2) for _, s in self.eval(node.value, state) for _, s2 in self.lvalue(node.target, s)]

    def step(self, node: ir.Step, state: State) -> Outcomes:
        out: Outcomes = []
        for places, s in self.lvalue(node.target, state):
            self.memory.read(places, s, node.span, site=(node.number, ITSELF))
            s = self.memory.learn(places, s)
            new = self._changed(node, node.op[0], self._loaded(node.target, places, s), 1, s)
            after = self.memory.write(places, s, new, node.span)
            now: Value = self._loaded(node.target, places, after)
            out.append((now if node.prefix else self._changed(node, "-" if node.op == "++" else "+", now, 1, after), after))
        return out

    def _changed(self, node: ir.Assign | ir.Step, op: str, old: Value, value: Value, state: State) -> Value:
        """The value of `old op value`, as far as it is a number known by a variable; a known one is known no more."""
        if isinstance(node.type, Pointer):
            step = value if op == "+" else -value if isinstance(value, int) else ANY
            return _moved(replace(old, offset=None) if isinstance(old, Addr) else old, step)
        if not isinstance(node.type, Int) or node.type.bits < 32 or not isinstance(old, Same):
            return ANY
        if isinstance(value, int) and op in ("+", "-"):
            return Same(old.cell, old.plus + (value if op == "+" else -value))
        return ranges.result(op, node.type, self.memory.range(old, state), self.memory.range(value, state)) or ANY


def known_array(base: ir.Expr) -> ctype.Array | None:
    """The type of an array that stands there as such, with its length."""
    kind = base.operand.type if isinstance(base, ir.Decay) else None
    return kind if isinstance(kind, ctype.Array) and kind.length is not None else None


def _fewer(results: list[tuple[list[Value], State]]) -> list[tuple[list[Value], State]]:
    """Values that differ are not known any more."""
    first, *others = (values for values, _ in results)
    known = [value if all(other[n] == value for other in others) else ANY for n, value in enumerate(first)]
    return [(known, state) for state in merge([s for _, s in results], LIMIT // 2)]


def _moved(value: Value, step: Value) -> Value:
    """A pointer after pointer arithmetic; it was no NULL before, else the program is wrong."""
    if not isinstance(value, Addr):
        return ANY if value == ANY else NONZERO if value == NONZERO else ANY
    if isinstance(step, int):
        by = replace(value.by, plus=value.by.plus + step) if value.by is not None else None
        more = max(value.more - step, 0) if step >= 0 else 0  # further back may be before the object
        return Addr(value.cell, None if value.offset is None else value.offset + step, by=by, more=more)
    return Addr(value.cell, None, by=step if isinstance(step, Same) and value.offset == 0 else None)


def _returned_struct(node: ir.Expr) -> ir.Call | None:
    """The call whose result an expression is a member of, perhaps of a member."""
    if not isinstance(node, ir.Member):
        return None
    return node.base if isinstance(node.base, ir.Call) else _returned_struct(node.base)


def _int(node: ir.Expr | None) -> Value:
    return node.value if isinstance(node, ir.Const) and isinstance(node.value, int) else ANY


def _const(flow: Evaluator, node: ir.Const, state: State) -> Outcomes:
    return [(node.value if isinstance(node.value, int) else ANY, state)]


_EVAL: dict[type, Callable[[Any, Any, State], Outcomes]] = {
    ir.Const: _const,
    ir.Name: Evaluator.load, ir.Member: Evaluator.load, ir.Index: Evaluator.load, ir.Deref: Evaluator.load,
    ir.Compound: Evaluator.load, ir.Str: Evaluator.load,
    ir.Decay: Evaluator.decay, ir.AddressOf: Evaluator.address, ir.Cast: Evaluator.cast, ir.Unary: Evaluator.unary,
    ir.Binary: Evaluator.binary, ir.Conditional: Evaluator.conditional, ir.Comma: Evaluator.comma,
    ir.Assign: Evaluator.assign, ir.Step: Evaluator.step, ir.Accumulate: Evaluator.accumulate,
    **dict.fromkeys(
        (ir.Call, ir.Emit, ir.Stderr, ir.Exit, ir.ReadRecord, ir.ReadPair), lambda f, n, s: f.calls.call(n, s),
    ),
}
