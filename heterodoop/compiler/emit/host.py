"""The text of a host kernel: the map kernel's, with the combiner as a struct before it and main() behind it.

A C++ compiler compiles it against runtime/hostlane (`toolchain.host_kernel`). Not here: which programs have one.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...manifest import PairReader
from ..device.program import Program
from ..keyloop.loop import KeyLoop
from . import kernel, key_loop


def emit(program: Program, loop: KeyLoop, pairs: PairReader, regroup: bool, macros: Sequence[str] = ()) -> str:
    """The text for a mapper's kernel without Unsupported, and a combiner for which `key_loop.problem` says nothing."""
    about = [
        kernel.clauses(program.source.region),
        "one thread; pairs are folded as they are printed" + (", a key's lines may be combined again" if regroup else ""),
    ]
    given = "true" if program.decisions.shared else "false"
    return kernel.text(
        program, "map.host.cpp", about, macros, numbers=True, combiner=key_loop.lines(loop, pairs, regroup), lane="Fold",
        headers=[*kernel.headers(program), "sink/fold_sink.h", *key_loop.headers(loop)],
        end=f'}}  // namespace app\n\n#include "main.h"\nHD_MAIN(app::hd_map, app::Shared, {given})',
    )
