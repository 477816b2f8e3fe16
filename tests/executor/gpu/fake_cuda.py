"""A stand-in for `pycuda.driver`: GPUs made of numbers, whose n-th call fails if a test wants it. Not a test module.

It keeps the rules whose breach ends a real process: a context that is pushed is popped, one that is retained is released.
"""

from __future__ import annotations

from dataclasses import dataclass, field


class Error(Exception):
    """As pycuda's, of which all its others are subclasses."""


class MemoryError(Error):
    """As pycuda's: not Python's own."""


@dataclass
class FakeDriver:
    """`fails`: number of the call, from 1, that raises; 0 = none. `gpus`: (name, capability, free bytes)."""

    fails: int = 0
    gpus: tuple[tuple[str, tuple[int, int], int], ...] = (("A", (9, 0), 70 << 30), ("B", (8, 6), 1 << 20))
    version: int = 12040
    error: Exception = field(default_factory=lambda: MemoryError("call failed: out of memory"))
    calls: list[str] = field(default_factory=list)
    retained: int = 0
    stack: list[int] = field(default_factory=list)
    Error = Error

    def call(self, name: str) -> None:
        self.calls.append(name)
        if len(self.calls) == self.fails:
            raise self.error

    def init(self) -> None:
        self.call("init")

    def get_driver_version(self) -> int:
        self.call("get_driver_version")
        return self.version

    def mem_get_info(self) -> tuple[int, int]:
        self.call("mem_get_info")
        return self.gpus[self.stack[-1]][2], 80 << 30

    @property
    def Device(self) -> type[FakeDevice]:
        driver = self

        class Device(FakeDevice):
            def __init__(self, number: int) -> None:
                driver.call("Device")
                super().__init__(driver, number)

            @staticmethod
            def count() -> int:
                driver.call("count")
                return len(driver.gpus)

        return Device


class FakeDevice:
    def __init__(self, driver: FakeDriver, number: int) -> None:
        self._driver = driver
        self._number = number

    def name(self) -> str:
        self._driver.call("name")
        return self._driver.gpus[self._number][0]

    def compute_capability(self) -> tuple[int, int]:
        self._driver.call("compute_capability")
        return self._driver.gpus[self._number][1]

    def total_memory(self) -> int:
        self._driver.call("total_memory")
        return 80 << 30

    def pci_bus_id(self) -> str:
        self._driver.call("pci_bus_id")
        return f"0000:0{self._number}:00.0"

    def retain_primary_context(self) -> FakeContext:
        self._driver.call("retain_primary_context")
        self._driver.retained += 1
        return FakeContext(self._driver, self._number)


class FakeContext:
    def __init__(self, driver: FakeDriver, number: int) -> None:
        self._driver = driver
        self._number = number

    def push(self) -> None:
        self._driver.call("push")
        self._driver.stack.append(self._number)

    def pop(self) -> None:
        self._driver.stack.pop()
        self._driver.call("pop")

    def detach(self) -> None:
        self._driver.retained -= 1
        self._driver.call("detach")
