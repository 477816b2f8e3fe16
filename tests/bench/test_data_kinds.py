"""Generated movies, rows and stock options: any size, any number of threads, and the form and spread that they promise."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"
MOVIE = re.compile(rb"\d+:[1-9]\d{0,6}_[1-5](,[1-9]\d{0,6}_[1-5])*")
SHARED = re.compile(rb"\d+:([1-9]\d{0,6}_[1-5],)*([1-9]\d{0,6}_[1-5]|,*)")
ROW = re.compile(rb"-?\d{1,2}\.\d{3}( -?\d\.\d{3}){12} *")
OPTION = re.compile(rb"\d+( \d+\.\d{6}){3} *")
FORMS = {"movies": MOVIE, "shared-movies": SHARED, "rows": ROW, "stock-options": OPTION}
MAKE = """
import data, pathlib, sys
target, kind, size, seed, threads = pathlib.Path(sys.argv[1]), sys.argv[2], *map(int, sys.argv[3:6])
data.generate(target, size, seed, kind=kind, threads=threads, arguments=tuple(sys.argv[6:]))
"""


def made(folder: Path, kind: str, size: int, *arguments: str, seed: int = 1, threads: int = 2) -> bytes:
    target = folder / "made"
    argv = [sys.executable, "-c", MAKE, target, kind, size, seed, threads, *arguments]
    subprocess.run([str(a) for a in argv], cwd=BENCH, check=True)
    return target.read_bytes()


@pytest.mark.parametrize("kind", FORMS)
def test_every_size_is_met_with_whole_lines(kind: str, tmp_path: Path) -> None:
    for size in (0, 1, 15, 16, 17, 100, 3000, 1 << 20, (1 << 20) + 1, (2 << 20) + 40):
        data = made(tmp_path, kind, size)
        assert len(data) == size and data[-1:] == (b"\n" if size else b"")
        assert all(FORMS[kind].fullmatch(line) for line in data.split(b"\n") if line.strip()), size


@pytest.mark.parametrize("kind", FORMS)
def test_the_seed_makes_the_data_and_the_number_of_threads_does_not(kind: str, tmp_path: Path) -> None:
    data = made(tmp_path, kind, 5_000_000)
    assert made(tmp_path, kind, 5_000_000, threads=3) == data
    other = made(tmp_path, kind, 5_000_000, seed=2)
    assert other[:1000] != data[:1000] and data[:1000] not in data[1000:]


def test_movie_lines_are_as_uneven_as_they_should_be(tmp_path: Path) -> None:
    lines = made(tmp_path, "movies", 64 << 20).splitlines(keepends=True)
    lengths = sorted(map(len, lines))
    assert lengths[len(lengths) // 2] == pytest.approx(110, abs=1)
    assert sum(lengths) / len(lengths) == pytest.approx(253, rel=0.01)
    assert lengths[len(lengths) * 99 // 100] == pytest.approx(2255, rel=0.02)
    assert lengths[0] >= 15 and lengths[-1] == 5546
    movies = [int(line.split(b":")[0]) for line in lines]
    assert len(set(movies)) == len(movies) and max(movies) < 2**31
    users = [int(user) for user in re.findall(rb"(\d+)_", b"".join(lines[:20_000]))]
    assert 2_600_000 < max(users) <= 2_649_429


def test_movies_share_reviewers_as_the_netflix_prize_s_do(tmp_path: Path) -> None:
    """480 189 users with a probability of 1/sqrt(rank): two reviews are by one user about 9 times in a million."""
    reviews = re.findall(rb"(\d+)_", made(tmp_path, "shared-movies", 32 << 20))
    often = sorted(Counter(reviews).values(), reverse=True)
    assert sum(n * n for n in often) / len(reviews) ** 2 == pytest.approx(9e-6, rel=0.15)
    assert 400_000 < len(often) <= 480_189
    assert 2_600_000 < max(map(int, reviews)) <= 2_649_429


@pytest.mark.parametrize("length", [16, 2_700_000, 2 << 20, 3_000_000])
def test_the_first_movie_can_be_as_long_as_wanted(length: int, tmp_path: Path) -> None:
    lines = made(tmp_path, "movies", 3_000_000, str(length), "0").splitlines(keepends=True)
    assert len(lines[0]) == length and all(MOVIE.fullmatch(line.rstrip()) for line in lines)
    assert max(map(len, lines[1:]), default=0) <= 5546


def test_a_long_movie_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    for length in ("3000001", str((1 << 20) + 1)):
        with pytest.raises(subprocess.CalledProcessError):
            made(tmp_path, "movies", 3_000_000, length, "0")


def test_stock_options_have_the_ranges_of_the_sdk_s_example(tmp_path: Path) -> None:
    rows = [[float(field) for field in line.split()] for line in made(tmp_path, "stock-options", 3_000_000).splitlines()]
    assert len({row[0] for row in rows}) == len(rows)
    for column, (low, high) in zip(list(zip(*rows, strict=True))[1:], [(5, 30), (1, 100), (0.25, 10)], strict=True):
        assert low <= min(column) < low + 0.01 * high and 0.99 * high < max(column) <= high


def test_rows_follow_the_weights(tmp_path: Path) -> None:
    weights = re.search(r"weights\[REGRESSORS\] = \{(.*)\}", (BENCH / "generators" / "rows.c").read_text())
    assert weights is not None
    z = np.array([line.split() for line in made(tmp_path, "rows", 3_000_000).splitlines()], dtype=float)
    y, x = z[:, 0], z[:, 1:]
    found = np.linalg.lstsq(x, y, rcond=None)[0]
    np.testing.assert_allclose(found, [int(weight) / 1000 for weight in weights[1].split(",")], atol=0.002)
    noise = y - x @ found
    assert 0.49 < np.abs(noise).max() < 0.53 and abs(noise.mean()) < 0.01
    assert -9.999 <= x.min() < -9.99 and 9.99 < x.max() <= 9.999
