"""compute-sanitizer on the kernels of some programs: memcheck, racecheck, synccheck and initcheck must find nothing.

    python -m tests.on_gpu.sanitize [--tools memcheck,racecheck,synccheck,initcheck] [--only PATTERN] [--jobs N]
                                    [--reports DIR]

Each program's map task runs once on the GPU, on the first bytes of its sample, under each tool; a Markdown table says what
was found, and the tools' reports go to DIR. Exit status 1 where a tool found something or a task did not run. Kernels of CUB
are not left out. Needs a GPU, nvcc and compute-sanitizer (both are parts of the CUDA toolkit).
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from bench import device_task
from heterodoop.executor.native.runtime import Native

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")
CODEGEN = Path("tests/codegen/programs")
WORDS = Path("apps/wordcount/sample.txt")
SUMMARY = re.compile(r"^========= (?:ERROR SUMMARY: (\d+) error|RACECHECK SUMMARY: (\d+) hazard)", re.MULTILINE)


@dataclass(frozen=True)
class Program:
    """What is compiled (below the project's root) with which options, whose first bytes it is fed, and its side files."""

    name: str
    source: Path
    options: tuple[str, ...] = ()
    text: Path = WORDS
    files: tuple[Path, ...] = ()


WORDCOUNT, HISTRATINGS, KMEANS = Path("apps/wordcount"), Path("apps/histratings"), Path("apps/kmeans")
STATIONS, MEANS, BYTES = Path("apps/station_temperatures"), Path("bench/programs/means"), Path("bench/programs/bytes.c")
TEXTS = Path("bench/programs/texts")
BINS = Path("bench/programs/bins.c")
FOUND = Path("bench/programs/found")
PROGRAMS = (
    Program("word count", WORDCOUNT),
    Program("word count without map-fold", WORDCOUNT, ("--no-opt", "map-fold")),
    Program("word count without hash-fold", WORDCOUNT, ("--no-opt", "hash-fold")),
    Program("word count, paper", WORDCOUNT, ("--opt", "paper")),
    Program("histratings (number keys)", HISTRATINGS, text=HISTRATINGS / "sample.txt"),
    Program("stations (folds of four numbers)", STATIONS, text=STATIONS / "sample.txt"),
    Program("stations without map-fold", STATIONS, ("--no-opt", "map-fold"), text=STATIONS / "sample.txt"),
    Program("means (an ordered loop)", MEANS, text=STATIONS / "sample.txt"),
    Program("texts (an ordered loop that keeps texts)", TEXTS, text=STATIONS / "sample.txt"),
    Program("all texts (put together)", TEXTS, ("-D", "ALL"), text=STATIONS / "sample.txt"),
    Program("bytes (gathered by blocks)", BYTES),
    Program("bytes and pairs (gathered in memory)", BYTES, ("-D", "PAIRS")),
    Program("bins (members and doubles, gathered by blocks)", BINS),
    Program("wide bins (members and doubles, gathered in memory)", BINS, ("-D", "WIDE")),
    Program("bins and memory whose size is computed", BINS, ("-D", "COMPUTED")),
    Program("kmeans (long records, searches)", KMEANS, text=KMEANS / "sample.txt", files=(KMEANS / "centroids.txt",)),
    Program("searches", CODEGEN / "searches.c", text=Path("apps/linear_regression/sample.txt")),
    Program("every clause", CODEGEN / "clauses"),
    Program("every clause, paper", CODEGEN / "clauses", ("--opt", "paper")),
    Program("a variable of every kind", CODEGEN / "places.c"),
    Program("k-mers", FOUND / "kmers"),
    Program("a page and its links (memory of a record)", FOUND / "pagerank"),
)


def found(report: str) -> int | None:
    """The findings of a tool's report; None: it has no summary, so the tool did not get to its end."""
    counts = [int(errors or hazards) for errors, hazards in SUMMARY.findall(report)]
    return max(counts) if counts else None


def verdict(status: int, report: str) -> str:
    """What a table says of a run."""
    number = found(report)
    if number is None:
        return f"failed (exit status {status})"
    if number:
        return f"{number} found"
    return "clean" if status == 0 else f"failed (exit status {status})"


def first_lines(text: bytes, size: int) -> bytes:
    """Whole lines, `size` bytes at most: half a record can be none."""
    return text[:text.rfind(b"\n", 0, size) + 1]


def run_task(bundle: Path, text: Path, *files: Path) -> None:
    """One map task on the GPU: what runs under a tool."""
    with tempfile.TemporaryDirectory() as folder:
        tasks = device_task.Tasks(Native.load(), Path(folder))
        with tasks.opened("cuda") as opened:
            tasks.on_device(opened, bundle, device_task.Work(text, files=tuple(map(str, files))), 1, warm_up=0)


def compiled(program: Program, folder: Path) -> Path:
    bundle = folder / (re.sub(r"\W+", "-", program.name) + ".hdp")
    words = ["compile", str(ROOT / program.source), "-o", str(bundle), *program.options]
    subprocess.run([sys.executable, "-m", "heterodoop", *words], check=True, stdout=subprocess.DEVNULL, cwd=ROOT)
    return bundle


def sanitized(tool: str, task: Sequence[Path], reports: Path, limit: float) -> str:
    """`task`: as run_task has them."""
    bundle = task[0]
    command = ["compute-sanitizer", "--tool", tool, sys.executable, "-m", "tests.on_gpu.sanitize", "--task", *map(str, task)]
    report = reports / f"{bundle.stem}-{tool}.txt"
    with open(report, "wb") as out:
        try:
            status = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, cwd=ROOT, timeout=limit).returncode
        except subprocess.TimeoutExpired:
            return f"failed (not done in {limit:g} s)"
    return verdict(status, report.read_text(errors="replace"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=lambda text: text.split(","), default=list(TOOLS))
    parser.add_argument("--only", default="", help="a regular expression that names must match")
    parser.add_argument("--jobs", type=int, default=max(1, len(os.sched_getaffinity(0)) // 2))
    parser.add_argument("--bytes", type=int, default=3000, help="of the sample (default 3000)")
    parser.add_argument("--timeout", type=float, default=150, help="seconds for one task under one tool (default 150)")
    parser.add_argument("--reports", type=Path, default=Path("build/sanitize"))
    parser.add_argument("--task", nargs="+", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.task:
        run_task(*options.task)
        return 0
    if shutil.which("compute-sanitizer") is None:
        raise SystemExit("there is no compute-sanitizer in PATH; it comes with the CUDA toolkit")
    options.reports.mkdir(parents=True, exist_ok=True)
    chosen = [program for program in PROGRAMS if re.search(options.only, program.name)]
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(options.jobs) as pool:
        folder, texts = Path(scratch), {}
        for text in {program.text for program in chosen}:
            texts[text] = folder / f"{text.parent.name}.txt"
            texts[text].write_bytes(first_lines((ROOT / text).read_bytes(), options.bytes))
        bundles = list(pool.map(lambda program: compiled(program, folder), chosen))
        work = [(tool, (bundle, texts[program.text], *(ROOT / file for file in program.files)))
                for program, bundle in zip(chosen, bundles, strict=True) for tool in options.tools]
        verdicts = list(pool.map(lambda item: sanitized(*item, options.reports, options.timeout), work))
    print(f"| program | {' | '.join(options.tools)} |\n|---{'|---' * len(options.tools)}|")
    for number, program in enumerate(chosen):
        row = verdicts[number * len(options.tools):][:len(options.tools)]
        print(f"| {program.name} | {' | '.join(row)} |")
    return 0 if all(said == "clean" for said in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
