"""Loops that count: `for (i = 0; i < 26; i++)`, and the arrays that they surely fill."""

from __future__ import annotations

from ..ir import ir
from ..ir import walk as ir_walk
from ..types import ctype


def runs_at_least_once(loop: ir.For) -> bool:
    """`for (i = 0; i < 26; i++)`: the first test is known to succeed."""
    bounds = counting(loop)
    return bounds is not None and bounds[1] < bounds[2]


def filled_arrays(loop: ir.For) -> list[tuple[ir.Index, int]]:
    """Arrays that `for (i = 0; i < N; i++) { a[i] = ...; }` fills from 0 to N - 1, with nothing that leaves early."""
    bounds = counting(loop)
    if bounds is None or bounds[1] != 0:
        return []
    name, _, count = bounds
    for node in ir_walk.walk(loop.body):
        if isinstance(node, (ir.Break, ir.Continue, ir.Return, ir.Goto, ir.Label, ir.CaseLabel, ir.Opaque)):
            return []
    if changed_in(loop.body, name):
        return []
    found = []
    for stmt in loop.body.body:
        expr = stmt.expr if isinstance(stmt, ir.ExprStmt) else None
        if isinstance(expr, ir.Assign) and expr.op == "=" and isinstance(expr.target, ir.Index):
            if _variable(expr.target.index) == name and _one_array(expr.target.base):
                found.append((expr.target, count))
    return found


def changed_in(body: ir.Block, name: str) -> bool:
    changed = (ir_walk.changed(node) for node in ir_walk.walk(body))
    return any(isinstance(node, ir.Name) and node.name == name for node in changed)


def _one_array(base: ir.Expr) -> bool:
    """An array that is named, not reached by way of a pointer or an index that may change from round to round."""
    node = base.operand if isinstance(base, ir.Decay) else base
    while isinstance(node, ir.Member):
        node = node.base
    return isinstance(node, ir.Name) and isinstance(base, ir.Decay)


def counting(loop: ir.For) -> tuple[str, int, int] | None:
    """(variable, first value, end) of a loop that counts one by one to a constant."""
    init, cond, step = loop.init, loop.cond, loop.step
    name, first = "", None
    if isinstance(init, ir.Decl):
        name, first = init.name, init.init
    elif isinstance(init, ir.ExprStmt) and isinstance(init.expr, ir.Assign) and isinstance(init.expr.target, ir.Name):
        name, first = init.expr.target.name, init.expr.value
    if not isinstance(first, ir.Const) or not isinstance(first.value, int) or not _counts_up(step, name):
        return None
    if not isinstance(cond, ir.Binary) or cond.op not in ("<", "<=", "!=") or _variable(cond.left) != name:
        return None
    if not isinstance(cond.right, ir.Const) or not isinstance(cond.right.value, int):
        return None
    return name, first.value, cond.right.value + (cond.op == "<=")


def _counts_up(step: ir.Expr | None, name: str) -> bool:
    if isinstance(step, ir.Step):
        return step.op == "++" and _variable(step.target) == name
    if isinstance(step, ir.Assign) and step.op == "+=" and _variable(step.target) == name:
        return isinstance(step.value, ir.Const) and step.value.value == 1
    return False


def _variable(node: ir.Expr) -> str:
    """The int variable that an expression is, widened or not."""
    while isinstance(node, ir.Cast) and isinstance(node.type, ctype.Int) and isinstance(node.operand.type, ctype.Int):
        node = node.operand
    return node.name if isinstance(node, ir.Name) else ""
