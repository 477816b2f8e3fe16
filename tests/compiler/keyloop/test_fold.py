"""Which combiners are folds: every usual spelling, near misses, and what each recognised one really computes."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path
from typing import Any

import pytest

from heterodoop.manifest import Fold, FoldField, PairReader

from ..fold_programs import (
    BEFORE,
    BODY,
    EMIT,
    FLUSH,
    FOLDS,
    NO_FOLDS,
    NO_NUMBER_FOLDS,
    NUMBER_FOLDS,
    NumberSpelling,
    Spelling,
    changed,
    usual,
)
from ..regions import COMBINER, PRELUDE, analyse, combiner


def fold(op: Any, value: Any, key: str, accumulator: str, regroup: bool) -> Fold:
    """A fold of one number."""
    return Fold((FoldField(op, value),), (), key, (accumulator,), regroup)


@pytest.mark.parametrize("name", FOLDS)
def test_recognised(name: str) -> None:
    wanted = FOLDS[name]
    region = analyse(wanted.source)[0].region
    assert region.fold == fold(wanted.op, wanted.value, "prev", "count", wanted.op != "count")
    assert region.pairs == PairReader(wanted.key, wanted.longest, (wanted.value,))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", NUMBER_FOLDS)
def test_keys_that_are_numbers(name: str) -> None:
    wanted = NUMBER_FOLDS[name]
    region = analyse(wanted.source)[0].region
    assert region.fold == fold(wanted.op, wanted.value, "prev", "count", True)
    assert region.pairs == PairReader(wanted.key, wanted.longest, (wanted.value,), wanted.none)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", [*NO_FOLDS, *NO_NUMBER_FOLDS])
def test_near_miss(name: str) -> None:
    assert analyse({**NO_FOLDS, **NO_NUMBER_FOLDS}[name])[0].region.fold is None


@pytest.mark.parametrize(("guard", "longest"), [
    ("strlen(word) >= 20", 19), ("strlen(word) > 20", 20), ("20 < strlen(word)", 20), ("!val || strlen(word) > 5", 0),
    ("(int)strlen(word) >= sizeof prev", 31), ("strlen(word) > 40", 31), ("strlen(word) < 2", 0),
    ("strlen(word) == 3", 0), ("strlen(word) > 9 && val", 9), ("word[0] == '*'", 0),
])
def test_a_longest_key_beyond_which_it_ends(guard: str, longest: int) -> None:
    """A key loop is done with those that are shorter; 0: what it ends at is another thing."""
    facts = analyse(usual(f"if ({guard}) exit(1); " + BODY))[0].facts
    assert (facts.fold.loop is None) == (longest == 0)
    assert longest in (0, facts.fold.pairs.key_max if facts.fold.pairs else -1)


def of_fields(body: str = "", before: str = 'struct pair p = {"", 0}, in;', key: str = "p") -> str:
    """A combiner whose key and number are fields of structs."""
    body = body or (
        "if (!strcmp(in.key, p.key)) p.count += in.count;"
        r' else { if (p.key[0]) printf("%s\t%d\n", p.key, p.count); strcpy(p.key, in.key); p.count = in.count; }'
    )
    pragma = f"#pragma mapreduce combiner key({key}) value(p) keyin(in) firstprivate(p)"
    return combiner(
        body, before=before, loop='while (scanf("%31s %d", in.key, &in.count) == 2)', pragma=pragma,
        flush=r'if (p.key[0]) printf("%s\t%d\n", p.key, p.count);',
        helpers="struct pair { char key[32]; int count, last; };",
    )


@pytest.mark.parametrize(("before", "where"), [
    ('struct pair p = {"", 0}, in;', ""), ("struct pair p = {{0}}, in;", ""),
    ("struct pair in;", "static struct pair p;"), ("struct pair p, in; p.key[0] = 0; p.count = 0;", ""),
])
def test_fields_of_a_struct_fold_as_variables_do(before: str, where: str) -> None:
    region = analyse(of_fields(before=f"{where} {before}"))[0].region
    assert region.fold == fold("sum", "int32", "p.key", "p.count", True)
    assert region.pairs == PairReader("token", 31, ("int32",))


@pytest.mark.parametrize(("old", "new"), [
    ("strcpy(p.key, in.key); p.count = in.count;", "p = in;"), ("p.count += in.count", "p.count -= in.count"),
])
def test_structs_that_are_no_fold(old: str, new: str) -> None:
    assert analyse(of_fields().replace(old, new))[0].region.fold is None


def run(binary: Path, lines: list[bytes]) -> list[bytes]:
    done = subprocess.run([binary], input=b"".join(lines), stdout=subprocess.PIPE, check=True)
    return done.stdout.splitlines(keepends=True)


def pairs(rng: random.Random, *, numbers: bool) -> list[bytes]:
    keys = [b"0", b"1", b"10", b"2", b"2147483647", b"999"] if numbers else [b"k%d" % n for n in range(6)]
    return [b"%s\t%d\n" % (rng.choice(keys), rng.randrange(1, 1000)) for _ in range(rng.randrange(40))]


def by_key(lines: list[bytes]) -> list[bytes]:
    return sorted(lines, key=lambda line: line.partition(b"\t")[0])


REFERENCE = {"sum": sum, "min": min, "max": max, "count": len}


def folded(lines: list[bytes], op: str) -> list[bytes]:
    """What a fold makes of sorted pairs."""
    values: dict[bytes, list[int]] = {}
    for line in lines:
        key, _, value = line.partition(b"\t")
        values.setdefault(key, []).append(int(value))
    return [b"%s\t%d\n" % (key, REFERENCE[op](found)) for key, found in values.items()]


@pytest.mark.parametrize("wanted", [*FOLDS.values(), *NUMBER_FOLDS.values()], ids=[*FOLDS, *NUMBER_FOLDS])
def test_does_what_it_is_recognised_as(wanted: Spelling | NumberSpelling, tmp_path: Path) -> None:
    """The filter's own output is the fold's and, but for counts, the same however the pairs were grouped before."""
    numbers = isinstance(wanted, NumberSpelling)
    (tmp_path / "c.c").write_text(PRELUDE + wanted.source)
    binary = tmp_path / "c"
    subprocess.run(["gcc", "-w", "-O1", "-fwrapv", "-o", binary, tmp_path / "c.c"], check=True)
    rng = random.Random(wanted.source)
    for _ in range(4):
        parts = [by_key(pairs(rng, numbers=numbers)) for _ in range(3)]
        whole = by_key([line for part in parts for line in part])
        expected = folded(whole, wanted.op)
        assert run(binary, whole) == expected
        if wanted.op != "count":
            assert run(binary, by_key([line for part in parts for line in run(binary, part)])) == expected


def test_a_test_of_the_pair_alone_may_end_the_process() -> None:
    assert analyse(usual("if (word[0] == '*') exit(1); " + BODY))[0].region.fold is not None


def test_sum_in_a_wider_type_is_a_fold_but_not_again() -> None:
    """Its output may not read back as %d."""
    source = usual(before="char word[32], prev[32]; long count = 0; int val; prev[0] = 0;", emit=EMIT.replace("%d", "%ld"))
    assert analyse(source)[0].region.fold == fold("sum", "int64", "prev", "count", False)


def test_maximum_in_a_wider_type_is_none() -> None:
    maximum = ("count += val;", "{ if (val > count) count = val; }")
    source = changed(maximum, ("%d\\n", "%ld\\n"), ("int count = 0, val;", "long count = 0; int val;"))
    assert analyse(source)[0].region.fold is None


def test_flush_behind_a_loop_that_is_the_region_itself() -> None:
    loop = 'while (scanf("%31s %d", word, &val) == 2)'
    source = f"int main(void) {{ {BEFORE}\n{COMBINER}\n{loop} {{ {BODY} }}\n{FLUSH} return 0; }}".replace("EMIT", EMIT)
    assert analyse(source)[0].region.fold == fold("sum", "int32", "prev", "count", True)


@pytest.mark.parametrize(
    ("loop", "before", "expected"),
    [
        ('while (scanf("%s %lf", word, &x) == 2)', "char word[30]; double x;", PairReader("token", 29, ())),
        ('while (scanf("%15s %lld", word, &x) == 2)', "char word[30]; long long x;", PairReader("token", 15, ("int64",))),
        ('while (scanf("%15s", word) == 1)', "char word[30];", PairReader("token", 15, ())),
        ('while (scanf("%d %d", &i, &j) == 2)', "int i, j;", PairReader("other", 0, ())),
    ])
def test_pair_reader(loop: str, before: str, expected: PairReader) -> None:
    source = combiner("puts(prev);", before=f"{before} char prev[30] = \"x\"; int count = 0, val = 0;", loop=loop)
    if "word" not in before:
        source = source.replace("keyin(word)", "keyin(i)")
    assert analyse(source)[0].region.pairs == expected
