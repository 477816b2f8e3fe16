"""What the value of a setting may be: its form in words, its parser, and the type that Java reads it with."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

_MOST_INT = (1 << 31) - 1  # Java's

Java = Literal["int", "long", "boolean", "String"]


class Kind(NamedTuple):
    """`words`: for docs/job-settings.md. `parse`: text to value, ValueError with what it must be. `java`: its type there."""

    words: str
    parse: Callable[[str], Any]
    java: Java = "String"


def integer(low: int, high: int) -> Kind:
    def parse(text: str) -> int:
        if not re.fullmatch(r"[+-]?[0-9]{1,19}", text.strip()):
            raise ValueError("must be a whole number")
        value = int(text)
        if not low <= value <= high:
            raise ValueError(f"must be from {low} to {high}")
        return value

    words = f"{low} to {high}" if high < _MOST_INT else f"from {low}"
    return Kind(words, parse, "int" if high <= _MOST_INT else "long")


def choice(*names: str) -> Kind:
    def parse(text: str) -> str:
        if text.strip() not in names:
            raise ValueError(f"must be {', '.join(names[:-1])} or {names[-1]}")
        return text.strip()

    return Kind(", ".join(f"`{name}`" for name in names), parse)


def _bytes_or_auto(text: str) -> str:
    if text.strip() == "auto" or (re.fullmatch(r"[0-9]{1,18}", text.strip())):
        return text.strip()
    raise ValueError("must be a number of bytes, or auto")


def _boolean(text: str) -> bool:
    if text.strip().lower() not in ("true", "false"):
        raise ValueError("must be true or false")
    return text.strip().lower() == "true"


def _some(text: str) -> str:
    if not text:
        raise ValueError("must not be empty")
    return text


def _one_character(text: str) -> str:
    if len(text) != 1 or not text.isascii():
        raise ValueError("must be one ASCII character")
    return text


def _delimiter(text: str) -> bytes:
    return _some(text).encode("utf-8", "surrogateescape")


BYTES_OR_AUTO = Kind("from 0, `auto`", _bytes_or_auto)
BOOLEAN = Kind("true, false", _boolean, "boolean")
TEXT = Kind("text", lambda text: text or None)  # an empty one says nothing
ONE_CHARACTER = Kind("a character", _one_character)
SOME_TEXT = Kind("text", _some)
DELIMITER = Kind("bytes", _delimiter)
CLASS = Kind("a class", str)  # of Java: Hadoop says whether there is one
