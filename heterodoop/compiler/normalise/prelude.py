"""Endless loops that read among their first statements, and leave at the end of the input some statements later.

    while (1) { char *s; s = fgets(buf, 99, stdin); if (s) { cut(buf); } if (!s) break; A }
    ->  char *s; RecordLoop (s = fgets(buf, 99, stdin), s != NULL) { cut(buf); A }

What stands behind the read is gone through by value, once with what it gives at the end of the input and once with what it
gives for records. At the end it must lead out of the loop and do no more than give variables a value; for records, tests
whose outcome is known are left out, and the loop's own, where it is not, leaves the task to the filter.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ...values import dataclass
from ..ir import build, ir
from ..ir import walk as ir_walk
from ..types import ctype
from ..types.ctype import Int, Pointer
from .by_value import (
    ACTS,
    Read,
    classifies,
    evaluated,
    holds,
    is_assignment,
    is_record_condition,
    quiet,
    reads,
    results,
    truth,
)


@dataclass(frozen=True)
class Threaded:
    """The loop in normal form. before: declarations that move before it. dropped: variables that only the read at the end
    of the input would give a value."""

    before: tuple[ir.Stmt, ...]
    cond: ir.Expr
    body: ir.Block
    dropped: frozenset[str]


def threaded(body: ir.Block) -> Threaded | None:
    """A mapper's endless loop with this body; None where it is no record loop."""
    try:
        return _thread(body)
    except _Other:
        return None


class _Other(Exception):
    """It is another loop."""


@dataclass(frozen=True)
class _Begin:
    """before: declarations. cond: what reads; stored: it is true for records, else the variable that tells. at_end, behind:
    the statements that follow at the end of the input, and for records."""

    before: list[ir.Stmt]
    cond: ir.Expr
    read: Read
    at_end: Sequence[ir.Stmt]
    behind: Sequence[ir.Stmt]


def _thread(body: ir.Block) -> Threaded:
    begin = _begin(body)
    ends, records = results(begin.read, begin.cond, tokens=True)
    if not is_record_condition(begin.cond, tokens=True):
        raise _Other
    known = [_known(begin, result) for result in (ends[0], *records)]
    left: list[int] = []
    dropped = _dropped(begin.at_end, known[0], left)
    rest = _Records(left).statements(begin.behind, known[1:])
    return Threaded(tuple(begin.before), begin.cond, replace(body, body=tuple(rest)), dropped)


def _known(begin: _Begin, result: int) -> dict[str, int]:
    known: dict[str, int] = {}
    if evaluated(begin.cond, known, begin.read, result) is None:
        raise _Other
    return known


def _begin(body: ir.Block) -> _Begin:
    before: list[ir.Stmt] = []
    first: list[ir.Expr] = []
    for number, stmt in enumerate(body.body):
        rest = body.body[number + 1 :]
        if isinstance(stmt, ir.Decl) and stmt.length is None and (stmt.init is None or isinstance(stmt.init, ir.Expr)):
            before.append(replace(stmt, init=None))
            if stmt.init is None:
                continue
            stmt = ir.ExprStmt(_assigned(stmt), span=stmt.span)
        if isinstance(stmt, ir.If):
            return _tested(before, first, stmt, rest)
        if not isinstance(stmt, ir.ExprStmt) or not is_assignment(stmt.expr):
            raise _Other
        if reads(stmt.expr):
            return _assigning(before, first, stmt.expr, rest)
        if not quiet(stmt.expr.value):
            raise _Other
        first.append(stmt.expr)
    raise _Other


def _assigned(decl: ir.Decl) -> ir.Assign:
    assert isinstance(decl.init, ir.Expr)
    if isinstance(decl.init, ir.Str):
        raise _Other
    target = ir.Name(decl.init.type, decl.name, span=decl.span)
    return build.assign("=", target, decl.init, decl.span)


