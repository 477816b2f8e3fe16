"""A node's slots for host kernels: who has which, and whether one more attempt may come for one. Pure.

A slot is a processor of the node's; processes of several users run there side by side, so nothing is started anew. Not here:
whose turn it is (line.py), devices (devices.py).
"""

from __future__ import annotations

from collections.abc import Iterable

from .lease import Lease
from .model import HOST, Session

# Attempts for one slot: one that runs there, one that waits. A host kernel takes at most half as long as streaming's pipes
# and Java's sort, so whoever waits for one is done no later than in his container (docs/decisions/0060).
_EACH = 2


class HostSlots:
    """`slots` host kernels at a time; 0: none at all."""

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self._free = set(range(slots))

    @property
    def free(self) -> int:
        return len(self._free)

    def take(self, user: str) -> tuple[Session, bool] | None:
        """A slot, of which nothing is started anew; None: none is free."""
        if not self._free:
            return None
        number = min(self._free)
        self._free.remove(number)
        return Session(HOST, number), False

    def give_back(self, session: Session) -> None:
        self._free.add(session.number)

    def ahead(self, leases: Iterable[Lease]) -> int | None:
        """How many attempts must end before one more can start; None: too many wait already."""
        here = sum(lease.kind == "host" and (lease.state in ("offered", "queued") or lease.session is not None)
                   for lease in leases)
        return max(0, here - self.slots + 1) if here < _EACH * self.slots else None
