"""A bundle's host kernel by itself, as whoever runs it starts it, and the filters whose work it does. Not a test module."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from heterodoop import manifest
from heterodoop.executor.kernel import prologue
from heterodoop.executor.kernel.host_kernel import TEXT, serialise
from heterodoop.executor.kernel.prologue import LiveIns

LEFT, BROKEN, WANTS_PIPE = 90, 91, 92  # exit statuses


@dataclass(frozen=True)
class Done:
    """How it ended, what it printed, and its report."""

    status: int
    out: bytes
    err: bytes
    report: dict[str, int]

    @property
    def lines(self) -> list[bytes]:
        return sorted(self.out.splitlines(keepends=True))


def run_host(
    bundle: Path, data: bytes, scratch: Path, *, env: Mapping[str, str] | None = None, cwd: Path | None = None,
    as_text: bool = False,
) -> Done:
    """Run the host kernel of a bundle's mapper over the records of `data`, each of which ends with a newline. as_text: it
    prints what the map prints, and combines nothing."""
    program = manifest.load(bundle).program("map")
    assert program is not None and program.host is not None, program and program.no_host
    assert program.kernel is not None
    given = live_ins(bundle, program.kernel, scratch, cwd) if program.kernel.shared else None
    return spawn(bundle / program.host.binary, data, scratch, given, env=env, cwd=cwd, as_text=as_text)


def spawn(
    binary: Path, data: bytes, scratch: Path, given: LiveIns | None = None, *, env: Mapping[str, str] | None = None,
    cwd: Path | None = None, as_text: bool = False,
) -> Done:
    """Run a host kernel with its report on descriptor 3 and its live-ins on 4."""
    report, live = scratch / "report", scratch / "live-ins"
    report.write_bytes(b"")
    live.write_bytes(b"".join(serialise(given)) if given is not None else b"")
    command = f'exec "$0" {TEXT if as_text else ""} 3> "{report}" 4< "{live}"'
    done = subprocess.run(
        ["sh", "-c", command, str(binary.resolve())], input=data, capture_output=True, check=False, cwd=cwd,
        env={**os.environ, **(env or {})}, timeout=120,
    )
    lines = (line.split() for line in report.read_text().splitlines())
    return Done(done.returncode, done.stdout, done.stderr, {name: int(value) for name, value in lines})


def on_file(binary: Path, file: Path, size: int, scratch: Path, *, as_text: bool = False) -> Done:
    """Run a host kernel that needs no live-ins on the first `size` bytes of a file, which it reads itself."""
    report = scratch / "report"
    command = f'exec "$0" {TEXT if as_text else ""} {size} 3> "{report}" < "{file}"'
    done = subprocess.run(["sh", "-c", command, str(binary.resolve())], capture_output=True, check=False, timeout=120)
    lines = (line.split() for line in report.read_text().splitlines())
    return Done(done.returncode, done.stdout, done.stderr, {name: int(value) for name, value in lines})


def live_ins(bundle: Path, kernel: manifest.Kernel, scratch: Path, cwd: Path | None) -> LiveIns:
    """What the mapper's prologue hands over, run in `cwd`."""
    written = scratch / "objects"
    command = f'exec "$0" 3> "{written}"'
    words = ["sh", "-c", command, str((bundle / kernel.prologue).resolve())]
    subprocess.run(words, check=True, cwd=cwd, stdin=subprocess.DEVNULL)
    asked = [prologue._ASKED] if kernel.prologue_runs == "asked" else []
    objects = prologue.read_objects([*kernel.shared, *asked], written.read_bytes())
    return prologue.place(kernel, objects[: len(kernel.shared)])


def filters(bundle: Path, data: bytes, *, cwd: Path | None = None) -> list[bytes]:
    """The lines that the map filter and the combiner give together, sorted."""
    pairs = filter_output(bundle / "bin" / "map", data, cwd).splitlines(keepends=True)
    pairs.sort(key=lambda line: line.rstrip(b"\n").partition(b"\t")[0])
    return sorted(filter_output(bundle / "bin" / "combine", b"".join(pairs), cwd).splitlines(keepends=True))


def filter_output(binary: Path, data: bytes, cwd: Path | None = None) -> bytes:
    return subprocess.run([binary.resolve()], input=data, capture_output=True, check=True, cwd=cwd, timeout=120).stdout
