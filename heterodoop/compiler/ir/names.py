"""How names, types and region clauses are spelt in printed IR, both ways."""

from __future__ import annotations

from ..types import ctype
from ..types.ctype import CType, Func, Pointer
from . import ir

_RESERVED = frozenset(
    "alignas alignof bool constexpr false nullptr static_assert thread_local true typeof typeof_unqual asm "
    "_Alignas _Alignof _Atomic _Bool _Static_assert _Thread_local __int128".split()
)
_ESCAPES = {10: "\\n", 9: "\\t", 13: "\\r", 34: '\\"', 92: "\\\\"}


def mangle(name: str) -> str:
    """A name as the text has it: C23's words get a final `$`."""
    return name + "$" if name in _RESERVED else name


def unmangle(name: str) -> str:
    return name.removesuffix("$")


def tag_name(tag: str) -> str:
    """A struct's tag as the text has it: `.1` and `node.2` become `$1` and `node$2`."""
    return mangle(tag.replace(".", "$"))


def untag(name: str) -> str:
    return unmangle(name).replace("$", ".")


def escape(data: bytes) -> str:
    """A C string literal of these bytes, in plain ASCII."""
    out = []
    for byte in data:
        out.append(_ESCAPES.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}"))
    return f'"{"".join(out)}"'


def type_name(kind: CType) -> str:
    return declare(kind, "")


def declare(kind: CType, name: str) -> str:
    """A declaration of `name` with type `kind`, without storage class and final semicolon."""
    if isinstance(kind, Pointer):
        inner = f"*{name}"
        if isinstance(kind.to, (ctype.Array, Func)):
            inner = f"({inner})"
        return _qualified(kind.to, inner) if kind.const else declare(kind.to, inner)
    if isinstance(kind, ctype.Array):
        return declare(kind.of, f"{name}[{'' if kind.length is None else kind.length}]")
    if isinstance(kind, Func):
        params = ", ".join(type_name(p) for p in kind.params)
        if kind.variadic:
            params = f"{params}, ..." if params else ""
        elif not params:
            params = "void"
        return declare(kind.result, f"{name}({params})")
    base = f"{'union' if kind.union else 'struct'} {tag_name(kind.tag)}" if isinstance(kind, ctype.Struct) else str(kind)
    return f"{base} {name}" if name else base


def _qualified(kind: CType, inner: str) -> str:
    """`const` on what a pointer points to: before a plain type, behind the `*` of a pointer."""
    if isinstance(kind, Pointer):
        return declare(kind, f"const {inner}")
    return f"const {declare(kind, inner)}"


def region_clauses(region: ir.Region) -> str:
    """The directive's clauses with the IR's names, in Table 1's order; absent ones are left out."""
    words = ["combiner" if isinstance(region, ir.CombineRegion) else "mapper"]
    keyin, valuein = (region.keyin, region.valuein) if isinstance(region, ir.CombineRegion) else ("", "")
    for name, one in (("key", region.key), ("value", region.value), ("keyin", keyin), ("valuein", valuein)):
        words += [f"{name}({one})"] if one else []
    for name in ("keylength", "vallength"):
        words += [f"{name}({getattr(region, name)})"] if getattr(region, name) else []
    for name in ("firstprivate", "sharedRO", "texture"):
        many = getattr(region, name)
        words += [f"{name}({', '.join(many)})"] if many else []
    for name in ("kvpairs", "blocks", "threads"):
        words += [f"{name}({getattr(region, name)})"] if getattr(region, name) else []
    return " ".join(words)
