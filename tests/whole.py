"""All tests: those of the native runtime on a sanitizer build, and beside them everything else, also what needs a Hadoop.

    python -m tests.whole LIBRARY [PYTEST ARGUMENTS]

LIBRARY is the sanitizer build of libhd_host.so. What the run on it says is shown when both have ended. The exit status is 0
only if every test of both passed, and at least one ran in each. Not a test module.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from . import in_memory

ROOT = Path(__file__).resolve().parent.parent
GRACE_SECONDS = 30.0  # for a pytest that was interrupted: its fixtures end servers
SLOWEST = "--durations=50"


def together(beside: Sequence[str], here: Sequence[str]) -> int:
    """Run two commands at once; the output of `beside` is shown at the end.

    Returns the exit status of one that failed, or 0; a signal's number is one too. Neither is left running, whatever ends
    this function.
    """
    begun = time.monotonic()
    started: list[subprocess.Popen[bytes]] = []
    with tempfile.TemporaryFile() as said:
        try:
            started.append(_start(beside, said))
            started.append(_start(here, None))
            for process in reversed(started):
                process.wait()
        finally:
            for process in started:
                _end(process)
            _show(beside, said)
    other, main = (process.returncode for process in started)
    print(f"exit status {main}, and {other} beside it, after {time.monotonic() - begun:.0f} s", flush=True)
    return next((abs(status) for status in (main, other) if status), 0)


def _start(command: Sequence[str], said: IO[bytes] | None) -> subprocess.Popen[bytes]:
    """In a process group of its own: an interrupt from the terminal is ours, and reaches each once."""
    return subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=said, stderr=said, process_group=0)


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    os.killpg(process.pid, signal.SIGINT)
    try:
        process.wait(GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _show(command: Sequence[str], said: IO[bytes]) -> None:
    print(f"\n=== {shlex.join(command)}", flush=True)
    said.seek(0)
    sys.stdout.buffer.write(said.read())
    sys.stdout.flush()


def main() -> None:
    library, *arguments = sys.argv[1:]
    sanitized = [sys.executable, "-m", "tests.sanitized", library, SLOWEST]
    # Two workers more than there are processors: those that have a Hadoop mostly wait. One more made it no shorter.
    workers = str(len(os.sched_getaffinity(0)) + 2)
    rest = [sys.executable, "-m", "pytest", "-n", workers, "--sanitized-elsewhere", SLOWEST, *arguments]
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, frame: sys.exit(128 + number))
    try:
        with in_memory.temporary_files():
            sys.exit(together(sanitized, rest))
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
