"""The text of a region's kernel: types, tables, what a thread knows, helpers, and the record loop as the user wrote it.

The paper's Listings 3 and 4 in today's form: `hd.next()` hands out records, `hd.in` reads them, `hd.print` emits pairs.
Takes a device program in which nothing is left over; the same input gives the same text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ... import manifest
from ...kernel_plan import KernelPlan
from ..analysis import device_calls
from ..analysis.objects import Code
from ..decide import optimisations
from ..decide.arena import ON_HOSTS
from ..decide.decisions import Decisions, Place, SharedField
from ..decide.stack import MAX_DEPTH
from ..device import nodes
from ..device.program import (
    Begin,
    Fresh,
    FreshGlobals,
    Function,
    Lies,
    Program,
    SearchAhead,
    Start,
    StartShared,
    Table,
    Zero,
)
from ..ir import ir
from ..ir import names as ir_names
from ..ir import walk as ir_walk
from ..source.clauses import WARP
from ..types import ctype
from . import extent, guard, init, map_fold, totals, types
from .expr import TEXTS
from .render import render
from .scope import KernelStyle, Scope, block_name
from .stmt import Body, TextLines, falls_through
from .types import INDENT, declare

_ALWAYS = ("lane/base.cuh", "lane/lane.cuh", "libc/format.cuh", "libc/arith.cuh", "libc/wrap.cuh")
_GAP = 16  # bytes behind a thread's scratch memory that a pointer may take for another's beginning
_RESIDENT = 768  # threads of a kernel that folds, on a multiprocessor at the least: its registers are made to fit
_HERE = "#line here"  # becomes a directive that leads back to the generated file


def emit(
    program: Program, fold: manifest.Fold | None, macros: Sequence[str] = (), form: map_fold.MapFold | None = None,
) -> str:
    """The whole .cu text of a kernel without Unsupported; `macros`: see `library`. form: of pairs that it folds itself."""
    word = "combine" if isinstance(program.source.region, ir.CombineRegion) else "map"
    about = [*_about(program.source.region, program.decisions, fold)]
    return text(program, f"{word}.cu", about, macros, form=form)


def text(
    program: Program, name: str, about: list[str], macros: Sequence[str], *, numbers: bool = False,
    form: map_fold.MapFold | None = None, one_thread: bool = False, **changes: object,
) -> str:
    """The text, to be put down as `name`. numbers, form, one_thread: see `KernelStyle`. changes: of the template's
    data (templates/kernel.cu.j2)."""
    kernel = KernelStyle(program, TEXTS, numbers, form, one_thread)
    region, decisions, plan = program.source.region, program.decisions, program.decisions.plan
    word = "combine" if isinstance(region, ir.CombineRegion) else "map"
    source = ir_names.escape(region.span.file.encode("utf-8", "surrogateescape"))[1:-1]  # for comments
    data = {
        "title": f"{name}: made by HeteroDoop from {source}; changes here are lost",
        "about": about,
        "macros": macros,
        "headers": [*headers(program), *([map_fold.HEADER] if form else []), *totals.headers(kernel)],
        "structs": types.struct_section(list(program.structs), program.source.layouts),
        "constants": [*extent.texts(kernel), *(_constant(table, kernel) for table in program.tables)],
        "shared_fields": [_shared_field(f, kernel) for f in decisions.fields()],
        "shared_checks": _shared_checks(kernel),
        "globals_fields": [_lane_field(place, name, kernel) for place, name in kernel.lane_fields.values()],
        "one_thread": one_thread,
        "totals_fields": totals.fields(kernel),
        "totals_checks": totals.checks(kernel),
        "block_totals": totals.block_fields(kernel),
        "thread_totals": totals.thread_fields(kernel),
        "guard_fields": guard.fields(kernel),
        "extent_fields": extent.fields(kernel),
        "arena": _arena(kernel),
        "block_fields": [_block_field(place, kernel) for place in _in_block(kernel)],
        "bytewise": plan.output == "bytes",
        "vectorized": plan.output == "vectorized",
        "warp_fields": [f"{_own_array(p.type, name, kernel, apart=kernel.apart(p.key))};" for p, name in _in_warp(kernel)],
        "lane": _lane(plan, map_fold.fold_type(decisions, form) if form else ""),
        "folds": form is not None,
        "least_blocks": max(_RESIDENT // decisions.threads, 1),
        "combiner": [],
        "end": f"HD_KERNEL(hd_{word}, hd::Task, Shared)\n\n}}  // namespace app",
        "source": source,
        "prototypes": [f"{_head(f, kernel)};" for f in program.helpers],
        "helpers": list(_helpers(kernel)),
        "unit": "run of sorted pairs" if word == "combine" else "record",
        "threads": decisions.threads,
        "entry": f"hd_{word}",
        "next": "hd.next()",
        "before_items": "".join([*_before_items(kernel), *totals.before_items(kernel)]),
        "behind_items": "".join(totals.behind_items(kernel)),
        "item": "".join(f"{line}\n" for line in _item(kernel)),
    }
    return _numbered(render("kernel.cu.j2", {**data, **changes}), name)


def next_holding(program: Program, text: ir.Expr) -> str:
    """The call that opens a record of those that hold `text`, an array or a literal."""
    scope = Scope(KernelStyle(program, TEXTS))
    return f"hd.next_holding({scope.value(ir.Decay(ctype.Pointer(ctype.CHAR, const=True), text))})"


def _numbered(text: str, name: str) -> str:
    """The text with its way back from the user's lines to its own."""
    lines = text.splitlines()
    for number, line in enumerate(lines, start=1):
        if line == _HERE:
            lines[number - 1] = f'#line {number + 1} "{name}"'
    return "\n".join(lines) + "\n"


