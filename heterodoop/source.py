"""Source files and places in them. Positions are what every stage needs, so this module imports nothing.

Lines and columns count from 1; a column counts characters of the line as decoded, a tab as one.
"""

from __future__ import annotations

import os
from dataclasses import field

from .values import dataclass


@dataclass(frozen=True, order=True)
class Span:
    """Part of one line: columns [col, end). `col` 0 means that only the line is known, `line` 0 that only the file is."""

    file: str
    line: int
    col: int = 0
    end: int = 0

    def __str__(self) -> str:
        if not self.line:
            return self.file
        place = f"{self.file}:{self.line}"
        return f"{place}:{self.col}" if self.col else place


UNKNOWN = Span("<unknown>", 0)


@dataclass
class SourceFile:
    """One file of the user's program. Bytes that are not UTF-8 survive as surrogate escapes."""

    path: str
    text: str
    _lines: list[str] = field(default_factory=list, repr=False)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> SourceFile:
        """Read a file; raises OSError as `open` does."""
        with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
            return cls(os.fspath(path), file.read())

    def line(self, number: int) -> str:
        """Line `number` (from 1) without its end; "" where there is none."""
        lines = self.lines()
        return lines[number - 1] if 1 <= number <= len(lines) else ""

    def lines(self) -> list[str]:
        """All lines without their ends."""
        if not self._lines:
            self._lines = self.text.replace("\r\n", "\n").split("\n")
        return self._lines


class SourceMap:
    """The files of one compilation by path, read on first use so that messages can show their lines."""

    def __init__(self) -> None:
        self._files: dict[str, SourceFile | None] = {}

    def add(self, file: SourceFile) -> None:
        self._files[file.path] = file

    def get(self, path: str) -> SourceFile | None:
        """The file, or None where it cannot be read (a compiler's built-in text, say)."""
        if path not in self._files:
            try:
                self._files[path] = SourceFile.read(path)
            except (OSError, ValueError):
                self._files[path] = None
        return self._files[path]

    def line(self, span: Span) -> str:
        file = self.get(span.file)
        return file.line(span.line) if file else ""
