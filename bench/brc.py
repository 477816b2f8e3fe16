"""The One Billion Row Challenge against DuckDB and Polars: least, mean and greatest temperature of each station.

    python -m bench.brc [--rows 50m] [--values tenths|double] [--keys 413] [--rounds 3] [--only cpu,tail,DuckDB] [--combined]

Runs apps/station_temperatures on the CPU alone, on the CPU with its filters alone, and where there is a GPU by the default
policy and on the GPU alone; with `--values double` the mean of doubles per key (bench/programs/means), with its combiner
and, but for `--combined`, without. Contenders take turns; seconds are medians of whole commands, from cold process to
finished output, and the text lies in the page cache. Jobs say what their phases took in the last round, and the stages of
their tasks on devices, all tasks together. Prints a Markdown table and writes the same as JSON.

Outputs of the challenge are compared byte by byte, and once the integers behind them: least, greatest, sum and count.
Means of doubles depend on the order of a sum: all jobs of a program must give the same bytes, libraries the same counts,
and means within 1e-8.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from . import contenders, data, measure
from .contenders import missing, takes
from .figures.lanes import visible_gpus
from .measure import Contender, interleave
from .report import Row, table
from .row_queries import LIBRARIES

ROOT = Path(__file__).resolve().parent.parent
APP = ROOT / "apps" / "station_temperatures"
MEANS = ROOT / "bench" / "programs" / "means"
SEED = 1
DECIMALS = {"tenths": 1, "double": 9}
NEAR = 1e-8
UNITS = {"": 1, "k": 10**3, "m": 10**6, "b": 10**9}
MOST_SECONDS = {100_000_000: 0.75, 1_000_000_000: 1.3}  # of a whole command with a GPU
DIRECTIVE = re.compile(r"#pragma mapreduce (?:[^\n\\]|\\\n)*\n")
DEVICE_STAGES = ("read", "copy_in", "index", "stage", "map", "sort", "device_combine", "gather", "copy_out", "write",
                 "combine")
NAMES = {"cpu": "CPU only", "filters": "CPU only, filters", "tail": "tail", "gpu-only": "gpu-only"}


@dataclass
class Job:
    """A program and how it runs (of NAMES). `contender` has the seconds, `tasks` where its last map tasks were done,
    `phases` what they took."""

    way: str
    name: str
    output: Path
    contender: Contender = field(init=False)
    tasks: str = ""
    phases: str = ""

    @property
    def report(self) -> Path:
        return Path(f"{self.output}.report")


@dataclass(frozen=True)
class Bench:
    """What all contenders share.

    device    "" for none, "cuda", or "emulated" to try the script out.
    only      the contenders that take part: of NAMES and LIBRARIES.
    combined  programs without their combiners do not take part.
    """

    text: Path
    scratch: Path
    device: str
    reducers: int
    rounds: int
    only: frozenset[str]
    combined: bool = False

    def bundle(self, name: str, source: Path) -> Path:
        arch = [] if self.device == "cuda" else ["--arch", "none"]
        return contenders.compiled(source, self.scratch / f"{name}.hdp", *arch)

    def job(self, way: str, bundle: Path, of: str = "") -> Job:
        """A job whose contender runs it. `of` says of which program, where there are several."""
        here = {"cpu": ["--cpu-only"], "filters": ["--cpu-only", "--filters"]}
        options = here.get(way, ["--device", self.device, "--policy", way])
        job = Job(way, f"{NAMES[way]}{of}", self.scratch / f"out-{bundle.stem}-{way}")
        job.contender = Contender(job.name, partial(self._run, job, bundle, options))
        return job

    def _run(self, job: Job, bundle: Path, options: Sequence[str]) -> None:
        for old in (job.output, job.report):
            shutil.rmtree(old, ignore_errors=True)
        words = ["run", bundle, self.text, "-o", job.output, "--quiet", "--reducers", self.reducers, *options]
        subprocess.run([sys.executable, "-m", "heterodoop", *map(str, words)], check=True, stdout=subprocess.DEVNULL)
        report = json.loads((job.report / "report.json").read_text())
        job.tasks = ", ".join(f"{count} on {device}" for device, count in report["device"]["map_tasks"].items() if count)
        job.phases = phases(report)

    def jobs(self, bundle: Path, of: str = "") -> list[Job]:
        """The ways to run a program that this machine and this version of the engine have, and that take part."""
        there = {"cpu": True, "filters": takes("--filters"), "tail": bool(self.device), "gpu-only": bool(self.device)}
        return [self.job(way, bundle, of) for way in NAMES if there[way] and way in self.only]

    def libraries(self, form: str) -> dict[str, Contender]:
        """The libraries that take part, each to write its answer in this form (`answer`)."""
        return {name: Contender(name, partial(self.ask, name, form), missing(module))
                for name, (module, _) in LIBRARIES.items() if name in self.only}

    def ask(self, library: str, form: str) -> None:
        words = [LIBRARIES[library][1], str(self.text), str(self.answer(library, form)), form]
        subprocess.run([sys.executable, "-c", *words], check=True)

    def answer(self, library: str, form: str) -> Path:
        return self.scratch / f"{library}-{form}.txt"

    def answers(self, libraries: dict[str, Contender], form: str) -> list[Path]:
        return [self.answer(name, form) for name, library in libraries.items() if not library.note]


def phases(report: dict[str, Any]) -> str:
    """What a job's phases took, and the stages of its tasks on devices."""
    seconds, stages = report["seconds"], report["stages"]["map"]
    text = ", ".join(f"{name} {seconds[name]:.2f} s" for name in ("map", "reduce") if name in seconds)
    device = ", ".join(f"{name} {stages[name]:.3f}" for name in DEVICE_STAGES if stages.get(name))
    return f"{text} ({device})" if stages.get("device_combine") or stages.get("index") else text


