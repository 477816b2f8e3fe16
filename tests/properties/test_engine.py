"""Jobs against an oracle: split the input by the record rule, run the real filters on it one after the other, sort.

Programs are compiled by HeteroDoop itself, so what it found out about their combiners (may it run per spill, how does it
read its pairs) is used and must not change the result. Of the filters only one thing is assumed: what they print
depends on their input alone.
"""

from __future__ import annotations

import itertools
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ..support import Bundles, cli_here, partition, parts

PROGRAMS = Path(__file__).resolve().parent.parent / "cases" / "programs"
WORDS, SUM, SUM_REDUCE = ((PROGRAMS / f"{name}.c").read_text() for name in ("words", "sum", "sum_reduce"))
CASES = PROGRAMS.parent

BOM = b"\xef\xbb\xbf"
Pair = tuple[bytes, bytes]

CAT = """#include <stdio.h>
int main(void) { int c; while ((c = getchar()) != EOF) putchar(c); return 0; }
"""
# State across records: the output depends on which records are in the split.
NUMBERED = r"""
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  char *line = NULL; size_t cap = 0; ssize_t n; int number = 0;
  #pragma mapreduce mapper key(n) value(number)
  while ((n = getline(&line, &cap, stdin)) != -1) { number++; printf("%d\t%d\n", (int)n, number); }
  return 0;
}
"""
# Reads one record of its input and no more; its output has line ends of all kinds and ends in none.
FIRST = r"""
#include <stdio.h>
int main(void) {
  int c;
  printf("k\r\nx\ty\rlast\t");
  while ((c = getchar()) != EOF && c != '\n') putchar(c);
  return 0;
}
"""
# One number per word: doubles that cancel, so that any other order or grouping gives another sum.
DOUBLES = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  char *line = NULL, k[2] = "k"; size_t cap = 0; ssize_t n, i; double v;
  #pragma mapreduce mapper key(k) value(v) keylength(2)
  while ((n = getline(&line, &cap, stdin)) != -1)
    for (i = 0; i < n; i++) {
      k[0] = 'a' + (line[i] & 3); k[1] = 0;
      v = ((unsigned char)line[i] % 7 - 3) * ((line[i] & 4) ? 1e16 : 0.1);
      printf("%s\t%.17g\n", k, v);
    }
  return 0;
}
"""
DOUBLE_SUM = (CASES / "sum-of-doubles-in-the-order-of-the-pairs" / "combine.c").read_text()

APPS = {  # name -> map, combine, reduce, and whether the combiner may run any number of times
    "identity": (CAT, "", "", False),
    "identity with filters": (CAT, CAT, CAT, False),
    "numbered records": (NUMBERED, "", "", False),
    "one record": (FIRST, "", CAT, False),
    "word count": (WORDS, SUM, SUM_REDUCE, True),
    "word count without combiner": (WORDS, "", SUM_REDUCE, False),
    "sums of doubles": (DOUBLES, DOUBLE_SUM, re.sub(r" *#pragma.*\n", "", DOUBLE_SUM), False),
}


@dataclass(frozen=True)
class Job:
    """What a property draws: input files and how the job is run. `delimiter` b"" = line ends."""

    files: tuple[bytes, ...]
    split: int
    reducers: int
    slots: int
    sort_bytes: int
    delimiter: bytes = b""


def records(data: bytes, delimiter: bytes) -> list[tuple[int, bytes]]:
    """(offset, record) of a file: ended by \\n, \\r\\n or \\r, or by the delimiter alone; a byte order mark is skipped."""
    found, at = [], 0
    ends = re.escape(delimiter) if delimiter else rb"\r\n|\n|\r"
    for end in re.finditer(ends, data):
        found.append((at, data[at:end.start()]))
        at = end.end()
    if at < len(data):
        found.append((at, data[at:]))
    if data.startswith(BOM):
        found[:1] = [(0, found[0][1][len(BOM):])] if data != BOM else []
    return found


def split_inputs(data: bytes, size: int, delimiter: bytes) -> list[list[bytes]]:
    """The records of each split: those that start after its first byte (the first split: at it) and not after its end.

    With a delimiter, those behind a delimiter that starts in the split. A rest of a tenth of a split stays with the last.
    """
    edges, rest = [0], len(data)
    while rest * 10 > size * 11:
        edges.append(edges[-1] + size)
        rest -= size
    if rest or not data:
        edges.append(len(data))
    reach = max(0, len(delimiter) - 1)
    found = records(data, delimiter)
    return [
        [text for start, text in found if (low + reach < start or start == low == 0) and start <= high + reach]
        for low, high in itertools.pairwise(edges)
    ]


def run_filter(program: Path, text: bytes) -> bytes:
    return subprocess.run([program], input=text, stdout=subprocess.PIPE, check=True).stdout


def pairs_of(output: bytes) -> list[Pair]:
    """Lines end in \\n, \\r\\n or \\r, the last maybe in nothing; the key ends at the first tab."""
    lines = re.split(rb"\r\n|\n|\r", output)
    return [(key, value) for key, _, value in (line.partition(b"\t") for line in lines[: None if lines[-1] else -1])]


def text_of(pairs: list[Pair]) -> bytes:
    return b"".join(key + b"\t" + value + b"\n" for key, value in pairs)


def expected(job: Job, bundle: Path, combine: bool) -> list[bytes]:
    """The part files. A task without a record or pair has no output, whatever its filter prints."""
    programs = {path.name: path for path in (bundle / "bin").iterdir()}
    outputs = [
        pairs_of(run_filter(programs["map"], b"".join(r + b"\n" for r in split))) if split else []
        for data in job.files for split in split_inputs(data, job.split, job.delimiter)
    ]
    if not job.reducers:
        return [text_of(pairs) for pairs in outputs]
    result = []
    for number in range(job.reducers):
        mine = [sorted((p for p in pairs if partition(p[0], job.reducers) == number), key=by_key) for pairs in outputs]
        if combine and "combine" in programs:
            mine = [pairs_of(run_filter(programs["combine"], text_of(pairs))) if pairs else [] for pairs in mine]
        text = text_of(sorted(itertools.chain.from_iterable(mine), key=by_key))
        if text and "reduce" in programs:
            text = text_of(pairs_of(run_filter(programs["reduce"], text)))
        result.append(text)
    return result


def by_key(pair: Pair) -> bytes:
    return pair[0]


def run_job(job: Job, bundle: Path, folder: Path) -> list[bytes]:
    for old in folder.iterdir():
        shutil.rmtree(old)
    (folder / "in").mkdir()
    for number, data in enumerate(job.files):
        (folder / "in" / str(number)).write_bytes(data)
    options = [f"--reducers={job.reducers}", f"--split-size={job.split}", f"--cpu-slots={job.slots}"]
    if job.delimiter:
        options.append("--record-delimiter=" + "".join(f"\\x{byte:02x}" for byte in job.delimiter))
    cli_here("run", bundle, folder / "in", "-o", folder / "out", "--quiet", "-D",
             f"heterodoop.sort.bytes={job.sort_bytes}", *options)
    return parts(folder / "out")


PIECES = [b"a", b"b", b"ab", b"the", b"\n", b"\n", b"\n", b"\r", b"\r\n", b"\t", b" ", b"\0", b"\xff", b"\xc3\xa9", BOM]
ANY = st.lists(st.sampled_from(PIECES) | st.binary(max_size=3), max_size=40).map(b"".join)
# What word count and its scanf combiner read alike: no NUL, no white space but blanks and tabs, words below 31 bytes.
TAME = st.lists(st.sampled_from([b"a", b"b", b"Aa", b"BB", b"\xff", b"\xc3\xa9", b" ", b" ", b"\t", b"\n", b"\r\n", b"\r"]),
                max_size=60).map(b"".join).filter(lambda text: max(map(len, re.split(rb"\s", text))) < 31)


def jobs(texts: st.SearchStrategy[bytes]) -> st.SearchStrategy[Job]:
    return st.builds(
        Job, st.lists(texts, min_size=1, max_size=3).map(tuple), split=st.integers(4, 80), reducers=st.integers(0, 4),
        slots=st.integers(1, 3), sort_bytes=st.sampled_from([1, 200, 5000, 1 << 20]),
        delimiter=st.sampled_from([b"", b"", b"", b"\n", b"ab", b"\xff", b"the"]),
    )


def check(app: str, job: Job, bundles: Bundles, folder: Path) -> None:
    *programs, fold = APPS[app]
    bundle = bundles.get(*programs)
    found = run_job(job, bundle, folder)
    assert found == expected(job, bundle, combine=not fold)


@pytest.mark.parametrize("app", ["identity", "identity with filters", "numbered records", "one record"])
@given(job=jobs(ANY))
@example(job=Job((BOM + b"a\r\nb\rc\n\r\n\n\rd" + BOM,), 4, 2, 2, 1))
@example(job=Job((BOM, b"", b"\n"), 4, 0, 1, 1))
@settings(max_examples=25)
def test_any_bytes(app: str, job: Job, bundles: Bundles, tmp_path: Path) -> None:
    check(app, job, bundles, tmp_path)


@pytest.mark.parametrize("app", ["word count", "word count without combiner", "sums of doubles"])
@given(job=jobs(TAME))
@example(job=Job((b"Aa BB Aa\n" * 20, b"", b"Aa"), 7, 1, 3, 1))
@settings(max_examples=25)
def test_sums(app: str, job: Job, bundles: Bundles, tmp_path: Path) -> None:
    check(app, job, bundles, tmp_path)


def test_the_compiler_knows_which_combiner_may_run_again(bundles: Bundles) -> None:
    folds = {}
    for app, (*programs, fold) in APPS.items():
        if programs[1]:
            text = cli_here("explain", bundles.get(*programs)).out.decode()
            folds[app] = ("may run per spill" in text, fold)
    assert folds["word count"] == (True, True), "else the tests above do not test folds"
    assert all(found == wanted for found, wanted in folds.values()), folds
