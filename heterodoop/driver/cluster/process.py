"""The coordinator as a process: one at a time in a user's private folder, in the foreground or behind it.

In the folder: coordinator.lock (held while it lives; says who and where it is), coordinator.secret (made where it is
missing), coordinator.log (rotated), coordinator.err (what the last one said when it began). Not here: what it does
(`coordinator`).
"""

from __future__ import annotations

import asyncio
import os
import re
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from ...daemon import lock, processes
from ...daemon.lock import Owner
from ...daemon.log import Log
from ...daemon.start import Ended, allow_descriptors, command, say_ready
from ...errors import HeteroDoopError, ToolError, UsageError
from ...private import state_folder
from ...storage import hadoop_conf
from ..wire.place import check_folder, folder_of, shared_folder
from .client import ask_status
from .coordinator import Coordinator
from .wire import BadFrame, make_secret, parse_address, read_secret
from .yarn_rest import Rest, of_conf

START_SECONDS = 20.0
STOP_SECONDS = 10.0
LOCK = "coordinator.lock"
_ERROR = re.compile(r"^heterodoop: error\[(HD\d{3})\]: (.*)$", re.MULTILINE)


def default_secret(folder: Path) -> Path:
    return folder / "coordinator.secret"


def run(listen: str, secret: Path | None, dir: str, log: Path | None, ready_fd: int = -1) -> None:
    """Be the coordinator until SIGTERM. `log`: a file instead of stderr.

    Says one line once it listens: to `ready_fd`, else on stdout.

    Raises UsageError HD610, HD612, HD641, HD642, HD643, HD644; ToolError HD646.
    """
    folder, place, rest = _prepare(secret, dir)
    host, port = parse_address(listen)
    key = read_secret(place)
    written = _log(log)
    allow_descriptors()
    with _locked(folder) as held:
        def ready(host: str, port: int) -> None:
            held.sign(host=host, port=port, secret=os.fspath(place))
            line = f"coordinator listens on {host}:{port}, secret {place}"
            if ready_fd >= 0:
                say_ready(ready_fd, line)
            else:
                print(line, flush=True)

        try:
            asyncio.run(Coordinator(key, rest, ready, written).run(host, port))
        except OSError as error:
            raise UsageError(f"cannot listen on {listen}: {error.strerror or error}", code="HD642") from None


def start(listen: str, secret: Path | None, dir: str, log: Path | None) -> str:
    """Start a coordinator behind the caller; returns what it said once it listened. Raises what `run` raises, and HD644."""
    folder, place, _ = _prepare(secret, dir)
    parse_address(listen)
    with _locked(folder):
        pass  # fails at once where one runs
    words = ["coordinator", "start", "--foreground", "--listen", listen, "--secret", os.fspath(place),
             "--dir", os.fspath(folder), "--log", os.path.abspath(log or folder / "coordinator.log")]
    flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
    with open(os.open(folder / "coordinator.err", flags, 0o600), "r+b") as errors:
        found = command(words, errors, START_SECONDS)
    if isinstance(found, Ended):
        raise _failed(found.said)
    return found


def _failed(text: str) -> HeteroDoopError:
    if match := _ERROR.search(text):
        return UsageError(match[2], code=match[1])
    said = [line for line in text.splitlines() if line and not line.startswith("help: ")]
    last = said[-1] if said else f"nothing within {START_SECONDS:g} s"
    return ToolError(f"the coordinator did not start; it said: {last}", code="HD644")


def stop(dir: str) -> str:
    """End the folder's coordinator and wait for it. Returns where it listened. Raises ToolError HD645: there is none."""
    owner = _running(_folder(dir))
    while processes.end([owner.process], STOP_SECONDS):
        pass
    return _address(owner)


def status(dir: str, connect: str, secret: Path | None) -> dict[str, Any]:
    """What a coordinator says of itself: the folder's own, or the one at `connect`. Raises ToolError HD645."""
    if connect:
        address, known = parse_address(connect), {}
        place = secret or default_secret(_folder(dir))
    else:
        owner = _running(_folder(dir))
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(owner.more["host"], owner.more["host"])
        address, place, known = (host, owner.more["port"]), secret or Path(owner.more["secret"]), {"pid": owner.pid}
    try:
        found = ask_status(address, read_secret(place))
    except (OSError, BadFrame) as error:
        raise ToolError(f"{address[0]}:{address[1]} does not answer: {error}", code="HD645") from None
    return {"address": f"{address[0]}:{address[1]}", **known, **found}


def _running(folder: Path) -> Owner:
    owner = lock.owner_of(folder / LOCK)
    if owner is None:
        raise ToolError(f"no coordinator runs in {folder}", code="HD645", help="heterodoop coordinator start")
    return owner


def _address(owner: Owner) -> str:
    return f"{owner.more['host']}:{owner.more['port']}"


def _locked(folder: Path) -> AbstractContextManager[lock.Lock]:
    """Hold the folder's lock. Raises UsageError HD643."""
    def refuse(owner: Owner | None) -> UsageError:
        where = f": process {owner.pid} on {_address(owner)}" if owner else ""
        return UsageError(f"a coordinator runs in {folder} already{where}", code="HD643",
                          help="heterodoop coordinator status, or: heterodoop coordinator stop")

    return lock.held(folder / LOCK, refuse)


def _prepare(secret: Path | None, dir: str) -> tuple[Path, Path, Rest]:
    """The folder, the secret's path (made where it is missing and not named) and the cluster."""
    folder = _folder(dir, create=True)
    place = Path(os.path.abspath(secret)) if secret else default_secret(folder)
    if not secret and not os.path.lexists(place):
        make_secret(place)
    read_secret(place)
    where = of_conf(hadoop_conf.load())
    if not where.resource_managers:
        raise ToolError("the coordinator knows no ResourceManager", code="HD646", help="set HADOOP_CONF_DIR")
    return folder, place, Rest(where)


def _folder(dir: str, create: bool = False) -> Path:
    folder = folder_of(dir)
    if folder == shared_folder():  # its secret is worth more than what may lie in everybody's /tmp
        folder = state_folder() / "coordinator"
        folder.parent.mkdir(0o700, parents=True, exist_ok=True)
    check_folder(folder, create=create)
    return folder


def _log(path: Path | None) -> Log:
    try:
        return Log(path, foreground=not path)
    except OSError as error:
        raise UsageError(f"the log {path} cannot be written: {error.strerror}", code="HD644") from None
