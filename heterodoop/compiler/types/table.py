"""pycparser's declarations -> ctype: typedefs, tags, enumerators and objects by scope, and struct layouts.

A `TypeTable` walks along with its caller: `declare` every declaration in source order, `scope()` around blocks. Layouts
follow the System V ABI of x86-64, as gcc without packing. Members of anonymous structs and unions are listed as the
enclosing one's own. Not done here: judging whether a program is valid C (a C compiler did), initialiser values.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from pycparser import c_ast

from ...values import dataclass
from ..source.parse import TO
from . import ctype, literals
from .const_eval import const_eval, evaluate, expr_type
from .ctype import CType, Field, Int, Layout, Layouts, Pointer, Struct
from .literals import Unsupported

__all__ = ["Identifier", "TypeTable", "Unsupported", "const_eval", "evaluate", "expr_type"]


@dataclass(frozen=True)
class Identifier:
    """What an ordinary identifier is. `value` is an enumerator's; `node` the declaration (None if made up)."""

    kind: Literal["object", "function", "typedef", "enumerator"]
    ctype: CType
    value: int | None = None
    node: c_ast.Node | None = None


_WORDS = {"signed", "unsigned", "short", "long", "int", "char", "float", "double", "void", "_Bool", "__int128", "bool"}
_PLAIN: dict[tuple[str, ...], CType] = {
    ("void",): ctype.VOID, ("_Bool",): ctype.BOOL, ("bool",): ctype.BOOL, ("char",): ctype.CHAR,
    ("char", "signed"): ctype.SCHAR, ("char", "unsigned"): ctype.UCHAR,
    ("short",): ctype.SHORT, ("short", "unsigned"): ctype.USHORT, (): ctype.INT, ("unsigned",): ctype.UINT,
    ("long",): ctype.LONG, ("long", "unsigned"): ctype.ULONG,
    ("long", "long"): ctype.LLONG, ("long", "long", "unsigned"): ctype.ULLONG,
    ("__int128",): ctype.INT128, ("__int128", "unsigned"): ctype.UINT128,
    ("float",): ctype.FLOAT, ("double",): ctype.DOUBLE, ("double", "long"): ctype.LDOUBLE,
}


def basic_type(names: list[str]) -> CType | None:
    """The type that keywords in any order name (`long unsigned int`), or None (a typedef's name, `_Complex`)."""
    if not set(names) <= _WORDS:
        return None
    words = [n for n in names if n != "int"]
    if "char" not in words:
        words = [n for n in words if n != "signed"]
    return _PLAIN.get(tuple(sorted(words)))


