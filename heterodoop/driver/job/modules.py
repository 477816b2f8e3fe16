"""Kernels' modules of jobs that do not send their files: kept under the hash of their bytes.

A worker loads a module once for its path and keeps it, while a bundle may be compiled anew at the same place; and one of an
app that `heterodoop run` compiled is gone after the job. Not here: files of Hadoop's jobs (files.py).
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace
from pathlib import Path
from threading import Lock

from ...executor.kernel.gpu_task import KernelCall
from ...scratch import into_place


class Modules:
    """In a folder of the driver's own. Any thread may use it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = Lock()

    def kept(self, call: KernelCall) -> KernelCall:
        """The call with a module whose bytes stay what they are. Raises OSError: it cannot be read, or kept."""
        data = call.code.module.read_bytes()
        path = self._folder / f"{hashlib.sha256(data).hexdigest()}{call.code.module.suffix}"
        with self._lock:
            if not path.exists():
                partial = path.with_name(f".{path.name}")
                partial.write_bytes(data)
                os.chmod(partial, 0o500)
                into_place(partial, path)
        return replace(call, code=replace(call.code, module=path))
