"""Signals that end the command, held while it does what must not be left half done: a process or folder nobody knows of.

Not here: what a signal then does (`cli`, `engine.terminal.signals`, `last_resort`, which goes on hearing them).
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator

from .last_resort import SIGNALS


@contextlib.contextmanager
def held() -> Iterator[None]:
    """What came inside is handled at the block's end, once. Does nothing outside the main thread; keep it short."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    caught: list[int] = []
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    for number, handler in handlers.items():
        if callable(handler):  # neither ignored, as under nohup, nor the system's own
            signal.signal(number, lambda number, frame: caught.append(number))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for first in caught[:1]:  # also where the block failed
            handler = handlers[signal.Signals(first)]
            assert callable(handler)
            handler(first, None)
