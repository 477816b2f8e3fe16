"""The runtime's own kernels against plain Python: staging, the plan of sorts, combine items, output."""

from __future__ import annotations

import ctypes
import random
from collections.abc import Callable
from itertools import groupby

import pytest

from .core_module import ORDERS, Array, Module, Order, Pair, put, scan, select, stable_sort, struct, u8, u32, u64, zeros

CHUNK_PAIRS, MERGE_TILE, TO_STDERR, NO_PAIR = 32, 512, 0x80000000, 0xFFFFFFFF
Line = tuple[int, int, bytes]  # item, sequence, text without its newline


# ------------------------------------------------------------------------------------------ staging


def slot(data: bytes) -> bytes:
    whole = data + b"\n\0"
    return whole + bytes(-len(whole) % 16)


def random_bytes(rng: random.Random, longest: int) -> bytes:
    return bytes(rng.choices(rng.choice([b"ab", b"a\0\xff\t\n", bytes(range(256))]), k=rng.randrange(longest)))


def test_records_are_staged(kernels: Module, order: Order) -> None:
    rng = random.Random(str(order))
    records = [random_bytes(rng, longest) for longest in [1, 3, 20, 100, 700] * 12] + [b"x" * n for n in range(12, 36)]
    gaps = [rng.randrange(5) for _ in records]
    text, offsets = bytearray(), []
    for gap, record in zip(gaps, records, strict=True):
        text += b"?" * gap
        offsets.append(len(text))
        text += record
    n = len(records)
    raw, length = put(u8, bytes(text)), put(u32, [len(r) for r in records])
    head = [(u64, raw), (u64, put(u64, offsets)), (u64, length)]
    starts = scan(put(u32, [len(slot(record)) for record in records]))
    staged = zeros(u8, starts.list()[-1], 0xDD)
    kernels.launch("hd_stage_records", struct(*head, (u64, staged), (u64, starts), (u32, n), (u32, 0)), order=order)
    assert staged.data() == b"".join(slot(record) for record in records)


def test_longest_records_come_first(kernels: Module, order: Order) -> None:
    lengths = [5, 0, 7, 7, 1000, 3, 0xFFFFFFF0]
    keys = zeros(u64, 7)
    single = struct((u64, put(u32, lengths)), (u64, None), (u64, keys), (u32, 7), (u32, 0))
    kernels.launch("hd_length_keys", single, order=order)
    assert keys.list() == [0xFFFFFFFF - n for n in lengths]
    begin = put(u32, [0, 2, 2, 5, 7])
    ranges = zeros(u64, 4)
    kernels.launch("hd_length_keys", struct((u64, put(u32, lengths)), (u64, begin), (u64, ranges), (u32, 4), (u32, 0)),
                   order=order)
    assert ranges.list() == [0xFFFFFFFF - n for n in (5, 0, 1014, 0xFFFFFFF3)]


# ------------------------------------------------------------------------------------------ a store of pairs


class Store:
    """Lines in an arena and their pairs in slots, with unused slots and text for stderr between them."""

    def __init__(self, rng: random.Random, lines: list[Line], spare: int = 3) -> None:
        mixed = lines[:]
        rng.shuffle(mixed)
        slots: list[Line | None] = [*mixed, *[None] * spare]
        rng.shuffle(slots)
        arena, entries = bytearray(b"\xee" * rng.randrange(4)), []
        for line in slots:
            if line is None:
                entries.append((0xFFFFFFFFFFFFFFFF, NO_PAIR, NO_PAIR, NO_PAIR, NO_PAIR))
                continue
            item, sequence, text = line
            entries.append((len(arena), len(text), len(text.split(b"\t")[0]), item, sequence))
            arena += text + b"\n" * rng.randrange(2)
        self.count = len(slots)
        self.arena = put(u8, bytes(arena))
        self.pairs = zeros(Pair, self.count)
        for i, entry in enumerate(entries):
            self.pairs.items[i] = Pair(*entry)

    def line(self, index: int) -> Line:
        pair = self.pairs.items[index]
        return pair.item, pair.sequence, self.arena.text(pair.at, pair.length)


