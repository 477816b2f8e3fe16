"""The file scope of a program that is being lowered: globals, library functions and statics, entered when first used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pycparser import c_ast

from ...errors import CompilerBug
from ...source import Span
from ..ir import ir
from ..source.frontend import Unit
from ..source.stand_ins import to_declare
from ..types import ctype
from ..types.ctype import CType
from ..types.literals import Unsupported
from ..types.table import Identifier, TypeTable, const_object
from . import expr as lower_expr
from .init import initialiser


class Globals:
    """Symbols of file scope by name, in order of first use, and the functions that are still to be lowered."""

    def __init__(self, unit: Unit) -> None:
        self.types = TypeTable()
        self._unit = unit
        self.definitions: dict[str, c_ast.FuncDef] = {}
        self.wanted: list[str] = []
        self.symbols: dict[str, ir.Symbol] = {}
        self._defined: dict[str, c_ast.Decl] = {}
        self._declare_all(unit.ast.ext if unit.ast is not None else [])
        self._counts = Counter(_declared_names(unit.ast)) if unit.ast is not None else Counter()

    def _declare_all(self, nodes: list[Any]) -> None:
        for node in nodes:
            try:
                if isinstance(node, c_ast.FuncDef):
                    self.definitions[node.decl.name] = node
                    self.types.declare(node.decl)
                elif isinstance(node, (c_ast.Decl, c_ast.Typedef)):
                    self.types.declare(node)
                    self._remember(node)
            except Unsupported:
                continue  # a name that is used all the same is then reported as undeclared, at its use

    def _remember(self, node: c_ast.Node) -> None:
        """The declaration with the initialiser is a global's definition, else the last one without `extern`."""
        if isinstance(node, c_ast.Decl) and node.name and not isinstance(node.type, c_ast.FuncDecl):
            old = self._defined.get(node.name)
            if "extern" not in (node.storage or []) or node.init is not None:
                self._defined[node.name] = old if old is not None and old.init is not None else node

    def span(self, node: c_ast.Node) -> Span:
        return self._unit.span(node)

    def reserved(self, function: c_ast.FuncDef) -> set[str]:
        """Names that a local of `function` must not take in the IR: the program's own and those it calls."""
        called = {name for name in _called(function) if self.types.lookup(name) is not None}
        return {*self.definitions, *self._defined, *called}

    def use(self, name: str, found: Identifier) -> ir.Symbol:
        """The symbol of a name of file scope; a function that the program defines is wanted from now on."""
        if name in self.symbols:
            return self.symbols[name]
        kind: CType = found.ctype
        if name in self.definitions:
            self.wanted.append(name)
            node = self.definitions[name]
            kind = self._own_type(node, kind)
            self.symbols[name] = ir.Symbol(name, name, kind, "global", span=self.span(node.decl))
            return self.symbols[name]
        decl = self._defined.get(name)
        if decl is None:
            self.symbols[name] = ir.Symbol(name, name, kind, "extern")
            return self.symbols[name]
        return self._define(name, kind, decl)

    def _own_type(self, node: c_ast.FuncDef, kind: CType) -> CType:
        """`int f() {...}` takes no arguments, whatever C11 lets its callers do."""
        with self.types.scope():
            params = tuple(p[1] for p in self.types.declare_params(node))
        assert isinstance(kind, ctype.Func)
        return ctype.Func(kind.result, params, kind.variadic and bool(kind.params))

    def _define(self, name: str, kind: CType, decl: c_ast.Decl) -> ir.Symbol:
        storage = "static" if "static" in (decl.storage or []) else "global"
        symbol = ir.Symbol(name, name, kind, storage, const_object(decl), span=self.span(decl))  # type: ignore[arg-type]
        self.symbols[name] = symbol
        if decl.init is not None:
            init, kind = initialiser(kind, decl.init, self)
            symbol = self.initialise(symbol, init, kind)
        return symbol

    def static(self, node: c_ast.Decl, kind: CType, owner: str, const: bool) -> ir.Symbol:
        """A static local as a global, by its own name where the whole file has no other of that name."""
        name, number = node.name, 1
        while name in self.symbols or (number == 1 and self._counts[name] > 1):
            number += 1
            name = f"{node.name}${number}"
        symbol = ir.Symbol(name, node.name, kind, "static", const, owner, span=self.span(node))
        self.symbols[name] = symbol
        return symbol

    def initialise(self, symbol: ir.Symbol, init: ir.Init, kind: CType) -> ir.Symbol:
        del self.symbols[symbol.name]  # to the end, behind what the initialiser names
        self.symbols[symbol.name] = replace(symbol, init=init, type=kind)
        return self.symbols[symbol.name]

    # what `lower.expr.Context` asks for, at file scope

    ahead: list[ir.Stmt] | None = None  # no statement stands there
    lasting = True

    def temporary(self, kind: CType, span: Span, at: int | None = None) -> str:
        raise CompilerBug("no statement stands at file scope")

    def own(self, name: str) -> bool:
        return False

    def statement_expression(self, node: c_ast.Compound) -> ir.Expr:
        raise Unsupported("statement expression", node)

    def size_of(self, name: str, node: c_ast.Node) -> ir.Expr | None:
        return None  # no array there is of variable length

    def element(self, node: c_ast.ArrayRef) -> ir.Expr | None:
        return None

    def first_element(self, node: c_ast.Node) -> ir.Expr | None:
        return None

    def resolve(self, name: str, node: c_ast.Node) -> ir.Expr:
        found = self.types.lookup(name)
        if found is None or found.kind == "typedef":
            raise undeclared(name, node)
        if found.kind == "enumerator":
            return ir.Const(found.ctype, found.value or 0, span=self.span(node))
        symbol = self.use(name, found)
        return ir.Name(symbol.type, symbol.name, span=self.span(node))

    def value(self, node: c_ast.Node) -> ir.Expr:
        return lower_expr.value(node, self)

    def expr(self, node: c_ast.Node) -> ir.Expr:
        return lower_expr.expr(node, self)


def undeclared(name: str, node: c_ast.Node) -> Unsupported:
    """A name that the C compiler takes, and that nothing in the text that is analysed declares."""
    if name == "__builtin_va_arg":
        return Unsupported("va_arg, of a function that takes a variable number of arguments,", node)
    missing = to_declare(name)
    where = f"not declared here (write {missing})" if missing else "declared in no header that HeteroDoop knows"
    return Unsupported(f"{name!r}, {where},", node)


def _declared_names(tree: c_ast.FileAST) -> Iterator[str]:
    """Names of everything declared, the parameters of mere prototypes left out."""
    for node in tree.ext:
        if isinstance(node, c_ast.FuncDef):
            yield from (p.name for p in _walk(node) if isinstance(p, c_ast.Decl) and p.name)
        elif isinstance(node, c_ast.Decl) and node.name:
            yield node.name


def _called(node: Any) -> set[str]:
    return {p.name.name for p in _walk(node) if isinstance(p, c_ast.FuncCall) and isinstance(p.name, c_ast.ID)}


def _walk(node: Any) -> Iterator[Any]:
    stack = [node]
    while stack:
        top = stack.pop()
        yield top
        stack.extend(child for _, child in top.children())
