"""States of a task, which of them may follow which, and the story of how they did. Part of the state machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .model import TaskId

STORY = 4096

WAITING, RUNNING, DONE, FAILED, DROPPED = range(5)
STATES = ("waiting", "running", "done", "failed", "dropped")

# "dropped" is a task whose attempts ended after the job was given up: its output is not wanted.
TRANSITIONS = frozenset({
    (WAITING, RUNNING), (RUNNING, DONE), (RUNNING, WAITING), (RUNNING, FAILED), (RUNNING, DROPPED),
    (DONE, WAITING),
})


class Step(NamedTuple):
    """One line of the story: the event's number, the task (None: the job), what happened."""

    event: int
    task: TaskId | None
    text: str

    def __str__(self) -> str:
        return f"{self.event}: {self.task or 'job'}: {self.text}"


class InvalidEvent(Exception):
    """An event that cannot happen in this state: a bug of the caller or of the machine. Carries the story."""

    def __init__(self, message: str, story: Sequence[object]) -> None:
        super().__init__("\n".join([message, *(f"  {step}" for step in story)]))
        self.story = list(story)
