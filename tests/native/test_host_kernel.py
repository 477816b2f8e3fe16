"""Map tasks as host kernels through the C ABI: the bytes and counters of filters, or the answer that filters must run."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from heterodoop.executor.kernel.host_kernel import LiveInsFile
from heterodoop.executor.kernel.prologue import LiveIns, Relocation
from heterodoop.executor.native.runtime import FilterCommand, MapSpec, Native, Progress, TaskResult, TaskStatus

from ..host_programs import HOST, SUM, WORDS
from .conftest import Compile

TEXT = b"the quick fox the lazy dog\nthe fox \xc3\xa9t\xe9\n" * 50
MANY = b"".join(b"word%d and word%d\n" % (n, n * 7 % 5000) for n in range(5000))
SAME = (
    "MAP_INPUT_RECORDS", "MAP_INPUT_BYTES", "MAP_OUTPUT_RECORDS", "MAP_OUTPUT_BYTES", "COMBINE_INPUT_RECORDS",
    "COMBINE_OUTPUT_RECORDS", "SPILLED_RECORDS", "SPILLS", "MAP_OUTPUT_MATERIALIZED_BYTES", "UNREADABLE_PAIRS",
    "COMBINE_UNREAD_BYTES",
)


class Job:
    """A word count's map task by filters and as a host kernel, in one folder."""

    def __init__(self, native: Native, compile_c: Compile, folder: Path) -> None:
        self.native, self.folder = native, folder
        self.filters = {"map": FilterCommand([compile_c(WORDS)]), "combine": FilterCommand([compile_c(SUM)])}
        self.compile_c, self.program = compile_c, compile_c(HOST)

    def run(
        self, text: bytes, mode: str | None, progress: Progress | None = None, **options: object,
    ) -> tuple[TaskResult, bytes]:
        """The result, and both files of the output. mode None: by filters."""
        (self.folder / "text").write_bytes(text)
        paths = self.folder / "file.out", self.folder / "file.out.index"
        for path in paths:
            path.unlink(missing_ok=True)
        fields: dict[str, object] = {
            **self.filters, "input": self.folder / "text", "out_path": paths[0], "index_path": paths[1],
            "work_dir": self.folder, "log_path": self.folder / "log",
            "host": None if mode is None else FilterCommand([self.program], [f"MODE={mode}"]),
        }
        result = self.native.map_task(MapSpec(**fields | options), progress)  # type: ignore[arg-type]
        return result, b"".join(path.read_bytes() for path in paths if path.exists())


@pytest.fixture
def job(native: Native, compile_c: Compile, tmp_path: Path) -> Job:
    return Job(native, compile_c, tmp_path)


@pytest.mark.parametrize("text", [TEXT, MANY, b"one", b"a\r\nb\rc\n", b"\n\n"])
@pytest.mark.parametrize("partitions", [1, 5])
def test_the_output_and_counters_are_those_of_filters(job: Job, text: bytes, partitions: int) -> None:
    filters, expected = job.run(text, None, reducers=partitions)
    host, output = job.run(text, "", reducers=partitions)
    assert filters.ok and host.ok, host.message
    assert output == expected
    assert {name: host.counters[name] for name in SAME} == {name: filters.counters[name] for name in SAME}


def test_an_empty_split_has_no_output(job: Job) -> None:
    filters, expected = job.run(b"", None)
    host, output = job.run(b"", "")
    assert host.ok and output == expected and host.counters == filters.counters


def test_many_keys_spill_and_are_not_combined(job: Job) -> None:
    options: dict[str, object] = {"reducers": 3, "sort_bytes": 100_000}
    _, expected = job.run(MANY, None, reducers=3)
    host, output = job.run(MANY, "", **options)
    assert host.ok and host.counters["SPILLS"] > 1 and output == expected


@pytest.mark.parametrize("sort_bytes", [100_000, 100 << 20])
def test_lines_that_are_partial_are_combined(job: Job, sort_bytes: int) -> None:
    _, expected = job.run(MANY, None, reducers=3)
    host, output = job.run(MANY, "partial", reducers=3, regroup=True, sort_bytes=sort_bytes)
    assert host.ok, host.message
    assert output == expected and host.counters["MAP_OUTPUT_RECORDS"] == 15000


