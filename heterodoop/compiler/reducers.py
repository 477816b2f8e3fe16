"""A reducer's analysis: its program, and the key loop that it is or why it is none. It has no directive as a rule.

Of the passes it has those that a symbolic run needs. Not here: the loop (`keyloop.reducer`), its program (`host_kernels`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from .. import manifest
from ..manifest import Reason
from ..source import Span
from ..values import dataclass
from . import library, own_faults
from .analysis.locations import Locations
from .analysis.points_to import PointsTo
from .decide.sequencing import order_refusals
from .ir import ir
from .ir.call_graph import CallGraph
from .keyloop import reducer
from .keyloop.reducer import NoLoop, Reducer
from .lower.bind import BoundRegion
from .lower.lower import lower
from .lower.reading_loop import reading_loop
from .normalise import record_loop
from .normalise.prune import prune
from .normalise.stdio import stdio
from .source.deep import deep
from .source.frontend import Unit
from .steps import Times

CODE = "HD267"
_NUMBER = re.compile(r"%[-+ #0-9.]*[hlLqjzt]*[a-zA-Z]|-?[0-9]+(?:\.[0-9]+)?")  # a conversion, or a number in a format


@dataclass(frozen=True)
class ReducerAnalysis:
    """found: what it is. macros: what its program defines to behave as this machine's C library (`library`)."""

    found: Reducer | NoLoop
    place: Span
    macros: tuple[str, ...] = ()

    @property
    def refusal(self) -> Reason | None:
        """Why it runs as a filter, at the statement that prevents more."""
        if isinstance(self.found, Reducer):
            return None
        return Reason(CODE, f"it is no loop over the pairs of a key: {self.found.why}", self.found.span or self.place)

    @property
    def described(self) -> manifest.Reducer | None:
        """What the manifest says of it."""
        if isinstance(self.found, NoLoop):
            return None
        kept = tuple(
            manifest.KeptNumber(state.name, str(state.type), operation or "", place)
            for state, operation, place in zip(self.found.loop.state, self.found.operations, self.found.places, strict=True))
        return manifest.Reducer("fold" if self.found.folds else "ordered", self.found.key, self.found.pairs, kept)


def analyse(unit: Unit, bound: BoundRegion | None, times: Times) -> ReducerAnalysis:
    """bound: by its directive, where it has one."""
    place = Span(unit.path, 0)
    try:
        bound = bound or reading_loop(unit)
        if bound is None:
            return ReducerAnalysis(NoLoop("main() has no loop of its own that reads pairs by getline, fgets or scanf"),
                                   place)
        return _analyse(unit, bound, times)
    except Exception as error:
        return ReducerAnalysis(NoLoop(own_faults.reason(error, place).message), place)


def behind(found: ReducerAnalysis, before: manifest.Region) -> ReducerAnalysis:
    """Of a reducer that may take several texts between two numbers of a value: it with those that the program before it
    prints there."""
    if isinstance(found.found, NoLoop) or not before.emissions:
        return found
    texts = _NUMBER.split(before.emissions[0].value)
    if texts[0] or texts[-1]:
        return found
    return replace(found, found=found.found.reading([text.encode("latin-1", "replace") for text in texts[1:-1]]))


@deep
def _analyse(unit: Unit, bound: BoundRegion, times: Times) -> ReducerAnalysis:
    place = bound.directive.span
    with times.step("reducer"):
        program = prune(record_loop.recognise(stdio(lower(unit, bound))))
        if program.refusals:
            first = program.refusals[0]
            return ReducerAnalysis(NoLoop(first.message, first.span), place)
        found = reducer.recognise(program)
        if isinstance(found, NoLoop):
            return ReducerAnalysis(found, place)
        order = _order(program)
        if order:
            return ReducerAnalysis(NoLoop(order[0].message, order[0].span), place)
    reasons, macros = library.needs(program, _bodies(program), unit.newer, Path(unit.path))
    if reasons:
        return ReducerAnalysis(NoLoop(reasons[0].message, reasons[0].span), place)
    return ReducerAnalysis(found, place, macros)


def _order(program: ir.Program) -> tuple[Reason, ...]:
    """Places where C leaves open what comes first."""
    points_to = PointsTo(program)
    return order_refusals(program, points_to, Locations(program, points_to), CallGraph(program))


def _bodies(program: ir.Program) -> Iterator[ir.Block]:
    """All code that may run."""
    yield program.region.body
    for function in program.functions:
        yield function.body
