"""Expressions in the use analysis: each evaluates to outcomes, pairs of a value and the state after it.

An outcome's value is a constant, an address, or only known to be (non)zero, so that tests of a call's result choose the
states in which it gave that result: `(off = next_word(...)) != -1` leaves those where the word was written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from . import build, ctype, ir, ir_walk
from .ctype import Int, Pointer
from .flow_memory import ITSELF, Memory, Place
from .flow_order import Cell
from .flow_state import ANY, NATURAL, NONZERO, Addr, Bound, Same, State, Value, truth
from .points_to import LITERAL, RECORD, PointsTo

Outcomes = list[tuple[Value, State]]
PlaceOutcomes = list[tuple[list[Place], State]]


class Exhausted(Exception):
    """The program has too many paths for the analysis."""


class Expressions(Memory):
    """`eval` and `lvalue`; calls are in the subclasses."""

    function = ""
    steps = 0

    def __init__(self, program: ir.Program, points_to: PointsTo, line_ends: bool = True) -> None:
        super().__init__(program, points_to, line_ends)
        self.ends: dict[str, int] = {}  # variables that a loop counts up, and the number that they stay below in it

    STEP_LIMIT = 400_000

    def eval(self, node: ir.Expr, state: State) -> Outcomes:
        self.steps += 1
        if self.steps > self.STEP_LIMIT:
            raise Exhausted
        return _EVAL[type(node)](self, node, state)

    def eval_all(self, nodes: tuple[ir.Expr, ...], state: State) -> list[tuple[list[Value], State]]:
        """Several expressions one after the other."""
        results: list[tuple[list[Value], State]] = [([], state)]
        for node in nodes:
            results = [([*values, v], s) for values, before in results for v, s in self.eval(node, before)]
        return results

    def key(self, name: str) -> str:
        return self.points_to.key(self.function, name)

    # ------------------------------------------------------------------------------------- places

    def lvalue(self, node: ir.Expr, state: State) -> PlaceOutcomes:
        if isinstance(node, ir.Name):
            return [([Place((self.key(node.name), ()))], state)]
        if isinstance(node, ir.Deref):
            return [(self.places_at(node.pointer, v, node.type), s) for v, s in self.eval(node.pointer, state) if v != 0]
        if isinstance(node, ir.Index):
            return self._index(node, state)
        if isinstance(node, ir.Member):
            return [
                ([self.member(p, node.base.type, node.type, node.field) for p in places], s)
                for places, s in self.lvalue(node.base, state)
            ]
        if isinstance(node, ir.Str):
            return [([Place((LITERAL, ()))], state)]
        if isinstance(node, ir.Compound):
            return self._compound(node, state)
        return [([], s) for _, s in self.eval(node, state)]

    def _index(self, node: ir.Index, state: State) -> PlaceOutcomes:
        out: PlaceOutcomes = []
        for base, s in self.eval(node.base, state):
            for number, s2 in self.eval(node.index, s):
                moved = _moved(base, number)
                places = self.places_at(node.base, moved, node.type)
                starts = isinstance(base, Addr) and base.offset == 0
                end = self.ends.get(self._index_key(node.index)) if starts and not isinstance(number, int) else None
                out.append(([replace(p, end=end) for p in places] if end is not None else places, s2))
        return out

    def _index_key(self, index: ir.Expr) -> str:
        plain = ir_walk.uncast(index)
        return self.key(plain.name) if isinstance(plain, ir.Name) else ""

    def _compound(self, node: ir.Compound, state: State) -> PlaceOutcomes:
        cell: Cell = (self.points_to.sites[id(node)], ())
        state = self.initialise(cell, node.init, state, node.span)
        return [([Place(cell)], state)]

    def places_at(self, pointer: ir.Expr, value: Value, kind: ctype.CType) -> list[Place]:
        """What a pointer's target may be: the address it is known to hold, else all that it may point to."""
        if isinstance(value, Addr):
            return [self.pointee(value, kind)]
        found = sorted(self.points_to.targets(self.function, pointer))
        places = [self.pointee(Addr((o, ()), None), kind) for o in found if not o.startswith("fn:")]
        return [replace(p, elem=None) for p in places]

    def initialise(self, cell: Cell, init: ir.Init, state: State, span: Any) -> State:
        """A declaration's initialiser; what an aggregate's list leaves out is zero."""
        if isinstance(init, ir.Fill):
            for _, item in init.items:
                state = self._after(item, state)
            return self.write([Place(cell)], state, ANY, span)
        value, state = self.single_outcome(init, state)
        return self.write([Place(cell)], state, value, span)

    def single_outcome(self, node: ir.Expr, state: State) -> tuple[Value, State]:
        """All outcomes as one: used where they need not be kept apart."""
        outcomes = self.eval(node, state)
        if not outcomes:
            return ANY, state
        values = {v for v, _ in outcomes}
        merged = self.joined([s for _, s in outcomes])
        return (next(iter(values)) if len(values) == 1 else ANY), merged

    def _after(self, node: ir.Expr, state: State) -> State:
        return self.single_outcome(node, state)[1]

    def joined(self, states: list[State]) -> State:
        raise NotImplementedError

    def call(self, node: Any, state: State) -> Outcomes:
        raise NotImplementedError

    # ------------------------------------------------------------------------------------- rvalues

    def load(self, node: ir.Expr, state: State) -> Outcomes:
        out: Outcomes = []
        for places, s in self.lvalue(node, state):
            self.read(places, s, node.span, site=(id(node), ITSELF))
            out.append((self._loaded(node, places, s), self.learn(places, s)))
        return out

    def _loaded(self, node: ir.Expr, places: list[Place], state: State) -> Value:
        cell = places[0].cell if len(places) == 1 and not places[0].part and self.single(places[0].cell[0]) else None
        known = state.value(cell) if cell is not None else ANY
        if isinstance(node.type, Int) and cell is not None and known in (ANY, NONZERO):
            return Same(cell, nonzero=known == NONZERO)
        if isinstance(known, Addr):
            return replace(known, by=Same(cell)) if cell is not None else known
        if known not in (ANY, NONZERO) or not isinstance(node.type, Pointer):
            return known
        targets = self.points_to.targets(self.function, node)
        target = next(iter(targets)) if len(targets) == 1 else ""
        if target and (self.single(target) or target == RECORD) and not target.startswith("fn:"):
            return Addr((target, ()), None, known == ANY, Same(cell) if cell is not None else None)
        return known

    def decay(self, node: ir.Decay, state: State) -> Outcomes:
        if isinstance(node.operand.type, ctype.Func):
            return [(NONZERO, state)]
        return [(self._address(places, inner=True), s) for places, s in self.lvalue(node.operand, state)]

    def address(self, node: ir.AddressOf, state: State) -> Outcomes:
        return [(self._address(places, inner=False), s) for places, s in self.lvalue(node.operand, state)]

    def _address(self, places: list[Place], *, inner: bool) -> Value:
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
        if isinstance(value, (Same, Bound)) or value == NATURAL:
            return self._cast_number(node, value, state)
        if isinstance(value, int):
            if isinstance(kind, Int):
                return ctype.wrap(kind, value)
            return value if isinstance(kind, Pointer) else ANY
        if isinstance(value, Addr) and isinstance(kind, Pointer):
            same = self.size(ctype.element(node.operand.type)) == self.size(kind.to)
            return value if same or value.offset == 0 else replace(value, offset=None, by=None, more=0)
        if truth(value) and isinstance(kind, Int):
            if kind == ctype.BOOL:
                return 1
            wide = isinstance(node.operand.type, (Int, Pointer)) and (self.size(node.operand.type) or 99) <= kind.bits // 8
            return NONZERO if wide else ANY
        return NONZERO if value == NONZERO and isinstance(kind, Pointer) else ANY

    def _cast_number(self, node: ir.Cast, value: Value, state: State) -> Value:
        """A number of a variable under another type; one that is not negative is small enough for all but the narrowest."""
        old, new = node.operand.type, node.type
        if not isinstance(old, Int) or not isinstance(new, Int) or new == ctype.BOOL:
            return NONZERO if truth(value) else ANY
        widens = new.signed == old.signed and new.bits >= old.bits
        if widens or _keeps_value(node) or (new.bits >= 32 and self.natural(value, state)):
            return value
        return NATURAL if not new.signed else ANY

    def unary(self, node: ir.Unary, state: State) -> Outcomes:
        out: Outcomes = []
        for value, s in self.eval(node.operand, state):
            known = truth(value)
            if node.op == "!":
                out.append((ANY if known is None else int(not known), s))
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
            return ANY if known is None else int(known == (node.op == "!="))
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
        both = self.natural(left, state) and self.natural(right, state)
        if node.op in ("+", "/", "%", ">>", "&") and both:
            return NATURAL
        return NATURAL if node.op == "&" and any(isinstance(v, int) and v >= 0 for v in (left, right)) else ANY

    def _pointer_sum(self, node: ir.Binary, left: Value, right: Value) -> Value:
        pointer, number = (left, right) if isinstance(node.left.type, Pointer) else (right, left)
        if node.op == "-":
            number = -number if isinstance(number, int) else ANY
        return _moved(pointer, number)

    def _logical(self, node: ir.Binary, state: State) -> Outcomes:
        stop = node.op == "||"
        out: Outcomes = []
        going, stopped = self.branch(node.left, [state]) if not stop else tuple(reversed(self.branch(node.left, [state])))
        out += [(int(stop), s) for s in stopped]
        for s in going:
            for value, s2 in self.eval(node.right, s):
                known = truth(value)
                out.append((ANY if known is None else int(known), s2))
        return out

    def conditional(self, node: ir.Conditional, state: State) -> Outcomes:
        yes, no = self.branch(node.cond, [state])
        return [o for s in yes for o in self.eval(node.then, s)] + [o for s in no for o in self.eval(node.other, s)]

    def comma(self, node: ir.Comma, state: State) -> Outcomes:
        return [o for s in self.effect(node.first, state) for o in self.eval(node.second, s)]

    def assign(self, node: ir.Assign, state: State) -> Outcomes:
        out: Outcomes = []
        for value, s in self.eval(node.value, state):
            for places, s2 in self.lvalue(node.target, s):
                new = value
                if node.op != "=":
                    self.read(places, s2, node.span, site=(id(node), ITSELF))
                    s2 = self.learn(places, s2)
                    new = self._changed(node, node.op[:-1], self._loaded(node.target, places, s2), value, s2)
                out.append((new, self.write(places, s2, new, node.span, zero=new == 0)))
        return out

    def step(self, node: ir.Step, state: State) -> Outcomes:
        out: Outcomes = []
        for places, s in self.lvalue(node.target, state):
            self.read(places, s, node.span, site=(id(node), ITSELF))
            s = self.learn(places, s)
            new = self._changed(node, node.op[0], self._loaded(node.target, places, s), 1, s)
            after = self.write(places, s, new, node.span)
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
        return NATURAL if op == "+" and self.natural(old, state) and self.natural(value, state) else ANY

    # ------------------------------------------------------------------------------------- tests

    def branch(self, cond: ir.Expr, states: list[State]) -> tuple[list[State], list[State]]:
        """The states in which a condition holds, and those in which it does not."""
        yes: list[State] = []
        no: list[State] = []
        if isinstance(cond, ir.Binary) and cond.op in build.LOGICAL:
            yes, no = self.branch(cond.left, states)
            if cond.op == "&&":
                more, fails = self.branch(cond.right, yes)
                return more, no + fails
            holds, more = self.branch(cond.right, no)
            return yes + holds, more
        for state in states:
            for value, s in self.eval(cond, state):
                known = truth(value)
                if known is not False:
                    yes.append(s if known else self._refine(cond, s, True))
                if known is not True:
                    no.append(s if known is False else self._refine(cond, s, False))
        return yes, no

    def _refine(self, cond: ir.Expr, state: State, holds: bool) -> State:
        """What a test of a plain variable tells about it."""
        if isinstance(cond, ir.Unary) and cond.op == "!":
            return self._refine(cond.operand, state, not holds)
        state = self._ordered(cond, state, holds)
        equal, other = False, 0
        if isinstance(cond, ir.Binary) and cond.op in ("==", "!=") and isinstance(cond.right, ir.Const):
            if not isinstance(cond.right.value, int):
                return state
            equal, other, cond = (cond.op == "==") == holds, cond.right.value, cond.left
        else:
            equal = not holds
        cell = self._tested(cond)
        if cell is None or not self.tracked(cell):
            return state
        known = state.value(cell)
        if equal:
            return state.with_value(cell, other) if known == ANY or isinstance(known, Addr) else state
        if other != 0:
            return state
        if isinstance(known, Addr):
            return state.with_value(cell, replace(known, null=False))
        return state.with_value(cell, NONZERO) if known == ANY else state

    def _ordered(self, cond: ir.Expr, state: State, holds: bool) -> State:
        """What a comparison tells about the order of variables, and a byte that is not NUL about the next one."""
        plain = ir_walk.uncast(cond)
        if isinstance(plain, ir.Binary) and plain.op in _TURNED:
            return self._compared(plain, state, holds)
        if isinstance(plain, ir.Binary) and plain.op in ("==", "!=") and isinstance(plain.right, ir.Const):
            nonzero, tested = ((plain.op == "==") == holds) == (plain.right.value != 0), plain.left
            nonzero = nonzero and ((plain.op == "==") == holds or plain.right.value == 0)
        elif isinstance(plain, ir.Call):
            nonzero, tested = holds and ir.called(plain) in _NOT_OF_NUL, plain.args[0] if plain.args else plain
        else:
            nonzero, tested = holds, plain
        return self._next_one(tested, state) if nonzero else state

    def _compared(self, node: ir.Binary, state: State, holds: bool) -> State:
        op = node.op if holds else _TURNED[node.op]
        low, high = (node.left, node.right) if op in ("<", "<=") else (node.right, node.left)
        one, two = self._numbered(low), self._numbered(high)
        less = int(op in ("<", ">"))
        if isinstance(one, int) and isinstance(two, Same):
            known = state.known.at_least(two.cell, one + less - two.plus) if _is_signed(node) else state.known
            return replace(state, known=known)
        if not isinstance(one, Same) or not isinstance(two, Same):
            return state
        if not _is_signed(node) and not self.natural(two, state):
            return state
        return replace(state, known=state.known.not_above(one.cell, two.cell, two.plus - one.plus - less))

    def _numbered(self, node: ir.Expr) -> Value:
        """The number that an expression without effects is, when it has been evaluated: a variable's, plus a constant."""
        while isinstance(node, ir.Cast) and isinstance(node.operand.type, (Int, Pointer)):
            if isinstance(node.type, Int) and isinstance(node.operand.type, Int) and node.type.bits < node.operand.type.bits:
                return ANY
            node = node.operand
        if isinstance(node, ir.Const) and isinstance(node.value, int):
            return node.value
        if isinstance(node, ir.Assign):
            node = node.target
        if isinstance(node, ir.Name) and isinstance(node.type, (Int, Pointer)) and self.single(self.key(node.name)):
            return Same((self.key(node.name), ()))
        if isinstance(node, ir.Step) and isinstance(node.target, ir.Name):
            back = 0 if node.prefix else -1 if node.op == "++" else 1
            return Same((self.key(node.target.name), ()), back)
        if isinstance(node, ir.Binary) and node.op in ("+", "-"):
            left, right = self._numbered(node.left), self._numbered(node.right)
            if isinstance(left, Same) and isinstance(right, int):
                return Same(left.cell, left.plus + (right if node.op == "+" else -right))
        return ANY

    def _next_one(self, node: ir.Expr, state: State) -> State:
        """An element is not NUL: where what is written ends in one, the next element is written, too."""
        plain = ir_walk.uncast(node)
        if isinstance(plain, ir.Assign):
            plain = ir_walk.uncast(plain.value)
        plain, back = _before_step(plain)
        if not isinstance(plain, (ir.Index, ir.Deref)) or not _is_pure(plain):
            return state
        for places, _ in self.lvalue(plain, state)[:1]:
            place = places[0] if len(places) == 1 else None
            if place is None or place.by is None or not self.closed(place.cell, state):
                continue
            by = replace(place.by, plus=place.by.plus + back)
            if self._is_below(replace(place, by=by), state):
                return replace(state, known=state.known.written(place.cell[0], by.cell, by.plus + 2))
        return state

    def _tested(self, node: ir.Expr) -> Cell | None:
        """The variable whose value a tested expression is."""
        while isinstance(node, ir.Cast) and _keeps_value(node):
            node = node.operand
        if isinstance(node, ir.Assign):
            node = node.target
        if isinstance(node, ir.Name) and isinstance(node.type, (Int, Pointer)):
            return (self.key(node.name), ())
        return None


