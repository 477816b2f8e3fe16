"""Starting the driver in the background, and ending it: `heterodoop driver start|stop|restart`.

The process that stays is `heterodoop driver start --foreground` in a session of its own.
Not here: what it does (server.py).
"""

from __future__ import annotations

import os
import signal
import socket
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...daemon import lock, processes
from ...daemon.start import StartFailed, command
from ...errors import ToolError, UsageError
from ...private import state_folder
from . import admin, place
from .place import DriverPlace
from .protocol import Type


def start(here: DriverPlace, words: Sequence[str]) -> StartFailed | None:
    """Start a driver with these options in the background, and wait until it serves. Returns how it ended where it did.

    Raises UsageError HD611: one runs already; HD612.
    """
    if here.folder.exists():
        place.check_folder(here.folder)
        if owner := lock.owner_of(here.lock):
            raise UsageError(f"a driver runs there already: {owner}", code="HD611", help="heterodoop driver status")
    with tempfile.TemporaryFile() as said:
        found = command(["driver", "start", "--foreground", *words], said)
    return found if isinstance(found, StartFailed) else None


def stop(here: DriverPlace, now: bool, seconds: float) -> dict[str, Any]:
    """End the driver: after its running tasks, or at once. Returns what it last said of itself.

    Raises ToolError HD613: there is none, or it has not ended after `seconds`.
    """
    owner = lock.owner_of(here.lock)
    state: dict[str, Any] = {}
    try:
        state = admin.ask(here, Type.STOP, now)
    except ToolError:
        if not owner:
            raise
        processes.send(owner.process, signal.SIGKILL if now else signal.SIGTERM)  # it holds the lock and does not answer
    if not lock.released(here.lock, seconds):
        raise ToolError(f"the driver ({owner}) has not ended after {seconds:g} s", code="HD613",
                        help="heterodoop driver stop --now ends its tasks; they run on the CPU")
    return state


def work_folder(here: DriverPlace, wish: str, environ: Mapping[str, str] = os.environ) -> Path:
    """--work, else beside the socket where its folder was chosen, else below what is this user's own on this host.

    Nothing of value lies in a /tmp that is everybody's, nor below /run, which is memory. Raises UsageError HD667: no home.
    """
    if wish:
        return Path(os.path.abspath(wish)) / here.name
    if here.folder != place.shared_folder() and here.folder.parts[:2] != ("/", "run"):
        return here.folder / f"{here.name}.work"
    local = Path(f"/var/lib/heterodoop-{os.getuid()}")
    base = local if local.is_dir() else state_folder(environ)
    return base / "driver" / socket.gethostname() / here.name
