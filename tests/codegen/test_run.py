"""Generated kernels do what the C programs do: the same bytes, without undefined behaviour, whatever private storage holds.

Each program is built once, sanitized, and run in one lane (lane_main.cpp); the CPU filter of the same source is the oracle.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from .kernels import FAILED, HERE, Done, build_filter, build_lane, emit, run

PROGRAMS = HERE / "programs"
EDGES = [
    0, 1, -1, 2, -2, 7, -7, 31, 32, 33, 63, 64, 65, 127, 128, -128, -129, 255, 256, 32767, 32768, -32768, 65535, 65536,
    2**31 - 1, -(2**31), 2**31, 2**32 - 1, 2**63 - 1, -(2**63),
]
LINES = ["", "a", "((x", "hello world!", "a;b;c", "x" * 63, "y" * 150, "z" * 250, "(" * 40, "two words; more"]
TEXTS = [
    "", "12 abc 3.5", "0x1F rest", "99999999999999999999 x", "-12,b c=d e", "key=value", "   spaced  out   ", "q" * 390,
    "7 word notanumber", "A B C D",
]
REALS = ["0 0", "1.5 -2.5", "-0.5 0.25", "2.5 3.5", "1e300 7", "-1e-310 3", "123456789.75 0.1", "-7 3", "7 -3", "1e-40 1"]
PAIRS = ["a\t1", "a\t2", "b\t5", "b\t-7", "c\t2147483647", "c\t2147483647", "dd\t0"]


def numbers() -> list[str]:
    """Pairs of corner values, the same ones in every run."""
    chosen = random.Random(4)
    return [f"{chosen.choice(EDGES)} {chosen.choice(EDGES)}" for _ in range(250)]


def searched() -> list[str]:
    """What is looked for, and where the search begins: found early, late, at either side of sixteen, and not at all."""
    wanted = (*range(-2, 104, 3), 15, 16, 17, 37, 99, 100)
    return [f"{x} {start}" for x in wanted for start in (0, 15, 16, 83, 84, 85, 99, 100, -3)]


INPUTS = {
    "arithmetic": numbers(), "constructs": LINES, "text": TEXTS, "sums": PAIRS, "mathematics": REALS, "searches": searched(),
}


@pytest.mark.parametrize("name", INPUTS)
def test_a_kernel_prints_what_the_filter_prints(name: str, tmp_path: Path) -> None:
    source = PROGRAMS / f"{name}.c"
    data = "".join(line + "\n" for line in INPUTS[name]).encode()
    expected = run(build_filter(source, tmp_path / "filter"), data)
    assert expected.status == 0 and expected.out
    lane = build_lane(emit(source), tmp_path)
    for pattern in ("0", "165", "255"):
        assert run(lane, data, pattern) == expected


@pytest.fixture(scope="module")
def failures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_lane(emit(PROGRAMS / "failures.c"), tmp_path_factory.mktemp("failures"))


STATUS = {
    "division by zero": ("d", 4), "the smallest integer by -1": ("m-1", 4), "a remainder by zero": ("m0", 4),
    "exit": ("e", 3), "a failed assert": ("a", 3), "a NaN": ("n", 10), "deep recursion": ("r100", 7), "no newline": ("u", 5),
}


@pytest.mark.parametrize("case", STATUS)
def test_what_only_the_cpu_can_decide_ends_the_lane(case: str, failures: Path) -> None:
    line, status = STATUS[case]
    assert run(failures, f"before\n{line}\n".encode()) == Done(FAILED + status, b"", b"")


def test_what_is_allowed_goes_on(failures: Path) -> None:
    done = run(failures, b"hello\nm7\nr60\n")
    assert (done.status, done.out) == (0, b"hello\n-2\n60\n")
