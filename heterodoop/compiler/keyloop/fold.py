"""Is a combiner a fold: one integer per key, reset when the key changes, sum, count, least or greatest?

Decided by running it on symbols in every situation it can be in: with nothing kept, with the same key again, with
another key, and at the end of the input with something kept and without. Each must do just what the fold does, to the
byte of the output form; what is not understood is no fold. `pair_reader` says how a combiner reads its pairs, fold or
not. Non-goals: floating point, several accumulators, keys that are compared but for case.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from ... import manifest
from ...values import dataclass
from ..analysis.objects import Object, variable
from ..ir import formats, ir
from ..ir import walk as ir_walk
from ..normalise.record_loop import reads, truth
from ..types import ctype
from ..types.ctype import CType, Int
from .fields import by_fields
from .reader import Reader
from .run import Run
from .start import start_state, zeroed_arrays
from .state import VALUES, Emitted, Printed, Refused, Situation, State, Stop
from .terms import ACC, KEPT, KEY, LENGTH, LINE, NEXT, ONE, SUM, VALUE, ZERO, Const, Term, Text

Op = Literal["sum", "count", "min", "max"]
_SPECS: dict[Int, frozenset[str]] = {
    ctype.INT: frozenset({"%d", "%i"}), ctype.UINT: frozenset({"%u"}),
    ctype.LONG: frozenset({"%ld", "%li", "%zd", "%jd", "%td"}), ctype.ULONG: frozenset({"%lu", "%zu", "%ju"}),
    ctype.LLONG: frozenset({"%lld", "%lli"}), ctype.ULLONG: frozenset({"%llu"}),
}
_SITUATIONS: dict[Situation, str] = {
    "first": "with its first pair", "same": "with another pair of the same key", "other": "with a pair of another key",
    "flush": "before the first or after the last pair",
}
_SUMS: dict[Term, Op] = {SUM: "sum", NEXT: "count"}


@dataclass(frozen=True)
class Recognised:
    """What a combine region is; nothing at all of a map region.

    fold    None where it is none or may be none. `regroup` is true where its output, read as its input, gives the same
            result again: not for a count, and not where the value is read as a narrower type than it is printed.
    pairs   how it reads its pairs, as far as that is certain.
    why     it is no fold, with the place; "" where it is one.
    """

    fold: manifest.Fold | None = None
    pairs: manifest.PairReader | None = None
    why: str = ""


def recognise(program: ir.Program) -> Recognised:
    """Run a combine region on symbols, once."""
    if not isinstance(program.region, ir.CombineRegion):
        return Recognised()
    try:
        found = _Recogniser(program).fold()
    except Refused as refused:
        return Recognised(None, _plain_reader(program), _why(refused))
    except Stop:
        why = "the loop is left before the last pair, or a comparison cannot be decided"
        return Recognised(None, _plain_reader(program), why)
    except RecursionError:
        return Recognised(None, _plain_reader(program), "it is nested too deeply")
    return Recognised(found.fold, _fold_reader(found.reader))


def text(found: Recognised) -> str:
    return "".join(f"{what:6}{value}\n" for what, value in
                   (("fold", found.fold), ("pairs", found.pairs), ("why", found.why)) if value)


def _why(refused: Refused) -> str:
    if refused.why:
        return refused.why
    pair = _SITUATIONS[refused.situation or "flush"]
    at = f" (line {refused.span.line})" if refused.span is not None and refused.span.line else ""
    return f"what it does {pair} is not that of a sum, a count, a least or a greatest of one integer per key{at}"


def _fold_reader(reader: Reader) -> manifest.PairReader:
    """How a recognised fold reads its pairs, learnt from the run itself."""
    value = (VALUES[reader.value_kept],) if reader.value_kept is not None else ()
    key = VALUES[reader.number_kept] if reader.number_kept is not None else reader.key or "other"
    return manifest.PairReader(key, reader.key_max, value, reader.none)


@dataclass
class _Found:
    fold: manifest.Fold
    reader: Reader


class _Recogniser:
    def __init__(self, program: ir.Program) -> None:
        program = by_fields(program)
        region, loop = program.region, ir.record_loop(program.region)
        if not isinstance(region, ir.CombineRegion) or loop is None or loop.step is not None or program.refusals:
            raise Refused("its loop was not recognised, or something in it cannot be analysed")
        self._program, self._region, self._loop = program, region, loop
        self._key = self._variable(region.key)
        self._acc = self._variable(region.value)
        self._number = isinstance(self._type(region.key), Int)  # the key is one, not a text
        self._reader = Reader()
        self._zeroed: frozenset[Object] = frozenset()
        at = region.body.body.index(loop)
        self._head, self._tail = region.body.body[:at], region.body.body[at + 1 :]
        self._check_reader()

    def _variable(self, name: str) -> Object:
        return variable(self._program, self._region.function, name)

    def _check_reader(self) -> None:
        """A pair that reads in part must end the loop, or old values would be used again."""
        read = reads(self._loop.cond)[0]
        if isinstance(read, ir.ReadPair):
            stored = len(read.targets)
            if any(truth(self._loop.cond, read, n) is not False for n in range(stored)):
                raise Refused(f"its loop goes on where scanf has read less than a whole pair: write == {stored}")

    # ------------------------------------------------------------------------------------- the situations

    def fold(self) -> _Found:
        kind = self._accumulator_type()
        start = start_state(self._program)
        self._zeroed = frozenset(k for k in zeroed_arrays(self._program) if start.contents.get(k) == Text.EMPTY)
        start = self._after_head(start)
        first, emitted = self._round("first", start)
        if emitted:
            raise Refused
        if self._reader.key == "field" and start.contents.get(self._key) == Text.EMPTY:
            start = start.copy()
            start.terms[self._acc] = None  # an empty key may have been here before
            first, _ = self._round("first", start)
        counts = first.terms.get(self._acc) == ONE
        self._check_kept(first, counts)
        kept = self._kept(first)
        op = self._same(kept)
        if (op == "count") != counts:
            raise Refused
        self._other(kept, first, counts, kind)
        self._end(start, kept, kind)
        if (self._reader.value is None and not counts) or self._number != (self._reader.number is not None):
            raise Refused
        read = self._reader.value_kept
        same_type = not counts and read is not None and VALUES[read] == VALUES[kind]
        if not counts and not same_type and op != "sum":
            raise Refused
        field = manifest.FoldField(op, VALUES[kind])
        fold = manifest.Fold((field,), (), _shown(self._region.key), (_shown(self._region.value),), same_type)
        return _Found(fold, self._reader)

    def _accumulator_type(self) -> Int:
        kind = self._type(self._region.value)
        if kind not in VALUES:
            shown = f"'{_shown(self._region.value)}' is {kind}" if kind is not None else "no clause value names it"
            raise Refused(f"what it gathers must be one integer of 32 or 64 bits: {shown}")
        assert isinstance(kind, Int)
        return kind

    def _type(self, name: str) -> CType | None:
        symbol = self._program.symbol(self._region.function, name)
        return symbol.type if symbol is not None else None

    def _run(self, situation: Situation, state: State, decisions: list[bool] | None = None) -> Run:
        run = Run(self._program, situation, self._reader, state.copy(), decisions or [], self._region.function)
        run.zeroed = self._zeroed
        return run

    def _after_head(self, state: State) -> State:
        run = self._run("flush", state)
        for stmt in self._head:
            run.stmt(stmt)
        if run.emitted:
            raise Refused
        return run.state

    def _round(self, situation: Situation, state: State, decisions: list[bool] | None = None) -> tuple[State, Emitted]:
        """One pair: read, then the loop's body."""
        run = self._run(situation, state, decisions)
        try:
            self._read(run)
            run.block(self._loop.body)
        except Stop as stop:
            if stop.how != "continue":
                raise
        except Refused as refused:
            refused.situation = refused.situation or situation
            raise
        if decisions is not None:
            self._asked = run.asked
        return run.state, run.emitted

    def _read(self, run: Run) -> None:
        """What the loop's condition leaves behind for a whole pair."""
        read = reads(self._loop.cond)[0]
        run.state.cut = run.state.chopped = False
        result: Term = None
        if isinstance(read, ir.ReadPair):
            run.calls.scan(formats.split_scanf(read.format) or [], read.targets, line=False)
            result = Const(len(read.targets))
        else:
            self._read_line(run, read)
            result = LENGTH if read.kind == "getline" else LINE
        for name in self._results():
            run.state.terms[run.key_of(name)] = result

    def _results(self) -> list[str]:
        """Variables that the loop's condition sets to what the read returned."""
        nodes = [n for n in ir_walk.walk(self._loop.cond) if isinstance(n, ir.Assign)]
        return [n.target.name for n in nodes if isinstance(n.target, ir.Name)]

    def _read_line(self, run: Run, read: ir.ReadRecord) -> None:
        target = read.target
        if read.kind == "getline":
            capacity = read.capacity
            if not isinstance(target, ir.AddressOf) or not isinstance(target.operand, ir.Name):
                raise Refused
            if not isinstance(capacity, ir.AddressOf) or capacity.operand.type != ctype.ULONG:
                raise Refused
            run.state.terms[run.key_of(target.operand.name)] = LINE
            return
        capacity = read.capacity
        if not isinstance(target, ir.Decay) or not isinstance(target.operand, ir.Name) or not isinstance(capacity, ir.Const):
            raise Refused
        longest = int(capacity.value) - 1 - len("\t-9223372036854775808\n")
        if longest < 1 or int(capacity.value) > run.array_size(run.key_of(target.operand.name)):
            raise Refused
        run.line_max = longest
        run.lines = frozenset({run.key_of(target.operand.name)})

    def _check_kept(self, state: State, counts: bool) -> None:
        """After the first pair, and after each change: its key is kept, and its value or 1."""
        wanted = ONE if counts else VALUE
        if self._content(state) != Text.KEY or state.terms.get(self._acc) != wanted:
            raise Refused

    def _content(self, state: State) -> Text | None:
        """Which key is kept: the pair's, or the one before it."""
        if self._number:
            term = state.terms.get(self._key)
            return Text.KEY if term == KEY else Text.KEPT if term == KEPT else None
        return state.contents.get(self._key)

    def _kept(self, first: State) -> State:
        """The state between pairs once something is kept: constants stay, all else of the last pair is unknown."""
        terms: dict[Object, Term] = {key: term for key, term in first.terms.items() if isinstance(term, Const)}
        terms[self._acc] = ACC
        if self._number:
            terms[self._key] = KEPT
        return State(terms, {} if self._number else {self._key: Text.KEPT})

    def _flags(self, state: State) -> dict[Object, Term]:
        """Constants that the combiner remembers from pair to pair."""
        return {k: t for k, t in state.terms.items() if isinstance(t, Const) and k not in (self._acc, self._key)}

    def _same(self, kept: State) -> Op:
        try:
            after, emitted = self._round("same", kept)
            results = [after.terms.get(self._acc)]
            states = [after]
        except Stop as stop:
            if stop.how != "fork":
                raise
            return self._extreme(kept)
        term = results[0]
        if emitted:
            raise Refused("it prints before the key changes")
        if term not in _SUMS:
            raise Refused(f"what it makes of '{_shown(self._region.value)}' with another pair of the same key is no sum,"
                          " count, least or greatest")
        self._check_same(states, kept)
        return _SUMS[term]

    def _extreme(self, kept: State) -> Op:
        """V is compared with ACC: where it is taken, it is less (or greater); where not, ACC stays."""
        states, terms = [], []
        for answer in (True, False):
            after, emitted = self._round("same", kept, [answer])
            if emitted or len(self._asked) != 1:
                raise Refused
            states.append(after)
            terms.append(after.terms.get(self._acc))
        self._check_same(states, kept)
        less = self._asked[0] == "less"
        if terms == [VALUE, ACC]:
            return "min" if less else "max"
        if terms == [ACC, VALUE]:
            return "max" if less else "min"
        raise Refused

    _asked: list[str]

    def _check_same(self, states: list[State], kept: State) -> None:
        for state in states:
            if self._content(state) not in (Text.KEPT, Text.KEY) or self._changed_flags(state, kept):
                raise Refused

    def _changed_flags(self, state: State, kept: State) -> bool:
        return any(state.terms.get(k) != t for k, t in self._flags(kept).items())

    def _other(self, kept: State, first: State, counts: bool, kind: Int) -> None:
        after, emitted = self._round("other", kept)
        self._check_pair(emitted, kind)
        self._check_kept(after, counts)
        if self._changed_flags(after, kept):
            raise Refused

    def _end(self, start: State, kept: State, kind: Int) -> None:
        if self._flush(start):
            raise Refused
        self._check_pair(self._flush(kept), kind)

    def _flush(self, state: State) -> Emitted:
        """Everything after the loop, to the end of the program."""
        run = self._run("flush", state)
        for name in self._results():
            run.state.terms[run.key_of(name)] = None  # the end of the input, not a pair
        function = self._program.enclosing
        body = function.body.body
        at = next((i for i, s in enumerate(body) if isinstance(s, ir.RegionHere)), None)
        if at is None:
            raise Refused
        try:
            for stmt in (*self._tail, *body[at + 1 :]):
                run.stmt(stmt)
        except Stop as stop:
            if stop.how != "return" or stop.value != ZERO:
                raise Refused from None
        return run.emitted

    def _check_pair(self, emitted: Emitted, kind: Int) -> None:
        """Exactly PREV, a tab, ACC in its plain decimal form, a newline."""
        merged: Emitted = []
        for piece in emitted:
            if isinstance(piece, bytes) and merged and isinstance(merged[-1], bytes):
                merged[-1] += piece
            else:
                merged.append(piece)
        if len(merged) != 4 or merged[1] != b"\t" or merged[3] != b"\n":
            raise Refused("what it prints for a key is not the key, a tab, the number and a newline")
        key, value = merged[0], merged[2]
        if not isinstance(key, Printed) or not isinstance(value, Printed) or not self._is_key(key):
            raise Refused(f"it does not print the key that it keeps in '{_shown(self._region.key)}' as %s or %d")
        if value.what != ACC or value.type != kind or value.spec not in _SPECS[kind]:
            raise Refused(f"it does not print '{_shown(self._region.value)}' by the plain conversion of its type")

    def _is_key(self, printed: Printed) -> bool:
        if not self._number:
            return printed == Printed("%s", Text.KEPT)
        kind = printed.type
        return printed.what == KEPT and isinstance(kind, Int) and printed.spec in _SPECS.get(kind, ())


