"""The state machine of one job: handle(event) -> instructions. No clock, no process, no thread inside.

A map phase, then a reduce phase. A failed attempt's task runs again, before tasks that were never tried, until its
attempts are used up; then, or on Stop, everything that runs is killed and the job finishes when the last attempt
has ended. (Shape after distributed's worker_state_machine: every error carries the story that led to it.)

A job may have a hundred thousand tasks, so a task costs one byte here and the story keeps its last STORY steps only.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .model import (
    Attempt,
    Commit,
    Ended,
    Event,
    Failed,
    Finish,
    Instruction,
    JobShape,
    Kill,
    Launch,
    Outcome,
    Slot,
    Start,
    Stop,
    Succeeded,
    TaskId,
    TaskKind,
)
from .policies import Policy, View, cpu_only

STORY = 4096

WAITING, RUNNING, DONE, FAILED, DROPPED = range(5)
STATES = ("waiting", "running", "done", "failed", "dropped")

# "dropped" is a task whose attempt ended after the job was given up: its output is not wanted.
TRANSITIONS = frozenset({
    (WAITING, RUNNING), (RUNNING, DONE), (RUNNING, WAITING), (RUNNING, FAILED), (RUNNING, DROPPED),
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

    def __init__(self, message: str, story: Sequence[Step]) -> None:
        super().__init__("\n".join([message, *(f"  {step}" for step in story)]))
        self.story = list(story)


class Machine:
    """See the module. `phase` is "new", "map", "reduce", "closing" or "ended"."""

    def __init__(self, job: JobShape, slots: Sequence[Slot], policy: Policy = cpu_only) -> None:
        if not any(slot.kind == "cpu" for slot in slots):
            raise ValueError("a job needs a CPU slot")
        self.job = job
        self.slots = tuple(slots)
        self.phase = "new"
        self._policy = policy
        self._gpus = sum(slot.kind == "gpu" for slot in slots)
        self._free = sorted(slots, key=_gpu_first)
        self._states = {"map": bytearray(job.maps), "reduce": bytearray(job.reduces)}
        self._done = {"map": 0, "reduce": 0}
        self._fresh = 0  # first task of the phase that was never tried
        self._again: deque[TaskId] = deque()
        self._tries: dict[TaskId, int] = {}  # failed attempts, of tasks that have any
        self._running: dict[Attempt, bool] = {}  # -> was killed
        self._verdict: Finish | None = None
        self._events = 0
        self._story: deque[Step] = deque(maxlen=STORY)

    def handle(self, event: Event) -> list[Instruction]:
        """Take in one event. Raises InvalidEvent for one that cannot happen now; the state is then unchanged."""
        self._events += 1
        match event:
            case Start():
                self._require(self.phase == "new", "the job has begun already")
                return self._begin("map")
            case Stop(outcome, reason):
                return self._close(outcome, reason, None)
            case Succeeded(attempt):
                return self._succeeded(attempt)
            case Failed(attempt, reason, permanent):
                return self._failed(attempt, reason, permanent)
            case Ended(attempt):
                return self._ended(attempt)

    def story(self, task: TaskId | None = None) -> list[Step]:
        """What happened, oldest first; of one task where `task` is given."""
        return [step for step in self._story if task is None or step.task == task]

    def finished(self, kind: TaskKind) -> int:
        """How many tasks of a kind are done."""
        return self._done[kind]

    def running(self) -> list[Attempt]:
        return list(self._running)

    def state(self, task: TaskId) -> str:
        return STATES[self._states[task.kind][task.number]]

    def validate(self) -> None:
        """Check every invariant; raises AssertionError with the story. For tests: takes time linear in tasks."""
        try:
            self._check_invariants()
        except AssertionError as error:
            raise AssertionError("\n".join([str(error), *map(str, self.story())])) from None

    # Events

    def _succeeded(self, attempt: Attempt) -> list[Instruction]:
        killed = self._release(attempt)
        if killed:
            self._move(attempt.task, DROPPED, f"attempt {attempt.number} ended after it was told to stop")
            return self._drained()
        slot = attempt.slot
        self._move(attempt.task, DONE, f"attempt {attempt.number} succeeded on {slot.kind} slot {slot.number}")
        self._done[attempt.task.kind] += 1
        return [Commit(attempt), *self._advance()]

    def _failed(self, attempt: Attempt, reason: str, permanent: bool) -> list[Instruction]:
        killed = self._release(attempt)
        if killed:
            self._move(attempt.task, DROPPED, f"attempt {attempt.number} ended after it was told to stop")
            return self._drained()
        task = attempt.task
        self._tries[task] = self._tries.get(task, 0) + 1
        if not permanent and self._tries[task] < self._limit(task):
            self._move(task, WAITING, f"attempt {attempt.number} failed: {reason}")
            self._again.append(task)
            return self._assign()
        self._move(task, FAILED, f"attempt {attempt.number} failed, no more tries: {reason}")
        return self._close("failed", reason, attempt)

    def _ended(self, attempt: Attempt) -> list[Instruction]:
        self._require(self._running.get(attempt, False), f"attempt {attempt} was not told to stop")
        self._release(attempt)
        self._move(attempt.task, DROPPED, f"attempt {attempt.number} stopped")
        return self._drained()

    # Phases

    def _begin(self, phase: TaskKind) -> list[Instruction]:
        self.phase = phase
        self._fresh = 0
        self._note(None, f"{phase} phase of {len(self._states[phase])} tasks")
        return self._advance()

    def _advance(self) -> list[Instruction]:
        """Launch what can be launched; go on to the next phase where this one is complete."""
        if self.phase == "map" and self._done["map"] == self.job.maps:
            return self._begin("reduce")
        if self.phase == "reduce" and self._done["reduce"] == self.job.reduces:
            self.phase = "ended"
            self._note(None, "succeeded")
            return [Finish("succeeded")]
        return self._assign()

    def _close(self, outcome: Outcome, reason: str, cause: Attempt | None) -> list[Instruction]:
        """Give the job up: kill what runs. The first cause is the one that is reported."""
        if self.phase in ("closing", "ended"):
            return []
        self._note(None, f"{outcome}: {reason}")
        self.phase = "closing"
        self._verdict = Finish(outcome, reason, cause)
        kills: list[Instruction] = [Kill(attempt, reason) for attempt in self._running]
        self._running = dict.fromkeys(self._running, True)
        return kills + self._drained()

    def _drained(self) -> list[Instruction]:
        if self._running or self._verdict is None:
            return []
        self.phase = "ended"
        return [self._verdict]

    # Slots

    def _assign(self) -> list[Instruction]:
        launches: list[Instruction] = []
        for slot in list(self._free):
            task = self._next()
            if task is None:
                break
            if not self._may_run(slot, task):
                continue
            self._take(task)
            attempt = Attempt(task, self._tries.get(task, 0), slot)
            self._free.remove(slot)
            self._running[attempt] = False
            self._move(task, RUNNING, f"attempt {attempt.number} on {slot.kind} slot {slot.number}")
            launches.append(Launch(attempt))
        return launches

    def _next(self) -> TaskId | None:
        kind: TaskKind = "map" if self.phase == "map" else "reduce"
        if self._again:
            return self._again[0]
        return TaskId(kind, self._fresh) if self._fresh < len(self._states[kind]) else None

    def _take(self, task: TaskId) -> None:
        if self._again:
            self._again.popleft()
        else:
            self._fresh = task.number + 1

    def _may_run(self, slot: Slot, task: TaskId) -> bool:
        if task.kind == "reduce":
            return slot.kind == "cpu"
        undecided = self.job.maps - self._fresh + len(self._again)
        busy = sum(a.slot.kind == "gpu" for a in self._running) if self._gpus else 0
        return self._policy(View(undecided, self._gpus, busy), slot, task)

    def _release(self, attempt: Attempt) -> bool:
        """The attempt has ended: its slot is free. Returns whether it had been told to stop."""
        self._require(attempt in self._running, f"attempt {attempt} does not run")
        killed = self._running.pop(attempt)
        self._free.append(attempt.slot)
        self._free.sort(key=_gpu_first)
        return killed

    # Bookkeeping

    def _limit(self, task: TaskId) -> int:
        return self.job.map_attempts if task.kind == "map" else self.job.reduce_attempts

    def _move(self, task: TaskId, to: int, why: str) -> None:
        states = self._states[task.kind]
        now = states[task.number]
        self._require((now, to) in TRANSITIONS, f"{task}: {STATES[now]} -> {STATES[to]} is no transition", task)
        states[task.number] = to
        self._note(task, why)

    def _note(self, task: TaskId | None, text: str) -> None:
        self._story.append(Step(self._events, task, text))

    def _require(self, condition: bool, message: str, task: TaskId | None = None) -> None:
        if not condition:
            raise InvalidEvent(message, self.story(task)[-50:])

    def _check_invariants(self) -> None:
        running = set(self._tasks_in(RUNNING))
        assert running == {a.task for a in self._running}, "running tasks and running attempts differ"
        assert len(running) == len(self._running), "a task runs twice"
        taken = [a.slot for a in self._running]
        assert sorted([s.number for s in [*taken, *self._free]]) == sorted(s.number for s in self.slots), "a slot was lost"
        for kind in ("map", "reduce"):
            assert self._done[kind] == self._states[kind].count(DONE), f"{kind}: wrong count of tasks done"
        if any(self._states["reduce"]):
            assert self._done["map"] == self.job.maps, "a reduce task began before the last map task was done"
        assert all(n <= self._limit(t) for t, n in self._tries.items()), "a task was tried too often"
        assert not (self.phase == "ended" and self._running), "the job ended with attempts running"
        if self.phase in ("map", "reduce"):
            assert self._running, "tasks wait, nothing runs"

    def _tasks_in(self, state: int) -> Iterator[TaskId]:
        kinds: tuple[TaskKind, TaskKind] = ("map", "reduce")
        return (TaskId(k, i) for k in kinds for i, s in enumerate(self._states[k]) if s == state)


def _gpu_first(slot: Slot) -> tuple[bool, int]:
    """On a tie the GPU slot asks first."""
    return slot.kind == "cpu", slot.number
