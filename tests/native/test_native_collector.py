"""The collector against a plain oracle: order, partitions, spills, combiners, counters, errors, for any memory limit."""

from __future__ import annotations

import random
import resource
import signal
import subprocess
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from .oracle import Pair, partition_of, read_ifile, sorted_partitions, text, to_text
from .programs import build, environment

OK, COMBINER_FAILED, DISORDER, IO_ERROR, RETRY_NO_FOLD = 0, 3, 4, 5, 7
COUNTERS = ("MAP_INPUT_RECORDS", "MAP_INPUT_BYTES", "MAP_OUTPUT_RECORDS", "MAP_OUTPUT_BYTES", "COMBINE_INPUT_RECORDS",
            "COMBINE_OUTPUT_RECORDS", "SPILLED_RECORDS", "SPILLS", "MAP_OUTPUT_MATERIALIZED_BYTES", "REDUCE_INPUT_GROUPS",
            "REDUCE_INPUT_RECORDS", "REDUCE_OUTPUT_RECORDS", "UNREADABLE_PAIRS", "COMBINE_UNREAD_BYTES")


@dataclass(frozen=True)
class Outcome:
    status: int
    counters: dict[str, int]
    peak_kib: int
    message: str
    out: Path
    work: Path

    def partitions(self) -> list[list[Pair]]:
        assert (self.status, self.message) == (OK, "")
        assert not list(self.work.iterdir()), "spills are removed"
        return read_ifile(self.out)


Collect = Callable[..., Outcome]


@pytest.fixture
def collect(tmp_path: Path) -> Collect:
    """Runs the collector over a filter's output `data`; options as in collector_tool.cpp."""
    tool = build("collector_tool")

    def run(data: bytes, limit: Callable[[], None] | None = None, **options: object) -> Outcome:
        work, out = tmp_path / "work", tmp_path / "file.out"
        work.mkdir(exist_ok=True)
        for path in (out, Path(f"{out}.index")):
            path.unlink(missing_ok=True)
        options = {"work": work, "out": out, **options}
        argv = [str(tool), "collect", *(f"{name}={value}" for name, value in options.items())]
        end = subprocess.run(argv, input=data, capture_output=True, check=True, preexec_fn=limit, env=environment(),
                             timeout=120)
        status, counters, message = end.stderr.decode().split("\n", 2)
        *values, peak = map(int, counters.split())
        return Outcome(int(status), dict(zip(COUNTERS, values, strict=True)), peak, message, out, work)

    return run


def random_pairs(rng: random.Random, n: int) -> list[Pair]:
    """Keys that repeat, share prefixes, hold NUL and high bytes; short and long values, often repeated."""
    style = rng.randrange(5)

    def key() -> bytes:
        if style == 0:
            return bytes(rng.choices(b"ab\0\xff", k=rng.randrange(6)))
        if style == 1:
            return b"a common prefix of all keys/" * rng.randrange(4) + bytes(rng.choices(b"\0\x01x", k=rng.randrange(20)))
        if style == 2:
            return str(rng.randrange(n * 10)).encode()
        if style == 3:
            return bytes(rng.choices(bytes(set(range(256)) - set(b"\t\r\n")), k=rng.randrange(40)))
        return b"word%d" % int(rng.paretovariate(0.7) % 50)

    values = [b"1", b"", b"12345678", b"123456789", b"x" * 300, b"\t\ttabs"]
    few = rng.random() < 0.5
    return [(key(), rng.choice(values[:2] if few else values + [str(rng.random()).encode()])) for _ in range(n)]


@pytest.mark.parametrize("seed", range(25))
def test_sorts_like_a_stable_sort(collect: Collect, seed: int) -> None:
    rng = random.Random(seed)
    pairs = random_pairs(rng, rng.choice([0, 1, 50, 1000, 3000]))
    partitions = rng.choice([1, 2, 7, 50])
    sort_bytes = rng.choice([20_000, 100_000, 100 << 20])
    result = collect(to_text(pairs), partitions=partitions, sort_bytes=sort_bytes, chunk=rng.choice([1, 7, 100, 65536]))
    assert result.partitions() == sorted_partitions(pairs, partitions)
    assert result.counters["MAP_OUTPUT_RECORDS"] == len(pairs)
    assert result.counters["MAP_OUTPUT_BYTES"] == sum(len(text(k)) + len(text(v)) for k, v in pairs)
    assert result.counters["MAP_OUTPUT_MATERIALIZED_BYTES"] == result.out.stat().st_size
    if result.counters["SPILLS"] == 0:
        assert result.counters["SPILLED_RECORDS"] == len(pairs)


