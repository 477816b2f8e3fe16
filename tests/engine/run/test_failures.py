"""Jobs that do not end well: the message, the exit code, and that nothing is left but the report."""

from __future__ import annotations

import errno
import gzip
import json
import os
import threading
from pathlib import Path

import pytest

from heterodoop.engine.job.layout import Layout
from heterodoop.engine.run import commit, job_report, local
from heterodoop.engine.run.plan import RunOptions
from heterodoop.errors import (
    EXIT_JOB_FAILED,
    EXIT_LIMITATION,
    EXIT_USAGE,
    HeteroDoopError,
    JobFailed,
    Limitation,
    UsageError,
)
from heterodoop.executor.native.runtime import MapSpec, Progress, TaskResult

from ..conftest import CAT, SUM, WORDS, names, parts
from ..worker_jobs import children

BAD_RECORD = r"""
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  char *line = NULL; size_t cap = 0;
  while (getline(&line, &cap, stdin) != -1) {
    if (line[0] == '!') { fprintf(stderr, "bad record \xff\nreporter:counter:g,c,1\n"); exit(3); }
    printf("k\t1\n");
  }
  return 0;
}
"""
GROWS = """
#include <stdlib.h>
#include <unistd.h>
int main(void) {
  volatile char *kept = malloc(40 << 20);
  for (int i = 0; i < 40 << 20; i += 4096) kept[i] = 1;
  for (;;) pause();
}
"""
CRASH = "#include <stdlib.h>\nint main(void) { abort(); }"
ONCE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  char path[4096]; int c; FILE *f;
  const char *attempt = getenv("mapreduce_task_attempt_id");
  snprintf(path, sizeof path, "%s/left", getenv("mapreduce_task_output_dir"));
  f = fopen(path, "w"); fclose(f); f = fopen("in_cwd", "w"); fclose(f);
  while ((c = getchar()) != EOF) putchar(c);
  if (attempt[strlen(attempt) - 1] == '0') { fprintf(stderr, "reporter:counter:g,tries,1\nfirst try\n"); return 1; }
  return 0;
}
"""
TWO_KEYS = r"""
#include <stdio.h>
int main(void) { int c; while ((c = getchar()) != EOF) if (c == '\n') puts("key1\t1\nkey2\t1"); return 0; }
"""


def put(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def refused(run, code: str, *args: object, **options: object) -> HeteroDoopError:
    with pytest.raises(HeteroDoopError) as caught:
        run(*args, **options)
    assert caught.value.code == code, caught.value.message
    return caught.value


# Refused before any work


def test_an_existing_output_is_refused_before_anything_else_and_left_alone(bundle, run, tmp_path: Path):
    put(tmp_path / "out/x", b"keep")
    error = refused(run, "HD020", tmp_path / "no-bundle", "no-input", settings=["nonsense"])
    assert error.exit_code == EXIT_USAGE and str(tmp_path / "out") in error.message
    assert (tmp_path / "out/x").read_bytes() == b"keep" and names(tmp_path) == ["out"]
    put(tmp_path / "file", b"")
    assert refused(run, "HD020", tmp_path, "x", out="file").exit_code == EXIT_USAGE
    os.symlink(tmp_path / "nowhere", tmp_path / "link")
    refused(run, "HD020", tmp_path, "x", out="link")


def test_what_a_killed_job_left_is_named_as_such(run, tmp_path: Path):
    (tmp_path / "out/_temporary").mkdir(parents=True)
    assert "was killed" in refused(run, "HD020", tmp_path, "x").help


def test_an_output_that_cannot_be_made(run, tmp_path: Path):
    put(tmp_path / "file", b"")
    for out in ("file/out", "a/" + "n" * 300):
        error = refused(run, "HD021", tmp_path, "x", out=out)
        assert isinstance(error, UsageError) and names(tmp_path) == ["file"]


def test_a_current_folder_that_is_gone(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(UsageError) as caught:
        local.run_local(Path("x"), ["x"], "out")
    assert caught.value.code == "HD021"


def test_a_link_in_our_own_report_is_not_followed(bundle, run, tmp_path: Path):
    source = put(tmp_path / "in", b"a\n")
    first = run(bundle(CAT), source)
    first.output.rename(tmp_path / "kept")
    put(tmp_path / "precious/x", b"")
    os.symlink(tmp_path / "precious", first.report_folder / "logs")
    run(bundle(CAT), source)
    assert names(tmp_path / "precious") == ["x"]


def test_an_output_elsewhere_is_a_limitation(bundle, tmp_path: Path):
    with pytest.raises(Limitation) as caught:
        local.run_local(tmp_path, ["x"], "hdfs://host/out")
    assert (caught.value.code, caught.value.exit_code) == ("HD013", EXIT_LIMITATION)


@pytest.mark.parametrize("content", [None, b"[]", b"{}", b"\xff", b'{"format": "other"}'])
def test_a_report_folder_that_is_not_ours_is_left_alone(bundle, run, tmp_path: Path, content: bytes | None):
    put(tmp_path / "out.report/notes.txt", b"mine")
    if content is not None:
        put(tmp_path / "out.report/report.json", content)
    before = names(tmp_path / "out.report")
    refused(run, "HD022", bundle(CAT), put(tmp_path / "in", b"a\n"))
    assert names(tmp_path / "out.report") == before and not (tmp_path / "out").exists()


def test_a_file_or_link_where_the_report_goes_is_left_alone(bundle, run, tmp_path: Path):
    source = put(tmp_path / "in", b"a\n")
    put(tmp_path / "out.report", b"mine")
    refused(run, "HD022", bundle(CAT), source)
    os.symlink(tmp_path, tmp_path / "b.report")
    refused(run, "HD022", bundle(CAT), source, out="b")


def test_a_report_folder_that_cannot_be_made_leaves_no_output(bundle, run, tmp_path: Path):
    error = refused(run, "HD021", bundle(CAT), put(tmp_path / "in", b"a\n"), out="n" * 250)
    assert "report folder" in error.message and not (tmp_path / ("n" * 250)).exists()


@pytest.mark.parametrize(("options", "code"), [
    ({"reducers": "-1"}, "HD032"), ({"reducers": "1.5"}, "HD032"), ({"reducers": "abc"}, "HD032"),
    ({"reducers": ""}, "HD032"), ({"reducers": "100001"}, "HD032"),
    ({"cpu_slots": "0"}, "HD032"), ({"split_size": "0"}, "HD032"),
    ({"split_size": "1.5m"}, "HD032"), ({"max_attempts": "0"}, "HD032"), ({"record_delimiter": ""}, "HD032"),
    ({"settings": ["x"]}, "HD030"), ({"settings": ["mapreduce.job.reduces=-1"]}, "HD030"),
    ({"settings": ["mapreduce.map.skip.maxrecords=1"]}, "HD031"),
    ({"files": ["missing"]}, "HD033"), ({"files": [""]}, "HD033"), ({"files": ["/etc/passwd#a/b"]}, "HD033"),
    ({"files": ["/etc/passwd#.."]}, "HD033"), ({"files": ["/etc/passwd", "/etc/group#passwd"]}, "HD033"),
])
def test_options_that_cannot_be_leave_nothing(bundle, run, tmp_path: Path, options: dict[str, object], code: str):
    error = refused(run, code, bundle(CAT), put(tmp_path / "in", b"a\n"), out="new/out", **options)
    assert error.exit_code == EXIT_USAGE and not (tmp_path / "new").exists() and not (tmp_path / "out.report").exists()


def test_a_bundle_or_input_that_is_not_there_leaves_nothing(bundle, run, tmp_path: Path):
    source = put(tmp_path / "in", b"a\n")
    refused(run, "HD312", tmp_path, source)
    refused(run, "HD010", bundle(CAT), tmp_path / "missing")
    refused(run, "HD014", bundle(CAT), put(tmp_path / "x.xz", b""))
    put(tmp_path / "sub/a", b"")
    put(tmp_path / "sub/sub/a", b"")
    assert "sub/sub" in refused(run, "HD011", bundle(CAT), tmp_path / "sub").message
    assert not (tmp_path / "out").exists() and not (tmp_path / "out.report").exists()


def test_a_filter_that_was_changed_is_refused(bundle, run, tmp_path: Path):
    app = bundle(CAT)
    put(app / "bin/map", b"#!/bin/sh\ntouch PWNED\n")
    refused(run, "HD313", app, put(tmp_path / "in", b"a\n"))


# Failed tasks


def test_a_failing_filter_fails_the_job_with_all_one_needs_to_know(bundle, run, tmp_path: Path):
    source = put(tmp_path / "in file", b"a\nbb\n!\nc\n")
    app = bundle(BAD_RECORD, SUM, SUM)
    error = refused(run, "HD401", app, source, split_size=4)
    assert isinstance(error, JobFailed) and error.exit_code == EXIT_JOB_FAILED
    log = tmp_path / "out.report/logs/m_000001_3.log"
    for text in ("map task 1 failed in 4 attempts", "exit status 3", str(app / "bin/map"), f"{source}, bytes 4 to 8",
                 r"bad record \xff", str(log)):
        assert text in error.message
    assert not (tmp_path / "out").exists(), "no part file, no _SUCCESS, no temporary file"
    logged = log.read_bytes()
    assert logged.startswith(b"bad record \xff\n") and b"exit status 3" in logged and b"reporter" not in logged
    report = json.loads((tmp_path / "out.report/report.json").read_text())
    assert (report["state"], report["error"]["code"]) == ("failed", "HD401")
    assert report["tasks"]["map"]["failed_attempts"] == 4 == len(report["failures"])
    assert report["user_counters"] == {}, "counters of failed attempts do not count"


def test_a_signal_is_named(bundle, run, tmp_path: Path):
    error = refused(run, "HD401", bundle(CRASH), put(tmp_path / "in", b"a\n"), max_attempts="1")
    assert "signal 6" in error.message and "in its first attempt" in error.message


def test_a_failing_reducer_names_its_partition(bundle, run, tmp_path: Path):
    error = refused(run, "HD401", bundle(CAT, "", BAD_RECORD), put(tmp_path / "in", b"!\n"), reducers=3, max_attempts=2)
    assert "reduce task" in error.message and "of 3" in error.message and "bin/reduce" in error.message
    assert not (tmp_path / "out").exists()


def test_a_failing_combiner_fails_the_job(bundle, run, tmp_path: Path):
    error = refused(run, "HD401", bundle(CAT, BAD_RECORD), put(tmp_path / "in", b"!\n"), reducers=1, max_attempts=1)
    assert "combiner" in error.message and "bin/combine" in error.message


@pytest.mark.parametrize("kind", ["map", "reduce"])
def test_a_filter_that_uses_more_memory_than_it_may_fails_its_attempts(bundle, run, tmp_path: Path, kind: str):
    app = bundle(GROWS) if kind == "map" else bundle(CAT, "", GROWS)
    setting = f"mapreduce.{kind}.memory.mb"
    error = refused(run, "HD437", app, put(tmp_path / "in", b"a\n"), max_attempts=2,
                    settings=[f"{setting}=16", "mapreduce.task.timeout=60000"])
    said = f"bin/{kind}, with what it started, used "
    for text in (f"{kind} task 0", "failed in 2 attempts", said, "and may use 16 MiB", f"({setting})"):
        assert text in error.message


@pytest.mark.parametrize("kind", ["map", "reduce"])
def test_a_task_that_fails_once_is_tried_again_and_its_first_try_leaves_nothing(bundle, run, tmp_path: Path, kind: str):
    app = bundle(ONCE) if kind == "map" else bundle(CAT, "", ONCE)
    result = run(app, put(tmp_path / "in", b"a\n"))
    assert parts(result.output) == [b"a\t\n"] and names(result.output) == ["_SUCCESS", "left", "part-00000"]
    assert result.report["tasks"][kind] == {"planned": 1, "done": 1, "attempts": 2, "failed_attempts": 1}
    assert result.report["user_counters"] == {}
    assert names(result.report_folder / "logs") == [f"{kind[0]}_000000_0.log"]


def test_attempts_by_setting(bundle, run, tmp_path: Path):
    source = put(tmp_path / "in", b"a\n")
    refused(run, "HD401", bundle(ONCE), source, settings=["mapreduce.map.maxattempts=1"])
    refused(run, "HD401", bundle(CAT, "", ONCE), source, settings=["mapred.reduce.max.attempts=1"])


def test_a_combiner_that_changes_keys_fails_and_the_key_is_named(bundle, run, tmp_path: Path):
    error = refused(run, "HD403", bundle(CAT, TWO_KEYS), put(tmp_path / "in", b"x\n" * 6), reducers=2, max_attempts=1)
    assert "key1" in error.message or "key2" in error.message


def test_a_program_that_cannot_be_started_is_not_tried_again(bundle, run, tmp_path: Path):
    app, source = bundle(CAT), put(tmp_path / "in", b"a\n")
    (app / "bin/map").chmod(0o644)
    error = refused(run, "HD402", app, source)
    assert "in its first attempt" in error.message and "Permission denied" in error.message


def test_an_environment_that_is_too_large(bundle, run, tmp_path: Path):
    settings = ["stream.jobconf.truncate.limit=-1", "big=" + "x" * (130 << 10)]
    error = refused(run, "HD402", bundle(CAT), put(tmp_path / "in", b"a\n"), settings=settings)
    assert os.strerror(errno.E2BIG) in error.message


@pytest.mark.parametrize("name", ["in.gz", "in.bz2"])
def test_a_damaged_compressed_file_is_named(bundle, run, tmp_path: Path, name: str):
    source = put(tmp_path / name, gzip.compress(b"one\n" * 1000)[:-9])
    error = refused(run, "HD404", bundle(WORDS, SUM, SUM), source)
    assert str(source) in error.message and not (tmp_path / "out").exists()


def test_other_tasks_are_killed_when_the_job_fails(bundle, run, tmp_path: Path):
    source = put(tmp_path / "in", b"!" + b" " * 998 + b"\n" + b"a\n" * 500)
    sleeper = r"""
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void) { if (atoi(getenv("mapreduce_task_partition")) == 0) return 9; sleep(600); return 0; }
"""
    compiled = bundle(sleeper)
    before = set(children(b""))
    error = refused(run, "HD401", compiled, source, split_size=1000, cpu_slots=2, max_attempts=1)
    assert "exit status 9" in error.message and set(children(b"")) <= before
    rows = [json.loads(line) for line in (tmp_path / "out.report/attempts.jsonl").read_text().splitlines()]
    assert [row["outcome"] for row in rows] == ["failed", "cancelled"]


# Faults around the tasks


def test_a_commit_that_fails_ends_the_job(bundle, run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "/x")

    source = put(tmp_path / "in", b"a\nb\nc\nd\n")
    monkeypatch.setattr(commit, "_move_into", full)
    error = refused(run, "HD406", bundle(CAT), source, split_size=2)
    assert "No space left" in error.message and isinstance(error, JobFailed)
    assert not (tmp_path / "out").exists()
    assert json.loads((tmp_path / "out.report/report.json").read_text())["error"]["code"] == "HD406"


def test_a_final_commit_that_fails_leaves_no_output(bundle, run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    real = commit._move_into

    def fail_late(source: str, target: str) -> None:
        real(source, target)
        if target == str(tmp_path / "out"):
            raise OSError(errno.EIO, "Input/output error", target)

    monkeypatch.setattr(commit, "_move_into", fail_late)
    refused(run, "HD406", bundle(CAT), put(tmp_path / "in", b"a\n"))
    assert not (tmp_path / "out").exists()


def test_a_task_that_cannot_use_its_files_says_why(bundle, run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def full(path: object, *_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(local.AttemptRunner, "_place", lambda *_: full("/x"))
    error = refused(run, "HD405", bundle(CAT), put(tmp_path / "in", b"a\n"), max_attempts=2)
    assert "/x: No space left on device" in error.message


def test_a_report_that_cannot_be_written_costs_no_result(bundle, run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def full(folder: Path, content: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(job_report, "conclude", full)
    result = run(bundle(CAT), put(tmp_path / "in", b"a\n"))
    assert [w.code for w in result.warnings] == ["HD036"] and (result.output / "_SUCCESS").exists()


def test_a_bug_in_an_executor_is_raised_as_it_is_after_the_clean_up(bundle, tmp_path: Path):
    class Broken:
        def map_task(self, spec: MapSpec, progress: Progress | None = None) -> TaskResult:
            raise RuntimeError("bug")

    before = threading.active_count()
    source = put(tmp_path / "in", b"a\nb\n")
    with pytest.raises(RuntimeError, match="bug"):
        options = RunOptions(split_size=2, quiet=True)
        local.run_local(bundle(CAT), [str(source)], str(tmp_path / "out"), options, runner=Broken())  # type: ignore[arg-type]
    assert not (tmp_path / "out").exists() and threading.active_count() == before
    assert json.loads((tmp_path / "out.report/report.json").read_text())["state"] == "failed"


def test_parents_that_somebody_else_used_meanwhile_stay(tmp_path: Path):
    reservation = commit.reserve(str(tmp_path / "a/b/out"))
    put(tmp_path / "a/other", b"")
    reservation.discard()
    assert names(tmp_path / "a") == ["other"]


def test_files_of_several_tasks_may_share_a_folder(tmp_path: Path):
    layout: Layout = commit.reserve(str(tmp_path / "out")).layout
    for task in ("1", "2"):
        put(layout.done / f"x{task}/y", b"")
        (layout.done / "shared").mkdir(exist_ok=True)
        put(tmp_path / f"t{task}/shared/f{task}", b"")
        commit._move_into(str(tmp_path / f"t{task}"), str(layout.done))
    commit.commit_job(layout)
    assert names(tmp_path / "out/shared") == ["f1", "f2"] and names(tmp_path / "out") == ["_SUCCESS", "shared", "x1", "x2"]
