"""Whole map and reduce tasks through the C ABI: partitions, combiner, zero-input rule, counters, statuses, loading."""

from __future__ import annotations

import os
import struct
import subprocess
import zlib
from collections import Counter
from pathlib import Path

import pytest

from heterodoop.errors import HeteroDoopError, ToolError
from heterodoop.executor.native import abi as native_abi
from heterodoop.executor.native.runtime import (
    FilterCommand,
    MapSpec,
    Native,
    Progress,
    ReduceSpec,
    Segment,
    TaskResult,
    TaskStatus,
)
from heterodoop.executor.task.map_output import read_index
from heterodoop.manifest import PairReader

from ..host_programs import SUM, WORDS
from .conftest import Compile, RunMap

TEXT = b"the quick fox the lazy dog\nthe fox \xc3\xa9t\xe9\n" * 50
READER = PairReader("token", 99, ("int64",))


class Job:
    """A word count of one map task and its reduce tasks, in one folder."""

    def __init__(self, native: Native, compile_c: Compile, folder: Path) -> None:
        self.native, self.folder = native, folder
        self.map, self.sum = FilterCommand([compile_c(WORDS)]), FilterCommand([compile_c(SUM)])

    def run_map(self, text: bytes, progress: Progress | None = None, **options: object) -> TaskResult:
        (self.folder / "text").write_bytes(text)
        fields: dict[str, object] = {
            "map": self.map, "input": self.folder / "text", "out_path": self.folder / "file.out",
            "index_path": self.folder / "file.out.index", "work_dir": self.folder, "log_path": self.folder / "log",
        }
        return self.native.map_task(MapSpec(**fields | options), progress)  # type: ignore[arg-type]

    def segments(self, partitions: int) -> list[Segment]:
        return read_index(self.folder / "file.out", self.folder / "file.out.index", partitions)

    def reduce(self, segments: list[Segment], command: FilterCommand | None, **options: object) -> TaskResult:
        spec = ReduceSpec(command, segments, self.folder / "part", work_dir=self.folder, **options)  # type: ignore[arg-type]
        return self.native.reduce_task(spec)

    def part(self) -> bytes:
        return (self.folder / "part").read_bytes()


@pytest.fixture
def job(native: Native, compile_c: Compile, tmp_path: Path) -> Job:
    return Job(native, compile_c, tmp_path)


def hash_partition(key: bytes, partitions: int) -> int:
    """Hadoop's HashPartitioner over Text."""
    h = 1
    for byte in key:
        h = (31 * h + (byte - 256 if byte > 127 else byte)) & 0xFFFFFFFF
    return (h & 0x7FFFFFFF) % partitions


def expected_part(text: bytes, partition: int, partitions: int) -> bytes:
    counts = sorted(Counter(text.split()).items())
    return b"".join(b"%s\t%d\n" % (k, n) for k, n in counts if hash_partition(k, partitions) == partition)


@pytest.mark.parametrize("partitions", [1, 3, 8])
@pytest.mark.parametrize("combined", [False, True])
def test_word_count(job: Job, partitions: int, combined: bool) -> None:
    combiner = {"combine": job.sum, "regroup": True, "check": READER} if combined else {}
    result = job.run_map(TEXT, reducers=partitions, **combiner)
    assert result.ok, result
    counters = result.counters
    assert (counters["MAP_INPUT_RECORDS"], counters["MAP_INPUT_BYTES"]) == (100, len(TEXT))
    assert counters["MAP_OUTPUT_RECORDS"] == len(TEXT.split())
    assert counters["COMBINE_INPUT_RECORDS"] == (len(TEXT.split()) if combined else 0)
    assert counters["COMBINE_OUTPUT_RECORDS"] == (6 if combined else 0)
    assert counters["UNREADABLE_PAIRS"] == counters["COMBINE_UNREAD_BYTES"] == 0
    for partition, segment in enumerate(job.segments(partitions)):
        reduced = job.reduce([segment], job.sum, partition=partition)
        assert reduced.ok, reduced
        assert job.part() == expected_part(TEXT, partition, partitions)
        assert reduced.counters["REDUCE_INPUT_GROUPS"] == job.part().count(b"\n")
        assert reduced.counters["REDUCE_OUTPUT_RECORDS"] == job.part().count(b"\n")


