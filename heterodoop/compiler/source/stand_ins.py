"""The declarations of the stand-in headers that a program names: no other one is parsed.

A header declares a hundred functions and a program calls five of them. Kept is what bears a name that stands anywhere in the
user's text, and what those declarations name in turn. Not here: the headers (runtime/headers), running the preprocessor.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import groupby

from ... import resources
from .line_markers import PpLine

_WORD = re.compile(r"[^\W\d][\w$]*")
_FUNCTION = re.compile(r"[\w\s*]*?(\w+)\s*\([^*]")  # not one that returns a pointer to a function, whose name is in brackets
_KEYWORDS = frozenset(
    "char const double enum extern float int long short signed static struct typedef union unsigned void volatile".split()
)


def named(lines: Sequence[PpLine], ours: Callable[[PpLine], bool], more: Iterable[str] = ()) -> list[PpLine]:
    """The lines without declarations of ours that nobody names.

    ours  is the line one of a stand-in header?
    more  further texts whose names count as the user's.
    Variables stay: what a user writes may be meant for one of them.
    """
    texts = [line.text for line in lines if not ours(line)]
    pending = {word for text in (*texts, *more) for word in _WORD.findall(text)}
    pieces = list(_pieces(lines, ours))
    declaring: dict[str, list[int]] = {}
    for number, piece in enumerate(pieces):
        for name in _declared(_text(piece)) if ours(piece[0]) else ():
            declaring.setdefault(name, []).append(number)
    kept = {n for n, piece in enumerate(pieces) if not ours(piece[0]) or _text(piece).lstrip().startswith("extern")}
    pending |= {word for n in kept if ours(pieces[n][0]) for word in _words(_text(pieces[n]))}
    seen: set[str] = set()
    while pending - seen:
        new = {n for word in pending - seen for n in declaring.get(word, ())} - kept
        seen |= pending
        kept |= new
        pending = {word for n in new for word in _words(_text(pieces[n]))}
    return [line for number, piece in enumerate(pieces) if number in kept for line in piece]


def to_declare(function: str) -> str:
    """What to write so that a function is declared, as far as the stand-ins know it; "" = they do not."""
    headers = resources.find("runtime", "headers")
    for path in sorted(headers.rglob("*.h")):
        asked = ""
        for line in path.read_text().splitlines():
            if line.startswith("#"):
                asked = line.removeprefix("#ifdef ") if line.startswith("#ifdef") else ""
            elif (found := _FUNCTION.match(line)) and found[1] == function:
                include = f"#include <{path.relative_to(headers).as_posix()}>"
                return f"#define {asked} before {include}" if asked else include
    return ""


def _text(piece: Sequence[PpLine]) -> str:
    return piece[0].text if len(piece) == 1 else "\n".join(line.text for line in piece)


def _pieces(lines: Sequence[PpLine], ours: Callable[[PpLine], bool]) -> Iterator[Sequence[PpLine]]:
    """The user's lines in one go; ours by declarations."""
    for is_ours, group in groupby(lines, ours):
        if not is_ours:
            yield list(group)
            continue
        piece: list[PpLine] = []
        depth = 0
        for line in group:
            if not line.text.strip():
                continue
            piece.append(line)
            depth += line.text.count("{") - line.text.count("}")
            # A macro may have spread a declaration over several lines; the last of a function that is defined is a brace.
            if depth <= 0 and (line.text.rstrip().endswith(";") or line.text == "}"):
                yield piece
                piece, depth = [], 0
        if piece:
            yield piece


@cache
def _declared(text: str) -> frozenset[str]:
    """Names that a declaration may declare: a function's own; every one that stands in any other."""
    defined = text.endswith("\n}")
    function = _FUNCTION.match(text) if (text.count(";") == 1 or defined) and not text.startswith("typedef") else None
    return frozenset({function[1]}) if function else _words(text)


@cache
def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text)) - _KEYWORDS
