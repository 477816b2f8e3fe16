"""Runs a combiner's statements on symbols: one pair (key K, value V) against what was kept (key PREV, accumulator ACC).

`fold` asks what one round does in each of the few situations a combiner can be in. Everything that is not understood
raises Refused: a fold that is none would give wrong output, a fold that is missed only costs time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..analysis.objects import Hidden, Object, Variable, symbol_of, variable
from ..ir import build, formats, ir
from ..ir import walk as ir_walk
from ..normalise.stdio import literal
from ..types import ctype
from ..types.ctype import CType, Int
from .calls import Calls
from .reader import Reader
from .start import begins_empty
from .state import Emitted, Printed, Refused, Situation, State, Stop, placed
from .terms import (
    ACC,
    KEPT,
    KEY,
    LENGTH,
    LINE,
    LINE_END,
    NEXT,
    NONZERO,
    NULL,
    POSITIVE,
    REST,
    SUM,
    TAB,
    VALUE,
    ZERO,
    Address,
    Array,
    Const,
    Term,
    Text,
    Value,
    first_byte,
)


@dataclass
class Run:
    """One execution. `decisions` answers V-against-ACC comparisons in turn; one too many raises Fork in `fold`."""

    program: ir.Program
    situation: Situation
    reader: Reader
    state: State
    decisions: list[bool] = field(default_factory=list)
    function: str = ""
    asked: list[str] = field(default_factory=list)
    emitted: Emitted = field(default_factory=list)
    lines: frozenset[Object] = frozenset()  # arrays that hold the line
    zeroed: frozenset[Object] = frozenset()  # arrays that end in zeros from their initialiser on
    line_max: int = 0  # longest key of a line that fits its buffer, 0: any

    def __post_init__(self) -> None:
        self.calls = Calls(self)

    def key_of(self, name: str) -> Variable | Hidden:
        return variable(self.program, self.function, name)

    # ------------------------------------------------------------------------------------- statements

    def block(self, block: ir.Block) -> None:
        for stmt in block.body:
            self.stmt(stmt)

    def stmt(self, stmt: ir.Stmt) -> None:
        with placed(stmt.span):
            if isinstance(stmt, ir.ExprStmt):
                self.value(stmt.expr)
            elif isinstance(stmt, ir.Block):
                self.block(stmt)
            elif isinstance(stmt, ir.If):
                self._if(stmt)
            elif isinstance(stmt, ir.Decl):
                self._decl(stmt)
            elif isinstance(stmt, ir.Continue):
                raise Stop("continue")
            elif isinstance(stmt, ir.Return):
                raise Stop("return", self.value(stmt.value) if stmt.value is not None else None)
            else:
                raise Refused

    def _decl(self, stmt: ir.Decl) -> None:
        key = self.key_of(stmt.name)
        self.state.terms.pop(key, None)
        self.state.contents.pop(key, None)
        if isinstance(stmt.init, ir.Str):
            self.state.contents[key] = Text.EMPTY if not stmt.init.data else None
        elif isinstance(stmt.init, ir.Expr):
            self.state.terms[key] = self.value(stmt.init)
        elif isinstance(stmt.init, ir.Fill):
            self.state.contents[key] = Text.EMPTY if begins_empty(stmt.init) else None
        elif stmt.length is not None:
            raise Refused

    def _if(self, stmt: ir.If) -> None:
        if _dead_end(stmt.then) != _dead_end(stmt.other):
            holds = _dead_end(stmt.other)
            self._guard(stmt.cond, holds)
        else:
            holds = self.truth(self.value(stmt.cond))
        chosen = stmt.then if holds else stmt.other
        if chosen is not None:
            self.block(chosen)

    def _guard(self, cond: ir.Expr, goes_on: bool) -> None:
        """A test that may end the process with an error: only pairs for which it goes on count.

        It may look at the pair alone: one that looks at what is kept or was accumulated ends the process, or not, depending
        on how the pairs were grouped. So does one that looks behind a key's end, where an earlier pair's bytes may be.
        """
        parts = list(ir_walk.walk(cond))
        if any(self._behind_the_end(n) for n in parts):
            raise Refused
        assigned = {n.target.number for n in parts if isinstance(n, ir.Assign)}
        if not all(self._of_the_pair(n) for n in parts if isinstance(n, ir.Name) and n.number not in assigned):
            raise Refused
        if any(isinstance(n, (ir.Assign, ir.Step, ir.Call)) for n in parts):
            try:
                decided = self.truth(self.value(cond))
            except Refused:
                if any(isinstance(n, (ir.Assign, ir.Step)) for n in parts):
                    raise
                return
            if decided != goes_on:
                raise Refused

    def _behind_the_end(self, node: ir.Node) -> bool:
        """May it read an element, or bytes, that no pair has to have written?"""
        if isinstance(node, (ir.Index, ir.Deref)):
            pointer, index = self._element(node)
            return (pointer is None or index != ZERO) and self.load(node) is None
        return isinstance(node, ir.Call) and ir.called(node).startswith(("mem", "bcmp"))

    def _of_the_pair(self, node: ir.Name) -> bool:
        if isinstance(node.type, ctype.Func):
            return node.name not in self.program.by_name
        key = self.key_of(node.name)
        if isinstance(node.type, ctype.Array):
            return key in self.lines or self.state.contents.get(key) not in (None, Text.KEPT)
        term = self.state.terms.get(key)
        return term is not None and term != KEPT and not term.gathered

    def truth(self, term: Term) -> bool:
        if term is None or term.truth is None:
            raise Refused
        return term.truth

    # ------------------------------------------------------------------------------------- expressions

    def value(self, node: ir.Expr) -> Term:
        handler = _RULES.get(type(node))
        if handler is None:
            raise Refused
        return handler(self, node)

    def const(self, node: ir.Const) -> Term:
        if isinstance(node.type, ctype.Pointer):
            return NULL if node.value == 0 else None
        return Const(node.value) if isinstance(node.value, int) else None

    def name(self, node: ir.Name) -> Term:
        return self.state.terms.get(self.key_of(node.name))

    def decay(self, node: ir.Decay) -> Term:
        if isinstance(node.operand, ir.Name) and isinstance(node.operand.type, ctype.Array):
            key = self.key_of(node.operand.name)
            return LINE if key in self.lines else Array(key)
        return None

    def address(self, node: ir.AddressOf) -> Term:
        inner = node.operand
        if isinstance(inner, ir.Index) and self.value(inner.index) == ZERO:
            return self.value(inner.base)
        scalar = isinstance(inner, ir.Name) and isinstance(inner.type, (Int, ctype.Pointer))
        return Address(self.key_of(inner.name)) if scalar and isinstance(inner, ir.Name) else None

    def cast(self, node: ir.Cast) -> Term:
        term = self.value(node.operand)
        kind, old = node.type, node.operand.type
        if term is None or not isinstance(kind, Int):
            return term
        if isinstance(term, Const):
            return Const(ctype.wrap(kind, term.value))
        if isinstance(old, Int) and kind.signed == old.signed and (kind.bits >= old.bits or term in (KEY, VALUE)):
            if kind.bits < old.bits:
                self.reader.converted("K" if term == KEY else "V", kind)
            return term
        if term in (NONZERO, POSITIVE) and isinstance(old, Int) and kind.bits >= old.bits:
            return NONZERO
        return LENGTH if term == LENGTH and kind.bits >= 32 else None

    def load(self, node: ir.Expr) -> Term:
        """An element: only the first of an array whose contents are known, and the newline of the line."""
        pointer, index = self._element(node)
        if isinstance(pointer, Array) and index == ZERO:
            return first_byte(self.state.contents.get(pointer.obj))
        if pointer == LINE and index == LINE_END and not self.state.cut and not self.state.chopped:
            return Const(10)
        if pointer == TAB and index == ZERO and not self.state.cut:
            return Const(9)
        return None

    def _element(self, node: ir.Expr) -> tuple[Term, Term]:
        if isinstance(node, ir.Index):
            return self.value(node.base), self.value(node.index)
        assert isinstance(node, ir.Deref)
        return self.value(node.pointer), ZERO

    def unary(self, node: ir.Unary) -> Term:
        term = self.value(node.operand)
        if node.op == "!":
            return Const(int(not self.truth(term)))
        if isinstance(term, Const) and isinstance(node.type, Int):
            return Const(ctype.wrap(node.type, -term.value if node.op == "-" else ~term.value))
        return None

    def binary(self, node: ir.Binary) -> Term:
        if node.op in build.LOGICAL:
            left = self.truth(self.value(node.left))
            if left == (node.op == "||"):
                return Const(int(left))
            return Const(int(self.truth(self.value(node.right))))
        left_term, right_term = self.value(node.left), self.value(node.right)
        if left_term is None or right_term is None:
            return None
        if node.op in build.COMPARISONS:
            return self.compare(node.op, left_term, right_term, node.left.type)
        return self.arithmetic(node.op, left_term, right_term, node.type)

    def compare(self, op: str, left: Value, right: Value, kind: CType) -> Term:
        if isinstance(left, Const) and isinstance(right, Const):
            return Const(int(build.compare(op, left.value, right.value)))
        if left == right and left in (VALUE, ACC, LINE, TAB, REST):
            return Const(int(op in ("==", "<=", ">=")))
        if isinstance(left, Const) or left == NULL:
            left, right, op = right, left, _MIRROR[op]
        if left in _KEYS:
            return self._compare_key(op, left, right)
        if right in (ZERO, NULL) and op in ("==", "!=") and left.truth is not None:
            return Const(int(left.truth == (op == "!=")))
        if left in (POSITIVE, LENGTH) and isinstance(right, Const) and (op, right.value) in _TRUE_OF_POSITIVES:
            return Const(1)
        return self._against(op, left, right, kind)

    def _compare_key(self, op: str, left: Value, right: Value) -> Term:
        """A key that is a number: with the other one, or with the constant that stands for none."""
        if op not in ("==", "!="):
            return None
        same = left == right
        if {left, right} == set(_KEYS):
            same = self.situation == "same"
        elif isinstance(right, Const):
            self.reader.found_none(right.value)
        elif not same:
            return None
        return Const(int(same == (op == "==")))

    def _against(self, op: str, left: Value, right: Value, kind: CType) -> Term:
        """V against ACC: decided from outside. Against the type's last value: the outcome makes no difference."""
        if isinstance(right, Const) and left == VALUE and isinstance(kind, Int):
            low = -(1 << (kind.bits - 1)) if kind.signed else 0
            high = (1 << (kind.bits - kind.signed)) - 1
            return Const(1) if (op, right.value) in (("<", high), ("<=", high), (">", low), (">=", low)) else None
        if {left, right} != {VALUE, ACC} or op not in ("<", "<=", ">", ">="):
            return None
        self.asked.append("less" if (left == VALUE) == (op[0] == "<") else "greater")
        if len(self.asked) > len(self.decisions):
            raise Stop("fork")
        return Const(int(self.decisions[len(self.asked) - 1]))

    def arithmetic(self, op: str, left: Value, right: Value, kind: CType) -> Term:
        pair = {left, right}
        if isinstance(kind, ctype.Pointer):
            return REST if op == "+" and pair == {TAB, Const(1)} else None
        if isinstance(left, Const) and isinstance(right, Const) and isinstance(kind, Int):
            folded = build.binary(op, ir.Const(kind, left.value), ir.Const(kind, right.value), ir.Const(kind, 0).span)
            return Const(int(folded.value)) if isinstance(folded, ir.Const) else None
        if op == "-" and left == LENGTH and right == Const(1):
            return LINE_END
        if op != "+":
            return None
        if pair == {ACC, VALUE}:
            return SUM
        if pair == {ACC, Const(1)}:
            return NEXT
        return next(iter(pair - {ZERO})) if ZERO in pair else None

    def conditional(self, node: ir.Conditional) -> Term:
        return self.value(node.then if self.truth(self.value(node.cond)) else node.other)

    def comma(self, node: ir.Comma) -> Term:
        self.value(node.first)
        return self.value(node.second)

    def assign(self, node: ir.Assign) -> Term:
        term = self.value(node.value)
        if node.op != "=":
            old = self.value(node.target)
            known = old is not None and term is not None
            same = build.compute_type(node) == node.type
            term = self.arithmetic(node.op[:-1], old, term, node.type) if known and same else None  # type: ignore[arg-type]
        self.store(node.target, term)
        return term

    def step(self, node: ir.Step) -> Term:
        old = self.value(node.target)
        new = self.arithmetic("+" if node.op == "++" else "-", old, Const(1), node.type) if old is not None else None
        self.store(node.target, new)
        return new if node.prefix else old

    def store(self, target: ir.Expr, term: Term) -> None:
        if isinstance(target, ir.Name):
            self.state.terms[self.key_of(target.name)] = term
            return
        if not isinstance(target, (ir.Index, ir.Deref)):
            raise Refused
        pointer, index = self._element(target)
        if pointer is None or term != ZERO:
            raise Refused
        self._store_nul(pointer, index)

    def _store_nul(self, pointer: Value, index: Term) -> None:
        """A NUL: cuts the line at its tab or newline, empties an array, or ends a copied key behind its end."""
        if pointer == TAB and index == ZERO:
            self.state.cut = True
            self.reader.found_key("field", self.line_max)
        elif pointer == LINE and index == LINE_END:
            self.state.chopped = True
        elif isinstance(pointer, Array) and isinstance(index, Const):
            self._end_array(pointer.obj, index.value)
        else:
            raise Refused

    def _end_array(self, key: Object, index: int) -> None:
        content = self.state.contents.get(key)
        if index == 0:
            self.state.contents[key] = Text.EMPTY
        elif content in (Text.KEY, Text.OPEN_KEY, Text.KEPT) and self.reader.key_max and index >= self.reader.key_max:
            self.state.contents[key] = Text.KEY if content == Text.OPEN_KEY else content
        elif content is not None:
            raise Refused

    # ------------------------------------------------------------------------------------- strings

    def string(self, node: ir.Expr) -> Text | None:
        """What a pointer leads to holds."""
        text = literal(node)
        if text is not None:
            return Text.EMPTY if not text else None
        term = self.value(node)
        if isinstance(term, Array):
            return self.state.contents.get(term.obj)
        if term == LINE:
            return Text.KEY if self.state.cut else None
        return Text.REST if term == REST else None

    def array_size(self, key: Object) -> int:
        symbol = symbol_of(self.program, key)
        return self.program.layouts.size(symbol.type) or 0 if symbol is not None else 0

    def emit(self, node: ir.Emit) -> Term:
        for piece in node.pieces:
            if isinstance(piece, ir.Text):
                self.emitted.append(piece.data)
                continue
            conv = formats.conversion(piece.spec)
            if conv.letter == "s":
                self.emitted.append(Printed(piece.spec, self.string(piece.args[-1])))
            else:
                kind = piece.args[-1].type if piece.args else None
                self.emitted.append(Printed(piece.spec, self.value(piece.args[-1]) if piece.args else None, kind))
        return None


def _dead_end(block: ir.Block | None) -> bool:
    """Does a block do nothing but report and end the process with an error?"""
    if block is None or not block.body:
        return False
    *before, last = block.body
    if not all(isinstance(s, ir.ExprStmt) and isinstance(s.expr, ir.Stderr) for s in before):
        return False
    return isinstance(last, ir.ExprStmt) and isinstance(last.expr, ir.Exit) and ir_walk.fails(last.expr)


_KEYS = (KEY, KEPT)
_TRUE_OF_POSITIVES = frozenset({(">", 0), (">=", 1), (">=", 0), ("!=", -1), (">", -1)})
_MIRROR = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}

_RULES: dict[type, Callable[[Run, Any], Term]] = {
    ir.Const: Run.const, ir.Name: Run.name, ir.Decay: Run.decay, ir.AddressOf: Run.address, ir.Cast: Run.cast,
    ir.Index: Run.load, ir.Deref: Run.load, ir.Unary: Run.unary, ir.Binary: Run.binary, ir.Conditional: Run.conditional,
    ir.Comma: Run.comma, ir.Assign: Run.assign, ir.Step: Run.step, ir.Emit: Run.emit,
    ir.Call: lambda run, node: run.calls.call(node),
}
