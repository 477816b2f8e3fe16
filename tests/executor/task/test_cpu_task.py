"""One attempt on the CPU, with a native runtime that says what the test wants."""

from __future__ import annotations

import gzip
import os
import shutil
import struct
import zlib
from dataclasses import replace
from pathlib import Path

import pytest

from heterodoop.errors import HeteroDoopError
from heterodoop.executor.native.runtime import MapSpec, Progress, ReduceSpec, Segment, TaskResult, TaskStatus
from heterodoop.executor.task import cpu_task
from heterodoop.executor.task.cpu_task import CpuJob, Place, changed_file, run_map, run_reduce
from heterodoop.executor.task.map_output import open_map_output
from heterodoop.executor.task.split import Split
from heterodoop.executor.task.streaming_env import TaskNames
from heterodoop.storage.local import InputFile, Stamp

OK = TaskResult(TaskStatus.OK, None, None, None, "", {"MAP_INPUT_RECORDS": 5}, {"total": 1.5}, {("g", "c"): 2}, "busy", "")


class FakeRunner:
    """Answers with the given results in turn, reads a piped input, and writes an empty map output."""

    def __init__(self, *results: TaskResult) -> None:
        self.results = list(results)
        self.specs: list[MapSpec | ReduceSpec] = []
        self.piped: list[bytes] = []

    def map_task(self, spec: MapSpec, progress: Progress | None = None) -> TaskResult:
        self.specs.append(spec)
        if isinstance(spec.input, int):
            with os.fdopen(os.dup(spec.input), "rb") as pipe:
                self.piped.append(pipe.read())
        if spec.reducers:
            write_output(Path(os.fsdecode(spec.out_path)), Path(os.fsdecode(spec.index_path)), [b""] * spec.reducers)
        return self.results.pop(0)

    def reduce_task(self, spec: ReduceSpec, progress: Progress | None = None) -> TaskResult:
        self.specs.append(spec)
        return self.results.pop(0)


def write_output(data: Path, index: Path, bodies: list[bytes]) -> None:
    rows, blob = b"", b""
    for body in bodies:
        raw = body + b"\xff\xff"
        rows += struct.pack(">qqq", len(blob), len(raw), len(raw) + 4)
        blob += raw + struct.pack(">I", zlib.crc32(raw))
    data.write_bytes(blob)
    index.write_bytes(rows + struct.pack(">q", zlib.crc32(rows)))


@pytest.fixture
def job() -> CpuJob:
    filters = Path("/b/map"), Path("/b/combine"), Path("/b/reduce")
    return CpuJob(*filters, True, None, [b"A=1"], 2, b"", False, 4096, "reporter:")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, tmp_path, tmp_path / "log", TaskNames("job_1_0001", True, 3, 0, tmp_path, tmp_path))


@pytest.fixture
def split(tmp_path: Path) -> Split:
    (tmp_path / "in").write_bytes(b"0123456789")
    return Split(InputFile(str(tmp_path / "in"), 10), 2, 5)


def go(runner: FakeRunner, job: CpuJob, split: Split, place: Place, tmp_path: Path):
    return run_map(runner, job, split, place, tmp_path / "o", tmp_path / "i", Progress())


def test_a_map_task_is_asked_for_as_planned(job, split, place, tmp_path):
    runner = FakeRunner(OK)
    result = go(runner, job, split, place, tmp_path)
    spec = runner.specs[0]
    assert (spec.input, spec.start, spec.length, spec.reducers, spec.regroup) == (str(tmp_path / "in"), 2, 5, 2, True)
    assert spec.map.argv == [Path("/b/map")] and spec.combine.argv == [Path("/b/combine")]
    assert b"A=1" in spec.map.env and b"mapreduce_task_partition=3" in spec.map.env
    assert spec.sort_bytes == 4096 and spec.map.cwd == tmp_path
    assert result.failure is None and result.output is not None and result.output.empty
    assert result.counters == {"MAP_INPUT_RECORDS": 5} and result.user_counters == {("g", "c"): 2}
    assert (result.runs, result.status_text) == (1, "busy")


def test_without_reducers_there_is_no_combiner_and_no_map_output(job, split, place, tmp_path):
    runner = FakeRunner(OK)
    result = go(runner, replace(job, reducers=0), split, place, tmp_path)
    assert runner.specs[0].combine is None and result.output is None and result.failure is None


