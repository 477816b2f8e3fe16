"""How a combiner was seen to read its pairs, gathered while its statements run on symbols."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from ..types.ctype import CType, Int
from .state import Refused


@dataclass
class Reader:
    """What the runs learn of how pairs are read: the longest key that is read whole, and that is kept whole (0: any).

    value, number  the types of a value, and of a key, that is read as a number;
    narrow         those that they are converted to: what does not fit there does not read back either.
    none           the number that the combiner has in the place of a key as long as there is none.
    """

    key: Literal["", "token", "field"] = ""
    read_max: int = 0
    keep_max: int = 0
    value: Int | None = None
    number: Int | None = None
    none: int | None = None
    narrow: dict[str, Int] = field(default_factory=dict)

    def converted(self, what: Literal["K", "V"], kind: Int) -> None:
        """A number that was read is converted to a narrower type of the same sign."""
        if kind.bits < 32 or self.narrow.setdefault(what, kind) != kind:
            raise Refused

    @property
    def number_kept(self) -> Int | None:
        return self.narrow.get("K", self.number)

    @property
    def value_kept(self) -> Int | None:
        return self.narrow.get("V", self.value)

    @property
    def key_max(self) -> int:
        return min((n for n in (self.read_max, self.keep_max) if n), default=0)

    def found_key(self, kind: Literal["token", "field"], longest: int = 0) -> None:
        if self.key and (self.key, self.read_max) != (kind, longest):
            raise Refused
        self.key, self.read_max = kind, longest

    def found_number(self, kind: CType | None) -> None:
        """The key's text is read as a number."""
        if not isinstance(kind, Int) or kind.bits < 32 or (self.number is not None and self.number != kind):
            raise Refused
        self.number = kind

    def found_none(self, number: int) -> None:
        """A key was compared with a constant: the two must differ, or what is done depends on the key."""
        if self.none is not None and self.none != number:
            raise Refused
        self.none = number

    def found_value(self, kind: CType | None) -> None:
        if not isinstance(kind, Int) or kind.bits < 32 or (self.value is not None and self.value != kind):
            raise Refused
        self.value = kind

    def keeps(self, longest: int) -> None:
        """Keys longer than this are not kept whole."""
        if longest < 1:
            raise Refused
        self.keep_max = min(self.keep_max, longest) if self.keep_max else longest
