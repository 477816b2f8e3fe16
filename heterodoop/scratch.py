"""Temporary folders that do not outlive their command for long: what a killed one left, the next one removes.

Each is held by a lock on the folder itself, which ends with its process. Only folders of ours with the form of such a name
are looked at: PREFIX, eight letters, SUFFIX. Among the system's temporary files all have one prefix, so that any command
removes what any other one left.
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

from . import interrupts, last_resort, private

SUFFIX = ".hd-tmp"
PREFIX = "heterodoop-"  # of all folders among the system's temporary files
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextlib.contextmanager
def folder(prefix: str, parent: Path | None = None) -> Iterator[Path]:
    """A new folder below `parent`, gone at the end. Raises OSError.

    parent  None: the system's folder for temporary files, and PREFIX goes before the name. Raises UsageError HD667: others
            could put another one into its place.
    """
    shared = "" if parent else PREFIX
    root = parent or Path(tempfile.gettempdir())
    sweep(shared or prefix, root, "[a-z-]*" if shared else "")
    with contextlib.ExitStack() as stack:
        with interrupts.held():
            path, lock = _make(shared + prefix, root)
            stack.callback(os.close, lock)
            stack.enter_context(last_resort.owing(lambda: shutil.rmtree(path, ignore_errors=True)))
        if shared:
            private.check(path, "a job's programs (TMPDIR)")
        yield path


def sweep(prefix: str, root: Path, more: str = "") -> None:
    """Remove folders of commands that are gone. `more`: a pattern of what stands behind the prefix."""
    name = re.compile(re.escape(prefix) + more + "[a-z0-9_]{8}" + re.escape(SUFFIX))
    with contextlib.suppress(OSError), os.scandir(root) as entries:
        for entry in entries:
            if entry.name.startswith(prefix) and name.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                _remove(Path(entry.path))


def into_place(made: Path, target: Path) -> None:
    """Rename a file that is complete, first to the disk: after a power cut `target` is the old one or the new.

    Raises OSError.
    """
    with open(made, "rb") as file:
        os.fsync(file)
    made.replace(target)


def write(path: Path, text: str) -> None:
    """A small file, as it was or with all of `text`, in a folder that is made, for its owner alone, where it is missing.

    Raises OSError.
    """
    path.parent.mkdir(mode=0o700, exist_ok=True)
    with folder(".making-", path.parent) as making:
        (making / path.name).write_text(text, encoding="utf-8")
        into_place(making / path.name, path)


def _make(prefix: str, root: Path) -> tuple[Path, int]:
    while True:
        path = Path(tempfile.mkdtemp(prefix=prefix, suffix=SUFFIX, dir=root))
        with contextlib.suppress(FileNotFoundError):  # somebody swept it before it was locked: again
            lock = os.open(path, _FOLDER)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if os.path.isdir(path):
                return path, lock
            os.close(lock)


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        lock = os.open(path, _FOLDER)
        try:
            if os.fstat(lock).st_uid == os.geteuid():
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path, ignore_errors=True)
        finally:
            os.close(lock)