def test_a_fold_that_met_an_unreadable_pair_runs_again_without_it(job, split, place, tmp_path):
    runner = FakeRunner(replace(OK, status=TaskStatus.RETRY_NO_FOLD, message="pair"), OK)
    result = go(runner, job, split, place, tmp_path)
    assert [spec.regroup for spec in runner.specs] == [True, False]
    assert result.failure is None and result.runs == 2


@pytest.mark.parametrize("status", [TaskStatus.FILTER_FAILED, TaskStatus.COMBINER_FAILED])
def test_a_filter_that_failed_says_how_far_it_read(job, split, place, tmp_path, status):
    failed = replace(OK, status=status, signal=11, input_read=70, bad_record=3)
    failure = go(FakeRunner(failed), job, split, place._replace(watch_from=5, combine_watch_from=6), tmp_path).failure
    assert failure.crash == (11, 70, 3, status is TaskStatus.COMBINER_FAILED)


@pytest.mark.parametrize(("status", "code", "permanent"), [
    (TaskStatus.FILTER_FAILED, "HD401", False),
    (TaskStatus.COMBINER_FAILED, "HD401", False),
    (TaskStatus.SPAWN_FAILED, "HD402", True),
    (TaskStatus.COMBINER_DISORDER, "HD403", False),
    (TaskStatus.BAD_INPUT, "HD404", False),
    (TaskStatus.IO_ERROR, "HD405", False),
    (TaskStatus.INTERNAL, "HD409", False),
    (TaskStatus.RETRY_NO_FOLD, "HD409", False),
])
def test_failures_keep_their_message_and_stderr(job, split, place, tmp_path, status, code, permanent):
    bad = replace(OK, status=status, message="what happened", stderr_tail="tail")
    failure = go(FakeRunner(bad, bad), job, split, place, tmp_path).failure
    assert (failure.code, failure.permanent, failure.message, failure.stderr) == (code, permanent, "what happened", "tail")


def test_a_cancelled_attempt_neither_failed_nor_succeeded(job, split, place, tmp_path):
    result = go(FakeRunner(replace(OK, status=TaskStatus.CANCELLED)), job, split, place, tmp_path)
    assert result.cancelled and result.failure is None and result.output is None


def test_a_compressed_file_comes_through_a_pipe(job, place, tmp_path):
    (tmp_path / "x.gz").write_bytes(gzip.compress(b"one\n") + gzip.compress(b"two\n"))
    split = Split(InputFile(str(tmp_path / "x.gz"), 10, "gzip"), 0, 10)
    runner = FakeRunner(replace(OK, status=TaskStatus.RETRY_NO_FOLD), OK)
    assert go(runner, job, split, place, tmp_path).failure is None
    assert runner.piped == [b"one\ntwo\n"] * 2, "and again for the run without fold"
    assert (runner.specs[0].start, runner.specs[0].length) == (0, None)


def test_a_damaged_file_fails_the_task_though_the_filter_was_content(job, place, tmp_path):
    (tmp_path / "x.gz").write_bytes(gzip.compress(b"one\n")[:-1])
    result = go(FakeRunner(OK), job, Split(InputFile(str(tmp_path / "x.gz"), 10, "gzip"), 0, 10), place, tmp_path)
    assert "x.gz" in result.failure.message and result.failure.code == "HD404" and result.failure.permanent


def test_a_name_with_bytes_that_no_line_shows_is_told_with_escapes(job, place, tmp_path):
    path = tmp_path / "a\n\x1b[31mb.gz"
    path.write_bytes(b"junk")
    split = Split(InputFile(str(path), 4, "gzip"), 0, 4)
    failure = go(FakeRunner(OK), job, split, place, tmp_path).failure
    assert f"cannot read '{tmp_path}/a\\n\\x1b[31mb.gz': its gzip data" in failure.message
    assert str(split) == f"'{tmp_path}/a\\n\\x1b[31mb.gz' (gzip, whole file)"
    path.unlink()
    assert "\n" not in go(FakeRunner(OK), job, split, place, tmp_path).failure.message


