"""What GNU C and C99 let stand inside an expression and the IR has as statements of their own, ahead of the expression's.

A statement expression becomes a block that leaves its value in a variable, an unnamed array (compound literal) a variable
with its initialiser. That is the same program only where nothing of what is moved can meet what the rest of the
expression does: `check` refuses what may. What is done on a condition only (`&&`, `?:`, a loop's test) is not moved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from pycparser import c_ast

from ...source import Span
from ..ir import build, ir
from ..ir import walk as ir_walk
from ..types import ctype
from ..types.ctype import CType
from ..types.literals import Unsupported

_SCALARS = (ctype.Int, ctype.Float, ctype.Pointer)
_ONLY_READ = frozenset(
    "strlen strnlen strcmp strncmp strcasecmp strncasecmp memcmp strchr strrchr strstr strspn strcspn atoi atol atof "
    "abs labs isalpha isdigit isspace isalnum isupper islower ispunct isprint isxdigit tolower toupper fabs floor".split()
)


class Place(Protocol):
    """A statement that is being lowered.

    ahead    what goes before it, None where nothing can.
    lasting  a region behind it may use its objects, and so has to find them by names of the program's.
    """

    ahead: list[ir.Stmt] | None
    lasting: bool

    def temporary(self, kind: CType, span: Span, at: int | None = None) -> str: ...

    def own(self, name: str) -> bool:
        """Is it a local number or pointer that no pointer leads to?"""
        ...


@contextmanager
def nothing_ahead(place: Place) -> Iterator[None]:
    """What is lowered inside is not done each time that the statement is, or not first."""
    outer, place.ahead = place.ahead, None
    try:
        yield
    finally:
        place.ahead = outer


def unnamed(place: Place, kind: CType, init: ir.Init, span: Span) -> ir.Name | None:
    """An unnamed object as a variable; None where it cannot be one."""
    if place.ahead is None or (place.lasting and not isinstance(kind, _SCALARS)):
        return None
    name = place.temporary(kind, span)
    place.ahead.append(ir.Decl(name, init, span=span))
    return ir.Name(kind, name, span=span)


def statement_expression(
    place: Place, node: c_ast.Compound, statements: Callable[[], tuple[list[ir.Stmt], ir.Expr | None]], span: Span,
    at: int,
) -> ir.Expr:
    """Its value, of a variable. statements: all but the last expression, and that. at: the variable's place among others.

    Raises Unsupported where its statements cannot be done ahead.
    """
    if place.ahead is None:
        raise Unsupported("a statement expression in a condition or a loop's head (an if before it does the same)", node)
    body, value = statements()
    if value is None or value.type == ctype.VOID:
        last = [] if value is None else [ir.ExprStmt(value, span=span)]
        place.ahead.append(ir.Block((*body, *last), span=span))
        return build.cast(ctype.VOID, build.const(0, span=span))
    name = place.temporary(value.type, span, at)
    kept = build.assign("=", ir.Name(value.type, name, span=span), value, span)
    place.ahead += [ir.Decl(name, None, span=span), ir.Block((*body, ir.ExprStmt(kept, span=span)), span=span)]
    return ir.Name(value.type, name, span=span)


def check(place: Place, ahead: Sequence[ir.Stmt], behind: Sequence[ir.Stmt], node: c_ast.Node) -> None:
    """Raises Unsupported where what was moved may change what the rest of the statement does, or the other way round."""
    rest = [expr for stmt in behind for expr in _expressions(stmt)]
    if all(_is_value(expr) for expr in rest):
        return
    moved = [n for stmt in ahead for n in ir_walk.walk(stmt)]
    own = {n.name for n in moved if isinstance(n, ir.Decl)}
    left = [n for expr in rest for part in _parts(expr) for n in ir_walk.walk(part)]
    apart = all(n.name in own or place.own(n.name) for n in moved if isinstance(n, ir.Name)) and not any(
        isinstance(n, (ir.Deref, ir.Call)) for n in moved)
    if apart:  # whatever is called in the rest does not reach what was moved
        left = [n for n in left if not isinstance(n, ir.Call)]
    named = {n.name for expr in rest for n in ir_walk.walk(expr) if isinstance(n, ir.Name)}
    changed = {n.name for part in moved if isinstance(part, (ir.Assign, ir.Step)) and isinstance(n := part.target, ir.Name)}
    own |= {name for name in changed if place.own(name) and name not in named}  # the rest does not ask for them
    if any(_acts(n, own) for n in moved) or any(_acts(n, set()) for n in left):
        raise Unsupported("a statement expression or unnamed array in an expression with other effects", node)


def _expressions(stmt: ir.Stmt) -> Iterator[ir.Expr]:
    """What of a statement is done once, right behind what went ahead."""
    if isinstance(stmt, ir.ExprStmt):
        yield stmt.expr
    elif isinstance(stmt, ir.Decl) and stmt.init is not None:
        yield from [stmt.init] if isinstance(stmt.init, ir.Expr) else [e for _, e in stmt.init.items]
    elif isinstance(stmt, ir.If):
        yield stmt.cond
    elif isinstance(stmt, (ir.Switch, ir.Return)) and stmt.value is not None:
        yield stmt.value


def _is_value(expr: ir.Expr) -> bool:
    """Is all of it what was moved, a variable or a constant, put into a variable or not?"""
    if isinstance(expr, ir.Assign) and expr.op == "=" and isinstance(expr.target, ir.Name):
        expr = expr.value
    return isinstance(ir_walk.uncast(expr), (ir.Name, ir.Const))


def _parts(expr: ir.Expr) -> Iterator[ir.Expr]:
    """Parts of an expression that have to be without effects: what an assignment or a call does comes last."""
    found = ir_walk.uncast(expr)
    if isinstance(found, ir.Assign):
        yield found.target
        yield from _parts(found.value)
    elif isinstance(found, ir.Call):
        yield from found.args
    else:
        yield expr


def _acts(node: ir.Node, own: set[str]) -> bool:
    """Does a node change more than variables of `own`?"""
    if isinstance(node, (ir.Assign, ir.Step)):
        target: ir.Node = node.target
        while isinstance(target, (ir.Index, ir.Member, ir.Decay)):
            target = target.base if isinstance(target, (ir.Index, ir.Member)) else target.operand
        return not (isinstance(target, ir.Name) and target.name in own)
    return isinstance(node, ir.Call) and ir.called(node) not in _ONLY_READ
