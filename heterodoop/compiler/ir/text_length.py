"""How long a text can be that sprintf writes: of the conversions whose longest text is known."""

from __future__ import annotations

import re
from collections.abc import Sequence

from . import formats

_SPEC = re.compile(r"%([-+ #0']*)(\d*)(?:\.(\d*))?")
_WIDE = frozenset({"l", "ll", "j", "z", "t", "q"})
_DIGITS = {"d": (11, 20), "i": (11, 20), "u": (10, 20), "o": (12, 23), "x": (10, 18), "X": (10, 18)}  # of 32 bits, of 64


def longest(parts: Sequence[bytes | formats.Conversion], strings: Sequence[int | None]) -> int | None:
    """Bytes of the longest text, without its NUL; None: not known.

    strings: for each conversion the most bytes of the string that it is given, None: not known, or it takes none.
    """
    total, at = 0, 0
    for part in parts:
        if isinstance(part, bytes):
            total += len(part)
            continue
        size = _conversion(part, strings[at])
        at += 1
        if size is None:
            return None
        total += size
    return total


def _conversion(part: formats.Conversion, text: int | None) -> int | None:
    match = _SPEC.match(part.spec)
    if part.stars or match is None or "'" in match[1]:
        return None
    width, precision = int(match[2] or 0), int(match[3] or 0) if match[3] is not None else None
    if part.letter == "c":
        return max(width, 1)
    if part.letter == "s":
        known = [n for n in (text, precision) if n is not None]
        return max(width, min(known)) if known else None
    if part.letter in _DIGITS:
        digits = _DIGITS[part.letter][part.length in _WIDE]
        return max(width, digits, (precision or 0) + 3)
    return None
