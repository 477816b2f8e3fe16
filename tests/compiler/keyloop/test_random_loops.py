"""Key loops of random combiners print what the combiners print, byte for byte.

So do the host kernels made of them. HETERODOOP_KEY_LOOPS=N makes it N programs instead of a handful.
"""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest

from heterodoop.compiler.emit import key_loop
from heterodoop.compiler.keyloop.loop import KeyLoop
from heterodoop.compiler.keyloop.loop_text import loop_text

from ...run.host_program import LEFT, spawn
from ..emit.test_key_loop import run
from ..regions import PRELUDE, analyse
from . import evaluator, random_loops, random_texts

COUNT = int(os.environ.get("HETERODOOP_KEY_LOOPS", "10"))
FLAGS = ("-w", "-O1", "-fwrapv", "-fno-strict-aliasing", "-ffp-contract=off")
INTEGERS = {"int": (-(1 << 31), (1 << 31) - 1), "unsigned": (0, (1 << 32) - 1), "long": (-(1 << 63), (1 << 63) - 1),
            "unsigned long": (0, (1 << 64) - 1)}


def pairs(rng: random.Random, made: random_loops.Program, between: list[str]) -> list[evaluator.Pair]:
    """Sorted by key, the numbers of a value with `between` between them."""
    keys = [b"%d" % rng.randrange(-40, 1000) if made.number_key else b"k%d" % rng.randrange(30) for _ in range(6)]
    found = [(rng.choice(keys), value(rng, made.types, between).encode()) for _ in range(rng.choice([0, 1, 2, 12, 40]))]
    return sorted(found, key=lambda pair: pair[0])


def value(rng: random.Random, types: tuple[str, ...], between: list[str]) -> str:
    return "".join(number(rng, kind) + text for kind, text in zip(types, [*between, ""], strict=True))


def number(rng: random.Random, kind: str) -> str:
    if kind in ("double", "float"):
        return rng.choice(["%d", "%.2f", "%g", "%.9e"]) % rng.choice([rng.randrange(9), rng.gauss(0, 5), -0.0, 1e30])
    least, most = INTEGERS[kind]
    return str(rng.choice([rng.randrange(10), max(least, -rng.randrange(10)), rng.randint(least, most), least, most]))


def compiled(made: random_loops.Program | random_texts.Program, folder: Path) -> Path:
    (folder / "c.c").write_text(PRELUDE + made.source)
    subprocess.run(["gcc", *FLAGS, "-o", folder / "c", folder / "c.c", "-lm"], check=True)
    return folder / "c"


@pytest.mark.parametrize("seed", range(COUNT))
def test_a_key_loop_prints_what_its_combiner_prints(seed: int, tmp_path: Path) -> None:
    made = random_loops.program(seed)
    found = analyse(made.source)[0].facts.fold
    assert found.loop is not None, f"{found.no_loop}\n{made.source}"
    binary = compiled(made, tmp_path)
    rng = random.Random(seed)
    for _ in range(4):
        given = pairs(rng, made, [text.decode() for text in found.loop.reads.between])
        data = b"".join(b"%s\t%s\n" % pair for pair in given)
        done = subprocess.run([binary], input=data, stdout=subprocess.PIPE, check=True)
        assert done.stdout == evaluator.printed(found.loop, given), f"{made.source}\n{loop_text(found.loop)}"


