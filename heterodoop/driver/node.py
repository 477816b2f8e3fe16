"""The node's machine for many threads: its lock and clock, and where each connection waits for what it says.

    with node.ticket("attempt_...", progress, shown) as ticket:
        node.tell(Offered(ticket.number, ...))
        with node.device(ticket, Run(ticket.number, user), waits) as session:
            ...                                        the session is this lease's until here

A ticket's end closes its lease. How the devices are, and whether the driver stops, is looked at before each event and ten
times a second while somebody waits. Not here: what is decided (scheduler/node/machine.py), sockets, workers.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition, Lock
from typing import Any, NamedTuple, TypeVar

from ..executor.native.runtime import Progress
from ..scheduler.node.lease import Lease
from ..scheduler.node.machine import NodeMachine
from ..scheduler.node.model import (
    Action,
    Advanced,
    Answer,
    Cancel,
    Closed,
    Device,
    DeviceFree,
    Devices,
    Event,
    Forgotten,
    Heard,
    JobReport,
    Knowledge,
    Lend,
    Measured,
    Recalled,
    Run,
    Session,
    Side,
    Start,
    Stopping,
    TurnAway,
    Unfit,
    Why,
)
from .job.offer import Declined

_TICK_SECONDS = 0.1
T = TypeVar("T")


class World(NamedTuple):
    """What the machine cannot see. `stopping`: the driver gives out nothing more."""

    devices: tuple[Device, ...]
    stopping: bool = False


class Ticket:
    """A connection's place here. `name`: of its attempt or job; `progress`: of its task; `shown`: more of it, for status."""

    def __init__(self, number: int, name: str, progress: Progress, shown: Any, lock: Lock) -> None:
        self.number = number
        self.name = name
        self.progress = progress
        self.shown = shown
        self.since = time.time()
        self.said: Start | TurnAway | None = None
        self.changed = Condition(lock)


class Node:
    """See the module. look: how the world is, without waiting; renew: start a device anew, of which no session is in use."""

    def __init__(
        self, machine: NodeMachine, look: Callable[[], World], renew: Callable[[int], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._machine = machine
        self._look_at = look
        self._renew = renew
        self._clock = clock
        self._lock = Lock()
        self._tickets: dict[int, Ticket] = {}
        self._numbers = itertools.count(1)
        self._told = World(())

    @contextmanager
    def ticket(self, name: str, progress: Progress, shown: Any = None) -> Iterator[Ticket]:
        with self._lock:
            ticket = Ticket(next(self._numbers), name, progress, shown, self._lock)
            self._tickets[ticket.number] = ticket
        try:
            yield ticket
        finally:
            with self._lock:
                del self._tickets[ticket.number]
                self._handle(Closed(ticket.number))

    def tell(self, event: Event) -> list[Action]:
        """Something happened. What the machine says to others has reached them when this returns."""
        with self._lock:
            self._look()
            return self._handle(event)

    def answer(self, event: Event) -> Answer:
        """To an attempt that asks."""
        return next(action for action in self.tell(event) if isinstance(action, Answer))

    def overtaken(self, lease: int, fraction: float) -> bool:
        """Whether an attempt that is so far would be done sooner in its container."""
        return any(isinstance(action, Cancel) and action.lease == lease for action in self.tell(Advanced(lease, fraction)))

    @contextmanager
    def device(self, ticket: Ticket, event: Run | Lend, waits: Callable[[int], None]) -> Iterator[Session]:
        """Wait for a session, and keep it until the block ends.

        waits  is called meanwhile with the number of those that come before; it may raise, which gives the place up.
        Raises Declined: there will be none.
        """
        try:
            self.tell(event)
            yield self._wait(ticket, waits)
        finally:
            self.tell(DeviceFree(ticket.number))

    def _wait(self, ticket: Ticket, waits: Callable[[int], None]) -> Session:
        with self._lock:
            while ticket.said is None:
                waits(self._machine.ahead(ticket.number))
                ticket.changed.wait(_TICK_SECONDS)
                self._look()
            said, ticket.said = ticket.said, None
        if isinstance(said, TurnAway):
            raise Declined(*said.why)
        return said.session

    def _look(self) -> None:
        """Tell the machine what has changed in the world. Holds the lock."""
        world, told = self._look_at(), self._told
        self._told = world
        if world.stopping and not told.stopping:
            self._handle(Stopping())
        if world.devices != told.devices:
            self._handle(Devices(world.devices))

    def _handle(self, event: Event) -> list[Action]:
        actions = self._machine.handle(event, self._clock())
        for action in actions:
            if isinstance(action, Start) and action.fresh:
                self._renew(action.session.device)  # before anything else is given a session of it
            if isinstance(action, Start | TurnAway) and (ticket := self._tickets.get(action.lease)):
                ticket.said = action
                ticket.changed.notify_all()
        return actions

    # What is so now

    def _ask(self, question: Callable[[NodeMachine], T]) -> T:
        with self._lock:
            self._look()
            return question(self._machine)

    def leases(self) -> list[tuple[Lease, Ticket]]:
        """Those that are open, oldest first. For reading only: they change meanwhile."""
        return self._ask(lambda machine: [
            (lease, self._tickets[lease.number]) for lease in machine.leases() if lease.number in self._tickets])

    def attempts(self) -> int:
        """Connections of map attempts."""
        return self._ask(lambda machine: sum(lease.kind != "lent" for lease in machine.leases()))

    def holds_device(self) -> bool:
        """Whether there is a lease that ends only with its device's task."""
        return self._ask(lambda machine: any(lease.holds_device for lease in machine.leases()))

    def queue(self) -> dict[str, int]:
        """For `driver status`."""
        return self._ask(lambda machine: {"waiting": machine.waiting, "running": machine.running})

    def closed(self) -> Why:
        """Why nobody gets a device now; empty where somebody may."""
        return self._ask(lambda machine: machine.closed)

    def lent(self) -> int:
        """Times that another process asked for a device."""
        return self._ask(lambda machine: machine.lent)

    def cancel(self) -> None:
        """Stop the tasks of all leases."""
        with self._lock:
            tickets = list(self._tickets.values())
        for ticket in tickets:
            ticket.progress.cancel()

    # What others tell of jobs and programs, and ask

    def hear(self, job: str, knowledge: Knowledge | None) -> None:
        self.tell(Heard(job, knowledge))

    def forget(self, job: str) -> None:
        self.tell(Forgotten(job))

    def report(self) -> dict[str, JobReport]:
        return self._ask(lambda machine: dict(machine.report()))

    def knows(self, program: str) -> bool:
        return self._ask(lambda machine: machine.knows(program))

    def measured(self) -> dict[str, Measured]:
        return self._ask(lambda machine: machine.measured())

    def unfit(self, job: str, why: Why, side: Side) -> None:
        self.tell(Unfit(job, why, side))

    def recall(self, program: str, speedup: float, age: float) -> None:
        self.tell(Recalled(program, speedup, age))
