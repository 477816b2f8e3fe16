"""Temporary folders that do not outlive their command for long: what a killed one left, the next one removes.

Each is held by a lock on the folder itself, which ends with its process. Only folders of ours with the form of such a name
are looked at: PREFIX, eight letters, SUFFIX.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from . import last_resort

SUFFIX = ".hd-tmp"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextlib.contextmanager
def folder(prefix: str, parent: Path | None = None) -> Iterator[Path]:
    """A new folder below `parent` (default: the system's for temporary files), gone at the end. Raises OSError."""
    root = parent or Path(tempfile.gettempdir())
    sweep(prefix, root)
    path, lock = _make(prefix, root)
    try:
        with last_resort.cleaning(lambda: shutil.rmtree(path, ignore_errors=True)):
            yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(lock)


def sweep(prefix: str, root: Path) -> None:
    """Remove folders of commands that are gone."""
    name = re.compile(re.escape(prefix) + "[a-z0-9_]{8}" + re.escape(SUFFIX))
    with contextlib.suppress(OSError), os.scandir(root) as entries:
        for entry in entries:
            if name.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                _remove(Path(entry.path))


def _make(prefix: str, root: Path) -> tuple[Path, int]:
    while True:
        path = Path(tempfile.mkdtemp(prefix=prefix, suffix=SUFFIX, dir=root))
        lock = os.open(path, _FOLDER)
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.isdir(path):
            return path, lock
        os.close(lock)  # somebody swept it before it was locked


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        lock = os.open(path, _FOLDER)
        try:
            if os.fstat(lock).st_uid == os.geteuid():
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path, ignore_errors=True)
        finally:
            os.close(lock)
