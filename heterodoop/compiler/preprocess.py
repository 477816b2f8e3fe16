"""Running `cc -E` and reading its output: which line of which file every output line came from.

Also finds where a token of the output stands in the original line (macros and comments shift columns). Not here:
removing what the parser cannot take (`clean`).
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from .. import toolchain
from ..source import SourceMap
from ..toolchain import CcOptions, Place

_MARKER = re.compile(r'#\s*(?:line\s+)?(\d+)\s+"((?:[^"\\]|\\.)*)"((?:\s+\d+)*)\s*$')
_ESCAPE = re.compile(r"\\([0-7]{1,3}|.)", re.DOTALL)
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "v": "\v", "f": "\f", "a": "\a", "b": "\b"}

TOKEN = re.compile(
    r"""(?P<comment>/\*.*?(?:\*/|\Z)|//[^\n]*)
    |(?P<raw>(?:u8|[uUL])?R"(?P<delim>[^\s()\\]{0,16})\(.*?\)(?P=delim)")
    |(?P<string>(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*")
    |(?P<char>(?:u8|[uUL])?'(?:[^'\\\n]|\\.)*')
    |(?P<name>[^\W\d][\w$]*|\$[\w$]*)
    |(?P<number>\.?\d(?:[eEpP][+-]|'?[\w.])*)
    |(?P<punct>\.\.\.|<<=|>>=|->|\+\+|--|&&|\|\||<:|:>|<%|%>|::|<<|>>|[-+*/%&|^<>=!]=|[^\s\w])""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class PpLine:
    """A line of preprocessed text. `system`: from a system header, or one of the stand-ins for those."""

    file: str
    line: int
    text: str
    system: bool


def preprocess(cc: Sequence[str], path: str, options: CcOptions, place: Place, *, headers: str = "") -> toolchain.Output:
    """Run `cc -E` on a file. headers: folder of stand-in headers to use instead of the system's, "" = the system's."""
    if not headers:
        return toolchain.run([*_words(cc, place.options(options)), place.path(path)], cwd=place.cwd)
    options, environment = _before_stand_ins(cc, options)
    words = _words(cc, place.options(replace(options, includes=(*options.includes, headers))))
    return toolchain.run([*words, "-nostdinc", place.path(path)], cwd=place.cwd, environ=environment)


def _before_stand_ins(cc: Sequence[str], options: CcOptions) -> tuple[CcOptions, dict[str, str]]:
    """Options and environment for stand-ins that are the last -I, where the system's headers would come.

    Behind the user's folders, -I and CPATH, without those that are the compiler's own: it ignores one that is named again,
    but not where -nostdinc takes them away. Before all -isystem, by which a wrapper of a compiler that was moved names them.
    """
    paths = {name: os.environ[name] for name in toolchain.INCLUDE_VARIABLES if os.environ.get(name)}
    if not options.includes and not paths:
        return options, dict(os.environ)
    standard = toolchain.header_folders(tuple(cc))

    def others(folders: Iterable[str]) -> list[str]:
        return [folder or os.curdir for folder in folders if os.path.realpath(folder) not in standard]

    named = {name: others(value.split(os.pathsep)) for name, value in paths.items()}
    includes = (*others(options.includes), *named.pop("CPATH", ()))
    environment = {name: value for name, value in os.environ.items() if name not in paths}
    environment |= {name: os.pathsep.join(folders) for name, folders in named.items()}
    return replace(options, includes=includes), environment


def preprocess_text(cc: Sequence[str], text: str, options: CcOptions, folder: str) -> toolchain.Output:
    """Run `cc -E` on text as if it lay in a file in `folder`."""
    return toolchain.run([*_words(cc, toolchain.absolute(options)), "-"], stdin=text, cwd=folder)


def _words(cc: Sequence[str], options: CcOptions) -> list[str]:
    return [*cc, "-E", "-ftabstop=1", *options.preprocessor_flags(), "-x", "c"]


def read_lines(text: str, names: Mapping[str, str], headers: str = "") -> list[PpLine]:
    """Split preprocessed text by its line markers.

    names    path as passed to the compiler -> the user's spelling.
    headers  folder of the stand-ins, "" = none.
    """
    lines: list[PpLine] = []
    file, number, system = "", 1, False
    for line in text.split("\n"):
        marker = _MARKER.match(line)
        if marker:
            name = _unescaped(marker[2])
            stand_in = bool(headers) and name.startswith(headers + os.sep)
            file, number, system = names.get(name, name), int(marker[1]), stand_in or "3" in marker[3].split()
            continue
        lines.append(PpLine(file, number, line, system or file.startswith("<")))
        number += 1
    return lines


def _unescaped(name: str) -> str:
    """A marker's file name; the bytes of a character beyond ASCII are escaped one by one."""
    plain = _ESCAPE.sub(_unescape, name)
    return plain.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")


def _unescape(match: re.Match[str]) -> str:
    code = match[1]
    if code[0] not in "01234567":
        return _SIMPLE.get(code, code)
    return bytes([int(code, 8) & 0xFF]).decode("utf-8", "surrogateescape")


def user_files(text: str, names: Mapping[str, str]) -> list[str]:
    """The user's files that were read for preprocessed text, in the order they were first read."""
    markers = (m for m in map(_MARKER.match, text.split("\n")) if m and "3" not in m[3].split())
    files = (_unescaped(m[2]) for m in markers)
    return list(dict.fromkeys(names.get(file, file) for file in files if not file.startswith("<")))


def active_lines(lines: Iterable[PpLine]) -> set[tuple[str, int]]:
    """The lines of user files that conditional compilation left something of; pragmas aside."""
    return {
        (line.file, line.line) for line in lines
        if not line.system and line.text.strip() and not line.text.lstrip().startswith("#")
    }


class Columns:
    """Finds tokens of preprocessed lines in the original lines.

    The n-th `x` of a preprocessed line is the n-th `x` of the original one if both have equally many: else a macro
    made or took some, and no column is better than a wrong one.
    """

    def __init__(self, sources: SourceMap, lines: Iterable[PpLine]) -> None:
        self._sources = sources
        self._counts: dict[tuple[str, int], Counter[str]] = {}
        self._original: dict[tuple[str, int], dict[str, list[int]]] = {}
        for line in lines:
            if not line.system and line.text.strip():
                tokens = (m[0] for m in TOKEN.finditer(line.text))
                self._counts.setdefault((line.file, line.line), Counter()).update(tokens)

    def find(self, file: str, line: int, token: str, ordinal: int) -> int:
        """Column of the `ordinal`-th (from 0) occurrence of `token`, or 0 where it cannot be told."""
        columns = self._tokens(file, line).get(token, [])
        same = self._counts.get((file, line), Counter())[token] == len(columns)
        return columns[ordinal] if same and ordinal < len(columns) else 0

    def _tokens(self, file: str, line: int) -> dict[str, list[int]]:
        found = self._original.get((file, line))
        if found is None:
            found = self._original[file, line] = {}
            source = self._sources.get(file)
            for match in TOKEN.finditer(source.line(line) if source else ""):
                if not match["comment"]:
                    found.setdefault(match[0], []).append(match.start() + 1)
        return found
