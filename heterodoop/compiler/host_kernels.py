"""A bundle's host kernels: which mapper and reducer have one, and building them beside the filters.

A mapper has one where its kernel could run on a GPU. Where the combiner is a key loop whose pairs can be taken as they come,
it does the combiner's work, too; else it prints the pairs as the filter does. A reducer has one where it is a key loop. A
failure of ours or of the C++ compiler costs only the host kernel. Not here: the text (`emit.host`, `emit.reducer`), running
it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

from ..errors import ToolError
from ..manifest import HostKernel, Kernel, Program, Reason, Role
from ..source import UNKNOWN, Span
from ..together import Threads
from ..toolchain import host_kernel
from . import own_faults, passes, reducers
from .device import needle, nodes
from .emit import host, key_loop, reducer
from .emit.host import Combiner
from .ir import ir, names
from .keyloop.reducer import NoLoop
from .source.deep import deep

BINARY = "bin/{}.host"
_NO_KERNEL = Reason("HD266", "the mapper has no kernel")
_REFUSED = frozenset({"HD503", "HD513"})  # the C++ compiler did not end, or not well


def describe(mapper: passes.Analysis | None, kernel: Kernel | None, combiner: passes.Analysis | None) -> HostKernel | Reason:
    """The manifest's entry before anything is built, or why there is none. kernel: the mapper's."""
    if mapper is None or kernel is None:
        return _NO_KERNEL
    found = _combiner(mapper, combiner)
    sought = _sought(mapper)
    if isinstance(found, Combiner):
        return HostKernel(BINARY.format("map"), True, found.regroup, needle=sought)
    return HostKernel(BINARY.format("map"), False, False, (found,) if found is not None else (), sought)


@deep
def _sought(mapper: passes.Analysis) -> str:
    """As the user wrote it, or nearly."""
    found = needle.needle(mapper.facts.device)
    if isinstance(found, ir.Str):
        return names.escape(found.data)
    return found.key.shown if isinstance(found, nodes.Var) else ""


def describe_reducer(found: reducers.ReducerAnalysis) -> HostKernel | Reason:
    """The same of a reducer."""
    if isinstance(found.found, NoLoop):
        assert found.refusal is not None
        return found.refusal
    problem = key_loop.reducer_problem(found.found.loop, found.found.pairs)
    return Reason(reducers.CODE, problem, found.place) if problem else HostKernel(BINARY.format("reduce"), False, False)


@deep
def reducer_text(found: reducers.ReducerAnalysis) -> str:
    """The text of the host kernel of a reducer that has one."""
    assert not isinstance(found.found, NoLoop)
    return reducer.emit(found.found.loop, found.found.pairs, found.macros, found.place)


def _combiner(mapper: passes.Analysis, combiner: passes.Analysis | None) -> Combiner | Reason | None:
    """The combiner whose work is done as pairs come, or why another one's is not. None: there is none with a directive.

    What the code behind the map's region prints comes behind all that is folded, so the combiner takes both once more.
    """
    if combiner is None:
        return None
    place, region = combiner.program.region.span, combiner.region
    found = combiner.facts.fold
    problem = key_loop.problem(found.loop, region.pairs) if found.loop is not None else found.no_loop
    if problem or found.loop is None or region.pairs is None:
        at = found.place if found.loop is None and found.place is not None else place
        return Reason("HD266", f"its pairs cannot be taken one by one: {problem}", at)
    regroup = region.fold is not None and region.fold.regroup
    if mapper.facts.behind.prints and not regroup:
        return Reason("HD266", "the map prints pairs behind its loop, and it cannot be run on its own output", place)
    return Combiner(found.loop, region.pairs, regroup)


@deep
def text(mapper: passes.Analysis, combiner: passes.Analysis | None) -> str:
    """The host kernel's text, of a mapper with a kernel."""
    found = _combiner(mapper, combiner)
    return host.emit(mapper.facts.device, found if isinstance(found, Combiner) else None, mapper.macros)


def begin(
    made: Path, programs: Sequence[Program], mapper: passes.Analysis | None, combiner: passes.Analysis | None,
    work: Threads,
) -> Future[Reason | None] | None:
    """Begin to build the mapper's host kernel into the bundle that is being made; why there is none. None: it has none."""
    program = next((p for p in programs if p.role == "map"), None)
    if program is None or program.host is None or mapper is None:
        return None
    place = mapper.program.region.span
    try:
        written = text(mapper, combiner)
    except Exception as error:
        return _fault(error, place, work)
    return work.begin(_build, written, made / program.host.binary, place)


def begin_reducer(
    made: Path, programs: Sequence[Program], found: reducers.ReducerAnalysis | None, work: Threads,
) -> Future[Reason | None] | None:
    """Begin to build the reducer's, as `begin`."""
    program = next((p for p in programs if p.role == "reduce"), None)
    if program is None or program.host is None or found is None:
        return None
    try:
        written = reducer_text(found)
    except Exception as error:
        return _fault(error, found.place, work)
    return work.begin(_build, written, made / program.host.binary, found.place)


def _fault(error: Exception, place: Span, work: Threads) -> Future[Reason | None]:
    reason = own_faults.reason(error, place)
    return work.begin(lambda: reason)


def _build(written: str, out: Path, place: Span) -> Reason | None:
    try:
        host_kernel.build(written, out)
    except ToolError as error:
        if error.code in _REFUSED:
            return own_faults.refused_text(error, "the C++ compiler", place)
        return Reason(error.code, error.message.partition("\n")[0], UNKNOWN)
    return None


def built(
    made: Path, programs: Sequence[Program], building: Mapping[Role, Future[Reason | None] | None],
) -> tuple[Program, ...]:
    """The programs, each without its host kernel where that, or the mapper's kernel that it goes by, was not built."""
    reasons = {role: future.result() if future is not None else None for role, future in building.items()}
    return tuple(_built(made, p, reasons.get(p.role)) if p.host is not None else p for p in programs)


def _built(made: Path, program: Program, reason: Reason | None) -> Program:
    if reason is None and program.role == "map" and program.kernel is None:
        reason = _NO_KERNEL
    if reason is None or program.host is None:
        return program
    (made / program.host.binary).unlink(missing_ok=True)
    return replace(program, host=None, no_host=(reason,))
