"""Folding by hash tables on the emulated device: what the CPU path writes, and plain Python's sums and extremes."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from heterodoop.executor.native.runtime import TaskStatus
from heterodoop.manifest import PairReader

from ...native.oracle import ifile, sorted_partitions
from .gpu_programs import Device, Kernel
from .gpu_tasks import MAP_COUNTERS, Run, same

WORDS, SUM, IDENTITY, COPIES = (Kernel(name) for name in ("words_cursor", "sum_cursor", "identity", "copies_cursor"))
INT64 = PairReader(key="field", value=("int64",), key_max=0)
FOLDS: dict[int, Callable[[Iterable[int]], int]] = {1: sum, 2: min, 3: max}
KEYS = [b"", b"a", b"b", b"seven..", b"eight...", b"eight..?", b"k" * 15, b"k" * 16, b"k" * 17, b"k" * 16 + b"\xff",
        b"\xff" * 7, b"\xff" * 8, b"p" * 300]


def lines_of(pairs: list[tuple[bytes, int]]) -> bytes:
    return b"".join(b"%s\t%d\n" % pair for pair in pairs)


def folded(pairs: list[tuple[bytes, int]], fold: int) -> list[tuple[bytes, bytes]]:
    values: dict[bytes, list[int]] = {}
    for key, value in pairs:
        values.setdefault(key, []).append(value)
    return [(key, b"%d" % FOLDS[fold](of)) for key, of in values.items()]


def some_pairs(n: int, seed: int = 0) -> list[tuple[bytes, int]]:
    chosen = random.Random(seed)
    return [(chosen.choice(KEYS), chosen.choice([0, -1, 1, 7, -1000, 1 << 40, -(1 << 50)])) for _ in range(n)]


@pytest.mark.parametrize("fold", FOLDS)
@pytest.mark.parametrize("sub_split", [1, 200, 0])
@pytest.mark.parametrize("order", [0, 1, 2])
def test_each_key_is_there_once(on_device: Run, fold: int, sub_split: int, order: int) -> None:
    pairs = some_pairs(150, order)
    options = {"hash_fold": fold, "sub_split_bytes": sub_split, "emu_order": order, "emu_seed": 3, "emu_pattern": 0xA5}
    ours = on_device(lines_of(pairs), IDENTITY, SUM, options, reducers=3, check=INT64)
    assert ours.result.status is TaskStatus.OK, ours.result.message
    assert (ours.data, ours.index) == ifile(sorted_partitions(folded(pairs, fold), 3))


def test_a_fold_uses_the_tables(on_device: Run, device: Device) -> None:
    on_device(b"key key key key\n" * 1000, WORDS, SUM, {"hash_fold": 1}, check=INT64)
    assert device.stats()["combine_rounds"] == 1, "the combiner gets one line"


@pytest.mark.parametrize("fold", FOLDS)
@pytest.mark.parametrize(("value", "least", "greatest"), [
    ("int32", -(1 << 31), (1 << 31) - 1), ("uint32", 0, (1 << 32) - 1),
    ("int64", -(1 << 63), (1 << 63) - 1), ("uint64", 0, (1 << 64) - 1),
])
def test_numbers_at_their_ends(on_device: Run, fold: int, value: Any, least: int, greatest: int) -> None:
    pairs = [(b"least", least), (b"least", least), (b"greatest", greatest), (b"both", greatest), (b"both", least)]
    check = PairReader(key="field", value=(value,), key_max=0)
    ours = on_device(lines_of(pairs), IDENTITY, Kernel("identity"), {"hash_fold": fold}, reducers=1, check=check)
    width = 1 << value_bits(value)

    def wrapped(number: int) -> int:
        number %= width
        return number - width if least and number > greatest else number

    expected = [(key, b"%d" % wrapped(int(number))) for key, number in folded(pairs, fold)]
    assert ours.result.status is TaskStatus.OK, ours.result.message
    assert (ours.data, ours.index) == ifile(sorted_partitions(expected, 1))


def value_bits(value: str) -> int:
    return 32 if value.endswith("32") else 64


def test_a_table_that_is_too_small_grows(on_device: Run, device: Device) -> None:
    pairs = [(b"key %d" % (i * 7919 % 6000), i) for i in range(9000)]
    ours = on_device(lines_of(pairs), IDENTITY, SUM, {"hash_fold": 1, "fold_places": 64}, check=INT64)
    assert ours.result.status is TaskStatus.OK, ours.result.message
    assert (ours.data, ours.index) == ifile(sorted_partitions(folded(pairs, 1), 2))
    assert device.stats()["retries"] >= 2


@pytest.mark.parametrize("memory", [600 << 10, 2 << 20, 3 << 20, 8 << 20])
def test_what_is_kept_outlives_a_lack_of_memory(on_device: Run, device: Device, memory: int) -> None:
    """The kept lines are written out before they fill the device, or sub-splits are halved: nothing is lost or twice."""
    pairs = [(b"a key of some length %d" % (i * 31 % 1500), i) for i in range(4000)]
    options = {"hash_fold": 1, "sub_split_bytes": 8000, "emu_memory": memory}
    ours = on_device(lines_of(pairs), IDENTITY, SUM, options, check=INT64)
    if ours.result.status is TaskStatus.RUN_ON_CPU:
        assert "memory" in ours.result.message or "the device has no" in ours.result.message
        assert memory < 2 << 20 and ours.data is None
        return
    assert ours.result.status is TaskStatus.OK, ours.result.message
    assert (ours.data, ours.index) == ifile(sorted_partitions(folded(pairs, 1), 2))
    assert ours.result.counters["COMBINE_INPUT_RECORDS"] >= len(pairs)


@pytest.mark.parametrize("other", [b"007", b"-0", b"+7", b"x", b"7 ", b"2147483648", b"-1", b"00000000000000000007"])
def test_keys_that_are_numbers_in_another_form_end_a_fold(on_device: Run, on_cpu: Run, other: bytes) -> None:
    """To the sort, two texts of one number are two keys; -1 is what this combiner has in the place of none."""
    data = lines_of([(b"7", 1), (other, 2), (b"-12345678", 3), (b"0", 4)])
    check = PairReader(key="int32", value=("int64",), key_max=0, none=-1)
    ours = on_device(data, IDENTITY, SUM, {"hash_fold": 1}, check=check)
    same(ours, on_cpu(data, IDENTITY, SUM, check=check))
    assert ours.result.counters["UNREADABLE_PAIRS"] == 1


@pytest.mark.parametrize("sub_split", [0, 40])
def test_the_bytes_and_counters_are_the_cpu_s(on_device: Run, on_cpu: Run, sub_split: int) -> None:
    data = b"a bb a\n\nccc  a\nlonger-than-eight a longer-than-eight\n" * 20
    same(on_device(data, WORDS, SUM, {"hash_fold": 1, "sub_split_bytes": sub_split}, check=INT64),
         on_cpu(data, WORDS, SUM, check=INT64), (*MAP_COUNTERS, "COMBINE_INPUT_RECORDS", "COMBINE_OUTPUT_RECORDS"))


def test_text_for_stderr_stays_in_order(on_device: Run, on_cpu: Run) -> None:
    data = b"".join(b"%d\t1\n" % n for n in (2, -1, 3, -7, 2))
    same(on_device(data, COPIES, SUM, {"hash_fold": 1, "sub_split_bytes": 7}, check=INT64),
         on_cpu(data, COPIES, SUM, check=INT64), MAP_COUNTERS)


def test_a_value_that_is_no_number_ends_the_fold(on_device: Run, on_cpu: Run) -> None:
    data = b"a\t1\na\tx\na\t2\n"
    same(on_device(data, IDENTITY, SUM, {"hash_fold": 1}, check=INT64), on_cpu(data, IDENTITY, SUM, check=INT64))


def test_one_behind_kept_lines_asks_for_a_run_without_fold(on_device: Run) -> None:
    ours = on_device(b"a\t1\na\tx\n", IDENTITY, SUM, {"hash_fold": 1, "sub_split_bytes": 4}, check=INT64)
    assert ours.result.status is TaskStatus.RETRY_NO_FOLD and ours.data is None


def test_kept_lines_of_a_failed_task_are_gone(on_device: Run) -> None:
    on_device(b"a\t1\na\tx\n", IDENTITY, SUM, {"hash_fold": 1, "sub_split_bytes": 4}, check=INT64)
    ours = on_device(b"b\t1\n", IDENTITY, SUM, {"hash_fold": 1}, reducers=1, check=INT64)
    assert (ours.data, ours.index) == ifile(sorted_partitions([(b"b", b"1")], 1))


def test_a_split_without_pairs(on_device: Run, on_cpu: Run) -> None:
    same(on_device(b"\n \n", WORDS, SUM, {"hash_fold": 1}, check=INT64), on_cpu(b"\n \n", WORDS, SUM, check=INT64))
