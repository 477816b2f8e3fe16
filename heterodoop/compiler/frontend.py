"""C source file -> Unit: the parsed program, its directives, and why it could not be parsed where that is so.

Non-goals: meaning of the directives (`bind`), types (`types_ast`), what the GPU supports (`uses`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pycparser import c_ast

from ..diag import Diagnostic
from ..manifest import Reason
from ..source import SourceMap, Span
from .directive import Directive


@dataclass
class Unit:
    """One source file after the front end.

    ast         pycparser's tree, or None: then `refusal` says why. Node coordinates are those of the user's files.
                A `Pragma` node with string "mapreduce N" stands for `directives[N]`; no other pragmas are left.
    directives  the active directives, in source order, from the original text.
    deps        the user's files that were read, the source file first.
    warnings    what the C compiler warned of.
    """

    path: str
    ast: c_ast.FileAST | None
    refusal: Reason | None
    sources: SourceMap
    directives: list[Directive]
    deps: list[str]
    warnings: list[Diagnostic] = field(default_factory=list)

    def span(self, node: c_ast.Node) -> Span:
        """Place of a node's first token in the user's file (its line only, where a macro made it)."""
        raise NotImplementedError
