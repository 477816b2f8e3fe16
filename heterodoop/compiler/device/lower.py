"""A program and what was decided about its kernel -> the device IR: start of a record, region, helpers, tables, types.

Total: every program of the IR has a `Program`; what has no device form is left over in it as Unsupported.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...toolchain.cc import Libm
from ..analysis.libc_effects import EFFECTS, writes
from ..analysis.objects import RECORD, Object
from ..decide.arena import arena_bytes
from ..decide.decisions import TOTALS, Place
from ..ir import ir
from ..ir import walk as ir_walk
from ..types import ctype
from . import exprs, inits, nodes
from .program import Begin, Declare, Fresh, FreshGlobals, Function, Lies, Program, Start, StartShared, Table, Zero
from .scope import KernelContext, LoweringFacts, Scope
from .stmts import Body
from .types import no_device_type, struct_problem, used_tags

_OUTSIDE = frozenset({"", "constant"})  # spaces that a function reaches without help
_OF_THREAD = (  # what only a thread's own state can do
    nodes.Print, nodes.PutChar, nodes.PutItems, nodes.PrintTo, nodes.SignChecked, nodes.Fail, nodes.Divide,
    nodes.DivideAssign, nodes.AssignApart, nodes.Within, nodes.Inside, nodes.InLine, nodes.Named, nodes.Guarded,
    nodes.NamedWrite, nodes.GuardedWrite, nodes.Moved, nodes.MoveAssign, nodes.MoveStep, nodes.Whole, nodes.Errno,
    nodes.Read, nodes.ScanPair, Begin, Lies,
)


def lower(program: ir.Program, known: LoweringFacts, libm: Libm = "own") -> Program:
    """The kernel of a program's region. libm: whose exp, log, pow ... the CPU filters call."""
    kernel = KernelContext(exprs.RULES, program, known, libm)
    scope = Scope(kernel, program.enclosing, region=True)
    structs, of_structs = _structs(kernel)
    tables, of_tables = _tables(kernel, scope)
    return Program(
        program, known.decisions, known.guards, known.extents, structs, tables, _helpers(kernel),
        tuple(_start(kernel, scope)), Body(scope).block(program.region.body), _keeps_guards(kernel),
        arena_bytes(kernel.program, kernel.points_to),
        (*_signatures(kernel), *of_structs, *of_tables),
    )


def _left(code: str, text: str, where: ir.Function | ir.Symbol | ir.Region) -> nodes.Unsupported:
    return nodes.Unsupported(ctype.VOID, code, text, span=where.span)


# ------------------------------------------------------------------------------------------ functions


def _helpers(kernel: KernelContext) -> tuple[Function, ...]:
    bodies = {f.name: Body(Scope(kernel, f)).block(f.body) for f in kernel.helpers}
    direct = {name for name, body in bodies.items() if name in kernel.calls[name] or any(map(_needs, ir_walk.walk(body)))}
    return tuple(
        Function(
            f.name, f.type, f.params, f.locals, bodies[f.name], f.name in direct or bool(kernel.calls[f.name] & direct),
            f.name in kernel.calls[f.name], span=f.span,
        )
        for f in kernel.helpers)


def _needs(node: object) -> bool:
    """Needs a node of a helper the thread (output, failures, errno, guards), or variables from outside?"""
    if isinstance(node, nodes.Var):
        return node.space not in _OUTSIDE
    if isinstance(node, nodes.Library):
        return bool(node.state or node.apart or node.checks or node.marks or node.rooms)
    return isinstance(node, _OF_THREAD) or (isinstance(node, Declare) and bool(node.guard or node.extent))


def _signatures(kernel: KernelContext) -> Iterator[nodes.Unsupported]:
    """Functions and variables whose declaration alone is too much."""
    for function in kernel.helpers:
        if function.type.variadic:
            yield _left("HD235", f"{function.name}() takes a variable number of arguments", function)
        if function.name == kernel.program.region.function:
            yield _left("HD235", f"{function.name}(), which holds the region, is called from it", function)
    used = ir_walk.names(kernel.program.region.body)
    variables = [s for s in kernel.program.enclosing.locals if s.name in used]
    for symbol in (*variables, *(s for f in kernel.helpers for s in (*f.params, *f.locals))):
        if why := no_device_type(symbol.type):
            yield _left("HD237", why, symbol)


# ------------------------------------------------------------------------------------------ types and tables


def _structs(kernel: KernelContext) -> tuple[tuple[tuple[str, bool], ...], list[nodes.Unsupported]]:
    """Structs that the kernel mentions, and those that they hold; layouts that have no exact text."""
    program = kernel.program
    wanted = used_tags(program, [f.name for f in kernel.helpers], [f.type for f in kernel.decisions.fields()])
    known = [(tag, union) for tag, union, _ in program.structs if tag in wanted]
    unknown = [(tag, union) for tag, union in sorted(wanted.items()) if (tag, union) not in known]  # only declared
    left = []
    for tag, union in sorted(known):
        if tag in program.layouts.table and (why := struct_problem(tag, union, program.layouts)):
            shown = tag if not tag.startswith(".") else "without a name"
            left.append(_left("HD238", f"the {'union' if union else 'struct'} {shown} has {why}", program.region))
    return (*unknown, *known), left


