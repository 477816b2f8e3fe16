"""The text of a region's kernel: types, tables, what a thread knows, helpers, and the record loop as the user wrote it.

The paper's Listings 3 and 4 in today's form: `hd.next()` hands out records, `hd.in` reads them, `hd.print` emits pairs.
Takes programs that `support` found nothing against, and decisions; the same input gives the same text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ... import manifest
from ...errors import CompilerBug
from ...kernel_plan import KernelPlan
from ..analysis import device_calls
from ..analysis.uses import UseTable
from ..decide import guards, optimisations
from ..decide.decisions import Decisions, Place, SharedField
from ..decide.launch import MAX_DEPTH
from ..ir import ir
from ..ir import names as ir_names
from ..ir import walk as ir_walk
from ..ir.call_graph import CallGraph
from ..source.clauses import WARP
from ..types import ctype
from . import ahead, expr, types
from . import guard as emit_guard
from . import init as emit_expr_init
from .render import render
from .scope import Environment, Scope, block_name, memory_name, outer_locals
from .stmt import Body, Lines, falls_through
from .types import INDENT, declare

_ALWAYS = ("base.cuh", "lane.cuh", "format.cuh", "arith.cuh", "wrap.cuh")
_HERE = "#line here"  # becomes a directive that leads back to the generated file


def emit(
    program: ir.Program, table: UseTable, decisions: Decisions, fold: manifest.Fold | None, macros: Sequence[str] = (),
) -> str:
    """The whole .cu text; `macros`: see `library`. Raises CompilerBug for what `support.refusals` should have named."""
    env = Environment(program, decisions, table.points_to, guards.decide(program, table, decisions, CallGraph(program)))
    kernel = "combine" if isinstance(program.region, ir.CombineRegion) else "map"
    helpers = list(_helpers(env))
    source = ir_names.escape(program.region.span.file.encode("utf-8", "surrogateescape"))[1:-1]  # for comments
    data = {
        "title": f"{kernel}.cu: made by HeteroDoop from {source}; changes here are lost",
        "about": list(_about(program, decisions, fold)),
        "macros": macros,
        "headers": _headers(env),
        "structs": _structs(env),
        "constants": list(_constants(env)),
        "shared_fields": [_shared_field(f, env) for f in decisions.fields()],
        "shared_checks": _shared_checks(env),
        "globals_fields": [_lane_field(place, name) for place, name in env.lane_fields.values()],
        "guard_fields": emit_guard.fields(env),
        "block_fields": [_block_field(place, env) for place in _in_block(env)],
        "bytewise": decisions.plan.output == "bytes",
        "vectorized": decisions.plan.output == "vectorized",
        "warp_fields": [f"{_own_array(place.type, name, env)};" for place, name in _in_warp(env)],
        "lane": _lane(decisions.plan),
        "source": source,
        "prototypes": [f"{_head(f, env)};" for f in env.helpers],
        "helpers": helpers,
        "unit": "run of sorted pairs" if kernel == "combine" else "record",
        "threads": decisions.threads,
        "entry": f"hd_{kernel}",
        "before_items": "".join(_before_items(env)),
        "item": "".join(f"{line}\n" for line in _item(env)),
    }
    return _numbered(render("kernel.cu.j2", data), f"{kernel}.cu")


def _numbered(text: str, name: str) -> str:
    """The text with its way back from the user's lines to its own."""
    lines = text.splitlines()
    for number, line in enumerate(lines, start=1):
        if line == _HERE:
            lines[number - 1] = f'#line {number + 1} "{name}"'
    return "\n".join(lines) + "\n"


# ------------------------------------------------------------------------------------------ the head


def _about(program: ir.Program, decisions: Decisions, fold: manifest.Fold | None) -> Iterator[str]:
    """What the kernel does, for a reader: clauses, reader, launch shape."""
    region = program.region
    place = ir_names.escape(str(region.span).encode("utf-8", "surrogateescape"))[1:-1]  # a name may hold a line end
    yield f"{place}: {ir_names.region_clauses(region)}"
    blocks = f"{decisions.blocks} blocks" if decisions.blocks else "as many blocks as are resident"
    clause = "clause" if region.threads else "default"
    yield f"{decisions.threads} threads per block ({clause}), {blocks}; output by {decisions.plan.sink}"
    if on := optimisations.names(decisions.plan):
        yield f"optimisations: {', '.join(on)}"
    if fold is not None:
        yield f"fold: {fold.op} of {fold.value} per key" + (", runs may be cut" if fold.regroup else "")


