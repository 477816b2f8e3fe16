"""Statements -> the device dialect: locals with their guards, loops that look ahead, jumps that a record cannot make."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, TypeGuard

from ..ir import ir
from ..ir import walk as ir_walk
from ..normalise.gotos import why
from ..types import ctype
from . import inits, nodes, output
from .ahead import search_ahead
from .copy_ahead import copy_ahead
from .program import Begin, Declare
from .scope import Scope


class Body:
    """Lowers one function's statements; the region's where the scope is the region's."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._bare = False  # in a switch: declarations that a label may jump over have no initialiser
        self._inner = 0  # loops and switches around, inside of the record loop

    def block(self, block: ir.Block) -> ir.Block:
        outer, self._bare = self._bare, _has_label(block) or self._bare
        found: list[ir.Stmt] = []
        for number, stmt in enumerate(block.body):
            after = block.body[number + 1] if number + 1 < len(block.body) else None
            found += [self._failing(stmt)] if _tells_failure(stmt, after) else self._stmt(stmt)
        self._bare = outer
        return ir.Block(tuple(found), span=block.span)

    def _stmt(self, stmt: ir.Stmt) -> list[ir.Stmt]:
        made = _STATEMENTS[type(stmt)](self, stmt)
        return made if isinstance(made, list) else [made]

    # ------------------------------------------------------------------------------------- plain statements

    def decl(self, stmt: ir.Decl) -> ir.Stmt:
        symbol = self._scope.function.symbol(stmt.name)
        assert symbol is not None
        if stmt.length is not None:
            return _refused(stmt, "HD218", f"'{stmt.name}' is an array of variable length", self._scope.value(stmt.length))
        key = self._scope.key(stmt.name)
        guard = key if key in self._scope.kernel.guards.by_key else None
        extent = key if key in self._scope.kernel.extents.by_key else None
        init = inits.lowered(symbol.type, stmt.init, self._scope, apart=self._bare) if stmt.init is not None else None
        variable = self._scope.var(stmt.name, symbol.type, stmt)
        apart = self._bare and init is not None
        return Declare(variable, init, apart, guard, extent, span=stmt.span)

    def _failing(self, stmt: ir.ExprStmt) -> ir.Stmt:
        assert isinstance(stmt.expr, ir.Stderr)
        return ir.ExprStmt(output.written(stmt.expr, self._scope), span=stmt.span)

    def expr(self, stmt: ir.ExprStmt) -> ir.Stmt:
        return ir.ExprStmt(self._scope.effect(stmt.expr), span=stmt.span)

    def return_(self, stmt: ir.Return) -> ir.Stmt:
        value = self._scope.value(stmt.value) if stmt.value is not None else None
        if self._scope.region:
            text = "return leaves the record loop before the end of the input"
            return _refused(stmt, "HD213", text, *([value] if value is not None else []))
        return ir.Return(value, span=stmt.span)

    def break_(self, stmt: ir.Break) -> ir.Stmt:
        if self._scope.region and not self._inner:
            return _refused(stmt, "HD212", "break leaves the record loop before the end of the input")
        return stmt

    def same(self, stmt: ir.Continue | ir.CaseLabel) -> ir.Stmt:
        return stmt

    def jump(self, stmt: ir.Goto | ir.Label) -> ir.Stmt:
        """One that pass `gotos` could not change."""
        scope = self._scope
        body = scope.kernel.program.region.body if scope.region else scope.function.body
        text, span = why(scope.kernel.program, scope.function, body)
        return _refused(replace(stmt, span=span) if span.line else stmt, "HD216", text)

    def opaque(self, stmt: ir.Opaque) -> ir.Stmt:
        return _refused(stmt, stmt.code, stmt.message)

    def here(self, stmt: ir.RegionHere) -> list[ir.Stmt]:
        """Of a helper that holds the region, which is refused as a whole."""
        return []

    # ------------------------------------------------------------------------------------- compound ones

    def if_(self, stmt: ir.If) -> ir.Stmt:
        cond, then = self._scope.value(stmt.cond), self.block(stmt.then)
        return ir.If(cond, then, self.block(stmt.other) if stmt.other is not None else None, span=stmt.span)

    def records(self, stmt: ir.RecordLoop) -> ir.Stmt:
        cond, step = self._scope.value(stmt.cond), self._scope.effect(stmt.step) if stmt.step is not None else None
        return ir.RecordLoop(cond, step, self.block(stmt.body), span=stmt.span)

    def switch(self, stmt: ir.Switch) -> list[ir.Stmt]:
        """Its labels may jump over declarations, after which nothing of the variables is written."""
        guards, keys = self._scope.kernel.guards.by_key, [self._scope.key(d.name) for d in _declared(stmt.body)]
        value = self._scope.value(stmt.value)
        return [*(Begin(key) for key in keys if key in guards), ir.Switch(value, self._body(stmt.body), span=stmt.span)]

    def while_(self, stmt: ir.While) -> list[ir.Stmt]:
        loop = ir.While(self._scope.value(stmt.cond), self._body(stmt.body), span=stmt.span)
        return [*self._ahead(stmt), loop]

    def do(self, stmt: ir.DoWhile) -> ir.Stmt:
        body = self._body(stmt.body)
        return ir.DoWhile(body, self._scope.value(stmt.cond), span=stmt.span)

    def for_(self, stmt: ir.For) -> list[ir.Stmt]:
        """A beginning after which something else comes stands before its loop, a declaration in a block of its own."""
        first = self._stmt(stmt.init) if stmt.init is not None else []
        cond = self._scope.value(stmt.cond) if stmt.cond is not None else None
        step = self._scope.effect(stmt.step) if stmt.step is not None else None
        body, ahead = self._body(stmt.body), self._ahead(stmt)
        if not ahead and (not first or _begins_loop(first[0])):
            return [ir.For(first[0] if first else None, cond, step, body, span=stmt.span)]
        whole = [*first, *ahead, ir.For(None, cond, step, body, span=stmt.span)]
        return [ir.Block(tuple(whole))] if isinstance(stmt.init, ir.Decl) else whole

    def _body(self, block: ir.Block) -> ir.Block:
        """Of a loop, or a switch, of its own breaks."""
        self._inner += 1
        body = self.block(block)
        self._inner -= 1
        return body

    def _ahead(self, loop: ir.While | ir.For) -> list[ir.Stmt]:
        found = search_ahead(loop, self._scope) or copy_ahead(loop, self._scope)
        return [found] if found is not None else []