def test_what_it_prints_on_stderr_is_counters_and_log(job: Job) -> None:
    host, _ = job.run(b"a\nb\n", "errors")
    assert host.ok and host.user_counters == {("group", "lines"): 2}
    assert (job.folder / "log").read_bytes() == b"line 0\nline 1\n"


LEFT = [
    ("left", "record 5: the output holds a carriage return, at which Hadoop cuts lines (source line 17)"),
    ("unknown", "record 5: status 52 of the kernel"),
    ("exits", "the host kernel failed: exit status 3"),
    ("killed", "the host kernel failed: signal 9 (Killed)"),
    ("unread", "the host kernel left 2000 bytes unread"),
    ("no-reason", "the host kernel's report has no reason"),
    ("reason", "the host kernel's report has a reason to give up"),
    ("silent-report", "the host kernel's report says no records"),
    ("odd", "the host kernel's report has the line \"colour 7\""),
    ("again", "the host kernel's report has the line \"keys 7\""),
    ("no-number", "the host kernel's report has the line \"pairs -1\""),
    ("cut", "the host kernel's report ends in the middle of a line"),
    ("totals-cut", "the host kernel's report has totals of 4 bytes"),
    ("endless", "the host kernel's report is too long"),
    ("miscounted", "the host kernel's report says 7 keys, and there are 6"),
    ("partial", "the host kernel's report says that keys are there twice"),
    ("twice", "the key \"the\" was printed twice"),
    ("long-line", "the mapper printed a line of more than 65536 bytes"),
    ("long", "the host kernel printed a line of more than 65536 bytes"),
]


@pytest.mark.parametrize(("mode", "reason"), LEFT, ids=[mode for mode, _ in LEFT])
def test_a_host_kernel_that_gives_up_or_goes_wrong_leaves_the_task_to_filters(job: Job, mode: str, reason: str) -> None:
    for line_max in (65536, 0):  # by a pipe, by the file
        if line_max or not mode.startswith("long"):
            result, output = job.run(TEXT, mode, line_max=line_max)
            assert (result.status, output, result.message) == (TaskStatus.HOST_LEFT, b"", reason)


def test_records_that_it_did_not_count_leave_the_task_to_filters(job: Job) -> None:
    result, _ = job.run(TEXT, "short", line_max=65536)
    assert result.status is TaskStatus.HOST_LEFT
    assert result.message == "the host kernel's report says 99 records, and there are 100"


PLAIN = b"one\ntwo words\n" * 100


@pytest.mark.parametrize(("text", "options", "how"), [
    (PLAIN, {}, b"file"), (PLAIN, {"line_max": 1 << 20}, b"file"), (PLAIN, {"start": 2, "length": 17}, b"file"),
    (b"\xef\xbb\xbf" + PLAIN, {}, b"file"), (PLAIN[:-1], {"length": 30}, b"file"),
    (PLAIN[:-1], {}, b"pipe"), (PLAIN, {"line_max": 65536}, b"pipe"), (PLAIN, {"delimiter": b"o"}, b"pipe"),
    (PLAIN, {"skip_from": 1000}, b"pipe"), (PLAIN + b"\r\n", {}, b"pipe"), (PLAIN + b"\r", {}, b"pipe"),
    (PLAIN * 50 + b"end\r\n" + PLAIN * 50, {}, b"pipe"),
])
def test_a_file_s_own_bytes_are_read_without_a_pipe(job: Job, text: bytes, options: dict[str, object], how: bytes) -> None:
    filters, expected = job.run(text, None, **options)
    host, output = job.run(text, "", **options)
    assert host.ok, host.message
    assert output == expected
    assert {name: host.counters[name] for name in SAME} == {name: filters.counters[name] for name in SAME}
    progress = Progress()
    assert how in job.run(text, "how", progress, **options)[1]
    assert progress.bytes_in == host.counters["MAP_INPUT_BYTES"]
    assert progress.records_in == host.counters["MAP_INPUT_RECORDS"]


