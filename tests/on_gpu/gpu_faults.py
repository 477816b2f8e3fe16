"""Faults of a GPU and its worker while a job runs: the output must be the CPU's, and nothing may be left running.

    python -m tests.on_gpu.gpu_faults [--device cuda] [--size 512m] [--kills 12] [--only kill,steps,stop,fault,hang,memory]

Prints a Markdown table; exit status 1 where an output differs, a job fails or a worker outlives its job. `kill` strikes at
moments of the clock, `steps` at every kind of call that the host makes to the device, kernels by name (probe.py). `--device
emulated` (workers of emulated devices) has the first three parts only.
"""

from __future__ import annotations

import argparse
import filecmp
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from bench import contenders, data
from heterodoop.executor.kernel import cuda
from heterodoop.toolchain import nvcc

from . import probe

ROOT = Path(__file__).resolve().parents[2]
LIMIT_SECONDS = 90
WORKER = b"heterodoop.executor.worker"
OURS = {"HETERODOOP_FAULT_BENCH": str(os.getpid())}  # tells our jobs' processes from others of this machine
HOG = """
import sys, time
import pycuda.driver as cuda
cuda.init()
context = cuda.Device(0).retain_primary_context()
context.push()
free, _ = cuda.mem_get_info()
block = cuda.mem_alloc(free - int(sys.argv[1]))
print("ready", flush=True)
sys.stdin.read()
context.pop()
"""


@dataclass(frozen=True)
class Row:
    what: str
    outcome: str
    note: str = ""

    @property
    def good(self) -> bool:
        return self.outcome == "same output"


@dataclass(frozen=True)
class Bench:
    scratch: Path
    device: str

    def bundle(self, source: Path) -> Path:
        arch = [] if self.device == "cuda" else ["--arch", "none"]
        return contenders.compiled(source, self.scratch / f"{source.stem}.hdp", *arch)

    def job(self, bundle: Path, text: Path, name: str, *options: str) -> list[str]:
        output = self.scratch / name
        for folder in (output, Path(f"{output}.report")):
            shutil.rmtree(folder, ignore_errors=True)
        command = [sys.executable, "-m", "heterodoop", "run", str(bundle), str(text), "-o", str(output), "--quiet"]
        return [*command, *options]

    def on_device(self, bundle: Path, text: Path, *options: str) -> list[str]:
        device = ["--device", self.device, "--policy", "gpu-only", "--check", "none"]
        workers = ["-D", "heterodoop.emulated.workers=1"] if self.device == "emulated" else []
        return self.job(bundle, text, "device", *device, *workers, *options)

    def expected(self, bundle: Path, text: Path, *options: str) -> None:
        subprocess.run(self.job(bundle, text, "cpu", "--cpu-only", *options), check=True, stdout=subprocess.DEVNULL)

    def judge(self, what: str, process: subprocess.Popen[bytes], note: str = "") -> Row:
        try:
            errors = process.communicate(timeout=LIMIT_SECONDS)[1].decode("utf-8", "replace")
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return Row(what, f"no end after {LIMIT_SECONDS} s", note)
        if process.returncode:
            return Row(what, f"exit status {process.returncode}", errors.strip().replace("\n", " ")[-300:])
        if left := list(workers(None)):
            return Row(what, f"left running: {left}")
        for ours in sorted((self.scratch / "cpu").glob("part-*")):
            if not filecmp.cmp(ours, self.scratch / "device" / ours.name, shallow=False):
                return Row(what, f"{ours.name} differs")
        report = json.loads((self.scratch / "device.report" / "report.json").read_text())
        device = report["device"]
        told = [f"map tasks {device['map_tasks']}", f"{device.get('worker_faults', 0)} worker faults", note]
        return Row(what, "same output", ", ".join(filter(None, told)))


def workers(parent: int | None) -> Iterator[int]:
    """Process numbers of our jobs' GPU workers, of one engine or (None) of all."""
    (mark,) = (f"{name}={value}".encode() for name, value in OURS.items())
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            command, status = (entry / "cmdline").read_bytes(), (entry / "stat").read_text()
            ours = mark in (entry / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        state, ppid = status.rpartition(")")[2].split()[:2]
        if WORKER in command and ours and state != "Z" and parent in (None, int(ppid)):
            yield int(entry.name)


def start(command: list[str], **environment: str) -> subprocess.Popen[bytes]:
    env = {**os.environ, **OURS, **environment}
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=env, cwd=ROOT)


def strike(process: subprocess.Popen[bytes], number: signal.Signals, delay: float) -> str:
    """Send the signal to the job's worker `delay` seconds after it was there; says whether it was."""
    while process.poll() is None:
        found = list(workers(process.pid))
        if found:
            time.sleep(delay)
            try:
                os.kill(found[0], number)
            except ProcessLookupError:
                return "too late"
            return f"after {delay:.2f} s"
        time.sleep(0.005)
    return "too late"


def kill(bench: Bench, options: argparse.Namespace) -> Iterator[Row]:
    """kill -9 at moments spread over the job: the worker's start, its first task, in the middle of tasks, its end."""
    yield from _signals(bench, options, signal.SIGKILL, "worker killed", options.kills)


