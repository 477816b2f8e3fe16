"""What the C compiler is asked about a program, `cc -E` above all, and finding where a token of its output stands in the
original line (macros and comments shift columns).

Not here: which line of which file an output line came from (`line_markers`), removing what the parser cannot take (`clean`).
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from pathlib import Path

from ... import resources
from ...source import SourceMap
from ...together import Threads
from ...toolchain import cc as toolchain
from ...toolchain import compiler_words, kept
from ...toolchain.cc import CcOptions, CompilerPlace
from ...toolchain.languages import is_cplusplus, word
from ...values import dataclass
from .line_markers import PpLine
from .wide_names import plain

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
class CcRuns:
    """The commands that the front end needs; the first two are begun with it, and none waits for another.

    judged     the compiler's judgement of the program.
    stand_ins  the program preprocessed with headers of ours.
    real       runs the same with the system's headers (`frontend` says when).
    """

    judged: Future[toolchain.Output]
    stand_ins: Future[toolchain.Output]
    real: Callable[[], toolchain.Output]

    @classmethod
    def begin(
        cls, path: str | os.PathLike[str], options: CcOptions, work: Threads, into: Path | None = None,
    ) -> CcRuns:
        """Judge the program by compiling it `into` an object, without one by looking at it. Raises as `compiler_of`.

        C++ is seen with the system's headers alone.
        """
        cc, place, name = toolchain.compiler_of(path), CompilerPlace.of([path]), os.fspath(path)
        headers = str(resources.find("runtime", "headers"))
        stand_ins = work.begin(preprocess, cc, name, options, place, headers="" if is_cplusplus(path) else headers)
        if into is None:
            judged = work.begin(_check_syntax, cc, name, options, place)
        else:
            judged = work.begin(kept.compile_object, name, into, options)
        return cls(judged, stand_ins, partial(preprocess, cc, name, options, place))

    @classmethod
    def given(cls, path: str, text: str) -> CcRuns:
        """Of a program that is preprocessed already, and right: no command runs. `path`: whose lines these are."""
        output: Future[toolchain.Output] = Future()
        output.set_result(toolchain.Output(0, f'# 1 "{path}"\n{text}', ""))
        silence: Future[toolchain.Output] = Future()
        silence.set_result(toolchain.Output(0, "", ""))
        return cls(silence, output, output.result)


def _check_syntax(cc: Sequence[str], path: str, options: CcOptions, place: CompilerPlace) -> toolchain.Output:
    flags = [*place.options(options).language_flags(cplusplus=is_cplusplus(path)), *toolchain.TOLERANT]
    words = [*cc, "-fsyntax-only", "-ftabstop=1", *flags, "-x", word(path), place.path(path)]
    return toolchain.run(words, cwd=place.cwd)


def preprocess(
    cc: Sequence[str], path: str, options: CcOptions, place: CompilerPlace, *, headers: str = "",
) -> toolchain.Output:
    """Run `cc -E` on a file, with the macros that it defines left in (`is_macro`).

    headers  folder of stand-in headers to use instead of the system's, "" = the system's.
    """
    if not headers:
        words = _words(cc, place.options(options), cplusplus=is_cplusplus(path))
        return toolchain.run([*words, "-dD", place.path(path)], cwd=place.cwd)
    options, environment = _before_stand_ins(cc, options)
    words = _words(cc, place.options(replace(options, includes=(*options.includes, headers))))
    return toolchain.run([*words, "-dD", "-nostdinc", place.path(path)], cwd=place.cwd, environ=environment)


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


def _words(cc: Sequence[str], options: CcOptions, *, cplusplus: bool = False) -> list[str]:
    # -g3 would print all macros
    flags = [*options.language_flags(cplusplus=cplusplus), "-g0", "-w", "-fno-diagnostics-color"]
    return [*compiler_words.quiet(cc), "-E", "-ftabstop=1", *flags, "-x", "c++" if cplusplus else "c"]


def is_macro(line: PpLine) -> bool:
    """Does the preprocessor say there that it defines a macro, or no longer has it?"""
    return line.text.startswith(("#define ", "#undef "))


def active_lines(lines: Iterable[PpLine]) -> set[tuple[str, int]]:
    """The lines of user files that conditional compilation left something of, macros included; pragmas aside."""
    return {
        (line.file, line.line) for line in lines
        if not line.system and line.text.strip() and (is_macro(line) or not line.text.lstrip().startswith("#"))
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
                    found.setdefault(plain(match[0]) if match["name"] else match[0], []).append(match.start() + 1)
        return found
