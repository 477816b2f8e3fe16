"""Reads printed IR back: `read_ir(print_ir(p)) == p` but for the spans.

The text is C23 to pycparser; attributes and builtin calls make the nodes of our own. Conversions are casts in the
text, so nothing is converted here but array decay. It reads what `ir.text` writes, not any C.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pycparser import CParser, c_ast

from ...errors import CompilerBug
from ...manifest import Reason
from ...source import UNKNOWN, Span
from ..types import ctype, literals
from ..types.table import TypeTable, const_object
from . import build, ir
from .names import unmangle, untag
from .pieces import make_pieces

_NUMBER = re.compile(r"(\d+)(U?L?L?)$")
_KINDS = {"": ctype.INT, "U": ctype.UINT, "L": ctype.LONG, "UL": ctype.ULONG, "LL": ctype.LLONG, "ULL": ctype.ULLONG}
_OUTPUT_TYPES = {"fwrite": ctype.ULONG, "fwrite_unlocked": ctype.ULONG, "perror": ctype.VOID}


def output_type(call: str) -> ctype.CType:
    """Result type of a stdio call that writes."""
    return _OUTPUT_TYPES.get(call, ctype.INT)


def read_ir(text: str) -> ir.Program:
    """The program a text of `print_ir` stands for; raises CompilerBug where it is not such a text."""
    try:
        tree = CParser(dialect="c23").parse(text, "<ir>")
        return _Reader().program(tree)
    except CompilerBug:
        raise
    except Exception as error:
        raise CompilerBug(f"printed IR does not read back: {error}") from error


def attributes(node: Any) -> dict[str, str]:
    """hd:: attributes of a node: name -> argument text."""
    return {a.name: a.arguments or "" for group in getattr(node, "attributes", None) or [] for a in group.attributes}


class _Reader:
    def __init__(self) -> None:
        self._types = TypeTable()
        self._structs: list[tuple[str, bool, ctype.Layout]] = []
        self._layouts = ctype.Layouts()
        self._symbols: dict[str, ir.Symbol] = {}
        self._functions: dict[str, ctype.Func] = {}
        self._locals: list[ir.Symbol] = []
        self._region: ir.Region | None = None
        self._function = ""

    # ------------------------------------------------------------------------------------- top level

    def program(self, tree: c_ast.FileAST) -> ir.Program:
        refusals: list[Reason] = []
        variables: list[c_ast.Decl] = []
        for node in tree.ext:
            if isinstance(node, c_ast.AttributeDeclaration):
                refusals.append(_refusal(attributes(node)["refusal"]))
            elif isinstance(node, c_ast.Decl):
                variables += self._declare(node)
        symbols = [self._global(node) for node in variables]  # initialisers name what is declared further down, too
        functions = [self._function_def(node) for node in tree.ext if isinstance(node, c_ast.FuncDef)]
        if self._region is None:
            raise CompilerBug("printed IR has no region")
        return ir.Program(
            tuple(self._structs), tuple(s for s in symbols if s.storage not in ("extern", "call")),
            tuple(s for s in symbols if s.storage in ("extern", "call")), tuple(functions),
            self._region,  # type: ignore[arg-type]
            tuple(refusals),
        )

    def _declare(self, node: c_ast.Decl) -> list[c_ast.Decl]:
        """Enter a declaration; back comes what is a variable or a library's name."""
        if node.name is None:
            self._type(node.type)  # the tag alone is enough for types that name it
            if node.type.decls is not None:
                self._struct(node.type)
            return []
        name = unmangle(node.name)
        if isinstance(node.type, c_ast.FuncDecl) and "static" in node.storage:
            self._functions[name] = self._func_type(node)
            return []
        self._symbols[name] = self._symbol(node)
        return [node]

    def _type(self, node: c_ast.Node) -> Any:
        return _retag(self._types.type_of(node))

    def _func_type(self, node: c_ast.Decl) -> ctype.Func:
        kind = self._type(node.type)
        assert isinstance(kind, ctype.Func)
        return kind

    def _struct(self, node: c_ast.Struct | c_ast.Union) -> None:
        kind = self._type(node)
        size, align = map(int, attributes(node)["layout"].split(","))
        fields = []
        for decl in node.decls or []:
            bits = int(decl.bitsize.value) if decl.bitsize is not None else 0
            name = unmangle(decl.name)
            fields.append(ctype.Field(name, self._type(decl.type), int(attributes(decl)["at"]), bits))
        layout = ctype.Layout(tuple(fields), size, align)
        self._structs.append((kind.tag, kind.union, layout))
        self._layouts.table[kind.tag] = layout

    def _symbol(self, node: c_ast.Decl) -> ir.Symbol:
        name = unmangle(node.name)
        call, owner = attributes(node).get("call", ""), attributes(node).get("owner", "")
        if call:
            return ir.Symbol(name, literals.string_bytes(call).decode(), self._type(node.type), "call")
        storage = "extern" if "extern" in node.storage else "static" if "static" in node.storage else "global"
        return ir.Symbol(
            name, _original(name), self._type(node.type), storage, const_object(node), owner)  # type: ignore[arg-type]

    def _global(self, node: c_ast.Decl) -> ir.Symbol:
        symbol = self._symbols[unmangle(node.name)]
        return symbol if node.init is None else replace(symbol, init=self._init(node.init, symbol.type))

    def _function_def(self, node: c_ast.FuncDef) -> ir.Function:
        self._function, self._locals = unmangle(node.decl.name), []
        args = node.decl.type.args.params if node.decl.type.args else []
        params = tuple(
            ir.Symbol(unmangle(p.name), _original(unmangle(p.name)), self._type(p.type), "param", const_object(p))
            for p in args if isinstance(p, c_ast.Decl)
        )
        outer = dict(self._symbols)
        self._symbols.update((p.name, p) for p in params)
        body = self._block(node.body)
        self._symbols = outer
        kind = self._func_type(node.decl)
        return ir.Function(self._function, kind, params, tuple(self._locals), body)

    # ------------------------------------------------------------------------------------- statements

    def _block(self, node: c_ast.Node | None) -> ir.Block:
        items = node.block_items or [] if isinstance(node, c_ast.Compound) else [node] if node is not None else []
        out: list[ir.Stmt] = []
        pragma = ""
        for item in items:
            if isinstance(item, c_ast.Pragma):
                pragma = item.string
            elif pragma:
                out.append(self._region_here(pragma, item))
                pragma = ""
            else:
                out += self._stmts(item)
        return ir.Block(tuple(out))

    def _region_here(self, pragma: str, node: c_ast.Node) -> ir.Stmt:
        kind = pragma.split()[1]
        found: dict[str, str] = dict(re.findall(r"(\w+)\(([^)]*)\)", pragma))
        values: dict[str, Any] = {}
        for name in ("key", "value", *(("keyin", "valuein") if kind == "combiner" else ())):
            values[name] = found.get(name, "")
        for name in ("keylength", "vallength", "kvpairs", "blocks", "threads"):
            values[name] = int(found.get(name, "0"))
        for name in ("firstprivate", "sharedRO", "texture"):
            values[name] = tuple(found[name].split(", ")) if name in found else ()
        cls = ir.CombineRegion if kind == "combiner" else ir.MapRegion
        self._region = cls(function=self._function, body=self._block(node), **values)
        return ir.RegionHere()

    def _stmts(self, node: c_ast.Node) -> list[ir.Stmt]:
        """One node as statements: labels stand before what they label."""
        if isinstance(node, (c_ast.Case, c_ast.Default)):
            inner = [s for part in node.stmts or [] for s in self._stmts(part)]
            value = self._constant(node.expr) if isinstance(node, c_ast.Case) else None
            return [ir.CaseLabel(value), *inner]
        if isinstance(node, c_ast.Label):
            return [ir.Label(unmangle(node.name)), *self._stmts(node.stmt)]
        if isinstance(node, c_ast.EmptyStatement):
            return []
        return [self._stmt(node)]

    def _stmt(self, node: Any) -> ir.Stmt:
        if isinstance(node, c_ast.AttributedStatement):
            loop = node.stmt
            step = self._value(loop.next) if loop.next is not None else None
            return ir.RecordLoop(self._value(loop.cond), step, self._block(loop.stmt))
        handler = _STMTS.get(type(node))
        if handler is not None:
            return handler(self, node)
        if isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID) and node.name.name == "__opaque":
            code, message = (literals.string_bytes(a.value).decode() for a in node.args.exprs)
            return ir.Opaque(code, message)
        return ir.ExprStmt(self._value(node))

    def decl(self, node: Any) -> ir.Stmt:
        kind, name = self._type(node.type), unmangle(node.name)
        length = None
        if "length" in attributes(node):
            length = self._value(node.type.dim)
        symbol = ir.Symbol(name, _original(name), kind, "local", const_object(node))
        self._locals.append(symbol)
        self._symbols[name] = symbol
        return ir.Decl(name, self._init(node.init, kind) if node.init is not None else None, length)

    def if_(self, node: Any) -> ir.Stmt:
        other = self._block(node.iffalse) if node.iffalse is not None else None
        return ir.If(self._value(node.cond), self._block(node.iftrue), other)

    def for_(self, node: Any) -> ir.Stmt:
        init: ir.Stmt | None = None
        if isinstance(node.init, c_ast.DeclList):
            init = self.decl(node.init.decls[0])
        elif node.init is not None:
            init = ir.ExprStmt(self._value(node.init))
        cond = self._value(node.cond) if node.cond is not None else None
        step = self._value(node.next) if node.next is not None else None
        return ir.For(init, cond, step, self._block(node.stmt))

    def _init(self, node: Any, kind: ctype.CType) -> ir.Init:
        """The initialiser of an object of type `kind`: a string fills an array and is an address elsewhere."""
        if not isinstance(node, c_ast.InitList):
            return self._expr(node) if isinstance(kind, ctype.Array) else self._value(node)
        items: list[tuple[tuple[int | str, ...], ir.Expr]] = []
        for item in node.exprs:
            path = tuple(
                self._constant(p.expr) if isinstance(p, c_ast.ArrayDesignator) else unmangle(p.name) for p in item.name
            )
            value = self._init(item.expr, self._part(kind, path))
            assert isinstance(value, ir.Expr)
            items.append((path, value))
        return ir.Fill(tuple(items))

    def _part(self, kind: ctype.CType, path: tuple[int | str, ...]) -> ctype.CType:
        """Type of the part of an aggregate that a path names."""
        for step in path:
            if isinstance(kind, ctype.Array):
                kind = kind.of
            elif isinstance(kind, ctype.Struct) and isinstance(step, str):
                field = self._layouts.table[kind.tag].field(step)
                assert field is not None
                kind = field.type
        return kind

    def _constant(self, node: Any) -> int:
        value = self._value(node)
        assert isinstance(value, ir.Const) and isinstance(value.value, int)
        return value.value

    # ------------------------------------------------------------------------------------- expressions

    def _value(self, node: Any) -> ir.Expr:
        return build.decay(self._expr(node))

    def _expr(self, node: Any) -> ir.Expr:
        return _EXPRS[type(node)](self, node)

    def constant(self, node: Any) -> ir.Expr:
        if node.type == "string":
            return build.string(literals.string_bytes(node.value))
        match = _NUMBER.match(node.value)
        if match:
            return build.const(int(match[1]), _KINDS[match[2]])
        single = node.value.endswith("f")
        value = float(node.value.removesuffix("f"))
        return ir.Const(ctype.FLOAT, literals.to_float(value)) if single else ir.Const(ctype.DOUBLE, value)

    def name(self, node: Any) -> ir.Expr:
        name = unmangle(node.name)
        symbol = self._symbols.get(name)
        return ir.Name(symbol.type if symbol else self._functions[name], name)

    def unary(self, node: Any) -> ir.Expr:
        op = node.op
        if op in ("++", "--", "p++", "p--"):
            return build.step(op[-2:], self._expr(node.expr), not op.startswith("p"), UNKNOWN)
        if op == "&":
            return build.address(self._expr(node.expr), UNKNOWN)
        value = self._value(node.expr)
        return build.deref(value, UNKNOWN) if op == "*" else build.unary(op, value, UNKNOWN)

    def binary(self, node: Any) -> ir.Expr:
        return build.binary(node.op, self._value(node.left), self._value(node.right), UNKNOWN)

    def member(self, node: Any) -> ir.Expr:
        base = build.deref(self._value(node.name), UNKNOWN) if node.type == "->" else self._expr(node.name)
        return build.member(base, unmangle(node.field.name), self._layouts, UNKNOWN)

    def cast(self, node: Any) -> ir.Expr:
        return build.cast(self._type(node.to_type), self._value(node.expr))

    def assign(self, node: Any) -> ir.Expr:
        return build.assign(node.op, self._expr(node.lvalue), self._value(node.rvalue), UNKNOWN)

    def conditional(self, node: Any) -> ir.Expr:
        arms = (self._value(node.cond), self._value(node.iftrue), self._value(node.iffalse))
        return build.conditional(*arms, UNKNOWN)

    def comma(self, node: Any) -> ir.Expr:
        result = self._value(node.exprs[0])
        for part in node.exprs[1:]:
            result = build.comma(result, self._value(part), UNKNOWN)
        return result

    def compound(self, node: Any) -> ir.Expr:
        kind = self._type(node.type)
        node = node.init
        if len(node.exprs) == 1 and not isinstance(node.exprs[0], c_ast.NamedInitializer):
            node = node.exprs[0]  # a scalar or a string in its braces
        return ir.Compound(kind, self._init(node, kind))

    def call(self, node: Any) -> ir.Expr:
        args = node.args.exprs if node.args is not None else []
        own = _OWN.get(node.name.name) if isinstance(node.name, c_ast.ID) else None
        if own is not None:
            return own(self, args)
        return build.call(self._value(node.name), tuple(self._value(a) for a in args), UNKNOWN)

    def own_read(self, kind: Any, args: list[Any]) -> ir.Expr:
        target, capacity = (self._value(a) for a in args)
        result = ctype.LONG if kind == "getline" else ctype.Pointer(ctype.CHAR)
        return ir.ReadRecord(result, kind, target, capacity)

    def own_pair(self, args: list[Any]) -> ir.Expr:
        return ir.ReadPair(ctype.INT, literals.string_bytes(args[0].value), tuple(self._value(a) for a in args[1:]))

    def own_output(self, cls: Any, args: list[Any]) -> ir.Expr:
        call, text = (literals.string_bytes(a.value) for a in args[:2])
        pieces = make_pieces(text, tuple(self._value(a) for a in args[2:]))
        if pieces is None:
            raise CompilerBug("printed IR has a format that is none")
        result: ir.Expr = cls(output_type(call.decode()), call.decode(), pieces)
        return result

    def own_accumulate(self, args: list[Any]) -> ir.Expr:
        op: Any = literals.string_bytes(args[0].value).decode()
        return ir.Accumulate(ctype.VOID, op, self._expr(args[1]), self._value(args[2]))

    def own_exit(self, args: list[Any]) -> ir.Expr:
        call = literals.string_bytes(args[0].value).decode()
        return ir.Exit(ctype.VOID, call, tuple(self._value(a) for a in args[1:]))


