"""C initialisers -> `ir.Init`: braces, left-out braces and designators (C17 6.7.9) become scalars by path."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pycparser import c_ast

from ..ir import build, ir
from ..source.parse import TO
from ..types import ctype, literals
from ..types.const_eval import const_eval
from ..types.ctype import CType, Layouts
from ..types.literals import Unsupported
from . import convert

if TYPE_CHECKING:
    from .expr import Context

Path = tuple[int | str, ...]
MOST_ELEMENTS = 4096  # of a range designator
_CHARS = (ctype.CHAR, ctype.SCHAR, ctype.UCHAR)


def initialiser(kind: CType, node: c_ast.Node, context: Context) -> tuple[ir.Init, CType]:
    """The initialiser of an object of type `kind`, and that type, completed where the array's length was left open."""
    text = _string_for(kind, node)
    if text is not None:
        return build.string(literals.string_bytes(text.value), context.span(text)), kind
    if not isinstance(kind, (ctype.Array, ctype.Struct)):
        return _scalar(kind, node, context), kind
    if not isinstance(node, c_ast.InitList):
        return convert.to(kind, context.value(node)), kind
    filler = _Filler(context)
    filler.braces(kind, (), node)
    if isinstance(kind, ctype.Array) and kind.length is None:
        kind = ctype.Array(kind.of, max((int(path[0]) + 1 for path in filler.items), default=0))
    items = sorted(filler.items.items(), key=lambda item: _order(item[0], kind, context.types.layouts))
    return ir.Fill(tuple(items)), kind


def _string_for(kind: CType, node: Any) -> c_ast.Constant | None:
    """The string literal, in braces or not, that fills a character array."""
    if not isinstance(kind, ctype.Array) or kind.of not in _CHARS:
        return None
    if isinstance(node, c_ast.InitList) and len(node.exprs) == 1:
        node = node.exprs[0]
    return node if isinstance(node, c_ast.Constant) and node.type == "string" else None


def range_ends(node: c_ast.Node) -> tuple[Any, Any]:
    """`first ... last` as `source.clean` left it; for all else the node, twice."""
    is_range = isinstance(node, c_ast.TernaryOp) and isinstance(node.iftrue, c_ast.ID) and node.iftrue.name == TO
    return (node.cond, node.iffalse) if is_range else (node, node)


def _scalar(kind: CType, node: Any, context: Context) -> ir.Expr:
    if isinstance(node, c_ast.InitList):
        if not node.exprs:
            return build.cast(kind, build.const(0, span=context.span(node)))
        return _scalar(kind, node.exprs[0], context)
    return convert.to(kind, context.value(node))


def _order(path: Path, kind: CType, layouts: Layouts) -> tuple[int, ...]:
    """Sort key of a path: element numbers, and members by position."""
    out = []
    for step in path:
        if isinstance(step, int) and isinstance(kind, ctype.Array):
            out.append(step)
            kind = kind.of
        elif isinstance(kind, ctype.Struct):
            fields = layouts.table[kind.tag].fields
            number = next(i for i, f in enumerate(fields) if f.name == step)
            out.append(number)
            kind = fields[number].type
    return tuple(out)


@dataclass
class _Frame:
    """An aggregate that is being filled, and which of its parts comes next."""

    kind: CType
    path: Path
    next: int = 0


