"""Runs a combiner's statements on symbols: one pair (key K and numbers) against what was kept (a key and numbers).

`situations` asks what one round does in each of the few situations a combiner can be in. Everything that is not understood
raises Refused: a key loop that is none would give wrong output, one that is missed only costs time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from ...source import UNKNOWN, Span
from ..analysis.libc_effects import EFFECTS
from ..analysis.objects import Hidden, Object, Variable, symbol_of, variable
from ..ir import build, formats, ir
from ..ir import walk as ir_walk
from ..normalise.stdio import literal
from ..types import ctype
from ..types.ctype import CType, Int
from . import algebra, loop
from .calls import Calls
from .fields import field_of
from .merge import merged
from .reader import Reader
from .start import begins_empty, zeroed
from .state import Either, Emitted, Jump, NoKeyLoop, Printed, RunState, Situation, placed
from .terms import (
    KEPT,
    KEY,
    KEY_LENGTH,
    KEY_SIZE,
    LENGTH,
    LINE,
    LINE_END,
    NEWLINE,
    NONZERO,
    NULL,
    POSITIVE,
    TAB,
    ZERO,
    Address,
    ArrayStart,
    Compared,
    Const,
    Content,
    End,
    Made,
    Num,
    NumberStart,
    Term,
    TextAddress,
    TextTerm,
    Value,
    Words,
    either_words,
    first_byte,
    known,
    literal_text,
    newline_behind,
    number,
)


@dataclass
class Execution:
    """One execution.

    decisions  answer the conditions in turn that cannot be decided; the first for which there is none raises Stop("fork").
    positive   numbers of what was kept that are more than 0. kept: the variables of what was kept, by their numbers.
    guarding   is this a test that may end the process?
    """

    program: ir.Program
    situation: Situation
    reader: Reader
    state: RunState
    decisions: list[bool] = field(default_factory=list)
    function: str = ""
    answers: dict[str, bool] = field(default_factory=dict)
    assumed: dict[str, bool] = field(default_factory=dict)
    positive: frozenset[int] = frozenset()
    kept: tuple[Object, ...] = ()
    guarding: bool = False
    emitted: Emitted = field(default_factory=list)
    emitted_at: Span = UNKNOWN  # the first that prints
    inside: int = 0  # loops that are gone round
    lines: frozenset[Object] = frozenset()  # arrays that hold the line
    zeroed: frozenset[Object] = frozenset()  # arrays that end in zeros from their initialiser on

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
            elif isinstance(stmt, ir.Switch):
                self._switch(stmt)
            elif isinstance(stmt, (ir.For, ir.While, ir.DoWhile)):
                self._rounds(stmt)
            elif isinstance(stmt, (ir.Continue, ir.Break)):
                raise Jump("continue" if isinstance(stmt, ir.Continue) else "break")
            elif isinstance(stmt, ir.Return):
                raise Jump("return", self.value(stmt.value) if stmt.value is not None else None)
            else:
                raise NoKeyLoop

    def _decl(self, stmt: ir.Decl) -> None:
        key = self.key_of(stmt.name)
        self.state.terms.pop(key, None)
        self.state.contents.pop(key, None)
        kind = self.type_of(key)
        if algebra.is_numbers(kind) and isinstance(stmt.init, ir.Fill) and zeroed(stmt.init):
            self.state.terms[key] = Num(loop.Zeros(kind))  # type: ignore[arg-type]
        elif isinstance(stmt.init, ir.Str):
            self.state.contents[key] = literal_text(stmt.init.data.split(b"\0")[0])
        elif isinstance(stmt.init, ir.Expr):
            self.state.terms[key] = self.value(stmt.init)
        elif isinstance(stmt.init, ir.Fill):
            self.state.contents[key] = TextTerm.EMPTY if begins_empty(stmt.init) else None
        elif stmt.length is not None:
            raise NoKeyLoop

    def _if(self, stmt: ir.If) -> None:
        if self._dead_end(stmt.then) != self._dead_end(stmt.other):
            holds = self._dead_end(stmt.other)
            self._guard(stmt.cond, holds)
            self._branch(stmt.then if holds else stmt.other)
            return
        self.either(self.value(stmt.cond), lambda: self._branch(stmt.then), lambda: self._branch(stmt.other), ctype.VOID)

    def _rounds(self, stmt: ir.For | ir.While | ir.DoWhile) -> None:
        """A loop of which every round is certain, as one over an array's elements."""
        if isinstance(stmt, ir.For) and stmt.init is not None:
            self.stmt(stmt.init)
        first = isinstance(stmt, ir.DoWhile)
        for _ in range(_MOST_ROUNDS):
            goes_on = first or stmt.cond is None or self.condition(self.value(stmt.cond))
            if not isinstance(goes_on, bool):
                raise NoKeyLoop("how often a loop inside goes round is not known")
            if not goes_on:
                return
            first = False
            self.inside += 1
            try:
                self.block(stmt.body)
            except Jump as stop:
                if stop.how == "break":
                    return
                if stop.how != "continue":
                    raise
            finally:
                self.inside -= 1
            if isinstance(stmt, ir.For) and stmt.step is not None:
                self.value(stmt.step)
        raise NoKeyLoop(f"a loop inside goes round more than {_MOST_ROUNDS} times")

    def _switch(self, stmt: ir.Switch) -> None:
        """A chain of tests, one for each label, each with what is done from there on. A label that is not the body's own is
        not understood."""
        chosen, body = self.value(stmt.value), stmt.body.body
        if not isinstance(chosen, (Const, Num)):
            raise NoKeyLoop
        labels = [(at, s.value) for at, s in enumerate(body) if isinstance(s, ir.CaseLabel)]
        if len(labels) != sum(isinstance(n, ir.CaseLabel) for n in ir_walk.walk(stmt.body)):
            raise NoKeyLoop
        for name in (n.name for n in ir_walk.walk(stmt.body) if isinstance(n, ir.Decl)):  # a label may jump over it
            self.state.terms.pop(self.key_of(name), None)
            self.state.contents.pop(self.key_of(name), None)
        rest = partial(self._from, body, next((at for at, value in labels if value is None), len(body)))
        for at, value in reversed(labels):
            if value is not None:
                rest = partial(self._case, stmt.value.type, chosen, value, partial(self._from, body, at), rest)
        rest()

    def _case(self, kind: CType, chosen: Value, value: int, then: Callable[[], Term], other: Callable[[], Term]) -> Term:
        return self.either(self.compare("==", chosen, Const(value), kind), then, other, ctype.VOID)

    def _from(self, body: tuple[ir.Stmt, ...], at: int) -> Term:
        """What stands from there on, to a break."""
        try:
            for stmt in body[at:]:
                if not isinstance(stmt, ir.CaseLabel):
                    self.stmt(stmt)
        except Jump as stop:
            if stop.how != "break":
                raise
        return None

    def _dead_end(self, block: ir.Block | None) -> bool:
        """Does a block do nothing but report and end the process with an error?"""
        if block is None or not block.body:
            return False
        *before, last = block.body
        if not all(isinstance(s, ir.ExprStmt) and isinstance(s.expr, ir.Stderr) for s in before):
            return False
        if isinstance(last, ir.Return) and last.value is not None and self.function == "main":
            status = ir_walk.uncast(last.value)
            return isinstance(status, ir.Const) and isinstance(status.value, int) and status.value & 0xFF != 0
        return isinstance(last, ir.ExprStmt) and isinstance(last.expr, ir.Exit) and ir_walk.fails(last.expr)

    def _branch(self, block: ir.Block | None) -> Term:
        if block is not None:
            self.block(block)
        return None

    def either(self, cond: Term, then: Callable[[], Term], other: Callable[[], Term], kind: CType) -> Term:
        """What either gives, and both leave behind. One that jumps, or prints, is a way of its own: the run forks."""
        condition = self.condition(cond)
        if isinstance(condition, bool):
            return then() if condition else other()
        if isinstance(condition, loop.Operation) and condition.op == "!":
            condition, then, other = condition.operands[0], other, then
        before, printed, (asked, negated) = self.state, len(self.emitted), _question(condition)
        found, outputs = [], []
        for holds, action in ((True, then), (False, other)):
            self.state, self.assumed[asked] = before.copy(), holds != negated
            try:
                found.append((action(), self.state))
                outputs.append(self.emitted[printed:])
                if self.inside:  # as many ways as there are rounds would be too many
                    del self.emitted[printed:]
            except Jump as stop:
                if stop.how == "fork":
                    raise
            finally:
                del self.assumed[asked]
            if len(self.emitted) > printed:
                break
        if len(found) == 2 and len(self.emitted) == printed:
            state = merged(self.program, condition, found[0][1], found[1][1], self.situation)
            if state is not None:
                self.state = state
                self.emitted += [Either(condition, *outputs)] if any(outputs) else []
                return self._chosen(condition, found[0][0], found[1][0], kind)
        self.state = before
        del self.emitted[printed:]
        return then() if self.decide(condition) else other()

    def _chosen(self, condition: loop.Term, then: Term, other: Term, kind: CType) -> Term:
        if then == other:
            return then
        words = either_words(condition, then, other)
        if words is not None:
            return words
        left, right = number(then, kind), number(other, kind)
        return known(algebra.choice(condition, left, right)) if left is not None and right is not None else None

    def condition(self, term: Term) -> bool | loop.Term:
        """A value's truth, or the term of it where it cannot be told."""
        if isinstance(term, Compared):
            term = self.compare("!=", term, ZERO, ctype.INT)
        if isinstance(term, Num):
            found = self._of_positive(algebra.truth(term.term))
            return bool(found.value) if isinstance(found, loop.Number) else self._decided(found)
        if term is None or term.truth is None:
            raise NoKeyLoop
        self.reader.nonempty |= term == KEY_LENGTH
        return term.truth

    def _decided(self, condition: loop.Term) -> bool | loop.Term:
        """One that was met before on this way."""
        asked, negated = _question(condition)
        answer = self.assumed.get(asked, self.answers.get(asked))
        return condition if answer is None else answer != negated

    def _of_positive(self, term: loop.Term) -> loop.Term:
        """A comparison of a count with a number below it is decided."""
        if isinstance(term, loop.Operation) and len(term.operands) == 2:
            left, right = term.operands
            if isinstance(left, loop.KeptValue) and left.number in self.positive and isinstance(right, loop.Number):
                if (term.op, right.value) in _TRUE_OF_POSITIVES:
                    return loop.Number(1, ctype.INT)
                if (term.op, right.value) in _FALSE_OF_POSITIVES:
                    return loop.Number(0, ctype.INT)
        elif isinstance(term, loop.Operation) and term.op == "!":
            inner = self._of_positive(term.operands[0])
            return loop.Number(int(not inner.value), ctype.INT) if isinstance(inner, loop.Number) else term
        return term

    def decide(self, condition: loop.Term) -> bool:
        """The answer to a condition on this way through the program."""
        if isinstance(condition, loop.Operation) and condition.op == "!":
            return not self.decide(condition.operands[0])
        asked, negated = _question(condition)
        if asked not in self.answers:
            if len(self.answers) == len(self.decisions):
                raise Jump("fork", condition=condition)
            self.answers[asked] = self.decisions[len(self.answers)] != negated
        return self.answers[asked] != negated

    def _guard(self, cond: ir.Expr, goes_on: bool) -> None:
        """A test that may end the process with an error: only pairs for which it goes on count.

        It may look at the pair alone: one that looks at what is kept or was accumulated ends the process, or not, depending
        on how the pairs were grouped. So does one that looks behind a key's end, where an earlier pair's bytes may be.
        Of several tests in turn each sees what those before it assign: a pair counts that passes them all.
        """
        if isinstance(cond, ir.Binary) and cond.op == ("&&" if goes_on else "||"):
            self._guard(cond.left, goes_on)
            self._guard(cond.right, goes_on)
            return
        parts, before = list(ir_walk.walk(cond)), self.state
        self.state = before.copy()
        if any(self._behind_the_end(n) for n in parts):
            raise NoKeyLoop
        self.state = before
        assigned = {n.target.number for n in parts if isinstance(n, ir.Assign)}
        if not all(self._of_the_pair(n) for n in parts if isinstance(n, ir.Name) and n.number not in assigned):
            raise NoKeyLoop
        decided: bool | None = None
        self.guarding = True
        try:
            found = self.condition(self.value(cond))
            decided = found if isinstance(found, bool) else None
        except NoKeyLoop:
            if any(_leaves_something(n) for n in parts):
                raise
        finally:
            self.guarding = False
        if decided is None:
            self.reader.guarded = True
            self.reader.guarded_at = cond.span if cond.span.line else None
            self.reader.ends_at_value |= any(self._of_a_value(n) for n in parts)
        elif decided != goes_on:
            raise NoKeyLoop

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
            content = self.state.contents.get(key)
            kept = isinstance(content, Made) and content.gathered
            return key in self.lines or (content not in (None, TextTerm.KEPT) and not kept)
        term = self.state.terms.get(key)
        return term is not None and term != KEPT and not term.gathered

    def _of_a_value(self, node: ir.Node) -> bool:
        """Is it one of the value's numbers, a place in its text, or the whole line?"""
        if not isinstance(node, ir.Name):
            return False
        key = self.key_of(node.name)
        term = LINE if key in self.lines else self.state.terms.get(key)
        if isinstance(self.state.contents.get(key), Made):
            return True
        return isinstance(term, (Num, NumberStart, End)) or term == TAB or (term == LINE and not self.state.cut)

    def truth(self, term: Term) -> bool:
        """A value's truth on this way through the program."""
        found = self.condition(term)
        return found if isinstance(found, bool) else self.decide(found)

    def place(self, node: ir.Expr) -> Object | None:
        """The variable that an lvalue is: by its name, through a pointer to it, or to the struct that it is a field of."""
        if isinstance(node, ir.Name):
            return self.key_of(node.name)
        if isinstance(node, ir.Deref):
            return self._pointed(self.value(node.pointer), node)
        if isinstance(node, ir.Member) and isinstance(node.base, ir.Deref):
            return self._pointed(self.value(node.base.pointer), node, node.field)
        return None

    def _pointed(self, pointer: Term, node: ir.Expr, name: str = "") -> Object | None:
        """The variable, or field of a struct, behind a pointer, where it is of the type that `node` takes it for."""
        if not isinstance(pointer, Address):
            return None
        found = pointer.obj if not name else field_of(pointer.obj, name)
        symbol = symbol_of(self.program, found) if found is not None else None
        return found if symbol is not None and symbol.type == node.type else None

    # ------------------------------------------------------------------------------------- expressions

    def value(self, node: ir.Expr) -> Term:
        handler = _RULES.get(type(node))
        try:
            if handler is None:
                raise NoKeyLoop
            return handler(self, node)
        except NoKeyLoop as refused:
            if refused.span is None and node.span.line:
                refused.span = node.span
            raise

    def const(self, node: ir.Const) -> Term:
        if isinstance(node.type, ctype.Pointer):
            return NULL if node.value == 0 else None
        if isinstance(node.type, ctype.Float):
            made = loop.Number(node.value, node.type)
            return Num(made) if algebra.computes(node.type) and made.value == made.value else None
        return Const(node.value) if isinstance(node.value, int) else None

    def name(self, node: ir.Name) -> Term:
        return self.state.terms.get(self.key_of(node.name))

    def member(self, node: ir.Member) -> Term:
        key = self.place(node)
        return self.state.terms.get(key) if key is not None else None

    def decay(self, node: ir.Decay) -> Term:
        if not isinstance(node.operand.type, ctype.Array):
            return None
        if isinstance(node.operand, ir.Str):
            return Words(loop.LiteralText(node.operand.data.split(b"\0")[0]))
        key = self.place(node.operand)
        if key is None:
            return None
        return LINE if key in self.lines else ArrayStart(key)

    def address(self, node: ir.AddressOf) -> Term:
        inner = node.operand
        if isinstance(inner, ir.Index):
            base, index = self.value(inner.base), self.value(inner.index)
            return base if index == ZERO else self._moved("+", base, index, inner.index.type)
        key = self.place(inner) if isinstance(inner.type, (Int, ctype.Float, ctype.Pointer, ctype.Struct)) else None
        return Address(key) if key is not None else None

    def cast(self, node: ir.Cast) -> Term:
        term = self.value(node.operand)
        kind, old = node.type, node.operand.type
        if isinstance(term, Num) or (isinstance(term, Const) and isinstance(kind, ctype.Float)):
            found = number(term, old)
            return known(algebra.convert(found, kind)) if found is not None else None
        if term is None or not isinstance(kind, Int):
            return term
        if isinstance(term, Const):
            return Const(ctype.wrap(kind, term.value))
        if isinstance(old, Int) and kind.signed == old.signed and (kind.bits >= old.bits or term == KEY):
            if kind.bits < old.bits:
                self.reader.converted_key(kind)
            return term
        if term in (NONZERO, POSITIVE) and isinstance(old, Int) and kind.bits >= old.bits:
            return NONZERO
        return term if term in (LENGTH, KEY_LENGTH, KEY_SIZE) and kind.bits >= 32 else None

    def load(self, node: ir.Expr) -> Term:
        """A variable through a pointer; of elements only the first of an array whose contents are known, and bytes of the
        line that are known."""
        pointer, index = self._element(node)
        if isinstance(pointer, Address) and index == ZERO:
            key = self._pointed(pointer, node)
            return self.state.terms.get(key) if key is not None else None
        if isinstance(pointer, ArrayStart) and algebra.is_numbers(self.type_of(pointer.obj)):
            array, at = self._array_and_index(node, pointer.obj, index)
            return known(algebra.element(array, at))
        if isinstance(pointer, ArrayStart) and index == ZERO:
            return self.first_of(self.state.contents.get(pointer.obj))
        if isinstance(pointer, NumberStart) and index == ZERO:
            text = self.text_at(pointer.at)
            return self.first_of(text) if text is not None else None
        if pointer == LINE and index == LINE_END and not self.state.cut and not self.state.chopped:
            return Const(10)
        if pointer == TAB and index == ZERO and not self.state.cut:
            return Const(9)
        if isinstance(pointer, End) and index == ZERO and pointer.at not in self.state.cuts:
            first = {text[0] for text in self.reader.between.get(pointer.at, ())}
            return Const(first.pop()) if len(first) == 1 else None
        return None

    def type_of(self, key: Object) -> CType | None:
        symbol = symbol_of(self.program, key)
        return symbol.type if symbol is not None else None

    def _array_and_index(self, node: ir.Expr, key: Object, index: Term) -> tuple[loop.Term, loop.Term]:
        """What an array of numbers holds, and an index as a long that is inside of it."""
        kind = self.type_of(key)
        assert isinstance(kind, ctype.Array) and kind.length
        array = self.state.terms.get(key) or Num(loop.KeptValue(loop.NOT_KNOWN, kind))
        if node.type != kind.of:
            raise NoKeyLoop
        asked = number(index, node.index.type if isinstance(node, ir.Index) else ctype.INT)
        at = algebra.convert(asked, ctype.LONG) if asked is not None else None
        if not isinstance(array, Num) or at is None:
            raise NoKeyLoop
        outside = algebra.outside(at, kind.length)
        if outside == loop.Number(1, ctype.INT):
            raise NoKeyLoop("it goes outside of an array")
        self.state.outside = algebra.either(self.state.outside, outside)
        return array.term, at

    def first_of(self, text: Content | None) -> Term:
        if isinstance(text, Made) and algebra.is_joined(text.term):
            raise NoKeyLoop("a byte is read of a text that is put together")
        if text in (TextTerm.KEY, TextTerm.KEPT):
            self.reader.nonempty = True
        return first_byte(text)

    def _element(self, node: ir.Expr) -> tuple[Term, Term]:
        if isinstance(node, ir.Index):
            return self.value(node.base), self.value(node.index)
        assert isinstance(node, ir.Deref)
        return self.value(node.pointer), ZERO

    def unary(self, node: ir.Unary) -> Term:
        term = self.value(node.operand)
        if isinstance(term, (Num, Compared)):
            found = self.condition(term) if node.op == "!" else number(term, node.operand.type)
            if isinstance(found, bool):
                return Const(int(not found))
            return known(algebra.unary(node.op, found)) if found is not None else None
        if node.op == "!":
            return Const(int(not self.truth(term)))
        if isinstance(term, Const) and isinstance(node.type, Int):
            return Const(ctype.wrap(node.type, -term.value if node.op == "-" else ~term.value))
        return None

    def binary(self, node: ir.Binary) -> Term:
        if node.op in build.LOGICAL:
            left, rest = self.value(node.left), partial(self._truth_of, node.right)
            shortcut = Const(int(node.op == "||"))
            then, other = (lambda: shortcut, rest) if node.op == "||" else (rest, lambda: shortcut)
            return self.either(left, then, other, ctype.INT)
        left_term, right_term = self.value(node.left), self.value(node.right)
        if left_term is None or right_term is None:
            return None
        if node.op in build.COMPARISONS:
            return self.compare(node.op, left_term, right_term, node.left.type)
        return self.arithmetic(node.op, left_term, right_term, node.type, node.right.type)

    def _truth_of(self, node: ir.Expr) -> Term:
        found = self.condition(self.value(node))
        return Const(int(found)) if isinstance(found, bool) else known(found)

    def compare(self, op: str, left: Value, right: Value, kind: CType) -> Term:
        if isinstance(left, Const) and isinstance(right, Const):
            return Const(int(build.compare(op, left.value, right.value)))
        if isinstance(left, Compared) or isinstance(right, Compared):
            return self._compare_order(op, left, right)
        if isinstance(left, Num) or isinstance(right, Num):
            ours, theirs = number(left, kind), number(right, kind)
            made = algebra.binary(op, ours, theirs, ctype.INT) if ours is not None and theirs is not None else None
            return known(self._of_positive(made)) if made is not None else None
        if left == right and (left in (LINE, TAB) or isinstance(left, (NumberStart, End))):
            return Const(int(op in ("==", "<=", ">=")))
        if op in ("==", "!=") and isinstance(left, (NumberStart, End)) and isinstance(right, (NumberStart, End)):
            return Const(int(op == "!="))
        if isinstance(left, Const) or left == NULL:
            left, right, op = right, left, _MIRROR[op]
        if left in _KEYS:
            return self._compare_key(op, left, right)
        if right in (ZERO, NULL) and op in ("==", "!=") and left.truth is not None:
            return Const(int(left.truth == (op == "!=")))
        if left == KEY_LENGTH and isinstance(right, Const) and self.guarding and right.value > 1 and op not in ("==", "!="):
            return self._short_key(op, right.value)
        if left in (POSITIVE, LENGTH, KEY_LENGTH) and isinstance(right, Const) and (op, right.value) in _TRUE_OF_POSITIVES:
            self.reader.nonempty |= left == KEY_LENGTH
            return Const(1)
        return None

    def _compare_order(self, op: str, left: Value, right: Value) -> Term:
        """What strcmp gave is above 0, below it, or 0."""
        if isinstance(right, Compared):
            left, right, op = right, left, _MIRROR[op]
        if not isinstance(left, Compared) or right != ZERO:
            return None
        return known(algebra.binary(op, left.order, loop.Number(0, ctype.INT), ctype.INT))

    def _short_key(self, op: str, size: int) -> Term:
        """A test that ends the process where a key is too long: longer ones do not read back."""
        self.reader.keeps(size - (op in ("<", ">=")))
        return Const(int(op[0] == "<"))

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

    def arithmetic(self, op: str, left: Value, right: Value, kind: CType, right_kind: CType) -> Term:
        """An operator; `kind` is the left operand's type and, but for pointers, the result's."""
        if isinstance(kind, ctype.Pointer):
            return self._moved(op, left, right, right_kind)
        if op == "-" and left == LENGTH and right == Const(1):
            return LINE_END
        if op == "-" and left == TAB and right == LINE and not self.state.cut:
            return KEY_LENGTH
        if op == "+" and left == KEY_LENGTH and right == Const(1):
            return KEY_SIZE
        ours, theirs = number(left, kind), number(right, right_kind)
        if ours is None or theirs is None:
            return next(iter({left, right} - {ZERO})) if op == "+" and ZERO in (left, right) and left != right else None
        if op in ("/", "%") and isinstance(theirs, loop.KeptValue) and theirs.number in self.positive:
            return Num(loop.Operation(op, (ours, theirs), kind))  # which does not trap
        return known(algebra.binary(op, ours, theirs, kind))

    def _moved(self, op: str, left: Term, right: Term, kind: CType) -> Term:
        """A pointer behind the tab, or behind what stands between two numbers, or into an array of char."""
        if isinstance(left, ArrayStart) and op == "+" and algebra.is_text(self.type_of(left.obj)):
            index = number(right, kind)
            at = algebra.convert(index, ctype.LONG) if index is not None else None
            return TextAddress(left.obj, at) if at is not None else None
        if not isinstance(left, (End, type(TAB))):
            left, right = right, left
        if op != "+" or not isinstance(right, Const):
            return None
        if left == TAB and right.value == 1:
            return NumberStart(0)
        if isinstance(left, End) and right.value > 0:
            self.reader.narrowed(left.at, lambda text: len(text) == right.value)
            return NumberStart(left.at + 1)
        return left if right == ZERO else None

    def conditional(self, node: ir.Conditional) -> Term:
        return self.either(
            self.value(node.cond), lambda: self.value(node.then), lambda: self.value(node.other), node.type)

    def comma(self, node: ir.Comma) -> Term:
        self.value(node.first)
        return self.value(node.second)

    def assign(self, node: ir.Assign) -> Term:
        term = self.value(node.value)
        if node.op != "=":
            self._check_twice(node.target)
            old = self.value(node.target)
            term = self._compound(node, old, term) if old is not None and term is not None else None
        self.store(node.target, term)
        return term

    def _check_twice(self, target: ir.Expr) -> None:
        """It is read and stored to, each time found anew."""
        if any(_leaves_something(node) for node in ir_walk.walk(target)):
            raise NoKeyLoop

    def _compound(self, node: ir.Assign, old: Value, value: Value) -> Term:
        """old op value in the type that C computes in, converted back."""
        kind = build.compute_type(node)
        if not isinstance(kind, (Int, ctype.Float)):
            return self.arithmetic(node.op[:-1], old, value, kind, node.value.type)
        left = self._computed(old, node.type, kind)
        made = self.arithmetic(node.op[:-1], left, value, kind, node.value.type) if left is not None else None
        return self._computed(made, kind, node.type) if made is not None else None

    def _computed(self, value: Value, old: CType, kind: CType) -> Term:
        """A value converted between types of numbers."""
        if old == kind:
            return value
        if isinstance(value, Const) and isinstance(kind, Int):
            return Const(ctype.wrap(kind, value.value))
        term = number(value, old)
        return known(algebra.convert(term, kind)) if term is not None else None

    def step(self, node: ir.Step) -> Term:
        self._check_twice(node.target)
        old = self.value(node.target)
        if old is None:
            new: Term = None
        elif isinstance(node.type, Int) and node.type.bits < 32:
            new = self._narrow_step(node, old)
        else:
            new = self.arithmetic("+" if node.op == "++" else "-", old, self._one(node.type), node.type, node.type)
        self.store(node.target, new)
        return new if node.prefix else old

    def _one(self, kind: CType) -> Value:
        return Num(loop.Number(1.0, kind)) if isinstance(kind, ctype.Float) else Const(1)

    def _narrow_step(self, node: ir.Step, old: Value) -> Term:
        wide = self._computed(old, node.type, ctype.INT)
        if wide is None:
            return None
        made = self.arithmetic("+" if node.op == "++" else "-", wide, Const(1), ctype.INT, ctype.INT)
        return self._computed(made, ctype.INT, node.type) if made is not None else None

    def store(self, target: ir.Expr, term: Term) -> None:
        if isinstance(target.type, ctype.Struct):
            raise NoKeyLoop
        indexed = isinstance(target, (ir.Index, ir.Deref))
        pointer, index = self._element(target) if indexed else (None, ZERO)
        if isinstance(pointer, ArrayStart) and algebra.is_numbers(self.type_of(pointer.obj)):
            self._store_element(target, pointer.obj, index, term)
            return
        key = self._pointed(pointer, target) if indexed and index == ZERO else self.place(target) if not indexed else None
        if key is not None:
            if isinstance(term, Num) and algebra.too_large(term.term):
                raise NoKeyLoop("what is computed of it is too long")
            self.state.terms[key] = term
            return
        if pointer is None or term != ZERO or isinstance(pointer, Address):
            raise NoKeyLoop
        self._store_nul(pointer, index)

    def _store_element(self, target: ir.Expr, key: Object, index: Term, term: Term) -> None:
        array, at = self._array_and_index(target, key, index)
        value = number(term, target.type)
        if value is None:
            raise NoKeyLoop
        made = algebra.stored(array, at, value)
        if algebra.too_large(made):
            raise NoKeyLoop("what is computed of it is too long")
        self.state.terms[key] = Num(made)

    def _store_nul(self, pointer: Value, index: Term) -> None:
        """A NUL: cuts the line at its tab or newline, empties an array, or ends a copied key behind its end."""
        if pointer == TAB and index == ZERO:
            self.state.cut = True
            self.reader.found_key("field")
        elif pointer == LINE and index == LINE_END:
            self.state.chopped = True
        elif pointer == NEWLINE and index == ZERO:
            self.state.chopped = True
        elif isinstance(pointer, NumberStart) and index == newline_behind(pointer.at):
            self.state.chopped = True
        elif isinstance(pointer, End) and index == ZERO:
            self.state.cuts[pointer.at] = b""
        elif isinstance(pointer, ArrayStart) and isinstance(index, Const):
            self._end_array(pointer.obj, index.value)
        else:
            raise NoKeyLoop

    def _end_array(self, key: Object, index: int) -> None:
        content = self.state.contents.get(key)
        if index == 0:
            self.state.contents[key] = TextTerm.EMPTY
        elif isinstance(content, Made):
            if not 0 <= index < self.array_size(key) or (content.room is not None and index > content.room):
                raise NoKeyLoop
            self.state.contents[key] = Made(self.cut(content.term, index))
        elif content in (TextTerm.KEY, TextTerm.OPEN_KEY,
                         TextTerm.KEPT) and self.reader.key_max and index >= self.reader.key_max:
            self.state.contents[key] = TextTerm.KEY if content == TextTerm.OPEN_KEY else content
        elif content is not None and not (content == TextTerm.EMPTY and 0 < index < self.array_size(key)):
            raise NoKeyLoop

    # ------------------------------------------------------------------------------------- strings

    def string(self, node: ir.Expr) -> Content | None:
        """What a pointer leads to holds."""
        text = literal(node)
        if text is not None:
            return literal_text(text)
        term = self.value(node)
        if isinstance(term, ArrayStart):
            content = self.state.contents.get(term.obj)
            return self.ended(content) if isinstance(content, Made) else content
        if term == LINE:
            return TextTerm.KEY if self.state.cut else None
        if isinstance(term, Words):
            return literal_text(term.text.data) if isinstance(term.text, loop.LiteralText) else Made(term.text)
        return self.text_at(term.at) if isinstance(term, NumberStart) else None

    def text_at(self, at: int) -> Made | None:
        """The text that begins at a place of the value, where it ends before the newline."""
        stops = self.state.cuts.get(at)
        if stops is None and not self.state.chopped:
            return None
        if stops == b"":
            if at not in self.reader.ended:
                raise NoKeyLoop
            self.reader.found_text(at, self.reader.ended[at].stops, empty=True)
        else:
            if stops is not None and b"\n" not in stops and not self.state.chopped:
                self.reader.with_newline.add(at)
            self.reader.found_text(at, (stops or b"").replace(b"\n", b"").replace(b"\r", b""), empty=stops is None)
        return Made(loop.PairField(at, loop.TEXT))

    def ended(self, text: Made) -> Made:
        """A text whose NUL may be missing: one that is too long does not read back."""
        if text.room is not None:
            self.fits(text.term, text.room - 1)
        return Made(text.term)

    def end_texts(self) -> None:
        """At a pair's end."""
        contents = self.state.contents
        contents.update({key: self.ended(text) for key, text in contents.items() if isinstance(text, Made)})

    def fits(self, text: loop.Term, most: int) -> None:
        """A text has at most so many bytes: what is longer does not read back."""
        if algebra.is_joined(text):
            raise NoKeyLoop("a text that is put together is copied")
        if isinstance(text, loop.PairField):
            self.reader.keeps_text(text.number, most)
        elif isinstance(text, loop.Choice):
            self.fits(text.then, most)
            self.fits(text.other, most)
        elif isinstance(text, loop.TextPrefix):
            if text.most > most:
                self.fits(text.operand, most)
        elif self._longest(text) > most:
            raise NoKeyLoop("a text may be too long for the array that it is copied to")

    def _longest(self, text: loop.Term) -> int:
        if isinstance(text, loop.KeptValue):
            return self.array_size(self.kept[text.number]) - 1
        assert isinstance(text, loop.LiteralText)
        return len(text.data)

    def cut(self, text: loop.Term, most: int) -> loop.Term:
        """The first bytes of a text."""
        if algebra.is_joined(text):
            raise NoKeyLoop("a text that is put together is cut")
        if isinstance(text, loop.KeptValue) and self._longest(text) <= most:
            return text
        return algebra.cut(text, most)

    def array_size(self, key: Object) -> int:
        symbol = symbol_of(self.program, key)
        return self.program.layouts.size(symbol.type) or 0 if symbol is not None else 0

    def emit(self, node: ir.Emit) -> Term:
        self.emitted_at = self.emitted_at if self.emitted else node.span
        for piece in node.pieces:
            if isinstance(piece, ir.Text):
                self.emitted.append(piece.data)
                continue
            conv = formats.conversion(piece.spec)
            if conv.letter == "s" and piece.spec == "%s" and literal(piece.args[-1]) is not None:
                self.emitted.append(literal(piece.args[-1]) or b"")
            elif conv.letter == "s":
                self.emitted.append(Printed(piece.spec, self.string(piece.args[-1]), span=node.span))
            else:
                kind = piece.args[-1].type if piece.args else None
                value = self.value(piece.args[-1]) if piece.args else None
                arg = ir_walk.uncast(piece.args[-1]) if piece.args else None
                named = self.key_of(arg.name) if isinstance(arg, ir.Name) else None
                self.emitted.append(Printed(piece.spec, value, kind, node.span, named))
        return None


