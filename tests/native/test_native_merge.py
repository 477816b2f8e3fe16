"""The merge of map outputs against a plain oracle: order among equal keys, many segments, damage found and named."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from .oracle import INDEX_ENTRY, Pair, ifile, to_text
from .programs import build, environment

IO_ERROR = 5
Line = tuple[str, int, int, int]
Merge = Callable[..., tuple[int, bytes, list[int], str]]


@pytest.fixture
def merge(tmp_path: Path) -> Merge:
    """Merges segments (path, start, raw, part); returns status, text, counters, message."""
    tool = build("collector_tool")
    work = tmp_path / "work"
    work.mkdir()

    def run(segments: Sequence[Line], memory: int = 1 << 20) -> tuple[int, bytes, list[int], str]:
        lines = "".join(f"{path} {start} {raw} {part}\n" for path, start, raw, part in segments)
        end = subprocess.run([tool, "merge", f"memory={memory}", f"work={work}"], input=lines.encode(), capture_output=True,
                             check=True, env=environment())
        assert not list(work.iterdir()), "intermediate runs are removed"
        status, counters, message = end.stderr.decode().split("\n", 2)
        return int(status), end.stdout, [int(c) for c in counters.split()], message

    return run


def write(path: Path, partitions: Sequence[Sequence[Pair]]) -> list[Line]:
    data, index = ifile(partitions)
    path.write_bytes(data)
    return [(str(path), *entry) for entry in INDEX_ENTRY.iter_unpack(index[:-8])]


def sorted_pairs(rng: random.Random, n: int, tag: str) -> list[Pair]:
    pairs = [(bytes(rng.choices(b"ab\0\xff", k=rng.choice([0, 1, 2, 9, 20]))), f"{tag}.{i}".encode()) for i in range(n)]
    return sorted(pairs, key=lambda pair: pair[0])


@pytest.mark.parametrize(
    ("segments", "memory"), [(1, 1 << 20), (3, 0), (7, 100_000), (60, 200_000), (450, 64 << 20), (30, 0)])
def test_merges_in_key_order_then_segment_order(merge: Merge, tmp_path: Path, segments: int, memory: int) -> None:
    rng = random.Random(segments)
    parts = [sorted_pairs(rng, rng.choice([0, 1, 40, 300]), f"s{s}") for s in range(segments)]
    lines = [write(tmp_path / f"map{s}.out", [[(b"other", b"")], part, []])[1] for s, part in enumerate(parts)]
    status, output, counters, message = merge(lines, memory)
    expected = sorted((pair for part in parts for pair in part), key=lambda pair: pair[0])
    assert (status, message) == (0, "")
    assert output == to_text(expected)
    assert counters[10] == len(expected) and counters[9] == len({key for key, _ in expected})


def test_records_larger_than_the_buffer(merge: Merge, tmp_path: Path) -> None:
    big = [(b"a", b"x" * 300_000), (b"k" * 100_000, b""), (b"k" * 100_001, b"y" * 40_000)]
    small = [(b"a", b"1"), (b"b", b"2"), (b"k" * 100_000, b"3")]
    lines = write(tmp_path / "big", [big]) + write(tmp_path / "small", [small])
    status, output, _, _ = merge(lines, 0)
    assert status == 0
    assert output == to_text([big[0], *small[:2], big[1], small[2], big[2]])


def test_segments_of_one_file(merge: Merge, tmp_path: Path) -> None:
    parts = [sorted_pairs(random.Random(s), 50, f"s{s}") for s in range(5)]
    status, output, _, _ = merge(write(tmp_path / "file", parts))
    assert status == 0
    assert output == to_text(sorted((pair for part in parts for pair in part), key=lambda pair: pair[0]))


def test_nothing_to_merge(merge: Merge, tmp_path: Path) -> None:
    assert merge([])[:2] == (0, b"")
    assert merge(write(tmp_path / "empty", [[], []]))[:2] == (0, b"")


PAIRS = [(b"key%04d" % i, b"value" * (i % 7)) for i in range(300)]


def test_every_flipped_bit_of_a_segment_is_found(merge: Merge, tmp_path: Path) -> None:
    line = write(tmp_path / "file", [PAIRS[:8]])[0]
    good = (tmp_path / "file").read_bytes()
    for at in range(len(good)):
        bad = bytearray(good)
        bad[at] ^= 1 << at % 8
        (tmp_path / "file").write_bytes(bad)
        status, _, _, message = merge([line])
        assert status == IO_ERROR and f"map output is damaged: {tmp_path}/file, segment at byte 0" in message, at


def test_unsorted_keys_are_refused(merge: Merge, tmp_path: Path) -> None:
    """Hadoop accepts an unsorted segment and gives wrong groups; here it fails."""
    for first, second in [(b"b", b"a"), (b"long key one 2", b"long key one 1"), (b"aa", b"a"), (b"\xff", b"a")]:
        status, _, _, message = merge(write(tmp_path / "file", [[(first, b""), (second, b"")]]))
        assert status == IO_ERROR and "keys are not in order" in message


def test_a_short_file_and_wrong_lengths_are_refused(merge: Merge, tmp_path: Path) -> None:
    path, start, raw, part = write(tmp_path / "file", [PAIRS, PAIRS])[1]
    data = (tmp_path / "file").read_bytes()
    for lengths in ((start, raw - 1, part - 1), (start, raw + 1, part + 1), (start + 1, raw, part), (start, raw, part + 1),
                    (start, 1, 5), (start, raw - 20, part - 20)):
        status, _, _, message = merge([(path, *lengths)])
        assert status == IO_ERROR, lengths
    (tmp_path / "file").write_bytes(data[:-10])
    status, _, _, message = merge([(path, start, raw, part)])
    assert status == IO_ERROR and "before its data does" in message


def test_a_missing_file_is_named(merge: Merge, tmp_path: Path) -> None:
    status, _, _, message = merge([(str(tmp_path / "gone"), 0, 20, 24)])
    assert status == IO_ERROR and f"cannot open {tmp_path}/gone: No such file or directory" in message
