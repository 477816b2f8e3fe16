"""What is known of the order of numbers at one point of a path: of variables, and of what is written below them.

A number is an integer variable's value or, of a pointer, the number of the element that it points to. Facts are values:
every change gives new ones. Joining keeps what both have, so that loops come to an end.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import field, replace

from ...values import dataclass
from .objects import Cell, Object

_LEAST = -1  # of what is known to be written below a variable: further back it is of no use
_GREATEST = 1 << 31  # of what a variable is known to be at most: no array of a record's own is larger
_MOST = 1000  # pairs of variables: copies of copies, as down a chain of calls, would be all pairs; knowing less is right


@dataclass(frozen=True)
class Known:
    """below  (object, variable) -> n: elements [0, variable + n) of the object are written; of the line: lie in it.
    lower  variable -> n: it is n at least, 0 or more.
    upper  variable -> n: it is n at most.
    order  (a, b): a is not less than b.
    """

    below: Mapping[tuple[Object, Cell], int] = field(default_factory=dict)
    lower: Mapping[Cell, int] = field(default_factory=dict)
    order: frozenset[tuple[Cell, Cell]] = frozenset()
    upper: Mapping[Cell, int] = field(default_factory=dict)

    def cells(self) -> Iterator[Cell]:
        yield from (cell for _, cell in self.below)
        yield from self.lower
        yield from self.upper
        yield from (cell for pair in self.order for cell in pair)

    def meet(self, other: Known) -> Known:
        if self == other:
            return self
        below = {k: min(n, other.below[k]) for k, n in self.below.items() if k in other.below}
        lower = {c: min(n, other.lower[c]) for c, n in self.lower.items() if c in other.lower}
        upper = {c: max(n, other.upper[c]) for c, n in self.upper.items() if c in other.upper}
        return Known(below, lower, self.order & other.order, upper)

    def kept_of(self, before: Known, steps: Collection[int]) -> Known:
        """What is not less than it was. A greatest number that has grown becomes the next of `steps`, if there is one."""
        below = {k: n for k, n in self.below.items() if before.below.get(k, n) <= n}
        lower = {c: n for c, n in self.lower.items() if before.lower.get(c, n) <= n}
        upper = {}
        for cell, number in self.upper.items():
            if before.upper.get(cell, number) < number:
                number = min((n for n in steps if n >= number), default=_GREATEST)
            if number < _GREATEST:
                upper[cell] = number
        return Known(below, lower, self.order, upper)

    def without(self, gone: Callable[[Object], bool]) -> Known:
        """These variables are not what they were."""
        below = {(o, c): n for (o, c), n in self.below.items() if not gone(c.obj)}
        lower = {c: n for c, n in self.lower.items() if not gone(c.obj)}
        upper = {c: n for c, n in self.upper.items() if not gone(c.obj)}
        order = frozenset(p for p in self.order if not gone(p[0].obj) and not gone(p[1].obj))
        return Known(below, lower, order, upper)

    def unwritten(self, obj: Object) -> Known:
        """Nothing of the object is written any more."""
        below = {k: n for k, n in self.below.items() if k[0] != obj}
        return replace(self, below=below) if len(below) != len(self.below) else self

    def forget(self, cell: Cell) -> Known:
        """The variable has a new value."""
        if cell not in self.cells():
            return self
        below = {k: n for k, n in self.below.items() if k[1] != cell}
        lower = {c: n for c, n in self.lower.items() if c != cell}
        upper = {c: n for c, n in self.upper.items() if c != cell}
        return Known(below, lower, frozenset(p for p in self.order if cell not in p), upper)

    def written(self, obj: Object, cell: Cell, more: int) -> Known:
        """Elements [0, cell + more) of the object are written, besides what was known."""
        old = self.below.get((obj, cell))
        if more < _LEAST or (old is not None and old >= more):
            return self
        return replace(self, below={**self.below, (obj, cell): more})

    def at_least(self, cell: Cell, number: int) -> Known:
        old = self.lower.get(cell)
        if number < 0 or (old is not None and old >= number):
            return self
        return replace(self, lower={**self.lower, cell: number})

    def at_most(self, cell: Cell, number: int) -> Known:
        old = self.upper.get(cell)
        if number > _GREATEST or (old is not None and old <= number):
            return self
        return replace(self, upper={**self.upper, cell: number})

    def moved(self, cell: Cell, source: Cell, plus: int) -> Known:
        """The variable is now what `source` (perhaps the variable itself) was, plus a constant."""
        new = self.forget(cell)
        for (obj, by), more in self.below.items():
            if by == source:
                new = new.written(obj, cell, more - plus)
        if source in self.lower:
            new = new.at_least(cell, self.lower[source] + plus)
        if source in self.upper:
            new = new.at_most(cell, self.upper[source] + plus)
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
        return replace(new, order=frozenset(order))

    def not_above(self, low: Cell, high: Cell, plus: int) -> Known:
        """A test has shown that low <= high + plus."""
        new = self
        for (obj, by), more in self.below.items():
            if by == high:
                new = new.written(obj, low, more - plus)
        if low in self.lower:
            new = new.at_least(high, self.lower[low] - plus)
        if high in self.upper:
            new = new.at_most(low, self.upper[high] + plus)
        return replace(new, order=new.order | {(high, low)}) if plus <= 0 and low != high else new


NOTHING = Known()
