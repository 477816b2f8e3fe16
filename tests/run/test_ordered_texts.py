"""Combiners that keep texts of values, on a device: the filters' bytes, or a reason why the CPU does the task.

HETERODOOP_KEY_LOOPS=N makes it N/3 random programs instead of one; HETERODOOP_TEST_DEVICE=cuda, on a GPU.
"""

from __future__ import annotations

import contextlib
import random
from pathlib import Path

import pytest

from heterodoop import manifest
from heterodoop.compiler.app import BuildOptions
from heterodoop.compiler.emit import key_loop
from heterodoop.compiler.spine import analyse as analysed
from heterodoop.engine.run.plan import RunOptions
from heterodoop.engine.verify.verify import verify
from heterodoop.errors import JobFailed
from heterodoop.explain import explain_text
from heterodoop.toolchain.nvcc import KernelFile, build, find_nvcc

from ..compiler.emit.test_key_loop import MAP
from ..compiler.keyloop import evaluator, random_texts
from ..compiler.keyloop.test_random_loops import readable
from ..compiler.regions import PRELUDE, analyse
from ..support import ROOT, Bundles, write_app
from .test_ordered_loops import COUNT, DEVICE, SOME, SUMS, kernel, verified

pytestmark = pytest.mark.usefixtures("kernel_cache")

# A text and how often it came again, in the place of the numbers.
TEXTS = SUMS.replace("double one, sum = 0, last = 0;", "char one[9], sum[9];").replace("%lf", "%[^\\n]").replace(
    "sum += one / 3; runs += one != last; last = one;", "runs += !strcmp(one, sum);").replace("%.17g", "%s").replace(
    "sum = one; last = one;", "strcpy(sum, one);").replace("&one", "one")


@pytest.fixture(scope="module")
def texts(bundles: Bundles) -> Path:
    bundle = bundles.get(SOME, TEXTS)
    assert kernel(bundle).plan.ordered and (kernel(bundle).numbers, kernel(bundle).kept) == (1, 5)
    assert "a thread for each key; 40 bytes kept, 1 fields of a value" in explain_text(manifest.load(bundle))
    return bundle


@pytest.mark.parametrize(("end", "left"), [(b"", False), (b"c\t\n", True), (b"c\t one\n", True)])
def test_texts_on_a_device_and_in_one_program_with_the_map(texts: Path, tmp_path: Path, end: bytes, left: bool) -> None:
    data = b"b\tone\na\tx y\n#\nb\t\xff\xfe\na\tx y\nb\tone\n" * 3 + end
    for verdict in verified(texts, data, tmp_path, gpu_sub_split_bytes=20):  # of two or three pairs
        assert verdict.outcome == ("cpu-only" if left else "equal") and ("does not read back" in verdict.reason) == left
    (verdict,) = verify(texts, [str(tmp_path / "in")], RunOptions(reducers=1), host=True).verdicts
    assert verdict.difference is None and verdict.outcome == ("cpu-only" if left else "equal"), verdict


def test_a_text_that_is_too_long(texts: Path, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"b\tone\nc\tnine bytes\n")  # over the end of `one`: some compilers' programs abort there
    for host in (False, True):
        with contextlib.suppress(JobFailed):
            options = RunOptions(device=DEVICE, reducers=1)
            (verdict,) = verify(texts, [str(tmp_path / "in")], options, host=host).verdicts
            assert verdict.outcome == "cpu-only" and "does not read back" in verdict.reason, verdict


def test_long_chains_of_texts_and_many_keys(bundles: Bundles, tmp_path: Path) -> None:
    """Keys of thousands of pairs, and texts that stay while other sub-splits come; put together up to an array's end."""
    bundle = bundles.app(ROOT / "bench" / "programs" / "texts", "-D", "ALL")
    assert kernel(bundle).plan.ordered and kernel(bundle).kept == 12 + 55
    rng = random.Random(8)
    texts = [b"x", b"y" * 40, *(b"\xff%d" % n for n in range(99))]
    few = [b"k%d;%s\n" % (rng.randrange(2), rng.choice(texts)) for _ in range(2500)]
    many = [b"%s%d;%d\n" % (b"k" * rng.randrange(12), n % 700, n % 3) for n in range(2100)]
    both = few + many
    rng.shuffle(both)
    for size in (20000, 40000):  # where a thread does each key, and where a warp does two of them
        (verdict,) = verified(bundle, b"".join(both), tmp_path, gpu_sub_split_bytes=size)
        assert (verdict.outcome, verdict.reason) == ("equal", "")


