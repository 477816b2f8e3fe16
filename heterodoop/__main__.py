"""What the `heterodoop` command and `python -m heterodoop` start."""

from __future__ import annotations

import signal

# Before anything is imported: Ctrl-C ends a command that has not begun, without a word. Signals that are ignored stay so.
_INTERRUPTS = signal.getsignal(signal.SIGINT) is signal.default_int_handler
if _INTERRUPTS:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # held back until here: cli/launcher/heterodoop

import gc  # noqa: E402
import math  # noqa: E402
import sys  # noqa: E402
from contextlib import AbstractContextManager  # noqa: E402

from . import last_resort  # noqa: E402
from .cli import main  # noqa: E402

# Objects that are made before Python looks for unreachable ones: a run makes a few thousand, and keeps most of them.
_COLLECT_EVERY = 20_000
_SIGNAL_SECONDS = 1.5  # from a signal to the end by force
_SERVICE = "--foreground"  # a driver's tasks end first, unless it is told twice
_SERVICE_SECONDS = 2.0  # from the second signal


def start() -> None:
    """Run the command line in a process that ends with it."""
    gc.set_threshold(_COLLECT_EVERY)
    if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN:  # inherited, and nobody could hear how a filter ended
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    status: int | str | None = last_resort.EXIT
    try:
        if _INTERRUPTS:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        with _watched():
            try:
                main()
            except SystemExit as end:
                status = end.code
            finally:
                _settle()
    except KeyboardInterrupt:  # before `main` could see it, or after it was done, and then too late to change its status
        pass
    finally:
        gc.freeze()  # the interpreter's last collection would visit every module to free memory that the process gives back
    sys.exit(status)


def _settle() -> None:
    for number in last_resort.SIGNALS:
        signal.signal(number, signal.SIG_IGN)  # the command has ended, and its status stands
    last_resort.settle()


def _watched() -> AbstractContextManager[None]:
    if _SERVICE in sys.argv:
        return last_resort.watching(math.inf, _SERVICE_SECONDS)
    return last_resort.watching(_SIGNAL_SECONDS)


if __name__ == "__main__":
    start()
