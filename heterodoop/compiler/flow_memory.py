"""Reads and writes of the use analysis: which objects an access touches, and what a state says about it.

`Memory` knows the objects of the program (what lies outside the region, what is one object and what stands for many) and
collects the findings. Conservative: what is not proven written is read from before.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from ..manifest import Reason
from ..source import Span
from . import ctype, ir, ir_walk
from .ctype import CType
from .flow_order import Cell
from .flow_state import ANY, NATURAL, WHOLE, Addr, Bound, Mark, Same, State, Value
from .points_to import ERRNO, EXTERNAL, LITERAL, RECORD, STRTOK, UNKNOWN, PointsTo

Level = Literal["proven", "assumed", "exposed"]
Access = Literal["value", "string", "bytes"]
Site = tuple[int, int]  # a read: id of its node, and what of it reads (below, or the number of a call's argument)
ITSELF = -1  # the lvalue that the node is, or assigns to
KEPT = -3  # the place that strtok_r and strsep keep
TEXT = -2  # what the node, a pointer that printf or sprintf is given, leads to
_SHORTEST = 2  # bytes of the shortest line
_HIDDEN = frozenset({ERRNO, STRTOK})


@dataclass(frozen=True)
class Place:
    """What an access touches: a cell as a whole, or a part of it (an element, by its number, or one before `end`).

    by  a variable whose number, plus a constant, is the element's. tokens: it is where strtok had stopped.
    """

    cell: Cell
    part: bool = False
    elem: int | None = None
    end: int | None = None
    by: Same | None = None
    tokens: bool = False


@dataclass
class Facts:
    """What was found about one object: the first place of each kind of access, in the order of the analysis."""

    read: Span | None = None
    exposed: Span | None = None
    exposed_in_loop: bool = False
    assumed: Span | None = None
    write: Span | None = None
    reader_only: bool = True


@dataclass
class Findings:
    """unproven  reads -> the objects that each may touch where this record has not written them. touched: all objects.
    reach     object -> the byte before which all writes to it surely end; None: not known.
    line_ends  nothing but NUL is written over the line's NUL. line_texts: reads of strings for which that matters.
    """

    facts: dict[str, Facts] = field(default_factory=dict)
    problems: dict[tuple[str, str, str], Reason] = field(default_factory=dict)
    unproven: dict[Site, set[str]] = field(default_factory=dict)
    touched: dict[Site, set[str]] = field(default_factory=dict)
    reach: dict[str, int | None] = field(default_factory=dict)
    line_ends: bool = True
    line_texts: set[Site] = field(default_factory=set)

    def of(self, obj: str) -> Facts:
        return self.facts.setdefault(obj, Facts())

    def problem(self, code: str, message: str, span: Span) -> None:
        place = str(span) if span.line else ""
        self.problems.setdefault((code, message, place), Reason(code, message, place))

    def all_unproven(self) -> dict[Site, frozenset[str]]:
        """Strings in the line, too, where it may have lost its end."""
        late = {} if self.line_ends else dict.fromkeys(self.line_texts, {RECORD})
        sites = [*self.unproven, *(s for s in late if s not in self.unproven)]
        return {s: frozenset(self.unproven.get(s, set()) | late.get(s, set())) for s in sites}

    def reaches(self, obj: str, end: int | None) -> None:
        """A write to the object ends before byte `end`."""
        old = self.reach.get(obj, 0)
        self.reach[obj] = None if end is None or old is None else max(old, end)


class Memory:
    def __init__(self, program: ir.Program, points_to: PointsTo, line_ends: bool = True) -> None:
        """`line_ends`: nothing is written over the NUL at the line's end (else `Findings.line_ends` would tell)."""
        self.program, self.points_to = program, points_to
        self.findings = Findings()
        self.in_loop = False
        self.in_reader = False
        self._inside = _declared_inside(program)
        self._fresh, self._many = _site_kinds(program, points_to)
        self.counters = _counters(program, points_to)
        self.line_ends = line_ends
        self._indexed = _indexed(program, points_to)
        self._locals = {f"{f.name}::{s.name}" for f in program.functions for s in f.locals}

    # ------------------------------------------------------------------------------------- objects

    def outer(self, obj: str) -> bool:
        """Does the object live on from one record (or pair) to the next?"""
        if "@" in obj:
            return obj not in self._fresh
        if "::" in obj:
            function, name = obj.split("::", 1)
            return function == self.program.region.function and name not in self._inside
        return obj not in (RECORD, EXTERNAL, UNKNOWN, LITERAL) and not obj.startswith("fn:")

    def followed(self, obj: str) -> bool:
        """Is it noted what of the object was written: one from outside, or a local of the loop or of a helper?"""
        return self.outer(obj) or obj in self._locals

    def single(self, obj: str) -> bool:
        """Is it one object, so that a write to it surely replaces what was there?"""
        return obj not in self._many and obj not in (EXTERNAL, UNKNOWN, LITERAL, RECORD)

    def object_type(self, obj: str) -> CType | None:
        if obj in self.points_to.site_nodes:
            return self._site_type(obj)
        if obj in (ERRNO, STRTOK):
            return ctype.INT if obj == ERRNO else ctype.Pointer(ctype.CHAR)
        if "::" in obj:
            function, name = obj.split("::", 1)
            symbol = self.program.symbol(function, name) if function in self.program.by_name else None
        else:
            symbol = next((s for s in (*self.program.globals, *self.program.externs) if s.name == obj), None)
        return symbol.type if symbol is not None else None

    def _site_type(self, obj: str) -> CType | None:
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
        kind = self.object_type(cell[0])
        for name in cell[1]:
            layout = self.program.layouts.table.get(kind.tag) if isinstance(kind, ctype.Struct) else None
            member = layout.field(name) if layout else None
            kind = member.type if member else None
        return kind

    def size(self, kind: CType | None) -> int | None:
        return self.program.layouts.size(kind) if kind is not None else None

    # ------------------------------------------------------------------------------------- places

    def pointee(self, value: Addr, kind: CType) -> Place:
        """What `*value` is, read or written as `kind`."""
        cell = ctype.Array(ctype.CHAR, None) if value.cell[0] == RECORD else self.cell_type(value.cell)
        if isinstance(cell, ctype.Array):
            fits = self.size(cell.of) == self.size(kind) and self.size(kind) is not None
            return Place(value.cell, True, value.offset if fits else None, by=value.by if fits else None)
        fits = cell is not None and self.size(cell) == self.size(kind) and value.offset in (0, None)
        return Place(value.cell, part=not fits)

    def member(self, place: Place, base: CType, field_type: CType, name: str) -> Place:
        """base.name: a cell of its own, but for unions and elements of arrays."""
        if place.part:
            return Place(place.cell, True)
        if isinstance(base, ctype.Struct) and base.union:
            return Place(place.cell, part=self.size(base) != self.size(field_type))
        return Place((place.cell[0], (*place.cell[1], name)))

    # ------------------------------------------------------------------------------------- reading

    def read(
        self, places: list[Place], state: State, span: Span, how: Access = "value", nbytes: int | None = None, *, site: Site,
    ) -> None:
        self.findings.touched.setdefault(site, set()).update(place.cell[0] for place in places)
        for place in places:
            obj = place.cell[0]
            if obj == UNKNOWN:
                self.findings.problem("HD225", "it reads through a pointer that cannot be followed", span)
            if obj == RECORD and not self._in_line(place, state, how):
                self.findings.unproven.setdefault(site, set()).add(obj)
            elif obj == RECORD and how == "string":
                self.findings.line_texts.add(site)
            if not self.followed(obj):
                continue
            level = self._level(place, state, how, nbytes)
            if (level != "proven" or self.recursing) and obj not in _HIDDEN:
                self.findings.unproven.setdefault(site, set()).add(obj)
            if self.outer(obj):
                self._note_read(obj, level, span)

    recursing = False  # in a function that may call itself, of whose calls only the first is followed

    def _note_read(self, obj: str, level: Level, span: Span) -> None:
        facts = self.findings.of(obj)
        facts.read = facts.read or span
        if level == "exposed" and (facts.exposed is None or (self.in_loop and not facts.exposed_in_loop)):
            facts.exposed, facts.exposed_in_loop = span, self.in_loop
        if level == "assumed":
            facts.assumed = facts.assumed or span

    def _in_line(self, place: Place, state: State, how: Access) -> bool:
        """Does an access surely lie in the line that was read? The shortest has a newline and a NUL."""
        if how == "bytes" or self.recursing:
            return False
        if how == "string" and not self.line_ends:
            return False
        known = place.elem is not None and 0 <= place.elem < _SHORTEST
        return known or self._is_below(place, state) or (place.tokens and how == "string")

    def _is_below(self, place: Place, state: State) -> bool:
        """Is an element that goes by a variable known to be among those that are written?"""
        if place.by is None or place.cell[1]:
            return False
        known, by = state.known, place.by
        return known.below.get((place.cell[0], by.cell), -1) > by.plus and known.lower.get(by.cell, -1) + by.plus >= 0

    def learn(self, places: list[Place], state: State) -> State:
        """An element of the line (or of what is one piece) was read: it is there, or the lane has ended."""
        if len(places) != 1 or places[0].by is None or not self.closed(places[0].cell, state):
            return state
        by = places[0].by
        known = state.known.written(places[0].cell[0], by.cell, by.plus + 1).at_least(by.cell, -by.plus)
        return replace(state, known=known)

    def closed(self, cell: Cell, state: State) -> bool:
        """Is what is written of an object one piece that begins at its start and ends in a NUL?"""
        if cell == (RECORD, ()):
            return self.line_ends
        mark = state.mark(cell)
        return mark is not None and mark.closed

    def prefix(self, obj: str, state: State) -> int:
        """Elements that are known to be written from the start of an array, or of the line."""
        if obj == RECORD:
            return _SHORTEST
        mark, kind = state.marks.get((obj, ())), self.object_type(obj)
        if mark is None:
            return 0
        if mark.whole:
            return kind.length or 0 if isinstance(kind, ctype.Array) else 0
        return max(mark.prefix, int(mark.string))

    def bind(self, state: State, cell: Cell, value: Value) -> State:
        """A variable has got a value: what is known of its number."""
        known = state.known
        if isinstance(value, Same):
            return replace(state, known=known.moved(cell, value.cell, value.plus))
        if isinstance(value, Addr) and value.by is not None:
            new = known.moved(cell, value.by.cell, value.by.plus)
        else:
            new = known.forget(cell)
        if isinstance(value, int):
            new = new.at_least(cell, value)
            for obj in self._indexed.get(cell, ()):
                new = new.written(obj, cell, self.prefix(obj, state) - value)
        elif isinstance(value, Bound):
            new = new.at_least(cell, 0).written(value.obj, cell, value.more)
        elif value == NATURAL:
            new = new.at_least(cell, 0)
        elif isinstance(value, Addr) and not value.cell[1]:
            if value.offset is not None:
                new = new.at_least(cell, value.offset).written(
                    value.cell[0], cell, self.prefix(value.cell[0], state) - value.offset)
            if value.more > 0:
                new = new.at_least(cell, 0).written(value.cell[0], cell, value.more)
        return state if new is known else replace(state, known=new)

    def natural(self, value: Value, state: State) -> bool:
        """Is a number surely not negative?"""
        if isinstance(value, Same):
            return state.known.lower.get(value.cell, -1) + value.plus >= 0
        return isinstance(value, Bound) or value == NATURAL or (isinstance(value, int) and value >= 0)

    def _level(self, place: Place, state: State, how: Access, nbytes: int | None) -> Level:
        kind = self.cell_type(place.cell)
        if isinstance(kind, ctype.Struct) and not place.part and not kind.union:
            return self._struct_level(place.cell, kind, state)
        mark = state.mark(place.cell)
        if how == "value" and self._is_below(place, state):
            return "proven"
        if mark is None:
            return "exposed"
        if mark.whole:
            return "proven"
        if how == "string":
            inside = mark.closed and (self._is_below(place, state) or place.tokens)
            return "proven" if (mark.string and place.elem == 0) or inside else "assumed"
        if how == "bytes":
            size = self.size(ctype.element(kind)) if kind is not None else None
            enough = nbytes is not None and size is not None and place.elem == 0 and mark.prefix * size >= nbytes
            return "proven" if enough else "assumed"
        return "proven" if place.elem is not None and place.elem < self._elements(mark) else "assumed"

    def _elements(self, mark: Mark) -> int:
        return max(mark.prefix, int(mark.string))

    def _struct_level(self, cell: Cell, kind: ctype.Struct, state: State) -> Level:
        """A struct that is read whole was written when it, or each of its members, was."""
        mark = state.marks.get(cell)
        covering = state.mark(cell)
        if covering is not None and covering.whole:
            return "proven"
        layout = self.program.layouts.table.get(kind.tag)
        if layout is None:
            return "exposed" if mark is None else "assumed"
        levels = {self._level(Place((cell[0], (*cell[1], f.name))), state, "value", None) for f in layout.fields}
        return "exposed" if "exposed" in levels else "assumed" if "assumed" in levels else "proven"

    # ------------------------------------------------------------------------------------- writing

    def note_write(self, obj: str, span: Span) -> None:
        if obj == UNKNOWN:
            self.findings.problem("HD225", "it writes through a pointer that cannot be followed", span)
        elif obj == EXTERNAL:
            self.findings.problem("HD225", "it writes into memory of the environment or the library", span)
        elif self.outer(obj):
            facts = self.findings.of(obj)
            if not self.in_reader and facts.reader_only:
                facts.reader_only = False
                facts.write = span
            facts.write = facts.write or span

    def write(self, places: list[Place], state: State, value: Value, span: Span, *, zero: bool = False) -> State:
        """An assignment. `zero`: the value is 0, so that it ends strings rather than runs them together."""
        for place in places:
            self.note_write(place.cell[0], span)
            self._reach(place, 1)
            self._note_in_line(place, state, zero)
        if len(places) != 1 or not self.single(places[0].cell[0]):
            state = state.forget(p.cell[0] for p in places)
            return state if zero else self._weaken(state, places)
        place = places[0]
        if place.part:
            return self._write_part(state, place, zero)
        state = self._without_parts(state, place.cell)
        state = self.bind(state, place.cell, value)
        state = state.with_value(place.cell, value if self.tracked(place.cell) else ANY)
        return state.with_mark(place.cell, WHOLE) if self.followed(place.cell[0]) else state

    def _without_parts(self, state: State, cell: Cell) -> State:
        """A struct was written: what its members held is not known any more."""
        inner = [c for c in state.env if c[0] == cell[0] and c != cell and c[1][: len(cell[1])] == cell[1]]
        for other in inner:
            state = state.with_value(other, ANY)
        return state

    def _write_part(self, state: State, place: Place, zero: bool) -> State:
        cell = place.cell
        if not isinstance(self.cell_type(cell), ctype.Array):
            state = state.forget([cell[0]])
        if not self.followed(cell[0]):
            return state
        old = state.mark(cell)
        if old is not None and old.whole:
            return state
        closed = old is not None and old.closed and self._stays_closed(place, state, old, zero)
        old = old or Mark()
        prefix = old.prefix + 1 if place.elem == old.prefix else old.prefix
        state, follows = self._written_by(place, state)
        known_end = zero and ((place.elem is not None and place.elem < prefix) or follows)
        mark = Mark(prefix, (old.string and zero) or known_end or closed, closed=closed)
        return state.with_mark(cell, WHOLE if self._full(cell, prefix) else mark)

    def _written_by(self, place: Place, state: State) -> tuple[State, bool]:
        """The state when an element that goes by a variable is written, and whether all elements before it are, too."""
        by, obj = place.by, place.cell[0]
        if by is None or place.cell[1] or state.known.below.get((obj, by.cell), -2) < by.plus:
            return state, False
        known = state.known.written(obj, by.cell, by.plus + 1)
        return replace(state, known=known), known.lower.get(by.cell, -1) + by.plus >= 0

    def _stays_closed(self, place: Place, state: State, old: Mark, zero: bool) -> bool:
        """A NUL may be put anywhere in what is written, another value not over its end."""
        more = 0 if zero else 1
        if place.elem is not None:
            return place.elem + more < old.prefix
        by = replace(place.by, plus=place.by.plus + more) if place.by is not None else None
        return self._is_below(replace(place, by=by), state) and self._is_below(place, state)

    def _full(self, cell: Cell, prefix: int) -> bool:
        kind = self.cell_type(cell)
        return isinstance(kind, ctype.Array) and kind.length is not None and 0 < kind.length <= prefix

    def _weaken(self, state: State, places: list[Place]) -> State:
        """Something that may be in these objects was overwritten: their strings may have lost their ends."""
        touched = {p.cell[0] for p in places}
        for cell, mark in list(state.marks.items()):
            if cell[0] in touched and (mark.string or mark.closed):
                state = state.with_mark(cell, replace(mark, string=False, closed=False))
        return state

    def _reach(self, place: Place, elements: int | None) -> None:
        """`elements` elements are written there (None: some), of an array in which that place is known."""
        kind = self.cell_type(place.cell)
        size = self.size(kind.of) if isinstance(kind, ctype.Array) else None
        at = None if not place.part else place.elem if place.elem is not None or place.end is None else place.end - 1
        if place.cell[1] or size is None or at is None or elements is None:
            self.findings.reaches(place.cell[0], None)
        else:
            self.findings.reaches(place.cell[0], (at + elements) * size)

    def _reach_bytes(self, place: Place, nbytes: int | None) -> None:
        kind = self.cell_type(place.cell)
        size = self.size(kind.of) if isinstance(kind, ctype.Array) else None
        elements = -(-nbytes // size) if size and nbytes is not None else None
        self._reach(place if place.part else replace(place, part=True, elem=0), elements)

    def _note_in_line(self, place: Place, state: State, zero: bool) -> None:
        """A byte other than NUL in the line may be put where the line ends."""
        if place.cell[0] == RECORD and not zero:
            next_one = replace(place, by=replace(place.by, plus=place.by.plus + 1)) if place.by is not None else place
            if place.elem != 0 and not self._is_below(next_one, state):
                self.findings.line_ends = False

    def write_string(self, places: list[Place], state: State, span: Span) -> State:
        """A NUL-terminated string from each place on."""
        for place in places:
            self.note_write(place.cell[0], span)
            self._reach(place, None)
        state = state.forget(p.cell[0] for p in places if not isinstance(self.cell_type(p.cell), ctype.Array))
        if len(places) != 1 or not self.single(places[0].cell[0]) or not self.followed(places[0].cell[0]):
            return state
        cell, starts = places[0].cell, places[0].elem == 0
        mark = state.mark(cell)
        old = mark or Mark(closed=True)
        if old.whole:
            return state
        return state.with_mark(cell, Mark(old.prefix, old.string or starts, closed=old.closed and starts))

    def write_bytes(
        self, places: list[Place], state: State, nbytes: int | None, span: Span, *, zero: bool = False, tokens: bool = False,
    ) -> State:
        """`nbytes` bytes from each place on (None: some number, perhaps 0). `tokens`: NULs in a string that is there."""
        for place in places:
            self.note_write(place.cell[0], span)
            self._reach_bytes(place, nbytes)
            self._note_in_line(place, state, zero)
        state = state.forget(p.cell[0] for p in places if not isinstance(self.cell_type(p.cell), ctype.Array))
        if not zero:
            state = self._weaken(state, places)
        if tokens:
            return state
        if len(places) != 1 or not self.single(places[0].cell[0]) or not self.followed(places[0].cell[0]):
            return state
        cell, elem = places[0].cell, places[0].elem if places[0].part else 0
        return state.with_mark(cell, self._bytes_mark(cell, state.mark(cell), elem, nbytes, zero))

    def _bytes_mark(self, cell: Cell, old: Mark | None, elem: int | None, nbytes: int | None, zero: bool) -> Mark:
        old = old or Mark()
        kind = self.cell_type(cell)
        total = self.size(kind)
        if old.whole or (nbytes is not None and total and elem == 0 and nbytes >= total):
            return WHOLE
        size = self.size(kind.of) if isinstance(kind, ctype.Array) else None
        if nbytes is None or size is None or elem is None or elem > old.prefix:
            return replace(old, closed=False)
        prefix = max(old.prefix, elem + nbytes // size)
        string = old.string or (zero and nbytes >= size)
        return WHOLE if self._full(cell, prefix) else Mark(prefix, string)

    def tracked(self, cell: Cell) -> bool:
        """Are values of this cell worth keeping apart? Not those of counters: they have too many."""
        return cell not in self.counters and isinstance(self.cell_type(cell), (ctype.Int, ctype.Pointer))


def _declared_inside(program: ir.Program) -> set[str]:
    """Locals of the region's function that begin anew: for a mapper with each record, for a combiner with each run."""
    region = program.region
    loop = ir.record_loop(region)
    inside: ir.Node = loop.body if isinstance(region, ir.MapRegion) and loop is not None else region.body
    return {n.name for n in ir_walk.walk(inside) if isinstance(n, ir.Decl)}


def _site_kinds(program: ir.Program, points_to: PointsTo) -> tuple[set[str], set[str]]:
    """(sites that are new in each record, sites that stand for many objects)."""
    loop = ir.record_loop(program.region)
    inside = {id(n) for n in ir_walk.walk(loop.body if loop is not None else program.region.body)}
    early = reached(program, program.enclosing.body)
    looped = {id(n) for _, body in ir_walk.bodies(program) for s in ir_walk.walk(body)
              if isinstance(s, (ir.While, ir.DoWhile, ir.For, ir.RecordLoop)) for n in ir_walk.walk(s)}
    fresh, many = set(), set()
    for site, (function, node) in points_to.site_nodes.items():
        if id(node) in inside or (function != program.region.function and function not in early):
            fresh.add(site)
        if id(node) in looped or function != program.region.function:
            many.add(site)
    return fresh, many


def reached(program: ir.Program, start: ir.Node) -> set[str]:
    """Own functions that may be called from a piece of the program, function pointers included."""
    found: set[str] = set()
    pending = [start]
    while pending:
        for name in ir_walk.names(pending.pop()):
            if name in program.by_name and name not in found:
                found.add(name)
                pending.append(program.by_name[name].body)
    return found


def _counters(program: ir.Program, points_to: PointsTo) -> set[Cell]:
    """Integers that are counted up or added to somewhere."""
    found: set[Cell] = set()
    for function, body in ir_walk.bodies(program):
        for node in ir_walk.walk(body):
            moved = isinstance(node, ir.Step) or (isinstance(node, ir.Assign) and node.op != "=")
            if moved and isinstance(node.type, ctype.Int) and isinstance(node.target, ir.Name):
                found.add((points_to.key(function, node.target.name), ()))
    return found


def _indexed(program: ir.Program, points_to: PointsTo) -> dict[Cell, set[str]]:
    """Integer variables -> the arrays (and the line) of which they are part of an index."""
    found: dict[Cell, set[str]] = {}
    for function, body in ir_walk.bodies(program):
        for node in ir_walk.walk(body):
            places = [(node.base, node.index)] if isinstance(node, ir.Index) else []
            if isinstance(node, ir.Binary) and isinstance(node.type, ctype.Pointer):
                places = [(node.left, node.right), (node.right, node.left)]
            for base, index in places:
                if isinstance(base.type, ctype.Pointer):
                    objects = points_to.targets(function, base)
                    for name in ir_walk.names(index):
                        found.setdefault((points_to.key(function, name), ()), set()).update(objects)
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


HIDDEN = {STRTOK: "the position that strtok keeps", ERRNO: "errno"}
