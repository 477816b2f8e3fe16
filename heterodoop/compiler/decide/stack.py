"""What a thread needs of its own: its variables, and the frames of all calls that it may be in at one time (HD245).

Frames are counted as the sources show them, generously. Not here: where outer variables live (`placement`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from ...manifest import Reason
from ...source import Span
from ..analysis.uses import UseTable
from ..ir import ir
from ..ir import walk as ir_walk
from ..ir.call_graph import CallGraph
from ..types import ctype
from .arena import arena_bytes, room_bytes
from .decisions import Place

MAX_DEPTH = 64  # calls of one recursive function that the stack must hold
MOST_BYTES = 256 * 1024  # of 512 KB local memory that a thread may have
_CALL_BYTES = 128  # saved registers and return address of a call, generously


def stack_bytes(program: ir.Program, calls: CallGraph) -> int:
    """Stack per thread for recursive helpers, MAX_DEPTH calls deep; 0 where nothing calls itself.

    The CUDA compiler counts the frames of all other calls itself.
    """
    return sum(_bytes(_frame(program, f, MAX_DEPTH)) for f in calls.helpers if f.name in calls.recursive)


def stack_refusals(program: ir.Program, calls: CallGraph, places: Iterable[Place], table: UseTable) -> tuple[Reason, ...]:
    """Why a thread's own memory does not suffice, at the declaration of what takes most of it; empty where it does."""
    parts = [*_outer(places, table), *_inside(program, program.region.body, program.enclosing)]
    arena = room_bytes(arena_bytes(program, table.points_to))
    parts += [_Part(arena, "what its record allocates", program.region.span)] if arena else []
    parts += _Chains(program, calls).costliest(f.name for f in calls.helpers).parts()
    total = sum(part.nbytes for part in parts)
    if total <= MOST_BYTES:
        return ()
    largest = max(parts, key=lambda part: part.nbytes)
    text = f"each thread would need {total} bytes of its own, {largest.nbytes} of them for {largest.what}"
    return (Reason("HD245", f"{text}; {MOST_BYTES} are possible", largest.place),)


@dataclass(frozen=True)
class _Part:
    """Something that takes room, and its place in the source."""

    nbytes: int
    what: str
    place: Span


def _outer(places: Iterable[Place], table: UseTable) -> Iterator[_Part]:
    for place in places:
        use = table.get(place.name)
        if use is not None and place.space in ("private", "lane"):
            yield _Part(place.nbytes, f"'{_shown(place.name)}'", use.place)


def _inside(program: ir.Program, body: ir.Block, function: ir.Function) -> Iterator[_Part]:
    """What a body makes on its stack: variables, compound literals, what calls return."""
    for node in ir_walk.walk(body):
        if isinstance(node, ir.Decl) and (symbol := function.symbol(node.name)) is not None:
            yield _Part(program.layouts.size(symbol.type) or 8, f"'{_shown(symbol.name)}'", symbol.span)
        elif isinstance(node, ir.Compound):
            yield _Part(program.layouts.size(node.type) or 8, f"a literal of type '{node.type}'", node.span)
        elif isinstance(node, ir.Call):
            nbytes = program.layouts.size(node.type) if isinstance(node.type, ctype.Struct) else None
            yield _Part(nbytes or 8, f"what {ir.called(node)}() returns", node.span)


def _frame(program: ir.Program, function: ir.Function, depth: int) -> list[_Part]:
    """What so many calls of a function within each other take."""
    params = [_Part(program.layouts.size(s.type) or 8, f"'{_shown(s.name)}'", s.span) for s in function.params]
    parts = [*params, *_inside(program, function.body, function), _Part(_CALL_BYTES, "calls", function.span)]
    times = f"{depth} calls of " if depth > 1 else ""
    return [replace(p, nbytes=p.nbytes * depth, what=f"{p.what} in {times}{function.name}()") for p in parts]


def _bytes(parts: Iterable[_Part]) -> int:
    return -(-sum(part.nbytes for part in parts) // 16) * 16


@dataclass(frozen=True)
class _Chain:
    """Frames of calls within each other."""

    nbytes: int = 0
    frames: tuple[_Part, ...] = ()
    below: _Chain | None = None

    def parts(self) -> list[_Part]:
        found: list[_Part] = []
        chain: _Chain | None = self
        while chain is not None:
            found += chain.frames
            chain = chain.below
        return found


class _Chains:
    """The costliest calls within each other. Functions that call each other count MAX_DEPTH times, all of them."""

    def __init__(self, program: ir.Program, calls: CallGraph) -> None:
        self._program, self._calls = program, calls
        self._known: dict[str, _Chain] = {}

    def costliest(self, names: Iterable[str]) -> _Chain:
        return max((self._of(name) for name in names), key=lambda chain: chain.nbytes, default=_Chain())

    def _of(self, name: str) -> _Chain:
        if name not in self._known:
            ring = self._ring(name)
            depth = MAX_DEPTH if name in self._calls.recursive else 1
            frames = tuple(part for one in ring for part in _frame(self._program, self._program.by_name[one], depth))
            below = self.costliest(sorted(self._calls.below(name).difference(ring)))
            self._known[name] = _Chain(_bytes(frames) + below.nbytes, frames, below)
        return self._known[name]

    def _ring(self, name: str) -> list[str]:
        """The function, and those that call it and are called by it."""
        others = self._calls.below(name) if name in self._calls.recursive else ()
        return sorted({name, *(other for other in others if name in self._calls.below(other))})


def _shown(name: str) -> str:
    return name.split("$")[0]
