"""IR statements -> lines of CUDA text that follow the user's source line by line.

`Lines` collects text with source places and puts `#line` directives only where the text leaves the source's order, so
that compiler messages, profilers and debuggers show the user's C. Non-goals: what surrounds a function's body.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ...errors import CompilerBug
from ...source import Span
from ..ir import ir, names
from ..ir import walk as ir_walk
from ..types import ctype
from . import ahead, guard, leaf
from . import expr as emit_expr
from . import init as emit_expr_init
from .scope import Scope
from .types import INDENT, declare

_SIMPLE = (ir.ExprStmt, ir.Return, ir.Break, ir.Continue)
_WIDTH = 110  # several statements of one source line share a line up to this


class Lines:
    """Lines of text. `at`: where the next line stands in the user's source, if there."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self._file, self._next = "", 0
        self._last: tuple[str, int, str] = ("", 0, "")

    def add(self, text: str, span: Span | None = None) -> None:
        """A line; `span` where it comes from the user's source."""
        if span is not None and span.line and (span.file, span.line) != (self._file, self._next):
            file = names.escape(span.file.encode("utf-8", "surrogateescape"))
            self.text.append(f"#line {span.line} {file}")
            self._file, self._next = span.file, span.line
        parts = wrapped(text)
        self.text += parts
        self._next += len(parts)
        self._last = (self._file, self._next - 1, text) if span is not None else ("", 0, "")

    def join(self) -> None:
        """Put the last line, which is of the same source line, behind the one before it."""
        last = self.text.pop().strip()
        if self.text[-1].startswith("#line"):
            self.text.pop()
        self.text[-1] = f"{self.text[-1]} {last}"
        self._next -= 1
        self._last = ("", 0, "")

    def beside(self, text: str, span: Span) -> None:
        """A plain statement; one of the same source line as the line before stands beside it."""
        file, line, before = self._last
        if (span.file, span.line) == (file, line) and before.endswith(";") and len(before) + len(text.strip()) < _WIDTH:
            self.text[-1] = f"{before} {text.strip()}"
            self._last = (file, line, self.text[-1])
        else:
            self.add(text, span)


def wrapped(text: str, width: int = 120) -> list[str]:
    """A long line cut between the arguments of its outermost call (of a declaration, its parameters)."""
    if len(text) <= width:
        return [text]
    pad = " " * (len(text) - len(text.lstrip()) + 2 * len(INDENT))
    lines: list[str] = []
    start = last = 0
    for at in [*_cuts(text), len(text)]:
        if at - start + (len(pad) if lines else 0) > width and last > start:
            lines.append(text[start:last])
            start = last + 1
        last = at
    lines.append(text[start:])
    return [lines[0], *(pad + line for line in lines[1:])]


def _cuts(text: str) -> Iterator[int]:
    """Places of the blanks behind commas that stand outside of literals and in one bracket at most."""
    quote, depth = "", 0
    for at, char in enumerate(text):
        if quote:
            quote = "" if char == quote and not _escaped(text, at) else quote
        elif char in "\"'":
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == " " and text[at - 1] == "," and depth <= 1:
            yield at


def _escaped(text: str, at: int) -> bool:
    """Is the character behind an odd number of backslashes?"""
    before = text[:at]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


