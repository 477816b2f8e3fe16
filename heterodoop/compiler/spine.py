"""The spine: an app's C files in, a bundle's files out. One call a stage, in the order of the data flow.

    source text -frontend-> Unit -bind-> BoundRegion -passes-> ir.Program, analyses, decisions -> manifest.Program
    -toolchain-> filters -kernels-> CUDA text, prologues, compiled kernels -> bundle

An app whose regions cannot be analysed still gets its CPU filters: the reason travels in the manifest. Not here: whether
anything is to be done, and putting the bundle in its place (`compile`).
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import field, replace
from functools import partial
from pathlib import Path

from .. import __version__
from ..diag import Sink
from ..errors import UsageError, UserError
from ..manifest import FILE, VERSION, Input, Manifest, Program, Reason, Region, Role, sha256
from ..source import SourceMap, Span
from ..together import Threads
from ..toolchain import cc as toolchain
from ..toolchain import languages
from ..values import dataclass
from . import commanded, host_kernels, kernels, library, own_faults, passes, reducers, suggest, trials
from .app import BuildOptions
from .begun import Begun
from .compile import CompileResult, times_text
from .keyloop import reducer
from .keyloop.reducer import NoLoop
from .lower.bind import BoundRegion, bind
from .source import cplusplus, frontend
from .source.preprocess import CcRuns
from .source.wide_names import shown
from .steps import Times


@dataclass(frozen=True)
class Analysed:
    """One program after analysis: what `--emit` prints and the manifest is made of."""

    role: Role
    path: Path
    unit: frontend.Unit
    bound: BoundRegion | None
    region: passes.Analysis | None
    refusals: tuple[Reason, ...]
    times: Times = field(default_factory=Times)
    reducer: reducers.ReducerAnalysis | None = None


def analyse(options: BuildOptions, begun: Begun | None = None, *, mend: bool = False) -> CompileResult:
    """Analyse all programs of the app; no filter is built, so `binaries` of the manifest is empty.

    begun  what C compilers were started for already; None: they are now.
    mend   find small changes that would mend refusals, by trying them (`trials`).
    Raises UserError with the errors of all programs together, ToolError without a C compiler.
    """
    if begun is None:
        with Threads() as work:
            return analyse(options, Begun(options, work), mend=mend)
    sink = Sink()
    programs = [a for role, path in options.programs if (a := _analyse_or_collect(role, path, begun, sink))]
    sink.raise_errors()
    before: list[Role] = [role for role, _ in options.commands]
    programs = [_behind(program, programs, before) for program in _folding(programs, options.gpu.optimisations)]
    manifest = _manifest(options, programs)
    if mend:
        units = {program.role: program.unit for program in programs}
        manifest = replace(manifest, programs=tuple(
            trials.mended(program, units[program.role], options, _found) if program.role in units else program
            for program in manifest.programs))
    return CompileResult(manifest, tuple(programs), [*sink.warnings, *commanded.warnings(options)])


def _found(options: BuildOptions) -> Program:
    """What the analysis of its first program says."""
    return analyse(options).manifest.programs[0]


def emit(options: BuildOptions, stage: str, timed: Callable[[str], object] | None = None) -> str:
    """The text of one stage, for every program that has it. Raises UsageError HD004 for an unknown stage.

    timed  gets `times_text` of the programs.
    """
    if stage == "help":
        return "".join(f"{name:12}{doc}\n" for name, (doc, _) in STAGES.items())
    if stage not in STAGES:
        raise UsageError(f"there is no stage '{stage}'", code="HD004", help=f"stages: {', '.join(STAGES)}")
    result = analyse(options, mend=stage == "manifest")
    if stage == "manifest":
        return result.manifest.to_json()
    if stage == "host":
        return "\n".join(
            f"// {program.path}\n{_host_text(program, result)}" for program in result.programs if program.role != "combine")
    text = "\n".join(f"// {program.path}\n{STAGES[stage][1](program)}" for program in result.programs)
    if timed is not None:
        timed(times_text(result))
    return text


def _folding(programs: list[Analysed], names: tuple[str, ...]) -> list[Analysed]:
    """The programs, with what the map kernel does of the combiner's work, and what the combine kernel does of it."""
    regions = {program.role: program.region for program in programs}
    map, combine = regions.get("map"), regions.get("combine")
    if map is None or combine is None:
        return programs
    made = {"map": kernels.with_map_fold(map, combine, names), "combine": kernels.with_ordered(map, combine, names)}
    return [_with_region(program, made[program.role]) if program.role in made else program for program in programs]


