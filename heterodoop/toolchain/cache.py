"""What compilers made, kept under a hash of everything that went into it; one folder for all of HeteroDoop.

An entry appears complete or not at all, so any number of processes may build the same thing at once. Entries are never
changed, and one that is not what was made (its sum lies beside it) is made again; removing the folder is always safe. A
kind's entries, which share a folder, take MOST_BYTES about: those go that were not used for the longest time.
Not here: what is built and how (`toolchain.emulated`, `toolchain.nvcc`).
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from .. import scratch
from ..errors import ToolError
from ..private import why_unsafe
from ..regular import open_regular, read_regular

_SUM_BYTES = 64
_PLACE = re.compile(rb'^(?://.*(?<!\\)|(#line \d+) ".*")$', re.MULTILINE)
MOST_BYTES = 1 << 30  # of the entries in one folder
UNUSED_SECONDS = 3600.0  # nobody who found an entry is still about to open it after that time
_MAKING = ".making-"
_Stamp = tuple[int, ...]
_SETTLED_NS = 2 * 10**9
_hashes: dict[str, tuple[_Stamp, bytes]] = {}  # of files that this process has read, as they were then
_swept: set[Path] = set()  # folders that this process has looked through for what killed builds left
_limited: set[Path] = set()  # and those whose entries it has counted
_whole: dict[Path, tuple[_Stamp, _Stamp]] = {}  # entries that this process has looked at, as they and their sums were then


def folder(environ: Mapping[str, str] = os.environ) -> Path:
    """The cache's folder: $XDG_CACHE_HOME/heterodoop, else ~/.cache/heterodoop, else one of our own below /tmp.

    It exists, and nobody else can put anything into it or into its place: libraries are loaded from it. Raises ToolError
    HD516 where there is no such place.
    """
    given = environ.get("XDG_CACHE_HOME", "")
    home = environ.get("HOME", "")
    wished = [Path(given) / "heterodoop"] if os.path.isabs(given) else []
    wished += [Path(home) / ".cache" / "heterodoop"] if os.path.isabs(home) and not wished else []
    for path in wished:
        if _usable(path):
            return path
    last = Path(tempfile.gettempdir()) / f"heterodoop-{os.getuid()}"  # Python tries that out with a file: not before it must
    if _usable(last):
        return last
    raise ToolError(
        f"there is no folder to keep compiled kernels in: {', '.join(map(str, [*wished, last]))} cannot be used",
        code="HD516", help="set XDG_CACHE_HOME to a folder that you may write to and others may not",
    )


def _usable(path: Path) -> bool:
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        return not why_unsafe(path) and os.access(path, os.W_OK | os.X_OK)
    except OSError:
        return False


def key(parts: Iterable[str | bytes]) -> str:
    """Hex hash of a list of texts; where one ends and the next begins counts."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()[:32]


def placeless(text: bytes) -> bytes:
    """C++ text of ours for a key: without its comment lines, and without the files that `#line` names.

    These are where a program lay. What is made of it without debug information is the same elsewhere; messages are not
    kept.
    """
    return _PLACE.sub(lambda found: found[1] or b"", text)


def tree(root: Path, suffixes: tuple[str, ...]) -> list[str | bytes]:
    """Name and hash of every file below `root` with one of the suffixes, in a stable order."""
    return [part for name, path in sorted(_below(str(root), "", suffixes)) for part in (name, _hash(path))]


def _below(folder: str, prefix: str, suffixes: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """(name from the top, path)."""
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield from _below(entry.path, f"{prefix}{entry.name}/", suffixes)
        elif entry.name.endswith(suffixes) and entry.is_file():
            yield prefix + entry.name, entry.path


def _hash(path: str) -> bytes:
    """Of a file's bytes; they are read again where it has changed, or may have within what its clock tells apart."""
    status = os.stat(path)
    stamp = _stamp(status)
    known = _hashes.get(path)
    if known and known[0] == stamp:
        return known[1]
    with open(path, "rb", buffering=0) as file:
        found = hashlib.sha256(file.read()).digest()
    if time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns) > _SETTLED_NS:
        _hashes[path] = stamp, found
    return found


