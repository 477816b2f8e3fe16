"""Each app on the CPU alone, with host kernels and by filters: whole commands in turn, equal output, both ratios.

    python -m bench.host_apps [--size 64m] [--rounds 3] [--only grep,kmeans] [--set -r=0]

Prints a Markdown table: median seconds of a command, processor seconds of it and all that it started, and how many
times as long filters took. The texts are those of `bench.figures`.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from . import app_inputs, contenders, data, measure
from .device_task import Work
from .figures.inputs import SEED, with_sides

ROWS_BYTES = 14  # of a row of `stations`, about
SLOW = {"blackscholes": 4, "kmeans": 4, "classification": 4}  # a part of the size is enough


@dataclass
class Side:
    """One way to run an app: seconds of each round, by the clock and of processors."""

    name: str
    options: tuple[str, ...]
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def run(self, argv: list[str]) -> None:
        before, began = measure.processor_seconds(), time.perf_counter()
        subprocess.run([*argv, *self.options], check=True, stdout=subprocess.DEVNULL)
        self.wall.append(time.perf_counter() - began)
        self.cpu.append(measure.processor_seconds() - before)


def fed(app: str, size: int) -> Work:
    kind = app_inputs.INPUTS[app].kind
    amount = size // ROWS_BYTES if kind == "stations" else size // SLOW.get(app, 1)
    return with_sides(app, data.cached(amount, SEED, kind=kind))


def in_turn(
    name: str, bundle: Path, work: Work, sides: Sequence[Side], rounds: int, common: Sequence[str], scratch: Path,
) -> None:
    """Run all sides of a program `rounds` times in turn, behind one round that does not count.

    Raises SystemExit where the outputs differ.
    """
    options = [*(word for s in work.settings for word in ("-D", s)), *(word for f in work.files for word in ("--file", f))]
    for number in range(rounds + 1):
        outputs = []
        for side in sides:
            out = scratch / side.name.replace(" ", "-")
            for old in (out, out.with_name(f"{out.name}.report")):
                shutil.rmtree(old, ignore_errors=True)
            argv = [sys.executable, "-m", "heterodoop", "run", str(bundle), str(work.text), "-o", str(out), "--quiet"]
            side.run([*argv, *options, *common])
            outputs.append({path.name: path.read_bytes() for path in sorted(out.iterdir())})
        if any(output != outputs[0] for output in outputs):
            raise SystemExit(f"{name}: the outputs differ")
        if number == 0:
            for side in sides:
                side.wall.clear()
                side.cpu.clear()


def measured(app: str, work: Work, rounds: int, more: list[str], scratch: Path) -> str:
    """A row of the table. Raises SystemExit where the outputs differ."""
    bundle = contenders.compiled(Path("apps") / app, scratch / f"{app}.hdp", "--arch", "none")
    host, filters = sides = (Side("host kernels", ()), Side("filters", ("--filters",)))
    in_turn(app, bundle, work, sides, rounds, ["--cpu-only", *more], scratch)
    cells = [f"{statistics.median(side.wall):.2f} | {statistics.median(side.cpu):.2f}" for side in sides]
    walls = statistics.median(b / a for a, b in zip(host.wall, filters.wall, strict=True))
    cpus = statistics.median(b / a for a, b in zip(host.cpu, filters.cpu, strict=True))
    return f"| {app} | {work.text.stat().st_size / 2**20:.0f} | {' | '.join(cells)} | {walls:.2f} | {cpus:.2f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=data.parse_size, default="64m")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", type=lambda text: text.split(","), default=",".join(app_inputs.INPUTS))
    parser.add_argument("--set", dest="more", action="append", default=[], help="an option of every command, `-r=0`")
    options = parser.parse_args()
    more = [word for one in options.more for word in one.split("=", 1)]
    print("| app | MiB | host kernels, s | processor, s | filters, s | processor, s | ratio | of processors |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|", flush=True)
    with tempfile.TemporaryDirectory(prefix="host-apps-", dir=os.environ.get("TMPDIR")) as folder:
        for app in options.only:
            print(measured(app, fed(app, options.size), options.rounds, more, Path(folder)), flush=True)
    print("\n" + "".join(f"- {name}: {value}\n" for name, value in measure.machine().items()), end="")


if __name__ == "__main__":
    main()
