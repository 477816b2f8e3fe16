"""Attempts without progress on the emulated device: mapreduce.task.timeout ends kernels, and the filters behind them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from heterodoop.errors import EXIT_JOB_FAILED

from ...support import COMMAND, Bundles, environment
from ..conftest import CAT
from ..run.test_failures import put, refused
from ..run.test_silence import HANGS

pytestmark = pytest.mark.usefixtures("kernel_cache")
LINES = """
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  char word[30], *line = NULL; size_t n = 0; int one = 1; const char *p;
#pragma mapreduce mapper key(word) value(one) keylength(30) vallength(1)
  while (getline(&line, &n, stdin) != -1) { sprintf(word, "k"); BODY printf("%s\\t%d\\n", word, one); }
  return 0;
}
"""


@pytest.mark.parametrize("role", ["combine", "reduce"])
def test_a_filter_behind_a_kernel_that_hangs_is_stopped(bundles: Bundles, run, tmp_path: Path, role: str) -> None:
    put(tmp_path / "in", b"a\n")
    made = bundles.get(LINES.replace("BODY", ""), **{"reduce": CAT, role: HANGS})
    error = refused(run, "HD430", made, tmp_path / "in", device="emulated", max_attempts=1,
                    settings=["mapreduce.task.timeout=300"])
    assert "made no progress for 0.3 s" in error.message and not (tmp_path / "out").exists()


def test_a_kernel_that_never_ends_ends_the_job(bundles: Bundles, tmp_path: Path) -> None:
    """In a process of its own: nobody can stop its thread."""
    put(tmp_path / "in", b"a\n")
    made = bundles.get(LINES.replace("BODY", "p = line; while (*p != ';') if (*p != '\\n') p++;"))
    job = ["run", made, tmp_path / "in", "-o", tmp_path / "out", "--device", "emulated", "-D", "mapreduce.task.timeout=300"]
    done = subprocess.run([*COMMAND, *map(str, job)], env=environment(), capture_output=True, timeout=60, check=False)
    assert done.returncode == EXIT_JOB_FAILED and b"[HD430]" in done.stderr, done.stderr
    assert b"the kernel of map task 0 made no progress for 0.3 s" in done.stderr and not (tmp_path / "out").exists()