def _tested(before: list[ir.Stmt], first: list[ir.Expr], stmt: ir.If, rest: Sequence[ir.Stmt]) -> _Begin:
    """if (!fgets(...)) { A } else { B }"""
    found = reads(stmt.cond)
    if len(found) != 1:
        raise _Other
    ends, records = results(found[0], stmt.cond, tokens=True)
    at_end = truth(stmt.cond, found[0], ends[0])
    if at_end is None or any(truth(stmt.cond, found[0], r) is not (not at_end) for r in records):
        raise _Other
    cond = build.unary("!", stmt.cond, stmt.cond.span) if at_end else stmt.cond
    parts = [list(part.body) if part is not None else [] for part in (stmt.other, stmt.then)]
    return _Begin(before, _chained(first, cond), found[0], [*parts[at_end], *rest], [*parts[not at_end], *rest])


def _assigning(before: list[ir.Stmt], first: list[ir.Expr], read: ir.Assign, rest: Sequence[ir.Stmt]) -> _Begin:
    """n = getline(...);"""
    found = reads(read)
    kind = read.type
    if len(found) != 1:
        raise _Other
    if isinstance(kind, Pointer):
        cond = build.binary("!=", read, ir.Const(kind, 0), read.span)
    elif isinstance(kind, Int) and isinstance(found[0], ir.ReadRecord):
        cond = build.binary("!=", read, ir.Const(kind, ctype.wrap(kind, -1)), read.span)
    elif isinstance(kind, Int) and kind.bits >= 32 and (stored := results(found[0], read, tokens=True)[1]):
        cond = build.binary("==", read, ir.Const(kind, stored[0]), read.span)
    else:
        raise _Other
    return _Begin(before, _chained(first, cond), found[0], rest, rest)


def _chained(first: list[ir.Expr], cond: ir.Expr) -> ir.Expr:
    for expr in reversed(first):
        cond = build.comma(expr, cond, cond.span)
    return cond


# ------------------------------------------------------------------------------------------ at the end of the input


def dropped_at_end(stmts: Sequence[ir.Stmt]) -> frozenset[str] | None:
    """The variables that a loop's body gives a value on its way out of the loop; None where it does more, or goes on."""
    try:
        return _dropped(stmts, {}, [])
    except _Other:
        return None


def _dropped(stmts: Sequence[ir.Stmt], known: dict[str, int], left: list[int]) -> frozenset[str]:
    """The variables that get a value on the way out of the loop; `left` gets the numbers of the tests on it."""
    dropped: set[str] = set()
    pending = list(stmts)
    while pending:
        stmt = pending.pop(0)
        if isinstance(stmt, ir.Break):
            return frozenset(dropped)
        if isinstance(stmt, ir.Block):
            pending[:0] = stmt.body
        elif isinstance(stmt, ir.If):
            left.append(stmt.number)
            branch = stmt.then if _decided(stmt.cond, known, dropped) else stmt.other
            pending[:0] = branch.body if branch is not None else ()
        elif isinstance(stmt, ir.For) and stmt.init is not None:
            pending[:0] = [stmt.init, replace(stmt, init=None)]
        elif isinstance(stmt, (ir.While, ir.For)) and stmt.cond is not None:
            if _decided(stmt.cond, known, dropped):
                raise _Other
        elif isinstance(stmt, ir.DoWhile) and not any(isinstance(n, (ir.Break, ir.Continue)) for n in ir_walk.walk(stmt)):
            pending[:0] = [*stmt.body.body, ir.While(stmt.cond, ir.Block(()))]
        elif isinstance(stmt, ir.Decl) and (stmt.init is None or quiet(stmt.init)):
            _learn(stmt, [known])
            dropped.add(stmt.name)
        elif isinstance(stmt, ir.ExprStmt) and isinstance(stmt.expr, (ir.Assign, ir.Step)):
            _drop(stmt, known, dropped)
        elif not (isinstance(stmt, ir.ExprStmt) and quiet(stmt.expr)):
            raise _Other
    raise _Other


def _decided(cond: ir.Expr, known: dict[str, int], dropped: set[str]) -> bool:
    outcome = holds(cond, known) if _assigns_only(cond) else None
    if outcome is None:
        raise _Other
    dropped |= {n.target.name for n in ir_walk.walk(cond) if is_assignment(n)}
    return outcome


