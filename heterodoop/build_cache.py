"""What compilers made, kept under a hash of everything that went into it; one folder for all of HeteroDoop.

An entry appears complete or not at all, so any number of processes may build the same thing at once. Entries are never
changed, and one that is not what was made (its sum lies beside it) is made again; removing the folder is always safe.
Not here: what is built and how (`toolchain_emulated`, `toolchain_cuda`).
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from .errors import ToolError
from .private import why_unsafe
from .regular import open_regular, read_regular

_SUM_BYTES = 64


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


def tree(root: Path, suffixes: tuple[str, ...]) -> list[str | bytes]:
    """Name and contents of every file below `root` with one of the suffixes, in a stable order."""
    found: list[str | bytes] = []
    for path in sorted(p for p in root.rglob("*") if p.suffix in suffixes and p.is_file()):
        found += [str(path.relative_to(root)), path.read_bytes()]
    return found


def identity(tool: str) -> str:
    """A program as it lies on disk: another version of it is another text."""
    path = os.path.realpath(shutil.which(tool) or tool)
    try:
        status = os.stat(path)
    except OSError:
        return path
    return f"{path} {status.st_size} {status.st_mtime_ns}"


def get(path: Path, make: Callable[[Path], None]) -> Path:
    """`path`, made by `make(partial path)` if it is not there yet, or is not what was made: its sum is kept beside it.

    The partial file lies beside it, under another name; of a process that was killed the next one removes it. Raises
    OSError: the folder cannot be written; what `make` raises.
    """
    if _whole(path):
        _sweep(path)
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    with _scratch(path) as scratch:
        partial, total = Path(scratch) / path.name, Path(scratch) / "sum"
        make(partial)
        total.write_text(_sum(partial))
        for target, made in ((_sum_of(path), total), (path, partial)):
            if target.is_dir() and not target.is_symlink():
                shutil.rmtree(target)
            made.replace(target)
    return path


def _sum_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.sum")


def _sum(path: Path) -> str:
    with open_regular(path, os.O_NOFOLLOW) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _whole(path: Path) -> bool:
    try:
        return read_regular(_sum_of(path), _SUM_BYTES).decode("ascii", "replace") == _sum(path)
    except OSError:
        return False


def _sweep(path: Path) -> None:
    """Remove the folder of a process that was killed when the entry was in place and its own folder not yet gone."""
    if any(path.parent.glob(f".{path.name}.*")):
        with suppress(OSError), _locked(path.parent):
            _remove_abandoned(path.parent)


@contextmanager
def _scratch(path: Path) -> Iterator[str]:
    """A folder beside the entry, locked as long as this process uses it. Those of processes that are gone are removed."""
    with ExitStack() as stack:
        with _locked(path.parent):  # nobody takes a folder that is new and not yet locked for one that is left over
            _remove_abandoned(path.parent)
            name = stack.enter_context(tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}."))
            stack.enter_context(_locked(Path(name)))
        yield name


@contextmanager
def _locked(folder: Path, wait: bool = True) -> Iterator[None]:
    """Raises OSError: it is no folder; without `wait` BlockingIOError, somebody else has it."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield
    finally:
        os.close(fd)


def _remove_abandoned(folder: Path) -> None:
    for path in folder.glob(".*"):
        with suppress(OSError), _locked(path, wait=False):
            shutil.rmtree(path, ignore_errors=True)