# ------------------------------------------------------------------------------------------ the head


def _about(region: ir.Region, decisions: Decisions, fold: manifest.Fold | None) -> Iterator[str]:
    """What the kernel does, for a reader: clauses, reader, launch shape."""
    yield clauses(region)
    blocks = f"{decisions.blocks} blocks" if decisions.blocks else "as many blocks as are resident"
    clause = "clause" if region.threads else "default"
    yield f"{decisions.threads} threads per block ({clause}), {blocks}; output by {decisions.plan.sink}"
    if on := optimisations.names(decisions.plan):
        yield f"optimisations: {', '.join(on)}"
    if fold is not None:
        fields = ", ".join(f"{field.op} of {field.value}" for field in fold.fields)
        yield f"fold: {fields} per key" + (", runs may be cut" if fold.regroup else "")


def clauses(region: ir.Region) -> str:
    """Where the region begins, and its clauses, for a comment."""
    place = ir_names.escape(str(region.span).encode("utf-8", "surrogateescape"))[1:-1]  # a name may hold a line end
    return f"{place}: {ir_names.region_clauses(region)}"


def headers(program: Program) -> list[str]:
    """Of runtime/device, what the kernel's text calls."""
    found = {name for node in program.nodes() for name in _header(node)}
    if any(map(extent.needed, program.nodes())):
        found.add(extent.HEADER)
    if program.guarded:
        found.add(guard.HEADER)
    if program.arena:
        found.add("lane/arena.cuh")
    return [*_ALWAYS, *sorted(found - set(_ALWAYS))]


def _header(node: ir.Node) -> Iterator[str]:
    """Where the device's functions that a node's text calls are declared."""
    if isinstance(node, nodes.Library) and node.name != "sscanf":
        row = device_calls.find(node.name)
        yield "libc/overlap.cuh" if node.apart or row is None else row.header
    elif isinstance(node, nodes.AssignApart) or (isinstance(node, nodes.PrintTo) and node.apart):
        yield "libc/overlap.cuh"
    elif isinstance(node, SearchAhead):
        yield "lane/ahead.cuh"
    elif isinstance(node, (nodes.Library, nodes.ScanPair, nodes.PutChar, nodes.PutItems)) or (
        isinstance(node, nodes.Print) and node.call.removesuffix("_unlocked") not in ("printf", "fprintf")
    ):
        yield "libc/stdio.cuh"


def _constant(table: Table, kernel: KernelStyle) -> str:
    assert not isinstance(table.init, ir.Fill)
    text = "{}" if table.init is None else init.initialiser(table.type, table.init, Scope(kernel))
    name = kernel.global_names[table.key]
    if kernel.apart(table.key):
        return f"static __device__ const hd::Apart<{declare(table.type)}> {name} = {{{text}}};"
    return f"static __device__ {types.constant(table.type, name)} = {text};"


# ------------------------------------------------------------------------------------------ what a thread knows


def _shared_field(field: SharedField, kernel: KernelStyle) -> str:
    """Arrays in memory of their own by a pointer to their first element, a texture's handle beside it."""
    name = kernel.fields[field.key]
    if field.kind == "string":
        return f"const char *{name}; unsigned long {name}_bytes;"
    if field.kind not in ("object", "texture"):
        call, gap = kernel.program.source.shown(field.name), f" char {name}_end;" if field.kind == "array" else ""
        return f"{declare(field.type, name)};{gap}" + (f"  // {call}" if call != field.name else "")
    text = f"{_element_pointer(field.type, name)};"
    return text if field.kind == "object" else f"{text} unsigned long long {name}_texture;"


