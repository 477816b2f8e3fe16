"""Diagnostics: one message with its place, notes and help; a sink that collects a pass's messages; the text form.

    apps/wordcount/map.c:7:32: error[HD104]: clause 'keylength' is required: key 'word' is a pointer
      7 |   #pragma mapreduce mapper key(word) value(one)
        |                                ^~~~
    help: add keylength(N), N = bytes of the longest key with its final '\\0'
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from .errors import UserError
from .source import SourceMap, Span

Severity = Literal["error", "warning", "note"]


class Note(NamedTuple):
    """More about a diagnostic, with a place of its own where it has one."""

    message: str
    span: Span | None = None


class Diagnostic(NamedTuple):
    """One message. `code` is an HDnnn of the error index; `text`, where given, is a tool's own rendering."""

    severity: Severity
    code: str
    message: str
    span: Span | None = None
    notes: tuple[Note, ...] = ()
    help: str = ""
    text: str = ""

    def to_json(self) -> dict[str, object]:
        place = {"file": self.span.file, "line": self.span.line, "col": self.span.col} if self.span else None
        return {"severity": self.severity, "code": self.code, "message": self.message, "place": place, "help": self.help}


@dataclass
class Sink:
    """Collects what one pass finds, so that a user sees all his errors at once."""

    diagnostics: list[Diagnostic] = field(default_factory=list)

    def error(self, code: str, message: str, span: Span | None, *, notes: tuple[Note, ...] = (), help: str = "") -> None:
        self.diagnostics.append(Diagnostic("error", code, message, span, notes, help))

    def warn(self, code: str, message: str, span: Span | None, *, notes: tuple[Note, ...] = (), help: str = "") -> None:
        self.diagnostics.append(Diagnostic("warning", code, message, span, notes, help))

    def extend(self, diagnostics: list[Diagnostic]) -> None:
        self.diagnostics.extend(diagnostics)

    @property
    def errors(self) -> list[Diagnostic]:
        return [d for d in self.diagnostics if d.severity == "error"]

    @property
    def warnings(self) -> list[Diagnostic]:
        return [d for d in self.diagnostics if d.severity == "warning"]

    def raise_errors(self) -> None:
        """End of a pass: raise UserError with everything found, in source order, if any of it is an error."""
        if self.errors:
            raise UserError(sorted(self.diagnostics, key=_place))


def _place(diagnostic: Diagnostic) -> tuple[str, int, int]:
    span = diagnostic.span
    return (span.file, span.line, span.col) if span else ("", 0, 0)


def render(diagnostic: Diagnostic, sources: SourceMap) -> str:
    """The text of one diagnostic, several lines, no final newline."""
    if diagnostic.text:
        return diagnostic.text.rstrip("\n")
    lines = _head(diagnostic.severity, diagnostic.code, diagnostic.message, diagnostic.span, sources)
    for note in diagnostic.notes:
        lines += _head("note", "", note.message, note.span, sources)
    if diagnostic.help:
        lines.append(f"help: {diagnostic.help}")
    return "\n".join(lines)


def _head(severity: str, code: str, message: str, span: Span | None, sources: SourceMap) -> list[str]:
    label = f"{severity}[{code}]" if code else severity
    if span is None:
        return [f"{label}: {message}"]
    return [f"{span}: {label}: {message}", *excerpt(span, sources.line(span))]


def excerpt(span: Span, line: str) -> list[str]:
    """The source line of a span, with a caret where it has columns."""
    if not line.strip():
        return []
    margin = f"  {span.line} | "
    lines = [margin + line]
    if span.col:
        blank = "".join("\t" if c == "\t" else " " for c in line[: span.col - 1])
        marks = "^" + "~" * max(0, min(span.end, len(line) + 1) - span.col - 1)
        lines.append(" " * (len(margin) - 2) + "| " + blank + marks)
    return lines
