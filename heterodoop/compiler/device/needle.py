"""The text that a record must hold for a map to do anything with it: a reader may pass over all others.

    while (getline(&line, &size, stdin) != -1) { if (strstr(line, "ERROR") == NULL) continue; ... }

The region runs on symbols over a record that has no NUL and does not hold the text of the first search: how long it is
nobody knows, what it holds neither. Where every way through ends at the record's end, with nothing printed, nothing
called that is not known here, and nothing written but the record's own numbers and pointers, such records do nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from ...values import dataclass
from ..analysis.objects import Object
from ..ir import ir
from ..ir import walk as ir_walk
from ..types import ctype
from ..types.ctype import Array, CType, Float, Int, Pointer
from . import nodes
from .program import Begin, CopyAhead, Declare, Lies, Program

_MOST_STEPS = 1000
_MOST = 1 << 40  # of what is computed with: no record is so long
_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
_QUIET = (ir.Const, ir.Str, ir.Cast, ir.Decay, ir.Fill, nodes.Braces, nodes.Chars)  # of an initialiser
_OWN = ("", "private")  # spaces of what each record has for itself


@dataclass(frozen=True)
class Value:
    """const + lengths * (the bytes of what was read last, at least 1): a number, or (in_line) a place behind its first."""

    const: int
    lengths: int = 0
    in_line: bool = False

    @property
    def positive(self) -> bool:
        return self.lengths >= 0 and self.const + self.lengths > 0

    @property
    def negative(self) -> bool:
        return self.lengths <= 0 and self.const + self.lengths < 0

    @property
    def zero(self) -> bool:
        return self.const == self.lengths == 0

    def plus(self, other: Value) -> Value:
        return Value(self.const + other.const, self.lengths + other.lengths, self.in_line or other.in_line)

    def minus(self, other: Value) -> Value:
        return Value(self.const - other.const, self.lengths - other.lengths, self.in_line and not other.in_line)


LENGTH = Value(0, 1)
State = dict[Object, Value]  # what is not in it may be anything
Outcome = Literal["next", "break", "continue"]


def needle(program: Program) -> ir.Expr | None:
    """The text of which every record of a mapper's kernel must hold one that is to do anything. None: none is known."""
    try:
        run = _Run()
        run.region(program.body)
        return run.text
    except _Stopped:
        return None


class _Stopped(Exception):
    """Something might be done for such a record, or nobody knows."""


