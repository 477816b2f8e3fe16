"""Where pointers may point: flow-insensitive sets of objects for every variable of the program and its helpers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..ir import ir
from ..ir import walk as ir_walk
from ..ir.call_graph import CallGraph
from ..types import ctype
from .libc_effects import CONDITIONAL, EFFECTS
from .objects import (
    ERRNO,
    EXTERNAL,
    LITERAL,
    RECORD,
    STRTOK,
    UNKNOWN,
    Arena,
    Code,
    Heap,
    Hidden,
    Literal,
    Object,
    Returned,
    Site,
    Unnamed,
    Variable,
    symbol_of,
    variable,
)

_LITERALS = 64  # that are told apart
SCOPED_CALLS = frozenset({"alloca", "__hd_vla"})  # of which the memory ends with the function that calls, or before
ARENA_CALLS = frozenset({"malloc", "calloc", "realloc", "reallocarray", "strdup", "strndup"}) | SCOPED_CALLS


class PointsTo:
    """`targets(function, pointer expression)` and `contents(object)`, solved once for a program."""

    def __init__(self, program: ir.Program) -> None:
        self._program = program
        self._contents: dict[Object, set[Object]] = {EXTERNAL: {EXTERNAL}, UNKNOWN: {UNKNOWN}, ERRNO: set(), STRTOK: set()}
        self._variables: dict[tuple[str, str], Variable | Hidden] = {}
        self.sites: dict[int, Site] = {}
        self._of_record = record_allocations(program)
        self._few_literals = len(_literals(program)) <= _LITERALS
        self.site_nodes: dict[Site, tuple[str, ir.Expr]] = {}
        self._work: list[tuple[str, Any]] = []
        for name, body in ir_walk.bodies(program):
            for node in ir_walk.walk(body):
                self._number(name, node)
                if isinstance(node, (ir.Assign, ir.Decl, ir.Call, ir.Return, ir.ReadRecord, ir.ReadPair, ir.Compound)):
                    self._work.append((name, node))
        self._solve()

    def key(self, function: str, name: str) -> Variable | Hidden:
        """The object of a variable as `function` names it."""
        asked = function, name
        found = self._variables.get(asked)
        if found is None:
            found = self._variables[asked] = variable(self._program, function, name)
        return found

    def literal(self, node: ir.Str) -> Object:
        return Literal(node.data) if self._few_literals else LITERAL

    def symbol(self, obj: Object) -> ir.Symbol | None:
        """The variable that an object is; None for memory without a name and state without a variable."""
        return symbol_of(self._program, obj)

    def contents(self, obj: Object) -> set[Object]:
        return self._contents.setdefault(obj, set())

    def text(self) -> str:
        """One line per object that points somewhere."""
        rows = ((obj, map(str, sorted(self._contents[obj]))) for obj in sorted(self._contents) if self._contents[obj])
        return "".join(f"{obj} -> {' '.join(found)}\n" for obj, found in rows)

    def _number(self, function: str, node: Any) -> None:
        if node.number in self.sites:
            return
        kind: type[Site] | None = Unnamed if isinstance(node, ir.Compound) else Heap if _allocates(node) else None
        kind = Arena if node.number in self._of_record else kind
        if kind is not None:
            site = kind(len(self.sites))
            self.sites[node.number] = site
            self.site_nodes[site] = (function, node)

    # ------------------------------------------------------------------------------------- solving

    def _solve(self) -> None:
        main = self._program.enclosing
        for param in main.params:
            if isinstance(param.type, ctype.Pointer):
                self.contents(self.key(main.name, param.name)).add(EXTERNAL)
        for symbol in self._program.externs:
            if symbol.storage == "call" and isinstance(symbol.type, ctype.Pointer):
                self.contents(self.key("", symbol.name)).add(EXTERNAL)
        before = -1
        while (now := sum(map(len, self._contents.values()))) != before:
            before = now
            for symbol in self._program.globals:
                if symbol.init is not None:
                    self._store({self.key("", symbol.name)}, "", symbol.init)
            for function, node in self._work:
                _RULES[type(node)](self, function, node)

    def _store(self, objects: Iterable[Object], function: str, value: ir.Init) -> None:
        if isinstance(value, ir.Fill):
            for _, item in value.items:
                self._store(objects, function, item)
            return
        found = self.value_targets(function, value)
        for obj in objects:
            self.contents(obj).update(found)

    def value_targets(self, function: str, value: ir.Expr) -> set[Object]:
        """What a value holds pointers to; for a struct, all that its object holds."""
        if isinstance(value.type, ctype.Struct):
            return self._loaded(self.objects(function, value))
        return self.targets(function, value) if isinstance(value.type, ctype.Pointer) else set()

    def assign(self, function: str, node: ir.Assign) -> None:
        if node.op == "=":
            self._store(self.objects(function, node.target), function, node.value)

    def decl(self, function: str, node: ir.Decl) -> None:
        if node.init is not None:
            self._store({self.key(function, node.name)}, function, node.init)

    def compound(self, function: str, node: ir.Compound) -> None:
        self._store({self.sites[node.number]}, function, node.init)

    def return_(self, function: str, node: ir.Return) -> None:
        if node.value is not None:
            self._store({Returned(function)}, function, node.value)

    def read_record(self, function: str, node: ir.ReadRecord) -> None:
        if node.kind == "getline":
            for obj in self.targets(function, node.target):
                self.contents(obj).add(RECORD)

    def read_pair(self, function: str, node: ir.ReadPair) -> None:
        if b"%m" in node.format:
            for target in node.targets:
                for obj in self.targets(function, target):
                    self.contents(obj).add(RECORD)

    def call(self, function: str, node: ir.Call) -> None:
        for callee in self.callees(function, node):
            for param, arg in zip(callee.params, node.args, strict=False):
                self._store({self.key(callee.name, param.name)}, function, arg)
        name = ir.called(node)
        effect = EFFECTS.get(name)
        for at, source in effect.stores if effect else ():
            for obj in self.targets(function, node.args[at]) if at < len(node.args) else ():
                self.contents(obj).update(self.targets(function, node.args[source]))
        if name in ("memcpy", "memmove", "mempcpy", "bcopy"):
            to, source = (1, 0) if name == "bcopy" else (0, 1)
            loaded = self._loaded(self.targets(function, node.args[source]))
            for obj in self.targets(function, node.args[to]):
                self.contents(obj).update(loaded)
        if name == "strtok":
            self.contents(STRTOK).update(self.targets(function, node.args[0]))
        if name == "strtok_r":
            for obj in self.targets(function, node.args[2]):
                self.contents(obj).update(self.targets(function, node.args[0]))

    def callees(self, function: str, node: ir.Call) -> list[ir.Function]:
        """The program's own functions that a call may enter."""
        name = ir.called(node)
        if name:
            own = self._program.by_name.get(name)
            return [own] if own is not None else []
        found = (t.name for t in sorted(self.targets(function, node.callee)) if isinstance(t, Code))
        return [self._program.by_name[n] for n in found if n in self._program.by_name]

    # ------------------------------------------------------------------------------------- expressions

    def _loaded(self, objects: set[Object]) -> set[Object]:
        return set().union(*(self.contents(o) for o in objects)) if objects else set()

    def objects(self, function: str, node: ir.Expr) -> set[Object]:
        """The objects that an lvalue may be part of."""
        if isinstance(node, ir.Name):
            return {self.key(function, node.name)}
        if isinstance(node, ir.Member):
            return self.objects(function, node.base)
        if isinstance(node, ir.Index):
            return self.targets(function, node.base)
        if isinstance(node, ir.Deref):
            return self.targets(function, node.pointer)
        if isinstance(node, ir.Compound):
            return {self.sites.get(node.number, UNKNOWN)}
        if isinstance(node, ir.Str):
            return {self.literal(node)}
        if isinstance(node, ir.Assign):
            return self.objects(function, node.target)
        if isinstance(node, ir.Conditional):
            return self.objects(function, node.then) | self.objects(function, node.other)
        if isinstance(node, ir.Comma):
            return self.objects(function, node.second)
        if isinstance(node, ir.Call):
            return {*(Returned(c.name) for c in self.callees(function, node))} or {UNKNOWN}
        return {UNKNOWN}

    def targets(self, function: str, node: ir.Expr) -> set[Object]:
        """The objects that a pointer value may point into; NULL adds nothing."""
        rule = _TARGETS.get(type(node))
        return rule(self, function, node) if rule else {UNKNOWN}

    def cast(self, function: str, node: ir.Cast) -> set[Object]:
        if isinstance(node.operand.type, ctype.Pointer):
            return self.targets(function, node.operand)
        return {UNKNOWN}

    def decay(self, function: str, node: ir.Decay) -> set[Object]:
        if isinstance(node.operand.type, ctype.Func):
            return {Code(node.operand.name)} if isinstance(node.operand, ir.Name) else {UNKNOWN}
        return self.objects(function, node.operand)

    def sum(self, function: str, node: ir.Binary) -> set[Object]:
        side = node.left if isinstance(node.left.type, ctype.Pointer) else node.right
        return self.targets(function, side) if isinstance(side.type, ctype.Pointer) else {UNKNOWN}

    def load(self, function: str, node: ir.Expr) -> set[Object]:
        return self._loaded(self.objects(function, node))

    def call_targets(self, function: str, node: ir.Call) -> set[Object]:
        own = self.callees(function, node)
        if own:
            return set().union(*(self.contents(Returned(c.name)) for c in own))
        return self._library_targets(function, node, ir.called(node))

    def _library_targets(self, function: str, node: ir.Call, name: str) -> set[Object]:
        if name == "__errno_location":
            return {ERRNO}
        if name == "strtok":
            return self.contents(STRTOK) | self.targets(function, node.args[0])
        if name in ("strtok_r", "strsep"):
            state = node.args[2] if name == "strtok_r" else node.args[0]
            found = self._loaded(self.targets(function, state))
            return found | (self.targets(function, node.args[0]) if name == "strtok_r" else set())
        effect = EFFECTS.get(name)
        if effect is None:
            return {UNKNOWN}
        if effect.result == "new":
            moved = self.targets(function, node.args[0]) if name in ("realloc", "reallocarray") else set()
            return {self.sites.get(node.number, UNKNOWN)} | moved
        if effect.result == "arg":
            return self.targets(function, node.args[effect.source])
        return {EXTERNAL} if effect.result == "ext" else {UNKNOWN}


