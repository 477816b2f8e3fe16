"""A GPU through PyCUDA, or what stands for it, whose every call fails in turn: a clear error, and nothing left behind."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from heterodoop.errors import DeviceError
from heterodoop.executor.gpu import device
from heterodoop.executor.gpu.gpus import Gpu, OpenedGpu, Survey

from .fake_cuda import Error, FakeDriver

OPENING = ["init", "Device", "retain_primary_context", "push", "mem_get_info"]


def use(driver: FakeDriver) -> OpenedGpu:
    with device.open_gpu(0, driver) as opened:
        assert driver.stack == [0] and driver.retained == 1
    return opened


def test_the_gpus_that_the_driver_names(tmp_path: Path) -> None:
    (tmp_path / "0000:00:00.0").mkdir()
    (tmp_path / "0000:00:00.0" / "information").write_text("Model: A\nGPU UUID: \t GPU-12ab\nBus: x\n")
    found = device.survey(FakeDriver(), tmp_path)
    assert found == Survey((12, 4), (Gpu(0, "A", "sm_90", 80 << 30, "GPU-12ab"), Gpu(1, "B", "sm_86", 80 << 30, "")))


def test_no_gpu_is_not_an_error() -> None:
    hidden = FakeDriver(fails=1, error=Error("cuInit failed: no CUDA-capable device is detected"))
    assert device.survey(hidden) == Survey((12, 4), ())


def test_every_call_that_fails_while_gpus_are_named() -> None:
    whole = FakeDriver()
    device.survey(whole)
    for number in range(1, len(whole.calls) + 1):
        driver = FakeDriver(fails=number)
        with pytest.raises(DeviceError, match="the CUDA driver cannot be used: call failed: out of memory") as caught:
            device.survey(driver)
        assert caught.value.code == "HD413" and len(driver.calls) == number


def test_a_gpu_is_held_and_given_back() -> None:
    driver = FakeDriver()
    assert use(driver) == OpenedGpu(70 << 30, 80 << 30)
    assert driver.calls == [*OPENING, "pop", "detach"] and (driver.stack, driver.retained) == ([], 0)


def test_every_call_that_fails_while_a_gpu_is_opened_or_closed() -> None:
    for number in range(1, len(OPENING) + 3):
        driver = FakeDriver(fails=number)
        with pytest.raises(DeviceError, match="GPU 0 (cannot be|does not say).*: call failed: out of memory") as caught:
            use(driver)
        assert caught.value.code == "HD413" and (driver.stack, driver.retained) == ([], 0), number


def test_an_error_of_another_kind_is_told_too() -> None:
    with pytest.raises(DeviceError, match="GPU 0 cannot be opened: odd"):
        use(FakeDriver(fails=3, error=ValueError("odd")))


def test_a_failure_of_the_work_passes_and_the_context_is_given_back() -> None:
    driver = FakeDriver()
    with pytest.raises(KeyboardInterrupt), device.open_gpu(0, driver):
        raise KeyboardInterrupt
    assert (driver.stack, driver.retained) == ([], 0)


def test_a_gpu_whose_last_job_is_still_letting_go(monkeypatch: pytest.MonkeyPatch) -> None:
    free = iter([1 << 20, 1 << 20, 70 << 30])
    monkeypatch.setattr(FakeDriver, "mem_get_info", lambda driver: (next(free), 80 << 30))
    driver = FakeDriver()
    with device.open_gpu(0, driver) as opened:
        assert opened.free == 70 << 30


def test_a_gpu_that_others_have_filled_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "_LET_GO_SECONDS", 0.01)
    driver = FakeDriver()
    with pytest.raises(DeviceError, match="GPU 1 is left out: 1 of 81920 MiB of its memory are free"), \
            device.open_gpu(1, driver):
        pass
    assert (driver.stack, driver.retained) == ([], 0)


@pytest.fixture(autouse=True)
def no_pycuda_stays() -> Iterator[None]:
    yield
    for name in [name for name in sys.modules if name.split(".")[0] == "pycuda"]:
        del sys.modules[name]


def fake_package(monkeypatch: pytest.MonkeyPatch, folder: Path, text: str) -> None:
    (folder / "pycuda").mkdir()
    (folder / "pycuda" / "__init__.py").touch()
    (folder / "pycuda" / "driver.py").write_text(text)
    monkeypatch.syspath_prepend(str(folder))


def test_the_driver_module_is_pycudas(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake_package(monkeypatch, tmp_path, "answer = 42")
    driver = device.load_driver()
    assert isinstance(driver, ModuleType) and driver.answer == 42


@pytest.mark.parametrize("text", [
    "import no_such_module", "raise ImportError('libcuda.so.1: cannot open')", "raise RuntimeError('another version')", None,
])
def test_without_a_pycuda_that_loads_the_driver_itself_is_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str | None,
) -> None:
    if text is None:
        monkeypatch.setitem(sys.modules, "pycuda", None)
    else:
        fake_package(monkeypatch, tmp_path, text)
    own = object()
    monkeypatch.setattr(device, "DriverApi", lambda: own)
    assert device.load_driver() is own


def test_a_job_that_waits_does_not_wait_for_pycuda(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake_package(monkeypatch, tmp_path, "answer = 42")
    own = object()
    monkeypatch.setattr(device, "DriverApi", lambda: own)
    assert device.load_driver(waited_for=True) is own and "pycuda" not in sys.modules

    def missing() -> None:
        raise OSError("libcuda.so.1: cannot open shared object file")

    monkeypatch.setattr(device, "DriverApi", missing)
    assert device.load_driver(waited_for=True).answer == 42


def test_no_driver_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise OSError("libcuda.so.1: cannot open shared object file")

    monkeypatch.setitem(sys.modules, "pycuda", None)
    monkeypatch.setattr(device, "DriverApi", missing)
    with pytest.raises(DeviceError, match="the CUDA driver does not load: libcuda.so.1: cannot") as caught:
        device.load_driver()
    assert (caught.value.code, caught.value.help) == ("HD418", "install the NVIDIA driver")
