"""A bundle's GPU half: kernel texts, prologues, compiled kernels, and their entries in the manifest.

Which programs have a kernel: mappers that nothing keeps off the GPU, and combiners that are folds besides. All others run
on the CPU as filters, over pairs that the GPU may have sorted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from .. import toolchain_cuda
from ..errors import CompilerBug, ToolError, UserError
from ..manifest import Kernel, Placed, Program, Reason, Role, SharedVar, Texel
from ..source import SourceFile
from ..toolchain import CcOptions
from . import ctype, emit_host, launch, passes
from .app import GpuOptions
from .bind import BoundRegion
from .decisions import SharedField
from .emit_cuda import emit

FAST_MATH = "fast-math"


@dataclass(frozen=True)
class Part:
    """One program that has a kernel, with what its files are made of."""

    role: Role
    source: SourceFile
    bound: BoundRegion
    analysis: passes.Analysis


def text(analysis: passes.Analysis) -> str:
    """The kernel's CUDA text."""
    return emit(analysis.program, analysis.uses, analysis.decisions, analysis.region.fold, analysis.macros)


def describe(role: Role, analysis: passes.Analysis, options: GpuOptions) -> Kernel | None:
    """The manifest's entry before anything is built; None for a program without a kernel."""
    if not analysis.has_kernel:
        return None
    program, decisions = analysis.program, analysis.decisions
    shape = launch.launch(program)
    return Kernel(
        source=f"cuda/{role}.cu", entry=f"hd_{role}", threads=decisions.threads, blocks=decisions.blocks,
        sink=decisions.sink, kvpairs=decisions.kvpairs, key_bytes=shape.key_bytes, value_bytes=shape.value_bytes,
        shared_bytes=decisions.shared_bytes, stack_bytes=decisions.stack_bytes,
        shared=tuple(_shared(field, analysis) for field in decisions.shared),
        prologue=f"bin/{role}.prologue" if decisions.shared else "",
        prologue_runs=emit_host.runs(program) if decisions.shared else "once",
        optimisations=(*decisions.optimisations, *([FAST_MATH] if options.fast_math else ())), cubins=(),
        places=tuple(Placed(program.shown(p.name), p.space, p.nbytes, p.reason) for p in decisions.places),
    )


def _shared(field: SharedField, analysis: passes.Analysis) -> SharedVar:
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


def build(
    made: Path, parts: Sequence[Part], programs: Sequence[Program], extra: Sequence[Path], cc: CcOptions,
    options: GpuOptions,
) -> tuple[Program, ...]:
    """Write the kernels' files into the bundle that is being made; the programs with what was built filled in.

    A program whose prologue cannot be built keeps its filter only, with the reason. Raises ToolError HD514, HD515, HD516.
    """
    found = {p.role: p for p in programs}
    for part in parts:
        kernel = found[part.role].kernel
        assert kernel is not None
        reason = _prologue(made, part, kernel, extra, cc)
        if reason is not None:
            program = found[part.role]
            found[part.role] = replace(program, kernel=None, gpu_refusals=(*program.gpu_refusals, reason))
            continue
        (made / "cuda").mkdir(exist_ok=True)
        path = made / kernel.source
        path.write_text(text(part.analysis), encoding="utf-8", errors="surrogateescape")
    return tuple(_compiled(made, list(found.values()), options))


def _prologue(made: Path, part: Part, kernel: Kernel, extra: Sequence[Path], cc: CcOptions) -> Reason | None:
    if not kernel.prologue:
        return None
    span, shared = part.bound.directive.span, part.analysis.decisions.shared
    scratch = made.with_name(f"{part.role}-prologue")
    scratch.mkdir()
    try:
        built = scratch / "built"
        emit_host.build_prologue(part.source, span, shared, kernel.prologue_runs, built, extra, cc)
        built.replace(made / kernel.prologue)
    except (UserError, ToolError) as error:
        said = error.message.partition("\n")[0]
        return Reason("HD246", f"the code before the region cannot be built as a program of its own: {said}", str(span))
    return None


def _compiled(made: Path, programs: list[Program], options: GpuOptions) -> list[Program]:
    texts = [
        toolchain_cuda.Text(made / p.kernel.source, p.role, p.kernel.entry) for p in programs if p.kernel is not None
    ]
    archs = toolchain_cuda.architectures(options.arch) if texts else ()
    nvcc = toolchain_cuda.find_nvcc() if archs else None
    if nvcc is None:
        return programs
    built = toolchain_cuda.build(nvcc, texts, made / "cuda", archs, fast_math=options.fast_math)
    return [replace(p, kernel=replace(p.kernel, cubins=built[p.role])) if p.kernel is not None else p for p in programs]
