"""Starting a Python process of ours, and hearing that it serves.

It imports the package that its starter runs from, has no input, and a session of its own, so that a Ctrl-C is not for it.
Imports little: `run` starts a worker before it imports what a job needs. Not here: how it ends (processes.py).
"""

from __future__ import annotations

import os
import resource
import select
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import IO, NamedTuple

from ..resources import PACKAGE

Child = subprocess.Popen[bytes]
_NOTHING: Mapping[str, str] = MappingProxyType({})
_behind: list[Child] = []  # those that live on; kept, so that none is forgotten before it has ended


class StartFailed(NamedTuple):
    """A process that does not serve: its exit status, and what it said."""

    status: int
    said: str


def python(
    words: Sequence[str], *, stderr: int | IO[bytes], stdout: int | IO[bytes] = subprocess.DEVNULL,
    pass_fds: Sequence[int] = (), cwd: str | None = "/", more: Mapping[str, str] = _NOTHING,
) -> Child:
    """Start Python with these words. Raises OSError.

    cwd   None: the caller's. Where it is "/", paths among the words are absolute.
    more  variables for it, beside ours.
    """
    # -P and our own folder first: the user's working folder must not offer modules of our names.
    path = os.pathsep.join([str(PACKAGE.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.Popen(
        [sys.executable, "-P", *words], stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, pass_fds=pass_fds, cwd=cwd,
        env={**os.environ, "PYTHONPATH": path, **more}, start_new_session=True,
    )


def command(words: Sequence[str], said: IO[bytes], seconds: float | None = None) -> str | StartFailed:
    """Start `heterodoop WORDS --ready-fd N` behind the caller, and wait until it serves. Returns what it says then.

    said     its stderr: a file, which is read where it ends.
    seconds  after which it is killed if it does not serve; None: an interrupt alone ends the wait, and it.
    """
    reader, writer = os.pipe()
    with open(reader, "rb") as ready:
        try:
            child = python(["-m", "heterodoop", *words, "--ready-fd", str(writer)], stderr=said, pass_fds=[writer])
        finally:
            os.close(writer)
        try:
            line = _line(ready.fileno(), seconds)
        except BaseException:
            child.terminate()
            raise
    if line:
        leave(child)
        return line
    if line is None:
        child.kill()
    status = child.wait()
    said.seek(0)
    return StartFailed(status, said.read().decode("utf-8", "backslashreplace").strip())


def leave(child: Child) -> None:
    """Let it live on behind us."""
    _behind.append(child)


def reap() -> None:
    """Take notice of those that we left behind and that have ended."""
    _behind[:] = [child for child in _behind if child.poll() is None]


def say_ready(fd: int, line: str = "ready") -> None:
    """Tell who started us with this --ready-fd that we serve."""
    os.write(fd, f"{line}\n".encode())
    os.close(fd)


def allow_descriptors() -> None:
    """For this process, as many open files as the system lets it have: a server's connections take one each."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _line(fd: int, seconds: float | None) -> str | None:
    """What the process says when it serves; "": it ended before; None: it took too long."""
    end, found = time.monotonic() + (seconds or 0.0), b""
    while not found.endswith(b"\n"):
        left = None if seconds is None else max(0.0, end - time.monotonic())
        if not select.select([fd], [], [], left)[0]:
            return None
        piece = os.read(fd, 4096)
        if not piece:
            return ""
        found += piece
    return found.decode("utf-8", "replace").strip()
