"""C types as CUDA text: declarations, and structs with exactly the layout they have in the CPU filter.

`struct_problem` says which layouts have no exact text (`support` asks it first). Offsets and sizes are x86-64's, in bytes.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..decide import cuda_names
from ..ir import ir
from ..types import ctype
from ..types.ctype import CType, Layouts, Pointer

INDENT = "    "


def declare(kind: CType, name: str = "") -> str:
    """A declaration of `name` with type `kind`, or the type's own name; no final semicolon."""
    if isinstance(kind, Pointer):
        inner = f"*{name}"
        if isinstance(kind.to, (ctype.Array, ctype.Func)):
            inner = f"({inner})"
        return constant(kind.to, inner) if kind.const else declare(kind.to, inner)
    if isinstance(kind, ctype.Array):
        return declare(kind.of, f"{name}[{'' if kind.length is None else kind.length}]")
    if isinstance(kind, ctype.Func):
        return declare(kind.result, f"{name}({', '.join(declare(p) for p in kind.params)})")
    base = str(kind)
    if isinstance(kind, ctype.Struct):
        base = f"{'union' if kind.union else 'struct'} {cuda_names.tag(kind.tag)}"
    elif kind == ctype.BOOL:
        base = "bool"
    return f"{base}{'' if not name or name.startswith('[') else ' '}{name}"


def constant(kind: CType, name: str = "") -> str:
    """A declaration of a constant `name`: `const` before a plain type, behind the `*` of a pointer, at the elements."""
    inner = kind
    while isinstance(inner, ctype.Array):
        inner = inner.of
    if isinstance(inner, Pointer):
        return declare(kind, f"const {name}".rstrip())
    return f"const {declare(kind, name)}"


def constant_pointer(kind: CType, name: str) -> str:
    """A declaration of `name` as a pointer to constants of type `kind`."""
    inner = f"(*{name})" if isinstance(kind, ctype.Array) else f"*{name}"
    innermost = kind
    while isinstance(innermost, ctype.Array):
        innermost = innermost.of
    return declare(kind, f"const {inner}") if isinstance(innermost, Pointer) else f"const {declare(kind, inner)}"


# ------------------------------------------------------------------------------------------ structs


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


def _groups(layout: ctype.Layout, layouts: Layouts) -> Iterator[tuple[ctype.Field, ...] | None]:
    """Members in order of place, those of an unnamed union together; None where such do not begin at one offset."""
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
    for group in [(f,) for f in layout.fields] if union else _groups(layout, layouts):
        assert group is not None
        at = 0 if union else _up(end, max(layouts.align(f.type) for f in group))
        if at != group[0].offset:
            return -1, align
        end = max(end, at + max(layouts.size(f.type) or 0 for f in group))
    return _up(end, align), align


def _up(value: int, step: int) -> int:
    return (value + step - 1) // step * step


def struct_text(tag: str, union: bool, layouts: Layouts) -> list[str]:
    """A struct's definition, and the compiler's word that its layout is the one of the CPU filter."""
    layout = layouts.table[tag]
    name = f"{'union' if union else 'struct'} {cuda_names.tag(tag)}"
    lines = [f"{name} {{"]
    for group in [(f,) for f in layout.fields] if union else _groups(layout, layouts):
        assert group is not None
        members = [f"{declare(f.type, cuda_names.escape(f.name))};" for f in group]
        lines += [INDENT + members[0]] if len(members) == 1 else [f"{INDENT}union {{ {' '.join(members)} }};"]
    lines.append("};")
    checks = [f"sizeof({name}) == {layout.size}" if layout.fields else f"sizeof({name}) <= 1"]
    checks += [f"offsetof({name}, {cuda_names.escape(f.name)}) == {f.offset}" for f in layout.fields if f.offset]
    return [*lines, f"static_assert({' && '.join(checks)}, \"the layout of the CPU filter\");"]


def struct_section(structs: list[tuple[str, bool]], layouts: Layouts) -> list[str]:
    """All structs of a kernel: declared first, so that any can point to any, then defined, members' ones first."""
    lines = [f"{'union' if union else 'struct'} {cuda_names.tag(tag)};" for tag, union in structs]
    for tag, union in structs:
        lines += struct_text(tag, union, layouts) if tag in layouts.table else []
    return lines


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
