"""What the coordinator knows: which map tasks which driver has decided on. Soft state: a driver that connects tells it all.

Messages of a driver:   {node, jobs: {id: {add: [task numbers], drop: [...], speedup, room}}}    what is new since its last
Answers:                {jobs: {id: a Knowledge as an array, or null}, ended: [ids], wait}

Pure: no socket, no clock. Not here: what the ApplicationMasters say (handed in).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from ...scheduler.node.model import Knowledge
from .wire import BadFrame, Message
from .yarn_rest import JOB, JobState

MOST_JOBS = 1000  # of one driver
MOST_TASKS = 1_000_000  # of one driver in one job
MOST_NAME = 300  # characters of a node's name
HIGHEST = 1 << 31


class _Share:
    """One driver's part of a job: `tasks` it has decided on, by number."""

    __slots__ = ("room", "speedup", "tasks")

    def __init__(self) -> None:
        self.tasks: set[int] = set()
        self.speedup: float | None = None
        self.room: int | None = None


class _Driver:
    def __init__(self) -> None:
        self.node = ""
        self.jobs: dict[str, _Share] = {}


class Board:
    """See the module. A driver is known by the number of its connection."""

    def __init__(self) -> None:
        self._drivers: dict[int, _Driver] = {}
        self._decided: dict[str, Counter[int]] = {}  # job -> task -> how many drivers have decided on it

    def join(self, driver: int) -> None:
        self._drivers[driver] = _Driver()

    def leave(self, driver: int) -> None:
        """The driver is gone. Its running attempts have fallen back to the CPU, and what it had done is in mapsCompleted."""
        if found := self._drivers.pop(driver, None):
            for job in list(found.jobs):
                self._take_back(found, job)

    def hear(self, driver: int, message: Message) -> None:
        """Take in a driver's message. Raises BadFrame for one that no driver sends; what came before the fault counts."""
        found = self._drivers[driver]
        found.node = _text(message.get("node"))
        jobs = message.get("jobs")
        if not isinstance(jobs, dict):
            raise BadFrame("a report without jobs")
        for job, change in jobs.items():
            if not JOB.match(job) or not isinstance(change, dict):
                raise BadFrame("a report of no job")
            if change.get("gone"):
                self._take_back(found, job)
            else:
                self._change(found, job, change)

    def _change(self, driver: _Driver, job: str, change: Message) -> None:
        if job not in driver.jobs and len(driver.jobs) >= MOST_JOBS:
            raise BadFrame(f"more than {MOST_JOBS} jobs")
        add, drop = _tasks(change, "add"), _tasks(change, "drop")
        share = driver.jobs.setdefault(job, _Share())
        decided = self._decided.setdefault(job, Counter())
        new, gone = set(add) - share.tasks, set(drop) & share.tasks
        if len(share.tasks) + len(new) > MOST_TASKS:
            raise BadFrame(f"more than {MOST_TASKS} tasks")
        share.tasks |= new
        share.tasks -= gone
        decided.update(new)
        self._subtract(decided, gone)
        share.speedup = _speedup(change.get("speedup"))
        share.room = _room(change.get("room"))

    def _take_back(self, driver: _Driver, job: str) -> None:
        share = driver.jobs.pop(job, None)
        if share is None:
            return
        self._subtract(self._decided[job], share.tasks)
        if not any(job in other.jobs for other in self._drivers.values()):
            del self._decided[job]

    @staticmethod
    def _subtract(decided: Counter[int], tasks: set[int]) -> None:
        decided.subtract(tasks)
        for task in tasks:
            if decided[task] <= 0:
                del decided[task]

    def forget(self, job: str) -> None:
        """The job has ended."""
        for driver in self._drivers.values():
            driver.jobs.pop(job, None)
        self._decided.pop(job, None)

    def jobs(self) -> list[str]:
        return sorted(self._decided)

    def jobs_of(self, driver: int) -> list[str]:
        return list(self._drivers[driver].jobs)

    def knowledge(self, driver: int, job: str, state: JobState | None) -> Knowledge | None:
        """What the driver should know of a job; None where the ApplicationMaster does not answer."""
        if state is None:
            return None
        mine = self._drivers[driver].jobs[job]
        others = [other.jobs[job] for number, other in self._drivers.items() if number != driver and job in other.jobs]
        speedups = sorted(share.speedup for share in others if share.speedup is not None)
        elsewhere = len(self._decided[job]) - len(mine.tasks)
        serving = [share for share in others if share.tasks]
        rooms = [share.room for share in serving if share.room is not None]
        room = sum(rooms) if rooms and len(rooms) == len(serving) else None
        return Knowledge(
            state.total, state.completed, elsewhere, 1 + len(serving), tuple(_spread(speedups)), room, state.pending)

    def status(self, states: Mapping[str, JobState | None]) -> dict[str, Any]:
        """For `coordinator status`."""
        drivers = [
            {"node": driver.node, "jobs": len(driver.jobs), "decided": sum(len(job.tasks) for job in driver.jobs.values())}
            for driver in self._drivers.values() if driver.node
        ]
        jobs = [
            {"job": job, "decided": len(decided), "state": None if (state := states.get(job)) is None else state._asdict(),
             "speedups": {driver.node: driver.jobs[job].speedup for driver in self._drivers.values() if job in driver.jobs}}
            for job, decided in sorted(self._decided.items())
        ]
        return {"drivers": drivers, "jobs": jobs}


def _spread(values: list[float], most: int = 15) -> list[float]:
    """At most `most` of sorted values, with the same median."""
    return values if len(values) <= most else [values[round(i * (len(values) - 1) / (most - 1))] for i in range(most)]


def _text(value: object) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= MOST_NAME:
        raise BadFrame("a report without a node's name")
    return value


def _tasks(change: Message, name: str) -> list[int]:
    value = change.get(name, [])
    if not isinstance(value, list) or not all(type(task) is int and 0 <= task < HIGHEST for task in value):
        raise BadFrame(f"{name} is no list of task numbers")
    return value


def _speedup(value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e9:
        raise BadFrame("a speedup that is none")
    return float(value)


def _room(value: object) -> int | None:
    if value is not None and (type(value) is not int or not 0 <= value < HIGHEST):
        raise BadFrame("a room that is none")
    return value