class TypeTable:
    """Scopes of names and tags. `layouts` grows only; a tag defined again in an inner scope gets a number (`node.2`)."""

    def __init__(self) -> None:
        self.layouts = Layouts()
        self._names: list[dict[str, Identifier]] = [{}]
        self._tags: list[dict[str, CType]] = [{}]
        self._made: dict[int, tuple[c_ast.Node, CType]] = {}
        self._used: set[str] = set()

    @contextmanager
    def scope(self) -> Iterator[None]:
        """A block: what is declared inside is forgotten at its end."""
        self._names.append({})
        self._tags.append({})
        try:
            yield
        finally:
            self._names.pop()
            self._tags.pop()

    def lookup(self, name: str) -> Identifier | None:
        return next((scope[name] for scope in reversed(self._names) if name in scope), None)

    def names(self) -> dict[str, Identifier]:
        """Every visible name."""
        visible: dict[str, Identifier] = {}
        for scope in self._names:
            visible.update(scope)
        return visible

    def bind(self, name: str, kind: CType, node: c_ast.Node | None = None) -> None:
        """Declare an object or function by hand."""
        self._names[-1][name] = Identifier("function" if isinstance(kind, ctype.Func) else "object", kind, None, node)

    def declare(self, node: c_ast.Decl | c_ast.Typedef) -> CType:
        """Enter a declaration (struct-only ones too) into the current scope; its type, completed by its initialiser.

        Raises Unsupported for types that HeteroDoop does not know (`_Complex`, vectors, `_Decimal64`).
        """
        kind = self.type_of(node.type)
        if isinstance(node, c_ast.Typedef):
            self._names[-1][node.name] = Identifier("typedef", kind, None, node)
        elif node.name:
            kind = self.complete(self._keep_length(node.name, kind), node.init)
            self.bind(node.name, kind, node)
        return kind

    def _keep_length(self, name: str, kind: CType) -> CType:
        """`extern int a[];` after `int a[3];` in one scope keeps the known length."""
        old = self._names[-1].get(name)
        incomplete = isinstance(kind, ctype.Array) and kind.length is None
        return old.ctype if incomplete and old is not None and isinstance(old.ctype, ctype.Array) else kind

    def declare_params(self, func: c_ast.FuncDef) -> list[tuple[str, CType, c_ast.Node]]:
        """Enter a function's named parameters (arrays and functions adjusted to pointers), K&R ones too."""
        found = []
        old_style = {d.name: d for d in func.param_decls or [] if isinstance(d, c_ast.Decl)}
        declarator = func.decl.type
        for param in declarator.args.params if declarator.args else []:
            node = old_style.get(param.name, param) if isinstance(param, c_ast.ID) else param
            if not isinstance(node, c_ast.Decl) or not node.name:
                continue
            kind = ctype.decay(self.type_of(node.type))
            self.bind(node.name, kind, node)
            found.append((node.name, kind, node))
        return found

    def complete(self, kind: CType, init: c_ast.Node | None) -> CType:
        """An array of unknown length takes the length of its initialiser."""
        if not isinstance(kind, ctype.Array) or kind.length is not None or init is None:
            return kind
        if isinstance(init, c_ast.InitList) and len(init.exprs) == 1 and kind.of in (ctype.CHAR, ctype.SCHAR, ctype.UCHAR):
            init = init.exprs[0] if isinstance(init.exprs[0], c_ast.Constant) and init.exprs[0].type == "string" else init
        if isinstance(init, c_ast.Constant) and init.type == "string":
            text = literals.string_type(init.value)
            return ctype.Array(kind.of, text.length) if isinstance(text, ctype.Array) else kind
        if isinstance(init, c_ast.InitList):
            return ctype.Array(kind.of, self._init_length(init, kind.of))
        return kind

    def _init_length(self, init: c_ast.InitList, of: CType) -> int | None:
        """Elements that a brace list fills; None where inner braces are left out, or a designator is not constant."""
        nested = isinstance(of, ctype.Array | Struct)
        count = longest = 0
        for item in init.exprs:
            value = item
            if isinstance(item, c_ast.NamedInitializer):
                first = item.name[0].expr if isinstance(item.name[0], c_ast.ArrayDesignator) else item.name[0]
                if isinstance(first, c_ast.TernaryOp):  # a range (GNU C): its last element, where it is one
                    first = first.iffalse if isinstance(first.iftrue, c_ast.ID) and first.iftrue.name == TO else first
                index, value = const_eval(first, self), item.expr
                if index is None:
                    return None
                count = index
            if nested and not self._whole(value, of):
                return None
            count += 1
            longest = max(longest, count)
        return longest

    def _whole(self, value: c_ast.Node, of: CType) -> bool:
        """Does one initialiser fill a whole aggregate element (braces, a string, a struct value)?"""
        if isinstance(value, c_ast.InitList | c_ast.CompoundLiteral):
            return True
        if isinstance(value, c_ast.Constant):
            return value.type == "string" and isinstance(of, ctype.Array)
        try:
            return expr_type(value, self) == of
        except Unsupported:
            return False

    # ------------------------------------------------------------------------------------- declarators

    def type_of(self, node: c_ast.Node) -> CType:
        """Type of a Decl, Typename, declarator or specifier node. Enters tags and enumerators it defines."""
        if isinstance(node, c_ast.Decl | c_ast.Typedef | c_ast.Typename | c_ast.TypeDecl | c_ast.AttributedType):
            return self.type_of(node.type)
        if isinstance(node, c_ast.PtrDecl):
            return Pointer(self.type_of(node.type), _is_const(node.type))
        if isinstance(node, c_ast.ArrayDecl):
            inner = self.type_of(node.type)
            return ctype.Array(inner, self._dimension(node.dim))
        if isinstance(node, c_ast.FuncDecl):
            return self._function(node)
        return self._specifier(node)

    def _dimension(self, dim: c_ast.Node | None) -> int | None:
        value = const_eval(dim, self) if dim is not None else None
        return value if value is None or value >= 0 else None

    def _function(self, node: c_ast.FuncDecl) -> CType:
        result = self.type_of(node.type)
        params, variadic = [], node.args is None
        with self.scope():
            for param in node.args.params if node.args else []:
                if isinstance(param, c_ast.EllipsisParam):
                    variadic = True
                elif not isinstance(param, c_ast.ID):
                    params.append(ctype.decay(self.type_of(param)))
        return ctype.Func(result, () if params == [ctype.VOID] else tuple(params), variadic)

    def _specifier(self, node: c_ast.Node) -> CType:
        """Specifiers are shared by the declarators of one declaration, so each is made once."""
        if isinstance(node, c_ast.IdentifierType):
            return self._named(node)
        if isinstance(node, c_ast.TypeOf):
            operand = node.expr
            return self.type_of(operand) if isinstance(operand, c_ast.Typename) else expr_type(operand, self)
        made = self._made.get(id(node))
        if made is not None and made[0] is node:
            return made[1]
        if isinstance(node, c_ast.Enum):
            kind = self._enum(node)
        elif isinstance(node, c_ast.Struct | c_ast.Union):
            kind = self._struct(node)
        else:
            raise Unsupported(f"type {type(node).__name__}", node)
        self._made[id(node)] = (node, kind)
        return kind

    def _named(self, node: c_ast.IdentifierType) -> CType:
        kind = basic_type(node.names)
        if kind is not None:
            return kind
        found = self.lookup(node.names[0]) if len(node.names) == 1 else None
        if found is None or found.kind != "typedef":
            raise Unsupported(f"type {' '.join(node.names)}", node)
        return found.ctype

    # ------------------------------------------------------------------------------------- enums, structs

    def _enum(self, node: c_ast.Enum) -> CType:
        """gcc's choice: unsigned int, or int where an enumerator is negative; wider ones only where they must be."""
        if node.values is None:
            return self._find_tag(node.name) or ctype.UINT
        value, values = -1, []
        for item in node.values.enumerators:
            if isinstance(item, c_ast.Enumerator):
                given = const_eval(item.value, self) if item.value is not None else value + 1
                if given is None:
                    raise Unsupported(f"value of enumerator {item.name!r}", item)
                value = given
                values.append(value)
                self._names[-1][item.name] = Identifier("enumerator", _fit(value, value, signed=True), value, item)
        kind = _fit(min(values, default=0), max(values, default=0), signed=min(values, default=0) < 0)
        if node.name:
            self._tags[-1][node.name] = kind
        return kind

    def _find_tag(self, tag: str) -> CType | None:
        return next((scope[tag] for scope in reversed(self._tags) if tag in scope), None)

    def _struct(self, node: c_ast.Struct | c_ast.Union) -> CType:
        union = isinstance(node, c_ast.Union)
        if node.decls is None:
            found = self._find_tag(node.name)
            return found if found is not None else self._new_tag(node.name, union)
        kind = self._tags[-1].get(node.name) if node.name else None
        if not isinstance(kind, Struct) or kind.tag in self.layouts.table:
            kind = self._new_tag(node.name, union)
        self.layouts.table[kind.tag] = self._layout(node.decls, union)
        return kind

    def _new_tag(self, name: str | None, union: bool) -> Struct:
        unique, number = name or ".1", 1
        while unique in self._used:
            number += 1
            unique = f"{name or ''}.{number}"
        self._used.add(unique)
        kind = Struct(unique, union)
        if name:
            self._tags[-1][name] = kind
        return kind

    def _layout(self, decls: list[c_ast.Node], union: bool) -> Layout:
        builder = _LayoutBuilder(self.layouts, union)
        for decl in decls:
            if not isinstance(decl, c_ast.Decl):
                continue
            kind = self.type_of(decl.type)
            aligned = max((self._alignas(a) for a in decl.align or []), default=0)
            if decl.bitsize is None:
                builder.member(decl.name or "", kind, aligned)
                continue
            bits = const_eval(decl.bitsize, self)
            if bits is None or not isinstance(kind, Int):
                raise Unsupported("bit-field", decl)
            builder.bit_field(decl.name or "", kind, bits)
        return builder.layout()

    def _alignas(self, node: c_ast.Alignas) -> int:
        operand = node.alignment
        if isinstance(operand, c_ast.Typename):
            return self.layouts.align(self.type_of(operand))
        return const_eval(operand, self) or 0