def _element_pointer(kind: ctype.CType, name: str) -> str:
    """A pointer to the first element of a constant array, to the object itself if it is none."""
    inner = kind.of if isinstance(kind, ctype.Array) else kind
    return types.constant_pointer(inner, name)


def _shared_checks(kernel: KernelStyle) -> list[str]:
    fields = [f for f in kernel.program.decisions.fields() if f.offset]
    checks = [f"sizeof(Shared) == {kernel.program.decisions.shared_bytes}"]
    checks += [f"offsetof(Shared, {kernel.fields[f.key]}) == {f.offset}" for f in fields]
    return [f'static_assert({check}, "as the host fills it in");' for check in checks]


def _lane_field(place: Place, name: str, kernel: KernelStyle) -> str:
    if place.name.startswith("*"):
        return _memory(place, name, kernel)
    return f"{types.own(place.type, name, apart=kernel.apart(place.key))};"


def _memory(place: Place, name: str, kernel: KernelStyle) -> str:
    """Scratch memory of a thread, with something behind it where that tells it from others."""
    more = _GAP if place.key in kernel.program.extents.shared else 0
    return f"alignas(16) char {name}[{place.nbytes + more}];"


def _in_block(kernel: KernelStyle) -> list[Place]:
    return [p for p in kernel.program.decisions.places if p.space == "shared"]


def _lane(plan: KernelPlan, fold: str) -> str:
    """Where the lanes of the kernel put their output, which items they take, what folds their pairs ("" = nothing)."""
    sink = "WarpArea" if plan.one_per_warp and plan.sink == "ThreadArea" else plan.sink
    items = "hd::BlockItems" if plan.items == "block" else "hd::GlobalItems"
    if plan.one_per_warp:
        items = f"hd::OnePerWarp<{items}>"
    if fold:
        return f"hd::CountingCursor, {items}, {fold}"
    return f"hd::{sink}" if items == "hd::GlobalItems" else f"hd::{sink}, {items}"


def _in_warp(kernel: KernelStyle) -> list[tuple[Place, str]]:
    """Arrays in a warp's part of shared memory, by their names in the kernel."""
    scope = Scope(kernel)
    return [(p, scope.local(p.name)) for p in kernel.program.decisions.places if p.space == "warp"]


def _block_field(place: Place, kernel: KernelStyle) -> str:
    return f"{_element_pointer(place.type, kernel.fields[place.key] + '_block')};"


def _before_items(kernel: KernelStyle) -> Iterator[str]:
    """Copies for the block's threads; the only place where threads wait for each other."""
    places = _in_block(kernel)
    for place in places:
        name = kernel.fields[place.key]
        copy = block_name(name)
        yield f"{INDENT}HD_SHARED({_block_type(place)}, {copy});\n"
        yield f"{INDENT}hd::copy_by_block({copy}, shared.{name});\n"
        yield f"{INDENT}hd.{name}_block = {'' if isinstance(place.type, ctype.Array) else '&'}{copy}.value;\n"
    if places:
        yield f"{INDENT}__syncthreads();\n"
    if _in_warp(kernel):
        yield f"{INDENT}HD_SHARED(hd::Box<Warp[{kernel.program.decisions.threads // WARP}]>, hd_warps);\n"
        yield f"{INDENT}Warp &hd_warp = hd_warps.value[threadIdx.x / {WARP}];\n"
    yield from (f"{INDENT}{line}\n" for line in guard.before_items(kernel))
    if size := _arena(kernel):
        static = "static " if kernel.one_thread else ""
        yield f"{INDENT}{static}hd::ArenaRoom<{size}> hd_arena;{'' if static else ' HD_FILL(hd_arena);'}\n"
        yield f"{INDENT}hd.arena.keep_in(&hd_arena);\n"


def _arena(kernel: KernelStyle) -> int:
    """Bytes for what a record allocates, 0: nothing."""
    return kernel.program.arena and (ON_HOSTS if kernel.one_thread else kernel.program.arena)


def _block_type(place: Place) -> str:
    return f"hd::Box<{declare(place.type)}>"


# ------------------------------------------------------------------------------------------ functions


