"""A mapper's loop that reads its input byte by byte: as one that reads lines, and goes through the bytes of each.

    while ((c = getchar()) != EOF) { A }
    ->  RecordLoop ((n = getline(&line, &size, stdin)) != -1) { at = 0; while (at < n) { c = (unsigned char)line[at++]; A } }

A round of the loop that begins with a line is the program's round; one that reads on behind its line's end leaves the task
to the filter, since its line may be another thread's, and so does one that leaves the loop. At the end of the input, where
every read gives EOF, a round must lead out of the loop and do no more than give variables a value.

A round may begin by passing over bytes, `while ((c = getchar()) != EOF && !isalpha(c));`: where the line ends meanwhile, the
next line's round passes over its own. Not here: what a line leaves in variables for the next one (`restored`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...source import Span
from ..ir import build, ir
from ..ir import walk as ir_walk
from ..types import ctype
from ..types.ctype import Pointer
from . import end_tests, prelude
from .by_value import fixed, holds, is_assignment, quiet, reads
from .inlining import Names, with_region
from .streams import Streams

BYTE_CALLS = {"getchar": None, "getc": 0, "fgetc": 0}  # and which argument is the stream
_LINE, _LONG, _SIZE = Pointer(ctype.CHAR), ctype.LONG, ctype.ULONG


def by_lines(program: ir.Program) -> ir.Program | None:
    """The program with such a loop by lines; None where it has none."""
    body = program.region.body
    for at, stmt in enumerate(body.body):
        loop = _endless(program, stmt)
        if loop is None:
            continue
        streams = Streams(program)
        rewrite = _Rewrite(program, streams)
        if rewrite.is_for(loop):
            made = rewrite.whole(loop)
            if made is None:
                return None
            new = ir.Block((*body.body[:at], *made, *body.body[at + 1 :]), span=body.span)
            return with_region(program, new, rewrite.names.made)
    return None


def is_byte_read(program: ir.Program, streams: Streams, node: Any) -> bool:
    """A call that gives the next byte of stdin, or EOF?"""
    name = ir.called(node).removesuffix("_unlocked") if isinstance(node, ir.Call) else ""
    if name not in BYTE_CALLS or ir.called(node) in program.by_name:
        return False
    stream = BYTE_CALLS[name]
    return stream is None or streams.of(program.region.function, node.args[stream]) == "stdin"


def _endless(program: ir.Program, stmt: ir.Stmt) -> ir.While | None:
    """The loop as one without an end, whose body begins with what its condition was."""
    asking = end_tests.endless(program, stmt)
    if asking is not None:
        return asking
    stmt = end_tests.not_primed(stmt)
    if isinstance(stmt, ir.For) and stmt.init is None and stmt.step is None:
        stmt = ir.While(stmt.cond or build.const(1, span=stmt.span), stmt.body, span=stmt.span)
    if not isinstance(stmt, ir.While):
        return None
    if end_tests.always(stmt.cond):
        return stmt
    out = ir.Block((ir.Break(span=stmt.cond.span),), span=stmt.cond.span)
    test = ir.If(build.unary("!", stmt.cond, stmt.cond.span), out, None, span=stmt.cond.span)
    return replace(stmt, cond=build.const(1, span=stmt.span), body=replace(stmt.body, body=(test, *stmt.body.body)))


class _Rewrite:
    """One loop's. The new variables: line, size and n of getline, at: the next byte's place. The reader of a record asks
    nothing of line and size: they are not set."""

    def __init__(self, program: ir.Program, streams: Streams) -> None:
        self._program, self._streams = program, streams
        self.names = Names(program)

    def is_for(self, loop: ir.While) -> bool:
        """Does the loop read bytes, and nothing but bytes?"""
        nodes = list(ir_walk.walk(loop))
        return any(map(self._reads, nodes)) and all(map(self.is_one_byte, reads(loop)))

    def whole(self, loop: ir.While) -> list[ir.Stmt] | None:
        dropped = prelude.dropped_at_end(self._ended(loop.body).body)
        if dropped is None or any(isinstance(n, (ir.Goto, ir.Label)) for n in ir_walk.walk(loop)):
            return None
        inside = {n.name for n in ir_walk.walk(loop) if isinstance(n, ir.Decl)}
        if not end_tests.unseen(self._program, dropped - inside - self._only_assigned(loop)):
            return None
        span = loop.span
        self._line, self._size, self._n, self._at = (
            self.names.new(ir.Symbol(name, name, kind, "local", span=span))
            for name, kind in (("line", _LINE), ("size", _SIZE), ("n", _LONG), ("at", _LONG)))
        stmts = self._passing_over(list(loop.body.body))
        rounds = ir.While(build.binary("<", self._name(self._at), self._name(self._n), span), ir.Block(
            tuple(self._left(stmts)), span=loop.body.span), span=span)
        read = ir.ReadRecord(_LONG, "getline", self._address(self._line), self._address(self._size), span=span)
        cond = build.binary("!=", self._set(self._n, read), build.const(-1, _LONG), span)
        begin = ir.Decl(self._at.name, build.const(0, _LONG, span), span=span)
        record = ir.RecordLoop(cond, None, ir.Block((begin, rounds), span=loop.body.span), span=span)
        return [*(ir.Decl(symbol.name, span=span) for symbol in (self._line, self._size, self._n)), record]

    def _only_assigned(self, loop: ir.While) -> set[str]:
        """Variables that a record gives a value, too, and no constant: a use of them behind the loop is seen as one of what
        records leave."""
        given = [n for n in ir_walk.walk(loop) if is_assignment(n)]
        return {n.target.name for n in given} - {n.target.name for n in given if fixed(n.value)}

    # ------------------------------------------------------------------------------------- reads

    def is_one_byte(self, node: ir.ReadRecord | ir.ReadPair) -> bool:
        """scanf("%c", &c)"""
        return isinstance(node, ir.ReadPair) and node.format == b"%c" and [t.type for t in node.targets] == [_LINE]

    def _reads(self, node: Any) -> bool:
        return is_byte_read(self._program, self._streams, node) or (isinstance(node, ir.ReadPair) and self.is_one_byte(node))

    def _ended(self, body: ir.Block) -> ir.Block:
        """The body where every read finds the end of the input."""
        def change(node: Any) -> Any:
            if self._reads(node):
                return ir.Const(ctype.INT, -1, span=node.span)
            return node

        return ir_walk.rewrite(body, change)

    def _byte(self, span: Span) -> ir.Expr:
        """line[at++], as getchar gives it."""
        step = build.step("++", self._name(self._at), False, span)
        char = build.index(self._name(self._line), step, span)
        return build.cast(ctype.INT, build.cast(ctype.UCHAR, char))

    def _read(self, node: ir.Expr, *, first: bool) -> ir.Expr:
        """A read's value; first: the round's first, which the line surely has a byte for."""
        span = node.span
        value = self._byte(span)
        if not first:
            end = build.comma(self._leave("reads_on", span), build.const(-1, span=span), span)
            more = build.binary("<", self._name(self._at), self._name(self._n), span)
            value = build.conditional(more, value, end, span)
        if isinstance(node, ir.ReadPair):
            target = build.deref(node.targets[0], span)
            stored = build.assign("=", target, build.cast(ctype.CHAR, value), span)
            return build.comma(stored, build.const(1, span=span), span)
        return value

    def _replaced(self, stmt: Any, first: ir.Node | None = None) -> Any:
        def change(node: Any) -> Any:
            if self._reads(node):
                return self._read(node, first=first is not None and node.number == first.number)
            if isinstance(node, ir.Call) and ir.called(node) == "ungetc":
                return self._unread(node)
            return node

        return ir_walk.rewrite(stmt, change)

    def _unread(self, call: ir.Call) -> ir.Expr:
        """ungetc(c, stdin) of the byte that was read last."""
        span = call.span
        if self._streams.of(self._program.region.function, call.args[1]) != "stdin" or not quiet(call.args[0]):
            return call
        zero, one = build.const(0, _LONG, span), build.const(1, _LONG, span)
        before = build.index(self._name(self._line), build.binary("-", self._name(self._at), one, span), span)
        last = build.cast(ctype.INT, build.cast(ctype.UCHAR, before))
        given = build.index(self._name(self._line), self._name(self._at), span)
        same = build.binary("&&", build.binary(">", self._name(self._at), zero, span),
                            build.binary("==", last, call.args[0], span), span)
        back = build.comma(build.step("--", self._name(self._at), True, span),
                           build.cast(ctype.INT, build.cast(ctype.UCHAR, given)), span)
        end = build.comma(self._leave("reads_on", span), build.const(-1, span=span), span)
        return build.conditional(same, back, end, span)

    # ------------------------------------------------------------------------------------- a round

    def _left(self, stmts: list[ir.Stmt]) -> list[ir.Stmt]:
        """A round's statements, where what leaves the loop leaves the task to the filter."""
        first = self._first(stmts)
        made: list[ir.Stmt] = []
        for number, stmt in enumerate(stmts):
            if isinstance(stmt, ir.If) and [type(s) for s in stmt.then.body] == [ir.Break]:
                made += self._tested(stmt, stmts[number - 1] if number else None, first)
            else:
                made.append(self._without_breaks(self._replaced(stmt, first)))
        return made

    def _first(self, stmts: list[ir.Stmt]) -> ir.Node | None:
        """The round's first read, where it is surely the first thing that reads."""
        for stmt in stmts:
            found = [n for n in ir_walk.walk(stmt) if self._reads(n)]
            if found:
                cond = stmt.cond if isinstance(stmt, ir.If) else stmt
                plain = isinstance(stmt, (ir.If, ir.ExprStmt, ir.Decl)) and not any(
                    isinstance(n, ir.Conditional) or (isinstance(n, ir.Binary) and n.op in build.LOGICAL)
                    for n in ir_walk.walk(cond))
                return found[0] if plain and len(found) == 1 and found[0] in ir_walk.walk(cond) else None
            if not isinstance(stmt, (ir.Decl, ir.ExprStmt)):
                return None
        return None

    def _tested(self, stmt: ir.If, before: ir.Stmt | None, first: ir.Node | None) -> list[ir.Stmt]:
        """if (READ == EOF) break; and the like: nothing but what it assigns, where no byte makes it true."""
        other = [self._without_breaks(self._replaced(part)) for part in (stmt.other.body if stmt.other is not None else ())]
        if first is not None and self._never(stmt, before, first):
            acts = [n for n in ir_walk.walk(stmt.cond) if is_assignment(n) or n is first]
            return [*(ir.ExprStmt(self._replaced(act, first), span=stmt.span) for act in acts[:1]), *other]
        end = ir.ExprStmt(self._leave("left_early", stmt.cond.span), span=stmt.cond.span)
        cond = self._replaced(stmt.cond, first)
        block = ir.Block(tuple(other), span=stmt.span) if other else None
        return [ir.If(cond, replace(stmt.then, body=(end,)), block, span=stmt.span)]

    def _never(self, stmt: ir.If, before: ir.Stmt | None, first: ir.Node) -> bool:
        """Is the test false for every byte?"""
        cond: ir.Expr = stmt.cond
        if before is not None and any(n is first for n in ir_walk.walk(before)):
            expr = before.expr if isinstance(before, ir.ExprStmt) else None
            if isinstance(before, ir.Decl) and isinstance(before.init, ir.Expr):
                target = ir.Name(before.init.type, before.name, span=before.span)
                expr = build.assign("=", target, before.init, before.span)
            if expr is None or not is_assignment(expr):
                return False
            cond = build.comma(expr, cond, cond.span)
        elif len([n for n in ir_walk.walk(cond) if is_assignment(n)]) > 1 or first not in ir_walk.walk(cond):
            return False
        gives = [1] if isinstance(first, ir.ReadPair) else range(256)
        assert isinstance(first, (ir.Call, ir.ReadPair))
        return all(holds(cond, {}, first, value) is False for value in gives)

    def _without_breaks(self, stmt: Any) -> Any:
        """A break of the round's own loop leaves the task to the filter."""
        if isinstance(stmt, ir.Break):
            return ir.ExprStmt(self._leave("left_early", stmt.span), span=stmt.span)
        if isinstance(stmt, (ir.While, ir.For, ir.DoWhile, ir.Switch)):
            return stmt
        if isinstance(stmt, ir.Block):
            return replace(stmt, body=tuple(map(self._without_breaks, stmt.body)))
        if isinstance(stmt, ir.If):
            other = self._without_breaks(stmt.other) if stmt.other is not None else None
            return replace(stmt, then=self._without_breaks(stmt.then), other=other)
        return stmt

    # ------------------------------------------------------------------------------------- bytes that are passed over

    def _passing_over(self, stmts: list[ir.Stmt]) -> list[ir.Stmt]:
        """`while (READ, goes) ;` at a round's beginning:  pass = 1; while (at < n) if (!goes) { pass = 0; break; }
        if (pass) continue;"""
        for number, stmt in enumerate(stmts):
            if isinstance(stmt, (ir.While, ir.For)) and not stmt.body.body and stmt.cond is not None:
                if isinstance(stmt, ir.For) and (stmt.init is not None or stmt.step is not None):
                    return stmts
                return [*stmts[:number], *self._passed(stmt.cond, stmt.span), *stmts[number + 1 :]]
            plain = isinstance(stmt, ir.Decl) and (stmt.init is None or fixed(stmt.init))
            if not plain and not (isinstance(stmt, ir.ExprStmt) and is_assignment(stmt.expr) and fixed(stmt.expr.value)):
                return stmts
        return stmts

    def _passed(self, goes: ir.Expr, span: Span) -> list[ir.Stmt]:
        found = [n for n in ir_walk.walk(goes) if self._reads(n)]
        acts = [n for n in ir_walk.walk(goes) if is_assignment(n)]
        if len(found) != 1 or len(acts) > 1:
            return [ir.While(goes, ir.Block((), span=span), span=span)]
        passing = self.names.new(ir.Symbol("pass", "pass", ctype.INT, "local", span=span))
        found_one = ir.ExprStmt(self._set(passing, build.const(0, span=span)), span=span)
        stop = ir.Block((found_one, ir.Break(span=span)), span=span)
        test = ir.If(build.unary("!", self._replaced(goes, found[0]), span), stop, None, span=span)
        more = build.binary("<", self._name(self._at), self._name(self._n), span)
        again = ir.Block((ir.Continue(span=span),), span=span)
        return [ir.Decl(passing.name, build.const(1, span=span), span=span),
                ir.While(more, ir.Block((test,), span=span), span=span),
                ir.If(self._name(passing), again, None, span=span)]

    # ------------------------------------------------------------------------------------- nodes

    def _name(self, symbol: ir.Symbol) -> ir.Name:
        return ir.Name(symbol.type, symbol.name, span=symbol.span)

    def _address(self, symbol: ir.Symbol) -> ir.Expr:
        return build.address(self._name(symbol), symbol.span)

    def _set(self, symbol: ir.Symbol, value: ir.Expr) -> ir.Expr:
        return build.assign("=", self._name(symbol), value, value.span)

    def _leave(self, why: str, span: Span) -> ir.Expr:
        return ir.Exit(ctype.VOID, why, (), span=span)
