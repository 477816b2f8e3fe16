"""The passes over a region's IR as data, their order with its reasons, and the analyses that follow them.

    lower -> stdio -> environment -> record_loop -> prune -> uses, shape, fold -> placement -> manifest.Region,
    reasons against the GPU, decisions about its kernel
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .. import manifest
from ..diag import Sink
from ..errors import CompilerBug
from ..toolchain import Libm
from .analysis.uses import UseTable, analyse, check_clauses
from .decide import guards, optimisations
from .decide.decisions import Decisions
from .decide.overlaps import overlap_refusals
from .decide.placement import decide
from .decide.refusals import shape_refusals
from .decide.returns import return_refusals
from .decide.sequencing import order_refusals
from .emit import prologue
from .emit.support import refusals as support_refusals
from .ir import ir
from .ir.read import read_ir
from .ir.text import print_ir
from .ir.verify import verify as verify_program
from .keyloop.fold import recognise
from .lower.bind import BoundRegion
from .lower.lower import lower
from .normalise import record_loop
from .normalise.environment import environment
from .normalise.prune import prune
from .normalise.stdio import stdio
from .report.region_info import region_info
from .source.deep import deep
from .source.frontend import Unit


@dataclass(frozen=True)
class Pass:
    name: str
    doc: str
    run: Callable[[ir.Program], ir.Program]


PASSES: tuple[Pass, ...] = (
    Pass("stdio", "calls on stdin, stdout, stderr and exits become nodes of our own", stdio),
    Pass("environment", "getenv of a literal name, in the region, becomes a variable that the prologue fills", environment),
    Pass("record_loop", "the reading loop, in any spelling, becomes a RecordLoop", record_loop.recognise),
    Pass("prune", "globals and library names that nothing mentions are dropped", prune),
)

ORDER: tuple[tuple[str, str, str], ...] = (
    ("stdio", "record_loop", "the loop is known by the ReadRecord or ReadPair in its condition"),
    ("environment", "prune", "getenv itself may be left without a use"),
    ("stdio", "prune", "calls that became nodes of our own leave library names unused"),
)


def check_order() -> None:
    """Raises CompilerBug where PASSES breaks a rule of ORDER."""
    names = [p.name for p in PASSES]
    for first, second, reason in ORDER:
        if names.index(first) > names.index(second):
            raise CompilerBug(f"pass {first} must come before {second}: {reason}")


check_order()


@dataclass(frozen=True)
class Analysis:
    """One region after all passes. `refusals` empty: nothing was found that keeps it off the GPU.

    macros  what its kernel defines to behave as this machine's C library (`library`).
    """

    program: ir.Program
    uses: UseTable
    region: manifest.Region
    refusals: tuple[manifest.Reason, ...]
    decisions: Decisions
    macros: tuple[str, ...] = ()

    @property
    def has_kernel(self) -> bool:
        """A mapper that nothing keeps off the GPU, or such a combiner that is a fold."""
        return not self.refusals and (self.region.kind == "mapper" or self.region.fold is not None)


@deep
def run(
    unit: Unit, bound: BoundRegion, sink: Sink, *, verify: bool = False,
    options: tuple[str, ...] = optimisations.chosen(), libm: Libm = "own",
) -> Analysis:
    """Lower a bound region, run all passes and analyses. User errors (HD211) go to `sink`.

    verify   check the IR after every pass that changed it, and in the end that its text reads back; raises CompilerBug.
    options  optimisations that are on (`optimisations.chosen`).
    libm     whose exp, log, pow ... the filters call (`toolchain.CcOptions`).
    """
    program = _passed(lower(unit, bound, sink), verify)
    table = analyse(program)
    check_clauses(program, table, sink)
    order = order_refusals(program, table.points_to)
    fold = recognise(program) if not order else None
    scope = {name: symbol.storage for name, symbol in bound.scope.items()}
    placement = decide(program, table, scope, options)
    guarding = guards.decide(program, table, placement.decisions)
    reasons = (*gpu_refusals(program, table, libm), *order, *return_refusals(program), *overlap_refusals(program),
               *placement.reasons, *guarding.refusals, *_no_prologue(unit, bound, placement.decisions))
    info = region_info(program, table, fold, bound)
    return Analysis(program, table, info, tuple(dict.fromkeys(reasons)), placement.decisions)


def _no_prologue(unit: Unit, bound: BoundRegion, decisions: Decisions) -> tuple[manifest.Reason, ...]:
    source = unit.sources.get(unit.path)
    if not decisions.shared or source is None:
        return ()
    why = prologue.problem(source, bound.directive.span)
    text = f"{why}, so the code before the region cannot be run alone"
    return (manifest.Reason("HD246", text, str(bound.directive.span)),) if why else ()


def gpu_refusals(program: ir.Program, table: UseTable, libm: Libm = "own") -> tuple[manifest.Reason, ...]:
    """Every reason against the GPU, each once: what could not be lowered, variables and calls, the shape, no CUDA text."""
    shape, support = shape_refusals(program, table), support_refusals(program, table, libm)
    return tuple(dict.fromkeys((*program.refusals, *table.refusals, *shape, *support)))


def _passed(program: ir.Program, verify: bool) -> ir.Program:
    """The program after all passes; one that changes nothing gives back the object that it got."""
    if verify:
        verify_program(program, "lower")
    for step in PASSES:
        before, program = program, step.run(program)
        if verify and program is not before:
            verify_program(program, step.name)
    if verify:
        _check_text(program)
    return program


def _check_text(program: ir.Program) -> None:
    text = print_ir(program)
    back = read_ir(text)
    if back != program or print_ir(back) != text:
        raise CompilerBug("after all passes: the printed IR reads back as another program")


@deep
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
