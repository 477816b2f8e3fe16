"""Folders that nobody needs any more: gone at once, or as soon as they can be.

Where no descriptor or memory is left, a folder can be neither listed nor removed. A driver lives for weeks: what stayed once
would stay as long. The owner of the folders calls `again` from time to time.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from threading import Lock


class Removals:
    """Any thread may use it. No path is used anew."""

    def __init__(self) -> None:
        self._left: set[Path] = set()
        self._lock = Lock()

    def remove(self, path: Path) -> None:
        """No link is followed. What cannot be removed now is tried again later."""
        shutil.rmtree(path, ignore_errors=True)
        if os.path.lexists(path):
            with self._lock:
                self._left.add(path)

    def again(self) -> None:
        with self._lock:
            left, self._left = self._left, set()
        for path in left:
            self.remove(path)
