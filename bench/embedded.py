"""The embedded engine against what else a user could run on this machine; ratios measured in one run.

    python -m bench.embedded [--size 512m] [--rounds 3] [--only wordcount,grep,memory,start] [--json FILE] [--page FILE]
    python -m bench.embedded --only wordcount,grep --rounds 5        # against pipelines, bare filters, Polars and DuckDB

Prints a Markdown table and writes the same as JSON; with --page also into a page, below its heading "## Results". Each
ratio comes from interleaved rounds on one machine; the seconds are medians and mean nothing on another machine. Pipelines
and bare filters are two, whatever the machine, so bars against them hold on two cores only.
"""

from __future__ import annotations

import argparse
import datetime
import filecmp
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

from . import contenders, data, measure
from .contenders import Bench, missing, takes
from .measure import Contender, interleave
from .report import Row, replace_results, table

ROOT = Path(__file__).resolve().parent.parent
SEED = 1
SORT_MEMORY = "2G"


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def wordcount(bench: Bench, options: argparse.Namespace) -> list[Row]:
    """Word count: the engine against Unix pipelines of the same filters, Polars and DuckDB; equal output is checked."""
    plain = Contender("engine, filters alone", lambda: bench.run_engine("wordcount", "--filters"), filters_note())
    engine = Contender("engine", lambda: bench.run_engine("wordcount"))
    pipelines = Contender("2 Unix pipelines", bench.run_pipelines)
    big_sort = Contender(f"sort -S {SORT_MEMORY}", lambda: bench.run_pipelines(f"-S {SORT_MEMORY}"), rounds=1)
    filters = Contender("2 bare map filters", lambda: bench.run_filters("wordcount"))
    polars = Contender("Polars", lambda: bench.run_library(contenders.POLARS, "polars.txt"), missing("polars"))
    duckdb = Contender("DuckDB", lambda: bench.run_library(contenders.DUCKDB, "duckdb.txt"), missing("duckdb"))
    everybody = [plain, engine, pipelines, filters, polars, duckdb, big_sort]
    interleave(everybody, options.rounds, say)
    result = bench.output("wordcount") / "part-00000"
    for output in [bench.scratch / name for name in ("unix.txt", "polars.txt", "duckdb.txt")]:
        if output.exists() and not filecmp.cmp(result, output, shallow=False):
            raise SystemExit(f"{output.name} differs from the engine's result {result}")
    rows = [
        Row("word count: engine", throughput(bench, engine), "MiB/s"),
        Row("word count: engine against 2 Unix pipelines", pipelines.median / engine.median, "x", on_two_cores(6),
            note=engine.against(pipelines)),
        Row(f"word count: engine against the same with sort -S {SORT_MEMORY}", big_sort.median / engine.median, "x"),
        Row("word count: 2 bare map filters' share of the engine's time", 100 * filters.median / engine.median, "%"),
    ]
    for other, bar in ((polars, on_two_cores(2.2) or 2.0), (duckdb, on_two_cores(3)), (plain, None)):
        ratio = None if other.note else other.median / engine.median
        name = "its filters alone" if other is plain else other.name
        rows.append(Row(f"word count: engine against {name}", ratio, "x", bar, note=other.note or engine.against(other)))
    return rows


def on_two_cores(bar: float) -> float | None:
    """A bar that holds where there are two cores."""
    return bar if len(os.sched_getaffinity(0)) == 2 else None


def filters_note() -> str:
    return "" if takes("--filters") else "this version runs nothing else"


def grep(bench: Bench, options: argparse.Namespace) -> list[Row]:
    """grep of a rare word: the engine against the bare filters, which is all that there is to do.

    On a long text, so that the throughput counts and not the start-up; on the short one too, where the start-up shows.
    """
    text = data.cached(options.grep_size, SEED)
    long = replace(bench, text=text, halves=contenders.halve(text, bench.scratch, "long"))
    return [*_grep(long, options, bar=on_two_cores(2)), *_grep(bench, options)]