def _headers(env: Environment) -> list[str]:
    found = set()
    for function, body in env.bodies:
        for node in ir_walk.walk(body):
            if isinstance(node, ir.ReadPair) or (isinstance(node, ir.Call) and ir.called(node) == "sscanf"):
                found.add("stdio.cuh")
            elif isinstance(node, (ir.Emit, ir.Stderr)) and node.call.removesuffix("_unlocked") not in ("printf", "fprintf"):
                found.add("stdio.cuh")
            elif isinstance(node, (ir.Call, ir.Assign)) and env.may_overlap(function, node):
                found.add("overlap.cuh")
            elif isinstance(node, ir.Call) and not env.own(ir.called(node)) and (row := device_calls.find(ir.called(node))):
                found.add(row.header)
    if emit_guard.is_used(env):
        found.add(emit_guard.HEADER)
    if ahead.is_used(env):
        found.add(ahead.HEADER)
    return [*_ALWAYS, *sorted(found - set(_ALWAYS))]


def _structs(env: Environment) -> list[str]:
    """Structs that the kernel's text mentions, and those that they hold."""
    program = env.program
    wanted = used_tags(env.program, [f.name for f in env.helpers], [f.type for f in env.decisions.fields()])
    structs = [(tag, union) for tag, union, _ in program.structs if tag in wanted]
    known = {tag for tag, _ in structs}
    unknown = [(tag, union) for tag, union in sorted(wanted.items()) if tag not in known]  # only declared
    return types.struct_section([*unknown, *structs], program.layouts)


def used_tags(program: ir.Program, helpers: list[str], more: list[ctype.CType]) -> dict[str, bool]:
    """Tags of the structs that the region, its helpers and variables mention, with what they hold -> is it a union?"""
    functions = [program.by_name[name] for name in helpers]
    enclosing = program.enclosing
    names = ir_walk.names(program.region.body)
    variables = [s for s in (*enclosing.params, *enclosing.locals) if s.name in names]
    pending = [*ir_walk.types((program.region, functions, variables, program.globals)), *more]
    found: dict[str, bool] = {}
    while pending:
        kind = pending.pop()
        if isinstance(kind, ctype.Struct) and kind.tag not in found:
            found[kind.tag] = kind.union
            layout = program.layouts.table.get(kind.tag)
            pending += [f.type for f in layout.fields] if layout else []
        pending += ir_walk.inner_types(kind)
    return found


def _constants(env: Environment) -> Iterator[str]:
    """Tables with their initialisers, after the tables whose addresses they hold."""
    scope = Scope(env, env.program.enclosing, kernel=True)
    places = {p.key: (p.type, p.init) for p in env.decisions.places if p.space == "constant"}
    symbols = {s.name: (s.type, s.init) for s in env.program.globals}
    done: set[str] = set()

    def table(key: str) -> Iterator[str]:
        if key in done or (key not in places and key not in symbols):
            return
        done.add(key)
        kind, init = places.get(key) or symbols[key]
        for name in sorted(_named(init)):
            yield from table(name)
        text = "{}" if init is None else emit_expr_init.braces(kind, init, scope)
        if text is None:
            raise CompilerBug(f"the initialiser of '{key}' has no CUDA text")
        yield f"static __device__ {types.constant(kind, env.global_names[key])} = {text};"

    for key in places:
        yield from table(key)


def _named(init: ir.Init | None) -> set[str]:
    items = [item for _, item in init.items] if isinstance(init, ir.Fill) else [init] if init is not None else []
    return set().union(*(ir_walk.names(item) for item in items))


# ------------------------------------------------------------------------------------------ what a thread knows


def _shared_field(field: SharedField, env: Environment) -> str:
    """Arrays in memory of their own by a pointer to their first element, a texture's handle beside it."""
    name = env.fields[field.key]
    if field.kind not in ("object", "texture"):
        call = env.program.shown(field.name)
        return f"{declare(field.type, name)};" + (f"  // {call}" if call != field.name else "")
    text = f"{_element_pointer(field.type, name)};"
    return text if field.kind == "object" else f"{text} unsigned long long {name}_texture;"