class Body:
    """Writes one function's statements."""

    def __init__(self, scope: Scope, lines: Lines) -> None:
        self._scope, self._lines = scope, lines
        self._bare = False  # in a switch: declarations that a label may jump over have no initialiser

    def block(self, block: ir.Block, depth: int) -> None:
        outer, self._bare = self._bare, _has_label(block) or self._bare
        for number, stmt in enumerate(block.body):
            self._stmt(stmt, depth)
            if isinstance(stmt, ir.CaseLabel) and number + 1 == len(block.body):
                self._lines.add(f"{INDENT * depth};")
        self._bare = outer

    def _stmt(self, stmt: ir.Stmt, depth: int) -> None:
        handler = _STATEMENTS.get(type(stmt))
        if handler is None:
            raise CompilerBug(f"{type(stmt).__name__} has no CUDA text")
        handler(self, stmt, depth)

    # ------------------------------------------------------------------------------------- plain statements

    def decl(self, stmt: ir.Decl, depth: int) -> None:
        pad = INDENT * depth
        for number, text in enumerate(self._decl_texts(stmt)):
            if number == 0:
                self._lines.beside(pad + text, stmt.span)
            else:
                self._lines.add(pad + text)

    def _decl_texts(self, stmt: ir.Decl) -> list[str]:
        kind, name = self._scope.symbol(stmt.name).type, self._scope.local(stmt.name)
        declared = declare(kind, name)
        begin = guard.declared(stmt, self._scope, name)
        if stmt.init is None:
            return [" ".join([f"{declared}; HD_FILL({name});", *begin])]
        text = emit_expr_init.braces(kind, stmt.init, self._scope)
        if text is not None and not self._bare:
            return [f"{declared} = {text};", *begin]
        if isinstance(stmt.init, ir.Fill):
            return [f"{declared};", *emit_expr_init.assignments(name, stmt.init, self._scope), *begin]
        if isinstance(stmt.init, ir.Str):
            return [f"{declared};", *emit_expr_init.text_assignment(name, stmt.init, kind), *begin]
        return [f"{declared}; {name} = {text};", *begin]

    def expr(self, stmt: ir.ExprStmt, depth: int) -> None:
        self._lines.beside(f"{INDENT * depth}{self._effect(stmt.expr)};", stmt.span)

    def _effect(self, node: ir.Expr) -> str:
        return emit_expr.effect(node, self._scope)

    def return_(self, stmt: ir.Return, depth: int) -> None:
        text = "return;"
        if stmt.value is not None:
            text = f"return {emit_expr.converted(self._scope.function.type.result, stmt.value, self._scope, 0)};"
        self._lines.beside(INDENT * depth + text, stmt.span)

    def jump(self, stmt: ir.Break | ir.Continue, depth: int) -> None:
        self._lines.beside(INDENT * depth + ("break;" if isinstance(stmt, ir.Break) else "continue;"), stmt.span)

    def case(self, stmt: ir.CaseLabel, depth: int) -> None:
        label = "default:"
        if stmt.value is not None:
            kind = ctype.INT if -(1 << 31) < stmt.value < 1 << 31 else ctype.LONG if stmt.value < 1 << 63 else ctype.ULONG
            label = f"case {leaf.const(ir.Const(kind, stmt.value))[0]}:"
        self._lines.add(INDENT * max(depth - 1, 0) + label, stmt.span)

    # ------------------------------------------------------------------------------------- compound ones

    def inner(self, stmt: ir.Block, depth: int) -> None:
        self._lines.add(f"{INDENT * depth}{{", stmt.span)
        self.block(stmt, depth + 1)
        self._lines.add(f"{INDENT * depth}}}")

    def if_(self, stmt: ir.If, depth: int, word: str = "") -> None:
        pad = INDENT * depth
        head = f"{pad}{word}if ({emit_expr.condition(stmt.cond, self._scope)})"
        if stmt.other is None and not word and _is_simple(stmt.then):
            self._short(head, stmt, stmt.then, depth)
            return
        self._lines.add(f"{head} {{", None if word else stmt.span)
        self.block(stmt.then, depth + 1)
        other = stmt.other
        if other is None:
            self._lines.add(f"{pad}}}")
        elif len(other.body) == 1 and isinstance(other.body[0], ir.If):
            self.if_(other.body[0], depth, "} else ")
        else:
            self._lines.add(f"{pad}}} else {{")
            self.block(other, depth + 1)
            self._lines.add(f"{pad}}}")

    def _short(self, head: str, stmt: ir.Stmt, body: ir.Block, depth: int) -> None:
        """Head and one plain statement, on one line where the source has them so."""
        self._lines.add(head, stmt.span)
        self.block(body, depth + 1)
        if body.body[0].span.line == stmt.span.line:
            self._lines.join()

    def loop(self, stmt: ir.While | ir.For | ir.RecordLoop | ir.Switch, depth: int) -> None:
        pad, head = INDENT * depth, self._head(stmt)
        if not isinstance(stmt, ir.Switch) and _is_simple(stmt.body):
            self._short(pad + head, stmt, stmt.body, depth)
            return
        for text in guard.jumped_over(stmt, self._scope) if isinstance(stmt, ir.Switch) else ():
            self._lines.add(pad + text)
        self._lines.add(f"{pad}{head} {{", stmt.span)
        self.block(stmt.body, depth + 1)
        self._lines.add(f"{pad}}}")

    def _head(self, stmt: ir.While | ir.For | ir.RecordLoop | ir.Switch) -> str:
        if isinstance(stmt, ir.Switch):
            return f"switch ({emit_expr.typed(stmt.value, self._scope)})"
        cond = emit_expr.condition(stmt.cond, self._scope) if stmt.cond is not None else ""
        if isinstance(stmt, ir.While) or (isinstance(stmt, ir.RecordLoop) and stmt.step is None):
            return f"while ({cond})"
        init = self._for_init(stmt.init) if isinstance(stmt, ir.For) else ";"
        step = self._effect(stmt.step) if stmt.step is not None else ""
        return f"for ({init}{' ' if cond else ''}{cond};{' ' if step else ''}{step})"

    def _for_init(self, stmt: ir.Stmt | None) -> str:
        if stmt is None:
            return ";"
        if isinstance(stmt, ir.Decl):
            return self._decl_texts(stmt)[0].split(" HD_FILL(")[0]
        if isinstance(stmt, ir.ExprStmt):
            return f"{self._effect(stmt.expr)};"
        raise CompilerBug(f"{type(stmt).__name__} begins a for")

    def while_(self, stmt: ir.While, depth: int) -> None:
        self._look_ahead(ahead.call(stmt, self._scope), depth)
        self.loop(stmt, depth)

    def _look_ahead(self, call: str, depth: int) -> None:
        if call:
            self._lines.add(INDENT * depth + call)

    def for_(self, stmt: ir.For, depth: int) -> None:
        """A beginning after which something else comes stands before its loop, a declaration in a block of its own."""
        first, call = stmt.init, ahead.call(stmt, self._scope)
        declared = isinstance(first, ir.Decl)
        if not call and not (isinstance(first, ir.Decl) and self._stands_apart(first)):
            self.loop(stmt, depth)
            return
        inside = depth + 1 if declared else depth
        if declared:
            self._lines.add(f"{INDENT * depth}{{")
        if first is not None:
            self._stmt(first, inside)
        self._look_ahead(call, inside)
        self.loop(ir.For(None, stmt.cond, stmt.step, stmt.body, span=stmt.span), inside)
        if declared:
            self._lines.add(f"{INDENT * depth}}}")

    def _stands_apart(self, first: ir.Decl) -> bool:
        return self._bare or len(self._decl_texts(first)) > 1 or first.init is None

    def do(self, stmt: ir.DoWhile, depth: int) -> None:
        pad = INDENT * depth
        self._lines.add(f"{pad}do {{", stmt.span)
        self.block(stmt.body, depth + 1)
        self._lines.add(f"{pad}}} while ({emit_expr.condition(stmt.cond, self._scope)});")


