"""What the compiler understood of a region, as the manifest has it."""

from __future__ import annotations

from ... import manifest
from ...source import UNKNOWN
from ..analysis.uses import Use, UseTable
from ..ir import ir
from ..ir.call_graph import CallGraph
from ..keyloop.fold import Recognised
from ..lower.bind import BoundRegion
from ..normalise.by_value import reads
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
        no_fold=_no_fold(fold),
        ordered=tuple(state.name for state in fold.loop.state) if fold.loop and not fold.fold else (),
    )


def _no_fold(found: Recognised) -> manifest.Reason | None:
    """Why a combiner is no fold; where it is no key loop either, why it is none of these."""
    if found.fold is not None or not found.why:
        return None
    if found.loop is None:
        return manifest.Reason("HD266", found.no_loop, found.place or UNKNOWN)
    return manifest.Reason("HD266", found.why)


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
