"""Loops that ask feof(stdin) before they read, and `do ... while` ones: as the endless loops that they are where they read.

    while (!feof(stdin)) { if (fgets(...) == NULL) break; A }     while (!feof(stdin)) { if (fgets(...)) { A } }
    do { if (fgets(...) == NULL) break; A } while (!feof(stdin));       ->  while (1) { if (!read) break; A }

The question ends such a loop one read earlier at most: that of a last line without its end. A read at the end of the input
stores nothing, so what differs behind the loop is what the program itself assigns with it: `same_behind` says whether
anything is. Not here: which reads give records (`record_loop`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..ir import build, ir
from ..ir import walk as ir_walk
from .streams import Streams


def asks(node: ir.Node) -> bool:
    """Is feof called in it?"""
    return any(isinstance(n, ir.Call) and ir.called(n).removesuffix("_unlocked") == "feof" for n in ir_walk.walk(node))


def endless(program: ir.Program, stmt: ir.Stmt) -> ir.While | None:
    """A loop whose body reads first, as one without an end; None for any other."""
    if isinstance(stmt, ir.DoWhile) and always(stmt.cond):
        return ir.While(build.const(1, span=stmt.span), stmt.body, span=stmt.span)
    if isinstance(stmt, (ir.While, ir.DoWhile)):
        cond = stmt.cond
    elif isinstance(stmt, ir.For) and stmt.init is None and stmt.step is None and stmt.cond is not None:
        cond = stmt.cond
    else:
        return None
    if "feof" in program.by_name or not _until_end(program, cond):
        return None
    return ir.While(build.const(1, span=stmt.span), _first_test(stmt.body), span=stmt.span)


def same_behind(program: ir.Program, found: list[ir.Stmt]) -> bool:
    """Does nothing behind the record loop see what its condition assigns?"""
    inside = {s.name for s in found if isinstance(s, ir.Decl)}
    assigned = {n.target for loop in found if isinstance(loop, ir.RecordLoop)
                for n in ir_walk.walk(loop.cond) if isinstance(n, (ir.Assign, ir.Step))}
    names = {target.name for target in assigned if isinstance(target, ir.Name)}
    return len(names) == len(assigned) and unseen(program, names - inside)


def unseen(program: ir.Program, names: Iterable[str]) -> bool:
    """Does nothing but the region use these variables, by their names?"""
    seen = ir_walk.names(program.enclosing.body)
    pointed = {n.operand for n in ir_walk.walk(program.region.body) if isinstance(n, ir.AddressOf)}
    seen |= {operand.name for operand in pointed if isinstance(operand, ir.Name)}
    return all(name not in seen and program.enclosing.symbol(name) is not None for name in names)


def not_primed(stmt: ir.Stmt) -> ir.Stmt:
    """`for (c = READ; c != EOF; c = READ) A` as `while (c = READ, c != EOF) A`; any other loop as it is."""
    if not isinstance(stmt, ir.For) or not isinstance(stmt.init, ir.ExprStmt) or stmt.cond is None:
        return stmt
    if stmt.step is None or stmt.init.expr != stmt.step or not isinstance(stmt.step, ir.Assign):
        return stmt
    return ir.While(build.comma(stmt.step, stmt.cond, stmt.cond.span), stmt.body, span=stmt.span)


def always(cond: ir.Expr) -> bool:
    return isinstance(cond, ir.Const) and cond.value != 0


def _until_end(program: ir.Program, cond: ir.Expr) -> bool:
    """`!feof(stdin)` or `feof(stdin) == 0`?"""
    if isinstance(cond, ir.Unary) and cond.op == "!":
        call = ir_walk.uncast(cond.operand)
    elif isinstance(cond, ir.Binary) and cond.op == "==" and isinstance(cond.right, ir.Const) and cond.right.value == 0:
        call = ir_walk.uncast(cond.left)
    else:
        return False
    if not isinstance(call, ir.Call) or not asks(call) or len(call.args) != 1:
        return False
    return Streams(program).of(program.region.function, call.args[0]) == "stdin"


def _first_test(body: ir.Block) -> ir.Block:
    """`if (read) { A }` as all of it becomes `if (!read) break; A`, and a `continue` where nothing was read a break: the
    question would end the loop there."""
    for at, stmt in enumerate(body.body):
        if isinstance(stmt, ir.If):
            out = ir.Block((ir.Break(span=stmt.span),), span=stmt.span)
            if len(stmt.then.body) == 1 and isinstance(stmt.then.body[0], ir.Continue):
                made: tuple[ir.Stmt, ...] = (replace(stmt, then=out), *body.body[at + 1 :])
            elif at + 1 == len(body.body) and stmt.other is None and not _leaves(stmt.then):
                made = (ir.If(build.unary("!", stmt.cond, stmt.span), out, None, span=stmt.span), stmt.then)
            else:
                return body
            return replace(body, body=(*body.body[:at], *made))
    return body


def _leaves(block: ir.Block) -> bool:
    return len(block.body) == 1 and isinstance(block.body[0], ir.Break)