@pytest.mark.parametrize("memory", [400_000, 1_000_000])
def test_a_device_without_memory_for_texts(bundles: Bundles, tmp_path: Path, memory: int) -> None:
    bundle = bundles.app(ROOT / "bench" / "programs" / "texts", "-D", "ALL")
    data = b"".join(b"k%d;%s\n" % (n * 7 % 300, b"t" * (n % 40 + 1)) for n in range(900))
    (verdict,) = verified(bundle, data, tmp_path, emulated_memory_bytes=memory, gpu_sub_split_bytes=2000)
    assert verdict.outcome == "equal" or "memory" in verdict.reason or "the device has no" in verdict.reason


# All that a value may have, of which a block's part of long chains in shared memory is the largest.
WIDE = """#include <stdio.h>
#include <string.h>
int main(void) {
    char word[32], prev[32] = "", a[9], b[9], c[9], d[9], e[9], f[9], g[9], h[9], kept[9]; long n = 0;
#pragma mapreduce combiner key(prev) value(n) keyin(word) valuein(a) keylength(32)
    {
        while (scanf("%31s %8s %8s %8s %8s %8s %8s %8s %8s", word, a, b, c, d, e, f, g, h) == 9) {
            if (strcmp(word, prev)) {
                if (prev[0]) printf("%s\\t%ld %s\\n", prev, n, kept);
                strcpy(prev, word); n = 0; kept[0] = 0;
            }
            n = n * 3 + (strcmp(a, b) < 0) + 2 * (strcmp(c, d) < 0) + 4 * (strcmp(e, f) < 0);
            if (strcmp(g, h) < 0) strcpy(kept, h); else strcpy(kept, a);
        }
        if (prev[0]) printf("%s\\t%ld %s\\n", prev, n, kept);
    }
    return 0;
}
"""


def test_eight_texts_of_a_value(bundles: Bundles, tmp_path: Path) -> None:
    bundle = bundles.get(MAP, WIDE)
    assert (kernel(bundle).numbers, kernel(bundle).kept) == (8, 1 + 2 + 2)
    rng = random.Random(8)
    data = b"".join(b"%c\t%s\n" % (rng.choice(b"abb"), b" ".join(b"%d" % rng.randrange(300) for _ in range(8)))
                    for _ in range(1200))
    (verdict,) = verified(bundle, data, tmp_path)
    assert (verdict.outcome, verdict.reason) == ("equal", "")
    found = find_nvcc()
    if found is not None:
        build(found, [KernelFile(bundle / kernel(bundle).source, "combine", "hd_combine")], tmp_path / "cuda", ["sm_80"])


# Put together behind a place: of one of two texts, of what was as long as the text before, and with a snprintf that may cut,
# of numbers of which a large one makes a NaN. Two texts change places.
PLACED = """#include <stdio.h>
#include <string.h>
int main(void) {
    char word[32], prev[32] = "", one[9], all[40], old[40], cut[500], a[9], b[9], spare[9];
    int n = 0, q = 0; long x; double v;
#pragma mapreduce combiner key(prev) value(all) keyin(word) valuein(one) keylength(32) vallength(40)
    {
        while (scanf("%31s %8s %lf", word, one, &v) == 3) {
            if (strcmp(word, prev) == 0) {
                n++;
                if (n % 4 == 3) strcpy(all, one);
                if (strlen(all)) sprintf(all + 1, "%d", n);
                x = strlen(old); strcpy(old, "abcdefghijklmnopqrstuvwxyz");
                if (x < 26) sprintf(old + x, "%d", n);
                if (strcmp(one, a) < 0) { strcpy(spare, a); strcpy(a, b); strcpy(b, spare); }
                if (q < (int)sizeof cut) q += snprintf(cut + q, sizeof cut - q, "%sREAL;", one NUMBER);
                continue;
            }
            if (prev[0]) printf("%s\\t%s,%s,%s,%s,%s\\n", prev, all, old, cut, a, b);
            strcpy(prev, word); n = 1; strcpy(all, one); strcpy(old, one); strcpy(a, one); strcpy(b, "-");
            q = snprintf(cut, sizeof cut, "%.17g;", v);
        }
        if (prev[0]) printf("%s\\t%s,%s,%s,%s,%s\\n", prev, all, old, cut, a, b);
    }
    return 0;
}
"""


def pairs(count: int, large: bytes = b"1e100") -> bytes:
    rng = random.Random(count)
    numbers = (large if n == 44 else b"%d.5" % (n % 7) for n in range(count))
    return b"".join(b"%c\t%s %s\n" % (rng.choice(b"ab"), rng.choice([b"+", b"xy", b"z"]), number) for number in numbers)


