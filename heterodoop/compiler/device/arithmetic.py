"""Where C++ leaves open what C (as the filters are compiled) defines: which operators need a node of our own.

Pure questions about nodes of the IR. C++ leaves signed overflow and shifts out of range undefined; it promotes as C does.
"""

from __future__ import annotations

from ..ir import build, ir
from ..types import ctype
from ..types.ctype import Float, Int, Pointer
from .types import is_signed


def is_bool(node: ir.Expr) -> bool:
    """Has its text the type bool in C++, where C has an int?"""
    if isinstance(node, ir.Unary):
        return node.op == "!"
    if isinstance(node, ir.Conditional):
        return is_bool(node.then) and is_bool(node.other)
    if isinstance(node, ir.Comma):
        return is_bool(node.second)
    return isinstance(node, ir.Binary) and (node.op in build.COMPARISONS or node.op in build.LOGICAL)


def promoted(node: ir.Expr) -> ir.Expr:
    """The operand of an integer promotion, which C++'s operators make by themselves."""
    if isinstance(node, ir.Cast) and node.type == ctype.INT and isinstance(node.operand.type, Int):
        if node.operand.type.bits < 32:
            return node.operand
    return node


def cannot_overflow(node: ir.Binary) -> bool:
    """Promoted bytes and shorts, and small constants: their int results are exact."""
    return all(_bits(side) <= (30 if node.op in "+-" else 15) for side in (node.left, node.right))


def _bits(node: ir.Expr) -> int:
    """Bits that a value's magnitude needs at most."""
    if isinstance(node, ir.Const):
        return int(abs(node.value)).bit_length()
    plain = promoted(node)
    if is_bool(plain):
        return 1
    return plain.type.bits if isinstance(plain.type, Int) else 64


def plain_shift(node: ir.Binary) -> bool:
    """A constant count in range, and nothing that C++17 leaves undefined: a left shift is of an unsigned value."""
    kind, count = node.type, node.right
    if not isinstance(count, ir.Const) or not isinstance(kind, Int) or not 0 <= count.value < kind.bits:
        return False
    return node.op == ">>" or not kind.signed


def plain_compound(node: ir.Assign) -> bool:
    """Does C++'s operator do what C's does, with all that C leaves undefined out of reach?"""
    op, kind, computed = node.op[:-1], node.type, build.compute_type(node)
    if isinstance(kind, (Pointer, Float)):
        return True
    if isinstance(computed, Float):
        return False
    if op in ("&", "|", "^"):
        return True
    if op in build.SHIFTS:
        count = node.value
        fits = isinstance(count, ir.Const) and isinstance(computed, Int) and 0 <= count.value < computed.bits
        return fits and (op == ">>" or not is_signed(computed))
    if op in ("/", "%"):
        return divides_unchecked(node.value)
    return not is_signed(computed)


def divides_unchecked(divisor: ir.Expr) -> bool:
    """May one divide by it without a look: it is a floating value, or a constant other than 0 and -1?"""
    if isinstance(divisor.type, Float):
        return True
    return isinstance(divisor, ir.Const) and divisor.value not in (0, -1)


def can_fail(node: object) -> bool:
    """Is it an integer division that has to be checked when it runs?"""
    if isinstance(node, ir.Binary) and node.op in ("/", "%"):
        return not divides_unchecked(node.right)
    return isinstance(node, ir.Assign) and node.op in ("/=", "%=") and not divides_unchecked(node.value)
