"""Benchmark input: seeded Zipf text of any size, made by bench/zipf.c (built here on first use) at about 1 GB/s.

    python bench/data.py --size 512m --seed 1 -o zipf.txt

200 000 words, exponent 1, lines of 60 to 100 bytes. The same size, seed and version of zipf.c give the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
SCRATCH = HERE.parent / "build" / "bench"
VOCABULARY = 200_000
EXPONENT = 1.0
UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def parse_size(text: str) -> int:
    """Bytes of `64`, `512m`, `4g`. Raises ValueError."""
    number = text.lower().rstrip("b").rstrip("i")
    unit = number[-1:] if number[-1:] in ("k", "m", "g") else ""
    return int(number.removesuffix(unit)) * UNITS[unit]


def generator(scratch: Path = SCRATCH) -> Path:
    """The generator program, built where its source has changed."""
    source = HERE / "zipf.c"
    program = scratch / f"zipf-{hashlib.sha256(source.read_bytes()).hexdigest()[:12]}"
    if not program.exists():
        scratch.mkdir(parents=True, exist_ok=True)
        partial = program.with_suffix(f".{os.getpid()}")
        subprocess.run(["gcc", "-O3", "-pthread", str(source), "-o", str(partial), "-lm"], check=True)
        partial.replace(program)
    return program


def generate(target: Path, size: int, seed: int, *, threads: int = 0, scratch: Path = SCRATCH) -> Path:
    """Write `size` bytes of text to `target`, which appears complete or not at all."""
    partial = target.with_name(f"{target.name}.{os.getpid()}")
    workers = threads or len(os.sched_getaffinity(0))
    argv = [generator(scratch), partial, size, seed, VOCABULARY, EXPONENT, workers]
    try:
        subprocess.run([str(a) for a in argv], check=True)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    return target


def cached(size: int, seed: int, scratch: Path = SCRATCH) -> Path:
    """A text of this size and seed in `scratch`, made once."""
    target = scratch / f"zipf-{size}-{seed}-{generator(scratch).name[-12:]}.txt"
    return target if target.exists() else generate(target, size, seed, scratch=scratch)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=parse_size, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-o", "--output", type=Path, required=True)
    options = parser.parse_args()
    generate(options.output, options.size, options.seed)


if __name__ == "__main__":
    main()
