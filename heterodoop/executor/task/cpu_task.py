"""One attempt of a map or reduce task on the CPU: the user's filters under the native runtime.

Which tasks there are, where their files go and what follows from a failure is the engine's business.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, Protocol

from ...errors import HeteroDoopError
from ...manifest import PairReader
from ...storage.local import Pump, Stamp
from ...values import dataclass
from ..native.pair_form import PairForm
from ..native.runtime import FilterCommand, MapSpec, Progress, ReduceSpec, Segment, TaskResult, TaskStatus
from .map_output import open_map_output
from .report import AttemptResult, Crash, TaskFailure
from .split import Split
from .streaming_env import TaskNames, task_environment


class MapRunner(Protocol):
    """What runs one map task: `native.Native`, or a device with its kernels."""

    def map_task(self, spec: MapSpec, progress: Progress | None = None) -> TaskResult: ...


class TaskRunner(MapRunner, Protocol):
    """The part of `native.Native` that is used here."""

    def reduce_task(self, spec: ReduceSpec, progress: Progress | None = None) -> TaskResult: ...


@dataclass(frozen=True)
class CpuJob:
    """What all tasks of a job share.

    map, combine, reduce  the filters, absolute paths; no reduce program = Hadoop's IdentityReducer.
    regroup               the combiner is a fold: it may run on its own output (manifest.Fold).
    check                 how the combiner reads pairs; None = not known.
    environment           what streaming_env.job_environment gave.
    reducers              partitions of a map output; 0 = the map tasks write text.
    sort_bytes            memory that one task's sort or merge may hold.
    line_max, skip_from   how long lines may be, as in native.MapSpec.
    attempt_environment   `environment` is one attempt's, whole: nothing is added to it.
    timeout_seconds       without progress, after which an attempt fails; 0 = never.
    map_memory, reduce_memory  bytes that a task's program may have in use; 0 = any.
    map_form, reduce_form  of the pairs, where the job says something that concerns these tasks; filters do them then.
    """

    map: Path
    combine: Path | None
    reduce: Path | None
    regroup: bool
    check: PairReader | None
    environment: Sequence[bytes]
    reducers: int
    delimiter: bytes
    accept_exit_code: bool
    sort_bytes: int
    reporter_prefix: str
    attempt_environment: bool = False
    line_max: int = 0
    skip_from: int = 0
    timeout_seconds: float = 0.0
    map_memory: int = 0
    reduce_memory: int = 0
    map_form: PairForm | None = None
    reduce_form: PairForm | None = None


class Place(NamedTuple):
    """Where one attempt works: filters' working folder, folder for spills, log file, and what filters are told.

    watch_from, combine_watch_from  as in native.MapSpec: an earlier attempt's filter failed soon behind this place.
    """

    work: Path
    scratch: Path
    log: Path
    names: TaskNames
    watch_from: int | None = None
    combine_watch_from: int | None = None


LINE_MAX = 256 << 20  # bytes of a record, and of a line that a filter prints, where a job does not say
LEAST_LINE = 64 << 10  # the least that it may say


@dataclass(frozen=True)
class MapRun:
    """Where a map task's input and output are, for whatever runs it.

    others  of a task on a device whose split is several in one: the places of those behind the first, which `place` is.
    """

    job: CpuJob
    split: Split
    place: Place
    out: Path
    index: Path
    others: tuple[Place, ...] = ()


# Runs a map task on the CPU: by filters, or as a host kernel.
OnCpu = Callable[[MapRun, Progress], AttemptResult]


def by_filters(runner: TaskRunner) -> OnCpu:
    return lambda run, progress: run_map(runner, run.job, run.split, run.place, run.out, run.index, progress)


def run_map(
    runner: TaskRunner, job: CpuJob, split: Split, place: Place, out: Path, index: Path, progress: Progress,
) -> AttemptResult:
    """Run a map task's filter over its split. Result: an IFile at `out` and `index`, or text at `out` (no reducers).

    A task whose fold met a pair that does not read back (native status RETRY_NO_FOLD) runs again here with its
    combiner once over everything, which is right for any data.
    """
    changed = changed_file(split)
    if changed:
        return AttemptResult(failure=changed)
    spec = map_spec(job, split, place, out, index)
    result, fault = run_split(runner, spec, split, progress)
    runs = 1
    if result.status is TaskStatus.RETRY_NO_FOLD and not fault:
        progress.restart()
        result, fault = run_split(runner, replace(spec, regroup=False), split, progress)
        runs = 2
    return map_result(result, fault, runs, job, out, index)


def run_reduce(
    runner: TaskRunner, job: CpuJob, segments: Sequence[Segment], place: Place, out: Path, progress: Progress,
) -> AttemptResult:
    """Merge a partition's segments (in map task order) through the reduce filter into a text file at `out`."""
    return reduce_result(runner.reduce_task(reduce_spec(job, segments, place, out), progress))


