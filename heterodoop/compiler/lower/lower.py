"""BoundRegion + Unit -> ir.Program: the region, its function, and every function and global they reach, as plain C.

What the IR has no form for stays as an Opaque statement with its reason, so nothing is dropped and nothing raises.
Nodes of our own (ReadRecord, Emit, the record loop) are put in by `passes`. Non-goals: judging what a GPU can run.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from ...manifest import Reason
from ...source import Span
from ..ir import ir
from ..ir import walk as ir_walk
from ..source.frontend import Unit
from ..types import ctype
from ..types.ctype import CType, Layouts
from ..types.literals import Unsupported
from .bind import BoundRegion
from .names import Globals
from .stmt import OPAQUE, FunctionLowering


def lower(unit: Unit, bound: BoundRegion) -> ir.Program:
    """The program around one region. What cannot be lowered is a reason in it, not an error."""
    return _Lowering(unit, bound).program()


def _empty_region(name: str, why: str, span: Span) -> ir.MapRegion:
    body = ir.Block((ir.Opaque(OPAQUE, why, span=span),))
    return ir.MapRegion(name, "", "", 0, 0, 0, 0, 0, (), (), (), body, span=span)


class _Lowering:
    def __init__(self, unit: Unit, bound: BoundRegion) -> None:
        self._bound = bound
        self._shared = Globals(unit)
        self._region: ir.MapRegion | ir.CombineRegion | None = None
        self._refusals: list[Reason] = []

    def program(self) -> ir.Program:
        functions = self._functions()
        if not any(isinstance(n, ir.RegionHere) for n in ir_walk.walk(functions[0].body)):
            functions[0] = _with_region(functions[0])
        region = self._region or self._no_region()
        symbols = self._shared.symbols.values()
        variables = tuple(s for s in symbols if s.storage != "extern" and not isinstance(s.type, ctype.Func))
        externs = tuple(s for s in symbols if s.storage == "extern")
        structs = _structs((variables, externs, functions, region), self._shared.types.layouts)
        return ir.Program(structs, variables, externs, tuple(functions), region, tuple(self._refusals))

    def _functions(self) -> list[ir.Function]:
        """The enclosing function first, then what it reaches, in order of first use."""
        name = self._bound.func.decl.name
        done: dict[str, ir.Function] = {}
        queue = [name]
        while queue:
            current = queue.pop(0)
            if current not in done:
                function = self._function(current)
                if function is not None:
                    done[current] = function
            queue += self._shared.wanted
            self._shared.wanted.clear()
        return list(done.values())

    def _function(self, name: str) -> ir.Function | None:
        node = self._shared.definitions[name]
        here = self._bound.stmt if node is self._bound.func or node.decl is self._bound.func.decl else None
        lowering = FunctionLowering(node, self._shared, here, self._at_region)
        try:
            return lowering.function()
        except Unsupported as error:
            place = self._shared.span(node.decl)
            self._refusals.append(Reason(OPAQUE, f"function {name!r}: {error.what} cannot be analysed", place))
            nothing = ir.Function(name, ctype.Func(ctype.INT, ()), (), (), ir.Block(()))
            return nothing if here is not None else None

    def _at_region(self, scope: FunctionLowering, body: ir.Block) -> None:
        bound = self._bound

        def names(many: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(found for n in many if (found := scope.variable(n)))

        def one(name: str) -> str:
            """Of a variable of the loop, where several have the name, the first."""
            return scope.variable(name) if name in bound.scope else scope.inside(body, name)

        common: dict[str, Any] = {
            "function": bound.func.decl.name, "key": one(bound.key), "value": one(bound.value),
            "keylength": bound.keylength, "vallength": bound.vallength, "kvpairs": bound.kvpairs, "blocks": bound.blocks,
            "threads": bound.threads, "firstprivate": names(bound.firstprivate), "sharedRO": names(bound.sharedRO),
            "texture": names(bound.texture), "body": body, "span": bound.directive.span,
        }
        if bound.kind == "combiner":
            keyin, valuein = one(bound.keyin), one(bound.valuein)
            self._region = ir.CombineRegion(**common, keyin=keyin, valuein=valuein)
        else:
            self._region = ir.MapRegion(**common)

    def _no_region(self) -> ir.MapRegion:
        """For a region whose surroundings could not be lowered: the reason is among the refusals or in an Opaque."""
        why = "the region stands inside a statement that cannot be analysed"
        return _empty_region(self._bound.func.decl.name, why, self._bound.directive.span)


def _with_region(function: ir.Function) -> ir.Function:
    return dataclasses.replace(function, body=ir.Block((*function.body.body, ir.RegionHere())))


def _structs(used: object, layouts: Layouts) -> tuple[tuple[str, bool, ctype.Layout], ...]:
    """Tags that the program's types mention, members' ones before their owners."""
    found: dict[str, tuple[str, bool, ctype.Layout]] = {}
    seen: set[str] = set()

    def visit(kind: CType) -> None:
        if isinstance(kind, ctype.Struct):
            if kind.tag in seen:
                return
            seen.add(kind.tag)
            layout = layouts.table.get(kind.tag)
            for field in layout.fields if layout else ():
                visit(field.type)
            if layout is not None:
                found[kind.tag] = (kind.tag, kind.union, layout)
        for inner in ir_walk.inner_types(kind):
            visit(inner)

    for kind in ir_walk.types(used):
        visit(kind)
    return tuple(found.values())
