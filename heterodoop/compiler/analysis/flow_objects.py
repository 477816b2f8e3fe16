"""The objects of the use analysis: which of them outlive a record, which are one, of what type they and their parts are.

Not here: what a state says about them (`flow_memory`).
"""

from __future__ import annotations

from functools import cached_property

from ..ir import ir
from ..ir import walk as ir_walk
from ..ir.call_graph import CallGraph
from ..types import ctype
from ..types.ctype import CType
from .flow_findings import Touched
from .flow_state import Addr
from .objects import ERRNO, RECORD, STRTOK, Arena, Cell, Global, Literal, Local, Object, Returned, Site
from .points_to import PointsTo


class ObjectModel:
    """What a program's objects are, and what an access touches."""

    def __init__(self, program: ir.Program, points_to: PointsTo, calls: CallGraph) -> None:
        self.program, self.points_to, self.calls = program, points_to, calls
        self._inside = _declared_inside(program)
        self._fresh, self._many = _site_kinds(program, points_to, calls)
        self.counters = _counters(program, points_to)
        self.starts = _starts(program, points_to)
        self.indexed = _indexed(program, points_to)
        self._locals = {Local(f.name, s.name) for f in program.functions for s in f.locals}

    # ------------------------------------------------------------------------------------- objects

    def outer(self, obj: Object) -> bool:
        """Does the object live on from one record (or pair) to the next?"""
        if isinstance(obj, Site):
            return obj not in self._fresh and not isinstance(obj, Arena)
        if isinstance(obj, (Local, Returned)):
            return obj.within(self.program.region.function) and obj not in self._inside
        return obj.lasting

    def followed(self, obj: Object) -> bool:
        """Is it noted what of the object was written: one from outside, a local of the loop or of a helper, a record's
        memory?"""
        return self.outer(obj) or obj in self._locals or isinstance(obj, Arena)

    def single(self, obj: Object) -> bool:
        """Is it one object, so that a write to it surely replaces what was there?"""
        return obj.one and obj not in self._many

    def by_name_alone(self, obj: Object) -> bool:
        """Is it a number or pointer of a function of its own, which no pointer leads to?"""
        return isinstance(obj, Local) and self.unaddressed(obj)

    def unaddressed(self, obj: Object) -> bool:
        """Is it a number or pointer that no pointer leads to?"""
        plain = isinstance(self.object_type(obj), (ctype.Int, ctype.Float, ctype.Pointer))
        return isinstance(obj, (Local, Global)) and plain and obj not in self._addressed

    @cached_property
    def _addressed(self) -> set[Object]:
        nodes = ((f, n.operand) for f, body in ir_walk.bodies(self.program) for n in ir_walk.walk(body)
                 if isinstance(n, (ir.AddressOf, ir.Decay)) and not isinstance(n.operand.type, ctype.Func))
        filled = (Global(name) for s in self.program.globals if s.init is not None for name in ir_walk.names(s.init))
        return set(filled).union(*(self.points_to.objects(function, operand) for function, operand in nodes))

    def tracked(self, cell: Cell) -> bool:
        """Are values of this cell worth keeping apart? Not those of counters: they have too many."""
        return cell not in self.counters and isinstance(self.cell_type(cell), (ctype.Int, ctype.Pointer))

    @cached_property
    def uses_errno(self) -> bool:
        """Does the program look at errno anywhere?"""
        nodes = (n for f in (*self.program.functions, self.program.region) for n in ir_walk.walk(f.body))
        return any((isinstance(n, ir.Call) and ir.called(n) == "__errno_location")
                   or (isinstance(n, ir.Name) and n.name == ERRNO.name) for n in nodes)

    def object_type(self, obj: Object) -> CType | None:
        if isinstance(obj, Arena):
            return None  # as large as the call says, and there until it is freed: only the kernel knows
        if isinstance(obj, Site):
            return self._site_type(obj)
        if isinstance(obj, Literal):
            return ctype.Array(ctype.CHAR, len(obj.data) + 1)
        if obj in _HIDDEN:
            return _HIDDEN[obj]
        symbol = self.points_to.symbol(obj)
        return symbol.type if symbol is not None else None

    def _site_type(self, obj: Site) -> CType | None:
        function, node = self.points_to.site_nodes[obj]
        if isinstance(node, ir.Compound):
            return node.type
        kind = allocated_type(self.program, node)
        if kind is None:
            return None
        size, total = self.program.layouts.size(kind), allocated_size(node)
        if size and total is not None and total == size:
            return kind
        return ctype.Array(kind, total // size if size and total is not None else None)

    def cell_type(self, cell: Cell) -> CType | None:
        kind = self.object_type(cell.obj)
        for name in cell.path:
            layout = self.program.layouts.table.get(kind.tag) if isinstance(kind, ctype.Struct) else None
            member = layout.field(name) if layout else None
            kind = member.type if member else None
        return kind

    def size(self, kind: CType | None) -> int | None:
        return self.program.layouts.size(kind) if kind is not None else None

    # ------------------------------------------------------------------------------------- places

    def pointee(self, value: Addr, kind: CType) -> Touched:
        """What `*value` is, read or written as `kind`."""
        cell = ctype.Array(ctype.CHAR, None) if value.cell.obj == RECORD else self.cell_type(value.cell)
        if isinstance(cell, ctype.Array):
            fits = self.size(cell.of) == self.size(kind) and self.size(kind) is not None
            return Touched(value.cell, True, value.offset if fits else None, by=value.by if fits else None)
        fits = cell is not None and self.size(cell) == self.size(kind) and value.offset in (0, None)
        return Touched(value.cell, part=not fits)

    def member(self, place: Touched, base: CType, field_type: CType, name: str) -> Touched:
        """base.name: a cell of its own, but for unions and elements of arrays."""
        if place.part:
            return Touched(place.cell, True)
        if isinstance(base, ctype.Struct) and base.union:
            return Touched(place.cell, part=self.size(base) != self.size(field_type))
        return Touched(place.cell.member(name))


def _declared_inside(program: ir.Program) -> set[Object]:
    """Locals of the region's function that begin anew: for a mapper with each record, for a combiner with each run."""
    region = program.region
    loop = ir.record_loop(region)
    inside: ir.Node = loop.body if isinstance(region, ir.MapRegion) and loop is not None else region.body
    return {Local(region.function, n.name) for n in ir_walk.walk(inside) if isinstance(n, ir.Decl)}


def _site_kinds(program: ir.Program, points_to: PointsTo, calls: CallGraph) -> tuple[set[Site], set[Object]]:
    """(sites that are new in each record, sites that stand for many objects)."""
    loop = ir.record_loop(program.region)
    inside = {n.number for n in ir_walk.walk(loop.body if loop is not None else program.region.body)}
    looped = {n.number for _, body in ir_walk.bodies(program) for s in ir_walk.walk(body)
              if isinstance(s, (ir.While, ir.DoWhile, ir.For, ir.RecordLoop)) for n in ir_walk.walk(s)}
    fresh: set[Site] = set()
    many: set[Object] = set()
    for site, (function, node) in points_to.site_nodes.items():
        if node.number in inside or (function != program.region.function and function not in calls.around):
            fresh.add(site)
        if node.number in looped or function != program.region.function:
            many.add(site)
    return fresh, many


def _counters(program: ir.Program, points_to: PointsTo) -> set[Cell]:
    """Integers that are counted up or added to somewhere."""
    found: set[Cell] = set()
    for function, body in ir_walk.bodies(program):
        for node in ir_walk.walk(body):
            moved = isinstance(node, ir.Step) or (isinstance(node, ir.Assign) and node.op != "=")
            if moved and isinstance(node.type, ctype.Int) and isinstance(node.target, ir.Name):
                found.add(points_to.key(function, node.target.name).cell)
    return found


def _starts(program: ir.Program, points_to: PointsTo) -> set[Object]:
    """Pointers that are only ever set once, to the beginning of an array or literal, and that no pointer reaches."""
    values: dict[Object, list[ir.Init]] = {
        points_to.key("", s.name): [s.init] for s in program.globals if s.init is not None}
    changed: set[Object] = set()
    for function, body in ir_walk.bodies(program):
        for node in ir_walk.walk(body):
            if isinstance(node, ir.Decl) and node.init is not None:
                values.setdefault(points_to.key(function, node.name), []).append(node.init)
            elif isinstance(node, ir.Assign) and isinstance(node.target, ir.Name) and node.op == "=":
                values.setdefault(points_to.key(function, node.target.name), []).append(node.value)
            elif isinstance(node, (ir.Assign, ir.Step, ir.AddressOf)):
                place = node.operand if isinstance(node, ir.AddressOf) else node.target
                changed |= points_to.objects(function, place) if isinstance(place, ir.Name) else set()
    params = {Local(f.name, p.name) for f in program.functions for p in f.params}
    return {obj for obj, found in values.items()
            if len(found) == 1 and obj not in changed | params and _whole(ir_walk.uncast(found[0]))}


def _whole(value: ir.Init | None) -> bool:
    return isinstance(value, ir.Decay) and isinstance(value.operand, (ir.Name, ir.Str))


def _indexed(program: ir.Program, points_to: PointsTo) -> dict[Cell, set[Object]]:
    """Integer variables -> the arrays (and the line) of which they are part of an index."""
    found: dict[Cell, set[Object]] = {}
    for function, body in ir_walk.bodies(program):
        for node in ir_walk.walk(body):
            places = [(node.base, node.index)] if isinstance(node, ir.Index) else []
            if isinstance(node, ir.Binary) and isinstance(node.type, ctype.Pointer):
                places = [(node.left, node.right), (node.right, node.left)]
            for base, index in places:
                if isinstance(base.type, ctype.Pointer):
                    objects = points_to.targets(function, base)
                    for name in ir_walk.names(index):
                        found.setdefault(points_to.key(function, name).cell, set()).update(objects)
    return found


def allocated_size(node: ir.Expr) -> int | None:
    """Bytes that an allocation call asks for, where they are constant."""
    name = ir.called(node) if isinstance(node, ir.Call) else ""
    args = [a.value for a in node.args if isinstance(a, ir.Const)] if isinstance(node, ir.Call) else []
    if name == "malloc" and len(args) == 1 and isinstance(args[0], int):
        return args[0]
    if name == "calloc" and len(args) == 2 and isinstance(args[0], int) and isinstance(args[1], int):
        return args[0] * args[1]
    return None


def allocated_type(program: ir.Program, node: ir.Expr) -> CType | None:
    """What an allocation is used as: the type its result is converted to at once."""
    for _, body in ir_walk.bodies(program):
        for part in ir_walk.walk(body):
            if isinstance(part, ir.Cast) and part.operand is node and isinstance(part.type, ctype.Pointer):
                return part.type.to if part.type.to != ctype.VOID else None
    return ctype.CHAR if ir.called(node) in ("strdup", "strndup") else None  # type: ignore[arg-type]


_HIDDEN: dict[Object, CType] = {ERRNO: ctype.INT, STRTOK: ctype.Pointer(ctype.CHAR)}