class _LayoutBuilder:
    """Places members one after the other, in bits, by the System V ABI."""

    def __init__(self, layouts: Layouts, union: bool) -> None:
        self._layouts, self._union = layouts, union
        self._fields: list[Field] = []
        self._bits = self._size = 0
        self._align = 1

    def member(self, name: str, kind: CType, aligned: int = 0) -> None:
        align = max(self._layouts.align(kind), aligned)
        offset = 0 if self._union else -(-self._bits // (8 * align)) * align
        inner = self._layouts.table.get(kind.tag) if not name and isinstance(kind, Struct) else None
        if inner is not None:
            self._fields += [Field(f.name, f.type, offset + f.offset, f.bits) for f in inner.fields]
        elif name:
            self._fields.append(Field(name, kind, offset))
        self._grow(8 * (offset + (self._layouts.size(kind) or 0)), align)

    def bit_field(self, name: str, kind: Int, bits: int) -> None:
        start = 0 if self._union else self._bits
        if bits == 0 or start // kind.bits != (start + bits - 1) // kind.bits:
            start = -(-start // kind.bits) * kind.bits
        if name:
            self._fields.append(Field(name, kind, start // kind.bits * (kind.bits // 8), bits))
        self._grow(start + bits, kind.bits // 8 if name else 1)

    def _grow(self, end: int, align: int) -> None:
        self._bits = end
        self._size = max(self._size, end)
        self._align = max(self._align, align)

    def layout(self) -> Layout:
        align = self._align
        return Layout(tuple(self._fields), -(-self._size // (8 * align)) * align, align)


def _fit(low: int, high: int, *, signed: bool) -> Int:
    kinds = (ctype.INT, ctype.UINT, ctype.LONG, ctype.ULONG) if signed else (ctype.UINT, ctype.ULONG)
    return next((k for k in kinds if ctype.wrap(k, low) == low and ctype.wrap(k, high) == high), ctype.LONG)


def _is_const(node: c_ast.Node) -> bool:
    """Is what a pointer points to `const`?"""
    if isinstance(node, c_ast.ArrayDecl):
        return _is_const(node.type)
    return "const" in (getattr(node, "quals", None) or [])


def const_object(node: c_ast.Node) -> bool:
    """Is the declared object itself `const` (an array's elements)?"""
    kind = node.type if isinstance(node, c_ast.Decl) else None
    while isinstance(kind, c_ast.ArrayDecl):
        kind = kind.type
    quals = kind.quals if isinstance(kind, c_ast.PtrDecl) else getattr(node, "quals", None)
    return "const" in (quals or [])
