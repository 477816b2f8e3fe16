"""Kernels that are right give the same results on the emulated device in every order of lanes and blocks."""

from __future__ import annotations

import ctypes
import itertools
import subprocess
import threading
from pathlib import Path

import pytest

from .emu_module import KERNELS, ORDERS, RANDOM, Module, Order, array, build, name, pointer

u32, i32, i64, u64 = ctypes.c_uint, ctypes.c_int, ctypes.c_longlong, ctypes.c_ulonglong
every_order = pytest.mark.parametrize("order", ORDERS, ids=name)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Module:
    return Module(build(KERNELS / "results.cu", tmp_path_factory.mktemp("emu") / "results.so"))


@pytest.fixture(scope="module")
def intrinsics(tmp_path_factory: pytest.TempPathFactory) -> Module:
    return Module(build(KERNELS / "intrinsics.cu", tmp_path_factory.mktemp("emu") / "intrinsics.so"))


@every_order
@pytest.mark.parametrize("threads", [32, 96, 256])
def test_sum_of_blocks_by_shuffles(results: Module, order: Order, threads: int) -> None:
    values, total = array(i32, [(i * 37) % 101 - 50 for i in range(1000)]), array(i32, 1)
    arguments = pointer(values), u32(1000), pointer(total)
    results.launch("block_sum", *arguments, grid=(-(-1000 // threads),), block=(threads,), order=order)
    assert total[0] == sum(values)


@every_order
@pytest.mark.parametrize("kernel", ["block_scan", "warp_scan"])
def test_prefix_sums(results: Module, order: Order, kernel: str) -> None:
    values, sums = array(u32, [i * i % 17 for i in range(256)]), array(u32, 256)
    results.launch(kernel, pointer(values), pointer(sums), block=(256,), shared=1024, order=order)
    segment = 256 if kernel == "block_scan" else 32
    assert list(sums) == [sum(values[i - i % segment : i + 1]) for i in range(256)]


def source(mode: int, lane: int, width: int, distance: int) -> int:
    """The lane that a shuffle reads, by CUDA's manual."""
    first = lane - lane % width
    wanted = (first + distance % width, lane - distance, lane + distance, lane ^ distance)[mode]
    outside = (False, wanted < first, wanted >= first + width, wanted >= first + width)[mode]
    return lane if outside else wanted


@pytest.mark.parametrize("mode", range(4))
def test_shuffles(results: Module, mode: int) -> None:
    for order, width, distance in itertools.product(ORDERS[:3], (1, 4, 16, 32), (0, 1, 3, 15, 31)):
        out = array(i64, 64)
        results.launch("shuffle", i32(mode), i32(width), i32(distance), pointer(out), block=(64,), order=order)
        assert list(out) == [lane // 32 * 32 + source(mode, lane % 32, width, distance) for lane in range(64)]


@every_order
def test_votes(results: Module, order: Order) -> None:
    out = array(u32, 64 * 8)
    results.launch("votes", pointer(out), block=(64,), order=order)
    thirds = sum(1 << lane for lane in range(0, 32, 3))
    for thread in range(64):
        lane = thread % 32
        same = sum(1 << other for other in range(32) if other // 5 == lane // 5)
        half = 0xFFFF if lane < 16 else 0xAAAA0000
        assert out[thread * 8 : thread * 8 + 8] == [thirds, 1, 0, same, half, 2, 1, 2]


@every_order
def test_groups_that_meet_before_all_meet(results: Module, order: Order) -> None:
    out = array(u32, 32)
    results.launch("nested_groups", pointer(out), order=order)
    assert list(out) == [14] * 8 + [7] * 24


@every_order
def test_locks_and_lock_free_lists(results: Module, order: Order) -> None:
    lock, count, head, low = array(u32, 1), array(u32, 1), array(u32, 1), array(u64, [5000])
    following = array(u32, 256)
    results.launch(
        "lock_and_list", *map(pointer, (lock, count, head, following, low)), grid=(2,), block=(128,), order=order,
    )
    found, at = set(), head[0]
    while at:
        found.add(at)
        at = following[at - 1]
    assert count[0] == 256 and lock[0] == 0 and found == set(range(1, 257)) and low[0] == 1000 - 255


@every_order
def test_lanes_that_end_deep_in_calls(results: Module, order: Order) -> None:
    out = array(u32, 1)
    results.launch("exit_some", pointer(out), block=(64,), grid=(3,), order=order)
    assert out[0] == 3 * (sum(t % 3 != 1 for t in range(64)) + 1000)


@every_order
def test_geometry_and_arguments_by_value(results: Module, order: Order) -> None:
    class Pack(ctypes.Structure):
        _fields_ = [("a", i32), ("b", ctypes.c_double), ("text", ctypes.c_char * 5)]

    n = 2 * 3 * 2 * 5 * 3 * 4
    out = array(u32, n)
    results.launch("geometry", pointer(out), Pack(1000, 50.5, b"abcd\x07"), grid=(2, 3, 2), block=(5, 3, 4), order=order)
    assert list(out) == [1057 + i // 60 * 100 + i % 60 for i in range(n)]


@every_order
def test_items_are_taken_once(results: Module, order: Order) -> None:
    following, odd = array(u32, 1), array(u32, 1)
    results.launch("take_items", pointer(following), u32(1001), pointer(odd), grid=(2,), block=(96,), order=order)
    assert odd[0] == 500 and following[0] == 1001 + 192


def test_a_large_block_and_many_barriers(results: Module) -> None:
    out = array(u32, 1024)
    results.launch("many_barriers", u32(20), pointer(out), block=(1024,), order=Order(RANDOM, 1))
    assert list(out) == [20] * 1024


def test_a_texture_gives_zero_outside(results: Module) -> None:
    class Texture(ctypes.Structure):
        _fields_ = [("data", ctypes.c_void_p), ("elements", u64), ("element_bytes", u64)]

    values, out = array(i32, range(20)), array(i32, [100] * 32)
    texture = Texture(ctypes.addressof(values), 10, 8)
    results.launch("fetch", u64(ctypes.addressof(texture)), pointer(out))
    assert list(out) == [100] * 4 + [100 + 2 * i + 1 for i in range(10)] + [100] * 18


def test_intrinsics(intrinsics: Module) -> None:
    a, b, w, v = 0x80FF1200, 0x80FE1201, 0x8000_1234_0000_F000, 0xFFFF_FFFF_0000_0003
    out = array(u64, 40)
    intrinsics.launch("intrinsics", u32(a), u32(b), u64(w), u64(v), pointer(out), block=(1,))
    reverse = int(f"{w:064b}"[::-1], 2)
    product = ((w - (1 << 64)) * (v - (1 << 64))) >> 64
    both = b << 32 | a
    assert list(out[:27]) == [
        a.bit_count(), w.bit_count(), 10, 13, 0, 0, int(f"{a:032b}"[::-1], 2), reverse,
        0x0012FF80, byte_perm(both, 0x7BF0), 0xFF00FF00, a * b >> 32, w * v >> 64, product % (1 << 64),
        (both << 5) >> 32 & 0xFFFFFFFF, both >> 5 & 0xFFFFFFFF, 1, 1, min(a, b), max(a, b), 0xFFFFFFFF, (1 << 64) - 1, 1,
        (a + b + 3) % (1 << 32), 16 + 800 + 40000 + 16000000, 101, 1,
    ]


def byte_perm(both: int, selector: int) -> int:
    result = 0
    for i in range(4):
        nibble = selector >> 4 * i & 15
        byte = both >> 8 * (nibble & 7) & 0xFF
        result |= (255 * (byte >> 7) if nibble & 8 else byte) << 8 * i
    return result


@every_order
def test_atomics(intrinsics: Module, order: Order) -> None:
    words, wide, old, total = array(u32, [10] * 11), array(u64, [10] * 3), array(i32, 11), array(ctypes.c_double, 1)
    intrinsics.launch("atomics", *map(pointer, (words, wide, old, total)), block=(1,), order=order)
    assert list(words) == [15, 5, 50, 5, 2, 15, 9, 5, 5, 10, 0xFFFFFFFD] and list(old) == [10] * 11
    assert list(wide) == [10 + (1 << 40), 1 << 50, 1 << 60] and total[0] == 0.25


def test_launches_at_the_same_time(results: Module, intrinsics: Module) -> None:
    failures: list[str] = []

    def use(order: Order) -> None:
        try:
            for _ in range(20):
                test_lanes_that_end_deep_in_calls(results, order)
                test_prefix_sums(results, order, "block_scan")
                test_atomics(intrinsics, order)
        except BaseException as error:
            failures.append(repr(error))

    threads = [threading.Thread(target=use, args=(order,)) for order in ORDERS[:4]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_modules_export_nothing_that_a_process_has_once(tmp_path: Path) -> None:
    """The loader makes one of all objects that are "unique", whichever module they come from."""


    library = build(Path(__file__).parents[3] / "runtime" / "device" / "steps" / "kernels.cu", tmp_path / "kernels.so")
    symbols = subprocess.run(["nm", "-D", "--defined-only", str(library)], capture_output=True, text=True, check=True).stdout
    kinds = {line.split()[-1]: line.split()[-2] for line in symbols.splitlines()}
    assert kinds["hd_emu_launch"] in "TW" and "u" not in kinds.values()
    assert not [name for name in kinds if "hd_emu" in name and name != "hd_emu_launch"]
