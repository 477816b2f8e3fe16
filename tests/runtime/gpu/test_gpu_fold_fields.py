"""Folds of values of several numbers by hash tables, on the emulated device: against plain Python and the CPU path."""

from __future__ import annotations

import operator
import random
from collections.abc import Callable, Sequence
from functools import reduce

import pytest

from heterodoop.executor.native.gpu_abi import HASH_FOLDS
from heterodoop.executor.native.runtime import TaskStatus
from heterodoop.manifest import Number, PairReader

from ...native.oracle import ifile, sorted_partitions
from .gpu_programs import Device, Kernel
from .gpu_tasks import MAP_COUNTERS, Run, same

STATS, IDENTITY, COPIES = (Kernel(name) for name in ("stats_cursor", "identity", "copies_cursor"))
STATS_READER = PairReader("field", 0, ("int32", "int32", "int64", "uint32"), between=(",",) * 3)
OPS: dict[str, Callable[[int, int], int]] = {
    "sum": operator.add, "min": min, "max": max, "and": operator.and_, "or": operator.or_, "xor": operator.xor,
}
ENDS: dict[Number, tuple[int, int]] = {
    "int32": (-(1 << 31), (1 << 31) - 1), "uint32": (0, (1 << 32) - 1),
    "int64": (-(1 << 63), (1 << 63) - 1), "uint64": (0, (1 << 64) - 1),
}
Field = tuple[str, Number]
Pairs = list[tuple[bytes, tuple[int, ...]]]
KEYS = [b"", b"a", b"b", b"seven..", b"eight...", b"eight..?", b"k" * 16, b"k" * 16 + b"\xff", b"\xff" * 7, b"p" * 300]


def packed(fields: Sequence[Field]) -> int:
    """hd_hash_fold of each field, four bits each."""
    return sum(HASH_FOLDS[op] << 4 * number for number, (op, _) in enumerate(fields))


def reader(fields: Sequence[Field], between: Sequence[str]) -> PairReader:
    return PairReader("field", 0, tuple(kind for _, kind in fields), between=tuple(between))


def text(numbers: Sequence[int], between: Sequence[str]) -> bytes:
    parts = [f"{number}{text}" for number, text in zip(numbers, (*between, ""), strict=True)]
    return "".join(parts).encode()


def lines_of(pairs: Pairs, between: Sequence[str]) -> bytes:
    return b"".join(key + b"\t" + text(numbers, between) + b"\n" for key, numbers in pairs)


def wrapped(number: int, kind: Number) -> int:
    least, most = ENDS[kind]
    number &= (1 << (64 if kind.endswith("64") else 32)) - 1
    return number if number <= most else number + 2 * least


def folded(pairs: Pairs, fields: Sequence[Field], between: Sequence[str]) -> list[tuple[bytes, bytes]]:
    kept: dict[bytes, list[tuple[int, ...]]] = {}
    for key, numbers in pairs:
        kept.setdefault(key, []).append(numbers)
    columns = {key: list(zip(*rows, strict=True)) for key, rows in kept.items()}
    return [(key, text([wrapped(reduce(OPS[op], column), kind) for (op, kind), column in zip(fields, of, strict=True)],
                       between)) for key, of in columns.items()]


def some_pairs(fields: Sequence[Field], n: int, seed: int) -> Pairs:
    chosen = random.Random(seed)

    def number(kind: Number) -> int:
        least, most = ENDS[kind]
        return chosen.choice([least, most, 0, 1, max(-7, least), chosen.randint(least, most)])

    return [(chosen.choice(KEYS), tuple(number(kind) for _, kind in fields)) for _ in range(n)]


SHAPES: dict[str, tuple[list[Field], list[str]]] = {
    "two": ([("sum", "int32"), ("min", "uint64")], [" "]),
    "stations": ([("min", "int32"), ("max", "int32"), ("sum", "int64"), ("sum", "uint32")], [",", ",", ","]),
    "extremes": ([("min", "int64"), ("max", "int64"), ("min", "uint32"), ("max", "uint64")], ["\t", " ; ", "/"]),
    "bits": ([("and", "uint64"), ("or", "int64"), ("xor", "uint32"), ("and", "int32")], ["-", "x", "--"]),
    "six": ([("or", "int32"), ("xor", "int64"), ("sum", "uint64"), ("max", "int32"), ("min", "int32"), ("sum", "int64")],
            [",", "|", "....", ",", ":"]),
    "eight": ([(op, kind) for op, kind in zip(("sum", "min", "max", "and") * 2, (*ENDS, *reversed(ENDS)), strict=True)],
              [","] * 7),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("sub_split", "order"), [(1, 0), (700, 1), (0, 2)])
def test_each_key_is_there_once(on_device: Run, shape: str, sub_split: int, order: int) -> None:
    fields, between = SHAPES[shape]
    pairs = some_pairs(fields, 120, order)
    options = {"hash_fold": packed(fields), "sub_split_bytes": sub_split, "emu_order": order, "emu_seed": 3,
               "emu_pattern": 0xA5}
    ours = on_device(lines_of(pairs, between), IDENTITY, IDENTITY, options, reducers=3, check=reader(fields, between))
    assert ours.result.status is TaskStatus.OK, ours.result.message
    assert (ours.data, ours.index) == ifile(sorted_partitions(folded(pairs, fields, between), 3))


