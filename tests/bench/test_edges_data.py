"""Generated graphs: their form, side files and spread of degrees."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"
NODES = 5000
NAMES = ["edges.txt", "degrees.txt", "ranks.txt"]
MAKE = """
import data, pathlib, sys
target, size, seed, threads, nodes = pathlib.Path(sys.argv[1]), *map(int, sys.argv[2:5]), sys.argv[5]
data.generate(target, size, seed, kind="edges", threads=threads, arguments=(nodes,))
"""


def made(folder: Path, size: int, seed: int = 1, threads: int = 2, nodes: int = NODES) -> list[bytes]:
    """The edges, the degrees, the ranks."""
    argv = [sys.executable, "-c", MAKE, folder / "edges.txt", size, seed, threads, nodes]
    subprocess.run([str(a) for a in argv], cwd=BENCH, check=True)
    return [(folder / name).read_bytes() for name in NAMES]


@pytest.mark.parametrize("size", [0, 16, 31, 1000, 1 << 20, (1 << 20) + 17])
def test_every_size_is_met_with_whole_lines(size: int, tmp_path: Path) -> None:
    edges = made(tmp_path, size)[0]
    assert len(edges) == size and edges[-1:] == (b"\n" if size else b"")
    assert all(re.fullmatch(rb"1\d{6}\t1\d{6} *", line) for line in edges.splitlines())


@pytest.mark.parametrize(("size", "nodes"), [(15, NODES), ((1 << 20) + 1, NODES), (1600, 0), (1600, 9_000_001)])
def test_what_cannot_be_made_is_refused(size: int, nodes: int, tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        made(tmp_path, size, nodes=nodes)
    assert list(tmp_path.iterdir()) == []


def test_the_seed_makes_the_data_and_the_number_of_threads_does_not(tmp_path: Path) -> None:
    data = made(tmp_path, 5_000_000)
    assert made(tmp_path, 5_000_000, threads=3) == data
    assert made(tmp_path, 5_000_000, seed=2)[0][:1000] != data[0][:1000]


def test_side_files_and_spread(tmp_path: Path) -> None:
    edges, degrees, ranks = made(tmp_path, 5_000_000)
    pairs = [line.split() for line in edges.splitlines()]
    outgoing = Counter(pair[0] for pair in pairs)
    assert dict(map(bytes.split, degrees.splitlines())) == {node: b"%d" % n for node, n in outgoing.items()}
    assert ranks == b"".join(b"%d\t150000000\n" % node for node in range(1_000_000, 1_000_000 + NODES))
    incoming = sorted(Counter(p[1] for p in pairs).values(), reverse=True)
    assert incoming[0] / len(pairs) == pytest.approx(NODES ** (-1 / 3), rel=0.05)
    assert sum(incoming[: NODES // 100]) / len(pairs) == pytest.approx(0.01 ** (1 / 3), rel=0.05)
