"""A GPU through its driver: naming what there is, holding the primary context. Used in a worker process only.

The driver is PyCUDA's where that is installed, else its own interface (`driver_api`), in the same words. Where a job waits
for the GPU it is the own interface first: PyCUDA imports numpy, which takes longer than all else that a GPU needs to begin.

The native library (libhd_cuda) works in the same context by the CUDA runtime; modules, memory and launches are its
business (docs/decisions/0010). The driver module is a parameter, so that tests hand in one whose calls fail. Every failure
is a DeviceError, and after it nothing is left on the context stack: PyCUDA ends a process that leaves something there.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ...errors import DeviceError
from .driver_api import DriverApi
from .gpus import Gpu, OpenedGpu, Survey, too_full

_DRIVER_FILES = Path("/proc/driver/nvidia/gpus")
_LET_GO_SECONDS, _TICK_SECONDS = 0.5, 0.05
_NO_DEVICE = "no CUDA-capable device"  # cuGetErrorString(CUDA_ERROR_NO_DEVICE)


def load_driver(*, waited_for: bool = False) -> Any:
    """The module `pycuda.driver`, or what stands for it. Raises DeviceError HD418: the driver's library does not load.

    waited_for  something waits for the GPU: what loads sooner is used.
    """
    if waited_for:
        with suppress(OSError):
            return DriverApi()
    try:
        from pycuda import driver
    except Exception:  # not installed, or no use here: built for another driver, without numpy
        return _own()
    return driver


def _own() -> DriverApi:
    try:
        return DriverApi()
    except OSError as error:
        raise DeviceError(
            f"the CUDA driver does not load: {error}", code="HD418", help="install the NVIDIA driver",
        ) from None


def survey(driver: Any, files: Path = _DRIVER_FILES) -> Survey:
    """The GPUs that this process may see (CUDA_VISIBLE_DEVICES). No context is made. Raises DeviceError HD413.

    files  where the driver tells each GPU's UUID.
    """
    with _told("the CUDA driver cannot be used"):
        try:
            driver.init()
        except driver.Error as error:
            if _NO_DEVICE in str(error):
                return Survey(_version(driver), ())
            raise
        found = [(number, driver.Device(number)) for number in range(driver.Device.count())]
        return Survey(_version(driver), tuple(_gpu(number, device, files) for number, device in found))


def _gpu(number: int, device: Any, files: Path) -> Gpu:
    major, minor = device.compute_capability()
    return Gpu(number, device.name(), f"sm_{major}{minor}", device.total_memory(), _uuid(device.pci_bus_id(), files))


def _version(driver: Any) -> tuple[int, int]:
    number = driver.get_driver_version()
    return number // 1000, number % 1000 // 10


def _uuid(bus: str, files: Path) -> str:
    try:
        text = (files / bus.lower() / "information").read_text()
    except OSError:
        return ""
    found = re.search(r"^GPU UUID:\s*(\S+)", text, re.MULTILINE)
    return found[1] if found else ""


@contextmanager
def open_gpu(number: int, driver: Any) -> Iterator[OpenedGpu]:
    """The GPU with its primary context current in this thread; given back at the end, whatever happens.

    Raises DeviceError HD413: it cannot be opened, or too little of its memory is free.
    """
    with _told(f"GPU {number} cannot be opened"):
        driver.init()
        context = driver.Device(number).retain_primary_context()
    try:
        with _told(f"GPU {number} cannot be opened"):
            context.push()
        try:
            with _told(f"GPU {number} does not say what memory it has"):
                opened = _memory(driver)
            if why := too_full(opened):
                raise DeviceError(f"GPU {number} is left out: {why}", code="HD413")
            yield opened
        finally:
            with _told(f"GPU {number} cannot be closed"):
                context.pop()
    finally:
        with _told(f"GPU {number} cannot be closed"):
            context.detach()


def _memory(driver: Any) -> OpenedGpu:
    """Its memory. Too little of it may be free for half a second more: a job that has just ended is still letting go."""
    end = time.monotonic() + _LET_GO_SECONDS
    while too_full(opened := OpenedGpu(*driver.mem_get_info())) and time.monotonic() < end:
        time.sleep(_TICK_SECONDS)
    return opened


@contextmanager
def _told(what: str) -> Iterator[None]:
    """The driver's errors (of several classes) as DeviceErrors that say what was tried."""
    try:
        yield
    except DeviceError:
        raise
    except Exception as error:
        raise DeviceError(f"{what}: {error}", code="HD413") from error
