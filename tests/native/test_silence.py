"""Filters that say nothing for too long, that use more memory than they may, and filters that cannot be started just now."""

from __future__ import annotations

import errno
import itertools
import os
import resource
import sys
import threading
import time

import pytest

from heterodoop.executor.native.runtime import TaskStatus

from .conftest import RunMap


@pytest.mark.parametrize("script", ["sleep 60", "cat > /dev/null; sleep 60", "echo a; sleep 60", "exec >&- 2>&-; sleep 60"])
def test_a_silent_filter_is_stopped_after_its_time(run_map: RunMap, script: str) -> None:
    begun = time.monotonic()
    result, output = run_map(["/bin/sh", "-c", script], b"a\n", env=["PATH=/usr/bin:/bin"], timeout_seconds=0.3)
    assert (result.status, output) == (TaskStatus.TIMED_OUT, b"") and 0.3 <= time.monotonic() - begun < 20
    assert "/bin/sh made no progress for 0.3 s" in result.message


@pytest.mark.parametrize("says", ["echo a\t1", "echo log >&2", "echo reporter:status:alive >&2"])
def test_a_filter_that_says_something_now_and_then_is_not_silent(run_map: RunMap, says: str) -> None:
    script = f"for i in 1 2 3 4 5; do sleep 0.2; {says}; done"
    result, _ = run_map(["/bin/sh", "-c", script], b"a\n", env=["PATH=/usr/bin:/bin"], timeout_seconds=0.7)
    assert result.ok, result.message


def test_no_time_is_no_limit(run_map: RunMap) -> None:
    assert run_map(["/bin/sleep", "0.5"], b"a\n", timeout_seconds=0)[0].ok


def is_open(fd: int) -> bool:
    try:
        os.fstat(fd)
    except OSError:
        return False
    return True


@pytest.mark.parametrize("passes", [True, False])
def test_a_filter_is_started_once_there_are_descriptors_again(run_map: RunMap, passes: bool) -> None:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = (fd for fd in itertools.count() if not is_open(fd))
    fifth = next(itertools.islice(free, 4, None))
    resource.setrlimit(resource.RLIMIT_NOFILE, (fifth, limits[1]))  # four are left: the task's own files, and no two pipes
    again = threading.Timer(0.2, lambda: resource.setrlimit(resource.RLIMIT_NOFILE, limits))
    if passes:
        again.start()
    try:
        result, _ = run_map(["/bin/echo"], b"a\n")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    if passes:
        again.join()
        assert result.ok, result.message
    else:
        assert (result.status, result.error_number) == (TaskStatus.SPAWN_FAILED, errno.EMFILE)


GROWS = "import signal; kept = b'x' * (40 << 20); signal.pause()"


@pytest.mark.parametrize("command", [
    [sys.executable, "-S", "-c", GROWS], ["/bin/sh", "-c", f'{sys.executable} -S -c "{GROWS}"; true'],
], ids=["itself", "what it started"])
def test_a_filter_that_uses_more_memory_than_it_may_is_stopped(run_map: RunMap, command: list[str]) -> None:
    result, output = run_map(command, b"a\n", memory=32 << 20, timeout_seconds=60)
    assert (result.status, output) == (TaskStatus.MEMORY, b"")
    assert result.message.startswith(f"{command[0]}, with what it started, used ") and "and may use 32 MiB" in result.message


def test_a_filter_that_uses_less_runs(run_map: RunMap) -> None:
    assert run_map(["/bin/cat"], b"a\n", memory=32 << 20)[1] == b"a\t\n"
