"""A signal ends the command, whatever its main thread does: in order if it can, else by force.

The main thread notices a signal when it runs Python code again. In an open() of a FIFO, or on a dead mount, it never does.
So a thread of its own hears of each signal, waits for a moment, and then kills, removes and leaves. A second signal means
now. Not here: ending in order (`cli`, `engine.signals`).
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


@contextlib.contextmanager
def watching(seconds: float) -> Iterator[None]:
    """Inside, the process ends at the latest `seconds` after a signal that Python handles. For the main thread.

    Where the machine has no pipe or thread for that, signals are what they are without it.
    """
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError, RuntimeError):
            _start(stack, seconds)
        yield


def _start(stack: contextlib.ExitStack, seconds: float) -> None:
    """Watch until the stack ends. Raises OSError, RuntimeError: there is no descriptor, no thread."""
    ear, mouth = map(_above_standard_files, os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK))
    stack.callback(_close, ear)
    stack.callback(_close, mouth)
    thread = threading.Thread(target=_watch, args=(ear, seconds), name="heterodoop-last-resort", daemon=True)
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


def _watch(ear: int, seconds: float) -> None:
    """Where the pipe fails, nobody watches any more: signals are what they are without it."""
    with contextlib.suppress(OSError):
        _hear(ear, seconds)


def _hear(ear: int, seconds: float) -> None:
    first, number = 0.0, 0
    while True:
        left = max(0.0, first + seconds - time.monotonic()) if number else None
        if not select.select([ear], [], [], left)[0]:
            _leave(number)
        heard = os.read(ear, 4096)
        if _QUIT in heard:
            return
        if stops := [one for one in heard if one in SIGNALS]:
            if number and time.monotonic() - first > SAME_SECONDS:
                _leave(number)
            if not number:
                first, number = time.monotonic(), stops[0]


def _leave(number: int) -> None:
    """Does not return. `number`: the signal that came first, which is named as where the command ends in order."""
    with _lock:
        calls = [call for _, call in sorted(_cleanups.items(), reverse=True)]
    thread = threading.Thread(target=lambda: [call() for call in calls], daemon=True)
    thread.start()
    thread.join(CLEAN_SECONDS)
    with contextlib.suppress(OSError):
        os.set_blocking(2, False)
        os.write(2, f"heterodoop: interrupted by {signal.Signals(number).name}\n".encode())
    os._exit(EXIT)
