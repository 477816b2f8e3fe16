"""Host kernels of random combiners do what map filter and combiner do, line by line, or leave the task.

HETERODOOP_KEY_LOOPS=N makes it N programs instead of a handful.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from heterodoop import manifest

from ..compiler.keyloop import random_loops
from ..compiler.keyloop.test_random_loops import value
from ..compiler.regions import PRELUDE, analyse
from ..support import Bundles
from .host_program import LEFT, filters, run_host

pytestmark = pytest.mark.usefixtures("kernel_cache")
COUNT = int(os.environ.get("HETERODOOP_KEY_LOOPS", "8"))
UNREADABLE = 16
# A line is a key, a blank and the value's numbers; how the pair is printed is drawn.
MAP = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
    char line[400], key[40];
    DECLARED
#pragma mapreduce mapper key(key) value(v0) keylength(40)
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "%39s SCANNED", key, TARGETS) != COUNT)
            continue;
        PRINT
    }
    return 0;
}
"""


def mapper(rng: random.Random, types: tuple[str, ...], between: list[str]) -> str:
    scanned = " ".join(f"%{random_loops.CONVERSIONS[kind]}" for kind in types)
    form = "".join(f"%{_printed(rng, kind)}{text}" for kind, text in zip(types, [*between, ""], strict=True))
    form = form.replace("\t", "\\t")
    names = [f"v{i}" for i in range(len(types))]
    printed = rng.choice([
        f'printf("%s\\t{form}\\n", key, {", ".join(names)});',
        f'printf("%s", key); printf("\\t{form}\\n", {", ".join(names)});',
        f'char text[200]; sprintf(text, "{form}", {", ".join(names)}); printf("%s\\t%s\\n", key, text);',
    ])
    return (MAP.replace("DECLARED", " ".join(f"{kind} v{i};" for i, kind in enumerate(types))).replace("SCANNED", scanned)
            .replace("TARGETS", ", ".join(f"&{name}" for name in names)).replace("COUNT", str(1 + len(types)))
            .replace("PRINT", printed))


def _printed(rng: random.Random, kind: str) -> str:
    return rng.choice([".17g", ".3f", "g", ".6e"]) if kind in ("double", "float") else random_loops.CONVERSIONS[kind]


def lines(rng: random.Random, made: random_loops.Program, keys: int) -> bytes:
    spelt = [b"%d" % rng.randrange(-40, 1000) if made.number_key else b"k%d" % rng.randrange(10**rng.randrange(1, 25))
             for _ in range(keys)]
    return b"".join(b"%s %s\n" % (rng.choice(spelt), value(rng, made.types, [" "] * (len(made.types) - 1)).encode())
                    for _ in range(rng.choice([1, 2, 12, 300])))


@pytest.mark.parametrize("seed", range(COUNT))
def test_a_host_kernel_prints_what_map_and_combiner_print(seed: int, bundles: Bundles, tmp_path: Path) -> None:
    rng, made = random.Random(seed), random_loops.program(seed)
    found = analyse(made.source)[0].facts.fold
    assert found.loop is not None
    text = mapper(rng, made.types, [part.decode() for part in found.loop.reads.between])
    bundle = bundles.get(text, PRELUDE + made.source)
    program = manifest.load(bundle).program("map")
    assert program is not None and program.host is not None, program and program.no_host
    done = 0
    for _ in range(4):
        data = lines(rng, made, rng.choice([1, 3, 40]))
        host = run_host(bundle, data, tmp_path)
        if host.status == LEFT:
            assert host.report["left"] in (UNREADABLE, 10), host  # inf, or a NaN that would be printed
            continue
        assert host.status == 0
        assert host.lines == filters(bundle, data), f"{text}\n{made.source}"
        done += 1
    assert done, "one at least is done"
