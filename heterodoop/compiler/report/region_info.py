"""What the compiler understood of a region, as the manifest has it."""

from __future__ import annotations

from ... import manifest
from ..analysis.uses import Use, UseTable
from ..ir import ir
from ..ir.call_graph import CallGraph
from ..keyloop.fold import Recognised
from ..lower.bind import BoundRegion
from ..normalise.record_loop import reads
from .emissions import emissions


def region_info(
    program: ir.Program, table: UseTable, fold: Recognised, calls: CallGraph, bound: BoundRegion,
) -> manifest.Region:
    """The region's clauses, reader, variables with their classes, output sites, pair reader and fold.

    Names are the source's, but for shadowing variables, which keep the IR's number (`i$2`), and calls that were moved out.
    """
    return manifest.Region(
        kind=bound.kind,
        function=program.region.function,
        place=str(bound.directive.span),
        reader=reader_text(program),
        key=bound.key, value=bound.value, keyin=bound.keyin, valuein=bound.valuein,
        keylength=bound.keylength, vallength=bound.vallength,
        kvpairs=bound.kvpairs, blocks=bound.blocks, threads=bound.threads,
        variables=tuple(_variable(program, use) for use in table.uses),
        emissions=emissions(program, calls),
        pairs=fold.pairs,
        fold=fold.fold,
        no_fold=fold.why,
        ordered=tuple(state.name for state in fold.loop.state) if fold.loop and not fold.fold else (),
    )


def reader_text(program: ir.Program) -> str:
    """`getline`, `fgets` or `scanf "%s %d"`; "" where no record loop was recognised."""
    loop = ir.record_loop(program.region)
    found = reads(loop.cond) if loop is not None else []
    if not found:
        return ""
    read = found[0]
    if isinstance(read, ir.ReadPair):
        return f'scanf "{read.format.decode("utf-8", "backslashreplace")}"'.replace("\t", "\\t").replace("\n", "\\n")
    return read.kind


def _variable(program: ir.Program, use: Use) -> manifest.Variable:
    place = str(use.place) if use.place.line else ""
    return manifest.Variable(program.shown(use.name), str(use.type), use.nbytes, use.cls, use.reason, place)