def _tables(kernel: KernelContext, scope: Scope) -> tuple[tuple[Table, ...], list[nodes.Unsupported]]:
    """Constants with their initialisers, each behind those whose addresses it holds; those that C++17 has no list for."""
    places = {p.key: (p.type, p.init) for p in kernel.decisions.places if p.space == "constant"}
    symbols: dict[Object, tuple[ctype.CType, ir.Init | None]] = {
        kernel.points_to.key("", s.name): (s.type, s.init) for s in kernel.program.globals}
    tables: dict[Object, Table | None] = {}
    left: list[nodes.Unsupported] = []

    def add(key: Object) -> None:
        if key in tables or (key not in places and key not in symbols):
            return
        tables[key] = None
        kind, init = places.get(key) or symbols[key]
        for name in sorted(_named(init)):
            add(kernel.points_to.key("", name))
        made = inits.lowered(kind, init, scope) if init is not None else None
        left.extend([_no_table(kernel, key)] if isinstance(made, ir.Fill) else [])
        del tables[key]
        tables[key] = Table(key, kind, made)

    for key in places:
        add(key)
    return tuple(table for table in tables.values() if table is not None), left


def _named(init: ir.Init | None) -> set[str]:
    items = [item for _, item in init.items] if isinstance(init, ir.Fill) else [init] if init is not None else []
    return set().union(*(ir_walk.names(item) for item in items))


def _no_table(kernel: KernelContext, key: Object) -> nodes.Unsupported:
    symbol = kernel.points_to.symbol(key)
    gap = f"leaves out more than {inits.MOST_HOLES} elements"
    shown = symbol.original if symbol is not None else str(key)
    text = f"the initialiser of '{shown}' names a union's later member or {gap}"
    return _left("HD239", text, symbol or kernel.program.region)


# ------------------------------------------------------------------------------------------ the start of a record


def _start(kernel: KernelContext, scope: Scope) -> Iterator[ir.Stmt]:
    """Each work item's own variables, then what they held before the region, then their guards, which know of nothing."""
    reader = _reader_state(kernel)
    places = kernel.decisions.places
    lane = [_object(p) for p in places if p.space == "lane"]
    if lane:
        yield FreshGlobals()
    yield from (Fresh(_object(p)) for p in places if p.space == "private" and p.name.startswith("*"))
    known: list[ir.Stmt] = []
    for place, target in zip((p for p in places if p.space == "lane"), lane, strict=True):
        known += [Zero(target)] if place.key in reader else _initial(place, target, scope)
    for symbol in outer_locals(kernel.program):
        found, variable = scope.place(symbol.name), scope.var(symbol.name, symbol.type)
        if not variable.is_constant and variable.space not in TOTALS:
            start = _initial(found, variable, scope) if found is not None else []
            yield Fresh(variable, found is not None and found.key in reader, bool(start))
            known += start
    yield from known
    for guard in kernel.guards.by_key.values():
        own = kernel.decisions.by_key(guard.key)
        yield Begin(guard.key, _object(own) if own is not None else None)
    for extent in kernel.extents.by_key.values():
        yield Lies(extent.key, _lying(kernel, extent.key))


def _lying(kernel: KernelContext, key: Object) -> nodes.Var | nodes.Memory | None:
    """What stands where an object from outside the region lies; memory of the heap that all share: the pointer to it."""
    place = kernel.decisions.by_key(key)
    if place is None:
        return None
    pointer = kernel.decisions.by_key(place.base) if place.base is not None else None
    return _object(pointer if pointer is not None else place)


def _object(place: Place) -> nodes.Var | nodes.Memory:
    if place.name.startswith("*"):
        return nodes.Memory(place.type, place.key)
    return nodes.Var(place.type, place.name, place.key, place.space)


def outer_locals(program: ir.Program) -> Iterator[ir.Symbol]:
    """Variables of the enclosing function that the region uses and does not declare itself, in order of declaration."""
    inside = {n.name for n in ir_walk.walk(program.region.body) if isinstance(n, ir.Decl)}
    used = ir_walk.names(program.region.body)
    enclosing = program.enclosing
    return (s for s in (*enclosing.params, *enclosing.locals) if s.name in used and s.name not in inside)


def _reader_state(kernel: KernelContext) -> set[Object]:
    """Getline's line and capacity: a work item begins as a program that has read nothing."""
    loop = ir.record_loop(kernel.program.region)
    found: set[Object] = set()
    for node in ir_walk.walk(loop.cond) if loop is not None else ():
        if isinstance(node, ir.ReadRecord) and node.kind == "getline":
            for part in (node.target, node.capacity):
                found |= kernel.points_to.targets(kernel.program.region.function, part)
    return found


def _initial(place: Place, target: nodes.Var | nodes.Memory, scope: Scope) -> list[ir.Stmt]:
    """What gives a variable the value that it has when the region begins, nothing where that does not matter."""
    if place.live_in:
        fields = scope.kernel.decisions.fields()
        pointed = any(f.key == place.key and f.kind in ("object", "texture") for f in fields)
        return [StartShared(target, pointed)]
    if place.init is None:
        return []
    return [Start(target, inits.lowered(place.type, place.init, scope, apart=True))]


# ------------------------------------------------------------------------------------------ guards


def _keeps_guards(kernel: KernelContext) -> bool:
    """Has the kernel guards, or calls of the library that write where the line may lie?"""
    if kernel.guards.by_key or kernel.guards.sites or kernel.guards.arena:
        return True
    calls = ((name, node) for name, body in kernel.bodies for node in ir_walk.walk(body) if isinstance(node, ir.Call))
    return any(_writes_line(kernel, name, node) for name, node in calls)


def _writes_line(kernel: KernelContext, function: str, node: ir.Call) -> bool:
    name = ir.called(node)
    effect = EFFECTS.get(name)
    written = {access.arg for access in effect.writes} if effect else set(range(len(node.args)))
    pointers = (a for n, a in enumerate(node.args) if n in written and isinstance(a.type, ctype.Pointer))
    return writes(name) and any(RECORD in kernel.points_to.targets(function, a) for a in pointers)
