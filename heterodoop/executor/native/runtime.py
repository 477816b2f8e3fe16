"""Map and reduce tasks on the CPU, run by the native runtime: Python says what, C++ does it.

A task reads its input, runs the filters and writes its output in one call; no Python sees a record. The calls block
and let other threads run. A filter dies with the thread that called (the kernel counts threads there), so call from
threads that outlive their tasks.

Not here: which tasks there are, where their files go, what happens after a failure (engine), GPU tasks.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from pathlib import Path
from typing import Any

from ...errors import HeteroDoopError
from ...manifest import PairReader
from ...resources import native_library
from ...values import dataclass
from . import abi as abi
from .pair_form import PairForm, form_block
from .progress import Phase as Phase
from .progress import Progress as Progress

AnyPath = str | bytes | os.PathLike[str] | os.PathLike[bytes]
_KEY_KINDS = {"token": 1, "field": 2, "int32": 3, "int64": 4, "uint32": 5, "uint64": 6}
_VALUE_KINDS = {"int32": 1, "int64": 2, "uint32": 3, "uint64": 4}


class TaskStatus(IntEnum):
    """How a task ended (enum hd_status in runtime/host/task/api.h)."""

    OK = 0
    FILTER_FAILED = 1
    SPAWN_FAILED = 2
    COMBINER_FAILED = 3
    COMBINER_DISORDER = 4
    IO_ERROR = 5
    CANCELLED = 6
    RETRY_NO_FOLD = 7  # run the task again with regroup=False
    BAD_INPUT = 8
    INTERNAL = 9
    RUN_ON_CPU = 10  # a device's answer: it cannot do this task exactly, `message` says why
    DEVICE_FAILED = 11  # the device itself, which must be closed
    INPUT_LINE = 12
    OUTPUT_LINE = 13
    TIMED_OUT = 14  # a filter was silent for too long
    HOST_LEFT = 15  # the host kernel gave up: run the task again without it; `message` says why
    HOST_SILENT = 16  # the same, because it was silent for too long
    KEY_ORDER = 17  # keys that the job's comparator does not put into an order
    MEMORY = 18  # a filter used more memory than it may
    DEVICE_LOST = 100  # never of the native runtime: the device is gone, and not for anything that the task did


@dataclass(frozen=True)
class FilterCommand:
    """A filter: argv[0] is a path (PATH is not searched), env its whole environment as NAME=VALUE, cwd "" = ours.

    memory  bytes that it and what it starts may have in use; 0 = any.
    """

    argv: Sequence[AnyPath]
    env: Sequence[AnyPath] = ()
    cwd: AnyPath = ""
    memory: int = 0


@dataclass(frozen=True)
class MapSpec:
    """A map task.

    input             a file, of which the split is bytes [start, start + length) (length None: to its end), or the
                      descriptor of a pipe that is read to its end and stays open.
    delimiter         record delimiter; b"" = Hadoop's three line ends.
    reducers          partitions of the map output (IFile at out_path, index at index_path); 0 = map-only, out_path is text.
    regroup           the combiner may run per spill and again at the merge (manifest.Fold.regroup).
    accept_exit_code  any end of a filter is a success (stream.non.zero.exit.is.failure=false).
    sort_bytes        memory of the collector; beyond it, spills go to work_dir.
    check             how the combiner reads pairs; None = not checked.
    linger_seconds    how long a process left behind by a filter may keep its stdout open in silence before the task fails.
    line_max          bytes of the longest record and of the longest line that a filter may print; 0 = no limit.
    skip_from         records of so many bytes, their ends included, are passed over; 0 = none is.
    watch_from        bytes of its stdin from which the filter gets records one by one; None = never.
    combine_watch_from  the same of the combiner: of what it reads in all its runs.
    timeout_seconds   after so many in which a filter moved no byte it is killed; 0 = never.
    host              a program that does the work of `map` instead of it; None = there is none. host_folds: that of
                      `combine`, too; with `regroup` it may then print a key more than once, and the combiner combines its
                      lines.
    live_ins          descriptor of the file that it reads its live-ins from (host_kernel.py); None = there is none.
    epilogue          program that runs behind it, with what its records gathered as its stdin; None = there is none.
    form              of the pairs, where it is another than Hadoop's default; only without `host` and on no device.
    """

    map: FilterCommand
    input: AnyPath | int
    out_path: AnyPath
    index_path: AnyPath = ""
    combine: FilterCommand | None = None
    start: int = 0
    length: int | None = None
    delimiter: bytes = b""
    reducers: int = 1
    regroup: bool = False
    accept_exit_code: bool = False
    sort_bytes: int = 100 << 20
    work_dir: AnyPath = ""
    log_path: AnyPath = ""
    reporter_prefix: str = "reporter:"
    check: PairReader | None = None
    linger_seconds: float = 10.0
    line_max: int = 0
    skip_from: int = 0
    watch_from: int | None = None
    combine_watch_from: int | None = None
    timeout_seconds: float = 0.0
    host: FilterCommand | None = None
    host_folds: bool = True
    live_ins: int | None = None
    epilogue: FilterCommand | None = None
    form: PairForm | None = None


@dataclass(frozen=True)
class Segment:
    """One partition's part of a map output file (one row of its index, IndexRecord): bytes of the file."""

    path: AnyPath
    start: int
    raw_length: int
    part_length: int

    @property
    def empty(self) -> bool:
        return self.raw_length <= 2  # the end mark alone


