"""Folds that print their last key behind the region, on the emulated device: the bytes of the filters.

With hash folds and without, where each work item runs the region over some of the sorted pairs; in one launch and in many.
HETERODOOP_KEY_LOOPS=N makes it N random combiners instead of a handful.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from heterodoop import manifest
from heterodoop.engine.run.plan import RunOptions
from heterodoop.engine.verify.verify import verify

from ..compiler.keyloop import random_loops
from ..compiler.regions import PRELUDE, analyse
from ..support import Bundles
from .test_random_host_kernels import lines, mapper

pytestmark = pytest.mark.usefixtures("kernel_cache")
COUNT = int(os.environ.get("HETERODOOP_KEY_LOOPS", "3"))
HEAD = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
PRAGMA = "#pragma mapreduce combiner key({}) value({}) keyin({}) valuein(v) keylength(40)\n"
MAP = HEAD + """int main(void)
{
    char line[200], key[40];
    int v, n;
#pragma mapreduce mapper key(key) value(v) keylength(40)
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "%39s %d %d", key, &v, &n) != 3)
            continue;
        printf("%s\\t%d,%d\\n", key, v, n);
    }
    return 0;
}
"""
COMBINERS = {
    "a key that is a number": HEAD + "int main(void) {\n"
        "int prev = -1, h, v, n, first = 1, most = 0; long long total = 0;\n" + PRAGMA.format("prev", "total", "h") + r"""
        while (scanf("%d\t%d,%d", &h, &v, &n) == 3) {
            if (!first && h != prev) { printf("%d\t%lld,%d\n", prev, total, most); total = 0; most = n; }
            if (first) most = n;
            first = 0; prev = h; total += v; if (n > most) most = n;
        }
        if (!first) printf("%d\t%lld,%d\n", prev, total, most);
        return 0; }""",
    "a struct, a helper and a line that is freed": HEAD + r"""
        struct acc { char key[40]; long v; int n, has; };
        static void put(struct acc *a) { if (a->has) printf("%s\t%ld,%d\n", a->key, a->v, a->n); }
        int main(void) { struct acc a = {"", 0, 0, 0}; char *line = NULL, *k, *x; size_t cap = 0; int v, n;
        """ + "\n" + PRAGMA.format("a", "a", "k") + r"""
        while (getline(&line, &cap, stdin) > 0) {
            k = strtok(line, "\t"); v = atoi(strtok(NULL, ",")); n = atoi(strtok(NULL, "\n"));
            if (a.has && strcmp(a.key, k) == 0) { a.v += v; a.n &= n; continue; }
            put(&a);
            snprintf(a.key, sizeof a.key, "%s", k); a.v = v; a.n = n; a.has = 1;
        }
        free(line);
        put(&a);
        return 0; }""",
}


def same(bundle: Path, data: bytes, folder: Path) -> None:
    combiner = manifest.load(bundle).program("combine")
    assert combiner is not None and combiner.kernel is not None, combiner and combiner.gpu_refusals
    (folder / "in").write_bytes(data)
    for settings in ([], ["heterodoop.gpu.sub-split.bytes=400"]):
        (verdict,) = verify(bundle, [str(folder / "in")], RunOptions(device="emulated", settings=settings)).verdicts
        assert (verdict.outcome, verdict.difference) == ("equal", None), verdict


@pytest.mark.parametrize("options", [(), ("--no-opt", "map-fold", "--no-opt", "hash-fold")])
@pytest.mark.parametrize("name", COMBINERS)
def test_the_last_key_is_printed_behind_the_region(
    name: str, options: tuple[str, ...], bundles: Bundles, tmp_path: Path,
) -> None:
    rng = random.Random(name)
    data = b"".join(b"%d %d %d\n" % (rng.randrange(50), rng.randrange(-99, 99), rng.randrange(1 << 20)) for _ in range(400))
    same(bundles.get(MAP, COMBINERS[name], options=options), data, tmp_path)


def folds() -> list[random_loops.Program]:
    """Of the random combiners those that print behind the region and are folds."""
    found: list[random_loops.Program] = []
    seed = 0
    while len(found) < COUNT:
        seed += 1
        made = random_loops.program(seed, folds=True)
        if "\n{" not in made.source:
            found.append(made)
    return found


@pytest.mark.parametrize("number", range(COUNT))
def test_random_folds(number: int, bundles: Bundles, tmp_path: Path) -> None:
    made, rng = folds()[number], random.Random(number)
    found = analyse(made.source)[0].facts.fold
    assert found.fold is not None and found.loop is not None, f"{found.why}\n{made.source}"
    text = mapper(rng, made.types, [part.decode() for part in found.loop.reads.between])
    same(bundles.get(text, PRELUDE + made.source), b"".join(lines(rng, made, 12) for _ in range(3)), tmp_path)
