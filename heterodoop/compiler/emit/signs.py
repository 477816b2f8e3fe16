"""Operations that keep, flip or clear the sign of a NaN as x86-64 does (runtime/device/bits.cuh); which ones need that, says
`analysis.known_signs`."""

from __future__ import annotations

from ..ir import ir
from ..types import ctype
from . import expr
from .leaf import PREC, Text
from .scope import Scope


def text(node: ir.Expr, scope: Scope) -> Text:
    """A conversion between float and double, unary minus, or fabs."""
    if isinstance(node, ir.Cast):
        name, operand = "widened" if node.type == ctype.DOUBLE else "narrowed", node.operand
    elif isinstance(node, ir.Unary):
        name, operand = "sign_flipped", node.operand
    else:
        assert isinstance(node, ir.Call)
        name, operand = "sign_cleared", node.args[0]
    return f"hd::{name}({expr.value(operand, scope)})", PREC["postfix"]
