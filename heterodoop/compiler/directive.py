"""Text of a `#pragma mapreduce` directive -> Directive: its kind and its clauses, each with its place.

Knows the clause table but no program: whether a name is a variable, or a number in range, is `bind`'s part.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..source import Span
from .clauses import Kind


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
    """One directive that passed the parser. `span` covers `#pragma`...`mapper` on its first line."""

    kind: Kind
    span: Span
    clauses: tuple[Clause, ...]

    def clause(self, name: str) -> Clause | None:
        return next((c for c in self.clauses if c.name == name), None)
