"""What a call of an own function was found to do, for calls of it that find all of the same.

A loop in loops calls a function again and again with what it knows already. A function finds what it can see: the caller's
variables that no pointer leads to are put aside before it, and are as they were behind it. So two calls are the same
whatever those hold. What a call adds to the findings is in them from the first time. Functions that may call themselves
depend on the calls around them, and are no matter of this (decision 0064).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache

from ...values import dataclass
from ..ir import ir
from ..ir import walk as ir_walk
from .flow_findings import Outcomes, Walk
from .flow_objects import ObjectModel
from .flow_order import Known
from .flow_state import Addr, Same, State, Value
from .objects import Cell, Global, Local, Object


@dataclass(frozen=True)
class Call:
    """The state of a call without what it cannot see, `kept`; `key`: equal where the outcomes are."""

    key: object
    state: State
    kept: State

    def outcomes(self, found: Outcomes) -> Outcomes:
        """The outcomes with what was put aside."""
        return [(value, _together(state, self.kept)) for value, state in found]


class Memo:
    """`found`: the outcomes of calls, by their keys."""

    def __init__(self, model: ObjectModel, walk: Walk) -> None:
        self._model, self._walk = model, walk
        self.found: dict[object, Outcomes] = {}
        self._hidden, self._bodies = cache(self._hidden_of), cache(self._bodies_of)

    def call(self, function: ir.Function, args: list[Value], state: State) -> Call | None:
        """None: of a function that may call itself."""
        if function.name in self._model.calls.recursive:
            return None
        functions, _ = self._bodies(function.name)
        state = replace(state, touched=frozenset(  # variables of a call before are gone
            obj for obj in state.touched if not isinstance(obj, Local) or obj.function not in functions))
        inner, kept = self._apart(function.name, args, state)
        walk = self._walk
        key = (function.name, tuple(args), _items(inner), walk.in_loop, walk.reading, walk.in_reader, walk.recursing)
        return Call(key, inner, kept)

    def _bodies_of(self, function: str) -> tuple[frozenset[str], frozenset[str]]:
        """A function and all that it may call, and every name in their bodies."""
        functions = frozenset({function, *self._model.calls.below(function)})
        by_name = self._model.program.by_name
        return functions, frozenset().union(*(ir_walk.names(by_name[name].body) for name in functions))

    def _hidden_of(self, function: str, obj: Object) -> bool:
        """Is it a variable that neither this function nor what it calls can see?"""
        functions, names = self._bodies(function)
        if isinstance(obj, Global):
            return obj.name not in names and self._model.unaddressed(obj)
        return isinstance(obj, Local) and obj.function not in functions and self._model.unaddressed(obj)

    def _apart(self, function: str, args: list[Value], state: State) -> tuple[State, State]:
        """(what a call sees, the rest). What stands in order with something that it sees is seen."""
        cells = {*state.env, *state.marks, *state.known.cells()}
        hidden = {cell for cell in cells if self._hidden(function, cell.obj)}
        known = state.known
        seen = {cell for value in args for cell in _mentioned(value)}
        seen |= {cell for obj, cell in known.below if cell in hidden and not obj.lasting}
        pending = [cell for pair in known.order for cell in pair if cell not in hidden or cell in seen]
        while pending:
            cell = pending.pop()
            near = {b if a == cell else a for a, b in known.order if cell in (a, b)}
            pending += [other for other in near if other in hidden and other not in seen]
            seen |= near
        aside = hidden - seen
        if not aside:
            return state, State()
        return _part(state, aside, inside=False), _part(state, aside, inside=True)


def _part(state: State, aside: set[Cell], *, inside: bool) -> State:
    """What a state says of the cells that are put aside, or of all others."""
    def here(cell: Cell) -> bool:
        return (cell in aside) == inside

    known, objects = state.known, {cell.obj for cell in aside}
    return State(
        {c: v for c, v in state.env.items() if here(c)}, {c: m for c, m in state.marks.items() if here(c)},
        Known({k: n for k, n in known.below.items() if here(k[1])}, {c: n for c, n in known.lower.items() if here(c)},
              frozenset(p for p in known.order if here(p[0])), {c: n for c, n in known.upper.items() if here(c)}),
        frozenset(obj for obj in state.touched if (obj in objects) == inside))


def _together(one: State, other: State) -> State:
    a, b = one.known, other.known
    known = Known({**a.below, **b.below}, {**a.lower, **b.lower}, a.order | b.order, {**a.upper, **b.upper})
    return replace(one, env={**one.env, **other.env}, marks={**one.marks, **other.marks}, known=known,
                   touched=one.touched | other.touched)


def _mentioned(value: Value) -> Iterable[Cell]:
    if isinstance(value, Same):
        return (value.cell,)
    return (value.cell, *([value.by.cell] if value.by is not None else [])) if isinstance(value, Addr) else ()


def _items(state: State) -> object:
    known = state.known
    return (frozenset(state.env.items()), frozenset(state.marks.items()), frozenset(known.below.items()),
            frozenset(known.lower.items()), known.order, frozenset(known.upper.items()), state.touched)
