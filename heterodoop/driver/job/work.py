"""The driver's folder for jobs' files, programs and results: its own, marked, locked and held open while it lives.

Programs run from here, and it is emptied at start and end. So nobody else may write to it or put another one into its place
(private.py), nothing is removed that no driver made (the marker), and no two drivers share one (its lock). What a tidier of
old files has removed is made again, empty. Not here: what lies in it (files.py, tasks.py).
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from ...daemon.lock import Lock
from ...errors import UsageError
from ...private import OTHERS_ANYTHING, Held, check, why_unsafe

MARKER = ".heterodoop-driver"
_USE = "the driver's files"


class WorkFolder:
    """Use it as a context. Entering raises UsageError HD667 (not safe, or cannot be made), HD668 (not ours to empty)."""

    def __init__(self, path: Path, parts: Sequence[str]) -> None:
        """parts: folders that are always in it."""
        self.path = path
        self._parts = tuple(parts)
        self._held: dict[str, Held] = {}  # by name of the part; "": the folder itself
        self._marker = -1
        self._lock = threading.Lock()

    def __enter__(self) -> WorkFolder:
        try:
            self._make()
            self._empty()
            self._make_parts()
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None,
    ) -> None:
        with self._lock:
            if self._ours():
                with suppress(OSError):
                    self._empty()
                    self._unmark()
            self._close()

    def ensure(self) -> bool:
        """Look at it before something is run from it. False: something had been removed, and is there again, empty.

        Raises UsageError HD667: something else stands in its place, or others may change it now.
        """
        with self._lock:
            if why := why_unsafe(self.path, OTHERS_ANYTHING) if self.path.exists() else "":
                raise UsageError(f"no place for {_USE}: {why}", code="HD667")
            if self._ours() and all(self._held[name].there for name in self._parts):
                return True
            if not self._ours():
                self._refuse_another(self.path, "")
                self._close()
                self._make()
            for name in self._parts:
                self._refuse_another(self.path / name, name)
            self._make_parts()
            return False

    def _ours(self) -> bool:
        """Whether the folder and its marker are those that were made."""
        return "" in self._held and self._held[""].there and _same(self._marker, self.path / MARKER)

    def _refuse_another(self, path: Path, name: str) -> None:
        held = self._held.get(name)
        if held and not held.there and os.path.lexists(path):
            raise UsageError(f"no place for {_USE}: {path} is not the folder that the driver made", code="HD667")

    def _make(self) -> None:
        """The folder with its marker, locked."""
        try:
            self.path.parent.mkdir(0o700, parents=True, exist_ok=True)
            with suppress(FileExistsError):
                self.path.mkdir(0o700)
            check(self.path, _USE, OTHERS_ANYTHING)
            self._held[""] = Held(self.path)
            self._mark()
        except OSError as error:
            raise UsageError(f"no place for {_USE}: {self.path}: {error.strerror}", code="HD667",
                             help="name another one with --work") from None

    def _mark(self) -> None:
        root = self._held[""].fd
        if MARKER not in (found := os.listdir(root)) and found:
            raise UsageError(f"{self.path} is not empty and no driver made it: it holds {min(found)!r}", code="HD668",
                             help="name another folder with --work, or remove this one")
        self._marker = os.open(MARKER, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=root)
        own = Lock(self._marker)
        if not own.take():
            who = f", process {owner.pid}" if (owner := own.signed()) else ""
            raise UsageError(f"{self.path} is in use by another driver{who}", code="HD668",
                             help="name another folder with --work")
        if not _same(self._marker, self.path / MARKER):  # the one who had it has just removed it
            raise UsageError(f"{self.path} was in use by a driver that is ending", code="HD668", help="try it again")
        own.sign()

    def _make_parts(self) -> None:
        root = self._held[""].fd
        for name in self._parts:
            if name in self._held and self._held[name].there:
                continue
            with suppress(FileExistsError):
                os.mkdir(name, 0o700, dir_fd=root)
            old = self._held.pop(name, None)
            if old:
                old.close()
            self._held[name] = Held(self.path / name)

    def _empty(self) -> None:
        """Remove all but the marker; no link is followed."""
        root = self._held[""].fd
        for entry in os.scandir(root):
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.name, ignore_errors=True, dir_fd=root)
            elif entry.name != MARKER:
                os.unlink(entry.name, dir_fd=root)

    def _unmark(self) -> None:
        """Where something has stayed, the marker stays too: the next driver may remove it."""
        if os.listdir(self._held[""].fd) == [MARKER]:
            os.unlink(self.path / MARKER)
            os.rmdir(self.path)

    def _close(self) -> None:
        for held in self._held.values():
            held.close()
        self._held.clear()
        if self._marker >= 0:
            os.close(self._marker)
        self._marker = -1


def _same(fd: int, path: Path) -> bool:
    try:
        found = os.lstat(path)
    except OSError:
        return False
    own = os.fstat(fd)
    return (found.st_dev, found.st_ino) == (own.st_dev, own.st_ino)