def _behind(program: Analysed, programs: list[Analysed], commands: Sequence[Role]) -> Analysed:
    """A reducer, with what is printed before it: by the combiner, or else by the mapper. Of `commands` nobody knows that."""
    before = next((p.region for role in ("combine", "map") for p in programs if p.role == role), None)
    if program.reducer is None or before is None or "combine" in commands:
        return program
    return replace(program, reducer=reducers.behind(program.reducer, before.region))


def _with_region(program: Analysed, made: passes.Analysis) -> Analysed:
    return replace(program, region=made, refusals=made.refusals)


def _analyse_or_collect(role: Role, path: Path, begun: Begun, sink: Sink) -> Analysed | None:
    """One program's analysis; its errors go to the sink, so that the other programs' errors are shown too."""
    own = Sink()
    try:
        found = _analyse_program(role, path, begun, own)
    except UserError as error:
        sink.extend([shown(diagnostic) for diagnostic in error.diagnostics])
        return None
    sink.extend([shown(diagnostic) for diagnostic in own.diagnostics])
    return found


def _analyse_program(role: Role, path: Path, begun: Begun, sink: Sink) -> Analysed:
    times = Times()
    try:
        with times.step("load"):
            unit = _loaded(path, begun.options, begun.runs[role])
    except Exception as error:
        unit = frontend.unread(path, own_faults.reason(error, Span(str(path), 0)))
    sink.extend(unit.warnings)
    try:
        return replace(_analyse_unit(role, path, unit, begun.options, sink, times), times=times)
    except Exception as error:
        return Analysed(role, path, unit, None, None, (own_faults.reason(error, Span(str(path), 0)),))


def _loaded(path: Path, options: BuildOptions, runs: CcRuns) -> frontend.Unit:
    if languages.is_cplusplus(path):
        return cplusplus.load(path, runs)
    unit = frontend.load(path, options.cc, runs)
    other = next(filter(languages.is_cplusplus, options.extra), None)
    return replace(unit, refusal=cplusplus.linked(other)) if other is not None else unit


def _analyse_unit(
    role: Role, path: Path, unit: frontend.Unit, options: BuildOptions, sink: Sink, times: Times,
) -> Analysed:
    with times.step("bind"):
        found = bind(unit, sink, role)
    sink.raise_errors()
    if role == "reduce":
        return _analysed_reducer(path, unit, found, times)
    if unit.refusal is not None:
        return Analysed(role, path, unit, None, None, (unit.refusal,))
    if not found:
        with times.step("suggest"):
            missing = suggest.reason(unit, options) if role == "map" else _no_directive(path)
        return Analysed(role, path, unit, None, None, (missing,))
    analysis = passes.run(
        unit, found[0], sink, verify=options.verify, options=options.gpu.optimisations, libm=options.cc.libm, times=times,
    )
    with times.step("library"):
        analysis = library.checked(analysis, unit.newer, path)
    analysis = replace(analysis, region=shown(analysis.region), refusals=shown(analysis.refusals))
    return Analysed(role, path, unit, found[0], analysis, analysis.refusals)


def _analysed_reducer(path: Path, unit: frontend.Unit, found: list[BoundRegion], times: Times) -> Analysed:
    """Of a reducer the CPU alone has use; a directive says no more than where its loop stands."""
    cpu = Reason("HD201", "reducers run on the CPU: the paper has no directive for them", Span(str(path), 0))
    if unit.refusal is not None:
        place = unit.refusal.span
        analysis = reducers.ReducerAnalysis(NoLoop(unit.refusal.message, place), place)
        return Analysed("reduce", path, unit, None, None, (unit.refusal,), reducer=analysis)
    analysis = reducers.analyse(unit, found[0] if found else None, times)
    return Analysed("reduce", path, unit, None, None, (cpu,), reducer=analysis)


