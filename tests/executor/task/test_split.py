"""Splits: Hadoop's sizes, and every byte in exactly one split."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heterodoop.executor.task.split import Split, SplitSize, default_size, plan_splits
from heterodoop.storage.local import InputFile


def ranges(size: int, nbytes: int) -> list[tuple[int, int]]:
    return [(s.start, s.length) for s in plan_splits([InputFile("/x", size)], SplitSize(nbytes))]


@pytest.mark.parametrize(("size", "nbytes", "expected"), [
    (0, 10, [(0, 0)]),
    (1, 10, [(0, 1)]),
    (10, 10, [(0, 10)]),
    (11, 10, [(0, 11)]),  # the slop: up to 1.1 splits stay one
    (12, 10, [(0, 10), (10, 2)]),
    (21, 10, [(0, 10), (10, 11)]),
    (3, 1, [(0, 1), (1, 1), (2, 1)]),
])
def test_sizes_as_in_file_input_format(size: int, nbytes: int, expected: list[tuple[int, int]]):
    assert ranges(size, nbytes) == expected


@given(st.integers(0, 500), st.integers(1, 600))
def test_splits_cover_a_file_without_gap(size: int, nbytes: int):
    at = 0
    for start, length in ranges(size, nbytes):
        assert start == at and length <= 1.1 * nbytes
        at += length
    assert at == size


def test_a_compressed_file_is_one_split():
    file = InputFile("/x.gz", 1000, "gzip")
    assert plan_splits([file], SplitSize(10)) == [Split(file, 0, 1000)]
    assert str(Split(file, 0, 1000)) == "/x.gz (gzip, whole file)"
    assert str(Split(InputFile("/x", 9), 3, 4)) == "/x, bytes 3 to 7"


def test_files_keep_their_order():
    files = [InputFile("/b", 1), InputFile("/a", 0)]
    assert [s.file.path for s in plan_splits(files, SplitSize(1))] == ["/b", "/a"]


@pytest.mark.parametrize(("size", "expected"), [
    (SplitSize(100), 100),
    (SplitSize(100, minimum=200), 200),
    (SplitSize(100, maximum=50), 50),
    (SplitSize(100, minimum=70, maximum=50), 70),
    (SplitSize(100, maps=20), 50),
    (SplitSize(100, maps=2), 100),
    (SplitSize(100, maps=5000), 1),
])
def test_what_decides_the_size(size: SplitSize, expected: int):
    assert size.of(1000) == expected


MIB = 1 << 20


@pytest.mark.parametrize(("total", "expected"), [
    (0, 4), (1, 4), (128 * MIB, 4), (128 * MIB + 1, 5), (1_400_000_000, 42), (2048 * MIB, 64), (1 << 50, 64),
])
def test_the_default_size_comes_from_the_input(total: int, expected: int):
    assert default_size(total) == SplitSize(0).of(total) == expected * MIB


@given(st.integers(0, 1 << 40))
def test_a_default_split_is_no_more_than_it_must_be(total: int):
    size = default_size(total)
    assert size % MIB == 0 and 4 * MIB <= size <= 64 * MIB
    assert size in (4 * MIB, 64 * MIB) or 32 * (size - MIB) < total <= 32 * size
