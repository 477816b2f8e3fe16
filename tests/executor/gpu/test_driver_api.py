"""The driver's interface by ctypes: a library of the test's stands in, whose n-th call fails, and counts what is held."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import pytest

from heterodoop.errors import DeviceError
from heterodoop.executor.gpu import device
from heterodoop.executor.gpu.driver_api import DriverApi, Error
from heterodoop.executor.gpu.gpus import Gpu, OpenedGpu, Survey

SOURCE = """
#include <stddef.h>
#include <string.h>
int calls, fails, status = 2, held, pushed;
#define CALL if (++calls == fails) return status
int cuInit(unsigned flags) { CALL; return flags; }
int cuDriverGetVersion(int *version) { CALL; *version = 12040; return 0; }
int cuDeviceGetCount(int *count) { CALL; *count = 2; return 0; }
int cuDeviceGet(int *device, int number) { CALL; *device = number + 100; return 0; }
int cuDeviceGetName(char *to, int size, int device) { CALL; strncpy(to, device == 100 ? "A" : "B", size); return 0; }
int cuDeviceGetPCIBusId(char *to, int size, int device) { CALL; strncpy(to, "0000:0a:00.0", size); return device < 100; }
int cuDeviceGetAttribute(int *value, int which, int device) { CALL; *value = which == 75 ? 9 : device - 100; return 0; }
int cuDeviceTotalMem_v2(size_t *size, int device) { CALL; *size = 80ul << 30; return device < 100; }
int cuDevicePrimaryCtxRetain(void **context, int device)
{
    CALL;
    held++;
    *context = (void *)0x123456789abcul;
    return device < 100;
}
int cuDevicePrimaryCtxRelease_v2(int device) { held--; CALL; return device < 100; }
int cuCtxPushCurrent_v2(void *context) { CALL; pushed++; return context != (void *)0x123456789abcul; }
int cuCtxPopCurrent_v2(void **context) { pushed--; CALL; *context = 0; return 0; }
int cuMemGetInfo_v2(size_t *free, size_t *total) { CALL; *free = 70ul << 30; *total = 80ul << 30; return !pushed; }
int cuGetErrorString(int status, const char **text)
{
    *text = status == 2 ? "out of memory" : status == 100 ? "no CUDA-capable device is detected" : NULL;
    return *text == NULL;
}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("driver")
    (folder / "driver.c").write_text(SOURCE)
    subprocess.run(["gcc", "-shared", "-fPIC", folder / "driver.c", "-o", folder / "libcuda.so"], check=True)
    return folder / "libcuda.so"


def value(library: Path, name: str, new: int | None = None) -> int:
    number = ctypes.c_int.in_dll(ctypes.CDLL(str(library)), name)
    if new is not None:
        number.value = new
    return number.value


@pytest.fixture
def driver(library: Path) -> DriverApi:
    for name, new in {"calls": 0, "fails": 0, "status": 2, "held": 0, "pushed": 0}.items():
        value(library, name, new)
    return DriverApi(str(library))


def use(driver: DriverApi) -> OpenedGpu:
    with device.open_gpu(1, driver) as opened:
        return opened


def test_the_gpus_that_the_driver_names(driver: DriverApi, tmp_path: Path) -> None:
    (tmp_path / "0000:0a:00.0").mkdir()
    (tmp_path / "0000:0a:00.0" / "information").write_text("GPU UUID: \t GPU-12ab\n")
    size, uuid = 80 << 30, "GPU-12ab"
    gpus = Gpu(0, "A", "sm_90", size, uuid), Gpu(1, "B", "sm_91", size, uuid)
    assert device.survey(driver, tmp_path) == Survey((12, 4), gpus)


def test_no_gpu_is_not_an_error(driver: DriverApi, library: Path) -> None:
    value(library, "fails", 1), value(library, "status", 100)
    assert device.survey(driver) == Survey((12, 4), ())


def test_a_gpu_is_held_and_given_back(driver: DriverApi, library: Path) -> None:
    with device.open_gpu(0, driver) as opened:
        assert opened == OpenedGpu(70 << 30, 80 << 30)
        assert (value(library, "held"), value(library, "pushed")) == (1, 1)
    assert (value(library, "held"), value(library, "pushed")) == (0, 0)


@pytest.mark.parametrize("work", [device.survey, use])
def test_every_call_that_fails_is_told_and_nothing_stays_held(work, driver: DriverApi, library: Path) -> None:
    work(driver)
    for number in range(1, value(library, "calls") + 1):
        value(library, "calls", 0), value(library, "fails", number)
        with pytest.raises(DeviceError, match=r": cu\w+ failed: out of memory$"):
            work(driver)
        assert (value(library, "held"), value(library, "pushed")) == (0, 0), number


def test_a_status_without_words(driver: DriverApi, library: Path) -> None:
    value(library, "fails", 1), value(library, "status", 77)
    with pytest.raises(Error, match="cuInit failed: status 77"):
        driver.init()


def test_without_a_driver(tmp_path: Path) -> None:
    with pytest.raises(OSError):
        DriverApi(str(tmp_path / "libcuda.so.1"))
