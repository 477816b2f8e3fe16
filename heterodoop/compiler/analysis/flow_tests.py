"""Conditions in the use analysis: the states in which one holds, and what it tells about variables, order and strings."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..ir import build, ir
from ..ir import walk as ir_walk
from ..types import ctype
from ..types.ctype import Int, Pointer
from ..types.ranges import INT_MAX
from .flow_state import ANY, LIMIT, NONZERO, Addr, Same, State, Value, merge, truth
from .objects import Cell

if TYPE_CHECKING:
    from .flow_expr import Evaluator


class Branches:
    """`branch`: the states in which a condition holds, and the others."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator, self._memory, self._model = evaluator, evaluator.memory, evaluator.model
        self._walk = evaluator.walk

    def branch(self, cond: ir.Expr, states: list[State]) -> tuple[list[State], list[State]]:
        """The states in which a condition holds, and those in which it does not."""
        yes: list[State] = []
        no: list[State] = []
        if isinstance(cond, ir.Binary) and cond.op in build.LOGICAL:
            yes, no = self.branch(cond.left, states)
            if cond.op == "&&":
                more, fails = self.branch(cond.right, yes)
                return more, _few(no + fails)
            holds, more = self.branch(cond.right, no)
            return _few(yes + holds), more
        for state in states:
            for value, s in self._evaluator.eval(cond, state):
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
        if cell is None or not self._model.tracked(cell):
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
        if isinstance(plain, ir.Binary) and plain.op in ("==", "!="):
            state = self._equal(plain, state, (plain.op == "==") == holds)
        if isinstance(plain, ir.Binary) and plain.op in ("==", "!=") and isinstance(plain.right, ir.Const):
            nonzero, tested = ((plain.op == "==") == holds) == (plain.right.value != 0), plain.left
            nonzero = nonzero and ((plain.op == "==") == holds or plain.right.value == 0)
        elif isinstance(plain, ir.Call):
            nonzero, tested = holds and ir.called(plain) in _NOT_OF_NUL, plain.args[0] if plain.args else plain
        else:
            nonzero, tested = holds, plain
        return self._next_one(tested, state) if nonzero else state

    def _compared(self, node: ir.Binary, state: State, holds: bool) -> State:
        """What `<` and its like tell: of a variable and a number, and of two variables."""
        op = node.op if holds else _TURNED[node.op]
        low, high = (node.left, node.right) if op in ("<", "<=") else (node.right, node.left)
        one, two = self._numbered(low), self._numbered(high)
        less = int(op in ("<", ">"))
        least, most = self._number(one, state), self._number(two, state)
        if isinstance(one, Same) and most is not None:
            state = self._below_number(node, one, most - less, state)
        if isinstance(two, Same) and least is not None and _is_signed(node):
            state = replace(state, known=state.known.at_least(two.cell, least + less - two.plus))
        if not isinstance(one, Same) or not isinstance(two, Same):
            return state
        if not _is_signed(node) and not self._memory.natural(two, state):
            return state
        return replace(state, known=state.known.not_above(one.cell, two.cell, two.plus - one.plus - less))

    def _below_number(self, node: ir.Binary, one: Same, most: int, state: State) -> State:
        """A variable is at most so much. What is unsigned and below a small number is not negative, as an int neither."""
        known = state.known
        self._walk.thresholds.update((most - one.plus, most - one.plus + 1))
        if not _is_signed(node) and isinstance(node.left.type, Int):
            if not 0 <= most <= INT_MAX:
                return state
            known = known.at_least(one.cell, -one.plus)
        return replace(state, known=known.at_most(one.cell, most - one.plus))

    def _equal(self, node: ir.Binary, state: State, equal: bool) -> State:
        """What `==` and `!=` tell of a variable and a number: of one that it cannot be at an end of its range, too."""
        one, number = self._numbered(node.left), self._number(self._numbered(node.right), state)
        if not isinstance(one, Same) or number is None or isinstance(node.left.type, Pointer):
            return state
        self._walk.thresholds.update((number - one.plus, number - one.plus - 1))
        known, (low, high) = state.known, self._memory.range(one, state)
        if equal and (_is_signed(node) or 0 <= number <= INT_MAX):
            known = known.at_least(one.cell, number - one.plus).at_most(one.cell, number - one.plus)
        elif not equal and high == number:
            known = known.at_most(one.cell, number - one.plus - 1)
        elif not equal and low == number:
            known = known.at_least(one.cell, number - one.plus + 1)
        return replace(state, known=known)

    def _number(self, value: Value, state: State) -> int | None:
        """A number that is known where the test stands."""
        if isinstance(value, Same):
            held = state.value(value.cell)
            return held + value.plus if isinstance(held, int) else None
        return value if isinstance(value, int) else None

    def _numbered(self, node: ir.Expr) -> Value:
        """The number that an expression without effects is, when it has been evaluated: a variable's, plus a constant."""
        while isinstance(node, ir.Cast):
            if not self._keeps_number(node.type, node.operand.type):
                return ANY
            node = node.operand
        if isinstance(node, ir.Const) and isinstance(node.value, int):
            return node.value
        if isinstance(node, ir.Decay) and isinstance(node.operand, ir.Name):
            return 0
        if isinstance(node, ir.Assign):
            node = node.target
        if isinstance(node, ir.Name) and isinstance(node.type, (Int, Pointer)):
            key = self._evaluator.key(node.name)
            return Same(key.cell) if self._model.single(key) else ANY
        if isinstance(node, ir.Step) and isinstance(node.target, ir.Name):
            back = 0 if node.prefix else -1 if node.op == "++" else 1
            return Same(self._evaluator.key(node.target.name).cell, back)
        if isinstance(node, ir.Binary) and node.op in ("+", "-"):
            left, right = self._numbered(node.left), self._numbered(node.right)
            if isinstance(left, int) and isinstance(right, int):
                return left + right if node.op == "+" else left - right
            if isinstance(left, Same) and isinstance(right, int):
                return Same(left.cell, left.plus + (right if node.op == "+" else -right))
        return ANY

    def _keeps_number(self, new: ctype.CType, old: ctype.CType) -> bool:
        """Is a number the same under another type? A negative one that becomes unsigned is the tests' to look for."""
        if isinstance(new, Int) and isinstance(old, Int):
            return new.bits > old.bits or (new.bits == old.bits and (old.signed or not new.signed))
        same = self._model.size(ctype.element(new)) == self._model.size(ctype.element(old))
        return isinstance(new, Pointer) and isinstance(old, Pointer) and same

    def _next_one(self, node: ir.Expr, state: State) -> State:
        """An element is not NUL: where what is written ends in one, the next element is written, too."""
        plain = ir_walk.uncast(node)
        if isinstance(plain, ir.Assign):
            plain = ir_walk.uncast(plain.value)
        plain, back = _before_step(plain)
        if not isinstance(plain, (ir.Index, ir.Deref)) or not _is_pure(plain):
            return state
        for places, _ in self._evaluator.lvalue(plain, state)[:1]:
            place = places[0] if len(places) == 1 else None
            if place is None or place.by is None or not self._memory.closed(place.cell, state):
                continue
            by = replace(place.by, plus=place.by.plus + back)
            if self._memory.is_below(replace(place, by=by), state):
                return replace(state, known=state.known.written(place.cell.obj, by.cell, by.plus + 2))
        return state

    def _tested(self, node: ir.Expr) -> Cell | None:
        """The variable whose value a tested expression is."""
        while isinstance(node, ir.Cast) and keeps_value(node):
            node = node.operand
        if isinstance(node, ir.Assign):
            node = node.target
        if isinstance(node, ir.Name) and isinstance(node.type, (Int, Pointer)):
            return self._evaluator.key(node.name).cell
        return None


_TURNED = {"<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_NOT_OF_NUL = frozenset("isalpha isdigit isspace isalnum isupper islower ispunct isprint isgraph isxdigit isblank".split())


def _few(states: list[State]) -> list[State]:
    return states if len(states) <= LIMIT else merge(states, LIMIT)


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


def keeps_value(node: ir.Cast) -> bool:
    old, new = node.operand.type, node.type
    if isinstance(old, Pointer) and isinstance(new, Pointer):
        return True
    return isinstance(old, Int) and isinstance(new, Int) and new.bits >= old.bits and (new.signed or not old.signed)