def test_identity_reduce_keeps_map_order_among_equal_keys(job: Job, tmp_path: Path) -> None:
    segments = []
    for name in (b"first", b"second", b"third"):
        out, index = tmp_path / f"{name.decode()}.out", tmp_path / f"{name.decode()}.index"
        cat = FilterCommand(["/bin/cat"])
        assert job.run_map(b"k\t%s\nj\nk\t0\n" % name, map=cat, out_path=out, index_path=index).ok
        segments += read_index(out, index, 1)
    result = job.reduce(segments, None)
    assert result.ok, result
    assert job.part() == b"j\t\n" * 3 + b"k\tfirst\nk\t0\nk\tsecond\nk\t0\nk\tthird\nk\t0\n"
    counts = [result.counters[f"REDUCE_{name}"] for name in ("INPUT_GROUPS", "INPUT_RECORDS", "OUTPUT_RECORDS")]
    assert counts == [2, 9, 9]


def test_no_input_runs_the_filters_but_throws_their_output_away(job: Job, run_map: RunMap, tmp_path: Path) -> None:
    header = ["/bin/sh", "-c", f"echo header; echo ran >> {tmp_path}/ran"]
    result, output = run_map(header)
    assert (result.status, output) == (TaskStatus.OK, b"")
    assert (tmp_path / "output").exists()
    assert job.run_map(b"", map=FilterCommand(header), reducers=2).ok
    assert all(segment.empty for segment in job.segments(2))
    assert job.reduce(job.segments(2), FilterCommand(header)).ok
    assert job.part() == b""
    assert job.reduce([], FilterCommand(header)).ok
    assert (tmp_path / "ran").read_text() == "ran\n" * 4
    assert run_map(["/bin/sh", "-c", "exit 2"])[0].exit_code == 2
    assert job.reduce([], FilterCommand(["/bin/false"])).status is TaskStatus.FILTER_FAILED


def test_a_map_without_output_has_every_partition(job: Job) -> None:
    assert job.run_map(b"\n\n", reducers=4).ok
    assert [segment.empty for segment in job.segments(4)] == [True] * 4


@pytest.mark.parametrize(("script", "end"), [("cat >/dev/null; exit 5", (5, None)), ("kill -9 $$", (None, 9))])
def test_a_failing_combiner_fails_the_task(
    job: Job, tmp_path: Path, script: str, end: tuple[int | None, int | None],
) -> None:
    combine = FilterCommand(["/bin/sh", "-c", "echo oops >&2; " + script], ["PATH=/usr/bin:/bin"])
    result = job.run_map(TEXT, combine=combine)
    assert (result.status, result.exit_code, result.signal) == (TaskStatus.COMBINER_FAILED, *end)
    assert result.message.startswith("combiner /bin/sh failed: ")
    assert result.stderr_tail == "oops\n"
    assert {p.name for p in tmp_path.iterdir()} == {"text", "log"}


def test_a_combiner_that_changes_its_keys_is_named(job: Job, tmp_path: Path) -> None:
    result = job.run_map(TEXT, combine=FilterCommand(["/usr/bin/tac"]))
    assert result.status is TaskStatus.COMBINER_DISORDER, result
    assert '"the" is out of order' in result.message
    assert {p.name for p in tmp_path.iterdir()} == {"text"}


