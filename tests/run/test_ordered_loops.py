"""Combiners that are ordered key loops on a device: the filters' bytes and counters, or a reason why the CPU does the task.

HETERODOOP_KEY_LOOPS=N makes it N random programs instead of a handful; HETERODOOP_TEST_DEVICE=cuda, on a GPU.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from heterodoop import manifest
from heterodoop.compiler.app import BuildOptions
from heterodoop.compiler.spine import analyse as analysed
from heterodoop.engine.run.plan import RunOptions
from heterodoop.engine.verify.checker import Verdict
from heterodoop.engine.verify.verify import verify
from heterodoop.explain import explain_text

from ..compiler.emit.test_key_loop import MAP
from ..compiler.keyloop import random_loops
from ..compiler.keyloop.test_random_loops import value
from ..compiler.regions import PRELUDE, analyse
from ..support import ROOT, Bundles, write_app

pytestmark = pytest.mark.usefixtures("kernel_cache")
DEVICE = os.environ.get("HETERODOOP_TEST_DEVICE", "emulated")
COUNT = int(os.environ.get("HETERODOOP_KEY_LOOPS", "3"))
# Beside what a random program can print: a NaN, and inf, which no value may be.
LEFT = ("does not read back", "NaN is printed")


def verified(bundle: Path, data: bytes, folder: Path, reducers: int = 2, **settings: int) -> list[Verdict]:
    (folder / "in").write_bytes(data)
    words = [f"heterodoop.{name.replace('_', '.', 1).replace('_', '-')}={number}" for name, number in settings.items()]
    found = verify(bundle, [str(folder / "in")], RunOptions(device=DEVICE, reducers=reducers, settings=words)).verdicts
    assert all(verdict.difference is None for verdict in found), found
    return list(found)


def kernel(bundle: Path) -> manifest.Kernel:
    program = manifest.load(bundle).program("combine")
    assert program is not None and program.kernel is not None and not program.gpu_refusals
    return program.kernel


@pytest.mark.parametrize("seed", range(40, 40 + COUNT))
def test_a_random_loop_gives_the_filters_bytes(seed: int, bundles: Bundles, tmp_path: Path) -> None:
    rng, made = random.Random(seed), random_loops.program(seed)
    found = analyse(made.source)[0].facts.fold
    assert found.loop is not None
    bundle = bundles.get(MAP, PRELUDE + made.source)
    assert kernel(bundle).plan.ordered != (found.fold is not None and found.fold.regroup)
    between = [text.decode() for text in found.loop.reads.between]
    for number in range(2):
        keys = [b"%d" % rng.randrange(-40, 1000) if made.number_key else b"k%d" % rng.randrange(10**rng.randrange(1, 12))
                for _ in range(rng.choice([1, 4, 60]))]
        lines = [b"%s\t%s\n" % (rng.choice(keys), value(rng, made.types, between).encode())
                 for _ in range((40, 300)[number])]
        for verdict in verified(bundle, b"".join(lines), tmp_path, 1 + number, gpu_sub_split_bytes=(0, 200)[number]):
            assert verdict.outcome == "equal" or any(text in verdict.reason for text in LEFT), f"{verdict}\n{made.source}"


@pytest.fixture(scope="module")
def means(bundles: Bundles) -> Path:
    bundle = bundles.app(ROOT / "bench" / "programs" / "means")
    assert kernel(bundle).plan.ordered and (kernel(bundle).numbers, kernel(bundle).kept) == (2, 2)
    return bundle


def test_long_chains_and_many_keys(means: Path, tmp_path: Path) -> None:
    """More keys than the table begins with, of one pair each, and one key of thousands; -0.0 and numbers of all sizes."""
    rng = random.Random(7)
    numbers = [-0.0, 0.1, 1e-320, 1e300, -1e300, 2.0**53 + 1, 1 / 3, 123456789.125]
    few = [b"long;%.17g\n" % rng.choice([*numbers, rng.gauss(0, 1e3)]) for _ in range(3000)]
    many = [b"%s%d;%.3f\n" % (b"k" * rng.randrange(12), n, rng.gauss(0, 9)) for n in range(3500)]
    both = few + many
    rng.shuffle(both)
    (verdict,) = verified(means, b"".join(both), tmp_path, gpu_sub_split_bytes=30000)
    assert (verdict.outcome, verdict.reason) == ("equal", "")


@pytest.mark.parametrize(("line", "reason"), [
    (b"a;inf\n", "record 3: a pair does not read back"), (b"a;1e999\n", "record 3: a pair does not read back"),
    (b"a;-nan\n", "record 3: a pair does not read back"), (b"a;-0\n", ""), (b"a b ;4e-324\n", ""),
])
def test_values_that_do_not_fit(means: Path, tmp_path: Path, line: bytes, reason: str) -> None:
    (verdict,) = verified(means, b"a;1\nb;2\n" + line + b"a;3\n", tmp_path, gpu_sub_split_bytes=4)
    assert verdict.outcome == ("cpu-only" if reason else "equal") and reason in verdict.reason


# The last key is printed behind the region; a map that prints of some lines nothing, and of others two pairs.
SUMS = """#include <stdio.h>
#include <string.h>
int main(void) {
    char word[32], prev[32] = ""; double one, sum = 0, last = 0; int runs = 0, have = 0;
#pragma mapreduce combiner key(prev) value(sum) keyin(word) valuein(one) keylength(32)
    while (scanf("%31s %lf", word, &one) == 2) {
        if (have && strcmp(word, prev) == 0) { sum += one / 3; runs += one != last; last = one; continue; }
        if (have) printf("%s\\t%.17g %d\\n", prev, sum, runs);
        strcpy(prev, word); sum = one; last = one; runs = 1; have = 1;
    }
    if (have) printf("%s\\t%.17g %d\\n", prev, sum, runs);
    return 0;
}
"""
SOME = """#include <stdio.h>
int main(void) {
    char line[200];
#pragma mapreduce mapper key(line) value(line) keylength(200) vallength(200)
    while (fgets(line, 200, stdin)) {
        if (line[0] == '#') { fprintf(stderr, "left out: %s", line); continue; }
        printf("%s", line);
        if (line[0] == 'b') printf("a\\t0.125\\n%s", line);
    }
    return 0;
}
"""


@pytest.fixture(scope="module")
def sums(bundles: Bundles) -> Path:
    return bundles.get(SOME, SUMS)


def test_what_stands_around_a_loop_is_no_reason_against_it(sums: Path) -> None:
    assert kernel(sums).plan.ordered
    text = explain_text(manifest.load(sums))
    assert "a thread for each key; 24 bytes kept, 1 fields of a value" in text and "HD226" not in text


@pytest.mark.parametrize("reducers", [0, 1, 3])
@pytest.mark.parametrize("data", [b"#\n#x\n", b"", b"b\t0.5\n#\na\t2.5\nb\t1e-5\nb\t1e-5\na\t2\n" * 3])
def test_several_pairs_of_a_record_and_none(sums: Path, tmp_path: Path, data: bytes, reducers: int) -> None:
    for verdict in verified(sums, data, tmp_path, reducers, gpu_sub_split_bytes=9):
        assert verdict.outcome == "equal" or "no record" in verdict.reason


@pytest.mark.parametrize("memory", [150_000, 400_000, 1_500_000])
def test_a_device_without_memory(sums: Path, tmp_path: Path, memory: int) -> None:
    """Sub-splits are cut in two, or the pairs are combined by the filter after all."""
    rng = random.Random(memory)
    data = b"".join(b"key%d\t%.3f\n" % (rng.randrange(900), rng.random()) for _ in range(1500))
    (verdict,) = verified(sums, data, tmp_path, emulated_memory_bytes=memory)
    assert verdict.outcome == "equal" or "memory" in verdict.reason or "the device has no" in verdict.reason


def test_it_can_be_switched_off(tmp_path: Path) -> None:
    app = write_app(tmp_path / "app", {"map": SOME, "combine": SUMS})
    (_, combine) = analysed(BuildOptions.make([str(app)], no_opt=["ordered-loops"])).manifest.programs
    assert combine.kernel is None and combine.region is not None and len(combine.region.ordered) == 3


def test_pairs_from_behind_a_map_s_region_are_the_filter_s(tmp_path: Path) -> None:
    """They come last, and not from a kernel."""
    counting = SOME.replace("char line[200];", "char line[200]; long n = 0;").replace("printf(\"%s\", line);", "n++;", 1)
    counting = counting.replace("return 0;", 'printf("a\\t%ld\\n", n); return 0;')
    app = write_app(tmp_path / "app", {"map": counting, "combine": SUMS})
    map, combine = analysed(BuildOptions.make([str(app)])).manifest.programs
    assert map.kernel is not None and map.kernel.epilogue and combine.kernel is None