def _is_simple(block: ir.Block) -> bool:
    return len(block.body) == 1 and isinstance(block.body[0], _SIMPLE)


def _has_label(block: ir.Block) -> bool:
    return any(isinstance(node, ir.CaseLabel) for node in _same_switch(block.body))


def _same_switch(stmts: Iterable[Any]) -> Iterable[Any]:
    for stmt in stmts:
        yield stmt
        if isinstance(stmt, ir.Stmt) and not isinstance(stmt, ir.Switch):
            yield from _same_switch(part for part in ir_walk.children(stmt) if isinstance(part, ir.Stmt))


def falls_through(block: ir.Block) -> bool:
    """May control reach the end of a body? (Sometimes it is said to, though it cannot.)"""
    last = block.body[-1] if block.body else None
    if isinstance(last, ir.Block):
        return falls_through(last)
    if isinstance(last, ir.If):
        return last.other is None or falls_through(last.then) or falls_through(last.other)
    return not isinstance(last, ir.Return)


_STATEMENTS: dict[type, Callable[[Body, Any, int], None]] = {
    ir.Decl: Body.decl, ir.ExprStmt: Body.expr, ir.Return: Body.return_, ir.Break: Body.jump, ir.Continue: Body.jump,
    ir.CaseLabel: Body.case, ir.Block: Body.inner, ir.If: Body.if_, ir.While: Body.while_, ir.RecordLoop: Body.loop,
    ir.Switch: Body.loop, ir.For: Body.for_, ir.DoWhile: Body.do,
}