def test_every_cut_of_a_file_gives_the_bytes_of_filters(job: Job) -> None:
    text = b"a b\n\nlonger line\nc\n"
    for start in range(len(text)):
        for length in (1, 4, len(text) - start):
            options = {"start": start, "length": min(length, len(text) - start)}
            (filters, expected), (host, output) = (job.run(text, mode, **options) for mode in (None, ""))
            assert host.ok and output == expected, (options, host.message)
            assert {name: host.counters[name] for name in SAME} == {name: filters.counters[name] for name in SAME}


def test_one_that_wants_a_pipe_after_it_has_printed_begins_anew(job: Job) -> None:
    _, expected = job.run(PLAIN, None)
    program = job.compile_c(HOST.replace('if (memchr(', 'if (1) { printf("one\\t1\\n"); fflush(stdout); }\n  if (memchr('))
    host, output = job.run(PLAIN, "", host=FilterCommand([program], ["MODE=pipe"]), sort_bytes=100_000)
    assert host.ok and output == expected, host.message
    assert host.counters["COMBINE_OUTPUT_RECORDS"] == 3


def test_one_that_wants_a_pipe_and_has_one_is_left(job: Job) -> None:
    program = job.compile_c("int main(void) { return 92; }")
    result, _ = job.run(PLAIN, "", host=FilterCommand([program]))
    assert (result.status, result.message) == (TaskStatus.HOST_LEFT, "the host kernel failed: exit status 92")


def test_reading_the_file_is_progress(job: Job) -> None:
    """A byte now and then: the program is not silent, though it prints nothing before its end."""
    program = job.compile_c(HOST.replace("read(0, data + all, size - all)", "(usleep(150000), read(0, data + all, 4))"))
    result, _ = job.run(b"abc\n" * 6, "", host=FilterCommand([program]), timeout_seconds=0.6)
    assert result.ok, result.message


def test_a_key_that_is_there_twice_is_found_in_spills_too(job: Job) -> None:
    result, output = job.run(MANY + b"the\n", "twice", sort_bytes=100_000)
    assert result.status is TaskStatus.HOST_LEFT and output == b""
    assert "\"the\" was printed twice" in result.message


def test_a_program_that_is_not_there_leaves_the_task_to_filters(job: Job) -> None:
    result, _ = job.run(TEXT, "", host=FilterCommand([job.folder / "none"]))
    assert result.status is TaskStatus.HOST_LEFT and "No such file or directory" in result.message


def test_a_silent_host_kernel_is_told_from_others(job: Job) -> None:
    begun = time.monotonic()
    result, _ = job.run(TEXT, "silent", timeout_seconds=0.3)
    assert result.status is TaskStatus.HOST_SILENT and time.monotonic() - begun < 20
    assert "made no progress for 0.3 s" in result.message


def test_a_host_kernel_is_stopped_as_a_filter_is(job: Job) -> None:
    progress = Progress()
    progress.cancel()
    assert job.run(TEXT, "silent", progress)[0].status is TaskStatus.CANCELLED


def test_an_input_that_is_not_there_is_no_fault_of_the_host_kernel(job: Job) -> None:
    result, _ = job.run(TEXT, "", input=job.folder / "none")
    assert result.status is TaskStatus.IO_ERROR


@pytest.mark.parametrize("options", [{"combine": None}, {"reducers": 0}])
def test_one_that_folds_needs_a_combiner_and_reducers(job: Job, options: dict[str, object]) -> None:
    result, _ = job.run(TEXT, "", **options)
    assert result.status is TaskStatus.BAD_INPUT


def as_text(job: Job, mode: str = "", program: Path | None = None) -> dict[str, object]:
    """Options of one that prints the map's lines."""
    return {"host": FilterCommand([program or job.program, "text"], [f"MODE={mode}"]), "host_folds": False}