def _head(function: Function, kernel: KernelStyle) -> str:
    scope = Scope(kernel, function)
    params = [declare(p.type, scope.local(p.name)) for p in function.params]
    if function.context:
        params.insert(0, "Ctx &hd")
    text = f"{kernel.global_names[Code(function.name)]}({', '.join(params)})"
    return f"static __device__ {declare(function.type.result, text)}"


def _helpers(kernel: KernelStyle) -> Iterator[str]:
    for function in kernel.program.helpers:
        lines = TextLines()
        lines.add(f"{_head(function, kernel)}", function.span)
        lines.add("{")
        if function.recursive:
            lines.add(f"{INDENT}hd::Depth<Ctx> hd_depth(hd, {MAX_DEPTH}, {function.span.line});")
        if any(isinstance(node, nodes.Library) and node.name == "alloca" for node in ir_walk.walk(function.body)):
            lines.add(f"{INDENT}const hd::Scoped<Ctx> hd_frame(hd);")
        Body(Scope(kernel, function), lines).block(function.body, 1)
        if function.type.result != ctype.VOID and falls_through(function.body):
            lines.add(f"{INDENT}return {{}};")
        yield "\n".join([*lines.text, "}", _HERE, ""])


def _item(kernel: KernelStyle) -> list[str]:
    """The body of the item loop: fresh variables, then the region as it stands."""
    scope = Scope(kernel)
    fresh = [text for stmt in kernel.program.start for text in _STARTS[type(stmt)](stmt, scope)]
    fresh += extent.strings(kernel)
    fresh += ["hd.arena.begin();"] if kernel.program.arena else []
    lines = TextLines()
    Body(scope, lines).block(kernel.program.body, 2)
    return [*(INDENT * 2 + line for line in fresh), *([""] if fresh else []), *lines.text, _HERE]


# ------------------------------------------------------------------------------------------ the start of a work item


def _fresh_globals(stmt: FreshGlobals, scope: Scope) -> list[str]:
    """A pattern fills them on the emulator: nothing may depend on their old values."""
    return ["HD_FILL(hd.globals);"]


def _fresh(stmt: Fresh, scope: Scope) -> list[str]:
    name, kind = scope.variable(stmt.object), stmt.object.type
    if isinstance(stmt.object, nodes.Memory):
        place = scope.kernel.program.decisions.by_key(stmt.object.key)
        assert place is not None
        return [f"{_memory(place, name, scope.kernel)} HD_FILL({name});"]
    name, apart = scope.declared(stmt.object), scope.kernel.apart(stmt.object.key)
    if stmt.object.space == "warp":
        reference = f"auto &{name}" if apart else declare(kind, f"(&{name})")
        return [f"{reference} = hd_warp.{name}; HD_FILL({name});"]
    declared = _own_array(kind, name, scope.kernel, apart=apart)
    return [f"{declared} = {{}};" if stmt.zero else f"{declared};" if stmt.starts else f"{declared}; HD_FILL({name});"]


def _zero(stmt: Zero, scope: Scope) -> list[str]:
    return [f"{scope.variable(stmt.object)} = {{}};"]


def _start(stmt: Start, scope: Scope) -> list[str]:
    return init.assigned(scope.variable(stmt.object), stmt.object.type, stmt.init, scope)


def _start_shared(stmt: StartShared, scope: Scope) -> list[str]:
    target, source = scope.variable(stmt.object), f"shared.{scope.kernel.fields[stmt.object.key]}"
    if isinstance(stmt.object.type, ctype.Array):
        return [f"hd::copy({target}, {source});"]
    return [f"{target} = {'*' if stmt.by_pointer else ''}{source};"]


def _begin(stmt: Begin, scope: Scope) -> list[str]:
    return [guard.begin(stmt, scope)]


def _lies(stmt: Lies, scope: Scope) -> list[str]:
    return [extent.lies(stmt, scope)]


def _own_array(kind: ctype.CType, name: str, kernel: KernelStyle, *, apart: bool) -> str:
    """A declaration of an outer local; text begins a word where string functions go by words."""
    words = kernel.program.decisions.plan.output == "vectorized"
    text = words and isinstance(kind, ctype.Array) and isinstance(kind.of, ctype.Int) and kind.of.bits == 8
    return f"{'alignas(4) ' if text else ''}{types.own(kind, name, apart=apart)}"


_STARTS: dict[type, Callable[[Any, Scope], list[str]]] = {
    FreshGlobals: _fresh_globals, Fresh: _fresh, Zero: _zero, Start: _start, StartShared: _start_shared, Begin: _begin,
    Lies: _lies,
}
