"""The driver's copy of jobs' files: kept by the SHA-256 of their bytes, in folders that look as a task's working folder.

A file is taken only when its bytes have the hash that was named, and lies read-only under it; they are hashed again whenever
a folder is made of them, and when a file of a folder is not the one that was put there. What is gone or damaged is asked for
again. A job's folder is made new, of hard links and from names that were checked first, so nothing in it leads out of it.
Not here: asking a task for files, who may write below the driver's folder (work.py).
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from ...errors import UsageError
from ...regular import open_regular
from .removals import Removals

IDLE_SECONDS = 600.0  # after which a folder that no attempt uses is removed
Fetch = Callable[[list["JobFile"]], None]
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


def damage(file: JobFile, path: Path) -> str:
    """Why what lies there is not this file's bytes; "" where it is."""
    try:
        with open_regular(path, os.O_NOFOLLOW) as data:
            if (size := os.fstat(data.fileno()).st_size) != file.size:
                return f"it has {size} bytes, not {file.size}"
            return "" if hashlib.file_digest(data, "sha256").hexdigest() == file.sha256 else "its bytes are other ones"
    except OSError as error:
        return "it is gone" if isinstance(error, FileNotFoundError) else f"it cannot be read: {error.strerror}"


class FileStore:
    """Files by hash, at most `limit` bytes of them; those unused for longest go first. Any thread may use it."""

    def __init__(self, folder: Path, limit: int, tell: Callable[[str], None] = lambda what: None) -> None:
        """tell: hears of what was found gone or damaged."""
        self.limit = limit
        self.tell = tell
        self._folder = folder
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
        """Make `target` this file, after a look at its bytes. Raises FileNotFoundError: they are not here any more."""
        key = _key(file)
        with self._lock:
            if key not in self._used:
                raise FileNotFoundError(file.name)
            self._used[key] = self._used.pop(key)
            with suppress(FileNotFoundError, PermissionError):  # gone, or a folder: the look at it says so
                os.link(self._folder / key, target)
        if why := damage(file, target):
            target.unlink(missing_ok=True)
            self._drop(key)
            self.tell(f"{file.name}: {why}; it is asked for again")
            raise FileNotFoundError(file.name)

    def _drop(self, key: str) -> None:
        with self._lock:
            self._used.pop(key, None)
            path = self._folder / key
            if path.is_dir() and not path.is_symlink():  # stands in its place
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)

    def _make_room(self, keep: str) -> None:
        for key in list(self._used):
            if sum(self._used.values()) <= self.limit:
                return
            if key != keep:
                del self._used[key]
                (self._folder / key).unlink(missing_ok=True)  # folders that link to it keep it


def _key(file: JobFile) -> str:
    return f"{file.sha256}{file.mode}"


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)