def test_any_pair_fits_any_memory_limit(collect: Collect) -> None:
    """With one byte of memory every new key is a spill of its own, merged in several passes."""
    rng = random.Random(1)
    pairs = random_pairs(rng, 150) + [(b"k" * 200_000, b"v" * 100_000), (b"k" * 200_000, b""), (b"", b"")]
    result = collect(to_text(pairs), partitions=3, sort_bytes=1)
    assert result.partitions() == sorted_partitions(pairs, 3)
    assert result.counters["SPILLS"] > 50
    assert result.counters["SPILLED_RECORDS"] > 2 * len(pairs)  # spills, intermediate runs, the output


def test_huge_keys_that_differ_at_their_end(collect: Collect) -> None:
    base = b"\0" * 1_000_000
    keys = [base + end for end in (b"b", b"", b"a", b"aa", b"\xff", b"\0")] * 2
    pairs = [(key, b"%d" % i) for i, key in enumerate(keys)]
    assert collect(to_text(pairs)).partitions() == sorted_partitions(pairs, 1)


def test_zero_bytes_and_lengths_order_keys(collect: Collect) -> None:
    """Padding with zeros must not make keys equal: every length of NULs, around each 8-byte step."""
    keys = [b"\0" * n for n in range(90)] + [b"\0" * n + b"\x01" for n in range(90)]
    pairs = [(key, b"") for key in random.Random(3).sample(keys, len(keys))]
    assert collect(to_text(pairs), partitions=2).partitions() == sorted_partitions(pairs, 2)


def test_many_keys_take_the_radix_path(collect: Collect) -> None:
    rng = random.Random(4)
    pairs = [(rng.randbytes(rng.randrange(1, 12)).translate(None, b"\t\r\n"), b"1") for _ in range(30_000)]
    pairs += [(b"same-prefix-%06d" % rng.randrange(10_000), b"2") for _ in range(20_000)]
    assert collect(to_text(pairs), partitions=2).partitions() == sorted_partitions(pairs, 2)


def test_ten_thousand_partitions(collect: Collect) -> None:
    pairs = [(b"a", b"1"), (b"b", b"1"), (b"a", b"1")]
    for sort_bytes in (100 << 20, 1000):
        result = collect(to_text(pairs), partitions=10_000, sort_bytes=sort_bytes)
        assert result.partitions() == sorted_partitions(pairs, 10_000)


def test_one_key_over_all_borders(collect: Collect) -> None:
    pairs = [(b"k", b"1")] * 100_003 + [(b"j", b"1")]
    assert collect(to_text(pairs), sort_bytes=5000, chunk=999).partitions() == sorted_partitions(pairs, 1)


def test_lines_without_tab_and_other_line_ends(collect: Collect) -> None:
    expected = [(b"", b""), (b"a", b"x\ty"), (b"b", b""), (b"c", b"")]
    assert collect(b"b\rc\r\na\tx\ty\n\n").partitions() == [expected]
    assert collect(b"b\rc\r\na\tx\ty\n\n", chunk=1).partitions() == [expected]


@pytest.mark.unsanitized(reason="a sanitizer's shadow memory is no measure")
def test_memory_stays_within_the_limit(collect: Collect) -> None:
    limit = 16 << 20
    data = b"".join(b"key%d\tvalue-%d\n" % (i % 200_000, i) for i in range(400_000))
    result = collect(data, partitions=2, sort_bytes=limit)
    assert result.counters["SPILLS"] > 1
    assert result.peak_kib << 10 < limit + (6 << 20)  # whole huge pages at the end of each array


# Combiners

