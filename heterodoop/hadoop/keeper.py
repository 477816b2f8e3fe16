"""The keeper of a test cluster: `python -m heterodoop.hadoop.keeper DIR ID PID START`, started by `cluster.up`.

It waits for the owner's end (a kill -9 too, which lets nobody clean up), then takes the cluster down, and ends by itself
when the cluster is gone or has been replaced. It cannot be a thread or a child that dies with the owner.
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from ..daemon import processes
from ..daemon.processes import Process
from . import cluster
from .embedded import state
from .embedded.folder import Folder

_LOOK = 1.0


def main(folder: Folder, start: str, owner: Process) -> None:
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while not processes.wait_end(owner, _LOOK):
        now = state.read(folder)
        if now is None or now.id != start:
            return
    now = state.read(folder)
    if now is not None and now.id == start:
        cluster.down(folder.path)


if __name__ == "__main__":
    main(Folder(Path(sys.argv[1])), sys.argv[2], Process(int(sys.argv[3]), int(sys.argv[4])))
