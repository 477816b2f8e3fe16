"""How a combiner was seen to read its pairs, gathered while its statements run on symbols."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

from ...manifest import MOST_NUMBERS
from ...source import Span
from ..types.ctype import CType, Float, Int
from .loop import ValueField, ValueText
from .state import VALUES, NoKeyLoop

_SEPARATORS = b" ,;:|/=#&\t"  # none of them is part of a number, or ends a line
_CANDIDATES = tuple([bytes([a]) for a in _SEPARATORS] + [bytes([a, b]) for a in _SEPARATORS for b in _SEPARATORS])
INTEGER_BYTES, FLOAT_BYTES = 20, 100  # the longest text of a number that reads back (manifest.PairReader)


@dataclass
class TextForm:
    """A text of a value, as `loop.ValueText`, of which `most` becomes known bit by bit."""

    stops: bytes
    empty: bool
    indented: bool
    most: int = 0


@dataclass
class Reader:
    """What the runs learn of how pairs are read: the longest key that is read whole, and that is kept whole (0: any).

    number     the type of a key that is read as a number; narrow: that it is converted to: what does not fit there does
               not read back either.
    none       the number that the combiner has in the place of a key as long as there is none.
    fields     the numbers of a value by their places; used: of narrower types that all that is made of them goes by.
    texts      what of a value is read as texts, by their places; ended: where those, and fields that nobody reads, end;
               with_newline: those that would hold the line's newline, if they were the last.
    between    what may stand behind each, as far as is known of it.
    line_room  bytes of a line, without its end, that are read whole; 0: any.
    nonempty   it takes an empty key for none.
    guarded    it may end the process at a pair, as it looks at the pair's key, at a place of the program; ends_at_value: at
               its numbers.
    """

    key: Literal["", "token", "field"] = ""
    read_max: int = 0
    keep_max: int = 0
    number: Int | None = None
    narrow: Int | None = None
    none: int | None = None
    fields: dict[int, Int | Float] = field(default_factory=dict)
    texts: dict[int, TextForm] = field(default_factory=dict)
    ended: dict[int, TextForm] = field(default_factory=dict)
    with_newline: set[int] = field(default_factory=set)
    used: dict[int, Int] = field(default_factory=dict)
    between: dict[int, tuple[bytes, ...]] = field(default_factory=dict)
    line_room: int = 0
    nonempty: bool = False
    guarded: bool = False
    guarded_at: Span | None = None
    ends_at_value: bool = False

    def converted_key(self, kind: Int) -> None:
        """The key's number is converted to a narrower type of the same sign."""
        if kind.bits < 32 or self.narrow not in (None, kind):
            raise NoKeyLoop
        self.narrow = kind

    @property
    def number_kept(self) -> Int | None:
        return self.narrow or self.number

    @property
    def key_max(self) -> int:
        """The more is known of the value, the less is left for a key of the line."""
        room = [self.line_room - 1 - self._value_bytes] if self.line_room else []
        return min([n for n in (self.read_max, self.keep_max) if n] + room, default=0)

    @property
    def _value_bytes(self) -> int:
        sizes = [FLOAT_BYTES if isinstance(kind, Float) else INTEGER_BYTES for kind in self.fields.values()]
        sizes += [text.most for text in self.texts.values()]
        return sum(sizes or [INTEGER_BYTES]) + 2 * (len(sizes) - 1 if sizes else 0)

    def found_key(self, kind: Literal["token", "field"], longest: int = 0) -> None:
        if self.key and (self.key, self.read_max) != (kind, longest):
            raise NoKeyLoop
        self.key, self.read_max = kind, longest

    def found_number(self, kind: CType | None) -> None:
        """The key's text is read as a number."""
        if not isinstance(kind, Int) or kind.bits < 32 or (self.number is not None and self.number != kind):
            raise NoKeyLoop
        self.number = kind

    def found_none(self, number: int) -> None:
        """A key was compared with a constant: the two must differ, or what is done depends on the key."""
        if self.none is not None and self.none != number:
            raise NoKeyLoop
        self.none = number

    def found_value(self, at: int, kind: CType | None) -> Int | Float:
        """The number at a place of the value is read; its type as given back."""
        if at >= MOST_NUMBERS:
            raise NoKeyLoop(f"its values have more than {MOST_NUMBERS} numbers")
        if at in self.texts:
            raise NoKeyLoop("a field of the value is read as a number and as a text")
        fits = kind in VALUES or (isinstance(kind, Float) and kind.bits <= 64)
        if not isinstance(kind, (Int, Float)) or not fits or (at in self.fields and self.fields[at] != kind):
            raise NoKeyLoop
        self.fields.setdefault(at, kind)
        return kind

    def found_text(self, at: int, stops: bytes, *, empty: bool, indented: bool = True) -> None:
        """A text is read at a place of the value, up to one of `stops`; none: to the end of the line."""
        if at >= MOST_NUMBERS:
            raise NoKeyLoop(f"its values have more than {MOST_NUMBERS} numbers")
        if at in self.fields:
            raise NoKeyLoop("a field of the value is read as a number and as a text")
        form = TextForm(stops, empty, indented)
        if replace(self.texts.setdefault(at, form), most=0) != form:
            raise NoKeyLoop("a text of the value is read in several ways")

    def keeps_text(self, at: int, longest: int) -> None:
        """Longer texts at that place do not read back."""
        if longest < 1:
            raise NoKeyLoop
        form = self.texts[at]
        form.most = min(form.most, longest) if form.most else longest

    def share_line(self) -> None:
        """Of a line that is read in a buffer, what the key and numbers leave is for the texts."""
        open_ended = [form for form in self.texts.values() if not form.most]
        if self.line_room and open_ended:
            key = min((n for n in (self.read_max, self.keep_max) if n), default=0)
            room = (self.line_room - 1 - key - self._value_bytes) // len(open_ended) if key else 0
            if room < 1:
                raise NoKeyLoop("a pair may be longer than what fgets reads of it")
            for form in open_ended:
                form.most = room

    def found_end(self, at: int, stops: bytes, *, empty: bool) -> None:
        """What stands at a place of the value ends before one of `stops`, whatever it is."""
        self.ended.setdefault(at, TextForm(stops, empty, True))

    def fill(self) -> None:
        """Of a field that nobody reads it matters where it ends; behind the last end that is known, anything may stand."""
        for at in range(max((*self.ended, *(at + 1 for at in self.between), -1)) + 1):
            if at not in self.fields and at not in self.texts:
                form = self.ended.get(at) or TextForm(b"", at not in self.between, True)
                if at in self.between and not form.stops:
                    raise NoKeyLoop("a number of the value is not read")
                self.texts[at] = form

    def forms(self) -> tuple[ValueField | ValueText, ...]:
        """Of all of the value, from left to right."""
        found: dict[int, ValueField | ValueText] = {at: ValueField(self.kept(at)) for at in self.fields}
        found |= {at: ValueText(t.stops, t.most, t.empty, t.indented) for at, t in self.texts.items()}
        return tuple(found[at] for at in sorted(found))

    def kept(self, at: int) -> Int | Float:
        """The type of which a number is, to who checks it and reads it anew."""
        return self.used.get(at, self.fields[at])

    def narrowed(self, at: int, allowed: Callable[[bytes], object]) -> None:
        """Behind the number at that place stands something for which `allowed` holds."""
        left = tuple(text for text in self.between.get(at, _CANDIDATES) if allowed(text))
        if not left:
            raise NoKeyLoop("what stands between the numbers of a value is not known")
        self.between[at] = left

    def keeps(self, longest: int) -> None:
        """Keys longer than this are not kept whole."""
        if longest < 1:
            raise NoKeyLoop
        self.keep_max = min(self.keep_max, longest) if self.keep_max else longest

    def separators(self, wanted: tuple[bytes, ...] | None) -> tuple[bytes, ...]:
        """What stands between the numbers: the `wanted` where it may, as where it is printed so.

        Raises Refused where one of the numbers is not read.
        """
        count = self.count
        if {*self.fields, *self.texts} != set(range(count)) or any(at >= max(count - 1, 0) for at in self.between):
            raise NoKeyLoop("a number of the value is not read")
        for at, form in self.texts.items():  # each ends where its stop stands, and the last one at the end
            if at == count - 1 and at in self.with_newline:
                raise NoKeyLoop("a text holds the newline of its line")
            if at < count - 1:
                self.narrowed(at, partial(_begins_with, form.stops))
        choices = self.choices()
        if wanted is None or len(wanted) != len(choices):
            return tuple(choice[0] for choice in choices)
        return tuple(text if text in choice else choice[0] for text, choice in zip(wanted, choices, strict=True))

    def choices(self) -> tuple[tuple[bytes, ...], ...]:
        """What may stand behind each number but the last."""
        return tuple(self.between.get(at, _CANDIDATES) for at in range(self.count - 1))

    @property
    def count(self) -> int:
        """Numbers and texts of a value."""
        return len(self.fields) + len(self.texts)


def _begins_with(stops: bytes, text: bytes) -> bool:
    return text[0] in stops
