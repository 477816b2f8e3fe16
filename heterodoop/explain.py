"""The text and JSON forms of what the compiler understood and decided: from a manifest alone, so a bundle explains itself.

Also the entries of the error index (`heterodoop explain HD104`).
"""

from __future__ import annotations

import dataclasses
import difflib
import json
import re
import shlex
from collections.abc import Sequence

from .compiler.decide import optimisations
from .diag import excerpt
from .errors import UsageError
from .hdcodes import CODES
from .manifest import Cubin, Fold, Kernel, Manifest, PairReader, Program, PrologueRuns, Reason, Reducer, Region

_CLASS_ORDER = ("record", "sharedRO", "texture", "firstprivate", "private", "guarded", "accumulator", "carried", "unused")
_TITLES = {"map": "map", "combine": "combiner", "reduce": "reducer"}


def is_code(argument: str) -> bool:
    """True for an argument of the form HDnnn: always a code, never a folder of that name."""
    return re.fullmatch(r"[Hh][Dd]\d{3}", argument) is not None


def explain_code(code: str) -> str:
    """The entry of the error index; raises UsageError HD002 for a code that does not exist."""
    entry = CODES.get(code.upper())
    if entry is None:
        near = difflib.get_close_matches(code.upper(), CODES, n=3)
        help = f"codes near it: {', '.join(near)}" if near else ""
        raise UsageError(f"there is no {code.upper()}", code="HD002", help=help)
    tried = f"\nTried as a small change: {entry.line}\n" if entry.line else ""
    return f"{code.upper()}: {entry.title}\n\n{entry.text}\n\nWhat to do: {entry.fix}\n{tried}"


def explain_json(manifest: Manifest) -> str:
    programs = {p.role: _program_json(p) for p in manifest.programs}
    return json.dumps({"name": manifest.name, "compiler": manifest.compiler, "programs": programs}, indent=1) + "\n"


def explain_text(manifest: Manifest) -> str:
    """All programs of the app, in the order map, combine, reduce."""
    parts = [_program_text(program) for program in manifest.programs]
    carried = ", ".join(path.rpartition("/")[2] for path in manifest.carried)
    return f"{manifest.name}\n\n" + "\n".join([*parts, *([f"carried: {carried}\n"] if carried else [])])


def _program_json(program: Program) -> dict[str, object]:
    region = dataclasses.asdict(program.region) if program.region else None
    return {
        "sources": list(program.sources),
        **({"command": list(program.command)} if program.command else {}),
        "gpu": not program.gpu_refusals,
        "gpu_refusals": [{"place": r.place, **dataclasses.asdict(r)} for r in program.gpu_refusals],
        "region": region,
        "reducer": dataclasses.asdict(program.reducer) if program.reducer else None,
        **({"no_loop": [{"place": r.place, **dataclasses.asdict(r)} for r in program.no_host]} if _filters(program) else {}),
        "kernel": dataclasses.asdict(program.kernel) if program.kernel else None,
    }


def _filters(program: Program) -> bool:
    """Is it a reducer that is no loop over the pairs of a key?"""
    return program.role == "reduce" and program.reducer is None


def _program_text(program: Program) -> str:
    lines = [f"{_TITLES[program.role]} ({shlex.join(program.command) or ', '.join(program.sources)})"]
    if program.region:
        lines += _region_lines(program.region)
    if program.kernel:
        lines += [*_kernel_lines(program.kernel), *_guarded_lines(program)]
    if program.reducer:
        lines += _reducer_lines(program.reducer)
    lines += [*_host_lines(program), *_verdict_lines(program)]
    return "\n".join(lines) + "\n"


def _region_lines(region: Region) -> list[str]:
    lines = [f"  region      {region.kind} in {region.function}(), {region.place}; records by {region.reader}"]
    lines.append(f"  pair        {_pair_sentence(region)}")
    tuning = [f"{name} {value}" for name, value in _tuning(region) if value]
    if tuning:
        lines.append(f"  launch      {', '.join(tuning)}")
    if region.kind == "combiner":
        lines.append(f"  reads back  {_reader_sentence(region.pairs)}")
        lines.append(f"  fold        {_fold_sentence(region.fold, region.ordered)}")
        lines += _no_fold_lines(region.no_fold) if region.no_fold else []
    if region.variables:
        lines += ["  variables", *_table(_variable_rows(region))]
    if region.emissions:
        rows: list[tuple[str, ...]] = [("call", "writes", "key", "value", "place")]
        rows += [(e.call, _quoted(e.format), _quoted(e.key), _quoted(e.value), e.place) for e in region.emissions]
        lines += ["  output", *_table(rows)]
    return lines


