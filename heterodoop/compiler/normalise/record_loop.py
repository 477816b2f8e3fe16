"""Pass `record_loop`: the region's reading loop, in any spelling, becomes a RecordLoop whose condition reads.

    while ((n = getline(&line, &cap, stdin)) > 0) ...      for (; fgets(buf, 100, stdin); i++) ...
    while (1) { n = getline(...); if (n == -1) break; ... }     while (scanf("%s %d", word, &val) == 2) ...

The test is by value: with the read's result put in, the condition must be false at the end of input and true for
every record; a condition that depends on anything else is another loop. A loop that is none leaves a reason.
"""

from __future__ import annotations

from dataclasses import replace

from ..ir import build, ir
from ..ir import walk as ir_walk
from . import byte_loops, end_tests, no_loop, prelude, reader_calls
from .by_value import is_record_condition, reads
from .inlining import with_region


def recognise(program: ir.Program) -> ir.Program:
    """The program with its record loop in normal form, or with the reason why there is none."""
    found = _recognised(program)
    if found is None and isinstance(program.region, ir.MapRegion):
        through = reader_calls.through_functions(program, no_loop.BYTE_READERS)
        found = (_recognised(through) if through is not program else None) or byte_loops.by_lines(through)
    return found or replace(program, refusals=(*program.refusals, no_loop.reason(program)))


def _recognised(program: ir.Program) -> ir.Program | None:
    region = program.region
    tokens = isinstance(region, ir.MapRegion)
    for number, stmt in enumerate(region.body.body):
        found = _loop(stmt, tokens) or (_asking(program, stmt) or _threaded(program, stmt) if tokens else None)
        if found is not None:
            rest = region.body.body[number + 1 :]
            body = ir.Block((*region.body.body[:number], *found, *rest), span=region.body.span)
            return with_region(program, body)
    return None


def _asking(program: ir.Program, stmt: ir.Stmt) -> list[ir.Stmt] | None:
    """Of a mapper's loop that asks for the end of the input, or does so in the end."""
    loop = end_tests.endless(program, stmt) if stmt is program.region.body.body[-1] else None
    found = _loop(loop, tokens=True) if loop is not None else None
    return found if found is not None and end_tests.same_behind(program, found) else None


def _threaded(program: ir.Program, stmt: ir.Stmt) -> list[ir.Stmt] | None:
    """Of a mapper's endless loop that leaves some statements behind its read."""
    if not isinstance(stmt, (ir.While, ir.For)) or not (stmt.cond is None or end_tests.always(stmt.cond)):
        return None
    found = prelude.threaded(stmt.body)
    step = stmt.step if isinstance(stmt, ir.For) else None
    if found is None or (isinstance(stmt, ir.For) and stmt.init is not None):
        return None
    loop = ir.RecordLoop(found.cond, step, found.body, span=stmt.span)
    inside = {n.name for part in (*found.before, loop) for n in ir_walk.walk(part) if isinstance(n, ir.Decl)}
    same = end_tests.unseen(program, found.dropped - inside)
    return [*found.before, loop] if same else None


def _loop(stmt: ir.Stmt, tokens: bool) -> list[ir.Stmt] | None:
    """What stands in a statement's place: declarations that move before the loop, then the RecordLoop."""
    stmt = end_tests.not_primed(stmt)
    if isinstance(stmt, ir.While):
        return _normal([], stmt.cond, None, stmt.body, stmt, tokens)
    if isinstance(stmt, ir.For):
        before = [stmt.init] if stmt.init is not None else []
        return _normal(before, stmt.cond, stmt.step, stmt.body, stmt, tokens)
    if isinstance(stmt, ir.Block) and stmt.body and isinstance(stmt.body[-1], ir.For) and stmt.body[-1].init is None:
        loop = stmt.body[-1]  # a `for` with several declarations
        if all(isinstance(s, ir.Decl) for s in stmt.body[:-1]):
            return _normal(list(stmt.body[:-1]), loop.cond, loop.step, loop.body, loop, tokens)
    return None


def _normal(
    before: list[ir.Stmt], cond: ir.Expr | None, step: ir.Expr | None, body: ir.Block, loop: ir.Stmt, tokens: bool,
) -> list[ir.Stmt] | None:
    if cond is None or end_tests.always(cond):
        peeled = _peel(body)
        if peeled is None:
            return None
        moved, cond, body = peeled
        before = before + moved
    if not is_record_condition(cond, tokens):
        return None
    return [*before, ir.RecordLoop(cond, step, body, span=loop.span)]


def _peel(body: ir.Block) -> tuple[list[ir.Stmt], ir.Expr, ir.Block] | None:
    """`{ decls; n = read; if (n == -1) break; rest }` -> decls, condition, rest."""
    moved: list[ir.Stmt] = []
    pending: ir.Assign | None = None
    for number, stmt in enumerate(body.body):
        if isinstance(stmt, ir.If):
            rest = body.body[number + 1 :]
            return _peel_test(moved, pending, stmt, rest, body)
        if pending is not None:
            return None
        if isinstance(stmt, ir.Decl) and stmt.length is None and (stmt.init is None or reads(stmt.init)):
            moved.append(replace(stmt, init=None))
            pending = _as_assignment(stmt)
            if stmt.init is not None and pending is None:
                return None
        elif isinstance(stmt, ir.ExprStmt) and isinstance(stmt.expr, ir.Assign) and reads(stmt.expr):
            pending = stmt.expr
        else:
            return None
    return None


def _as_assignment(decl: ir.Decl) -> ir.Assign | None:
    if not isinstance(decl.init, ir.Expr):
        return None
    target = ir.Name(decl.init.type, decl.name, span=decl.span)
    return build.assign("=", target, decl.init, decl.span)


def _peel_test(
    moved: list[ir.Stmt], pending: ir.Assign | None, test: ir.If, rest: tuple[ir.Stmt, ...], body: ir.Block,
) -> tuple[list[ir.Stmt], ir.Expr, ir.Block] | None:
    if len(test.then.body) != 1 or not isinstance(test.then.body[0], ir.Break):
        return None
    cond = test.cond
    if pending is not None:
        if reads(cond):
            return None
        cond = build.comma(pending, cond, test.span)
    other = test.other.body if test.other is not None else ()
    inner = ir.Block((*((ir.Block(other),) if other else ()), *rest), span=body.span)
    return moved, build.unary("!", cond, test.span), inner
