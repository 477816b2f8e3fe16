"""What else is seen of processes in /proc: the containers that outlive a NodeManager, words of a command line, ports.

Not here: which processes a cluster has (`cluster`), starting them (`daemons`), ending one (daemon/processes.py).
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from ...daemon.processes import PROC, Process, identify, stat

_CONTAINER = re.compile(r"/usercache/[^/]+/appcache/application_\d+_\d+/container_")


def with_argument(argument: str) -> list[Process]:
    """Processes that have exactly this word on their command line."""
    word = os.fsencode(argument)
    return [p for p in _everybody() if word in _read(p, "cmdline").split(b"\0")]


def containers(folder: Path, *, node_port: int = 0) -> list[Process]:
    """YARN containers (JVMs, and what they started) of a cluster that works in `folder`; `node_port`: of one NodeManager.

    They have sessions of their own and live on when their NodeManager is killed. A process is one if it has CONTAINER_ID
    and a local folder of the cluster in its environment; or, since a filter may have got an empty one, if it works in a
    container's folder and has no terminal (somebody may be looking into that folder).
    """
    prefix = os.fsencode(folder) + b"/"
    port = f"NM_PORT={node_port}".encode() if node_port else b""
    return [p for p in _everybody() if p.pid != os.getpid() and _is_container(p, prefix, port)]


def _is_container(process: Process, prefix: bytes, port: bytes) -> bool:
    variables = _read(process, "environ").split(b"\0")
    if any(v.startswith(b"CONTAINER_ID=") for v in variables):
        return any(v.startswith(b"LOCAL_DIRS=" + prefix) for v in variables) and (not port or port in variables)
    return not port and _works_in_a_container(process, os.fsdecode(prefix))


def _works_in_a_container(process: Process, prefix: str) -> bool:
    try:
        place = os.readlink(PROC / str(process.pid) / "cwd")
    except OSError:
        return False
    fields = stat(process.pid)
    return place.startswith(prefix) and bool(_CONTAINER.search(place)) and fields is not None and fields[4] == "0"


def listening(processes: Collection[Process]) -> list[tuple[Process, int]]:
    """(process, TCP port) of every port on which one of them listens on all of the machine's addresses."""
    sockets = {inode: port for name in ("tcp", "tcp6") for inode, port in _open_to_all(PROC / "net" / name)}
    return sorted((p, sockets[inode]) for p in processes for inode in _sockets_of(p) if inode in sockets)


def _open_to_all(table: Path) -> Iterator[tuple[str, int]]:
    with suppress(OSError):
        for line in table.read_text().splitlines()[1:]:
            words = line.split()
            address, _, port = words[1].partition(":")
            if words[3] == "0A" and set(address) == {"0"}:
                yield words[9], int(port, 16)


def _sockets_of(process: Process) -> Iterator[str]:
    with suppress(OSError):
        for entry in os.scandir(PROC / str(process.pid) / "fd"):
            with suppress(OSError):
                target = os.readlink(entry.path)
                if target.startswith("socket:["):
                    yield target[8:-1]


def _everybody() -> Iterator[Process]:
    for name in os.listdir(PROC):
        if name.isdigit() and (process := identify(int(name))) is not None:
            yield process


def _read(process: Process, name: str) -> bytes:
    """A file of the process's; empty where it is gone or another user's."""
    try:
        return (PROC / str(process.pid) / name).read_bytes()
    except OSError:
        return b""
