"""What is wrong with a kernel is found on the emulated device, and said: never a hang, never a wrong result in silence."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from heterodoop.toolchain.native import sanitizer_preload

from . import emu_module
from .emu_module import (
    DEVICE_ERROR,
    FORWARD,
    KERNELS,
    ORDERS,
    RANDOM,
    REVERSE,
    UNKNOWN_KERNEL,
    Config,
    DeviceError,
    Module,
    Order,
    array,
    build,
    command,
    name,
    pointer,
)

u32, i32 = ctypes.c_uint, ctypes.c_int
every_order = pytest.mark.parametrize("order", ORDERS[:4], ids=name)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(KERNELS / "faulty.cu", tmp_path_factory.mktemp("emu") / "faulty.so")


@pytest.fixture(scope="module")
def faulty(library: Path) -> Module:
    return Module(library)


def error(module: Module, kernel: str, *arguments: Any, **more: Any) -> str:
    with pytest.raises(DeviceError) as caught:
        module.launch(kernel, *arguments, **more)
    assert caught.value.code == DEVICE_ERROR and f"kernel {kernel}, block (0,0,0)" in str(caught.value)
    return str(caught.value)


def results_of(module: Module, kernel: str, count: int, *, block: int) -> list[list[int]]:
    found = []
    for order in ORDERS:
        out = array(u32, count)
        module.launch(kernel, pointer(out), block=(block,), order=order)
        found.append(list(out))
    return found


# ------------------------------------------------------------------------------------------ lanes that never meet


@every_order
def test_a_caller_outside_of_its_mask(faulty: Module, order: Order) -> None:
    text = error(faulty, "not_in_own_mask", order=order)
    assert "lane 0 " in text and "0xfffffffe, which leaves the lane itself out" in text and "faulty.cu:3)" in text


@every_order
@pytest.mark.parametrize("kernel", ["ended_before", "gone_before"])
def test_a_lane_of_the_mask_has_ended(faulty: Module, kernel: str, order: Order) -> None:
    texts = [error(faulty, kernel, u32(lane), order=order) for lane in (0, 5, 31)]
    for lane, text in zip((0, 5, 31), texts, strict=True):
        assert "__syncwarp" in text and "mask 0xffffffff" in text
        ended = f"lane {lane} (thread ({lane},0,0)): it has ended", f"lanes 0x{1 << lane:08x} of the warp have"
        assert any(words in text for words in ended)
    if order.kind != RANDOM:
        first = texts[0 if order.kind == FORWARD else 2]  # ended before anybody came
        assert "calls __syncwarp" in first and "faulty.cu:" in first


@every_order
@pytest.mark.parametrize(
    "kernel, one, other",
    [
        ("masks_differ", "0x0000ffff: wait at __ballot_sync, mask 0xffffffff", "0xffff0000: wait at __ballot_sync, mask"),
        ("collectives_differ", "0x0000ffff: wait at __ballot_sync, mask", "0xffff0000: wait at __syncwarp, mask"),
        ("barrier_and_collective", "0x00000001: wait at __syncwarp", "0xfffffffe: wait at __syncthreads"),
    ],
)
def test_lanes_that_wait_for_each_other(faulty: Module, order: Order, kernel: str, one: str, other: str) -> None:
    text = error(faulty, kernel, order=order)
    assert "no lane can go on" in text and one in text and other in text and text.count("faulty.cu:") == 2


@every_order
def test_barriers_that_not_all_reach(faulty: Module, order: Order) -> None:
    for thread in (0, 33, 63):
        text = error(faulty, "returned_before_barrier", u32(thread), block=(64,), order=order)
        assert f"(thread ({thread},0,0)): it has returned" in text or "1 lanes of the block have returned" in text
    text = error(faulty, "two_barriers", block=(64,), order=order)
    assert "at another barrier" in text and text.count("wait at __syncthreads (") == 2


@every_order
def test_spins_that_never_end(faulty: Module, order: Order) -> None:
    text = error(faulty, "spin", pointer(array(u32, 1)), order=order)
    assert "lane 9 " in text and "spins" in text and "lanes 0xfffffdff: wait at __syncthreads" in text


def test_waiting_for_a_block_that_has_not_started(faulty: Module) -> None:
    word = array(u32, 1)
    assert "spins" in error(faulty, "wait_for_next_block", pointer(word), grid=(2,), order=Order(FORWARD))
    faulty.launch("wait_for_next_block", pointer(word), grid=(2,), order=Order(REVERSE))


def test_a_spin_is_found_without_a_limit_being_given(faulty: Module) -> None:
    assert "spins" in error(faulty, "spin", pointer(array(u32, 1)), order=Order(spin_limit=0))


# ------------------------------------------------------------------------------------------ results that depend on the order


def test_a_missing_barrier_shows(faulty: Module) -> None:
    right = [63 - i for i in range(64)]
    found = results_of(faulty, "missing_barrier", 64, block=64)
    assert all(r != right for r in found) and found[0] != found[1], "the pattern, and another one in every order"
    assert found[0][0] == 0xA5A5A5A5


def test_counting_on_lanes_in_step_shows(faulty: Module) -> None:
    right = list(range(1, 33))
    found = results_of(faulty, "in_step", 32, block=32)
    assert found[0] != right and any(r != right and r != found[0] for r in found[2:])


def test_a_seed_gives_the_same_order_again(faulty: Module) -> None:
    def run(seed: int) -> tuple[int, ...]:
        out = array(u32, 64)
        faulty.launch("missing_barrier", pointer(out), block=(64,), order=Order(RANDOM, seed))
        return tuple(out)

    assert [run(seed) for seed in range(5)] == [run(seed) for seed in range(5)]
    assert len({run(seed) for seed in range(5)}) > 1


@every_order
def test_a_shuffle_from_outside_of_the_mask_is_undefined(faulty: Module, order: Order) -> None:
    out = array(u32, 32)
    faulty.launch("shuffle_from_outside", pointer(out), order=order)
    assert list(out) == [0] * 16 + [17] * 15 + [0x5A5A5A5A]


def test_memory_is_filled_before_it_is_used(faulty: Module) -> None:
    out = array(u32, 32)
    faulty.launch("reads_shared", pointer(out), grid=(32,), order=Order(shared_pattern=0x11))
    assert list(out) == [0x11111111] * 32, "each block, not only the first"
    faulty.launch("reads_private", pointer(out), order=Order(private_pattern=0xFE))
    assert list(out) == [0xFEFEFEFE] * 32


# ------------------------------------------------------------------------------------------ faults


def test_a_stack_that_is_too_small(faulty: Module) -> None:
    out = array(u32, 1)
    faulty.launch("recursion", u32(50), pointer(out))
    assert out[0] == 51
    text = error(faulty, "recursion", u32(1000), pointer(out))
    assert "lane 3 " in text and "needs more than 524288 bytes of stack" in text
    assert "65536" in error(faulty, "recursion", u32(30), pointer(out), order=Order(stack_bytes=65536))
    faulty.launch("recursion", u32(100), pointer(out))
    assert out[0] == 101, "a launch after a fault, with more stack"


@every_order
def test_memory_and_arithmetic_that_fault(faulty: Module, order: Order) -> None:
    out = array(u32, 32)
    text = error(faulty, "write_at", ctypes.c_void_p(24), order=order)
    assert "lane 2 " in text and "memory that is not there" in text and "0x18" in text
    assert "by zero" in error(faulty, "divide", i32(0), pointer(out), order=order)
    odd = ctypes.c_void_p(ctypes.addressof(out) + 2)
    assert "not a multiple of 4" in error(faulty, "add_at", odd, order=order)
    assert "which is its own memory" in error(faulty, "add_to_its_own", pointer(out), order=order)


def test_limits(faulty: Module) -> None:
    assert "more shared memory" in error(faulty, "too_much_shared")
    assert "width 12" in error(faulty, "shuffle_width")


@pytest.mark.parametrize(
    "more, why",
    [
        ({"block": (1025,)}, "1024 threads"), ({"block": (64, 32)}, "1024 threads"), ({"block": (0,)}, "no threads"),
        ({"block": (1 << 16, 1 << 16)}, "1024 threads"), ({"grid": (0,)}, "no blocks"),
        ({"grid": (1, 1 << 16)}, "too many blocks"),
        ({"shared": 1 << 20}, "dynamic shared memory"), ({"config": Config(version=2)}, "version"),
        ({"config": Config(version=1, order=3)}, "order"), ({"order": Order(stack_bytes=1 << 20)}, "stack"),
    ],
)
def test_launches_that_are_impossible(faulty: Module, more: dict[str, Any], why: str) -> None:
    with pytest.raises(DeviceError, match=why) as caught:
        faulty.launch("not_in_own_mask", **more)
    assert caught.value.code == DEVICE_ERROR


def test_an_unknown_kernel_and_a_small_buffer(faulty: Module) -> None:
    with pytest.raises(DeviceError, match="no kernel nowhere") as caught:
        faulty.launch("nowhere")
    assert caught.value.code == UNKNOWN_KERNEL
    with pytest.raises(DeviceError) as caught:
        faulty.launch("masks_differ", error_size=20)
    assert str(caught.value) == "emulated device: ke"


def test_faults_of_others_go_where_they_went(library: Path) -> None:
    """A fault outside of kernels ends the process, also after one that was caught."""
    script = (
        "import ctypes, runpy, sys\n"
        f"emu = runpy.run_path({emu_module.__file__!r}, run_name='emu_module')\n"
        "try: emu['main'](sys.argv[1], 'divide', 'u:0', 'at:0')\n"
        "except Exception as error: print(error, flush=True)\n"
        "ctypes.string_at(8)\n"
    )
    done = subprocess.run([sys.executable, "-X", "faulthandler", "-c", script, str(library)], capture_output=True, text=True)
    assert done.returncode == -11 and "divides an integer by zero" in done.stdout
    assert "Segmentation fault" in done.stderr, "Python's own handler was called"


# ------------------------------------------------------------------------------------------ the compiler's part


@pytest.mark.parametrize(
    "body",
    [
        "if (__activemask()) return;", "__shared__ int x; x = 1;", "__nothing_like_it(1);", "__shfl(1, 0);",
        "unsigned long word = 0; atomicAdd(&word, 1ul);", "char word = 0; atomicExch(&word, char(1));",
    ],
)
def test_what_is_not_provided_does_not_compile(tmp_path: Path, body: str) -> None:
    source = tmp_path / "kernel.cu"
    source.write_text(f'extern "C" __global__ void f() {{ {body} }}\nHD_KERNEL(f)\n')
    done = subprocess.run(command(source, tmp_path / "x.so", "-fsyntax-only"), capture_output=True, text=True)
    assert done.returncode != 0 and "kernel.cu:1:" in done.stderr


def test_the_types_of_an_exported_kernel_are_checked(tmp_path: Path) -> None:
    source = tmp_path / "kernel.cu"
    source.write_text('extern "C" __global__ void f(int) {}\nHD_KERNEL(f, long)\n')
    assert subprocess.run(command(source, tmp_path / "x.so", "-fsyntax-only"), capture_output=True).returncode != 0


# ------------------------------------------------------------------------------------------ AddressSanitizer


@pytest.fixture(scope="module")
def sanitized(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("emu") / "faulty-asan.so"
    return build(KERNELS / "faulty.cu", target, "-g", "-fno-omit-frame-pointer", "-fsanitize=address")


@pytest.mark.parametrize(
    "kernel, arguments, found",
    [
        ("beyond_shared", ["u:20"], "heap-buffer-overflow"), ("beyond_global", ["at:64"], "heap-buffer-overflow"),
        ("beyond_private", ["u:0", "at:0"], "stack-buffer-overflow"), ("reads_private", ["at:-1"], "heap-buffer-overflow"),
        ("beyond_shared", ["u:19"], ""), ("gone_before", ["u:5"], "lane 5 (thread"),
        ("recursion", ["u:5000", "at:0"], "bytes of stack"),
    ],
)
def test_the_sanitizer_sees_kernels(sanitized: Path, kernel: str, arguments: list[str], found: str) -> None:
    words = [sys.executable, emu_module.__file__, str(sanitized), kernel, *arguments]
    environment = {**os.environ, **sanitizer_preload(), "ASAN_OPTIONS": "detect_leaks=0"}
    done = subprocess.run(words, capture_output=True, text=True, env=environment)
    assert (done.returncode == 0) == (found == "") and found in done.stderr
    if "overflow" in found:
        assert "faulty.cu" in done.stderr and "emulated device: kernel" not in done.stderr
