"""Word count on a real Hadoop of this machine: the CPU filters alone, gpu-first and tail, or host kernels, by rounds that
take turns.

    python -m bench.hadoop_job [--size 4g] [--block 64m] [--rounds 3] [--slots 16] [--reducers 8] [--only cpu,gpu-first,tail]

Starts an embedded cluster with one NodeManager and the node's GPU driver, and ends both. The CPU's jobs are plain Hadoop
Streaming jobs with `--slots` map containers; jobs with a GPU have one more for each task of it. Reducers start when the
maps are done, nothing is speculated, JVMs compile with C1 and C2 as on any cluster. Every output is compared with the first.
`host` is the CPU's job with the plug-in and a driver that has host kernels (`--device none`: and no GPU). `cpu-plug-in` is
the CPU's job with the plug-in, which times the filters. `tail-delayed` and `gpu-first-delayed` are jobs of
which each GPU task takes `--delay` seconds longer: artificial, for a GPU that is only a few times faster. Needs Java and
Maven, or the jars in the cache; `--device emulated` tries the script out.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heterodoop.hadoop import cluster

from . import contenders, data, measure

ROOT = Path(__file__).resolve().parent.parent
CONTAINER = 512  # MiB, as the embedded cluster's configuration has it
JVM = "-Xmx320m -XX:+UseSerialGC"
GROUP = "HeteroDoop"
DELAYED, HOST, NO_GPU = "-delayed", "host", "none"
HETERODOOP = [sys.executable, "-m", "heterodoop"]


@dataclass
class Run:
    """A job that ended well. `seconds`: by Hadoop's clock; `command`: of `heterodoop submit`."""

    kind: str
    seconds: float
    command: float
    report: dict[str, Any]
    digest: str = ""
    log: list[dict[str, Any]] = field(default_factory=list)  # of the driver, of this job's attempts

    def counter(self, name: str, group: str = GROUP) -> int:
        return int(self.report["counters"].get(group, {}).get(name, 0))


