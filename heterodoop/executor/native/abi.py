"""The C ABI of the native runtime (runtime/host/task/api.h) as ctypes structures, and the check that both are the same.

Not here: what a task is (runtime.py) and where the library lies (resources.py).
"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char, c_char_p, c_double, c_int32, c_uint8, c_uint32, c_uint64, c_void_p
from pathlib import Path

from ...errors import ToolError
from ...resources import BUILD_NATIVE

ABI_VERSION = 15
N_COUNTERS = 14
N_STAGES = 19
TO_END = 2**64 - 1
REGROUP = 1
MOST_VALUES, MOST_BETWEEN = 8, 4  # numbers of a value; bytes between two of them
ACCEPT_EXIT_CODE = 2
HOST_FOLDS = 4


class Command(ctypes.Structure):
    _fields_ = [("argv", POINTER(c_char_p)), ("env", POINTER(c_char_p)), ("cwd", c_char_p), ("memory", c_uint64)]


class PairCheck(ctypes.Structure):
    _fields_ = [
        ("key_kind", c_int32), ("n_values", c_uint32), ("value_kinds", c_uint8 * MOST_VALUES),
        ("between_sizes", c_uint8 * MOST_VALUES), ("between", c_char * MOST_BETWEEN * MOST_VALUES), ("key_max", c_uint64),
        ("none", c_uint64), ("has_none", c_uint64),
    ]


class Text(ctypes.Structure):
    _fields_ = [("bytes", c_char_p), ("size", c_uint64)]


class KeyRangeBlock(ctypes.Structure):
    _fields_ = [
        ("first_field", c_uint32), ("first_char", c_uint32), ("last_field", c_uint32), ("last_char", c_uint32),
        ("numeric", c_uint32), ("reverse", c_uint32),
    ]


class PairFormBlock(ctypes.Structure):
    _fields_ = [
        ("map_out", Text), ("reduce_out", Text), ("reduce_in", Text), ("out", Text), ("map_fields", c_uint32),
        ("reduce_fields", c_uint32), ("by_fields", c_uint32), ("ordered", c_uint32), ("key_fields", Text),
        ("partition", POINTER(KeyRangeBlock)), ("order", POINTER(KeyRangeBlock)), ("n_partition", c_uint64),
        ("n_order", c_uint64),
    ]


PairFormPointer = POINTER(PairFormBlock)


class ProgressBlock(ctypes.Structure):
    _fields_ = [
        ("bytes_in", c_uint64), ("records_in", c_uint64), ("pairs_out", c_uint64), ("bytes_out", c_uint64),
        ("phase", c_int32), ("cancel", c_int32),
    ]


class MapBlock(ctypes.Structure):
    _fields_ = [
        ("map", Command), ("combine", Command), ("input_path", c_char_p), ("input_fd", c_int32), ("linger_ms", c_uint32),
        ("timeout_ms", c_uint32),
        ("start", c_uint64), ("length", c_uint64), ("delimiter", c_char_p), ("delimiter_len", c_uint64),
        ("reducers", c_uint32), ("flags", c_uint32), ("sort_bytes", c_uint64), ("work_dir", c_char_p),
        ("out_path", c_char_p), ("index_path", c_char_p), ("log_path", c_char_p), ("reporter_prefix", c_char_p),
        ("check", PairCheck), ("line_max", c_uint64), ("skip_from", c_uint64),
        ("watch_from", c_uint64), ("combine_watch_from", c_uint64), ("host", Command), ("live_ins_fd", c_int32),
        ("epilogue", Command), ("form", PairFormPointer),
    ]


class SegmentBlock(ctypes.Structure):
    _fields_ = [("data_path", c_char_p), ("start", c_uint64), ("raw_length", c_uint64), ("part_length", c_uint64)]


class ReduceBlock(ctypes.Structure):
    _fields_ = [
        ("reduce", Command), ("segments", POINTER(SegmentBlock)), ("n_segments", c_uint64), ("partition", c_uint32),
        ("flags", c_uint32), ("merge_bytes", c_uint64), ("linger_ms", c_uint32), ("timeout_ms", c_uint32),
        ("work_dir", c_char_p), ("out_path", c_char_p), ("log_path", c_char_p), ("reporter_prefix", c_char_p),
        ("line_max", c_uint64), ("watch_from", c_uint64), ("host", Command), ("threads", c_uint64),
        ("form", PairFormPointer),
    ]


class PrologueBlock(ctypes.Structure):
    _fields_ = [
        ("prologue", Command), ("data_fd", c_int32), ("linger_ms", c_uint32), ("timeout_ms", c_uint32), ("flags", c_uint32),
        ("log_path", c_char_p), ("reporter_prefix", c_char_p),
    ]


class ResultBlock(ctypes.Structure):
    _fields_ = [
        ("status", c_int32), ("exit_code", c_int32), ("signal", c_int32), ("error_number", c_int32),
        ("input_read", c_uint64), ("bad_record", c_uint64),
        ("counters", c_uint64 * N_COUNTERS), ("seconds", c_double * N_STAGES), ("message", c_char * 2048),
        ("user_counters", c_char_p), ("status_text", c_char_p), ("stderr_tail", c_char_p),
    ]


_SIZED = (Command, PairCheck, ProgressBlock, MapBlock, SegmentBlock, ReduceBlock, ResultBlock, KeyRangeBlock, PairFormBlock)


def open_library(path: Path) -> ctypes.CDLL:
    """The library with its functions typed; calls through it let other Python threads run.

    Raises ToolError HD512 where the file is no such library, or one of another version of the ABI.
    """
    try:
        lib = ctypes.CDLL(str(path), use_errno=False)
        lib.hd_abi_version.restype = c_int32
        version = lib.hd_abi_version()
    except (OSError, AttributeError) as error:
        raise _unfit(path, str(error)) from None
    if version != ABI_VERSION:
        raise _unfit(path, f"it has version {version} of the interface, this HeteroDoop needs {ABI_VERSION}")
    sizes = (c_uint64 * len(_SIZED))()
    lib.hd_abi_sizes(sizes)
    for block, size in zip(_SIZED, sizes, strict=True):
        if ctypes.sizeof(block) != size:
            raise _unfit(path, f"{block.__name__} has {size} bytes there, {ctypes.sizeof(block)} here")
    _declare(lib)
    return lib


def _declare(lib: ctypes.CDLL) -> None:
    calls = (("hd_map_task", MapBlock), ("hd_reduce_task", ReduceBlock), ("hd_prologue", PrologueBlock))
    for name, block in calls:
        function = getattr(lib, name)
        function.argtypes = [POINTER(block), POINTER(ProgressBlock), POINTER(ResultBlock)]
        function.restype = c_int32
    lib.hd_check_map_output.argtypes = [
        c_char_p, c_char_p, c_uint32, POINTER(c_uint64), POINTER(ProgressBlock), POINTER(ResultBlock),
    ]
    lib.hd_check_map_output.restype = c_int32
    lib.hd_result_free.argtypes = [POINTER(ResultBlock)]
    lib.hd_result_free.restype = None
    for name in ("hd_counter_name", "hd_stage_name"):
        getattr(lib, name).argtypes = [c_int32]
        getattr(lib, name).restype = c_char_p
    lib.hd_read_records.argtypes = [
        c_char_p, c_int32, c_uint64, c_uint64, c_char_p, c_uint64, c_uint64, c_uint64, c_uint64, POINTER(c_void_p),
        POINTER(c_uint64), POINTER(c_uint64), POINTER(ResultBlock),
    ]
    lib.hd_read_records.restype = c_int32
    lib.hd_free.argtypes = [c_void_p]
    lib.hd_free.restype = None


def _unfit(path: Path, why: str) -> ToolError:
    message = f"{path} is not the native runtime of this HeteroDoop: {why}"
    return ToolError(message, code="HD512", help=f"run: {BUILD_NATIVE}")


def text_of(data: bytes | None) -> str:
    """A string of a result; what is no UTF-8 becomes escapes."""
    return (data or b"").decode("utf-8", "backslashreplace")


def user_counters_of(data: bytes | None) -> dict[tuple[str, str], int]:
    """(group, counter) -> sum, of `ResultBlock.user_counters`."""
    counters = {}
    for line in (data or b"").split(b"\n")[:-1]:
        group, name, value = line.split(b"\t")
        counters[_unescape(group), _unescape(name)] = int(value)
    return counters


def _unescape(name: bytes) -> str:
    parts = name.split(rb"\\")
    return text_of(b"\\".join(part.replace(rb"\t", b"\t") for part in parts))
