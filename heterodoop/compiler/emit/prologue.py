"""The prologue of a kernel: the user's program up to the region, made to hand over what the region reads from before it.

A copy of the source in which the directive's text is replaced by calls of runtime/cpu/live_in.c; it keeps its lines, so
messages and `__LINE__` stay right. The calls end the process: neither the region nor what follows it runs. Where nothing
is read from before the region there is no prologue. Not here: which objects these are (`placement`), reading what the
prologue writes (the executor).
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from ...manifest import PrologueRuns, Reason
from ...source import SourceFile, Span
from ...toolchain import cc, objects
from ...toolchain import filter as toolchain_filter
from ...toolchain.cc import CcOptions
from ..analysis.libc_effects import REFUSED
from ..analysis.points_to import known_call
from ..decide.decisions import Decisions, SharedField
from ..decide.refusals import split
from ..ir import ir
from ..ir import walk as ir_walk
from ..ir.call_graph import CallGraph
from ..normalise.environment import CALLS, VARIABLES, asked_in_loop, moved
from ..normalise.stdio import literal
from ..source.frontend import Unit
from ..source.logical import last_line, operator_span
from ..source.wide_names import in_c

_DECLARATIONS = (
    "extern void hd_live_in_object(const void *, unsigned long); extern void hd_live_in_heap(const void *); "
    "extern void hd_live_in_string(const void *); extern void hd_live_in_asked(void); "
    "extern unsigned long hd_live_in_room(const void *, unsigned long); "
    "extern void hd_live_in_end(void) __attribute__((__noreturn__));"  # so that no time is spent on compiling the region
)
# Calls that give the same whenever and wherever a job's task runs, though no record may make them.
_SAME = frozenset(
    "realloc reallocarray aligned_alloc qsort bsearch setvbuf setbuf fflush exit _exit abort printf fprintf perror fputs "
    "puts putchar fputc putc fwrite".split()
)
# Calls whose answers are noted (runtime/cpu/asked.c), and those that read what was opened.
_ASKING = ("getenv", "secure_getenv", "fopen", "fopen64")
_READING = frozenset(
    "fclose fread fseek ftell rewind getc fgetc fscanf getline getdelim fgets ungetc feof ferror clearerr".split()
)


def refusals(unit: Unit, directive: Span, decisions: Decisions, *, epilogue: bool) -> tuple[Reason, ...]:
    """Why a kernel that needs a prologue, or an epilogue, can have none (HD246)."""
    source = unit.sources.get(unit.path)
    why = problem(source, directive) if (decisions.shared or epilogue) and source is not None else ""
    text = f"{why}, so the code before the region cannot be run alone"
    return (Reason("HD246", text, directive),) if why else ()


def problem(source: SourceFile, directive: Span) -> str:
    """Why the directive's text cannot be replaced, "" where it can."""
    if not directive.col or not source.line(directive.line):
        return "the directive comes out of a macro"
    if source.line(directive.line)[directive.col - 1 :].startswith("_Pragma") and operator_span(source, directive) is None:
        return "the directive's _Pragma is spread over several lines"
    return ""


def prologue_text(source: SourceFile, directive: Span, shared: Sequence[SharedField], runs: PrologueRuns = "each") -> str:
    """The source with the directive (for which `problem` says nothing) replaced by the calls that write `shared`."""
    return replaced(source, directive, statement(shared, runs))


def replaced(source: SourceFile, directive: Span, made: str) -> str:
    """The source with C text in the directive's place; its lines stay where they are."""
    lines = source.text.split("\n")
    first = directive.line - 1
    line = lines[first]
    operator = operator_span(source, directive)
    if operator is not None:
        lines[first] = line[: operator.col - 1] + made + line[operator.end - 1 :]
    else:
        lines[first] = line[: directive.col - 1] + made
        for number in range(first + 1, last_line(source, directive.line)):
            lines[number] = ""
    return f'#line 1 "{_escaped(source.path)}"\n' + "\n".join(lines)


def statement(shared: Iterable[SharedField], runs: PrologueRuns = "each") -> str:
    """One C statement that writes the objects and ends the process."""
    fields = tuple(shared)
    asked = sorted(CALLS & {field.name.partition("$")[0] for field in fields})
    declared = " ".join([_DECLARATIONS, *(f"extern char *{name}(const char *);" for name in asked)])
    calls = [*map(_call, fields), *(["hd_live_in_asked();"] if runs == "asked" else []), "hd_live_in_end();"]
    return in_c(f"{{ {declared} {' '.join(calls)} }}")


