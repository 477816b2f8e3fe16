"""Lines that are too long end a job by name, on either side; those that Hadoop passes over are passed over on both."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from ...support import Bundles, cli_here
from ..conftest import parts

pytestmark = pytest.mark.usefixtures("kernel_cache")
# Prints what a line holds, as often as its first digit says, without an end between.
REPEAT = r"""
#include <stdio.h>
#include <string.h>
int main(void) {
  static char line[200000];
  int i, n, length;
#pragma mapreduce mapper key(line) value(n) keylength(200000)
  while (fgets(line, sizeof line, stdin) != NULL) {
    n = line[0] - '0';
    length = (int)strlen(line) - 1;
    for (i = 0; i < n; i++)
      printf("%.*s", length, line);
    printf("\t%d\n", n);
  }
  return 0;
}
"""
LIMIT = 64 << 10
SHORT = ["-D", f"heterodoop.line.max.bytes={LIMIT}"]


@pytest.fixture
def repeat(bundles: Bundles) -> Path:
    return bundles.get(REPEAT)


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("name", ["in", "in.gz"])
def test_a_record_without_end_ends_the_job(repeat: Path, tmp_path: Path, device: str, name: str) -> None:
    data = b"1\n1 short\n" + b"1" * (LIMIT + 1) + b"\n"
    source = tmp_path / name
    source.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    done = cli_here("run", repeat, source, "-o", tmp_path / "out", "--device", device, *SHORT, status=1)
    assert "[HD051]: map task 0 failed in its first attempt" in done.message
    assert str(source) in done.message and f"begins at byte 10 has more than {LIMIT} bytes" in done.message
    assert not (tmp_path / "out").exists()
    cli_here("run", repeat, source, "-o", tmp_path / "longer", "--device", device)


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("reducers", [0, 1])
def test_a_line_of_output_without_end_ends_the_job(repeat: Path, tmp_path: Path, device: str, reducers: int) -> None:
    source = tmp_path / "in"
    source.write_bytes(b"1\n3" + b"x" * (LIMIT // 2) + b"\n")
    job = "run", repeat, source, "-r", reducers, "--device", device
    done = cli_here(*job, "-o", tmp_path / "out", *SHORT, status=1)
    assert "[HD052]: map task 0 failed in its first attempt" in done.message
    assert f"the map filter printed a line of more than {LIMIT} bytes" in done.message
    cli_here(*job, "-o", tmp_path / "longer")


def test_lines_that_are_passed_over_are_so_on_either_side(repeat: Path, tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.write_bytes(b"1 a\n1 much longer\r\n1 b\r\n1 too\r1 four\n1 end is long")
    options = "-r", 0, "-D", "mapred.linerecordreader.maxlength=6", "--split-size", 9
    for device in ("cpu", "emulated"):
        cli_here("run", repeat, source, "-o", tmp_path / device, "--device", device, *options)
        assert b"".join(parts(tmp_path / device)) == b"1 a\t1\n1 b\t1\n"
