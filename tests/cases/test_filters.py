"""Field cases E: filters that do not behave, and the surroundings that a job runs in."""

from __future__ import annotations

import hashlib
import json
import time
from pathlib import Path

import pytest

from ..support import Bundles, cli_here, cli_process, parts
from .runner import PROGRAMS, Case, check, check_verdict, load, program

WORDS = (PROGRAMS / "words.c").read_text()
SUM = (PROGRAMS / "sum.c").read_text()
SUM_REDUCE = (PROGRAMS / "sum_reduce.c").read_text()


@pytest.mark.parametrize("case", load("E"), ids=lambda case: case.name)
def test_case(case: Case, bundles: Bundles, tmp_path: Path) -> None:
    check(case, bundles, tmp_path)


@pytest.mark.parametrize("case", load("E"), ids=lambda case: case.name)
def test_verdict(case: Case, bundles: Bundles) -> None:
    check_verdict(case, bundles)


ENDS = {
    "exit in the loop": ('exit(3);', "exit status 3"),
    "exit after the last record": ('{ while (getline(&line, &cap, stdin) != -1); exit(3); }', "exit status 3"),
    "signal": ('raise(SIGSEGV);', "signal 11"),
}


@pytest.mark.parametrize("name", ENDS)
def test_e02_a_filter_that_fails_after_some_output_commits_nothing(name: str, bundles: Bundles, tmp_path: Path) -> None:
    end, told = ENDS[name]
    text = "#include <signal.h>\n" + program("E02", "map").replace("exit(3);", end)
    (tmp_path / "in").write_bytes(b"a\n!\nb\n")
    for options in ([], ["--reducers=2"], ["--split-size=2"]):
        done = cli_here("run", bundles.get(text), tmp_path / "in", "-o", tmp_path / "out", "--quiet", *options, status=1)
        assert told in done.message and "bad record" in done.message and str(tmp_path / "in") in done.message
        assert not (tmp_path / "out").exists(), "no part files, no _SUCCESS"


def test_e05_five_thousand_files_with_long_names(bundles: Bundles, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    names = [folder / f"a_rather_long_file_name_to_fill_the_environment_{i}.txt" for i in range(5000)]
    for i, name in enumerate(names):
        name.write_bytes(b"w%d\n" % i)
    done = cli_here("run", bundles.get(WORDS), *names, "-o", tmp_path / "out", "--quiet", "--reducers=1")
    assert done.err == b""
    assert sorted(parts(tmp_path / "out")[0].splitlines()) == sorted(b"w%d\t1" % i for i in range(5000))


def test_e06_blanks_and_quotes_in_the_working_folder(tmp_path: Path) -> None:
    folder = tmp_path / "my job's \"dir\""
    folder.mkdir()
    (folder / "map.c").write_text(WORDS)
    (folder / "in.txt").write_bytes(b"a b a\n")
    assert cli_process("run", "map.c", "in.txt", "-o", "out", "--quiet", cwd=folder).message == ""
    assert parts(folder / "out") == [b"a\t1\nb\t1\na\t1\n"]


HEADER_REDUCE = SUM_REDUCE.replace("long long sum = 0;\n", 'long long sum = 0;\n  printf("header\\t0\\n");\n')


def test_e07_a_partition_without_keys_is_an_empty_file(bundles: Bundles, tmp_path: Path) -> None:
    assert HEADER_REDUCE != SUM_REDUCE
    (tmp_path / "in").write_bytes(b"a\n")
    for number, reduce in enumerate(("", SUM_REDUCE, HEADER_REDUCE)):
        cli_here("run", bundles.get(WORDS, "", reduce), tmp_path / "in", "-o", tmp_path / f"out{number}", "-r4", "--quiet")
        full = b"header\t0\na\t1\n" if reduce == HEADER_REDUCE else b"a\t1\n"
        assert sorted(parts(tmp_path / f"out{number}")) == [b"", b"", b"", full]


def test_e08_an_output_that_exists_is_refused_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/x").write_text("keep")
    (tmp_path / "map.c").write_text("this is no C")
    (tmp_path / "in").write_bytes(b"a\n")
    done = cli_here("run", tmp_path / "map.c", tmp_path / "in", "-o", tmp_path / "out", status=2)
    assert f"{tmp_path / 'out'}" in done.message and "HD020" in done.message
    assert (tmp_path / "out/x").read_text() == "keep"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "map.c", "out"]


def test_e18_folders_as_hadoop_reads_them(bundles: Bundles, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    (folder / "sub").mkdir(parents=True)
    for name, text in (("part-0", b"a\n"), ("_SUCCESS", b"bad\n"), (".part-0.crc", b"bad\n")):
        (folder / name).write_bytes(text)
    app = bundles.get(WORDS)
    done = cli_here("run", app, folder, "-o", tmp_path / "out", status=2)
    assert str(folder / "sub") in done.message and not (tmp_path / "out").exists()
    (folder / "sub").rmdir()
    cli_here("run", app, folder, "-o", tmp_path / "out", "--quiet")
    assert parts(tmp_path / "out") == [b"a\t1\n"]
    cli_here("run", app, folder / "_SUCCESS", folder / ".part-0.crc", "-o", tmp_path / "named", "--quiet", "-r1")
    assert parts(tmp_path / "named") == [b"bad\t1\nbad\t1\n"]


def test_e18_a_folder_of_hidden_files_only_is_empty_input(bundles: Bundles, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/_SUCCESS").write_bytes(b"bad\n")
    done = cli_here("run", bundles.get(WORDS), tmp_path / "in", "-o", tmp_path / "out", "--quiet", "-r2")
    assert "warning[HD015]" in done.message and str(tmp_path / "in") in done.message
    assert parts(tmp_path / "out") == [b"", b""] and (tmp_path / "out/_SUCCESS").exists()


COUNTING = r"""
#include <stdio.h>
int main(void) {
  int i;
  for (i = 0; i < 1000000; i++) fputs("reporter:counter:rows,comment,1\n", stderr);
  fputs("reporter:status:done counting\nplain words\n", stderr);
  printf("k\t1\n");
  return 0;
}
"""


def test_e19_counters_reach_the_report(bundles: Bundles, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"#\na\n#\nb\n" * 5000)
    options = ["--quiet", "--split-size=10000", "--json"]
    done = cli_here("run", bundles.get(program("E19", "map")), tmp_path / "in", "-o", tmp_path / "out", *options)
    assert json.loads(done.out)["user_counters"] == {"rows": {"comment": 10000}}
    assert hashlib.sha256(b"".join(parts(tmp_path / "out"))).hexdigest() == hashlib.sha256(b"k\t1\n" * 10000).hexdigest()
    assert json.loads((tmp_path / "out.report/report.json").read_text()) == json.loads(done.out)


def test_e19_a_million_counter_lines_do_not_block(bundles: Bundles, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"a\n")
    begun = time.monotonic()
    done = cli_here("run", bundles.get(COUNTING), tmp_path / "in", "-o", tmp_path / "out", "--quiet", "--json")
    assert time.monotonic() - begun < 30
    assert json.loads(done.out)["user_counters"] == {"rows": {"comment": 1000000}}
    assert parts(tmp_path / "out") == [b"k\t1\n"]
    logs = b"".join(path.read_bytes() for path in (tmp_path / "out.report/logs").iterdir())
    assert b"plain words" in logs and b"reporter:counter" not in logs
