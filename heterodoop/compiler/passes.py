"""The passes over a region's IR as data, their order with its reasons, and the analyses that follow them.

    lower -> stdio -> record_loop -> prune -> uses, shape, fold -> manifest.Region and reasons against the GPU
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

from .. import manifest
from ..diag import Sink
from ..errors import CompilerBug
from . import ir, record_loop
from .bind import BoundRegion
from .fold import recognise
from .frontend import Unit
from .ir_read import read_ir
from .ir_text import print_ir
from .lower import lower, nothing
from .prune import prune
from .refusals import shape_refusals
from .region_info import region_info
from .stdio import stdio
from .uses import UseTable, analyse, check_clauses
from .verify import verify as verify_program


@dataclass(frozen=True)
class Pass:
    name: str
    doc: str
    run: Callable[[ir.Program], ir.Program]


PASSES: tuple[Pass, ...] = (
    Pass("stdio", "calls on stdin, stdout, stderr and exits become nodes of our own", stdio),
    Pass("record_loop", "the reading loop, in any spelling, becomes a RecordLoop", record_loop.recognise),
    Pass("prune", "globals and library names that nothing mentions are dropped", prune),
)

ORDER: tuple[tuple[str, str, str], ...] = (
    ("stdio", "record_loop", "the loop is known by the ReadRecord or ReadPair in its condition"),
    ("stdio", "prune", "calls that became nodes of our own leave library names unused"),
)


_DEPTH = 6000  # Python frames: a long chain of `else if` or of operators is deep, and no fault of its author


def check_order() -> None:
    """Raises CompilerBug where PASSES breaks a rule of ORDER."""
    names = [p.name for p in PASSES]
    for first, second, reason in ORDER:
        if names.index(first) > names.index(second):
            raise CompilerBug(f"pass {first} must come before {second}: {reason}")


check_order()


@dataclass(frozen=True)
class Analysis:
    """One region after all passes. `refusals` empty: nothing was found that keeps it off the GPU."""

    program: ir.Program
    uses: UseTable
    region: manifest.Region
    refusals: tuple[manifest.Reason, ...]


def run(unit: Unit, bound: BoundRegion, sink: Sink, *, verify: bool = False) -> Analysis:
    """Lower a bound region, run all passes and analyses. User errors (HD211) go to `sink`.

    verify  check the IR after every pass, and that its text reads back; raises CompilerBug naming the pass.
    """
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _DEPTH))
    try:
        return _run(lower(unit, bound, sink), bound, sink, verify)
    except RecursionError:
        return _run(nothing(bound, "the program is nested too deeply to be analysed"), bound, sink, verify)
    finally:
        sys.setrecursionlimit(limit)


def _run(program: ir.Program, bound: BoundRegion, sink: Sink, verify: bool) -> Analysis:
    _checked(program, "lower", verify)
    for step in PASSES:
        program = step.run(program)
        _checked(program, step.name, verify)
    table = analyse(program)
    check_clauses(program, table, sink)
    fold = recognise(program)
    return Analysis(program, table, region_info(program, table, fold, bound), gpu_refusals(program, table))


def gpu_refusals(program: ir.Program, table: UseTable) -> tuple[manifest.Reason, ...]:
    """Every reason against the GPU, each once: what could not be lowered, variables and calls, the shape."""
    reasons = (*program.refusals, *table.refusals, *shape_refusals(program, table))
    return tuple(dict.fromkeys(reasons))


def _checked(program: ir.Program, name: str, wanted: bool) -> None:
    if not wanted:
        return
    verify_program(program, name)
    text = print_ir(program)
    back = read_ir(text)
    if back != program or print_ir(back) != text:
        raise CompilerBug(f"after pass '{name}': the printed IR reads back as another program")


def ir_text(analysis: Analysis) -> str:
    """The IR after all passes."""
    return print_ir(analysis.program)


def uses_text(analysis: Analysis) -> str:
    """One line per outside variable: name, type, class, reason."""
    rows = [(v.name, v.ctype, v.cls, v.reason) for v in analysis.region.variables]
    widths = [max((len(row[i]) for row in rows), default=0) for i in range(3)]
    return "".join(
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]]) + "\n" for row in rows
    )
