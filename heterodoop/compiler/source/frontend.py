"""C source file -> Unit: the parsed program, its directives, and why it could not be parsed where that is so.

A C compiler judges the C, with real headers (`preprocess`). What pycparser then sees is the same file preprocessed
against stand-in headers of ours, cleaned of what it cannot take. Where that fails the program has a `refusal`: it is not
analysed, and still runs on the CPU. Non-goals: meaning of the directives (`bind`), types (`types.table`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from pycparser import c_ast

from ... import resources
from ...diag import Diagnostic, Sink
from ...errors import UsageError, UserError
from ...manifest import Reason
from ...source import SourceFile, SourceMap, Span
from ...together import Threads
from ...toolchain import cc
from ...toolchain.cc import CcOptions, CompilerPlace
from . import macros
from .clean import PRAGMA, PRELUDE, Cleaned, FoundConstruct, clean
from .directive import Directive, close_match, parse_directive, unexpanded, with_expanded
from .line_markers import PpLine, c23_functions, read_lines
from .logical import pragma_text
from .parse import ParseFailure, parse
from .preprocess import TOKEN, CcRuns, Columns, active_lines, is_macro, preprocess_text
from .stand_ins import named
from .wide_names import plain_text

_PRAGMA_WORD = re.compile(r"\s*#\s*pragma\s+(\w+)")
_HOPELESS = ("HD108", "HD109", "HD300")  # with them it is not worth looking at what the directives name
_BUILT_IN = "<built-in>"
# Directives that another set of headers may answer otherwise, and functions that newer headers lead to others.
_CONDITION = re.compile(
    r"(?:#|%:|\?\?=)(?:\s|\\\n|/\*.*?\*/)*(?:if|include_next|import|include\b(?!\s*[<\"]))|\?\?/", re.DOTALL,
)
_LED = re.compile(r"strto|wcsto|scanf")
_MISSING = re.compile(r"(?P<header>.*): (?:No such file or directory|file not found)")


@dataclass
class Unit:
    """One source file after the front end.

    ast         pycparser's tree, or None: then `refusal` says why. Node coordinates are those of the user's files.
                A `Pragma` node with string "mapreduce N" stands for `directives[N]`; no other pragmas are left.
    directives  the active directives, in source order, from the original text.
    deps        the user's files that were read, the source file first.
    warnings    what the C compiler warned of.
    errors      what is wrong with the directives by themselves (HD101-HD107); `bind` adds what else there is.
    newer       functions that the system's headers lead to those of C23 (`library`).
    """

    path: str
    ast: c_ast.FileAST | None
    refusal: Reason | None
    sources: SourceMap
    directives: list[Directive]
    deps: list[str]
    warnings: list[Diagnostic] = field(default_factory=list)
    errors: list[Diagnostic] = field(default_factory=list)
    newer: frozenset[str] = frozenset()

    def span(self, node: c_ast.Node) -> Span:
        """Place of a node's first token in the user's file (its line only, where a macro made it)."""
        coord = node.coord
        if coord is None:
            child = next((c for _, c in node.children() if c.coord is not None), None)
            if child is None:
                return Span(self.path, 1)
            coord = child.coord
        return token_span(self.sources, coord.file, coord.line, coord.column or 0)


def token_span(sources: SourceMap, file: str, line: int, col: int) -> Span:
    """Span of the token that starts at a place; the line alone where `col` is 0."""
    source = sources.get(file) if col else None
    token = TOKEN.match(source.line(line), col - 1) if source else None
    return Span(file, line, col, col + len(token[0])) if token else Span(file, line)


def load(path: str | os.PathLike[str], options: CcOptions, runs: CcRuns | None = None) -> Unit:
    """Read, check and parse one C file.

    runs  the compiler's first commands for it, if they were begun already.
    Raises UserError with what the C compiler finds (HD300), together with what is wrong with the directives, or where one
    of them belongs to no program (HD101, HD109); UsageError where the file cannot be read; ToolError where there is no
    working C compiler.
    """
    name = os.fspath(path)
    source = _read(name)
    if runs is None:
        with Threads() as work:
            return load(path, options, CcRuns.begin(path, options, work))
    loader = _Loader(source, options, runs)
    deps, warnings, directives, errors = loader.check()
    ast, refusal = loader.parse(directives)
    return Unit(name, ast, refusal, loader.sources, directives, deps, warnings, errors, loader.newer)


def unread(path: str | os.PathLike[str], why: Reason) -> Unit:
    """A file of which nothing is known, but why."""
    return Unit(os.fspath(path), None, why, SourceMap(), [], [os.fspath(path)])


def _read(name: str) -> SourceFile:
    try:
        return SourceFile.read(name)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(f"cannot read {name}: {why}", code="HD302") from None


class _Loader:
    def __init__(self, source: SourceFile, options: CcOptions, runs: CcRuns) -> None:
        self.sources = SourceMap()
        self.sources.add(source)
        self._source, self._options, self._runs = source, options, runs
        self._cc = cc.find_cc()
        self._names = {CompilerPlace.of([source.path]).path(source.path): source.path}
        self._headers = str(resources.find("runtime", "headers"))
        self._lines: list[PpLine] = []  # as preprocessed with these
        self._refusal: Reason | None = None
        self.newer: frozenset[str] = frozenset()

    def check(self) -> tuple[list[str], list[Diagnostic], list[Directive], list[Diagnostic]]:
        """The files that the program is of, the compiler's warnings, the directives and their errors.

        Raises UserError with all errors where the program is no C, or a directive is of no kind: nothing can be bound then.
        """
        sink = Sink()
        try:
            warnings = cc.check(self._cc[0], self._runs.judged.result(), self._names)
        except UserError as error:
            sink.extend(error.diagnostics)
        lines, files = self._read(sink)
        directives = self._directives(lines, sink)
        if any(d.code == "HD108" for d in sink.errors):  # the brace that the compiler misses is all it complains about
            sink.diagnostics = [d for d in sink.diagnostics if d.code != "HD300"]
        found = [directive for directive in directives if directive is not None]
        if len(found) < len(directives) or any(d.code in _HOPELESS for d in sink.errors):
            sink.raise_errors()
        deps = list(dict.fromkeys([self._source.path, *filter(os.path.isfile, files)]))
        return deps, warnings, self._expand(found), sink.errors

    def _read(self, sink: Sink) -> tuple[list[PpLine], list[str]]:
        """The preprocessed text, and the files it is of. Sets `_refusal` where the stand-in headers show another program.

        One run of the preprocessor, with the stand-in headers, is enough where nothing depends on which headers there are.
        """
        result = self._runs.stand_ins.result()
        files: list[str] = []
        if result.returncode == 0:
            self._lines, files = read_lines(result.stdout, self._names, self.sources, self._headers)
            if not self._depends_on_headers(files):
                self.newer = c23_functions(result.stdout)
                return [line for line in self._lines if not line.system], files
        real = self._runs.real()
        if sink.errors and real.returncode != 0:
            sink.raise_errors()
        cc.check(self._cc[0], real, self._names)
        self.newer = c23_functions(real.stdout)
        lines, files = read_lines(real.stdout, self._names, self.sources, system=False)
        self._refusal = self._preprocessor_refusal(result) or self._other_code(lines, self._lines)
        return lines, files

    def _depends_on_headers(self, files: Sequence[str]) -> bool:
        """May the program be another one with the system's headers? Then it is preprocessed with them, too.

        Conditions ask for macros of theirs, or for headers; and newer ones lead functions of C to others (`newer`). What
        system headers include is theirs, wherever it lies.
        """
        known = [source.text for file in files if (source := self.sources.get(file)) is not None]
        led = None if cc.before_c23(cc.library()) else _LED
        return len(known) < len(files) or any(_CONDITION.search(t) or (led and led.search(t)) for t in known)

    # --------------------------------------------------------------------------------------- directives

    def _directives(self, lines: Sequence[PpLine], sink: Sink) -> list[Directive | None]:
        """The active directives, None for one of no kind; all that is wrong with any of them goes to the sink."""
        found: list[Directive | None] = []
        seen: dict[int, int] = {}
        for line in lines:
            word = None if line.system else _PRAGMA_WORD.match(line.text)
            if word and word[1] != "mapreduce" and close_match(word[1].replace("_", ""), ["mapreduce"]):
                sink.error(
                    "HD101", f"unknown pragma {word[1]!r}", Span(line.file, line.line), help="did you mean 'mapreduce'?",
                )
            if line.system or not PRAGMA.match(line.text):
                continue
            if line.file != self._source.path:
                self._in_header(line, sink)
                continue
            ordinal = seen[line.line] = seen.get(line.line, -1) + 1
            fallback = line.text[line.text.index("mapreduce") :]
            text, span = pragma_text(self._source, line.line, fallback, ordinal)
            found.append(parse_directive(text, span, sink))
        return found

    def _in_header(self, line: PpLine, sink: Sink) -> None:
        span = Span(line.file, line.line)
        help = "put the directive before the loop, in the file that is compiled"
        sink.error("HD109", "a directive in a header file does not belong to a program", span, help=help)

    def _expand(self, directives: list[Directive]) -> list[Directive]:
        """Expand macros in constant arguments as they stand at each directive.

        For what is more than a macro that is a number the preprocessor runs once more: every argument goes into a line of
        its own before its directive, between two markers that are no macros.
        """
        wanted = {(d, *key): text for d, item in enumerate(directives) for key, text in unexpanded(item).items()}
        there = macros.at_directives(self._lines, self._source.path) if wanted and not self._refusal else []
        known = wanted if len(there) == len(directives) else {}
        numbers = {key: macros.number(text, there[key[0]]) for key, text in known.items()}
        expanded = {key: text for key, text in numbers.items() if text is not None}
        rest = {key: text for key, text in wanted.items() if key not in expanded}
        expanded |= self._expand_texts(directives, rest) if rest else {}
        return [
            with_expanded(item, {key[1:]: text for key, text in expanded.items() if key[0] == d})
            for d, item in enumerate(directives)
        ]

    def _expand_texts(
        self, directives: Sequence[Directive], wanted: dict[tuple[int, int, int], str],
    ) -> dict[tuple[int, int, int], str]:
        lines = self._source.text.split("\n")
        for d in sorted({key[0] for key in wanted}, reverse=True):
            marked = [f"__hd_{k[0]}_{k[1]}_{k[2]}_begin {text} __hd_end" for k, text in wanted.items() if k[0] == d]
            lines[directives[d].span.line - 1 : directives[d].span.line - 1] = marked
        folder = os.path.dirname(os.path.abspath(self._source.path))
        result = preprocess_text(self._cc, "\n".join(lines), self._options, folder)
        body = "\n".join(line.text for line in read_lines(result.stdout, {}, SourceMap())[0])
        return {
            (int(m[1]), int(m[2]), int(m[3])): " ".join(m[4].split())
            for m in re.finditer(r"__hd_(\d+)_(\d+)_(\d+)_begin(.*?)__hd_end", body, re.DOTALL)
        }

    # ---------------------------------------------------------------------------------------- the tree

    def parse(self, directives: Sequence[Directive]) -> tuple[c_ast.FileAST | None, Reason | None]:
        if self._refusal:
            return None, self._refusal
        lines = [line for line in self._lines if not is_macro(line)]
        prelude = [PpLine(_BUILT_IN, i + 1, text, True) for i, text in enumerate(PRELUDE.splitlines())]
        lines = [line if (text := plain_text(line.text)) is line.text else replace(line, text=text) for line in lines]
        arguments = (a.expanded for d in directives for clause in d.clauses for a in clause.args)
        ours = (_BUILT_IN, self._headers + os.sep)
        read = named([*prelude, *lines], lambda line: line.file.startswith(ours), arguments)
        cleaned = clean(read, gnu=self._options.gnu)
        if cleaned.refusal:
            return None, self._construct(cleaned.refusal, lines)
        return self._parse(cleaned)

    def _parse(self, cleaned: Cleaned) -> tuple[c_ast.FileAST | None, Reason | None]:
        try:
            return parse(cleaned, Columns(self.sources, cleaned.lines), gnu=self._options.gnu), None
        except ParseFailure as failure:
            file, line = failure.file or self._source.path, failure.line
            span = token_span(self.sources, file, line, failure.col)
            message = f"the C parser does not take this program ({failure.message})"
            return None, Reason("HD303", message, span if line else Span(file, 0))

    def _construct(self, found: FoundConstruct, lines: Sequence[PpLine]) -> Reason:
        col = Columns(self.sources, lines).find(found.file, found.line, found.token, found.ordinal)
        return Reason("HD304", f"{found.what} is not analysed", Span(found.file, found.line, col, col + 1))

    def _preprocessor_refusal(self, result: cc.Output) -> Reason | None:
        """The compiler took the program with its own headers, so this is about the stand-ins."""
        if result.returncode == 0:
            return None
        try:
            cc.check(self._cc[0], result, self._names)
        except UserError as error:
            first: Diagnostic = error.diagnostics[0]
            missing = _MISSING.match(first.message)
            message = first.message if not missing else f"header <{missing['header']}> is not known to the analysis"
            return Reason("HD305", message, first.span or Span(self._source.path, 0))
        return None

    def _other_code(self, real: Sequence[PpLine], lines: Sequence[PpLine]) -> Reason | None:
        """Does conditional compilation choose other lines with the stand-in headers? Then they show another program."""
        differ = active_lines(real) ^ active_lines(lines)
        if not differ:
            return None
        file, line = min(differ, key=lambda place: (place[0] != self._source.path, place))
        message = "which code is compiled here depends on a system header that the analysis replaces"
        return Reason("HD306", message, Span(file, line))
