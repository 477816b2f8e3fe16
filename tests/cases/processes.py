"""The command line as a process that is watched from outside: its memory, its children, what it leaves behind."""

from __future__ import annotations

import os
import subprocess
import threading
import uuid
from dataclasses import dataclass, field
from pathlib import Path

from ..support import COMMAND, Done, environment

MARK = "HETERODOOP_TEST_MARK"


@dataclass
class Watched:
    """A running command and everything it started, found by a mark in their environment."""

    process: subprocess.Popen[bytes]
    mark: str
    peaks: dict[int, int] = field(default_factory=dict)  # process -> the most memory it ever had, bytes

    def processes(self) -> list[int]:
        """The command and all its descendants that live."""
        wanted = f"{MARK}={self.mark}".encode()
        found = []
        for entry in os.listdir("/proc"):
            if entry.isdigit():
                try:
                    if wanted in Path("/proc", entry, "environ").read_bytes().split(b"\0"):
                        found.append(int(entry))
                except OSError:
                    pass
        return found

    def measure(self) -> None:
        for number in self.processes():
            try:
                text = Path(f"/proc/{number}/status").read_text()
            except OSError:
                continue
            for line in text.splitlines():
                if line.startswith("VmHWM:"):
                    self.peaks[number] = int(line.split()[1]) << 10


@dataclass(frozen=True)
class WatchedDone(Done):
    """`peak_bytes`: the sum of every process's own peak, so never less than the peak of all together."""

    peak_bytes: int


def start_watched(folder: Path, *arguments: object, **env: str) -> Watched:
    """Start `heterodoop ARGUMENTS` in `folder`."""
    mark = uuid.uuid4().hex
    process = subprocess.Popen(
        [*COMMAND, *map(str, arguments)], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=environment({MARK: mark, **env}), start_new_session=True,
    )
    return Watched(process, mark)


def run_watched(folder: Path, *arguments: object, seconds: float = 60) -> WatchedDone:
    """Run `heterodoop ARGUMENTS` to its end and measure it all the while."""
    watched = start_watched(folder, *arguments)
    ended = threading.Event()

    def sample() -> None:
        while not ended.wait(0.01):
            watched.measure()

    sampler = threading.Thread(target=sample)
    sampler.start()
    try:
        out, err = watched.process.communicate(timeout=seconds)
    finally:
        ended.set()
        sampler.join()
    return WatchedDone(watched.process.returncode, out, err, sum(watched.peaks.values()))
