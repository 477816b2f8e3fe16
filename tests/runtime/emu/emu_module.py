"""Modules of the emulated device for its own tests: building them, launching their kernels. Not a test module."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
KERNELS = Path(__file__).parent
FLAGS = ("-std=c++17", "-x", "c++", "-O1", "-fwrapv", "-fno-strict-aliasing", "-ffp-contract=off", "-fPIC", "-shared",
         "-Wall", "-Wextra", "-Werror")
FORWARD, REVERSE, RANDOM = 0, 1, 2
OK, UNKNOWN_KERNEL, DEVICE_ERROR = 0, 1, 2


class Config(ctypes.Structure):
    """hd_emu_config of runtime/emu/launch.h."""

    _fields_ = [
        ("version", ctypes.c_uint32), ("order", ctypes.c_uint32), ("shared_pattern", ctypes.c_uint32),
        ("private_pattern", ctypes.c_uint32), ("seed", ctypes.c_uint64), ("stack_bytes", ctypes.c_uint64),
        ("spin_limit", ctypes.c_uint64),
    ]


@dataclass(frozen=True)
class Order:
    """How lanes take turns, and what memory holds before it is written."""

    kind: int = FORWARD
    seed: int = 0
    shared_pattern: int = 0xA5
    private_pattern: int = 0x5A
    spin_limit: int = 1 << 16
    stack_bytes: int = 0

    def config(self) -> Config:
        return Config(1, self.kind, self.shared_pattern, self.private_pattern, self.seed, self.stack_bytes, self.spin_limit)


ORDERS = (Order(FORWARD), Order(REVERSE), *(Order(RANDOM, seed) for seed in range(4)))


def name(order: Order) -> str:
    return f"{('forward', 'reverse', 'random')[order.kind]}{order.seed}"


def command(source: Path, target: Path, *more: str) -> list[str]:
    emulator = ROOT / "runtime" / "emu" / "cuda_emu.h"
    include = ["-include", str(emulator), "-I", str(ROOT / "runtime" / "device")]
    return ["g++", *FLAGS, *more, *include, str(source), "-o", str(target)]


def build(source: Path, target: Path, *more: str) -> Path:
    result = subprocess.run(command(source, target, *more), capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return target


class DeviceError(Exception):
    """A launch failed; `code` is hd_emu_launch's."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


class Module:
    """A library of kernels."""

    def __init__(self, library: Path) -> None:
        self._launch = ctypes.CDLL(str(library)).hd_emu_launch

    def launch(self, kernel: str, *arguments: Any, grid: Sequence[int] = (1,), block: Sequence[int] = (32,), shared: int = 0,
               order: Order = ORDERS[0], config: Config | None = None, error_size: int = 4096) -> None:
        """`arguments`: ctypes values, passed by their addresses. Raises DeviceError."""
        text = ctypes.create_string_buffer(error_size)
        addresses = (ctypes.c_void_p * max(1, len(arguments)))(*[ctypes.addressof(a) for a in arguments])
        code = self._launch(
            ctypes.byref(config or order.config()), kernel.encode(), _three(grid), _three(block), ctypes.c_uint64(shared),
            addresses, text, ctypes.c_uint64(error_size),
        )
        if code != OK:
            raise DeviceError(code, text.value.decode())


def _three(sizes: Sequence[int]) -> Any:
    return (ctypes.c_uint32 * 3)(*sizes, *[1] * (3 - len(sizes)))


def array(kind: Any, values: Sequence[Any] | int) -> Any:
    """Values as C has them; or that many zeros."""
    return (kind * values)() if isinstance(values, int) else (kind * len(values))(*values)


def pointer(to: Any) -> Any:
    """A kernel's pointer argument. The caller keeps the array."""
    return ctypes.c_void_p(ctypes.addressof(to))


def main(library: str, kernel: str, *words: str) -> None:
    """Launches a kernel on one warp in a process of its own: arguments `u:NUMBER`, `at:OFFSET` (into 64 bytes of malloc)."""
    malloc = ctypes.CDLL(None).malloc
    malloc.restype, malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    arguments: list[Any] = []
    for word in words:
        kind, _, number = word.partition(":")
        arguments.append(ctypes.c_void_p(malloc(64) + int(number)) if kind == "at" else ctypes.c_uint(int(number)))
    Module(Path(library)).launch(kernel, *arguments)


if __name__ == "__main__":
    main(*sys.argv[1:])
