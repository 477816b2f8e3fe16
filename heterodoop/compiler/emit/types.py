"""C types as CUDA text: declarations, and structs with exactly the layout they have in the CPU filter.

Layouts that have no exact text do not come here (`device.types`). Offsets and sizes are x86-64's, in bytes.
"""

from __future__ import annotations

from ..decide import cuda_names
from ..device.types import groups
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


def own(kind: CType, name: str, *, apart: bool) -> str:
    """A declaration of an object of a thread's own. apart: with something behind it (lane/extent.cuh)."""
    return f"hd::Apart<{declare(kind)}> {name}" if apart else declare(kind, name)


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


def struct_text(tag: str, union: bool, layouts: Layouts) -> list[str]:
    """A struct's definition, and the compiler's word that its layout is the one of the CPU filter."""
    layout = layouts.table[tag]
    name = f"{'union' if union else 'struct'} {cuda_names.tag(tag)}"
    lines = [f"{name} {{"]
    for group in groups(layout, layouts, union):
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
