"""Ranges of integers: what C's operators make of the least and the greatest number that their operands can be.

Pure arithmetic. A bound that is not known is None; of a number that is not negative the missing upper bound means that it
counts something in memory, so that a sum of such numbers does not overflow.
"""

from __future__ import annotations

from collections.abc import Callable

from ...values import dataclass
from . import ctype
from .ctype import CType, Int


@dataclass(frozen=True)
class Range:
    """A number from `low` to `high`; high None: of memory's size at most."""

    low: int
    high: int | None = None


TRUTH = Range(0, 1)
INT_MAX = (1 << 31) - 1

Bounds = tuple[int | None, int | None]  # least, greatest
_Finite = tuple[int, int]


def of_type(kind: CType) -> Range | None:
    """All numbers of an integer type."""
    if not isinstance(kind, Int):
        return None
    if kind == ctype.BOOL:
        return TRUTH
    return Range(-(1 << kind.bits - 1), (1 << kind.bits - 1) - 1) if kind.signed else Range(0, (1 << kind.bits) - 1)


def narrow(kind: CType | None) -> Range | None:
    """The numbers of a type that has few."""
    return of_type(kind) if isinstance(kind, Int) and kind.bits <= 16 else None


def within(bounds: Bounds, kind: Range | None) -> bool:
    """Are all numbers among those of a range with both ends?"""
    low, high = bounds
    return kind is not None and kind.high is not None and low is not None and high is not None and (
        kind.low <= low and high <= kind.high)


def result(op: str, kind: CType, left: Bounds, right: Bounds) -> Range | None:
    """The range of `left op right`, whose type is `kind`; None where nothing is known."""
    rule, whole = _RULES.get(op), of_type(kind)
    if rule is None or whole is None or whole.high is None:
        return None
    if whole.low == 0:
        left, right = _unsigned(left, whole.high), _unsigned(right, whole.high)
    found = rule(left, right)
    if found is None:
        return whole if whole.low == 0 else None
    if found.low < whole.low or (found.high is not None and found.high > whole.high):
        return whole if whole.low == 0 else None
    return found


def _unsigned(bounds: Bounds, most: int) -> Bounds:
    """An operand of unsigned arithmetic: one that may be negative becomes any number."""
    low, high = bounds
    return (0, most) if low is None or low < 0 else (low, high)


def _add(left: Bounds, right: Bounds) -> Range | None:
    if left[0] is None or right[0] is None:
        return None
    high = left[1] + right[1] if left[1] is not None and right[1] is not None else None
    low = left[0] + right[0]
    return Range(low, high) if high is not None or (left[0] >= 0 and right[0] >= 0) else None


def _subtract(left: Bounds, right: Bounds) -> Range | None:
    finite = _finite(left, right)
    return None if finite is None else Range(finite[0][0] - finite[1][1], finite[0][1] - finite[1][0])


def _multiply(left: Bounds, right: Bounds) -> Range | None:
    finite = _finite(left, right)
    if finite is None:
        return None
    products = [a * b for a in finite[0] for b in finite[1]]
    return Range(min(products), max(products))


def _divide(left: Bounds, right: Bounds) -> Range | None:
    """A divisor of 0 ends the program."""
    (low, high), (least, most) = left, right
    if low is None or least is None or least < 0:
        return None
    if low >= 0:
        return Range(low // max(most, 1) if most is not None else 0, high // max(least, 1) if high is not None else None)
    return Range(low, max(high, 0)) if high is not None else None


def _remainder(left: Bounds, right: Bounds) -> Range | None:
    (low, high), (least, most) = left, right
    if least is None or least < 0:
        return None
    if low is not None and low >= 0:
        ends = [end for end in (high, most - 1 if most else None) if end is not None]
        return Range(0, min(ends) if ends else None)
    return Range(1 - most, most - 1) if most else None


def _and(left: Bounds, right: Bounds) -> Range | None:
    sides = [side for side in (left, right) if side[0] is not None and side[0] >= 0]
    ends = [high for _, high in sides if high is not None]
    return Range(0, min(ends) if ends else None) if sides else None


def _or(left: Bounds, right: Bounds) -> Range | None:
    finite = _finite(left, right)
    if finite is None or finite[0][0] < 0 or finite[1][0] < 0:
        return None
    return Range(0, (1 << max(high.bit_length() for _, high in finite)) - 1)


def _shift_left(left: Bounds, right: Bounds) -> Range | None:
    finite = _finite(left, right)
    if finite is None or finite[0][0] < 0 or not 0 <= finite[1][0] <= finite[1][1] < 64:
        return None
    return Range(finite[0][0] << finite[1][0], finite[0][1] << finite[1][1])


def _shift_right(left: Bounds, right: Bounds) -> Range | None:
    (low, high), (least, most) = left, right
    if low is None or low < 0 or least is None or most is None or not 0 <= least <= most < 64:
        return None
    return Range(low >> most, high >> least if high is not None else None)


def _finite(left: Bounds, right: Bounds) -> tuple[_Finite, _Finite] | None:
    if left[0] is None or left[1] is None or right[0] is None or right[1] is None:
        return None
    return (left[0], left[1]), (right[0], right[1])


_RULES: dict[str, Callable[[Bounds, Bounds], Range | None]] = {
    "+": _add, "-": _subtract, "*": _multiply, "/": _divide, "%": _remainder, "&": _and, "|": _or, "^": _or,
    "<<": _shift_left, ">>": _shift_right,
}