@dataclass
class Bench:
    options: argparse.Namespace
    scratch: Path
    running: cluster.Cluster
    environment: dict[str, str] = field(default_factory=dict)

    def command(self, *words: object, check: bool = True, program: Sequence[str] = HETERODOOP) -> str:
        argv = [*program, *map(str, words)]
        done = subprocess.run(argv, env=self.environment, capture_output=True, text=True, check=False)
        if check and done.returncode:
            raise SystemExit(f"{' '.join(argv)}: exit status {done.returncode}\n{done.stderr}")
        return done.stdout

    def load(self) -> None:
        text = data.cached(self.options.size, 1)
        hdfs = self.running.command("hdfs")
        put = [hdfs, "dfs", "-D", f"dfs.blocksize={self.options.block}", "-put", str(text), "/in"]
        subprocess.run(put, env=self.environment, check=True, stderr=subprocess.DEVNULL)

    def job(self, bundle: Path, kind: str, number: int) -> Run:
        options = self.options
        slots = options.slots if kind.startswith("cpu") or kind == HOST else options.slots + options.gpu_slots
        settings = {
            "mapreduce.job.running.map.limit": slots, "mapreduce.job.reduce.slowstart.completedmaps": "1.0",
            "mapreduce.map.speculative": "false", "mapreduce.reduce.speculative": "false",
            "mapreduce.map.java.opts": JVM, "mapreduce.reduce.java.opts": JVM,
            "mapreduce.task.progress-report.interval": 1000, "heterodoop.driver.dir": self.scratch / "driver",
        }
        policy_name = "cpu-only" if kind in ("cpu-plug-in", HOST) else kind.removesuffix(DELAYED)
        if kind.endswith(DELAYED):
            settings["tests.gpu.delay"] = options.delay
            settings["mapreduce.input.fileinputformat.split.minsize"] = options.delayed_split
        policy = ["--cpu-only"] if kind == "cpu" else ["--policy", policy_name]
        words = [word for key, value in settings.items() for word in ("-D", f"{key}={value}")]
        output = f"/out-{kind}-{number}"
        begin = time.monotonic()
        printed = self.command(
            "submit", bundle, "-i", "/in", "-o", output, "-r", options.reducers, *policy, *words, "--quiet", "--json")
        run = Run(kind, 0.0, time.monotonic() - begin, json.loads(printed))
        run.seconds = float(run.report["seconds"])
        run.digest = self.digest(output)
        run.log = list(self.log(run.report["job"].removeprefix("job_")))
        return run

    def log(self, number: str) -> Iterator[dict[str, Any]]:
        for file in sorted((self.scratch / "driver").glob("*.log*")):
            rows = [json.loads(line) for line in file.read_text().splitlines()]
            yield from (row for row in rows if row.get("attempt", "").startswith(f"attempt_{number}_"))

    def digest(self, output: str) -> str:
        reader = subprocess.Popen([self.running.command("hdfs"), "dfs", "-cat", f"{output}/part-*"], env=self.environment,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert reader.stdout
        digest = hashlib.file_digest(reader.stdout, "sha256").hexdigest()  # type: ignore[arg-type]
        if reader.wait():
            raise SystemExit(f"{output} cannot be read")
        return digest


@contextmanager
def started(options: argparse.Namespace, scratch: Path) -> Iterator[Bench]:
    """A cluster of one node, its driver, and the text in HDFS."""
    memory = CONTAINER * (options.slots + options.gpu_slots + 1)
    up = cluster.Options(nodes=1, memory=max(memory, cluster.LEAST_MEMORY), dir=scratch / "cluster", version=options.hadoop)
    running = cluster.up(up, lambda text: print(text, file=sys.stderr))
    try:
        bench = Bench(options, scratch, running, running.environment())
        bench.environment["HETERODOOP_DRIVER_DIR"] = str(scratch / "driver")
        bench.load()
        # One that can delay a job's tasks is the tests': no driver of a user can.
        program = [sys.executable, "-m", "tests.driver.instrumented"] if options.delay else HETERODOOP
        device = ["--gpus", "none"] if options.device == NO_GPU else ["--device", options.device]
        host = ["--cpu"] if HOST in options.only else []
        bench.command("driver", "start", *device, *host, program=program)
        try:
            yield bench
            print(bench.command("driver", "status"), file=sys.stderr)
        finally:
            bench.command("driver", "stop", "--now", check=False)
    finally:
        cluster.down(scratch / "cluster", delete=True)


def keep(runs: list[Run], target: Path | None) -> None:
    if target:
        rows = [{"kind": run.kind, "command": run.command, "log": run.log, **run.report} for run in runs]
        target.write_text(json.dumps(rows, indent=1))


def differ(runs: list[Run]) -> bool:
    return len({run.digest for run in runs}) > 1


def compiled(scratch: Path, options: argparse.Namespace) -> list[Path]:
    """Word count, and where a kind is delayed the same as another program: a node remembers how fast one is on a GPU."""
    arch = [] if options.device == "cuda" else ["--arch", "none"]
    bundles = [contenders.compiled(ROOT / "apps" / "wordcount", scratch / "wordcount.hdp", *arch)]
    if any(kind.endswith(DELAYED) for kind in options.only):
        other = shutil.copytree(ROOT / "apps" / "wordcount", scratch / "delayed")
        with open(other / "map.c", "a", encoding="ascii") as source:
            source.write("/* the delayed one */\n")
        bundles.append(contenders.compiled(other, scratch / "delayed.hdp", *arch))
    return bundles


def show(runs: list[Run]) -> None:
    base = statistics.median(r.seconds for r in runs if r.kind == runs[0].kind)
    print("| job | s | against the first | map tasks, GPU and CPU | a GPU task, ms | a CPU task, ms |")
    print("|---|---:|---:|---|---|---:|")
    for kind in dict.fromkeys(r.kind for r in runs):
        some = [r for r in runs if r.kind == kind]
        seconds = statistics.median(r.seconds for r in some)
        spread = f"{min(r.seconds for r in some):.1f} to {max(r.seconds for r in some):.1f}"
        last = some[-1]
        sides = f"{last.report['gpu_maps']}, {last.report['cpu_maps']}" if kind != "cpu" else f"0, {last.report['maps']}"
        tasks = f"{gpu(last)} | {median_ms(last, 'installed_host' if kind == HOST else 'cpu_done')}"
        print(f"| {kind} | {seconds:.1f} ({spread}) | {base / seconds:.2f} x | {sides} | {tasks} |")


def gpu(run: Run) -> str:
    """Where the time of the run's GPU tasks went, per task: by the driver's log from the lease to the installed map output,
    then the plug-in's counters."""
    maps = run.counter("GPU_MAPS")
    if not maps:
        return ""
    group = run.report["counters"][GROUP]
    stages = {name: int(n) / maps for name, n in group.items() if name.startswith("GPU_") and name.endswith("_MS")}
    listed = ", ".join(f"{name[4:-3].lower()} {ms:.0f}" for name, ms in stages.items() if ms >= 0.5)
    return f"lease to installed {median_ms(run, 'installed')}: {listed}"


def median_ms(run: Run, event: str) -> str:
    """Of an event's seconds in the driver's log; "" where the plug-in was not asked."""
    seconds = [row["seconds"] for row in run.log if row["event"] == event and "seconds" in row]
    return f"{statistics.median(seconds) * 1e3:.0f}" if seconds else ""


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=data.parse_size, default="4g")
    parser.add_argument("--block", type=data.parse_size, default="64m")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--slots", type=int, default=16, help="map containers of the CPU's jobs")
    parser.add_argument("--gpu-slots", type=int, default=1, help="map containers more where there is a GPU")
    parser.add_argument("--reducers", type=int, default=8)
    parser.add_argument("--delay", type=float, default=0.0,
                        help="seconds that a GPU task of a delayed job takes longer: artificial")
    parser.add_argument("--delayed-split", type=data.parse_size, default="1",
                        help="bytes of a split of a delayed job (default: a block): how many are left for the tail")
    parser.add_argument("--only", type=lambda text: text.split(","), default="cpu,gpu-first,tail",
                        help="cpu, host (host kernels), cpu-plug-in (the filters, timed by the plug-in), gpu-first, tail,"
                             " gpu-only, gpu-first-delayed, tail-delayed")
    parser.add_argument("--device", choices=["cuda", "emulated", NO_GPU], default="cuda")
    parser.add_argument("--hadoop", default="3.5.0")
    parser.add_argument("--json", type=Path, help="where every job's report goes")
    options = parser.parse_args()
    if any(kind.endswith(DELAYED) for kind in options.only) != (options.delay > 0):
        parser.error("--delay goes with kinds that are delayed")
    if HOST in options.only and "cpu-plug-in" in options.only:
        parser.error("a driver with host kernels leaves no map to the filters")
    if options.device == NO_GPU and HOST not in options.only:
        parser.error("--device none goes with host")
    return options


def main() -> None:
    options = parse_arguments()
    with tempfile.TemporaryDirectory(prefix="hadoop-job-") as folder:
        scratch = Path(folder)
        bundles = compiled(scratch, options)
        runs: list[Run] = []
        with started(options, scratch) as bench:
            for _ in range(options.rounds):
                for kind in options.only:
                    runs.append(bench.job(bundles[kind.endswith(DELAYED)], kind, len(runs)))
                    print(f"{kind}: {runs[-1].seconds:.1f} s, the command {runs[-1].command:.1f} s", file=sys.stderr)
                    keep(runs, options.json)
            show(runs)  # before the cluster ends, which may take a while
            print("the outputs differ" if differ(runs) else "all outputs are equal", flush=True)
    facts = {**measure.machine(), "command": measure.command()}
    print("\n" + "".join(f"- {name}: {value}\n" for name, value in facts.items()), end="")
    if differ(runs):
        raise SystemExit("the outputs differ")


if __name__ == "__main__":
    main()
