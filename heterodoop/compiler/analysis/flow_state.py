"""The state of the use analysis at one point of a path: what was surely written, and known values of scalars.

A `Cell` is an object and a path of members in it; an element of an array belongs to the array's cell. States are
values: every change gives a new one. Joining keeps what both have; see `flow` for how many are kept apart.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import field, replace

from ...values import dataclass
from ..types.ranges import Range
from .flow_order import NOTHING, Known
from .objects import Cell, Object

LIMIT = 12  # states that are kept apart at one point


@dataclass(frozen=True)
class Same:
    """What the integer variable of that cell holds, plus a constant. `nonzero`: the variable is not zero."""

    cell: Cell
    plus: int = 0
    nonzero: bool = False


@dataclass(frozen=True)
class Bound:
    """A number that is not negative, of which is known that elements [0, it + more) of the object are written."""

    obj: Object
    more: int
    nonzero: bool = False


@dataclass(frozen=True)
class Addr:
    """A pointer into a cell: to element `offset` of an array (None: some element). `null`: it may be NULL.

    by    the element's number is that of another pointer into the object, or an integer's, plus a constant.
    more  elements up to here, and so many from here on, are written (0: nothing is known).
    """

    cell: Cell
    offset: int | None = 0
    null: bool = False
    by: Same | None = None
    more: int = 0


@dataclass(frozen=True)
class Special:
    """A value of which only this is known."""

    name: str


ANY = Special("any")
NONZERO = Special("nonzero")
NATURAL = Range(0)  # not negative
Value = int | Addr | Special | Same | Bound | Range


def truth(value: Value) -> bool | None:
    """Is it nonzero? None: either."""
    if isinstance(value, int):
        return value != 0
    if isinstance(value, Addr):
        return None if value.null else True
    if isinstance(value, Same):
        return True if value.nonzero and value.plus == 0 else None
    if isinstance(value, Range):
        return True if value.low > 0 or (value.high is not None and value.high < 0) else None
    return True if value == NONZERO or (isinstance(value, Bound) and value.nonzero) else None


def stored(value: Value) -> Value:
    """As much of a value as an environment keeps: the rest is in `Known`."""
    if isinstance(value, Addr):
        return Addr(value.cell, value.offset, value.null)
    if isinstance(value, (Same, Bound, Range)):
        return NONZERO if truth(value) else ANY
    return value


@dataclass(frozen=True)
class Mark:
    """What of a cell was written in this record, on every path that leads here.

    prefix   elements [0, prefix) of an array are.       whole  all of it is.
    string   the bytes up to some NUL are.               The mark itself: something of it is.
    closed   what is written of it is one piece from its start on, and ends in a NUL.
    """

    prefix: int = 0
    string: bool = False
    whole: bool = False
    closed: bool = False

    def meet(self, other: Mark) -> Mark:
        if self.whole or other.whole:
            if self.whole and other.whole:
                return Mark(whole=True)
            part = other if self.whole else self
            return part
        closed = self.closed and other.closed
        return Mark(min(self.prefix, other.prefix), self.string and other.string, closed=closed)


WHOLE = Mark(whole=True)


@dataclass(frozen=True)
class State:
    """known    what is known of variables' numbers, and of what lies below them (`flow_order`).
    touched  objects of which something may have been written, on some path.
    """

    env: dict[Cell, Value] = field(default_factory=dict)
    marks: dict[Cell, Mark] = field(default_factory=dict)
    known: Known = NOTHING
    touched: frozenset[Object] = frozenset()

    def touching(self, objects: Iterable[Object]) -> State:
        touched = self.touched | set(objects)
        return self if touched == self.touched else replace(self, touched=touched)

    def value(self, cell: Cell) -> Value:
        return self.env.get(cell, ANY)

    def with_value(self, cell: Cell, value: Value) -> State:
        """The cell's value; what is known of its number is kept apart."""
        value = stored(value)
        if value == ANY:
            if cell not in self.env:
                return self
            return replace(self, env={c: v for c, v in self.env.items() if c != cell})
        return replace(self, env={**self.env, cell: value})

    def with_mark(self, cell: Cell, mark: Mark) -> State:
        if self.marks.get(cell) == mark:
            return self
        return replace(self, marks={**self.marks, cell: mark})

    def forget(self, objects: Iterable[Object]) -> State:
        """Values of these objects are not known any more."""
        gone = set(objects)
        if not any(c.obj in gone for c in (*self.env, *self.known.cells())):
            return self
        env = {c: v for c, v in self.env.items() if c.obj not in gone}
        return replace(self, env=env, known=self.known.without(lambda obj: obj in gone))

    def without(self, obj: Object) -> State:
        """The object is new: nothing is known of it, and nothing is written."""
        state = self.forget([obj])
        marks = {c: m for c, m in state.marks.items() if c.obj != obj}
        return replace(state, marks=marks, known=state.known.unwritten(obj), touched=state.touched - {obj})

    def left(self, function: str) -> State:
        """A function was left: its variables are gone."""
        if not any(c.obj.within(function) for c in (*self.env, *self.marks, *self.known.cells())):
            return self
        env = {c: v for c, v in self.env.items() if not c.obj.within(function)}
        marks = {c: m for c, m in self.marks.items() if not c.obj.within(function)}
        return State(env, marks, self.known.without(lambda obj: obj.within(function)), self.touched)

    def mark(self, cell: Cell) -> Mark | None:
        """The cell's mark; a whole enclosing struct covers its members, whole members make no whole struct."""
        for length in range(len(cell.path)):
            found = self.marks.get(Cell(cell.obj, cell.path[:length]))
            if found is not None and found.whole:
                return found
        return self.marks.get(cell)


