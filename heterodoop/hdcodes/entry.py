"""What the index says of one code."""

from __future__ import annotations

from ..values import dataclass


@dataclass(frozen=True)
class Entry:
    """`title` is one line; `text` says what was found and why it matters; `fix` what the user does."""

    title: str
    text: str
    fix: str