def _literals(program: ir.Program) -> set[bytes]:
    inits = (s.init for s in program.globals if s.init is not None)
    bodies = (body for _, body in ir_walk.bodies(program))
    return {n.data for part in (*inits, *bodies) for n in ir_walk.walk(part) if isinstance(n, ir.Str)}


def _allocates(node: Any) -> bool:
    effect = EFFECTS.get(ir.called(node)) if isinstance(node, ir.Call) else None
    return effect is not None and effect.result == "new"


def record_allocations(program: ir.Program) -> frozenset[int]:
    """Numbers of the calls that allocate while a mapper treats a record, and that nothing else gets to."""
    loop = ir.record_loop(program.region)
    if loop is None or not isinstance(program.region, ir.MapRegion):
        return frozenset()
    calls = CallGraph(program)
    helpers = calls.of(loop.body) - calls.around - {program.region.function}
    bodies = [loop.body, *(program.by_name[name].body for name in sorted(helpers))]
    return frozenset(n.number for body in bodies for n in ir_walk.walk(body)
                     if isinstance(n, ir.Call) and ir.called(n) in ARENA_CALLS)


def known_call(name: str) -> bool:
    """Does the table say what this library function does?"""
    return name in EFFECTS or name in CONDITIONAL


_RULES: dict[type, Callable[[PointsTo, str, Any], None]] = {
    ir.Assign: PointsTo.assign, ir.Decl: PointsTo.decl, ir.Call: PointsTo.call, ir.Return: PointsTo.return_,
    ir.ReadRecord: PointsTo.read_record, ir.ReadPair: PointsTo.read_pair, ir.Compound: PointsTo.compound,
}

_TARGETS: dict[type, Callable[[PointsTo, str, Any], set[Object]]] = {
    ir.Const: lambda p, f, n: set() if n.value == 0 else {UNKNOWN},
    ir.Cast: PointsTo.cast,
    ir.Decay: PointsTo.decay,
    ir.AddressOf: lambda p, f, n: p.objects(f, n.operand),
    ir.Binary: PointsTo.sum,
    ir.Conditional: lambda p, f, n: p.targets(f, n.then) | p.targets(f, n.other),
    ir.Comma: lambda p, f, n: p.targets(f, n.second),
    ir.Assign: lambda p, f, n: p.targets(f, n.value) if n.op == "=" else p.targets(f, n.target),
    ir.Step: lambda p, f, n: p.targets(f, n.target),
    ir.Call: PointsTo.call_targets,
    ir.ReadRecord: lambda p, f, n: p.targets(f, n.target),
    ir.Name: PointsTo.load,
    ir.Member: PointsTo.load,
    ir.Index: PointsTo.load,
    ir.Deref: PointsTo.load,
}
