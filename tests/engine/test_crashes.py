"""Filters that crash again and again, and inputs that change: told after as few attempts as say what is wrong."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from heterodoop.engine import local
from heterodoop.engine.plan import RunOptions
from heterodoop.errors import JobFailed
from heterodoop.executor.native import MapSpec, Native, Progress, TaskResult

from .conftest import CAT
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
    if (strcmp(line, "poison\n") == 0) { fprintf(stderr, "at %d\n", n); raise(SIGSEGV); }
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
