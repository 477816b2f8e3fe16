"""The engine against an oracle in plain Python, for random bytes, splits, reducers, slots and memory limits.

The oracle knows none of the engine's code: it cuts whole files into records and gives each to the split its start
falls into; the engine starts in the middle of a file and finds the same records.
"""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Callable
from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ..conftest import CAT, parts

BOM = b"\xef\xbb\xbf"
Pair = tuple[bytes, bytes]

# Words of any bytes but white space and NUL, by fwrite: `word TAB 1`.
BYTE_WORDS = r"""
#include <stdio.h>
#include <string.h>
int main(void) {
  int c, in = 0;
  while ((c = getchar()) != EOF) {
    if (c && strchr(" \t\r\n", c)) { if (in) fputs("\t1\n", stdout); in = 0; }
    else { putchar(c); in = 1; }
  }
  if (in) fputs("\t1\n", stdout);
  return 0;
}
"""
# Sums per key, keys of any bytes.
BYTE_SUM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  char *line = NULL, *prev = NULL, *tab; size_t cap = 0, size = 0, n; ssize_t got; long sum = 0;
  while ((got = getline(&line, &cap, stdin)) != -1) {
    if (!(tab = memchr(line, '\t', got))) return 1;
    n = tab - line;
    if (prev && (n != size || memcmp(prev, line, n))) { fwrite(prev, 1, size, stdout); printf("\t%ld\n", sum); sum = 0; }
    if (!prev || n != size || memcmp(prev, line, n)) { prev = realloc(prev, n + 1); memcpy(prev, line, n); size = n; }
    sum += atol(tab + 1);
  }
  if (prev) { fwrite(prev, 1, size, stdout); printf("\t%ld\n", sum); }
  return 0;
}
"""


def records(data: bytes, delimiter: bytes) -> list[tuple[int, bytes]]:
    """(start, record) of a whole file. A byte order mark at its start is skipped; a file of nothing else has no record."""
    found, at = [], 0
    if data == BOM:
        return []
    for end in re.finditer(re.escape(delimiter) if delimiter else b"\r\n|\n|\r", data):
        found.append((at, data[at:end.start()]))
        at = end.end()
    if at < len(data):
        found.append((at, data[at:]))
    if found and found[0][1].startswith(BOM):
        found[0] = (0, found[0][1][len(BOM):])
    return found


def splits(size: int, nbytes: int) -> list[tuple[int, int]]:
    cuts, at = [], 0
    while (size - at) * 10 > 11 * nbytes:
        cuts.append((at, at + nbytes))
        at += nbytes
    if at < size or not size:
        cuts.append((at, size))
    return cuts


def tasks(files: list[bytes], nbytes: int, delimiter: bytes) -> list[list[bytes]]:
    """The records of each map task. A record belongs to the split that its line end before it lies in."""
    reach = len(delimiter) - 1 if delimiter else 0
    return [
        [text for start, text in records(data, delimiter) if (low + reach < start <= high + reach) or start == low == 0]
        for data in files for low, high in splits(len(data), nbytes)
    ]


def pairs_of(output: bytes) -> list[Pair]:
    """Filter output as Hadoop Streaming cuts it."""
    lines = re.split(b"\r\n|\n|\r", output)
    if lines and not lines[-1]:
        lines.pop()
    return [(key, value) for key, _, value in (line.partition(b"\t") for line in lines)]


def text_of(pairs: list[Pair]) -> bytes:
    return b"".join(key + b"\t" + value + b"\n" for key, value in pairs)


def partition(key: bytes, reducers: int) -> int:
    h = 1
    for byte in key:
        h = (31 * h + (byte if byte < 128 else byte - 256)) & 0xFFFFFFFF
    return (h & 0x7FFFFFFF) % reducers


def words(lines: list[bytes]) -> bytes:
    return b"".join(word + b"\t1\n" for line in lines for word in re.split(rb"[ \t\r\n]+", line) if word)


def cat(lines: list[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def add_up(pairs: list[Pair]) -> list[Pair]:
    return [(key, b"%d" % sum(int(v) for _, v in group)) for key, group in groupby(pairs, key=lambda pair: pair[0])]


def job(files: list[bytes], nbytes: int, delimiter: bytes, reducers: int, map: Callable[[list[bytes]], bytes],
        reduce: Callable[[list[Pair]], list[Pair]]) -> list[bytes]:
    """The part files. A task without a record has no output (its filter's is thrown away)."""
    outputs = [pairs_of(map(lines)) if lines else [] for lines in tasks(files, nbytes, delimiter)]
    if not reducers:
        return [text_of(pairs) for pairs in outputs]
    every = [pair for pairs in outputs for pair in pairs]
    chosen = [sorted((p for p in every if partition(p[0], reducers) == r), key=lambda p: p[0]) for r in range(reducers)]
    return [text_of(reduce(pairs)) for pairs in chosen]


PIECES = st.sampled_from(
    [b"a", b"b", b"ab", b"\n", b"\n", b"\r", b"\r\n", b"\t", b" ", b"\0", b"\xff", b"\xc3\xa9", BOM, b"##", b"#"],
)
FILES = st.lists(st.lists(PIECES, max_size=40).map(b"".join), min_size=1, max_size=3)
LIMITS = {"max_examples": 60}


def run_job(run, app: Path, tmp_path: Path, files: list[bytes], delimiter: bytes, **options: object) -> list[bytes]:
    """Run in a folder that is new for each example."""
    for old in ("in", "out", "out.report"):
        shutil.rmtree(tmp_path / old, ignore_errors=True)
    (tmp_path / "in").mkdir()
    for i, data in enumerate(files):
        (tmp_path / f"in/{i}").write_bytes(data)
    escaped = "".join(f"\\x{byte:02x}" for byte in delimiter) or None
    return parts(run(app, tmp_path / "in", record_delimiter=escaped, **options).output)


@given(files=FILES, nbytes=st.integers(3, 60), reducers=st.integers(0, 4), slots=st.integers(1, 3),
       limit=st.sampled_from([0, 1, 4096, 65536]), delimiter=st.sampled_from([b"", b"", b"\n", b"##", b"#a#", b"\xff"]))
@settings(**LIMITS)
def test_identity_keeps_pairs_in_order(bundle_cat, run, tmp_path, files, nbytes, reducers, slots, limit, delimiter):
    found = run_job(run, bundle_cat, tmp_path, files, delimiter, split_size=nbytes, reducers=reducers, cpu_slots=slots,
                    settings=[f"heterodoop.sort.bytes={limit}"])
    assert found == job(files, nbytes, delimiter, reducers, cat, lambda pairs: pairs)


@given(files=FILES, nbytes=st.integers(3, 60), reducers=st.integers(1, 4), slots=st.integers(1, 3),
       limit=st.sampled_from([0, 1, 4096, 65536]), kind=st.sampled_from(["none", "once", "fold"]))
@settings(**LIMITS)
def test_sums_do_not_depend_on_grouping(bundles_sum, run, tmp_path, files, nbytes, reducers, slots, limit, kind):
    found = run_job(run, bundles_sum[kind], tmp_path, files, b"", split_size=nbytes, reducers=reducers, cpu_slots=slots,
                    settings=[f"heterodoop.sort.bytes={limit}"])
    assert found == job(files, nbytes, b"", reducers, words, add_up)


@pytest.fixture
def bundle_cat(bundle) -> Path:
    return bundle(CAT)


@pytest.fixture
def bundles_sum(bundle) -> dict[str, Path]:
    return {
        "none": bundle(BYTE_WORDS, "", BYTE_SUM),
        "once": bundle(BYTE_WORDS, BYTE_SUM, BYTE_SUM),
        "fold": bundle(BYTE_WORDS, BYTE_SUM, BYTE_SUM, fold=True),
    }


@pytest.mark.parametrize("kind", ["none", "once", "fold"])
def test_many_spills_and_a_merge_of_many_segments(bundles_sum, run, tmp_path: Path, kind: str):
    chance = random.Random(7)
    lines = [b" ".join(b"w%d" % int(chance.paretovariate(0.3)) for _ in range(10)) for _ in range(8000)]
    data = b"\n".join(lines)
    options = {"split_size": 100_000, "reducers": 3, "cpu_slots": 2, "settings": ["heterodoop.sort.bytes=200000"]}
    result_parts = run_job(run, bundles_sum[kind], tmp_path, [data], b"", **options)
    assert result_parts == job([data], 100_000, b"", 3, words, add_up)


@pytest.mark.parametrize("split_size", range(1, 9))
def test_every_cut_of_mixed_line_ends(bundle_cat, run, tmp_path: Path, split_size: int):
    data = BOM + b"a\r\nb\rc\n\r\n\n\rd" + BOM
    found = run_job(run, bundle_cat, tmp_path, [data], b"", split_size=split_size)
    assert found == job([data], split_size, b"", 0, cat, lambda pairs: pairs)
