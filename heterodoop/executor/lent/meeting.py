"""Where a driver is met by those of its user that were not told: its folder, its socket. Imports little.

Not here: the driver's own files there, its lock and its secret (driver/wire/place.py).
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Mapping
from pathlib import Path

from ...private import OTHERS_ANYTHING, why_unsafe

NAME = "driver"  # of one that serves any NodeManager, or none
NONE_RUNS = "none runs"
CONNECT_SECONDS = 2.0
_PEER = struct.Struct("3i")


def folder_of(wish: str = "", environ: Mapping[str, str] = os.environ) -> Path:
    """--dir, else $HETERODOOP_DRIVER_DIR, else /run/heterodoop-<uid> if there is one, else /tmp/heterodoop-<uid>."""
    if chosen := wish or environ.get("HETERODOOP_DRIVER_DIR", ""):
        return Path(os.path.abspath(chosen))
    run = Path(f"/run/heterodoop-{os.getuid()}")
    return run if run.exists() else shared_folder()


def shared_folder() -> Path:
    """The place that a driver and the containers of its user know without being told."""
    return Path(f"/tmp/heterodoop-{os.getuid()}")


def socket_of(folder: Path) -> Path:
    return folder / f"{NAME}.sock"


def peer(sock: socket.socket) -> tuple[int, int]:
    """Process and uid at the other end of a unix socket, as the kernel says. Raises OSError."""
    pid, uid, _ = _PEER.unpack(sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size))
    return pid, uid


def connect(folder: Path) -> socket.socket | str:
    """A connection to the driver that is met there, or why there is none."""
    path = socket_of(folder)
    if not path.exists():
        return NONE_RUNS
    try:
        if why := why_unsafe(folder, OTHERS_ANYTHING):
            return f"{folder} is not safe: {why}"
    except OSError as error:
        return f"{folder}: {error.strerror}"
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    try:
        sock.settimeout(CONNECT_SECONDS)
        sock.connect(os.fspath(path))
        uid = peer(sock)[1]
    except OSError as error:
        sock.close()
        return f"none answers at {path}: {error.strerror or error}"
    if uid != os.getuid():
        sock.close()
        return f"it is another user's, of uid {uid}"
    return sock


def answers(folder: Path) -> bool:
    """Whether somebody of this user listens there."""
    found = connect(folder)
    if isinstance(found, str):
        return False
    found.close()
    return True
