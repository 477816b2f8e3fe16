"""Pairs that the map kernel folds itself, on the emulated device: what the CPU path writes and counts."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from heterodoop.executor.native.gpu_abi import MAP_FOLD
from heterodoop.executor.native.runtime import TaskStatus
from heterodoop.manifest import PairReader

from ...native.oracle import ifile, sorted_partitions
from .gpu_programs import Device, Kernel
from .gpu_tasks import MAP_COUNTERS, Run, same

WORDS, STATS, NUMBERS = (Kernel(name, flags=MAP_FOLD) for name in ("words_folded", "stats_folded", "numbers_folded"))
SUM, KEEP_STATS, IDENTITY = (Kernel(name) for name in ("sum_cursor", "stats_cursor", "identity"))
WORDS_READER = PairReader("field", 0, ("int64",))
STATS_READER = PairReader("token", 60, ("int32", "int32", "int64", "uint32"), between=(",",) * 3)
NUMBERS_READER = PairReader("int32", 0, ("int64",), none=-1)
WORDS_FOLD, STATS_FOLD, NUMBERS_FOLD = 0x1, 0x1132, 0x3
COUNTERS = (*MAP_COUNTERS, "COMBINE_INPUT_RECORDS", "COMBINE_OUTPUT_RECORDS")
ORDERS = [{"emu_order": order, "emu_seed": 3, "emu_pattern": 0xA5} for order in range(3)]


def lines(words: Sequence[str], a_line: int = 5) -> bytes:
    return "".join(" ".join(words[at : at + a_line]) + "\n" for at in range(0, len(words), a_line)).encode()


def some_words(n: int, distinct: int, seed: int = 0) -> list[str]:
    chosen = random.Random(seed)
    return [f"{'w' * chosen.choice([0, 3, 4, 9, 40])}{chosen.randrange(distinct)}" for _ in range(n)]


def numbered(words: Sequence[str], seed: int = 0) -> bytes:
    chosen = random.Random(seed)
    numbers = (0, 1, -1, 7, 2147483647, -2147483648)
    return "".join(f"{chosen.choice(numbers)}key{word}\n" for word in words).encode()


@pytest.mark.parametrize("options", ORDERS)
@pytest.mark.parametrize("sub_split", [0, 1, 400])
@pytest.mark.parametrize("distinct", [3, 200])
def test_words(on_device: Run, on_cpu: Run, device: Device, options: dict[str, int], sub_split: int, distinct: int) -> None:
    data = lines(some_words(900, distinct))
    chosen = options | {"hash_fold": WORDS_FOLD, "sub_split_bytes": sub_split}
    same(on_device(data, WORDS, SUM, chosen, check=WORDS_READER, reducers=3),
         on_cpu(data, WORDS, SUM, check=WORDS_READER, reducers=3), COUNTERS)
    assert device.stats()["map_folded"] == 900


@pytest.mark.parametrize("options", ORDERS)
@pytest.mark.parametrize("sub_split", [0, 60])
def test_several_numbers(on_device: Run, on_cpu: Run, device: Device, options: dict[str, int], sub_split: int) -> None:
    data = numbered(some_words(300, 40, 1))
    chosen = options | {"hash_fold": STATS_FOLD, "sub_split_bytes": sub_split}
    same(on_device(data, STATS, KEEP_STATS, chosen, check=STATS_READER),
         on_cpu(data, STATS, KEEP_STATS, check=STATS_READER), MAP_COUNTERS)


def test_sums_wrap_at_their_width(on_device: Run, on_cpu: Run) -> None:
    data = b"9223372036854775807a\n" * 3 + b"2147483648b\n-9223372036854775808b\n" * 2
    check = PairReader("token", 60, ("int32", "int32", "int64", "uint32"), between=(",",) * 3)
    ours = on_device(data, STATS, IDENTITY, {"hash_fold": STATS_FOLD}, check=check)
    same(ours, on_cpu(data, STATS, IDENTITY, check=check))
    assert ours.result.counters["UNREADABLE_PAIRS"] == 7, "their first number is no int"


@pytest.mark.parametrize("line", [
    b"7a b\n", b"7\n", b"7" + b"k" * 61 + b"\n", b"7a\tb\n", b"2147483648a\n", b"-2147483649a\n", b"7\xffa\n", b"7a\x0bb\n",
])
def test_what_does_not_read_back_is_not_folded(on_device: Run, on_cpu: Run, line: bytes) -> None:
    data = b"7a\n7b\n" + line + b"8a\n"
    ours = on_device(data, STATS, IDENTITY, {"hash_fold": STATS_FOLD}, check=STATS_READER)
    theirs = on_cpu(data, STATS, IDENTITY, check=STATS_READER)
    if theirs.result.counters["UNREADABLE_PAIRS"]:
        return same(ours, theirs)
    assert ours.result.counters["UNREADABLE_PAIRS"] == 0


def test_an_unreadable_pair_behind_kept_lines_asks_for_a_run_without_fold(on_device: Run) -> None:
    options = {"hash_fold": STATS_FOLD, "sub_split_bytes": 5}
    ours = on_device(b"7a\n7b\n7a b\n", STATS, KEEP_STATS, options, check=STATS_READER)
    assert ours.result.status is TaskStatus.RETRY_NO_FOLD and ours.data is None


@pytest.mark.parametrize("sub_split", [0, 100])
def test_pairs_that_are_printed_as_texts_meet_the_folded_ones(
    on_device: Run, on_cpu: Run, device: Device, sub_split: int,
) -> None:
    chosen = random.Random(5)
    data = "".join(f"{chosen.randrange(100)}{chosen.choice('!k')}{chosen.randrange(9)}\n" for _ in range(200)).encode()
    data += b"3!both\n4k\n5!a-long-key-of-both\n" * 2
    options = {"hash_fold": STATS_FOLD, "sub_split_bytes": sub_split}
    same(on_device(data, STATS, KEEP_STATS, options, check=STATS_READER),
         on_cpu(data, STATS, KEEP_STATS, check=STATS_READER), MAP_COUNTERS)
    assert 0 < device.stats()["map_folded"] < 206


def test_text_for_stderr_stays(on_device: Run, on_cpu: Run) -> None:
    data = b"1?a\n2b\n3?a\n4?c\n"
    same(on_device(data, STATS, KEEP_STATS, {"hash_fold": STATS_FOLD, "sub_split_bytes": 8}, check=STATS_READER),
         on_cpu(data, STATS, KEEP_STATS, check=STATS_READER), MAP_COUNTERS)


@pytest.mark.parametrize("key", [b"0", b"-7", b"2147483647", b"-2147483648", b"2147483648", b"-1"])
def test_keys_that_are_numbers(on_device: Run, on_cpu: Run, key: bytes) -> None:
    data = b"5 6\n" + key + b" 7\n5 -8\n" + key + b" 9223372036854775807\n"
    ours = on_device(data, NUMBERS, IDENTITY, {"hash_fold": NUMBERS_FOLD}, check=NUMBERS_READER, reducers=1)
    assert ours.result.status is TaskStatus.OK, ours.result.message
    if key in (b"2147483648", b"-1"):
        assert ours.result.counters["UNREADABLE_PAIRS"] == 2
        return same(ours, on_cpu(data, NUMBERS, IDENTITY, check=NUMBERS_READER, reducers=1))
    expected = [(b"5", b"6"), (key, b"9223372036854775807")]
    assert (ours.data, ours.index) == ifile(sorted_partitions(expected, 1))


@pytest.mark.parametrize("order", ORDERS)
def test_more_keys_than_the_tables_hold(on_device: Run, on_cpu: Run, device: Device, order: dict[str, int]) -> None:
    """Blocks' tables spill, the launch's is full, long keys are in several blocks: nothing is lost or twice."""
    data = lines(some_words(4000, 1500, 7))
    options = order | {"hash_fold": WORDS_FOLD, "fold_places": 64, "sub_split_bytes": 9000}
    same(on_device(data, WORDS, SUM, options, check=WORDS_READER), on_cpu(data, WORDS, SUM, check=WORDS_READER), COUNTERS)
    assert 0 < device.stats()["map_folded"] < 4000


def test_keys_that_hardly_repeat_are_given_up(on_device: Run, on_cpu: Run, device: Device) -> None:
    words = [f"word-{i}" for i in range(3000)]
    options = {"hash_fold": WORDS_FOLD, "fold_places": 64, "sub_split_bytes": 6000}
    same(on_device(lines(words), WORDS, SUM, options, check=WORDS_READER),
         on_cpu(lines(words), WORDS, SUM, check=WORDS_READER), COUNTERS)
    folded = device.stats()["map_folded"]
    same(on_device(lines(words), WORDS, SUM, options, check=WORDS_READER),
         on_cpu(lines(words), WORDS, SUM, check=WORDS_READER), COUNTERS)
    assert device.stats()["map_folded"] == folded < 700, "one sub-split, and no more in the next task"


def test_keys_that_repeat_get_a_larger_table(on_device: Run, on_cpu: Run, device: Device) -> None:
    words = [f"word-{i % 1000}" for i in range(9000)]
    options = {"hash_fold": WORDS_FOLD, "fold_places": 64, "sub_split_bytes": 25000}
    same(on_device(lines(words), WORDS, SUM, options, check=WORDS_READER),
         on_cpu(lines(words), WORDS, SUM, check=WORDS_READER), COUNTERS)
    assert device.stats()["map_folded"] > 4000, "in the first sub-split few, in the others nearly all"


def test_the_largest_table_of_a_kernel_stays(on_device: Run, on_cpu: Run, device: Device) -> None:
    many, few = [f"word-{i % 1000}" for i in range(9000)], ["a", "b", "c"] * 100
    options = {"hash_fold": WORDS_FOLD, "fold_places": 64}

    def folded(words: Sequence[str]) -> int:
        before = device.stats()["map_folded"]
        same(on_device(lines(words), WORDS, SUM, options, check=WORDS_READER),
             on_cpu(lines(words), WORDS, SUM, check=WORDS_READER), COUNTERS)
        return device.stats()["map_folded"] - before

    assert [folded(few), folded(many), folded(few), folded(many)] == [300, 9000, 300, 9000], "the first has room to spare"
    same(on_device(b"7a\n", STATS, KEEP_STATS, options | {"hash_fold": STATS_FOLD}, check=STATS_READER),
         on_cpu(b"7a\n", STATS, KEEP_STATS, check=STATS_READER), MAP_COUNTERS)
    assert folded(many) < 9000, "another kernel's keys say nothing: it began with 64 places again"


def test_a_warm_session_does_nothing_twice(on_device: Run, on_cpu: Run, device: Device) -> None:
    """Tables and stores have room for what the launches before needed, those for pairs that were printed too."""
    data = b"".join(b"%dk%d\n" % (i % 7, i % 3000) for i in range(9000)) + b"3!both\n"
    for _ in range(2):
        before = device.stats()["retries"]
        same(on_device(data, STATS, KEEP_STATS, {"hash_fold": STATS_FOLD, "sub_split_bytes": len(data)}, check=STATS_READER),
             on_cpu(data, STATS, KEEP_STATS, check=STATS_READER), MAP_COUNTERS)
    assert device.stats()["retries"] == before


@pytest.mark.parametrize("fields", [
    {"hash_fold": 0}, {"fold": False}, {"reducers": 0}, {"regroup": False}, {"combine": None},
])
def test_without_a_fold_the_kernel_writes_its_pairs(
    on_device: Run, on_cpu: Run, device: Device, fields: dict[str, int],
) -> None:
    data, chosen = lines(some_words(200, 20)), dict(fields)
    options = {"hash_fold": chosen.pop("hash_fold", WORDS_FOLD)}
    fold, combine = bool(chosen.pop("fold", True)), chosen.pop("combine", SUM)
    same(on_device(data, WORDS, combine, options, fold=fold, check=WORDS_READER, **chosen),
         on_cpu(data, WORDS, combine, check=WORDS_READER, **chosen), MAP_COUNTERS)
    assert device.stats()["map_folded"] == 0


def test_a_launch_that_needs_more_room_begins_with_an_empty_table(on_device: Run, on_cpu: Run, device: Device) -> None:
    data = lines(some_words(900, 200, 3))
    options = {"hash_fold": WORDS_FOLD, "arena_bytes": 32768, "pairs": 256}
    same(on_device(data, WORDS, SUM, options, check=WORDS_READER), on_cpu(data, WORDS, SUM, check=WORDS_READER), COUNTERS)
    assert device.stats()["retries"] > 0 and device.stats()["map_folded"] == 900


@pytest.mark.parametrize("memory", [1 << 20, 2 << 20, 4 << 20])
def test_a_lack_of_memory(on_device: Run, on_cpu: Run, memory: int) -> None:
    data = lines(some_words(4000, 1500, 7))
    ours = on_device(data, WORDS, SUM, {"hash_fold": WORDS_FOLD, "emu_memory": memory}, check=WORDS_READER)
    if ours.result.status is TaskStatus.RUN_ON_CPU:
        assert memory < 2 << 20 and ours.data is None, ours.result.message
        return
    same(ours, on_cpu(data, WORDS, SUM, check=WORDS_READER), MAP_COUNTERS)


def test_long_lines_are_left_to_the_host(on_device: Run) -> None:
    """A line that a fold could make longer than is allowed is one that the fold is not for."""
    ours = on_device(b"word\n" * 3, WORDS, SUM, {"hash_fold": WORDS_FOLD}, check=WORDS_READER, line_max=30)
    assert ours.result.status is TaskStatus.OK, ours.result.message
    ours = on_device(b"word\n" * 3, WORDS, SUM, {"hash_fold": WORDS_FOLD}, check=WORDS_READER, line_max=29)
    assert ours.result.status is TaskStatus.RUN_ON_CPU


def test_a_split_without_pairs(on_device: Run, on_cpu: Run) -> None:
    same(on_device(b"\n \n", WORDS, SUM, {"hash_fold": WORDS_FOLD}, check=WORDS_READER),
         on_cpu(b"\n \n", WORDS, SUM, check=WORDS_READER))
