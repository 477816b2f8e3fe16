"""Directive + program -> BoundRegion: pairs a directive with its statement and its names with variables.

Non-goals: how the region uses its variables (`uses`: a sharedRO variable that is written, say), its code (`lower`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Literal

from pycparser import c_ast

from ...diag import Note, Sink
from ...manifest import Role
from ...source import Span
from ...values import dataclass
from ..source.clauses import Kind
from ..source.deep import deep
from ..source.directive import Directive
from ..source.frontend import Unit
from ..types.ctype import Layouts
from ..types.table import TypeTable, Unsupported
from .bind_clauses import ClauseBinder, ScopedVariable
from .bind_reader import value_read

__all__ = ["BoundRegion", "ScopedVariable", "bind"]

_ROLE_KINDS: dict[Role, Kind] = {"map": "mapper", "combine": "combiner", "reduce": "combiner"}
_LOOPS = (c_ast.While, c_ast.DoWhile, c_ast.For)


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
    scope: dict[str, ScopedVariable]
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


@deep
def bind(unit: Unit, sink: Sink, role: Role | None = None) -> list[BoundRegion]:
    """Bind every directive of a unit; what is wrong goes to the sink (HD101-HD121), the others are returned.

    role   which program this is, None = not known: then a directive of either kind is right.
    A unit without a tree (refused) has no regions.
    """
    sink.extend(unit.errors)
    _check_roles(unit, sink, role)
    if unit.ast is None:
        return []
    binder = _Binder(unit, sink)
    binder.run(unit.ast)
    return binder.regions


def _check_roles(unit: Unit, sink: Sink, role: Role | None) -> None:
    for directive in unit.directives[1:]:
        note = Note("the first one is here", unit.directives[0].span)
        sink.error("HD118", "a program has one directive, this is another", directive.span, notes=(note,))
    for directive in unit.directives if role else ():
        wanted = _ROLE_KINDS[role] if role else directive.kind
        if wanted == directive.kind:
            continue
        if role == "reduce":
            help = "a reduce program needs no directive: remove it"
        else:
            help = f"a {role} program has #pragma mapreduce {wanted}; was the file given in the wrong place?"
        sink.error("HD119", f"a {directive.kind} directive in the {role} program", directive.span, help=help)


class _Binder:
    """Walks the program in source order with its scopes, down to the functions that hold directives."""

    def __init__(self, unit: Unit, sink: Sink) -> None:
        self.regions: list[BoundRegion] = []
        self._unit, self._sink = unit, sink
        self._types = TypeTable()
        self._symbols: list[dict[str, ScopedVariable]] = [{}]
        self._unknown: dict[str, str] = {}
        self._func: c_ast.FuncDef | None = None
        self._seen: list[ScopedVariable] = []  # every variable so far

    def run(self, ast: c_ast.FileAST) -> None:
        for node in ast.ext:
            if isinstance(node, c_ast.FuncDef):
                self._function(node)
            elif isinstance(node, c_ast.Pragma):
                self._outside(node)
            elif isinstance(node, c_ast.Decl | c_ast.Typedef):
                self._declare(node)
                self._misplaced(node)

    def _directive(self, node: c_ast.Pragma) -> Directive:
        return self._unit.directives[int(str(node.string).split()[1])]

    def _outside(self, node: c_ast.Pragma) -> None:
        help = "put it before the record loop, inside main"
        self._sink.error("HD121", "the directive stands outside of any function", self._directive(node).span, help=help)

    def _misplaced(self, node: c_ast.Node | None) -> None:
        """Directives inside declarations and expressions."""
        if isinstance(node, c_ast.Pragma):
            self._no_statement(self._directive(node), None)
        elif node is not None:
            for _, child in node.children():
                self._misplaced(child)

    # ------------------------------------------------------------------------------------------- scopes

    def _declare(self, node: c_ast.Decl | c_ast.Typedef) -> None:
        try:
            kind = self._types.declare(node)
        except Unsupported as error:
            if node.name:
                self._unknown[node.name] = error.what
            return
        name = node.name
        if not name:
            return
        self._unknown.pop(name, None)
        found = self._types.lookup(name)
        if isinstance(node, c_ast.Decl) and found is not None and found.kind == "object":
            static = "static" in (node.storage or [])
            storage: Literal["local", "global", "static"] = "static" if static else "local" if self._func else "global"
            storage = "global" if "extern" in (node.storage or []) else storage
            self._symbols[-1][name] = ScopedVariable(name, kind, self._place(node), storage, node)
            self._seen.append(self._symbols[-1][name])

    def _place(self, node: c_ast.Decl) -> Span:
        """The declared name, not the declaration's first word."""
        inner: c_ast.Node = node
        while hasattr(inner, "type") and not isinstance(inner, c_ast.TypeDecl):
            inner = inner.type
        return self._unit.span(inner if inner.coord is not None else node)

    def _function(self, func: c_ast.FuncDef) -> None:
        self._declare(func.decl)
        if not _has_pragma(func.body):
            return
        self._func = func
        self._symbols.append({})
        with self._types.scope():
            try:
                params = self._types.declare_params(func)
            except Unsupported:
                params = []
            for name, kind, node in params:
                assert isinstance(node, c_ast.Decl)
                self._symbols[-1][name] = ScopedVariable(name, kind, self._place(node), "param", node)
            self._statements(func.body.block_items or [])
        self._symbols.pop()
        self._func = None

    def _block(self, items: Sequence[c_ast.Node]) -> None:
        self._symbols.append({})
        with self._types.scope():
            self._statements(items)
        self._symbols.pop()

    def _statements(self, items: Sequence[c_ast.Node]) -> None:
        for i, node in enumerate(items):
            if isinstance(node, c_ast.Pragma):
                self._pragma(node, items, i)
            else:
                self._statement(node)

    def _statement(self, node: c_ast.Node) -> None:
        if isinstance(node, c_ast.Decl | c_ast.Typedef):
            self._declare(node)
            self._misplaced(node)
        elif isinstance(node, c_ast.Compound):
            self._block(node.block_items or [])
        elif isinstance(node, c_ast.For):
            self._block([*(node.init.decls if isinstance(node.init, c_ast.DeclList) else []), node.stmt])
        elif isinstance(node, c_ast.Case | c_ast.Default):
            self._statements(node.stmts or [])
        else:
            for _, child in node.children():
                self._statement(child) if not isinstance(child, c_ast.Pragma) else self._misplaced(child)

    # ------------------------------------------------------------------------------------------ regions

    def _pragma(self, node: c_ast.Pragma, items: Sequence[c_ast.Node], index: int) -> None:
        directive = self._directive(node)
        following = items[index + 1] if index + 1 < len(items) else None
        stmt = following
        while isinstance(stmt, c_ast.Label):
            stmt = stmt.stmt
        loops = (*_LOOPS, c_ast.Compound) if directive.kind == "combiner" else _LOOPS
        if not isinstance(stmt, loops):
            self._no_statement(directive, following)
            return
        if isinstance(stmt, c_ast.Compound) and not _has_loop(stmt):
            note = Note("this block has no loop", self._unit.span(stmt))
            self._sink.error("HD110", "the block of a combiner directive must hold its loop", directive.span, notes=(note,))
            return
        errors = len(self._sink.errors)
        scope = {name: symbol for level in self._symbols for name, symbol in level.items()}
        visible = self._types.names()
        scope = {name: symbol for name, symbol in scope.items() if visible[name].kind == "object"}
        unknown = dict(self._unknown)
        inside = partial(self._declared_in, stmt)
        values = ClauseBinder(self._unit, self._sink, directive, scope, inside, self._types, unknown).run()
        key, value, keyin, valuein = values.names
        valuein = valuein or self._value_read(directive, stmt, scope)
        if self._unit.errors or len(self._sink.errors) > errors or self._func is None:
            return
        self.regions.append(BoundRegion(
            directive, directive.kind, self._func, stmt, tuple(items[:index]), tuple(items[index + 2 :]), scope,
            self._types.layouts, key, value, keyin, valuein, *values.numbers, *values.lists,
        ))

    def _declared_in(self, stmt: c_ast.Node) -> list[ScopedVariable]:
        """A record's own variables, those of the loop's body. Of a statement with one more directive none."""
        if _has_pragma(stmt):
            return []
        before = len(self._seen)
        self._block([stmt])
        return [symbol for symbol in self._seen[before:] if symbol.storage == "local"]

    def _value_read(self, directive: Directive, stmt: c_ast.Node, scope: dict[str, ScopedVariable]) -> str:
        """What a clause 'valuein' that is left out would name; "" for a variable of the loop's own, and for a mapper."""
        if directive.kind == "mapper" or directive.names("valuein"):
            return ""
        found = value_read(stmt)
        if found is None:
            self._sink.error(
                "HD104", "clause 'valuein' is required: the loop does not show which variable gets the value of a pair",
                directive.span, help="add valuein(NAME); it is shown by a scanf, or by what atoi, strtol or strtod gives",
            )
        return found if found in scope else ""

    def _no_statement(self, directive: Directive, following: c_ast.Node | None) -> None:
        what = "a while, for or do loop" if directive.kind == "mapper" else "a loop, or a block that holds it"
        notes: tuple[Note, ...] = ()
        help = "put the directive on the line before the loop that reads the records"
        if following is not None and not isinstance(following, c_ast.Pragma):
            notes = (Note("this follows", self._unit.span(following)),)
            if isinstance(following, c_ast.Compound):
                help = "put the directive inside the block, before the loop"
        message = f"a {directive.kind} directive must stand before {what}"
        self._sink.error("HD110", message, directive.span, notes=notes, help=help)


def _has_pragma(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.Pragma) or any(_has_pragma(child) for _, child in node.children())


def _has_loop(node: c_ast.Node) -> bool:
    return isinstance(node, _LOOPS) or any(_has_loop(child) for _, child in node.children())