class _Filler:
    def __init__(self, context: Context) -> None:
        self.items: dict[Path, ir.Expr] = {}
        self._context = context
        self._layouts = context.types.layouts
        self._designated = False

    def braces(self, kind: CType, path: Path, node: c_ast.InitList) -> None:
        """One brace list for one aggregate."""
        stack = [_Frame(kind, path)]
        for item in node.exprs:
            value = item
            if isinstance(item, c_ast.NamedInitializer):
                self._designated = True
                value = item.expr
                *others, last = self._each(item)
                for name in others:
                    self._place(self._designate(_Frame(kind, path), name), value)
                stack = self._designate(_Frame(kind, path), last)
            self._place(stack, value)

    def _each(self, item: c_ast.NamedInitializer) -> list[list[Any]]:
        """Its designators; of a range (GNU C), which has one value, those of each element."""
        last = item.name[-1]
        first, end = range_ends(last.expr) if isinstance(last, c_ast.ArrayDesignator) else (last, last)
        if first is end:
            return [item.name]
        numbers = range(self._number(first), self._number(end) + 1)
        if not 0 < len(numbers) <= MOST_ELEMENTS or not isinstance(item.expr, (c_ast.Constant, c_ast.ID, c_ast.InitList)):
            raise Unsupported("a range designator (a loop before the region does the same)", item)
        constants = (c_ast.Constant("int", str(number), last.coord) for number in numbers)
        return [[*item.name[:-1], c_ast.ArrayDesignator(constant, last.coord)] for constant in constants]

    def _number(self, node: c_ast.Node) -> int:
        index = const_eval(node, self._context.types)
        if index is None:
            raise Unsupported("designator that is not constant", node)
        return index

    def _designate(self, frame: _Frame, designators: list[Any]) -> list[_Frame]:
        stack = [frame]
        for number, designator in enumerate(designators):
            top = stack[-1]
            top.next = self._position(top.kind, designator)
            if number + 1 < len(designators):
                stack.append(_Frame(*self._part(top)))
        return stack

    def _position(self, kind: CType, designator: Any) -> int:
        if isinstance(designator, c_ast.ArrayDesignator):
            return self._number(designator.expr)
        fields = self._fields(kind)
        return next(i for i, f in enumerate(fields) if f.name == designator.name)

    def _fields(self, kind: CType) -> tuple[ctype.Field, ...]:
        layout = self._layouts.table.get(kind.tag) if isinstance(kind, ctype.Struct) else None
        if layout is None:
            raise Unsupported(f"initialiser of {kind}")
        return layout.fields

    def _count(self, kind: CType) -> float:
        if isinstance(kind, ctype.Array):
            return math.inf if kind.length is None else kind.length
        assert isinstance(kind, ctype.Struct)
        return 1 if kind.union else len(self._fields(kind))

    def _part(self, frame: _Frame) -> tuple[CType, Path]:
        """Type and path of the part that comes next, which is then passed."""
        number = frame.next
        frame.next += 1
        if isinstance(frame.kind, ctype.Array):
            return frame.kind.of, (*frame.path, number)
        fields = self._fields(frame.kind)
        chosen = fields[number]
        if chosen.bits:
            raise Unsupported(f"bit-field {chosen.name!r}")
        return chosen.type, (*frame.path, chosen.name)

    def _place(self, stack: list[_Frame], value: Any) -> None:
        """Give one initialiser its object: the next part, or the first scalar inside it where braces were left out."""
        while True:
            while len(stack) > 1 and stack[-1].next >= self._count(stack[-1].kind):
                stack.pop()
            self._check_overlap(stack[-1])
            kind, path = self._part(stack[-1])
            if not isinstance(kind, (ctype.Array, ctype.Struct)):
                return self._put(path, _scalar(kind, value, self._context))
            text = _string_for(kind, value)
            if text is not None:
                return self._put(path, build.string(literals.string_bytes(text.value), self._context.span(text)))
            if isinstance(value, c_ast.InitList):
                self._clear(path)
                return self.braces(kind, path, value)
            if isinstance(kind, ctype.Struct) and self._is_value_of(kind, value):
                return self._put(path, self._context.value(value))
            stack.append(_Frame(kind, path))

    def _is_value_of(self, kind: CType, value: Any) -> bool:
        return self._context.expr(value).type == kind

    def _check_overlap(self, frame: _Frame) -> None:
        """Members of an unnamed union stand among their struct's; by position they cannot be told apart."""
        if isinstance(frame.kind, ctype.Struct) and not frame.kind.union and frame.next:
            fields = self._fields(frame.kind)
            if frame.next < len(fields) and fields[frame.next].offset <= fields[frame.next - 1].offset:
                raise Unsupported("initialiser by position of a struct with an unnamed union")

    def _put(self, path: Path, value: ir.Expr) -> None:
        self._clear(path)
        self.items[path] = value

    def _clear(self, path: Path) -> None:
        """A later initialiser of the same object replaces an earlier one."""
        if self._designated:
            for old in [p for p in self.items if p[: len(path)] == path]:
                del self.items[old]
