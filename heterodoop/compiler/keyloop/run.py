"""Runs a combiner's statements on symbols: one pair (key K, value V) against what was kept (key PREV, accumulator ACC).

`fold` asks what one round does in each of the few situations a combiner can be in. Everything that is not understood
raises Refused: a fold that is none would give wrong output, a fold that is missed only costs time.

Terms are tuples. Integers: ("c", n), ("V",), ("ACC",), ("sum",) = ACC + V, ("inc",) = ACC + 1, ("min",), ("max",), ("nz",)
any but 0, ("pos",) > 0, ("len",) length of the line, ("nl",) index of its newline. Pointers: ("null",), ("line",), ("tab",)
the line's first tab, ("val",) behind it, ("arr", key) a char array. None: unknown.
Contents of arrays: "K", "PREV", "EMPTY", "K~" (K, its NUL perhaps missing), None: unknown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..ir import build, formats, ir
from ..ir import walk as ir_walk
from ..normalise.stdio import literal
from ..types import ctype
from ..types.ctype import CType, Int
from .reader import Reader
from .state import Emitted, Refused, Situation, State, Stop, Term, placed


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
    lines: frozenset[str] = frozenset()  # arrays that hold the line
    line_max: int = 0  # longest key of a line that fits its buffer, 0: any

    def key_of(self, name: str) -> str:
        own = self.program.by_name[self.function]
        return f"{self.function}::{name}" if own.symbol(name) is not None else name

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
            self.state.contents[key] = "EMPTY" if not stmt.init.data else None
        elif isinstance(stmt.init, ir.Expr):
            self.state.terms[key] = self.value(stmt.init)
        elif isinstance(stmt.init, ir.Fill):
            self.state.contents[key] = "EMPTY" if begins_empty(stmt.init) else None
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

        It may look at the pair alone: one that looks at what was accumulated ends the process, or not, depending on how
        the pairs were grouped.
        """
        parts = list(ir_walk.walk(cond))
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

    def _of_the_pair(self, node: ir.Name) -> bool:
        if isinstance(node.type, ctype.Func):
            return node.name not in self.program.by_name
        key = self.key_of(node.name)
        if isinstance(node.type, ctype.Array):
            return key in self.lines or self.state.contents.get(key) is not None
        term = self.state.terms.get(key)
        return term is not None and term[0] not in ("ACC", "sum", "inc", "min", "max")

    def truth(self, term: Term) -> bool:
        if term is None or term[0] in _UNDECIDED:
            raise Refused
        return bool(term[1] != 0 if term[0] == "c" else term[0] != "null")

    # ------------------------------------------------------------------------------------- expressions

    def value(self, node: ir.Expr) -> Term:
        handler = _VALUES.get(type(node))
        if handler is None:
            raise Refused
        return handler(self, node)

    def const(self, node: ir.Const) -> Term:
        if isinstance(node.type, ctype.Pointer):
            return ("null",) if node.value == 0 else None
        return ("c", node.value) if isinstance(node.value, int) else None

    def name(self, node: ir.Name) -> Term:
        return self.state.terms.get(self.key_of(node.name))

    def decay(self, node: ir.Decay) -> Term:
        if isinstance(node.operand, ir.Name) and isinstance(node.operand.type, ctype.Array):
            key = self.key_of(node.operand.name)
            return ("line",) if key in self.lines else ("arr", key)
        return None

    def address(self, node: ir.AddressOf) -> Term:
        inner = node.operand
        if isinstance(inner, ir.Index) and self.value(inner.index) == ("c", 0):
            return self.value(inner.base)
        scalar = isinstance(inner, ir.Name) and isinstance(inner.type, (Int, ctype.Pointer))
        return ("var", self.key_of(inner.name)) if scalar and isinstance(inner, ir.Name) else None

    def cast(self, node: ir.Cast) -> Term:
        term = self.value(node.operand)
        kind, old = node.type, node.operand.type
        if term is None or not isinstance(kind, Int):
            return term
        if term[0] == "c":
            return ("c", ctype.wrap(kind, term[1]))
        if isinstance(old, Int) and kind.signed == old.signed and (kind.bits >= old.bits or term in (("K",), ("V",))):
            if kind.bits < old.bits:
                self.reader.converted(term[0], kind)
            return term
        if term[0] in ("nz", "pos") and isinstance(old, Int) and kind.bits >= old.bits:
            return ("nz",)
        return ("len",) if term == ("len",) and kind.bits >= 32 else None

    def load(self, node: ir.Expr) -> Term:
        """An element: only the first of an array whose contents are known, and the newline of the line."""
        pointer, index = self._element(node)
        if pointer is not None and pointer[0] == "arr" and index == ("c", 0):
            return _first_byte(self.state.contents.get(pointer[1]))
        if pointer == ("line",) and index == ("nl",) and not self.state.cut and not self.state.chopped:
            return ("c", 10)
        if pointer == ("tab",) and index == ("c", 0) and not self.state.cut:
            return ("c", 9)
        return None

    def _element(self, node: ir.Expr) -> tuple[Term, Term]:
        if isinstance(node, ir.Index):
            return self.value(node.base), self.value(node.index)
        assert isinstance(node, ir.Deref)
        return self.value(node.pointer), ("c", 0)

    def unary(self, node: ir.Unary) -> Term:
        term = self.value(node.operand)
        if node.op == "!":
            return ("c", int(not self.truth(term)))
        if term is not None and term[0] == "c" and isinstance(node.type, Int):
            return ("c", ctype.wrap(node.type, -term[1] if node.op == "-" else ~term[1]))
        return None

    def binary(self, node: ir.Binary) -> Term:
        if node.op in build.LOGICAL:
            left = self.truth(self.value(node.left))
            if left == (node.op == "||"):
                return ("c", int(left))
            return ("c", int(self.truth(self.value(node.right))))
        left_term, right_term = self.value(node.left), self.value(node.right)
        if left_term is None or right_term is None:
            return None
        if node.op in build.COMPARISONS:
            return self.compare(node.op, left_term, right_term, node.left.type)
        return self.arithmetic(node.op, left_term, right_term, node.type)

    def compare(self, op: str, left: tuple[Any, ...], right: tuple[Any, ...], kind: CType) -> Term:
        if left[0] == right[0] == "c":
            return ("c", int(build.compare(op, left[1], right[1])))
        if left == right and left[0] in ("V", "ACC", "line", "tab", "val"):
            return ("c", int(op in ("==", "<=", ">=")))
        if left[0] in ("c", "null"):
            left, right, op = right, left, _MIRROR[op]
        if left[0] in _KEYS:
            return self._compare_key(op, left, right)
        if right in (("c", 0), ("null",)) and op in ("==", "!=") and left[0] not in _UNDECIDED:
            return ("c", int((left[0] == "null") == (op == "==")))
        if left[0] in ("pos", "len") and right[0] == "c" and (op, right[1]) in _TRUE_OF_POSITIVES:
            return ("c", 1)
        return self._against(op, left, right, kind)

    def _compare_key(self, op: str, left: tuple[Any, ...], right: tuple[Any, ...]) -> Term:
        """A key that is a number: with the other one, or with the constant that stands for none."""
        if op not in ("==", "!="):
            return None
        same = left == right
        if {left[0], right[0]} == set(_KEYS):
            same = self.situation == "same"
        elif right[0] == "c":
            self.reader.found_none(right[1])
        elif not same:
            return None
        return ("c", int(same == (op == "==")))

    def _against(self, op: str, left: tuple[Any, ...], right: tuple[Any, ...], kind: CType) -> Term:
        """V against ACC: decided from outside. Against the type's last value: the outcome makes no difference."""
        if right[0] == "c" and left == ("V",) and isinstance(kind, Int):
            low = -(1 << (kind.bits - 1)) if kind.signed else 0
            high = (1 << (kind.bits - kind.signed)) - 1
            return ("c", 1) if (op, right[1]) in (("<", high), ("<=", high), (">", low), (">=", low)) else None
        if {left, right} != {("V",), ("ACC",)} or op not in ("<", "<=", ">", ">="):
            return None
        self.asked.append("less" if (left == ("V",)) == (op[0] == "<") else "greater")
        if len(self.asked) > len(self.decisions):
            raise Stop("fork")
        return ("c", int(self.decisions[len(self.asked) - 1]))

    def arithmetic(self, op: str, left: tuple[Any, ...], right: tuple[Any, ...], kind: CType) -> Term:
        pair = {left, right}
        if isinstance(kind, ctype.Pointer):
            return ("val",) if op == "+" and pair == {("tab",), ("c", 1)} else None
        if left[0] == right[0] == "c" and isinstance(kind, Int):
            folded = build.binary(op, ir.Const(kind, left[1]), ir.Const(kind, right[1]), ir.Const(kind, 0).span)
            return ("c", folded.value) if isinstance(folded, ir.Const) else None
        if op == "-" and left == ("len",) and right == ("c", 1):
            return ("nl",)
        if op != "+":
            return None
        if pair == {("ACC",), ("V",)}:
            return ("sum",)
        if pair == {("ACC",), ("c", 1)}:
            return ("inc",)
        return next(iter(pair - {("c", 0)})) if ("c", 0) in pair else None

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
        kind = node.type
        new = self.arithmetic("+" if node.op == "++" else "-", old, ("c", 1), kind) if old is not None else None
        self.store(node.target, new)
        return new if node.prefix else old

    def store(self, target: ir.Expr, term: Term) -> None:
        if isinstance(target, ir.Name):
            self.state.terms[self.key_of(target.name)] = term
            return
        if not isinstance(target, (ir.Index, ir.Deref)):
            raise Refused
        pointer, index = self._element(target)
        if pointer is None or term != ("c", 0):
            raise Refused
        self._store_nul(pointer, index)

    def _store_nul(self, pointer: tuple[Any, ...], index: Term) -> None:
        """A NUL: cuts the line at its tab or newline, empties an array, or ends a copied key behind its end."""
        if pointer == ("tab",) and index == ("c", 0):
            self.state.cut = True
            self.reader.found_key("field", self.line_max)
        elif pointer == ("line",) and index == ("nl",):
            self.state.chopped = True
        elif pointer[0] == "arr" and index is not None and index[0] == "c":
            self._end_array(pointer[1], index[1])
        else:
            raise Refused

    def _end_array(self, key: str, index: int) -> None:
        content = self.state.contents.get(key)
        if index == 0:
            self.state.contents[key] = "EMPTY"
        elif content in ("K", "K~", "PREV") and self.reader.key_max and index >= self.reader.key_max:
            self.state.contents[key] = "K" if content == "K~" else content
        elif content is not None:
            raise Refused

    # ------------------------------------------------------------------------------------- strings

    def string(self, node: ir.Expr) -> str | None:
        """The contents of what a pointer points to: a key's name, "EMPTY", "VAL", None if unknown."""
        text = literal(node)
        if text is not None:
            return "EMPTY" if not text else None
        term = self.value(node)
        if term is None:
            return None
        if term[0] == "arr":
            return self.state.contents.get(term[1])
        if term == ("line",):
            return "K" if self.state.cut else None
        return "VAL" if term == ("val",) else None

    def array_size(self, key: str) -> int:
        function, _, name = key.rpartition("::")
        symbol = self.program.symbol(function or self.function, name)
        return self.program.layouts.size(symbol.type) or 0 if symbol is not None else 0

    def call(self, node: ir.Call) -> Term:
        raise NotImplementedError

    def emit(self, node: ir.Emit) -> Term:
        for piece in node.pieces:
            if isinstance(piece, ir.Text):
                self.emitted.append(piece.data)
                continue
            conv = formats.conversion(piece.spec)
            if conv.letter == "s":
                self.emitted.append((piece.spec, self.string(piece.args[-1]), None))
            else:
                kind = piece.args[-1].type if piece.args else None
                self.emitted.append((piece.spec, self.value(piece.args[-1]) if piece.args else None, kind))
        return None


