"""The folder of a user's sockets, locks and secrets on this machine: nobody else may look into it or put anything there.

$HETERODOOP_DRIVER_DIR, else /run/heterodoop-<uid> where an administrator has made it, else /tmp/heterodoop-<uid>. In /tmp
anybody can be first to make the name, so the folder must be a real one (no link), this user's own, and closed to others.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from ..errors import UsageError

ENVIRONMENT = "HETERODOOP_DRIVER_DIR"


def choose(explicit: Path | None = None) -> Path:
    """The folder that is meant; it need not be there."""
    if explicit is not None:
        return Path(os.path.abspath(explicit))
    if named := os.environ.get(ENVIRONMENT):
        return Path(os.path.abspath(named))
    run = Path(f"/run/heterodoop-{os.getuid()}")
    return run if run.is_dir() else Path(f"/tmp/heterodoop-{os.getuid()}")


def prepare(explicit: Path | None = None) -> Path:
    """The folder, made if it was not there. Raises UsageError HD640 where it cannot be trusted or made."""
    path = choose(explicit)
    try:
        path.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise _refused(path, error.strerror or str(error)) from None
    check(path)
    return path


def check(path: Path) -> None:
    """Raises UsageError HD640 where the folder is not there or cannot be trusted."""
    try:
        found = os.lstat(path)
    except OSError as error:
        raise _refused(path, error.strerror or str(error)) from None
    if not stat.S_ISDIR(found.st_mode):
        raise _refused(path, "it is no folder (a link is none)")
    if found.st_uid != os.getuid():
        raise _refused(path, f"it belongs to user {found.st_uid}")
    if found.st_mode & 0o077:
        raise _refused(path, f"others may use it (mode {stat.S_IMODE(found.st_mode):04o})")


def _refused(path: Path, why: str) -> UsageError:
    help = f"chmod 0700 {path} if it is yours, or name another one with --dir or {ENVIRONMENT}"
    return UsageError(f"{path} cannot be this user's private folder: {why}", code="HD640", help=help)
