"""What the coordinator concludes from what drivers tell it: here, the room of other nodes' GPUs."""

from __future__ import annotations

import pytest

from heterodoop.driver.cluster.board import Board
from heterodoop.driver.cluster.yarn_rest import JobState
from heterodoop.scheduler.node.model import Knowledge

JOB = "job_1_0001"
STATE = JobState("RUNNING", 100, 5, 60)


def board(*rooms: int | None, idle: int = 0) -> Board:
    """A driver per room that has decided on a task each, and some that have decided on none."""
    found = Board()
    for number, room in enumerate([*rooms, *[99] * idle]):
        found.join(number)
        tasks = [number] if number < len(rooms) else []
        found.hear(number, {"node": f"n{number}", "jobs": {JOB: {"add": tasks, "speedup": None, "room": room}}})
    return found


@pytest.mark.parametrize(("rooms", "expected"), [((4, 5, 7), 12), ((4, 0, 0), 0), ((4,), None), ((4, 5, None), None)])
def test_a_driver_hears_the_room_of_all_others_or_nothing(rooms: tuple[int | None, ...], expected: int | None) -> None:
    others = len(rooms) - 1
    assert board(*rooms, idle=2).knowledge(0, JOB, STATE) == Knowledge(100, 5, others, 1 + others, (), expected, 60)


def test_a_room_is_what_was_told_last() -> None:
    found = board(4, 5)
    found.hear(1, {"node": "n1", "jobs": {JOB: {"add": [], "room": 3}}})
    known = found.knowledge(0, JOB, STATE)
    assert known and known.room == 3
    found.hear(1, {"node": "n1", "jobs": {JOB: {"add": []}}})
    known = found.knowledge(0, JOB, STATE)
    assert known and known.room is None, "S is not known there any more"
