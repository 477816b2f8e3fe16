"""Text of a `#pragma mapreduce` directive -> Directive: its kind and its clauses, each with its place.

Knows the clause table but no program: whether a name is a variable, or a number in range, is `bind`'s part.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import replace

from ...diag import Note, Sink
from ...source import Span
from ...values import dataclass
from .clauses import BY_NAME, CLAUSES, KINDS, ClauseRule, Kind
from .logical import SourceText
from .wide_names import NAME

_TOKEN = re.compile(rf"{NAME}|\S")
_NAME = re.compile(rf"(?:{NAME})\Z")
_PLAIN = re.compile(r"[\d\s()+\-*/%]*\Z")


@dataclass(frozen=True)
class Argument:
    """One argument of a clause. `expanded` is the text after macro expansion at the directive (constant clauses)."""

    text: str
    span: Span
    expanded: str = ""


@dataclass(frozen=True)
class Clause:
    name: str
    span: Span
    args: tuple[Argument, ...]


@dataclass(frozen=True)
class Directive:
    """One directive. `span` is its `#pragma` (or `_Pragma`).

    clauses  those that have nothing wrong with them.
    broken   names of those that have, or that a misspelt one was meant to be: they are there, and nothing else is known.
    """

    kind: Kind
    span: Span
    clauses: tuple[Clause, ...]
    broken: frozenset[str] = frozenset()

    def clause(self, name: str) -> Clause | None:
        return next((c for c in self.clauses if c.name == name), None)

    def names(self, name: str) -> bool:
        """Whether the clause is there, right or wrong."""
        return name in self.broken or self.clause(name) is not None


def close_match(word: str, choices: Iterable[str]) -> str:
    """The choice that `word` may have been meant to be, or ""."""
    by_lower = {c.lower(): c for c in choices}
    found = difflib.get_close_matches(word.lower(), by_lower, n=1, cutoff=0.65)
    return by_lower[found[0]] if found else ""


def parse_directive(text: SourceText, pragma: Span, sink: Sink) -> Directive | None:
    """Parse a directive's text, which starts with the word `mapreduce`. All its errors (HD101-HD108) go to the sink.

    pragma   span of `#pragma`, for errors that have no better place.
    Where the directive has errors, the rest of it comes back, for `bind` to find what else is wrong; None without a kind.
    """
    parser = _Parser(text, pragma, sink)
    parser.run()
    parser.check()
    if parser.kind is None:
        return None
    return Directive(parser.kind, pragma, tuple(parser.clauses), frozenset(parser.broken))


def unexpanded(directive: Directive) -> dict[tuple[int, int], str]:
    """Constant arguments that may hold macros: (clause index, argument index) -> text."""
    return {
        (i, j): argument.text
        for i, clause in enumerate(directive.clauses) if BY_NAME[clause.name].argument == "constant"
        for j, argument in enumerate(clause.args) if not _PLAIN.match(argument.text)
    }


def with_expanded(directive: Directive, texts: dict[tuple[int, int], str]) -> Directive:
    """The directive with the expansions of its constant arguments filled in; those not listed stand for themselves."""
    clauses = []
    for i, clause in enumerate(directive.clauses):
        args = tuple(replace(a, expanded=texts.get((i, j), a.text)) for j, a in enumerate(clause.args))
        clauses.append(replace(clause, args=args) if BY_NAME[clause.name].argument == "constant" else clause)
    return replace(directive, clauses=tuple(clauses))


class _Parser:
    """`mapreduce KIND clause(...) ...`; commas between clauses are allowed, as in OpenMP."""

    def __init__(self, text: SourceText, pragma: Span, sink: Sink) -> None:
        self.kind: Kind | None = None
        self.clauses: list[Clause] = []
        self._text, self._pragma, self._sink = text, pragma, sink
        self.broken: set[str] = set()
        self._given: dict[str, Span] = {}
        self._kind_span = pragma
        self._pos = 0

    def run(self) -> None:
        self._next()
        while (token := self._next()) is not None:
            self._item(token)

    def _next(self) -> re.Match[str] | None:
        match = _TOKEN.search(self._text.chars, self._pos)
        self._pos = match.end() if match else len(self._text.chars)
        return match

    def _error(self, code: str, message: str, span: Span, help: str = "", notes: tuple[Note, ...] = ()) -> None:
        self._sink.error(code, message, span, help=help, notes=notes)

    def _span(self, match: re.Match[str]) -> Span:
        return self._text.span(match.start(), match.end())

    def _item(self, token: re.Match[str]) -> None:
        word, span = token[0], self._span(token)
        if word == ",":
            return
        if not _NAME.match(word):
            self._stray(word, span)
        elif self._text.chars[self._pos :].lstrip().startswith("("):
            self._clause(word, span)
        elif word in KINDS:
            self._set_kind(word, span)
        else:
            self._bare_word(word, span)

    def _stray(self, word: str, span: Span) -> None:
        if word == "{":
            self._error(
                "HD108", "'{' stands on the directive's line and belongs to it, so the C compiler never sees it", span,
                help="put { on the next line",
            )
        else:
            self._error("HD101", f"unexpected {word!r} in the directive", span)

    def _set_kind(self, word: str, span: Span) -> None:
        note = (Note("first given here", self._kind_span),)
        if self.kind == word:
            self._error("HD105", f"{word!r} is given twice", span, notes=note)
        elif self.kind is not None:
            self._error(
                "HD102", f"a directive is either mapper or combiner, this one is already {self.kind}", span, notes=note,
                help="map and combine are two programs: put each directive into its own",
            )
        else:
            self.kind, self._kind_span = next(k for k in KINDS if k == word), span

    def _bare_word(self, word: str, span: Span) -> None:
        if word in BY_NAME:
            self.broken.add(word)
            kind = "a constant" if BY_NAME[word].argument == "constant" else "a variable"
            self._error("HD106", f"clause {word!r} needs {kind} in brackets", span, help=f"write {word}(...)")
        elif word.lower() in ("reducer", "reduce"):
            self.broken.add("kind")
            self._error(
                "HD101", f"there is no directive {word!r}", span,
                help="reduce programs run on the CPU and need no directive; directives are mapper and combiner",
            )
        else:
            self._unknown(word, span, [*KINDS, *BY_NAME])

    def _unknown(self, word: str, span: Span, choices: list[str]) -> None:
        meant = close_match(word, choices)
        self.broken.add("kind" if meant in KINDS else meant)
        help = f"did you mean {meant!r}?" if meant else f"clauses are {', '.join(rule.name for rule in CLAUSES)}"
        if meant in KINDS or (not meant and len(choices) > len(CLAUSES)):
            help = help if meant else "directives are mapper and combiner; " + help
            self._error("HD101", f"unknown word {word!r} in the directive", span, help=help)
        else:
            self._error("HD103", f"unknown clause {word!r}", span, help=help)

    # ------------------------------------------------------------------------------------------ clauses

    def _clause(self, word: str, span: Span) -> None:
        args = self._arguments(word)
        rule = BY_NAME.get(word)
        if rule is None:
            if word in KINDS:
                self._error("HD106", f"{word!r} takes no arguments", span)
                self._set_kind(word, span)
            else:
                self._unknown(word, span, list(BY_NAME))
            return
        if word in self._given:
            note = Note("first given here", self._given[word])
            self._error("HD105", f"clause {word!r} is given twice", span, notes=(note,))
            return
        self._given[word] = span
        right = self._right_arguments(rule, args or ())
        if right:
            self.clauses.append(Clause(word, span, right))
        else:
            self.broken.add(word)

    def _arguments(self, word: str) -> tuple[Argument, ...] | None:
        """The arguments of the clause whose `(` comes next; None (and an error) where its `)` is missing."""
        opening = self._next()
        assert opening is not None
        depth, start, args = 1, opening.end(), []
        while depth:
            token = self._next()
            if token is None:
                bracket = self._span(opening)
                self._error("HD106", f"clause {word!r} has no closing bracket", bracket, help="add the missing )")
                return None
            depth += (token[0] == "(") - (token[0] == ")")
            if depth == 0 or (depth == 1 and token[0] == ","):
                args.append(self._argument(start, token.start()))
                start = token.end()
        return tuple(args)

    def _argument(self, start: int, end: int) -> Argument:
        raw = self._text.chars[start:end]
        text = raw.strip()
        first = start + len(raw) - len(raw.lstrip()) if text else start
        return Argument(text, self._text.span(first, first + max(len(text), 1)))

    def _right_arguments(self, rule: ClauseRule, args: tuple[Argument, ...]) -> tuple[Argument, ...]:
        """The arguments that have nothing wrong with them: of a list each by itself, else the one or none."""
        right: dict[str, Argument] = {}
        for argument in args:
            if not argument.text:
                self._error("HD106", f"clause {rule.name!r} has an empty argument", argument.span)
            elif rule.argument == "variable" and not _NAME.match(argument.text):
                self._error(
                    "HD106", f"clause {rule.name!r} takes the name of a variable, not {argument.text!r}", argument.span,
                    help="name the struct of a member; keep what is an expression in a variable of its own",
                )
            elif rule.many and argument.text in right:
                note = Note("first listed here", right[argument.text].span)
                self._error("HD105", f"{argument.text!r} is listed twice in {rule.name!r}", argument.span, notes=(note,))
            else:
                right[argument.text] = argument
        if len(args) > 1 and not rule.many:
            what = "variable" if rule.argument == "variable" else "constant"
            self._error("HD106", f"clause {rule.name!r} takes one {what}, {len(args)} are given", args[1].span)
            return ()
        return tuple(right.values())

    def check(self) -> None:
        """What can be said of the whole directive: its kind, clauses that it must or must not have."""
        if self.kind is None:
            if "kind" not in self.broken:
                self._error(
                    "HD101", "the directive names neither mapper nor combiner", self._pragma,
                    help="write #pragma mapreduce mapper ... or #pragma mapreduce combiner ...",
                )
            return
        for name, span in self._given.items():
            if self.kind not in BY_NAME[name].legal:
                legal = " and ".join(BY_NAME[name].legal)
                self._error("HD107", f"clause {name!r} belongs on a {legal}, this is a {self.kind}", span)
        given = {c.name for c in self.clauses} | self.broken
        for rule in CLAUSES:
            if self.kind in rule.required and rule.name not in given:
                help = f"add {rule.name}(NAME). {rule.doc}"
                self._error("HD104", f"clause {rule.name!r} is required on a {self.kind}", self._kind_span, help=help)
        length = next((c for c in self.clauses if c.name == "vallength"), None)
        if length and "value" not in given:
            help = "add value(NAME) or drop vallength"
            self._error("HD104", "clause 'vallength' needs clause 'value'", length.span, help=help)
