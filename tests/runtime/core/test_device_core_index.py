"""The runtime's record index against plain Python: Hadoop's rule for where records end, in tiles that see no neighbour."""

from __future__ import annotations

import random

import pytest

from .core_module import ORDERS, Module, Order, i32, put, scan, struct, u8, u32, u64, zeros

INDEX_TILE, SPREAD, LONG, MOST_LONG = 8192, 31, 128 << 10, 8


def hadoop_records(text: bytes, begin: int, delimiter: int, text_ends: bool) -> list[tuple[int, int]]:
    """Offset and length of each record of text[begin:], byte by byte."""
    found, start, at = [], begin, begin
    while at < len(text):
        last = at + 1 == len(text)
        if delimiter >= 0:
            size = 1 if text[at] == delimiter else 0
        elif text[at : at + 2] == b"\r\n":
            size = 2
        else:
            size = 1 if text[at] == 10 or (text[at] == 13 and (text_ends or not last)) else 0
        if size:
            found.append((start, at - start))
            start = at + size
        at += size or 1
    return [*found, (start, at - start)] if start < at else found


def index(kernels: Module, text: bytes, begin: int, delimiter: int, text_ends: bool, order: Order) -> list[tuple[int, int]]:
    raw = put(u8, text)
    source = [(u64, raw), (u64, len(text)), (u64, begin), (i32, delimiter), (u32, int(text_ends))]
    tiles = -(-len(text) // INDEX_TILE)
    counts, last, empty = zeros(u32, tiles, 0xFF), zeros(u32, tiles, 0xFF), zeros(u64, 1)
    kernels.launch("hd_index_count", struct(*source, (u64, counts), (u64, last), (u64, empty)), order=order)
    assert empty.list() == [counts.list().count(0)]
    first = scan(counts)
    n = first.list()[-1]
    offset, length, slot = zeros(u64, n, 0xFF), zeros(u32, n, 0xFF), zeros(u64, n, 0xFF)
    longs = zeros(u64, 1 + 3 * MOST_LONG)
    records = struct(*source, (u64, first), (u64, last), (u64, offset), (u64, length), (u64, slot), (u64, longs))
    kernels.launch("hd_index_records", records, order=order, threads=random.Random(len(text)).choice([32, 64, 256]))
    assert raw.data() == text
    behind = 0  # no slot reaches into the next one, and the last one has its place
    for at, size in zip(slot.list(), length.list(), strict=True):
        assert at >= behind and at % 16 == 0
        behind = at + (size + 2 + 15) // 16 * 16
    assert behind <= len(text) + 1 + SPREAD * n
    check_longs(longs.list(), list(zip(offset.list(), length.list(), strict=True)), len(text))
    return list(zip(offset.list(), length.list(), strict=True))


def check_longs(longs: list[int], records: list[tuple[int, int]], size: int) -> None:
    """The long ones, each with where the next record begins; of too many, any."""
    expected = {
        (start, after[0], length) for (start, length), after in zip(records, [*records[1:], (size, 0)], strict=False)
        if length >= LONG
    }
    count, numbers = longs[0], longs[1:]
    noted = {(numbers[i], numbers[i + 1], numbers[i + 2]) for i in range(0, 3 * min(count, MOST_LONG), 3)}
    assert count == len(expected) and noted <= expected and len(noted) == min(count, MOST_LONG)


@pytest.mark.parametrize("delimiter", [-1, ord("|"), 0, 255])
def test_records_are_hadoops(kernels: Module, order: Order, delimiter: int) -> None:
    rng = random.Random(f"{order}{delimiter}")
    for alphabet in (b"\r\n", b"a\r\n", b"ab\n", b"a\x0b\x0c\x8a\x8d\n\r|\0\xff", b"x" * 40 + b"\r\n|\0\xff"):
        for size in (1, 2, 7, 8, 9, 15, 16, 17, 127, 128, 129, 255, 256, 257, 3000, 8191, 8192, 8193, 16384, 20_000):
            text = bytes(rng.choices(alphabet, k=size))
            begin, text_ends = rng.choice([0, 0, 3]), rng.random() < 0.7 or not text.endswith(b"\r")
            begin = min(begin, size)
            found = index(kernels, text, begin, delimiter, text_ends, order)
            assert found == hadoop_records(text, begin, delimiter, text_ends), (text, begin, text_ends)


def test_a_record_of_several_tiles(kernels: Module, order: Order) -> None:
    for before, size, after in ((0, 8191, 5), (3, 8192, 0), (8191, 30_000, 20_000), (8190, 8192, 8192), (100, 1, 50_000)):
        text = b"a" * before + b"\r\n" + b"b" * size + b"\n" + b"c" * after
        assert index(kernels, text, 0, -1, True, order) == hadoop_records(text, 0, -1, True)


def test_long_records_are_noted(kernels: Module, order: Order) -> None:
    for ends, sizes in ((b"\n", [LONG - 1, LONG, 5, LONG + 1]), (b"\r\n", [LONG, 0, LONG]), (b"\n", [3, *[LONG] * 10, 7])):
        for last in (b"", ends):
            text = ends.join(b"a" * size for size in sizes) + last
            assert len(index(kernels, text, 0, -1, True, order)) == len(sizes)


def test_no_text_has_no_records(kernels: Module) -> None:
    assert index(kernels, b"", 0, -1, True, ORDERS[0]) == []
    assert index(kernels, b"\xef\xbb\xbf", 3, -1, True, ORDERS[0]) == []
    assert index(kernels, b"\xef\xbb\xbf\n", 3, -1, True, ORDERS[0]) == [(3, 0)]
