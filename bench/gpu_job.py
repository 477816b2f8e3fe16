"""Whole jobs on one host: GPUs and CPU together against GPUs alone and the CPU alone, and two GPUs against one.

    python -m bench.gpu_job [--size 8g] [--cpu-size 1g] [--rounds 3] [--only mixed,cpu,gpus,busy,sessions,warm,splits]

Contenders take turns, medians count, the text lies in the page cache, outputs are compared. Seconds are whole commands,
from cold process to finished output; of two GPUs the map phase counts, at the rate after every GPU's first task (start-up
of the workers is the same for any number of GPUs). Needs a GPU and nvcc; `gpus` and `busy` need two.
"""

from __future__ import annotations

import argparse
import filecmp
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from . import contenders, data, measure

ROOT = Path(__file__).resolve().parent.parent


@dataclass
class Job:
    """`run` with these options; `seconds` of whole commands, `map` from the first map task's start to the last one's end."""

    name: str
    bundle: Path
    inputs: list[Path]
    options: list[str]
    seconds: list[float] = field(default_factory=list)
    map: list[float] = field(default_factory=list)
    tasks: str = ""


class Attempt(NamedTuple):
    """A map attempt: its slot, its start and its end in seconds, how many tasks it did in one."""

    slot: int
    started: float
    ended: float
    tasks: int = 1


def map_seconds(maps: Sequence[Attempt], *, warm: bool) -> float:
    """Seconds from the first map task's start to the last one's end.

    warm  as they would be if all slots were warm at once: the rate of the tasks that end after every slot has ended its
          first one (that one waits for its worker's start-up), times the number of all tasks.
    """
    last = max(a.ended for a in maps)
    if not warm:
        return last - min(a.started for a in maps)
    begin = max(min(a.ended for a in maps if a.slot == slot) for slot in {a.slot for a in maps})
    inside = sum(a.tasks for a in maps if a.ended > begin)
    if not inside:
        raise SystemExit("too few map tasks: no slot had a second one")
    return (last - begin) * sum(a.tasks for a in maps) / inside


@dataclass(frozen=True)
class Bench:
    scratch: Path
    rounds: int

    def bundle(self, source: Path) -> Path:
        return contenders.compiled(source, self.scratch / f"{source.stem}.hdp")

    def output(self, job: Job) -> Path:
        return self.scratch / job.name.replace(" ", "-")

    def run(self, job: Job) -> None:
        output = self.output(job)
        for folder in (output, Path(f"{output}.report")):
            shutil.rmtree(folder, ignore_errors=True)
        command = [sys.executable, "-m", "heterodoop", "run", str(job.bundle), *map(str, job.inputs), "-o", str(output)]
        command += ["--quiet", *job.options]

        def work() -> None:
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

        contender = measure.Contender(job.name, work)
        measure.interleave([contender], 1, lambda text: print(text, file=sys.stderr, flush=True))
        job.seconds.append(contender.seconds[0])
        rows = [json.loads(line) for line in Path(f"{output}.report", "attempts.jsonl").read_text().splitlines()]
        maps = [Attempt(row["slot"], row["started"], row["started"] + row["seconds"], len(row.get("tasks", [0])))
                for row in rows if row["attempt"].startswith("m_")]
        job.map.append(map_seconds(maps, warm=job.name.startswith("GPU")))
        job.tasks = str(json.loads(Path(f"{output}.report", "report.json").read_text())["device"]["map_tasks"])

    def rounds_of(self, jobs: list[Job]) -> list[str]:
        for _ in range(self.rounds):
            for job in jobs:
                self.run(job)
        self.compare(jobs)
        rows = []
        for job in jobs:
            size = sum(p.stat().st_size for p in job.inputs)
            whole, maps = statistics.median(job.seconds), statistics.median(job.map)
            numbers = f"{size / 2**30:.3g} GiB | {whole:.2f} | {maps:.2f} | {size / maps / 1e9:.3g}"
            rows.append(f"| {job.name} | {numbers} | {job.tasks} |")
        return rows

    def compare(self, jobs: list[Job]) -> None:
        one, *others = map(self.output, jobs)
        for other in others:
            for part in sorted(one.glob("part-*")):
                if not filecmp.cmp(part, other / part.name, shallow=False):
                    raise SystemExit(f"{part} and {other / part.name} differ")


