"""Records for which one thread of a device would take long are done by the host kernel in the same task: the same bytes, in
the same order, whatever becomes of the pairs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from heterodoop.engine.run.local import JobResult

from ..support import Bundles
from .conftest import SUM, parts
from .test_emulated_jobs import app, both, job

__all__ = ["app", "job"]
pytestmark = pytest.mark.usefixtures("kernel_cache")
LONG = 131_072  # steps/kernels.h: long_record
# Has live-ins with a pointer, counters and stderr. `leap` makes a record fail by what it reads of a table.
WEIGHED = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  char *line = NULL, *word;
  size_t cap = 0;
  int *weights, weight, i;
  weights = malloc(26 * sizeof *weights);
  for (i = 0; i < 26; i++) weights[i] = i * i;
#pragma mapreduce mapper key(word) value(weight) keylength(30)
  while (getline(&line, &cap, stdin) != -1) {
    fprintf(stderr, "reporter:counter:lines,seen,1\n");
    if (line[0] == '!') fprintf(stderr, "told\n");
    for (word = strtok(line, " \n"); word; word = strtok(NULL, " \n")) {
      weight = weights[(word[0] - 'a') & 15] + (word[0] == '#' ? weights[atoi(word + 1)] : 0);
      printf("%.20s\t%d\n", word, weight);
    }
  }
  return 0;
}
"""
Job = Callable[..., JobResult]


def words(seed: int, size: int) -> bytes:
    """A line of words of that many bytes, of which few are alike."""
    text = b" ".join(b"%c%d" % (97 + (i * seed) % 26, i * seed % 997) for i in range(size // 3))
    return text[:size - 1] + b"z"


def text(*longs: int, ends: bytes = b"\n") -> bytes:
    """Short lines and long ones of these sizes in turn; the last has no end."""
    lines = [b"a b c", b"! d"]
    for number, size in enumerate(longs):
        lines += [words(number + 1, size), b"a b", b"", b"zz top a"]
    return ends.join(lines)


def on_host(result: JobResult) -> int:
    return result.report["device"]["alone"]


@pytest.fixture
def weighed(bundles: Bundles) -> Callable[[str], Path]:
    return lambda combine="": bundles.get(WEIGHED, combine, SUM)


@pytest.mark.parametrize("options", [{"reducers": 0}, {"reducers": 2}])
def test_pairs_stay_in_their_order(weighed, job: Job, options: dict[str, int]) -> None:
    result = both(job, weighed(""), text(LONG, LONG - 1, 200_000), [], [], **options)
    assert on_host(result) == 2 and result.report["user_counters"] == {"lines": {"seen": 14}}


def test_the_words_of_a_folding_map(app, job: Job) -> None:
    for ends in (b"\n", b"\r\n"):
        result = both(job, app("wordcount"), text(150_000, 5, 300_000, ends=ends), [], [], reducers=2)
        assert on_host(result) == 2
    only = both(job, app("wordcount"), words(1, 150_000), [], [], reducers=1)
    assert on_host(only) == 1, "nothing is left for the device"


def test_a_combiner_of_the_cpu_gets_all_pairs(weighed, job: Job) -> None:
    result = both(job, weighed(SUM), text(150_000, 140_000), [], [], reducers=2)
    assert on_host(result) == 2


def test_many_long_records_are_done_side_by_side(app, job: Job) -> None:
    result = both(job, app("wordcount"), text(*[LONG] * 9), [], [], reducers=1)
    assert on_host(result) == 0


def test_several_splits_and_small_sub_splits(app, job: Job) -> None:
    result = both(job, app("wordcount"), text(150_000, 3, 140_000), [], ["heterodoop.gpu.sub-split.bytes=1000"], reducers=2,
                  split_size=100_000)
    assert on_host(result) == 2


def test_what_the_host_kernel_leaves_the_cpu_does(weighed, job: Job) -> None:
    bad = text(LONG) + b"\n#40 " + words(1, LONG)
    device, cpu = job(weighed(""), bad, reducers=1), job(weighed(""), bad, "cpu", reducers=1)
    (left,) = device.report["device"]["left_to_cpu"]
    assert "left by the host kernel" in left["reason"] and parts(device.output) == parts(cpu.output)
