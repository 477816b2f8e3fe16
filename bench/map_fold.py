"""Map kernels that fold their pairs themselves against the same without it: one warm map task, GB/s and stages.

    python -m bench.map_fold [--sizes 64m,1g] [--small 16m] [--runs 7] [--only words,stations,numbers,distinct]

Word count of Zipf text (one sum, 200,000 keys), the stations of the One Billion Row Challenge (four folds, 413 keys),
histratings (one sum, few keys), and a word count of words that hardly repeat, which the map kernel is to give up early.
Outputs of the small text are compared with the CPU's byte by byte, those of the larger ones with each other. Needs a GPU
and nvcc; `--device emulated` tries the script out.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from heterodoop.executor.native.runtime import Native
from heterodoop.toolchain import nvcc as toolchain_cuda

from . import data, measure
from .device_task import Tasks, Work
from .gpu_task import Bench, Row

WITHOUT = ("--no-opt", "map-fold")
STATION_BYTES = 14  # of a row, about


@dataclass(frozen=True)
class Subject:
    """An app and its text of so many bytes."""

    app: str
    text: Callable[[int], Path]


def distinct_words(size: int) -> Path:
    """Lines of ten words that are nearly all different."""
    path = data.SCRATCH / f"distinct-{size}.txt"
    if path.exists() and path.stat().st_size >= size:
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    chosen, written = random.Random(size), 0
    with open(path, "w") as file:
        while written < size:
            written += file.write(" ".join(f"{chosen.getrandbits(40):x}" for _ in range(10)) + "\n")
    return path


def stations(size: int) -> Path:
    return data.cached(size // STATION_BYTES, 1, kind="stations", arguments=("413", "1"))


SUBJECTS = {
    "words": Subject("wordcount", lambda size: data.cached(size, 1)),
    "stations": Subject("station_temperatures", stations),
    "numbers": Subject("histratings", lambda size: data.cached(size, 1, kind="movies")),
    "distinct": Subject("wordcount", lambda size: distinct_words(size // 4)),
}


def rows(bench: Bench, name: str, options: argparse.Namespace) -> Iterator[Row]:
    subject = SUBJECTS[name]
    with_fold, without = bench.bundle(subject.app), bench.bundle(subject.app, *WITHOUT)
    small = subject.text(options.small)
    yield bench.on_cpu(f"{name}, one CPU task", with_fold, Work(small))
    for bundle in (with_fold, without):
        bench.on_device(name, bundle, Work(small))
        bench.check()
    for size in options.sizes:
        text, sums = subject.text(size), []
        for what, bundle in ((name, with_fold), (f"{name}, without", without)):
            yield bench.on_device(what, bundle, Work(text))
            sums.append(hashlib.sha256((bench.scratch / "task-device" / "file.out").read_bytes()).hexdigest())
        if len(set(sums)) > 1:
            raise SystemExit(f"{name}: the outputs with and without the fold differ")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=lambda text: [data.parse_size(s) for s in text.split(",")], default="64m,1g")
    parser.add_argument("--small", type=data.parse_size, default="16m", help="text of the CPU's task")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--only", type=lambda text: text.split(","), default=",".join(SUBJECTS))
    parser.add_argument("--device", choices=["cuda", "emulated"], default="cuda")
    options = parser.parse_args()
    if set(options.only) - set(SUBJECTS):
        parser.error(f"--only takes some of {','.join(SUBJECTS)}")
    with tempfile.TemporaryDirectory(prefix="map-fold-") as folder:
        bench = Bench(Tasks(Native.load(), Path(folder)), options.device, options.runs)
        facts = {**measure.machine(), "command": measure.command()}
        if options.device == "cuda":
            facts["GPU"] = ", ".join(toolchain_cuda.of_this_machine())
        print("| task | input | ms | GB/s | stages, ms | |\n|---|---:|---:|---:|---|---|")
        for name in options.only:
            for row in rows(bench, name, options):
                print(row.text(), flush=True)
    print("\n" + "".join(f"- {name}: {value}\n" for name, value in facts.items()), end="")


if __name__ == "__main__":
    main()