def mixed(bench: Bench, options: argparse.Namespace) -> Iterator[str]:
    """Policy tail, which uses both, against the GPU alone."""
    bundle, text = bench.bundle(ROOT / "apps" / "wordcount"), [data.cached(options.size, 1)]
    jobs = [Job("tail", bundle, text, []), Job("gpu-only", bundle, text, ["--policy", "gpu-only"]),
            Job("gpu-first", bundle, text, ["--policy", "gpu-first"])]
    yield from bench.rounds_of(jobs)
    tail, only = (statistics.median(job.seconds) for job in jobs[:2])
    yield f"| tail against gpu-only | | {tail / only:.3f} x | | | |"


def cpu(bench: Bench, options: argparse.Namespace) -> Iterator[str]:
    """Both against the CPU alone, on a part of the text."""
    bundle, text = bench.bundle(ROOT / "apps" / "wordcount"), [data.cached(options.cpu_size, 1)]
    jobs = [Job("tail, part", bundle, text, []), Job("cpu-only, part", bundle, text, ["--cpu-only"])]
    yield from bench.rounds_of(jobs)
    one, other = jobs
    yield (f"| cpu-only against tail, part | | {statistics.median(other.seconds) / statistics.median(one.seconds):.1f} x |"
           f" {statistics.median(other.map) / statistics.median(one.map):.1f} x | | |")


def gpus(bench: Bench, options: argparse.Namespace) -> Iterator[str]:
    """Word count of several names of one text: what two GPUs take from one page cache."""
    bundle, names = bench.bundle(ROOT / "apps" / "wordcount"), _names(bench, options)
    yield from _one_and_two(bench, bundle, names, "-r", "16")  # one reducer would take longer than all the maps


def _names(bench: Bench, options: argparse.Namespace) -> list[Path]:
    """Of the text, as many as are asked for."""
    text, names = data.cached(options.size, 1), []
    for i in range(options.copies):
        names.append(bench.scratch / f"copy{i}.txt")
        if not names[-1].exists():
            try:
                os.link(text, names[-1])
            except OSError:  # another file system
                names[-1].symlink_to(text)
    return names


def sessions(bench: Bench, options: argparse.Namespace) -> Iterator[str]:
    """How many tasks a GPU has at a time, and how large they are."""
    names = _names(bench, options)
    pattern = ["-D", f"grep.pattern={contenders.rare_word(names[0])}"]
    for app, more in (("wordcount", []), ("grep", pattern)):
        bundle = bench.bundle(ROOT / "apps" / app)
        common = ["--policy", "gpu-only", "--check", "none", "--gpus", "0", "-r", "16", *more]
        yield from bench.rounds_of([
            Job(f"GPU, {app}, {at_a_time} at a time, {split}", bundle, names,
                [*common, "--split-size", split, "-D", f"heterodoop.gpu.sessions={at_a_time}"])
            for split in ("64m", "256m") for at_a_time in (1, 2, 3, 4)])


def splits(bench: Bench, options: argparse.Namespace) -> Iterator[str]:
    """How many splits a task on a GPU may have; of the text itself, with the splits that a job has by default."""
    text = [data.cached(options.size, 1)]
    pattern = ["-D", f"grep.pattern={contenders.rare_word(text[0])}"]
    device = [] if options.device == "auto" else ["--device", options.device]
    for app, more in (("wordcount", []), ("grep", pattern)):
        bundle = bench.bundle(ROOT / "apps" / app)
        for policy in ("gpu-only", "tail"):
            jobs = [Job(f"{'GPU, ' * (policy == 'gpu-only')}{policy}, {app}, {most} splits a task", bundle, text,
                        ["--policy", policy, "-r", "16", *more, *device, "-D", f"heterodoop.gpu.splits={most}"])
                    for most in (1, 4, 8, 32)]
            yield from bench.rounds_of(jobs)
            for job in jobs:
                report = json.loads((bench.output(job).with_suffix(".report") / "report.json").read_text())
                several, reduce = report["map"]["several_splits"], report["seconds"].get("reduce", 0.0)
                done = f"{several['tasks']} in {several['attempts']}, {several['given_back']} given back"
                yield f"| {job.name}: reduce phase | | {reduce:.3f} | | | {done} |"


