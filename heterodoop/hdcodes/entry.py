"""What the index says of one code."""

from __future__ import annotations

from ..values import dataclass

NOTHING = "Nothing to change: "  # how the fix of a refusal begins that no change of the program mends


@dataclass(frozen=True)
class Entry:
    """`title` is one line; `text` says what was found and why it matters; `fix` what the user does.

    `line`: of a refusal, the small changes of the source that are tried for it.
    """

    title: str
    text: str
    fix: str
    line: str = ""
