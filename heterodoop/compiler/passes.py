"""The table of passes: the rewrites of a region's IR, in their order and with its reasons, then the facts about the result.

    lower -> PASSES -> FACTS -> Analysis: manifest.Region, reasons against the GPU, decisions about its kernel

Every row has a name, what it is for, what it needs, a dump (`--emit`) and a time (`--time-passes`). A new rewrite is a row
of PASSES; a new fact is a method of `facts.Facts`.
"""

from __future__ import annotations

from collections.abc import Callable

from .. import manifest
from ..diag import Sink
from ..errors import CompilerBug
from ..toolchain.cc import Libm
from ..values import dataclass
from .analysis.accumulators import accumulate
from .analysis.restored import restored
from .analysis.uses import UseTable
from .decide import optimisations
from .decide.decisions import Decisions
from .emit.map_fold import MapFold
from .emit.ordered import Ordered
from .facts import AnalysisInput, Facts
from .ir import ir
from .ir.read import read_ir
from .ir.text import print_ir
from .ir.verify import verify as verify_program
from .keyloop.flush import flush
from .lower.bind import BoundRegion
from .lower.lower import lower
from .normalise import record_loop
from .normalise.callbacks import callbacks
from .normalise.environment import environment
from .normalise.gotos import gotos
from .normalise.prune import prune
from .normalise.stdio import stdio
from .normalise.vlas import vlas
from .source.deep import deep
from .source.frontend import Unit
from .steps import FactRow, Times, rows


@dataclass(frozen=True)
class Pass:
    """A rewrite. needs: rewrites that come before it -> why. option: the optimisation without which it is left out."""

    name: str
    doc: str
    run: Callable[[ir.Program], ir.Program]
    needs: tuple[tuple[str, str], ...] = ()
    option: str = ""


PASSES: tuple[Pass, ...] = (
    Pass("stdio", "calls on stdin, stdout, stderr and exits become nodes of our own", stdio),
    Pass("callbacks", "qsort and bsearch with a comparator that is named become functions of ours that call it", callbacks),
    Pass("environment", "getenv of a literal name, in the region, becomes a variable that the prologue fills", environment),
    Pass("gotos", "jumps to labels become if, else, break, continue and do ... while", gotos),
    Pass("record_loop", "the reading loop, in any spelling, becomes a RecordLoop", record_loop.recognise,
         (("stdio", "the loop is known by the ReadRecord or ReadPair in its condition"),
          ("gotos", "a continue goes to the loop that it stands in"))),
    Pass("vlas", "arrays of variable length that a record declares become pointers to its own memory", vlas,
         (("record_loop", "what runs for a record is known by its loop"),)),
    Pass("accumulators", "updates of variables that records only gather in become nodes of our own", accumulate,
         (("record_loop", "what runs for a record is known by its loop"),), "gather"),
    Pass("restored", "variables that each record leaves as it found them are set and checked", restored,
         (("accumulators", "what records gather is no state of theirs"),)),
    Pass("flush", "what a fold prints of its last key behind the region is a part of it", flush,
         (("record_loop", "a fold is known by what a record of its loop does"),)),
    Pass("prune", "globals and library names that nothing mentions are dropped", prune,
         (("environment", "getenv itself may be left without a use"),
          ("stdio", "calls that became nodes of our own leave library names unused"))),
)

FACTS: tuple[FactRow, ...] = rows(Facts)


def check_order() -> None:
    """Raises CompilerBug where a row stands before one that it needs."""
    done: set[str] = set()
    for row in PASSES:
        for needed, why in row.needs:
            if needed not in done:
                raise CompilerBug(f"pass {needed} must come before {row.name}: {why}")
        done.add(row.name)
    for fact in FACTS:
        if not done.issuperset(fact.needs):
            raise CompilerBug(f"{fact.name} stands before what it needs: {', '.join(sorted(set(fact.needs) - done))}")
        done.add(fact.name)


check_order()


