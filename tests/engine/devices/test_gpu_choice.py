"""Which GPUs a job uses: a driver of the test's stands in for CUDA's, in real worker processes. No kernel runs on them."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from heterodoop import manifest
from heterodoop.compiler import compile as compiling
from heterodoop.engine.devices import devices
from heterodoop.errors import ToolError, UsageError
from heterodoop.executor.gpu import gpus
from heterodoop.executor.task import cpu_task

from ...support import ROOT, cli_here
from ..conftest import parts
from ..worker_jobs import DRIVER, HIDDEN, Run, children, codes, ran_on

IS_COMPILED = devices.is_compiled
pytestmark = pytest.mark.usefixtures("kernel_cache")


def test_cuda_without_a_gpu(device_job: Run, monkeypatch) -> None:
    monkeypatch.setattr(gpus, "NODES", ())
    with pytest.raises(ToolError, match="this machine has no GPU") as caught:
        device_job(device="cuda")
    assert caught.value.code == "HD517"
    with pytest.raises(UsageError, match="--gpus none leaves no GPU for --device cuda"):
        device_job(device="cuda", gpus="none")


def test_auto_without_a_gpu_says_nothing(device_job: Run, expected, monkeypatch, started) -> None:
    monkeypatch.setattr(gpus, "NODES", ())
    result = device_job(device="auto")
    assert parts(result.output) == expected and result.warnings == () and started == []


@pytest.fixture
def fake_gpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two GPUs of two architectures for worker processes, which no library can drive; kernels for one of them."""
    (tmp_path / "modules" / "pycuda").mkdir(parents=True)
    (tmp_path / "modules" / "pycuda" / "__init__.py").touch()
    (tmp_path / "modules" / "pycuda" / "driver.py").write_text(DRIVER)
    (tmp_path / "modules" / "sitecustomize.py").write_text(HIDDEN)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "modules"))
    monkeypatch.setattr(gpus, "NODES", (str(tmp_path),))
    module = tmp_path / "libhd_cuda.so"
    code = devices.device_code
    monkeypatch.setattr(devices, "is_compiled", lambda found: True)
    monkeypatch.setattr(
        devices.cuda, "device_code", lambda b, found, arch: code(b, found, print) if arch == "sm_90" else None)
    monkeypatch.setattr(devices.cuda, "device_library", lambda archs: (module, dict.fromkeys(archs, module)))


