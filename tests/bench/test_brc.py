"""The bench of the One Billion Row Challenge at a small size: it runs, and its comparisons notice what differs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench import brc, row_queries

from ..support import ROOT

ROWS = b"b;1.0\na;-0.3\nb;2.5\n\xc3\xa9;99.9\nb;2.5\n"
ANSWERS = {
    "degrees": b"a\t-0.3/-0.3/-0.3\nb\t1.0/2.0/2.5\n\xc3\xa9\t99.9/99.9/99.9\n",
    "integers": b"a\t-3 -3 -3 1\nb\t10 25 60 3\n\xc3\xa9\t999 999 999 1\n",
    "means": b"a\t-0.3\t1\nb\t2.0\t3\n\xc3\xa9\t99.9\t1\n",
}


@pytest.mark.usefixtures("kernel_cache")
@pytest.mark.parametrize(("values", "jobs"), [
    ("tenths", ["CPU only", "gpu-only"]),
    ("double", ["CPU only", "gpu-only", "CPU only, no combiner", "gpu-only, no combiner"]),
])
def test_the_bench_runs_and_compares(values: str, jobs: list[str], tmp_path: Path) -> None:
    argv = ["--rows", "3k", "--keys", "50", "--rounds", "1", "--values", values, "--only", "cpu,gpu-only,Polars,DuckDB"]
    words = [sys.executable, "-m", "bench.brc", *argv, "--device", "emulated", "--json", str(tmp_path / "rows.json")]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "rows.json").read_text())
    rows = {row["what"]: row for row in found["rows"]}
    assert [name for name in rows if rows[name]["unit"] == "s"] == [*jobs, *row_queries.LIBRARIES]
    assert all(rows[name]["value"] > 0 for name in jobs)
    assert all(("emulated" if "gpu" in name else "cpu") in rows[name]["note"] for name in jobs)
    assert found["machine"]["rows"].startswith("3,000 of 50 stations")
    assert "| CPU only against DuckDB |" in done.stdout


@pytest.mark.parametrize("form", ANSWERS)
@pytest.mark.parametrize("library", row_queries.LIBRARIES)
def test_the_libraries_answer_as_the_programs_do(library: str, form: str, tmp_path: Path) -> None:
    module, script = row_queries.LIBRARIES[library]
    pytest.importorskip(module)
    (tmp_path / "rows.txt").write_bytes(ROWS)
    subprocess.run([sys.executable, "-c", script, tmp_path / "rows.txt", tmp_path / "out", form], check=True)
    assert (tmp_path / "out").read_bytes() == ANSWERS[form]


def test_outputs_that_differ_are_noticed(tmp_path: Path) -> None:
    job, one, other = tmp_path / "job", tmp_path / "one", tmp_path / "other"
    job.mkdir()
    (job / "part-00000").write_bytes(b"b\t1\n")
    (job / "part-00001").write_bytes(b"a\t2\nc\t3\n")
    one.write_bytes(b"a\t2\nb\t1\nc\t3\n")
    other.write_bytes(b"a\t2\nb\t1\n")
    brc.same([job, one])
    with pytest.raises(SystemExit, match="differ"):
        brc.same([job, one, other])


@pytest.mark.parametrize(("line", "why"), [
    (b"a\t1.5\t3\n", ""), (b"a\t1.500000001\t3\n", ""), (b"a\t1.5001\t3\n", "differ at"), (b"a\t1.5\t4\n", "differ at"),
    (b"b\t1.5\t3\n", "differ at"), (b"", "1 and 0 lines"),
])
def test_means_may_differ_by_their_last_digits_only(line: bytes, why: str, tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(b"a\t1.500000000\t3\n")
    (tmp_path / "other").write_bytes(line)
    if not why:
        brc.near(tmp_path / "one", tmp_path / "other")
        return
    with pytest.raises(SystemExit, match=why):
        brc.near(tmp_path / "one", tmp_path / "other")


def test_counts_of_rows() -> None:
    assert [brc.parse_count(text) for text in ("7", "2k", "50m", "1b", "1B")] == [7, 2000, 50_000_000, 10**9, 10**9]
    for text in ("", "m", "1x", "1.5m"):
        with pytest.raises(ValueError):
            brc.parse_count(text)


def test_a_directive_is_taken_out_with_its_continuation() -> None:
    combiner = (brc.APP / "combine.c").read_text()
    plain = brc.DIRECTIVE.sub("", combiner)
    assert "#pragma" in combiner and "#pragma" not in plain and "keylength" not in plain
    assert "    station[0] = '\\0';\n\n    {\n" in plain
