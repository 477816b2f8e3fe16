"""Reduce tasks as host kernels: the bytes and counters of the filter, or the task is left, whatever happens."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest

from heterodoop.executor.native.runtime import Native, Segment, TaskStatus

from ..compiler.keyloop import random_loops, random_texts
from ..compiler.keyloop.test_random_loops import readable, value
from ..compiler.regions import PRELUDE
from ..native.oracle import Pair
from . import reducing
from .reducing import Built

pytestmark = pytest.mark.usefixtures("kernel_caches")
COUNT = int(os.environ.get("HETERODOOP_KEY_LOOPS", "12")) // 4
MEANS = """
#include <stdio.h>
#include <string.h>
int main(void) {
  char key[20], last[20] = ""; long v, sum = 0, n = 0;
  while (scanf("%19s %ld", key, &v) == 2) {
    if (strcmp(key, last)) { if (n) printf("%s\\t%.1f\\n", last, (double)sum / n); strcpy(last, key); sum = n = 0; }
    sum += v; n++;
  }
  if (n) printf("%s\\t%.1f\\n", last, (double)sum / n);
  return 0;
}
"""
# The order of a key's pairs matters, and lines are read.
CHAINS = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  char *line = NULL, *tab, last[300] = ""; size_t cap = 0; double d = 0; int have = 0;
  while (getline(&line, &cap, stdin) != -1) {
    tab = strchr(line, '\\t');
    if (tab - line >= 300) return 1;
    *tab = 0;
    if (!have || strcmp(line, last)) { if (have) printf("%s %a\\n", last, d); strcpy(last, line); d = 0; have = 1; }
    d = d * 0.9 + strtod(tab + 1, NULL);
  }
  if (have) printf("%s %a\\n", last, d);
  free(line);
  return 0;
}
"""


@pytest.fixture(scope="module")
def native() -> Native:
    return Native.load()


@pytest.fixture(scope="module")
def means(tmp_path_factory: pytest.TempPathFactory, kernel_caches: None) -> Built:
    return reducing.build(MEANS, tmp_path_factory.mktemp("means"))


@pytest.fixture(scope="module")
def chains(tmp_path_factory: pytest.TempPathFactory, kernel_caches: None) -> Built:
    return reducing.build(CHAINS, tmp_path_factory.mktemp("chains"))


def same(native: Native, built: Built, segments: list[Segment], folder: Path, **options: int) -> bytes:
    """The part of both, whose results are the same."""
    filtered, wanted = reducing.run(native, built, segments, folder, host=False)
    done, part = reducing.run(native, built, segments, folder, host=True, **options)
    assert filtered.ok and done.ok, (filtered.message, done.message)
    assert part == wanted
    assert done.counters == filtered.counters
    return part


@pytest.mark.parametrize("seed", range(2000, 2000 + COUNT))
def test_random_reducers(native: Native, seed: int, tmp_path: Path) -> None:
    made = random_loops.program(seed, reducer=True)
    built, rng = reducing.build(PRELUDE + made.source, tmp_path), random.Random(seed)
    between = [text.decode() for text in built.found.loop.reads.between]
    for keys, size, memory, threads in ((5, 9, 0, 1), (40, 60, 9000, 3), (900, 300, 40_000, 2)):
        names = [b"%d" % rng.randrange(-40, 9000) if made.number_key else b"k%d" % rng.randrange(keys) for _ in range(keys)]
        parts: list[list[Pair]] = [
            [(rng.choice(names), value(rng, made.types, between).encode()) for _ in range(rng.randrange(size))]
            for _ in range(rng.choice([1, 2, 7]))]
        segments = reducing.written([*parts, [(names[0], value(rng, made.types, between).encode())]], tmp_path)
        filtered, wanted = reducing.run(native, built, segments, tmp_path, host=False)
        done, part = reducing.run(native, built, segments, tmp_path, host=True, threads=threads, memory=memory)
        if done.status is TaskStatus.HOST_LEFT and "NaN" in done.message:
            continue  # whose sign the filter decides
        assert filtered.ok and done.ok, f"{done.message}\n{made.source}"
        assert part == wanted and done.counters == filtered.counters, made.source


