"""Folders that programs are run or loaded from: nobody but their user and root may be able to put anything into them.

`why_unsafe` walks from the root to the folder, as OpenSSH does with a user's keys. A folder that passes can only be changed
by this user and by root, so that a path below it stays what it was. What root may do all the same (a tidier of old files) is
found by `Held`, which keeps the folder open. Not here: which folder is used for what.
"""

from __future__ import annotations

import grp
import os
import pwd
import stat
from collections.abc import Mapping
from pathlib import Path

from .errors import UsageError

OTHERS_WRITE, OTHERS_ANYTHING = 0o022, 0o077
_MOST_LINKS = 40  # in one path, as in the kernel


def why_unsafe(folder: Path, forbidden: int = OTHERS_WRITE) -> str:
    """Why others could put something into this folder, or into its place; "" where they cannot.

    forbidden  bits of its mode that it may not have. Its parents may be root's, may be links, and may be writable by others
               only with the sticky bit. Raises OSError: it cannot be looked at.
    """
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode):
        return f"{folder} is no folder (a link is none)"
    if found.st_uid != os.getuid():
        return f"{folder} belongs to uid {found.st_uid}, not to {os.getuid()}"
    if found.st_mode & forbidden:
        return f"{folder} has mode {stat.S_IMODE(found.st_mode):04o}, and may not have {found.st_mode & forbidden:04o}"
    return _why_replaceable(folder.absolute().parent)


def check(folder: Path, use: str, forbidden: int = OTHERS_WRITE) -> None:
    """Raises UsageError HD667: others could put something there. `use`: what the folder is for."""
    try:
        why = why_unsafe(folder, forbidden)
    except OSError as error:
        why = f"{folder}: {error.strerror}"
    if why:
        raise UsageError(f"no place for {use}: {why}", code="HD667")


def state_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Where a user's programs keep what is theirs: $XDG_STATE_HOME/heterodoop, else ~/.local/state/heterodoop.

    Raises UsageError HD667: he has no home.
    """
    if os.path.isabs(given := environ.get("XDG_STATE_HOME", "")):
        return Path(given) / "heterodoop"
    home = environ.get("HOME", "")
    if not os.path.isabs(home) or not os.path.isdir(home):
        raise UsageError("this user has no home folder: HOME is not set, or is no folder", code="HD667",
                         help="set XDG_STATE_HOME, or name a folder on the command line")
    return Path(home) / ".local" / "state" / "heterodoop"


class Held:
    """A folder that is kept open, so that another one in its place is found. Close it when done."""

    def __init__(self, path: Path) -> None:
        """Raises OSError: it is no folder, or a link."""
        self.path = path
        self.fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)

    @property
    def there(self) -> bool:
        """Whether the path still leads to it."""
        try:
            found = os.lstat(self.path)
        except OSError:
            return False
        own = os.fstat(self.fd)
        return (found.st_dev, found.st_ino) == (own.st_dev, own.st_ino)

    def close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
        self.fd = -1


def _why_replaceable(folder: Path) -> str:
    """Why others could replace what lies in this folder; links on the way are followed, and checked as folders are."""
    at = Path("/")
    todo = list(folder.parts[:0:-1])
    links = 0
    while True:
        found = os.lstat(at)
        if why := _why_not_trusted(at, found):
            return why
        if stat.S_ISLNK(found.st_mode):
            links += 1
            if links > _MOST_LINKS:
                return f"{folder} leads through too many links"
            target = Path(os.readlink(at))
            todo += reversed(target.parts[1:] if target.is_absolute() else target.parts)
            at = Path("/") if target.is_absolute() else at.parent
        if not todo:
            return ""
        name = todo.pop()
        at = at.parent if name == ".." else at / name


def _why_not_trusted(path: Path, found: os.stat_result) -> str:
    if found.st_uid not in (0, os.getuid()):
        return f"{path} belongs to uid {found.st_uid}"
    if stat.S_ISLNK(found.st_mode) or found.st_mode & stat.S_ISVTX:
        return ""
    open_to = found.st_mode & OTHERS_WRITE
    if open_to == stat.S_IWGRP and _own_group(found.st_gid):
        return ""
    return f"others may write to {path} (mode {stat.S_IMODE(found.st_mode):04o})" if open_to else ""


def _own_group(gid: int) -> bool:
    """Whether a group is this user's alone, of the kind that many systems give each user."""
    try:
        user, group = pwd.getpwuid(os.getuid()), grp.getgrgid(gid)
    except KeyError:
        return False
    return gid == user.pw_gid and group.gr_name == user.pw_name and set(group.gr_mem) <= {user.pw_name}
