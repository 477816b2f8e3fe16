"""Library calls and the program's own functions in a symbolic run: how a pair is cut, read, compared and kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from ..analysis.objects import Local, Object
from ..ir import formats, ir
from ..normalise.stdio import literal
from ..types import ctype
from .state import Refused, Stop
from .terms import (
    KEY,
    LENGTH,
    LINE,
    LINE_END,
    NONZERO,
    NULL,
    POSITIVE,
    REST,
    TAB,
    VALUE,
    ZERO,
    Address,
    Array,
    Const,
    Term,
    Text,
)

if TYPE_CHECKING:
    from .run import Run

_NUMBERS = {"atoi": ctype.INT, "atol": ctype.LONG, "atoll": ctype.LLONG}
_STRTO = {"strtol": ctype.LONG, "strtoll": ctype.LLONG, "strtoul": ctype.ULONG, "strtoull": ctype.ULLONG}
_WHITE = b" \t\n\v\f\r"
_DEPTH = 8  # calls within calls


class Calls:
    """`call`: what a call gives, and what it does to the state of its run."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._depth = 0

    def call(self, node: ir.Call) -> Term:
        name = ir.called(node)
        if name in self._run.program.by_name:
            return self._own(self._run.program.by_name[name], node)
        handler = _CALLS.get(name)
        if handler is None:
            raise Refused
        return handler(self, node)

    def _own(self, callee: ir.Function, node: ir.Call) -> Term:
        """A helper in line: no locals survive it."""
        if self._depth >= _DEPTH:
            raise Refused
        args = [self._run.value(a) for a in node.args]
        outer, self._run.function = self._run.function, callee.name
        self._depth += 1
        for param, arg in zip(callee.params, args, strict=True):
            self._run.state.terms[Local(callee.name, param.name)] = arg
        result: Term = None
        try:
            self._run.block(callee.body)
        except Stop as stop:
            if stop.how != "return":
                raise
            result = stop.value
        self._run.function = outer
        self._depth -= 1
        return result

    # ------------------------------------------------------------------------------------- comparing

    def strcmp(self, node: ir.Call) -> Term:
        return self._compare_strings(node)

    def strncmp(self, node: ir.Call) -> Term:
        """Compares whole keys where the count reaches beyond the longest."""
        count = self._run.value(node.args[2])
        if not isinstance(count, Const) or not self._run.reader.key_max or count.value <= self._run.reader.key_max:
            raise Refused
        return self._compare_strings(node)

    def _compare_strings(self, node: ir.Call) -> Term:
        pair = {self._run.string(node.args[0]), self._run.string(node.args[1])}
        if pair == {Text.KEY, Text.KEPT}:
            return ZERO if self._run.situation == "same" else NONZERO
        if pair in ({Text.KEY, Text.EMPTY}, {Text.KEPT, Text.EMPTY}):
            return NONZERO
        if pair == {Text.EMPTY}:
            return ZERO
        raise Refused

    def strlen(self, node: ir.Call) -> Term:
        content = self._run.string(node.args[0])
        if content == Text.EMPTY:
            return ZERO
        if content in (Text.KEY, Text.KEPT):
            return POSITIVE
        whole = self._run.value(node.args[0]) == LINE and not self._run.state.cut and not self._run.state.chopped
        return LENGTH if whole else None

    # ------------------------------------------------------------------------------------- keeping

    def strcpy(self, node: ir.Call) -> Term:
        to = self._array(node.args[0])
        content = self._run.string(node.args[1])
        if content not in (Text.KEY, Text.KEPT, Text.EMPTY):
            raise Refused
        if content == Text.KEY:
            self._run.reader.keeps(self._run.array_size(to) - 1)  # a longer key overflows the array
        self._run.state.contents[to] = content
        return Array(to)

    def strncpy(self, node: ir.Call) -> Term:
        """Keeps the whole key where the count reaches; exactly to its end, the NUL has to come from elsewhere."""
        to, content, count = self._array(node.args[0]), self._run.string(node.args[1]), self._run.value(node.args[2])
        if content != Text.KEY or not isinstance(count, Const) or count.value > self._run.array_size(to):
            raise Refused
        self._run.reader.keeps(min(count.value, self._run.array_size(to) - 1))
        ends = count.value > self._run.reader.key_max or to in self._run.zeroed
        self._run.state.contents[to] = Text.KEY if ends else Text.OPEN_KEY
        return Array(to)

    def snprintf(self, node: ir.Call) -> Term:
        to, count = self._array(node.args[0]), self._run.value(node.args[1])
        if literal(node.args[2]) != b"%s" or self._run.string(node.args[3]) != Text.KEY or not isinstance(count, Const):
            raise Refused
        if not 1 < count.value <= self._run.array_size(to):
            raise Refused
        self._run.reader.keeps(count.value - 1)
        self._run.state.contents[to] = Text.KEY
        return POSITIVE

    def sprintf(self, node: ir.Call) -> Term:
        if literal(node.args[1]) != b"%s" or self._run.string(node.args[2]) != Text.KEY:
            raise Refused
        to = self._array(node.args[0])
        self._run.reader.keeps(self._run.array_size(to) - 1)
        self._run.state.contents[to] = Text.KEY
        return POSITIVE

    def _array(self, node: ir.Expr) -> Object:
        term = self._run.value(node)
        if not isinstance(term, Array):
            raise Refused
        return term.obj

    # ------------------------------------------------------------------------------------- cutting the line

    def strchr(self, node: ir.Call) -> Term:
        """The line's tab is always there: the collector writes one behind every key."""
        wanted = self._run.value(node.args[1])
        if self._run.value(node.args[0]) != LINE or self._run.state.cut or not isinstance(wanted, Const):
            raise Refused
        if wanted.value == 9:
            return TAB
        raise Refused

    def strcspn(self, node: ir.Call) -> Term:
        stops = literal(node.args[1])
        if self._run.value(node.args[0]) == LINE and not self._run.state.cut and stops == b"\n":
            return LINE_END
        return None

    def strtok(self, node: ir.Call) -> Term:
        text, stops = self._run.value(node.args[0]), literal(node.args[1])
        if stops is None or b"\t" not in stops or set(stops) - set(_WHITE):
            raise Refused
        if text == LINE and not self._run.state.cut:
            self._run.state.cut = True
            kind: Literal["token", "field"] = "token" if b" " in stops else "field"
            self._run.reader.found_key(kind, self._run.line_max)
            return LINE
        if text == NULL and self._run.state.cut:
            return REST
        raise Refused

    def strtok_rest(self, node: ir.Call) -> Term:
        """strtok(NULL, stops) may use other stops than the first call."""
        if self._run.value(node.args[0]) == NULL and self._run.state.cut and literal(node.args[1]):
            return REST
        return self.strtok(node)

    # ------------------------------------------------------------------------------------- numbers

    def number(self, node: ir.Call) -> Term:
        """The key at the line's start, or the value behind its tab; strtol's end pointer behind the key is the tab."""
        name = ir.called(node)
        kind = _NUMBERS.get(name) or _STRTO[name]
        if name in _STRTO and self._run.value(node.args[2]) != Const(10):
            raise Refused
        text = self._run.value(node.args[0])
        if name in _STRTO:
            self._end_pointer(node.args[1], TAB if text == LINE and not self._run.state.cut else None)
        if text == LINE:
            self._run.reader.found_number(kind)
            return KEY
        if text != REST and (text != TAB or self._run.state.cut):
            raise Refused
        self._run.reader.found_value(kind)
        return VALUE

    def _end_pointer(self, node: ir.Expr, end: Term) -> None:
        term = self._run.value(node)
        if isinstance(term, Address):
            self._run.state.terms[term.obj] = end
        elif term != NULL:
            raise Refused

    def sscanf(self, node: ir.Call) -> Term:
        text = literal(node.args[1])
        if text is None or self._run.value(node.args[0]) != LINE or self._run.state.cut or self._run.state.chopped:
            raise Refused
        self.scan(formats.split_scanf(text) or [], node.args[2:], line=True)
        return Const(2)

    def scan(self, scans: list[formats.Scan], targets: tuple[ir.Expr, ...], *, line: bool) -> None:
        """A key and a number, as scanf takes them. `line`: from one line, so what follows does not matter."""
        parts = [s for s in scans if s.letter != " "]
        if len(parts) != 2 or not all(p.stores for p in parts) or len(targets) != 2:
            raise Refused
        key, value = parts
        if value.letter not in "du" or value.width:
            raise Refused
        if key.letter in "du" and not key.width:
            self._run.reader.found_number(key.target)
            self._run.state.terms[self._number_target(targets[0], key.target)] = KEY
        else:
            self._scan_text(scans, key, value, targets[0], line=line)
        self._run.reader.found_value(value.target)
        self._run.state.terms[self._number_target(targets[1], value.target)] = VALUE

    def _scan_text(
        self, scans: list[formats.Scan], key: formats.Scan, value: formats.Scan, target: ir.Expr, *, line: bool,
    ) -> None:
        gap = any(s.letter == " " for s in scans[scans.index(key) + 1 : scans.index(value)])
        if key.letter == "s" and not key.length:
            to = self._array(target)
            self._run.reader.found_key("token", key.width or self._run.array_size(to) - 1)
        elif line and scans[0] is key and key.text in (b"[^\t]", b"[^\t\n]") and (gap or value.letter in "dinu"):
            to = self._array(target)
            self._run.reader.found_key("field", key.width or self._run.array_size(to) - 1)
        else:
            raise Refused
        if key.width >= self._run.array_size(to):
            raise Refused
        self._run.state.contents[to] = Text.KEY

    def _number_target(self, target: ir.Expr, kind: ctype.CType | None) -> Object:
        """The variable that a conversion stores to, of just the type it stores."""
        term, own = self._run.value(target), ctype.element(target.type)
        if not isinstance(term, Address) or not isinstance(own, ctype.Int) or not isinstance(kind, ctype.Int):
            raise Refused
        if (own.bits, own.signed) != (kind.bits, kind.signed):
            raise Refused
        return term.obj

    def nothing(self, node: ir.Call) -> Term:
        return None


_CALLS: dict[str, Callable[[Calls, ir.Call], Term]] = {
    "strcmp": Calls.strcmp, "strncmp": Calls.strncmp, "strlen": Calls.strlen, "strcpy": Calls.strcpy,
    "strncpy": Calls.strncpy, "snprintf": Calls.snprintf, "sprintf": Calls.sprintf, "strchr": Calls.strchr,
    "index": Calls.strchr, "memchr": Calls.strchr, "strcspn": Calls.strcspn, "strtok": Calls.strtok_rest,
    **dict.fromkeys([*_NUMBERS, *_STRTO], Calls.number), "sscanf": Calls.sscanf,
    "free": Calls.nothing, "fflush": Calls.nothing,
}
