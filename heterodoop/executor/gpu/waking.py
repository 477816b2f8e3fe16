"""Waking the driver and a GPU in a thread, as early as a process can: both take a tenth of a second and more.

The process holds the GPU's primary context from then on, so that `device` finds the driver awake and the context made
(docs/decisions/0010). What goes wrong here is not told: `device` meets it again, and says what it is.
"""

from __future__ import annotations

import ctypes
from threading import Thread
from typing import Any

LIBRARY = "libcuda.so.1"


class Waking(Thread):
    """`number`: the GPU whose context is made, as the driver counts them; None: only the driver wakes."""

    def __init__(self, number: int | None) -> None:
        super().__init__(name="heterodoop-waking", daemon=True)
        self.number = number
        self._driver: Any = None
        self._device: ctypes.c_int | None = None  # whose context is held

    def run(self) -> None:
        try:
            self._driver = ctypes.CDLL(LIBRARY)
        except OSError:
            return
        device, context = ctypes.c_int(), ctypes.c_void_p()
        if self._driver.cuInit(0) or self.number is None or self._driver.cuDeviceGet(ctypes.byref(device), self.number):
            return
        if not self._driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device):
            self._device = device

    def keep(self, number: int) -> None:
        """The GPU that is used after all; another one goes back to sleep. Waits for the end of waking."""
        self.join()
        if number != self.number and self._device is not None:
            self._driver.cuDevicePrimaryCtxRelease_v2(self._device)
            self._device = None
