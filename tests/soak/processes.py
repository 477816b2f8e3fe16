"""Commands as children of a lane: started by a fork of this interpreter, which has imported all they need, or as a program.

The lane is the reaper of whatever its children leave behind (PR_SET_CHILD_SUBREAPER), so an orphan is a child of ours that
we have not started. Needs to be used by one thread.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import faulthandler
import os
import select
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import page

_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER
_TICK_SECONDS = 0.002
GRACE_SECONDS = 5.0  # for processes of a command that was killed to notice it
CONTINUE_SECONDS = 0.1  # a stopped process goes on after so long
COMMANDS = ("command", "filter", "worker", "group")


@dataclass(frozen=True)
class Strike:
    """A signal `at` seconds after the start, to the command, one of its filters or workers, or to all of its group."""

    at: float
    target: str
    signal: int
    which: int = 0


@dataclass(frozen=True)
class Ended:
    """How a command ended. status: as Popen.returncode; None: it did not end in time, and was killed."""

    status: int | None
    seconds: float
    err: str
    struck: int
    orphans: tuple[str, ...] = ()


class Family:
    """The children of this process."""

    def __init__(self) -> None:
        if ctypes.CDLL(None, use_errno=True).prctl(_SUBREAPER, 1, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "prctl")
        self.statuses: dict[int, int] = {}  # of children that have ended
        self.keep: set[int] = set()  # that may live: a driver

    def reap(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                self.statuses[found[0]] = os.waitstatus_to_exitcode(found[1])

    def fork(self, words: Sequence[str], folder: Path, log: Path, be: Callable[[], None] | None = None) -> int:
        """`heterodoop WORDS` in a copy of this process, in which `be` is called before."""
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            _become(words, folder, log, be)
        return pid

    def start(self, words: Sequence[str], folder: Path, log: Path, extra: Mapping[str, str], fds: Sequence[int] = ()) -> int:
        """`heterodoop WORDS` as a process from the beginning, start of the interpreter and imports too."""
        pid = os.fork()
        if pid == 0:
            with _fatal():
                _prepare(folder, log, extra)
                for fd in fds:
                    os.set_inheritable(fd, True)
                os.execv(sys.executable, [sys.executable, "-m", "heterodoop", *words])
        return pid

    def watch(self, pid: int, strikes: Iterable[Strike], limit: float, shared: page.Page) -> tuple[int | None, int]:
        """Wait for the end and strike on the way. Returns the status (None: over the limit) and how often it struck."""
        begun, waiting, struck = time.monotonic(), sorted(strikes, key=lambda strike: strike.at), 0
        go_on: float | None = None
        handle = os.pidfd_open(pid)
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        try:
            while not poll.poll(_pause(waiting, begun, go_on)):
                now = time.monotonic()
                if now - begun > limit:
                    return None, struck
                if waiting and now - begun >= waiting[0].at and send(pid, waiting[0]):
                    stopped = waiting.pop(0).signal == signal.SIGSTOP
                    struck += 1
                    go_on = now + CONTINUE_SECONDS if stopped else go_on
                if go_on is None and shared.stopped():
                    go_on = now + CONTINUE_SECONDS
                if go_on is not None and now >= go_on:
                    go_on = None
                    shared.forget_stops()
                    for number in [pid, *descendants(pid)]:
                        _kill(number, signal.SIGCONT)
        finally:
            os.close(handle)
        self.reap()
        return self.statuses.pop(pid), struck

    def others(self) -> list[int]:
        """Children that live and are not to be kept, with all their descendants."""
        self.reap()
        found = [pid for pid in children(os.getpid()) if pid not in self.keep]
        return [*found, *(lower for pid in found for lower in descendants(pid))]

    def orphans(self, seconds: float = GRACE_SECONDS) -> tuple[str, ...]:
        """What a command has left running after so long, in words; none of it runs afterwards."""
        if not self.keep and self._alone():
            return ()
        end = time.monotonic() + seconds
        while (left := self.others()) and time.monotonic() < end:
            time.sleep(_TICK_SECONDS)
        named = tuple(f"{pid}: {name(pid)}" for pid in left)
        self.end(left)
        return named

    def end(self, pids: Iterable[int]) -> None:
        for pid in pids:
            _kill(pid, signal.SIGKILL)
        while self.others():
            for pid in self.others():
                _kill(pid, signal.SIGKILL)
            time.sleep(_TICK_SECONDS)

    def _alone(self) -> bool:
        self.reap()
        try:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return True
        return False


def _pause(waiting: Sequence[Strike], begun: float, go_on: float | None) -> int:
    """Milliseconds until there is something to do."""
    if go_on is not None:
        return max(1, int((go_on - time.monotonic()) * 1000))
    if not waiting:
        return 50
    return max(1, min(50, int((waiting[0].at - (time.monotonic() - begun)) * 1000)))


def send(pid: int, strike: Strike) -> bool:
    """Whether there was somebody to strike."""
    found = targets(pid, strike.target)
    if not found:
        return False
    if strike.target == "group":
        return sum(_kill(number, strike.signal) for number in found) > 0
    return _kill(found[strike.which % len(found)], strike.signal)


def targets(pid: int, target: str) -> list[int]:
    """Processes that a strike means. `group`: the command and all that it started."""
    if target == "command":
        return [pid]
    lower = descendants(pid)
    if target == "group":
        return [pid, *lower]
    marks = {"filter": ".hdp/bin/", "worker": "executor.worker"}
    return [number for number in lower if marks[target] in name(number)]


def _kill(pid: int, number: int) -> bool:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True


def name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return ""


def children(pid: int) -> list[int]:
    """Of all its threads, where the kernel says that; else by looking at every process."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
        return [int(n) for t in threads for n in Path(f"/proc/{pid}/task/{t}/children").read_text().split()]
    except FileNotFoundError:
        return [int(n) for n in os.listdir("/proc") if n.isdigit() and _parent(n) == pid]
    except OSError:
        return []


def _parent(number: str) -> int:
    try:
        return int(Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return -1


def descendants(pid: int) -> list[int]:
    found: list[int] = []
    for child in children(pid):
        found += [child, *descendants(child)]
    return found


@contextlib.contextmanager
def _fatal() -> Iterator[None]:
    """In a child: whatever goes wrong ends the process, and never runs on as a second lane."""
    try:
        yield
    except KeyboardInterrupt:  # a signal before the command's own code runs, or behind it
        os._exit(130)
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(71)


def _prepare(folder: Path, log: Path, extra: Mapping[str, str]) -> None:
    os.setsid()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    null, fd = os.open(os.devnull, os.O_RDONLY), os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
    os.dup2(null, 0)
    os.dup2(fd, 1)
    os.dup2(fd, 2)
    os.chdir(folder)
    os.environ.update(extra)


def _become(words: Sequence[str], folder: Path, log: Path, be: Callable[[], None] | None) -> None:
    """Be `heterodoop WORDS` to the end, with what ends an interpreter."""
    from heterodoop import __main__ as entry

    status = 71
    with _fatal():
        _prepare(folder, log, {})
        if be:
            be()
        faulthandler.register(signal.SIGUSR2, file=2, all_threads=True)
        ctypes.CDLL(None).soak_role(page.COMMAND)
        sys.argv = ["heterodoop", *words]
        try:
            entry.start()
            status = 0
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 1
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        with contextlib.suppress(OSError):
            sys.stderr.flush()
    os._exit(status)
