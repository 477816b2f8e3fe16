"""One function's body -> IR statements: scopes, unique names, loops and labels in a plain form.

A statement that cannot be lowered becomes an Opaque with the reason, and its neighbours are lowered all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from pycparser import c_ast

from ...source import Span
from ..ir import build, ir
from ..ir import walk as ir_walk
from ..types import ctype
from ..types.ctype import CType
from ..types.literals import Unsupported
from ..types.table import TypeTable, const_object
from . import ahead, convert
from . import expr as lower_expr
from .init import initialiser, range_ends
from .names import Globals, undeclared

OPAQUE = "HD330"
MOST_LABELS = 1024  # of a case range


class FunctionLowering:
    """Lowers one FuncDef. `here`: the annotated statement, if it stands in this function; `at_region` is called when it
    is reached, with the names of its scope resolvable, and gets its statements."""

    def __init__(
        self, node: c_ast.FuncDef, shared: Globals, here: c_ast.Node | None,
        at_region: Callable[[FunctionLowering, ir.Block], None],
    ) -> None:
        self.types: TypeTable = shared.types
        self._shared, self._node, self._here, self._at_region = shared, node, here, at_region
        self._symbols: dict[int, ir.Symbol] = {}
        self._lengths: dict[int, ir.Symbol] = {}  # of arrays of variable length
        self._columns: dict[int, tuple[ir.Symbol, ...]] = {}  # of those of several dimensions, all but the first
        self._failed: set[int] = set()
        self._taken: set[str] = set(shared.reserved(node))
        self._locals: list[ir.Symbol] = []
        self._result: CType = ctype.VOID
        self._switch: list[CType] = []
        self.ahead: list[ir.Stmt] | None = None
        self._addressed: frozenset[str] | None = None
        self.lasting = here is not None  # objects of the code around the region, which the prologue has to name

    def function(self) -> ir.Function:
        """Raises Unsupported where the function's own type is beyond us; its statements never raise."""
        node = self._node
        kind = self.types.type_of(node.decl.type)
        assert isinstance(kind, ctype.Func)
        with self.types.scope():
            params = self._params()
            kind = ctype.Func(kind.result, tuple(p.type for p in params), kind.variadic and bool(kind.params))
            self._result = kind.result
            body = self._items(node.body.block_items or [])
        return ir.Function(node.decl.name, kind, tuple(params), tuple(self._locals), body, span=self.span(node.decl))

    def _params(self) -> list[ir.Symbol]:
        params = []
        for name, kind, node in self.types.declare_params(self._node):
            symbol = ir.Symbol(self._unique(name), name, kind, "param", const_object(node), span=self.span(node))
            self._symbols[id(node)] = symbol
            params.append(symbol)
        return params

    # ------------------------------------------------------------------------------------- names

    def span(self, node: c_ast.Node) -> Span:
        return self._shared.span(node)

    def value(self, node: c_ast.Node) -> ir.Expr:
        return lower_expr.value(node, self)

    def expr(self, node: c_ast.Node) -> ir.Expr:
        return lower_expr.expr(node, self)

    def resolve(self, name: str, node: c_ast.Node) -> ir.Expr:
        """What an identifier stands for here."""
        found = self.types.lookup(name)
        span = self.span(node)
        if name in ("__func__", "__FUNCTION__") and found is None:
            return build.string(self._node.decl.name.encode(), span)
        if found is None or found.kind == "typedef":
            raise undeclared(name, node)
        if found.kind == "enumerator":
            return ir.Const(found.ctype, found.value or 0, span=span)
        if id(found.node) in self._failed:
            raise Unsupported(f"{name!r}, whose declaration", node)
        if self._columns.get(id(found.node)):
            raise Unsupported(f"{name!r}, an array of several variable dimensions, as a pointer to its rows", node)
        symbol = self._symbols.get(id(found.node)) or self._shared.use(name, found)
        if isinstance(symbol.type, ctype.Pointer) and _variable_length(symbol.type.to):
            raise Unsupported(f"{name!r}, a pointer to rows of variable length,", node)
        return ir.Name(symbol.type, symbol.name, span=span)

    def variable(self, name: str) -> str:
        """The IR's name of a source variable visible here; "" where it has none."""
        found = self.types.lookup(name)
        if found is None or found.kind != "object" or id(found.node) in self._failed:
            return ""
        return (self._symbols.get(id(found.node)) or self._shared.use(name, found)).name

    def inside(self, body: ir.Block, name: str) -> str:
        """The IR's name of the first variable of that name in the source that the body declares; "" without one."""
        originals = {symbol.name: symbol.original for symbol in self._locals}
        declared = (node.name for node in ir_walk.walk(body) if isinstance(node, ir.Decl))
        return next((found for found in declared if originals.get(found) == name), "")

    def _unique(self, name: str) -> str:
        if "$" in name:
            raise Unsupported(f"a name with '$' ({name})")
        unique, number = name, 1
        while unique in self._taken:
            number += 1
            unique = f"{name}${number}"
        self._taken.add(unique)
        return unique

    # ------------------------------------------------------------------------------------- statements

    def _items(self, nodes: Sequence[c_ast.Node]) -> ir.Block:
        """A block's statements; what fails becomes an Opaque."""
        with self.types.scope():
            body = [s for node in nodes for s in self._safe(node)]
        return ir.Block(tuple(body))

    def _safe(self, node: c_ast.Node) -> list[ir.Stmt]:
        known = len(self._locals)
        try:
            return self._stmts(node)
        except Unsupported as error:
            del self._locals[known:]  # of parts that were lowered and are dropped with the whole
            place = error.node if isinstance(error.node, c_ast.Node) else node
            return [ir.Opaque(OPAQUE, f"{error.what} cannot be analysed", span=self.span(place))]

    def _stmts(self, node: Any) -> list[ir.Stmt]:
        if node is self._here:
            return self._region(node)
        outer, self.ahead = self.ahead, []
        try:
            handler = _HANDLERS.get(type(node))
            made = handler(self, node) if handler is not None else [ir.ExprStmt(self.value(node), span=self.span(node))]
            if self.ahead:
                ahead.check(self, self.ahead, made, node)
            return [*self.ahead, *made]
        finally:
            self.ahead = outer

    def temporary(self, kind: CType, span: Span, at: int | None = None) -> str:
        """A variable of the function that the program does not name. at: its place among them, in order of declaration."""
        symbol = ir.Symbol(self._unique("hd_value"), "hd_value", kind, "local", span=span)
        self._locals.insert(len(self._locals) if at is None else at, symbol)
        return symbol.name

    def own(self, name: str) -> bool:
        """Is it a local number or pointer that no pointer leads to?"""
        if self._addressed is None:
            self._addressed = _addressed(self._node)
        found = next((s for s in (*self._locals, *self._symbols.values()) if s.name == name), None)
        plain = found is not None and found.storage in ("local", "param") and isinstance(
            found.type, (ctype.Int, ctype.Float, ctype.Pointer))
        return plain and found is not None and found.original not in self._addressed

    def statement_expression(self, node: c_ast.Compound) -> ir.Expr:
        at = len(self._locals)
        return ahead.statement_expression(self, node, lambda: self._valued(node), self.span(node), at)

    def _valued(self, node: c_ast.Compound) -> tuple[list[ir.Stmt], ir.Expr | None]:
        """Statements of a statement expression, and its last expression."""
        items = node.block_items or []
        last = items[-1] if items and type(items[-1]) not in _HANDLERS else None
        with self.types.scope():
            body = [s for item in (items if last is None else items[:-1]) for s in self._stmts(item)]
            if last is None:
                return body, None
            outer, self.ahead = self.ahead, []
            value = self.value(last)
            inner, self.ahead = self.ahead, outer
            if inner:
                ahead.check(self, inner, [ir.ExprStmt(value)], last)
            return [*body, *inner], value

    def _region(self, node: Any) -> list[ir.Stmt]:
        span, self._here = self.span(node), None
        self.lasting = False
        self._at_region(self, self._body(node))
        self.lasting = True
        return [ir.RegionHere(span=span)]

    def _body(self, node: Any) -> ir.Block:
        """A statement as a block with a scope of its own."""
        if node is self._here or not isinstance(node, c_ast.Compound):
            return self._items([node] if node is not None else [])
        return self._items(node.block_items or [])

    def compound(self, node: c_ast.Compound) -> list[ir.Stmt]:
        return [ir.Block(self._items(node.block_items or []).body, span=self.span(node))]

    def decl(self, node: c_ast.Decl) -> list[ir.Stmt]:
        """A declaration; where it fails, so does every use of its name, rather than mean an outer variable."""
        try:
            return self._decl(node)
        except Unsupported:
            if node.name:
                self.types.bind(node.name, ctype.INT, node)
                self._failed.add(id(node))
            raise

    def _decl(self, node: c_ast.Decl) -> list[ir.Stmt]:
        kind = self.types.declare(node)
        if node.name is None or isinstance(kind, ctype.Func) or "extern" in (node.storage or []):
            return []
        if "static" in (node.storage or []):
            self._static(node, kind)
            return []
        symbol = ir.Symbol(self._unique(node.name), node.name, kind, "local", const_object(node), span=self.span(node))
        self._symbols[id(node)] = symbol
        if _variable_length(kind):
            dims = _dims(node.type, kind)
            if dims is not None:
                return self._variable_array(symbol, node, dims)
            if node.init is None:
                raise Unsupported(f"array {node.name!r} of variable length", node)
        init: ir.Init | None = None
        if node.init is not None:
            init, kind = initialiser(kind, node.init, self)
            symbol = ir.Symbol(symbol.name, node.name, kind, "local", symbol.const, span=symbol.span)
            self._symbols[id(node)] = symbol
        self._locals.append(symbol)
        return [ir.Decl(symbol.name, init, span=symbol.span)]

    def _variable_array(self, symbol: ir.Symbol, node: c_ast.Decl, dims: list[c_ast.Node]) -> list[ir.Stmt]:
        """An array of variable length, and before it a variable that keeps its length for sizeof.

        One of several dimensions is one of all elements, of which `element` finds the place by the lengths of its rows.
        """
        span, kind = symbol.span, symbol.type
        for _ in dims:
            kind = kind.of  # type: ignore[attr-defined]
        symbol = self._symbols[id(node)] = replace(symbol, type=ctype.Array(kind, None))
        lengths = [convert.to(ctype.ULONG, convert.promote(self.value(dim))) for dim in dims]
        made = [self._kept_length(f"{node.name}_columns", length, span) for length in lengths[1:]]
        self._columns[id(node)] = tuple(column for column, _ in made)
        total = lengths[0]
        for column, _ in made:
            total = build.binary("*", total, ir.Name(ctype.ULONG, column.name, span=span), span)
        count, decl = self._kept_length(f"{node.name}_length", total, span)
        self._locals.append(symbol)
        self._lengths[id(node)] = count
        length = ir.Name(ctype.ULONG, count.name, span=span)
        return [*(one for _, one in made), decl, ir.Decl(symbol.name, None, length, span=span)]

    def _kept_length(self, name: str, value: ir.Expr, span: Span) -> tuple[ir.Symbol, ir.Decl]:
        kept = ir.Symbol(self._unique(name), name, ctype.ULONG, "local", span=span)
        self._locals.append(kept)
        return kept, ir.Decl(kept.name, value, span=span)

    def element(self, node: c_ast.ArrayRef) -> ir.Expr | None:
        """An element, or a row as a pointer, of an array of several variable dimensions; None for any other."""
        subscripts: list[c_ast.Node] = []
        base: c_ast.Node = node
        while isinstance(base, c_ast.ArrayRef):
            subscripts.insert(0, base.subscript)
            base = base.name
        if not isinstance(base, c_ast.ID):
            return None
        found = self.types.lookup(base.name)
        columns = self._columns.get(id(found.node), ()) if found is not None else ()
        if found is None or not columns or len(subscripts) > len(columns) + 1:
            return None
        if len(subscripts) < len(columns):
            raise Unsupported(f"part of {base.name!r}, an array of more than two variable dimensions,", node)
        span, symbol = self.span(node), self._symbols[id(found.node)]
        place = convert.to(ctype.LONG, convert.promote(self.value(subscripts[0])))
        for number, column in enumerate(columns):
            length = build.cast(ctype.LONG, ir.Name(ctype.ULONG, column.name, span=span), span)
            place = build.binary("*", place, length, span)
            if number + 1 < len(subscripts):
                next_one = convert.to(ctype.LONG, convert.promote(self.value(subscripts[number + 1])))
                place = build.binary("+", place, next_one, span)
        first = build.decay(ir.Name(symbol.type, symbol.name, span=span))
        if len(subscripts) > len(columns):
            return build.index(first, place, span)
        return build.binary("+", first, place, span)

    def first_element(self, node: c_ast.Node) -> ir.Expr | None:
        """An array of several variable dimensions as a function gets it that takes any pointer; None for anything else."""
        found = self.types.lookup(node.name) if isinstance(node, c_ast.ID) else None
        if found is None or not self._columns.get(id(found.node)):
            return None
        symbol, span = self._symbols[id(found.node)], self.span(node)
        return build.decay(ir.Name(symbol.type, symbol.name, span=span))

    def size_of(self, name: str, node: c_ast.Node) -> ir.Expr | None:
        """sizeof of an array of variable length, None for anything else."""
        found = self.types.lookup(name)
        count = self._lengths.get(id(found.node)) if found is not None else None
        kind = self._symbols[id(found.node)].type if count is not None else None  # type: ignore[union-attr]
        size = self.types.layouts.size(kind.of) if isinstance(kind, ctype.Array) else None
        if count is None or not size:
            return None
        span = self.span(node)
        return build.binary("*", ir.Name(ctype.ULONG, count.name, span=span), build.const(size, ctype.ULONG, span), span)

    def _static(self, node: c_ast.Decl, kind: CType) -> None:
        symbol = self._shared.static(node, kind, self._node.decl.name, const_object(node))
        self._symbols[id(node)] = symbol
        if node.init is not None:
            init, kind = initialiser(kind, node.init, self)
            self._symbols[id(node)] = self._shared.initialise(symbol, init, kind)

    def if_(self, node: c_ast.If) -> list[ir.Stmt]:
        cond = lower_expr.condition(node.cond, self)
        other = self._body(node.iffalse) if node.iffalse is not None else None
        return [ir.If(cond, self._body(node.iftrue), other, span=self.span(node))]

    def while_(self, node: c_ast.While) -> list[ir.Stmt]:
        return [ir.While(self._test(node.cond), self._body(node.stmt), span=self.span(node))]

    def do(self, node: c_ast.DoWhile) -> list[ir.Stmt]:
        body = self._body(node.stmt)
        return [ir.DoWhile(body, self._test(node.cond), span=self.span(node))]

    def _test(self, node: c_ast.Node) -> ir.Expr:
        """A loop's condition, which is asked in every round."""
        with ahead.nothing_ahead(self):
            return lower_expr.condition(node, self)

    def for_(self, node: c_ast.For) -> list[ir.Stmt]:
        span = self.span(node)
        with self.types.scope():
            before: list[ir.Stmt] = []
            if isinstance(node.init, c_ast.DeclList):
                before = [s for d in node.init.decls for s in self._stmts(d)]
            elif node.init is not None:
                before = self._stmts(node.init)
            cond = self._test(node.cond) if node.cond is not None else None
            with ahead.nothing_ahead(self):
                step = self.value(node.next) if node.next is not None else None
            body = self._body(node.stmt)
        if len(before) == 1:
            return [ir.For(before[0], cond, step, body, span=span)]
        loop = ir.For(None, cond, step, body, span=span)
        return [ir.Block((*before, loop), span=span)] if before else [loop]

    def switch(self, node: c_ast.Switch) -> list[ir.Stmt]:
        chosen = convert.promote(self.value(node.cond))
        self._switch.append(chosen.type)
        try:
            return [ir.Switch(chosen, self._body(node.stmt), span=self.span(node))]
        finally:
            self._switch.pop()

    def case(self, node: c_ast.Case | c_ast.Default) -> list[ir.Stmt]:
        values: Sequence[int | None] = [None]
        if isinstance(node, c_ast.Case):
            first, last = range_ends(node.expr)
            values = range(self._case_value(first), self._case_value(last) + 1)
            if len(values) > MOST_LABELS:
                raise Unsupported(f"case range of {len(values)} numbers (an if before the switch does the same)", node)
        inner = [s for part in node.stmts or [] for s in self._safe(part)]
        return [*(ir.CaseLabel(value, span=self.span(node)) for value in values), *inner]

    def _case_value(self, node: c_ast.Node) -> int:
        const = build.cast(self._switch[-1] if self._switch else ctype.INT, self.value(node))
        if not isinstance(const, ir.Const) or not isinstance(const.value, int):
            raise Unsupported("case label that is not constant", node)
        return const.value

    def return_(self, node: c_ast.Return) -> list[ir.Stmt]:
        if node.expr is None:
            return [ir.Return(None, span=self.span(node))]
        value = self.value(node.expr)
        if self._result == ctype.VOID:
            return [ir.ExprStmt(value, span=self.span(node)), ir.Return(None, span=self.span(node))]
        return [ir.Return(convert.to(self._result, value), span=self.span(node))]

    def label(self, node: c_ast.Label) -> list[ir.Stmt]:
        return [ir.Label(node.name, span=self.span(node)), *self._safe(node.stmt)]

    def declare_only(self, node: c_ast.Typedef) -> list[ir.Stmt]:
        self.types.declare(node)
        return []