@dataclass(frozen=True)
class Analysis:
    """One region after all passes. `refusals` empty: nothing was found that keeps it off the GPU.

    macros  what its kernel defines to behave as this machine's C library (`library`).
    after   the program after each rewrite, and after lowering.
    map_fold  what its kernel does of the combiner's work.
    ordered   the combiner's loop, where its kernel does the steps of that and not what the region's text says.
    """

    program: ir.Program
    uses: UseTable
    region: manifest.Region
    refusals: tuple[manifest.Reason, ...]
    decisions: Decisions
    facts: Facts
    after: dict[str, ir.Program]
    macros: tuple[str, ...] = ()
    map_fold: MapFold | None = None
    ordered: Ordered | None = None

    @property
    def has_kernel(self) -> bool:
        """A mapper that nothing keeps off the GPU, or such a combiner that is a fold; or an ordered loop."""
        return self.ordered is not None or (
            not self.refusals and (self.region.kind == "mapper" or self.region.fold is not None))


@deep
def run(
    unit: Unit, bound: BoundRegion, sink: Sink, *, verify: bool = False,
    options: tuple[str, ...] = optimisations.chosen(), libm: Libm = "own", times: Times | None = None,
) -> Analysis:
    """Lower a bound region, run all passes and analyses. User errors (HD211) go to `sink`.

    verify   check the IR after every rewrite that changed it, and in the end that its text reads back; raises CompilerBug.
    options  optimisations that are on (`optimisations.chosen`).
    libm     whose exp, log, pow ... the filters call (`toolchain.cc.CcOptions`).
    times    gets what each step took.
    """
    times = times or Times()
    after = _rewritten(unit, bound, sink, times, options, verify)
    program = list(after.values())[-1]
    facts = Facts(AnalysisInput(program, unit, bound, options, libm), times)
    for row in FACTS:
        getattr(facts, row.name)
    sink.extend(facts.clauses)
    return Analysis(program, facts.uses, facts.region, facts.refusals, facts.decisions.decisions, facts, after)


def _rewritten(
    unit: Unit, bound: BoundRegion, sink: Sink, times: Times, options: tuple[str, ...], verify: bool,
) -> dict[str, ir.Program]:
    """The program after lowering and after each rewrite, by the names of the steps; one that changes nothing gives back the
    object that it got."""
    after: dict[str, ir.Program] = {}
    with times.step("lower"):
        program = after["lower"] = lower(unit, bound)
    _verified(program, "lower", verify, times)
    for row in PASSES:
        before = program
        with times.step(row.name):
            wanted = not row.option or row.option in options
            program = after[row.name] = row.run(program) if wanted else program
        _verified(program, row.name, verify and program is not before, times)
    if verify:
        with times.step("verify"):
            _check_text(program)
    return after


def _verified(program: ir.Program, name: str, wanted: bool, times: Times) -> None:
    if wanted:
        with times.step("verify"):
            verify_program(program, name)


def _check_text(program: ir.Program) -> None:
    text = print_ir(program)
    back = read_ir(text)
    if back != program or print_ir(back) != text:
        raise CompilerBug("after all passes: the printed IR reads back as another program")


# ------------------------------------------------------------------------------------------ what `--emit` prints


@deep
def dump(analysis: Analysis, name: str) -> str:
    """A step's result as text."""
    if name in analysis.after:
        return print_ir(analysis.after[name])
    row = next(row for row in FACTS if row.name == name)
    assert row.dump is not None
    return row.dump(getattr(analysis.facts, name))


def dumps() -> dict[str, str]:
    """Steps that have a dump -> what they are for."""
    rewrites = {row.name: f"the IR when {row.doc}" for row in PASSES}
    return {"lower": "the IR as it is made of the C text", **rewrites, **{f.name: f.doc for f in FACTS if f.dump}}


def ir_text(analysis: Analysis) -> str:
    """The IR after all rewrites."""
    return dump(analysis, PASSES[-1].name)


def uses_text(analysis: Analysis) -> str:
    """One line per outside variable: name, type, class, reason."""
    rows = [(v.name, v.ctype, v.cls, v.reason) for v in analysis.region.variables]
    widths = [max((len(row[i]) for row in rows), default=0) for i in range(3)]
    return "".join(
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]]) + "\n" for row in rows
    )
