"""Generated rows for a logistic regression: their form, the count of rows, and labels as the model says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"
ROW = re.compile(rb"[01]( -?[012]\.\d{3}){10} *")
MAKE = """
import data, pathlib, sys
target, size, seed, threads = pathlib.Path(sys.argv[1]), *map(int, sys.argv[2:5])
data.generate(target, size, seed, kind="logistic", threads=threads)
"""


def made(folder: Path, size: int, seed: int = 1, threads: int = 2) -> tuple[bytes, bytes]:
    """The rows and the weights."""
    argv = [sys.executable, "-c", MAKE, folder / "rows.txt", size, seed, threads]
    subprocess.run([str(a) for a in argv], cwd=BENCH, check=True)
    return (folder / "rows.txt").read_bytes(), (folder / "weights.txt").read_bytes()


@pytest.mark.parametrize("size", [0, 1, 71, 72, 1000, 1 << 20, (1 << 20) + 1, 3_000_000])
def test_every_size_is_met_with_whole_lines_and_the_weights_count_them(size: int, tmp_path: Path) -> None:
    data, weights = made(tmp_path, size)
    assert len(data) == size and data[-1:] == (b"\n" if size else b"")
    rows = [line for line in data.splitlines() if line.strip()]
    assert all(ROW.fullmatch(line) for line in rows)
    assert weights == b"-1\t%d\n" % len(rows) + b"".join(b"%d\t0\n" % key for key in range(11))


def test_the_seed_makes_the_data_and_the_number_of_threads_does_not(tmp_path: Path) -> None:
    data = made(tmp_path, 5_000_000)
    assert made(tmp_path, 5_000_000, threads=3) == data
    assert made(tmp_path, 5_000_000, seed=2)[0][:1000] != data[0][:1000]


def test_labels_are_as_likely_as_the_model_says(tmp_path: Path) -> None:
    table = np.array(made(tmp_path, 8_000_000)[0].split(), float).reshape(-1, 11)
    labels, x = table[:, 0], table[:, 1:]
    assert abs(x).max() == 2 and x.mean() == pytest.approx(0, abs=0.01) and x.std() == pytest.approx(4 / 12**0.5, rel=0.01)
    z = 0.5 + x @ [1, -0.75, 0.5, 0.25, -1.25, 0, 0.75, -0.25, 0.125, -0.5]
    for low in range(-4, 4):
        chosen = (z >= low) & (z < low + 1)
        assert labels[chosen].mean() == pytest.approx((1 / (1 + np.exp(-z[chosen]))).mean(), abs=0.02)
