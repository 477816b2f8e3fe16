"""Launching kernels of an emulated module from Python, as runtime/emu/launch.h says. Not a test module."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heterodoop.toolchain.emulated import emulated_module

VERSION = 1


@dataclass(frozen=True)
class Order:
    """How lanes take turns, and what uninitialised memory holds."""

    name: str
    kind: int
    pattern: int
    seed: int = 0

    def __str__(self) -> str:
        return self.name


ORDERS = (Order("forward", 0, 0x00), Order("reverse", 1, 0xFF), Order("random", 2, 0xA5, seed=20))


class _Config(ctypes.Structure):
    _fields_ = [
        ("version", ctypes.c_uint32), ("order", ctypes.c_uint32), ("shared_pattern", ctypes.c_uint32),
        ("private_pattern", ctypes.c_uint32), ("seed", ctypes.c_uint64), ("stack_bytes", ctypes.c_uint64),
        ("spin_limit", ctypes.c_uint64),
    ]


def load(source: Path) -> ctypes.CDLL:
    return ctypes.CDLL(str(emulated_module(source)))


def launch(library: ctypes.CDLL, kernel: str, arguments: Sequence[ctypes.Structure], *, blocks: int, threads: int,
           order: Order) -> None:
    config = _Config(VERSION, order.kind, order.pattern, order.pattern, order.seed, 0, 0)
    addresses = (ctypes.c_void_p * len(arguments))(*[ctypes.addressof(a) for a in arguments])
    error = ctypes.create_string_buffer(1000)
    three = ctypes.c_uint32 * 3
    status = library.hd_emu_launch(ctypes.byref(config), kernel.encode(), three(blocks, 1, 1), three(threads, 1, 1),
                                   ctypes.c_uint64(0), addresses, error, ctypes.c_uint64(len(error)))
    assert status == 0, error.value.decode()