def _no_fold_lines(reason: Reason) -> list[str]:
    """Why a combiner is no fold, at the statement that prevents more."""
    place = f"{reason.place}: " if reason.span.line else ""
    return [f"              {place}{reason.message}", *(f"  {line}" for line in excerpt(reason.span, reason.text))]


def _tuning(region: Region) -> tuple[tuple[str, int], ...]:
    return ("kvpairs", region.kvpairs), ("blocks", region.blocks), ("threads", region.threads)


def _pair_sentence(region: Region) -> str:
    def half(name: str, length: int) -> str:
        return f"{name} [{length}]" if length > 1 else name

    made = f"key {half(region.key, region.keylength)}"
    if region.value:
        made += f", value {half(region.value, region.vallength)}"
    if region.keyin or region.valuein:
        made += f"; read into {', '.join(name for name in (region.keyin, region.valuein) if name)}"
    return made


def _reader_sentence(pairs: PairReader | None) -> str:
    if pairs is None:
        return "not recognised: pairs are not checked against the combiner's reader"
    limit = f" of at most {pairs.key_max} bytes" if pairs.key_max else ""
    not_one = f" other than {pairs.none}" if pairs.none is not None else ""
    return f"key as {pairs.key}{limit}{not_one}, value as {_between(pairs.value, pairs.between) or 'other'}"


def _between(parts: Sequence[str], between: Sequence[str]) -> str:
    """Numbers and the bytes between them: `int32 "," int32`."""
    rest = [f" {_quoted(text)} {part}" for text, part in zip(between, parts[1:], strict=True)]
    return "".join([*parts[:1], *rest])


def _fold_sentence(fold: Fold | None, ordered: tuple[str, ...]) -> str:
    if fold is None and ordered:
        names = ", ".join(f"'{name}'" for name in ordered)
        return f"no, but ordered: {names} kept of a key, a step for each pair; runs exactly once per task"
    if fold is None:
        return "no: the combiner runs exactly once per task, over the task's whole sorted output"
    again = "may run per spill and again at the merge" if fold.regroup else "runs once per task"
    kept = zip(fold.fields, fold.accumulators, strict=True)
    fields = ", ".join(f"{field.op} of {field.value} in '{name}'" for field, name in kept)
    return f"{fields} per '{fold.key}'; {again}"


def _variable_rows(region: Region) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [("name", "type", "bytes", "class", "why")]
    for v in sorted(region.variables, key=lambda v: (_CLASS_ORDER.index(v.cls), v.name)):
        rows.append((v.name, v.ctype, str(v.nbytes) if v.nbytes else "-", v.cls, v.reason))
    return rows


_OFTEN: dict[PrologueRuns, str] = {
    "once": "once per job", "asked": "once per job while what it asks of environment and files stays the same",
    "each": "for each task (it asks for time, random numbers or what is not known)",
}


def _kernel_lines(kernel: Kernel) -> list[str]:
    blocks = f"{kernel.blocks} blocks" if kernel.blocks else "blocks chosen at launch"
    if kernel.plan.ordered:
        shape = f"{8 * kernel.kept} bytes kept, {kernel.numbers} fields of a value"
        return [f"  kernel      {kernel.entry}: a thread for each key; {shape}", *_options_lines(kernel)]
    room = f", at most {kernel.kvpairs} pairs per record" if kernel.kvpairs else ""
    lines = [f"  kernel      {kernel.entry}: {kernel.threads} threads a block, {blocks}; output by {kernel.plan.sink}{room}"]
    if kernel.stack_bytes:
        lines.append(f"  stack       {kernel.stack_bytes} bytes per thread, for functions that call themselves")
    lines += _options_lines(kernel)
    if kernel.prologue:
        lines.append(f"  prologue    hands over {len(kernel.shared)} objects; runs {_OFTEN[kernel.prologue_runs]}")
    if kernel.epilogue:
        gathered = ", ".join(f"{total.name} ({total.op})" for total in kernel.totals)
        of = f"with what all records gather in {gathered}" if gathered else "which no record adds to"
        lines.append(f"  epilogue    the code behind the loop runs once per map task, {of}")
    if kernel.places:
        rows: list[tuple[str, ...]] = [("name", "memory", "bytes", "why")]
        rows += [(p.name, p.space, str(p.nbytes) if p.nbytes else "-", p.reason) for p in kernel.places]
        lines += ["  memory", *_table(rows)]
    return lines


