"""Benchmark input: seeded data of any size, made by a C program per kind (built here on first use) at about 1 GB/s.

    python bench/data.py --size 512m --seed 1 -o zipf.txt
    python bench/data.py --kind ssb --size 64m -o lineorder.tbl

A kind may have side files (tables, weights); they are written into the output's folder. The size is in bytes, of `stations`
in rows. The same size, seed and version of the generator give the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

GENERATORS = Path(__file__).resolve().parent / "generators"
SCRATCH = GENERATORS.parents[1] / "build" / "bench"
UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}



@dataclass(frozen=True)
class Kind:
    """A generator: its source in generators/, its own arguments, and the names of the side files that it writes.

    Its command line is OUTPUT SIZE SEED, the arguments, a path for each side file, THREADS.
    """

    source: str
    arguments: tuple[str, ...]
    side_files: tuple[str, ...] = ()


KINDS = {
    "edges": Kind("edges.c", ("1000000",), ("degrees.txt", "ranks.txt")),  # nodes; every line has 16 bytes
    "logistic": Kind("logistic.c", (), ("weights.txt",)),  # y and 10 features
    # Bytes of a long first line, raters; other lines have 253 bytes on average, 5546 at most.
    "movies": Kind("movies.c", ("0", "0")),
    "shared-movies": Kind("movies.c", ("0", "480189")),  # with reviewers in common, for kmeans and classification
    "rows": Kind("rows.c", ()),  # y and 12 regressors
    # Parts and suppliers of scale factor 1, whose 6 million lines are 570 MiB.
    "ssb": Kind("ssb.c", ("200000", "2000"), ("date.tbl", "part.tbl", "supplier.tbl")),
    "stations": Kind("stations.c", ("413", "1")),  # names, decimals; its size is in rows
    "stock-options": Kind("stock_options.c", ()),
    "zipf": Kind("zipf.c", ("200000", "1.0")),  # words, exponent; lines of 60 to 100 bytes
}


def parse_size(text: str) -> int:
    """Bytes of `64`, `512m`, `4g`. Raises ValueError."""
    number = text.lower().rstrip("b").rstrip("i")
    unit = number[-1:] if number[-1:] in ("k", "m", "g") else ""
    return int(number.removesuffix(unit)) * UNITS[unit]


def generator(kind: str = "zipf", scratch: Path = SCRATCH) -> Path:
    """The generator program of a kind, built where its source has changed."""
    source = GENERATORS / KINDS[kind].source
    texts = source.read_bytes() + (GENERATORS / "generator.h").read_bytes()
    program = scratch / f"{source.stem}-{hashlib.sha256(texts).hexdigest()[:12]}"
    if not program.exists():
        scratch.mkdir(parents=True, exist_ok=True)
        partial = program.with_suffix(f".{os.getpid()}")
        subprocess.run(["gcc", "-O3", "-pthread", str(source), "-o", str(partial), "-lm"], check=True)
        partial.replace(program)
    return program


def side_files(target: Path, kind: str) -> list[Path]:
    """The side files that come with `target`, in its folder."""
    return [target.parent / name for name in KINDS[kind].side_files]


def generate(
    target: Path, size: int, seed: int, *, kind: str = "zipf", arguments: tuple[str, ...] = (), threads: int = 0,
    scratch: Path = SCRATCH,
) -> Path:
    """Write data of this size (bytes; of stations rows) to `target`, which appears last and complete, after its side files.

    `arguments` replace the kind's own. Raises CalledProcessError, e.g. for a size that the kind cannot have.
    """
    finished = [*side_files(target, kind), target]
    partial = [path.with_name(f"{path.name}.{os.getpid()}") for path in finished]
    workers = threads or len(os.sched_getaffinity(0))
    argv = [generator(kind, scratch), partial[-1], size, seed, *(arguments or KINDS[kind].arguments), *partial[:-1], workers]
    try:
        subprocess.run([str(a) for a in argv], check=True)
        for made, path in zip(partial, finished, strict=True):
            made.replace(path)
    finally:
        for made in partial:
            made.unlink(missing_ok=True)
    return target


def cached(size: int, seed: int, scratch: Path = SCRATCH, kind: str = "zipf", arguments: tuple[str, ...] = ()) -> Path:
    """Data of this kind, size and seed in a folder of its own in `scratch`, made once.

    `arguments` replace the kind's own.
    """
    chosen = arguments or KINDS[kind].arguments
    folder = scratch / f"{kind}-{size}-{seed}-{'-'.join(chosen)}-{generator(kind, scratch).name[-12:]}"
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{kind}.txt"
    return target if target.exists() else generate(target, size, seed, kind=kind, arguments=chosen, scratch=scratch)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", choices=sorted(KINDS), default="zipf")
    parser.add_argument("--size", type=parse_size, required=True, help="bytes; of stations, rows")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--arguments", nargs="+", default=[], help="for the generator, instead of the kind's own")
    options = parser.parse_args()
    generate(options.output, options.size, options.seed, kind=options.kind, arguments=tuple(options.arguments))


if __name__ == "__main__":
    main()