def _no_directive(path: Path) -> Reason:
    return Reason("HD202", "there is no '#pragma mapreduce combiner' in it", Span(str(path), 0))


def _manifest(options: BuildOptions, programs: list[Analysed]) -> Manifest:
    read = sorted({dep for program in programs for dep in program.unit.deps}
                  | {str(p) for p in (*options.extra, *(path for _, path in options.carried))})
    made = _with_host(tuple(_program(program, options) for program in programs), programs)
    return Manifest(
        version=VERSION,
        tool=__version__,
        name=options.name,
        compiler=toolchain.version(toolchain.find_cc()),
        library=toolchain.library(),
        flags=_flags(options.cc),
        programs=commanded.in_order([*made, *commanded.programs(options)]),
        inputs=tuple(Input(path, sha256(Path(path))) for path in read),
        binaries=(),
        carried=commanded.carried(options),
    )


def _flags(cc: toolchain.CcOptions) -> tuple[str, ...]:
    return (*cc.language_flags(), *cc.link_flags())


def _program(program: Analysed, options: BuildOptions) -> Program:
    sources = (_source(program.role, program.path), *(f"src/{path.name}" for path in options.extra))
    region = program.region.region if program.region else None
    kernel, refusals = None, program.refusals
    try:
        kernel = kernels.describe(program.role, program.region) if program.region else None
    except Exception as error:
        refusals = (*refusals, own_faults.reason(error, Span(str(program.path), 0)))
    made = Program(program.role, f"bin/{program.role}", sources, region, refusals, kernel)
    return _with_lines(_reducing(made, program.reducer) if program.reducer else made, program)


def _source(role: Role, path: Path) -> str:
    """Where the bundle has the program's own file."""
    return f"src/{role}{path.suffix if languages.is_cplusplus(path) else '.c'}"


def _reducing(made: Program, found: reducers.ReducerAnalysis) -> Program:
    try:
        host = host_kernels.describe_reducer(found)
    except Exception as error:
        host = own_faults.reason(error, found.place)
    if isinstance(host, Reason):
        return replace(made, reducer=found.described, no_host=(shown(host),))
    return replace(made, reducer=found.described, host=host)


def _with_host(made: tuple[Program, ...], programs: list[Analysed]) -> tuple[Program, ...]:
    """The programs, the mapper with its host kernel or why it has none."""
    mapper, combiner = (next((a.region for a in programs if a.role == role), None) for role in ("map", "combine"))
    return tuple(_hosted(program, mapper, combiner) if program.role == "map" else program for program in made)


def _hosted(program: Program, mapper: passes.Analysis | None, combiner: passes.Analysis | None) -> Program:
    try:
        found = host_kernels.describe(mapper, program.kernel, combiner)
    except Exception as error:
        found = own_faults.reason(error, Span(program.sources[0], 0))
    return replace(program, no_host=(found,)) if isinstance(found, Reason) else replace(program, host=found)


def _with_lines(program: Program, analysed: Analysed) -> Program:
    """The program with the source lines of the reasons against its kernel."""
    lines = analysed.unit.sources
    return replace(
        program, region=_region_with_line(program.region, lines) if program.region else None,
        gpu_refusals=tuple(replace(r, text=lines.line(r.span)) for r in program.gpu_refusals),
        no_host=tuple(replace(r, text=lines.line(r.span)) for r in program.no_host))


def _region_with_line(region: Region, lines: SourceMap) -> Region:
    reason = region.no_fold
    return replace(region, no_fold=replace(reason, text=lines.line(reason.span))) if reason is not None else region