@pytest.mark.parametrize("seed", range(3000, 3000 + COUNT))
def test_random_reducers_that_keep_texts(native: Native, seed: int, tmp_path: Path) -> None:
    """Values with NULs, carriage returns, white space, too long ones: what does not read back leaves the task."""
    made = random_texts.program(seed, reducer=True)
    try:
        built, rng = reducing.build(PRELUDE + made.source, tmp_path), random.Random(seed)
    except AssertionError:
        if "cat(" not in made.source:  # of texts that are put together few uses are understood
            raise
        return
    for keys, size, memory, threads in ((3, 9, 0, 1), (40, 60, 9000, 3), (300, 90, 40_000, 2), (3, 5, 0, 1)):
        names = [b"k%d" % rng.randrange(keys) for _ in range(keys)]
        parts: list[list[Pair]] = [
            [(rng.choice(names), random_texts.value(rng, made, built.found.loop.reads.between, odd=keys == 3))
             for _ in range(rng.randrange(1, size))] for _ in range(rng.choice([1, 2, 7]))]
        if keys > 3:
            parts = [[pair for pair in part if readable(built.found.loop, pair[1])] for part in parts]
            parts.append([(b"k", next(v for _, v in parts[0]))] if parts[0] else [])
        if not any(parts):
            continue
        segments = reducing.written(parts, tmp_path)
        done, part = reducing.run(native, built, segments, tmp_path, host=True, threads=threads, memory=memory)
        fits = all(readable(built.found.loop, text) for part in parts for _, text in part)
        assert fits or done.status is TaskStatus.HOST_LEFT, made.source
        if fits and not (done.status is TaskStatus.HOST_LEFT and "snprintf(b" in made.source):  # which cuts
            filtered, wanted = reducing.run(native, built, segments, tmp_path, host=False)
            assert filtered.ok and done.ok, f"{done.message}\n{made.source}"
            assert part == wanted and done.counters == filtered.counters, made.source


def words(rng: random.Random, n: int) -> list[Pair]:
    """Keys of many lengths, short ones, ones that begin alike, ones of bytes above 127."""
    heads = [b"", b"a" * 7, b"a" * 8, b"b" * 15, b"c" * 16, b"c" * 17, b"\xff\x80", b"long" * 20]
    return [(rng.choice(heads) + b"%d" % rng.randrange(n), b"%d" % rng.randrange(-99, 99)) for _ in range(n)]


@pytest.mark.parametrize(("memory", "threads"), [(0, 1), (30_000, 1), (30_000, 2), (200_000, 5), (2_000_000, 200)])
def test_parts_and_threads_print_the_keys_in_order(
    native: Native, chains: Built, tmp_path: Path, memory: int, threads: int,
) -> None:
    rng = random.Random(memory)
    segments = reducing.written([*(words(rng, n) for n in (3000, 1, 40, 700, 700)), [(b"", b"1"), (b"", b"2")]], tmp_path)
    assert same(native, chains, segments, tmp_path, memory=memory, threads=threads).count(b"\n") > 1000


def test_a_key_that_is_most_of_all(native: Native, chains: Built, tmp_path: Path) -> None:
    rng = random.Random(1)
    often: list[Pair] = [(b"k%d" % max(0, rng.randrange(-30, 20)), b"%d" % rng.randrange(50)) for _ in range(4000)]
    segments = reducing.written([often[at::3] for at in range(3)], tmp_path)
    same(native, chains, segments, tmp_path, memory=20_000, threads=4)


def test_memory_that_is_not_enough(native: Native, means: Built, tmp_path: Path) -> None:
    segments = reducing.written([words(random.Random(2), 50)], tmp_path)
    done, part = reducing.run(native, means, segments, tmp_path, host=True, memory=600)
    assert done.status is TaskStatus.HOST_LEFT and "memory" in done.message and part == b""


@pytest.mark.parametrize("bad", [
    (b"word", b"+5"), (b"word", b"5 "), (b"word", b"0x5"), (b"word", b""), (b"word", b"9223372036854775808"),
    (b"word", b"1.0"), (b"", b"5"), (b"two words", b"5"), (b"a\0b", b"5"), (b"twenty bytes are many", b"5"),
    (b"word", b"5\0"), (b"word", b"5\t6"),
])
def test_pairs_that_do_not_read_back_are_the_filters(native: Native, means: Built, tmp_path: Path, bad: Pair) -> None:
    segments = reducing.written([[(b"a", b"1"), (b"z", b"2")], [(b"b", b"3"), bad]], tmp_path)
    done, part = reducing.run(native, means, segments, tmp_path, host=True)
    assert done.status is TaskStatus.HOST_LEFT and part == b"", done
    assert not any(done.counters.values())


