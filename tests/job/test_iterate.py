"""The loop of rounds over a store in memory, whatever stops it: what a store has to keep, and no more."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from heterodoop.errors import UsageError
from heterodoop.job.iterate import Iteration, SideFile
from heterodoop.job.rounds import KEPT, Rounds
from heterodoop.job.stopping import Round, StopRules, content


class Stopped(Exception):
    pass


class MemoryStore:
    """`fate` is asked before each step, and may raise. A round's output is a number; its job counts to five."""

    where, anew = "memory", "or forget it"

    def __init__(self, fate: random.Random | None = None) -> None:
        self.fate = fate
        self.held = False
        self.job: Mapping[str, Any] = {}
        self.ended: dict[int, int] = {}
        self.outputs: dict[int, bytes] = {}

    def _step(self) -> None:
        if self.fate and self.fate.random() < 0.1:
            raise Stopped

    def take(self, identity: Mapping[str, Any]) -> Mapping[str, Any]:
        assert not self.held
        self.held = True
        self._step()
        self.job = self.job or identity
        return self.job

    def release(self) -> None:
        self.held = False

    def discard(self) -> None:
        if self.held:
            self.job, self.ended, self.outputs, self.held = {}, {}, {}, False

    def done(self, number: int) -> int | None:
        return self.ended.get(number)

    def has_output(self, number: int) -> bool:
        return number in self.outputs

    def write(self, number: int, ended: int) -> None:
        self._step()
        self.ended[number] = ended
        self._step()

    def thin(self, number: int) -> None:
        self._step()
        self.outputs.pop(number, None)

    def clear(self, number: int) -> None:
        self.outputs.pop(number, None)

    def pieces(self, number: int) -> Iterator[bytes]:
        for byte in self.outputs[number]:
            self._step()
            yield bytes([byte])

    def report(self, ended: int) -> dict[str, Any]:
        return {"job": {"id": f"job{ended}"}, "seconds": {}, "counters": {"LEFT": 5 - ended}, "user_counters": {}}

    def run(self, number: int, side: SideFile) -> int:
        """A round as an engine runs it."""
        assert content(side.path) == side.sha256
        self.clear(number)
        self._step()
        value = min(int(side.path.read_bytes()) + 1, 5)
        self.outputs[number] = b"%d\n" % value
        self._step()
        return value


def go(store: MemoryStore, folder: Path, told: list[Round], limit: int = 100, identity: str = "p") -> str:
    (folder / "zero").write_bytes(b"0\n")
    first = SideFile(folder / "zero", content(folder / "zero"))
    rounds = Rounds(store)
    rounds.open({"program": identity})
    try:
        return Iteration(rounds, StopRules(limit, None), "n", first, folder / "side", told.append).run(store.run)
    finally:
        rounds.close(keep=False)


@pytest.mark.parametrize("seed", range(40))
def test_whatever_stops_it_the_same_call_goes_on(tmp_path: Path, seed: int):
    store = MemoryStore(random.Random(seed))
    told: list[Round] = []
    why = ""
    while not why:
        told = []
        try:
            why = go(store, tmp_path, told)
        except Stopped:
            assert not store.held and len(store.outputs) <= KEPT + 1
    assert why == "unchanged" and [done.number for done in told] == [1, 2, 3, 4, 5, 6]
    assert [store.ended[number] for number in range(1, 7)] == [1, 2, 3, 4, 5, 5]
    assert store.outputs[5] == store.outputs[6] == b"5\n"


def test_earlier_rounds_are_told_as_such(tmp_path: Path):
    store, told = MemoryStore(), list[Round]()
    assert go(store, tmp_path, told, limit=2) == "rounds" and go(store, tmp_path, told, limit=3) == "rounds"
    assert [(done.number, done.earlier) for done in told] == [(1, False), (2, False), (1, True), (2, True), (3, False)]


def test_an_output_that_was_taken_away_is_made_again(tmp_path: Path):
    store, told = MemoryStore(), list[Round]()
    go(store, tmp_path, told, limit=3)
    store.clear(3)
    told.clear()
    assert go(store, tmp_path, told, limit=3) == "rounds" and store.outputs[3] == b"3\n"
    assert [done.earlier for done in told] == [True, True, False]


def test_rounds_of_another_job_stay_as_they_are(tmp_path: Path):
    store = MemoryStore()
    go(store, tmp_path, [], limit=2)
    with pytest.raises(UsageError, match="of another job: program differ") as refused:
        go(store, tmp_path, [], identity="q")
    assert refused.value.code == "HD042" and "or forget it" in refused.value.help
    assert not store.held and store.ended == {1: 1, 2: 2}