@pytest.mark.parametrize("text", [TEXT, b"one", b"a\r\nb\rc\n", b"\n\n", b"", PLAIN * 50 + b"end\r\n" + PLAIN * 50])
@pytest.mark.parametrize("options", [{"reducers": 0}, {"combine": None, "reducers": 3}, {"reducers": 3}])
def test_one_that_prints_pairs_gives_what_the_map_filter_gives(job: Job, text: bytes, options: dict[str, object]) -> None:
    filters, expected = job.run(text, None, **options)
    host, output = job.run(text, "", **options | as_text(job))
    assert filters.ok and host.ok, host.message
    assert output == expected and host.counters == filters.counters


@pytest.mark.parametrize("options", [{"combine": None}, {}])
def test_pairs_that_are_printed_spill(job: Job, options: dict[str, object]) -> None:
    _, expected = job.run(MANY, None, reducers=3, **options)
    host, output = job.run(MANY, "", reducers=3, sort_bytes=100_000, **options | as_text(job))
    assert host.ok and host.counters["SPILLS"] > 1 and output == expected
    assert {path.name for path in job.folder.glob("spill*")} == set()


@pytest.mark.parametrize(("mode", "reason"), [
    ("exits", "the host kernel failed: exit status 3"),
    ("left", "record 5: the output holds a carriage return, at which Hadoop cuts lines (source line 17)"),
    ("unread", "the host kernel's report says no text"),
    ("silent-report", "the host kernel's report says no records"),
    ("short", "the host kernel's report says 99 records, and there are 100"),
    ("miscounted", "the host kernel's report says 2901 bytes, and there are 2900"),
])
def test_one_that_prints_pairs_and_goes_wrong_is_left(job: Job, mode: str, reason: str) -> None:
    result, output = job.run(TEXT, "", reducers=0, line_max=65536, **as_text(job, mode))
    assert (result.status, output, result.message) == (TaskStatus.HOST_LEFT, b"", reason)


def test_one_that_prints_pairs_and_wants_a_pipe_begins_anew(job: Job) -> None:
    _, expected = job.run(PLAIN, None, reducers=0)
    program = job.compile_c(HOST.replace('if (memchr(', 'if (1) { printf("one\\t1\\n"); fflush(stdout); }\n  if (memchr('))
    host, output = job.run(PLAIN, "", reducers=0, **as_text(job, "pipe", program))
    assert host.ok and output == expected, host.message


