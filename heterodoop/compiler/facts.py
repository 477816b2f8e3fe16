"""What is found out about one region after the rewrites: every analysis and decision, each computed once (`steps`).

Not here: how. A fact is a call of the module that knows, which is handed what it needs of others. A new analysis is a
module with a function of this kind and a fact here; `refusals` gathers the reasons against the GPU.
"""

from __future__ import annotations

from .. import manifest
from ..diag import Diagnostic, Sink
from ..toolchain.cc import Libm
from ..values import dataclass
from .analysis import accumulators, uses
from .analysis.flow import analyse_flow
from .analysis.flow_findings import Findings
from .analysis.flow_objects import ObjectModel
from .analysis.known import Known
from .analysis.locations import Locations
from .analysis.points_to import PointsTo
from .analysis.uses import UseTable
from .analysis.writers import Writers
from .decide import decisions, epilogue, extents, guards, launch
from .decide.line_moves import LineMoves
from .decide.overlaps import overlap_refusals
from .decide.placement import Placement, decide
from .decide.refusals import shape_refusals
from .decide.returns import return_refusals
from .decide.sequencing import order_refusals
from .decide.stack import stack_refusals
from .device import program, text
from .device.lower import lower
from .device.scope import LoweringFacts as KnownToDevice
from .emit.prologue import refusals as prologue_refusals
from .ir import ir
from .ir.call_graph import CallGraph
from .keyloop import fold
from .lower.bind import BoundRegion
from .report.region_info import region_info
from .source.frontend import Unit
from .steps import Asked, Times, fact

Reasons = tuple[manifest.Reason, ...]


@dataclass(frozen=True)
class AnalysisInput:
    """What the facts are about.

    program  after all rewrites.
    options  optimisations that are on (`optimisations.chosen`).
    libm     whose exp, log, pow ... the filters call (`toolchain.cc.CcOptions`).
    """

    program: ir.Program
    unit: Unit
    bound: BoundRegion
    options: tuple[str, ...]
    libm: Libm


def reasons_text(reasons: Reasons) -> str:
    return "".join(f"{reason.place or '-'}: [{reason.code}] {reason.message}\n" for reason in reasons)


