"""Pass `flush`: what a fold prints of its last key behind the region becomes a part of the region.

    #pragma mapreduce combiner ...
    while (scanf(...) == 2) { ... }         the region
    if (!first) printf(...);                printed of the last key: a combine kernel has to do it, too
    free(line);
    return 0;

On a device nothing of the region's values is left behind it. Only of folds: of those all that follows the region is
known, to the end of the program (`situations`). What neither prints nor comes before what does stays where it is, and so
does `free`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..ir import ir
from ..ir import walk as ir_walk
from ..ir.call_graph import CallGraph
from .fold import recognise


def flush(program: ir.Program) -> ir.Program:
    """The same program where nothing is printed behind the region, or it is no fold, or may end there before it prints."""
    region, body = program.region, program.enclosing.body
    at = next((i for i, stmt in enumerate(body.body) if isinstance(stmt, ir.RegionHere)), None)
    if not isinstance(region, ir.CombineRegion) or at is None:
        return program
    behind, calls = body.body[at + 1 :], CallGraph(program)
    count = max((i + 1 for i, stmt in enumerate(behind) if _prints(program, stmt, calls)), default=0)
    taken = [stmt for stmt in behind[:count] if not _frees(stmt)]
    if not taken or _leaves(taken) or recognise(program).fold is None:
        return program
    left = [stmt for stmt in behind[:count] if _frees(stmt)]
    rest = replace(body, body=(*body.body[: at + 1], *left, *behind[count:]))
    functions = tuple(replace(f, body=rest) if f is program.enclosing else f for f in program.functions)
    inside = replace(region.body, body=(*region.body.body, *taken))
    return replace(program, functions=functions, region=replace(region, body=inside))


def _prints(program: ir.Program, stmt: ir.Stmt, calls: CallGraph) -> bool:
    bodies = [stmt, *(program.by_name[name].body for name in calls.of(stmt) if name in program.by_name)]
    return any(isinstance(node, ir.Emit) for body in bodies for node in ir_walk.walk(body))


def _frees(stmt: ir.Stmt) -> bool:
    return isinstance(stmt, ir.ExprStmt) and isinstance(stmt.expr, ir.Call) and ir.called(stmt.expr) == "free"


def _leaves(stmts: Sequence[ir.Stmt]) -> bool:
    return any(isinstance(node, ir.Return) for stmt in stmts for node in ir_walk.walk(stmt))