def _question(condition: loop.Term) -> tuple[str, bool]:
    """What a condition asks, and whether it asks for the opposite: n == 0 of integers is no other question than n != 0."""
    negated = False
    while isinstance(condition, loop.Operation) and condition.op == "!":
        condition, negated = condition.operands[0], not negated
    if isinstance(condition, loop.Operation) and condition.op in _OPPOSITE and isinstance(condition.operands[0].type, Int):
        return repr(replace(condition, op=_OPPOSITE[condition.op])), not negated
    return repr(condition), negated


def _leaves_something(node: ir.Node) -> bool:
    """May an expression change more than its value?"""
    if isinstance(node, ir.Call):
        effect = EFFECTS.get(ir.called(node))
        return effect is None or bool(effect.writes or effect.stores)
    return isinstance(node, (ir.Assign, ir.Step))


_MOST_ROUNDS = 300  # of a loop inside
_KEYS = (KEY, KEPT)
_TRUE_OF_POSITIVES = frozenset({(">", 0), (">=", 1), (">=", 0), ("!=", 0), ("!=", -1), (">", -1)})
_FALSE_OF_POSITIVES = frozenset({("<=", 0), ("<", 1), ("<", 0), ("==", 0), ("==", -1), ("<=", -1)})
_OPPOSITE = {"==": "!=", ">=": "<", "<=": ">"}  # of integers: a comparison of floating numbers has none
_MIRROR = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}

_RULES: dict[type, Callable[[Execution, Any], Term]] = {
    ir.Const: Execution.const, ir.Name: Execution.name, ir.Decay: Execution.decay, ir.AddressOf: Execution.address,
    ir.Cast: Execution.cast,
    ir.Index: Execution.load, ir.Deref: Execution.load, ir.Member: Execution.member, ir.Unary: Execution.unary,
    ir.Binary: Execution.binary,
    ir.Conditional: Execution.conditional,
    ir.Comma: Execution.comma, ir.Assign: Execution.assign, ir.Step: Execution.step, ir.Emit: Execution.emit,
    ir.Call: lambda run, node: run.calls.call(node),
}
