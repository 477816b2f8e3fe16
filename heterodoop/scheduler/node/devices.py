"""The sessions of a node's devices: who has which, and which one is next for a user's task. Pure.

A device never holds tasks of two users: the next one's wait until it is empty, and it is started anew for them. Not here:
whose turn it is (line.py), why a device fails (executor/worker/client.py).
"""

from __future__ import annotations

from collections.abc import Sequence

from .model import Device, Session


class Sessions:
    """`sessions` of each device."""

    def __init__(self, devices: int, sessions: int) -> None:
        self.now: tuple[Device, ...] = (Device(),) * devices
        self.in_service = devices
        self.sessions = sessions
        self._free = [set(range(sessions)) for _ in range(devices)]
        self._users: dict[int, str] = {}  # device -> whose tasks it ran last

    @property
    def out(self) -> str:
        """Why no device is in service: why the last one is not; "" where one is."""
        return "" if self.in_service else next((device.out for device in self.now[::-1]), "there is none")

    def free(self, device: int) -> int:
        return len(self._free[device])

    def update(self, now: Sequence[Device]) -> None:
        if len(now) != len(self.now):
            raise ValueError(f"{len(now)} devices instead of {len(self.now)}")
        self.now = tuple(now)
        self.in_service = sum(not device.out for device in now)

    def take(self, user: str) -> tuple[Session, bool] | None:
        """A session, and whether its device must be started anew; None: none can be had now.

        Of the device with the most free ones, one that has run this user's tasks, and is ready, before others.
        """
        fit = [number for number, device in enumerate(self.now) if not device.out and self._fits(number, user)]
        if not fit:
            return None
        number = max(fit, key=lambda one: (self._ours(one, user), self.now[one].ready, self.free(one)))
        fresh = not self._ours(number, user)
        self._users[number] = user
        session = min(self._free[number])
        self._free[number].remove(session)
        return Session(number, session), fresh

    def give_back(self, session: Session) -> None:
        self._free[session.device].add(session.number)

    def can_take(self, user: str) -> bool:
        return any(not device.out and self._fits(number, user) for number, device in enumerate(self.now))

    def _ours(self, device: int, user: str) -> bool:
        return self._users.get(device, user) == user

    def _fits(self, device: int, user: str) -> bool:
        free = self.free(device)
        return free > 0 and (self._ours(device, user) or free == self.sessions)
