"""Checks of lvalues: which may lie outside their objects (decision 0020), which reads are checked, which writes are noted
(decision 0017).

An access to a variable that stands by its name goes to its guard by a constant offset; all others ask, by address, each
guard of the objects that they may touch.
"""

from __future__ import annotations

from ..analysis.objects import RECORD
from ..decide.guards import Guard, leaves
from ..ir import ir
from ..ir import walk as ir_walk
from ..types import ctype
from . import nodes
from .scope import Scope


def within(node: ir.Index, index: ir.Expr, scope: Scope) -> ir.Expr:
    """What was made of an array's index, with its check where it may lie outside."""
    if node.number not in scope.kernel.extents.indexes or isinstance(ir_walk.uncast(node.index), nodes.Temp):
        return index  # a search ahead keeps to the array by itself
    assert isinstance(node.base, ir.Decay) and isinstance(node.base.operand.type, ctype.Array)
    return nodes.Within(index.type, index, node.base.operand.type.length or 0, span=node.span)


def inside(node: ir.Index | ir.Deref, made: ir.Expr, scope: Scope) -> ir.Expr:
    """What was made of what a pointer leads to, with its check where that may lie outside of its object."""
    keys = scope.kernel.extents.sites.get(node.number)
    return nodes.Inside(made.type, made, tuple(sorted(keys)), span=node.span) if keys else made


def checked(node: ir.Expr, made: ir.Expr, scope: Scope) -> ir.Expr:
    """What was made of an lvalue that is read (or of the target of an assignment that reads it), with its check."""
    asked = scope.asked(node)
    if asked is None:
        return made
    if asked.strict and isinstance(made, nodes.Inside):  # guards look at both
        made = made.operand
    if asked.keys == (RECORD,) and asked.strict:
        return nodes.InLine(made.type, made, True, span=node.span)
    place = node.target if isinstance(node, (ir.Assign, ir.Step)) else node
    parts = tuple(leaves(place.type, scope.kernel.program.layouts)) if isinstance(place.type, ctype.Struct) else ()
    named = _named(place, scope)
    if named is not None:
        return nodes.Named(made.type, made, named[0].key, named[1], parts, span=node.span)
    return nodes.Guarded(made.type, made, asked, parts, span=node.span)


def written(node: ir.Assign | ir.Step, made: ir.Expr, scope: Scope) -> ir.Expr:
    """What was made of the lvalue that an assignment or step changes: a step reads it before."""
    made = checked(node, made, scope)
    if isinstance(node, ir.Step) or node.op != "=":
        return made
    named = _named(node.target, scope)
    if named is not None:
        return nodes.NamedWrite(made.type, made, named[0].key, named[1], span=node.span)
    keys = scope.guards_of(scope.objects(node.target))
    return nodes.GuardedWrite(made.type, made, keys, span=node.span) if keys else made


def _named(node: ir.Expr, scope: Scope) -> tuple[Guard, int] | None:
    """The guard and the offset of a variable, member or constant element that stands by its name."""
    layouts, at = scope.kernel.program.layouts, 0
    while not isinstance(node, ir.Name):
        if isinstance(node, ir.Member) and isinstance(node.base.type, ctype.Struct):
            layout = layouts.table.get(node.base.type.tag)
            field = layout.field(node.field) if layout is not None else None
            if field is None:
                return None
            at, node = at + field.offset, node.base
        elif isinstance(node, ir.Index) and isinstance(node.base, ir.Decay) and isinstance(node.index, ir.Const):
            at, node = at + int(node.index.value) * (layouts.size(node.type) or 0), node.base.operand
        elif isinstance(node, ir.Deref) and isinstance(node.pointer, ir.Decay):
            node = node.pointer.operand
        else:
            return None
    guard = scope.kernel.guards.by_key.get(scope.key(node.name))
    return (guard, at) if guard is not None and 0 <= at < guard.nbytes else None
