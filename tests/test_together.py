"""Work in threads ends with its block; the processes of one that fails are killed."""

from __future__ import annotations

import threading
import time

import pytest

from heterodoop import together
from heterodoop.together import Threads
from heterodoop.toolchain import cc


def test_results_and_errors_come_with_the_work() -> None:
    with Threads() as work:
        good, bad = work.begin(pow, 2, 5), work.begin(int, "x")
    assert good.result() == 32
    with pytest.raises(ValueError):
        bad.result()


def test_what_is_begun_first_is_done_first() -> None:
    """So later work may wait for earlier, however few threads there are."""
    with Threads() as work:
        first = work.begin(time.sleep, 0.05)
        later = [work.begin(first.result) for _ in range(40)]
    assert all(one.result() is None for one in later)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_error_kills_what_still_runs(error: type[BaseException]) -> None:
    began = time.monotonic()
    with pytest.raises(error), Threads() as work:
        running = work.begin(cc.run, ["sh", "-c", "sleep 30 & wait"])
        waiting = [work.begin(cc.run, ["sleep", "30"]) for _ in range(20)]
        while running.running() is False:
            time.sleep(0.001)
        raise error
    assert time.monotonic() - began < 20
    assert running.result().returncode == -9 and all(one.cancelled() or one.result().returncode == -9 for one in waiting)


def test_a_command_that_starts_too_late_is_killed_at_once() -> None:
    started, killed = threading.Event(), threading.Event()

    def late() -> None:
        started.wait(10)
        with together.ending(killed.set):
            pass

    with pytest.raises(ValueError), Threads() as work:
        work.begin(late)
        work._end()
        started.set()
        raise ValueError
    assert killed.is_set()


def test_alone_nothing_ends_a_command() -> None:
    with together.ending(lambda: pytest.fail("nobody asked for it")):
        assert cc.run(["true"]).returncode == 0