@pytest.mark.parametrize("sub_split", [0, 90])
def test_the_bytes_and_counters_are_the_cpu_s(on_device: Run, on_cpu: Run, device: Device, sub_split: int) -> None:
    fields, between = SHAPES["stations"]
    data = lines_of(some_pairs(fields, 200, 5), between)
    options = {"hash_fold": packed(fields), "sub_split_bytes": sub_split}
    same(on_device(data, IDENTITY, STATS, options, check=STATS_READER), on_cpu(data, IDENTITY, STATS, check=STATS_READER),
         (*MAP_COUNTERS, "COMBINE_INPUT_RECORDS", "COMBINE_OUTPUT_RECORDS"))
    assert device.stats()["combine_rounds"] == 1, "the combiner gets a line for each key"


@pytest.mark.parametrize("value", [
    b"", b"1", b"1,2,3", b"1,2,3,4,", b"1,2,3,4,5", b"1,,3,4", b"1, 2,3,4", b"+1,2,3,4", b"1,2,3,-4", b"2147483648,2,3,4",
    b"1,2,9223372036854775808,4", b"1,2,3,4294967296", b"-,2,3,4", b"1;2,3,4", b"x,2,3,4", b"1,2,3,4 ", b"1\t2,3,4",
])
def test_a_value_that_does_not_read_back_ends_the_fold(on_device: Run, on_cpu: Run, value: bytes) -> None:
    data = b"a\t1,2,3,4\na\t" + value + b"\nb\t5,6,7,8\n"
    options = {"hash_fold": packed(SHAPES["stations"][0])}
    ours = on_device(data, IDENTITY, IDENTITY, options, check=STATS_READER)
    same(ours, on_cpu(data, IDENTITY, IDENTITY, check=STATS_READER))
    assert ours.result.counters["UNREADABLE_PAIRS"] == 1


def test_plain_decimal_forms_that_read_back(on_device: Run, on_cpu: Run) -> None:
    data = b"a\t007,-0,-9223372036854775808,4294967295\na\t-2147483648,2147483647,9223372036854775807,0\n"
    same(on_device(data, IDENTITY, STATS, {"hash_fold": packed(SHAPES["stations"][0])}, check=STATS_READER),
         on_cpu(data, IDENTITY, STATS, check=STATS_READER), MAP_COUNTERS)


def test_one_behind_kept_lines_asks_for_a_run_without_fold(on_device: Run) -> None:
    options = {"hash_fold": packed(SHAPES["stations"][0]), "sub_split_bytes": 10}
    ours = on_device(b"a\t1,2,3,4\na\t1,2,3\n", IDENTITY, STATS, options, check=STATS_READER)
    assert ours.result.status is TaskStatus.RETRY_NO_FOLD and ours.data is None


@pytest.mark.parametrize("shape", ["stations", "eight"])
def test_a_table_that_is_too_small_grows(on_device: Run, device: Device, shape: str) -> None:
    fields, between = SHAPES[shape]
    numbers = some_pairs(fields, 4000, 1)
    pairs = [(b"key %d" % (i * 7919 % 2500), of) for i, (_, of) in enumerate(numbers)]
    options = {"hash_fold": packed(fields), "fold_places": 64}
    ours = on_device(lines_of(pairs, between), IDENTITY, IDENTITY, options, check=reader(fields, between))
    assert ours.result.status is TaskStatus.OK, ours.result.message
    assert (ours.data, ours.index) == ifile(sorted_partitions(folded(pairs, fields, between), 2))
    assert device.stats()["retries"] >= 2


def test_what_is_kept_outlives_a_lack_of_memory(on_device: Run) -> None:
    fields, between = SHAPES["stations"]
    numbers = some_pairs(fields, 3000, 2)
    pairs = [(b"a key of some length %d" % (i * 31 % 1500), of) for i, (_, of) in enumerate(numbers)]
    options = {"hash_fold": packed(fields), "sub_split_bytes": 16000, "emu_memory": 3 << 20}
    ours = on_device(lines_of(pairs, between), IDENTITY, STATS, options, check=STATS_READER)
    assert ours.result.status is TaskStatus.OK, ours.result.message
    assert (ours.data, ours.index) == ifile(sorted_partitions(folded(pairs, fields, between), 2))


def test_a_fold_of_other_numbers_than_the_reader_s_is_none(on_device: Run, on_cpu: Run, device: Device) -> None:
    data = b"a\t1,2,3,4\na\t1,2,3,4\n"
    same(on_device(data, IDENTITY, STATS, {"hash_fold": 0x11}, check=STATS_READER),
         on_cpu(data, IDENTITY, STATS, check=STATS_READER))
    assert device.stats()["combine_rounds"] == 1


def test_an_unknown_operation_is_refused(on_device: Run) -> None:
    ours = on_device(b"a\t1,2,3,4\n", IDENTITY, STATS, {"hash_fold": 0x1711}, check=STATS_READER)
    assert ours.result.status is TaskStatus.BAD_INPUT


def test_text_for_stderr_stays_in_order(on_device: Run, on_cpu: Run) -> None:
    data = b"".join(b"%d-1,2,3,4\n" % n for n in (2, -1, 3, -7, 2))
    options = {"hash_fold": packed(SHAPES["stations"][0]), "sub_split_bytes": 12}
    same(on_device(data, COPIES, STATS, options, check=STATS_READER), on_cpu(data, COPIES, STATS, check=STATS_READER),
         MAP_COUNTERS)


def test_a_split_without_pairs(on_device: Run, on_cpu: Run) -> None:
    options = {"hash_fold": packed(SHAPES["stations"][0])}
    data = b"0\n0\n"
    same(on_device(data, COPIES, STATS, options, check=STATS_READER), on_cpu(data, COPIES, STATS, check=STATS_READER))
