"""Temperatures of stations: the oracle takes the least, the mean and the greatest with NumPy, by whole columns."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from heterodoop import manifest

from ..support import cli_here
from .everywhere import APPS, EMULATED, compiled, made, pipe, run_app, run_everywhere

APP = APPS / "station_temperatures"
NAME = "station_temperatures"
pytestmark = pytest.mark.usefixtures("kernel_cache")


def oracle(data: bytes) -> bytes:
    rows = [line.split(b";") for line in data.splitlines()]
    names, which = np.unique([name for name, _ in rows], return_inverse=True)
    tenths = np.array([number.replace(b".", b"") for _, number in rows]).astype(np.int64)
    low, high, total, count = np.full(len(names), 1000), np.full(len(names), -1000), np.zeros(len(names)), np.bincount(which)
    np.minimum.at(low, which, tenths)
    np.maximum.at(high, which, tenths)
    np.add.at(total, which, tenths)
    columns = zip(names, low / 10, total / 10 / count, high / 10, strict=True)
    return b"".join(b"%s\t%.1f/%.1f/%.1f\n" % row for row in columns)


def test_the_sample_is_made_by_the_generator(tmp_path: Path) -> None:
    sample = made("stations", tmp_path / "sample.txt", 2000, 1, "41", "1").read_bytes()
    assert sample == (APP / "sample.txt").read_bytes() and len(sample) <= 50_000


def test_the_expected_output_is_the_oracle_s() -> None:
    assert oracle((APP / "sample.txt").read_bytes()) == (APP / "expected.txt").read_bytes()


def test_every_way_to_run_gives_the_oracle_s_bytes(tmp_path: Path) -> None:
    results = run_everywhere(NAME, APP / "sample.txt", [], tmp_path)
    assert len(results) == 6 and set(results.values()) == {(APP / "expected.txt").read_bytes()}


@pytest.mark.parametrize("options", [(), EMULATED])
def test_more_rows_and_stations_give_the_oracle_s_bytes(options: tuple[str, ...], tmp_path: Path) -> None:
    text = made("stations", tmp_path / "rows.txt", 20_000, 2, "3000", "1")
    result = run_app(compiled(NAME), text, [], tmp_path / "out", (*options, "--split-size=90k", "--reducers=2"))
    assert result == oracle(text.read_bytes())


def test_numbers_and_names_at_their_ends(tmp_path: Path) -> None:
    name = b"x" * 100
    rows = [b"%s;%s" % (name, number) for number in (b"-99.9", b"99.9", b"0.0", b"-0.0", b"-0.1")]
    rows += [b"\xc3\xa9 a;9.9", b"b;-0.1", b"b;00.0"]
    (tmp_path / "rows.txt").write_bytes(b"\n".join(rows))  # the last line has no end
    for number, options in enumerate([(), EMULATED]):
        result = run_app(compiled(NAME), tmp_path / "rows.txt", [], tmp_path / f"out{number}", options)
        assert result == b"b\t-0.1/-0.1/0.0\n" + name + b"\t-99.9/-0.0/99.9\n" + b"\xc3\xa9 a\t9.9/9.9/9.9\n"


def test_combining_in_any_pieces_gives_the_same(tmp_path: Path) -> None:
    bundle, pairs = compiled(NAME), b"".join(b"a\t%d %d %d 1\n" % (n, n, n) for n in (5, -7, 12, 0, -999, 999))
    lines = pairs.splitlines(keepends=True)
    for cut in range(1, 6):
        halves = [pipe(bundle, "combine", b"".join(half), tmp_path) for half in (lines[:cut], lines[cut:])]
        assert pipe(bundle, "combine", b"".join(halves), tmp_path) == b"a\t-999 999 10 6\n"
    assert pipe(bundle, "reduce", pairs, tmp_path) == b"a\t-99.9/0.2/99.9\n"


REFUSED = [
    b"", b"a", b";1.0", b"a;", b"a;1", b"a;1.", b"a;.5", b"a;1.25", b"a;100.0", b"a;+1.0", b"a;--1.0", b"a; 1.0", b"a;1.0 ",
    b"a;1.0x", b"a\tb;1.0", b"a\0;1.0", b"a;1.0;", b"x" * 101 + b";1.0",
]


@pytest.mark.parametrize("line", REFUSED)
def test_what_is_no_measurement_fails_the_task(line: bytes, tmp_path: Path) -> None:
    done = subprocess.run([compiled(NAME) / "bin" / "map"], input=line + b"\n", capture_output=True, check=False)
    assert done.returncode == 1 and done.stderr.startswith(b"station_temperatures: not a name, `;` and a number")


@pytest.mark.parametrize("options", [(), EMULATED])
def test_a_job_with_a_line_that_is_no_measurement_fails(options: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"a;1.0\nb;2\n")
    job = ["run", compiled(NAME), tmp_path / "in", "-o", tmp_path / "out", "--quiet", "--max-attempts", "1", *options]
    assert "not a name, `;` and a number like -12.3: b;2" in cli_here(*job, status=1).message


def test_map_and_combiner_are_understood() -> None:
    programs = {program.role: program for program in manifest.load(compiled(NAME)).programs}
    assert programs["map"].gpu_refusals == () and programs["combine"].gpu_refusals == ()
