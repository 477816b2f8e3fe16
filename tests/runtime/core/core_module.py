"""Running kernels of the emulated device from Python: the structs of runtime/device/steps/abi.h, memory, launches.

Also the device's three algorithms (sort, scan, select) in plain Python, as device.h of runtime/host says. Not a test module.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from struct import iter_unpack
from typing import Any

from ..emulator import ORDERS, Order, launch, load

__all__ = ["ORDERS", "Array", "Module", "Order", "Pair", "Task", "Written", "put", "scan", "select", "stable_sort",
           "struct", "zeros"]

NO_PAIR, TO_STDERR = 0xFFFFFFFF, 0x80000000
u8, u32, u64, i32 = ctypes.c_uint8, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_int32


class Pair(ctypes.Structure):
    _fields_ = [("at", u64), ("length", u32), ("key_length", u32), ("item", u32), ("sequence", u32)]


class Array:
    """Memory of a kernel: `count` elements of a ctypes type, at a multiple of 16 and of a size that is one.

    Guard bytes lie around it: `check` says that no kernel wrote there.
    """

    GUARD = b"\xc5" * 64

    def __init__(self, kind: Any, count: int, fill: int = 0) -> None:
        self.kind, self.count = kind, count
        self.bytes = (ctypes.sizeof(kind) * count + 15) // 16 * 16
        self._raw = ctypes.create_string_buffer(self.bytes + 2 * 64 + 16)
        start = (ctypes.addressof(self._raw) + 64 + 15) // 16 * 16
        self.address = start
        ctypes.memmove(start - 64, self.GUARD, 64)
        ctypes.memset(start, fill, self.bytes)
        ctypes.memmove(start + self.bytes, self.GUARD, 64)
        self.items = (kind * count).from_address(start)

    def check(self) -> None:
        for at in (self.address - 64, self.address + self.bytes):
            assert ctypes.string_at(at, 64) == self.GUARD, "a kernel wrote outside of its memory"

    def list(self, count: int | None = None) -> list[Any]:
        self.check()
        return list(self.items[: self.count if count is None else count])

    def data(self) -> bytes:
        self.check()
        return ctypes.string_at(self.address, ctypes.sizeof(self.kind) * self.count)

    def text(self, at: int, length: int) -> bytes:
        assert 0 <= at <= self.count * ctypes.sizeof(self.kind) - length
        return ctypes.string_at(self.address + at, length)


def zeros(kind: Any, count: int, fill: int = 0) -> Array:
    return Array(kind, count, fill)


def put(kind: Any, values: Sequence[int] | bytes) -> Array:
    """An array with these values. What lies behind them up to the next multiple of 16 is 0xff."""
    array = Array(kind, len(values), 0xFF)
    if isinstance(values, bytes):
        ctypes.memmove(array.address, values, len(values))
    else:
        array.items[:] = values
    return array


def struct(*fields: tuple[Any, Any]) -> Any:
    """A struct of (type, value), in C's layout; an Array or None is a pointer, and the array lives as long as the struct."""
    kinds = [(f"f{i}", u64 if value is None or isinstance(value, Array) else kind) for i, (kind, value) in enumerate(fields)]
    made = type("Arguments", (ctypes.Structure,), {"_fields_": kinds})()
    for i, (_, value) in enumerate(fields):
        setattr(made, f"f{i}", value.address if isinstance(value, Array) else 0 if value is None else value)
    made.arrays = [value for _, value in fields if isinstance(value, Array)]
    return made


class Module:
    """A kernel file, compiled for the emulated device."""

    def __init__(self, source: Path) -> None:
        self._library = load(source)

    def launch(self, kernel: str, *arguments: ctypes.Structure, blocks: int = 3, threads: int = 32,
               order: Order = ORDERS[0]) -> None:
        launch(self._library, kernel, list(arguments), blocks=blocks, threads=threads, order=order)


# ------------------------------------------------------------------------------------------ the device's algorithms


def stable_sort(keys: Array, values: Array, begin_bit: int, end_bit: int) -> None:
    mask = ((1 << end_bit) - 1) >> begin_bit << begin_bit
    pairs = sorted(zip(keys.list(), values.list(), strict=True), key=lambda pair: pair[0] & mask)
    keys.items[:] = [key for key, _ in pairs]
    values.items[:] = [value for _, value in pairs]


def scan(values: Array) -> Array:
    sums = [0]
    for value in values.list():
        sums.append(sums[-1] + value)
    return put(u64, sums)


def select(flags: Array) -> list[int]:
    found = flags.list()
    assert set(found) <= {0, 1}
    return [i for i, flag in enumerate(found) if flag]


# ------------------------------------------------------------------------------------------ tasks


@dataclass(frozen=True)
class Written:
    """One pair of a store: where it lies in the order of the program, its line, the key's length."""

    item: int
    sequence: int
    line: bytes
    key_length: int
    stderr: bool


@dataclass
class Task:
    """A launch of a map or combine kernel over records that are given as bytes."""

    records: Sequence[bytes]
    begin: Sequence[int] | None = None
    taken: Sequence[int] | None = None  # Task::order
    arena_bytes: int = 1 << 20
    pair_slots: int = 8192
    slots_per_thread: int = 0
    slot_bytes: int = 0
    areas: int = 0  # whose used slots are counted

    def __post_init__(self) -> None:
        offsets, text = [], bytearray()
        for record in self.records:
            offsets.append(len(text))
            text += record + b"\n\0"
            text += bytes(-len(text) % 16)
        self.text, self.offset = put(u8, bytes(text)), put(u64, offsets)
        self.length = put(u32, [len(r) for r in self.records])
        self.arena, self.pairs = zeros(u8, self.arena_bytes, 0xEE), zeros(Pair, self.pair_slots, 0xFF)
        self.arena_used, self.pairs_used = zeros(u64, 1), zeros(u64, 1)
        self.next, self.failure = zeros(u32, 1), zeros(u32, 4)
        self.area_slots = zeros(u32, self.areas, 0xFF) if self.areas else None

    def argument(self) -> ctypes.Structure:
        begin = put(u32, self.begin) if self.begin is not None else None
        taken = put(u32, self.taken) if self.taken is not None else None
        items = len(self.begin) - 1 if self.begin is not None else len(self.records)
        return struct(
            (u64, self.text), (u64, self.offset), (u64, self.length), (u64, len(self.records)),  # the count and padding
            (u64, self.arena), (u64, self.arena_bytes), (u64, self.arena_used),
            (u64, self.pairs), (u64, self.pair_slots), (u64, self.pairs_used),
            (u64, begin), (u64, taken), (u32, items), (u32, self.slots_per_thread), (u32, self.slot_bytes), (u32, 0),
            (u64, self.next), (u64, self.failure), (u64, self.area_slots),
        )

    def check_memory(self) -> None:
        for array in (self.text, self.offset, self.length, self.arena, self.pairs, self.arena_used, self.pairs_used,
                      self.next, self.failure):
            array.check()

    @property
    def status(self) -> int:
        return int(self.failure.items[0])

    def written(self) -> list[Written]:
        """What the store holds, in the order of the sequential program."""
        found = []
        for at, length, key_length, item, sequence in iter_unpack("<Q4I", self.pairs.data()):
            if length == NO_PAIR:
                assert item == NO_PAIR  # a slot is written whole or not at all
                continue
            line = self.arena.text(at, length)
            found.append(Written(item, sequence & ~TO_STDERR, line, key_length, sequence >= TO_STDERR))
        return sorted(found, key=lambda w: (w.item, w.sequence))
