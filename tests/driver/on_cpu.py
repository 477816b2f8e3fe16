"""What the CPU filters make of an attempt's split, to hold a driver's result against. Not a test module."""

from __future__ import annotations

import os
from pathlib import Path

from heterodoop.executor.native.runtime import Native, Progress
from heterodoop.executor.task.cpu_task import CpuJob, Place, run_map
from heterodoop.executor.task.report import AttemptResult
from heterodoop.executor.task.split import Split
from heterodoop.executor.task.streaming_env import TaskNames
from heterodoop.manifest import load
from heterodoop.storage.local import InputFile

from .client import Attempt


def run_on_cpu(attempt: Attempt, path: Path, work: Path) -> tuple[AttemptResult, bytes, bytes]:
    """Result, index and data of an attempt whose split is of the local file `path`. work: a folder that is made."""
    result = run_map(Native.load(), _job(attempt), *_place(attempt, path, work), work / "out", work / "index", Progress())
    assert result.failure is None, result.failure
    return result, (work / "index").read_bytes() if attempt.reduces else b"", (work / "out").read_bytes()


def _job(attempt: Attempt) -> CpuJob:
    found = load(attempt.bundle)

    def binary(role: str) -> Path | None:
        program = found.program(role)  # type: ignore[arg-type]
        return attempt.bundle / program.binary if program else None

    combine = found.program("combine")
    region = combine.region if combine else None
    map = binary("map")
    assert map
    return CpuJob(
        map, binary("combine") if attempt.combine else None, None, bool(region and region.fold and region.fold.regroup),
        region.pairs if region else None, [b"PATH=" + os.environb[b"PATH"]], attempt.reduces, attempt.delimiter, False,
        100 << 20, "reporter:",
    )


def _place(attempt: Attempt, path: Path, work: Path) -> tuple[Split, Place]:
    work.mkdir()
    split = Split(InputFile(str(path), path.stat().st_size), attempt.start, attempt.length)
    return split, Place(work, work, work / "log", TaskNames("job_1_0001", True, 0, 0, work, work, split))
