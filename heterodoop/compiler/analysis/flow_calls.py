"""Calls in the use analysis: library calls by the table of `libc_effects`, calls of the program's own functions in
line with their arguments bound, reading and writing of stdio streams.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..ir import formats, ir
from ..ir.text_length import longest
from ..normalise.stdio import literal
from ..types import ctype
from .flow_findings import ITSELF, KEPT, TEXT, Outcomes, Touched
from .flow_findings import Access as How
from .flow_state import ANY, NATURAL, NONZERO, Addr, Bound, Mark, Same, State, Value, truth
from .libc_effects import EFFECTS, Access, Effect
from .objects import ERRNO, EXTERNAL, RECORD, STRTOK, Arena

if TYPE_CHECKING:
    from .flow_expr import Evaluator

Enter = Callable[[ir.Function, list[Value], State, ir.Call], Outcomes]  # what a call of an own function does


class FlowCalls:
    """`call`: the outcomes of a call, and of a node of our own."""

    def __init__(self, evaluator: Evaluator, enter: Enter) -> None:
        self._evaluator, self._enter = evaluator, enter
        self._model, self._walk, self._memory = evaluator.model, evaluator.walk, evaluator.memory

    def call(self, node: Any, state: State) -> Outcomes:
        return _NODES[type(node)](self, node, state)

    # ------------------------------------------------------------------------------------- calls by name

    def plain(self, node: ir.Call, state: State) -> Outcomes:
        out: Outcomes = []
        name = ir.called(node)
        starts = [state] if name else [s for _, s in self._evaluator.eval(node.callee, state)]
        for start in starts:
            for args, s in self._evaluator.eval_all(node.args, start):
                out += self._dispatch(node, name, args, s)
        return out

    def _dispatch(self, node: ir.Call, name: str, args: list[Value], state: State) -> Outcomes:
        own = self._model.points_to.callees(self._walk.function, node)
        if own:
            return [o for callee in own for o in self._enter(callee, args, state, node)]
        if not name:  # through a pointer that cannot be followed, which no device has (`device.calls`)
            return [(ANY, state)]
        self._check_call(node, name)
        special = _SPECIAL.get(name)
        if special is not None:
            return special(self, node, args, state)
        effect = EFFECTS.get(name)
        if effect is None:
            return [(ANY, self._unknown(node, args, state))]
        return self._by_table(node, name, effect, args, state)

    def _check_call(self, node: ir.Call, name: str) -> None:
        """What functions a record may call, says `device.calls`."""
        own = isinstance(self._model.points_to.sites.get(node.number), Arena)
        if name in ("malloc", "calloc") and not own and not _small_allocation(node):
            self._walk.findings.problem("HD219", f"{name}() is called with a size that is not constant", node.span)

    def _unknown(self, node: ir.Call, args: list[Value], state: State) -> State:
        """It may read and write all that its arguments point to."""
        for number, arg in enumerate(node.args):
            if isinstance(arg.type, ctype.Pointer):
                places = self.places(node, number, args)
                self._memory.read(places, state, node.span, "bytes", site=(node.number, number))
                state = self._memory.write_bytes(places, state, None, node.span)
        return state

    def _by_table(self, node: ir.Call, name: str, effect: Effect, args: list[Value], state: State) -> Outcomes:
        for access in effect.reads:
            self.read_arg(node, access, args, state)
        for access in effect.writes:
            state = self._write_arg(node, access, args, state, zero=name == "bzero" or (name == "memset" and args[1] == 0))
        for at, source in effect.stores:
            target, value = args[at], args[source]
            if isinstance(target, Addr) and isinstance(value, Addr) and self._model.tracked(target.cell):
                inside = Addr(value.cell, None, more=self._lies_inside(value, state))
                state = self._memory.bind(state.with_value(target.cell, inside), target.cell, inside)
        state = self._set_errno(node, state)
        return [(self._result(node, effect, args, state), self._fresh_state(node, effect, state))]

    def _set_errno(self, node: ir.Call, state: State) -> State:
        """Most calls may set errno, none clears it."""
        if self._model.uses_errno:
            self._memory.note_write(ERRNO, node.span)
            return state.forget([ERRNO])
        return state

    def _result(self, node: ir.Call, effect: Effect, args: list[Value], state: State) -> Value:
        if effect.result == "arg":
            source = args[effect.source]
            if not isinstance(source, Addr):
                return ANY
            if ir.called(node) in _TO_START:
                return Addr(source.cell, source.offset, by=source.by, more=source.more)
            if not effect.null:
                return Addr(source.cell, None)
            before_end = ir.called(node) in _FIND and isinstance(args[1], int) and args[1] != 0
            return Addr(source.cell, None, True, more=self._lies_inside(source, state) * (1 + before_end))
        if ir.called(node) in _LENGTHS and isinstance(args[0], Addr):
            return Bound(args[0].cell.obj, 1) if self._lies_inside(args[0], state) else NATURAL
        if effect.result == "new":
            site = self._model.points_to.sites[node.number]
            return Addr(site.cell, 0, effect.null and not isinstance(site, Arena))  # a thread without room ends
        return Addr(EXTERNAL.cell, None, effect.null) if effect.result == "ext" else ANY

    def _lies_inside(self, text: Addr, state: State) -> int:
        """1 where a string function has found a string there, so that what is written goes from its start to a NUL: in the
        line, or in what is one piece."""
        starts = text.offset == 0 and (mark := state.mark(text.cell)) is not None and (mark.string or mark.whole)
        return int(not text.cell.path and (bool(starts) or self._memory.closed(text.cell, state)))

    def _fresh_state(self, node: ir.Call, effect: Effect, state: State) -> State:
        """A new object has nothing written in it, whatever an earlier one of the same call had."""
        if effect.result != "new":
            return state
        return state.without(self._model.points_to.sites[node.number])

    # ------------------------------------------------------------------------------------- arguments

    def places(self, node: ir.Call | ir.ReadPair, number: int, args: list[Value]) -> list[Touched]:
        """What argument `number` points to, seen as its pointer type says; nothing for NULL."""
        exprs = node.args if isinstance(node, ir.Call) else node.targets
        value = args[number]
        if value == 0:
            return []
        kind = ctype.element(_uncast(exprs[number]).type) or ctype.CHAR
        return self._evaluator.places_at(exprs[number], value, kind if kind != ctype.VOID else ctype.CHAR)

    def read_arg(self, node: ir.Call, access: Access, args: list[Value], state: State) -> None:
        if access.arg >= len(args):
            return
        places = self.places(node, access.arg, args)
        if access.how == "string":
            self._memory.read(places, state, node.span, "string", site=(node.number, access.arg))
        elif access.how == "object":
            self._memory.read(places, state, node.span, site=(node.number, access.arg))
        else:
            self._memory.read(places, state, node.span, "bytes", _size(access, args), site=(node.number, access.arg))
            self._memory.fits(node, access.arg, places, self._most_bytes(access, args, state), state)

    def _write_arg(self, node: ir.Call, access: Access, args: list[Value], state: State, *, zero: bool) -> State:
        if access.arg >= len(args):
            return state
        places = self.places(node, access.arg, args)
        if not places:
            return state
        self._memory.fits(node, access.arg, places, self._most_written(node, access, args, state), state)
        if access.how == "string":
            return self._memory.write_string(places, state, node.span)
        if access.how == "object":
            return self._memory.write(places, state, ANY, node.span)
        return self._memory.write_bytes(places, state, _size(access, args), node.span, zero=zero or access.how == "zero")

    def _most_written(self, node: ir.Call, access: Access, args: list[Value], state: State) -> int | None:
        """Bytes that a call of the table writes through an argument at most, None: not known."""
        if access.how == "object":
            kind = ctype.element(node.args[access.arg].type)
            return self._model.size(kind) if kind is not None else None
        if access.how == "string":
            text = self._text_bytes(node, 1, args, state) if ir.called(node) in ("strcpy", "stpcpy") else None
            return text + 1 if text is not None else None
        return self._most_bytes(access, args, state)

    def _most_bytes(self, access: Access, args: list[Value], state: State) -> int | None:
        """The most that the product of the arguments can be which say how many bytes are meant."""
        most = 1
        for number in access.size:
            low, high = self._memory.range(args[number], state) if number < len(args) else (None, None)
            if high is None or low is None or low < 0:
                return None
            most *= high
        return most if access.size else None

    def _text_bytes(self, node: ir.Call, number: int, args: list[Value], state: State) -> int | None:
        """The most bytes, without its NUL, of a string that an argument is: of a literal, or in an array that holds it."""
        data = literal(node.args[number])
        if data is not None:
            return len(data.split(b"\0")[0])
        rooms = [self._memory.room_bytes(place, state) for place in self.places(node, number, args)]
        known = [room for room in rooms if room is not None]
        return max(known) - 1 if known and len(known) == len(rooms) else None

    # ------------------------------------------------------------------------------------- calls with cases

    def strtok(self, node: ir.Call, args: list[Value], state: State) -> Outcomes:
        """A new string is kept in hidden state, which strtok(NULL) goes on with."""
        self._memory.read(self.places(node, 1, args), state, node.span, "string", site=(node.number, 1))
        return self._tokenize(node, args[0], 0, [Touched(STRTOK.cell)], state)

    def strtok_r(self, node: ir.Call, args: list[Value], state: State) -> Outcomes:
        self._memory.read(self.places(node, 1, args), state, node.span, "string", site=(node.number, 1))
        return self._tokenize(node, args[0], 0, self.places(node, 2, args), state)

    def _tokenize(self, node: ir.Call, text: Value, at: int, kept: list[Touched], state: State) -> Outcomes:
        starts = truth(text)
        cut = [] if text == 0 else self._evaluator.places_at(node.args[at], text, ctype.CHAR)
        if starts is not True:
            self._memory.read(kept, state, node.span, site=(node.number, KEPT))
            old = state.value(kept[0].cell) if len(kept) == 1 and not kept[0].part else ANY
            cut = cut + self._kept_places(kept, old)
        self._memory.read(cut, state, node.span, "string", site=(node.number, 0))
        state = self._memory.write_bytes(cut, state, None, node.span, zero=True, tokens=True)
        value = self._token(cut, state)
        if starts is True:
            state = self._memory.write(kept, state, value, node.span)
            if len(kept) == 1 and isinstance(value, Addr):
                state = self._memory.bind(state.with_value(kept[0].cell, value), kept[0].cell, value)
        else:
            for place in kept:
                self._memory.note_write(place.cell.obj, node.span)
        return [(value, state)]

    def _kept_places(self, kept: list[Touched], old: Value) -> list[Touched]:
        hidden = [p.cell.obj for p in kept] == [STRTOK]
        if isinstance(old, Addr):
            place = self._model.pointee(Addr(old.cell, None, by=Same(kept[0].cell)), ctype.CHAR)
            return [replace(place, tokens=hidden)]
        objects = sorted({t for p in kept for t in self._model.points_to.contents(p.cell.obj)})
        return [replace(self._model.pointee(Addr(o.cell, None), ctype.CHAR), tokens=hidden) for o in objects]

    def _token(self, cut: list[Touched], state: State) -> Value:
        """A token, or NULL: it lies in the string that is cut."""
        if len(cut) != 1:
            return ANY
        cell = cut[0].cell
        return Addr(cell, None, null=True, more=self._lies_inside(Addr(cell, None), state))

    def strsep(self, node: ir.Call, args: list[Value], state: State) -> Outcomes:
        self._memory.read(self.places(node, 1, args), state, node.span, "string", site=(node.number, 1))
        kept = self.places(node, 0, args)
        self._memory.read(kept, state, node.span, site=(node.number, KEPT))
        old = state.value(kept[0].cell) if len(kept) == 1 and not kept[0].part else ANY
        cut = self._kept_places(kept, old)
        self._memory.read(cut, state, node.span, "string", site=(node.number, 0))
        state = self._memory.write_bytes(cut, state, None, node.span, zero=True, tokens=True)
        value = self._token(cut, state)
        return [(value, self._memory.write(kept, state, value, node.span))]

    def sprintf(self, node: ir.Call, args: list[Value], state: State) -> Outcomes:
        """sprintf(to, format, ...) and snprintf(to, size, format, ...)."""
        bounded = ir.called(node) == "snprintf"
        first = 2 if bounded else 1
        text = literal(node.args[first])
        self._read_formatted(node, text, first + 1, args, state)
        places = self.places(node, 0, args)
        if args[0] == 0:  # snprintf(NULL, 0, ...): how long the text would be
            return [(NATURAL, state)]
        self._memory.fits(node, 0, places, self._longest(node, first, args, state), state)
        if bounded and not (isinstance(args[1], int) and args[1] > 0):
            return [(ANY, self._memory.write_bytes(places, state, None, node.span))]
        return [(ANY, self._memory.write_string(places, state, node.span) if places else state)]

    def _longest(self, node: ir.Call, at: int, args: list[Value], state: State) -> int | None:
        """Bytes that sprintf, whose format is argument `at`, writes at most."""
        text = literal(node.args[at])
        parts = formats.split_printf(text) if text is not None else None
        limit = args[1] if at == 2 and isinstance(args[1], int) else None
        if parts is None:
            return limit
        strings: list[int | None] = []
        for part in (p for p in parts if not isinstance(p, bytes)):
            at += part.takes
            asked = part.letter == "s" and at < len(args)
            strings.append(self._text_bytes(node, at, args, state) if asked else None)
        most = longest(parts, strings)
        return limit if most is None else most + 1 if limit is None else min(limit, most + 1)

    def _read_formatted(self, node: ir.Call, text: bytes | None, at: int, args: list[Value], state: State) -> None:
        parts = formats.split_printf(text) if text is not None else None
        if parts is None:
            self._walk.findings.problem("HD229", formats.unread(ir.called(node), text), node.span)
            return
        for part in parts:
            if isinstance(part, bytes):
                continue
            at += part.takes
            if part.letter == "s" and at <= len(args):
                site = (node.args[at - 1].number, TEXT)
                self._memory.read(self.places(node, at - 1, args), state, node.span, "string", site=site)

    def sscanf(self, node: ir.Call, args: list[Value], state: State) -> Outcomes:
        """A target is written in the outcomes whose count reaches it."""
        self._memory.read(self.places(node, 0, args), state, node.span, "string", site=(node.number, 0))
        text = literal(node.args[1])
        scans = formats.split_scanf(text) if text is not None else None
        if scans is None:
            self._walk.findings.problem("HD229", formats.unread("sscanf", text), node.span)
            return [(ANY, self._unknown(node, args, state))]
        return self.scan(node, scans, 2, args, state)

    def scan(
        self, node: ir.Call | ir.ReadPair, scans: list[formats.Scan], at: int, args: list[Value], state: State,
    ) -> Outcomes:
        """scanf's conversions one after the other; `at`: where their targets begin among the arguments.

        A first %s or %c takes whatever comes: where there is nothing, the result is -1.
        """
        first = next((item.letter for item in scans if item.letter != " "), "")
        out: Outcomes = [(-1, state)] if first in ("s", "c") else [(-1, state), (0, state)]
        stored = 0
        for item in scans:
            if not item.stores or at >= len(args):
                continue
            state = self._scan_target(node, item, at, args, state)
            at += 1
            stored += item.letter != "n"
            out.append((stored, state))
        return out if stored else [(ANY, state)]

    def _scan_target(
        self, node: ir.Call | ir.ReadPair, item: formats.Scan, at: int, args: list[Value], state: State,
    ) -> State:
        places = self.places(node, at, args)
        self._memory.fits(node, at, places, self._most_scanned(item), state)
        if item.length == "m":
            return self._memory.write(places, state, Addr(RECORD.cell, 0), node.span)
        if item.letter in ("s", "["):
            return self._memory.write_string(places, state, node.span)
        if item.letter == "c":
            return self._memory.write_bytes(places, state, item.width or 1, node.span)
        if item.target is not None:  # what is stored, whatever the variable's own type
            exprs = node.args if isinstance(node, ir.Call) else node.targets
            places = self._evaluator.places_at(exprs[at], args[at], item.target)
        return self._memory.write(places, state, ANY, node.span)

    def _most_scanned(self, item: formats.Scan) -> int | None:
        if item.length == "m":
            return 8
        if item.letter in ("s", "["):
            return item.width + 1 if item.width else None
        return (item.width or 1) if item.letter == "c" else self._model.size(item.target)

    def sort_end(self, node: ir.Call, args: list[Value], state: State) -> Outcomes:
        """Elements change their places, and what is written of each goes with it: known is only what was of all of them."""
        places = self.places(node, 1, args)
        self._memory.fits(node, 1, places, None, state)
        state = self._memory.write_bytes(places, state, None, node.span)
        for obj in {place.cell.obj for place in places}:
            marks = {cell: mark if mark.whole else Mark() for cell, mark in state.marks.items() if cell.obj == obj}
            state = state.without(obj).touching([obj])
            for cell, mark in marks.items():
                state = state.with_mark(cell, mark)
        return [(ANY, state)]

    def errno(self, node: ir.Call, args: list[Value], state: State) -> Outcomes:
        return [(Addr(ERRNO.cell, 0), state)]

    # ------------------------------------------------------------------------------------- stdio nodes

    def output(self, node: ir.Emit | ir.Stderr, state: State) -> Outcomes:
        states = [state]
        for piece in node.pieces:
            if isinstance(piece, ir.Format):
                states = [s for before in states for s in self._piece(piece, before, node)]
        return [(ANY, s) for s in states]

    def _piece(self, piece: ir.Format, state: State, node: ir.Expr) -> list[State]:
        conv = formats.conversion(piece.spec)
        out = []
        for args, s in self._evaluator.eval_all(piece.args, state):
            pointer = piece.args[0 if conv.letter == "!" else -1] if piece.args else None
            if conv.letter in ("s", "!") and pointer is not None:
                value = args[0 if conv.letter == "!" else -1]
                places = self._evaluator.places_at(pointer, value, ctype.CHAR) if value != 0 else []
                size = _product(args[1:]) if conv.letter == "!" else None
                how: How = "string" if conv.letter == "s" else "bytes"
                self._memory.read(places, s, node.span, how, size, site=(pointer.number, TEXT))
            out.append(s)
        return out

    def exit(self, node: ir.Exit, state: State) -> Outcomes:
        self._evaluator.eval_all(node.args, state)
        return []

    def read_record(self, node: ir.ReadRecord, state: State) -> Outcomes:
        self._check_reader(node)
        out: Outcomes = []
        for args, s in self._evaluator.eval_all((node.target, node.capacity), state):
            self._walk.in_reader = self._walk.reading
            if node.kind == "getline":
                out += self._getline(node, args, s)
            else:
                places = self._evaluator.places_at(node.target, args[0], ctype.CHAR)
                out += [(0, s), (args[0] if truth(args[0]) else NONZERO, self._filled(places, s, node, args[1]))]
            self._walk.in_reader = False
        return out

    def _check_reader(self, node: ir.ReadRecord | ir.ReadPair) -> None:
        if not self._walk.reading:
            self._walk.findings.problem("HD215", _SECOND, node.span)

    def _getline(self, node: ir.ReadRecord, args: list[Value], state: State) -> Outcomes:
        target = self._evaluator.places_at(node.target, args[0], ctype.Pointer(ctype.CHAR))
        capacity = self._evaluator.places_at(node.capacity, args[1], ctype.ULONG)
        failed = state
        if not self._walk.reading:
            self._memory.read([*target, *capacity], state, node.span, site=(node.number, ITSELF))
        state = self._memory.write(target, state, Addr(RECORD.cell, 0), node.span)
        state = self._memory.write(capacity, state, ANY, node.span)
        return [(-1, failed), (Bound(RECORD, 1, nonzero=True), state)]

    def _filled(self, places: list[Touched], state: State, node: ir.ReadRecord, size: Value) -> State:
        """The record's buffer is written up to the record's NUL; behind it stands what earlier ones left."""
        self._memory.fits(node, ITSELF, places, size if isinstance(size, int) else None, state)
        return self._memory.write_string(places, state, node.span)

    def read_pair(self, node: ir.ReadPair, state: State) -> Outcomes:
        self._check_reader(node)
        scans = formats.split_scanf(node.format) or []
        out: Outcomes = []
        for args, s in self._evaluator.eval_all(node.targets, state):
            self._walk.in_reader = self._walk.reading
            out += self.scan(node, scans, 0, args, s)
            self._walk.in_reader = False
        return out


def _uncast(node: ir.Expr) -> ir.Expr:
    """A pointer as it was before it was handed over as `const void *` or the like."""
    while isinstance(node, ir.Cast) and isinstance(node.operand.type, ctype.Pointer):
        node = node.operand
    return node


def _size(access: Access, args: list[Value]) -> int | None:
    return _product([args[n] for n in access.size if n < len(args)]) if access.size else None


def _product(values: list[Value]) -> int | None:
    result = 1
    for value in values:
        if not isinstance(value, int):
            return None
        result *= value
    return result if values and result >= 0 else None


_SECOND = ("it reads from stdin a second time in one round of the loop, but a split may begin between two lines: put each "
           "record on one line before the job (paste -d '\\t' - - - -)")
_TO_START = frozenset("strcpy strncpy strcat strncat memcpy memmove memset".split())  # what they return is where they wrote
_FIND = frozenset({"strchr", "strrchr", "index", "rindex"})
_LENGTHS = frozenset({"strlen", "strnlen", "strcspn", "strspn"})  # of the string there, or of a part of it

_SMALL = 64 * 1024  # bytes: what a record may allocate


def _small_allocation(node: ir.Call) -> bool:
    sizes: list[Value] = [a.value for a in node.args if isinstance(a, ir.Const) and isinstance(a.value, int)]
    total = _product(sizes)
    return len(sizes) == len(node.args) and total is not None and total <= _SMALL


_SPECIAL: dict[str, Callable[[FlowCalls, ir.Call, list[Value], State], Outcomes]] = {
    "strtok": FlowCalls.strtok, "strtok_r": FlowCalls.strtok_r, "__strtok_r": FlowCalls.strtok_r, "strsep": FlowCalls.strsep,
    "sprintf": FlowCalls.sprintf, "snprintf": FlowCalls.sprintf, "sscanf": FlowCalls.sscanf,
    "__errno_location": FlowCalls.errno, "__hd_sort_end": FlowCalls.sort_end,
}

_NODES: dict[type, Callable[[FlowCalls, Any, State], Outcomes]] = {
    ir.Call: FlowCalls.plain, ir.Emit: FlowCalls.output, ir.Stderr: FlowCalls.output, ir.Exit: FlowCalls.exit,
    ir.ReadRecord: FlowCalls.read_record, ir.ReadPair: FlowCalls.read_pair,
}
