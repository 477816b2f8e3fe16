"""Field cases D: partitions, order of keys, combiners."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..support import Bundles, cli_here, cli_process, parts
from .runner import PROGRAMS, Case, check, check_verdict, load, program

WORDS = (PROGRAMS / "words.c").read_text()
SUM = (PROGRAMS / "sum.c").read_text()
SUM_REDUCE = (PROGRAMS / "sum_reduce.c").read_text()


@pytest.mark.parametrize("case", load("D"), ids=lambda case: case.name)
def test_case(case: Case, bundles: Bundles, tmp_path: Path) -> None:
    check(case, bundles, tmp_path)


@pytest.mark.parametrize("case", load("D"), ids=lambda case: case.name)
def test_verdict(case: Case, bundles: Bundles) -> None:
    check_verdict(case, bundles)


@pytest.mark.parametrize("locale", ["en_US.UTF-8", "C"])
def test_d02_order_under_a_locale_of_the_caller(locale: str, bundles: Bundles, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"b A a B a-b ab _a /c\n")
    done = cli_process("run", bundles.get(WORDS), tmp_path / "in", "-o", tmp_path / "out", "-r1", "--quiet",
                       env={"LC_ALL": locale, "LANG": locale})
    assert done.status == 0, done.message
    assert parts(tmp_path / "out") == [b"/c\t1\nA\t1\nB\t1\n_a\t1\na\t1\na-b\t1\nab\t1\nb\t1\n"]


@pytest.mark.parametrize("split", ["6", "4", "64m"])
def test_d05_a_combiner_that_makes_new_keys_fails_and_a_key_is_named(split: str, bundles: Bundles, tmp_path: Path) -> None:
    app = bundles.get(program("D05", "map"), program("D05", "combine"), SUM_REDUCE)
    (tmp_path / "in").write_bytes(b"x\n" * 6)
    options = ["--reducers=2", "--max-attempts=1", "--quiet", "--split-size", split]
    done = cli_here("run", app, tmp_path / "in", "-o", tmp_path / "out", *options, status=1)
    assert "HD403" in done.message and ("key1" in done.message or "key2" in done.message)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("split", [6, 12, 42, 1000])
def test_d06_any_number_of_combiner_runs_and_none(split: int, bundles: Bundles, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"a b a\n" * 10 + b"b c\n" * 3)
    with_combiner, without = bundles.get(WORDS, SUM, SUM_REDUCE), bundles.get(WORDS, "", SUM_REDUCE)
    spill = ["-D", "heterodoop.sort.bytes=1"]
    for number, (app, more) in enumerate([(with_combiner, []), (with_combiner, spill), (without, []), (without, spill)]):
        output = tmp_path / f"out{number}"
        cli_here("run", app, tmp_path / "in", "-o", output, "--quiet", "--split-size", split, *more)
        assert parts(output) == [b"a\t20\nb\t13\nc\t3\n"]


@pytest.mark.parametrize("split", [1000, 65537, 199999])
def test_d08_a_run_of_equal_keys_is_cut_anywhere(split: int, bundles: Bundles, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"k\n" * 100003 + b"k j\n")
    app = bundles.get(WORDS, SUM, SUM_REDUCE)
    options = ["--quiet", "--split-size", split, "-D", "heterodoop.sort.bytes=4096"]
    cli_here("run", app, tmp_path / "in", "-o", tmp_path / "out", *options)
    assert parts(tmp_path / "out") == [b"j\t1\nk\t100004\n"]


@pytest.mark.parametrize("reducers", [2, 3, 5, 7])
def test_d09_partitions_are_hadoops(reducers: int, bundles: Bundles, tmp_path: Path) -> None:
    wanted = {  # key -> partition of 2, 3, 5 and 7 reducers
        b"iwimanrr": (0, 0, 0, 0), b"wjjgbaiy": (0, 0, 0, 0), b"the": (0, 1, 2, 0), b"caf\xc3\xa9": (1, 1, 1, 0),
        b"\xff\xfe": (0, 1, 3, 4),
    }
    (tmp_path / "in").write_bytes(b" ".join(wanted) + b"\n")
    cli_here("run", bundles.get(WORDS), tmp_path / "in", "-o", tmp_path / "out", "--quiet", "--reducers", reducers)
    found = {line.split(b"\t")[0]: n for n, part in enumerate(parts(tmp_path / "out")) for line in part.split(b"\n") if line}
    assert found == {key: numbers[(2, 3, 5, 7).index(reducers)] for key, numbers in wanted.items()}


def test_d11_no_reducer_one_more_than_keys_and_very_many(bundles: Bundles, tmp_path: Path) -> None:
    app = bundles.get(WORDS)
    (tmp_path / "in").write_bytes(b"a b a\n")
    for reducers, empty in ((0, 0), (1, 0), (5, 3), (1000, 998)):
        output = tmp_path / f"out{reducers}"
        cli_here("run", app, tmp_path / "in", "-o", output, "--quiet", "--reducers", reducers)
        found = parts(output)
        assert len(found) == max(1, reducers) and found.count(b"") == empty
        assert sorted(b"".join(found).split(b"\n")) == [b"", b"a\t1", b"a\t1", b"b\t1"]


@pytest.mark.parametrize("reducers", ["-1", "1.5", "abc", "", "100001", "1e3", "0x10"])
def test_d11_numbers_of_reducers_that_cannot_be(reducers: str, bundles: Bundles, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"a b a\n")
    done = cli_here("run", bundles.get(WORDS), tmp_path / "in", "-o", tmp_path / "out", f"--reducers={reducers}", status=2)
    assert "--reducers" in done.message and not (tmp_path / "out").exists()


def test_d13_sums_of_doubles_are_the_same_in_every_run(bundles: Bundles, tmp_path: Path) -> None:
    app = bundles.get(program("D13", "map"), program("D13", "combine"))
    (tmp_path / "in").write_bytes(b"1e8\n0.1\n-1e8\n3e-9\n" * 1000)
    found = set()
    for number in range(8):
        options = ["--quiet", "--reducers=1", "--split-size=2000", "-D", f"heterodoop.sort.bytes={5000 + number * 10000}"]
        cli_here("run", app, tmp_path / "in", "-o", tmp_path / f"out{number}", *options, f"--cpu-slots={1 + number % 4}")
        found.add(tuple(parts(tmp_path / f"out{number}")))
    assert len(found) == 1 and all(line.startswith(b"s\t") for line in found.pop()[0].splitlines())


def test_d15_a_combiner_that_stops_early_is_told(bundles: Bundles, tmp_path: Path) -> None:
    app = bundles.get(program("D15", "map"), SUM)
    (tmp_path / "in").write_bytes(b"boston\nnew york\noslo\nboston\n")
    done = cli_here("run", app, tmp_path / "in", "-o", tmp_path / "out", "--reducers=1", "--quiet")
    assert parts(tmp_path / "out") == [b"boston\t2\n"], "what the same filters give on plain pipes"
    assert "warning[HD407]" in done.message and "1 pairs" in done.message


def test_d15_the_bytes_that_a_combiner_left_are_told(bundles: Bundles, tmp_path: Path) -> None:
    app = bundles.get(program("D15", "map"), SUM)
    (tmp_path / "in").write_bytes(b"a\nnew york\n" + b"".join(b"x%06d\n" % i for i in range(30000)))
    done = cli_here("run", app, tmp_path / "in", "-o", tmp_path / "out", "--reducers=1", "--quiet")
    assert parts(tmp_path / "out") == [b"a\t1\n"]
    assert "warning[HD407]" in done.message and "warning[HD408]" in done.message
