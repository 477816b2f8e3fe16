"""Temporary files of tests in memory, where the machine has enough of it.

On a disk, making and removing so many small files takes a sixth of the processor time, and as long again for waiting.

    python -m tests.in_memory PYTEST ARGUMENTS

Not a test module.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from heterodoop import scratch

MEMORY = Path("/dev/shm")
NEEDED = 3 << 30  # bytes; what is there at once in the whole run, with room
BESIDE = 4 << 30  # bytes of memory for the processes
# Folders of tests that passed are removed at once.
KEPT = "-o tmp_path_retention_policy=failed"


def why_not(folder: Path = MEMORY) -> str:
    """What speaks against temporary files there, "" if nothing does."""
    if not os.path.ismount(folder) or not os.access(folder, os.W_OK | os.X_OK):
        return f"{folder} is no file system in memory that can be written"
    status = os.statvfs(folder)
    if status.f_flag & os.ST_NOEXEC:
        return f"nothing in {folder} can be executed"
    if status.f_bavail * status.f_frsize < NEEDED:
        return f"{folder} has less than {NEEDED >> 20} MiB"
    if _available() < NEEDED + BESIDE:
        return f"less than {(NEEDED + BESIDE) >> 20} MiB of memory are free"
    return ""


def _available() -> int:
    """Bytes, as the kernel estimates them."""
    found = re.search(r"^MemAvailable: +(\d+) kB$", Path("/proc/meminfo").read_text(), re.MULTILINE)
    return int(found[1]) << 10 if found else 0


@contextmanager
def temporary_files() -> Iterator[None]:
    """TMPDIR in memory, for this process and those it starts; gone at the end. Where the user has set it, it stays."""
    why = "TMPDIR is set" if "TMPDIR" in os.environ else why_not()
    if why:
        print(f"temporary files of tests are not in memory: {why}", flush=True)
        yield
        return
    with scratch.folder("heterodoop-tests-", MEMORY) as folder:
        given = os.environ.get("PYTEST_ADDOPTS", "")
        os.environ.update(TMPDIR=str(folder), PYTEST_ADDOPTS=f"{given} {KEPT}".strip())
        try:
            yield
        finally:
            del os.environ["TMPDIR"], os.environ["PYTEST_ADDOPTS"]


if __name__ == "__main__":
    with temporary_files():
        status = pytest.main(sys.argv[1:])
    sys.exit(status)
