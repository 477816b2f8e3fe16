"""One map task on a GPU, warm, against one on a CPU core: bytes of input per second of the whole task, and its stages.

    python -m bench.gpu_task [--sizes 64m,1g] [--runs 7] [--only wordcount,paper,items,long]
                             [--cpu-size 64m] [--writers 1,8] [--json FILE]

A task reads its split from the page cache and writes its output file. The device stays open, as it does in a job; each
figure is the median of the runs after two that warm up. The outputs of both sides are compared. Needs a GPU and nvcc;
`--device emulated` tries the script out.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from heterodoop.compiler.decide.optimisations import chosen
from heterodoop.executor.native.runtime import Native
from heterodoop.toolchain import nvcc as toolchain_cuda

from . import contenders, data, measure
from .app_inputs import INPUTS
from .device_task import Tasks, Work
from .figures.inputs import with_sides

ROOT = Path(__file__).resolve().parent.parent
APPS = ("wordcount", "grep", "station_temperatures", "linear_regression")  # unless others are asked for
LONG_LINE = 2_700_000  # bytes
STATION_ROW = 14  # bytes of a row of the stations at least, taken over many


@dataclass
class Row:
    """A measured task. `stages`: seconds of the median run, those of 0.1 ms and more."""

    what: str
    size: int
    seconds: float
    stages: dict[str, float] = field(default_factory=dict)
    note: str = ""

    @property
    def rate(self) -> float:
        return self.size / self.seconds / 1e9

    def text(self) -> str:
        stages = ", ".join(f"{name} {seconds * 1e3:.1f}" for name, seconds in self.stages.items())
        size = f"{self.size / 2**20:g} MiB"
        return f"| {self.what} | {size} | {self.seconds * 1e3:.1f} | {self.rate:.3g} | {stages} | {self.note} |"


@dataclass(frozen=True)
class Bench:
    tasks: Tasks
    device: str
    runs: int

    @property
    def scratch(self) -> Path:
        return self.tasks.scratch

    def bundle(self, app: str, *options: str) -> Path:
        name = "-".join([app, *(o.strip("-") for o in options)])
        arch = [] if self.device == "cuda" else ["--arch", "none"]
        return contenders.compiled(ROOT / "apps" / app, self.scratch / f"{name}.hdp", *arch, *options)

    def on_device(self, what: str, bundle: Path, work: Work, writers: int = 0) -> Row:
        with self.tasks.opened(self.device) as opened:
            opened.device.options = replace(opened.device.options, write_threads=writers)
            timed = self.tasks.on_device(opened, bundle, work, self.runs)
        return Row(what, timed.size, timed.seconds, timed.stages)

    def on_cpu(self, what: str, bundle: Path, work: Work) -> Row:
        timed = self.tasks.on_cpu(bundle, work)
        return Row(what, timed.size, timed.seconds)

    def check(self) -> None:
        one, other = (self.scratch / f"task-{side}" / "file.out" for side in ("device", "cpu"))
        if one.read_bytes() != other.read_bytes():
            raise SystemExit(f"{one} and {other} differ")


def link_ceiling(scratch: Path) -> float:
    nvcc = toolchain_cuda.find_nvcc()
    if nvcc is None:
        raise SystemExit("there is no nvcc")
    program = scratch / "link"
    subprocess.run([str(nvcc.path), "-O2", "-o", str(program), str(ROOT / "bench" / "link.cu")], check=True)
    return float(subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout)


def work_of(app: str, size: int, settings: tuple[str, ...] = ()) -> Work:
    """`size` bytes of the app's data."""
    kind = INPUTS[app].kind
    asked = size // STATION_ROW + 1 if kind == "stations" else size
    text = data.cached(asked, 1, kind=kind)
    return Work(text, size, settings, with_sides(app, text).files if INPUTS[app].centroids else ())


def apps(bench: Bench, options: argparse.Namespace) -> Iterator[Row]:
    """Each app at each size, and one CPU task of each."""
    for app in INPUTS:
        if app not in options.only:
            continue
        small = work_of(app, options.cpu_size)
        settings = (f"grep.pattern={contenders.rare_word(small.text)}",) if app == "grep" else ()
        small = replace(small, settings=settings)
        cpu = bench.on_cpu(f"{app}, one CPU task", bench.bundle(app), small)
        bench.on_device(app, bench.bundle(app), small)
        bench.check()
        yield cpu
        for size in options.sizes:
            for writers in options.writers:
                what = f"{app}, {writers} writers" if writers else app
                row = bench.on_device(what, bench.bundle(app), work_of(app, size, settings), writers)
                row.note = f"{row.rate / cpu.rate:.0f} x one CPU task"
                yield row


def sets(bench: Bench, options: argparse.Namespace) -> Iterator[Row]:
    """The paper's set and, with `items`, each set without each of its items: word count of the largest size."""
    text = work_of("wordcount", max(options.sizes))
    for name in ("default", "paper"):
        whole = [] if name == "default" else ["--opt", "paper"]
        if name == "paper" and "paper" in options.only:
            yield bench.on_device("wordcount, --opt paper", bench.bundle("wordcount", *whole), text)
        for item in chosen(name) if "items" in options.only else ():
            what = f"wordcount, {name} without {item}"
            yield bench.on_device(what, bench.bundle("wordcount", *whole, "--no-opt", item), text)


def long_line(bench: Bench, options: argparse.Namespace) -> Iterator[Row]:
    """histmovies, without and with a line as long as Netflix's longest."""
    if "long" not in options.only:
        return
    for length in (0, LONG_LINE):
        text = data.cached(max(options.sizes), 1, kind="movies", arguments=(str(length), "0"))
        what = "histmovies with a line of 2.7 MB" if length else "histmovies"
        yield bench.on_device(what, bench.bundle("histmovies"), Work(text, max(options.sizes)))


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=lambda text: [data.parse_size(s) for s in text.split(",")], default="64m,1g")
    parser.add_argument("--cpu-size", type=data.parse_size, default="64m", help="text of the CPU's task (default 64m)")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--only", type=lambda text: text.split(","), default=",".join([*APPS, "paper"]),
                        help="comma-separated: " + ", ".join([*INPUTS, "paper", "items", "long"]))
    parser.add_argument("--writers", type=lambda text: [int(n) for n in text.split(",")], default="0",
                        help="threads that write the output, each number in turn (default 0: as chosen)")
    parser.add_argument("--device", choices=["cuda", "emulated"], default="cuda")
    parser.add_argument("--json", type=Path, help="where the rows go as JSON")
    return parser.parse_args()


def main() -> None:
    options = parse_arguments()
    with tempfile.TemporaryDirectory(prefix="gpu-task-") as folder:
        bench = Bench(Tasks(Native.load(), Path(folder)), options.device, options.runs)
        facts: dict[str, Any] = {**measure.machine(), "command": measure.command()}
        if options.device == "cuda":
            facts["GPU"] = ", ".join(toolchain_cuda.of_this_machine())
            facts["link, GB/s"] = link_ceiling(bench.scratch)
        print("| task | input | ms | GB/s | stages, ms | |\n|---|---:|---:|---:|---|---|")
        rows = []
        for part in (apps, sets, long_line):
            for row in part(bench, options):
                rows.append(row)
                print(row.text(), flush=True)
    print("\n" + "".join(f"- {name}: {value}\n" for name, value in facts.items()), end="")
    if options.json:
        listed = [{"what": r.what, "bytes": r.size, "seconds": r.seconds, "stages": r.stages} for r in rows]
        options.json.write_text(json.dumps({"machine": facts, "rows": listed}, indent=1) + "\n")


if __name__ == "__main__":
    main()