@pytest.mark.usefixtures("kernel_cache")
@pytest.mark.parametrize("seed", range(1000, 1000 + COUNT // 4))
def test_a_host_kernel_prints_what_its_combiner_prints(seed: int, tmp_path: Path) -> None:
    made = random_loops.program(seed)
    found = analyse(made.source)[0].facts.fold
    assert found.loop is not None and found.pairs is not None
    rng = random.Random(seed)
    given = [pair for _ in range(3) for pair in pairs(rng, made, [text.decode() for text in found.loop.reads.between])]
    lines = [b"%s\t%s\n" % pair for pair in given]
    ordered = b"".join(sorted(lines, key=lambda line: line.partition(b"\t")[0]))
    printed = subprocess.run([compiled(made, tmp_path)], input=ordered, stdout=subprocess.PIPE, check=True).stdout
    done = run(found.loop, b"".join(lines), tmp_path, found.pairs)
    assert done.status == 0, f"{done}\n{made.source}"
    assert sorted(done.lines) == sorted(printed.splitlines(keepends=True)), f"{made.source}\n{loop_text(found.loop)}"


def readable(loop: KeyLoop, value: bytes) -> bool:
    try:
        evaluator.read(loop.reads, value)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("seed", range(COUNT))
def test_a_loop_that_keeps_texts_prints_what_its_combiner_prints(seed: int, tmp_path: Path) -> None:
    made = random_texts.program(seed)
    found = analyse(made.source)[0].facts.fold
    if found.loop is None:
        assert "put together" in found.no_loop, f"{found.no_loop}\n{made.source}"
        return
    assert found.fold is None
    binary, rng = compiled(made, tmp_path), random.Random(seed)
    for _ in range(4):
        drawn = [(b"k%d" % rng.randrange(5), random_texts.value(rng, made, found.loop.reads.between))
                 for _ in range(rng.choice([0, 1, 40]))]
        given = sorted((pair for pair in drawn if readable(found.loop, pair[1])), key=lambda pair: pair[0])
        assert len(given) >= len(drawn) // 3, f"{made.source}\n{loop_text(found.loop)}"
        data = b"".join(b"%s\t%s\n" % pair for pair in given)
        done = subprocess.run([binary], input=data, stdout=subprocess.PIPE, check=True)
        try:
            assert done.stdout == evaluator.printed(found.loop, given), f"{made.source}\n{loop_text(found.loop)}"
        except evaluator.Outside:
            assert "snprintf(b" in made.source  # which cuts


@pytest.mark.usefixtures("kernel_cache")
@pytest.mark.parametrize("seed", range(1000, 1000 + COUNT // 4))
def test_a_host_kernel_that_keeps_texts_prints_what_its_combiner_prints(seed: int, tmp_path: Path) -> None:
    """Or leaves the task, where a value does not read back."""
    made = random_texts.program(seed)
    found = analyse(made.source)[0].facts.fold
    if found.loop is None or found.pairs is None or key_loop.problem(found.loop, found.pairs):
        why = key_loop.problem(found.loop, found.pairs) if found.loop is not None else found.no_loop
        assert "put together" in why or "puts a text together" in why, f"{why}\n{made.source}"
        return
    rng, binary = random.Random(seed), compiled(made, tmp_path)
    run(found.loop, b"", tmp_path, found.pairs)
    for round_ in range(12):
        pairs = [(b"k%d" % rng.randrange(9), random_texts.value(rng, made, found.loop.reads.between))
                 for _ in range(3 + 9 * round_)]
        if round_ % 2:
            pairs = [pair for pair in pairs if readable(found.loop, pair[1])]
        lines = [b"%s\t%s\n" % pair for pair in pairs]
        ordered = b"".join(sorted(lines, key=lambda line: line.partition(b"\t")[0]))
        done = spawn(tmp_path / "map.host", b"".join(lines), tmp_path)
        if not all(readable(found.loop, value) for _, value in pairs):
            assert done.status == LEFT and done.report["left"] in (15, 16), made.source
            continue
        try:
            evaluator.printed(found.loop, sorted(pairs, key=lambda pair: pair[0]))
        except evaluator.Outside:
            assert (done.status, done.report["left"]) == (LEFT, 15), made.source
            continue
        printed = subprocess.run([binary], input=ordered, stdout=subprocess.PIPE, check=True).stdout
        assert done.status == 0, f"{done}\n{made.source}"
        assert sorted(done.lines) == sorted(printed.splitlines(keepends=True)), f"{made.source}\n{loop_text(found.loop)}"
