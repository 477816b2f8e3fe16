"""A process that is killed before its n-th step on the file system, played in this one."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_STEPS = ("open", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.truncate")
_left: list[int] = []  # steps until the end; empty: nobody dies


class Killed(BaseException):
    """Nobody handles it, as nobody does kill -9."""


def _step(event: str, words: tuple[Any, ...]) -> None:
    if not _left or event not in _STEPS:
        return
    _left[0] -= 1
    if _left[0] < 0:
        _left.clear()
        if event == "open" and words[2] & os.O_TRUNC:
            os.close(os.open(words[0], os.O_WRONLY | os.O_CREAT | os.O_TRUNC))  # and nothing is written
        raise Killed


sys.addaudithook(_step)


@contextmanager
def dying(steps: int) -> Iterator[None]:
    """Raises Killed in the block, unless that takes fewer steps."""
    _left[:] = [steps]
    try:
        yield
    finally:
        _left.clear()
