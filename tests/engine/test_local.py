"""Whole jobs through the engine: results, and what is left behind."""

from __future__ import annotations

from pathlib import Path

from .conftest import SUM, WORDS, names, parts


def test_word_count(bundle, run, tmp_path: Path):
    (tmp_path / "in.txt").write_bytes(b"b a b\na\tb\n")
    result = run(bundle(WORDS, SUM, SUM, fold=True), tmp_path / "in.txt")
    assert parts(result.output) == [b"a\t2\nb\t3\n"]
    assert names(result.output) == ["_SUCCESS", "part-00000"]
    assert result.report["counters"]["MAP_INPUT_RECORDS"] == 2