def lines_of(output: Path) -> list[bytes]:
    """A job's lines, or those of a library's file, by key."""
    parts = sorted(output.glob("part-*")) if output.is_dir() else [output]
    lines = [line for part in parts for line in part.read_bytes().splitlines(keepends=True)]
    return sorted(lines, key=lambda line: line.split(b"\t", 1)[0]) if len(parts) > 1 else lines


def same(outputs: Sequence[Path]) -> None:
    """All outputs have the same lines, or SystemExit."""
    first, *others = outputs
    wanted = lines_of(first)
    for other in others:
        if lines_of(other) != wanted:
            raise SystemExit(f"{first} and {other} differ")


def near(one: Path, other: Path) -> None:
    """Two outputs `key TAB mean TAB count` have the same keys and counts, and means at most NEAR apart, or SystemExit."""
    ours, theirs = ([line.split(b"\t") for line in lines_of(output)] for output in (one, other))
    if len(ours) != len(theirs):
        raise SystemExit(f"{one} and {other} have {len(ours)} and {len(theirs)} lines")
    for (key, mean, count), wanted in zip(ours, theirs, strict=True):
        if key != wanted[0] or int(count) != int(wanted[2]) or abs(float(mean) - float(wanted[1])) > NEAR:
            raise SystemExit(f"{one} and {other} differ at {key!r}")


def program(folder: Path, **sources: str) -> Path:
    """A new folder with a program of these texts, by role."""
    folder.mkdir()
    for role, text in sources.items():
        (folder / f"{role}.c").write_text(text)
    return folder


def check_integers(bench: Bench, rows: int) -> None:
    """Least, greatest, sum and count of every station are the libraries', and the counts add up to `rows`, or SystemExit.

    The app with its combiner as the reducer prints them.
    """
    mapper, combiner = ((APP / name).read_text() for name in ("map.c", "combine.c"))
    source = program(bench.scratch / "sums", map=mapper, combine=combiner, reduce=DIRECTIVE.sub("", combiner))
    job = bench.job("tail" if bench.device else "cpu", bench.bundle("sums", source))
    libraries = bench.libraries("integers")
    interleave([job.contender, *libraries.values()], 1, lambda _: None)
    counted = sum(int(line.split()[-1]) for line in lines_of(job.output))
    if counted != rows:
        raise SystemExit(f"{job.output} has {counted} rows of {rows}")
    same([job.output, *bench.answers(libraries, "integers")])


def tenths(bench: Bench, rows: int) -> list[Row]:
    """The challenge."""
    check_integers(bench, rows)
    jobs, libraries = bench.jobs(bench.bundle("temperatures", APP)), bench.libraries("degrees")
    interleave([*(job.contender for job in jobs), *libraries.values()], bench.rounds, say)
    same([*(job.output for job in jobs), *bench.answers(libraries, "degrees")])
    most = {"tail": MOST_SECONDS.get(rows)} if bench.device == "cuda" else {}
    bars = {("cpu", "DuckDB"): 2.0}
    if len(os.sched_getaffinity(0)) <= 2:
        bars["cpu", "Polars"] = 2.0
    return [*seconds(bench, jobs, libraries, most), *against_libraries(jobs, libraries, bars)]


def double(bench: Bench, rows: int) -> list[Row]:
    """The mean of doubles per key: with a combiner, which adds up in a task's order, and without."""
    sets = [bench.jobs(bench.bundle("means", MEANS))]
    if not bench.combined:
        mapper, reducer = ((MEANS / name).read_text() for name in ("map.c", "reduce.c"))
        plain = program(bench.scratch / "plain", map=mapper, reduce=reducer)
        sets.append(bench.jobs(bench.bundle("plain-means", plain), ", no combiner"))
    jobs, libraries = [job for jobs in sets for job in jobs], bench.libraries("means")
    interleave([*(job.contender for job in jobs), *libraries.values()], bench.rounds, say)
    for of_one in sets:
        same([job.output for job in of_one])
        for answer in bench.answers(libraries, "means"):
            near(of_one[0].output, answer)
    gains = [row for of_one in sets for row in against_the_cpu(bench, of_one)]
    return [*seconds(bench, jobs, libraries, {}), *gains, *against_libraries(jobs, libraries, {})]