class Sorter:
    """The plan of runtime/device/steps/kernels.h, step by step."""

    def __init__(self, kernels: Module, store: Store, order: Order) -> None:
        self.kernels, self.store, self.order = kernels, store, order
        self.segment = zeros(u32, store.count, 0xFF)
        self.levels = 0

    def keys(self, kernel: str, order: Array, position: int = 0) -> Array:
        keys = zeros(u64, order.count, 0xFF)
        self.kernels.launch(kernel, struct(
            (u64, self.store.arena), (u64, self.store.pairs), (u64, self.segment), (u64, order), (u64, keys),
            (u32, order.count), (u32, position)), order=self.order)
        return keys

    def select_stream(self, stream: int) -> Array:
        flags, largest, item = zeros(u8, self.store.count, 0xFF), zeros(u32, 1), zeros(u32, 1)
        self.kernels.launch("hd_pair_flags", struct(
            (u64, self.store.pairs), (u64, flags), (u64, largest), (u64, item), (u32, self.store.count), (u32, stream),
        ), order=self.order)
        found = select(flags)
        lines = [self.store.line(i) for i in found]
        assert largest.list() == [max([sequence & ~TO_STDERR for _, sequence, _ in lines], default=0)]
        assert item.list() == [max([item for item, _, _ in lines], default=0)]
        return put(u32, found)

    def program_order(self, stream: int = 0) -> Array:
        order = self.select_stream(stream)
        stable_sort(self.keys("hd_order_keys", order), order, 0, 64)
        return order

    def partitions(self, order: Array, reducers: int) -> None:
        self.kernels.launch("hd_partitions", struct(
            (u64, self.store.arena), (u64, self.store.pairs), (u64, order), (u64, self.segment), (u32, order.count),
            (u32, reducers)), order=self.order)

    def sort_level(self, order: Array, position: int, segment_bits: int) -> None:
        stable_sort(self.keys("hd_clamp_keys", order, position), order, 0, 4)
        stable_sort(self.keys("hd_prefix_keys", order, position), order, 0, 64)
        if segment_bits:
            stable_sort(self.keys("hd_segment_keys", order), order, 0, segment_bits)

    def by_key(self, order: Array, reducers: int) -> None:
        """Sorts `order` by (partition, key), stably."""
        self.partitions(order, reducers)
        level, place, position = order, None, 0
        self.sort_level(level, position, (reducers - 1).bit_length())
        while ties := self.ties(level, place, position):
            level, place = ties
            position += 8
            self.levels += 1
            self.sort_level(level, position, (level.count - 1).bit_length())
            self.kernels.launch("hd_scatter_u32", struct(
                (u64, level), (u64, place), (u64, order), (u32, level.count), (u32, 0)), order=self.order)

    def merge(self, order: Array, reducers: int) -> None:
        """Sorts `order`, whatever it was, by (partition, key, item, sequence)."""
        self.partitions(order, reducers)
        width = 0
        while width < max(order.count, 1):
            merged = zeros(u32, order.count, 0xFF)
            self.kernels.launch("hd_merge_runs" if width else "hd_sort_tiles", struct(
                (u64, self.store.arena), (u64, self.store.pairs), (u64, self.segment), (u64, order), (u64, merged),
                (u64, width), (u32, order.count), (u32, 0)), order=self.order)
            order.items[:] = merged.list()
            width = 2 * width or MERGE_TILE

    def ties(self, level: Array, place: Array | None, position: int) -> tuple[Array, Array] | None:
        n = level.count
        member, start = zeros(u8, n, 0xFF), zeros(u32, n, 0xFF)
        self.kernels.launch("hd_tie_flags", struct(
            (u64, self.store.arena), (u64, self.store.pairs), (u64, level), (u64, self.segment), (u64, member), (u64, start),
            (u32, n), (u32, position)), order=self.order)
        chosen = put(u32, select(member))
        if not chosen.count:
            return None
        tied, tied_place = zeros(u32, chosen.count, 0xFF), zeros(u32, chosen.count, 0xFF)
        self.kernels.launch("hd_ties", struct(
            (u64, level), (u64, place), (u64, chosen), (u64, start), (u64, scan(start)), (u64, self.segment), (u64, tied),
            (u64, tied_place), (u32, chosen.count), (u32, 0)), order=self.order)
        return tied, tied_place

    def flags(self, kernel: str, order: Array, regroup: bool = False) -> list[int]:
        flags = zeros(u8, order.count, 0xFF)
        self.kernels.launch(kernel, struct(
            (u64, self.store.arena), (u64, self.store.pairs), (u64, order), (u64, flags), (u32, order.count), (u32, regroup),
        ), order=self.order)
        return select(flags)