def reduce_spec(job: CpuJob, segments: Sequence[Segment], place: Place, out: Path) -> ReduceSpec:
    """What the native runtime is asked for."""
    command = filter_command(job, job.reduce, place) if job.reduce else None
    return ReduceSpec(
        reduce=command, segments=segments, partition=place.names.number,
        accept_exit_code=job.accept_exit_code, merge_bytes=job.sort_bytes, work_dir=place.scratch, out_path=out,
        log_path=place.log, reporter_prefix=job.reporter_prefix, line_max=job.line_max, watch_from=place.watch_from,
        timeout_seconds=job.timeout_seconds, form=job.reduce_form,
    )


def reduce_result(result: TaskResult) -> AttemptResult:
    """How a reduce attempt ended."""
    return _attempt_result(result, None, 1, "mapreduce.reduce.memory.mb")


def map_spec(job: CpuJob, split: Split, place: Place, out: Path, index: Path) -> MapSpec:
    """What the native runtime is asked for, on whichever device; a compressed input still by its path."""
    return MapSpec(
        map=filter_command(job, job.map, place),
        combine=filter_command(job, job.combine, place) if job.combine and job.reducers else None,
        input=split.file.path, start=split.start, length=split.length, delimiter=job.delimiter, reducers=job.reducers,
        regroup=job.regroup, check=job.check, accept_exit_code=job.accept_exit_code, sort_bytes=job.sort_bytes,
        work_dir=place.scratch, out_path=out, index_path=index, log_path=place.log, reporter_prefix=job.reporter_prefix,
        line_max=job.line_max, skip_from=job.skip_from, watch_from=place.watch_from,
        combine_watch_from=place.combine_watch_from, timeout_seconds=job.timeout_seconds, form=job.map_form,
    )


def run_split(
    runner: MapRunner, spec: MapSpec, split: Split, progress: Progress,
) -> tuple[TaskResult, TaskFailure | None]:
    """The native result, and what was wrong with an input that is piped, which the native side sees as an early end only."""
    with ExitStack() as stack:
        pump = stack.enter_context(Pump(split.text())) if split.piped else None
        if pump:
            spec = replace(spec, input=pump.read_fd, start=0, length=None)
        if split.reader:  # what it makes is whole, and ends where it says: a \r in it is a byte of a value
            spec = replace(spec, delimiter=b"\n", skip_from=0)
        result = runner.map_task(spec, progress)
    if pump and pump.error:
        damage = TaskFailure(f"cannot read {split.file.shown}: {pump.error}", pump.code, permanent=pump.damaged)
        return result, changed_file(split) or damage
    if pump and result.status is TaskStatus.INPUT_LINE:
        return result, TaskFailure(f"{split.file.shown}: of what is in it, {result.message}", "HD051", permanent=True)
    return result, None


_SPILLS = ("spill*.out*", "merge-*.run*")  # of the native runtime; a worker that was killed leaves them


def begin_again(place: Place, progress: Progress) -> None:
    """What a run that does not count left is gone: its log, which the next one writes again, and what it spilled."""
    place.log.unlink(missing_ok=True)
    for pattern in _SPILLS:
        for path in place.scratch.glob(pattern):
            path.unlink(missing_ok=True)
    progress.restart()


