"""The driver's copy of jobs' files: kept by the SHA-256 of their bytes, in folders that look as a task's working folder.

A file is taken only when its bytes have the hash that was named, and lies read-only under it. A job's folder is made new,
of hard links and from names that were checked first, so nothing in it leads out of it. Not here: asking a task for files.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from ..errors import UsageError

_SHA256 = re.compile(r"[0-9a-f]{64}")
_MODES = {"x": 0o555, "-": 0o444}
_NAME_BYTES, _PATH_BYTES = 255, 2048


class JobFile(NamedTuple):
    """A file of a task's working folder: relative name, SHA-256 in hex, size in bytes, mode "x" (a program) or "-"."""

    name: str
    sha256: str
    size: int
    mode: str

    @classmethod
    def parse(cls, field: bytes) -> JobFile:
        """`name NUL sha256 NUL size NUL mode`. Raises UsageError HD616: it is not that, or the name leads elsewhere."""
        parts = field.split(b"\0")
        if len(parts) != 4:
            raise _bad("an entry is not name, hash, size and mode")
        name, sha256, size, mode = (os.fsdecode(part) for part in parts)
        if why := _bad_name(name):
            raise _bad(f"the name {name!r} {why}")
        if not _SHA256.fullmatch(sha256) or mode not in _MODES or not re.fullmatch("[0-9]{1,18}", size):
            raise _bad(f"{name!r} has no proper hash, size or mode")
        return cls(name, sha256, int(size), mode)


def parse_files(fields: Iterable[bytes]) -> tuple[JobFile, ...]:
    """All files of a job, by name. Raises UsageError HD616: as `JobFile.parse`, or two of them cannot both be."""
    files = sorted(JobFile.parse(field) for field in fields)
    names = {file.name for file in files}
    if len(names) < len(files):
        raise _bad("a name stands twice")
    for name in names:
        parts = name.split("/")
        if any("/".join(parts[:n]) in names for n in range(1, len(parts))):
            raise _bad(f"{name!r} lies below another file")
    return tuple(files)


def bundle_hash(files: Iterable[JobFile], name: str) -> str:
    """The identity of the bundle of this name among the files: SHA-256 over the sorted lines "path NUL hash NUL mode"."""
    prefix = f"{name}/"
    rows = sorted(
        os.fsencode(file.name[len(prefix):]) + f"\0{file.sha256}\0{file.mode}\n".encode()
        for file in files if file.name.startswith(prefix)
    )
    return hashlib.sha256(b"".join(rows)).hexdigest()


def _bad_name(name: str) -> str:
    parts = name.split("/")
    if name.startswith("/"):
        return "is absolute"
    if any(part in ("", ".", "..") for part in parts):
        return "has a part that is empty, . or .."
    if len(os.fsencode(name)) > _PATH_BYTES or any(len(os.fsencode(part)) > _NAME_BYTES for part in parts):
        return "is too long"
    return ""


def _bad(what: str) -> UsageError:
    return UsageError(f"the job's files: {what}", code="HD616")


class Store:
    """Files by hash, at most `limit` bytes of them; those unused for longest go first. Any thread may use it."""

    def __init__(self, folder: Path, limit: int) -> None:
        self._folder = folder
        self._limit = limit
        self._lock = Lock()
        self._used: dict[str, int] = {}  # name in the folder -> size; the latest used last
        self._count = 0
        folder.mkdir(0o700, parents=True, exist_ok=True)

    @property
    def used(self) -> int:
        """Bytes of all files."""
        return sum(self._used.values())

    def missing(self, files: Iterable[JobFile]) -> list[JobFile]:
        """Those whose bytes are not here, one of each hash and mode."""
        with self._lock:
            lacking = {_key(file): file for file in files if _key(file) not in self._used}
        return [lacking[key] for key in sorted(lacking)]

    def take(self, file: JobFile, pieces: Iterable[bytes]) -> None:
        """Keep a file's bytes. Raises UsageError HD616: they are not those of its hash; OSError; what `pieces` raises."""
        with self._lock:
            self._count += 1
            partial = self._folder / f".{self._count}"
        try:
            digest, size = hashlib.sha256(), 0
            with open(partial, "xb", opener=_private) as out:
                for piece in pieces:
                    digest.update(piece)
                    size += len(piece)
                    out.write(piece)
                os.fchmod(out.fileno(), _MODES[file.mode])
            if digest.hexdigest() != file.sha256 or size != file.size:
                raise _bad(f"what came for {file.name!r} is not the file that was named")
            with self._lock:
                os.replace(partial, self._folder / _key(file))
                self._used[_key(file)] = size
                self._make_room(_key(file))
        finally:
            partial.unlink(missing_ok=True)

    def link(self, file: JobFile, target: Path) -> None:
        """Make `target` this file. Raises FileNotFoundError: it is not here any more."""
        with self._lock:
            size = self._used.pop(_key(file), None)
            if size is None:
                raise FileNotFoundError(file.name)
            self._used[_key(file)] = size
            os.link(self._folder / _key(file), target)

    def _make_room(self, keep: str) -> None:
        for key in list(self._used):
            if sum(self._used.values()) <= self._limit:
                return
            if key != keep:
                del self._used[key]
                (self._folder / key).unlink(missing_ok=True)  # folders that link to it keep it


def _key(file: JobFile) -> str:
    return f"{file.sha256}{file.mode}"


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)


class Folders:
    """Working folders made of stored files, one for all tasks that have the same ones."""

    def __init__(self, store: Store, folder: Path) -> None:
        self._store = store
        self._folder = folder
        self._ready: dict[str, Path] = {}
        self._count = 0
        self._lock = Lock()
        folder.mkdir(0o700, parents=True, exist_ok=True)

    def find(self, files: Sequence[JobFile]) -> Path | None:
        """The folder with these files, if there is one already."""
        return self._ready.get(_identity(files))

    def make(self, files: Sequence[JobFile], fetch: Callable[[list[JobFile]], None]) -> Path:
        """The folder with these files; `fetch` stores those that are missing. Raises what it raises, OSError."""
        identity = _identity(files)
        for _ in range(3):  # another job's files may push ours out between fetch and link
            if found := self._ready.get(identity):
                return found
            if lacking := self._store.missing(files):
                fetch(lacking)
            try:
                return self._build(identity, files)
            except FileNotFoundError:
                continue
        raise OSError("the job's files are larger than the driver's store")

    def _build(self, identity: str, files: Sequence[JobFile]) -> Path:
        with self._lock:
            self._count += 1
            folder = self._folder / str(self._count)
        folder.mkdir(0o700)
        try:
            for file in files:
                target = folder / file.name
                target.parent.mkdir(0o700, parents=True, exist_ok=True)
                self._store.link(file, target)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        with self._lock:
            kept = self._ready.setdefault(identity, folder)
        if kept != folder:
            shutil.rmtree(folder, ignore_errors=True)
        return kept

    def forget(self, folder: Path) -> None:
        """Remove a folder that no task uses any more."""
        with self._lock:
            self._ready = {identity: path for identity, path in self._ready.items() if path != folder}
        shutil.rmtree(folder, ignore_errors=True)


def _identity(files: Sequence[JobFile]) -> str:
    rows = [os.fsencode(f.name) + f"\0{f.sha256}\0{f.mode}".encode() for f in files]
    return hashlib.sha256(b"\0\0".join(rows)).hexdigest()
