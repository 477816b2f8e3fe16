"""A mapper's loop that reads by a function of the program's own: the function's statements stand in the loop.

    while (next(buf, 99)) A    ->  while (1) { int next$2; <next's statements>; if (!next$2) break; A }
    while (1) { n = next(buf); if (n < 0) break; A }    ->  while (1) { <its statements>; n = next$2; if (n < 0) break; A }

Not here: whether that is a record loop (`record_loop`, `prelude`); what a function becomes (`inlining`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..ir import build, ir
from ..ir import walk as ir_walk
from ..ir.call_graph import CallGraph
from .inlining import Names, NotInlined, inlined, replaced, with_region

_MOST = 8  # functions that one calls in another


def through_functions(program: ir.Program, readers: frozenset[str]) -> ir.Program:
    """The program with such calls in its loop's beginning as statements; the same object where there are none.

    readers  library functions that read a stream's bytes.
    """
    names = Names(program)
    calls = CallGraph(program)
    body = program.region.body
    for _ in range(_MOST):
        found = _with_one(program, body, names, calls, readers)
        if found is None:
            break
        body = found
    return program if body is program.region.body else with_region(program, body, names.made)


def _with_one(
    program: ir.Program, body: ir.Block, names: Names, calls: CallGraph, readers: frozenset[str],
) -> ir.Block | None:
    """The region's body with one call fewer; None where there is none at a loop's beginning."""

    def reads(call: ir.Call) -> bool:
        name = ir.called(call)
        if name not in program.by_name or name in calls.recursive:
            return False
        below = [program.by_name[f].body for f in (name, *calls.below(name))]
        return any(_reads(n, readers) for part in below for n in ir_walk.walk(part))

    for at, stmt in enumerate(body.body):
        loop = _endless(stmt)
        if loop is None:
            continue
        for number, inner in enumerate(loop.body.body):
            call = next((c for c in _first_evaluated(inner) if isinstance(c, ir.Call) and reads(c)), None)
            if call is not None:
                try:
                    stmts, value = inlined(program.by_name[ir.called(call)], call, names)
                except NotInlined:
                    return None
                rest: tuple[ir.Stmt, ...] = (replaced(inner, call, value), *loop.body.body[number + 1 :])
                new = replace(loop, body=replace(loop.body, body=(*loop.body.body[:number], *stmts, *rest)))
                return replace(body, body=(*body.body[:at], new, *body.body[at + 1 :]))
            if isinstance(inner, ir.If):
                break
    return None


def _endless(stmt: ir.Stmt) -> ir.While | ir.For | None:
    """A loop with its condition as the first statement of its body."""
    if not isinstance(stmt, (ir.While, ir.For)):
        return None
    cond = stmt.cond
    if cond is None or (isinstance(cond, ir.Const) and cond.value != 0):
        return stmt
    out = ir.Block((ir.Break(span=cond.span),), span=cond.span)
    test = ir.If(build.unary("!", cond, cond.span), out, None, span=cond.span)
    body = replace(stmt.body, body=(test, *stmt.body.body))
    if isinstance(stmt, ir.While):
        return ir.While(build.const(1, span=stmt.span), body, span=stmt.span)
    return replace(stmt, cond=None, body=body)


def _first_evaluated(stmt: ir.Stmt) -> Iterator[ir.Expr]:
    """Parts of a statement's expression that are surely evaluated, before anything else of it that acts."""
    node: ir.Expr | None = None
    if isinstance(stmt, ir.If):
        node = stmt.cond
    elif isinstance(stmt, ir.ExprStmt):
        node = stmt.expr
    elif isinstance(stmt, ir.Decl) and isinstance(stmt.init, ir.Expr):
        node = stmt.init
    while node is not None:
        yield node
        node = _first(node)


def _first(node: ir.Expr) -> ir.Expr | None:
    if isinstance(node, (ir.Cast, ir.Unary)):
        return node.operand
    if isinstance(node, ir.Assign) and node.op == "=" and isinstance(node.target, ir.Name):
        return node.value
    if isinstance(node, ir.Binary):
        if isinstance(node.left, (ir.Const, ir.Name)) and node.op not in build.LOGICAL:
            return node.right
        return node.left
    return node.first if isinstance(node, ir.Comma) else None


def _reads(node: ir.Node, readers: frozenset[str]) -> bool:
    return isinstance(node, (ir.ReadRecord, ir.ReadPair)) or (isinstance(node, ir.Call) and ir.called(node) in readers)
