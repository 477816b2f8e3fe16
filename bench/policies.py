"""Policy tail against the CPU alone and against GPUs alone, for each app and for programs that are slow on a GPU.

    python -m bench.policies [--size 4g] [--slow-size 256m] [--rounds 3] [--only grep,kmeans,branchy] [--device emulated]

Whole commands in turn, equal output. The first round does not count: it gives the bundle its speedup. Prints a Markdown
table: median seconds and how long tail takes by the better side alone (bar: 1.05). Needs a GPU and nvcc, but for --device.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path

from . import app_inputs, contenders, data, measure
from .device_task import Work
from .figures.inputs import SEED
from .host_apps import Side, fed, in_turn

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "bench" / "programs"
LONG_LINE = 2_700_000  # bytes
RECORDS = 10
BAR = 1.05


def long_line(size: int) -> tuple[Path, Work]:
    """histmovies of a text whose first line is long."""
    text = data.cached(size, SEED, kind="movies", arguments=(str(LONG_LINE), "0"))
    return ROOT / "apps" / "histmovies", Work(text)


def branchy(size: int) -> tuple[Path, Work]:
    """A map whose lanes part at each step."""
    return PROGRAMS / "branchy.c", Work(data.cached(size, SEED))


def few_records(size: int) -> tuple[Path, Work]:
    """A map that computes for each of ten records."""
    whole = data.cached(1 << 20, SEED)
    text = whole.with_name(f"first-{RECORDS}.txt")
    text.write_bytes(b"".join(whole.read_bytes().splitlines(keepends=True)[:RECORDS]))
    return PROGRAMS / "busy.c", Work(text)


SLOW: dict[str, Callable[[int], tuple[Path, Work]]] = {
    "long_line": long_line, "branchy": branchy, "few_records": few_records,
}


def row(name: str, source: Path, work: Work, rounds: int, common: list[str], scratch: Path) -> str:
    """Of the table. Raises SystemExit where the outputs differ."""
    bundle = contenders.compiled(source, scratch / f"{name}.hdp")
    sides = (Side("cpu-only", ("--policy", "cpu-only")), Side("gpu-only", ("--policy", "gpu-only")), Side("tail", ()))
    in_turn(name, bundle, work, sides, rounds, common, scratch)
    cpu, gpu, tail = (statistics.median(side.wall) for side in sides)
    ratio = tail / min(cpu, gpu)
    missed = "" if ratio <= BAR else ", missed"
    mib = work.text.stat().st_size / 2**20
    return f"| {name} | {mib:.2f} | {cpu:.2f} | {gpu:.2f} | {tail:.2f} | {ratio:.2f}{missed} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=data.parse_size, default="4g")
    parser.add_argument("--slow-size", type=data.parse_size, default="256m")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", type=lambda text: text.split(","), default=",".join([*app_inputs.INPUTS, *SLOW]))
    parser.add_argument("--device", default="auto", help="emulated tries it out")
    options = parser.parse_args()
    print("| program | MiB | cpu-only, s | gpu-only, s | tail, s | by the better one |")
    print("|---|---:|---:|---:|---:|---:|", flush=True)
    with tempfile.TemporaryDirectory(prefix="policies-", dir=os.environ.get("TMPDIR")) as folder:
        for name in options.only:
            source, work = (SLOW[name](options.slow_size) if name in SLOW
                            else (ROOT / "apps" / name, fed(name, options.size)))
            print(row(name, source, work, options.rounds, ["--device", options.device], Path(folder)), flush=True)
    facts = {**measure.machine(), "command": measure.command()}
    print("\n" + "".join(f"- {name}: {value}\n" for name, value in facts.items()), end="")


if __name__ == "__main__":
    main()
