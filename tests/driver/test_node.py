"""The node for threads: who waits for a device gets it in turns, can give up, and waits for none that cannot come."""

from __future__ import annotations

import threading
import time
from contextlib import suppress

import pytest

from heterodoop.driver.job.offer import Declined
from heterodoop.driver.node import Node, World
from heterodoop.executor.native.runtime import Progress
from heterodoop.scheduler.node.machine import NodeMachine
from heterodoop.scheduler.node.model import Device, Lend

from .running import wait_for


class Line:
    """Threads that want a device, one after the other; each keeps it until `go`."""

    def __init__(self, devices: int = 1, limit: int = 100) -> None:
        self.machine = NodeMachine(devices, 1, limit)
        self.world = World((Device(),) * devices)
        self.renewed: list[int] = []
        self.node = Node(self.machine, lambda: self.world, self.renewed.append)
        self.order: list[str] = []
        self.ahead: dict[str, list[int]] = {}
        self.refused: dict[str, str] = {}
        self.threads: list[threading.Thread] = []
        self.go = threading.Event()

    def enter(self, job: str, name: str, user: str = "") -> None:
        before = self.entered

        def run() -> None:
            try:
                with self.node.ticket(name, Progress()) as ticket:
                    with self.node.device(ticket, Lend(ticket.number, job, user), self.ahead.setdefault(name, []).append):
                        self.order.append(name)
                        self.go.wait(10)
            except Declined as declined:
                self.refused[name] = declined.reason

        self.threads.append(threading.Thread(target=run))
        self.threads[-1].start()
        wait_for(lambda: self.entered != before)

    @property
    def entered(self) -> int:
        return sum(self.queue) + len(self.refused)

    @property
    def queue(self) -> tuple[int, int]:
        """How many wait, and run."""
        found = self.node.queue()
        return found["waiting"], found["running"]

    def finish(self) -> list[str]:
        self.go.set()
        for thread in self.threads:
            thread.join(10)
        self.machine.validate()
        assert self.queue == (0, 0) and not self.node.leases()
        return self.order


def test_jobs_take_turns() -> None:
    line = Line()
    for n in range(4):
        line.enter("a", f"a{n}")
    line.enter("b", "b0")
    line.enter("c", "c0")
    line.enter("b", "b1")
    assert line.queue == (6, 1)
    wait_for(lambda: {name: numbers[-1] for name, numbers in line.ahead.items() if numbers} == {
        "a1": 0, "b0": 1, "c0": 2, "a2": 3, "b1": 4, "a3": 5})
    assert line.finish() == ["a0", "a1", "b0", "c0", "a2", "b1", "a3"] and not line.renewed


def test_as_many_at_a_time_as_devices_are_in_service() -> None:
    line = Line(4)
    line.world = World((Device(), Device(), Device("broken"), Device("broken")))
    for n in range(5):
        line.enter("a", f"a{n}")
    assert line.queue == (3, 2)
    line.world = World((Device(),) * 4)  # those who wait see it without an event
    wait_for(lambda: len(line.order) == 4)
    assert sorted(line.finish()) == ["a0", "a1", "a2", "a3", "a4"]


def test_a_full_queue_takes_no_more() -> None:
    line = Line(limit=2)
    for name in ("a0", "a1", "a2", "a3"):
        line.enter("a", name)
    assert line.refused == {"a3": "the GPU driver's queue is full"}
    assert line.finish() == ["a0", "a1", "a2"]


def test_a_place_is_given_up() -> None:
    line = Line()
    line.enter("a", "a0")

    class Gone(Exception):
        pass

    def gone(ahead: int) -> None:
        raise Gone

    with line.node.ticket("b", Progress()) as ticket, pytest.raises(Gone):
        with line.node.device(ticket, Lend(ticket.number, "b"), gone):
            raise AssertionError
    assert line.queue == (0, 1)
    line.enter("b", "b0")
    assert line.finish() == ["a0", "b0"]


@pytest.mark.parametrize(("world", "why"), [
    (World((Device("it broke"),)), "no GPU is in service: it broke"),
    (World((Device(),), stopping=True), "the GPU driver is stopping"),
])
def test_nobody_waits_for_a_device_that_cannot_come(world: World, why: str) -> None:
    line = Line()
    line.enter("a", "a0")
    line.enter("a", "a1")
    assert not line.refused
    line.world = world
    wait_for(lambda: line.refused == {"a1": why})
    assert line.queue == (0, 1) and line.node.closed().reason == why
    assert line.finish() == ["a0"]


def test_another_users_task_gets_a_device_of_its_own_or_a_new_process() -> None:
    line = Line()
    line.enter("a", "a0", "one")
    line.enter("b", "b0", "two")
    line.enter("a", "a1", "one")
    assert line.finish() == ["a0", "b0", "a1"] and line.renewed == [0, 0]


def test_threads_that_come_and_give_up_at_any_moment_leave_nothing() -> None:
    """Hundreds of turns of eight threads, a third of which are given up while they wait."""
    line = Line(2)

    def work(number: int) -> None:
        for turn in range(40):
            def waits(ahead: int, turn: int = turn) -> None:
                if (turn + number) % 3 == 0:
                    raise TimeoutError

            with suppress(TimeoutError), line.node.ticket(f"{number}", Progress()) as ticket:
                with line.node.device(ticket, Lend(ticket.number, f"{number % 3}", f"{number % 2}"), waits):
                    line.order.append(f"{number}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(line.finish()) >= 8 * 26 and line.node.lent() == 8 * 40


def test_a_clock_that_goes_back_stands_still() -> None:
    times = iter([5.0, 1.0, 7.0])
    machine = NodeMachine(1)
    node = Node(machine, lambda: World((Device(),)), lambda device: None, lambda: next(times, 9.0))
    with node.ticket("a", Progress()) as ticket, node.device(ticket, Lend(ticket.number, "a"), lambda ahead: None):
        assert [lease.since for lease, _ in node.leases()] == [5.0]
        assert time.time() - ticket.since < 60
    machine.validate()
