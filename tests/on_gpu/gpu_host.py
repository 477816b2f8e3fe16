"""All that is to be shown on a machine with a GPU, in one command: sets up, builds, checks and times.

    python -m tests.on_gpu.gpu_host [--results DIR] [--only doctor,check,...] [--here] [--limit SECONDS] [--list]

Steps run one after the other; those that only compare bytes, and compute-sanitizer, run side by side at the end: what is
timed has the machine for itself. What a step prints goes to DIR/STEP.txt, and DIR/summary.md says how each went. Exit
status 1 where one failed. A step is not begun where fewer seconds than it is allowed are left of --limit; it is named, and
so is one that this machine cannot do (two GPUs). First a virtual environment is made in DIR with what the project needs,
nvcc included; --here takes the Python that runs this, as it is. Needs Python 3.11, g++, the NVIDIA driver, and the CUDA
toolkit: PyCUDA is built with its headers, and compute-sanitizer is a part of it.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from bench.figures.lanes import visible_gpus

ROOT = Path(__file__).resolve().parents[2]
PYTHON = "PYTHON"  # stands for the interpreter that steps run in
LIBRARY = "heterodoop/_native/libhd_host.so"
PROPERTIES = ("tests/properties/test_devices.py", "tests/run/test_random_programs.py", "tests/run/test_ordered_loops.py")


@dataclass(frozen=True)
class Step:
    """A command, the seconds that it is allowed, whether it checks only (beside others), and how many GPUs it needs."""

    name: str
    what: str
    command: Sequence[str]
    seconds: int
    beside: bool = False
    gpus: int = 1
    environment: dict[str, str] = field(default_factory=dict)


def _bench(script: str, *arguments: str) -> tuple[str, ...]:
    return (PYTHON, "-m", f"bench.{script}", *arguments)


def _check(script: str) -> tuple[str, ...]:
    return (PYTHON, "-m", f"tests.on_gpu.{script}")


ON_GPU = {"HETERODOOP_TEST_DEVICE": "cuda"}
STEPS = (
    Step("native", "builds the native library", (PYTHON, "-m", "heterodoop.toolchain.native", "-o", LIBRARY), 120, gpus=0),
    Step("doctor", "what this machine can do", (PYTHON, "-m", "heterodoop", "doctor"), 60, gpus=0),
    Step("two-gpus", "two GPUs against one", _bench("gpu_job", "--rounds", "2", "--only", "busy,gpus"), 240, gpus=2),
    Step("task", "a map task: GB/s, stages", _bench("gpu_task", "--cpu-size", "16m"), 360),
    Step("items", "without one optimisation each", _bench("gpu_task", "--sizes", "256m", "--cpu-size", "1m",
                                                          "--only", "items", "--runs", "3"), 240),
    Step("map-fold", "map kernels that fold their pairs", _bench("map_fold", "--sizes", "256m,1g", "--runs", "5"), 300),
    Step("means", "means of doubles per key, as ordered loops", _bench(
        "brc", "--values", "double", "--rows", "100m", "--rounds", "2", "--combined", "--only", "cpu,gpu-only"), 240),
    Step("host-work", "the host's own work", _bench("host_work", "--sub-splits", "16", "--sub-split", "64k"), 60, gpus=0),
    Step("jobs", "whole jobs", _bench("gpu_job"), 240),
    Step("faults", "workers killed, stopped, out of memory", _check("gpu_faults"), 400),
    Step("shares", "two drivers with a part of one GPU's memory each", _check("gpu_shares"), 200),
    Step("check", "every program against the CPU", _check("device_check"), 400, beside=True),
    Step("sanitize", "compute-sanitizer", _check("sanitize"), 400, beside=True),
    Step("properties", "random inputs and programs", (PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", *PROPERTIES),
         600, beside=True, environment=ON_GPU),  # nvcc takes half a minute for a random program
)


@dataclass(frozen=True)
class Outcome:
    step: Step
    said: str
    seconds: float = 0.0

    @property
    def failed(self) -> bool:
        return self.said.startswith("failed")


@dataclass(frozen=True)
class Host:
    """Where steps run and until when (`deadline` of the monotonic clock)."""

    results: Path
    python: str
    gpus: int
    deadline: float

    def run(self, step: Step) -> Outcome:
        if step.gpus > self.gpus:
            return Outcome(step, f"not run: needs {step.gpus} GPUs, this machine has {self.gpus}")
        if time.monotonic() + step.seconds > self.deadline:
            return Outcome(step, f"not run: it is allowed {step.seconds} s, and that many are not left")
        print(f"{step.name}: {step.what} ...", file=sys.stderr, flush=True)
        command = [self.python if word == PYTHON else word for word in step.command]
        begin = time.monotonic()
        with open(self.results / f"{step.name}.txt", "wb") as out:
            said = _run(command, step.seconds, {**os.environ, **step.environment}, out)
        return Outcome(step, said, time.monotonic() - begin)

    def run_all(self, steps: Sequence[Step]) -> list[Outcome]:
        outcomes = [self.run(step) for step in steps if not step.beside]
        beside = [step for step in steps if step.beside]
        with ThreadPoolExecutor(max(1, len(beside))) as pool:
            return outcomes + list(pool.map(self.run, beside))


def _run(command: Sequence[str], seconds: float, environment: dict[str, str], out: BinaryIO) -> str:
    """How it went. With it end the processes that it started."""
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=out, stderr=subprocess.STDOUT, env=environment, start_new_session=True)
    try:
        status = process.wait(seconds)
        return f"failed (exit status {status})" if status else "done"
    except subprocess.TimeoutExpired:
        return f"failed (not done in {seconds:g} s)"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def set_up(results: Path) -> str:
    """A virtual environment with the project and what it needs on a GPU; returns its interpreter."""
    folder = results / "venv"
    python = folder / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    subprocess.run([str(python), "-m", "pip", "install", "-q", "-e", f"{ROOT}[gpu,nvcc,dev]"], check=True)
    return str(python)


def summary(outcomes: Sequence[Outcome]) -> str:
    rows = [f"| {o.step.name} | {o.step.what} | {o.said} | {o.seconds:.0f} |" for o in outcomes]
    return "\n".join(["| step | what | outcome | s |", "|---|---|---|---:|", *rows]) + "\n"


def chosen(names: str, steps: Sequence[Step] = STEPS) -> list[Step]:
    """The steps named, in the table's order. Raises SystemExit for a name that is none."""
    wanted = names.split(",") if names else [step.name for step in steps]
    unknown = sorted(set(wanted) - {step.name for step in steps})
    if unknown:
        raise SystemExit(f"no such step: {', '.join(unknown)}; there are {', '.join(step.name for step in steps)}")
    return [step for step in steps if step.name in wanted]


def main(steps: Sequence[Step] = STEPS, find_gpus: Callable[[], Sequence[str]] = visible_gpus) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=ROOT / "build" / "gpu-host")
    parser.add_argument("--only", default="", help="names of steps, by commas (default: all)")
    parser.add_argument("--here", action="store_true", help="no virtual environment: this Python has what is needed")
    parser.add_argument("--limit", type=float, default=float("inf"), help="seconds for all of it")
    parser.add_argument("--list", action="store_true", help="names the steps and does nothing")
    options = parser.parse_args()
    todo = chosen(options.only, steps)
    if options.list:
        print("\n".join(f"{step.name:11} {step.what}" for step in todo))
        return 0
    deadline = time.monotonic() + options.limit
    options.results.mkdir(parents=True, exist_ok=True)
    python = sys.executable if options.here else set_up(options.results)
    outcomes = Host(options.results, python, len(find_gpus()), deadline).run_all(todo)
    (options.results / "summary.md").write_text(summary(outcomes))
    print(summary(outcomes), end="")
    return 1 if any(outcome.failed for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
