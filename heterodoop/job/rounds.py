"""The rounds of an iterated job that are done, kept in OUT.rounds so that the job can go on after an interrupt.

The same on disk and in HDFS: whose the rounds are, which are done, what is noted of one, how much of its output stays,
what it gives as a side file. A `RoundStore` keeps them in a form of its own (engine/rounds/folder.py,
                                                                              hadoop/rounds/hdfs.py).
Not here: running rounds, and when there are enough (`iterate`, `stopping`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from ..errors import UsageError
from .stopping import Report, program

KEPT = 2  # outputs: those of many rounds would fill a disk

Ended = TypeVar("Ended")


class RoundStore(Protocol[Ended]):
    """A folder for the rounds of one job. `Ended`: what is known of a round's job when it is done.

    where  the folder, as messages have it. anew: how to begin anew, for a message.
    """

    @property
    def where(self) -> str: ...
    @property
    def anew(self) -> str: ...

    def take(self, identity: Mapping[str, Any]) -> Mapping[str, Any]:
        """Make the folder or find it, and hold it for this process.

        Returns what it says of its job, as JSON: `identity` if it is new. Raises UsageError HD042 (not ours), HD043 (another
        process is at it); OSError.
        """

    def release(self) -> None:
        """Let others have the folder. Does nothing where it is not held."""

    def discard(self) -> None:
        """Remove all of it, and let it go. Does nothing where it is not held."""

    def done(self, number: int) -> Ended | None:
        """How a round ended, as far as that is written down."""

    def has_output(self, number: int) -> bool:
        """Whether a round's output is there, or was before it was thinned out."""

    def write(self, number: int, ended: Ended) -> None:
        """Write down that a round is done."""

    def thin(self, number: int) -> None:
        """Remove a round's result, which nobody needs any more."""

    def clear(self, number: int) -> None:
        """Remove what an attempt at a round left of its output."""

    def pieces(self, number: int) -> Iterator[bytes]:
        """The bytes of a round's part files, one after the other."""

    def report(self, ended: Ended) -> Report:
        """In the form of report.json, as criteria and lists of rounds read it."""


class Rounds(Generic[Ended]):
    """`open` takes the store for this process, `close` lets it go. All methods raise as the store's."""

    def __init__(self, store: RoundStore[Ended]) -> None:
        self.store = store
        self.done: list[Ended] = []
        self._went_on = 0

    def open(self, identity: Mapping[str, Any]) -> None:
        """Find the rounds that an earlier run of the same job left, or make a place for them.

        identity  what decides the rounds' results; as JSON.
        Raises UsageError HD021 (cannot be made), HD042 (of another job, or not ours), HD043 (another process is at it).
        """
        try:
            there = self.store.take(identity)
            check_same(self.store.where, there, identity, self.store.anew)
            self._find_done()
        except OSError as error:
            self.store.release()
            why = error.strerror or str(error)
            raise UsageError(f"cannot keep rounds in {self.store.where}: {why}", code="HD021") from None
        except BaseException:
            self.store.release()
            raise

    def close(self, *, keep: bool) -> None:
        """Let others have the folder. `keep`: also where no round is done; else nothing stays then."""
        if not keep and not self.done:
            self.store.discard()
        self.store.release()

    @property
    def next(self) -> int:
        """The number of the round that is to run; they count from 1."""
        return len(self.done) + 1

    @property
    def reports(self) -> list[Report]:
        return [self.store.report(ended) for ended in self.done]

    def add(self, ended: Ended) -> None:
        """The next round is done. Of outputs the last ones are kept."""
        self.store.write(self.next, ended)
        self.done.append(ended)
        self._thin()

    @property
    def surely_new(self) -> bool:
        """Whether a further round followed the last one before: its output is not its side file, which may be gone."""
        return bool(self.done) and len(self.done) == self._went_on

    def fetch(self, number: int, target: Path) -> str:
        """A round's part files, one after the other, as a file of this machine; returns its SHA-256. Raises OSError too."""
        partial, digest = target.with_name(f"{target.name}.partial"), hashlib.sha256()
        with partial.open("wb") as file:
            for piece in self.store.pieces(number):
                digest.update(piece)
                file.write(piece)
        partial.replace(target)
        return digest.hexdigest()

    def kept(self, number: int) -> str:
        """What a user is told when a round failed."""
        where = self.store.where
        return f"the rounds before are kept in {where}: the same command tries round {number} again" if self.done else ""

    def _find_done(self) -> None:
        while (ended := self.store.done(self.next)) is not None:
            self.done.append(ended)
        while self.done and not self.store.has_output(len(self.done)):  # somebody took it away: that round runs again
            self.done.pop()
            self._went_on = len(self.done)
        self._thin()  # what wrote the last one down may have ended there

    def _thin(self) -> None:
        if len(self.done) > KEPT:
            self.store.thin(len(self.done) - KEPT)


def identity(
    bundle: Path, inputs: Sequence[object], files: Mapping[str, str], side_file: str, settings: Sequence[str],
) -> dict[str, Any]:
    """What decides the rounds' results, as JSON. Not in it: where and in what pieces tasks run, and when the job ends.

    inputs    each by what tells whether it is another one: names, sizes, times.
    files     what filters find in their working folder: name -> a hash, or where it is from.
    settings  those that may change results, and what stands for one.
    """
    return {
        "program": program(bundle), "input": list(inputs), "side files": {**files, "": side_file},
        "settings": list(settings),
    }


def check_same(where: str, there: Mapping[str, Any], identity: Mapping[str, Any], anew: str) -> None:
    """Whether these rounds are of the job that is about to go on with them.

    there     what they say of their job, read from JSON; identity: what decides a job's results, as JSON can have it.
    anew      how to begin anew, for the message.
    Raises UsageError HD042: they are another job's.
    """
    here = json.loads(json.dumps(identity))
    differ = [key for key in here if there.get(key) != here[key]]
    if differ:
        raise UsageError(
            f"the rounds in {where} are of another job: {', '.join(differ)} differ", code="HD042",
            help=f"run the job as it was to go on with it; {anew}",
        )


def not_ours(where: str) -> UsageError:
    """HD042: something else has the folder's name."""
    return UsageError(
        f"{where}, where the rounds are kept, exists and is not of HeteroDoop", code="HD042",
        help="move it away, or name another output",
    )