def identity(tool: str) -> str:
    """A program as it lies on disk: another version of it is another text."""
    path = os.path.realpath(shutil.which(tool) or tool)
    try:
        status = os.stat(path)
    except OSError:
        return path
    return f"{path} {status.st_size} {status.st_mtime_ns}"


def get(path: Path, make: Callable[[Path], object]) -> Path:
    """`path`, made by `make(partial path)` if it is not there yet, or is not what was made: its sum is kept beside it.

    The partial file lies beside it, under another name; of a process that was killed the next one removes it. Raises
    OSError: the folder cannot be written; what `make` raises.
    """
    if is_whole(path):
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    with scratch.folder(_MAKING, path.parent) as folder:
        partial, total = folder / path.name, folder / f"{path.name}.sum"
        make(partial)
        total.write_text(_sum(partial))
        for target, made in ((_sum_of(path), total), (path, partial)):
            if target.is_dir() and not target.is_symlink():
                shutil.rmtree(target)
            made.replace(target)
    if path.parent not in _limited:
        _limited.add(path.parent)
        limit(path.parent)
    return path


def limit(folder: Path, most: int | None = None) -> None:
    """Remove entries of a folder until three quarters of `most` bytes (MOST_BYTES) are left, where they take more than that.

    Those that were not used for the longest time go first, and none that was within UNUSED_SECONDS. When an entry was used
    is its access time, which a file system may tell to the day or not at all; then it is when it was made. Raises nothing.
    """
    most = MOST_BYTES if most is None else most
    with suppress(OSError):
        sizes, used = _entries(folder)
        total, now = sum(sizes.values()), time.time()
        if total <= most:
            return
        for path in sorted(used, key=used.__getitem__):
            if total <= most * 3 // 4 or now - used[path] < UNUSED_SECONDS:
                return
            for gone in (path, str(_sum_of(Path(path)))):  # an entry without its sum is made again
                with suppress(FileNotFoundError):
                    os.unlink(gone)
            total -= sizes[path]


def _entries(folder: Path) -> tuple[dict[str, int], dict[str, float]]:
    """Bytes of each entry, and when it was used last, in seconds."""
    sizes, used = dict[str, int](), dict[str, float]()
    for entry in os.scandir(folder):
        if not entry.name.endswith(".sum") and entry.is_file(follow_symlinks=False):
            status = entry.stat(follow_symlinks=False)
            sizes[entry.path] = status.st_blocks * 512
            used[entry.path] = max(status.st_atime, status.st_mtime)
    return sizes, used


def is_whole(path: Path) -> bool:
    """Whether an entry is what was made, also after a power cut that took what was not on the disk yet.

    Its bytes are looked at once in a process, and again when the file has changed.
    """
    try:
        stamp = _stamp(_used(path)), _stamp(os.lstat(_sum_of(path)))
        if _whole.get(path) != stamp:
            if read_regular(_sum_of(path), _SUM_BYTES).decode("ascii", "replace") != _sum(path):
                return False
            if path.parent not in _swept:  # it may have thousands of entries
                scratch.sweep(_MAKING, path.parent)
                _swept.add(path.parent)
            _whole[path] = stamp
        return True
    except OSError:
        return False


def _used(path: Path) -> os.stat_result:
    """The entry's status. Its access time says that it is used: file systems tell it once a day (relatime) or never."""
    status = os.lstat(path)
    if time.time() - max(status.st_atime, status.st_mtime) <= UNUSED_SECONDS / 2:
        return status
    with suppress(OSError):  # a cache that may only be read
        os.utime(path, ns=(time.time_ns(), status.st_mtime_ns), follow_symlinks=False)
    return os.lstat(path)


def _stamp(status: os.stat_result) -> _Stamp:
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _sum_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.sum")


def _sum(path: Path) -> str:
    with open_regular(path, os.O_NOFOLLOW) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
