"""A job that runs again and again: a round's output is the next round's side file, until it is enough.

The loop of both places: which round is next, with which side file, what is told, when to stop. How one round runs is the
place's own: a job of the embedded engine (engine/rounds/iterate.py), or one of a cluster (hadoop/rounds/iterate.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Generic, NamedTuple

from ..diag import Diagnostic
from ..errors import UsageError
from .rounds import Ended, Rounds
from .stopping import Round, StopRules


class SideFile(NamedTuple):
    """What a round is given under the side file's name. `sha256` of its content."""

    path: Path
    sha256: str


class Iteration(Generic[Ended]):
    """The rounds of one call of the command.

    rounds  opened: with those that an earlier call left.
    name    of the side file. first: what the user gave for it.
    path    where a round's output lies as a file on this machine, one at a time.
    tell    called for each round that is done, first for those of an earlier call.
    """

    def __init__(
        self, rounds: Rounds[Ended], stop: StopRules, name: str, first: SideFile, path: Path, tell: Callable[[Round], None],
    ) -> None:
        self._rounds, self._stop, self._name, self._tell = rounds, stop, name, tell
        self._earlier = len(rounds.done)
        self._sides = _Sides(rounds, first, path)

    def run(self, one: Callable[[int, SideFile], Ended]) -> str:
        """Run rounds until one of the rules holds; returns which (stopping.py).

        one  runs a round, given its number and its side file, and returns how it ended; what it raises ends the loop.
        Raises JobFailed HD044; UsageError HD021 (no room for a side file); as `one`.
        """
        for done in self._done():
            self._tell(done)
        while not (stopped := self._stop.why(self._rounds.reports, self._unchanged)):
            number = self._rounds.next
            self._rounds.add(one(number, self._sides.of(number - 1)))
            self._tell(self._done()[-1])
        return stopped

    def summary(self, stopped: str) -> dict[str, Any]:
        """What a report has as "iterate"."""
        return self._stop.summary(self._name, stopped, self._done())

    def unmet(self, stopped: str) -> list[Diagnostic]:
        """The warning HD045 where there were enough rounds before the criterion was met."""
        return self._stop.unmet(stopped, self._rounds.reports)

    def _unchanged(self) -> bool:
        done = len(self._rounds.done)
        return not self._rounds.surely_new and self._sides.digest(done - 1) == self._sides.digest(done)

    def _done(self) -> Sequence[Round]:
        return self._stop.rounds(self._rounds.reports, self._earlier)


class _Sides:
    """The side files that rounds gave, one at a time on this machine. Round 0 gave the user's."""

    def __init__(self, rounds: Rounds[Any], first: SideFile, path: Path) -> None:
        self._rounds, self._first, self._path = rounds, first, path
        self._held = 0
        self._digests = {0: first.sha256}

    def digest(self, number: int) -> str:
        if number not in self._digests:
            self._fetch(number)
        return self._digests[number]

    def of(self, number: int) -> SideFile:
        if number and self._held != number:
            self._fetch(number)
        return SideFile(self._path, self._digests[number]) if number else self._first

    def _fetch(self, number: int) -> None:
        self._held = 0
        try:
            self._digests[number] = self._rounds.fetch(number, self._path)
        except OSError as error:
            why = error.strerror or str(error)
            raise UsageError(f"cannot keep a side file in {str(self._path.parent)!r}: {why}", code="HD021") from None
        self._held = number
