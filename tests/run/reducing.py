"""Reducers for tests: as a filter and as a host kernel, over segments of given pairs. Not a test module."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heterodoop.compiler import host_kernels, reducers
from heterodoop.compiler.emit import key_loop
from heterodoop.compiler.keyloop.reducer import Reducer
from heterodoop.compiler.lower.bind import bind
from heterodoop.compiler.source.frontend import load
from heterodoop.compiler.steps import Times
from heterodoop.diag import Sink
from heterodoop.executor.native.runtime import FilterCommand, Native, ReduceSpec, Segment, TaskResult
from heterodoop.toolchain import host_kernel
from heterodoop.toolchain.cc import CcOptions

from ..native.oracle import Pair, segment

FLAGS = ("-w", "-O1", "-fwrapv", "-fno-strict-aliasing", "-ffp-contract=off")


@dataclass(frozen=True)
class Built:
    """found: the reducer's key loop."""

    filter: Path
    host: Path
    found: Reducer


def build(source: str, folder: Path) -> Built:
    path = folder / "reduce.c"
    path.write_text(source)
    unit, sink = load(path, CcOptions()), Sink()
    bound = bind(unit, sink, "reduce")
    assert not sink.errors, sink.errors
    analysis = reducers.analyse(unit, bound[0] if bound else None, Times())
    assert isinstance(analysis.found, Reducer), f"{analysis.found}\n{source}"
    problem = key_loop.reducer_problem(analysis.found.loop, analysis.found.pairs)
    assert not problem, f"{problem}\n{source}"
    host_kernel.build(host_kernels.reducer_text(analysis), folder / "reduce.host")
    subprocess.run(["gcc", *FLAGS, "-o", folder / "reduce", path, "-lm"], check=True)
    return Built(folder / "reduce", folder / "reduce.host", analysis.found)


def written(parts: Sequence[Sequence[Pair]], folder: Path) -> list[Segment]:
    """A segment in a file of its own for each part, which is sorted here; none for an empty one."""
    found = []
    for number, part in enumerate(parts):
        data, path = segment(sorted(part, key=lambda pair: pair[0])), folder / f"segment{number}"
        path.write_bytes(b"before" + data)
        if part:
            found.append(Segment(path, 6, len(data) - 4, len(data)))
    return found


def run(
    native: Native, built: Built, segments: Sequence[Segment], folder: Path, *, host: bool, threads: int = 1,
    memory: int = 0, silence: float = 0.0,
) -> tuple[TaskResult, bytes]:
    """The task's result and its part; memory: bytes that the host kernel's tables may take, 0: as many as ever."""
    out = folder / ("part.host" if host else "part.filter")
    out.unlink(missing_ok=True)
    environment = [f"HETERODOOP_HOST_KERNEL_BYTES={memory}"] if memory else []
    command = FilterCommand([built.host], environment) if host else None
    spec = ReduceSpec(
        FilterCommand([built.filter]), segments, out, work_dir=folder, log_path=folder / "log", host=command,
        threads=threads, timeout_seconds=silence)
    result = native.reduce_task(spec)
    return result, out.read_bytes() if out.exists() else b""
