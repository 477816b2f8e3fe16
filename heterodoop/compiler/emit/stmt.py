"""Statements of the device IR -> lines of CUDA text that follow the user's source line by line.

`TextLines` collects text with source places and puts `#line` directives only where the text leaves the source's order, so
that compiler messages, profilers and debuggers show the user's C. Non-goals: what surrounds a function's body.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ...source import Span
from ..device import nodes, program
from ..ir import ir, names
from ..ir import walk as ir_walk
from ..types import ctype
from . import expr, extent, guard, init, leaf
from .scope import Scope
from .types import INDENT, declare, own

_SIMPLE = (ir.ExprStmt, ir.Return, ir.Break, ir.Continue)
_WIDTH = 110  # several statements of one source line share a line up to this


class TextLines:
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

    def __init__(self, scope: Scope, lines: TextLines) -> None:
        self._scope, self._lines = scope, lines

    def block(self, block: ir.Block, depth: int) -> None:
        if any(map(_ends_with_block, block.body)):
            self._lines.add(f"{INDENT * depth}const hd::Scoped<Ctx> hd_scoped(hd);")
        for number, stmt in enumerate(block.body):
            self._stmt(stmt, depth)
            if isinstance(stmt, ir.CaseLabel) and number + 1 == len(block.body):
                self._lines.add(f"{INDENT * depth};")

    def _stmt(self, stmt: ir.Stmt, depth: int) -> None:
        _STATEMENTS[type(stmt)](self, stmt, depth)

    # ------------------------------------------------------------------------------------- plain statements

    def declare(self, stmt: program.Declare, depth: int) -> None:
        pad = INDENT * depth
        for number, text in enumerate(self._declared(stmt)):
            if number == 0:
                self._lines.beside(pad + text, stmt.span)
            else:
                self._lines.add(pad + text)

    def _declared(self, stmt: program.Declare) -> list[str]:
        kind, name = stmt.variable.type, self._scope.local(stmt.variable.name)
        apart = self._scope.kernel.apart(stmt.variable.key)
        declared, whole = own(kind, name, apart=apart), name
        name = f"{name}.value" if apart else name
        begin = guard.declared(stmt.guard, name, self._scope, filled=stmt.init is not None)
        begin += extent.declared(stmt.extent, name, self._scope)
        if stmt.init is None:
            return [" ".join([f"{declared}; HD_FILL({whole});", *begin])]
        if isinstance(stmt.init, ir.Fill) or ((stmt.apart or apart) and isinstance(stmt.init, nodes.Chars)):
            return [f"{declared};", *init.assigned(name, kind, stmt.init, self._scope), *begin]
        text = init.initialiser(kind, stmt.init, self._scope)
        if apart and not stmt.apart:
            return [f"{declared} = {{{text}}};", *begin]
        return [f"{declared}; {name} = {text};" if stmt.apart else f"{declared} = {text};", *begin]

    def begin(self, stmt: program.Begin, depth: int) -> None:
        self._lines.add(INDENT * depth + guard.begin(stmt, self._scope))

    def expr(self, stmt: ir.ExprStmt, depth: int) -> None:
        self._lines.beside(f"{INDENT * depth}{self._scope.value(stmt.expr, 0)};", stmt.span)

    def return_(self, stmt: ir.Return, depth: int) -> None:
        text = "return;"
        if stmt.value is not None:
            text = f"return {self._scope.converted(self._scope.function.type.result, stmt.value, 0)};"
        self._lines.beside(INDENT * depth + text, stmt.span)

    def jump(self, stmt: ir.Break | ir.Continue, depth: int) -> None:
        self._lines.beside(INDENT * depth + ("break;" if isinstance(stmt, ir.Break) else "continue;"), stmt.span)

    def case(self, stmt: ir.CaseLabel, depth: int) -> None:
        label = "default:"
        if stmt.value is not None:
            kind = ctype.INT if -(1 << 31) < stmt.value < 1 << 31 else ctype.LONG if stmt.value < 1 << 63 else ctype.ULONG
            label = f"case {leaf.const(ir.Const(kind, stmt.value))[0]}:"
        self._lines.add(INDENT * max(depth - 1, 0) + label, stmt.span)

    def search(self, stmt: program.SearchAhead, depth: int) -> None:
        """Functions of the index, the last one of the element too."""
        index, read = (declare(temp.type, temp.name) for temp in (stmt.index, stmt.read))
        bounds, goes = (expr.condition(node, self._scope) for node in (stmt.bounds, stmt.goes))
        arguments = [
            self._scope.local(stmt.variable.name), f"{stmt.size}UL", f"[&]({index}) -> bool {{ return {bounds}; }}",
            f"[&]({index}) {{ return {self._scope.value(stmt.element)}; }}",
            f"[&]({index}, {read}) -> bool {{ return {goes}; }}",
        ]
        self._lines.add(f"{INDENT * depth}hd::search_array({', '.join(arguments)});")

    def copy(self, stmt: program.CopyAhead, depth: int) -> None:
        """Of a host kernel: the bytes that stop the loop, by a function without a state, and some of its rounds."""
        kernel, pad = self._scope.kernel, INDENT * depth
        calls = [node for node in ir_walk.walk(stmt.goes) if isinstance(node, nodes.Call)]
        if kernel.one_thread and not any(kernel.program.by_name[call.name].context for call in calls):
            lines = [f"{INDENT}{line}" for line in self._copied(stmt)]
            for line in ("{", *lines, "}"):
                self._lines.add(pad + line)

    def _copied(self, stmt: program.CopyAhead) -> list[str]:
        scope = self._scope
        to, of = (scope.local(v.name) for v in (stmt.to, stmt.of))
        target, source = f"{scope.value(stmt.target, leaf.UNARY)} + {to}", f"{scope.value(stmt.source, leaf.UNARY)} + {of}"
        most = [f"hd::rounds({scope.local(n.variable.name)}, {scope.typed(n.end)}, {'true' if n.upto else 'false'})"
                for n in stmt.limits]
        most += [f"hd.in.rest_from({source})"] if stmt.in_line else []
        byte, goes = declare(stmt.read.type, stmt.read.name), expr.condition(stmt.goes, scope)
        return [f"static const hd::ByteRanges hd_stops([]({byte}) {{ return !({goes}); }});",
                f"const unsigned hd_n = hd::copy_ahead(hd_stops, {target}, {source}, hd::least({', '.join(most)}));",
                *(f"{index} += hd_n;" for index in dict.fromkeys((to, of)))]

    # ------------------------------------------------------------------------------------- compound ones

    def inner(self, stmt: ir.Block, depth: int) -> None:
        self._lines.add(f"{INDENT * depth}{{", stmt.span)
        self.block(stmt, depth + 1)
        self._lines.add(f"{INDENT * depth}}}")

    def if_(self, stmt: ir.If, depth: int, word: str = "") -> None:
        pad = INDENT * depth
        head = f"{pad}{word}if ({expr.condition(stmt.cond, self._scope)})"
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
        self._lines.add(f"{pad}{head} {{", stmt.span)
        self.block(stmt.body, depth + 1)
        self._lines.add(f"{pad}}}")

    def _head(self, stmt: ir.While | ir.For | ir.RecordLoop | ir.Switch) -> str:
        if isinstance(stmt, ir.Switch):
            return f"switch ({self._scope.typed(stmt.value)})"
        cond = expr.condition(stmt.cond, self._scope) if stmt.cond is not None else ""
        if isinstance(stmt, ir.While) or (isinstance(stmt, ir.RecordLoop) and stmt.step is None):
            return f"while ({cond})"
        init = self._for_init(stmt.init) if isinstance(stmt, ir.For) else ";"
        step = self._scope.value(stmt.step, 0) if stmt.step is not None else ""
        return f"for ({init}{' ' if cond else ''}{cond};{' ' if step else ''}{step})"

    def _for_init(self, stmt: ir.Stmt | None) -> str:
        if isinstance(stmt, program.Declare):
            return self._declared(stmt)[0]
        return f"{self._scope.value(stmt.expr, 0)};" if isinstance(stmt, ir.ExprStmt) else ";"

    def do(self, stmt: ir.DoWhile, depth: int) -> None:
        pad = INDENT * depth
        self._lines.add(f"{pad}do {{", stmt.span)
        self.block(stmt.body, depth + 1)
        self._lines.add(f"{pad}}} while ({expr.condition(stmt.cond, self._scope)});")


def _ends_with_block(stmt: ir.Stmt) -> bool:
    """Does a statement of a block declare what the arena has as long as that?"""
    return isinstance(stmt, program.Declare) and isinstance(stmt.init, ir.Node) and any(
        isinstance(n, nodes.Library) and n.name == "__hd_vla" for n in ir_walk.walk(stmt.init))


def _is_simple(block: ir.Block) -> bool:
    return len(block.body) == 1 and isinstance(block.body[0], _SIMPLE)


def falls_through(block: ir.Block) -> bool:
    """May control reach the end of a body? (Sometimes it is said to, though it cannot.)"""
    last = block.body[-1] if block.body else None
    if isinstance(last, ir.Block):
        return falls_through(last)
    if isinstance(last, ir.If):
        return last.other is None or falls_through(last.then) or falls_through(last.other)
    return not isinstance(last, ir.Return)


_STATEMENTS: dict[type, Callable[[Body, Any, int], None]] = {
    program.Declare: Body.declare, program.Begin: Body.begin, program.SearchAhead: Body.search,
    program.CopyAhead: Body.copy, ir.ExprStmt: Body.expr,
    ir.Return: Body.return_, ir.Break: Body.jump, ir.Continue: Body.jump, ir.CaseLabel: Body.case, ir.Block: Body.inner,
    ir.If: Body.if_, ir.While: Body.loop, ir.RecordLoop: Body.loop, ir.Switch: Body.loop, ir.For: Body.loop,
    ir.DoWhile: Body.do,
}
