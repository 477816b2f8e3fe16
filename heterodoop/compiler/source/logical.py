"""A directive's text as the C preprocessor sees it, with the place of every character in the original file.

Joins lines that end in a backslash and replaces comments by one blank (C17 5.1.1.2, phases 2 and 3).
"""

from __future__ import annotations

import re

from ...source import SourceFile, Span
from ...values import dataclass

_PRAGMA = re.compile(r"(?:#|%:)\s*pragma\s+(?=mapreduce\b)")
_OPERATOR = re.compile(r'_Pragma\s*\(\s*(?:L|u8|u|U)?"((?:[^"\\]|\\.)*)"\s*\)')


@dataclass(frozen=True)
class SourceText:
    """Characters and, for each, its (line, column); column 0 = only the line is known."""

    file: str
    chars: str
    places: tuple[tuple[int, int], ...]

    def span(self, start: int, end: int) -> Span:
        """Place of chars[start:end], cut at the end of its first line. `start` may be the text's end."""
        if start >= len(self.places):
            line, col = self.places[-1] if self.places else (0, 0)
            return Span(self.file, line, col + 1, col + 2) if col else Span(self.file, line)
        line, col = self.places[start]
        if not col:
            return Span(self.file, line)
        last = start
        while last + 1 < min(end, len(self.places)) and self.places[last + 1][0] == line:
            last += 1
        return Span(self.file, line, col, self.places[last][1] + 1)

    def cut(self, start: int, end: int | None = None) -> SourceText:
        return SourceText(self.file, self.chars[start:end], self.places[start:end])


def unplaced(file: str, line: int, chars: str) -> SourceText:
    """Text that stands nowhere in the file (a macro made it): only its line is known."""
    return SourceText(file, chars, ((line, 0),) * len(chars))


def pragma_text(source: SourceFile, line: int, fallback: str, ordinal: int) -> tuple[SourceText, Span]:
    """The text after `#pragma` or inside `_Pragma("")` for a directive that the preprocessor reported on `line`.

    fallback  the preprocessor's own text of it, used where the line does not spell it out (macros).
    ordinal   which `_Pragma("mapreduce` of the line it is, from 0.
    Returns the text from `mapreduce` on, and the span of the `#pragma` or `_Pragma` word.
    """
    logical = scan(source, line)
    match = _PRAGMA.search(logical.chars)
    if match:
        return logical.cut(match.end()), logical.span(match.start(), match.end() - 1)
    operators = [m for m in _OPERATOR.finditer(logical.chars) if m[1].lstrip().startswith("mapreduce")]
    if ordinal < len(operators):
        found = operators[ordinal]
        start = found.start(1) + len(found[1]) - len(found[1].lstrip())
        if "\\" not in found[1]:
            return logical.cut(start, found.end(1)), logical.span(found.start(), found.start() + len("_Pragma"))
    return unplaced(source.path, line, fallback), Span(source.path, line)


def scan(source: SourceFile, line: int) -> SourceText:
    """The logical line that starts at physical line `line`."""
    return _scan(source, line)[0]


def last_line(source: SourceFile, line: int) -> int:
    """The physical line on which the logical line that starts at `line` ends; a `//` comment may be continued too."""
    last = _scan(source, line)[1]
    while source.line(last).rstrip().endswith("\\") and last <= source.text.count("\n"):
        last += 1
    return last


def operator_span(source: SourceFile, span: Span) -> Span | None:
    """The whole `_Pragma("...")` whose first word has the span; None where it is not on one line."""
    text = source.line(span.line)
    match = _OPERATOR.match(text, span.col - 1)
    return Span(span.file, span.line, match.start() + 1, match.end() + 1) if match else None


def _scan(source: SourceFile, line: int) -> tuple[SourceText, int]:
    chars: list[str] = []
    places: list[tuple[int, int]] = []
    text, col = source.line(line), 1
    quote = ""
    while True:
        rest = text[col - 1 :]
        if rest in ("\\", "") or (rest[0] == "\\" and not rest[1:].strip()):
            if not rest:
                break
            line, col = line + 1, 1
            text = source.line(line)
            if not text:
                break
            continue
        if not quote and rest.startswith("/*"):
            chars.append(" ")
            places.append((line, col))
            line, col = _comment_end(source, line, col + 1)
            text = source.line(line)
            continue
        if not quote and rest.startswith("//"):
            break
        if rest[0] == "\\" and quote:
            chars.append(rest[0])
            places.append((line, col))
            rest, col = rest[1:], col + 1
        elif rest[0] in "\"'":
            quote = "" if quote == rest[0] else quote or rest[0]
        chars.append(rest[0])
        places.append((line, col))
        col += 1
    return SourceText(source.path, "".join(chars), tuple(places)), line


def _comment_end(source: SourceFile, line: int, col: int) -> tuple[int, int]:
    """Place after the `*/` that ends a comment whose `/*` ends before `col` of `line`."""
    last = source.text.count("\n") + 1
    while line <= last:
        end = source.line(line).find("*/", col)
        if end >= 0:
            return line, end + 3
        line, col = line + 1, 0
    return last, len(source.line(last)) + 1
