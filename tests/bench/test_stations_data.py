"""Generated measurements of stations: as many rows as asked for, their form, and the spread that they promise."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"
ROW = re.compile(rb"[^;\n]{6,17};-?\d{1,2}\.(\d+)\n")
MAKE = """
import data, pathlib, sys
target, rows, seed, threads = pathlib.Path(sys.argv[1]), *map(int, sys.argv[2:5])
data.generate(target, rows, seed, kind="stations", threads=threads, arguments=tuple(sys.argv[5:]))
"""


def made(folder: Path, rows: int, *arguments: str, seed: int = 1, threads: int = 2) -> list[bytes]:
    argv = [sys.executable, "-c", MAKE, folder / "rows.txt", rows, seed, threads, *arguments]
    subprocess.run([str(a) for a in argv], cwd=BENCH, check=True)
    return (folder / "rows.txt").read_bytes().splitlines(keepends=True)


@pytest.mark.parametrize("rows", [0, 1, 65_536, 65_537, 200_000])
@pytest.mark.parametrize("decimals", ["1", "9"])
def test_there_are_as_many_rows_as_asked_for(rows: int, decimals: str, tmp_path: Path) -> None:
    lines = made(tmp_path, rows, "413", decimals)
    found = [ROW.fullmatch(line) for line in lines]
    assert len(lines) == rows and all(row is not None and len(row[1]) == int(decimals) for row in found)


def test_the_seed_makes_the_data_and_the_number_of_threads_does_not(tmp_path: Path) -> None:
    lines = made(tmp_path, 300_000, threads=1)
    assert made(tmp_path, 300_000, threads=5) == lines
    assert made(tmp_path, 300_000, seed=2)[:100] != lines[:100] and len({*map(bytes, lines[::65_536])}) == 5


def test_stations_come_evenly_and_have_temperatures_of_their_own(tmp_path: Path) -> None:
    rows = [line.split(b";") for line in made(tmp_path, 400_000)]
    often = Counter(name for name, _ in rows)
    assert len(often) == 413 and max(often.values()) < 1.4 * min(often.values())
    assert any(name.decode() != name.decode("ascii", "ignore") for name in often)
    names, which = np.unique([name for name, _ in rows], return_inverse=True)
    values = np.array([float(value) for _, value in rows])
    means = np.bincount(which, values) / np.bincount(which)
    assert -12 < means.min() < -8 and 32 < means.max() < 37
    assert (values - means[which]).std() == pytest.approx(10, rel=0.02) and np.abs(values - means[which]).max() < 31


@pytest.mark.parametrize("stations", [1, 30_000, 300_000])
def test_all_names_differ(stations: int, tmp_path: Path) -> None:
    """Of rows that are five times as many as stations and drawn evenly, all but exp(-5) of the stations have one."""
    names = {line.partition(b";")[0] for line in made(tmp_path, 5 * stations, str(stations), "1")}
    assert len(names) == pytest.approx(stations * (1 - math.exp(-5)), rel=0.003 if stations > 1 else 0.01)


@pytest.mark.parametrize("arguments", [("0", "1"), ("20000001", "1"), ("1", "0"), ("1", "10")])
def test_what_cannot_be_made_is_refused(arguments: tuple[str, str], tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        made(tmp_path, 10, *arguments)
    assert list(tmp_path.iterdir()) == []
