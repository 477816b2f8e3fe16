"""Fixtures of tests of whole tasks on the emulated device."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from heterodoop.executor.native.runtime import Native, Progress
from heterodoop.resources import find
from heterodoop.toolchain import emulated

from .gpu_programs import Device, Kernel, Modules, compiled
from .gpu_tasks import Run, Written, task, written


@pytest.fixture(scope="session")
def modules(module_cache: Path) -> Modules:
    cache = module_cache / "heterodoop"
    programs = emulated.emulated_module(Path(__file__).parent / "gpu_programs.cu", cache)
    return Modules(programs, emulated.emulated_module(find("runtime", "device", "steps", "kernels.cu"), cache))


@pytest.fixture(scope="session")
def filters() -> dict[str, str]:
    return compiled()


@pytest.fixture(scope="session")
def native() -> Native:
    return Native.load()


@pytest.fixture
def device(native: Native, modules: Modules) -> Iterator[Device]:
    opened = Device(native, modules)
    yield opened
    opened.close()


@pytest.fixture
def on_device(device: Device, filters: dict[str, str], tmp_path: Path) -> Run:
    """A task on the device: `options` of hd_gpu_options; the rest are fields of MapSpec."""

    def run(data: bytes, map: Kernel, combine: Kernel | None = None, options: dict[str, int] | None = None,
            progress: Progress | None = None, fold: bool = True, **fields: Any) -> Written:
        spec = task("gpu", tmp_path, data, filters, map, combine, **fields)
        folding = {"fold": int(fold and combine is not None), "regroup": int(spec.regroup)}
        return written(spec, device.run(spec, map, combine, progress, **folding | (options or {})))

    return run


@pytest.fixture
def on_cpu(native: Native, filters: dict[str, str], tmp_path: Path) -> Run:
    def run(data: bytes, map: Kernel, combine: Kernel | None = None, **fields: Any) -> Written:
        spec = task("cpu", tmp_path, data, filters, map, combine, **fields)
        return written(spec, native.map_task(spec))

    return run