def _refused(stmt: ir.Stmt, code: str, text: str, *parts: ir.Expr) -> ir.Stmt:
    return ir.ExprStmt(nodes.Unsupported(ctype.VOID, code, text, parts, span=stmt.span), span=stmt.span)


def _begins_loop(stmt: ir.Stmt) -> bool:
    """Is it one statement in C++ too, so that a `for` can begin with it?"""
    if isinstance(stmt, Declare):
        return not (stmt.apart or stmt.guard or stmt.init is None or isinstance(stmt.init, ir.Fill))
    return isinstance(stmt, ir.ExprStmt)


def _tells_failure(stmt: ir.Stmt, after: ir.Stmt | None) -> TypeGuard[ir.ExprStmt]:
    """A perror before the program ends?"""
    fails = isinstance(after, ir.ExprStmt) and isinstance(after.expr, ir.Exit)
    return fails and isinstance(stmt, ir.ExprStmt) and output.is_perror(stmt.expr)


def _declared(body: ir.Block) -> list[ir.Decl]:
    return [node for node in ir_walk.walk(body) if isinstance(node, ir.Decl)]


def _has_label(block: ir.Block) -> bool:
    return any(isinstance(node, ir.CaseLabel) for node in _same_switch(block.body))


def _same_switch(stmts: Iterable[Any]) -> Iterable[Any]:
    for stmt in stmts:
        yield stmt
        if isinstance(stmt, ir.Stmt) and not isinstance(stmt, ir.Switch):
            yield from _same_switch(part for part in ir_walk.children(stmt) if isinstance(part, ir.Stmt))


_STATEMENTS: dict[type, Callable[[Body, Any], ir.Stmt | list[ir.Stmt]]] = {
    ir.Decl: Body.decl, ir.ExprStmt: Body.expr, ir.Return: Body.return_, ir.Break: Body.break_, ir.Continue: Body.same,
    ir.CaseLabel: Body.same, ir.Block: Body.block, ir.If: Body.if_, ir.While: Body.while_, ir.RecordLoop: Body.records,
    ir.Switch: Body.switch, ir.For: Body.for_, ir.DoWhile: Body.do, ir.Goto: Body.jump, ir.Label: Body.jump,
    ir.Opaque: Body.opaque, ir.RegionHere: Body.here,
}
