"""Whole map tasks on the emulated device: the bytes that the CPU path writes for the same program, and its counters."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

from heterodoop.executor.native.runtime import Progress, TaskStatus
from heterodoop.manifest import PairReader

from ...native.oracle import ifile, read_ifile, sorted_partitions
from .gpu_programs import Device, Kernel, texts
from .gpu_tasks import ALL_COUNTERS, MAP_COUNTERS, Run, same

WORDS, SUM, IDENTITY, COPIES = (Kernel(name) for name in ("words_cursor", "sum_cursor", "identity", "copies_cursor"))
AREA = Kernel("words_area", kvpairs=1, key_bytes=4, value_bytes=2)
def text_of(lines: int, seed: int = 0, vocabulary: int = 40) -> bytes:
    """Lines of words that share long prefixes, some of them empty, bytes above 127 among them."""
    chosen = random.Random(seed)
    words = [b"w" * chosen.randrange(30) + bytes(chosen.choices(range(33, 256), k=chosen.randrange(1, 4)))
             for _ in range(vocabulary)]
    return b"".join(b" ".join(chosen.choices(words, k=chosen.randrange(8))) + b"\n" for _ in range(lines))


def counted(data: bytes) -> list[tuple[bytes, bytes]]:
    """The pairs of word count, in the order of the text."""
    return [(word, b"1") for line in data.split(b"\n") for word in line.split(b" ") if word]


# ------------------------------------------------------------------------------------------ against plain Python


@pytest.mark.parametrize("sub_split", [1, 64, 1000, 0])
@pytest.mark.parametrize("reducers", [1, 3])
def test_pairs_are_sorted_as_python_sorts_them(on_device: Run, sub_split: int, reducers: int) -> None:
    data = text_of(60)
    ours = on_device(data, WORDS, reducers=reducers, options={"sub_split_bytes": sub_split})
    assert ours.result.status is TaskStatus.OK, ours.result.message
    assert (ours.data, ours.index) == ifile(sorted_partitions(counted(data), reducers))
    assert ours.result.counters["SPILLS"] == (0 if sub_split == 0 else ours.result.counters["SPILLS"])


@pytest.mark.parametrize("sub_split", [7, 500, 0])
def test_a_fold_gives_one_sum_for_each_word(on_device: Run, sub_split: int) -> None:
    data = text_of(80)
    ours = on_device(data, WORDS, SUM, {"sub_split_bytes": sub_split}, reducers=3)
    sums: dict[bytes, int] = {}
    for word, _ in counted(data):
        sums[word] = sums.get(word, 0) + 1
    pairs = [(word, str(total).encode()) for word, total in sums.items()]
    assert ours.result.status is TaskStatus.OK, ours.result.message
    assert (ours.data, ours.index) == ifile(sorted_partitions(pairs, 3))


def test_equal_keys_keep_the_order_of_the_program(on_device: Run) -> None:
    data = b"".join(b"%d x\n" % (i % 7) for i in range(50))
    ours = on_device(data, COPIES, reducers=1, options={"sub_split_bytes": 40})
    pairs = [(str(i).encode(), b" x") for line in data.split(b"\n")[:-1] for i in range(int(line.split()[0]))]
    assert read_ifile(ours.out) == sorted_partitions(pairs, 1)


# ------------------------------------------------------------------------------------------ against the CPU path


@pytest.mark.parametrize("sub_split", [0, 50])
@pytest.mark.parametrize("reducers", [0, 1, 4])
@pytest.mark.parametrize("map", [WORDS, IDENTITY, AREA], ids=lambda kernel: kernel.entry)
def test_the_bytes_are_the_cpu_s(on_device: Run, on_cpu: Run, map: Kernel, reducers: int, sub_split: int) -> None:
    data = text_of(60, seed=reducers)
    counters = ALL_COUNTERS if sub_split == 0 else MAP_COUNTERS
    same(on_device(data, map, reducers=reducers, options={"sub_split_bytes": sub_split}),
         on_cpu(data, map, reducers=reducers), counters)


@pytest.mark.parametrize("combine", [SUM, Kernel("sum_area", kvpairs=1, key_bytes=2, value_bytes=2)],
                         ids=lambda kernel: kernel.entry)
def test_a_fold_counts_as_the_cpu_does(on_device: Run, on_cpu: Run, combine: Kernel) -> None:
    data = text_of(60)
    same(on_device(data, WORDS, combine), on_cpu(data, WORDS, combine))


@pytest.mark.parametrize("order", [0, 1, 2])
def test_the_order_of_lanes_does_not_show(on_device: Run, on_cpu: Run, order: int) -> None:
    data = text_of(120)
    options = {"emu_order": order, "emu_seed": 5, "emu_pattern": 0xA5, "sub_split_bytes": 900}
    same(on_device(data, WORDS, SUM, options), on_cpu(data, WORDS, SUM), MAP_COUNTERS)
    same(on_device(data, COPIES, options=options, reducers=0), on_cpu(data, COPIES, reducers=0), MAP_COUNTERS)


@pytest.mark.parametrize("record_order", [0, 1])
def test_which_records_go_first_does_not_show(on_device: Run, on_cpu: Run, record_order: int) -> None:
    data = text_of(120)
    same(on_device(data, COPIES, options={"record_order": record_order}, reducers=0), on_cpu(data, COPIES, reducers=0))
    same(on_device(data, WORDS, options={"record_order": record_order}), on_cpu(data, WORDS))


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("many", [1, 20, 200])
def test_records_that_a_warp_takes_alone(on_device: Run, on_cpu: Run, many: int, order: int) -> None:
    """Far longer than the mean: a few, and more than there are warps to begin with one."""
    rng = random.Random(many)
    lines = [b"%d %s" % (n, b"ab " * rng.randrange(300, 600)) for n in range(many)]
    lines += [b"s %d" % (n % 7) for n in range(9 * many)]
    rng.shuffle(lines)
    data = b"\n".join(lines)
    options = {"emu_order": order, "emu_seed": 3}
    same(on_device(data, COPIES, options=options, reducers=0), on_cpu(data, COPIES, reducers=0))
    same(on_device(data, WORDS, options=options), on_cpu(data, WORDS))


def test_one_key_is_all_there_is(on_device: Run, on_cpu: Run, device: Device) -> None:
    data = b"key key key key\n" * 1000
    same(on_device(data, WORDS, SUM), on_cpu(data, WORDS, SUM))
    assert device.stats()["combine_rounds"] == 3, "4000, 125, 4 pairs, then one"


def test_without_regroup_a_key_s_pairs_are_combined_at_once(on_device: Run, on_cpu: Run, device: Device) -> None:
    data = b"key key key key\nother\n" * 100
    same(on_device(data, WORDS, SUM, regroup=False), on_cpu(data, WORDS, SUM, regroup=False))
    assert device.stats()["combine_rounds"] == 1


def test_without_regroup_several_runs_are_left_to_the_filter(on_device: Run, on_cpu: Run, device: Device) -> None:
    data = text_of(50)
    same(on_device(data, WORDS, SUM, {"sub_split_bytes": 100}, regroup=False), on_cpu(data, WORDS, SUM, regroup=False),
         (*MAP_COUNTERS, "COMBINE_INPUT_RECORDS", "COMBINE_OUTPUT_RECORDS"))
    assert device.stats()["combine_rounds"] == 0


@pytest.mark.parametrize("sub_split", [0, 100])
def test_a_combiner_that_is_no_fold_runs_once_on_the_cpu(on_device: Run, on_cpu: Run, device: Device,
                                                         sub_split: int) -> None:
    data = text_of(50)
    same(on_device(data, WORDS, SUM, {"sub_split_bytes": sub_split}, fold=False, regroup=False),
         on_cpu(data, WORDS, SUM, regroup=False), (*MAP_COUNTERS, "COMBINE_INPUT_RECORDS", "COMBINE_OUTPUT_RECORDS"))
    assert device.stats()["combine_rounds"] == 0


@pytest.mark.parametrize("key", [b"p" * 7, b"p" * 8, b"p" * 9, b"p" * 16, b"p" * 200])
def test_keys_with_a_long_common_prefix(on_device: Run, on_cpu: Run, key: bytes) -> None:
    tails = [b"", b"\x00", b"\x00\x00", b"a", b"aa", b"b", b"\xff", b"aaaaaaaa", b"aaaaaaaab"]
    chosen = random.Random(1)
    data = b"".join(key + chosen.choice(tails) + b"\t%d\n" % i for i in range(200))
    same(on_device(data, IDENTITY, reducers=2), on_cpu(data, IDENTITY, reducers=2))


def test_lines_of_every_form(on_device: Run, on_cpu: Run) -> None:
    data = b"key\tvalue\nkey\n\n\tvalue\nkey\t\na\tb\tc\n\t\n%s\t%s\n%s\n" % (b"k" * 127, b"v" * 128, b"k" * 70000)
    for reducers in (0, 1, 3):
        same(on_device(data, IDENTITY, reducers=reducers), on_cpu(data, IDENTITY, reducers=reducers))


def test_random_tasks(on_device: Run, on_cpu: Run) -> None:
    chosen = random.Random(7)
    for seed in range(12):
        data = text_of(chosen.randrange(1, 80), seed, chosen.choice([1, 3, 60]))
        combine = chosen.choice([None, SUM])
        options = {"sub_split_bytes": chosen.choice([0, 5, 90, 700]), "arena_bytes": chosen.choice([0, 1, 40000]),
                   "pairs": chosen.choice([0, 1]), "emu_order": chosen.randrange(3), "emu_seed": seed}
        reducers = chosen.randrange(1, 6)
        same(on_device(data, WORDS, combine, options, reducers=reducers), on_cpu(data, WORDS, combine, reducers=reducers),
             MAP_COUNTERS)


# ------------------------------------------------------------------------------------------ stderr


@pytest.mark.parametrize("sub_split", [0, 6])
@pytest.mark.parametrize("reducers", [0, 2])
def test_stderr_and_its_counters_come_in_the_order_of_records(on_device: Run, on_cpu: Run, reducers: int,
                                                              sub_split: int) -> None:
    data = b"-3\n2 a\n-5\n-7\n0\n1 b\n-11\n"
    options = {"sub_split_bytes": sub_split, "emu_order": 1}
    ours, theirs = on_device(data, COPIES, options=options, reducers=reducers), on_cpu(data, COPIES, reducers=reducers)
    same(ours, theirs, MAP_COUNTERS)
    assert ours.result.user_counters == {("copies", "negative"): 4}
    assert ours.log == b"negative: -3\nnegative: -5\nnegative: -7\nnegative: -11\n"


# ------------------------------------------------------------------------------------------ what a kernel is given


@pytest.mark.parametrize("chosen", [1, 2])
def test_objects_are_where_the_argument_points(on_device: Run, chosen: int) -> None:
    ours = on_device(b"a\nb\n", texts(chosen), reducers=0)
    word = {1: b"one:", 2: b"two:"}[chosen]
    assert ours.data == word + b"a\t\n" + word + b"b\t\n"


def test_a_relocation_outside_of_the_argument_is_an_error(on_device: Run) -> None:
    broken = Kernel("touchy", b"\0" * 8, (b"text",), ((0, 1, 0),))
    ours = on_device(b"a\n", broken)
    assert ours.result.status is TaskStatus.BAD_INPUT and "relocation" in ours.result.message
    assert ours.data is None


def test_progress_is_what_was_done(on_device: Run) -> None:
    progress = Progress()
    on_device(b"a b\nc\n", WORDS, progress=progress)
    assert (progress.records_in, progress.bytes_in, progress.pairs_out) == (2, 6, 3)


def test_stages_are_timed(on_device: Run) -> None:
    seconds = on_device(text_of(300), WORDS, SUM).result.seconds
    for stage in ("read", "copy_in", "index", "stage", "map", "sort", "device_combine", "gather", "copy_out", "write"):
        assert seconds[stage] > 0, stage
    assert sum(seconds[s] for s in ("copy_in", "index", "stage", "map", "sort", "device_combine", "gather", "copy_out",
                                    "write")) <= seconds["total"]


def test_an_unreadable_pair_ends_a_fold(on_device: Run, on_cpu: Run, device: Device) -> None:
    data = b"a 1\nb c\n"
    check = PairReader(key="token", value=("int32",), key_max=1)
    same(on_device(data, WORDS, SUM, check=check), on_cpu(data, WORDS, SUM, check=check))
    rounds = device.stats()["combine_rounds"]
    data = b"a 1\nlong\n"
    same(on_device(data, WORDS, SUM, check=check), on_cpu(data, WORDS, SUM, check=check))
    assert device.stats()["combine_rounds"] == rounds > 0


def test_an_unreadable_pair_behind_a_combined_run_asks_for_a_run_without_fold(on_device: Run) -> None:
    check = PairReader(key="token", value=("int32",), key_max=1)
    ours = on_device(b"a\nlong\n", WORDS, SUM, {"sub_split_bytes": 2}, check=check)
    assert ours.result.status is TaskStatus.RETRY_NO_FOLD and ours.data is None


NUMBERS = (b"", b"-", b"0", b"-0", b"007", b"+1", b"1x", b" 1", b"1 ", b"2147483647", b"2147483648", b"-2147483648",
           b"-2147483649", b"4294967295", b"4294967296", b"9223372036854775807", b"9223372036854775808",
           b"-9223372036854775808", b"-9223372036854775809", b"18446744073709551615", b"18446744073709551616",
           b"99999999999999999999999", b"%020d" % 1, b"%021d" % 1, b"%020d" % -1, b"%021d" % -1, b"--1",
           b"1-1", b"\x001", b"\xb2")
KEYS = (b"", b"k", b"a b", b"a\x0b", b"\x00", b"a\x00b", b" ", b"\xff", b"k" * 8, b"k" * 9)


@pytest.mark.parametrize("value", ["int32", "int64", "uint32", "uint64", ""])
@pytest.mark.parametrize("key", ["token", "field", "other"])
@pytest.mark.parametrize("key_max", [0, 8])
def test_unreadable_pairs_are_the_cpu_s(on_device: Run, on_cpu: Run, key: Any, value: Any, key_max: int) -> None:
    pairs = [(k, n) for k in KEYS for n in (b"1", b"x")] + [(b"k", n) for n in NUMBERS]
    data = b"".join(k + b"\t" + n + b"\n" for k, n in pairs)
    check = PairReader(key=key, value=(value,) if value else (), key_max=key_max)
    same(on_device(data, IDENTITY, check=check), on_cpu(data, IDENTITY, check=check))


@pytest.mark.parametrize(("key", "least", "greatest"), [
    ("int32", -(1 << 31), (1 << 31) - 1), ("uint32", 0, (1 << 32) - 1),
    ("int64", -(1 << 63), (1 << 63) - 1), ("uint64", 0, (1 << 64) - 1),
])
def test_keys_that_are_numbers_read_back_in_printf_s_form(
    on_device: Run, on_cpu: Run, key: Any, least: int, greatest: int,
) -> None:
    keys = {*NUMBERS, b"00", b"-", b"7", b"-1", b"-01", b"-7", b"1e3", b"k"}
    good = [k for k in keys if re.fullmatch(rb"0|-?[1-9][0-9]*", k) and least <= int(k) <= greatest]
    data = b"".join(k + b"\t1\n" for k in sorted(keys))
    for none in (None, 7, 0, least, greatest):
        check = PairReader(key=key, value=("int32",), key_max=0, none=none)
        ours = on_device(data, IDENTITY, check=check)
        same(ours, on_cpu(data, IDENTITY, check=check))
        assert ours.result.counters["UNREADABLE_PAIRS"] == len(keys) - sum(int(k) != none for k in good)


def test_sizes_of_serialised_pairs_are_hadoop_s(on_device: Run, on_cpu: Run) -> None:
    sizes = (0, 1, 126, 127, 128, 255, 256, 65535, 65536)
    data = b"".join(b"k" * a + b"\t" + b"v" * b + b"\n" for a in sizes for b in (0, 127, 128, 256))
    same(on_device(data, IDENTITY), on_cpu(data, IDENTITY))
    same(on_device(data, IDENTITY, reducers=0), on_cpu(data, IDENTITY, reducers=0))
