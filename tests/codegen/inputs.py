"""What the programs in programs/ read: values at the limits, the same in every run. Also for tests/on_gpu."""

from __future__ import annotations

import random

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


_LINES = {
    "arithmetic": numbers(), "constructs": LINES, "text": TEXTS, "sums": PAIRS, "mathematics": REALS, "searches": searched(),
}
INPUTS = {name: "".join(line + "\n" for line in lines).encode() for name, lines in _LINES.items()}
