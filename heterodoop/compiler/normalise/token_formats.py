"""Which formats of scanf read a line's words one after the other, so that a mapper's record is a line.

    "%31s"   "%d"   "%31s %lf"   " %99[^\\n]"   "%d,%d"        none: "%c"   "%31s "   "%99[^,]"   "%[^\\n]"

Such a call passes over white space first, and what it takes last ends before a line's end: it takes of one line, unless the
line has not all that it wants. The reader of a record finds that, and leaves the task to the filter.
"""

from __future__ import annotations

from ..ir import formats

_WORDS = "sdiuoxXfFeEgGaA["  # conversions that end before what they do not take
_APART = "read lines by fgets, and take them apart by sscanf"


def why_no_tokens(text: bytes) -> str:
    """Why a format is none of these, with what to write instead; "" for one that is."""
    parts = formats.split_scanf(text) or []
    wanted = [part for part in parts if part.letter != " "]
    plain = all(part.letter in _WORDS and not (part.letter in "s[" and part.length) for part in wanted if part.letter != "=")
    if not any(part.stores for part in wanted) or not plain:
        return f"it has conversions that do not end with a line: {_APART}"
    if parts[-1].letter == " ":
        return "the white space at its end takes the beginning of the next lines, too: leave it out"
    if parts[-1].letter == "=":
        return f"the text at its end may stand in the next line: {_APART}"
    if any(part.letter == "[" and _holds(part.text, 10) for part in wanted):
        return "its %[ takes line ends, too: put \\n among what it stops at"
    if parts[0].letter in "[=":
        return "it does not pass over the end of the line before: write a blank before its first %"
    return ""


def may_take_nothing(text: bytes) -> bool:
    """May a call of such a format give 0, at a place where the next call will find the same?"""
    wanted = [part for part in formats.split_scanf(text) or [] if part.letter != " "]
    return not wanted or wanted[0].letter != "s"


def _holds(text: bytes, byte: int) -> bool:
    """Does a set of scanf, `[a-z]` or `[^,\\n]`, hold the byte?"""
    inside = text[1:-1].removeprefix(b"^")
    held = set(inside)
    for at in range(len(inside) - 2):
        if inside[at + 1 : at + 2] == b"-":
            held |= set(range(inside[at], inside[at + 2] + 1))
    return (byte in held) != text.startswith(b"[^")
