"""The text of what records gather (lane/totals.cuh): where it lies, what a launch begins with, and how threads' and blocks'
parts come together."""

from __future__ import annotations

from collections.abc import Iterator

from ...manifest import Accumulation
from ..decide.decisions import Place
from ..decide.totals import totals
from .scope import Kernel
from .types import INDENT, declare

HEADER = "lane/totals.cuh"
ONE_THREAD = "lane/operations.cuh"  # all that a host kernel needs of it
OPERATIONS: dict[Accumulation, str] = {
    "sum": "Sum", "min": "Least", "max": "Greatest", "and": "AllBits", "or": "AnyBits", "xor": "OddBits",
}


def headers(kernel: Kernel) -> list[str]:
    if not kernel.total_fields:
        return []
    return [ONE_THREAD if kernel.one_thread else HEADER]


def fields(kernel: Kernel) -> list[str]:
    """Of struct Totals, a task's."""
    return [_field(place, name) for place, name in kernel.total_fields.values()]


def block_fields(kernel: Kernel) -> list[str]:
    """Of what a block has of them in shared memory."""
    return [_field(place, name) for place, name in _in_block(kernel)]


def thread_fields(kernel: Kernel) -> list[str]:
    """Of what each thread has of them."""
    return [_field(place, name) for place, name in _in_thread(kernel)]


def checks(kernel: Kernel) -> list[str]:
    found = totals(kernel.program.source, kernel.program.decisions.places)
    names = [name for _, name in kernel.total_fields.values()]
    return [f'static_assert(offsetof(Totals, {name}) == {total.offset}, "as the host reads it");'
            for name, total in zip(names, found, strict=True) if total.offset]


def before_items(kernel: Kernel) -> Iterator[str]:
    """By all threads of a block."""
    if not kernel.total_fields:
        return
    if kernel.one_thread:
        for place, name in kernel.total_fields.values():
            yield f"{INDENT}hd::nothing_by_block<{_operation(place)}>(hd_totals.{name});\n"
        return
    yield f"{INDENT}hd.totals = static_cast<Totals *>(task.totals);\n"
    if _in_block(kernel):
        yield f"{INDENT}HD_SHARED(hd::Box<BlockTotals>, hd_block_totals);\n"
        yield f"{INDENT}hd.block_totals = &hd_block_totals.value;\n"
    for place, name in _in_block(kernel):
        yield f"{INDENT}hd::nothing_by_block<{_operation(place)}>(hd.block_totals->{name});\n"
    for place, name in _in_thread(kernel):
        yield f"{INDENT}hd::set_nothing<{_operation(place)}>(hd.thread_totals.{name});\n"
    if _in_block(kernel):
        yield f"{INDENT}__syncthreads();\n"


def behind_items(kernel: Kernel) -> Iterator[str]:
    """By all threads that are left: one that ended early has ended its launch, of which nothing counts."""
    for place, name in _in_thread(kernel):
        yield f"{INDENT}hd::gather_atomically<{_operation(place)}>(hd.block_totals->{name}, hd.thread_totals.{name});\n"
    if _in_block(kernel):
        yield f"{INDENT}__syncthreads();\n"
    for place, name in _in_block(kernel):
        yield f"{INDENT}hd::gather_by_block<{_operation(place)}>(hd.totals->{name}, hd.block_totals->{name});\n"


def _operation(place: Place) -> str:
    assert place.op is not None
    return f"hd::{OPERATIONS[place.op]}"


def _field(place: Place, name: str) -> str:
    return f"{declare(place.type, name)};"


def _in_block(kernel: Kernel) -> list[tuple[Place, str]]:
    """Those of which a block has its own part: those of its threads come together there, too."""
    if kernel.one_thread:
        return []
    return [(place, name) for place, name in kernel.total_fields.values() if place.space != "device-total"]


def _in_thread(kernel: Kernel) -> list[tuple[Place, str]]:
    return [(place, name) for place, name in _in_block(kernel) if place.space == "thread-total"]
