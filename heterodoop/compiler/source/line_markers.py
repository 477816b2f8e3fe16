"""Which line of which file every line of preprocessed text came from, whatever `#line` says there.

Generators (re2c, flex, bison) write `#line`: from there on a compiler counts the lines of another file. Places of ours are
those of the file that was read: it is looked through for such directives, and a marker of the preprocessor's output that
says what one of them says is that directive. Not here: running the preprocessor (`preprocess`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from ...source import SourceFile, SourceMap
from ...values import dataclass

_MARKER = re.compile(r'#\s*(?:line\s+)?(\d+)\s+"((?:[^"\\]|\\.)*)"((?:\s+\d+)*)\s*$')
_DIRECTIVE = re.compile(
    r'\s*(?:#|%:)\s*(?:line\b\s*|(?=\d))(?:(\d+)\s*(?:"((?:[^"\\]|\\.)*)"((?:\s+\d+)*))?\s*(?:/[/*].*)?$)?'
)
_ESCAPE = re.compile(r"\\([0-7]{1,3}|.)", re.DOTALL)
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "v": "\v", "f": "\f", "a": "\a", "b": "\b"}
_C23 = re.compile(r"\b__isoc23_(\w+)")
_ENTERED, _LEFT, _SYSTEM = "1", "2", "3"


@dataclass(frozen=True)
class PpLine:
    """A line of preprocessed text. `system`: from a system header, or one of the stand-ins for those."""

    file: str
    line: int
    text: str
    system: bool


@dataclass(frozen=True)
class _Directive:
    """A `#line` on line `at` of its file: the next line is `line` of `name`. None: a macro says it, or the name stays.

    flags  of a marker that a preprocessor has left in the user's file.
    """

    at: int
    line: int | None
    name: str | None
    flags: frozenset[str]


@dataclass(frozen=True)
class _Section:
    """A part of a file, from its line `start` on, that counts as `line` and the following ones of `name`.

    system  its text is a system header's; foreign: so is the file.
    """

    file: str
    start: int
    name: str
    line: int
    system: bool
    foreign: bool = False

    def place(self, line: int) -> int:
        return self.start + line - self.line


class _Markers:
    """Follows the markers of one preprocessed text; see `read_lines`."""

    def __init__(self, names: Mapping[str, str], sources: SourceMap, headers: str) -> None:
        self._names, self._sources, self._headers = names, sources, headers
        self._section = _Section("", 1, "", 1, False)
        self._outer: list[_Section] = []
        self._directives: dict[str, tuple[_Directive, ...]] = {}
        self.line = 1
        self.files: dict[str, None] = {}

    @property
    def file(self) -> str:
        return self._section.file

    @property
    def system(self) -> bool:
        return self._section.system

    def take(self, text: str) -> bool:
        """Follow a marker; False for any other line."""
        marker = _MARKER.match(text)
        if marker is None:
            return False
        name = unescaped(marker[2])
        if not name.endswith("//"):  # -g: the folder in which the compiler runs
            self._move(name, int(marker[1]), frozenset(marker[3].split()))
        return True

    def _move(self, name: str, line: int, flags: frozenset[str]) -> None:
        directive = self._directive(name, line, flags & {_ENTERED, _LEFT})
        if directive is not None:
            self._section = _Section(self.file, directive.at + 1, name, line, _SYSTEM in flags)
        elif _ENTERED in flags:
            self._outer.append(self._section)
            self._enter(name, line, flags)
        elif _LEFT in flags and self._outer:
            self._section = self._outer.pop()
            if self._section.name != name:
                self._enter(name, line, flags)
        elif name != self._section.name:
            self._enter(name, line, flags)
        self.line = self._section.place(line)

    def _enter(self, name: str, line: int, flags: frozenset[str]) -> None:
        file = self._names.get(name, name)
        stand_in = bool(self._headers) and name.startswith(self._headers + os.sep)
        system = stand_in or _SYSTEM in flags or file.startswith("<")
        self._section = _Section(file, line, name, line, system, system or name.startswith("<"))
        if not self.system:
            self.files[file] = None

    def _directive(self, name: str, line: int, flags: frozenset[str]) -> _Directive | None:
        """The next `#line` of the file that says so; one that a macro spells, where nothing else explains the marker."""
        ahead = [d for d in self._of_file() if d.at >= self.line]
        skips = name == self._section.name and self._section.place(line) >= self.line
        for directive in ahead:
            says = self._section.name if directive.name is None else directive.name
            if (directive.line, says, directive.flags) == (line, name, flags):
                return None if skips and self._says_something(self._section.place(line), directive.at) else directive
        explained = skips or flags or name.startswith("<") or name in self._names
        return None if explained else next((d for d in ahead if d.line is None), None)

    def _says_something(self, line: int, end: int) -> bool:
        """Is there text on the file's line, which stands before `end`? Then a marker leads to it and not beyond."""
        source = self._sources.get(self.file)
        text = source.line(line).strip() if source and line < end else ""
        return bool(text) and not text.startswith(("#", "%:", "/*", "//"))

    def _of_file(self) -> tuple[_Directive, ...]:
        if self._section.foreign or not self.file:
            return ()
        if self.file not in self._directives:
            source = self._sources.get(self.file)
            self._directives[self.file] = _directives(source) if source else ()
        return self._directives[self.file]


def _directives(source: SourceFile) -> tuple[_Directive, ...]:
    found = []
    for number, text in enumerate(source.lines(), 1):
        match = _DIRECTIVE.match(text) if "#" in text or "%:" in text else None
        if match:
            flags = frozenset((match[3] or "").split()) & {_ENTERED, _LEFT}
            name = None if match[2] is None else unescaped(match[2])
            found.append(_Directive(number, int(match[1]) if match[1] else None, name, flags))
    return tuple(found)


def unescaped(name: str) -> str:
    """A marker's file name; the bytes of a character beyond ASCII are escaped one by one."""
    plain = _ESCAPE.sub(_unescape, name)
    return os.fsdecode(plain.encode("utf-8", "surrogateescape"))


def _unescape(match: re.Match[str]) -> str:
    code = match[1]
    if code[0] not in "01234567":
        return _SIMPLE.get(code, code)
    return bytes([int(code, 8) & 0xFF]).decode("utf-8", "surrogateescape")


def read_lines(
    text: str, names: Mapping[str, str], sources: SourceMap, headers: str = "", *, system: bool = True,
) -> tuple[list[PpLine], list[str]]:
    """Preprocessed text by lines, with their places in the files that were read; and the user's files among these.

    names    path as passed to the compiler -> the user's spelling.
    sources  the user's files, in which `#line` is looked for.
    headers  folder of the stand-ins, "" = none.
    system   give the lines of system headers, too.
    """
    markers = _Markers(names, sources, headers)
    lines: list[PpLine] = []
    for row in text.split("\n"):
        if row.startswith("#") and markers.take(row):
            continue
        if system or not markers.system:
            lines.append(PpLine(markers.file, markers.line, row, markers.system))
        markers.line += 1
    return lines, list(markers.files)


def c23_functions(text: str) -> frozenset[str]:
    """Functions that the system's headers lead to those of C23: newer glibc's lead strtol to __isoc23_strtol."""
    return frozenset(_C23.findall(text))