def begins_empty(init: ir.Fill) -> bool:
    """Does a list of elements begin with a zero?"""
    first = next((v for path, v in init.items if path == (0,)), None)
    return first is None or (isinstance(first, ir.Const) and first.value == 0)


def _first_byte(content: str | None) -> Term:
    if content == "EMPTY":
        return ("c", 0)
    return ("nz",) if content in ("K", "PREV") else None


def _dead_end(block: ir.Block | None) -> bool:
    """Does a block do nothing but report and end the process with an error?"""
    if block is None or not block.body:
        return False
    *before, last = block.body
    if not all(isinstance(s, ir.ExprStmt) and isinstance(s.expr, ir.Stderr) for s in before):
        return False
    return isinstance(last, ir.ExprStmt) and isinstance(last.expr, ir.Exit) and fails(last.expr)


def fails(node: ir.Exit) -> bool:
    """Does an Exit surely tell failure?"""
    if node.call in ("exit", "_exit", "_Exit", "quick_exit"):
        code = node.args[0]
        return isinstance(code, ir.Const) and isinstance(code.value, int) and code.value & 0xFF != 0
    return True


_KEYS = ("K", "PREV")
_UNDECIDED = frozenset({"V", "ACC", "sum", "inc", "min", "max", "nl", *_KEYS})
_TRUE_OF_POSITIVES = frozenset({(">", 0), (">=", 1), (">=", 0), ("!=", -1), (">", -1)})
_MIRROR = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}

_VALUES: dict[type, Callable[[Run, Any], Term]] = {
    ir.Const: Run.const, ir.Name: Run.name, ir.Decay: Run.decay, ir.AddressOf: Run.address, ir.Cast: Run.cast,
    ir.Index: Run.load, ir.Deref: Run.load, ir.Unary: Run.unary, ir.Binary: Run.binary, ir.Conditional: Run.conditional,
    ir.Comma: Run.comma, ir.Assign: Run.assign, ir.Step: Run.step, ir.Emit: Run.emit,
    ir.Call: lambda run, node: run.call(node),
}