def _call(field: SharedField) -> str:
    if field.kind in ("heap", "string"):
        return f"hd_live_in_{field.kind}((const void *)({field.value}));"
    return f"hd_live_in_object((const void *)&({field.value}), sizeof({field.value}));"


def _escaped(path: str) -> str:
    return cc.as_printed(path).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def build_prologue(
    source: SourceFile, directive: Span, shared: Sequence[SharedField], runs: PrologueRuns, out: Path, extra: Sequence[Path],
    options: CcOptions,
) -> None:
    """Compile and link the prologue. `out.parent` is a scratch folder of ours; raises as `toolchain.cc.build_filter`."""
    text = prologue_text(source, directive, shared, runs)
    names = ("live_in", "asked") if runs == "asked" else ("live_in",)
    build_beside(source, text, "prologue", names, out, extra, options, wrapped=_ASKING if runs == "asked" else ())


def build_beside(
    source: SourceFile, text: str, name: str, ours: Sequence[str], out: Path, extra: Sequence[Path], options: CcOptions,
    *, wrapped: Sequence[str] = (),
) -> None:
    """Compile and link a program whose text is not quite that of the source. ours: files of runtime/cpu that it calls."""
    folder = out.parent / name
    folder.mkdir()
    copy = folder / "program.c"
    copy.write_bytes(text.encode("utf-8", "surrogateescape"))
    linked = [*(objects.own_object("cpu", f"{one}.c") for one in ours), *objects.math_objects(options)]
    home = os.path.dirname(os.path.abspath(source.path))
    if "register" in text:  # its address is taken
        options = replace(options, defines=(*options.defines, "register="))
    toolchain_filter.build([*linked, copy, *extra], out, options, quoted=[home], wrapped=wrapped,
                           more=_as_original(source.path, copy))


def _as_original(path: str, copy: Path) -> list[str]:
    """Words under which __BASE_FILE__ (and __TIMESTAMP__) are the program's own; nobody wants a copy's warnings."""
    with contextlib.suppress(OSError):
        os.utime(copy, ns=(os.stat(path).st_atime_ns, os.stat(path).st_mtime_ns))
    name = _escaped(cc.CompilerPlace.of([path]).path(path))
    return ["-w", "-Wno-error", "-Wno-pedantic", "-Wno-builtin-macro-redefined", f'-D__BASE_FILE__="{name}"']


def runs(program: ir.Program, calls: CallGraph) -> PrologueRuns:
    """How often the code before the region, and what was moved there, must run for the tasks of a job (manifest.Kernel).

    Once where it asks for no time, random number, process, environment or file; where it gets at the environment and files
    by the calls whose answers are noted, once for the same answers. Functions of other files are not known.
    """
    nodes = _nodes(program, calls)
    environment = {*VARIABLES, *(p.name for p in program.enclosing.params[2:])}
    found = {_runs(program, n, environment) for n in nodes}
    if "each" in found:
        return "each"
    return "asked" if moved(program) or "asked" in found else "once"


def asks(program: ir.Program, calls: CallGraph) -> tuple[str, ...] | None:
    """The variables of the environment for which the program asks; None: it may ask for others, or for what is the task's.

    A file of a kernel could hold the environment, too.
    """
    nodes = _nodes(program, calls)
    environment = {*VARIABLES, *(p.name for p in program.enclosing.params[2:])}
    if any(_runs(program, node, environment) == "each" for node in nodes):
        return None
    found = asked_in_loop(program)
    for node in nodes:
        if isinstance(node, ir.Str) and any(folder in node.data for folder in (b"/proc", b"/dev/", b"/sys/")):
            return None
        if isinstance(node, ir.Call) and ir.called(node) in CALLS and ir.called(node) not in program.by_name:
            name = literal(node.args[0]) if node.args else None
            if name is None:
                return None
            found.add(os.fsdecode(name))
    return tuple(sorted(found))


def _nodes(program: ir.Program, calls: CallGraph) -> list[ir.Node]:
    """Of the code before the region, and of all functions that it may call."""
    before, _ = split(program.enclosing.body)
    own = calls.named(n.name for n in before if isinstance(n, ir.Name))
    return [*before, *(n for name in sorted(own) for n in ir_walk.walk(program.by_name[name].body))]


def _runs(program: ir.Program, node: ir.Node, environment: set[str]) -> PrologueRuns:
    if isinstance(node, ir.Opaque) or (isinstance(node, ir.Name) and node.name in environment):
        return "each"
    name = ir.called(node) if isinstance(node, ir.Call) else ""
    if not name or name in program.by_name or name in _SAME:
        return "once"
    if name in _ASKING or name in _READING:
        return "asked"
    return "once" if name not in REFUSED and known_call(name) else "each"
