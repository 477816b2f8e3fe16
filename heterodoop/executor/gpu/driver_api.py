"""The CUDA driver's own interface, by ctypes, in the words of `pycuda.driver`: as much of it as holding a context needs.

For machines without PyCUDA, which is built from source with a CUDA toolkit; nothing is built here, and no numpy is loaded.
Not here: what is done with it (`device`), waking a GPU early (`waking`).
"""

from __future__ import annotations

import ctypes
from typing import Any

from .waking import LIBRARY

_MAJOR, _MINOR = 75, 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, _MINOR
_TEXT = 256


class Error(Exception):
    """A call of the driver that failed: which, and the driver's words for its status."""


class DriverApi:
    """Stands where the module `pycuda.driver` does. Raises OSError where the driver's library does not load."""

    Error = Error

    def __init__(self, library: str = LIBRARY) -> None:
        self._library = ctypes.CDLL(library)

    def call(self, name: str, *arguments: Any) -> None:
        """Raises Error unless it succeeds."""
        status = self._library[name](*arguments)
        if status:
            text = ctypes.c_char_p()
            unknown = self._library["cuGetErrorString"](status, ctypes.byref(text)) or text.value is None
            raise Error(f"{name} failed: {f'status {status}' if unknown else (text.value or b'').decode(errors='replace')}")

    def init(self) -> None:
        self.call("cuInit", 0)

    def get_driver_version(self) -> int:
        return self._number("cuDriverGetVersion")

    def mem_get_info(self) -> tuple[int, int]:
        """Free and all bytes of the GPU whose context is current."""
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        self.call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        return free.value, total.value

    @property
    def Device(self) -> _Devices:
        return _Devices(self)

    def _number(self, name: str) -> int:
        number = ctypes.c_int()
        self.call(name, ctypes.byref(number))
        return number.value


class _Devices:
    """`driver.Device`: called with a number it gives that GPU."""

    def __init__(self, driver: DriverApi) -> None:
        self._driver = driver

    def __call__(self, number: int) -> _Device:
        device = ctypes.c_int()
        self._driver.call("cuDeviceGet", ctypes.byref(device), number)
        return _Device(self._driver, device)

    def count(self) -> int:
        return self._driver._number("cuDeviceGetCount")


class _Device:
    def __init__(self, driver: DriverApi, device: ctypes.c_int) -> None:
        self._driver, self._device = driver, device

    def name(self) -> str:
        return self._text("cuDeviceGetName")

    def pci_bus_id(self) -> str:
        return self._text("cuDeviceGetPCIBusId")

    def compute_capability(self) -> tuple[int, int]:
        return self._attribute(_MAJOR), self._attribute(_MINOR)

    def total_memory(self) -> int:
        size = ctypes.c_size_t()
        self._driver.call("cuDeviceTotalMem_v2", ctypes.byref(size), self._device)
        return size.value

    def retain_primary_context(self) -> _Context:
        context = ctypes.c_void_p()
        self._driver.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), self._device)
        return _Context(self._driver, self._device, context)

    def _text(self, name: str) -> str:
        text = ctypes.create_string_buffer(_TEXT)
        self._driver.call(name, text, _TEXT, self._device)
        return text.value.decode(errors="replace")

    def _attribute(self, which: int) -> int:
        value = ctypes.c_int()
        self._driver.call("cuDeviceGetAttribute", ctypes.byref(value), which, self._device)
        return value.value


class _Context:
    """A primary context that is held until `detach`."""

    def __init__(self, driver: DriverApi, device: ctypes.c_int, context: ctypes.c_void_p) -> None:
        self._driver, self._device, self._context = driver, device, context

    def push(self) -> None:
        self._driver.call("cuCtxPushCurrent_v2", self._context)

    def pop(self) -> None:
        self._driver.call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))

    def detach(self) -> None:
        self._driver.call("cuDevicePrimaryCtxRelease_v2", self._device)
