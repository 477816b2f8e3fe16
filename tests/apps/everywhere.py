"""Running an app in every way that must give the same bytes. Not a test module."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .. import kept
from ..support import ROOT, Bundles, cli_here, parts

APPS = ROOT / "apps"
NONE_OF_DEFAULT = (
    "block-cursor", "shared-tables", "longest-first", "radix-sort", "hash-fold", "word-output", "search-ahead",
)
NO_OPT = tuple(f"--no-opt={name}" for name in NONE_OF_DEFAULT)
EMULATED = ("--device=emulated",)
MAKE = """
import data, pathlib, sys
target, kind, size, seed, *arguments = sys.argv[1:]
data.generate(pathlib.Path(target), int(size), int(seed), kind=kind, arguments=tuple(arguments))
"""
TINY = ("-D", "heterodoop.gpu.sub-split.bytes=3000")


@dataclass(frozen=True)
class Way:
    """One way to run an app: options of `heterodoop compile` and of `heterodoop run`."""

    compile: tuple[str, ...] = ()
    run: tuple[str, ...] = ()


def ways(size: int) -> dict[str, Way]:
    """All ways for an input of `size` bytes, by name."""
    some, many = f"--split-size={size // 3}", f"--split-size={size // 9}"
    return {
        "cpu": Way(),
        "cpu, many splits": Way(run=(many, "--reducers=3")),
        "emulated": Way(run=EMULATED),
        "emulated, many splits, tiny sub-splits": Way(run=(*EMULATED, many, *TINY)),
        "emulated, paper": Way(("--opt=paper",), (*EMULATED, some, *TINY)),
        "emulated, nothing optimised": Way(NO_OPT, (*EMULATED, some, "--reducers=2")),
    }


def made(kind: str, target: Path, size: int, seed: int, *arguments: str) -> Path:
    """Data of bench/data.py, with its side files in the same folder. `arguments` replace the kind's own."""
    argv = [sys.executable, "-c", MAKE, target, kind, size, seed, *arguments]
    subprocess.run([str(a) for a in argv], cwd=ROOT / "bench", check=True)
    return target


def assert_sample_is_made(app: str, kind: str, seed: int, *arguments: str, sides: Sequence[Path], folder: Path) -> None:
    """The app's sample and side files are what the generator makes."""
    sample = APPS / app / "sample.txt"
    again = made(kind, folder / "sample.txt", sample.stat().st_size, seed, *arguments)
    assert sample.stat().st_size <= 50_000 and again.read_bytes() == sample.read_bytes()
    for side in sides:
        assert (folder / side.name).read_bytes() == side.read_bytes(), side


def run_app(bundle: Path, text: Path, sides: Sequence[Path], output: Path, options: Sequence[str] = ()) -> bytes:
    """Run a job with side files; returns its pairs, sorted by key bytes."""
    files = [argument for path in sides for argument in ("--file", path)]
    cli_here("run", bundle, text, "-o", output, "--quiet", *files, *options)
    return by_key(b"".join(parts(output)))


def run_everywhere(app: str, text: Path, sides: Sequence[Path], folder: Path) -> dict[str, bytes]:
    """The app's sorted output for each way to run it. Fails where a map task was not done by the device that was asked."""
    results: dict[str, bytes] = {}
    for number, (name, way) in enumerate(ways(text.stat().st_size).items()):
        bundle = compiled(app, *way.compile)
        output = folder / f"out{number}"
        results[name] = run_app(bundle, text, sides, output, way.run)
        assert devices(output) == ({"emulated"} if "emulated" in name else {"cpu"}), name
    return results


def devices(output: Path) -> set[str]:
    """Where a job's map tasks ran."""
    report = json.loads(Path(f"{output}.report", "report.json").read_text())
    return {device for device, tasks in report["device"]["map_tasks"].items() if tasks}


def compiled(app: str, *options: str) -> Path:
    """The app's bundle, compiled with these options on first use."""
    return Bundles(kept.bundles()).app(APPS / app, *options)


def pipe(bundle: Path, role: str, pairs: bytes, folder: Path) -> bytes:
    """What one filter prints, run by itself in `folder`."""
    done = subprocess.run([bundle / "bin" / role], input=pairs, stdout=subprocess.PIPE, cwd=folder, check=True)
    return done.stdout


def by_key(pairs: bytes) -> bytes:
    """A stable sort by key bytes, as between map and combine."""
    return b"".join(sorted(pairs.splitlines(keepends=True), key=lambda line: line.split(b"\t", 1)[0]))
