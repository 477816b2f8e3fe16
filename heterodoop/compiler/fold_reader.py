"""How a combiner was seen to read its pairs, gathered while its statements run on symbols."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .ctype import CType, Int
from .fold_state import Refused


@dataclass
class Reader:
    """What the runs learn of how pairs are read: the longest key that is read whole, and that is kept whole (0: any)."""

    key: Literal["", "token", "field"] = ""
    read_max: int = 0
    keep_max: int = 0
    value: Int | None = None

    @property
    def key_max(self) -> int:
        return min((n for n in (self.read_max, self.keep_max) if n), default=0)

    def found_key(self, kind: Literal["token", "field"], longest: int = 0) -> None:
        if self.key and (self.key, self.read_max) != (kind, longest):
            raise Refused
        self.key, self.read_max = kind, longest

    def found_value(self, kind: CType | None) -> None:
        if not isinstance(kind, Int) or kind.bits < 32 or (self.value is not None and self.value != kind):
            raise Refused
        self.value = kind

    def keeps(self, longest: int) -> None:
        """Keys longer than this are not kept whole."""
        if longest < 1:
            raise Refused
        self.keep_max = min(self.keep_max, longest) if self.keep_max else longest