class _Seen(NamedTuple):
    """A file when its bytes were last hashed: whatever writes to it changes one of these."""

    inode: int
    size: int
    modified: int
    changed: int

    @classmethod
    def of(cls, path: Path) -> _Seen | None:
        try:
            found = os.lstat(path)
        except OSError:
            return None
        return cls(found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


@dataclass
class _Folder:
    """A folder that was made. users: attempts that use it now. used: when one last did."""

    path: Path
    files: Sequence[JobFile]
    users: int = 1
    used: float = 0.0
    gone: bool = False  # no new attempt gets it
    seen: dict[str, _Seen | None] = field(default_factory=dict)

    def damage(self) -> str:
        """Which file is not what was put there, and why; "" where all are."""
        for file in self.files:
            path = self.path / file.name
            now = _Seen.of(path)
            if now is None or now != self.seen.get(file.name):
                if why := damage(file, path):
                    return f"{file.name}: {why}"
                self.seen[file.name] = now
        return ""


class Folders:
    """Working folders made of stored files, one for all tasks that have the same ones."""

    def __init__(self, store: FileStore, folder: Path, removals: Removals) -> None:
        self._store = store
        self._removals = removals
        self._folder = folder
        self._ready: dict[str, _Folder] = {}
        self._count = 0
        self._lock = Lock()
        folder.mkdir(0o700, parents=True, exist_ok=True)

    @contextmanager
    def use(self, files: Sequence[JobFile], fetch: Fetch) -> Iterator[Path]:
        """The folder with these files, whole and unchanged, which stays until the block ends.

        fetch  stores those that are missing. Raises what it raises, OSError.
        """
        found = self._take(files, fetch)
        try:
            yield found.path
        finally:
            self._leave(found)

    def make(self, files: Sequence[JobFile], fetch: Fetch) -> Path:
        """As `use`, for a caller that only wants it to be there."""
        with self.use(files, fetch) as folder:
            return folder

    def damaged(self, folder: Path) -> bool:
        """Whether a file of this folder, which is in use, is not what was put there; then nobody gets it any more."""
        with self._lock:
            found = next((one for one in self._ready.values() if one.path == folder), None)
        return found is None or self._is_damaged(found)

    def has(self, folder: Path) -> bool:
        """Whether attempts may still get it."""
        with self._lock:
            return any(one.path == folder for one in self._ready.values())

    def forget_idle(self, now: float) -> None:
        """Remove folders that nobody has used for IDLE_SECONDS."""
        with self._lock:
            idle = [one.path for one in self._ready.values() if not one.users and now - one.used > IDLE_SECONDS]
        for folder in idle:
            self.forget(folder)

    def forget(self, folder: Path) -> None:
        """No new attempt gets this folder; it is removed when none uses it any more."""
        unused = []
        with self._lock:
            for identity, one in list(self._ready.items()):
                if one.path == folder:
                    del self._ready[identity]
                    one.gone = True
                    unused += [] if one.users else [one.path]
        for path in unused:
            self._removals.remove(path)

    def _take(self, files: Sequence[JobFile], fetch: Fetch) -> _Folder:
        self._check_room(files)
        identity = _identity(files)
        for _ in range(3):  # another job's files may push ours out between fetch and link
            if (found := self._known(identity)) and not self._is_damaged(found):
                return found
            if found:
                self._leave(found)
            if lacking := self._store.missing(files):
                fetch(lacking)
            try:
                return self._build(identity, files)
            except FileNotFoundError:
                continue
        raise OSError("the job's files do not stay in the driver's store: others push them out, or something removes them")

    def _check_room(self, files: Iterable[JobFile]) -> None:
        size = sum({_key(file): file.size for file in files}.values())
        if size > self._store.limit:
            raise OSError(f"the job's files, {size} bytes, are larger than the driver's store (--store {self._store.limit})")

    def _known(self, identity: str) -> _Folder | None:
        with self._lock:
            if found := self._ready.get(identity):
                found.users += 1
            return found

    def _is_damaged(self, found: _Folder) -> bool:
        why = found.damage()
        if why:
            self._store.tell(f"{why}; its folder is made again")
            self.forget(found.path)
        return bool(why)

    def _leave(self, found: _Folder) -> None:
        with self._lock:
            found.users -= 1
            found.used = time.monotonic()
            unused = found.gone and not found.users
        if unused:
            self._removals.remove(found.path)

    def _build(self, identity: str, files: Sequence[JobFile]) -> _Folder:
        with self._lock:
            self._count += 1
            made = _Folder(self._folder / str(self._count), files)
        made.path.mkdir(0o700)
        try:
            self._fill(made)
        except BaseException:
            self._removals.remove(made.path)
            raise
        with self._lock:
            kept = self._ready.setdefault(identity, made)
            if kept is not made:
                kept.users += 1
        if kept is not made:
            self._removals.remove(made.path)
        return kept

    def _fill(self, made: _Folder) -> None:
        """Link its files. Raises FileNotFoundError: some are not in the store any more, and all of those are known."""
        lacking = None
        for file in made.files:
            target = made.path / file.name
            target.parent.mkdir(0o700, parents=True, exist_ok=True)
            try:
                self._store.link(file, target)
            except FileNotFoundError as error:
                lacking = error
            made.seen[file.name] = _Seen.of(target)
        if lacking:
            raise lacking


def _identity(files: Sequence[JobFile]) -> str:
    rows = [os.fsencode(f.name) + f"\0{f.sha256}\0{f.mode}".encode() for f in files]
    return hashlib.sha256(b"\0\0".join(rows)).hexdigest()
