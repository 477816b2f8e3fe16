"""Vocabulary of the scheduler: tasks, slots, attempts; the events it is told and the instructions it gives.

Plain frozen values, no behaviour. Events and instructions are dataclasses, since a Launch must not equal a Commit; the
other values are named tuples, as in the whole run path: a frozen dataclass of Python's own takes a millisecond of each
start (values.py).

Not here: clocks, processes, splits, GPUs.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from ..values import dataclass

SlotKind = Literal["cpu", "gpu"]
TaskKind = Literal["map", "reduce"]
Outcome = Literal["succeeded", "failed", "stopped"]


class TaskId(NamedTuple):
    """One map or reduce task of the job; `number` from 0 in its kind (a reduce task's number is its partition)."""

    kind: TaskKind
    number: int

    def __str__(self) -> str:
        return f"{self.kind[0]}_{self.number:06d}"


class Slot(NamedTuple):
    """A place where one task runs at a time. `number` is unique in the job."""

    number: int
    kind: SlotKind


class Attempt(NamedTuple):
    """One run of a task on a slot; `number` counts the task's runs from 0, duplicates included.

    splits  of a map task: it does so many in one, `task` and those behind it, and has one output.
    """

    task: TaskId
    number: int
    slot: Slot
    splits: int = 1

    @property
    def tasks(self) -> tuple[TaskId, ...]:
        """All that it does, in their order."""
        return tuple(TaskId(self.task.kind, number) for number in self.numbers)

    @property
    def numbers(self) -> range:
        """Theirs."""
        return range(self.task.number, self.task.number + self.splits)

    def __str__(self) -> str:
        return f"{self.task}_{self.number}"


class JobShape(NamedTuple):
    """How many tasks the job has, and how often each may be tried."""

    maps: int
    reduces: int
    map_attempts: int = 4
    reduce_attempts: int = 4


# Events: what happened.


@dataclass(frozen=True)
class Start:
    """The job begins: the first tasks may be launched."""


@dataclass(frozen=True)
class Succeeded:
    """An attempt ended well; its output is complete, not yet committed."""

    attempt: Attempt


@dataclass(frozen=True)
class Failed:
    """An attempt failed. `permanent`: another try of the same task cannot end otherwise; not looked at where it has several
    splits, since each of them is tried by itself."""

    attempt: Attempt
    reason: str
    permanent: bool = False


@dataclass(frozen=True)
class Lost:
    """A reduce attempt could not read what these map tasks left, which are done. It is no failure of its own."""

    attempt: Attempt
    maps: tuple[int, ...]
    reason: str


@dataclass(frozen=True)
class Ended:
    """An attempt that was told to stop has done so."""

    attempt: Attempt


@dataclass(frozen=True)
class Opened:
    """A slot that was not there at the start can be used from now on."""

    slot: Slot


@dataclass(frozen=True)
class Tick:
    """Nothing happened, but time has passed: an attempt may take longer than was expected of it."""


@dataclass(frozen=True)
class Stop:
    """The job must end now, for a cause outside its tasks: the user ("stopped") or a failed commit ("failed")."""

    outcome: Literal["stopped", "failed"]
    reason: str


Event = Start | Opened | Succeeded | Failed | Lost | Ended | Tick | Stop


# Instructions: what must be done, in the order given.


@dataclass(frozen=True)
class Launch:
    """Start the attempt on its slot. `duplicate`: its task runs already, and the first result of the two counts."""

    attempt: Attempt
    duplicate: bool = False


@dataclass(frozen=True)
class Kill:
    """Stop the attempt and report its end (any of Ended, Failed, Succeeded will do)."""

    attempt: Attempt
    reason: str


@dataclass(frozen=True)
class Commit:
    """The attempt's output is that of its task, or of all its tasks. At most one a task, whatever ran twice."""

    attempt: Attempt


@dataclass(frozen=True)
class Finish:
    """Nothing runs any more. `cause` is the attempt that made the job fail, if one did."""

    outcome: Outcome
    reason: str = ""
    cause: Attempt | None = None


Instruction = Launch | Kill | Commit | Finish