def partition(key: bytes, reducers: int) -> int:
    """Hadoop: WritableComparator.hashBytes, HashPartitioner."""
    h = 1
    for byte in key:
        h = (31 * h + (byte - 256 if byte > 127 else byte)) & 0xFFFFFFFF
    return (h & 0x7FFFFFFF) % reducers if reducers > 1 else 0


Keys = Callable[[random.Random], bytes]
KEYS: dict[str, Keys] = {
    "words": lambda rng: bytes(rng.choices(b"abc", k=rng.randrange(1, 6))),
    "zeros": lambda rng: b"\0" * rng.randrange(28),
    "zeros and ones": lambda rng: bytes(rng.choices(b"\0\1\xff", k=rng.randrange(20))),
    "long prefix": lambda rng: b"http://www.example.org/a/long/path/" + bytes(rng.choices(b"xy", k=rng.randrange(30))),
    "few": lambda rng: rng.choice([b"", b"one", b"exactly8", b"exactly8+", b"sixteen bytes 16", b"sixteen bytes 16\0"]),
    "any": lambda rng: bytes(rng.choices([b for b in range(256) if b != 9], k=rng.randrange(12))),
    "the same": lambda rng: b"the very same key of more than thirty-two bytes",
    "none": lambda rng: b"",
}


def random_lines(rng: random.Random, keys: Keys, n: int) -> list[Line]:
    items = sorted(rng.choices([*range(40), 0xFFFFFFF0], k=n))
    lines = []
    for item, group in groupby(items):
        for sequence, _ in enumerate(group):
            key, value = keys(rng), rng.choice([b"", b"\t", b"\t1", b"\tv\tw", b"\t\0\xff"])
            stream = TO_STDERR if rng.random() < 0.1 else 0
            lines.append((item, sequence | stream, key + value))
    return lines


@pytest.mark.parametrize("kind", KEYS)
@pytest.mark.parametrize("reducers", [1, 2, 7, 1000])
def test_the_plan_sorts_stably_by_partition_and_key(kernels: Module, order: Order, kind: str, reducers: int) -> None:
    rng = random.Random(f"{order}{kind}{reducers}")
    lines = random_lines(rng, KEYS[kind], 250)
    sorter = Sorter(kernels, Store(rng, lines), order)
    found = sorter.program_order()
    wanted = sorted(line for line in lines if not line[1] & TO_STDERR)
    assert [sorter.store.line(i) for i in found.list()] == wanted
    sorter.by_key(found, reducers)

    def key(line: Line) -> tuple[int, bytes]:
        bytes_ = line[2].split(b"\t")[0]
        return partition(bytes_, reducers), bytes_

    assert [sorter.store.line(i) for i in found.list()] == sorted(wanted, key=key)
    if kind == "the same":
        assert sorter.levels == 5
    sorter.partitions(found, reducers)
    assert [sorter.segment.items[i] for i in found.list()] == [key(sorter.store.line(i))[0] for i in found.list()]


@pytest.mark.parametrize("kind", KEYS)
@pytest.mark.parametrize(("reducers", "count"), [(1, 250), (7, 1300)])
def test_merging_is_the_oracle_of_the_plan(kernels: Module, order: Order, kind: str, reducers: int, count: int) -> None:
    """Two sorts that have nothing in common: by bytes of the key and ties, and by comparing whole lines."""
    rng = random.Random(f"{order}{kind}{reducers}")
    sorter = Sorter(kernels, Store(rng, random_lines(rng, KEYS[kind], count)), order)
    merged = sorter.select_stream(0)  # in the order of slots
    sorter.merge(merged, reducers)
    found = sorter.program_order()
    sorter.by_key(found, reducers)
    assert merged.list() == found.list()


