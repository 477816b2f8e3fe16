"""Logistic regression: the oracle computes with a matrix of all rows; the exact weights come from Newton's method."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from ..support import cli_here
from .everywhere import APPS, assert_sample_is_made, by_key, compiled, made, pipe, run_app, run_everywhere

APP = APPS / "logistic_regression"
SAMPLE, WEIGHTS = APP / "sample.txt", APP / "weights.txt"
FEATURES = 10
GOOD = b"1 0.1 -0.2 +3 .4 5. 0.6 -7.125 8 9.999 -9.999\n"


def rows(text: Path) -> tuple[np.ndarray, np.ndarray]:
    """Labels, and the features in thousandths with a column for the intercept before them."""
    table = np.array(text.read_text().split(), np.float64).reshape(-1, FEATURES + 1)
    labels = table[:, 0].astype(np.int64)
    table[:, 0] = 1
    return labels, np.rint(1000 * table).astype(np.int64)


def truncated(numerator: np.ndarray, denominator: int) -> np.ndarray:
    """Quotients rounded towards zero, as C's."""
    return np.sign(numerator) * (np.abs(numerator) // denominator)


def step(text: Path, weights: dict[int, int]) -> dict[int, int]:
    """The next weights in billionths, and under -1 the number of rows."""
    labels, x = rows(text)
    z = x @ np.array([weights.get(key, 0) for key in range(FEATURES + 1)])
    probability = np.floor(1e6 / (1 + np.exp(-z / 1e12)) + 0.5).astype(np.int64)
    steps = truncated((1_000_000 * labels - probability) @ x, weights[-1])
    return {-1: len(labels)} | {key: weights.get(key, 0) + int(move) for key, move in enumerate(steps)}


def newton(text: Path) -> np.ndarray:
    """The weights of the greatest likelihood."""
    labels, thousandths = rows(text)
    x, weights = thousandths / 1000, np.zeros(FEATURES + 1)
    for _ in range(30):
        p = 1 / (1 + np.exp(-x @ weights))
        weights += np.linalg.solve(x.T @ (x * (p * (1 - p))[:, None]), x.T @ (labels - p))
    return weights


def as_text(weights: dict[int, int]) -> bytes:
    return by_key(b"".join(b"%d\t%d\n" % pair for pair in weights.items()))


def as_weights(text: bytes) -> dict[int, int]:
    return {int(key): int(weight) for key, weight in (line.split(b"\t") for line in text.splitlines())}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """2 MB of rows with their weights, and a place for bundles."""
    base = tmp_path_factory.mktemp("logistic")
    made("logistic", base / "rows.txt", 2_000_000, 3)
    return base


def test_the_sample_is_made_by_the_generator(tmp_path: Path) -> None:
    assert_sample_is_made("logistic_regression", "logistic", 1, sides=[WEIGHTS], folder=tmp_path)


def test_the_expected_output_is_the_oracles() -> None:
    assert as_text(step(SAMPLE, as_weights(WEIGHTS.read_bytes()))) == (APP / "expected.txt").read_bytes()


def test_every_way_to_run_gives_the_oracles_bytes(tmp_path: Path) -> None:
    results = run_everywhere("logistic_regression", SAMPLE, [WEIGHTS], tmp_path)
    assert len(results) == 6 and set(results.values()) == {(APP / "expected.txt").read_bytes()}


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_more_rows_give_the_oracles_bytes_twice(device: str, folder: Path, tmp_path: Path) -> None:
    """In the second step each row has a probability of its own."""
    text, weights, expected = folder / "rows.txt", folder / "weights.txt", as_weights((folder / "weights.txt").read_bytes())
    options, bundle = [f"--device={device}", "--split-size=700k", "--reducers=2"], compiled("logistic_regression")
    for number in (1, 2):
        output = run_app(bundle, text, [weights], tmp_path / str(number), options)
        expected = step(text, expected)
        assert output == as_text(expected) and len(expected) == 12
        weights = tmp_path / "weights.txt"
        weights.write_bytes(output)


def test_iterating_ends_near_the_greatest_likelihood(tmp_path: Path) -> None:
    job = ["run", compiled("logistic_regression"), SAMPLE, "-o", tmp_path / "out", "--quiet", "--file", WEIGHTS]
    until = "logistic_regression:change<5000000"
    cli_here(*job, "--iterate", "weights.txt", "--until", until, "--rounds", "300", "--check=none")
    weights, expected = as_weights((tmp_path / "out" / "part-00000").read_bytes()), as_weights(WEIGHTS.read_bytes())
    rounds = len(json.loads((tmp_path / "out.report" / "report.json").read_text())["iterate"]["rounds"])
    assert 5 < rounds < 300
    for _ in range(rounds):
        expected = step(SAMPLE, expected)
    assert weights == expected
    assert np.array([weights[key] / 1e9 for key in range(FEATURES + 1)]) == pytest.approx(newton(SAMPLE), abs=0.02)


def test_combining_may_happen_in_any_parts(tmp_path: Path) -> None:
    bundle = compiled("logistic_regression")
    (tmp_path / "weights.txt").write_bytes(WEIGHTS.read_bytes())
    pairs = pipe(bundle, "map", SAMPLE.read_bytes(), tmp_path).splitlines(keepends=True)
    for parts in (1, 2, 7):
        groups = [by_key(b"".join(pairs[at::parts])) for at in range(parts)]
        combined = by_key(b"".join(pipe(bundle, "combine", group, tmp_path) for group in reversed(groups)))
        assert pipe(bundle, "reduce", combined, tmp_path) == (APP / "expected.txt").read_bytes()


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_numbers_may_be_written_in_several_ways(device: str, tmp_path: Path) -> None:
    """Extreme weights, too: the probability is then 0 or 1."""
    (tmp_path / "rows.txt").write_bytes(b"\n" + GOOD + b" \t\r\n" + GOOD.replace(b" ", b"\t ").replace(b"\n", b"  \r\n"))
    for weight in (0, 1_000_000_000, 10_000_000_000_000, -10_000_000_000_000):
        weights = {-1: 2} | dict.fromkeys(range(FEATURES + 1), weight)
        (tmp_path / "weights.txt").write_bytes(as_text(weights))
        output = tmp_path / f"out{weight}"
        result = run_app(
            compiled("logistic_regression"), tmp_path / "rows.txt", [tmp_path / "weights.txt"], output,
            [f"--device={device}"],
        )
        with np.errstate(over="ignore"):
            assert result == as_text(step(tmp_path / "rows.txt", weights))


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("row", [
    GOOD.replace(b"1", b"2", 1), GOOD.replace(b" 8", b""), GOOD.replace(b" 8", b" 8 8"), GOOD.replace(b" 8", b" 8.0001"),
    GOOD.replace(b" 8", b" 10"), GOOD.replace(b" 8", b" x"), GOOD.replace(b" 8", b" ."),
    GOOD.replace(b" 8", b" 99999999999"), b"1\n", b"0.5" + GOOD[1:],
])
def test_what_is_no_row_fails_the_job(row: bytes, device: str, tmp_path: Path) -> None:
    (tmp_path / "rows.txt").write_bytes(GOOD + row)
    job = ["run", compiled("logistic_regression"), tmp_path / "rows.txt", "-o", tmp_path / "out", "--quiet"]
    message = cli_here(*job, "--file", WEIGHTS, f"--device={device}", "--max-attempts=1", status=1).message
    assert "not a row of 0 or 1 and 10 numbers below 10 with at most three decimals: " + row.decode() in message


@pytest.mark.parametrize(("weights", "message"), [
    (b"0\t1\n", "no line '-1 TAB number of rows'"), (b"", "no line '-1 TAB number of rows'"),
    (b"-1\t5\n11\t0\n", "not lines of a number from -1 to 10 and a weight"),
    (b"-1\t5\nx\n", "not lines of a number from -1 to 10 and a weight"),
])
def test_weights_that_cannot_be_fail_the_job(weights: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "weights.txt").write_bytes(weights)
    job = ["run", compiled("logistic_regression"), SAMPLE, "-o", tmp_path / "out", "--quiet", "--max-attempts=1"]
    assert message in cli_here(*job, "--file", tmp_path / "weights.txt", status=1).message
