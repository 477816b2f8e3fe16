"""Generated Star Schema Benchmark data: the form, the spread and the selectivity of its two queries."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"
LINE = re.compile(
    rb"\d+\|[1-7]\|\d+\|\d+\|\d+\|199[2-8][01]\d[0-3]\d\|[1-5]-[A-Z ]+\|0\|"
    rb"\d+\|\d+\|\d+\|\d+\|\d+\|\d+\|\d\|199[2-8]\d{4}\|[A-Z ]+\|",
)
MAKE = """
import data, pathlib, sys
target, size, seed, threads = pathlib.Path(sys.argv[1]), *map(int, sys.argv[2:5])
data.generate(target, size, seed, kind="ssb", threads=threads, arguments=("3000", "100"))
"""


def made(folder: Path, size: int, seed: int = 1, threads: int = 2) -> bytes:
    argv = [sys.executable, "-c", MAKE, folder / "lineorder.tbl", size, seed, threads]
    subprocess.run([str(a) for a in argv], cwd=BENCH, check=True)
    return (folder / "lineorder.tbl").read_bytes()


def fields(table: bytes) -> list[list[bytes]]:
    return [line.split(b"|") for line in table.splitlines()]


def rows(table: Path) -> dict[bytes, list[bytes]]:
    """A dimension's rows by their keys."""
    return {row[0]: row for row in fields(table.read_bytes())}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("ssb")
    made(base, 5_000_000)
    return base


@pytest.mark.parametrize("size", [0, 128, 1000, 1 << 20, (1 << 20) + 128, 3_000_001])
def test_every_size_is_met_with_whole_lines(size: int, tmp_path: Path) -> None:
    data = made(tmp_path, size)
    assert len(data) == size and data[-1:] == (b"\n" if size else b"")
    assert all(LINE.fullmatch(line) for line in data.splitlines())


@pytest.mark.parametrize("size", [1, 127, (1 << 20) + 1])
def test_a_size_without_room_for_the_last_line_is_refused(size: int, tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        made(tmp_path, size)
    assert list(tmp_path.iterdir()) == []


def test_the_seed_makes_the_data_and_the_number_of_threads_does_not(folder: Path, tmp_path: Path) -> None:
    names = ["lineorder.tbl", "date.tbl", "part.tbl", "supplier.tbl"]
    made(tmp_path, 5_000_000, threads=3)
    assert [(tmp_path / name).read_bytes() for name in names] == [(folder / name).read_bytes() for name in names]
    made(tmp_path, 5_000_000, seed=2)
    assert [(tmp_path / n).read_bytes() == (folder / n).read_bytes() for n in names] == [False, True, False, False]


def test_every_key_has_a_row_and_the_queries_choose_what_they_should(folder: Path) -> None:
    lines = fields((folder / "lineorder.tbl").read_bytes())
    dates, parts, suppliers = (rows(folder / name) for name in ("date.tbl", "part.tbl", "supplier.tbl"))
    assert len(dates) == 2557 and len(parts) == 3000 and len(suppliers) == 100
    assert {line[5] for line in lines} | {line[15] for line in lines} <= dates.keys()
    assert {line[3] for line in lines} <= parts.keys() and {line[4] for line in lines} <= suppliers.keys()
    small = [dates[line[5]][4] == b"1993" and 1 <= int(line[11]) <= 3 and int(line[8]) < 25 for line in lines]
    assert sum(small) / len(lines) == pytest.approx(365 / 2406 * 3 / 11 * 24 / 50, rel=0.1)
    categories = [part[3] for part in parts.values()]
    assert len(set(categories)) == 25 and categories.count(b"MFGR#12") / 3000 == pytest.approx(1 / 25, rel=0.3)
    assert {row[4][: len(row[3])] == row[3] for row in parts.values()} == {True}
    assert {row[5] for row in suppliers.values()} == {b"AFRICA", b"AMERICA", b"ASIA", b"EUROPE", b"MIDDLE EAST"}
