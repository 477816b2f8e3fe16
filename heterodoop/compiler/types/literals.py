"""C's literals as values: integers, floats, characters and strings as pycparser spells them.

Pure functions over text, for the binder, the lowering and the constant evaluation. Wide strings are not decoded.
"""

from __future__ import annotations

import re
import struct

from . import ctype
from .ctype import CType, Int

_SIMPLE = {"n": 10, "t": 9, "r": 13, "a": 7, "b": 8, "f": 12, "v": 11, "e": 27, "E": 27, "\\": 92, "'": 39, '"': 34, "?": 63}
_ESCAPE = re.compile(r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]+)|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_PART = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_INT = re.compile(r"(0[xX][0-9a-fA-F']+|0[bB][01']+|[0-9][0-9']*)([uUlL]*)$")


class Unsupported(Exception):
    """A construct whose type or value HeteroDoop does not know; `node` (a pycparser node or None) has its place.

    Never reaches a user as it is: passes turn it into a `manifest.Reason` (why there is no analysis) or an error.
    """

    def __init__(self, what: str, node: object = None) -> None:
        super().__init__(what)
        self.what = what
        self.node = node


def decode(body: str) -> bytes:
    """The bytes between one pair of quotes, escapes resolved; characters outside ASCII are UTF-8, as gcc stores them."""
    out, pos = bytearray(), 0
    for match in _ESCAPE.finditer(body):
        out += body[pos : match.start()].encode("utf-8", "surrogateescape")
        octal, hexa, short, long_, plain = match.groups()
        if octal or hexa:
            out.append(int(octal or hexa, 8 if octal else 16) & 0xFF)
        elif short or long_:
            out += chr(int(short or long_, 16)).encode("utf-8", "surrogatepass")
        else:
            out.append(_SIMPLE.get(plain, ord(plain) & 0xFF))
        pos = match.end()
    return bytes(out + body[pos:].encode("utf-8", "surrogateescape"))


def string_prefix(value: str) -> str:
    """The encoding prefix of a string literal ("", "L", "u8", "u", "U")."""
    return value.split('"', 1)[0]


def string_bytes(value: str) -> bytes:
    """Bytes of a string literal (several adjacent ones too) without the final NUL. Raises Unsupported on wide ones."""
    if string_prefix(value) not in ("", "u8"):
        raise Unsupported("wide string")
    return b"".join(decode(part) for part in _PART.findall(value))


def string_type(value: str) -> CType:
    """Array type of a string literal, its NUL included."""
    prefix = string_prefix(value)
    if prefix in ("", "u8"):
        return ctype.Array(ctype.CHAR, len(string_bytes(value)) + 1)
    text = b"".join(decode(part) for part in _PART.findall(value)).decode("utf-8", "replace")
    unit = {"L": ctype.INT, "u": ctype.USHORT, "U": ctype.UINT}[prefix]
    length = len(text.encode("utf-16-le")) // 2 if prefix == "u" else len(text)
    return ctype.Array(unit, length + 1)


def char_value(value: str) -> int:
    """Value of a character constant, an int: `'\\xff'` is -1, `'ab'` is packed as gcc does. Wide ones raise Unsupported."""
    if not value.startswith("'"):
        raise Unsupported("wide character")
    packed = 0
    codes = decode(value[1:-1])
    for code in codes[-4:]:
        packed = packed << 8 | code
    return ctype.wrap(ctype.SCHAR if len(codes) == 1 else ctype.INT, packed)


def int_value(text: str) -> tuple[int, Int]:
    """Value and type of an integer constant by C17 6.4.4.1: the first type of its list that holds the value."""
    match = _INT.match(text)
    if not match:
        raise Unsupported(f"number {text}")
    digits, suffix = match[1].replace("'", ""), match[2].lower()
    decimal = not digits.startswith("0")
    value = int(digits, 0) if decimal or digits[1:2].lower() in ("x", "b") else int(digits, 8)
    pairs = [(ctype.INT, ctype.UINT), (ctype.LONG, ctype.ULONG), (ctype.LLONG, ctype.ULLONG)][suffix.count("l") :]
    for signed, unsigned in pairs:
        if "u" not in suffix and value < 1 << (signed.bits - 1):
            return value, signed
        if ("u" in suffix or not decimal) and value < 1 << unsigned.bits:
            return value, unsigned
    raise Unsupported(f"number {text}: too large")


def float_value(text: str) -> tuple[float, ctype.Float]:
    """Value and type of a floating constant; `f` ones are rounded to float. `long double` raises Unsupported."""
    body = text.replace("'", "")
    hexa = body.lower().startswith("0x")
    suffix = body[-1].lower()
    if suffix == "l":
        raise Unsupported("long double constant")
    single = suffix == "f"
    body = body[:-1] if single else body
    value = float.fromhex(body) if hexa else float(body)
    return (to_float(value), ctype.FLOAT) if single else (value, ctype.DOUBLE)


def to_float(value: float) -> float:
    """`value` rounded to the nearest single-precision number."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