@dataclass(frozen=True)
class ReduceSpec:
    """A reduce task: `segments` in map task order (which decides among equal keys) -> text at out_path.

    reduce None = identity. merge_bytes: memory for the merge; with more segments than that allows, runs go to work_dir.
    line_max, watch_from: as in MapSpec.
    host     a program that does what merge and `reduce` do, instead of them, by up to `threads` threads; None = there is
             none. Only with segments, none of them empty.
    form     as of the map tasks that made the segments; only without `host`.
    """

    reduce: FilterCommand | None
    segments: Sequence[Segment]
    out_path: AnyPath
    partition: int = 0
    merge_bytes: int = 64 << 20
    accept_exit_code: bool = False
    work_dir: AnyPath = ""
    log_path: AnyPath = ""
    reporter_prefix: str = "reporter:"
    linger_seconds: float = 10.0
    line_max: int = 0
    watch_from: int | None = None
    timeout_seconds: float = 0.0
    host: FilterCommand | None = None
    threads: int = 1
    form: PairForm | None = None


@dataclass(frozen=True)
class TaskResult:
    """What a task did. Text from filters holds escapes (\\xff) where its bytes are no UTF-8.

    exit_code, signal, error_number   None where they do not apply.
    counters       Hadoop's task counters by name, all present.
    seconds        by stage (enum hd_stage says what each measures); "total" is wall clock.
    user_counters  (group, counter) -> sum, from `reporter:counter:` lines.
    stderr_tail    the last 20 lines of stderr, at most 4 KiB.
    input_read     bytes of its stdin that a filter which failed can have read.
    bad_record     the record of its split, from 1, that a map filter failed on; 0 where it was not watched there.
    """

    status: TaskStatus
    exit_code: int | None
    signal: int | None
    error_number: int | None
    message: str
    counters: dict[str, int]
    seconds: dict[str, float]
    user_counters: dict[tuple[str, str], int]
    status_text: str
    stderr_tail: str
    input_read: int = 0
    bad_record: int = 0

    @property
    def ok(self) -> bool:
        return self.status is TaskStatus.OK


