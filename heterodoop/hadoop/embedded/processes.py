"""Processes by pid and start time, and the containers that outlive a NodeManager; read from /proc.

A pid alone may have become somebody else's. Not here: which processes a cluster has (`cluster`), starting them (`daemons`).
"""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

PROC = Path("/proc")
_POLL = 0.1
_CONTAINER = re.compile(r"/usercache/[^/]+/appcache/application_\d+_\d+/container_")


class Process(NamedTuple):
    """`start`: when it began, in the kernel's ticks since it booted. The two together never come again until a reboot."""

    pid: int
    start: int


def boot() -> str:
    """The id of this run of the kernel: pids and start times of another one say nothing."""
    return (PROC / "sys/kernel/random/boot_id").read_text().strip()


def identify(pid: int) -> Process | None:
    """The process that has this pid now; None: there is none, or only what its parent has not taken notice of."""
    fields = _stat(pid)
    return None if fields is None or fields[0] in "ZX" else Process(pid, int(fields[19]))


def alive(process: Process) -> bool:
    return identify(process.pid) == process


def resident(process: Process) -> int:
    """Bytes of memory; 0 if it is gone."""
    with suppress(OSError, ValueError, IndexError):
        return int((PROC / str(process.pid) / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def send(process: Process, number: int) -> None:
    """Send a signal to this process, and to no other one that has its pid by now."""
    if alive(process):
        with suppress(ProcessLookupError):
            os.kill(process.pid, number)


def wait_end(process: Process, seconds: float) -> bool:
    """Wait until it ends, `seconds` at most. Has it ended?"""
    return not _wait([process], seconds)


def end(processes: Iterable[Process], grace: float) -> list[Process]:
    """SIGTERM in the order given, SIGKILL to those that are left after `grace` seconds. Returns those that live on."""
    all_of_them = list(processes)
    for process in all_of_them:
        send(process, signal.SIGTERM)
    left = _wait(all_of_them, grace)
    for process in left:
        send(process, signal.SIGKILL)
    return _wait(left, 10)


def _wait(processes: Collection[Process], seconds: float) -> list[Process]:
    deadline = time.monotonic() + seconds
    while True:
        left = [p for p in processes if alive(p)]
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(_POLL)


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
    fields = _stat(process.pid)
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


def _stat(pid: int) -> list[str] | None:
    """The fields of /proc/PID/stat from the third (the state) on."""
    try:
        text = (PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return None
    return text.rpartition(")")[2].split()
