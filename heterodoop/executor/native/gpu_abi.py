"""The C ABI of map tasks on a device (runtime/host/task/gpu_api.h) as ctypes structures, and the check that both agree.

Not here: which kernels and what options (gpu_task.py, emulated.py), tasks on the CPU (abi.py).
"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char_p, c_int32, c_uint32, c_uint64, c_void_p

from ...errors import ToolError
from ...resources import BUILD_NATIVE
from .abi import Command, MapBlock, ProgressBlock, ResultBlock

SINKS = {"BlockCursor": 0, "ThreadArea": 1}
RADIX_SORT, MERGE_SORT = 0, 1  # hd_sort
HASH_FOLDS = {"sum": 1, "min": 2, "max": 3, "and": 4, "or": 5, "xor": 6}  # hd_hash_fold
SCAN_AREAS, ONE_PER_WARP, MAP_FOLD = 1, 2, 4  # hd_kernel_flags
TEXELS = {  # hd_texel: kind and bytes
    "": 0, "int8": 0x101, "int16": 0x102, "int32": 0x104, "int32x2": 0x108, "uint8": 0x201, "uint16": 0x202,
    "uint32": 0x204, "float32": 0x304,
}
ORDERS = ("forward", "reverse", "random")
ERROR_BYTES = 2048


class Blob(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("size", c_uint64)]


class RelocationBlock(ctypes.Structure):
    _fields_ = [("object", c_uint32), ("texture", c_uint32), ("at", c_uint64), ("delta", c_uint64)]


class KernelBlock(ctypes.Structure):
    _fields_ = [
        ("module", c_char_p), ("entry", c_char_p), ("threads", c_uint32), ("blocks", c_uint32), ("shared", Blob),
        ("objects", POINTER(Blob)), ("n_objects", c_uint64), ("relocations", POINTER(RelocationBlock)),
        ("n_relocations", c_uint64), ("kvpairs", c_uint64), ("sink", c_uint32), ("key_bytes", c_uint32),
        ("value_bytes", c_uint32), ("flags", c_uint32), ("stack_bytes", c_uint64), ("totals", Blob), ("epilogue", Command),
    ]


class OptionsBlock(ctypes.Structure):
    _fields_ = [
        ("sub_split_bytes", c_uint64), ("arena_bytes", c_uint64), ("pairs", c_uint64), ("fold", c_uint32),
        ("regroup", c_uint32), ("emu_order", c_uint32), ("emu_pattern", c_uint32), ("emu_seed", c_uint64),
        ("emu_memory", c_uint64), ("runtime_module", c_char_p), ("sort_kind", c_uint32), ("record_order", c_uint32),
        ("hash_fold", c_uint32), ("fold_places", c_uint32),
        ("ingest_threads", c_uint32), ("workers", c_uint32), ("ingest_piece", c_uint64),
        ("sessions", c_uint64), ("ordered", c_uint32), ("ordered_values", c_uint32), ("ordered_states", c_uint32),
        ("write_threads", c_uint32), ("write_piece", c_uint64), ("keep_percent", c_uint32),
        ("memory_mib", c_uint32),
    ]


class StatsBlock(ctypes.Structure):
    _fields_ = [
        ("sub_splits", c_uint64), ("retries", c_uint64), ("halvings", c_uint64), ("combine_rounds", c_uint64),
        ("sort_levels", c_uint64), ("merge_passes", c_uint64), ("bytes_in", c_uint64), ("bytes_out", c_uint64),
        ("map_folded", c_uint64), ("read_bytes", c_uint64), ("kept_bytes", c_uint64), ("alone", c_uint64),
    ]


STATS = tuple(field[0] for field in StatsBlock._fields_)
_SIZED = (Blob, RelocationBlock, KernelBlock, OptionsBlock, StatsBlock)


def declare(lib: ctypes.CDLL) -> None:
    """Type the library's device functions. Raises ToolError HD512 where it has none, or others."""
    try:
        sizes = (c_uint64 * len(_SIZED))()
        lib.hd_gpu_abi_sizes(sizes)
    except AttributeError as error:
        raise _unfit(str(error)) from None
    for block, size in zip(_SIZED, sizes, strict=True):
        if ctypes.sizeof(block) != size:
            raise _unfit(f"{block.__name__} has {size} bytes there, {ctypes.sizeof(block)} here")
    lib.hd_device_open.argtypes = [c_char_p, c_int32, c_char_p, c_char_p, c_uint64]
    lib.hd_device_open.restype = c_void_p
    lib.hd_device_close.argtypes = [c_void_p]
    lib.hd_device_close.restype = None
    lib.hd_device_probe.argtypes = [c_void_p, c_char_p, c_uint64]
    lib.hd_device_probe.restype = c_int32
    lib.hd_device_stats.argtypes = [c_void_p, POINTER(StatsBlock)]
    lib.hd_device_stats.restype = None
    lib.hd_gpu_map_task.argtypes = [
        c_void_p, POINTER(MapBlock), POINTER(KernelBlock), POINTER(KernelBlock), POINTER(OptionsBlock),
        POINTER(ProgressBlock), POINTER(ResultBlock),
    ]
    lib.hd_gpu_map_task.restype = c_int32


def _unfit(why: str) -> ToolError:
    message = f"the native runtime does not fit this HeteroDoop's device calls: {why}"
    return ToolError(message, code="HD512", help=f"run: {BUILD_NATIVE}")
