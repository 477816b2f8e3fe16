"""Reads and writes of the use analysis: what a state says about the objects that an access touches, and what it changes.

Conservative: what is not proven written is read from before.
"""

from __future__ import annotations

from dataclasses import replace

from ...source import Span
from ..ir import ir
from ..types import ctype, ranges
from ..types.ranges import Range
from .flow_findings import ITSELF, Access, Level, Site, Touched, Walk
from .flow_objects import ObjectModel
from .flow_state import ANY, WHOLE, Addr, Bound, Mark, Same, State, Value
from .objects import EXTERNAL, RECORD, UNKNOWN, Cell, Hidden, Literal, Object

_ELSEWHERE = frozenset({RECORD, UNKNOWN})  # the line's accesses are checked otherwise, others refused
_SHORTEST = 2  # bytes of the shortest line


class MemoryFlow:
    """What accesses do to states, and to the findings."""

    def __init__(self, model: ObjectModel, walk: Walk) -> None:
        self._model, self._walk = model, walk

    # ------------------------------------------------------------------------------------- where an access lies

    def indexed(self, node: ir.Index, number: Value, array: ctype.Array, state: State) -> None:
        """An element of an array of known length, by its number."""
        certain = isinstance(node.index, ir.Const) if self._walk.recursing else True
        low, high = self.range(number, state)
        inside = low is not None and high is not None and low >= 0 and high < (array.length or 0)
        self._walk.findings.lies(node, ITSELF, inside=inside and certain)

    def followed(self, node: ir.Expr, places: list[Touched], state: State, *, certain: bool = False) -> None:
        """What a pointer leads to. certain: it is known to lie inside."""
        inside = not self._walk.recursing and (certain or all(self._inside(p, state) for p in places))
        self._walk.findings.lies(node, ITSELF, inside=inside)

    def within(self, base: Value, number: Value, kind: ctype.CType, state: State) -> bool:
        """Is `base[number]` an element of the array that `base` leads into, whatever else is not known of the number?"""
        if not isinstance(base, Addr) or base.offset is None:
            return False
        array, (low, high) = self._model.cell_type(base.cell), self.range(number, state)
        if not isinstance(array, ctype.Array) or array.length is None or low is None or high is None:
            return False
        fits = self._model.size(array.of) == self._model.size(kind)
        return fits and base.offset + low >= 0 and base.offset + high < array.length

    def fits(self, node: ir.Node, part: int, places: list[Touched], most: int | None, state: State) -> None:
        """A library call touches so many bytes there at most, None: not known, through argument `part`."""
        inside = most is not None and not self._walk.recursing and all(self._fits(p, most, state) for p in places)
        self._walk.findings.lies(node, part, inside=inside)

    def _fits(self, place: Touched, nbytes: int, state: State) -> bool:
        room = self.room_bytes(place, state)
        return place.cell.obj in _ELSEWHERE or (room is not None and nbytes <= room)

    def room_bytes(self, place: Touched, state: State) -> int | None:
        """Bytes that surely are there from a place on, None: not known that it lies in its object."""
        room, kind = self.room(place, state), self._model.cell_type(place.cell)
        size = self._model.size(kind.of if isinstance(kind, ctype.Array) else kind)
        return room * size if room is not None and size is not None else None

    def _inside(self, place: Touched, state: State) -> bool:
        """Does an element, or what is no array, surely lie in its object? The line looks after itself."""
        room = self.room(place, state)
        text = isinstance(place.cell.obj, Literal) and self.is_below(place, state)
        return place.cell.obj in _ELSEWHERE or text or (room is not None and room > 0)

    def room(self, place: Touched, state: State) -> int | None:
        """Elements that surely are there from a place on, None: not known that it lies in its object."""
        kind = self._model.cell_type(place.cell)
        if not isinstance(kind, ctype.Array):
            return None if kind is None or place.part else 1
        low, high = (place.elem, place.elem) if place.elem is not None else (None, None)
        if low is None and place.by is not None:
            low, high = self.range(place.by, state)
        if kind.length is None or low is None or high is None or low < 0:
            return None
        return kind.length - high

    # ------------------------------------------------------------------------------------- reading

    def read(
        self, places: list[Touched], state: State, span: Span, how: Access = "value", nbytes: int | None = None, *,
        site: Site,
    ) -> None:
        self._walk.findings.touched.setdefault(site, set()).update(place.cell.obj for place in places)
        if not places:  # the pointer was made of a number, or of nothing
            self._walk.findings.problem("HD225", "it reads through a pointer that cannot be followed", span)
        for place in places:
            obj = place.cell.obj
            if obj == UNKNOWN:
                self._walk.findings.problem("HD225", "it reads through a pointer that cannot be followed", span)
            if obj == RECORD and not self._in_line(place, state, how):
                self._walk.findings.unproven.setdefault(site, set()).add(obj)
            elif obj == RECORD and how == "string":
                self._walk.findings.line_texts.add(site)
            if not self._model.followed(obj):
                continue
            level = self._level(place, state, how, nbytes)
            certain = level == "proven" and (not self._walk.recursing or self._model.by_name_alone(obj))
            if not certain and not isinstance(obj, Hidden):
                self._walk.findings.unproven.setdefault(site, set()).add(obj)
            if self._model.outer(obj):
                self._note_read(obj, level, span)

    def _note_read(self, obj: Object, level: Level, span: Span) -> None:
        facts = self._walk.findings.of(obj)
        facts.read = facts.read or span
        if level == "exposed" and (facts.exposed is None or (self._walk.in_loop and not facts.exposed_in_loop)):
            facts.exposed, facts.exposed_in_loop = span, self._walk.in_loop
        if level == "assumed":
            facts.assumed = facts.assumed or span

    def _in_line(self, place: Touched, state: State, how: Access) -> bool:
        """Does an access surely lie in the line that was read? The shortest has a newline and a NUL."""
        if how == "bytes" or self._walk.recursing:
            return False
        if how == "string" and not self._walk.line_ends:
            return False
        known = place.elem is not None and 0 <= place.elem < _SHORTEST
        return known or self.is_below(place, state) or (place.tokens and how == "string")

    def is_below(self, place: Touched, state: State) -> bool:
        """Is an element that goes by a variable known to be among those that are written?"""
        if place.by is None or place.cell.path:
            return False
        known, by = state.known, place.by
        return known.below.get((place.cell.obj, by.cell), -1) > by.plus and known.lower.get(by.cell, -1) + by.plus >= 0

    def learn(self, places: list[Touched], state: State) -> State:
        """An element of the line (or of what is one piece) was read: it is there, or the lane has ended."""
        if len(places) != 1 or places[0].by is None or not self.closed(places[0].cell, state):
            return state
        by = places[0].by
        known = state.known.written(places[0].cell.obj, by.cell, by.plus + 1).at_least(by.cell, -by.plus)
        return replace(state, known=known)

    def closed(self, cell: Cell, state: State) -> bool:
        """Is what is written of an object one piece that begins at its start and ends in a NUL?"""
        if cell == RECORD.cell:
            return self._walk.line_ends
        mark = state.mark(cell)
        return isinstance(cell.obj, Literal) or (mark is not None and mark.closed)

    def prefix(self, obj: Object, state: State) -> int:
        """Elements that are known to be written from the start of an array, or of the line."""
        if obj == RECORD:
            return _SHORTEST
        if isinstance(obj, Literal):
            return obj.data.find(b"\0") + 1 or len(obj.data) + 1
        mark, kind = state.marks.get(obj.cell), self._model.object_type(obj)
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
            new = new.at_least(cell, value).at_most(cell, value)
            for obj in self._model.indexed.get(cell, ()):
                new = new.written(obj, cell, self.prefix(obj, state) - value)
        elif isinstance(value, Bound):
            new = new.at_least(cell, 0).written(value.obj, cell, value.more)
        elif isinstance(value, Range):
            new = new.at_least(cell, value.low)
            new = new.at_most(cell, value.high) if value.high is not None else new
        elif isinstance(value, Addr) and not value.cell.path:
            if value.offset is not None:
                new = new.at_least(cell, value.offset).at_most(cell, value.offset).written(
                    value.cell.obj, cell, self.prefix(value.cell.obj, state) - value.offset)
            if value.more > 0:
                new = new.at_least(cell, 0).written(value.cell.obj, cell, value.more)
        return state if new is known else replace(state, known=new)

    def natural(self, value: Value, state: State) -> bool:
        """Is a number surely not negative?"""
        low = self.range(value, state)[0]
        return low is not None and low >= 0

    def range(self, value: Value, state: State) -> tuple[int | None, int | None]:
        """The least and the greatest number that a value can be, None: not known (or of memory's size)."""
        if isinstance(value, int):
            return value, value
        if isinstance(value, Range):
            return value.low, value.high
        if isinstance(value, Same):
            return self._variable_range(value, state)
        return (0, None) if isinstance(value, Bound) else (None, None)

    def _variable_range(self, value: Same, state: State) -> tuple[int | None, int | None]:
        kind, known = self._model.cell_type(value.cell), state.known
        low, high = known.lower.get(value.cell), known.upper.get(value.cell)
        if (narrow := ranges.narrow(kind)) is not None:
            low = narrow.low if low is None else max(low, narrow.low)
            high = narrow.high if high is None or narrow.high is None else min(high, narrow.high)
        return (None if low is None else low + value.plus), (None if high is None else high + value.plus)

    def _level(self, place: Touched, state: State, how: Access, nbytes: int | None) -> Level:
        kind = self._model.cell_type(place.cell)
        if isinstance(kind, ctype.Struct) and not place.part and not kind.union:
            return self._struct_level(place.cell, kind, state)
        mark = state.mark(place.cell)
        if how == "value" and self.is_below(place, state):
            return "proven"
        if mark is None:
            return "assumed" if self._may_be_written(place, kind, state, how) else "exposed"
        if mark.whole:
            return "proven"
        if how == "string":
            inside = mark.closed and (self.is_below(place, state) or place.tokens)
            return "proven" if (mark.string and place.elem == 0) or inside else "assumed"
        if how == "bytes":
            size = self._model.size(ctype.element(kind)) if kind is not None else None
            enough = nbytes is not None and size is not None and place.elem == 0 and mark.prefix * size >= nbytes
            return "proven" if enough else "assumed"
        return "proven" if place.elem is not None and place.elem < self._elements(mark) else "assumed"

    def _may_be_written(self, place: Touched, kind: ctype.CType | None, state: State, how: Access) -> bool:
        """An element of an array into which a loop of this record may have put something: `while (...) field[n++] = p;` and
        then `field[2]`. A loop that ran no round is all that speaks against it, and for that there is the guard."""
        return how == "value" and place.part and isinstance(kind, ctype.Array) and place.cell.obj in state.touched

    def _elements(self, mark: Mark) -> int:
        return max(mark.prefix, int(mark.string))

    def _struct_level(self, cell: Cell, kind: ctype.Struct, state: State) -> Level:
        """A struct that is read whole was written when it, or each of its members, was."""
        mark = state.marks.get(cell)
        covering = state.mark(cell)
        if covering is not None and covering.whole:
            return "proven"
        layout = self._model.program.layouts.table.get(kind.tag)
        if layout is None:
            return "exposed" if mark is None else "assumed"
        levels = {self._level(Touched(cell.member(f.name)), state, "value", None) for f in layout.fields}
        return "exposed" if "exposed" in levels else "assumed" if "assumed" in levels else "proven"

    # ------------------------------------------------------------------------------------- writing

    def note_write(self, obj: Object, span: Span) -> None:
        if obj == UNKNOWN:
            self._walk.findings.problem("HD225", "it writes through a pointer that cannot be followed", span)
        elif obj == EXTERNAL:
            self._walk.findings.problem("HD225", "it writes into memory of the environment or the library", span)
        elif self._model.outer(obj):
            facts = self._walk.findings.of(obj)
            if not self._walk.in_reader and facts.reader_only:
                facts.reader_only = False
                facts.write = span
            facts.write = facts.write or span

    def _note_writes(self, places: list[Touched], span: Span) -> None:
        for obj in [place.cell.obj for place in places] or [UNKNOWN]:
            self.note_write(obj, span)

    def write(self, places: list[Touched], state: State, value: Value, span: Span, *, zero: bool = False) -> State:
        """An assignment. `zero`: the value is 0, so that it ends strings rather than runs them together."""
        self._note_writes(places, span)
        for place in places:
            self._reach(place, 1)
            self._note_in_line(place, state, zero)
        state = state.touching(p.cell.obj for p in places)
        if len(places) != 1 or not self._model.single(places[0].cell.obj):
            state = state.forget(p.cell.obj for p in places)
            return self._weaken(state, places, ends=zero)
        place = places[0]
        if place.part:
            return self._write_part(state, place, zero)
        state = self._without_parts(state, place.cell)
        state = self.bind(state, place.cell, value)
        state = state.with_value(place.cell, value if self._model.tracked(place.cell) else ANY)
        return state.with_mark(place.cell, WHOLE) if self._model.followed(place.cell.obj) else state

    def _without_parts(self, state: State, cell: Cell) -> State:
        """A struct was written: what its members held is not known any more."""
        inner = [c for c in state.env if c != cell and cell.holds(c)]
        for other in inner:
            state = state.with_value(other, ANY)
        return state

    def _write_part(self, state: State, place: Touched, zero: bool) -> State:
        cell = place.cell
        if not isinstance(self._model.cell_type(cell), ctype.Array):
            state = state.forget([cell.obj])
        if not self._model.followed(cell.obj):
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

    def _written_by(self, place: Touched, state: State) -> tuple[State, bool]:
        """The state when an element that goes by a variable is written, and whether all elements before it are, too."""
        by, obj = place.by, place.cell.obj
        if by is None or place.cell.path or state.known.below.get((obj, by.cell), -2) < by.plus:
            return state, False
        known = state.known.written(obj, by.cell, by.plus + 1)
        return replace(state, known=known), known.lower.get(by.cell, -1) + by.plus >= 0

    def _stays_closed(self, place: Touched, state: State, old: Mark, zero: bool) -> bool:
        """A NUL may be put anywhere in what is written, another value not over its end."""
        more = 0 if zero else 1
        if place.elem is not None:
            return place.elem + more < old.prefix
        by = replace(place.by, plus=place.by.plus + more) if place.by is not None else None
        return self.is_below(replace(place, by=by), state) and self.is_below(place, state)

    def _full(self, cell: Cell, prefix: int) -> bool:
        kind = self._model.cell_type(cell)
        return isinstance(kind, ctype.Array) and kind.length is not None and 0 < kind.length <= prefix

    def _weaken(self, state: State, places: list[Touched], *, ends: bool) -> State:
        """Something that may be in these objects was overwritten, not surely within what is written: their strings may have
        lost their ends, unless what was put there `ends` them."""
        touched = {p.cell.obj for p in places}
        for cell, mark in list(state.marks.items()):
            if cell.obj in touched and (mark.string or mark.closed):
                state = state.with_mark(cell, replace(mark, string=mark.string and ends, closed=False))
        return state

    def _reach(self, place: Touched, elements: int | None) -> None:
        """`elements` elements are written there (None: some), of an array in which that place is known."""
        kind = self._model.cell_type(place.cell)
        size = self._model.size(kind.of) if isinstance(kind, ctype.Array) else None
        at = None if not place.part else place.elem if place.elem is not None or place.end is None else place.end - 1
        if place.cell.path or size is None or at is None or elements is None:
            self._walk.findings.reaches(place.cell.obj, None)
        else:
            self._walk.findings.reaches(place.cell.obj, (at + elements) * size)

    def _reach_bytes(self, place: Touched, nbytes: int | None) -> None:
        kind = self._model.cell_type(place.cell)
        size = self._model.size(kind.of) if isinstance(kind, ctype.Array) else None
        elements = -(-nbytes // size) if size and nbytes is not None else None
        self._reach(place if place.part else replace(place, part=True, elem=0), elements)

    def _note_in_line(self, place: Touched, state: State, zero: bool) -> None:
        """A byte other than NUL in the line may be put where the line ends."""
        if place.cell.obj == RECORD and not zero:
            next_one = replace(place, by=replace(place.by, plus=place.by.plus + 1)) if place.by is not None else place
            if place.elem != 0 and not self.is_below(next_one, state):
                self._walk.findings.line_ends = False

    def write_string(self, places: list[Touched], state: State, span: Span) -> State:
        """A NUL-terminated string from each place on."""
        self._note_writes(places, span)
        for place in places:
            self._reach(place, None)
        state = state.forget(p.cell.obj for p in places if not isinstance(self._model.cell_type(p.cell), ctype.Array))
        fresh = not any(p.cell.obj in state.touched for p in places)
        state = state.touching(p.cell.obj for p in places)
        if len(places) != 1 or not self._model.single(places[0].cell.obj) or not self._model.followed(places[0].cell.obj):
            return self._weaken(state, places, ends=True)
        cell, starts = places[0].cell, places[0].elem == 0
        old = state.mark(cell) or Mark(closed=fresh)
        if old.whole:
            return state
        return state.with_mark(cell, Mark(old.prefix, old.string or starts, closed=old.closed and starts))

    def write_bytes(
        self, places: list[Touched], state: State, nbytes: int | None, span: Span, *, zero: bool = False,
        tokens: bool = False,
    ) -> State:
        """`nbytes` bytes from each place on (None: some number, perhaps 0). `tokens`: NULs in a string that is there."""
        self._note_writes(places, span)
        for place in places:
            self._reach_bytes(place, nbytes)
            self._note_in_line(place, state, zero)
        state = state.forget(p.cell.obj for p in places if not isinstance(self._model.cell_type(p.cell), ctype.Array))
        if tokens:
            return state
        state = self._weaken(state.touching(p.cell.obj for p in places), places, ends=zero)
        if len(places) != 1 or not self._model.single(places[0].cell.obj) or not self._model.followed(places[0].cell.obj):
            return state
        cell, elem = places[0].cell, places[0].elem if places[0].part else 0
        return state.with_mark(cell, self._bytes_mark(cell, state.mark(cell), elem, nbytes, zero))

    def _bytes_mark(self, cell: Cell, old: Mark | None, elem: int | None, nbytes: int | None, zero: bool) -> Mark:
        old = old or Mark()
        kind = self._model.cell_type(cell)
        total = self._model.size(kind)
        if old.whole or (nbytes is not None and total and elem == 0 and nbytes >= total):
            return WHOLE
        size = self._model.size(kind.of) if isinstance(kind, ctype.Array) else None
        if nbytes is None or size is None or elem is None or elem > old.prefix:
            return replace(old, closed=False)
        prefix = max(old.prefix, elem + nbytes // size)
        string = old.string or (zero and nbytes >= size)
        return WHOLE if self._full(cell, prefix) else Mark(prefix, string)
