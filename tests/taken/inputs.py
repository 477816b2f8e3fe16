"""What the programs of readers are fed. No test module."""

from __future__ import annotations

import random
from pathlib import Path

PROGRAMS = Path(__file__).parent / "programs"


def hostile(seed: int) -> bytes:
    """Lines that programs do not expect: empty, of blanks alone, longer than buffers, with NUL and other bytes."""
    rng = random.Random(seed)
    words = (b"foo", b"Bar", b"a", b"b1", b"12", b"-7", b"x,y", b'"q r"', b"#c", b"it's", b"end", b"3.5")
    made = {
        "words": lambda: b" ".join(rng.choice(words) for _ in range(rng.randrange(7))),
        "pair": lambda: b"%s %d" % (rng.choice(words), rng.randrange(-50, 5000)),
        "long": lambda: b"ab cd" * rng.choice((7, 8, 39, 40, 41, 90)),
        "blank": lambda: rng.choice((b"", b" ", b"  \t ", b"\v")),
        "bytes": lambda: bytes(b for b in rng.randbytes(30) if b not in (10, 13)),
        "nul": lambda: b"ab\0cd ef\0",
    }
    kinds = rng.sample(sorted(made), rng.randrange(1, len(made)))
    return b"".join(made[rng.choice(kinds)]() + b"\n" for _ in range(rng.randrange(1, 40)))


INPUTS = [b"", b"\n", b"one\n", b"a 1\nb 2\nc 3\n", b"1\n2\n3\n", *map(hostile, range(20))]
