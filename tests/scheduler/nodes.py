"""A node's machine by one call for each event, checked after each. Not a test module."""

from __future__ import annotations

from collections.abc import Mapping

from heterodoop.scheduler.node.machine import NodeMachine
from heterodoop.scheduler.node.model import (
    Action,
    Advanced,
    Answer,
    Cancel,
    Closed,
    Decision,
    Device,
    Devices,
    Done,
    Event,
    Forgotten,
    Heard,
    JobReport,
    Knowledge,
    Measured,
    Offered,
    Ready,
    Recalled,
    Refused,
    Run,
)
from heterodoop.scheduler.policies import Policy

OUT = Device("it failed")


class Node:
    """gpus: that are in service, of as many or of `most`; host: slots for host kernels."""

    def __init__(self, gpus: int, sessions: int = 1, most: int = 0, limit: int = 1 << 30, host: int = 0) -> None:
        self.most = max(gpus, most)
        self.machine = NodeMachine(self.most, sessions, limit, host)
        self.resize(gpus)

    def handle(self, event: Event, now: float = 0.0) -> list[Action]:
        actions = self.machine.handle(event, now)
        self.machine.validate()
        return actions

    @property
    def busy(self) -> int:
        return self.machine.busy

    def resize(self, gpus: int) -> None:
        self.handle(self.devices(gpus))

    def devices(self, gpus: int) -> Devices:
        """So many are in service."""
        return Devices((Device(),) * gpus + (OUT,) * (self.most - gpus))

    def offer(
        self, lease: int, job: str, task: str, nbytes: int, maps: int, policy: Policy, program: str = "", now: float = 0.0,
    ) -> Decision:
        (answer,) = self.handle(Offered(lease, job, task, nbytes, maps, policy, program), now)
        assert isinstance(answer, Answer)
        if answer.decision.kind != "host":
            assert (answer.decision.kind == "cpu") == bool(answer.why.reason), "why it is the CPU"
        return answer.decision

    def started(self, lease: int, now: float = 0.0) -> None:
        """An attempt that the driver is to do wants its device, or slot; others want nothing."""
        if any(one.number == lease and one.kind != "cpu" for one in self.machine.leases()):
            self.handle(Ready(lease), now)
            self.handle(Run(lease), now)

    def overtaken(self, lease: int, fraction: float, now: float) -> bool:
        return Cancel(lease) in self.handle(Advanced(lease, fraction), now)

    def done(self, lease: int, seconds: float) -> None:
        self.handle(Done(lease, seconds))

    def refused(self, lease: int) -> None:
        self.handle(Refused(lease))

    def closed(self, lease: int) -> None:
        self.handle(Closed(lease))

    def hear(self, job: str, knowledge: Knowledge | None) -> None:
        self.handle(Heard(job, knowledge))

    def forget(self, job: str) -> None:
        self.handle(Forgotten(job))

    def recall(self, program: str, speedup: float, age: float) -> None:
        self.handle(Recalled(program, speedup, age))

    def report(self) -> Mapping[str, JobReport]:
        return self.machine.report()

    def speedup(self, job: str) -> float | None:
        return self.machine.speedup(job)

    def knows(self, program: str) -> bool:
        return self.machine.knows(program)

    def measured(self) -> dict[str, Measured]:
        return self.machine.measured()