@pytest.mark.parametrize("stream", [0, 1])
def test_used_slots_of_areas_are_put_together(kernels: Module, order: Order, stream: int) -> None:
    rng = random.Random(f"{order}{stream}")
    lines = [(i, i | (TO_STDERR if rng.random() < 0.2 else 0), b"%d" % i) for i in range(200)]
    store, areas, size = Store(rng, lines, spare=0), 50, 4
    used = [rng.randrange(size + 1) for _ in range(areas)]
    counts, largest = zeros(u32, areas, 0xFF), [zeros(u32, 1), zeros(u32, 1)]

    def arguments(first: Array | None, found: Array | None) -> ctypes.Structure:
        return struct((u64, store.pairs), (u64, put(u32, used)), (u64, counts), (u64, first), (u64, found),
                      (u64, largest[0]), (u64, largest[1]), (u32, areas), (u32, size), (u32, stream), (u32, 0))

    kernels.launch("hd_area_counts", arguments(None, None), order=order)
    first = scan(counts)
    found = zeros(u32, first.list()[-1], 0xFF)
    kernels.launch("hd_area_slots", arguments(first, found), order=order)
    slots = [area * size + i for area in range(areas) for i in range(used[area])]
    wanted = [slot for slot in slots if (store.line(slot)[1] >= TO_STDERR) == bool(stream)]
    assert wanted and found.list() == wanted
    assert largest[1].list() == [max(store.line(slot)[0] for slot in wanted)] == largest[0].list()


def test_text_for_stderr_is_found_in_order(kernels: Module, order: Order) -> None:
    rng = random.Random(5)
    lines = random_lines(rng, KEYS["words"], 300)
    sorter = Sorter(kernels, Store(rng, lines, spare=100), order)
    found = [sorter.store.line(i) for i in sorter.program_order(stream=1).list()]
    assert found and found == sorted(line for line in lines if line[1] & TO_STDERR)


def test_few_or_no_pairs(kernels: Module) -> None:
    rng = random.Random(0)
    for n in (0, 1, 2):
        sorter = Sorter(kernels, Store(rng, [(0, i, b"a long key of one pair\tx") for i in range(n)]), ORDERS[0])
        found = sorter.program_order()
        sorter.by_key(found, 3)
        assert [sorter.store.line(i)[1] for i in found.list()] == list(range(n))
        assert sorter.flags("hd_chunk_flags", found, True) == sorter.flags("hd_run_flags", found) == [0][:n]


# ------------------------------------------------------------------------------------------ combine items, output


def runs_store(rng: random.Random, runs: list[int]) -> tuple[Store, list[int]]:
    """Sorted pairs with runs of equal keys of these lengths; and where the runs start."""
    lines, starts = [], []
    for number, length in enumerate(runs):
        starts.append(len(lines))
        lines += [(0, len(lines) + i, b"%08d%08d\tv" % (7, number)) for i in range(length)]
    return Store(rng, lines), starts


