"""Many small files: one host kernel does several, with the bytes that each by itself gives."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from heterodoop.engine.run.local import JobResult
from heterodoop.errors import JobFailed
from heterodoop.executor.kernel import small_files
from heterodoop.executor.kernel.host_kernel import Left

from ...support import Bundles
from ..conftest import parts

MARK = b"\xef\xbb\xbf"
ODD = [MARK, MARK + MARK + b"the a\n", b"", b"the fox\r", b"\nthe dog", b"\n\n", MARK + b"the\r\n", b"a\rb", MARK, b"fox"]
NAMED = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  char name[64], *line = NULL, *file = getenv("mapreduce_map_input_file"); size_t cap = 0; int one = 1;
  char last = file ? file[strlen(file) - 1] : 0;
  #pragma mapreduce mapper key(name) value(one) keylength(64) vallength(1)
  while (getline(&line, &cap, stdin) != -1) {
    name[0] = last; name[1] = 0;
    printf("%s\t%d\n", name, one);
  }
  return 0;
}
"""


@pytest.fixture
def job(run, tmp_path: Path) -> Callable[..., tuple[JobResult, list[dict]]]:
    """A job on one CPU slot over files of these contents, and its map attempts."""

    def go(bundle: Path, texts: list[bytes], out: str = "out", **options: object) -> tuple[JobResult, list[dict]]:
        folder = tmp_path / "in"
        folder.mkdir(exist_ok=True)
        for number, text in enumerate(texts):
            (folder / f"{number:03d}").write_bytes(text)
        result = run(bundle, folder, out=out, **{"cpu_slots": 1, "reducers": 2, **options})
        rows = [json.loads(line) for line in (result.report_folder / "attempts.jsonl").read_text().splitlines()]
        return result, [row for row in rows if "split" in row]

    return go


def test_the_records_are_those_of_each_file(wordcount: Path, job) -> None:
    texts = ODD * 4
    expected, each = job(wordcount, texts, out="filters", filters=True)
    result, rows = job(wordcount, texts)
    assert parts(result.output) == parts(expected.output) and b"the\t12\n" in b"".join(parts(result.output))
    assert len(each) == 40 and len(rows) < 5 and {row["ran"] for row in rows} == {"host kernel"}
    assert sum(len(row.get("tasks", [0])) for row in rows) == 40
    assert result.report["map"]["several_splits"]["tasks"] == 40 - sum("tasks" not in row for row in rows)
    for name in ("MAP_INPUT_RECORDS", "MAP_OUTPUT_RECORDS", "REDUCE_OUTPUT_RECORDS"):
        assert result.report["counters"][name] == expected.report["counters"][name]


def test_files_of_which_a_program_asks_something_stay_alone(bundles: Bundles, job) -> None:
    app = bundles.get(NAMED)
    texts = [b"x\n" * (number + 1) for number in range(6)]
    result, rows = job(app, texts, reducers=1)
    assert parts(result.output) == [b"0\t1\n1\t1\n1\t1\n" + b"".join(b"%d\t1\n" % n * (n + 1) for n in range(2, 6))]
    assert {row["ran"] for row in rows if row["outcome"] == "succeeded"} == {"host kernel"}
    (given,) = (row for row in rows if row["outcome"] != "succeeded")
    assert "gives another result for each file" in given["message"] and given["code"] == "HD432"
    assert result.report["map"]["several_splits"]["given_back"] == 1 and result.warnings == ()


@pytest.mark.parametrize("options", [{"reducers": 0}, {"record_delimiter": ";"}, {"filters": True}])
def test_where_it_would_show_each_file_is_a_task(wordcount: Path, job, options) -> None:
    _, rows = job(wordcount, [b"a;b\n"] * 5, **options)
    assert len(rows) == 5 and not any("tasks" in row for row in rows)


def test_what_the_host_kernel_leaves_is_tried_file_by_file(wordcount: Path, job, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small_files.HostMaps, "run_alone", lambda self, run, progress: Left("it is odd"))
    result, rows = job(wordcount, [b"a b\n"] * 9)
    assert b"".join(sorted(parts(result.output))) == b"a\t9\nb\t9\n"
    assert [row["outcome"] for row in rows].count("given back") == 1 and len(rows) == 10
    assert {w.code for w in result.warnings} == {"HD432"}


def test_a_file_that_changes_ends_the_job(wordcount: Path, job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = small_files._text

    def grown(split) -> bytes:
        with open(tmp_path / "in/003", "ab") as file:
            file.write(b"more\n")
        return real(split)

    monkeypatch.setattr(small_files, "_text", grown)
    with pytest.raises(JobFailed, match="in/003 is .* bytes long, and was 4") as caught:
        job(wordcount, [b"a b\n"] * 5)
    assert caught.value.code == "HD049" and not os.path.exists(tmp_path / "out")