PARTS = {"tenths": tenths, "double": double}


def seconds(bench: Bench, jobs: list[Job], libraries: dict[str, Contender], most: dict[str, float | None]) -> list[Row]:
    """How long every contender took; `most` has the bars of some ways."""
    size = bench.text.stat().st_size / 1e9
    rows = [Row(job.name, job.contender.median, "s", bar=most.get(job.way), most=True,
                note=f"{size / job.contender.median:.3g} GB/s; map tasks: {job.tasks}; {job.phases}") for job in jobs]
    return rows + [Row(name, None if library.note else library.median, "s",
                       note=library.note or f"{size / library.median:.3g} GB/s") for name, library in libraries.items()]


def against_the_cpu(bench: Bench, jobs: list[Job]) -> list[Row]:
    """How many times as fast as on the CPU alone a program was in every other way."""
    cpu = [job for job in jobs if job.way == "cpu"]
    return [Row(f"{job.name} against {one.name}", one.contender.median / job.contender.median, "x",
                bar=3.0 if job.way == "gpu-only" and bench.device == "cuda" else None)
            for one in cpu for job in jobs if job is not one]


def against_libraries(jobs: list[Job], libraries: dict[str, Contender], bars: dict[tuple[str, str], float]) -> list[Row]:
    """How many times as fast as each library each job was; `bars` by way and library."""
    return [Row(f"{job.name} against {name}", None if library.note else library.median / job.contender.median, "x",
                bar=bars.get((job.way, name)), note=library.note or job.contender.against(library))
            for job in jobs for name, library in libraries.items()]


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def read_through(text: Path) -> None:
    """So that the whole text lies in the page cache."""
    with open(text, "rb", buffering=0) as file:
        while file.read(1 << 24):
            pass


def parse_count(text: str) -> int:
    """`2000`, `50m`, `1b`. Raises ValueError."""
    unit = text[-1:].lower() if text[-1:].isalpha() else ""
    if unit not in UNITS:
        raise ValueError(text)
    return int(text[: len(text) - len(unit)]) * UNITS[unit]


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    everybody = ",".join([*NAMES, *LIBRARIES])
    parser.add_argument("--rows", type=parse_count, default="50m", help="k, m and b are powers of ten (default 50m)")
    parser.add_argument("--values", choices=list(PARTS), default="tenths")
    parser.add_argument("--keys", type=parse_count, default="413", help="stations (default 413)")
    parser.add_argument("--combined", action="store_true", help="of --values double: only with the combiner")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--reducers", type=int, default=1)
    parser.add_argument("--only", default=everybody, help=f"comma-separated: {everybody}")
    parser.add_argument("--device", choices=["auto", "none", "emulated"], default="auto", help="auto: GPUs, if any")
    parser.add_argument("--json", type=Path, default=data.SCRATCH / "brc.json", help="where the JSON goes")
    options = parser.parse_args()
    unknown = set(options.only.split(",")) - set(everybody.split(","))
    if unknown or not set(options.only.split(",")) & set(NAMES):
        parser.error(f"--only takes some of {everybody}, a job among them")
    return options


def main() -> None:
    options = parse_arguments()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed program has its byte code; so has the one measured here
    text = data.cached(options.rows, SEED, kind="stations", arguments=(str(options.keys), str(DECIMALS[options.values])))
    read_through(text)
    device = {"auto": "cuda" if visible_gpus() else "", "none": "", "emulated": "emulated"}[options.device]
    only = frozenset(options.only.split(","))
    with tempfile.TemporaryDirectory(prefix="brc-", dir=data.SCRATCH) as scratch:
        bench = Bench(text, Path(scratch), device, options.reducers, options.rounds, only, options.combined)
        rows = PARTS[options.values](bench, options.rows)
    of = f"{options.rows:,} of {options.keys:,} stations, {text.stat().st_size / 1e9:.3g} GB"
    facts = {**measure.machine(), "rows": of, "date": datetime.date.today().isoformat(), "command": measure.command()}
    options.json.write_text(json.dumps({"machine": facts, "rows": [asdict(row) for row in rows]}, indent=1) + "\n")
    print(table(rows) + "\n\n" + "".join(f"- {name}: {value}\n" for name, value in facts.items()), end="")


if __name__ == "__main__":
    main()