def test_a_combiner_that_stops_early_is_counted(job: Job) -> None:
    pairs = b"".join(b"key%06d\t1\n" % i for i in range(200_000))
    result = job.run_map(pairs, map=FilterCommand(["/bin/cat"]), combine=FilterCommand(["/usr/bin/head", "-c", "12"]))
    assert result.ok, result
    unread = result.counters["COMBINE_UNREAD_BYTES"]
    assert len(pairs) - 200_000 < unread < len(pairs)  # head reads a buffer full
    result = job.run_map(b"a\nb\n", map=FilterCommand(["/bin/cat"]), combine=FilterCommand(["/bin/true"]))
    assert result.counters["COMBINE_UNREAD_BYTES"] == len(b"a\t\nb\t\n")  # left in the pipe after its end


def test_pairs_that_the_combiner_cannot_read_back_are_counted(job: Job) -> None:
    cat = FilterCommand(["/bin/cat"])
    result = job.run_map(b"a b\t1\nc\tx\nd\t1\n", map=cat, combine=cat, check=READER)
    assert result.ok, result
    assert result.counters["UNREADABLE_PAIRS"] == 2


def test_a_failing_reducer_leaves_no_part(job: Job, tmp_path: Path) -> None:
    assert job.run_map(TEXT).ok
    before = set(tmp_path.iterdir())
    result = job.reduce(job.segments(1), FilterCommand(["/bin/sh", "-c", "cat; exit 9"], ["PATH=/usr/bin:/bin"]))
    assert (result.status, result.exit_code) == (TaskStatus.FILTER_FAILED, 9)
    assert set(tmp_path.iterdir()) == before
    result = job.reduce(job.segments(1), FilterCommand([tmp_path / "none"]))
    assert (result.status, set(tmp_path.iterdir())) == (TaskStatus.SPAWN_FAILED, before)


def test_a_reducer_that_does_not_read_is_fine_and_all_input_is_counted(job: Job) -> None:
    pairs = b"".join(b"key%d\t1\n" % (i % 1000) for i in range(500_000))
    assert job.run_map(pairs, map=FilterCommand(["/bin/cat"])).ok
    result = job.reduce(job.segments(1), FilterCommand(["/bin/echo", "x\ty"]))
    assert (result.status, job.part()) == (TaskStatus.OK, b"x\ty\n")
    assert (result.counters["REDUCE_INPUT_RECORDS"], result.counters["REDUCE_INPUT_GROUPS"]) == (500_000, 1000)


def test_a_damaged_segment_is_an_io_error(job: Job, tmp_path: Path) -> None:
    assert job.run_map(TEXT).ok
    data = bytearray((tmp_path / "file.out").read_bytes())
    data[20] ^= 1
    (tmp_path / "file.out").write_bytes(data)
    result = job.reduce(job.segments(1), None)
    assert result.status is TaskStatus.IO_ERROR, result
    assert "file.out" in result.message
    assert not (tmp_path / "part").exists()


def test_bad_places_are_io_errors_with_their_path(run_map: RunMap, job: Job, tmp_path: Path) -> None:
    for options in ({"input": tmp_path / "none"}, {"out_path": tmp_path / "no" / "where"}):
        result, _ = run_map(["/bin/cat"], b"a\n", **options)
        assert (result.status, result.error_number) == (TaskStatus.IO_ERROR, 2)
        assert str(tmp_path / "no") in result.message
    result, _ = run_map(["/bin/cat"], b"a\n", input=tmp_path)
    assert result.status is TaskStatus.BAD_INPUT
    assert run_map(["/bin/cat"], b"a\n", out_path="")[0].status is TaskStatus.BAD_INPUT
    assert run_map([], b"a\n")[0].status is TaskStatus.BAD_INPUT
    result, _ = run_map(["/bin/cat"], b"a\nb\n", length=100)
    assert (result.status, "cut short" in result.message) == (TaskStatus.IO_ERROR, True)


