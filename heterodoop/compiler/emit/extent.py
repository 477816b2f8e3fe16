"""The text that keeps where objects lie, and compares accesses with that (decision 0020)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

from ..analysis.objects import ANY_TEXT, RECORD, Arena, Object
from ..device import checks, nodes
from ..device.program import Lies
from ..ir import ir
from . import leaf
from .scope import KernelStyle, Scope, line

HEADER = "lane/extent.cuh"
_POINTERS = frozenset({"global", "texture"})  # spaces whose variables are reached by a pointer to their first element


def fields(kernel: KernelStyle) -> list[str]:
    """Members of the kernel's `Extents`."""
    extents = kernel.program.extents.by_key.values()
    known = [f"hd::Extent<{'' if _handed_over(e.key, kernel) else e.nbytes}> {e.name};" for e in extents]
    return [*known, *(f"hd::Extent<> {name};" for name in _strings(kernel))]


def _strings(kernel: KernelStyle) -> dict[str, str]:
    """What holds the texts that the prologue hands over, by the names of their extents: their fields in `Shared`."""
    if ANY_TEXT not in kernel.program.extents.shared:
        return {}
    keys = [f.key for f in kernel.program.decisions.shared if f.kind == "string"]
    return {f"hd_text_{n}": kernel.fields[key] for n, key in enumerate(keys)}


def strings(kernel: KernelStyle) -> list[str]:
    """Where those texts lie."""
    return [f"hd.extents.{name}.begin(shared.{at}, shared.{at}_bytes);" for name, at in _strings(kernel).items()]


def texts(kernel: KernelStyle) -> list[str]:
    """The table of the literals, and where each begins in it; behind each its NUL and a byte that belongs to none."""
    if not kernel.literals:
        return []
    fields = [f"char {name}[{len(data) + 1}], {name}_end;" for data, name in kernel.literals.items()]
    starts = accumulate((len(data) + 2 for data in kernel.literals), initial=0)
    values = [f"{leaf.string(data)}, 0" for data in kernel.literals]
    return [
        f"struct Texts {{ {' '.join(fields)} }};", f"static __device__ const Texts hd_texts = {{{', '.join(values)}}};",
        f"static __device__ const uint32_t hd_text_starts[] = {{{', '.join(map(str, starts))}}};",
    ]


def _handed_over(key: Object, kernel: KernelStyle) -> bool:
    """Is it memory whose size the kernel finds before it? Several allocations may be one piece, which realloc has grown."""
    place = kernel.program.decisions.by_key(key)
    return place is not None and place.base is not None


def lies(stmt: Lies, scope: Scope) -> str:
    """Where an object lies from here on."""
    extent = scope.kernel.program.extents.by_key[stmt.key]
    name = f"hd.extents.{extent.name}"
    if stmt.object is None:
        return f"{name}.begin_none();"
    text = scope.variable(stmt.object)
    if _handed_over(stmt.key, scope.kernel):
        return f"{name}.begin({text}, hd::memory_bytes({text}));"
    pointer = isinstance(stmt.object, nodes.Var) and stmt.object.space in _POINTERS
    return f"{name}.begin({text if pointer else f'&{text}'});"


def declared(key: Object | None, name: str, scope: Scope) -> list[str]:
    """What follows a local's declaration: nothing where nobody asks where it lies."""
    return [] if key is None else [f"hd.extents.{scope.kernel.program.extents.by_key[key].name}.begin(&{name});"]


def objects(keys: Sequence[Object], scope: Scope) -> str:
    """Arguments for these objects; the line knows its own place."""
    table = scope.kernel.program.extents.by_key
    found = [f"hd.extents.{table[key].name}" for key in keys if key in table]
    found += ["hd.arena"] if any(isinstance(key, Arena) for key in keys) else []
    if ANY_TEXT in keys:
        found += [f"hd.extents.{name}" for name in _strings(scope.kernel)]
        found += [f"hd::literals(hd_texts, hd_text_starts, {len(scope.kernel.literals)})"] if scope.kernel.literals else []
    return ", ".join([*(["hd.in"] if RECORD in keys else []), *found])


def room(found: checks.Room, at: str, scope: Scope) -> str:
    """Bytes that may be touched from `at` on."""
    return f"{found.nbytes}UL" if found.nbytes is not None else f"hd::room({at}, {objects(found.keys, scope)})"


def roomy(found: checks.Room, at: str, scope: Scope) -> str:
    """A target of scanf with its room."""
    rest = f"{found.nbytes}UL" if found.nbytes is not None else objects(found.keys, scope)
    return f"hd::roomy({at}, {rest})"


def fits(check: checks.FitsCheck, node: nodes.Library, scope: Scope) -> str:
    """The check before a call, whose arguments are hd_0, hd_1 ..."""
    at = f"hd_{check.arg}"
    if check.how == "bytes":
        size = " * ".join(f"(uint64_t)hd_{n}" for n in check.size) if check.size else "1"
    elif check.how == "object":
        size = f"sizeof *{at}"
    else:
        text = "hd::strlen(hd_1)" if check.most is None else f"hd::strnlen(hd_1, hd_{check.most})"
        size = f"{text} + 1" if check.how == "copy" else f"hd::strlen({at}) + {text} + 1"
    return f"hd::fits(hd, {size}, {room(check.room, at, scope)}, {line(node)});"


def _within(node: nodes.Within, scope: Scope) -> str:
    return f"hd::within<{node.length}>(hd, {scope.typed(node.index)}, {line(node)})"


def _inside(node: nodes.Inside, scope: Scope) -> str:
    return f"hd::inside(hd, {scope.value(node.operand)}, {line(node)}, {objects(node.keys, scope)})"


TEXTS: dict[type, Callable[[Any, Scope], str]] = {nodes.Within: _within, nodes.Inside: _inside}


def needed(node: ir.Node) -> bool:
    """Does a node's text call functions of HEADER?"""
    if isinstance(node, nodes.Library):
        return bool(node.rooms) or any(isinstance(check, checks.FitsCheck) for check in node.checks)
    if isinstance(node, (nodes.PrintTo, nodes.Read)):
        return node.room is not None
    return isinstance(node, (nodes.Within, nodes.Inside, Lies)) or (isinstance(node, nodes.ScanPair) and bool(node.rooms))
