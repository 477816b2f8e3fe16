"""Every app, field case, found program and generated-code program on a device against the CPU, byte for byte, in parallel.

    python -m tests.on_gpu.device_check [--device cuda] [--opt default --opt paper] [--jobs N] [--only PATTERN]

Compiles each program, lets `heterodoop verify` compare every map task on both sides, and prints a Markdown table; exit
status 1 where one differs or does not compile. Needs a GPU and nvcc with --device cuda; run it on the host to be checked.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import string
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from bench import app_inputs, found

from ..cases import runner
from ..codegen import inputs as codegen
from ..codegen import random_searches
from ..language import forms
from ..run.test_taken import MODULES
from ..taken.inputs import INPUTS, PROGRAMS

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "apps" / "wordcount" / "sample.txt"
CODEGEN = (  # the others fail or combine by design
    "arithmetic", "clauses", "constructs", "mathematics", "places", "searches", "text",
)
SEEDS = range(100, 108)


@dataclass(frozen=True)
class Program:
    """What is compiled (a folder) and fed (a file or folder), with which further options of `verify`."""

    name: str
    folder: Path
    input: Path
    options: tuple[str, ...] = ()


def programs(scratch: Path) -> Iterator[Program]:
    yield from _apps()
    yield from _cases(scratch)
    yield from _codegen(scratch)
    yield from _searches(scratch)
    yield from _found()
    yield from _forms(scratch)
    yield from _readers(scratch)


def _apps() -> Iterator[Program]:
    for app in sorted((ROOT / "apps").iterdir()):
        if (app / "map.c").is_file():
            options = ("--split-size", "12k", *app_inputs.sample_options(app))
            yield Program(f"app {app.name}", app, app / "sample.txt", options)


def _cases(scratch: Path) -> Iterator[Program]:
    for letter in "ABCDEF":
        for case in runner.load(letter):
            folder = scratch / case.name
            folder.mkdir()
            for role, text in case.programs.items():
                if text:
                    (folder / f"{role}.c").write_text(text)
            yield Program(f"case {case.name}", folder, runner.place_input(case, folder))


def _codegen(scratch: Path) -> Iterator[Program]:
    for name in CODEGEN:
        source = ROOT / "tests" / "codegen" / "programs" / name  # a folder of filters, or one file
        folder = scratch / f"codegen-{name}"
        if source.is_dir():
            shutil.copytree(source, folder)
        else:
            folder.mkdir()
            shutil.copy(source.with_suffix(".c"), folder / "map.c")
        text = SAMPLE
        if name in codegen.INPUTS:
            text = scratch / f"codegen-{name}.txt"
            text.write_bytes(codegen.INPUTS[name])
        yield Program(f"codegen {name}", folder, text)


def _searches(scratch: Path) -> Iterator[Program]:
    """A program has dozens of loops that look for a place in a table; random, but the same ones in every run."""
    for seed in SEEDS:
        chosen, folder = random.Random(seed), scratch / f"searches-{seed}"
        folder.mkdir()
        (folder / "map.c").write_text(random_searches.program(chosen))
        text = scratch / f"searches-{seed}.txt"
        text.write_bytes(random_searches.records(chosen))
        yield Program(f"random searches {seed}", folder, text)


def _found() -> Iterator[Program]:
    for name in found.names():
        folder = found.PROGRAMS / name
        files = [word for path in found.side_files(folder) for word in ("--file", str(path))]
        yield Program(f"found {name}", folder, folder / found.INPUT, tuple(files))


def _forms(scratch: Path) -> Iterator[Program]:
    """A split for each function, so that what one leaves to the CPU does not hide the others."""
    for kind, module in MODULES.items():
        folder, texts = scratch / kind, scratch / f"{kind}-texts"
        folder.mkdir()
        texts.mkdir()
        (folder / "map.c").write_text(module.program())
        words = [f"{'ab ' * n}{n} c-{n % 7} a" for n in range(2000)]
        for letter in string.ascii_lowercase[:len(module.EQUAL)]:
            (texts / letter).write_text("".join(f"{letter} {line[:90]}\n" for line in words))
        yield Program(f"taken: {kind}", folder, texts, ("--reducers", "0"))
    yield _alone("taken: language", forms.FORMS, forms.INPUT, scratch / "language")


def _readers(scratch: Path) -> Iterator[Program]:
    texts = scratch / "reader-texts"
    texts.mkdir()
    for number, text in enumerate(INPUTS):
        (texts / f"{number:02}").write_bytes(text)
    for path in sorted(PROGRAMS.glob("*.c")):
        yield _alone(f"reader: {path.stem}", path, texts, scratch / f"reader-{path.stem}")


def _alone(name: str, source: Path, text: Path, folder: Path) -> Program:
    """A mapper without reducers."""
    folder.mkdir()
    shutil.copy(source, folder / "map.c")
    return Program(name, folder, text, ("--reducers", "0"))


def check(program: Program, opt: str, scratch: Path, arguments: argparse.Namespace) -> tuple[str, str]:
    """("equal" | "cpu-only" | "different" | "failed", why)."""
    bundle = scratch / f"{program.folder.name}-{opt}.hdp"
    arch = [] if arguments.device == "cuda" else ["--arch", "none"]
    command = [sys.executable, "-m", "heterodoop"]
    words = ["compile", program.folder, "-o", bundle, "--opt", opt, *arch]
    made = subprocess.run([*map(str, [*command, *words])], capture_output=True, text=True)
    if made.returncode:
        return "failed", made.stderr.strip().splitlines()[0]
    words = ["verify", bundle, program.input, "--device", arguments.device, "--json", *program.options]
    done = subprocess.run([*map(str, [*command, *words])], capture_output=True, text=True)
    try:
        said = json.loads(done.stdout)
    except ValueError:
        return "failed", (done.stderr.strip().splitlines() or ["no output"])[-1]
    outcomes = [task["outcome"] for task in said["tasks"]]
    for task in sorted(said["tasks"], key=lambda task: task["outcome"] == "cpu-only"):  # what differs first
        if task["outcome"] != "equal":
            why = task.get("reason") or json.dumps(task.get("difference"))
            return task["outcome"], f"{outcomes.count('equal')} of {len(outcomes)} tasks equal; {why}"
    return "equal", f"{len(outcomes)} tasks"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--opt", action="append", help="sets of optimisations (default: default and paper)")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--only", default="", help="a regular expression that names must match")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(arguments.jobs) as pool:
        chosen = [p for p in programs(Path(scratch)) if re.search(arguments.only, p.name)]
        work = [(program, opt) for program in chosen for opt in arguments.opt or ["default", "paper"]]
        results = list(pool.map(lambda item: check(*item, Path(scratch), arguments), work))
    print("| program | set | outcome | |\n|---|---|---|---|")
    for (program, opt), (outcome, why) in zip(work, results, strict=True):
        print(f"| {program.name} | {opt} | {outcome} | {why[:160]} |")
    counts = {kind: sum(outcome == kind for outcome, _ in results) for kind in ("equal", "cpu-only", "different", "failed")}
    print("\n" + ", ".join(f"{n} {kind}" for kind, n in counts.items()))
    return 1 if counts["different"] or counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
