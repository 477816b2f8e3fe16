"""The key loop of a combiner or reducer, found by running its region on symbols in every situation that it can be in.

With nothing kept, with the same key again, with another key, and at the end of the input with something kept and without.
What is kept from pair to pair is either a constant, or a symbol of what was computed; each situation must leave that as it
was, or as the key loop says. Conditions that cannot be decided fork the run; its ways are put together again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace

from ...source import UNKNOWN, Span
from ...values import dataclass
from ..analysis.objects import Object, symbol_of, variable
from ..ir import formats, ir
from ..ir import walk as ir_walk
from ..normalise.by_value import reads, truth
from ..types import ctype
from ..types.ctype import CType, Int
from . import algebra, finish, loop
from .fields import by_fields, field_of
from .merge import merged
from .reader import INTEGER_BYTES, Reader
from .run import Execution
from .start import start_state, zeroed_arrays
from .state import (
    Fork,
    Jump,
    NoKeyLoop,
    RunEnd,
    RunState,
    Situation,
    Ways,
    each_way,
    placed,
    plain_text,
    printed_at,
    without_end,
)
from .terms import KEPT, KEY, LENGTH, LINE, ZERO, Const, Content, Made, Num, Term, TextTerm, number, value_text

_MOST_WAYS = 64  # through the program, in one situation
_MOST_STATE = 8
_FEWEST = INTEGER_BYTES + len("\t\n")


@dataclass
class _Memory:
    """What is known between pairs once something is kept.

    constants  variables that hold the same at every pair.
    kept       variables that hold a number that was computed, or a text, by the numbers of their symbols.
    texts      arrays that hold the same text at every pair.
    positive   symbols of counts: 1 after a key's first pair, and one more at each other. 2**63 pairs there are not.
    """

    constants: dict[Object, Term]
    kept: list[Object]
    positive: set[int] = field(default_factory=set)
    texts: dict[Object, Content] = field(default_factory=dict)


@dataclass(frozen=True)
class KeyLoopFound:
    """A key loop, how its pairs are read, and the variable that holds the key.

    goes_on  why pairs that are read in part are not the end of it; "" where they are.
    leaks    an empty key, which it takes for none, changes what it makes of the key behind it.
    """

    loop: loop.KeyLoop
    reader: Reader
    key: str
    goes_on: str = ""
    leaks: bool = False


class Situations:
    """`key_loop` finds it. Raises Refused, and Stop where the loop may be left.

    reducer  what it prints may be any text.
    known    of situations that were understood, for who has to choose what to say.
    """

    def __init__(self, program: ir.Program, *, reducer: bool = False) -> None:
        program = by_fields(program)
        region, record_loop = program.region, ir.record_loop(program.region)
        plain = record_loop is not None and record_loop.step is None and not program.refusals
        if not isinstance(region, ir.CombineRegion) or record_loop is None or not plain:
            raise NoKeyLoop("its loop was not recognised, or something in it cannot be analysed")
        self._program, self._region, self._loop = program, region, record_loop
        self._reducer, self.known = reducer, 0
        self._key: Object = variable(program, region.function, region.key)
        kind = self._type(self._key)
        self._number = isinstance(kind, (Int, ctype.Struct))  # the key is one, not a text
        self._reader = Reader()
        self._zeroed: frozenset[Object] = frozenset()
        self._state: tuple[Object, ...] = ()  # variables of the state, in its order
        at = region.body.body.index(record_loop)
        self._head, self._tail = region.body.body[:at], region.body.body[at + 1 :]

    def key_loop(self) -> KeyLoopFound:
        start, head = start_state(self._program, prints=self._reducer)
        self._zeroed = frozenset(k for k in zeroed_arrays(self._program) if start.contents.get(k) == TextTerm.EMPTY)
        start = self._after_head(start)
        memory = self._memory(self._first(start))
        while True:
            known = _copy(memory)
            first, same = self._understood(1, self._first(start)), self._understood(2, self._same(memory))
            other = self._understood(3, self._other(memory))
            if not self._settled(memory, same, other):
                if _copy(memory) == known:
                    raise NoKeyLoop
                continue
            printed, tail = self._finish(memory, start)
            found = replace(self._loop_of(memory, first, same, other, printed), head=head, tail=tail)
            leaks = self._reader.nonempty and self._reader.key == "field" and not self._forgets(start, first)
            return KeyLoopFound(found, self._reader, _shown(self._key.shown), self._goes_on(), leaks)

    def _understood(self, known: int, state: RunState) -> RunState:
        self.known = max(self.known, known)
        return state

    def _goes_on(self) -> str:
        """A pair that reads in part must end the loop, or old values would be used again."""
        read = reads(self._loop.cond)[0]
        if isinstance(read, ir.ReadPair):
            stored = len(read.targets)
            if any(truth(self._loop.cond, read, n) is not False for n in range(stored)):
                return f"its loop goes on where scanf has read less than a whole pair: write == {stored}"
        return ""

    # ------------------------------------------------------------------------------------- the situations

    def _first(self, start: RunState) -> RunState:
        ways = self._pair("first", start)
        self._find_key(ways)
        if any(way.emitted for way in each_way(ways)):
            raise NoKeyLoop
        return self._with_key(ways, "first", (TextTerm.KEY,))

    def _find_key(self, ways: Ways) -> None:
        """Of a struct with several numbers or texts, the one that the key is kept in."""
        kind = self._type(self._key)
        if isinstance(kind, ctype.Struct) and kind.tag in self._program.layouts.table:
            fields = (field_of(self._key, f.name) for f in self._program.layouts.table[kind.tag].fields)
            states = [way.state for way in each_way(ways)]
            found = [f for f in fields if f is not None and (
                all(state.terms.get(f) == KEY for state in states)
                or all(state.contents.get(f) == TextTerm.KEY for state in states))]
            self._key = found[0] if len(found) == 1 else self._key
            self._number = not algebra.is_text(self._type(self._key))

    def _same(self, memory: _Memory) -> RunState:
        ways = self._pair("same", self._between(memory), memory)
        if any(way.emitted for way in each_way(ways)):
            with placed(printed_at(ways)):
                raise NoKeyLoop("it prints before the key changes")
        return self._with_key(ways, "same", (TextTerm.KEY, TextTerm.KEPT))

    def _other(self, memory: _Memory) -> RunState:
        ways = self._pair("other", self._between(memory), memory)
        try:
            self._printed = finish.finish_of(ways, lines=not self._reducer)
        except NoKeyLoop as refused:
            at = self._last_change(refused.unknown) if refused.unknown is not None else UNKNOWN
            if refused.unknown is not None and at.line:
                raise self._not_made(refused.unknown, at) from None
            raise
        return self._with_key(ways, "other", (TextTerm.KEY,))

    def _finish(self, memory: _Memory, start: RunState) -> tuple[loop.KeyOutput, bytes]:
        """What is printed of a key: when another comes, and just the same at the end; and what stands behind all keys, which
        is nothing of a combiner."""
        none = self._flush(start)
        tail = plain_text(none.emitted) if isinstance(none, RunEnd) else None
        if tail is None or (tail and not self._reducer):
            with placed(printed_at(none)):
                raise NoKeyLoop("it prints something of no key")
        ways = self._flush(self._between(memory), memory)
        if any(not isinstance(way.state.outside, loop.Number) for way in (*each_way(none), *each_way(ways))):
            raise NoKeyLoop("where it goes in an array when a key is over is not known")
        last = finish.finish_of(without_end(ways, tail), lines=not self._reducer)
        if repr(last) != repr(self._printed):
            with placed(printed_at(ways)):
                raise NoKeyLoop("what it prints of the last key is not what it prints of the others")
        return self._printed, tail

    def _forgets(self, start: RunState, first: RunState) -> bool:
        """Is what it keeps of a key the same where an empty key has been here before?"""
        start = start.copy()
        for key in self._state:
            start.terms[key] = start.contents[key] = None
        try:
            again = self._first(start)
        except (NoKeyLoop, Jump):
            return False
        return all(self._equal(again, first, key) for key in self._state)

    def _with_key(self, ways: Ways, situation: Situation, wanted: tuple[TextTerm, ...]) -> RunState:
        """What all ways leave behind, each with its key kept."""
        if any(self._content(way.state) not in wanted for way in each_way(ways)):
            raise NoKeyLoop(f"it does not always keep the key in '{_shown(self._region.key)}'")
        state = self._merged(ways, situation)
        if state is None:
            raise NoKeyLoop
        return state

    def _merged(self, ways: Ways, situation: Situation) -> RunState | None:
        if isinstance(ways, RunEnd):
            return ways.state
        then, other = self._merged(ways.then, situation), self._merged(ways.other, situation)
        if then is None or other is None:
            return None
        for state in (then, other):
            state.new_line()
        return merged(self._program, ways.condition, then, other, situation)

    def _content(self, state: RunState) -> Content | None:
        """Which key is kept: the pair's, or the one before it."""
        if self._number:
            term = state.terms.get(self._key)
            return TextTerm.KEY if term == KEY else TextTerm.KEPT if term == KEPT else None
        return state.contents.get(self._key)

    # ------------------------------------------------------------------------------------- what is known between pairs

    def _memory(self, first: RunState) -> _Memory:
        """Constants are taken to stay, until one is seen to change."""
        constants: dict[Object, Term] = {key: term for key, term in first.terms.items() if isinstance(term, Const)}
        texts: dict[Object, Content] = {
            key: text for key, text in first.contents.items()
            if text is not None and isinstance(value_text(text), loop.LiteralText) and self._fits(key)}
        kept = [k for k, term in first.terms.items() if isinstance(term, Num) and self._fits(k)]
        kept += [k for k, text in first.contents.items() if isinstance(text, Made) and k not in texts and self._fits(k)]
        return _Memory(constants, kept, set(), texts)

    def _fits(self, key: Object) -> bool:
        kind = self._type(key)
        return algebra.computes(kind) or algebra.is_text(kind) or algebra.is_numbers(kind)

    def _type(self, key: Object) -> CType | None:
        symbol = symbol_of(self._program, key)
        return symbol.type if symbol is not None else None

    def _between(self, memory: _Memory) -> RunState:
        """The state between pairs: all else of the last pair is unknown."""
        terms = dict(memory.constants)
        contents: dict[Object, Content | None] = dict(memory.texts)
        for at, key in enumerate(memory.kept):
            kind = self._type(key)
            if algebra.is_text(kind):
                contents[key] = Made(loop.KeptValue(at, loop.TEXT))
            else:
                terms[key] = Num(loop.KeptValue(at, kind))  # type: ignore[arg-type]
        if self._number:
            terms[self._key] = KEPT
        else:
            contents[self._key] = TextTerm.KEPT
        return RunState(terms, contents)

    def _settled(self, memory: _Memory, same: RunState, other: RunState) -> bool:
        """Is it as was assumed? What was not is known better now: a constant that changed is computed, or forgotten."""
        settled, assumed = True, sorted(memory.positive)
        for key, term in list(memory.constants.items()):
            if other.terms.get(key) != term:
                del memory.constants[key]
                settled = False
            elif same.terms.get(key) != term:
                del memory.constants[key]
                settled = False
                if self._fits(key):
                    self._counts(memory, key, term)
                    memory.kept.append(key)
        for key, text in list(memory.texts.items()):
            if (same.contents.get(key), other.contents.get(key)) != (text, text):
                del memory.texts[key]
                settled = False
                memory.kept += [key] if other.contents.get(key) == text else []
        for at in assumed:
            kept = loop.KeptValue(at, self._type(memory.kept[at]))  # type: ignore[arg-type]
            one_more = algebra.binary("+", kept, loop.Number(1, kept.type), kept.type)
            after = same.terms.get(memory.kept[at]), other.terms.get(memory.kept[at])
            if after != (Num(one_more), Const(1)):  # type: ignore[arg-type]
                memory.positive.discard(at)
                settled = False
        return settled

    def _counts(self, memory: _Memory, key: Object, term: Term) -> None:
        kind = self._type(key)
        if isinstance(kind, Int) and kind.bits == 64 and term == Const(1):
            memory.positive.add(len(memory.kept))

    def _loop_of(
        self, memory: _Memory, first: RunState, same: RunState, other: RunState, printed: loop.KeyOutput,
    ) -> loop.KeyLoop:
        """The key loop of the variables that matter to what is printed, in the order in which they are."""
        if self._number != (self._reader.number is not None):
            raise NoKeyLoop
        if any(loop.NOT_KNOWN in algebra.kept(term) for term in (*finish.terms_of(printed), first.outside, same.outside)):
            raise NoKeyLoop("what it reads of an array is not known")
        shown = [*finish.terms_of(printed), first.outside, same.outside]
        order = list(dict.fromkeys(at for term in shown for at in sorted(algebra.kept(term))))
        for at in order:  # grows
            order += sorted(algebra.kept(self._term(same, memory.kept[at])) - set(order))
        if len(order) > _MOST_STATE:
            raise NoKeyLoop(f"it keeps more than {_MOST_STATE} numbers of a key")
        keys = self._state = tuple(memory.kept[at] for at in order)
        for key in keys:
            if not self._equal(first, other, key):
                with placed(self._last_change(key)):
                    raise NoKeyLoop(f"'{_shown(key.shown)}' does not begin for every key as it does for the first")
            if algebra.computes(self._type(key)) and self._type(key).bits < 32:  # type: ignore[union-attr]
                raise NoKeyLoop(f"what it gathers must be of 32 or 64 bits: '{_shown(key.shown)}' is {self._type(key)}")
        made = [self._term(after, key) for key in keys for after in (first, same)] + finish.terms_of(printed)
        if not self._reducer and any(set(text) & set(b"\r\n") for term in made for text in algebra.program_texts(term)):
            raise NoKeyLoop("what it prints for a key may be several lines")
        state = tuple(loop.KeptVariable(_shown(key.shown), self._type(key)) for key in keys)  # type: ignore[arg-type]
        self._narrow(made)
        change = self._renumbered(order)
        firsts, sames = ([self._changed(after, key, change) for key in keys] for after in (first, same))
        self._reader.fill()
        self._check_line()
        printed = finish.changed(printed, change)
        if repr(first.outside) != repr(other.outside):
            raise NoKeyLoop("where it goes in an array when a key is over is not known")
        outside = algebra.replaced(first.outside, change), algebra.replaced(same.outside, change)
        form = loop.ValueForm(self._reader.forms(), self._reader.separators(finish.between(printed)))
        return loop.KeyLoop(form, state, tuple(firsts), tuple(sames), printed, self._reader.nonempty,
                            outside=outside)

    def _check_line(self) -> None:
        """A line that is not read whole is two."""
        self._reader.share_line()
        if self._reader.line_room and (self._reader.key_max < 1 or not self._reader.count):
            raise NoKeyLoop("a pair may be longer than what fgets reads of it")

    def _narrow(self, terms: list[loop.Term]) -> None:
        """A number that is only ever used in a narrower type reads back only where it fits there."""
        for at, kind in self._reader.fields.items():
            narrow = algebra.narrowed(terms, at)
            if narrow is not None and isinstance(kind, Int) and kind.signed == narrow.signed and kind.bits > narrow.bits:
                self._reader.used[at] = narrow

    def _term(self, state: RunState, key: Object) -> loop.Term:
        kind = self._type(key)
        if algebra.is_text(kind):
            term = value_text(state.contents.get(key))
        else:
            term = number(state.terms.get(key), kind) if kind is not None else None
        if term is None or loop.NOT_KNOWN in algebra.kept(term):
            raise self._not_made(key, self._last_change(key))
        return term

    def _equal(self, state: RunState, other: RunState, key: Object) -> bool:
        if algebra.is_text(self._type(key)):
            return algebra.equal(value_text(state.contents.get(key)), value_text(other.contents.get(key)))
        return _equal(state.terms.get(key), other.terms.get(key))

    def _not_made(self, key: Object, at: Span) -> NoKeyLoop:
        refused = NoKeyLoop(f"what it makes of '{_shown(key.shown)}' is not understood")
        refused.span = at
        return refused

    def _last_change(self, key: Object) -> Span:
        """The last statement of the region that changes a variable by its name."""
        found = UNKNOWN
        for stmt in ir_walk.walk(self._region.body):
            if isinstance(stmt, ir.ExprStmt):
                targets = [ir_walk.changed(node) for node in ir_walk.walk(stmt)]
                targets += [_written(node) for node in ir_walk.walk(stmt) if isinstance(node, ir.Call) and node.args]
                names = [target.name for target in targets if isinstance(target, ir.Name)]
                if any(variable(self._program, self._region.function, name) == key for name in names):
                    found = stmt.span
        return found

    def _changed(self, state: RunState, key: Object, change: algebra.Change) -> loop.Term:
        kind = self._type(key)
        if algebra.is_text(kind):
            return algebra.replaced(self._term(state, key), change)
        term = algebra.convert(algebra.replaced(self._term(state, key), change), kind)  # type: ignore[arg-type]
        assert term is not None
        return term

    def _renumbered(self, order: list[int]) -> algebra.Change:
        def change(leaf: loop.KeptValue | loop.PairField) -> loop.Term:
            if isinstance(leaf, loop.KeptValue):
                return loop.KeptValue(order.index(leaf.number), leaf.type)
            if leaf.type == loop.TEXT:
                return leaf
            return algebra.convert(loop.PairField(leaf.number, self._reader.kept(leaf.number)), leaf.type) or leaf
        return change

    # ------------------------------------------------------------------------------------- running

    def _ways(
        self, situation: Situation, state: RunState, memory: _Memory | None, what: Callable[[Execution], None],
    ) -> Ways:
        """Every way through a piece of the program."""
        ways = 0

        def grow(decisions: list[bool]) -> Ways:
            nonlocal ways
            run = Execution(self._program, situation, self._reader, state.copy(), decisions, self._region.function)
            run.zeroed = self._zeroed
            run.kept = tuple(memory.kept) if memory is not None else ()
            run.positive = frozenset(memory.positive) if memory is not None else frozenset()
            try:
                what(run)
            except Jump as stop:
                if stop.how != "fork" or stop.condition is None:
                    raise
                return Fork(stop.condition, grow([*decisions, True]), grow([*decisions, False]))
            except NoKeyLoop as refused:
                refused.situation = refused.situation or situation
                raise
            ways += 1
            if ways > _MOST_WAYS:
                raise NoKeyLoop(f"there are more than {_MOST_WAYS} ways through it")
            return RunEnd(run.state, run.emitted, run.emitted_at)

        return grow([])

    def _after_head(self, state: RunState) -> RunState:
        def head(run: Execution) -> None:
            for stmt in self._head:
                run.stmt(stmt)

        ways = self._ways("flush", state, None, head)
        if not isinstance(ways, RunEnd) or ways.emitted:
            raise NoKeyLoop
        return ways.state

    def _pair(self, situation: Situation, state: RunState, memory: _Memory | None = None) -> Ways:
        """One pair: read, then the loop's body."""
        def pair(run: Execution) -> None:
            self._read(run)
            try:
                run.block(self._loop.body)
            except Jump as stop:
                if stop.how != "continue":
                    raise
            run.end_texts()

        return self._ways(situation, state, memory, pair)

    def _flush(self, state: RunState, memory: _Memory | None = None) -> Ways:
        """Everything after the loop, to the end of the program."""
        function = self._program.enclosing
        body = function.body.body
        at = next((i for i, s in enumerate(body) if isinstance(s, ir.RegionHere)), None)
        if at is None:
            raise NoKeyLoop

        def flush(run: Execution) -> None:
            for name in self._results():
                run.state.terms[run.key_of(name)] = None  # the end of the input, not a pair
            try:
                for stmt in (*self._tail, *body[at + 1 :]):
                    run.stmt(stmt)
            except Jump as stop:
                if stop.how == "fork":
                    raise
                if stop.how != "return" or stop.value != ZERO:
                    raise NoKeyLoop from None

        return self._ways("flush", state, memory, flush)

    def _read(self, run: Execution) -> None:
        """What the loop's condition leaves behind for a whole pair."""
        read = reads(self._loop.cond)[0]
        run.state.new_line()
        result: Term = None
        if isinstance(read, ir.ReadPair):
            result = run.calls.scan(formats.split_scanf(read.format) or [], read.targets, line=False)
        else:
            self._read_line(run, read)
            result = LENGTH if read.kind == "getline" else LINE
        for name in self._results():
            run.state.terms[run.key_of(name)] = result

    def _results(self) -> list[str]:
        """Variables that the loop's condition sets to what the read returned."""
        nodes = [n for n in ir_walk.walk(self._loop.cond) if isinstance(n, ir.Assign)]
        return [n.target.name for n in nodes if isinstance(n.target, ir.Name)]

    def _read_line(self, run: Execution, read: ir.ReadRecord) -> None:
        target = read.target
        if read.kind == "getline":
            capacity = read.capacity
            if not isinstance(target, ir.AddressOf) or not isinstance(target.operand, ir.Name):
                raise NoKeyLoop
            if not isinstance(capacity, ir.AddressOf) or capacity.operand.type != ctype.ULONG:
                raise NoKeyLoop
            run.state.terms[run.key_of(target.operand.name)] = LINE
            return
        capacity = read.capacity
        if not isinstance(target, ir.Decay) or not isinstance(target.operand, ir.Name) or not isinstance(capacity, ir.Const):
            raise NoKeyLoop
        size = int(capacity.value)
        if size - 1 <= _FEWEST or size > run.array_size(run.key_of(target.operand.name)):
            raise NoKeyLoop
        run.reader.line_room = size - 2
        run.lines = frozenset({run.key_of(target.operand.name)})


def _copy(memory: _Memory) -> tuple[object, ...]:
    return dict(memory.constants), list(memory.kept), set(memory.positive), dict(memory.texts)


def _written(call: ir.Call) -> ir.Expr | None:
    """The array that a call like strcpy writes, or may."""
    target = ir_walk.uncast(call.args[0])
    return target.operand if isinstance(target, ir.Decay) else None


def _equal(left: Term, right: Term) -> bool:
    return left is not None and left == right and repr(left) == repr(right)


def _shown(name: str) -> str:
    return name.split("$")[0]