class _Run:
    def __init__(self) -> None:
        self.text: ir.Expr | None = None  # of the first search
        self._steps = 0
        self._reads = 0
        self._in_condition = False

    def region(self, body: ir.Block) -> None:
        """What is known at its beginning is nothing."""
        for outcome, _ in self._block(body.body, {}):
            if outcome != "next":
                raise _Stopped
        if not self._reads:
            raise _Stopped

    # ------------------------------------------------------------------------------------------ statements

    def _block(self, stmts: Sequence[ir.Stmt], state: State) -> list[tuple[Outcome, State]]:
        ways: list[tuple[Outcome, State]] = [("next", state)]
        for stmt in stmts:
            ways = [after for way in ways for after in ([way] if way[0] != "next" else self._stmt(stmt, way[1]))]
        return ways

    def _stmt(self, stmt: ir.Stmt, state: State) -> list[tuple[Outcome, State]]:
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise _Stopped
        match stmt:
            case ir.Block():
                return self._block(stmt.body, state)
            case ir.ExprStmt():
                self._value(stmt.expr, state)
            case Declare(variable=variable, init=init):
                if init is not None and not isinstance(init, ir.Expr) and not all(
                    isinstance(node, _QUIET) for node in ir_walk.walk(init)
                ):
                    raise _Stopped
                self._set(variable, self._value(init, state) if isinstance(init, ir.Expr) else None, state)
            case Begin() | Lies() | CopyAhead():  # of which the loop behind it does the same
                pass
            case ir.If():
                return self._branch(stmt, state)
            case ir.RecordLoop():
                return [("next", self._records(stmt, state))]
            case ir.While():
                return [("next", end) for end in self._loop(stmt.cond, None, stmt.body, state)]
            case ir.For():
                begun = [state] if stmt.init is None else [s for _, s in self._stmt(stmt.init, state)]
                return [("next", end) for s in begun for end in self._loop(stmt.cond, stmt.step, stmt.body, s)]
            case ir.Break():
                return [("break", state)]
            case ir.Continue():
                return [("continue", state)]
            case _:
                raise _Stopped
        return [("next", state)]

    def _branch(self, stmt: ir.If, state: State) -> list[tuple[Outcome, State]]:
        holds = self._truth(stmt.cond, state)
        ways: list[tuple[Outcome, State]] = []
        if holds is not False:
            ways += self._block(stmt.then.body, dict(state))
        if holds is not True:
            ways += self._block(stmt.other.body, dict(state)) if stmt.other is not None else [("next", state)]
        return ways

    def _loop(self, cond: ir.Expr | None, step: ir.Expr | None, body: ir.Block, state: State) -> Iterable[State]:
        """The states behind it."""
        going, ended = [state], []
        while going:
            now = going.pop()
            holds = self._truth(cond, now) if cond is not None else True
            if holds is not True:
                ended.append(dict(now))
            if holds is False:
                continue
            for outcome, after in self._block(body.body, now):
                if outcome == "break":
                    ended.append(after)
                    continue
                if step is not None:
                    self._value(step, after)
                going.append(after)
        return ended

    def _records(self, loop: ir.RecordLoop, state: State) -> State:
        """What has been read is a part of the record, or all of it; what is left of earlier parts nobody knows."""
        for now in (state, {}):
            self._reads, self._in_condition = 0, True
            self._truth(loop.cond, now)  # true, since something was read
            self._in_condition = False
            if self._reads != 1:
                raise _Stopped
            for outcome, after in self._block(loop.body.body, now):
                if outcome == "break":
                    raise _Stopped
                if loop.step is not None:
                    self._value(loop.step, after)
        return {}

    # ------------------------------------------------------------------------------------------ conditions

    def _truth(self, cond: ir.Expr, state: State) -> bool | None:
        """None: either."""
        match cond:
            case ir.Binary(op="&&" | "||", left=left, right=right):
                first = self._truth(left, state)
                if first is (cond.op == "||"):
                    return first
                before = dict(state)
                second = self._truth(right, state)
                if first is None and state != before:
                    raise _Stopped
                return second if first is not None or second is (cond.op == "||") else None
            case ir.Unary(op="!"):
                holds = self._truth(cond.operand, state)
                return None if holds is None else not holds
            case ir.Binary() if cond.op in _COMPARISONS:
                return self._compared(cond, state)
        value = self._value(cond, state)
        if value is None:
            return None
        if value.in_line:
            return True
        return False if value.zero else True if value.positive or value.negative else None

    def _compared(self, cond: ir.Binary, state: State) -> bool | None:
        left, right = self._value(cond.left, state), self._value(cond.right, state)
        if left is None or right is None:
            return None
        if left.in_line != right.in_line:  # with NULL
            return {"==": False, "!=": True}.get(cond.op) if left.zero or right.zero else None
        unsigned = isinstance(cond.left.type, Int) and not cond.left.type.signed
        if unsigned and any(not (v.zero or v.positive) for v in (left, right)):
            return None
        rest = left.minus(right)
        known = "0" if rest.zero else "+" if rest.positive else "-" if rest.negative else ""
        if not known:
            at_least, at_most = rest.plus(Value(1)).positive, rest.minus(Value(1)).negative
            return {(True, "<"): False, (True, ">="): True}.get((at_least, cond.op)) if at_least else \
                {(True, ">"): False, (True, "<="): True}.get((at_most, cond.op))
        return known in {"==": "0", "!=": "+-", "<": "-", "<=": "-0", ">": "+", ">=": "+0"}[cond.op]

    # ------------------------------------------------------------------------------------------ values

    def _value(self, expr: ir.Expr, state: State) -> Value | None:
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise _Stopped
        match expr:
            case ir.Const(value=int() as number):
                return Value(number)
            case nodes.Var():
                return state.get(expr.key) if expr.space in _OWN else None
            case ir.Decay(operand=nodes.Var() as array):
                return state.get(array.key) if array.space in _OWN else None
            case ir.Cast():
                return _cast(self._value(expr.operand, state), expr.operand.type, expr.type)
            case ir.Binary(op="+" | "-") | nodes.Wrap(op="+" | "-"):
                return self._sum(expr.op, expr.type, expr.left, expr.right, state)
            case nodes.Moved():
                return self._sum(expr.op, expr.type, expr.pointer, expr.by, state)
            case ir.Binary() if expr.op in (*_COMPARISONS, "&&", "||"):
                self._truth(expr, state)
                return None
            case ir.Binary(op="*" | "&" | "|" | "^"):
                self._value(expr.left, state)
                self._value(expr.right, state)
                return None
            case ir.Unary(op="!"):
                self._truth(expr, state)
                return None
            case nodes.Within():
                return self._value(expr.index, state)
            case ir.Assign() | nodes.WrapAssign() | nodes.MoveAssign():
                return self._assign(expr, state)
            case ir.Step() | nodes.WrapStep() | nodes.MoveStep():
                return self._step(expr, state)
            case ir.Comma():
                self._value(expr.first, state)
                return self._value(expr.second, state)
            case nodes.Library():
                return self._call(expr, state)
            case nodes.Read():
                return self._read(expr, state)
        self._looked_at(expr, state)
        return None

    def _sum(self, op: str, kind: CType, left: ir.Expr, right: ir.Expr, state: State) -> Value | None:
        first, second = self._value(left, state), self._value(right, state)
        if first is None or second is None or not _by_bytes(left.type) or not _by_bytes(right.type):
            return None
        if (first.in_line and second.in_line and op == "+") or (second.in_line and not first.in_line and op == "-"):
            return None
        return _fitting(first.plus(second) if op == "+" else first.minus(second), kind)

    def _assign(self, expr: ir.Assign | nodes.WrapAssign | nodes.MoveAssign, state: State) -> Value | None:
        op, target = expr.op.removesuffix("="), expr.target
        if op in ("+", "-"):
            value = self._sum(op, target.type, target, expr.value, state)
        else:
            value = self._value(expr.value, state)
            value = _cast(value, expr.value.type, target.type) if not op else None
        if not isinstance(target, nodes.Var):
            raise _Stopped
        return self._set(target, value, state)

    def _step(self, expr: ir.Step | nodes.WrapStep | nodes.MoveStep, state: State) -> Value | None:
        if not isinstance(expr.target, nodes.Var):
            raise _Stopped
        before = self._value(expr.target, state)
        one = Value(1 if expr.op == "++" else -1)
        after = _fitting(before.plus(one), expr.target.type) if before is not None and _by_bytes(expr.target.type) else None
        self._set(expr.target, after, state)
        return after if expr.prefix else None

    def _set(self, variable: nodes.Var, value: Value | None, state: State) -> Value | None:
        if variable.space not in _OWN:
            raise _Stopped
        state.pop(variable.key, None)
        if value is not None and isinstance(variable.type, (Int, Pointer)):
            state[variable.key] = value
        return value

    def _read(self, expr: nodes.Read, state: State) -> Value | None:
        """The line's address goes into the variable, or the line into the array, of at least one byte beside the NUL."""
        target, capacity = expr.target, expr.capacity
        self._reads += 1
        if not self._in_condition:  # it may find the end
            raise _Stopped
        if expr.kind == "getline":
            if not isinstance(target, ir.AddressOf) or not isinstance(target.operand, nodes.Var):
                raise _Stopped
            if not isinstance(capacity, ir.AddressOf) or not isinstance(capacity.operand, nodes.Var):
                raise _Stopped
            self._set(capacity.operand, None, state)
            self._set(target.operand, Value(0, 0, True), state)
            return LENGTH
        room = self._value(capacity, state)
        if not isinstance(target, ir.Decay) or not isinstance(target.operand, nodes.Var) or room is None or room.const < 2:
            raise _Stopped
        self._set(target.operand, None, state)
        state[target.operand.key] = Value(0, 0, True)
        return state[target.operand.key]

    # ------------------------------------------------------------------------------------------ the line

    def _call(self, expr: nodes.Library, state: State) -> Value | None:
        place = self._value(expr.args[0], state) if expr.args else None
        if place is None or not _in_text(place):
            raise _Stopped
        if expr.name == "strlen":
            return Value(0, 1).minus(Value(place.const, place.lengths))
        if expr.name in ("strstr", "strchr") and len(expr.args) == 2:
            text = _text(expr.args[1], expr.name)
            if self.text is None:
                self.text = text
            return Value(0) if text == self.text else None
        raise _Stopped

    def _looked_at(self, expr: ir.Expr, state: State) -> None:
        """A byte of the line, whichever it is, or something else that does nothing."""
        match expr:
            case ir.Index(base=base, index=index):
                place = self._sum("+", base.type, base, index, state)
            case ir.Deref(pointer=pointer):
                place = self._value(pointer, state)
            case nodes.InLine() | nodes.Named() | nodes.Guarded() | nodes.Inside():
                return self._looked_at(expr.operand, state)
            case ir.Const() | ir.Str():
                return
            case _:
                raise _Stopped
        if place is None or not _in_text(place):
            raise _Stopped


