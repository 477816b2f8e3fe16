"""Star Schema Benchmark, queries 1.1 and 2.1: the oracle joins and sums with NumPy, by whole columns."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ..support import cli_here
from .everywhere import APPS, assert_sample_is_made, by_key, compiled, made, pipe, run_app, run_everywhere

DATE = APPS / "ssb_q11" / "date.tbl"
SIDES = {
    "ssb_q11": [DATE],
    "ssb_q21": [DATE, APPS / "ssb_q21" / "part.tbl", APPS / "ssb_q21" / "supplier.tbl"],
}
NAMES = sorted(SIDES)
SCALE = ("200", "20")  # parts and suppliers of the samples


def column(path: Path, number: int) -> np.ndarray:
    """A column of a table, from 0, as text."""
    return np.array([row.split("|")[number] for row in path.read_text().splitlines()])


def lookup(keys: np.ndarray, dimension: Path, number: int) -> np.ndarray:
    """For each key, column `number` of the dimension's row with this key in its first column. Every key must have a row."""
    rows = column(dimension, 0).astype(np.int64)
    order = np.argsort(rows)
    places = order[np.searchsorted(rows, keys, sorter=order)]
    assert (rows[places] == keys).all()
    return column(dimension, number)[places]


def q11(text: Path, date: Path) -> bytes:
    """The sum of price times discount; apps/ssb_q11/README.md has the query."""
    day, quantity, price, discount = (column(text, n).astype(np.int64) for n in (5, 8, 9, 11))
    chosen = (lookup(day, date, 4) == "1993") & (discount >= 1) & (discount <= 3) & (quantity < 25)
    return b"revenue\t%d\n" % (price * discount)[chosen].sum() if chosen.any() else b""


def q21(text: Path, date: Path, part: Path, supplier: Path) -> bytes:
    """The revenue of each year and brand; apps/ssb_q21/README.md has the query."""
    parts, suppliers, day, revenue = (column(text, n).astype(np.int64) for n in (3, 4, 5, 12))
    chosen = (lookup(parts, part, 3) == "MFGR#12") & (lookup(suppliers, supplier, 5) == "AMERICA")
    if not chosen.any():
        return b""
    groups = np.char.add(np.char.add(lookup(day, date, 4), "|"), lookup(parts, part, 4))[chosen]
    names, which = np.unique(groups, return_inverse=True)
    sums = np.zeros(len(names), np.int64)
    np.add.at(sums, which, revenue[chosen])
    return b"".join(b"%s\t%d\n" % (name.encode(), total) for name, total in zip(names, sums, strict=True))


ORACLES = {"ssb_q11": q11, "ssb_q21": q21}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """2 MB of lines with their dimensions, and a place for bundles."""
    base = tmp_path_factory.mktemp("ssb")
    made("ssb", base / "lineorder.tbl", 2_000_000, 3, "1000", "50")
    return base


@pytest.mark.parametrize("app", NAMES)
def test_the_sample_is_made_by_the_generator(app: str, tmp_path: Path) -> None:
    assert_sample_is_made(app, "ssb", 1 if app == "ssb_q11" else 2, *SCALE, sides=SIDES[app], folder=tmp_path)


@pytest.mark.parametrize("app", NAMES)
def test_the_expected_output_is_the_oracles(app: str) -> None:
    expected = (APPS / app / "expected.txt").read_bytes()
    assert expected and ORACLES[app](APPS / app / "sample.txt", *SIDES[app]) == expected


@pytest.mark.parametrize("app", NAMES)
def test_every_way_to_run_gives_the_oracles_bytes(app: str, tmp_path: Path) -> None:
    sample = APPS / app / "sample.txt"
    results = run_everywhere(app, sample, SIDES[app], tmp_path)
    assert len(results) == 6 and set(results.values()) == {(APPS / app / "expected.txt").read_bytes()}


@pytest.mark.parametrize("app", NAMES)
@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_a_larger_table_gives_the_oracles_bytes(app: str, device: str, folder: Path, tmp_path: Path) -> None:
    text, sides = folder / "lineorder.tbl", [folder / path.name for path in SIDES[app]]
    options = [f"--device={device}", "--split-size=700k", "--reducers=2"]
    result = run_app(compiled(app), text, sides, tmp_path / "out", options)
    assert result.count(b"\n") >= {"ssb_q11": 1, "ssb_q21": 50}[app]
    assert result == ORACLES[app](text, *sides)


@pytest.mark.parametrize("app", NAMES)
def test_combining_may_happen_in_any_parts(app: str, tmp_path: Path) -> None:
    bundle = compiled(app)
    for side in SIDES[app]:
        (tmp_path / side.name).write_bytes(side.read_bytes())
    pairs = pipe(bundle, "map", (APPS / app / "sample.txt").read_bytes(), tmp_path).splitlines(keepends=True)
    expected = (APPS / app / "expected.txt").read_bytes()
    for step in (1, 2, len(pairs)):
        groups = [by_key(b"".join(pairs[at::step])) for at in range(step)]
        combined = by_key(b"".join(pipe(bundle, "combine", group, tmp_path) for group in reversed(groups)))
        assert pipe(bundle, "reduce", combined, tmp_path) == expected


def test_sums_do_not_overflow(tmp_path: Path, folder: Path) -> None:
    line = b"1|1|1|1|1|19930101|5-LOW|0|1|2147483647|0|3|2147483647|1|1|19930201|AIR|\n"
    assert pipe_q11(tmp_path, line * 3) == b"revenue\t%d\n" % (3 * 3 * 2147483647)


def pipe_q11(place: Path, text: bytes) -> bytes:
    bundle = compiled("ssb_q11")
    (place / "date.tbl").write_bytes(DATE.read_bytes())
    return pipe(bundle, "reduce", pipe(bundle, "combine", pipe(bundle, "map", text, place), place), place)


@pytest.mark.parametrize("line", [
    b"\n", b"1|2|3\n", b"1|1|1|1|1|19930230|x|0|1|5|0|3|5|1|1|1|A|\n", b"1|1|1|1|1|99999999|x|0|1|5|0|3|5|1|1|1|A|\n",
])
def test_a_line_without_a_row_in_the_dimension_joins_nothing(line: bytes, tmp_path: Path, folder: Path) -> None:
    assert pipe_q11(tmp_path, line) == b""


@pytest.mark.parametrize(("app", "missing"), [(app, side.name) for app in NAMES for side in SIDES[app]])
def test_a_missing_table_fails_the_job(app: str, missing: str, tmp_path: Path) -> None:
    files = [argument for path in SIDES[app] if path.name != missing for argument in ("--file", path)]
    job = ["run", compiled(app), APPS / app / "sample.txt", "-o", tmp_path / "out", "--quiet", "--max-attempts=1"]
    assert f"{missing}: No such file" in cli_here(*job, *files, status=1).message
