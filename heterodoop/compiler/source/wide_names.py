"""Identifiers with letters beyond ASCII, as C11 allows them: `größe`, `gr\\u00f6\\u00dfe`. Our C parser takes neither.

From the parser on such a letter is `__hduXXX_`, XXX its number in hexadecimal; what a person reads has the letter again, and
what a C compiler gets of the user's own source the number in C's spelling.
"""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

_ESCAPED = r"\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}"
NAME = rf"(?:[^\W\d]|\$|{_ESCAPED})(?:[\w$]|{_ESCAPED})*"
_TOKEN = re.compile(
    rf"""(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*"|(?:u8|[uUL])?'(?:[^'\\\n]|\\.)*'|(?P<name>{NAME})""", re.DOTALL)
_WIDE = re.compile(rf"(?P<escaped>{_ESCAPED})|[^\x00-\x7f]")
_MADE = re.compile(r"__hdu([0-9a-f]+)_")
_Shown = TypeVar("_Shown")


def plain(name: str) -> str:
    """The name as the parser gets it."""
    return _WIDE.sub(_encode, name)


def plain_text(text: str) -> str:
    """A line of preprocessed C with such names only; literals stay."""
    if text.isascii() and "\\" not in text:
        return text
    return _TOKEN.sub(lambda found: plain(found["name"]) if found["name"] else found[0], text)


def in_c(text: str) -> str:
    """C text with names as every C compiler takes them."""
    return _MADE.sub(lambda found: f"\\U{int(found[1], 16):08x}", text)


def shown(value: _Shown) -> _Shown:
    """A text, or a dataclass or tuple of texts, with the letters that the user wrote."""
    changed: Any = value
    if isinstance(value, str):
        changed = _MADE.sub(lambda found: chr(int(found[1], 16)), value)
    elif isinstance(value, tuple):
        items = [shown(item) for item in value]
        changed = type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    elif is_dataclass(value) and not isinstance(value, type):
        changed = replace(value, **{field.name: shown(getattr(value, field.name)) for field in fields(value)})
    return changed  # type: ignore[no-any-return]


def _encode(found: re.Match[str]) -> str:
    number = int(found["escaped"][2:], 16) if found["escaped"] else ord(found[0])
    return f"__hdu{number:x}_"
