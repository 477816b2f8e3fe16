"""What a worker process starts: the GPU wakes in a thread while Python imports the rest (worker.py, PyCUDA).

    python -m heterodoop.executor.worker.main KIND NUMBER PARENT CONTROL SESSIONS BLOCKS

KIND is cuda or emulated, NUMBER the GPU that it will probably be told to open ("-": nobody knows), PARENT the engine's
process, the rest descriptors: a control channel, and per session a channel and the memory of its running task's numbers.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

from ...errors import EXIT_OK
from ..gpu.waking import Waking

_PR_SET_PDEATHSIG = 1


def main() -> None:
    kind, number, parent, *descriptors = sys.argv[1:]
    _die_with(int(parent))
    waking = Waking(None if number == "-" else int(number)) if kind == "cuda" else None
    if waking:
        waking.start()
    from . import worker

    worker.main(kind, descriptors, waking)


def _die_with(parent: int) -> None:
    """The kernel kills this process when the engine's thread that started it ends, kill -9 of the engine included."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it ended before that
        sys.exit(0)


if __name__ == "__main__":
    main()
    os._exit(EXIT_OK)  # all is closed; what Python and its modules do at their end takes longer than a small task
