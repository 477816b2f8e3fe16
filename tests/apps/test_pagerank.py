"""PageRank: the oracle takes steps with NumPy arrays over all edges; the exact ranks come from linear equations."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ..support import cli_here, parts
from .everywhere import APPS, assert_sample_is_made, by_key, compiled, made, pipe, run_app, run_everywhere

APP = APPS / "pagerank"
SAMPLE, DEGREES, RANKS = APP / "sample.txt", APP / "degrees.txt", APP / "ranks.txt"
ONE, LEAST = 1_000_000_000, 150_000_000


def numbers(path: Path) -> np.ndarray:
    """The two columns of a file of number pairs, as two rows."""
    return np.array(path.read_text().split(), np.int64).reshape(-1, 2).T


def step(text: Path, ranks: dict[int, int]) -> dict[int, int]:
    """The nodes' next ranks in billionths, of those that edges lead to. The oracle counts the degrees itself."""
    edges = numbers(text)
    size = int(edges.max()) + 1
    degree = np.bincount(edges[0], minlength=size)
    rank = np.full(size, LEAST)
    for node, value in ranks.items():
        if node < size:
            rank[node] = value
    carried = np.zeros(size, np.int64)
    np.add.at(carried, edges[1], rank[edges[0]] // degree[edges[0]])
    return {int(node): LEAST + int(carried[node]) * 85 // 100 for node in np.unique(edges[1])}


def exact(text: Path) -> dict[int, float]:
    """The ranks that a step does not change: r = 0.15 + 0.85 A r."""
    edges = numbers(text)
    nodes, places = np.unique(edges, return_inverse=True)
    origin, target = places.reshape(2, -1)
    matrix = np.zeros((len(nodes), len(nodes)))
    np.add.at(matrix, (target, origin), 1 / np.bincount(origin, minlength=len(nodes))[origin])
    ranks = np.linalg.solve(np.eye(len(nodes)) - 0.85 * matrix, np.full(len(nodes), 0.15))
    return dict(zip(nodes.tolist(), ranks.tolist(), strict=True))


def as_text(ranks: dict[int, int]) -> bytes:
    return by_key(b"".join(b"%d\t%d\n" % pair for pair in ranks.items()))


def as_ranks(text: bytes) -> dict[int, int]:
    return {int(node): int(rank) for node, rank in (line.split(b"\t") for line in text.splitlines())}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """2 MB of edges with their side files, and a place for bundles."""
    base = tmp_path_factory.mktemp("pagerank")
    made("edges", base / "edges.txt", 2_000_000, 3, "20000")
    return base


def test_the_sample_is_made_by_the_generator(tmp_path: Path) -> None:
    assert_sample_is_made("pagerank", "edges", 1, "500", sides=[DEGREES, RANKS], folder=tmp_path)


def test_the_expected_output_is_the_oracles() -> None:
    assert as_text(step(SAMPLE, as_ranks(RANKS.read_bytes()))) == (APP / "expected.txt").read_bytes()


def test_every_way_to_run_gives_the_oracles_bytes(tmp_path: Path) -> None:
    results = run_everywhere("pagerank", SAMPLE, [DEGREES, RANKS], tmp_path)
    assert len(results) == 6 and set(results.values()) == {(APP / "expected.txt").read_bytes()}


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_a_larger_graph_gives_the_oracles_bytes_twice(device: str, folder: Path, tmp_path: Path) -> None:
    """The second step has ranks of many sizes."""
    edges, ranks, expected = folder / "edges.txt", folder / "ranks.txt", as_ranks((folder / "ranks.txt").read_bytes())
    options, bundle = [f"--device={device}", "--split-size=700k", "--reducers=2"], compiled("pagerank")
    for number in (1, 2):
        output = run_app(bundle, edges, [folder / "degrees.txt", ranks], tmp_path / str(number), options)
        expected = step(edges, expected)
        assert output == as_text(expected)
        ranks = tmp_path / "ranks.txt"
        ranks.write_bytes(output)


def test_steps_end_at_the_exact_ranks(tmp_path: Path) -> None:
    """From the least ranks, no step makes a rank smaller, so they end where a step changes nothing."""
    (tmp_path / "degrees.txt").write_bytes(DEGREES.read_bytes())
    (tmp_path / "ranks.txt").write_bytes(b"")
    before, steps, bundle = {}, 0, compiled("pagerank")
    while True:
        pairs = by_key(pipe(bundle, "map", SAMPLE.read_bytes(), tmp_path))
        output = pipe(bundle, "reduce", pairs, tmp_path)
        ranks = as_ranks(output)
        assert all(rank >= before.get(node, LEAST) for node, rank in ranks.items())
        if ranks == before:
            break
        before, steps = ranks, steps + 1
        (tmp_path / "ranks.txt").write_bytes(output)
    assert 20 < steps < 200
    solution = exact(SAMPLE)
    assert max(abs(ranks.get(node, LEAST) / ONE - rank) for node, rank in solution.items()) < 1e-5


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_iterating_takes_the_oracles_steps(device: str, tmp_path: Path) -> None:
    job = ["run", compiled("pagerank"), SAMPLE, "-o", tmp_path / "out", "--quiet", "--reducers=2"]
    sides = [f"--device={device}", "--file", DEGREES, "--file", RANKS, "--iterate", "ranks.txt", "--rounds", "4"]
    cli_here(*job, *sides)
    ranks = as_ranks(RANKS.read_bytes())
    for _ in range(4):
        ranks = step(SAMPLE, ranks)
    assert by_key(b"".join(parts(tmp_path / "out"))) == as_text(ranks)


def test_combining_may_happen_in_any_parts(tmp_path: Path) -> None:
    bundle = compiled("pagerank")
    for side in (DEGREES, RANKS):
        (tmp_path / side.name).write_bytes(side.read_bytes())
    pairs = pipe(bundle, "map", SAMPLE.read_bytes(), tmp_path).splitlines(keepends=True)
    for many in (1, 2, 7):
        groups = [by_key(b"".join(pairs[at::many])) for at in range(many)]
        combined = by_key(b"".join(pipe(bundle, "combine", group, tmp_path) for group in reversed(groups)))
        assert pipe(bundle, "reduce", combined, tmp_path) == (APP / "expected.txt").read_bytes()


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize(("text", "message"), [
    (b"1\t2\nx\t2\n", "not an edge: x"), (b"1\n", "not an edge: 1"), (b"\n", "not an edge: "),
    (b"1\t-2\n", "not an edge: 1"),
    (b"# from to\n1 2\n3 1\n", "degrees.txt does not have node 3"), (b"0\t1\n", "degrees.txt does not have node 0"),
    (b"-1\t1\n", "degrees.txt does not have node -1"), (b"9999999999\t1\n", "degrees.txt does not have node 9999999999"),
])
def test_what_is_no_edge_of_the_graph_fails_the_job(
    text: bytes, message: str, device: str, tmp_path: Path,
) -> None:
    (tmp_path / "edges.txt").write_bytes(text)
    (tmp_path / "degrees.txt").write_bytes(b"1\t1\n2\t1\n")
    (tmp_path / "ranks.txt").write_bytes(b"")
    sides = ["--file", tmp_path / "degrees.txt", "--file", tmp_path / "ranks.txt", f"--device={device}", "--max-attempts=1"]
    job = ["run", compiled("pagerank"), tmp_path / "edges.txt", "-o", tmp_path / "out", "--quiet", *sides]
    assert message in cli_here(*job, status=1).message


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_comments_and_blanks_are_read_as_in_public_edge_lists(device: str, tmp_path: Path) -> None:
    (tmp_path / "edges.txt").write_bytes(b"# Nodes: 3 Edges: 3\n1\t2\r\n2 3\n1  3   \n")
    (tmp_path / "degrees.txt").write_bytes(b"1\t2\n2\t1\n")
    (tmp_path / "ranks.txt").write_bytes(b"1\t1000000001\n3\t5\n70\t1\n")
    sides = [tmp_path / "degrees.txt", tmp_path / "ranks.txt"]
    output = run_app(compiled("pagerank"), tmp_path / "edges.txt", sides, tmp_path / "out", [f"--device={device}"])
    assert output == b"2\t575000000\n3\t702500000\n"


def test_degrees_that_are_no_numbers_fail_the_job(tmp_path: Path) -> None:
    (tmp_path / "degrees.txt").write_bytes(b"1\t1\nx\t2\n")
    sides = ["--file", tmp_path / "degrees.txt", "--file", RANKS, "--max-attempts=1"]
    job = ["run", compiled("pagerank"), SAMPLE, "-o", tmp_path / "out", "--quiet", *sides]
    assert "degrees.txt: not lines of a node and a number" in cli_here(*job, status=1).message
