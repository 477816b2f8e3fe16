"""Filters that crash again and again, and inputs that change: told after as few attempts as say what is wrong."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from heterodoop.engine.run import local
from heterodoop.engine.run.plan import RunOptions
from heterodoop.errors import JobFailed
from heterodoop.executor.native.runtime import MapSpec, Native, Progress, TaskResult

from ..conftest import CAT
from .test_failures import put, refused

POISON = r"""
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  char *line = NULL; size_t cap = 0; int n = 0;
  while (getline(&line, &cap, stdin) != -1) {
    n++;
    if (strncmp(line, "poison", 6) == 0) { fprintf(stderr, "at %d\n", n); raise(SIGSEGV); }
    printf("%s", line);
  }
  return 0;
}
"""


@pytest.mark.parametrize(("before", "behind"), [(0, 0), (0, 5), (40_000, 40_000)])
def test_a_filter_that_crashes_twice_on_one_record_is_not_tried_again(
    bundle, run, tmp_path: Path, before: int, behind: int,
):
    text = b"".join(b"line %d\n" % n for n in range(before)) + b"poison\n" + b"more\n" * behind
    error = refused(run, "HD401", bundle(POISON), put(tmp_path / "in", text))
    last = "(, or behind it, the last one)?" if not behind else ""  # said where the input's end came before the crash
    where = f'on record {before + 1} of its split, "poison"{last}; the attempt before'
    assert "failed in 2 attempts" in error.message and "signal 11 (Segmentation fault)" in error.message
    assert re.search(where, error.message) and f"at {before + 1}" in error.message


@pytest.mark.parametrize(("role", "of"), [("combine", "its input"), ("reduce", "its partition")])
@pytest.mark.parametrize("sort_bytes", [0, 65536])  # one run of the combiner, or several
def test_a_combiner_or_reducer_that_crashes_twice_on_one_record(
    bundle, run, tmp_path: Path, role: str, of: str, sort_bytes: int,
):
    text = b"".join(b"line %05d\n" % n for n in range(20_000)) + b"poison\n" + b"zebra %05d\n" % 7 * 9000
    app = bundle(CAT, **{role: POISON}, fold=role == "combine")
    settings = [f"heterodoop.sort.bytes={sort_bytes}"] if sort_bytes else []
    error = refused(run, "HD401", app, put(tmp_path / "in", text), reducers=1, settings=settings)
    assert "failed in 2 attempts" in error.message and "signal 11 (Segmentation fault)" in error.message
    assert re.search(rf'on record \d+ of {of}, "poison\\x09"; the attempt before', error.message)


@pytest.mark.parametrize("role", ["map", "combine", "reduce"])
def test_a_filter_that_fails_by_its_status_is_tried_again_and_its_record_named(bundle, run, tmp_path: Path, role: str):
    leaving = POISON.replace("raise(SIGSEGV)", "exit(3)")
    app = bundle(leaving) if role == "map" else bundle(CAT, **{role: leaving})
    error = refused(run, "HD401", app, put(tmp_path / "in", b"line\npoison\nzebra\n" * 3), reducers=1, max_attempts=3)
    assert "failed in 3 attempts" in error.message and "exit status 3 on record" in error.message
    assert '"poison' in error.message and "not tried again" not in error.message


def test_a_filter_that_crashes_on_different_records_is_tried_as_often_as_it_may(bundle, run, tmp_path: Path):
    source = put(tmp_path / "in", b"line\n" * 200_000)
    error = refused(run, "HD401", bundle(CRASH_ANYWHERE), source)
    assert "failed in 4 attempts" in error.message and "signal 6" in error.message


CRASH_ANYWHERE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  char *line = NULL; size_t cap = 0; int n = 0;
  int attempt = atoi(strrchr(getenv("mapreduce_task_attempt_id"), '_') + 1);
  while (getline(&line, &cap, stdin) != -1)
    if (n++ == 40000 * (attempt + 1)) abort();
  return 0;
}
"""


@pytest.mark.parametrize(("change", "what"), [
    (lambda path: path.write_bytes(b"abc\n"), "4 bytes long, and was 8"), (os.unlink, "is not there any more"),
    (lambda path: path.write_bytes(b"abc\ndeg\n"), "was written to"),
    (lambda path: os.replace(shutil.copy2(path, f"{path}2"), path), "was replaced"),
])
@pytest.mark.parametrize("late", [False, True])
def test_an_input_that_changes_while_the_job_runs_ends_it(bundle, tmp_path: Path, change, what: str, late: bool):
    """Before the task has read it, and after: its other tasks have read the file that was."""
    source = put(tmp_path / "in", b"abc\ndef\n")
    os.utime(source, (1, 1))

    class Vandal:
        def map_task(self, spec: MapSpec, progress: Progress | None = None) -> TaskResult:
            if not late:
                change(source)
            result = Native.load().map_task(spec, progress)
            if late:
                change(source)
            return result

    with pytest.raises(JobFailed, match=what) as caught:
        options = RunOptions(split_size=4, cpu_slots=1, quiet=True)
        local.run_local(bundle(CAT), [str(source)], str(tmp_path / "out"), options, runner=Vandal())  # type: ignore[arg-type]
    assert caught.value.code == "HD049"
    assert "in its first attempt" in caught.value.message and str(source) in caught.value.message
    assert not (tmp_path / "out").exists()


def test_an_input_that_changes_after_its_last_task_ends_the_job(bundle, tmp_path: Path):
    """Its one task is done when the other file's begins."""
    first, second = put(tmp_path / "a", b"abc\n"), put(tmp_path / "b", b"def\n")

    class Vandal:
        def map_task(self, spec: MapSpec, progress: Progress | None = None) -> TaskResult:
            if spec.input == str(second):
                first.write_bytes(b"abd\n")
            return Native.load().map_task(spec, progress)

    os.utime(first, (1, 1))
    with pytest.raises(JobFailed, match="was written to") as caught:
        options = RunOptions(cpu_slots=1, quiet=True)
        local.run_local(bundle(CAT), [str(first), str(second)], str(tmp_path / "out"), options, runner=Vandal())  # type: ignore[arg-type]
    assert caught.value.code == "HD049" and str(first) in caught.value.message and not (tmp_path / "out").exists()
