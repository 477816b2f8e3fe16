"""A refusal with the text that it stands in, as those see it that draft a change: lines, and what is code in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property

from ...manifest import Change, Reason
from ...values import dataclass
from ..source.preprocess import TOKEN

MOST_LINES = 8  # of one change


@dataclass(frozen=True)
class Draft:
    """Changes that belong together; `where` as of `manifest.Fix`."""

    changes: tuple[Change, ...]
    where: str = ""


Maker = Callable[["Scene"], Iterator[Draft]]


@dataclass(frozen=True)
class Scene:
    """lines: of the program's own file. directive: its line, 0 without one. types: the region's variables -> their types."""

    reason: Reason
    lines: Sequence[str]
    directive: int
    types: Mapping[str, str]

    @cached_property
    def code(self) -> list[str]:
        """The lines with all that is in literals and comments made blank: columns stay."""
        return TOKEN.sub(_blank, "\n".join(self.lines)).split("\n")

    def line(self, number: int) -> str:
        return self.lines[number - 1] if 1 <= number <= len(self.lines) else ""

    def change(self, number: int, new: str) -> Change:
        return Change(number, self.line(number), new)

    def replaced(self, pattern: str, new: str, number: int = 0) -> Change | None:
        """The refusal's line, or another one, with a match replaced: the first at the refusal's column or behind it, else
        the line's first. `new` may name groups (`match.expand`). Only code is looked at."""
        at = number or self.reason.span.line
        if not 1 <= at <= len(self.lines):
            return None
        start = max(0, self.reason.span.col - 1) if not number else 0
        regex = re.compile(pattern)
        found = regex.search(self.code[at - 1], start) or regex.search(self.code[at - 1])
        if found is None:
            return None
        text = self.line(at)
        whole = regex.match(text, found.start())  # groups with what literals hold, where the text matches as well
        made = (whole or found).expand(new)
        return self.change(at, text[: found.start()] + made + text[(whole or found).end():])

    def everywhere(self, pattern: str, new: str) -> list[Change]:
        """All lines with matches in their code replaced; as many as MOST_LINES, else none."""
        wanted = [n for n, code in enumerate(self.code, 1) if re.search(pattern, code)]
        if len(wanted) > MOST_LINES:
            return []
        return [self.change(n, _replaced(pattern, new, self.line(n), self.code[n - 1])) for n in wanted]

    def before(self, number: int, text: str) -> Change:
        """A line more before a line, indented as that."""
        line = self.line(number)
        return self.change(number, f"{indent(line)}{text}\n{line}")

    def loop_begin(self) -> int:
        """The line with the bracket that opens the record loop's body; 0: there is none."""
        depth, seen = 0, False
        for number in range(self.directive + 1, len(self.code) + 1) if self.directive else ():
            for word in re.finditer(r"\b(?:while|for|do)\b|[(){}]", self.code[number - 1]):
                if word[0] == "{" and seen and depth == 0:
                    return number
                seen = seen or word[0][0] in "wfd"
                depth += {"(": 1, ")": -1}.get(word[0], 0)
        return 0

    def in_loop(self, text: str) -> Change | None:
        """A statement more where a record begins."""
        at = self.loop_begin()
        if not at:
            return None
        line = self.line(at)
        column = self.code[at - 1].rindex("{") + 1
        if line[column:].strip():
            return self.change(at, f"{line[:column]} {text}{line[column:]}")
        return self.change(at, f"{line}\n{indent(self.line(at + 1)) or '    '}{text}")

    def header(self, name: str, function: str = "") -> tuple[Change, ...]:
        """An `#include` more at the file's first one, unless it is there.

        function  for which; a program that names it already has a declaration of it.
        """
        if function and any(re.search(rf"\b{function}\b", code) for code in self.code):
            return ()
        text = f"#include <{name}>"
        places = [i for i, line in enumerate(self.lines, 1) if re.match(r"\s*#\s*include\b", line)]
        if any(re.match(rf"\s*#\s*include\s*<{re.escape(name)}>", line) for line in self.lines):
            return ()
        at = places[0] if places else 1
        return (self.change(at, f"{text}\n{self.line(at)}"),)


def _replaced(pattern: str, new: str, line: str, code: str) -> str:
    """All matches of a line's code, the last first: columns before it stay."""
    for found in reversed(list(re.finditer(pattern, code))):
        line = line[: found.start()] + found.expand(new) + line[found.end():]
    return line


def indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def merged(*changes: Change | None) -> Draft | None:
    """Changes of different lines; None where one of them is missing, or two are of one line."""
    known = [one for one in changes if one is not None]
    if len(known) < len(changes) or len({one.line for one in known}) < len(known):
        return None
    return Draft(tuple(sorted(known, key=lambda one: one.line)))


def drafts(where: str, *changes: Change | None) -> Iterator[Draft]:
    """One draft of them, or none."""
    draft = merged(*changes)
    if draft is not None and draft.changes:
        yield Draft(draft.changes, where)


def _blank(token: re.Match[str]) -> str:
    text = token[0]
    if token["comment"]:
        return re.sub(r"[^\n]", " ", text)
    if token["string"] or token["char"] or token["raw"]:
        return text[0] + re.sub(r"[^\n]", "_", text[1:-1]) + text[-1]
    return text
