"""Whole jobs on this node: filters and the CPU alone, GPU-first, tail (Fig. 4), and how long their phases are (Table 2).

A job is a whole command, from cold process to finished output. All jobs of an app have the same input and splits, sized
so that filters take the seconds asked for by what one core does.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from heterodoop import manifest

from . import inputs
from .bundles import ROOT, Bundles
from .options import LEAST, MIB, Options
from .state import Record
from .steps import CPU_ONLY, FILTERS, INGEST, policy_of

WAVES = 3  # map tasks per core at least, so that the cores end at about the same time
LARGEST_SPLIT = 256 * MIB  # a GPU has a few milliseconds to do for each split whatever its size


@dataclass(frozen=True)
class Shape:
    """A job's input: `copies` of a file of `size` bytes, and the size of its splits."""

    size: int
    copies: int
    split: int

    @property
    def total(self) -> int:
        return self.size * self.copies


def shape(app: str, core_rate: float, cores: int, options: Options) -> Shape:
    """`core_rate`: bytes per second of one core. Pure."""
    wanted = core_rate * cores * options.seconds(options.job_seconds)
    size = options.app_size(app)
    if wanted < 2 * size:
        size, copies = max(LEAST, int(wanted) // 4096 * 4096), 1
    else:
        copies = round(wanted / size)
    split = min(LARGEST_SPLIT, max(LEAST, size * copies // (WAVES * cores)))
    return Shape(size, copies, split)


@dataclass(frozen=True)
class Jobs:
    """Runs one app's jobs. `ingest`: threads that read for a GPU, 0 = the engine's choice."""

    bundles: Bundles
    scratch: Path
    options: Options
    app: str
    core_rate: float
    ingest: int = 0

    def run(self, name: str) -> Record:
        """One job: `CONTENDER round-N`, or `ingest N`. Raises RuntimeError where it fails."""
        contender = name.partition(" ")[0]
        cores = len(os.sched_getaffinity(0))
        of = shape(self.app, self.core_rate, cores, self.options)
        ingest = int(name.removeprefix(INGEST)) if name.startswith(INGEST) else self.ingest
        bundle, output = self.bundles.get(self.app, "default"), self.scratch / "job"
        words = [*self._input(of), *self._reducers(bundle, cores), "--split-size", str(of.split)]
        words += self._side(contender, cores, ingest)
        for folder in (output, Path(f"{output}.report")):
            shutil.rmtree(folder, ignore_errors=True)
        command = [sys.executable, "-m", "heterodoop", "run", str(bundle), "-o", str(output), "--quiet", *words]
        begin = time.perf_counter()
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        seconds = time.perf_counter() - begin
        if done.returncode:
            raise RuntimeError(f"{contender} failed: {done.stderr.strip()[-1000:]}")
        gpu = contender not in (FILTERS, CPU_ONLY)
        return {"seconds": seconds, "bytes": of.total, "split": of.split, "copies": of.copies, "job_cores": cores,
                "ingest": ingest if gpu else 0, **_report(Path(f"{output}.report")), "digest": digest(output)}

    def _input(self, of: Shape) -> list[str]:
        work = inputs.of_size(self.app, of.size, self.options)
        names = inputs.links(work.text, of.copies, self.scratch / f"input-{self.app}")
        side = [word for file in work.files for word in ("--file", file)]
        return [*map(str, names), *side, *(word for setting in work.settings for word in ("-D", setting))]

    def _reducers(self, bundle: Path, cores: int) -> list[str]:
        return ["-r", str(cores)] if manifest.load(bundle).program("reduce") else []

    def _side(self, contender: str, cores: int, ingest: int) -> list[str]:
        if contender in (FILTERS, CPU_ONLY):
            return ["--cpu-only", "--cpu-slots", str(cores), *(["--filters"] if contender == FILTERS else [])]
        policy, gpus = policy_of(contender)
        words = ["--device", self.options.device, "--policy", policy]
        if self.options.device == "emulated":
            return words
        reading = ["--ingest-threads", str(ingest)] if ingest else []
        return [*words, "--gpus", ",".join(map(str, range(gpus))), *reading]


def _report(folder: Path) -> Record:
    report = json.loads((folder / "report.json").read_text())
    left = [row["reason"] for row in report["device"]["left_to_cpu"]]
    return {"phases": report["seconds"], "map_tasks": report["device"]["map_tasks"], "left_to_cpu": left[:3]}


def digest(output: Path) -> str:
    """Of all part files, in order."""
    whole = hashlib.sha256()
    for part in sorted(output.glob("part-*")):
        with open(part, "rb") as file:
            whole.update(hashlib.file_digest(file, "sha256").digest())
    return whole.hexdigest()
