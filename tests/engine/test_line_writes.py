"""Programs that write into the line. In C its buffer goes on behind the line; on a device the next record may lie there."""

from __future__ import annotations

from pathlib import Path

import pytest

from heterodoop.engine.run.plan import RunOptions
from heterodoop.engine.verify.verify import verify

pytestmark = pytest.mark.usefixtures("kernel_cache")
# One letter at the line's start says what is done to it.
WRITES = r"""
#include <stdio.h>
#include <string.h>
static void put(char *to, long at, char c) { to[at] = c; }
int main(void) {
  char *line = NULL, own[100];
  size_t cap = 0;
  long length;
#pragma mapreduce mapper key(own) value(length)
  while ((length = getline(&line, &cap, stdin)) != -1) {
    if (line[0] == 'a') { line[length - 1] = '!'; line[length] = '!'; line[length + 1] = '\0'; }
    if (line[0] == 'c') line[80] = '\0';
    strcpy(own, "own");
    put(own, 0, '-');
    put(line, line[0] == 'h' ? 90 : length - 1, '\0');
    printf("%s %s\t%ld\n", line, own, length);
  }
  return 0;
}
"""


@pytest.mark.parametrize(("lines", "outcome"), [
    (b"plain\nb\nno end", "equal"),
    (b"plain\nappends\nb\n", "cpu-only"),
    (b"plain\ncuts at a column that it does not reach\nb\n", "cpu-only"),
    (b"c" * 100 + b"\nplain\n", "equal"),
    (b"plain\nhelper writes behind it\nb\n", "cpu-only"),
])
def test_a_write_behind_the_line_is_left_to_the_cpu(bundles, tmp_path: Path, lines: bytes, outcome: str) -> None:
    path = tmp_path / "in"
    path.write_bytes(lines)
    (verdict,) = verify(bundles.get(WRITES), (str(path),), RunOptions(device="emulated"), tell=lambda verdict: None).verdicts
    assert verdict.outcome == outcome