def _refusal(text: str) -> Reason:
    words = re.findall(r'"(?:[^"\\]|\\.)*"', text)
    code, file, columns, message = (literals.string_bytes(word).decode("utf-8", "surrogateescape") for word in words)
    line, col, end = map(int, columns.split(":"))
    return Reason(code, message, Span(file, line, col, end))


def _original(name: str) -> str:
    return name.split("$")[0]


def _retag(kind: ctype.CType) -> ctype.CType:
    """Struct tags as they were before printing."""
    if isinstance(kind, ctype.Struct):
        return ctype.Struct(untag(kind.tag), kind.union)
    if isinstance(kind, ctype.Pointer):
        return ctype.Pointer(_retag(kind.to), kind.const)
    if isinstance(kind, ctype.Array):
        return ctype.Array(_retag(kind.of), kind.length)
    if isinstance(kind, ctype.Func):
        return ctype.Func(_retag(kind.result), tuple(map(_retag, kind.params)), kind.variadic)
    return kind


_OWN: dict[str, Callable[[_Reader, list[Any]], ir.Expr]] = {
    "__read_getline": lambda r, a: r.own_read("getline", a),
    "__read_fgets": lambda r, a: r.own_read("fgets", a),
    "__read_pair": _Reader.own_pair,
    "__emit": lambda r, a: r.own_output(ir.Emit, a),
    "__stderr": lambda r, a: r.own_output(ir.Stderr, a),
    "__exit": _Reader.own_exit,
    "__accumulate": _Reader.own_accumulate,
}