@pytest.mark.parametrize("regroup", [False, True])
def test_combine_items_begin_at_keys(kernels: Module, order: Order, regroup: bool) -> None:
    rng = random.Random(f"{order}{regroup}")
    mixed = rng.choices([1, 2, 5, 31, 32, 33, 90], k=20)
    for runs in ([1] * 100, [40, 1, 1, 200, 3], [31, 2, 33, 32, 32, 64, 65], [500], [31, 2], [32, 32, 31, 2], mixed):
        store, starts = runs_store(rng, runs)
        sorter = Sorter(kernels, store, order)
        found = sorter.program_order()
        assert sorter.flags("hd_run_flags", found) == starts
        chunks = sorter.flags("hd_chunk_flags", found, regroup)
        total = sum(runs)
        assert chunks[0] == 0
        sizes = [b - a for a, b in zip(chunks, [*chunks[1:], total], strict=True)]
        for start, length in zip(starts, runs, strict=True):
            cuts = [c for c in chunks if start < c < start + length]
            assert len(cuts) <= (length // CHUNK_PAIRS if regroup else 0) and (length > CHUNK_PAIRS or not cuts)
        if regroup:
            assert max(sizes) < 2 * CHUNK_PAIRS
        assert len(chunks) >= min(len(runs), total // CHUNK_PAIRS) // 2


@pytest.mark.parametrize("raw", [False, True])
def test_output_is_contiguous_text(kernels: Module, order: Order, raw: bool) -> None:
    rng = random.Random(f"{order}{raw}")
    sorter = Sorter(kernels, Store(rng, random_lines(rng, KEYS["long prefix"], 120)), order)
    found = sorter.program_order()
    n, sizes, store = found.count, zeros(u32, found.count), sorter.store
    head = [(u64, store.arena), (u64, store.pairs), (u64, found), (u64, sizes)]
    kernels.launch("hd_output_sizes", struct(*head, (u64, None), (u64, None), (u32, n), (u32, raw)), order=order)
    offsets = scan(sizes)
    text = zeros(u8, offsets.list()[-1], 0xDD)
    kernels.launch("hd_output", struct(*head, (u64, offsets), (u64, text), (u32, n), (u32, raw)), order=order)
    lines = [store.line(i)[2] for i in found.list()]
    assert text.data() == b"".join(line + (b"\n" if raw or b"\t" in line else b"\t\n") for line in lines)


def test_pairs_are_staged_with_their_tab(kernels: Module, order: Order) -> None:
    rng = random.Random(str(order))
    lines = random_lines(rng, KEYS["any"], 150) + [(50 + n, 0, b"k" * n) for n in range(12, 36)]
    sorter = Sorter(kernels, Store(rng, lines), order)
    found, store = sorter.program_order(), sorter.store
    n, length, sizes = found.count, zeros(u32, found.count), zeros(u32, found.count)
    head = [(u64, store.arena), (u64, store.pairs), (u64, found), (u64, length), (u64, sizes)]
    kernels.launch("hd_stage_pair_sizes", struct(*head, (u64, None), (u64, None), (u32, n), (u32, 0)), order=order)
    starts = scan(sizes)
    staged = zeros(u8, starts.list()[-1], 0xDD)
    kernels.launch("hd_stage_pairs", struct(*head, (u64, staged), (u64, starts), (u32, n), (u32, 0)), order=order)
    whole = [line if b"\t" in line else line + b"\t" for line in (store.line(i)[2] for i in found.list())]
    assert length.list() == [len(line) for line in whole]
    assert staged.data() == b"".join(map(slot, whole))


def test_moves_by_index(kernels: Module, order: Order) -> None:
    rng = random.Random(str(order))
    n = 500
    index = list(range(n))
    rng.shuffle(index)
    values = [rng.getrandbits(32) for _ in range(n)]
    source, by, to = put(u32, values), put(u32, index), zeros(u32, n)

    def move(kernel: str, origin: Array | None, target: Array, indices: Array | None = by) -> list[int]:
        kernels.launch(kernel, struct((u64, origin), (u64, indices), (u64, target), (u32, n), (u32, 0)), order=order)
        return target.list()

    assert move("hd_gather_u32", source, to) == [values[i] for i in index]
    assert move("hd_scatter_u32", put(u32, to.list()), to) == values
    assert move("hd_iota", None, to, None) == list(range(n))
    wide = [value << 31 for value in values]
    assert move("hd_gather_u64", put(u64, wide), zeros(u64, n)) == [wide[i] for i in index]
    pairs, moved = zeros(Pair, n), zeros(Pair, n)
    for i in range(n):
        pairs.items[i] = Pair(i << 33, i, i + 1, i + 2, i + 3)
    move("hd_gather_pairs", pairs, moved)
    assert [(p.at >> 33, p.length, p.key_length, p.item, p.sequence) for p in moved.list()] == [
        (i, i, i + 1, i + 2, i + 3) for i in index]