def write_bundle(made: Path, result: CompileResult, begun: Begun, work: Threads) -> Manifest:
    """Write the bundle's files beside its filters (`begun`). Raises as building filters and kernels does; OSError."""
    options = begun.options
    (made / "src").mkdir()
    for role, path in options.programs:
        shutil.copyfile(path, made / _source(role, path))
    for path in options.extra:
        shutil.copyfile(path, made / "src" / path.name)
    commanded.write(made, options)
    parts, programs = _parts(result), tuple(p for p in result.manifest.programs if not p.command)
    extra = [one.result() for one in begun.extra]
    analyses = {program.role: program.region for program in result.programs}
    host = host_kernels.begin(made, programs, analyses.get("map"), analyses.get("combine"), work)
    reducing = next((program.reducer for program in result.programs if program.reducer), None)
    hosts: dict[Role, Future[Reason | None] | None] = {
        "map": host, "reduce": host_kernels.begin_reducer(made, programs, reducing, work)}
    prologues = kernels.begin_prologues(made, parts, programs, extra, options.cc, work)
    linked = {role: built.result() for role, built in begun.filters.items()}
    programs = host_kernels.built(made, kernels.build(made, parts, programs, prologues, options.gpu), hosts)
    programs = tuple(
        _with_lines(replace(program, linked=linked[program.role]), analysed)
        for program, analysed in zip(programs, result.programs, strict=True))
    programs = commanded.in_order([*programs, *commanded.programs(options)])
    built = [*result.manifest.carried, *(path for program in programs for path in program.files())]
    binaries = tuple(Input(path, sha256(made / path)) for path in built)
    manifest = replace(result.manifest, programs=programs, binaries=binaries)
    (made / FILE).write_text(manifest.to_json(), encoding="utf-8", errors="surrogateescape")
    return manifest


def _parts(result: CompileResult) -> list[kernels.KernelBuild]:
    """The programs that have a kernel."""
    parts = []
    described = {p.role for p in result.manifest.programs if p.kernel is not None}
    for program in result.programs:
        source = program.unit.sources.get(program.unit.path)
        if program.role in described and program.region is not None and program.bound is not None and source is not None:
            parts.append(kernels.KernelBuild(program.role, source, program.bound, program.region))
    return parts


def _directives_text(program: Analysed) -> str:
    lines = []
    for directive in program.unit.directives:
        lines.append(f"{directive.span}: {directive.kind}")
        for clause in directive.clauses:
            args = ", ".join(f"{a.text} = {a.expanded}" if a.expanded not in ("", a.text) else a.text for a in clause.args)
            lines.append(f"{clause.span}:   {clause.name}({args})")
    return "".join(line + "\n" for line in lines)


def _ir_text(program: Analysed) -> str:
    return passes.ir_text(program.region) if program.region else _refusals_text(program)


def _uses_text(program: Analysed) -> str:
    return passes.uses_text(program.region) if program.region else _refusals_text(program)


def _cuda_text(program: Analysed) -> str:
    if program.region is not None and program.region.has_kernel:
        return kernels.text(program.region)
    return _refusals_text(program) or "// no key loop with a kernel: the combiner runs on the CPU\n"


def _host_text(program: Analysed, result: CompileResult) -> str:
    """Of the mapper, in which the combiner's work is, and of the reducer."""
    made = result.manifest.program(program.role)
    assert made is not None
    if made.host is None:
        return "".join(f"// {reason.place}: [{reason.code}] {reason.message}\n" for reason in made.no_host)
    if program.reducer is not None:
        return host_kernels.reducer_text(program.reducer)
    combiner = next((a.region for a in result.programs if a.role == "combine"), None)
    assert program.region is not None  # its kernel is made of it
    return host_kernels.text(program.region, combiner)


def _refusals_text(program: Analysed) -> str:
    return "".join(f"// {reason.place}: [{reason.code}] {reason.message}\n" for reason in program.refusals)


def _step_text(name: str, program: Analysed) -> str:
    if program.reducer is not None and name == "fold":
        return reducer.text(program.reducer.found)
    return passes.dump(program.region, name) if program.region else _refusals_text(program)


STAGES: dict[str, tuple[str, Callable[[Analysed], str]]] = {
    "directives": ("the directives and their clauses, with places and expanded arguments", _directives_text),
    "ir": ("the region IR: typed statements, reads back", _ir_text),
    "uses": ("each outer variable's class and the reason", _uses_text),
    **{name: (doc, partial(_step_text, name)) for name, doc in passes.dumps().items()},
    "cuda": ("the kernel's text", _cuda_text),
    "host": ("the texts of the host kernels of mapper and reducer", lambda program: ""),
    "manifest": ("the bundle's manifest, without the filters", lambda program: ""),
}