def _addressed(function: c_ast.Node) -> frozenset[str]:
    """Names of which the function takes the address."""
    found: set[str] = set()
    stack: list[Any] = [function]
    while stack:
        node = stack.pop()
        if isinstance(node, c_ast.UnaryOp) and node.op == "&" and isinstance(node.expr, c_ast.ID):
            found.add(node.expr.name)
        stack.extend(child for _, child in node.children())
    return frozenset(found)


def _variable_length(kind: CType) -> bool:
    return isinstance(kind, ctype.Array) and (kind.length is None or _variable_length(kind.of))


def _dims(node: c_ast.Node, kind: CType) -> list[c_ast.Node] | None:
    """The dimensions of an array of variable length, up to the last one that is not constant; None: one is not there."""
    dims = []
    while _variable_length(kind):
        if not isinstance(node, c_ast.ArrayDecl) or node.dim is None:
            return None
        dims.append(node.dim)
        node, kind = node.type, kind.of  # type: ignore[attr-defined]
    return dims


def _nothing(lowering: FunctionLowering, node: c_ast.Node) -> list[ir.Stmt]:
    return []


_HANDLERS: dict[type, Callable[[FunctionLowering, Any], list[ir.Stmt]]] = {
    c_ast.Compound: FunctionLowering.compound,
    c_ast.Decl: FunctionLowering.decl,
    c_ast.Typedef: FunctionLowering.declare_only,
    c_ast.If: FunctionLowering.if_,
    c_ast.While: FunctionLowering.while_,
    c_ast.DoWhile: FunctionLowering.do,
    c_ast.For: FunctionLowering.for_,
    c_ast.Switch: FunctionLowering.switch,
    c_ast.Case: FunctionLowering.case,
    c_ast.Default: FunctionLowering.case,
    c_ast.Return: FunctionLowering.return_,
    c_ast.Break: lambda f, node: [ir.Break(span=f.span(node))],
    c_ast.Continue: lambda f, node: [ir.Continue(span=f.span(node))],
    c_ast.Goto: lambda f, node: [ir.Goto(node.name, span=f.span(node))],
    c_ast.Label: FunctionLowering.label,
    c_ast.AttributedStatement: lambda f, node: f._stmts(node.stmt),
    c_ast.EmptyStatement: _nothing,
    c_ast.Pragma: _nothing,
    c_ast.StaticAssert: _nothing,
    c_ast.AttributeDeclaration: _nothing,
}