_EXPRS: dict[type, Callable[[_Reader, Any], ir.Expr]] = {
    c_ast.Constant: _Reader.constant, c_ast.ID: _Reader.name, c_ast.UnaryOp: _Reader.unary, c_ast.BinaryOp: _Reader.binary,
    c_ast.ArrayRef: lambda r, n: build.index(r._value(n.name), r._value(n.subscript), UNKNOWN),
    c_ast.StructRef: _Reader.member, c_ast.Cast: _Reader.cast, c_ast.Assignment: _Reader.assign,
    c_ast.TernaryOp: _Reader.conditional, c_ast.ExprList: _Reader.comma, c_ast.CompoundLiteral: _Reader.compound,
    c_ast.FuncCall: _Reader.call,
}

_STMTS: dict[type, Callable[[_Reader, Any], ir.Stmt]] = {
    c_ast.Decl: _Reader.decl, c_ast.If: _Reader.if_, c_ast.For: _Reader.for_, c_ast.Compound: _Reader._block,
    c_ast.While: lambda r, n: ir.While(r._value(n.cond), r._block(n.stmt)),
    c_ast.DoWhile: lambda r, n: ir.DoWhile(r._block(n.stmt), r._value(n.cond)),
    c_ast.Switch: lambda r, n: ir.Switch(r._value(n.cond), r._block(n.stmt)),
    c_ast.Break: lambda r, n: ir.Break(), c_ast.Continue: lambda r, n: ir.Continue(),
    c_ast.Return: lambda r, n: ir.Return(r._value(n.expr) if n.expr is not None else None),
    c_ast.Goto: lambda r, n: ir.Goto(unmangle(n.name)),
}
