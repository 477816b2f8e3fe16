"""The coordinator as a process: one at a time in a user's private folder, in the foreground or behind it.

In the folder: coordinator.lock (held while it lives; says who and where it is), coordinator.secret (made where it is
missing), coordinator.log (rotated), coordinator.err (what the last one said when it began). Not here: what it does
(`coordinator`).
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import logging
import logging.handlers
import os
import re
import resource
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

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
LOG_BYTES, LOG_FILES = 4 << 20, 3
_PACKAGES = Path(__file__).resolve().parents[3]
_ERROR = re.compile(r"^heterodoop: error\[(HD\d{3})\]: (.*)$", re.MULTILINE)


class Owner(NamedTuple):
    """The coordinator that holds a folder's lock. `since`: seconds since the epoch; "" and 0: it is just starting."""

    pid: int
    since: float
    host: str
    port: int
    secret: str


def default_secret(folder: Path) -> Path:
    return folder / "coordinator.secret"


def run(listen: str, secret: Path | None, dir: str, log: Path | None) -> None:
    """Be the coordinator until SIGTERM. `log`: a file instead of stderr; prints one line once it listens.

    Raises UsageError HD610, HD612, HD641, HD642, HD643, HD644; ToolError HD646.
    """
    folder, place, rest = _prepare(secret, dir)
    host, port = parse_address(listen)
    key = read_secret(place)
    _log_to(log)
    _raise_limit()
    with _locked(folder) as fd:
        def ready(host: str, port: int) -> None:
            owner = Owner(os.getpid(), time.time(), host, port, os.fspath(place))
            os.pwrite(fd, json.dumps(owner._asdict()).encode(), 0)
            print(f"coordinator listens on {host}:{port}, secret {place}", flush=True)

        try:
            asyncio.run(Coordinator(key, rest, ready).run(host, port))
        except OSError as error:
            raise UsageError(f"cannot listen on {listen}: {error.strerror or error}", code="HD642") from None


def start(listen: str, secret: Path | None, dir: str, log: Path | None) -> str:
    """Start a coordinator behind the caller; returns what it said once it listened. Raises what `run` raises, and HD644."""
    folder, place, _ = _prepare(secret, dir)
    parse_address(listen)
    with _locked(folder):
        pass  # fails at once where one runs
    argv = [sys.executable, "-m", "heterodoop", "coordinator", "start", "--foreground", "--listen", listen,
            "--secret", os.fspath(place), "--dir", os.fspath(folder),
            "--log", os.path.abspath(log or folder / "coordinator.log")]
    flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
    path = os.pathsep.join(filter(None, [os.fspath(_PACKAGES), os.environ.get("PYTHONPATH")]))
    with open(os.open(folder / "coordinator.err", flags, 0o600), "r+b") as errors:
        process = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, start_new_session=True, cwd="/",
            env={**os.environ, "PYTHONPATH": path})
        assert process.stdout
        try:
            with process.stdout:
                line = _first_line(process.stdout.fileno())
        except BaseException:
            process.terminate()
            raise
        if line:
            return line
        if process.poll() is None:
            process.kill()
        process.wait()
        errors.seek(0)
        raise _failed(errors.read().decode("utf-8", "replace"))


def _first_line(fd: int) -> str:
    """What the process prints when it listens; "" where it ended, or took too long."""
    end, found = time.monotonic() + START_SECONDS, b""
    while not found.endswith(b"\n"):
        left = end - time.monotonic()
        if left <= 0 or not select.select([fd], [], [], left)[0]:
            return ""
        piece = os.read(fd, 4096)
        if not piece:
            return ""
        found += piece
    return found.decode("utf-8", "replace").strip()


def _failed(text: str) -> HeteroDoopError:
    if match := _ERROR.search(text):
        return UsageError(match[2], code=match[1])
    said = [line for line in text.splitlines() if line and not line.startswith("help: ")]
    last = said[-1] if said else f"nothing within {START_SECONDS:g} s"
    return ToolError(f"the coordinator did not start; it said: {last}", code="HD644")


def stop(dir: str) -> Owner:
    """End the folder's coordinator and wait for it. Raises ToolError HD645 where there is none."""
    folder = _folder(dir)
    owner = _owner_or_none(folder)
    end = time.monotonic() + STOP_SECONDS
    os.kill(owner.pid, signal.SIGTERM)
    while (now := owner_of(folder)) and now.pid == owner.pid:
        if time.monotonic() > end:
            os.kill(owner.pid, signal.SIGKILL)
        time.sleep(0.05)
    return owner


def status(dir: str, connect: str, secret: Path | None) -> dict[str, Any]:
    """What a coordinator says of itself: the folder's own, or the one at `connect`. Raises ToolError HD645."""
    if connect:
        address, known = parse_address(connect), {}
        place = secret or default_secret(_folder(dir))
    else:
        owner = _owner_or_none(_folder(dir))
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(owner.host, owner.host)
        address, place, known = (host, owner.port), secret or Path(owner.secret), {"pid": owner.pid}
    try:
        found = ask_status(address, read_secret(place))
    except (OSError, BadFrame) as error:
        raise ToolError(f"{address[0]}:{address[1]} does not answer: {error}", code="HD645") from None
    return {"address": f"{address[0]}:{address[1]}", **known, **found}


def owner_of(folder: Path) -> Owner | None:
    """Who holds the folder's lock; None: nobody, or one that does not listen yet."""
    try:
        fd = os.open(folder / "coordinator.lock", os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return None
    except BlockingIOError:
        text = os.pread(fd, 4096, 0)
        return Owner(**json.loads(text)) if text else None
    finally:
        os.close(fd)


def _owner_or_none(folder: Path) -> Owner:
    owner = owner_of(folder)
    if owner is None:
        raise ToolError(f"no coordinator runs in {folder}", code="HD645", help="heterodoop coordinator start")
    return owner


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[int]:
    """Hold the folder's lock; the kernel drops it with the process. Raises UsageError HD643."""
    fd = os.open(folder / "coordinator.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = owner_of(folder)
            where = f": process {owner.pid} on {owner.host}:{owner.port}" if owner else ""
            raise UsageError(f"a coordinator runs in {folder} already{where}", code="HD643",
                             help="heterodoop coordinator status, or: heterodoop coordinator stop") from None
        os.ftruncate(fd, 0)
        yield fd
        os.ftruncate(fd, 0)
    finally:
        os.close(fd)


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


def _log_to(path: Path | None) -> None:
    handler: logging.Handler = logging.StreamHandler()
    try:
        if path:
            handler = logging.handlers.RotatingFileHandler(path, maxBytes=LOG_BYTES, backupCount=LOG_FILES)
    except OSError as error:
        raise UsageError(f"the log {path} cannot be written: {error.strerror}", code="HD644") from None
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)


def _raise_limit() -> None:
    """A connection per driver: as many open files as the administrator allows."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
