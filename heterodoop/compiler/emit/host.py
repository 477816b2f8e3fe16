"""The text of a host kernel: the map kernel's with main() behind it, and before it the combiner as a struct, where it folds.

A C++ compiler compiles it against runtime/hostlane (`toolchain.host_kernel`). Not here: which programs have one.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...manifest import PairReader
from ...values import dataclass
from ..decide.decisions import TOTALS
from ..device import needle
from ..device.program import CopyAhead, Program
from ..keyloop.loop import KeyLoop
from . import kernel, key_loop, totals


@dataclass(frozen=True)
class Combiner:
    """A combiner whose work a host kernel does, too. regroup: its lines may be combined again."""

    loop: KeyLoop
    pairs: PairReader
    regroup: bool


def emit(program: Program, combiner: Combiner | None, macros: Sequence[str] = ()) -> str:
    """The text for a mapper's kernel without Unsupported. combiner: one for which `key_loop.problem` says nothing; None:
    pairs are printed as text."""
    found = needle.needle(program)
    given = "true" if program.decisions.shared else "false"
    about, more = ["one thread; pairs are printed as text"], ["sink/text_sink.h"]
    if combiner is not None:
        again = ", a key's lines may be combined again" if combiner.regroup else ""
        about, more = [f"one thread; pairs are folded as they are printed{again}"], ["sink/fold_sink.h"]
        more += key_loop.headers(combiner.loop)
    gathers = any(place.space in TOTALS for place in program.decisions.places)
    if gathers:
        more.append(totals.ONE_THREAD)
    where = ", &app::hd_totals, sizeof app::hd_totals" if gathers else ""
    if any(isinstance(node, CopyAhead) for node in program.nodes()):
        more.append("lane/copy_ahead.h")
    return kernel.text(
        program, "map.host.cpp", [kernel.clauses(program.source.region), *about], macros, numbers=combiner is not None,
        combiner=key_loop.lines(combiner.loop, combiner.pairs, combiner.regroup) if combiner is not None else [],
        lane="hd::FoldSink<Fold>" if combiner is not None else "hd::TextSink", headers=[*kernel.headers(program), *more],
        one_thread=True, next=kernel.next_holding(program, found) if found is not None else "hd.next()",
        end=f'}}  // namespace app\n\n#include "main.h"\nHD_MAIN(app::hd_map, app::Shared, {given}{where})',
    )