def sums(pairs: list[Pair], partitions: int) -> list[list[Pair]]:
    totals: Counter[bytes] = Counter()
    for key, value in pairs:
        totals[key] += int(value)
    return sorted_partitions([(key, b"%d" % n) for key, n in totals.items()], partitions)


def words(rng: random.Random, n: int) -> list[Pair]:
    return [(b"w%d" % int(rng.paretovariate(0.5) % 900), b"%d" % rng.randrange(3)) for _ in range(n)]


@pytest.mark.parametrize("sort_bytes", [1, 20_000, 100 << 20])
def test_a_fold_may_run_per_spill_and_again(collect: Collect, sort_bytes: int) -> None:
    pairs = words(random.Random(5), 200 if sort_bytes == 1 else 5000)
    result = collect(to_text(pairs), partitions=3, sort_bytes=sort_bytes, combiner="sum", regroup=1)
    assert result.partitions() == sums(pairs, 3)
    assert (result.counters["SPILLS"] > 0) == (sort_bytes < 1 << 20)
    assert result.counters["COMBINE_INPUT_RECORDS"] >= len(pairs)


@pytest.mark.parametrize("sort_bytes", [1, 20_000, 100 << 20])
def test_other_combiners_run_once_per_partition(collect: Collect, sort_bytes: int) -> None:
    """The combiner numbers its lines, so a second run, or one over a piece, would show."""
    pairs = words(random.Random(6), 150 if sort_bytes == 1 else 3000)
    result = collect(to_text(pairs), partitions=3, sort_bytes=sort_bytes, combiner="number")
    expected = [[(k, v + b"#%d" % i) for i, (k, v) in enumerate(part)] for part in sorted_partitions(pairs, 3)]
    assert result.partitions() == expected
    assert result.counters["COMBINE_INPUT_RECORDS"] == result.counters["COMBINE_OUTPUT_RECORDS"] == len(pairs)


def test_long_runs_reach_the_combiner_whole(collect: Collect) -> None:
    pairs = [(b"k", b"1")] * 300_000 + [(b"k", b"2"), (b"huge" * 50_000, b"5"), (b"huge" * 50_000, b"5")]
    assert collect(to_text(pairs), combiner="sum").partitions() == sums(pairs, 1)


def test_a_combiner_may_write_nothing(collect: Collect) -> None:
    assert collect(b"a\t1\nb\t1\n", partitions=2, combiner="none").partitions() == [[], []]


def test_no_pairs_no_combiner(collect: Collect) -> None:
    result = collect(b"", partitions=2, combiner="fails")
    assert result.partitions() == [[], []]


@pytest.mark.parametrize("sort_bytes", [3000, 100 << 20])
def test_unsorted_combiner_output_fails_and_names_the_key(collect: Collect, sort_bytes: int) -> None:
    data = to_text([(b"key%03d\xff" % i, b"1") for i in range(100)])
    result = collect(data, combiner="reversed", sort_bytes=sort_bytes)
    assert result.status == DISORDER
    assert r'"key098\xff" is out of order; the key before it was "key099\xff"' in result.message
    assert_nothing_left(result)


def test_combiner_key_of_another_partition_fails(collect: Collect) -> None:
    """D05: the same keys must not come out of several partitions."""
    keys = [b"key%d" % i for i in range(50)]
    result = collect(to_text([(key, b"1") for key in keys]), partitions=5000, combiner="foreign")
    assert result.status == DISORDER
    assert r'\x7f\"elsewhere" belongs to another partition' in result.message
    assert_nothing_left(result)


def test_a_failed_combiner_leaves_nothing(collect: Collect) -> None:
    result = collect(b"a\t1\n", combiner="fails")
    assert (result.status, result.message) == (COMBINER_FAILED, "exit status 3")
    assert_nothing_left(result)


def test_unread_combiner_input_is_counted(collect: Collect) -> None:
    """D15: the loss is the program's meaning, but it is not hidden."""
    result = collect(b"boston\t1\noslo\t1\n", combiner="half")
    assert result.partitions() == [[(b"boston", b"1")]]
    assert result.counters["COMBINE_UNREAD_BYTES"] == len(b"oslo\t1\n")


