"""Turns: round robin by job, at most so many at a time, a place that can be given up."""

from __future__ import annotations

import threading
import time

import pytest

from heterodoop.driver.job.fair_queue import FairQueue, Full
from heterodoop.errors import DeviceError


class Line:
    """Threads that wait for a turn, one after the other."""

    def __init__(self, queue: FairQueue) -> None:
        self.queue = queue
        self.order: list[str] = []
        self.ahead: dict[str, list[int]] = {}
        self.threads: list[threading.Thread] = []
        self.go = threading.Event()

    def enter(self, job: str, name: str) -> None:
        waiting = self.queue.waiting + self.queue.running

        def run() -> None:
            with self.queue.turn(job, self.ahead.setdefault(name, []).append):
                self.order.append(name)
                self.go.wait(10)

        self.threads.append(threading.Thread(target=run))
        self.threads[-1].start()
        while self.queue.waiting + self.queue.running == waiting:
            time.sleep(0.005)

    def finish(self) -> list[str]:
        self.go.set()
        for thread in self.threads:
            thread.join(10)
        return self.order


def test_jobs_take_turns() -> None:
    line = Line(FairQueue(lambda: 1, 100))
    for n in range(4):
        line.enter("a", f"a{n}")
    line.enter("b", "b0")
    line.enter("c", "c0")
    line.enter("b", "b1")
    assert line.queue.running == 1 and line.queue.waiting == 6
    time.sleep(0.3)
    seen = {name: numbers[-1] for name, numbers in line.ahead.items() if numbers}
    assert line.finish() == ["a0", "a1", "b0", "c0", "a2", "b1", "a3"]
    assert seen == {"a1": 0, "b0": 1, "c0": 2, "a2": 3, "b1": 4, "a3": 5}


def test_so_many_at_a_time() -> None:
    slots = 2
    line = Line(FairQueue(lambda: slots, 100))
    for n in range(5):
        line.enter("a", f"a{n}")
    assert line.queue.running == 2
    slots = 4  # a GPU is back
    time.sleep(0.4)
    assert line.queue.running == 4
    assert sorted(line.finish()) == ["a0", "a1", "a2", "a3", "a4"] and line.queue.running == 0


def test_a_full_queue_takes_no_more() -> None:
    line = Line(FairQueue(lambda: 1, 2))
    for name in ("a0", "a1", "a2"):
        line.enter("a", name)
    assert line.queue.full
    with pytest.raises(Full), line.queue.turn("b", lambda ahead: None):
        raise AssertionError
    assert line.finish() == ["a0", "a1", "a2"] and not line.queue.full


def test_a_place_is_given_up() -> None:
    line = Line(FairQueue(lambda: 1, 10))
    line.enter("a", "a0")

    class Gone(Exception):
        pass

    def gone(ahead: int) -> None:
        raise Gone

    with pytest.raises(Gone), line.queue.turn("b", gone):
        raise AssertionError
    assert line.queue.waiting == 0
    line.enter("b", "b0")
    assert line.finish() == ["a0", "b0"]


def test_nobody_waits_for_a_turn_that_can_not_come() -> None:
    out: list[str] = []

    def slots() -> int:
        if out:
            raise DeviceError("no GPU is in service")
        return 1

    line = Line(FairQueue(slots, 10))
    line.enter("a", "a0")
    ended = threading.Event()

    def wait() -> None:
        with pytest.raises(DeviceError), line.queue.turn("b", lambda ahead: None):
            raise AssertionError
        ended.set()

    threading.Thread(target=wait).start()
    assert not ended.wait(0.3)
    out.append("out")
    assert ended.wait(2) and line.queue.waiting == 0 and line.queue.running == 1
    assert line.finish() == ["a0"]
