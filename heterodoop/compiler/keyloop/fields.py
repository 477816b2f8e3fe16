"""A combiner's structs as variables of their fields: `p.key` and `p.count` fold as two variables would.

Only structs that are used field by field are taken apart: one that is copied whole, or of which the address is taken, stays,
but for an address that is handed to a function of the program.
A clause that names such a struct means its one field that fits: the text (or the number) that is the key, the number that is
gathered.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from dataclasses import replace
from typing import Any

from ..analysis.objects import Global, Local, Object, symbol_of, variable
from ..ir import build, ir
from ..ir import walk as ir_walk
from ..types import ctype
from ..types.ctype import CType, Int
from .state import VALUES

_Fields = dict[Object, tuple[ctype.Field, ...]]  # of the structs that are taken apart
_Named = dict[str, tuple[ctype.Field, ...]]


def by_fields(program: ir.Program) -> ir.Program:
    """The program with the structs of the region's function, and global ones, replaced by their fields."""
    fields = _parted(program)
    if not fields:
        return program
    function = program.region.function
    apart = ir_walk.map_functions(program, lambda inside, node: _changed(_seen(program, inside, fields), node))
    own, shared = _seen(program, function, fields), {o.name: f for o, f in fields.items() if isinstance(o, Global)}
    functions = tuple(
        replace(f, locals=tuple(_symbols(own, f.locals))) if f.name == function else f for f in apart.functions)
    apart = replace(apart, functions=functions, globals=tuple(_symbols(shared, apart.globals)))
    return replace(apart, region=_clauses(apart, own)) if isinstance(apart.region, ir.CombineRegion) else apart


def _seen(program: ir.Program, function: str, fields: _Fields) -> _Named:
    """The structs that are taken apart, by the names that they have in a function."""
    return {struct.name: parts for struct, parts in fields.items()
            if isinstance(struct, (Local, Global)) and variable(program, function, struct.name) == struct}


def _parted(program: ir.Program) -> _Fields:
    found: _Fields = {}
    function = program.region.function
    own, shared = ([variable(program, where, s.name) for s in symbols]
                   for where, symbols in ((function, program.enclosing.locals), ("", program.globals)))
    for struct in (*own, *shared):
        symbol = symbol_of(program, struct)
        layout = program.layouts.table.get(symbol.type.tag) if symbol and isinstance(symbol.type, ctype.Struct) else None
        if symbol is not None and layout is not None and isinstance(symbol.type, ctype.Struct) and not symbol.type.union:
            if symbol.init is None or isinstance(symbol.init, ir.Fill):
                found[struct] = layout.fields
    whole = {variable(program, name, n) for name, body in ir_walk.bodies(program) for n in _whole(body, program.by_name)}
    return {struct: fields for struct, fields in found.items() if struct not in whole}


def _whole(body: ir.Block, own: Container[str]) -> Iterator[str]:
    """Variables that are named for more than one of their fields, or their address, handed to one of the functions `own`."""
    bases = {node.base.number for node in ir_walk.walk(body) if isinstance(node, ir.Member)}
    for node in ir_walk.walk(body):
        if isinstance(node, ir.Call) and ir.called(node) in own:
            bases |= {arg.operand.number for arg in map(ir_walk.uncast, node.args) if isinstance(arg, ir.AddressOf)}
    for node in ir_walk.walk(body):
        if isinstance(node, ir.Name) and node.number not in bases:
            yield node.name
        elif isinstance(node, ir.Decl) and isinstance(node.init, ir.Expr):
            yield node.name


def _name(variable: str, field: str) -> str:
    return f"{variable}.{field}"


def field_of(struct: Object, field: str) -> Object | None:
    """The variable that stands for a field of a struct that was taken apart."""
    if isinstance(struct, Local):
        return Local(struct.function, _name(struct.name, field))
    return Global(_name(struct.name, field)) if isinstance(struct, Global) else None


def _changed(fields: _Named, node: Any) -> Any:
    if isinstance(node, ir.Member) and isinstance(node.base, ir.Name) and node.base.name in fields:
        return ir.Name(node.type, _name(node.base.name, node.field), span=node.span)
    if isinstance(node, ir.Block) and any(isinstance(s, ir.Decl) and s.name in fields for s in node.body):
        return replace(node, body=tuple(part for stmt in node.body for part in _declared(fields, stmt)))
    return node


def _declared(fields: _Named, stmt: ir.Stmt) -> Iterator[ir.Stmt]:
    if not isinstance(stmt, ir.Decl) or stmt.name not in fields:
        yield stmt
        return
    for field in fields[stmt.name]:
        init = _initial(stmt.init, field.name, field.type) if isinstance(stmt.init, ir.Fill) else None
        yield ir.Decl(_name(stmt.name, field.name), init, span=stmt.span)


def _initial(fill: ir.Fill, name: str, kind: CType) -> ir.Init:
    """What a struct's initialiser gives one of its fields."""
    items = tuple((path[1:], value) for path, value in fill.items if path[0] == name)
    if len(items) == 1 and not items[0][0]:
        return items[0][1]
    return ir.Fill(items) if items or not isinstance(kind, Int) else build.const(0, kind)


def _symbols(fields: _Named, symbols: tuple[ir.Symbol, ...]) -> Iterator[ir.Symbol]:
    for symbol in symbols:
        yield symbol
        if symbol.name not in fields:
            continue
        for field in fields[symbol.name]:
            name = _name(symbol.name, field.name)
            init = _initial(symbol.init, field.name, field.type) if isinstance(symbol.init, ir.Fill) else None
            yield replace(symbol, name=name, original=name, type=field.type, init=init)


def _clauses(program: ir.Program, fields: _Named) -> ir.CombineRegion:
    region = program.region
    assert isinstance(region, ir.CombineRegion)
    used = ir_walk.names(region.body)

    def meant(variable: str, fits: Callable[[CType], bool]) -> str:
        found = [_name(variable, f.name) for f in fields.get(variable, ()) if fits(f.type)]
        found = [name for name in found if name in used]
        return found[0] if len(found) == 1 else variable

    key = meant(region.key, lambda kind: isinstance(kind, ctype.Array) and kind.of == ctype.CHAR)
    if key == region.key and region.key != region.value:
        key = meant(region.key, lambda kind: isinstance(kind, Int))
    return replace(region, key=key, value=meant(region.value, lambda kind: kind in VALUES))