def assert_nothing_left(result: Outcome) -> None:
    left = [*result.work.iterdir(), *(p for p in result.out.parent.iterdir() if p.name.startswith("file.out"))]
    assert left == []


# Pairs that do not read back

TOKEN_INT32 = {"key_kind": 1, "value_kind": 1, "key_max": 15}


def test_unreadable_pairs_are_counted_with_their_repeats(collect: Collect) -> None:
    oslo = [(b"oslo", value) for value in (b"1", b"x", b"x", b"1")]
    pairs = [(b"new york", b"1")] * 3 + oslo + [(b"k" * 16, b"1")]
    result = collect(to_text(pairs), combiner="cat", **TOKEN_INT32)
    assert result.partitions() == sorted_partitions(pairs, 1)
    assert result.counters["UNREADABLE_PAIRS"] == 6


@pytest.mark.parametrize(("value", "reads"), [
    (b"1,2,3", True), (b"-1,007,-2147483648", True), (b"1,2", False), (b"1,2,3,", False), (b"1,2,3,4", False), (b"", False),
    (b"1,,3", False), (b"1;2,3", False), (b"1,2, 3", False), (b"1,2,2147483648", False), (b"-,2,3", False),
    (b"1,+2,3", False), (b"%020d,2,%020d" % (1, -3), True), (b"%021d,2,3" % 1, False), (b"1,2,%021d" % -3, False),
])
def test_values_of_several_numbers(collect: Collect, value: bytes, reads: bool) -> None:
    result = collect(to_text([(b"a", b"1,2,3"), (b"b", value)]), combiner="cat", values=3, **TOKEN_INT32)
    assert result.counters["UNREADABLE_PAIRS"] == (0 if reads else 1)


def test_an_unreadable_pair_in_the_first_load_turns_the_fold_off(collect: Collect) -> None:
    pairs = [(b"bad key", b"0")] + [(b"k%d" % i, b"1") for i in range(2000)]
    result = collect(to_text(pairs), sort_bytes=20_000, combiner="number", regroup=1, **TOKEN_INT32)
    assert result.counters["SPILLS"] > 1
    assert result.partitions() == [[(k, v + b"#%d" % i) for i, (k, v) in enumerate(sorted_partitions(pairs, 1)[0])]]


def test_an_unreadable_pair_after_a_combined_spill_asks_for_another_run(collect: Collect) -> None:
    pairs = [(b"k%d" % i, b"1") for i in range(2000)] + [(b"bad key", b"0")]
    result = collect(to_text(pairs), sort_bytes=20_000, combiner="sum", regroup=1, **TOKEN_INT32)
    assert result.status == RETRY_NO_FOLD
    assert_nothing_left(result)
    assert collect(to_text(pairs), sort_bytes=20_000, combiner="sum", **TOKEN_INT32).partitions() == sums(pairs, 1)


# Input and output errors

def test_a_missing_folder_is_named(collect: Collect, tmp_path: Path) -> None:
    result = collect(b"a\t1\n", out=tmp_path / "no" / "file.out")
    assert result.status == IO_ERROR
    assert f"cannot create {tmp_path}/no/file.out.tmp: No such file or directory" in result.message


def test_a_full_disk_is_told_and_leaves_nothing(collect: Collect) -> None:
    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    data = to_text([(b"key%d" % i, b"value") for i in range(5000)])
    for sort_bytes in (20_000, 100 << 20):
        result = collect(data, limit, sort_bytes=sort_bytes)
        assert result.status == IO_ERROR
        assert "cannot write" in result.message and "File too large" in result.message
        assert_nothing_left(result)


def test_the_oracle_knows_hadoops_partitions() -> None:
    """D09: hash of the smallest int, bytes above 127."""
    known = {b"iwimanrr": [0, 0, 0, 0], b"the": [0, 1, 2, 0], b"caf\xc3\xa9": [1, 1, 1, 0], b"\xff\xfe": [0, 1, 3, 4]}
    assert all([partition_of(key, n) for n in (2, 3, 5, 7)] == of for key, of in known.items())