def _drop(stmt: ir.ExprStmt, known: dict[str, int], dropped: set[str]) -> None:
    """An assignment, perhaps to an array's element; what it stores may be assigned in turn."""
    node: ir.Expr = stmt.expr
    while isinstance(node, (ir.Assign, ir.Step)):
        root = node.target
        while isinstance(root, (ir.Index, ir.Deref, ir.Decay, ir.Member)):
            root = root.operand if isinstance(root, ir.Decay) else root.pointer if isinstance(root, ir.Deref) else root.base
            if isinstance(root, ir.Name) and isinstance(root.type, Pointer):
                raise _Other
        inside = node.target.index if isinstance(node.target, ir.Index) else None
        if not isinstance(root, ir.Name) or (inside is not None and not quiet(inside)):
            raise _Other
        dropped.add(root.name)
        node = ir_walk.uncast(node.value) if isinstance(node, ir.Assign) else ir.Const(ctype.INT, 0)
    if not quiet(node):
        raise _Other
    _learn(stmt, [known])


# ------------------------------------------------------------------------------------------ for records


class _Records:
    """left: the tests that lead out of the loop at the end of the input."""

    def __init__(self, left: list[int]) -> None:
        self._left = left

    def statements(self, stmts: Sequence[ir.Stmt], known: list[dict[str, int]]) -> list[ir.Stmt]:
        """What is left of the statements where variables have one of these values."""
        made: list[ir.Stmt] = []
        pending, tests = list(stmts), set(self._left)
        while pending and tests:
            stmt = pending.pop(0)
            if isinstance(stmt, ir.Block):
                pending[:0] = stmt.body
                continue
            tests.discard(stmt.number)
            if isinstance(stmt, ir.If):
                outcome = self._outcome(stmt.cond, known)
                if outcome is not None:
                    if not quiet(stmt.cond):
                        effect = ir.ExprStmt(stmt.cond, span=stmt.cond.span)
                        made.append(effect)
                        _learn(effect, known)
                    branch = stmt.then if outcome else stmt.other
                    pending[:0] = branch.body if branch is not None else ()
                    continue
                stmt = self._undecided(stmt)
            made.append(stmt)
            _learn(stmt, known)
        return [*made, *pending]

    def _outcome(self, cond: ir.Expr, known: list[dict[str, int]]) -> bool | None:
        found = {holds(cond, dict(one)) for one in known}
        return found.pop() if len(found) == 1 and _assigns_only(cond) else None

    def _undecided(self, stmt: ir.If) -> ir.If:
        """The loop's own test leaves the task to the filter."""
        if stmt.number not in self._left or [type(s) for s in stmt.then.body] != [ir.Break]:
            return stmt
        end = ir.ExprStmt(ir.Exit(ctype.VOID, "left_early", (), span=stmt.cond.span), span=stmt.cond.span)
        return replace(stmt, then=replace(stmt.then, body=(end,)))


def _learn(stmt: ir.Stmt, known: Iterable[dict[str, int]]) -> None:
    """What variables hold behind a statement that may be run."""
    target, value = "", None
    if isinstance(stmt, ir.Decl):
        target, value = stmt.name, stmt.init if isinstance(stmt.init, ir.Expr) else None
    elif isinstance(stmt, ir.ExprStmt) and is_assignment(stmt.expr):
        target, value = stmt.expr.target.name, stmt.expr.value
    for one in known:
        new = evaluated(value, one) if value is not None and quiet(value) else None
        for node in ir_walk.walk(stmt):
            changed = ir_walk.changed(node)
            if isinstance(changed, ir.Name):
                one.pop(changed.name, None)
        one.pop(target, None)
        if target and new is not None:
            one[target] = new


def _assigns_only(node: ir.Expr) -> bool:
    """Does it do nothing but give variables a value?"""
    return all(is_assignment(n) or classifies(n) for n in ir_walk.walk(node) if isinstance(n, ACTS))
