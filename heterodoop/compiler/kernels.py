"""A bundle's GPU half: kernel texts, prologues, compiled kernels, and their entries in the manifest.

Which programs have a kernel: mappers that nothing keeps off the GPU, and combiners that are key loops besides. All others
run on the CPU as filters, over pairs that the GPU may have sorted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

from ..errors import CompilerBug, ToolError, UserError
from ..kernel_plan import KernelPlan
from ..manifest import Kernel, Placed, Program, Reason, Role, SharedVar, Texel
from ..source import SourceFile, Span
from ..together import Threads
from ..toolchain import nvcc as toolchain_cuda
from ..toolchain.cc import CcOptions
from ..values import dataclass
from . import own_faults, passes
from .app import GpuOptions
from .decide.decisions import SharedField
from .decide.totals import by_place, totals
from .device import proven
from .emit import epilogue, map_fold, ordered, prologue
from .emit.kernel import emit
from .ir import ir
from .lower.bind import BoundRegion
from .source.deep import deep
from .source.wide_names import shown
from .types import ctype

_REFUSED = frozenset({"HD503", "HD515"})  # nvcc did not end, or not well


@dataclass(frozen=True)
class KernelBuild:
    """One program that has a kernel, with what its files are made of."""

    role: Role
    source: SourceFile
    bound: BoundRegion
    analysis: passes.Analysis


@deep
def text(analysis: passes.Analysis) -> str:
    """The kernel's CUDA text."""
    with analysis.facts.times.step("text"):
        if analysis.ordered is not None:
            return ordered.emit(analysis.ordered, analysis.program.region, analysis.macros)
        program = replace(analysis.facts.device, decisions=analysis.decisions)
        return emit(program, analysis.region.fold, analysis.macros, analysis.map_fold)


def with_map_fold(map: passes.Analysis, combine: passes.Analysis, names: Sequence[str]) -> passes.Analysis:
    """The mapper's analysis, its kernel one that folds pairs itself where it can. `names` of optimisations that are on."""
    form = map_fold.map_fold(combine.region) if map_fold.OPTION in names else None
    if form is None or not (map.has_kernel and combine.has_kernel) or map.decisions.plan.sink != "BlockCursor":
        return map
    decisions = map_fold.decisions(map.decisions, form, threads_said=bool(map.program.region.threads))
    if decisions is None or not map_fold.folds_some(map.facts.device, form):
        return map
    return replace(map, decisions=decisions, map_fold=form)


def with_ordered(map: passes.Analysis, combine: passes.Analysis, names: Sequence[str]) -> passes.Analysis:
    """The combiner's analysis, its kernel one that does its loop's steps if it is no fold that may run on its own output.

    What the program does around the region is no reason against it then: the loop says all.
    """
    regroups = combine.has_kernel and combine.region.fold is not None and combine.region.fold.regroup
    if ordered.OPTION not in names or not map.has_kernel or regroups or map.facts.behind.needed:
        return combine  # the pairs that the code behind a map's region prints come last, and not from a kernel
    if any(not reason.code.startswith("HD2") for reason in combine.refusals):  # of this machine
        return combine
    made = ordered.ordered(combine.region, combine.facts.fold.loop)
    return combine if made is None else replace(combine, ordered=made, refusals=())


def describe(role: Role, analysis: passes.Analysis) -> Kernel | None:
    """The manifest's entry before anything is built; None for a program without a kernel."""
    if not analysis.has_kernel:
        return None
    if analysis.ordered is not None:
        return ordered.kernel(analysis.ordered, KernelPlan(ordered=True))
    program, decisions = analysis.program, analysis.decisions
    shape, behind = analysis.facts.launch, analysis.facts.behind.needed
    alone = bool(decisions.shared) or behind  # what it prints, the epilogue would print again
    return Kernel(
        source=f"cuda/{role}.cu", entry=f"hd_{role}", threads=decisions.threads, blocks=decisions.blocks,
        kvpairs=decisions.kvpairs, key_bytes=shape.key_bytes, value_bytes=shape.value_bytes,
        shared_bytes=decisions.shared_bytes, stack_bytes=decisions.stack_bytes,
        shared=tuple(_shared(field) for field in decisions.shared),
        prologue=f"bin/{role}.prologue" if alone else "",
        prologue_runs=prologue.runs(program, analysis.facts.calls) if alone else "once",
        asks=prologue.asks(program, analysis.facts.calls), alone=proven.of_each_record(analysis.facts.device),
        plan=decisions.plan, cubins=(),
        places=shown(tuple(Placed(program.shown(p.name), p.space, p.nbytes, p.reason) for p in decisions.places)),
        epilogue=f"bin/{role}.epilogue" if behind else "", totals=totals(program, decisions.places),
    )


def _shared(field: SharedField) -> SharedVar:
    inner = field.type
    while isinstance(inner, ctype.Array):
        inner = inner.of
    texel = _texel(inner) if field.kind == "texture" else ""
    return SharedVar(field.name, field.kind, field.offset, field.nbytes, texel)


def _texel(kind: ctype.CType) -> Texel:
    """How a texture object holds numbers of this type (`hd::fetch` reads them back)."""
    if isinstance(kind, (ctype.Int, ctype.Float)) and kind.bits == 64:
        return "int32x2"
    if isinstance(kind, ctype.Float) and kind.bits == 32:
        return "float32"
    texels: dict[tuple[bool, int], Texel] = {
        (True, 8): "int8", (False, 8): "uint8", (True, 16): "int16", (False, 16): "uint16",
        (True, 32): "int32", (False, 32): "uint32",
    }
    if isinstance(kind, ctype.Int) and (kind.signed, kind.bits) in texels:
        return texels[kind.signed, kind.bits]
    raise CompilerBug(f"a texture of '{kind}'")


