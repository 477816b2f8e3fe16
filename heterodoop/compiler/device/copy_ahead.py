"""Copy loops: which loops copy a text byte by byte up to one where they stop, and the statement that does most of it before
the loop, sixteen bytes at a time (runtime/hostlane/lane/copy_ahead.h; of host kernels, not of devices).

    while (i < length && !is_blank(line[i])) { if (n == size - 1) exit(1); word[n++] = line[i++]; }

All that a round does is to copy a byte and to step the two indexes (or the one that both have). What it tests is the byte,
against constants alone, or an index, against what the loop does not change. So it is known beforehand which bytes stop it,
and how many rounds there are at most. The statement does some of the first rounds, all of them whole, and the loop itself
stays: what is left to do is done there. Every access is one that is proven, or lies in the line, which has an end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...values import dataclass
from ..analysis.objects import RECORD, Global, Heap, Local, Object
from ..ir import build, ir
from ..ir import walk as ir_walk
from ..types import ctype
from ..types.ctype import Float, Int
from . import nodes
from .ahead import can_step, increment, is_pure, is_value_of, split_tests
from .arithmetic import can_fail
from .program import CopyAhead, Limit
from .scope import Scope

_READ = "hd_c"
_NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
_PLAIN = (ir.Const, ir.Name, ir.Cast, ir.Binary)
_OF_BYTE = (*_PLAIN, ir.Unary, ir.Conditional, ir.Call, ir.Decay, nodes.Temp)


@dataclass(frozen=True)
class _Copy:
    """target[to] = source[of]; each index is stepped once a round."""

    target: ir.Index
    source: ir.Index
    to: ir.Name
    of: ir.Name


def copy_ahead(loop: ir.While | ir.For, scope: Scope) -> CopyAhead | None:
    """The statement that goes before the loop (a `for` has begun by then), None where it is no such loop."""
    stmts = [*loop.body.body, *([ir.ExprStmt(loop.step)] if isinstance(loop, ir.For) and loop.step is not None else [])]
    guards: list[ir.Expr] = []
    while stmts and isinstance(first := stmts[0], ir.If) and first.other is None:
        guards.append(first.cond)
        stmts = stmts[1:]
    copy = _copy(stmts)
    if copy is None or loop.cond is None or not _may_copy(copy, scope):
        return None
    tests = [*split_tests(loop.cond), *(test for guard in guards for test in _negated(guard))]
    read = nodes.Temp(copy.source.type, _READ)
    limits: list[Limit] = []
    goes: list[ir.Expr] = []
    accesses = [copy.source, copy.target]
    for test in tests:
        limit = _limit(test, copy, loop, scope)
        if limit is not None:
            limits.append(limit)
            continue
        found = [node for node in ir_walk.expressions(test) if _is_source(node, copy)]
        accesses += [node for node in found if isinstance(node, ir.Index)]
        bare = ir_walk.rewrite(test, lambda node: read if _is_source(node, copy) else node)
        if not found or not _of_byte_alone(bare, scope):
            return None
        goes.append(bare)
    if not goes or not all(_is_proven(node, scope) for node in accesses):
        return None
    whole = goes[0]
    for test in goes[1:]:
        whole = ir.Binary(ctype.INT, "&&", whole, test)
    return CopyAhead(
        scope.value(copy.target.base), scope.var(copy.to.name, copy.to.type), scope.value(copy.source.base),
        scope.var(copy.of.name, copy.of.type), tuple(limits), read, scope.value(whole),
        any(scope.asked(node) is not None for node in accesses), span=loop.span,
    )


# ------------------------------------------------------------------------------------------ what a round does


def _copy(stmts: Sequence[ir.Stmt]) -> _Copy | None:
    """One assignment of a byte, and steps."""
    if not stmts or not all(isinstance(stmt, ir.ExprStmt) for stmt in stmts):
        return None
    effects = [stmt.expr for stmt in stmts if isinstance(stmt, ir.ExprStmt)]
    assign, steps = effects[0], [increment(effect) for effect in effects[1:]]
    if not isinstance(assign, ir.Assign) or assign.op != "=":
        return None
    target, source = assign.target, _whole_byte(assign.value)
    if not isinstance(target, ir.Index) or not isinstance(source, ir.Index) or not (_is_byte(target) and _is_byte(source)):
        return None
    to, of = _stepped(target.index, steps), _stepped(source.index, steps)
    if to is None or of is None:
        return None
    names = [to.name, *([of.name] if of.name != to.name else [])]
    stepped = [step.name if step is not None else "" for step in steps] + [n for n in map(_step_in, (target, source)) if n]
    return _Copy(target, source, to, of) if sorted(stepped) == sorted(names) else None


def _is_byte(node: ir.Expr) -> bool:
    return isinstance(node.type, Int) and node.type.bits == 8 and node.type != ctype.BOOL


def _whole_byte(node: ir.Expr) -> ir.Expr:
    """What is converted to a byte, by conversions that lose nothing of one."""
    while isinstance(node, ir.Cast) and isinstance(node.type, Int) and node.type != ctype.BOOL:
        node = node.operand
    return node


def _step_in(node: ir.Index) -> str:
    """The variable that an index steps behind its use, "" for none."""
    index = ir_walk.uncast(node.index)
    stepped = increment(index) if isinstance(index, ir.Step) and not index.prefix else None
    return stepped.name if stepped is not None else ""


def _stepped(index: ir.Expr, steps: Sequence[ir.Name | None]) -> ir.Name | None:
    """The variable that an index is, which is stepped there or by one of the steps behind."""
    plain = ir_walk.uncast(index)
    if isinstance(plain, ir.Step) and not plain.prefix:
        name = increment(plain)
        used = ir_walk.rewrite(index, lambda node: name if name is not None and node == plain else node)
        return name if name is not None and is_value_of(name, used) else None
    return plain if isinstance(plain, ir.Name) and plain in steps and is_value_of(plain, index) else None


# ------------------------------------------------------------------------------------------ what is tested


def _negated(test: ir.Expr) -> Iterator[ir.Expr]:
    """What all holds where a condition does not."""
    plain = ir_walk.uncast(test)
    if isinstance(plain, ir.Binary) and plain.op == "||":
        yield from (*_negated(plain.left), *_negated(plain.right))
    elif isinstance(plain, ir.Binary) and plain.op in _NEGATED and not isinstance(plain.left.type, Float):
        yield ir.Binary(plain.type, _NEGATED[plain.op], plain.left, plain.right, span=plain.span)
    else:
        yield build.unary("!", test, test.span)


def _limit(test: ir.Expr, copy: _Copy, loop: ir.While | ir.For, scope: Scope) -> Limit | None:
    """A test of an index against what stays as it is, as a bound of the index."""
    plain = ir_walk.uncast(test)
    if not isinstance(plain, ir.Binary) or plain.op not in _MIRRORED:
        return None
    for op, small, large in ((plain.op, plain.left, plain.right), (_MIRRORED[plain.op], plain.right, plain.left)):
        for variable in (copy.to, copy.of):
            if op in ("<", "<=", "!=") and is_value_of(variable, small) and _stays(large, loop, scope):
                return Limit(scope.var(variable.name, variable.type), scope.value(large), op == "<=")
    return None


def _stays(bound: ir.Expr, loop: ir.While | ir.For, scope: Scope) -> bool:
    """Numbers that nothing in the loop changes: constants and variables whose address nobody has."""
    parts = list(ir_walk.expressions(bound))
    if not isinstance(bound.type, Int) or any(not isinstance(n, _PLAIN) or can_fail(n) for n in parts):
        return False
    changed = {node.target.name for node in ir_walk.walk(loop)
               if isinstance(node, (ir.Assign, ir.Step)) and isinstance(node.target, ir.Name)}
    return all(n.name not in changed and can_step(n, scope) for n in parts if isinstance(n, ir.Name))


def _is_source(node: ir.Node, copy: _Copy) -> bool:
    """Is it the byte that this round copies?"""
    return isinstance(node, ir.Index) and node.base == copy.source.base and is_value_of(copy.of, node.index)


def _of_byte_alone(test: ir.Expr, scope: Scope) -> bool:
    return all(isinstance(n, _OF_BYTE) and not can_fail(n) and is_pure(n, scope)
               and (not isinstance(n, ir.Name) or isinstance(n.type, ctype.Func))
               for n in ir_walk.expressions(test))


# ------------------------------------------------------------------------------------------ where it happens


def _may_copy(copy: _Copy, scope: Scope) -> bool:
    """Indexes of the function's own, texts that are known and not the same, bases that no round changes."""
    if not all(can_step(name, scope) and _is_own(name, scope) for name in (copy.to, copy.of)):
        return False
    target, source = scope.objects(copy.target), scope.objects(copy.source)
    if not target or not source or target & source or not all(isinstance(obj, (Local, Global, Heap)) for obj in target):
        return False
    bases = [ir_walk.uncast(index.base) for index in (copy.target, copy.source)]
    pointers = {scope.key(base.name) for base in bases if isinstance(base, ir.Name)}  # an array's own name stays what it is
    known = all(isinstance(obj, (Local, Global, Heap)) or obj == RECORD for obj in source)
    return known and all(map(_is_base, bases)) and not pointers & target


def _is_base(base: ir.Expr) -> bool:
    return isinstance(base, ir.Name) or (isinstance(base, ir.Decay) and isinstance(base.operand, ir.Name))


def _is_own(name: ir.Name, scope: Scope) -> bool:
    place = scope.place(name.name)
    return place is None or place.space == "private"


def _is_proven(node: ir.Index, scope: Scope) -> bool:
    """Nothing is looked at when the byte is accessed, but perhaps that it lies in the line."""
    extents = scope.kernel.extents
    if node.number in extents.indexes or node.number in extents.sites or scope.moves(node):
        return False
    objects: set[Object] = scope.objects(node)
    asked = scope.asked(node)
    if asked is not None:
        return objects == {RECORD} and asked.keys == (RECORD,)
    return True if RECORD in objects else not scope.guards_of(objects)