# What it gets is printed as a pair, and another pair, and the rest of a line of stderr.
EPILOGUE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void) {
  char totals[100] = "";
  size_t n = fread(totals, 1, sizeof totals, stdin);
  fprintf(stderr, " line\n");
  if (getenv("SLEEPS")) sleep(60);
  if (getenv("FAILS")) return 3;
  if (!getenv("QUIET")) printf("the\t7\n%s%zu\t1\n", totals, n);
}
"""
BEHIND = "}\n  printf(\"the\\t7\\nabcd4\\t1\\n\");\n}\n"


@pytest.fixture
def epilogue(job: Job) -> FilterCommand:
    job.filters["map"] = FilterCommand([job.compile_c(WORDS.rstrip().removesuffix("}").rstrip().removesuffix("}") + BEHIND)])
    return FilterCommand([job.compile_c(EPILOGUE)])


@pytest.mark.parametrize("text", [TEXT, MANY, b"a\r\nb\rc\n", PLAIN * 50 + b"end\r\n"])
def test_pairs_of_the_epilogue_come_behind_those_of_records(job: Job, epilogue: FilterCommand, text: bytes) -> None:
    for options in ({"reducers": 3}, {"reducers": 3, "combine": None}, {"reducers": 0}):
        filters, expected = job.run(text, None, **options)
        more: dict[str, object] = {**options, **as_text(job, "totals"), "epilogue": epilogue}
        host, output = job.run(text, "", **more)
        assert host.ok and output == expected, host.message
        assert host.counters == filters.counters
        assert (job.folder / "log").read_bytes() == b"half a line\n"
    filters, expected = job.run(text, None, reducers=3)
    host, output = job.run(text, "totals", reducers=3, regroup=True, epilogue=epilogue)
    assert host.ok and output == expected, host.message
    assert {name: host.counters[name] for name in SAME} == {name: filters.counters[name] for name in SAME}


def test_an_epilogue_that_prints_nothing_changes_nothing(job: Job, epilogue: FilterCommand) -> None:
    job.filters["map"] = FilterCommand([job.compile_c(WORDS)])
    _, expected = job.run(TEXT, None)
    host, output = job.run(TEXT, "totals", epilogue=FilterCommand(epilogue.argv, ["QUIET=1"]))
    assert host.ok and output == expected, host.message


def test_an_empty_split_s_epilogue_runs_and_prints_for_no_one(job: Job, epilogue: FilterCommand) -> None:
    for options in (as_text(job, "totals"), {}):
        filters, expected = job.run(b"", None)
        host, output = job.run(b"", "totals", epilogue=epilogue, **options)
        assert host.ok and output == expected and host.counters == filters.counters, host.message
        result, _ = job.run(b"", "totals", epilogue=FilterCommand(epilogue.argv, ["FAILS=1"]), **options)
        assert result.status is TaskStatus.HOST_LEFT


def test_an_epilogue_that_fails_or_whose_pairs_cannot_be_combined_leaves_the_task(job: Job, epilogue: FilterCommand) -> None:
    result, output = job.run(TEXT, "totals", regroup=True, epilogue=FilterCommand(epilogue.argv, ["FAILS=1"]))
    assert (result.status, output) == (TaskStatus.HOST_LEFT, b"")
    assert result.message == "the code behind the region could not be run alone: exit status 3"
    result, output = job.run(TEXT, "totals", epilogue=epilogue)
    assert (result.status, output) == (TaskStatus.HOST_LEFT, b"")
    assert "prints pairs, and those before are combined already" in result.message
    silent = FilterCommand(epilogue.argv, ["SLEEPS=1"])
    result, output = job.run(TEXT, "totals", regroup=True, epilogue=silent, timeout_seconds=0.3)
    assert (result.status, output) == (TaskStatus.HOST_SILENT, b"")


def test_lines_that_may_be_combined_again_are_none_of_one_that_prints_pairs(job: Job) -> None:
    assert job.run(TEXT, "", regroup=True, **as_text(job))[0].status is TaskStatus.BAD_INPUT


def test_live_ins_are_read_from_the_start_by_every_task(job: Job) -> None:
    given = LiveInsFile(LiveIns(b"abcd", (b"xy", b""), (Relocation(0, 8, 3),)))
    numbers = (4, 2, 1, 2, 0, 0, 8, 3)
    expected = b"".join(n.to_bytes(8, "little") for n in numbers) + b"abcdxy"
    for _ in range(2):
        result, output = job.run(b"a\n", "live-ins", live_ins=given.fd)
        assert result.ok and b"live-ins:" + expected.hex().encode() in output


@pytest.mark.parametrize("low", [False, True])
def test_a_host_kernel_has_its_five_descriptors_and_no_more(job: Job, low: bool) -> None:
    """Whatever numbers the descriptors have here."""
    given = LiveInsFile(LiveIns(b"abcd"))
    copies = [os.dup(given.fd) for _ in range(20)]
    fd = min([*copies, given.fd]) if low else max(copies)
    try:
        result, output = job.run(b"a\n", "descriptors", live_ins=fd)
    finally:
        for copy in copies:
            os.close(copy)
    assert result.ok and [b"fd%d" % n in output for n in range(6)] == [True] * 5 + [False]


def test_without_live_ins_there_is_no_fifth_descriptor(job: Job) -> None:
    result, output = job.run(b"a\n", "descriptors")
    assert result.ok and b"fd3" in output and b"fd4" not in output


def test_live_ins_that_cannot_be_opened_leave_the_task_to_filters(job: Job) -> None:
    result, _ = job.run(b"a\n", "live-ins", live_ins=999)
    assert result.status is TaskStatus.HOST_LEFT and "no live-ins for a host kernel" in result.message
