"""What is known of the order of numbers at one point of a path: of variables, and of what is written below them.

A number is an integer variable's value or, of a pointer, the number of the element that it points to. Facts are values:
every change gives new ones. Joining keeps what both have, so that loops come to an end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field

from ...values import dataclass
from .objects import Cell, Object

_LEAST = -1  # of what is known to be written below a variable: further back it is of no use
_MOST = 1000  # pairs of variables: copies of copies, as down a chain of calls, would be all pairs; knowing less is right


@dataclass(frozen=True)
class Known:
    """below  (object, variable) -> n: elements [0, variable + n) of the object are written; of the line: lie in it.
    lower  variable -> n: it is n at least, 0 or more.
    order  (a, b): a is not less than b.
    """

    below: Mapping[tuple[Object, Cell], int] = field(default_factory=dict)
    lower: Mapping[Cell, int] = field(default_factory=dict)
    order: frozenset[tuple[Cell, Cell]] = frozenset()

    def cells(self) -> Iterator[Cell]:
        yield from (cell for _, cell in self.below)
        yield from self.lower
        yield from (cell for pair in self.order for cell in pair)

    def meet(self, other: Known) -> Known:
        if self == other:
            return self
        below = {k: min(n, other.below[k]) for k, n in self.below.items() if k in other.below}
        lower = {c: min(n, other.lower[c]) for c, n in self.lower.items() if c in other.lower}
        return Known(below, lower, self.order & other.order)

    def kept_of(self, before: Known) -> Known:
        """What is not less than it was."""
        below = {k: n for k, n in self.below.items() if before.below.get(k, n) <= n}
        lower = {c: n for c, n in self.lower.items() if before.lower.get(c, n) <= n}
        return Known(below, lower, self.order)

    def without(self, gone: Callable[[Object], bool]) -> Known:
        """These variables are not what they were."""
        below = {(o, c): n for (o, c), n in self.below.items() if not gone(c.obj)}
        lower = {c: n for c, n in self.lower.items() if not gone(c.obj)}
        return Known(below, lower, frozenset(p for p in self.order if not gone(p[0].obj) and not gone(p[1].obj)))

    def unwritten(self, obj: Object) -> Known:
        """Nothing of the object is written any more."""
        below = {k: n for k, n in self.below.items() if k[0] != obj}
        return Known(below, self.lower, self.order) if len(below) != len(self.below) else self

    def forget(self, cell: Cell) -> Known:
        """The variable has a new value."""
        if cell not in self.cells():
            return self
        below = {k: n for k, n in self.below.items() if k[1] != cell}
        lower = {c: n for c, n in self.lower.items() if c != cell}
        return Known(below, lower, frozenset(p for p in self.order if cell not in p))

    def written(self, obj: Object, cell: Cell, more: int) -> Known:
        """Elements [0, cell + more) of the object are written, besides what was known."""
        old = self.below.get((obj, cell))
        if more < _LEAST or (old is not None and old >= more):
            return self
        return Known({**self.below, (obj, cell): more}, self.lower, self.order)

    def at_least(self, cell: Cell, number: int) -> Known:
        old = self.lower.get(cell)
        if number < 0 or (old is not None and old >= number):
            return self
        return Known(self.below, {**self.lower, cell: number}, self.order)

    def moved(self, cell: Cell, source: Cell, plus: int) -> Known:
        """The variable is now what `source` (perhaps the variable itself) was, plus a constant."""
        new = self.forget(cell)
        for (obj, by), more in self.below.items():
            if by == source:
                new = new.written(obj, cell, more - plus)
        if source in self.lower:
            new = new.at_least(cell, self.lower[source] + plus)
        if len(new.order) >= _MOST:
            return new
        order = set(new.order)
        for a, b in self.order:
            if a == source and plus >= 0 and b != cell:
                order.add((cell, b))
            if b == source and plus <= 0 and a != cell:
                order.add((a, cell))
        if cell != source:
            order |= ({(cell, source)} if plus >= 0 else set()) | ({(source, cell)} if plus <= 0 else set())
        return Known(new.below, new.lower, frozenset(order))

    def not_above(self, low: Cell, high: Cell, plus: int) -> Known:
        """A test has shown that low <= high + plus."""
        new = self
        for (obj, by), more in self.below.items():
            if by == high:
                new = new.written(obj, low, more - plus)
        if low in self.lower:
            new = new.at_least(high, self.lower[low] - plus)
        return Known(new.below, new.lower, new.order | {(high, low)}) if plus <= 0 and low != high else new


NOTHING = Known()
