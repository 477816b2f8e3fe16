"""Library calls and the program's own functions in a symbolic run: how a pair is cut, read, compared and kept."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from ..analysis.objects import Local, Object
from ..ir import formats, ir
from ..ir.pieces import make_pieces
from ..normalise.stdio import literal
from ..types import ctype
from . import algebra, loop
from .finish import printed
from .loop import Number, PairField
from .state import Jump, NoKeyLoop, Printed
from .terms import (
    KEY,
    KEY_LENGTH,
    KEY_SIZE,
    LENGTH,
    LINE,
    LINE_END,
    NEWLINE,
    NONZERO,
    NULL,
    POSITIVE,
    TAB,
    ZERO,
    Address,
    ArrayStart,
    Compared,
    Const,
    End,
    Made,
    Num,
    NumberStart,
    Term,
    TextAddress,
    TextTerm,
    known,
    newline_behind,
    number,
    value_text,
)

if TYPE_CHECKING:
    from .run import Execution

_NUMBERS: dict[str, ctype.Int | ctype.Float] = {
    "atoi": ctype.INT, "atol": ctype.LONG, "atoll": ctype.LLONG, "atof": ctype.DOUBLE,
}
_STRTO: dict[str, ctype.Int | ctype.Float] = {
    "strtol": ctype.LONG, "strtoll": ctype.LLONG, "strtoul": ctype.ULONG, "strtoull": ctype.ULLONG,
    "strtod": ctype.DOUBLE, "strtof": ctype.FLOAT,
}
_WHITE = b" \t\n\v\f\r"
_OF_NUMBERS = b"0123456789+-.eEinfINF"
_SCANNED = "dufFeEgG"
_DEPTH = 8  # calls within calls


class Calls:
    """`call`: what a call gives, and what it does to the state of its run."""

    def __init__(self, run: Execution) -> None:
        self._run = run
        self._depth = 0

    def call(self, node: ir.Call) -> Term:
        name = ir.called(node)
        if name in self._run.program.by_name:
            return self._own(self._run.program.by_name[name], node)
        handler = _CALLS.get(name)
        if handler is None:
            raise NoKeyLoop
        return handler(self, node)

    def _own(self, callee: ir.Function, node: ir.Call) -> Term:
        """A helper in line: no locals survive it."""
        if self._depth >= _DEPTH:
            raise NoKeyLoop
        args = [self._run.value(a) for a in node.args]
        outer, self._run.function = self._run.function, callee.name
        self._depth += 1
        for param, arg in zip(callee.params, args, strict=True):
            self._run.state.terms[Local(callee.name, param.name)] = arg
        result: Term = None
        try:
            self._run.block(callee.body)
        except Jump as stop:
            if stop.how != "return":
                raise
            result = stop.value
        finally:
            self._run.function = outer
            self._depth -= 1
        return result

    # ------------------------------------------------------------------------------------- comparing

    def strcmp(self, node: ir.Call) -> Term:
        return self._compare_strings(node)

    def strncmp(self, node: ir.Call) -> Term:
        """Compares whole keys where the count reaches beyond the longest."""
        count = self._run.value(node.args[2])
        contents = [self._run.string(arg) for arg in node.args[:2]]
        if any(isinstance(content, Made) for content in contents) and isinstance(count, Const) and count.value >= 0:
            left, right = (value_text(content) for content in contents)
            if left is None or right is None:
                raise NoKeyLoop
            return self._order(self._run.cut(left, count.value), self._run.cut(right, count.value))
        if not isinstance(count, Const) or not self._run.reader.key_max or count.value <= self._run.reader.key_max:
            raise NoKeyLoop
        return self._compare_strings(node)

    def _compare_strings(self, node: ir.Call) -> Term:
        left, right = self._run.string(node.args[0]), self._run.string(node.args[1])
        if isinstance(left, Made) or isinstance(right, Made):
            return self._order(value_text(left), value_text(right))
        pair = {left, right}
        if pair == {TextTerm.KEY, TextTerm.KEPT}:
            return ZERO if self._run.situation == "same" else NONZERO
        if pair in ({TextTerm.KEY, TextTerm.EMPTY}, {TextTerm.KEPT, TextTerm.EMPTY}):
            self._run.reader.nonempty = True
            return NONZERO
        if pair == {TextTerm.EMPTY}:
            return ZERO
        raise NoKeyLoop

    def _order(self, left: loop.Term | None, right: loop.Term | None) -> Term:
        if left is None or right is None:
            raise NoKeyLoop
        if algebra.is_joined(left) or algebra.is_joined(right):
            raise NoKeyLoop("a text that is put together is compared with another")
        order = algebra.order(left, right)
        return Compared(order) if isinstance(order, loop.Order) else known(order)

    def strlen(self, node: ir.Call) -> Term:
        content = self._run.string(node.args[0])
        if content == TextTerm.EMPTY:
            return ZERO
        if isinstance(content, Made):
            return known(algebra.length(content.term))
        if content in (TextTerm.KEY, TextTerm.KEPT):
            self._run.reader.nonempty = True
            return KEY_LENGTH if content == TextTerm.KEY else POSITIVE
        whole = self._run.value(node.args[0]) == LINE and not self._run.state.cut and not self._run.state.chopped
        return LENGTH if whole else None

    # ------------------------------------------------------------------------------------- keeping

    def strcpy(self, node: ir.Call) -> Term:
        to = self._array(node.args[0])
        content = self._run.string(node.args[1])
        if isinstance(content, Made):
            return self._keep(to, content)
        if content not in (TextTerm.KEY, TextTerm.KEPT, TextTerm.EMPTY):
            raise NoKeyLoop
        if content == TextTerm.KEY:
            self._run.reader.keeps(self._run.array_size(to) - 1)  # a longer key overflows the array
        self._run.state.contents[to] = content
        return ArrayStart(to)

    def strncpy(self, node: ir.Call) -> Term:
        """Keeps the whole key where the count reaches; exactly to its end, the NUL has to come from elsewhere."""
        to, content, count = self._array(node.args[0]), self._run.string(node.args[1]), self._run.value(node.args[2])
        if isinstance(content, Made):
            return self._keep_first(to, content, count)
        if content != TextTerm.KEY or not isinstance(count, Const) or count.value > self._run.array_size(to):
            raise NoKeyLoop
        self._run.reader.keeps(min(count.value, self._run.array_size(to) - 1))
        ends = count.value > self._run.reader.key_max or to in self._run.zeroed
        self._run.state.contents[to] = TextTerm.KEY if ends else TextTerm.OPEN_KEY
        return ArrayStart(to)

    def memcpy(self, node: ir.Call) -> Term:
        """Keeps the whole key with its NUL, by its length or by a size that holds both."""
        to, source, count = self._array(node.args[0]), self._run.value(node.args[1]), self._run.value(node.args[2])
        content = self._run.string(node.args[1])
        if isinstance(content, Made):
            return self._keep_bytes(to, source, content, count)
        if content != TextTerm.KEY:
            raise NoKeyLoop
        longest = self._run.array_size(to) - 1
        if isinstance(count, Const) and isinstance(source, ArrayStart):
            if count.value > min(longest + 1, self._run.array_size(source.obj)):
                raise NoKeyLoop
            longest = count.value - 1
        elif count != KEY_SIZE:
            raise NoKeyLoop
        self._run.reader.keeps(longest)
        self._run.state.contents[to] = TextTerm.KEY
        return ArrayStart(to)

    def snprintf(self, node: ir.Call) -> Term:
        count = self._run.value(node.args[1])
        if literal(node.args[2]) != b"%s" or not isinstance(self._run.value(node.args[0]), ArrayStart):
            return self._printed(node, 2, number(count, node.args[1].type))
        to = self._array(node.args[0])
        if not isinstance(count, Const):
            raise NoKeyLoop
        content = self._run.string(node.args[3])
        if not 1 < count.value <= self._run.array_size(to) or (content != TextTerm.KEY and not isinstance(content, Made)):
            raise NoKeyLoop
        if isinstance(content, Made):
            self._run.state.contents[to] = Made(self._run.cut(content.term, count.value - 1))
            return None
        self._run.reader.keeps(count.value - 1)
        self._run.state.contents[to] = TextTerm.KEY
        return POSITIVE

    def sprintf(self, node: ir.Call) -> Term:
        if literal(node.args[1]) != b"%s" or not isinstance(self._run.value(node.args[0]), ArrayStart):
            return self._printed(node, 1, None)
        to = self._array(node.args[0])
        content = self._run.string(node.args[2])
        if isinstance(content, Made):
            self._keep(to, content)
            return None
        if content != TextTerm.KEY:
            raise NoKeyLoop
        self._run.reader.keeps(self._run.array_size(to) - 1)
        self._run.state.contents[to] = TextTerm.KEY
        return POSITIVE

    def memset(self, node: ir.Call) -> Term:
        to, count = self._array(node.args[0]), self._run.value(node.args[2])
        kind = self._run.type_of(to)
        if algebra.is_numbers(kind) and count == Const(self._run.array_size(to)) and self._run.value(node.args[1]) == ZERO:
            self._run.state.terms[to] = Num(loop.Zeros(kind))  # type: ignore[arg-type]
            return ArrayStart(to)
        if not algebra.is_text(kind) or self._run.value(node.args[1]) != ZERO or not isinstance(count, Const):
            raise NoKeyLoop
        if not 0 < count.value <= self._run.array_size(to):
            raise NoKeyLoop
        self._run.state.contents[to] = TextTerm.EMPTY
        return ArrayStart(to)

    def _keep(self, to: Object, content: Made) -> Term:
        """A copy of a text of the value, or of one that is kept; one that does not fit does not read back."""
        self._run.fits(content.term, self._run.array_size(to) - 1)
        self._run.state.contents[to] = content
        return ArrayStart(to)

    def _keep_first(self, to: Object, content: Made, count: Term) -> Term:
        """strncpy: no NUL where the text has as many bytes, or more, but what stands there already."""
        size = self._run.array_size(to)
        if not isinstance(count, Const) or not 0 < count.value <= size:
            raise NoKeyLoop
        if to in self._run.zeroed and count.value < size:
            if count.value < size - 1:
                raise NoKeyLoop
            self._run.state.contents[to] = Made(self._run.cut(content.term, count.value))
        else:
            self._run.state.contents[to] = Made(content.term, count.value)
        return ArrayStart(to)

    def _keep_bytes(self, to: Object, source: Term, content: Made, count: Term) -> Term:
        """memcpy of a text with its NUL, by its length or by a size that holds both."""
        if count == known(algebra.binary("+", algebra.length(content.term), Number(1, ctype.ULONG), ctype.ULONG)):
            return self._keep(to, content)
        if not isinstance(count, Const) or not isinstance(source, ArrayStart):
            raise NoKeyLoop
        if not 1 < count.value <= min(self._run.array_size(to), self._run.array_size(source.obj)):
            raise NoKeyLoop
        self._run.fits(content.term, count.value - 1)
        self._run.state.contents[to] = content
        return ArrayStart(to)

    # ------------------------------------------------------------------------------------- putting texts together

    def strcat(self, node: ir.Call) -> Term:
        to, content = self._array(node.args[0]), value_text(self._run.string(node.args[1]))
        if content is None or algebra.is_joined(content):
            raise NoKeyLoop
        if ir.called(node) == "strncat":
            count = self._run.value(node.args[2])
            if not isinstance(count, Const) or count.value < 0:
                raise NoKeyLoop
            content = self._run.cut(content, count.value)
        self._join(to, None, (content.data if isinstance(content, loop.LiteralText) else loop.PrintedTerm("%s", content),))
        return ArrayStart(to)

    def _printed(self, node: ir.Call, at: int, count: loop.Term | None) -> Term:
        """sprintf and snprintf to an array's start, or behind what it holds; `at`: of the format. One that cuts leaves."""
        text, target = literal(node.args[at]), self._run.value(node.args[0])
        if at == 2 and count is None:
            raise NoKeyLoop
        pieces = self._pieces(node, make_pieces(text, node.args[at + 1 :]) if text is not None else None)
        if isinstance(target, ArrayStart):
            target = TextAddress(target.obj, Number(0, ctype.LONG))
        if not isinstance(target, TextAddress):
            raise NoKeyLoop
        upto = algebra.convert(target.at, ctype.ULONG)
        assert upto is not None
        self._join(target.obj, upto, pieces)
        made = algebra.added([algebra.size(piece) for piece in pieces])
        if count is not None:
            room = algebra.convert(count, ctype.ULONG)
            assert room is not None
            self._outside(algebra.binary(">=", made, room, ctype.INT))
        return known(algebra.convert(made, ctype.INT))

    def _pieces(self, node: ir.Call, pieces: tuple[ir.Piece, ...] | None) -> tuple[bytes | loop.PrintedTerm, ...]:
        found: list[bytes | loop.PrintedTerm] = []
        for piece in pieces or ():
            if isinstance(piece, ir.Text):
                found.append(piece.data)
                continue
            letter = piece.spec[-1]
            arg = piece.args[-1] if piece.args else None
            if arg is None or letter == "c":
                raise NoKeyLoop
            what = self._run.string(arg) if letter == "s" else self._run.value(arg)
            made = printed(Printed(piece.spec, what, None if letter == "s" else arg.type, node.span))
            if not isinstance(made, loop.PrintedTerm):
                raise NoKeyLoop("a key is a part of a text that is put together")
            plain = made.spec == "%s" and isinstance(made.term, loop.LiteralText)
            found.append(made.term.data if plain else made)  # type: ignore[union-attr]
        if pieces is None:
            raise NoKeyLoop
        return tuple(piece for piece in found if piece)

    def _join(self, to: Object, upto: loop.Term | None, pieces: tuple[bytes | loop.PrintedTerm, ...]) -> None:
        """Pieces behind what an array holds. What does not fit, or begins behind its end, leaves the task."""
        size = Number(self._run.array_size(to), ctype.ULONG)
        base = value_text(self._run.state.contents.get(to))
        if upto == Number(0, ctype.ULONG):
            base = loop.LiteralText(b"")
        made = algebra.joined(base, upto, pieces) if base is not None else None
        others = (part for piece in pieces if isinstance(piece, loop.PrintedTerm) for part in algebra.parts(piece.term))
        if made is None or base is None or any(isinstance(part,
                                                          loop.KeptValue) and part.type == loop.TEXT for part in others):
            raise NoKeyLoop("a text that is put together from others that are kept")
        if not all(self._is_own(part, to) for part in algebra.parts(made)):
            raise NoKeyLoop("a text that is put together from others that are kept")
        if upto is not None:
            self._outside(algebra.binary(">", upto, algebra.length(base), ctype.INT))
        self._outside(algebra.binary(">=", algebra.length(made), size, ctype.INT))
        self._run.state.contents[to] = Made(made)

    def _is_own(self, part: loop.Term, to: Object) -> bool:
        """Is it no text that is kept, but the one of that array?"""
        return not (isinstance(part, loop.KeptValue) and part.type == loop.TEXT) or self._run.kept[part.number] == to

    def _outside(self, condition: loop.Term | None) -> None:
        assert condition is not None
        state = self._run.state
        state.outside = algebra.either(state.outside, condition)
        if state.outside == Number(1, ctype.INT) or algebra.too_large(state.outside):
            raise NoKeyLoop("a text may be too long for the array that it is copied to")

    def _array(self, node: ir.Expr) -> Object:
        term = self._run.value(node)
        if not isinstance(term, ArrayStart):
            raise NoKeyLoop
        return term.obj

    # ------------------------------------------------------------------------------------- cutting the line

    def strchr(self, node: ir.Call) -> Term:
        """The line's tab is always there: the collector writes one behind every key. Else what stands behind a number."""
        text, wanted = self._run.value(node.args[0]), self._run.value(node.args[1])
        if not isinstance(wanted, Const):
            raise NoKeyLoop
        if text == LINE and not self._run.state.cut and wanted.value == 9:
            return TAB
        if wanted.value == 10 and ir.called(node) != "memchr":
            return self._newline(text)
        if text == TAB and not self._run.state.cut and wanted.value != 9:
            text = NumberStart(0)
        if not isinstance(text, NumberStart):
            raise NoKeyLoop
        self._crossed(text.at, lambda between: between[0] == wanted.value)
        self._run.reader.found_end(text.at, bytes([wanted.value]), empty=True)
        return End(text.at)

    def _newline(self, text: Term) -> Term:
        """Of the line, or of what is left of it behind a place of the value; it is there as long as nothing is cut off."""
        state = self._run.state
        whole = (text == LINE and not state.cut) or (
            isinstance(text, NumberStart) and not any(at >= text.at for at in state.cuts))
        if not whole or state.chopped or state.strtok is not None:
            raise NoKeyLoop
        return NEWLINE

    def _crossed(self, at: int, allowed: Callable[[bytes], object] = bool) -> None:
        """What stands behind the number at that place is read, so that no NUL may be there."""
        reader, gone = self._run.reader, self._run.state.cuts.get(at)
        if gone == b"":
            raise NoKeyLoop
        reader.narrowed(at, lambda between: allowed(between) and not (gone and between[0] in gone))

    def strcspn(self, node: ir.Call) -> Term:
        stops = literal(node.args[1])
        text = self._run.value(node.args[0])
        if stops not in (b"\n", b"\r\n", b"\n\r"):  # no line has a carriage return
            return None
        if text == LINE and not self._run.state.cut:
            return LINE_END
        if isinstance(text, NumberStart) and self._newline(text) == NEWLINE:
            return newline_behind(text.at)
        return None

    def strtok(self, node: ir.Call) -> Term:
        """The key first, then number after number: each may have stops of its own."""
        return self._token(node, None)

    def strtok_r(self, node: ir.Call) -> Term:
        place = self._run.value(node.args[2])
        if not isinstance(place, Address):
            raise NoKeyLoop
        self._run.state.terms[place.obj] = None
        return self._token(node, place.obj)

    def _token(self, node: ir.Call, by: Object | None) -> Term:
        text, stops = self._run.value(node.args[0]), literal(node.args[1])
        state = self._run.state
        if not stops or set(stops) & set(_OF_NUMBERS):
            raise NoKeyLoop
        if text == LINE and not state.cut:
            if b"\t" not in stops or set(stops) - set(_WHITE):
                raise NoKeyLoop
            state.cut, state.strtok, state.by = True, -1, by
            self._run.reader.nonempty = True  # or the value would be taken for the key
            kind: Literal["token", "field"] = "token" if b" " in stops else "field"
            self._run.reader.found_key(kind)
            return LINE
        if text != NULL or state.strtok is None or state.by is not by:
            raise NoKeyLoop
        if state.strtok >= 0:
            before = state.cuts[state.strtok]
            self._run.reader.narrowed(state.strtok, lambda t: t[0] in before and not set(t[1:]) - set(stops))
        state.strtok += 1
        state.cuts[state.strtok] = stops
        self._run.reader.found_end(state.strtok, stops.replace(b"\n", b"").replace(b"\r", b""), empty=False)
        return NumberStart(state.strtok)

    # ------------------------------------------------------------------------------------- numbers

    def magnitude(self, node: ir.Call) -> Term:
        return known(algebra.magnitude(self._operand(node)))

    def real(self, node: ir.Call) -> Term:
        name = ir.called(node)
        return known(algebra.real(name.removesuffix("f") if node.type == ctype.FLOAT else name, self._operand(node)))

    def _operand(self, node: ir.Call) -> loop.Term:
        term = number(self._run.value(node.args[0]), node.type)
        if term is None or not algebra.computes(node.type) or node.args[0].type != node.type:
            raise NoKeyLoop
        return term

    def number(self, node: ir.Call) -> Term:
        """The key at the line's start, or a number of the value; strtol's end pointer behind the key is the tab."""
        name = ir.called(node)
        kind = _NUMBERS.get(name) or _STRTO[name]
        if name in _STRTO and isinstance(kind, ctype.Int) and self._run.value(node.args[2]) != Const(10):
            raise NoKeyLoop
        text = self._run.value(node.args[0])
        if text == LINE:
            self._run.reader.found_number(kind)
            end: Term = TAB if not self._run.state.cut else None
        else:
            at = self._begins(text)
            kind = self._run.reader.found_value(at, kind)
            end = End(at)
        if name in _STRTO:
            self._end_pointer(node.args[1], end)
        return KEY if text == LINE else Num(PairField(at, kind))

    def _begins(self, text: Term) -> int:
        """The place of the number that begins at a pointer, or behind white space there."""
        if isinstance(text, NumberStart):
            return text.at
        if text == TAB and not self._run.state.cut:
            return 0
        if not isinstance(text, End):
            raise NoKeyLoop
        self._crossed(text.at, bytes.isspace)
        return text.at + 1

    def _end_pointer(self, node: ir.Expr, end: Term) -> None:
        term = self._run.value(node)
        if isinstance(term, Address):
            self._run.state.terms[term.obj] = end
        elif term != NULL:
            raise NoKeyLoop

    def sscanf(self, node: ir.Call) -> Term:
        """Of the whole line, or of the value's numbers from one on."""
        text, state = literal(node.args[1]), self._run.state
        scans = formats.split_scanf(text) if text is not None else None
        source = self._run.value(node.args[0])
        if not scans:
            raise NoKeyLoop
        if source != LINE:
            return self._scan_numbers(self._scanned_from(source, scans), scans, node.args[2:])
        if state.cut or state.chopped:
            raise NoKeyLoop
        return self.scan(scans, node.args[2:], line=True)

    def _scanned_from(self, source: Term, scans: list[formats.Scan]) -> int:
        """The place of the value at which sscanf begins; a set does not pass over what is before it."""
        if scans[0].letter == "[" and not isinstance(source, NumberStart):
            raise NoKeyLoop
        return self._begins(source)

    def scan(self, scans: list[formats.Scan], targets: tuple[ir.Expr, ...], *, line: bool) -> Term:
        """A key and numbers, as scanf takes them. `line`: from one line, so what follows does not matter."""
        parts = [s for s in scans if s.letter != " "]
        if len(parts) < 2 or not (parts[0].stores and parts[1].stores) or not targets:
            raise NoKeyLoop
        key, value = parts[:2]
        if key.letter in "du" and not key.width:
            self._run.reader.found_number(key.target)
            self._run.state.terms[self._number_target(targets[0], key.target)] = KEY
        else:
            self._scan_text(scans, key, value, targets[0], line=line)
        rest = scans[scans.index(key) + 1 :]
        if value.letter == "[" and rest[0].letter != " ":
            raise NoKeyLoop
        found = self._scan_numbers(0, rest, targets[1:])
        return Const(found.value + 1)

    def _scan_text(
        self, scans: list[formats.Scan], key: formats.Scan, value: formats.Scan, target: ir.Expr, *, line: bool,
    ) -> None:
        gap = any(s.letter == " " for s in scans[scans.index(key) + 1 : scans.index(value)])
        if key.letter == "s" and not key.length:
            to = self._array(target)
            self._run.reader.found_key("token", key.width or self._run.array_size(to) - 1)
        elif line and scans[0] is key and key.text in (b"[^\t]", b"[^\t\n]") and (gap or value.letter in _SCANNED + "s"):
            to = self._array(target)
            self._run.reader.nonempty = True  # %[ takes no empty text
            self._run.reader.found_key("field", key.width or self._run.array_size(to) - 1)
        else:
            raise NoKeyLoop
        if key.width >= self._run.array_size(to):
            raise NoKeyLoop
        self._run.state.contents[to] = TextTerm.KEY

    def _scan_numbers(self, at: int, scans: list[formats.Scan], targets: tuple[ir.Expr, ...]) -> Const:
        """Numbers and texts from a place on; what stands between two must be what the format has there."""
        numbers = [n for n, scan in enumerate(scans) if scan.stores]
        if len(numbers) != len(targets) or not numbers or any(s.letter == "=" for s in scans[: numbers[0]]):
            raise NoKeyLoop
        if any(s.letter != " " for s in scans[numbers[-1] + 1 :]):
            raise NoKeyLoop
        for place, (n, target) in enumerate(zip(numbers, targets, strict=True), at):
            scan = scans[n]
            before = scans[numbers[place - at - 1] + 1 : n] if place > at else scans[:n]
            if any(s.letter not in " =" for s in before):
                raise NoKeyLoop
            if place > at:
                skipped = b"" if scan.letter == "[" else b"[ \\t]*"
                pattern = re.compile(b"".join(_pattern(s) for s in before) + skipped)
                self._crossed(place - 1, pattern.fullmatch)
            if scan.letter in "s[":
                after_space = bool(before) and before[-1].letter == " "
                self._scan_value_text(place, scan, target, indented=not after_space, last=n == numbers[-1])
                continue
            if scan.letter not in _SCANNED or scan.width:
                raise NoKeyLoop
            kind = self._run.reader.found_value(place, scan.target)
            self._run.state.terms[self._number_target(target, kind)] = Num(PairField(place, kind))
        return Const(len(numbers))

    def _scan_value_text(
        self, place: int, scan: formats.Scan, target: ir.Expr, *, indented: bool, last: bool,
    ) -> None:
        """A text of the value by %s or by a set of what is not in it, into an array."""
        stops = _WHITE if scan.letter == "s" else _set(scan.text)
        to = self._array(target)
        most = scan.width or self._run.array_size(to) - 1
        if scan.length or not stops or most >= self._run.array_size(to) or (last and b"\n" not in stops):
            raise NoKeyLoop
        left = stops.replace(b"\n", b"").replace(b"\r", b"")
        self._run.reader.found_text(place, left, empty=False, indented=indented)
        self._run.reader.keeps_text(place, most)
        self._run.state.contents[to] = Made(PairField(place, loop.TEXT))

    def _number_target(self, target: ir.Expr, kind: ctype.CType | None) -> Object:
        """The variable that a conversion stores to, of just the type it stores."""
        term, own = self._run.value(target), ctype.element(target.type)
        if not isinstance(term, Address) or own is None or kind is None or not algebra.same_kind(own, kind):
            raise NoKeyLoop
        return term.obj

    def nothing(self, node: ir.Call) -> Term:
        return None


