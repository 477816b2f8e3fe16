"""An app into a bundle that appears complete or not at all, and stays where it would come out the same.

What a user waits for is decided here: a bundle that is up to date costs no compiler, and else C compilers run while the
modules of ours are loaded and the programs analysed. Not here: the stages of a build (`spine`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from .. import interrupts, scratch
from ..diag import Diagnostic, excerpt
from ..errors import UsageError
from ..hdcodes.remedies import remedy
from ..manifest import FILE, Manifest, Program, Reason
from ..values import dataclass
from . import unchanged
from .app import BuildOptions
from .report.fixes import fix_lines

if TYPE_CHECKING:
    from .spine import Analysed

__all__ = ["BuildOptions", "CompileResult", "compile_to_bundle", "summary", "times_text"]


@dataclass(frozen=True)
class CompileResult:
    manifest: Manifest
    programs: tuple[Analysed, ...]
    warnings: list[Diagnostic]


def compile_to_bundle(
    options: BuildOptions, output: Path | None = None, *, anew: bool = False, mend: bool = False,
) -> tuple[Path, CompileResult]:
    """Compile the app into a bundle, default NAME.hdp in the current folder; returns its path and what was found.

    One that is there and would come out the same stays, and `programs` of the result is empty, unless it is to be made
    `anew`. mend: as of `spine.analyse`. Raises as that, and UsageError HD003 where the output exists and is not a bundle,
    or cannot be written.
    """
    target = output or Path(f"{options.name}.hdp")
    _check_target(target)
    found = unchanged.key(options)
    known = unchanged.unchanged(target, found) if not anew else None
    return target, _compiled(options, target, found, mend) if known is None else CompileResult(known, (), [])


def _compiled(options: BuildOptions, target: Path, key: str, mend: bool) -> CompileResult:
    from ..together import Threads
    from .begun import Begun

    with ExitStack() as stack:
        with _writing(target):
            folder = stack.enter_context(scratch.folder(f".{target.name[:200]}.", _existing(target.parent)))
        work = stack.enter_context(Threads())
        begun = Begun(options, work, folder)
        with interrupts.held():  # Python says that it was killed where a signal ends an import
            from . import own_faults, spine  # while the compilers run

        result = spine.analyse(options, begun, mend=mend)
        with _writing(target):
            made = folder / "bundle"
            manifest = spine.write_bundle(made, result, begun, work)
            warnings = [*result.warnings, *own_faults.reports(manifest.programs)]
            if not warnings:
                unchanged.remember(made, key)
            target.parent.mkdir(parents=True, exist_ok=True)
            _replace(made, target)
        return replace(result, manifest=manifest, warnings=warnings)


@contextmanager
def _writing(target: Path) -> Iterator[None]:
    """Raises UsageError HD003 for an OSError inside."""
    try:
        yield
    except OSError as error:
        why = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        raise UsageError(f"cannot write the bundle {target}: {why}", code="HD003") from None


def _existing(folder: Path) -> Path:
    """The folder, or the innermost one above that is there: what is made in it can be renamed into place."""
    return next((path for path in (folder, *folder.parents) if os.path.lexists(path)), folder)


def times_text(result: CompileResult) -> str:
    """What each step took, program by program."""
    return "\n".join(f"// {program.path}\n{program.times.text()}" for program in result.programs)


def summary(bundle: Path, manifest: Manifest) -> str:
    """One line per program for the terminal after a build."""
    lines = [f"{bundle}: {manifest.name}, built with {manifest.compiler}"]
    for program in manifest.programs:
        lines += [f"  {program.role:8}{_where(program, manifest)}", *(f"          {line}" for line in _reason(program))]
    missing = dict.fromkeys(r.message for p in manifest.programs for r in p.no_host if r.code == "HD510")
    lines += [f"  no host kernel: {message} (install g++, or set CXX)" for message in missing]
    if manifest.carried:
        lines.append(f"  carries {', '.join(path.rpartition('/')[2] for path in manifest.carried)}")
    if any(p.kernel is not None and not p.kernel.cubins for p in manifest.programs):
        lines.append("  kernels not compiled: no nvcc, or --arch none (pip install 'heterodoop[nvcc]')")
    return "\n".join(lines)


def _where(program: Program, manifest: Manifest) -> str:
    if program.role == "reduce":
        return "CPU, on typed values (host kernel)" if program.host else f"CPU, as a filter ({_placed(program.no_host[0])})"
    if program.gpu_refusals:
        return f"CPU only ({_placed(program.gpu_refusals[0])})"
    mapper = manifest.program("map")
    if program.role == "combine" and mapper and mapper.gpu_refusals:
        return "CPU, as the map is"
    if program.kernel is None:
        return "CPU, over pairs that the GPU sorted (no key loop with a kernel)"
    archs = ", ".join(cubin.arch for cubin in program.kernel.cubins)
    return "CPU and GPU" + (f" ({archs})" if archs else "")


def _placed(reason: Reason) -> str:
    place = f"{reason.place}: " if reason.place else ""
    return f"{place}{reason.message} [{reason.code}]"


def _reason(program: Program) -> list[str]:
    """The line that keeps a program off GPUs, and what to do about it."""
    refusals = program.gpu_refusals
    if not refusals or program.role == "reduce":
        return []
    first, more = refusals[0], len(refusals) - 1
    others = [f"and {more} more reason{'s' if more > 1 else ''}: heterodoop explain --why-not-gpu"] if more else []
    fix = fix_lines(first.fix) if first.fix is not None else []
    return [*excerpt(first.span, first.text), f"help: {remedy(first.code, first.message)}", *fix, *others]


def _check_target(target: Path) -> None:
    if os.path.lexists(target) and not (target / FILE).is_file():
        raise UsageError(f"{target} exists and is not a bundle", code="HD003", help="choose another name with -o")


def _replace(made: Path, target: Path) -> None:
    """Put the new bundle in the old one's place; a job that runs from the old one keeps its open files."""
    if target.exists():
        old = made.with_name("old")
        os.rename(target, old)
    os.rename(made, target)
