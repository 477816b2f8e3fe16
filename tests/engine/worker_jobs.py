"""Helpers of the tests of jobs on worker processes; their fixtures are in conftest.py. Not a test module."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from heterodoop.engine.run.local import JobResult

from ..support import ROOT

APP = ROOT / "apps" / "wordcount"
SAMPLE = (APP / "sample.txt").read_bytes()[:60_000]
DRIVER = """
import os
class Error(Exception): pass
def init():
    if os.environ.get("CUDA_VISIBLE_DEVICES") == "":
        raise Error("cuInit failed: no CUDA-capable device is detected")
def get_driver_version(): return int(os.environ.get("FAKE_DRIVER", "13000"))
def mem_get_info(): return int(os.environ.get("FAKE_FREE", str(70 << 30))), 80 << 30
class Context:
    def push(self): pass
    def pop(self): pass
    def detach(self): pass
class Device:
    def __init__(self, number): self.number = number
    @staticmethod
    def count(): return 2
    def name(self): return f"Fake {self.number}"
    def compute_capability(self): return (9, self.number)
    def total_memory(self): return 80 << 30
    def pci_bus_id(self): return "0"
    def retain_primary_context(self): return Context()
"""
# Of the worker's Python: on a machine with a GPU its driver must not be found before the one above.
HIDDEN = """
import ctypes
found = ctypes.CDLL
def find(name, *arguments, **more):
    if name == "libcuda.so.1":
        raise OSError(f"{name} is hidden")
    return found(name, *arguments, **more)
ctypes.CDLL = find
"""
Run = Callable[..., JobResult]


def children(of: bytes = b"heterodoop.executor.worker") -> list[int]:
    """This process's children with `of` in their command lines; with b"" those too that ended and nobody waited for."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and f"PPid:\t{os.getpid()}\n" in Path("/proc", entry, "status").read_text():
                if of in Path("/proc", entry, "cmdline").read_bytes():
                    found.append(int(entry))
        except OSError:
            pass
    return found


def codes(result: JobResult) -> list[str]:
    return [warning.code for warning in result.warnings]


def ran_on(result: JobResult) -> dict[str, int]:
    return result.report["device"]["map_tasks"]