def changed_file(split: Split) -> TaskFailure | None:
    """What has become of the file since the job was planned, None where it is the same: tasks would read parts of two.

    A file that grew is another one too: where its last record ended is not its end any more.
    """
    file = split.file
    try:
        status = os.stat(file.path)
    except FileNotFoundError:
        return TaskFailure(f"the input {file.shown} is not there any more: it was there when the job began", "HD049", True)
    except OSError as error:
        return TaskFailure(f"cannot read {file.shown}: {error.strerror}", "HD404")
    size = status.st_size
    if not stat.S_ISREG(status.st_mode):
        what = f"the input {file.shown} is no regular file any more: it was one when the job began"
    elif size < file.size or (file.stamp and size != file.size):
        what = f"the input {file.shown} is {size} bytes long, and was {file.size} when the job began"
    elif file.stamp and Stamp.of(status) != file.stamp:
        replaced = Stamp.of(status)[:2] != file.stamp[:2]
        what = f"the input {file.shown} was {'replaced' if replaced else 'written to'} while the job ran"
    else:
        return None
    return TaskFailure(what, "HD049", permanent=True)


def changed_input(splits: Iterable[Split]) -> TaskFailure | None:
    """What has become of one of the files since the job was planned; None: all are the same."""
    files = {split.file.path: split for split in splits}
    return next((failure for split in files.values() if (failure := changed_file(split))), None)


def filter_command(job: CpuJob, program: Path, place: Place) -> FilterCommand:
    """A program of the bundle with the task's environment, in its working folder."""
    own = [] if job.attempt_environment else task_environment(place.names)
    memory = job.map_memory if place.names.is_map else job.reduce_memory
    return FilterCommand([program], [*job.environment, *own], place.work, memory)


# What the system may have again in the next moment. Other errors of an exec do not go away by trying again.
_PASSING = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.ETXTBSY)
# Status -> code of the error index.
_CODES = {
    TaskStatus.FILTER_FAILED: "HD401",
    TaskStatus.COMBINER_FAILED: "HD401",
    TaskStatus.SPAWN_FAILED: "HD402",
    TaskStatus.COMBINER_DISORDER: "HD403",
    TaskStatus.IO_ERROR: "HD405",
    TaskStatus.BAD_INPUT: "HD404",
    TaskStatus.INPUT_LINE: "HD051",
    TaskStatus.OUTPUT_LINE: "HD052",
    TaskStatus.TIMED_OUT: "HD430",
    TaskStatus.KEY_ORDER: "HD436",
    TaskStatus.MEMORY: "HD437",
}
_PERMANENT = frozenset({TaskStatus.SPAWN_FAILED, TaskStatus.INPUT_LINE, TaskStatus.OUTPUT_LINE, TaskStatus.KEY_ORDER})


def map_result(
    result: TaskResult, fault: TaskFailure | None, runs: int, job: CpuJob, out: Path, index: Path,
) -> AttemptResult:
    """How a map attempt ended; where it ended well, with its checked output."""
    return _with_output(_attempt_result(result, fault, runs, "mapreduce.map.memory.mb"), job, out, index)


def _permanent(result: TaskResult) -> bool:
    return result.status in _PERMANENT and result.error_number not in _PASSING


def _attempt_result(result: TaskResult, fault: TaskFailure | None, runs: int, limit: str) -> AttemptResult:
    """limit: the setting of its programs' memory."""
    cancelled = result.status is TaskStatus.CANCELLED
    failure = fault if not cancelled else None
    if failure is None and not cancelled and not result.ok:
        code = _CODES.get(result.status, "HD409")
        crash = None
        if result.status in (TaskStatus.FILTER_FAILED, TaskStatus.COMBINER_FAILED):
            combiner = result.status is TaskStatus.COMBINER_FAILED
            crash = Crash(result.signal or 0, result.input_read, result.bad_record, combiner)
        message = f"{result.message} ({limit})" if result.status is TaskStatus.MEMORY else result.message
        failure = TaskFailure(message, code, _permanent(result), result.stderr_tail, crash)
    return AttemptResult(
        failure=failure, cancelled=cancelled, counters=result.counters, user_counters=result.user_counters,
        seconds=result.seconds, status_text=result.status_text, runs=runs,
    )


def _with_output(result: AttemptResult, job: CpuJob, out: Path, index: Path) -> AttemptResult:
    if result.failure or result.cancelled or not job.reducers:
        return result
    try:
        return replace(result, output=open_map_output(out, index, job.reducers))
    except (OSError, HeteroDoopError) as error:
        return replace(result, failure=TaskFailure(f"the map output cannot be read back: {error}", "HD405"))
