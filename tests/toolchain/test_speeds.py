"""The small files that keep how fast a bundle's last job was."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from heterodoop.toolchain import speeds
from heterodoop.toolchain.speeds import Speeds

GOOD = Speeds(8.0, 0.01, 0.5, 0.25)
NAME = speeds.key("run", b"a bundle", ["H200"], "16")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "heterodoop" / "speedups"


def test_what_is_written_is_read(folder: Path) -> None:
    assert speeds.recall(NAME) is None
    speeds.remember(NAME, Speeds(1.0))
    speeds.remember(NAME, GOOD)
    found = speeds.recall(NAME)
    assert found and found[:4] == GOOD[:4] and 0 <= found.age < 10
    assert [path.name for path in folder.iterdir()] == [NAME], "nothing is left beside it"


def test_every_part_of_a_key_counts() -> None:
    keys = [speeds.key(*key) for key in (
        ("run", b"a", ["G"]), ("hadoop", b"a", ["G"]), ("run", b"b", ["G"]), ("run", b"a", ["G", "G"]),
        ("run", b"a", ["G"], "1"))]
    assert len(set(keys)) == 5 and speeds.key("run", b"a", ["G", "H"]) == speeds.key("run", b"a", ["H", "G"])


@pytest.mark.parametrize("text", [
    "", "{", "[]", "2.5", "null", "{}", "\xff", "[" * 900, " " * 2000 + "{}", json.dumps({"speedup": 2.0}),
    *(json.dumps({**GOOD._asdict(), field: value}) for field, value in (
        ("speedup", 0), ("speedup", -1), ("speedup", 1e300), ("speedup", float("nan")), ("speedup", True), ("speedup", "8"),
        ("gpu_seconds", None), ("wakes", -0.1), ("first", [1]))),
])
def test_what_is_damaged_counts_as_nothing_and_is_replaced(folder: Path, text: str) -> None:
    speeds.remember(NAME, GOOD)
    (folder / NAME).write_text(text, encoding="latin-1")
    assert speeds.recall(NAME) is None
    speeds.remember(NAME, GOOD)
    assert speeds.recall(NAME) is not None


def test_what_is_old_counts_as_nothing_and_goes(folder: Path) -> None:
    speeds.remember(NAME, GOOD)
    old = time.time() - speeds.SECONDS - 1
    os.utime(folder / NAME, (old, old))
    assert speeds.recall(NAME) is None
    speeds.remember("another", GOOD)
    assert [path.name for path in folder.iterdir()] == ["another"]


def test_a_cache_that_cannot_be_used_costs_nothing_but_time(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.parent.mkdir()
    folder.write_text("a file where the folder should be")
    speeds.remember(NAME, GOOD)
    assert speeds.recall(NAME) is None
    monkeypatch.setattr(speeds.cache, "folder", lambda: (_ for _ in ()).throw(speeds.HeteroDoopError("no place")))
    speeds.remember(NAME, GOOD)
    assert speeds.recall(NAME) is None