def join(a: State, b: State) -> State:
    """What holds on both paths."""
    env = a.env if a.env == b.env else {c: v for c, v in a.env.items() if b.env.get(c, ANY) == v}
    covered = {c: m for c in {*a.marks, *b.marks} if (m := _meet_at(a, b, c)) is not None}
    return State(env, covered, a.known.meet(b.known), a.touched | b.touched)


def _meet_at(a: State, b: State, cell: Cell) -> Mark | None:
    left, right = a.mark(cell), b.mark(cell)
    if left is right:
        return left
    return left.meet(right) if left is not None and right is not None else None


def merge(states: list[State], limit: int) -> list[State]:
    """States with equal values become one; while there are more than `limit`, the most varied variable is forgotten."""
    by_env: dict[frozenset[tuple[Cell, Value]], State] = {}
    for state in states:
        key = frozenset(state.env.items())
        old = by_env.get(key)
        by_env[key] = state if old is None else join(old, state)
    merged = list(by_env.values())
    if len(merged) <= limit:
        return merged
    widest = max({c for s in merged for c in s.env}, key=lambda c: (len({s.value(c) for s in merged}), c))
    return merge([s.with_value(widest, ANY) for s in merged], limit)


def by_value(outcomes: list[tuple[Value, State]]) -> list[tuple[Value, State]]:
    """Outcomes of an expression: those of one value merged, few values kept apart."""
    groups: dict[Value, list[State]] = {}
    for value, state in outcomes:
        groups.setdefault(value, []).append(state)
    if len(groups) > LIMIT // 2:
        groups = {ANY: [s for states in groups.values() for s in states]}
    return [(value, s) for value, states in groups.items() for s in merge(states, LIMIT // 2)]


def joined(states: list[State]) -> State:
    """One state for all of them."""
    return merge(states, 1)[0] if states else State()


def widened(old: list[State], new: list[State], steps: Collection[int] = ()) -> list[State]:
    """The states before a loop's next round, without what the last one has made less of: else it might go on for long.
    steps: numbers that a greatest number may grow to."""
    before = {frozenset(s.env.items()): s.known for s in old}
    return [replace(s, known=s.known.kept_of(before.get(frozenset(s.env.items()), s.known), steps)) for s in new]


def same(a: list[State], b: list[State]) -> bool:
    """Equal as sets."""
    return len(a) == len(b) and all(s in b for s in a)
