"""On what terms a driver's workers do a job's tasks as the job's own would: they are children of another process.

What a worker has from its parent must be the same where bytes, rights or failures could differ by it: the code, the files
that it sees and may read, the modes and limits of what it makes and starts, the GPUs that it is shown.
"""

from __future__ import annotations

import hashlib
import os
import resource
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ... import __version__
from ...resources import PACKAGE, find, native_library

_MODULES = ("manifest.py", "kernel_plan.py", "values.py", "errors.py")
_NAMESPACES = ("mnt", "user")
# What the programs that a worker starts (combiners, epilogues) can come up against. Not NOFILE: a driver raises its own.
_LIMITS = ("STACK", "AS", "DATA", "CPU", "FSIZE")


class Terms(NamedTuple):
    """All of it can be compared.

    code    hash of what HeteroDoop is here: versions, and name, size and time of each file that a task meets.
    files   mount and user namespace, root folder.  rights: group and groups.
    limits  soft and hard, as _LIMITS.  gpus: the environment's variables of CUDA.
    """

    code: str
    files: tuple[str, ...]
    rights: tuple[int, ...]
    umask: int
    limits: tuple[tuple[int, int], ...]
    gpus: tuple[str, ...]


_WORDS = {
    "code": "it is of another version of HeteroDoop", "files": "it sees other files", "rights": "it is in other groups",
    "umask": "it has another umask", "limits": "it has other limits (ulimit)", "gpus": "it has other variables of CUDA",
}


def here() -> Terms:
    """Of this process."""
    limits = tuple(resource.getrlimit(getattr(resource, f"RLIMIT_{name}")) for name in _LIMITS)
    shown = tuple(sorted(f"{name}={value}" for name, value in os.environ.items() if name.startswith("CUDA_")))
    return Terms(_code(), _files(), (os.getgid(), *sorted(os.getgroups())), _umask(), limits, shown)


def difference(ours: Terms, theirs: Terms) -> str:
    """Why a driver of these terms does not do for us, "" where it does."""
    for name, words in _WORDS.items():
        if getattr(ours, name) != getattr(theirs, name):
            return words
    return ""


def _code() -> str:
    made = hashlib.sha256(f"{__version__}\n{sys.version}\n{PACKAGE}\n".encode())
    for path in _met():
        about = os.stat(path)
        made.update(f"{path}\0{about.st_size}\0{about.st_mtime_ns}\n".encode())
    return made.hexdigest()


def _met() -> Iterator[str]:
    """Files of the code that a task meets, in a fixed order."""
    yield from (os.fspath(PACKAGE / name) for name in _MODULES)
    library = native_library()
    if library.exists():
        yield os.fspath(library)
    yield from _below(PACKAGE / "executor", ".py")
    yield from _below(find("runtime", "device"), "")


def _below(folder: Path, end: str) -> Iterator[str]:
    for path, folders, names in os.walk(folder):
        folders.sort()
        yield from (os.path.join(path, name) for name in sorted(names) if name.endswith(end))


def _files() -> tuple[str, ...]:
    root = os.stat("/")
    return (*(_link(f"/proc/self/ns/{name}") for name in _NAMESPACES), f"{root.st_dev}:{root.st_ino}")


def _link(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""


def _umask() -> int:
    """Without changing it, which other threads would see. -1: the system does not say."""
    with open("/proc/self/status", encoding="ascii", errors="replace") as lines:
        return next((int(line.split()[1], 8) for line in lines if line.startswith("Umask:")), -1)