def warm(bench: Bench, options: argparse.Namespace) -> Iterator[str]:
    """A driver that runs against workers that the command starts, with a large and a small text."""
    bundle, folder = bench.bundle(ROOT / "apps" / "wordcount"), bench.scratch / "driver"
    folder.mkdir(mode=0o700)
    os.environ["HETERODOOP_DRIVER_DIR"] = str(folder)
    device = [] if options.device == "auto" else ["--device", options.device]
    driver = [sys.executable, "-m", "heterodoop", "driver"]
    subprocess.run([*driver, "start", "--sessions", "4", *device], check=True, stdout=subprocess.DEVNULL)
    try:
        for size in options.warm_sizes:
            text = [data.cached(size, 1)]
            jobs = [Job(f"{policy}, {how}, {size >> 20} MiB", bundle, text, ["--policy", policy, "--driver", asked, *device])
                    for policy in ("gpu-only", "tail") for how, asked in (("driver", "auto"), ("own workers", "never"))]
            jobs.append(Job(f"cpu-only, {size >> 20} MiB", bundle, text, ["--cpu-only"]))
            yield from bench.rounds_of(jobs)
            for job in jobs[:4:2]:
                used = json.loads((bench.output(job).with_suffix(".report") / "report.json").read_text())["device"]["driver"]
                if used.get("use") != "driver":
                    raise SystemExit(f"{job.name}: {used}")
            first, second = (statistics.median(job.seconds) for job in jobs[:2])
            yield f"| own workers against the driver, gpu-only | {size / 2**30:.2g} GiB | {second / first:.2f} x | | | |"
    finally:
        subprocess.run([*driver, "stop"], check=True, stdout=subprocess.DEVNULL)


def busy(bench: Bench, options: argparse.Namespace) -> Iterator[str]:
    """A map that computes."""
    yield from _one_and_two(bench, bench.bundle(ROOT / "bench" / "programs" / "busy.c"), [data.cached(options.busy_size, 1)],
                            "--split-size", "32m")


def _one_and_two(bench: Bench, bundle: Path, text: list[Path], *options: str) -> Iterator[str]:
    common = ["--policy", "gpu-only", "--check", "none", *options]
    jobs = [Job(f"GPUs {which}, {bundle.stem}", bundle, text, [*common, "--gpus", which]) for which in ("0", "0,1")]
    yield from bench.rounds_of(jobs)
    one, two = (statistics.median(job.map) for job in jobs)
    yield f"| two GPUs against one, {bundle.stem} | | | {one / two:.2f} x | | |"


PARTS: dict[str, Callable[[Bench, argparse.Namespace], Iterator[str]]] = {
    "mixed": mixed, "cpu": cpu, "gpus": gpus, "busy": busy, "sessions": sessions,
    "warm": warm, "splits": splits,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=data.parse_size, default="8g")
    parser.add_argument("--cpu-size", type=data.parse_size, default="1g")
    parser.add_argument("--busy-size", type=data.parse_size, default="1g")
    parser.add_argument("--warm-sizes", type=lambda text: [data.parse_size(s) for s in text.split(",")], default="77m,4g")
    parser.add_argument("--device", choices=["auto", "emulated"], default="auto",
                        help="of `warm` and `splits`: emulated tries it out")
    parser.add_argument("--copies", type=int, default=4, help="names of the text for `gpus` and `sessions` (default 4)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="mixed,cpu", help="comma-separated: " + ", ".join(PARTS))
    options = parser.parse_args()
    print("| job | input | command, s | map phase, s | GB/s of it | map tasks |\n|---|---:|---:|---:|---:|---|")
    with tempfile.TemporaryDirectory(prefix="gpu-job-", dir=data.SCRATCH if data.SCRATCH.is_dir() else None) as folder:
        bench = Bench(Path(folder), options.rounds)
        for name in options.only.split(","):
            for row in PARTS[name](bench, options):
                print(row, flush=True)
    facts = {**measure.machine(), "command": measure.command()}
    print("\n" + "".join(f"- {name}: {value}\n" for name, value in facts.items()), end="")


if __name__ == "__main__":
    main()