@pytest.mark.parametrize(("count", "large", "left"), [(90, b"1e100", ""), (90, b"1e200", "NaN is printed")])
def test_texts_that_are_put_together_behind_a_place(
    bundles: Bundles, tmp_path: Path, count: int, large: bytes, left: str,
) -> None:
    bundle = bundles.get(MAP, PLACED.replace("REAL", ",%.3g").replace("NUMBER", ", v * v - v * v + v"))
    assert kernel(bundle).plan.ordered
    for size in (0, 90):
        (verdict,) = verified(bundle, pairs(count, large), tmp_path, gpu_sub_split_bytes=size)
        assert verdict.outcome == ("cpu-only" if left else "equal") and left in verdict.reason, verdict
    (verdict,) = verify(bundle, [str(tmp_path / "in")], RunOptions(reducers=1), host=True).verdicts
    assert verdict.difference is None and verdict.outcome == ("cpu-only" if left else "equal"), verdict


def test_a_warp_that_finds_that_a_text_is_cut(bundles: Bundles, tmp_path: Path) -> None:
    bundle = bundles.get(MAP, PLACED.replace("REAL", "").replace("NUMBER", ""))
    (verdict,) = verified(bundle, pairs(1400), tmp_path)
    assert verdict.outcome == "cpu-only" and "outside of an array" in verdict.reason, verdict


# Two texts that change places.
PLACES = """#include <stdio.h>
#include <string.h>
int main(void) {
    char word[32], prev[32] = "", one[SIZE], a[SIZE], b[SIZE], spare[SIZE];
#pragma mapreduce combiner key(prev) value(a) keyin(word) valuein(one) keylength(32) vallength(SIZE)
    {
        while (scanf("%31s %MOSTs", word, one) == 2) {
            if (strcmp(word, prev) == 0) {
                if (strcmp(one, a) < 0) { strcpy(spare, a); strcpy(a, b); strcpy(b, spare); }
                continue;
            }
            if (prev[0]) printf("%s\\t%s,%s\\n", prev, a, b);
            strcpy(prev, word); strcpy(a, one); strcpy(b, "-");
        }
        if (prev[0]) printf("%s\\t%s,%s\\n", prev, a, b);
    }
    return 0;
}
"""


def sized(size: int) -> str:
    return PLACES.replace("SIZE", str(size)).replace("MOST", str(size - 1))


@pytest.mark.parametrize(("size", "fits"), [(512, True), (513, False), (2100, False)])
def test_texts_that_are_too_long_for_a_device(tmp_path: Path, size: int, fits: bool) -> None:
    """Those that are changed while others are made of them, and all of a key."""
    app = write_app(tmp_path / "app", {"map": SOME, "combine": sized(size)})
    found = analysed(BuildOptions.make([str(app)])).manifest
    (_, combine) = found.programs
    assert combine.region is not None and combine.region.ordered == ("a", "b")
    assert (combine.kernel is not None) == fits
    assert ("its loop keeps texts that are too long" in explain_text(found)) != fits


@pytest.mark.parametrize("seed", range(67, 67 + (COUNT + 2) // 3))
def test_a_random_loop_that_keeps_texts_gives_the_filters_bytes(seed: int, bundles: Bundles, tmp_path: Path) -> None:
    rng, made = random.Random(seed), random_texts.program(seed)
    found = analyse(made.source)[0].facts.fold
    if found.loop is None or found.pairs is None or key_loop.problem(found.loop, found.pairs):
        return  # test_random_loops.py says why
    bundle = bundles.get(MAP, PRELUDE + made.source)
    assert kernel(bundle).plan.ordered
    for number in range(2):
        pairs = [(b"k%d" % rng.randrange(9), random_texts.value(rng, made, found.loop.reads.between))
                 for _ in range((40, 150)[number])]
        pairs = [pair for pair in pairs if readable(found.loop, pair[1])]
        lines = [b"%s\t%s\n" % pair for pair in pairs]
        left = ""
        try:
            evaluator.printed(found.loop, sorted(pairs, key=lambda pair: pair[0]))
        except evaluator.Outside:
            left = "outside of an array"
        for verdict in verified(bundle, b"".join(lines), tmp_path, gpu_sub_split_bytes=(0, 200)[number]):
            assert verdict.outcome == ("cpu-only" if left else "equal"), f"{verdict}\n{made.source}"
            assert left in verdict.reason, f"{verdict}\n{made.source}"
