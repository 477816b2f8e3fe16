"""The text that keeps where objects lie, and compares accesses with that (decision 0020)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..analysis.objects import RECORD, Object
from ..device import checks, nodes
from ..device.program import Lies
from ..ir import ir
from .scope import Kernel, Scope, line

HEADER = "lane/extent.cuh"
_POINTERS = frozenset({"global", "texture"})  # spaces whose variables are reached by a pointer to their first element


def fields(kernel: Kernel) -> list[str]:
    """Members of the kernel's `Extents`."""
    extents = kernel.program.extents.by_key.values()
    return [f"hd::Extent<{'' if _handed_over(e.key, kernel) else e.nbytes}> {e.name};" for e in extents]


def _handed_over(key: Object, kernel: Kernel) -> bool:
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
    return ", ".join("hd.in" if key is RECORD else f"hd.extents.{table[key].name}" for key in keys)


def room(found: checks.Room, at: str, scope: Scope) -> str:
    """Bytes that may be written from `at` on."""
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
