"""A lease as the node's machine keeps it, and which of its states may follow which."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from .job import Job
from .model import Place, Session
from .on_gpu import OnGpu

Kind = Place | Literal["lent"]  # where an attempt runs, or is to; a lent device is another process's to use

# offered: the driver is to do it, and its files are not here yet. queued: it has no device yet. sent: its result is on
# the way.
STATES = ("offered", "queued", "running", "sent", "cpu")
TRANSITIONS = frozenset({
    ("offered", "queued"), ("queued", "queued"), ("queued", "running"), ("running", "sent"),
    *((state, "cpu") for state in STATES),
})


@dataclass(slots=True)
class Lease:
    """job       by the name `name`; a lent device's leases have one too, of which nothing is decided.
    overtakes  whether its container may take it back.
    waits      in the line for a device or a slot.  session: which it has; device: the last one that it had.
    on_gpu     what is known of it as one of a GPU.
    """

    number: int
    name: str
    job: Job
    kind: Kind
    task: str = ""
    nbytes: int = 1
    overtakes: bool = False
    state: str = "offered"
    since: float = 0.0
    user: str = ""
    waits: bool = False
    session: Session | None = None
    device: int | None = None
    on_gpu: OnGpu = field(default_factory=OnGpu)

    @property
    def holds_device(self) -> bool:
        """Whether the node may not end without ending this. One that was only offered can still run on the CPU."""
        return self.state not in ("cpu", "offered")
