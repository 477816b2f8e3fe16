"""Ranges of integers against C's arithmetic, number by number."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from heterodoop.compiler.types import ctype, ranges
from heterodoop.compiler.types.ranges import Range

OPS = ("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>")
SMALL = st.integers(-40, 40)


def computed(op: str, kind: ctype.Int, left: int, right: int) -> int | None:
    """What C gives, wrapped; None where the program ends, or the result is not C's to say."""
    left, right = ctype.wrap(kind, left), ctype.wrap(kind, right)
    if op in ("/", "%"):
        if right == 0:
            return None
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return ctype.wrap(kind, quotient if op == "/" else left - quotient * right)
    if op in ("<<", ">>"):
        if not 0 <= right < kind.bits:
            return None
        return ctype.wrap(kind, left << right if op == "<<" else left >> right)
    plain = {"+": left + right, "-": left - right, "*": left * right, "&": left & right, "|": left | right}
    return ctype.wrap(kind, plain.get(op, left ^ right))


@given(st.sampled_from(OPS), st.sampled_from([ctype.INT, ctype.UINT, ctype.LONG, ctype.ULONG]), SMALL, st.integers(0, 9),
       SMALL, st.integers(0, 9), st.booleans(), st.booleans())
def test_every_result_lies_in_the_range(
    op: str, kind: ctype.Int, low: int, size: int, least: int, width: int, left_known: bool, right_known: bool,
) -> None:
    left = (low, low + size) if left_known else (None, None)
    right = (least, least + width) if right_known else (None, None)
    found = ranges.result(op, kind, left, right)
    if found is None:
        return
    for a in range(low, low + size + 1):
        for b in range(least, least + width + 1):
            value = computed(op, kind, a, b)
            if value is not None:
                assert found.low <= value and (found.high is None or value <= found.high), (a, op, b, found)


def test_what_is_known() -> None:
    unknown, byte = (None, None), (0, 255)
    assert ranges.result("%", ctype.UINT, unknown, (10, 10)) == Range(0, 9)
    assert ranges.result("%", ctype.INT, unknown, (10, 10)) == Range(-9, 9)
    assert ranges.result("&", ctype.INT, unknown, (15, 15)) == Range(0, 15)
    assert ranges.result("-", ctype.INT, byte, (97, 97)) == Range(-97, 158)
    assert ranges.result("*", ctype.INT, byte, (4, 4)) == Range(0, 1020)
    assert ranges.result("+", ctype.INT, (0, None), (1, 1)) == Range(1, None)
    assert ranges.result("+", ctype.INT, unknown, (1, 1)) is None
    assert ranges.result(">>", ctype.UINT, unknown, (28, 28)) == Range(0, 15)
    assert ranges.result("+", ctype.INT, (0, (1 << 31) - 1), (1, 1)) is None
    assert ranges.result("?", ctype.INT, byte, byte) is None and ranges.result("+", ctype.DOUBLE, byte, byte) is None


def test_types_with_few_numbers() -> None:
    assert ranges.narrow(ctype.CHAR) == Range(-128, 127) and ranges.narrow(ctype.UCHAR) == Range(0, 255)
    assert ranges.narrow(ctype.BOOL) == Range(0, 1) and ranges.narrow(ctype.INT) is None and ranges.narrow(None) is None
    assert ranges.within((0, 9), Range(0, 9)) and not ranges.within((0, None), Range(0, 9))