def _in_text(place: Value) -> bool:
    """Does it lie between the line's first byte and its NUL, both included?"""
    behind = LENGTH.minus(Value(place.const, place.lengths))
    return place.in_line and all(v.zero or v.plus(Value(1)).positive for v in (Value(place.const, place.lengths), behind))


def _text(expr: ir.Expr, call: str) -> ir.Expr:
    """What is searched for, the same for every record."""
    if call == "strchr":
        while isinstance(expr, ir.Cast):
            expr = expr.operand
        if isinstance(expr, ir.Const) and isinstance(expr.value, int) and 0 < expr.value < 128:
            return ir.Str(Array(ctype.CHAR, 2), bytes([expr.value]))
        raise _Stopped
    while isinstance(expr, (ir.Cast, ir.Decay)):
        expr = expr.operand
    if isinstance(expr, ir.Str) and b"\0" not in expr.data:
        return expr
    if isinstance(expr, nodes.Var) and expr.is_constant and isinstance(expr.type, Array) and expr.type.of == ctype.CHAR:
        return expr
    raise _Stopped


def _by_bytes(kind: CType) -> bool:
    """A number, or a pointer that goes by bytes."""
    if isinstance(kind, Pointer):
        return isinstance(kind.to, Int) and kind.to.bits == 8
    return isinstance(kind, Int) and not isinstance(kind, Float)


def _fitting(value: Value, kind: CType) -> Value | None:
    """As an object of that type holds it: a small number, or one of 64 bits."""
    if isinstance(kind, Pointer):
        return value if value.in_line or value.zero else None
    if not isinstance(kind, Int) or isinstance(kind, Float) or kind.name == "_Bool" or value.in_line:
        return None
    if abs(value.const) > _MOST or abs(value.lengths) > _MOST_STEPS:
        return None
    small = value.lengths == 0 and (0 if not kind.signed else -100) <= value.const <= 100
    return value if small or (kind.bits == 64 and (kind.signed or value.zero or value.positive)) else None


def _cast(value: Value | None, source: CType, target: CType) -> Value | None:
    if value is None:
        return None
    if isinstance(target, Pointer) and isinstance(source, (Pointer, Array)):
        return value if _by_bytes(target) or value.zero else None
    return _fitting(value, target)