def steps(bench: Bench, options: argparse.Namespace) -> Iterator[Row]:
    """kill -9 by the worker itself, at the second call of each kind that the host makes to its device."""
    bundle, text = bench.bundle(ROOT / "apps" / "wordcount"), data.cached(options.size, 1)
    bench.expected(bundle, text)
    log, mark, library = bench.scratch / "steps", bench.scratch / "mark", probe.build(bench.scratch)
    base = {}
    if options.device == "cuda":
        base["HD_PROBE_BASE"] = str(cuda.device_library(nvcc.of_this_machine())[0])

    def job(**environment: str) -> subprocess.Popen[bytes]:
        command = bench.on_device(bundle, text, "--split-size", str(max(options.size // 8, 1)))
        return start([command[0], "-m", probe.__name__, str(library), *command[3:]], **environment, **base)

    yield bench.judge("no fault, steps", job(HD_PROBE_LOG=str(log)))
    for step in options.steps or sorted(set(log.read_text().split())):
        mark.unlink(missing_ok=True)
        row = bench.judge(f"worker killed at {step}", job(HD_PROBE_KILL=f"{step} 2", HD_PROBE_MARK=str(mark)))
        yield row if mark.exists() else replace(row, note=f"{row.note}, not struck: called once")


def stop(bench: Bench, options: argparse.Namespace) -> Iterator[Row]:
    """A worker that stands still."""
    yield from _signals(bench, options, signal.SIGSTOP, "worker stopped", 2, "-D", "heterodoop.gpu.hang.seconds=2")


def _signals(
    bench: Bench, options: argparse.Namespace, number: signal.Signals, what: str, times: int, *further: str,
) -> Iterator[Row]:
    bundle, text = bench.bundle(ROOT / "apps" / "wordcount"), data.cached(options.size, 1)
    bench.expected(bundle, text)
    command = bench.on_device(bundle, text, "--split-size", "8m", *further)
    bench.judge("the first job builds what is not in the cache", start(command))
    begin = time.monotonic()
    yield bench.judge(f"no fault, {what}", start(bench.on_device(bundle, text, "--split-size", "8m", *further)))
    usual = time.monotonic() - begin
    moments = random.Random(1)
    for i in range(times):
        process = start(bench.on_device(bundle, text, "--split-size", "8m", *further))
        note = strike(process, number, usual * (i + moments.random()) / times)
        yield bench.judge(what, process, note)


def fault(bench: Bench, options: argparse.Namespace) -> Iterator[Row]:
    """A kernel that writes where there is no memory."""
    yield from _numbers(bench, "kernel faults", "wild")


def hang(bench: Bench, options: argparse.Namespace) -> Iterator[Row]:
    """A kernel that takes longer than the limit."""
    yield from _numbers(bench, "kernel hangs", "slow", "-D", "heterodoop.gpu.hang.seconds=2")


def _numbers(bench: Bench, what: str, program: str, *options: str) -> Iterator[Row]:
    text = bench.scratch / "numbers.txt"
    text.write_text("".join(f"{n}\n" for n in range(2000)))
    bundle, small = bench.bundle(Path(__file__).parent / "programs" / f"{program}.c"), ("--split-size", "2k")
    bench.expected(bundle, text, *small)
    yield bench.judge(what, start(bench.on_device(bundle, text, *small, *options)))


def memory(bench: Bench, options: argparse.Namespace) -> Iterator[Row]:
    """Another process holds nearly all of the GPU's memory."""
    bundle, text = bench.bundle(ROOT / "apps" / "wordcount"), data.cached(options.size, 1)
    bench.expected(bundle, text)
    for left in (64, 700, 1500):
        hog = subprocess.Popen([sys.executable, "-c", HOG, str(left << 20)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert hog.stdout and hog.stdout.readline() == b"ready\n"
        try:
            command = [c for c in bench.on_device(bundle, text) if c not in ("--device", "cuda")]
            yield bench.judge(f"{left} MiB of GPU memory left", start(command))
        finally:
            hog.communicate()


PARTS: dict[str, Callable[[Bench, argparse.Namespace], Iterator[Row]]] = {
    "kill": kill, "steps": steps, "stop": stop, "fault": fault, "hang": hang, "memory": memory,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=["cuda", "emulated"], default="cuda")
    parser.add_argument("--size", type=data.parse_size, default="512m", help="text of the jobs whose worker is killed")
    parser.add_argument("--kills", type=int, default=12)
    parser.add_argument("--steps", type=lambda text: text.split(","), help="of `steps` (default: all there are)")
    parser.add_argument("--only", default=",".join(PARTS), help="comma-separated: " + ", ".join(PARTS))
    options = parser.parse_args()
    if options.device == "emulated" and not set(options.only.split(",")) <= {"kill", "steps", "stop"}:
        parser.error("--device emulated: --only kill,steps,stop")
    print("| fault | outcome | | s |\n|---|---|---|---:|")
    bad = 0
    with tempfile.TemporaryDirectory(prefix="gpu-faults-") as folder:
        bench = Bench(Path(folder), options.device)
        for name in options.only.split(","):
            begin = time.monotonic()
            for row in PARTS[name](bench, options):
                print(f"| {row.what} | {row.outcome} | {row.note} | {time.monotonic() - begin:.1f} |", flush=True)
                begin = time.monotonic()
                bad += not row.good
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
