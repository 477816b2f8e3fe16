"""The test runs of `make test` and of `make long`; scheduling.py says which tests are of which.

    python -m tests.whole [PYTEST ARGUMENTS]
    python -m tests.whole --long LIBRARY [PYTEST ARGUMENTS]

LIBRARY is the sanitizer build of libhd_host.so: the tests of the native runtime run on it, beside the long ones. What that
run says is shown when both have ended. The exit status is 0 only if every test passed, and at least one ran in each run.
Not a test module.
"""

from __future__ import annotations

import contextlib
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


def together(here: Sequence[str], *beside: Sequence[str]) -> int:
    """Run commands at once; what those `beside` print is shown at the end.

    Returns the exit status of one that failed, or 0; a signal's number is one too. None is left running, whatever ends this
    function.
    """
    begun = time.monotonic()
    started: list[subprocess.Popen[bytes]] = []
    with contextlib.ExitStack() as files:
        said = [files.enter_context(tempfile.TemporaryFile()) for _ in beside]
        try:
            started += [_start(command, file) for command, file in zip(beside, said, strict=True)]
            started.append(_start(here, None))
            for process in reversed(started):
                process.wait()
        finally:
            for process in started:
                _end(process)
            for command, file in zip(beside, said, strict=True):
                _show(command, file)
    statuses = [process.returncode for process in reversed(started)]
    print(f"exit status {', '.join(map(str, statuses))} after {time.monotonic() - begun:.0f} s", flush=True)
    return next((abs(status) for status in statuses if status), 0)


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
    library, arguments = (sys.argv[2], sys.argv[3:]) if sys.argv[1:2] == ["--long"] else ("", sys.argv[1:])
    # Two workers more than there are processors: those that have a Hadoop mostly wait. One more made it no shorter.
    workers = str(len(os.sched_getaffinity(0)) + 2)
    part = "long" if library else "test"
    here = [sys.executable, "-m", "pytest", "-n", workers, "--part", part, SLOWEST, *arguments]
    sanitized = [sys.executable, "-m", "tests.sanitized", library, SLOWEST]
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, frame: sys.exit(128 + number))
    try:
        with in_memory.temporary_files():
            sys.exit(together(here, *([sanitized] if library else [])))
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