def test_a_full_disk_fails_the_task(run_map: RunMap, tmp_path: Path) -> None:
    (tmp_path / "full").symlink_to("/dev/full")
    (tmp_path / "full.tmp").symlink_to("/dev/full")
    result, _ = run_map(["/bin/cat"], b"a\n" * 1_000_000, out_path=tmp_path / "full")
    assert (result.status, result.error_number) == (TaskStatus.IO_ERROR, 28)


def test_splits_make_the_whole_file(run_map: RunMap) -> None:
    data = b"one\r\ntwo\rthree\n\nfive"
    for size in (1, 2, 3, 5, 7, 100):
        parts = [run_map(["/bin/cat"], data, start=start, length=min(size, len(data) - start))[1]
                 for start in range(0, len(data), size)]
        assert b"".join(parts) == b"one\t\ntwo\t\nthree\t\n\t\nfive\t\n"
    assert run_map(["/bin/cat"], b"a|b\nc|", delimiter=b"|")[1] == b"a\t\nb\t\nc\t\n"


def test_output_lines_of_any_length(run_map: RunMap) -> None:
    data = b"k" * 300_000 + b"\t" + b"v" * 600_000 + b"\n" + b"s\t1\n" + b"x" * 262_144
    result, output = run_map(["/bin/cat"], data)
    assert (result.status, output) == (TaskStatus.OK, data + b"\t\n")
    assert result.counters["MAP_OUTPUT_RECORDS"] == 3


def test_output_files_have_the_users_permissions(run_map: RunMap, tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"")
    assert run_map(["/bin/cat"], b"a\n")[0].ok
    assert (tmp_path / "output").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_progress_and_seconds(job: Job) -> None:
    progress = Progress()
    result = job.run_map(TEXT * 200, progress=progress, combine=job.sum, regroup=True)
    assert result.ok, result
    assert (progress.bytes_in, progress.records_in) == (len(TEXT) * 200, 20_000)
    assert progress.pairs_out == result.counters["MAP_OUTPUT_RECORDS"]
    assert progress.phase.name == "END"
    seconds = result.seconds
    stages = ["read", "feed", "wait", "collect", "combine", "finish"]
    assert list(seconds)[:10] == [*stages, "filter_cpu", "combine_cpu", "task_cpu", "total"]
    assert not any(list(seconds.values())[10:]), "a task on the CPU has no stages of a device"
    wall = sum(seconds[name] for name in stages)
    assert 0.5 * seconds["total"] < wall <= seconds["total"]
    assert 0 < seconds["filter_cpu"] and 0 < seconds["combine_cpu"] and seconds["combine"] > 0
    assert 0 < seconds["task_cpu"] < seconds["total"] * 1.1


def test_cancel_before_the_start(job: Job, tmp_path: Path) -> None:
    progress = Progress()
    progress.cancel()
    result = job.run_map(TEXT, progress=progress)
    assert (result.status, progress.cancelled) == (TaskStatus.CANCELLED, True)
    assert {p.name for p in tmp_path.iterdir()} == {"text"}


def test_a_nul_byte_is_not_passed_on(run_map: RunMap) -> None:
    with pytest.raises(ValueError, match="NUL"):
        run_map(["/bin/cat", "a\0b"], b"")
    with pytest.raises(ValueError, match="NUL"):
        run_map(["/bin/cat"], b"", env=["A=\0"])


def test_an_index_is_checked(tmp_path: Path) -> None:
    rows = struct.pack(">6q", 0, 2, 6, 6, 2, 6)
    good = rows + struct.pack(">q", zlib.crc32(rows))
    (tmp_path / "i").write_bytes(good)
    assert read_index("f", tmp_path / "i", 2) == [Segment("f", 0, 2, 6), Segment("f", 6, 2, 6)]
    for data, partitions in ((good, 1), (good[:-1], 2), (b"\1" + good[1:], 2), (b"", 2)):
        (tmp_path / "i").write_bytes(data)
        with pytest.raises(HeteroDoopError) as caught:
            read_index("f", tmp_path / "i", partitions)
        assert caught.value.code == "HD405"


