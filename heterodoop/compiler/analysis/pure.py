"""Expressions that only read, so that once is as good as twice."""

from __future__ import annotations

from ..ir import ir
from ..ir import walk as ir_walk
from .libc_effects import EFFECTS

_ACTS = (ir.Assign, ir.Step, ir.Accumulate, ir.Emit, ir.Stderr, ir.Exit, ir.ReadRecord, ir.ReadPair)


def pure(node: ir.Node) -> bool:
    """Is it one? A call is only of a library function that writes nothing."""
    return not any(isinstance(n, _ACTS) or (isinstance(n, ir.Call) and not _only_reads(n)) for n in ir_walk.walk(node))


def _only_reads(call: ir.Call) -> bool:
    effect = EFFECTS.get(ir.called(call))
    return effect is not None and not effect.writes and not effect.stores and effect.result != "new"