class Native:
    """The loaded library. Its calls raise only for arguments that cannot be passed on; failures are in the result."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.library = library
        self._counters = [library.hd_counter_name(i).decode() for i in range(abi.N_COUNTERS)]
        self._stages = [library.hd_stage_name(i).decode() for i in range(abi.N_STAGES)]

    @classmethod
    def load(cls, path: Path | None = None) -> Native:
        """Load the library at `path`, or the installation's. Raises ToolError HD511 (missing), HD512 (another version)."""
        return cls(abi.open_library(path or native_library()))

    def map_task(self, spec: MapSpec, progress: Progress | None = None) -> TaskResult:
        """Run one map task to its end. Raises ValueError for a NUL byte in a path or argument."""
        block = map_block(spec)
        return self.call(lambda seen, result: self.library.hd_map_task(ctypes.byref(block), seen, result), progress)

    def reduce_task(self, spec: ReduceSpec, progress: Progress | None = None) -> TaskResult:
        """Run one reduce task to its end. Raises ValueError for a NUL byte in a path or argument."""
        block = _reduce_block(spec)
        return self.call(lambda seen, result: self.library.hd_reduce_task(ctypes.byref(block), seen, result), progress)

    def prologue(
        self, command: FilterCommand, data_fd: int, progress: Progress | None = None, timeout_seconds: float = 0.0,
    ) -> TaskResult:
        """Run a mapper's prologue, which writes to `data_fd` as its descriptor 3 and must leave stdout and stderr alone.

        Raises ValueError for a NUL byte in a path or argument.
        """
        timeout = _timeout(timeout_seconds)
        block = abi.PrologueBlock(prologue=command_block(command), data_fd=data_fd, timeout_ms=timeout)
        return self.call(lambda seen, result: self.library.hd_prologue(ctypes.byref(block), seen, result), progress)

    def check_map_output(self, data: AnyPath, index: AnyPath, reducers: int, progress: Progress | None = None) -> int:
        """Read a finished map output and check all that its readers rely on: lengths, end marks, checksums, the order of
        keys and their partitions. Returns the number of pairs.

        Raises HeteroDoopError HD405: what is wrong with it, or it was stopped.
        """
        pairs = ctypes.c_uint64()
        paths = c_bytes(data), c_bytes(index)
        check = self.library.hd_check_map_output
        result = self.call(lambda seen, into: check(*paths, reducers, ctypes.byref(pairs), seen, into), progress)
        if not result.ok:
            raise HeteroDoopError(result.message, code="HD405")
        return pairs.value

    def read_records(
        self, input: AnyPath | int, start: int = 0, length: int | None = None, delimiter: bytes = b"", chunk: int = 0,
        line_max: int = 0, skip_from: int = 0,
    ) -> tuple[bytes, int]:
        """The bytes that a split puts on its filter's stdin, and its number of records; `chunk` bytes per read, 0 = default.

        Raises OSError where the input cannot be read.
        """
        data, size, records = ctypes.c_void_p(), ctypes.c_uint64(), ctypes.c_uint64()
        result = abi.ResultBlock()
        path, fd = _input(input)
        end = abi.TO_END if length is None else length
        status = self.library.hd_read_records(path, fd, start, end, delimiter, len(delimiter), chunk, line_max, skip_from,
                                              ctypes.byref(data), ctypes.byref(size), ctypes.byref(records),
                                              ctypes.byref(result))
        if status:
            raise OSError(result.error_number, abi.text_of(result.message))
        try:
            return ctypes.string_at(data.value or 0, size.value), records.value
        finally:
            self.library.hd_free(data)

    def call(self, function: Callable[[Any, Any], object], progress: Progress | None) -> TaskResult:
        """What `function(pointer to hd_progress, pointer to hd_result)`, a call of the library, says of its task."""
        result = abi.ResultBlock()
        seen = progress or Progress()
        function(ctypes.byref(seen._block), ctypes.byref(result))
        try:
            return self._result(result)
        finally:
            self.library.hd_result_free(ctypes.byref(result))

    def _result(self, block: abi.ResultBlock) -> TaskResult:
        return TaskResult(
            status=TaskStatus(block.status),
            exit_code=block.exit_code if block.exit_code >= 0 else None,
            signal=block.signal or None,
            error_number=block.error_number or None,
            message=abi.text_of(block.message),
            counters=dict(zip(self._counters, block.counters, strict=True)),
            seconds=dict(zip(self._stages, block.seconds, strict=True)),
            user_counters=abi.user_counters_of(block.user_counters),
            status_text=abi.text_of(block.status_text),
            stderr_tail=abi.text_of(block.stderr_tail),
            input_read=block.input_read,
            bad_record=block.bad_record,
        )