_CALLS: dict[str, Callable[[Calls, ir.Call], Term]] = {
    "strcmp": Calls.strcmp, "strncmp": Calls.strncmp, "strlen": Calls.strlen, "strcpy": Calls.strcpy,
    "strncpy": Calls.strncpy, "memcpy": Calls.memcpy, "memset": Calls.memset, "snprintf": Calls.snprintf,
    "strcat": Calls.strcat, "strncat": Calls.strcat,
    "sprintf": Calls.sprintf,
    "strchr": Calls.strchr, "index": Calls.strchr, "memchr": Calls.strchr, "strcspn": Calls.strcspn,
    "strtok": Calls.strtok, "strtok_r": Calls.strtok_r,
    **dict.fromkeys([*_NUMBERS, *_STRTO], Calls.number), "sscanf": Calls.sscanf,
    **dict.fromkeys(("abs", "labs", "llabs"), Calls.magnitude),
    **dict.fromkeys(("fabs", "fabsf", "sqrt", "sqrtf"), Calls.real),
    "free": Calls.nothing, "fflush": Calls.nothing,
}


def _set(text: bytes) -> bytes:
    """What ends a text that is scanned by a set of what is not in it; nothing where the set is another one."""
    inside = text[2:-1]
    return inside if text.startswith(b"[^") and inside and b"-" not in inside and b"]" not in inside else b""


def _pattern(scan: formats.Scan) -> bytes:
    """What a directive of scanf that is no conversion takes, of what may stand between two numbers."""
    return b"[ \\t]*" if scan.letter == " " else re.escape(scan.text)
