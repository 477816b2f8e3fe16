"""Why a region stays on the CPU, as far as what stands around it says so: the code before and after, and where it stands.

`uses` gives the reasons that lie in variables and calls, `device` those in the region's own code. Every reason has a place;
none is guessed away.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...manifest import Reason
from ..analysis.libc_effects import REFUSED
from ..analysis.objects import RECORD, Object
from ..analysis.points_to import PointsTo
from ..analysis.uses import Use, UseTable
from ..ir import ir
from ..ir import walk as ir_walk
from ..ir.call_graph import CallGraph
from ..types import ctype

_LOOPS = (ir.While, ir.DoWhile, ir.For)
# What the region may not call, the code around it may: it runs on the CPU, once. Streams other than stdin are files.
_QUIET = frozenset(
    "fopen fclose fgets fread getline getdelim fscanf fgetc getc ungetc feof ferror clearerr fseek rewind ftell setvbuf "
    "setbuf fflush getenv secure_getenv setenv unsetenv time clock gettimeofday clock_gettime localtime gmtime getpid "
    "rand srand random srandom drand48 srand48 realloc reallocarray aligned_alloc isatty access qsort bsearch open close "
    "unlink remove __builtin_va_start __builtin_va_end __builtin_va_copy".split()
)


def shape_refusals(
    program: ir.Program, table: UseTable, calls: CallGraph, *, epilogue: bool = False,
) -> tuple[Reason, ...]:
    """Reasons in the order: the region's place, the code before, the code after. epilogue: which then runs by itself."""
    return tuple(_surroundings(program, table, calls, epilogue))


def _surroundings(program: ir.Program, table: UseTable, calls: CallGraph, epilogue: bool) -> Iterator[Reason]:
    region = program.region
    body = program.enclosing.body
    if region.function != "main":
        text = f"the region stands in '{region.function}', so what main() does before and after it is not known"
        yield Reason("HD226", text, region.span)
    loops = [n for n in ir_walk.walk(body) if isinstance(n, _LOOPS)]
    if any(isinstance(n, ir.RegionHere) for loop in loops for n in ir_walk.walk(loop)):
        yield Reason("HD226", "the region stands inside a loop, so it would run several times", region.span)
    early, late = split(body)
    yield from _talks(program, early, "before", calls)
    yield from _talks(program, late, "after", calls)
    if not epilogue:
        yield from _Epilogue(program, table).reasons(late, calls)


def split(body: ir.Block) -> tuple[list[ir.Node], list[ir.Node]]:
    """Nodes of a function's body that come before and after the region in the text."""
    early: list[ir.Node] = []
    late: list[ir.Node] = []
    chosen = early
    for node in ir_walk.walk(body):
        if isinstance(node, ir.RegionHere):
            chosen = late
        else:
            chosen.append(node)
    return early, late


def _with_helpers(program: ir.Program, nodes: list[ir.Node], calls: CallGraph) -> list[ir.Node]:
    """The nodes and those of every function that they may call."""
    called = calls.named(n.name for n in nodes if isinstance(n, ir.Name))
    return nodes + [n for f in sorted(called) for n in ir_walk.walk(program.by_name[f].body)]


def _talks(program: ir.Program, nodes: list[ir.Node], where: str, calls: CallGraph) -> Iterator[Reason]:
    """Output and stdin outside the region."""
    for node in _with_helpers(program, nodes, calls):
        if isinstance(node, ir.Emit):
            if where == "after" and isinstance(program.region, ir.MapRegion):
                continue  # the epilogue's
            flush = where == "after" and isinstance(program.region, ir.CombineRegion)
            more = "; put it in the region's block" if flush else ""
            yield Reason("HD226", f"the code {where} the region prints to stdout{more}", node.span)
        elif isinstance(node, (ir.ReadRecord, ir.ReadPair)):
            yield Reason("HD226", f"the code {where} the region reads from stdin", node.span)
        elif isinstance(node, ir.Call) and ir.called(node) in REFUSED and ir.called(node) not in _QUIET:
            code = "HD222" if ir.called(node) == "setlocale" else "HD226"
            yield Reason(code, f"the code {where} the region calls {ir.called(node)}()", node.span)
        elif isinstance(node, ir.Opaque):
            yield Reason(node.code, node.message, node.span)


class _Epilogue:
    """Uses, after the region, of what it wrote: on the GPU those values are nowhere."""

    def __init__(self, program: ir.Program, table: UseTable) -> None:
        self._program, self._points_to = program, table.points_to
        self._written = {u.key: u for u in table.uses if u.write is not None and not _buffer(u)}

    def reasons(self, nodes: list[ir.Node], calls: CallGraph) -> Iterator[Reason]:
        function = self._program.region.function
        ignored = {n.number for node in nodes for n in _released(node)}
        seen: set[Object] = set()
        for node in nodes:
            if node.number not in ignored:
                yield from self._node(function, node, seen)
        for name in sorted(calls.named(n.name for n in nodes if isinstance(n, ir.Name))):
            for node in ir_walk.walk(self._program.by_name[name].body):
                yield from self._node(name, node, seen)

    def _node(self, function: str, node: ir.Node, seen: set[Object]) -> Iterator[Reason]:
        for key in sorted(self._touched(function, node, self._points_to)):
            if key in self._written and key not in seen:
                seen.add(key)
                name = self._written[key].name.split("$")[0]
                yield Reason("HD227", f"the code after the region uses '{name}', which the region writes", node.span)

    def _touched(self, function: str, node: ir.Node, points_to: PointsTo) -> set[Object]:
        if isinstance(node, ir.Name) and not isinstance(node.type, ctype.Func):
            return {points_to.key(function, node.name)}
        if isinstance(node, (ir.Index, ir.Deref)):
            return points_to.objects(function, node)
        if isinstance(node, ir.Call):
            return {t for a in node.args if isinstance(a.type, ctype.Pointer) for t in points_to.targets(function, a)}
        return set()


def _buffer(use: Use) -> bool:
    """getline's buffer and capacity, which a program may hand back afterwards."""
    return use.cls == "record" and use.reason in ("the line's buffer", "the buffer's capacity") or use.key == RECORD


def _released(node: ir.Node) -> Iterator[ir.Node]:
    """The call and everything in it where memory is given back, and the target of a plain assignment."""
    if isinstance(node, ir.Call) and ir.called(node) in ("free", "fclose"):
        yield from ir_walk.walk(node)
    elif isinstance(node, ir.Assign) and node.op == "=" and isinstance(node.target, ir.Name):
        yield node.target
