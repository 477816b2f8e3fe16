"""Starting the driver in the background, and ending it: `heterodoop driver start|stop|restart`.

The process that stays is `heterodoop driver start --foreground` in a session of its own; it says on a pipe when it serves.
Not here: what it does (server.py).
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ...errors import ToolError, UsageError
from ...private import state_folder
from ...resources import PACKAGE
from . import admin, place
from .place import Place
from .protocol import Type

READY = b"ready\n"
_TICK_SECONDS = 0.05


class Ended(NamedTuple):
    """A driver that did not start: its exit status, and what it said."""

    status: int
    said: str


def start(here: Place, words: Sequence[str]) -> Ended | None:
    """Start a driver with these options in the background, and wait until it serves. Returns how it ended where it did.

    Raises UsageError HD611: one runs already; HD612.
    """
    if here.folder.exists():
        place.check_folder(here.folder)
        if owner := place.owner_of(here):
            raise UsageError(f"a driver runs there already: {owner}", code="HD611", help="heterodoop driver status")
    reader, writer = os.pipe()
    with tempfile.TemporaryFile() as said, open(reader, "rb") as ready:
        command = ["-m", "heterodoop", "driver", "start", "--foreground", "--ready-fd", str(writer), *words]
        path = os.pathsep.join([str(PACKAGE.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
        process = subprocess.Popen(
            [sys.executable, "-P", *command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said,
            pass_fds=[writer], cwd="/", env={**os.environ, "PYTHONPATH": path}, start_new_session=True,
        )
        os.close(writer)
        try:
            if ready.read() == READY:
                return None
        except BaseException:
            process.terminate()
            raise
        status = process.wait()
        said.seek(0)
        return Ended(status, said.read().decode("utf-8", "backslashreplace").strip())


def stop(here: Place, now: bool, seconds: float) -> dict[str, Any]:
    """End the driver: after its running tasks, or at once. Returns what it last said of itself.

    Raises ToolError HD613: there is none, or it has not ended after `seconds`.
    """
    owner = place.owner_of(here)
    state: dict[str, Any] = {}
    try:
        state = admin.ask(here, Type.STOP, now)
    except ToolError:
        if not owner:
            raise
        os.kill(owner.pid, signal.SIGKILL if now else signal.SIGTERM)  # it holds the lock and does not answer
    end = time.monotonic() + seconds
    while place.owner_of(here):
        if time.monotonic() > end:
            raise ToolError(f"the driver ({owner}) has not ended after {seconds:g} s", code="HD613",
                            help="heterodoop driver stop --now ends its tasks; they run on the CPU")
        time.sleep(_TICK_SECONDS)
    return state


def say_ready(fd: int) -> None:
    """Tell who started us that we serve."""
    os.write(fd, READY)
    os.close(fd)


def work_folder(here: Place, wish: str, environ: Mapping[str, str] = os.environ) -> Path:
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
