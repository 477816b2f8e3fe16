"""The text of what records gather (lane/totals.cuh): where it lies, what a launch begins with, and how threads' and blocks'
parts come together."""

from __future__ import annotations

from collections.abc import Iterator

from ...manifest import Accumulation
from ..decide.decisions import Place
from ..decide.totals import by_place, members
from .scope import KernelStyle
from .types import INDENT, declare

HEADER = "lane/totals.cuh"
ONE_THREAD = "lane/operations.cuh"  # all that a host kernel needs of it
OPERATIONS: dict[Accumulation, str] = {
    "sum": "Sum", "min": "Least", "max": "Greatest", "and": "AllBits", "or": "AnyBits", "xor": "OddBits",
    "first-min": "LeastReal", "last-min": "LeastReal", "first-max": "GreatestReal", "last-max": "GreatestReal",
}
# Of one thread, which has the records in their order.
ORDERED: dict[Accumulation, str] = {
    "first-min": "FirstLeast", "last-min": "LastLeast", "first-max": "FirstGreatest", "last-max": "LastGreatest",
}


def headers(kernel: KernelStyle) -> list[str]:
    if not kernel.total_fields:
        return []
    return [ONE_THREAD if kernel.one_thread else HEADER]


def fields(kernel: KernelStyle) -> list[str]:
    """Of struct Totals, a task's."""
    return [_field(place, name) for place, name in kernel.total_fields.values()]


def block_fields(kernel: KernelStyle) -> list[str]:
    """Of what a block has of them in shared memory."""
    return [_field(place, name) for place, name in _in_block(kernel)]


def thread_fields(kernel: KernelStyle) -> list[str]:
    """Of what each thread has of them."""
    return [_field(place, name) for place, name in _in_thread(kernel)]


def checks(kernel: KernelStyle) -> list[str]:
    found = {place.key: total for place, total in by_place(kernel.program.source, kernel.program.decisions.places)}
    return [f'static_assert(offsetof(Totals, {name}) == {found[key].base}, "as the host reads it");'
            for key, (_, name) in kernel.total_fields.items() if found[key].base]


def before_items(kernel: KernelStyle) -> Iterator[str]:
    """By all threads of a block."""
    if not kernel.total_fields:
        return
    if kernel.one_thread:
        for place, name in kernel.total_fields.values():
            yield from _lines(kernel, place, "nothing_by_block", f"hd_totals.{name}")
        return
    yield f"{INDENT}hd.totals = static_cast<Totals *>(task.totals);\n"
    if _in_block(kernel):
        yield f"{INDENT}HD_SHARED(hd::Box<BlockTotals>, hd_block_totals);\n"
        yield f"{INDENT}hd.block_totals = &hd_block_totals.value;\n"
    for place, name in _in_block(kernel):
        yield from _lines(kernel, place, "nothing_by_block", f"hd.block_totals->{name}")
    for place, name in _in_thread(kernel):
        yield from _lines(kernel, place, "set_nothing", f"hd.thread_totals.{name}")
    if _in_block(kernel):
        yield f"{INDENT}__syncthreads();\n"


def behind_items(kernel: KernelStyle) -> Iterator[str]:
    """By all threads that are left: one that ended early has ended its launch, of which nothing counts."""
    for place, name in _in_thread(kernel):
        yield from _lines(kernel, place, "gather_atomically", f"hd.block_totals->{name}", f"hd.thread_totals.{name}")
    if _in_block(kernel):
        yield f"{INDENT}__syncthreads();\n"
    for place, name in _in_block(kernel):
        yield from _lines(kernel, place, "gather_by_block", f"hd.totals->{name}", f"hd.block_totals->{name}")


def _lines(kernel: KernelStyle, place: Place, call: str, *objects: str) -> Iterator[str]:
    """Calls for a variable, or for each member of it that records gather in, which is reached by where it lies."""
    for path, op in (place.ops or {}).items():
        found = objects
        if path:
            part = members(kernel.program.source, place, path)
            what = f"hd::Part<{declare(part.kind, '')}, {part.at}, {part.count}, {part.inner}, {part.stride}>"
            found = tuple(f"{what}::of({one})" for one in objects)
        yield f"{INDENT}hd::{call}<{operation(kernel, op)}>({', '.join(found)});\n"


def operation(kernel: KernelStyle, op: Accumulation) -> str:
    """The type of runtime/device/lane that has an operation."""
    ordered = ORDERED.get(op) if kernel.one_thread else None
    return f"hd::{ordered or OPERATIONS[op]}"


def _field(place: Place, name: str) -> str:
    return f"{declare(place.type, name)};"


def _in_block(kernel: KernelStyle) -> list[tuple[Place, str]]:
    """Those of which a block has its own part: those of its threads come together there, too."""
    if kernel.one_thread:
        return []
    return [(place, name) for place, name in kernel.total_fields.values() if place.space != "device-total"]


def _in_thread(kernel: KernelStyle) -> list[tuple[Place, str]]:
    return [(place, name) for place, name in _in_block(kernel) if place.space == "thread-total"]
