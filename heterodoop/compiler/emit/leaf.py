"""Constants as CUDA text: numbers, characters, strings, each of the C type that it has in the IR."""

from __future__ import annotations

from ..ir import ir, names
from ..types import ctype
from ..types.ctype import Float, Int, Pointer
from .types import declare

PREC = {
    ",": 1, "=": 2, "?": 3, "||": 4, "&&": 5, "|": 6, "^": 7, "&": 8, "==": 9, "!=": 9, "<": 10, ">": 10, "<=": 10, ">=": 10,
    "<<": 11, ">>": 11, "+": 12, "-": 12, "*": 13, "/": 13, "%": 13, "unary": 14, "postfix": 15, "atom": 16,
}
UNARY = PREC["unary"]
_CHARS = {0: "\\0", 9: "\\t", 10: "\\n", 13: "\\r", 39: "\\'", 92: "\\\\"}
_SUFFIX = {"int": "", "unsigned int": "U", "long": "L", "unsigned long": "UL", "long long": "LL",
           "unsigned long long": "ULL"}
Text = tuple[str, int]  # and how tightly it binds


def const(node: ir.Const) -> Text:
    kind = node.type
    if isinstance(kind, Float):
        return _floating(float(node.value), kind)
    if isinstance(kind, Pointer):
        return ("nullptr", PREC["atom"]) if node.value == 0 else (f"({declare(kind)}){node.value}L", UNARY)
    assert isinstance(kind, Int)
    number = int(node.value)
    if kind == ctype.BOOL:
        return ("true" if number else "false"), PREC["atom"]
    if kind == ctype.CHAR and (letter := character(number)):
        return letter, PREC["atom"]
    if kind.name not in _SUFFIX:
        return f"({declare(kind)}){number}", UNARY
    suffix = _SUFFIX[kind.name]
    if kind.signed and number == -(1 << (kind.bits - 1)):
        return f"(-{-(number + 1)}{suffix} - 1)", PREC["atom"]
    return f"{number}{suffix}", UNARY if number < 0 else PREC["atom"]


def _floating(number: float, kind: Float) -> Text:
    if number != number or number in (float("inf"), float("-inf")):
        sign, name = ("-" if number < 0 else ""), "nan" if number != number else "inf"
        argument = '""' if name == "nan" else ""
        return f"{sign}__builtin_{name}{'f' if kind.bits == 32 else ''}({argument})", UNARY
    text = repr(number) + ("f" if kind.bits == 32 else "")
    return text, UNARY if text.startswith("-") else PREC["atom"]


def character(number: int) -> str:
    """A character literal, "" for what is not printable."""
    if number in _CHARS:
        return f"'{_CHARS[number]}'"
    return f"'{chr(number)}'" if 32 <= number < 127 else ""


def string(data: bytes) -> str:
    """A literal of these bytes; `??` is kept from being a trigraph."""
    return names.escape(data).replace("??", "?\\?")
