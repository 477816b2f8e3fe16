"""Timing of whole commands, by the clock and by processors: interleaved rounds, medians, and the peak memory of an engine
without its filters."""

from __future__ import annotations

import contextlib
import os
import platform
import resource
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

POLL_SECONDS = 0.02


@dataclass
class Contender:
    """Something that is timed. `run` does the whole work once; `note` says why it cannot run, "" where it can."""

    name: str
    run: Callable[[], object]
    note: str = ""
    rounds: int = 0  # 0: in every round
    seconds: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)  # seconds of processors, of all that it started

    @property
    def median(self) -> float:
        return statistics.median(self.seconds) if self.seconds else float("nan")

    def against(self, other: Contender) -> str:
        """For a note: another one's processor time by this one's. The clock says little where other work goes on."""
        if not self.processor or not other.processor:
            return ""
        return f"{statistics.median(other.processor) / statistics.median(self.processor):.2f} x by processor seconds"


def processor_seconds() -> float:
    """Of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def interleave(contenders: Sequence[Contender], rounds: int, say: Callable[[str], None]) -> None:
    """Run every contender once per round, in turn, so that a slow minute of the machine hits all of them alike."""
    for number in range(rounds):
        for contender in contenders:
            if contender.note or (contender.rounds and number >= contender.rounds):
                continue
            started, before = time.perf_counter(), processor_seconds()
            contender.run()
            contender.seconds.append(time.perf_counter() - started)
            contender.processor.append(processor_seconds() - before)
            spent = f"{contender.seconds[-1]:.2f} s, {contender.processor[-1]:.2f} s of processors"
            say(f"  round {number + 1}/{rounds}  {contender.name}: {spent}")


def peak_memory(argv: Sequence[str]) -> int:
    """Peak resident bytes of a command and of its child processes that run the same executable; filters do not count.

    VmHWM only grows, so the last value seen before a process ends is its peak up to the polling interval.
    """
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL)
    peaks: dict[int, int] = {}
    done = threading.Event()
    watcher = threading.Thread(target=_watch, args=(process.pid, peaks, done))
    watcher.start()
    status = process.wait()
    done.set()
    watcher.join()
    if status:
        raise subprocess.CalledProcessError(status, argv)
    return sum(peaks.values())


def _watch(root: int, peaks: dict[int, int], done: threading.Event) -> None:
    while not done.wait(POLL_SECONDS):
        with contextlib.suppress(OSError):
            engine = os.readlink(f"/proc/{root}/exe")
            for pid in [root, *_descendants(root)]:
                if _executable(pid) == engine:
                    peaks[pid] = max(peaks.get(pid, 0), _high_water(pid))


def _executable(pid: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return ""


def _high_water(pid: int) -> int:
    """VmHWM of a process in bytes; 0 where it has just ended."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0


def _descendants(pid: int) -> Iterator[int]:
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            for child in Path(f"/proc/{pid}/task/{task}/children").read_text().split():
                yield int(child)
                yield from _descendants(int(child))


def command() -> str:
    """How this script was called, as a page can say it: `python -m bench.NAME ...`."""
    return " ".join(["python -m", f"bench.{Path(sys.argv[0]).stem}", *sys.argv[1:]])


def machine() -> dict[str, str]:
    """What the numbers depend on: processor, cores this process may use, memory, system."""
    model = "unknown processor"
    with contextlib.suppress(OSError):
        names = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
        model = names[0].split(":", 1)[1].strip() if names else model
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "processor": model,
        "cores": str(len(os.sched_getaffinity(0))),
        "memory": f"{memory:.0f} GiB",
        "system": f"{platform.system()} {platform.release()}, Python {platform.python_version()}",
    }
