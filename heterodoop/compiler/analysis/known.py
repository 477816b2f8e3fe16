"""What is known of an outer object's value and of how the region reads it, for `placement`.

A value is known where its initialiser is made of constants and nobody changes it before the region. Conservative: what is
not proven comes from the prologue.
"""

from __future__ import annotations

from typing import Any

from ..ir import ir
from ..ir import walk as ir_walk
from ..ir.call_graph import CallGraph
from ..types import ctype
from ..types.ctype import CType
from .objects import Object
from .uses import UseTable
from .writers import Prefix, Writers

_CONSTANT_NODES = (
    ir.Const, ir.Str, ir.Cast, ir.Decay, ir.AddressOf, ir.Binary, ir.Unary, ir.Index, ir.Member, ir.Name,
)


class Known:
    def __init__(self, program: ir.Program, table: UseTable, writers: Writers, calls: CallGraph) -> None:
        self.program, self.points_to, self.writers = program, table.points_to, writers
        self._other = {use.key for use in table.uses if use.cls not in ("sharedRO", "unused")}
        self._start = Prefix(program)
        self._bodies = calls.bodies

    # ------------------------------------------------------------------------------------- symbols

    def symbol(self, key: Object) -> ir.Symbol | None:
        """The variable that an object is; None for memory and hidden state."""
        return self.points_to.symbol(key)

    def local(self, key: Object) -> bool:
        """Is it a local variable or parameter of the enclosing function?"""
        return key.within(self.program.region.function)

    # ------------------------------------------------------------------------------------- values

    def constant(self, key: Object, symbol: ir.Symbol) -> bool:
        """Does the object hold a value made of constants, from before the region on and for good?"""
        if not self.local(key):
            kept = self.writers.nobody(symbol, key)
            return kept and (symbol.init is None or self._constant(symbol.init, frozenset({key})))
        value = self._single(key)
        return value is not None and self._whole(symbol.type, value) and self._constant(value, frozenset({key}))

    def constant_init(self, key: Object, symbol: ir.Symbol) -> ir.Init | None:
        """The initialiser of a `constant` object; None: zero."""
        return self.writers.of(key)[0].value if self.local(key) else symbol.init

    def start_value(self, key: Object, symbol: ir.Symbol) -> ir.Init | None:
        """What a variable surely holds when the region starts, None where the program must run to know."""
        before = [write for write in self.writers.of(key) if write.early]
        if self.writers.wild or len(before) > 1 or (symbol.storage == "global" and self.writers.foreign):
            return None
        if not before:
            return None if self.local(key) else symbol.init
        value = before[0].value
        if value is None or not self._start.surely(value) or not self._whole(symbol.type, value):
            return None
        return value

    def only_value(self, key: Object, symbol: ir.Symbol) -> ir.Init | None:
        """The one value other than NULL that a pointer ever gets, None where it has more or may still be NULL."""
        writes = [write for write in self.writers.of(key) if not _null(write.value)]
        if not self.local(key) and symbol.init is not None and not _null(symbol.init):
            return symbol.init if not self.writers.of(key) else None
        value = writes[0].value if len(writes) == 1 and not self.writers.wild else None
        if value is None or not self._start.surely(value) or self.writers.of(key)[-1].value is not value:
            return None
        return value

    def named(self, init: ir.Init | None) -> list[Object]:
        """Variables of file scope that an initialiser names."""
        names = [n.name for n in _nodes(init) if isinstance(n, ir.Name)] if init is not None else []
        return [self.points_to.key("", name) for name in names]

    def _single(self, key: Object) -> ir.Init | None:
        """The value of the only write there is, where that surely happens."""
        writes = self.writers.of(key)
        value = writes[0].value if len(writes) == 1 and not self.writers.wild else None
        return value if value is not None and self._start.surely(value) else None

    def _whole(self, kind: CType, value: ir.Init) -> bool:
        """Is it the initialiser of an object of this type (`char k[3] = "ab"` too), or a value of it?"""
        return isinstance(value, (ir.Fill, ir.Str)) or value.type == kind

    def _constant(self, init: ir.Init, seen: frozenset[Object]) -> bool:
        for node in _nodes(init):
            if not isinstance(node, _CONSTANT_NODES):
                return False
            if isinstance(node.type, ctype.Func):
                continue  # a function's address, which is a number (`code_numbers`)
            if isinstance(node, ir.Name) and not self._constant_name(self.points_to.key("", node.name), seen):
                return False
        return not isinstance(init, (ir.Name, ir.Index, ir.Member))  # an address or a number, not another object's content

    def _constant_name(self, key: Object, seen: frozenset[Object]) -> bool:
        """Is it, in an initialiser, an object of file scope that is a constant of the kernel itself?"""
        if key in seen:
            return True
        symbol = self.symbol(key)
        if symbol is None or isinstance(symbol.type, ctype.Func) or key in self._other:
            return False
        if not self.writers.nobody(symbol, key):
            return False
        return symbol.init is None or self._constant(symbol.init, seen | {key})

    # ------------------------------------------------------------------------------------- reads

    def only_indexed(self, key: Object) -> bool:
        """Is the array only ever used as `name[index]`, its value read?"""
        for function, body in self._bodies:
            reads = {n.base.number for n in ir_walk.walk(body) if isinstance(n, ir.Index)}
            taken = {n.operand.number for n in ir_walk.walk(body) if isinstance(n, ir.AddressOf)}
            for node in ir_walk.walk(body):
                if isinstance(node, ir.Index) and node.number in taken and self._is(function, node.base, key):
                    return False
                if isinstance(node, ir.Decay) and self._is(function, node, key) and node.number not in reads:
                    return False
                if isinstance(node, ir.AddressOf) and isinstance(node.operand, ir.Name):
                    if self.points_to.key(function, node.operand.name) == key:
                        return False
        return True

    def divergent(self, key: Object) -> bool:
        """May threads read different elements at a time: does some index depend on more than loop counters?"""
        for function, body in self._bodies:
            for node in ir_walk.walk(body):
                if isinstance(node, ir.Index) and key in self.points_to.objects(function, node):
                    if not self._uniform(function, node.index):
                        return True
                elif isinstance(node, (ir.Deref, ir.Call)):
                    if self._follows(function, node, key):
                        return True
        return False

    def _follows(self, function: str, node: Any, key: Object) -> bool:
        if isinstance(node, ir.Deref):
            return key in self.points_to.objects(function, node)
        return any(isinstance(a.type, ctype.Pointer) and key in self.points_to.targets(function, a) for a in node.args)

    def _uniform(self, function: str, index: ir.Expr) -> bool:
        """Is the index made of constants and counters of loops that start at constants?"""
        for node in ir_walk.walk(index):
            if isinstance(node, ir.Name):
                if not self._counter(self.points_to.key(function, node.name)):
                    return False
            elif not isinstance(node, (ir.Const, ir.Cast, ir.Binary, ir.Unary)):
                return False
        return True

    def _counter(self, key: Object) -> bool:
        values = [write.value for write in self.writers.of(key)]
        return bool(values) and all(v is None or isinstance(v, ir.Const) for v in values)

    def _is(self, function: str, node: ir.Expr, key: Object) -> bool:
        inner = node.operand if isinstance(node, ir.Decay) else None
        return isinstance(inner, ir.Name) and self.points_to.key(function, inner.name) == key


def holds_pointers(program: ir.Program, kind: CType) -> bool:
    """Is a pointer part of an object of this type (or is the type not known)?"""
    if isinstance(kind, (ctype.Pointer, ctype.Func, ctype.Void)):
        return True
    if isinstance(kind, ctype.Array):
        return holds_pointers(program, kind.of)
    if isinstance(kind, ctype.Struct):
        layout = program.layouts.table.get(kind.tag)
        return layout is None or any(holds_pointers(program, f.type) for f in layout.fields)
    return False


def _nodes(init: ir.Init) -> list[Any]:
    if isinstance(init, ir.Fill):
        return [n for _, item in init.items for n in _nodes(item)]
    return list(ir_walk.walk(init))


def _null(value: ir.Init | None) -> bool:
    value = ir_walk.uncast(value)
    return isinstance(value, ir.Const) and value.value == 0