def _element_pointer(kind: ctype.CType, name: str) -> str:
    """A pointer to the first element of a constant array, to the object itself if it is none."""
    inner = kind.of if isinstance(kind, ctype.Array) else kind
    return types.constant_pointer(inner, name)


def _shared_checks(env: Environment) -> list[str]:
    fields = [f for f in env.decisions.fields() if f.offset]
    checks = [f"sizeof(Shared) == {env.decisions.shared_bytes}"]
    checks += [f"offsetof(Shared, {env.fields[f.key]}) == {f.offset}" for f in fields]
    return [f'static_assert({check}, "as the host fills it in");' for check in checks]


def _lane_field(place: Place, name: str) -> str:
    return f"alignas(16) char {name}[{place.nbytes}];" if place.name.startswith("*") else f"{declare(place.type, name)};"


def _in_block(env: Environment) -> list[Place]:
    return [p for p in env.decisions.places if p.space == "shared"]


def _lane(plan: KernelPlan) -> str:
    """Where the lanes of the kernel put their output, and which items they take."""
    sink = "WarpArea" if plan.one_per_warp and plan.sink == "ThreadArea" else plan.sink
    items = "hd::BlockItems" if plan.items == "block" else "hd::GlobalItems"
    if plan.one_per_warp:
        items = f"hd::OnePerWarp<{items}>"
    return f"hd::{sink}" if items == "hd::GlobalItems" else f"hd::{sink}, {items}"


def _in_warp(env: Environment) -> list[tuple[Place, str]]:
    """Arrays in a warp's part of shared memory, by their names in the kernel."""
    scope = Scope(env, env.program.enclosing, kernel=True)
    return [(p, scope.local(p.key.rpartition("::")[2])) for p in env.decisions.places if p.space == "warp"]


def _block_field(place: Place, env: Environment) -> str:
    return f"{_element_pointer(place.type, env.fields[place.key] + '_block')};"


def _before_items(env: Environment) -> Iterator[str]:
    """Copies for the block's threads; the only place where threads wait for each other."""
    places = _in_block(env)
    for place in places:
        name = env.fields[place.key]
        copy = block_name(name)
        yield f"{INDENT}HD_SHARED({_block_type(place)}, {copy});\n"
        yield f"{INDENT}hd::copy_by_block({copy}, shared.{name});\n"
        yield f"{INDENT}hd.{name}_block = {'' if isinstance(place.type, ctype.Array) else '&'}{copy}.value;\n"
    if places:
        yield f"{INDENT}__syncthreads();\n"
    if _in_warp(env):
        yield f"{INDENT}HD_SHARED(hd::Box<Warp[{env.decisions.threads // WARP}]>, hd_warps);\n"
        yield f"{INDENT}Warp &hd_warp = hd_warps.value[threadIdx.x / {WARP}];\n"
    yield from (f"{INDENT}{line}\n" for line in emit_guard.before_items(env))


def _block_type(place: Place) -> str:
    return f"hd::Box<{declare(place.type)}>"


# ------------------------------------------------------------------------------------------ functions


def _head(function: ir.Function, env: Environment) -> str:
    scope = Scope(env, function)
    params = [declare(p.type, scope.local(p.name)) for p in function.params]
    if function.name in env.with_context:
        params.insert(0, "Ctx &hd")
    text = f"{env.global_names[function.name]}({', '.join(params)})"
    return f"static __device__ {declare(function.type.result, text)}"


def _helpers(env: Environment) -> Iterator[str]:
    for function in env.helpers:
        lines = Lines()
        lines.add(f"{_head(function, env)}", function.span)
        lines.add("{")
        if env.recursive(function.name):
            lines.add(f"{INDENT}hd::Depth<Ctx> hd_depth(hd, {MAX_DEPTH}, {function.span.line});")
        Body(Scope(env, function), lines).block(function.body, 1)
        if function.type.result != ctype.VOID and falls_through(function.body):
            lines.add(f"{INDENT}return {{}};")
        yield "\n".join([*lines.text, "}", _HERE, ""])