def map_block(spec: MapSpec) -> abi.MapBlock:
    """The C structure of a map task; it holds everything that it points to."""
    path, fd = _input(spec.input)
    combine, host, epilogue = (
        command_block(one) if one else abi.Command() for one in (spec.combine, spec.host, spec.epilogue))
    return abi.MapBlock(
        map=command_block(spec.map), combine=combine, input_path=path, input_fd=fd,
        linger_ms=_milliseconds(spec.linger_seconds), timeout_ms=_timeout(spec.timeout_seconds),
        start=spec.start, length=abi.TO_END if spec.length is None else spec.length,
        delimiter=spec.delimiter, delimiter_len=len(spec.delimiter), reducers=spec.reducers,
        flags=_flags(spec.regroup, spec.accept_exit_code) | (abi.HOST_FOLDS if spec.host and spec.host_folds else 0),
        sort_bytes=spec.sort_bytes, work_dir=c_bytes(spec.work_dir),
        out_path=c_bytes(spec.out_path), index_path=c_bytes(spec.index_path), log_path=c_bytes(spec.log_path),
        reporter_prefix=c_bytes(spec.reporter_prefix), check=_check(spec.check), line_max=spec.line_max,
        skip_from=spec.skip_from, watch_from=_from(spec.watch_from), combine_watch_from=_from(spec.combine_watch_from),
        host=host, live_ins_fd=-1 if spec.live_ins is None else spec.live_ins, epilogue=epilogue,
        form=form_block(spec.form),
    )


def _reduce_block(spec: ReduceSpec) -> abi.ReduceBlock:
    rows = [abi.SegmentBlock(c_bytes(s.path), s.start, s.raw_length, s.part_length) for s in spec.segments]
    command = command_block(spec.reduce) if spec.reduce else abi.Command()
    return abi.ReduceBlock(
        reduce=command, segments=(abi.SegmentBlock * len(rows))(*rows), n_segments=len(rows), partition=spec.partition,
        flags=_flags(False, spec.accept_exit_code), merge_bytes=spec.merge_bytes,
        linger_ms=_milliseconds(spec.linger_seconds), timeout_ms=_timeout(spec.timeout_seconds),
        work_dir=c_bytes(spec.work_dir), out_path=c_bytes(spec.out_path),
        log_path=c_bytes(spec.log_path), reporter_prefix=c_bytes(spec.reporter_prefix), line_max=spec.line_max,
        watch_from=_from(spec.watch_from), host=command_block(spec.host) if spec.host else abi.Command(),
        threads=spec.threads, form=form_block(spec.form),
    )


def _from(place: int | None) -> int:
    return abi.TO_END if place is None else place


def command_block(command: FilterCommand) -> abi.Command:
    return abi.Command(
        argv=_strings(command.argv), env=_strings(command.env), cwd=c_bytes(command.cwd), memory=command.memory)


def _strings(items: Iterable[AnyPath]) -> Any:
    values = [*map(c_bytes, items), None]
    return (ctypes.c_char_p * len(values))(*values)


def _check(reader: PairReader | None) -> abi.PairCheck:
    if reader is None:
        return abi.PairCheck()
    none, values, between = reader.none, reader.value, [text.encode() for text in reader.between]
    known = all(value in _VALUE_KINDS for value in values)
    check = abi.PairCheck(
        key_kind=_KEY_KINDS.get(reader.key, 0), n_values=len(values) if known else 0, key_max=reader.key_max,
        none=(none or 0) % 2**64, has_none=none is not None,
    )
    for number, value in enumerate(values if known else ()):
        check.value_kinds[number] = _VALUE_KINDS[value]
    for number, text in enumerate(between):
        check.between_sizes[number] = len(text)
        check.between[number].value = text
    return check


def _input(source: AnyPath | int) -> tuple[bytes, int]:
    return (b"", source) if isinstance(source, int) else (c_bytes(source), -1)


def c_bytes(value: AnyPath) -> bytes:
    """Bytes for a C string; a NUL would cut it short there without a word."""
    data = os.fsencode(value)
    if b"\0" in data:
        raise ValueError(f"a NUL byte in {data!r}")
    return data


def _flags(regroup: bool, accept_exit_code: bool) -> int:
    return (abi.REGROUP if regroup else 0) | (abi.ACCEPT_EXIT_CODE if accept_exit_code else 0)


def _milliseconds(seconds: float) -> int:
    return max(1, min(2**32 - 1, round(seconds * 1000)))


def _timeout(seconds: float) -> int:
    return _milliseconds(seconds) if seconds else 0
