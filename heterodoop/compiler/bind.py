"""Directive + program -> BoundRegion: pairs a directive with its statement and its names with variables.

Non-goals: how the region uses its variables (`uses`), its code (`lower`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pycparser import c_ast

from ..source import Span
from .clauses import Kind
from .ctype import CType, Layouts
from .directive import Directive


@dataclass(frozen=True)
class Symbol:
    """A variable that is in scope at the directive. `decl` is its Decl node (a parameter's, for storage "param")."""

    name: str
    ctype: CType
    span: Span
    storage: Literal["local", "param", "global", "static"]
    decl: c_ast.Decl


@dataclass(frozen=True)
class BoundRegion:
    """A directive with the statement it belongs to and its clauses resolved.

    stmt            the loop, or (combiner) the block, that the directive stands before.
    before, after   sibling statements of the enclosing block, the directive itself left out.
    scope           variables visible at the directive, by name.
    layouts         of the structs in the symbols' types.
    key ... valuein names, "" if the clause is absent.
    keylength ...   0 if absent; keylength and vallength are derived from the variable's type where left out.
    """

    directive: Directive
    kind: Kind
    func: c_ast.FuncDef
    stmt: c_ast.Node
    before: tuple[c_ast.Node, ...]
    after: tuple[c_ast.Node, ...]
    scope: dict[str, Symbol]
    layouts: Layouts
    key: str
    value: str
    keyin: str
    valuein: str
    keylength: int
    vallength: int
    kvpairs: int
    blocks: int
    threads: int
    firstprivate: tuple[str, ...]
    sharedRO: tuple[str, ...]
    texture: tuple[str, ...]