def _options_lines(kernel: Kernel) -> list[str]:
    return [f"  options     {', '.join(optimisations.names(kernel.plan)) or 'none'}",
            *([f"  compiled    {_compiled(cubin)}" for cubin in kernel.cubins] or ["  compiled    no: for no GPU so far"])]


def _guarded_lines(program: Program) -> list[str]:
    variables = program.region.variables if program.region else ()
    guarded = ", ".join(v.name for v in variables if v.cls == "guarded")
    return [f"  guarded     a task that reads what its record has not written goes to the CPU: {guarded}"] if guarded else []


def _reducer_lines(reducer: Reducer) -> list[str]:
    return [f"  reads back  {_reader_sentence(reducer.pairs)}", f"  loop        {_loop_sentence(reducer)}"]


def _loop_sentence(reducer: Reducer) -> str:
    if reducer.loop == "fold":
        kept = ", ".join(f"{one.op} of {one.ctype} in '{one.name}'" for one in reducer.kept) or "nothing kept but the key"
        return f"fold: {kept} per '{reducer.key}'"
    kept = ", ".join(f"{one.ctype} '{one.name}'" for one in reducer.kept)
    return f"ordered: {kept} kept of '{reducer.key}', a step for each pair"


def _host_lines(program: Program) -> list[str]:
    """How CPUs do a mapper's or reducer's work."""
    if program.host is not None and program.role == "reduce":
        return ["  CPU         on typed values, a part of the keys after the other, without a merge (host kernel)"]
    if program.host is not None:
        behind = ", the epilogue behind it" if program.kernel and program.kernel.epilogue else ""
        if program.host.needle:
            named = program.host.needle if program.host.needle.startswith('"') else f"what '{program.host.needle}' holds"
            behind += f"; records without {named} are passed over"
        if program.host.folds:
            return [f"  CPU         as one program with the combiner, on typed values (host kernel){behind}"]
        why = [f"              the combiner is a filter: {_placed(r)}[{r.code}] {r.message}" for r in program.host.no_folds]
        return [f"  CPU         as a program that reads its split itself (host kernel){behind}", *why]
    lines = []
    for reason in program.no_host:
        lines.append(f"  CPU         as a filter: {_placed(reason)}[{reason.code}] {reason.message}")
        lines += [f"    {line}" for line in excerpt(reason.span, reason.text)] if program.role == "reduce" else []
    return lines


def _compiled(cubin: Cubin) -> str:
    if cubin.arch.startswith("compute_"):
        return f"{cubin.arch}: PTX, for newer GPUs"
    spills = f"{cubin.spills} bytes of registers spilled" if cubin.spills else "nothing spilled"
    return f"{cubin.arch}: {cubin.registers} registers, {spills}"


def _verdict_lines(program: Program) -> list[str]:
    if not program.gpu_refusals:
        if program.kernel is None and program.region is not None and program.region.kind == "combiner":
            off = "its loop keeps texts that are too long, its kernel is switched off, or the mapper has none"
            why = off if program.region.ordered else "no key loop"
            return [f"  GPU         no: {why}, so the filter runs once per task, over pairs that a GPU may have sorted"]
        return ["  GPU         nothing found that keeps it off the GPU"]
    lines = ["  GPU         no, it runs on the CPU only:"]
    for reason in program.gpu_refusals:
        lines.append(f"    {_placed(reason)}[{reason.code}] {reason.message}")
        lines += [f"    {line}" for line in excerpt(reason.span, reason.text)]
    return lines


def _placed(reason: Reason) -> str:
    return f"{reason.place}: " if reason.place else ""


def _table(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    return ["    " + "  ".join([*(c.ljust(w) for c, w in zip(row, widths, strict=False)), row[-1]]) for row in rows]


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False) if text else "-"
