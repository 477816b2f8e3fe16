"""Which prints become pairs that the kernel folds itself, and the type that folds them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from heterodoop.compiler.emit import kernel, map_fold
from heterodoop.compiler.emit.map_fold import MapFold
from heterodoop.manifest import Fold, FoldField, FoldOp, Integer, PairReader

from ..regions import analyse, mapper

BEFORE = "  int n = 3; long m = 4; unsigned u = 5; double d = 1.5;"


def form(*fields: tuple[FoldOp, Integer], between: tuple[str, ...] = ()) -> MapFold:
    fold = Fold(tuple(FoldField(*field) for field in fields), between, "k", ("a",) * len(fields), True)
    return MapFold(PairReader("field", 31, tuple(kind for _, kind in fields), between=between), fold)


ONE, TWO = form(("sum", "int64")), form(("min", "int32"), ("sum", "uint64"), between=(", ",))
NUMBER = replace(ONE, pairs=replace(ONE.pairs, key="int32", none=-1))


def text(body: str, wanted: MapFold) -> str:
    analysis, errors = analyse(mapper(f"{BEFORE} k[0] = line[0]; k[1] = 0; v = 1; {body}"))
    assert not errors and not analysis.refusals, analysis.refusals
    return kernel.emit(analysis.facts.device, None, (), wanted)


def pairs(body: str, wanted: MapFold) -> list[str]:
    """The template arguments of the folded prints."""
    lines = [line.partition("hd.pair<") for line in text(body, wanted).splitlines()]
    return [rest.partition(">(")[0] for _, found, rest in lines if found]


@pytest.mark.parametrize(("body", "found"), [
    (r'printf("%s\t%d\n", k, n);', "hd::PieceAt<2>"),
    (r'printf("%s\t%ld\n", k, m);', "hd::PieceAt<2>"),
    (r'printf("%s\t1\n", k);', "hd::Constant<1ull>"),
    (r'printf("%s\t-12\n", k);', "hd::Constant<12ull, true>"),
    (r'printf("%.5s\t%u\n", k, u);', "hd::PieceAt<2>"),
    (r'printf("%d\t%d\n", n, n);', "hd::PieceAt<2>"),
    (r'printf("total\t%d\n", n);', "hd::PieceAt<2>"),
    (r'printf("%s\t9223372036854775808\n", k);', ""),
    (r'printf("%s\t%d", k, n); printf("\n");', ""),
    (r'printf("%s %d\n", k, n);', ""),
    (r'printf("%s\t%d\n\n", k, n);', ""),
    (r'printf("%s\t%5d\n", k, n);', ""),
    (r'printf("%s\t%f\n", k, d);', ""),
    (r'printf("%s\t%s\n", k, k);', ""),
    (r'printf("%s%d\t%d\n", k, n, n);', ""),
    (r'printf("%s\t%d,%d\n", k, n, n);', ""),
    (r'printf("%s\t 1\n", k);', ""),
    (r'printf("%s\n", k);', ""),
    (r'puts("");', ""),
    (r'fprintf(stderr, "%s\t%d\n", k, n);', ""),
])
def test_one_number(body: str, found: str) -> None:
    assert pairs(body, ONE) == ([found] if found else [])


@pytest.mark.parametrize(("body", "found"), [
    (r'printf("%s\t%d, %d\n", k, n, n);', "hd::PieceAt<2>, hd::PieceAt<4>"),
    (r'printf("%s\t7, %lu\n", k, (unsigned long)m);', "hd::Constant<7ull>, hd::PieceAt<2>"),
    (r'printf("%s\t%d, 7\n", k, n);', "hd::PieceAt<2>, hd::Constant<7ull>"),
    (r'printf("%s\t-2147483648, 0\n", k);', "hd::Constant<2147483648ull, true>, hd::Constant<0ull>"),
    (r'printf("%s\t2147483648, 0\n", k);', ""),
    (r'printf("%s\t1, -1\n", k);', ""),
    (r'printf("%s\t%d,%d\n", k, n, n);', ""),
    (r'printf("%s\t%d\n", k, n);', ""),
    (r'printf("%s\t%d, %d, %d\n", k, n, n, n);', ""),
    (r'printf("%s\t%d%d\n", k, n, n);', ""),
])
def test_two_numbers(body: str, found: str) -> None:
    assert pairs(body, TWO) == ([found] if found else [])


def test_keys_that_are_read_as_numbers_are_printed_as_such() -> None:
    assert pairs(r'printf("%s\t%d\n", k, n);', NUMBER) == []
    assert pairs(r'printf("7\t%d\n", n);', NUMBER) == []
    assert pairs(r'printf("%d\t%d\n", n, v);', NUMBER) == ["hd::PieceAt<2>"]
    assert "hd::FoldKeys<hd::KeyReader::int32, 31, true, 18446744073709551615ull>" in text(
        r'printf("%d\t%d\n", n, v);', NUMBER)


def test_a_literal_key_is_a_piece_of_its_own() -> None:
    assert r'(hd::text("total", 5), hd::text("\t", 1), hd::dec(v), hd::text("\n", 1));' in text(
        r'printf("total\t%d\n", v);', ONE)


def test_the_type_says_keys_and_fields() -> None:
    made = text(r'printf("%s\t%d, %d\n", k, n, n);', TWO)
    least, total = "hd::FoldOp::least, hd::ValueReader::int32", "hd::FoldOp::sum, hd::ValueReader::uint64"
    fields = f"hd::FoldField<{least}>, hd::FoldField<{total}>"
    fold = f"hd::MapFold<1024, hd::FoldKeys<hd::KeyReader::field, 31>, {fields}>"
    assert f"using Lane = hd::Lane<hd::CountingCursor, hd::GlobalItems, {fold}>;" in made
    assert "    hd.finish();\n    hd.close();\n" in made and '#include "lane/map_fold.cuh"' in made


@pytest.mark.parametrize(("taken", "places"), [(0, 2048), (20 << 10, 1024), (40 << 10, 256), (45 << 10, 0)])
def test_a_table_takes_what_shared_memory_is_left(taken: int, places: int) -> None:
    analysis, _ = analyse(mapper(r'v = 1; printf("%s\t%d\n", k, v);'))
    before = analysis.decisions
    assert before.places
    placed = replace(before.places[0], space="shared", nbytes=taken)
    made = map_fold.decisions(replace(before, places=(placed,)), ONE, threads_said=False)
    assert (made is None) == (places == 0)
    if made is not None:
        assert made.threads == 256 and made.plan.map_fold
        assert map_fold.fold_type(made, ONE).startswith(f"hd::MapFold<{places}, ")