class Facts(Asked):
    """The facts in the order in which they are found out; `text` of a row is what `--emit` prints."""

    def __init__(self, given: AnalysisInput, times: Times) -> None:
        super().__init__(times)
        self.given, self.program = given, given.program

    # ------------------------------------------------------------------------------------- what the program does

    @fact(dump=CallGraph.text)
    def calls(self) -> CallGraph:
        """which of the program's functions may call which"""
        return CallGraph(self.program)

    @fact(dump=PointsTo.text)
    def points_to(self) -> PointsTo:
        """the objects that each variable and piece of memory may point to"""
        return PointsTo(self.program)

    @fact("points_to")
    def locations(self) -> Locations:
        """which parts of objects may be the same memory"""
        return Locations(self.program, self.points_to)

    @fact("points_to", "calls", dump=Writers.text)
    def writers(self) -> Writers:
        """who writes each object, before, in and after the region"""
        return Writers(self.program, self.points_to, self.calls)

    @fact("points_to", "calls")
    def model(self) -> ObjectModel:
        """which objects outlive a record, which are one, of what type they and their parts are"""
        return ObjectModel(self.program, self.points_to, self.calls)

    @fact("model", dump=Findings.text)
    def flow(self) -> Findings:
        """what a record reads and writes, and which reads are not proven"""
        return analyse_flow(self.model)

    @fact("points_to", "calls", dump=lambda found: accumulators.text(found.found))
    def gathered(self) -> uses.Gathered:
        """what records gather without reading it, and what would be that but for one thing"""
        given = self.program, self.points_to, self.calls
        return uses.Gathered(accumulators.accumulators(*given), accumulators.near_misses(*given))

    @fact("model", "flow", "gathered")
    def uses(self) -> UseTable:
        """each outer variable's class and the reason"""
        return uses.classify(self.model, self.flow, self.gathered)

    @fact("uses")
    def clauses(self) -> list[Diagnostic]:
        """clauses of the directive that the region contradicts (HD211)"""
        sink = Sink()
        uses.check_clauses(self.program, self.uses, sink)
        return sink.diagnostics

    @fact("points_to", "locations", "calls", dump=reasons_text)
    def order(self) -> Reasons:
        """places where C leaves open what comes first (HD260)"""
        return order_refusals(self.program, self.points_to, self.locations, self.calls)

    @fact("order", dump=fold.text)
    def fold(self) -> fold.Recognised:
        """is the combiner a fold, how does it read its pairs, why is it none"""
        found = fold.recognise(self.program)
        return fold.without(found, "its order of operations is not certain") if self.order else found

    # ------------------------------------------------------------------------------------- what its kernel is to be

    @fact("calls", dump=launch.text)
    def launch(self) -> launch.LaunchConfig:
        """threads, blocks, room for pairs, stack"""
        return launch.launch(self.program, self.calls)

    @fact("uses", "writers", "calls")
    def known(self) -> Known:
        """values that outer variables surely have, and how the region reads them"""
        return Known(self.program, self.uses, self.writers, self.calls)

    @fact("uses", "known", "launch", dump=lambda found: decisions.text(found.decisions))
    def decisions(self) -> Placement:
        """where each outer variable lives on the GPU, and the launch shape"""
        scope = {name: symbol.storage for name, symbol in self.given.bound.scope.items()}
        return decide(self.program, self.uses, self.known, self.launch, scope, self.given.options)

    @fact("uses", "decisions", "calls", dump=guards.text)
    def guards(self) -> guards.Guards:
        """objects whose reads the kernel checks"""
        return guards.decide(self.program, self.uses, self.decisions.decisions, self.calls)

    @fact("uses", "flow", "calls", dump=extents.text)
    def extents(self) -> extents.Extents:
        """accesses that may lie outside their objects, and objects whose place the kernel keeps"""
        return extents.decide(self.program, self.uses, self.flow, self.calls)

    @fact("calls", "points_to", "guards", dump=lambda found: reasons_text(found.refusals))
    def moves(self) -> LineMoves:
        """which moves of pointers into the line are checked, and those that cannot be (HD690)"""
        return LineMoves(self.program, self.calls.bodies, self.points_to, self.guards)

    @fact("calls", "points_to", "locations", "decisions", "guards", "moves", "extents", dump=text.print_device)
    def device(self) -> program.Program:
        """the kernel as device IR: what wraps, what is checked, where names lie, what has no device form"""
        known = KnownToDevice(
            self.calls, self.points_to, self.locations, self.decisions.decisions, self.guards, self.moves, self.extents)
        return lower(self.program, known, self.given.libm)

    # ------------------------------------------------------------------------------------- what keeps it off the GPU

    @fact("uses", "calls", dump=epilogue.text)
    def behind(self) -> epilogue.Epilogue:
        """does the code behind a mapper's region show, and may it run without the region"""
        return epilogue.decide(self.program, self.uses, self.calls)

    @fact("uses", "calls", "behind", dump=reasons_text)
    def shape(self) -> Reasons:
        """what stands around the region, and where it stands"""
        return shape_refusals(self.program, self.uses, self.calls, epilogue=self.behind.needed)

    @fact("device", dump=reasons_text)
    def left_over(self) -> Reasons:
        """what of the region's code has no device form"""
        left = self.device.unsupported()
        return tuple(manifest.Reason(n.code, n.message, n.span) for n in left)

    @fact("calls", dump=reasons_text)
    def returns(self) -> Reasons:
        """functions that may end without the value that is used (HD261)"""
        return return_refusals(self.program, self.calls)

    @fact("calls", dump=reasons_text)
    def overlaps(self) -> Reasons:
        """calls that read the text that they write over (HD262)"""
        return overlap_refusals(self.calls)

    @fact("calls", "uses", "decisions", dump=reasons_text)
    def stack(self) -> Reasons:
        """is what each thread needs of its own too much (HD245)"""
        return stack_refusals(self.program, self.calls, self.decisions.decisions.places, self.uses)

    @fact("decisions", "behind", dump=reasons_text)
    def prologue(self) -> Reasons:
        """may the code before the region run alone, where its values are needed (HD246)"""
        bound, unit = self.given.bound, self.given.unit
        return prologue_refusals(unit, bound.directive.span, self.decisions.decisions, epilogue=self.behind.needed)

    @fact("uses", "left_over", "shape", "order", "returns", "overlaps", "decisions", "stack", "guards", "extents",
          "moves", "prologue", "behind", dump=reasons_text)
    def refusals(self) -> Reasons:
        """every reason against the GPU, each once"""
        found = (*self.program.refusals, *self.uses.refusals, *self.left_over, *self.shape, *self.order, *self.returns,
                 *self.overlaps, *self.decisions.reasons, *self.stack, *self.guards.refusals, *self.extents.refusals,
                 *self.moves.refusals, *self.prologue, *self.behind.refusals)
        return tuple(dict.fromkeys(found))

    @fact("uses", "fold", "calls")
    def region(self) -> manifest.Region:
        """what the manifest says of the region"""
        return region_info(self.program, self.uses, self.fold, self.calls, self.given.bound)