@pytest.mark.parametrize("change", [lambda data: data[:-9], lambda data: data + b"more"])
def test_a_compressed_file_that_changes_while_it_is_read_is_told_as_that(job, place, tmp_path, change):
    path, data = tmp_path / "x.gz", gzip.compress(b"one\n")
    path.write_bytes(data)
    split = Split(InputFile(str(path), len(data), "gzip", Stamp.of(path.stat())), 0, len(data))
    runner = FakeRunner(OK)
    real = cpu_task.Pump

    def pump(file: InputFile) -> cpu_task.Pump:
        path.write_bytes(change(data))
        return real(file)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cpu_task, "Pump", pump)
        failure = go(runner, job, split, place, tmp_path).failure
    assert failure.code == "HD049" and failure.permanent and f"and was {len(data)} when the job began" in failure.message


def test_a_file_that_shrank_or_vanished_is_not_read_short(job, split, place, tmp_path):
    (tmp_path / "in").write_bytes(b"012")
    failure = go(FakeRunner(), job, split, place, tmp_path).failure
    assert failure.code == "HD049" and failure.permanent and "3 bytes long, and was 10" in failure.message
    (tmp_path / "in").unlink()
    failure = go(FakeRunner(), job, split, place, tmp_path).failure
    assert failure.code == "HD049" and failure.permanent and "is not there any more" in failure.message


@pytest.mark.parametrize(("change", "what"), [
    (lambda path: path.write_bytes(b"x" * 11), "11 bytes long, and was 10"),
    (lambda path: path.write_bytes(b"x" * 10), "was written to"),
    (lambda path: os.replace(shutil.copy2(path, f"{path}2"), path), "was replaced"),
    (os.utime, "was written to"),
    (lambda path: (path.unlink(), os.mkfifo(path)), "is no regular file any more"),
    (lambda path: (path.unlink(), path.mkdir()), "is no regular file any more"),
    (lambda path: (path.unlink(), path.symlink_to("/dev/zero")), "is no regular file any more"),
])
def test_a_file_that_is_another_one_now_fails_the_task(tmp_path, change, what: str) -> None:
    path = tmp_path / "in"
    path.write_bytes(b"0123456789")
    os.utime(path, (1, 1))
    status = path.stat()
    split = Split(InputFile(str(path), 10, "", Stamp.of(status)), 0, 10)
    assert changed_file(split) is None
    path.chmod(0o600)
    assert changed_file(split) is None, "its bytes are the same"
    change(path)
    failure = changed_file(split)
    assert failure is not None and failure.code == "HD049" and failure.permanent and what in failure.message


def test_a_map_output_that_is_not_whole_fails_the_task(job, split, place, tmp_path):
    runner = FakeRunner(OK)
    runner.map_task = lambda spec, progress: OK  # type: ignore[method-assign]
    assert go(runner, job, split, place, tmp_path).failure.code == "HD405"
    write_output(tmp_path / "o", tmp_path / "i", [b""])
    assert go(runner, job, split, place, tmp_path).failure.code == "HD405", "one partition of two"


def test_a_reduce_task(job, place, tmp_path):
    runner = FakeRunner(OK, OK)
    segments = [Segment("/x", 0, 10, 14)]
    assert run_reduce(runner, job, segments, place, tmp_path / "part", Progress()).failure is None
    spec = runner.specs[0]
    assert (spec.segments, spec.partition, spec.merge_bytes) == (segments, 3, 4096)
    run_reduce(runner, replace(job, reduce=None), segments, place, tmp_path / "part", Progress())
    assert runner.specs[1].reduce is None


def test_the_index_is_read_partition_by_partition(tmp_path):
    write_output(tmp_path / "o", tmp_path / "i", [b"", b"\x02\x02\x01k\x01v", b""])
    output = open_map_output(tmp_path / "o", tmp_path / "i", 3)
    assert not output.empty
    assert [output.segment(p).empty for p in range(3)] == [True, False, True]
    assert output.segment(1) == Segment(str(tmp_path / "o"), 6, 8, 12)
    with pytest.raises(HeteroDoopError, match="no partition 3"):
        output.segment(3)


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "data"])
def test_a_damaged_index_or_data_file_is_noticed(tmp_path, damage):
    write_output(tmp_path / "o", tmp_path / "i", [b"", b""])
    raw = bytearray((tmp_path / "i").read_bytes())
    if damage == "flip":
        raw[7] ^= 1
    (tmp_path / "i").write_bytes({"cut": raw[:-1], "empty": b""}.get(damage, bytes(raw)))
    if damage == "data":
        (tmp_path / "o").write_bytes(b"short")
    with pytest.raises(HeteroDoopError) as caught:
        open_map_output(tmp_path / "o", tmp_path / "i", 2)
    assert caught.value.code == "HD405"