def _plain_reader(program: ir.Program) -> manifest.PairReader | None:
    """How a combine region that is no fold reads its pairs; None where its loop was not recognised."""
    loop = ir.record_loop(program.region)
    if loop is None:
        return None
    read = reads(loop.cond)[0]
    if isinstance(read, ir.ReadPair):
        return _scanf_reader(program, read)
    return manifest.PairReader("other", 0, ())


def _scanf_reader(program: ir.Program, read: ir.ReadPair) -> manifest.PairReader:
    parts = [s for s in formats.split_scanf(read.format) or [] if s.letter != " "]
    unknown = manifest.PairReader("other", 0, ())
    several = len(formats.split_scanf(read.format.partition(b"\t")[0]) or []) > 1 and b"\t" in read.format
    if not parts or parts[0].letter != "s" or not parts[0].stores or parts[0].length or several:
        return unknown
    target = read.targets[0]
    size = program.layouts.size(target.operand.type) if isinstance(target, ir.Decay) else None
    key = manifest.PairReader("token", parts[0].width or (size - 1 if size else 0), ())
    if len(parts) == 2 and parts[1].letter in "du" and parts[1].stores and not parts[1].width:
        kind = parts[1].target
        if isinstance(kind, Int) and kind in VALUES:
            return replace(key, value=(VALUES[kind],))
    return key


def _shown(name: str) -> str:
    return name.split("$")[0]