@pytest.mark.parametrize("value", [b"-0", b"007", b"-9223372036854775808", b"9223372036854775807"])
def test_numbers_in_other_spellings(native: Native, means: Built, tmp_path: Path, value: bytes) -> None:
    same(native, means, reducing.written([[(b"k", value), (b"k", b"1")]], tmp_path), tmp_path)


def test_values_of_a_reducer_that_does_not_read_them(native: Native, tmp_path: Path) -> None:
    cut = "char *t = strchr(p, 9); if (t - p > 19) return 1; *t = 0; strcpy(key, p); if (strcmp"
    source = MEANS.replace("long v,", "char *p = NULL; size_t c = 0; long").replace("sum += v;", "")
    source = source.replace("if (strcmp", cut).replace('scanf("%19s %ld", key, &v) == 2', "getline(&p, &c, stdin) != -1")
    built = reducing.build(source, tmp_path)
    segments = reducing.written([[(b"k", b"any thing"), (b"k", b""), (b"l", b"x" * 5000), (b"m", b"\xff\x01\t")]], tmp_path)
    same(native, built, segments, tmp_path)


@pytest.mark.parametrize("damage", ["checksum", "order", "shorter", "end", "length", "gone"])
def test_a_damaged_segment_is_left_to_who_names_it(native: Native, means: Built, tmp_path: Path, damage: str) -> None:
    whole, segments = reducing.written([[(b"a", b"1")], [(b"b", b"2"), (b"c", b"3")]], tmp_path)
    data = bytearray(segments.path.read_bytes())  # type: ignore[union-attr]
    at = 6
    if damage == "order":
        data[at + 3] = ord("d")
    elif damage == "length":
        data[at] = 100
    elif damage == "end":
        data[-6] = 1
    elif damage == "shorter":
        del data[-3:]
    else:
        data[-1] ^= 1
    segments.path.write_bytes(data)  # type: ignore[union-attr]
    if damage == "gone":
        segments.path.unlink()  # type: ignore[union-attr]
    done, part = reducing.run(native, means, [whole, segments], tmp_path, host=True)
    assert done.status is TaskStatus.HOST_LEFT and "exit status 91" in done.message and part == b"", done
    filtered, _ = reducing.run(native, means, [whole, segments], tmp_path, host=False)
    assert filtered.status is TaskStatus.IO_ERROR


ENDS = {
    "crash": ("kill(getpid(), 11);", "signal 11"), "exit": ("return 3;", "exit status 3"),
    "no report": ("return 0;", "report"),
    "stops": ("for (;;) pause();", "made no progress"),
    "report": ('write(3, "keys 1\\n", 7); return 0;', "says no records"),
    "gave up": ('write(3, "left 17\\nrecord 0\\nline 0\\n", 24); return 90;', "a pair of its partition"),
}


@pytest.mark.parametrize("name", ENDS)
def test_a_host_kernel_that_ends_otherwise_leaves_nothing(native: Native, means: Built, tmp_path: Path, name: str) -> None:
    code, said = ENDS[name]
    headers = "#include <signal.h>\n#include <stdio.h>\n#include <unistd.h>\n"
    source = f'{headers}int main(void) {{ puts("a\\t1"); fflush(stdout); {code} }}'
    other = tmp_path / "other"
    other.mkdir()
    built = Built(means.filter, compiled(source, other), means.found)
    segments = reducing.written([[(b"a", b"1")]], tmp_path)
    done, part = reducing.run(native, built, segments, tmp_path, host=True, silence=0.5 if name == "stops" else 0.0)
    wanted = TaskStatus.HOST_SILENT if name == "stops" else TaskStatus.HOST_LEFT
    assert done.status is wanted and said in done.message and part == b"", done


def compiled(source: str, folder: Path) -> Path:
    (folder / "host.c").write_text(source)
    subprocess.run(["gcc", "-w", "-o", folder / "host", folder / "host.c"], check=True)
    return folder / "host"