def _grep(bench: Bench, options: argparse.Namespace, bar: float | None = None) -> list[Row]:
    size = f"grep, rare word, {bench.text.stat().st_size / 2**30:g} GiB"
    pattern = contenders.rare_word(bench.text)
    phases: list[float] = []

    def run() -> None:
        bench.run_engine("grep", "-D", f"grep.pattern={pattern}")
        phases.append(bench.map_seconds("grep"))

    engine = Contender("engine", run)
    filters = Contender("2 bare filters", lambda: bench.run_filters("grep", pattern))
    interleave([engine, filters], options.rounds, say)
    ratio = filters.median / engine.median
    return [
        Row(f"{size}: engine", throughput(bench, engine), "MiB/s"),
        Row(f"{size}: engine against 2 bare filters", ratio, "x", bar=bar, note="start-up included"),
        Row(f"{size}: the same, map phase alone", filters.median / statistics.median(phases), "x"),
    ]


def memory(bench: Bench, options: argparse.Namespace) -> list[Row]:
    """Peak resident memory of engine and collector, filters apart, on a large input."""
    text = data.cached(options.memory_size, SEED)
    peak = measure.peak_memory(bench.engine("wordcount", text=text))
    return [Row(f"peak memory, word count of {options.memory_size / 2**30:g} GiB", peak / 2**20, "MiB", bar=700, most=True)]


def start(bench: Bench, options: argparse.Namespace) -> list[Row]:
    """How long a user waits for the first answer and for a compiled program."""
    bundle = bench.scratch / "start.hdp"

    def call(*arguments: str) -> None:
        subprocess.run([*bench.heterodoop, *arguments], check=True, stdout=subprocess.DEVNULL)

    def compile_anew() -> None:
        shutil.rmtree(bundle, ignore_errors=True)
        compile_again()

    def compile_again() -> None:
        call("compile", str(ROOT / "apps/wordcount"), "--arch", "none", "-o", str(bundle))

    help_ = Contender("--help", lambda: call("--help"))
    anew, again = Contender("compile", compile_anew), Contender("compile, unchanged", compile_again)
    interleave([help_, anew, again], options.rounds, say)
    return [
        Row("heterodoop --help", help_.median, "s", bar=0.25, most=True),
        Row("heterodoop compile apps/wordcount --arch none", anew.median, "s", bar=0.7, most=True),
        Row("the same, and nothing has changed", again.median, "s", bar=0.15, most=True),
    ]


PARTS: dict[str, Callable[[Bench, argparse.Namespace], list[Row]]] = {
    "wordcount": wordcount, "grep": grep, "memory": memory, "start": start,
}


def throughput(bench: Bench, contender: Contender) -> float:
    """MiB of input per second."""
    return bench.text.stat().st_size / 2**20 / contender.median


def prepare(options: argparse.Namespace, scratch: Path) -> Bench:
    """Text, halves and bundles. The text has just been written or read, so it lies in the page cache."""
    text = data.cached(options.size, SEED)
    command = (sys.executable, "-m", "heterodoop")
    for app in ("wordcount", "grep"):
        subprocess.run([*command, "compile", str(ROOT / "apps" / app), "-o", str(scratch / f"{app}.hdp")], check=True)
    return Bench(text, contenders.halve(text, scratch), scratch, scratch, command)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=data.parse_size, default="512m", help="bytes of text (default 512m)")
    parser.add_argument("--memory-size", type=data.parse_size, default="4g", help="bytes for the memory part (default 4g)")
    parser.add_argument("--grep-size", type=data.parse_size, default="4g", help="bytes for grep's long text (default 4g)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default=",".join(PARTS), help="comma-separated parts: " + ", ".join(PARTS))
    parser.add_argument("--json", type=Path, default=data.SCRATCH / "embedded.json", help="where the JSON goes")
    parser.add_argument("--page", type=Path, help="a Markdown page whose results are replaced (docs/benchmarks.md)")
    options = parser.parse_args()
    unknown = set(options.only.split(",")) - set(PARTS)
    if unknown:
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    return options


def main() -> None:
    options = parse_arguments()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed program has its byte code; so has the one measured here
    rows: list[Row] = []
    data.SCRATCH.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="bench-", dir=data.SCRATCH) as scratch:
        bench = prepare(options, Path(scratch))
        for part in options.only.split(","):
            say(f"{part}:")
            rows += PARTS[part](bench, options)
    facts = {**measure.machine(), "date": datetime.date.today().isoformat(), "command": measure.command()}
    options.json.write_text(json.dumps({"machine": facts, "rows": [asdict(row) for row in rows]}, indent=1) + "\n")
    text = table(rows) + "\n\n" + "".join(f"- {name}: {value}\n" for name, value in facts.items())
    print(text, end="")
    if options.page:
        replace_results(options.page, text)


if __name__ == "__main__":
    main()