def begin_prologues(
    made: Path, parts: Sequence[KernelBuild], programs: Sequence[Program], extra: Sequence[Path], cc: CcOptions,
    work: Threads,
) -> dict[Role, Future[Reason | None]]:
    """Begin to build the prologues (and epilogues) into the bundle that is being made; why there is none."""
    kernels = {p.role: p.kernel for p in programs}
    return {part.role: work.begin(_prologue, made, part, _kernel(kernels[part.role]), extra, cc) for part in parts}


def build(
    made: Path, parts: Sequence[KernelBuild], programs: Sequence[Program], prologues: Mapping[Role, Future[Reason | None]],
    options: GpuOptions,
) -> tuple[Program, ...]:
    """Write the kernels' files into the bundle that is being made; the programs with what was built filled in.

    A program whose prologue or kernel cannot be built keeps its filter only, with the reason. Raises ToolError HD514, HD516,
    UsageError HD006: nvcc does not know an architecture.
    """
    found = {p.role: p for p in programs}
    for part in parts:
        made_text = _text(part)
        reason = prologues[part.role].result() or (made_text if isinstance(made_text, Reason) else None)
        if reason is not None:
            found[part.role] = _without_kernel(found[part.role], reason)
        elif isinstance(made_text, str):
            (made / "cuda").mkdir(exist_ok=True)
            source = made / _kernel(found[part.role].kernel).source
            source.write_text(made_text, encoding="utf-8", errors="surrogateescape")
    return _compiled(made, tuple(found.values()), {part.role: part.bound.directive.span for part in parts}, options)


def _kernel(kernel: Kernel | None) -> Kernel:
    assert kernel is not None  # of a part
    return kernel


def _without_kernel(program: Program, reason: Reason) -> Program:
    return replace(program, kernel=None, gpu_refusals=(*program.gpu_refusals, reason))


def _text(part: KernelBuild) -> str | Reason:
    """The kernel's text, or why there is none."""
    try:
        return text(part.analysis)
    except Exception as error:
        return own_faults.reason(error, part.bound.directive.span)


def _prologue(made: Path, part: KernelBuild, kernel: Kernel, extra: Sequence[Path], cc: CcOptions) -> Reason | None:
    if not kernel.prologue:
        return None
    span, shared = part.bound.directive.span, part.analysis.decisions.shared
    scratch = made.with_name(f"{part.role}-prologue")
    scratch.mkdir()
    try:
        built = scratch / "built"
        prologue.build_prologue(part.source, span, shared, kernel.prologue_runs, built, extra, cc)
        built.replace(made / kernel.prologue)
        if kernel.epilogue:
            names = _gathered(part.analysis)
            epilogue.build_epilogue(part.source, span, kernel.totals, names, kernel.total_bytes, built, extra, cc)
            built.replace(made / kernel.epilogue)
    except (UserError, ToolError) as error:
        said = error.message.partition("\n")[0]
        return Reason("HD246", f"the code around the region cannot be built as a program of its own: {said}", span)
    except Exception as error:
        return own_faults.reason(error, span)
    return None


def _gathered(analysis: passes.Analysis) -> list[str]:
    """The variables of the kernel's totals as the source names them."""
    found = by_place(analysis.program, analysis.decisions.places)
    symbols = [analysis.facts.points_to.symbol(place.key) for place, _ in found]
    computed = {s.name.removesuffix(ir.ROOM) + ir.MEMORY for s in analysis.program.externs if s.name.endswith(ir.ROOM)}
    return [_named(symbol, symbol.name in computed) for symbol in symbols if symbol is not None]


def _named(symbol: ir.Symbol, computed: bool) -> str:
    """A variable as an expression of the source; `*p`: memory of a computed size."""
    if not ir.is_memory(symbol.name):
        return symbol.original
    if computed:
        return f"*{symbol.original}"
    assert isinstance(symbol.type, ctype.Array)
    return f"(*(__typeof__(*({symbol.original})) (*)[{symbol.type.length}])({symbol.original}))"


def _compiled(
    made: Path, programs: tuple[Program, ...], places: dict[Role, Span], options: GpuOptions,
) -> tuple[Program, ...]:
    """The programs with their kernels as nvcc compiled them. `places` of the directives."""
    archs = toolchain_cuda.architectures(options.arch) if any(p.kernel for p in programs) else ()
    nvcc = toolchain_cuda.find_nvcc() if archs else None
    if nvcc is None:
        return programs

    def compiled(program: Program) -> Program:
        kernel = program.kernel
        if kernel is None:
            return program
        source = made / kernel.source
        try:
            texts = [toolchain_cuda.KernelFile(source, program.role, kernel.entry)]
            found = toolchain_cuda.build(nvcc, texts, source.parent, archs)
        except ToolError as error:
            if error.code not in _REFUSED:
                raise
            return _without_kernel(program, own_faults.refused_text(error, "nvcc", places[program.role]))
        return replace(program, kernel=replace(kernel, cubins=found[program.role]))

    with Threads() as work:
        return tuple([one.result() for one in [work.begin(compiled, program) for program in programs]])
