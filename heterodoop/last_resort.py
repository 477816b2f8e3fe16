"""A signal ends the command, whatever its main thread does: in order if it can, else by force.

The main thread notices a signal when it runs Python code again. In an open() of a FIFO, or on a dead mount, it never does.
So a thread of its own hears of each signal, waits for a moment, and then kills, removes and leaves. A second signal means
now. Not here: ending in order (`cli`, `engine.terminal.signals`).
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import threading
import time
from collections.abc import Callable, Iterator

EXIT = 130
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SAME_SECONDS = 0.2  # a second signal so soon is the first one once more: to the process, and to its group
CLEAN_SECONDS = 5.0
_QUIT = 0
_LONG = 1e6  # seconds; more than select takes is for ever
_ORDER_SECONDS = 1.5  # to end in order, when what was waited for is over

_cleanups: dict[int, Callable[[], None]] = {}  # the last one is done first
_owed: set[int] = set()  # those of them that `settle` does
_lock = threading.Lock()
_count = 0


@contextlib.contextmanager
def cleaning(call: Callable[[], None]) -> Iterator[None]:
    """Inside, `call` is part of what is done by force; it may run beside what the main thread does, and must not fail."""
    number = _add(call)
    try:
        yield
    finally:
        _drop(number)


@contextlib.contextmanager
def owing(call: Callable[[], None]) -> Iterator[None]:
    """As `cleaning`, and `call` is done at the end. Where an interrupt cuts that short, `settle` does it once more."""
    number = _add(call)
    _owed.add(number)
    try:
        yield
    finally:
        call()
        _owed.discard(number)
        _drop(number)


def settle() -> None:
    """Do what interrupts cut short. For the end of the process, when signals change nothing any more."""
    for number in sorted(_owed, reverse=True):
        _cleanups[number]()
    _owed.clear()


def _add(call: Callable[[], None]) -> int:
    global _count
    with _lock:
        _count += 1
        _cleanups[_count] = call
        return _count


def _drop(number: int) -> None:
    with _lock:
        del _cleanups[number]


class _Wait:
    """What the end of the command waits for, and until when; told once to whoever sent a signal."""

    def __init__(self) -> None:
        self.until, self._what, self._heard = 0.0, "", False

    def begin(self, seconds: float, what: str) -> None:
        with _lock:
            self.until, self._what = time.monotonic() + seconds, what
            self._tell()

    def end(self) -> None:
        with _lock:
            self.until, self._what = time.monotonic() + _ORDER_SECONDS, ""

    def heard(self) -> None:
        with _lock:
            self._heard = True
            self._tell()

    def _tell(self) -> None:
        if self._heard and self._what:
            seconds = self.until - time.monotonic()
            _say(f"interrupted; {self._what}: at most {seconds:.0f} s more, a second signal ends it now")


_wait = _Wait()


@contextlib.contextmanager
def allowing(seconds: float, what: str) -> Iterator[None]:
    """Inside, a signal may take up to `seconds` to end the command, since `what` happens. Who sent it is told so."""
    _wait.begin(seconds, what)
    try:
        yield
    finally:
        _wait.end()


def leave_within(seconds: float, number: int) -> None:
    """End the process by force if it has not ended by then; for a loop that takes signal `number` itself."""
    timer = threading.Timer(seconds, _leave, [number])
    timer.daemon = True
    timer.start()


@contextlib.contextmanager
def watching(seconds: float, again: float = 0.0) -> Iterator[None]:
    """Inside, the process ends at the latest `seconds` after a signal that Python handles. For the main thread.

    again  seconds from a second signal to the end. Where the machine has no pipe or thread for that, signals are what they
           are without it.
    """
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError, RuntimeError):
            _start(stack, seconds, again)
        yield


def _start(stack: contextlib.ExitStack, seconds: float, again: float) -> None:
    """Watch until the stack ends. Raises OSError, RuntimeError: there is no descriptor, no thread."""
    ear, mouth = map(_above_standard_files, os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK))
    stack.callback(_close, ear)
    stack.callback(_close, mouth)
    thread = threading.Thread(target=_watch, args=(ear, seconds, again), name="heterodoop-last-resort", daemon=True)
    thread.start()
    stack.callback(_end, mouth, thread)
    stack.callback(signal.set_wakeup_fd, signal.set_wakeup_fd(mouth, warn_on_full_buffer=False))


def _end(mouth: int, thread: threading.Thread) -> None:
    with contextlib.suppress(OSError):
        os.write(mouth, bytes([_QUIT]))
        thread.join()


def _close(fd: int) -> None:
    with contextlib.suppress(OSError):  # what a close says is of no use to anybody here
        os.close(fd)


def _above_standard_files(fd: int) -> int:
    """Where stdout is closed, a new descriptor would be it."""
    if fd > 2:
        return fd
    moved = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3)
    os.close(fd)
    return moved


def _watch(ear: int, seconds: float, again: float) -> None:
    """Where the pipe fails, nobody watches any more: signals are what they are without it."""
    with contextlib.suppress(OSError):
        while (number := _next(ear, _LONG)) is None:
            pass
        if number:
            _wait.heard()
            if not _ended(ear, time.monotonic(), seconds, again):
                _leave(number)


def _ended(ear: int, first: float, seconds: float, again: float) -> bool:
    """Whether the command ends in order in time. first: when the first signal came."""
    while (left := max(first + seconds, _wait.until) - time.monotonic()) > 0:
        found = _next(ear, left)
        if found == _QUIT:
            return True
        if found and time.monotonic() - first > SAME_SECONDS:
            return _next(ear, again) == _QUIT
    return False


def _next(ear: int, seconds: float) -> int | None:
    """The next signal that ends, or _QUIT; None: there is none in this time."""
    end = time.monotonic() + seconds
    while select.select([ear], [], [], min(max(0.0, end - time.monotonic()), _LONG))[0]:
        heard = os.read(ear, 4096)
        if _QUIT in heard:
            return _QUIT
        if stops := [one for one in heard if one in SIGNALS]:
            return stops[0]
    return None


def _say(text: str) -> None:
    """To stderr, whoever else writes there and however full it is."""
    with contextlib.suppress(OSError):
        os.set_blocking(2, False)
        os.write(2, f"heterodoop: {text}\n".encode())


def _leave(number: int) -> None:
    """Does not return. `number`: the signal that came first, which is named as where the command ends in order."""
    with _lock:
        calls = [call for _, call in sorted(_cleanups.items(), reverse=True)]
    thread = threading.Thread(target=lambda: [call() for call in calls], daemon=True)
    thread.start()
    thread.join(CLEAN_SECONDS)
    _say(f"interrupted by {signal.Signals(number).name}")
    os._exit(EXIT)
