"""What a reducer is: a key loop that may print anything, found without a directive, in the loop that reads its pairs.

Which variable holds the key is tried out: it is one only where every situation is understood (`situations`). A loop that
folds integers (`Reducer.fold`) gives the same for a key's pairs in any order, each other one in the order of the reference.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ... import manifest
from ...source import Span
from ...values import dataclass
from ..analysis.objects import variable
from ..ir import ir
from ..ir import walk as ir_walk
from ..types import ctype
from ..types.ctype import CType, Float, Int
from . import algebra, fold, loop
from .fields import by_fields
from .loop_text import loop_text
from .situations import Situations
from .state import VALUES, Jump, NoKeyLoop

_MOST_KEYS = 24  # variables that are tried


@dataclass(frozen=True)
class Reducer:
    """key: the variable that holds it, by its name. operations: of `loop.state`, in its order; None: not in any order.

    places      of `loop.state`: which number of a value its operation is of, as it is read; -1: of something else.
    separators  what may stand between two numbers of a value; `loop` and `pairs` have one of each.
    """

    loop: loop.KeyLoop
    pairs: manifest.PairReader
    key: str
    operations: tuple[manifest.FoldOp | None, ...]
    places: tuple[int, ...]
    separators: tuple[tuple[bytes, ...], ...] = ()

    @property
    def folds(self) -> bool:
        return None not in self.operations

    def reading(self, printed: Sequence[bytes]) -> Reducer:
        """It where its values have that between their numbers, as far as it takes it as well as what it was found with."""
        if len(printed) != len(self.separators):
            return self
        old = self.loop.reads.between
        between = tuple(a if a in may else b for a, b, may in zip(printed, old, self.separators, strict=True))
        reads = replace(self.loop.reads, between=between)
        texts = tuple(text.decode("latin-1") for text in between) if self.pairs.value else ()
        return replace(self, loop=replace(self.loop, reads=reads), pairs=replace(self.pairs, between=texts))


@dataclass(frozen=True)
class NoLoop:
    """Why a reducer is none, and the statement that it is for, where there is one."""

    why: str
    span: Span | None = None


def recognise(program: ir.Program) -> Reducer | NoLoop:
    """Run a reducer's region on symbols, once for each variable that may hold the key; the first that does is taken."""
    if not isinstance(program.region, ir.CombineRegion):
        return NoLoop("no loop that reads its pairs was found in main()")
    apart = by_fields(program)
    failed: list[tuple[int, NoLoop]] = []
    for name in _keys(apart):
        known, found = _with_key(apart, name)
        if isinstance(found, Reducer):
            return found
        failed.append((known, found))
    return max(failed, key=lambda one: one[0], default=(0, NoLoop("it keeps no key from pair to pair")))[1]


def text(found: Reducer | NoLoop) -> str:
    """For `--emit`."""
    if isinstance(found, NoLoop):
        return f"why    {found.why}\n"
    kind = ", ".join(op or "ordered" for op in found.operations)
    return f"key    {found.key}\npairs  {found.pairs}\nkeeps  {kind}\n{loop_text(found.loop)}"


def _keys(program: ir.Program) -> Iterator[str]:
    """Variables that may hold the key between pairs: of the function's own and global ones those that its loop names."""
    region = program.region
    used = ir_walk.names(region.body)
    for name in sorted(region_calls(program)):
        used |= ir_walk.names(program.by_name[name].body)
    found = [s.name for s in (*program.enclosing.locals, *program.globals) if s.name in used and _may_be_key(s.type)]
    record_loop = ir.record_loop(region)
    read = ir_walk.names(record_loop.cond) if record_loop is not None else set()
    found.sort(key=lambda name: (name != region.key, name in read))  # what a directive says first, what is read last
    yield from found[:_MOST_KEYS]


def region_calls(program: ir.Program) -> set[str]:
    """Functions of the program that are named in the region, or by one that is."""
    found: set[str] = set()
    todo = [program.region.body]
    while todo:
        body = todo.pop()
        for name in ir_walk.names(body) & set(program.by_name) - found:
            found.add(name)
            todo.append(program.by_name[name].body)
    return found


def _may_be_key(kind: CType) -> bool:
    return (isinstance(kind, ctype.Array) and kind.of == ctype.CHAR) or (isinstance(kind, Int) and kind.bits >= 32)


def _with_key(program: ir.Program, name: str) -> tuple[int, Reducer | NoLoop]:
    """How many situations were understood, and what came of it."""
    region = program.region
    assert isinstance(region, ir.CombineRegion)
    situations = None
    try:
        situations = Situations(replace(program, region=replace(region, key=name)), reducer=True)
        found = situations.key_loop()
    except NoKeyLoop as refused:
        known = situations.known if situations is not None else 0
        return known, NoLoop(fold.reason(refused), fold.place(refused))
    except Jump:
        return 1, NoLoop(fold.LEFT)
    except RecursionError:
        return 4, NoLoop(fold.DEEP)
    if found.reader.guarded:
        return 4, NoLoop(fold.ENDS, found.reader.guarded_at)
    pairs = fold.pair_reader(found.reader, found.loop.reads)
    shown = variable(program, region.function, name).shown
    operations = tuple(_operation(found.loop, at) for at in range(len(found.loop.state)))
    places = tuple(_place(found.loop, at) for at in range(len(found.loop.state)))
    return 4, Reducer(found.loop, pairs, shown, operations, places, found.reader.choices())


def _place(whole: loop.KeyLoop, at: int) -> int:
    """Which number of a pair's value the first pair makes of the state, kept as what it is read as."""
    for number, field in enumerate(whole.reads.fields):
        same = isinstance(field, loop.ValueField) and algebra.same_kind(field.type, whole.state[at].type)
        if same and whole.first[at] == loop.PairField(number, field.type):
            return number
    return -1


def _operation(whole: loop.KeyLoop, at: int) -> manifest.FoldOp | None:
    """What a number that is kept is of one that each pair gives, where that is the same in any order."""
    state, first, same = whole.state[at], whole.first[at], whole.same[at]
    kept = loop.KeptValue(at, state.type)
    if isinstance(state.type, Float) or state.type not in VALUES or algebra.kept(first):
        return None
    if first == loop.Number(1, state.type) and same == loop.Operation("+", (kept, first), state.type):
        return "count"
    return fold.reduction(same, kept, first)
