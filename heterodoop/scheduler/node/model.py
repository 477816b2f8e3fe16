"""Vocabulary of a node: what its machine is told, what it says, and what it knows of jobs. Plain values, no behaviour.

A lease is the life of one connection, by the caller's number: a map attempt of Hadoop from its offer on, or a device that
another process's job waits for and has (`Lend`). Devices are numbered from 0; the node's own processors, on which host
kernels run, are HOST. Not here: sockets, processes, clocks.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from ...values import dataclass
from ..policies import Policy

HOST = -1
Side = Literal["gpu", "host"]  # what a driver has for attempts
Place = Literal["cpu", "gpu", "host"]  # where an attempt runs: in its container by the filters, on a GPU, as a host kernel


class Decision(NamedTuple):
    """`forced`: no GPU slot is free, and the policy refuses the container's processor all the same. `ahead`: attempts
    that must end before this one can start."""

    kind: Place
    forced: bool = False
    ahead: int = 0


class Why(NamedTuple):
    """Why there is no GPU: one sentence, "" = there is one, and its code of the error index, "" = it is no error."""

    reason: str = ""
    code: str = ""


class Knowledge(NamedTuple):
    """What is known of a job beyond this node, from its ApplicationMaster.

    total, completed   mapsTotal and mapsCompleted of the ApplicationMaster; None where it was not asked.
    decided_elsewhere  tasks that other nodes have decided on.
    nodes              N: nodes that serve the job, this one included.
    """

    total: int | None = None
    completed: int | None = None
    decided_elsewhere: int = 0
    nodes: int = 1


class JobReport(NamedTuple):
    """What this node knows of a job. `decided`: task ids. Seconds are per MiB of split, None before SAMPLES.

    total: mapreduce.job.maps, 0 before an attempt asked; live: attempts whose lease is open.
    """

    decided: frozenset[str]
    total: int
    live: int
    speedup: float | None
    cpu_seconds: float | None
    gpu_seconds: float | None


class Measured(NamedTuple):
    """S of a program's last job.

    when  seconds of the node's clock.  gpu_seconds: of a GPU per MiB, 0 = not known.
    own   by this node's attempts since its driver began.
    """

    speedup: float
    when: float
    gpu_seconds: float = 0.0
    own: bool = False


class Session(NamedTuple):
    """One of the tasks that a device takes at a time, or of the node's slots for host kernels (`device` is HOST)."""

    device: int
    number: int

    def __str__(self) -> str:
        if self.device == HOST:
            return f"slot {self.number} for host kernels"
        return f"session {self.number} of device {self.device}"


class Device(NamedTuple):
    """How a device is. `out`: why it gets no tasks, "" = it does.  ready: a task would begin at once."""

    out: str = ""
    ready: bool = True


# Events: what happened.


@dataclass(frozen=True)
class Offered:
    """A map attempt asks.

    task     the task's id, the same for all its attempts; nbytes: bytes of its split; maps: mapreduce.job.maps.
    program  what the job runs (its bundle's hash): its jobs have the same S until they have measured their own.
    why      why the driver cannot do it at all, as far as it depends on the attempt alone.
    """

    lease: int
    job: str
    task: str
    nbytes: int
    maps: int
    policy: Policy
    program: str = ""
    why: Why = Why()


@dataclass(frozen=True)
class Ready:
    """An attempt that the driver is to do has sent its files: from now on it may be taken back from a GPU."""

    lease: int


@dataclass(frozen=True)
class Run:
    """It wants a device, or a slot, now. `user`: whose task it is; what another one's tasks left on a device is gone
    before."""

    lease: int
    user: str = ""


@dataclass(frozen=True)
class Lend:
    """A job that another process runs wants a device."""

    lease: int
    job: str
    user: str = ""


@dataclass(frozen=True)
class DeviceFree:
    """The lease has no use for its device any more, or waits for one no longer."""

    lease: int


@dataclass(frozen=True)
class Sent:
    """Its result is on the way."""

    lease: int


@dataclass(frozen=True)
class Advanced:
    """So much of it is done on its device, 0 to 1."""

    lease: int
    fraction: float


@dataclass(frozen=True)
class Refused:
    """The driver does not do it any more, and it runs in its container: it stays decided."""

    lease: int


@dataclass(frozen=True)
class Done:
    """The result is in place; it took `seconds` where it ran, without waiting for a GPU. `again`: it had to run twice there,
    and says nothing of how long others take."""

    lease: int
    seconds: float
    again: bool = False


@dataclass(frozen=True)
class Closed:
    """The lease is over. An attempt that was not done has no result: its task will be tried again, here or elsewhere."""

    lease: int


@dataclass(frozen=True)
class Devices:
    """How all devices are now: one was given up, or is back, or another process has begun."""

    now: tuple[Device, ...]


@dataclass(frozen=True)
class Stopping:
    """No lease gets a device from now on; who has one keeps it."""


@dataclass(frozen=True)
class Unfit:
    """No attempt of the job gets a GPU, or a host kernel, from now on: its program is none for it, or fails there."""

    job: str
    why: Why
    side: Side = "gpu"


@dataclass(frozen=True)
class Heard:
    """What is known of a job by now; None: nothing but what this node does itself."""

    job: str
    knowledge: Knowledge | None


@dataclass(frozen=True)
class Forgotten:
    """The job has ended. Attempts of it that still hold a GPU count in q until they end."""

    job: str


@dataclass(frozen=True)
class Recalled:
    """What was measured of a program `age` seconds ago, before this node's driver began."""

    program: str
    speedup: float
    age: float


OfLease = Ready | Run | DeviceFree | Sent | Advanced | Refused | Done | Closed
Event = Offered | Lend | OfLease | Devices | Stopping | Unfit | Heard | Forgotten | Recalled


# Actions: what follows.


@dataclass(frozen=True)
class Answer:
    """To an attempt that asked. `why`: where it is no GPU; with a host kernel only what stands against GPUs for the job."""

    lease: int
    decision: Decision
    why: Why


@dataclass(frozen=True)
class Start:
    """The lease has this session. `fresh`: the device ran another user's tasks, and is to be started anew."""

    lease: int
    session: Session
    fresh: bool


@dataclass(frozen=True)
class TurnAway:
    """The lease waits for a device no longer: it gets none."""

    lease: int
    why: Why


@dataclass(frozen=True)
class Cancel:
    """The attempt would be done sooner in its container from the beginning: tell it so, as soon as that can be done."""

    lease: int


Action = Answer | Start | TurnAway | Cancel
