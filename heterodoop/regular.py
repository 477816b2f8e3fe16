"""Opening and reading files whose name came from elsewhere: only regular files, never waiting, never more than expected.

A named pipe makes open() wait for ever, /dev/zero has no end, and a damaged or hostile file can be larger than the memory.
"""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path

_KINDS = {
    stat.S_IFIFO: "a named pipe", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device", stat.S_IFSOCK: "a socket",
    stat.S_IFDIR: "a folder",
}


def open_regular(path: str | os.PathLike[str], flags: int = 0) -> BufferedReader:
    """The file for reading. `flags`: more of os.open. Raises OSError: there is none, or it is not a regular file."""
    _check(os.stat(path, follow_symlinks=not flags & os.O_NOFOLLOW), path)  # opening a device can already do something
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY | flags)
    try:
        _check(os.fstat(fd), path)
        return os.fdopen(fd, "rb")
    except BaseException:
        os.close(fd)
        raise


def read_regular(path: Path, most: int) -> bytes:
    """Its bytes. Raises OSError as `open_regular`, and where there are more than `most`."""
    with open_regular(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"it is larger than the {most} bytes that are read of it", os.fspath(path))
    return data


def _check(found: os.stat_result, path: str | os.PathLike[str]) -> None:
    kind = stat.S_IFMT(found.st_mode)
    if kind != stat.S_IFREG:
        raise OSError(errno.EINVAL, f"it is {_KINDS.get(kind, 'no regular file')}, not a regular file", os.fspath(path))
