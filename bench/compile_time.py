"""How long `heterodoop compile APP --arch none` takes: from nothing, and again when nothing has changed.

    python -m bench.compile_time [--app apps/wordcount] [--rounds 9] [--against CHECKOUT]

Prints a Markdown table: the median and the least of all rounds, the least processor time with that of the C compilers, and
how many of these were started, which a $CC of the bench's own counts in a run apart. On a busy machine only ratios tell.
With --against the same for another checkout of HeteroDoop, round by round in turn. Objects that are kept in the cache are
there already, and Python's modules are compiled anew by every command where PYTHONDONTWRITEBYTECODE is set.
"""

from __future__ import annotations

import argparse
import os
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from heterodoop.toolchain import kept

from .measure import Contender, interleave, machine

ROOT = Path(__file__).resolve().parent.parent
BARS = {"from nothing": 0.7, "unchanged": 0.15}  # seconds, word count on a quiet machine of two cores
WRAPPER = "#!/bin/sh\necho >> {log}\nexec {cc} \"$@\"\n"


class Compile:
    """The command of one checkout, and its bundle. `processor`: seconds of each run from nothing, and of each other."""

    def __init__(self, name: str, checkout: Path, app: Path, scratch: Path) -> None:
        self._name, self._scratch = name, scratch / name.replace(" ", "-")
        self._bundle = self._scratch / "app.hdp"
        self._argv = [sys.executable, "-m", "heterodoop", "compile", str(app), "--arch", "none", "-o", str(self._bundle)]
        self._cache = self._scratch / "cache"
        self._environment = {**os.environ, "PYTHONPATH": str(checkout), "XDG_CACHE_HOME": str(self._cache)}
        self._scratch.mkdir()
        self.processor: tuple[list[float], list[float]] = ([], [])

    def contenders(self) -> list[Contender]:
        runs = zip(BARS, (self.from_nothing, self.again), strict=True)
        return [Contender(f"{self._name}, {what}", run) for what, run in runs]

    def from_nothing(self, **more: str) -> None:
        for made in (self._bundle, *(self._cache / "heterodoop" / name for name in (kept.OBJECTS, kept.PROGRAMS))):
            shutil.rmtree(made, ignore_errors=True)
        self.again(**more)

    def again(self, **more: str) -> None:
        environment, before = {**self._environment, **more}, _processor_seconds()
        runs = self.processor[self._bundle.exists()]
        subprocess.run(self._argv, check=True, stderr=subprocess.DEVNULL, env=environment, cwd=self._scratch)
        runs.append(_processor_seconds() - before)

    def processes(self) -> tuple[int, int]:
        """Times that the C compiler is started for a bundle from nothing, and for one that is there."""
        log, compiler = self._scratch / "log", self._scratch / "cc"
        compiler.write_text(WRAPPER.format(log=shlex.quote(str(log)), cc=shutil.which("cc") or "gcc"))
        compiler.chmod(0o755)
        self.again(CC=str(compiler))  # what is kept for this compiler is there from now on
        counts = []
        for run in (self.from_nothing, self.again):
            log.write_text("")
            run(CC=str(compiler))
            counts.append(log.read_text().count("\n"))
        return counts[0], counts[1]


def _processor_seconds() -> float:
    """Of all commands that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--app", type=Path, default=ROOT / "apps" / "wordcount")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--against", type=Path)
    options = parser.parse_args()
    checkouts = {"this checkout": ROOT, **({options.against.name: options.against.resolve()} if options.against else {})}
    with tempfile.TemporaryDirectory(prefix="hd-compile-") as scratch:
        compiles = [Compile(name, path, options.app.resolve(), Path(scratch)) for name, path in checkouts.items()]
        for compile in compiles:
            compile.from_nothing()
        contenders = [contender for compile in compiles for contender in compile.contenders()]
        interleave(contenders, options.rounds, lambda text: print(text, file=sys.stderr))
        used = [min(runs) for compile in compiles for runs in compile.processor]
        processes = [count for compile in compiles for count in compile.processes()]
    print("| compile | median s | least s | bar | processor s | C compilers |\n|---|---:|---:|---:|---:|---:|")
    for contender, processor, count in zip(contenders, used, processes, strict=True):
        bar, least = BARS[contender.name.rpartition(", ")[2]], min(contender.seconds)
        print(f"| {contender.name} | {contender.median:.2f} | {least:.2f} | {bar:g} | {processor:.2f} | {count} |")
    print("\n" + "\n".join(f"- {key}: {value}" for key, value in machine().items()))


if __name__ == "__main__":
    main()
