"""What `bench.embedded` compares: the engine, Unix pipelines of the same filters, Polars and DuckDB.

Each is a whole command from cold process to finished output file. All read the same text from the page cache.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

SORT = r"LC_ALL=C sort -t$'\t' -k1,1 -s"

POLARS = r"""
import sys, polars as pl
lines = pl.scan_csv(sys.argv[1], has_header=False, separator="\x01", quote_char=None, schema={"line": pl.String})
words = lines.select(pl.col("line").str.split(" ").alias("word")).explode("word").filter(pl.col("word") != "")
counts = words.group_by("word").len().sort("word").collect(engine="streaming")
counts.write_csv(sys.argv[2], separator="\t", include_header=False)
"""

DUCKDB = r"""
import sys, duckdb
duckdb.sql("SET preserve_insertion_order = false; SET enable_progress_bar = false")
shape = "columns = {'line': 'VARCHAR'}, delim = '\x01', header = false, quote = '', escape = '', auto_detect = false"
words = f"SELECT unnest(string_split(line, ' ')) AS word FROM read_csv(?, {shape})"
counts = f"SELECT word, count(*) FROM ({words}) WHERE word <> '' GROUP BY word ORDER BY word"
duckdb.execute(f"COPY ({counts}) TO '{sys.argv[2]}' (DELIMITER '\t', HEADER false, QUOTE '')", [sys.argv[1]])
"""


@dataclass(frozen=True)
class Bench:
    """The common surroundings: the text, its two halves (cut at a line end), the bundles and a scratch folder."""

    text: Path
    halves: tuple[Path, Path]
    bundles: Path
    scratch: Path
    heterodoop: tuple[str, ...]

    def engine(self, app: str, *options: str, text: Path | None = None) -> list[str]:
        """The argv of one embedded job into `out-APP`; its old output is removed first."""
        output = self.output(app)
        for old in (output, *self.scratch.glob(f"{output.name}*")):
            shutil.rmtree(old, ignore_errors=True)
        job = ["run", str(self.bundles / f"{app}.hdp"), str(text or self.text), "-o", str(output), "--quiet", "--cpu-only"]
        return [*self.heterodoop, *job, *options]

    def output(self, app: str) -> Path:
        return self.scratch / f"out-{app}"

    def filter(self, app: str, role: str) -> str:
        return shlex.quote(str(self.bundles / f"{app}.hdp" / "bin" / role))

    def run_engine(self, app: str, *options: str) -> None:
        subprocess.run(self.engine(app, *options), check=True, stdout=subprocess.DEVNULL)

    def map_seconds(self, app: str) -> float:
        """How long the map phase of the app's last job took, by its report."""
        report = json.loads((self.scratch / f"out-{app}.report" / "report.json").read_text())
        return float(report["seconds"]["map"])

    def run_pipelines(self, sort_options: str = "") -> None:
        """Two word count pipelines side by side, one per half, then a merge into the reducer."""
        map_, combine, reduce = (self.filter("wordcount", role) for role in ("map", "combine", "reduce"))
        parts = [shlex.quote(str(self.scratch / f"part{i}")) for i in (0, 1)]
        sides = [
            f"{map_} < {shlex.quote(str(half))} | {SORT} {sort_options} | {combine} > {part} & pids+=($!)"
            for half, part in zip(self.halves, parts, strict=True)
        ]
        merge = f"{SORT} -m {' '.join(parts)} | {reduce} > {shlex.quote(str(self.scratch / 'unix.txt'))}"
        self.shell("\n".join(["pids=()", *sides, 'for pid in "${pids[@]}"; do wait "$pid"; done', merge]))

    def run_filters(self, app: str, pattern: str = "") -> None:
        """Two bare map filters side by side, each fed by cat, output thrown away: the least any engine can need."""
        map_ = self.filter(app, "map")
        sides = [f"cat {shlex.quote(str(half))} | {map_} > /dev/null & pids+=($!)" for half in self.halves]
        self.shell("\n".join(["pids=()", *sides, 'for pid in "${pids[@]}"; do wait "$pid"; done']), grep_pattern=pattern)

    def run_library(self, script: str, output: str) -> None:
        subprocess.run([sys.executable, "-c", script, str(self.text), str(self.scratch / output)], check=True)

    def shell(self, script: str, **env: str) -> None:
        subprocess.run(["bash", "-euo", "pipefail", "-c", script], check=True, env={**os.environ, **env})


def compiled(source: Path, bundle: Path, *options: str) -> Path:
    """`bundle`, made from `source` if it is not there yet."""
    if not bundle.exists():
        command = [sys.executable, "-m", "heterodoop", "compile", str(source), "-o", str(bundle), *options]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    return bundle


def missing(module: str) -> str:
    """A note where a Python package is not installed, else ""."""
    return "" if importlib.util.find_spec(module) else f"{module} is not installed (pip install '.[bench]')"


def takes(option: str) -> bool:
    """Whether `heterodoop run` has this option."""
    words = [sys.executable, "-m", "heterodoop", "run", "--help"]
    return option in subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()


def halve(text: Path, scratch: Path, name: str = "half") -> tuple[Path, Path]:
    """Two files that hold the text, cut at the line end nearest behind its middle."""
    size = text.stat().st_size
    with open(text, "rb") as file:
        file.seek(size // 2)
        file.readline()
        middle = file.tell()
    halves = (scratch / f"{name}0.txt", scratch / f"{name}1.txt")
    for half, (start, end) in zip(halves, ((0, middle), (middle, size)), strict=True):
        _copy_range(text, half, start, end)
    return halves


def _copy_range(source: Path, target: Path, start: int, end: int) -> None:
    with open(source, "rb") as reader, open(target, "wb") as writer:
        reader.seek(start)
        while start < end:
            piece = reader.read(min(1 << 22, end - start))
            writer.write(piece)
            start += len(piece)


def rare_word(text: Path) -> str:
    """A word of the longest form that stands once in the first MiB: some hundred times in a GiB at most."""
    with open(text, "rb") as file:
        words = file.read(1 << 20).decode("ascii").split()
    longest = max(map(len, words[:-1]))
    counts: dict[str, int] = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return next(word for word in reversed(words[:-1]) if len(word) == longest and counts[word] == 1)