@pytest.fixture
def patient_cpu(started, monkeypatch: pytest.MonkeyPatch) -> None:
    """The CPU's tasks, as filters, last until the worker has ended, by itself."""
    on_cpu = cpu_task.run_map

    def waits(*arguments: object) -> object:
        end = time.monotonic() + 60
        while not started or "cannot be killed" in started[0].how_it_ended():
            assert time.monotonic() < end
            time.sleep(0.01)
        return on_cpu(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(cpu_task, "run_map", waits)


def test_a_gpu_that_cannot_be_driven_is_left_out(device_job: Run, expected, fake_gpus, started, patient_cpu) -> None:
    result = device_job(device="auto", filters=True)
    assert parts(result.output) == expected and ran_on(result) == {"cpu": 5} and len(started) == 1
    assert codes(result)[:2] == ["HD417", "HD417"]
    assert result.warnings[0].message == "GPU 1 (Fake 1) is left out: the bundle has no kernels for sm_91"
    assert result.warnings[1].message.startswith("GPU 0 (Fake 0) is left out: the cuda device cannot be opened")


@pytest.mark.parametrize(("name", "value", "why"), [
    ("FAKE_FREE", "1000000", "GPU 0 (Fake 0) is left out: GPU 0 is left out: 0 of 81920 MiB of its memory are free"),
    ("FAKE_DRIVER", "11080", "no GPU is used: no GPU can be used: the driver is of CUDA 11.8, 12.0 or newer is needed"),
    ("CUDA_VISIBLE_DEVICES", "", "no GPU is used: the CUDA driver names no GPU with CUDA_VISIBLE_DEVICES=''"),
])
def test_gpus_that_cannot_be_used_are_named_once(
    device_job: Run, expected, fake_gpus, patient_cpu, monkeypatch, name: str, value: str, why: str,
) -> None:
    monkeypatch.setenv(name, value)
    result = device_job(device="auto", filters=True)
    assert parts(result.output) == expected and ran_on(result) == {"cpu": 5}
    assert sum(warning.message.startswith(why) for warning in result.warnings) == 1


def test_auto_says_nothing_of_a_bundle_whose_kernels_are_not_compiled(
    device_job: Run, expected, fake_gpus, started, monkeypatch,
) -> None:
    monkeypatch.setattr(devices, "is_compiled", IS_COMPILED)
    result = device_job(device="auto")
    assert parts(result.output) == expected and result.warnings == () and started == []


def test_a_gpu_that_is_not_there(device_job: Run, fake_gpus) -> None:
    with pytest.raises(UsageError, match="--gpus 2: the CUDA driver names number 0 to 1"):
        device_job(device="auto", gpus="2")
    assert not children()


def test_only_gpus_without_kernels(device_job: Run, expected, fake_gpus) -> None:
    result = device_job(device="cuda", gpus="1")
    assert parts(result.output) == expected and codes(result) == ["HD417"] and not children()


def test_auto_starts_nothing_where_no_gpu_may_be_used(device_job: Run, expected, fake_gpus, started) -> None:
    result = device_job(device="auto", gpus="none")
    assert parts(result.output) == expected and result.warnings == () and started == []


def test_cuda_asked_for_by_name_must_be_there(device_job: Run, fake_gpus, monkeypatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    with pytest.raises(ToolError, match="the CUDA driver names no GPU with CUDA_VISIBLE_DEVICES=''") as caught:
        device_job(device="cuda")
    assert caught.value.code == "HD517" and not children()


@pytest.fixture
def archs(wordcount: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """What apps were compiled for; a kernel for a GPU is beyond this compiler."""
    found = []

    def compile_to_bundle(options, output):
        found.append(options.gpu.arch)
        if options.gpu.arch != ("none",):
            raise ToolError("nvcc is of CUDA 11.8", code="HD514")
        return wordcount, compiling.CompileResult(manifest.load(wordcount), (), [])

    monkeypatch.setattr(compiling, "compile_to_bundle", compile_to_bundle)
    return found


@pytest.mark.parametrize(("options", "wanted"), [
    ([], [(), ("none",)]), (["--cpu-only"], [("none",)]), (["--gpus", "none"], [("none",)]),
    (["--device", "emulated"], [("none",)]), (["--policy", "cpu-only"], [("none",)]),
])
def test_an_app_is_compiled_for_the_gpus_that_the_job_may_use(
    archs, fake_gpus, sample, tmp_path, options: list[str], wanted: list[tuple[str, ...]],
) -> None:
    done = cli_here("run", ROOT / "apps" / "wordcount", sample, "-o", tmp_path / "out", *options)
    assert archs == wanted
    assert ("warning[HD514]: no kernels for GPUs: nvcc is of CUDA 11.8" in done.message) == (len(wanted) == 2)


def test_an_app_on_a_machine_without_a_gpu_needs_no_nvcc(archs, sample, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(gpus, "NODES", ())
    cli_here("run", ROOT / "apps" / "wordcount", sample, "-o", tmp_path / "out")
    assert archs == [("none",)]


def test_an_app_whose_job_insists_on_a_gpu_needs_nvcc(archs, fake_gpus, sample, tmp_path) -> None:
    job = "run", ROOT / "apps" / "wordcount", sample, "-o", tmp_path / "out", "--device", "cuda"
    assert "error[HD514]: nvcc is of CUDA 11.8" in cli_here(*job, status=5).message and archs == [()]
