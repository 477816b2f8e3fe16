"""Types on the device: which values it has, and structs with exactly the layout that they have in the CPU filter."""

from __future__ import annotations

from collections.abc import Iterator

from ..ir import ir
from ..ir import walk as ir_walk
from ..types import ctype
from ..types.ctype import CType, Layouts

_NO_VALUES = (ctype.LDOUBLE, ctype.INT128, ctype.UINT128)


def no_device_type(kind: CType) -> str:
    """Why the device has no values of a type, or nothing that leads to them; "" where it has."""
    inner = kind
    while (of := ctype.element(inner)) is not None:
        inner = of
    return f"a value of type '{inner}'" if inner in _NO_VALUES else ""


def is_signed(kind: CType) -> bool:
    """A signed integer of int's rank or higher, whose overflow C++ leaves undefined."""
    return isinstance(kind, ctype.Int) and kind.signed and kind.bits >= 32


def root(node: ir.Expr) -> ir.Expr:
    """The object that an lvalue is part of, as far as it can be seen without following pointers."""
    while True:
        if isinstance(node, ir.Member):
            node = node.base
        elif isinstance(node, ir.Index) and isinstance(node.base, ir.Decay):
            node = node.base.operand
        elif isinstance(node, ir.Deref) and isinstance(node.pointer, ir.Decay):
            node = node.pointer.operand
        else:
            return node


# ------------------------------------------------------------------------------------------ structs


def used_tags(program: ir.Program, helpers: list[str], more: list[CType]) -> dict[str, bool]:
    """Tags of the structs that the region, its helpers and variables mention, with what they hold -> is it a union?"""
    functions = [program.by_name[name] for name in helpers]
    enclosing = program.enclosing
    names = ir_walk.names(program.region.body)
    variables = [s for s in (*enclosing.params, *enclosing.locals) if s.name in names]
    pending = [*ir_walk.types((program.region, functions, variables, program.globals)), *more]
    found: dict[str, bool] = {}
    while pending:
        kind = pending.pop()
        if isinstance(kind, ctype.Struct) and kind.tag not in found:
            found[kind.tag] = kind.union
            layout = program.layouts.table.get(kind.tag)
            pending += [f.type for f in layout.fields] if layout else []
        pending += ir_walk.inner_types(kind)
    return found


def struct_problem(tag: str, union: bool, layouts: Layouts) -> str:
    """Why a struct's layout has no exact C++ text, "" where it has."""
    layout = layouts.table[tag]
    for field in layout.fields:
        if field.bits:
            return f"bit-field '{field.name}'"
    if not union and any(group is None for group in _groups(layout, layouts)):
        return "an unnamed union whose members do not begin together"
    if (layout.size, layout.align) != _natural(layout, layouts, union):
        return "a packed or aligned layout"
    return ""


def groups(layout: ctype.Layout, layouts: Layouts, union: bool) -> list[tuple[ctype.Field, ...]]:
    """Members in order of place, those of an unnamed union together; of a struct that has no problem."""
    return [(f,) for f in layout.fields] if union else [group for group in _groups(layout, layouts) if group is not None]


def _groups(layout: ctype.Layout, layouts: Layouts) -> Iterator[tuple[ctype.Field, ...] | None]:
    """The groups; None where members overlap that do not begin at one offset."""
    group: list[ctype.Field] = []
    end = 0
    for field in sorted(layout.fields, key=lambda f: f.offset):
        if group and field.offset < end:
            if field.offset != group[0].offset:
                yield None
                return
            group.append(field)
        else:
            if group:
                yield tuple(group)
            group = [field]
        end = max(end, field.offset + (layouts.size(field.type) or 0))
    if group:
        yield tuple(group)


def _natural(layout: ctype.Layout, layouts: Layouts, union: bool) -> tuple[int, int]:
    """Size and alignment that C++ gives these members; size -1 where an offset is not the natural one."""
    align = max((layouts.align(f.type) for f in layout.fields), default=1)
    end = 0
    for group in groups(layout, layouts, union):
        at = 0 if union else _up(end, max(layouts.align(f.type) for f in group))
        if at != group[0].offset:
            return -1, align
        end = max(end, at + max(layouts.size(f.type) or 0 for f in group))
    return _up(end, align), align


def _up(value: int, step: int) -> int:
    return (value + step - 1) // step * step