def shared_library(folder: Path, source: str) -> Path:
    env = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    argv = ["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", folder / "lib.so"]
    subprocess.run(argv, input=source, text=True, check=True, env=env)
    return folder / "lib.so"


@pytest.mark.parametrize("source", ["", "int hd_abi_version(void) { return 99; }"])
def test_another_library_is_refused_by_name(tmp_path: Path, source: str) -> None:
    library = shared_library(tmp_path, source)
    with pytest.raises(ToolError) as caught:
        Native.load(library)
    assert caught.value.code == "HD512"
    assert str(library) in caught.value.message


def test_a_library_with_other_structures_is_refused(tmp_path: Path) -> None:
    sizes = "void hd_abi_sizes(unsigned long *s) { for (int i = 0; i < 7; i++) s[i] = 32; }"
    library = shared_library(tmp_path, f"int hd_abi_version(void) {{ return {native_abi.ABI_VERSION}; }}" + sizes)
    with pytest.raises(ToolError, match="PairCheck has 32 bytes there, 80 here"):
        Native.load(library)


def test_a_missing_library_is_a_tool_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HETERODOOP_NATIVE", str(tmp_path / "none.so"))
    with pytest.raises(ToolError) as caught:
        Native.load()
    assert caught.value.code == "HD511"


# ------------------------------------------------------------------------------------------ lines without end

LINE = 64 << 10
ENDLESS = ["/bin/sh", "-c", "cat > /dev/null; exec tr -d '\\n' < /dev/zero"]


@pytest.mark.parametrize("reducers", [0, 2])
def test_a_map_filter_that_prints_a_line_without_end(job: Job, reducers: int) -> None:
    result = job.run_map(b"x\n", map=FilterCommand(ENDLESS), reducers=reducers, line_max=LINE)
    assert result.status is TaskStatus.OUTPUT_LINE
    assert result.message == f"the map filter printed a line of more than {LINE} bytes"
    assert not (job.folder / "file.out").exists()


def test_the_longest_line_that_may_be_printed_is_a_line(job: Job) -> None:
    line = b"k\t" + b"v" * (LINE - 2)
    assert job.run_map(line, map=FilterCommand(["/bin/cat"]), reducers=0, line_max=LINE).ok
    longer = FilterCommand(["/bin/sed", "s/$/./"])
    assert job.run_map(line, map=longer, reducers=0, line_max=LINE).status is TaskStatus.OUTPUT_LINE
    assert job.run_map(line, map=longer, reducers=0).ok, "no limit"


def test_a_combiner_or_reducer_that_prints_a_line_without_end(job: Job) -> None:
    result = job.run_map(b"x\n", combine=FilterCommand(ENDLESS), line_max=LINE)
    assert (result.status, result.message[:13]) == (TaskStatus.OUTPUT_LINE, "the combiner ")
    assert job.run_map(b"x\n", line_max=LINE).ok
    result = job.reduce(job.segments(1), FilterCommand(ENDLESS), line_max=LINE)
    assert (result.status, result.message[:18]) == (TaskStatus.OUTPUT_LINE, "the reduce filter ")
    assert not (job.folder / "part").exists()


def test_a_record_without_end_ends_the_task_before_it_is_whole(job: Job) -> None:
    text = b"short\n" + b"x" * (LINE + 1)
    result = job.run_map(text, map=FilterCommand(["/bin/cat"]), line_max=LINE)
    assert result.status is TaskStatus.INPUT_LINE
    assert f"{job.folder}/text: the record that begins at byte 6 has more than {LINE} bytes" in result.message
    passed = job.run_map(text, map=FilterCommand(["/bin/cat"]), reducers=0, line_max=LINE, skip_from=100)
    assert passed.ok and passed.counters["MAP_INPUT_RECORDS"] == 1
    assert (job.folder / "file.out").read_bytes() == b"short\t\n"
