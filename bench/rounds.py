"""kmeans as rounds on GPUs, with input kept on them and without: seconds of each round, bytes read, equal output.

    python -m bench.rounds [--size 4g] [--rounds 10] [--repeat 3] [--keep 50] [--device cuda]

Prints a Markdown table: of each round the median seconds of the job and of its map phase, either way, and the bytes read and
kept. The text lies in the page cache. Needs a GPU and nvcc; `--device emulated --size 200k` shows that the bench works.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from . import contenders, data
from .device_task import Work
from .figures.inputs import SEED, with_sides

APP = "kmeans"


class Bench:
    def __init__(self, work: Work, bundle: Path, scratch: Path, options: list[str]) -> None:
        self._work, self._bundle, self._scratch, self._options = work, bundle, scratch, options

    def run(self, keep: int) -> tuple[dict[str, bytes], list[dict[str, Any]]]:
        """The output by file, and report.json's rounds with their map phases."""
        out = self._scratch / f"keep-{keep}"
        for old in (out, Path(f"{out}.report"), Path(f"{out}.rounds")):
            shutil.rmtree(old, ignore_errors=True)
        sides = [word for name in self._work.files for word in ("--file", name)]
        settings = [word for one in self._work.settings for word in ("-D", one)]
        command = [sys.executable, "-m", "heterodoop", "run", str(self._bundle), str(self._work.text), "-o", str(out),
                   "--quiet", *sides, *settings, *self._options, "-D", f"heterodoop.gpu.keep.percent={keep}"]
        subprocess.run(command, check=True)
        report = json.loads(Path(f"{out}.report", "report.json").read_text())
        return {path.name: path.read_bytes() for path in sorted(out.iterdir())}, report["iterate"]["rounds"]


def row(kept: list[dict[str, Any]], read: list[dict[str, Any]]) -> str:
    """Of one round; a list has its runs."""
    cells = [f"{statistics.median(one['seconds'][what] for one in runs):.3f}"
             for runs in (kept, read) for what in ("total", "map")]
    sizes = [f"{statistics.median(one['input'][what] for one in kept) / 2**20:.1f}" for what in ("read_bytes", "kept_bytes")]
    return f"| {kept[0]['round']} | {' | '.join([*cells, *sizes])} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=data.parse_size, default="4g")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--keep", type=int, default=50, help="percent of a GPU's memory")
    parser.add_argument("--device", choices=("cuda", "emulated"), default="cuda")
    options = parser.parse_args()
    work = with_sides(APP, data.cached(options.size, SEED, kind="shared-movies"))
    (side,) = (name.rpartition("#")[2] for name in work.files)
    more = ["--device", options.device, "--policy", "gpu-only", "--iterate", side, "--rounds", str(options.rounds)]
    if options.device == "emulated":
        more += ["-D", "heterodoop.emulated.workers=1", "-D", "heterodoop.gpu.sessions=1"]
    with tempfile.TemporaryDirectory(prefix="rounds-", dir=os.environ.get("TMPDIR")) as folder:
        scratch = Path(folder)
        bench = Bench(work, contenders.compiled(Path("apps") / APP, scratch / f"{APP}.hdp"), scratch, more)
        ways: dict[int, list[list[dict[str, Any]]]] = {options.keep: [], 0: []}
        outputs = []
        for _ in range(options.repeat):
            for keep, runs in ways.items():
                output, rounds = bench.run(keep)
                outputs.append(output)
                runs.append(rounds)
        if any(output != outputs[0] for output in outputs):
            raise SystemExit("the outputs differ")
    print("| round | kept: job, s | map, s | read: job, s | map, s | MiB read | MiB kept |")
    print("|---:|---:|---:|---:|---:|---:|---:|")
    for number in range(len(ways[0][0])):
        print(row([rounds[number] for rounds in ways[options.keep]], [rounds[number] for rounds in ways[0]]))


if __name__ == "__main__":
    main()
