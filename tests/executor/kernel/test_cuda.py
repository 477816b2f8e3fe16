"""Which compiled kernel runs on which GPU, and what a machine without one is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from heterodoop.errors import ToolError
from heterodoop.executor.kernel import cuda
from heterodoop.manifest import Cubin
from heterodoop.toolchain import nvcc


def cubins(*archs: str) -> list[Cubin]:
    return [Cubin(arch, f"cuda/map.{arch}", "0" * 64, 0, 0) for arch in archs]


@pytest.mark.parametrize(("archs", "gpu", "chosen"), [
    (["sm_80", "sm_86", "sm_90", "compute_80"], "sm_90", "sm_90"),
    (["sm_80", "sm_86", "sm_90", "compute_80"], "sm_89", "sm_86"),
    (["sm_80", "sm_86"], "sm_80", "sm_80"),
    (["sm_86", "compute_80"], "sm_80", "compute_80"),
    (["sm_80", "compute_80", "compute_90"], "sm_120", "compute_90"),
    (["sm_90"], "sm_120", None),
    (["sm_86", "compute_90"], "sm_80", None),
    ([], "sm_90", None),
])
def test_the_kernel_that_a_gpu_can_run(archs: list[str], gpu: str, chosen: str | None) -> None:
    found = cuda.choose(cubins(*archs), gpu)
    assert (found.arch if found else None) == chosen


def test_a_machine_without_nvcc(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(nvcc, "find_nvcc", lambda: None)
    with pytest.raises(ToolError, match="there is no nvcc") as caught:
        cuda.device_library(["sm_90"], tmp_path)
    assert caught.value.code == "HD518"
