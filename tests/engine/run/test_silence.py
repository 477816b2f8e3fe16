"""Attempts without progress: mapreduce.task.timeout ends them, whatever of a job hangs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from heterodoop.errors import EXIT_JOB_FAILED

from ..conftest import CAT, SUM
from .test_failures import put, refused

HANGS = "#include <unistd.h>\nint main(void) { for (;;) pause(); }"


@pytest.mark.parametrize("role", ["map", "combine", "reduce"])
def test_a_program_that_hangs_is_stopped_and_fails_as_any_other(bundle, run, tmp_path: Path, role: str):
    programs = {"map": CAT, "combine": SUM, "reduce": SUM, role: HANGS}
    put(tmp_path / "in", b"a\t1\n")
    made = bundle(programs["map"], programs["combine"], programs["reduce"])
    error = refused(run, "HD430", made, tmp_path / "in", max_attempts=2, settings=["mapreduce.task.timeout=300"])
    assert error.exit_code == EXIT_JOB_FAILED and "in 2 attempts" in error.message
    assert "made no progress for 0.3 s" in error.message and not (tmp_path / "out").exists()


SPINS = """
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  char word[30], *line = NULL; size_t n = 0; int one = 1, base = 1;
  while (getenv("SPIN") != NULL) base ^= 2;
#pragma mapreduce mapper key(word) value(one) keylength(30) vallength(1)
  while (getline(&line, &n, stdin) != -1) { sprintf(word, "k"); one = base; printf("%s\\t%d\\n", word, one); }
  return 0;
}
"""


def test_code_before_the_loop_that_never_ends_is_stopped_on_a_device_and_run_there_once(
    bundles, kernel_cache, run, tmp_path: Path,
):
    put(tmp_path / "in", b"a\n" * 400)
    settings = ["mapreduce.task.timeout=300", "stream.addenvironment=SPIN=1"]
    error = refused(
        run, "HD430", bundles.get(SPINS), tmp_path / "in", device="emulated", split_size=400, cpu_slots=2, max_attempts=2,
        settings=settings,
    )
    assert "made no progress for 0.3 s" in error.message
    rows = [json.loads(line) for line in (tmp_path / "out.report/attempts.jsonl").read_text().splitlines()]
    assert all("could not be run alone" in row["reason"] for row in rows if "reason" in row)