def _item(env: Environment) -> list[str]:
    """The body of the item loop: fresh variables, then the region as it stands."""
    scope = Scope(env, env.program.enclosing, kernel=True)
    fresh = list(_fresh(env, scope))
    lines = Lines()
    Body(scope, lines).block(env.program.region.body, 2)
    return [*(INDENT * 2 + line for line in fresh), *([""] if fresh else []), *lines.text, _HERE]


def _fresh(env: Environment, scope: Scope) -> Iterator[str]:
    """Each work item's own variables. A pattern fills them on the emulator: nothing may depend on their old values."""
    reader = _reader_state(env)
    if env.lane_fields:
        yield "HD_FILL(hd.globals);"
    for place in env.decisions.places:
        if place.name.startswith("*") and place.space == "private":
            name = memory_name(place)
            yield f"alignas(16) char {name}[{place.nbytes}]; HD_FILL({name});"
    known: list[str] = []
    for place, name in env.lane_fields.values():
        target = f"hd.globals.{name}"
        known += [f"{target} = {{}};"] if place.key in reader else _start(place, target, env, scope)
    for symbol in outer_locals(env):
        found = scope.place(symbol.name)
        name = scope.local(symbol.name)
        declared = _own_array(symbol.type, name, env)
        if found is not None and found.space == "warp":
            yield f"{declare(symbol.type, f'(&{name})')} = hd_warp.{name}; HD_FILL({name});"
            known += _start(found, name, env, scope)
        elif found is None or found.space == "private":
            start = _start(found, name, env, scope) if found is not None else []
            zero = found is not None and found.key in reader
            yield f"{declared} = {{}};" if zero else f"{declared};" if start else f"{declared}; HD_FILL({name});"
            known += start
    yield from known
    yield from _guards_begin(env, scope)


def _guards_begin(env: Environment, scope: Scope) -> Iterator[str]:
    """Nothing of what is guarded is written; locals of helpers and of the loop begin where they are declared, too."""
    for guard in env.guards.by_key.values():
        function, _, name = guard.key.partition("::")
        place = env.decisions.by_key(guard.key)
        text = ""
        if place is not None and place.space == "lane":
            text = f"hd.globals.{env.lane_fields[guard.key][1]}"
        elif place is not None:
            text = memory_name(place) if place.name.startswith("*") else scope.local(name)
        yield emit_guard.begin(guard, text)


def _own_array(kind: ctype.CType, name: str, env: Environment) -> str:
    """A declaration of an outer local; text begins a word where string functions go by words."""
    words = env.decisions.plan.output == "vectorized"
    text = words and isinstance(kind, ctype.Array) and isinstance(kind.of, ctype.Int) and kind.of.bits == 8
    return f"{'alignas(4) ' if text else ''}{declare(kind, name)}"


def _reader_state(env: Environment) -> set[str]:
    """Keys of getline's line and capacity: a work item begins as a program that has read nothing."""
    loop = ir.record_loop(env.program.region)
    found: set[str] = set()
    for node in ir_walk.walk(loop.cond) if loop is not None else ():
        if isinstance(node, ir.ReadRecord) and node.kind == "getline":
            for part in (node.target, node.capacity):
                found |= env.points_to.targets(env.program.region.function, part)
    return found


def _start(place: Place, target: str, env: Environment, scope: Scope) -> list[str]:
    """Statements that give a variable the value it has when the region begins, none where that does not matter."""
    if place.live_in:
        return [_from_shared(place, target, env)]
    if place.init is None:
        return []
    if isinstance(place.init, ir.Fill):
        return emit_expr_init.assignments(target, place.init, scope)
    if isinstance(place.init, ir.Str):
        return emit_expr_init.text_assignment(target, place.init, place.type)
    return [f"{target} = {expr.converted(place.type, place.init, scope)};"]


def _from_shared(place: Place, target: str, env: Environment) -> str:
    source = f"shared.{env.fields[place.key]}"
    if isinstance(place.type, ctype.Array):
        return f"hd::copy({target}, {source});"
    by_pointer = any(f.key == place.key and f.kind in ("object", "texture") for f in env.decisions.fields())
    return f"{target} = {'*' if by_pointer else ''}{source};"
