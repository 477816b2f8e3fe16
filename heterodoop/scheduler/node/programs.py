"""S of each program's last job on a node: the next one begins with it, until it has measured its own. Pure."""

from __future__ import annotations

from collections import OrderedDict

from .model import Measured

PROGRAMS = 256  # that are remembered
REMEMBERED_SECONDS = 86_400.0  # a GPU that others kept busy is tried again


class Programs:
    """By program; the one that was measured last at the end."""

    def __init__(self) -> None:
        self._measured: OrderedDict[str, Measured] = OrderedDict()

    def __contains__(self, program: str) -> bool:
        return program in self._measured

    def keep(self, program: str, measured: Measured) -> None:
        self._measured[program] = measured
        self._measured.move_to_end(program)
        if len(self._measured) > PROGRAMS:
            self._measured.popitem(last=False)

    def speedup(self, program: str, now: float) -> float | None:
        """S of the program's last job, a day at most."""
        found = self._measured.get(program)
        return found.speedup if found and now - found.when <= REMEMBERED_SECONDS else None

    def own(self) -> dict[str, Measured]:
        """What this node itself has measured."""
        return {program: one for program, one in self._measured.items() if one.own}
