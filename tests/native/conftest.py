"""Fixtures of the native runtime's tests: the loaded library, and small C filters compiled once per session."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from heterodoop.executor.native.runtime import FilterCommand, MapSpec, Native, TaskResult

from .. import kept

Compile = Callable[[str], str]
RunMap = Callable[..., tuple[TaskResult, bytes]]


@pytest.fixture(scope="session")
def native() -> Native:
    return Native.load()


@pytest.fixture(scope="session")
def compile_c() -> Compile:
    """C source -> path of the program. The same text is compiled once."""
    return cache(lambda source: str(kept.program(["gcc", "-O1", "-w", "-D_GNU_SOURCE", "-x", "c", "-"], text=source)))


@pytest.fixture
def run_map(native: Native, tmp_path: Path) -> RunMap:
    """Runs argv as a map-only task over `data`; returns the result and the output file's bytes (b"" when there is none)."""

    def run(argv: list[str], data: bytes = b"", **options: object) -> tuple[TaskResult, bytes]:
        source, target = tmp_path / "input", tmp_path / "output"
        source.write_bytes(data)
        target.unlink(missing_ok=True)
        env = options.pop("env", ())
        cwd = options.pop("cwd", "")
        progress = options.pop("progress", None)
        memory = options.pop("memory", 0)
        fields: dict[str, object] = {
            "input": source, "out_path": target, "reducers": 0, "work_dir": tmp_path, "log_path": tmp_path / "log",
        }
        spec = MapSpec(FilterCommand(argv, env, cwd, memory), **fields | options)  # type: ignore[arg-type]
        result = native.map_task(spec, progress)  # type: ignore[arg-type]
        return result, target.read_bytes() if target.exists() else b""

    return run