_TURNED = {"<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_NOT_OF_NUL = frozenset("isalpha isdigit isspace isalnum isupper islower ispunct isprint isgraph isxdigit isblank".split())


def _is_signed(node: ir.Binary) -> bool:
    return isinstance(node.left.type, Int) and node.left.type.signed


def _before_step(node: ir.Expr) -> tuple[ir.Expr, int]:
    """`*p++` and `a[i++]` as they read when the variable has been stepped: (`*p`, -1)."""
    part = node.pointer if isinstance(node, ir.Deref) else node.index if isinstance(node, ir.Index) else None
    plain = ir_walk.uncast(part) if part is not None else None
    if not isinstance(plain, ir.Step):
        return node, 0
    back = 0 if plain.prefix else -1 if plain.op == "++" else 1
    if isinstance(node, ir.Deref):
        return replace(node, pointer=plain.target), back
    return replace(node, index=plain.target) if isinstance(node, ir.Index) else node, back


def _is_pure(node: ir.Expr) -> bool:
    return not any(isinstance(n, (ir.Call, ir.Assign, ir.Step, ir.Emit, ir.Stderr, ir.Exit)) for n in ir_walk.walk(node))


def _keeps_value(node: ir.Cast) -> bool:
    old, new = node.operand.type, node.type
    if isinstance(old, Pointer) and isinstance(new, Pointer):
        return True
    return isinstance(old, Int) and isinstance(new, Int) and new.bits >= old.bits and (new.signed or not old.signed)


def _moved(value: Value, step: Value) -> Value:
    """A pointer after pointer arithmetic; it was no NULL before, else the program is wrong."""
    if not isinstance(value, Addr):
        return ANY if value == ANY else NONZERO if value == NONZERO else ANY
    if isinstance(step, int):
        by = replace(value.by, plus=value.by.plus + step) if value.by is not None else None
        return Addr(value.cell, None if value.offset is None else value.offset + step, by=by, more=max(value.more - step, 0))
    return Addr(value.cell, None, by=step if isinstance(step, Same) and value.offset == 0 else None)


def _int(node: ir.Expr | None) -> Value:
    return node.value if isinstance(node, ir.Const) and isinstance(node.value, int) else ANY


def _const(flow: Expressions, node: ir.Const, state: State) -> Outcomes:
    return [(node.value if isinstance(node.value, int) else ANY, state)]


_EVAL: dict[type, Callable[[Any, Any, State], Outcomes]] = {
    ir.Const: _const,
    ir.Name: Expressions.load, ir.Member: Expressions.load, ir.Index: Expressions.load, ir.Deref: Expressions.load,
    ir.Compound: Expressions.load, ir.Str: Expressions.load,
    ir.Decay: Expressions.decay, ir.AddressOf: Expressions.address, ir.Cast: Expressions.cast, ir.Unary: Expressions.unary,
    ir.Binary: Expressions.binary, ir.Conditional: Expressions.conditional, ir.Comma: Expressions.comma,
    ir.Assign: Expressions.assign, ir.Step: Expressions.step,
    **dict.fromkeys(
        (ir.Call, ir.Emit, ir.Stderr, ir.Exit, ir.ReadRecord, ir.ReadPair), lambda f, n, s: f.call(n, s),
    ),
}
