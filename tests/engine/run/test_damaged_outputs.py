"""Map outputs that change between their commit and the reducers: their tasks run again, and the result is the same."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from heterodoop.engine.run.attempts import AttemptRunner
from heterodoop.errors import JobFailed
from heterodoop.scheduler.model import Attempt

from ..conftest import SUM, WORDS, parts

TEXT = b"".join(b"word%d and word%d\n" % (n % 7, n % 3) for n in range(300))


def flip(at: int) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        data = bytearray(path.read_bytes())
        data[at] ^= 0x80
        path.write_bytes(data)

    return damage


DAMAGES = {
    "index-length-0": ("index", flip(8)), "index-length-1": ("index", flip(32)), "index-crc-row": ("index", flip(23)),
    "index-zeroed": ("index", lambda path: path.write_bytes(bytes(os.path.getsize(path)))),
    "index-short": ("index", lambda path: os.truncate(path, 30)), "index-gone": ("index", os.unlink),
    "data-flip": ("out", flip(9)), "data-zeroed": ("out", lambda path: path.write_bytes(bytes(os.path.getsize(path)))),
    "data-short": ("out", lambda path: os.truncate(path, 20)), "data-gone": ("out", os.unlink),
}


@pytest.fixture
def damaging(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Callable[[Path], object], int], list[Attempt]]:
    """Attempts of map task 1 below a number lose what they committed."""

    def begin(which: str, damage: Callable[[Path], object], attempts: int) -> list[Attempt]:
        commit, done = AttemptRunner.commit, []

        def commit_and_damage(self: AttemptRunner, attempt: Attempt) -> None:
            commit(self, attempt)
            if attempt.task == ("map", 1) and attempt.number < attempts:
                damage(self.layout.map_output(attempt)[which == "index"])
                done.append(attempt)

        monkeypatch.setattr(AttemptRunner, "commit", commit_and_damage)
        return done

    return begin


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_map_output_is_made_again(bundle, run, tmp_path: Path, damaging, name: str):
    (tmp_path / "in").write_bytes(TEXT)
    made = bundle(WORDS, None, SUM)
    options = {"split_size": len(TEXT) // 3 + 1, "reducers": 2, "cpu_slots": 2}
    expected = run(made, tmp_path / "in", out="right", **options)
    damaged = damaging(*DAMAGES[name], 1)
    result = run(made, tmp_path / "in", **options)
    assert parts(result.output) == parts(expected.output) and len(damaged) == 1
    assert [warning.code for warning in result.warnings] == ["HD431"]
    assert result.report["counters"] == expected.report["counters"]
    assert result.report["tasks"]["map"]["done"] == 3 and (result.output / "_SUCCESS").exists()


def test_one_that_is_damaged_each_time_fails_the_job_by_name(bundle, run, tmp_path: Path, damaging):
    (tmp_path / "in").write_bytes(TEXT)
    damaged = damaging(*DAMAGES["index-zeroed"], 99)
    with pytest.raises(JobFailed) as caught:
        run(bundle(WORDS, None, SUM), tmp_path / "in", split_size=len(TEXT) // 3 + 1, max_attempts=3)
    assert caught.value.code == "HD431" and "m_000001_2.index" in caught.value.message and len(damaged) == 3
    assert not (tmp_path / "out").exists()
