"""The state machine of one job: handle(event, now) -> instructions. No clock, no process, no thread inside.

A map phase, then a reduce phase. A failed attempt's task runs again, before tasks that were never tried, until its
attempts are used up; then, or on Stop, everything that runs is killed and the job finishes when the last attempt
has ended. (Shape after distributed's worker_state_machine: every error carries the story that led to it.)

A map task whose output a reduce attempt cannot read is tried again when no attempt of it runs; reduce tasks wait for it.

A map task may run a second time on a slot of the other kind that has nothing else to do (a duplicate). The first result
is the task's, the other attempt is killed. While both run, a failure of one decides nothing: the other goes on as the
task's only attempt; a duplicate's failure does not count as one of the task's tries.

A GPU slot may do several neighbouring map tasks as one attempt, which has one output (several.py), a CPU slot those of
small files. They are done when it has succeeded; where it fails, or CPU slots without work are expected to be sooner, it
gives all of them back, and each runs by itself from then on. That is no try of theirs.

A job may have a hundred thousand tasks, so a task costs one byte here and the story keeps its last STORY steps only.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence

from .estimates import Estimates, Remembered
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
    Lost,
    Opened,
    Outcome,
    Slot,
    SlotKind,
    Start,
    Stop,
    Succeeded,
    TaskId,
    TaskKind,
    Tick,
)
from .outlook import cpus_need, gpu_needs, longer_at_first, wakes
from .policies import CPU_ONLY, OUTWEIGHS, Policy, View
from .running import Run, Running
from .several import NO_SMALL, SINGLY, Several, Small, at_least, fair, late, size_of, small_files, splits
from .story import DONE, DROPPED, FAILED, RUNNING, STATES, STORY, TRANSITIONS, WAITING, InvalidEvent, Step


class Machine:
    """See the module. `phase` is "new", "map", "reduce", "closing" or "ended".

    late       slots that nothing may run on before Opened says so; never a CPU slot.
    spare      CPU slots whose processors read for the GPUs: they take map tasks only where these are worth no more.
    gpus       GPUs behind the GPU slots; default: as many as slots.
    size       bytes of a map task's split, by its number: what estimates are made from.
    estimates  what is known of map tasks already.
    several    which map tasks a GPU slot may do as one attempt. small: which a CPU slot may, where there are no GPUs.
    beside     as in `View`.
    """

    def __init__(
        self, job: JobShape, slots: Sequence[Slot], policy: Policy = CPU_ONLY, *, late: Sequence[Slot] = (),
        spare: Sequence[Slot] = (), gpus: int | None = None, size: Callable[[int], int] = lambda number: 1,
        estimates: Estimates | None = None, several: Several = SINGLY,
        small: Small = NO_SMALL, beside: float = 1.0,
    ) -> None:
        gpu_slots = sum(slot.kind == "gpu" for slot in slots)
        if len(slots) == gpu_slots:
            raise ValueError("a job needs a CPU slot")
        early = [slot for slot in slots if slot not in late]
        if not any(slot.kind == "cpu" and slot not in spare for slot in slots):
            raise ValueError("a CPU slot must be more than spare")
        if job.maps and not any(policy.takes(View(job.maps, gpu_slots, 0), slot.kind) for slot in early):
            raise ValueError(f"no slot may take a map task under policy {policy.name}")
        self.job = job
        self.slots = tuple(slots)
        self.phase = "new"
        self.estimates = estimates or Estimates()
        self.duplicates = {"won": 0, "lost": 0, "failed": 0}  # lost: the CPU slot was sooner
        self.several = {"attempts": 0, "tasks": 0, "given_back": 0}  # of those of several splits; attempts: that succeeded
        self._several = several
        self._small = small
        self._beside = beside
        self._policy = policy
        self._cpus = len(slots) - gpu_slots
        self._mappers = self._cpus if policy.takes(View(job.maps, gpu_slots, 0), "cpu") else 0  # that take map tasks
        self._gpus = gpu_slots if gpus is None else gpus
        self._sessions = gpu_slots / self._gpus if self._gpus else 0.0
        self._size = size
        self._late = list(late)
        self._spare = frozenset(spare)
        self._cpu_slots = frozenset(slot for slot in slots if slot.kind == "cpu")
        self._awake = any(slot.kind == "gpu" for slot in early)  # a GPU slot has opened
        self._begun = 0.0
        self._free = sorted(early, key=_gpu_first)
        self._states = {"map": bytearray(job.maps), "reduce": bytearray(job.reduces)}
        self._done = {"map": 0, "reduce": 0}
        self._fresh = 0  # first task of the phase that was never tried
        self._again: deque[TaskId] = deque()
        self._tries: dict[TaskId, int] = {}  # failed attempts, of tasks that have any
        self._numbers: dict[TaskId, int] = {}  # the next attempt's number, of tasks that ran more than once
        self._running = Running()
        self._used: set[Slot] = set()  # on which a map task has succeeded
        self._verdict: Finish | None = None
        self._now = 0.0
        self._events = 0
        self._story: deque[Step] = deque(maxlen=STORY)

    def handle(self, event: Event, now: float = 0.0) -> list[Instruction]:
        """Take in one event that happened at `now` (seconds of any clock that only goes forward).

        Raises InvalidEvent for one that cannot happen now; the state is then unchanged.
        """
        self._events += 1
        self._now = max(now, self._now)
        match event:
            case Start():
                self._require(self.phase == "new", "the job has begun already")
                self._begun = self._now
                return self._begin("map")
            case Stop(outcome, reason):
                return self._close(outcome, reason, None)
            case Succeeded(attempt):
                return self._succeeded(attempt)
            case Failed(attempt, reason, permanent):
                return self._failed(attempt, reason, permanent)
            case Lost(attempt, maps, reason):
                return self._lost(attempt, maps, reason)
            case Ended(attempt):
                return self._ended(attempt)
            case Opened(slot):
                return self._opened(slot)
            case Tick():
                return self._go_on()

    def story(self, task: TaskId | None = None) -> list[Step]:
        """What happened, oldest first; of one task where `task` is given."""
        return [step for step in self._story if task is None or step.task == task]

    def finished(self, kind: TaskKind) -> int:
        """How many tasks of a kind are done."""
        return self._done[kind]

    def running(self) -> list[Attempt]:
        return self._running.attempts()

    def state(self, task: TaskId) -> str:
        return STATES[self._states[task.kind][task.number]]

    @property
    def speedup(self) -> float | None:
        """Map tasks that one GPU finishes while a CPU slot finishes one; None: not known."""
        return self.estimates.speedup(self._sessions) if self._gpus else None

    @property
    def to_remember(self) -> Remembered | None:
        """What the program's next job on the same slots should begin with; None: too little was measured."""
        return self.estimates.to_remember(self._sessions) if self._gpus else None

    def validate(self) -> None:
        """Check every invariant; raises AssertionError with the story. For tests: takes time linear in tasks."""
        try:
            self._check_invariants()
        except AssertionError as error:
            raise AssertionError("\n".join([str(error), *map(str, self.story())])) from None

    # Events

    def _opened(self, slot: Slot) -> list[Instruction]:
        self._require(slot in self._late, f"slot {slot.number} is open")
        self._late.remove(slot)
        self._put_back(slot)
        if not self._awake:
            self._awake, self.estimates.wakes = True, self._now - self._begun
        self._note(None, f"{slot.kind} slot {slot.number} opened")
        return self._go_on()

    def _go_on(self) -> list[Instruction]:
        return self._assign() if self.phase in ("map", "reduce") else []

    def _succeeded(self, attempt: Attempt) -> list[Instruction]:
        run = self._release(attempt)
        if run.killed:
            return self._stopped(attempt)
        kind, slot = attempt.task.kind, attempt.slot
        for task in attempt.tasks:
            self._move(task, DONE, f"attempt {attempt.number} succeeded on {slot.kind} slot {slot.number}")
        self._done[kind] += attempt.splits
        if kind == "map":
            first = slot not in self._used
            self._used.add(slot)
            self.estimates.finished(slot.kind, size_of(attempt, self._size), self._now - run.started, first=first)
        if attempt.splits > 1:
            self.several["attempts"] += 1
            self.several["tasks"] += attempt.splits
        if run.duplicate:
            self.duplicates["won"] += 1
        return [Commit(attempt), *self._overtaken(attempt), *self._advance()]

    def _overtaken(self, first: Attempt) -> list[Instruction]:
        """The other attempt of a task that is done is not wanted any more."""
        kills: list[Instruction] = []
        for other, run in self._running.of(first.task):
            if other.slot.kind == "cpu" and not run.killed:
                self.estimates.overtaken(self._size(first.task.number), self._now - run.started)
            run.killed = True
            self.duplicates["lost"] += run.duplicate
            kills.append(Kill(other, f"attempt {first.number} of the task was sooner"))
        return kills

    def _failed(self, attempt: Attempt, reason: str, permanent: bool) -> list[Instruction]:
        run = self._release(attempt)
        if run.killed:
            return self._stopped(attempt)
        if attempt.splits > 1:
            self._give_back(attempt, f"failed: {reason}")
            return self._assign()
        task, other = attempt.task, self._running.of(attempt.task)
        what = f"attempt {attempt.number} failed"
        self.duplicates["failed"] += run.duplicate
        if other and run.duplicate:
            self._running.only_once.add(task)
            self._note(task, f"{what}, a duplicate: {reason}")
            return self._assign()
        limit = self._limit(task)
        tries = limit if permanent else min(self._tries.get(task, 0) + 1, limit)
        self._tries[task] = tries
        if other:
            self._note(task, f"{what}, its duplicate goes on: {reason}")
            return self._assign()
        if tries < limit:
            self._move(task, WAITING, f"{what}: {reason}")
            self._again.append(task)
            return self._assign()
        self._move(task, FAILED, f"{what}, no more tries: {reason}")
        return self._close("failed", reason, attempt)

    def _give_back(self, attempt: Attempt, why: str) -> None:
        """The tasks of an attempt of several wait, each for itself. Whatever it is, the next ones do half as many in one, of
        small files each by itself: what a host kernel leaves once it leaves again."""
        for task in attempt.tasks:
            self._move(task, WAITING, f"attempt {attempt.number} of {attempt.splits} tasks {why}")
        self._again.extend(attempt.tasks)
        self._numbers[attempt.task] = attempt.number + 1
        if attempt.slot.kind == "gpu":
            self._several = self._several._replace(most=self._several.most // 2)
        else:
            self._small = NO_SMALL
        self.several["given_back"] += 1

    def _lost(self, attempt: Attempt, maps: Sequence[int], reason: str) -> list[Instruction]:
        if self._release(attempt).killed:
            return self._stopped(attempt)
        self._numbers[attempt.task] = attempt.number + 1
        self._move(attempt.task, WAITING, f"attempt {attempt.number} lacks map outputs: {reason}")
        self._again.append(attempt.task)
        for task in (TaskId("map", number) for number in maps):
            if self._states["map"][task.number] != DONE:
                continue  # another reduce attempt said so
            limit = self._limit(task)
            self._tries[task] = min(self._tries.get(task, 0) + 1, limit)  # a duplicate may have saved the last try
            if self._tries[task] == limit:
                return self._close("failed", reason, attempt)
            self._move(task, WAITING, f"its output is damaged: {reason}")
            self._done["map"] -= 1
            self._again.append(task)
        return self._assign()

    def _ended(self, attempt: Attempt) -> list[Instruction]:
        self._require(self._running.killed(attempt), f"attempt {attempt} was not told to stop")
        self._release(attempt)
        return self._stopped(attempt)

    def _stopped(self, attempt: Attempt) -> list[Instruction]:
        """An attempt that was told to stop has ended, in whatever way: nothing of it is wanted."""
        text = f"attempt {attempt.number} ended after it was told to stop"
        for task in attempt.tasks:
            if self._states[task.kind][task.number] == RUNNING and not self._running.runs(task):
                self._move(task, DROPPED, text)
            else:
                self._note(task, text)
        return self._drained() if self._verdict else self._assign()

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
            self.phase = "closing"  # attempts that were overtaken may still have to stop
            self._note(None, "succeeded")
            self._verdict = Finish("succeeded")
            return self._drained()
        return self._assign()

    def _close(self, outcome: Outcome, reason: str, cause: Attempt | None) -> list[Instruction]:
        """Give the job up: kill what runs. The first cause is the one that is reported."""
        if self.phase in ("closing", "ended"):
            return []
        self._note(None, f"{outcome}: {reason}")
        self.phase = "closing"
        self._verdict = Finish(outcome, reason, cause)
        kills: list[Instruction] = [Kill(attempt, reason) for attempt in self._running.kill_all()]
        return kills + self._drained()

    def _drained(self) -> list[Instruction]:
        if self._running or self._verdict is None:
            return []
        self.phase = "ended"
        return [self._verdict]

    # Slots

    def _assign(self) -> list[Instruction]:
        launches: list[Instruction] = []
        speedup = self.speedup
        held = self._held(speedup)
        for slot in list(self._free):
            task = self._next()
            if task is None:
                break
            if self._may_run(slot, task, speedup, held):
                attempt = Attempt(task, self._number(task), slot, self._splits(slot, task, speedup, held))
                several = f", {attempt.splits} tasks from {task.number} on in one" if attempt.splits > 1 else ""
                for one in attempt.tasks:
                    self._take(one)
                    self._move(one, RUNNING, f"attempt {attempt.number} on {slot.kind} slot {slot.number}{several}")
                launches.append(self._launch(attempt))
        if self.phase == "map" and self._policy.duplicates and self._next() is None:
            launches += self._duplicate(held)
            launches += self._break(held)
        return launches

    def _splits(self, slot: Slot, task: TaskId, speedup: float | None, held: frozenset[Slot]) -> int:
        """How many tasks a slot that may have this one does in one. A GPU slot's first attempt shows how long one takes."""
        fresh = task.kind == "map" and not self._again
        if slot.kind == "cpu" and fresh and self._small.nbytes and not self._gpus:
            share = (self.job.maps - self._fresh) / (2 * self._cpus)
            return small_files(task.number, self._small, share, self.job.maps, self._size)
        if slot.kind != "gpu" or slot not in self._used or not fresh or self._several.most < 2:
            return 1
        cpus = self._mappers - len(held) if self._mappers else 0
        if not speedup:
            speedup = self._sessions * at_least(self._running.on("cpu", self._size, self._now), self.estimates)
        wanted = fair(self.job.maps - self._fresh, self._gpus, self._sessions, cpus, speedup)
        return splits(task.number, self._several, wanted, self.job.maps, self._size, self.estimates)

    def _break(self, held: frozenset[Slot]) -> list[Instruction]:
        """Where CPU slots without work would do the tasks of an attempt of several before it ends, it gives them back."""
        idle = sum(slot.kind == "cpu" and slot not in held for slot in self._free)
        running = self._running.several(self._now)
        attempt = late(running, idle, self._size, self.estimates) if idle and running else None
        if attempt is None:
            return []
        self._running.kill(attempt)
        self._give_back(attempt, "is late")
        return [Kill(attempt, "CPU slots are expected to do its tasks sooner"), *self._assign()]

    def _held(self, speedup: float | None) -> frozenset[Slot]:
        """CPU slots that take no map task where the GPUs are worth more, as far as is known: all of them where it is that
        much more and the policy says so, else the spare ones, once a GPU has done a task."""
        if self.phase != "map" or not self._gpus or not (self._policy.yields or self._spare):
            return frozenset()
        most = self._most(speedup)
        if self._policy.yields and most and self._busy(most) > OUTWEIGHS * self._cpus and self._soon():
            return self._cpu_slots
        if not self._spare or not self._gpu_used:
            return frozenset()
        return self._spare if most is None or self._gpus * most > len(self._spare) else frozenset()

    def _busy(self, most: float) -> float:
        """What the GPUs are worth in CPU slots while there are tasks for that many of their sessions only."""
        left = self.job.maps - self._done["map"]
        return self._gpus * most * min(1.0, left / (self._gpus * self._sessions))

    def _soon(self) -> bool:
        """Whether a GPU is awake, or will be before a CPU slot would have done a task."""
        first = self._size(min(self._fresh, self.job.maps - 1))
        return self._awake or wakes(self.estimates, first, self._now - self._begun) <= 1

    @property
    def _gpu_used(self) -> bool:
        return any(slot.kind == "gpu" for slot in self._used)

    def _most(self, speedup: float | None) -> float | None:
        """S, or less where the tasks that GPUs have now take longer than was expected."""
        needs = gpu_needs(
            self.estimates, self._running, self._size, self._now, self._sessions, speedup, cold=not self._gpu_used)
        return self._sessions / needs if needs else None

    def _duplicate(self, held: frozenset[Slot]) -> list[Instruction]:
        """Slots without work run again what is expected to take longer on its slot than once more on theirs."""
        launches, nothing = list[Instruction](), set[SlotKind]()
        for slot in list(self._free):
            if slot.kind in nothing or slot in held:
                continue
            task = self._running.slowest(slot.kind, self.estimates, self._size, self._now)
            if task is None:
                nothing.add(slot.kind)
                continue
            self._note(task, f"attempt {self._number(task)} too, a duplicate, on {slot.kind} slot {slot.number}")
            launches.append(self._launch(Attempt(task, self._number(task), slot), duplicate=True))
        return launches

    def _launch(self, attempt: Attempt, duplicate: bool = False) -> Launch:
        if attempt.number or duplicate:
            self._numbers[attempt.task] = attempt.number + 1
        self._free.remove(attempt.slot)
        self._running.add(attempt, Run(self._now, duplicate))
        return Launch(attempt, duplicate)

    def _number(self, task: TaskId) -> int:
        """The next attempt's: 0 for a task that waits and has never failed, and not kept for those that run but once."""
        ran = self._tries.get(task, 0) > 0 or bool(self._running.of(task))
        return self._numbers.get(task, 1 if ran else 0)

    def _next(self) -> TaskId | None:
        kind: TaskKind = "map" if self.phase == "map" else "reduce"
        if self.phase == "reduce" and self._done["map"] < self.job.maps:  # an output is lost
            return next((task for task in self._again if task.kind == "map" and not self._running.of(task)), None)
        if self._again:
            return self._again[0]
        return TaskId(kind, self._fresh) if self._fresh < len(self._states[kind]) else None

    def _take(self, task: TaskId) -> None:
        if task in self._again:
            self._again.remove(task)
        else:
            self._fresh = task.number + 1

    def _may_run(self, slot: Slot, task: TaskId, speedup: float | None, held: frozenset[Slot]) -> bool:
        if slot in held:
            return False
        if self.phase == "reduce":
            return slot.kind == "cpu"
        undecided = self.job.maps - self._fresh + len(self._again)
        now, nbytes = (self.estimates, self._running, self._size, self._now), self._size(task.number)
        needs, cpus = gpu_needs(*now, self._sessions, speedup, cold=not self._gpu_used), None
        cold = slot not in self._used if slot.kind == "gpu" else not self._gpu_used
        later = longer_at_first(self.estimates, nbytes) if cold else 0.0
        if needs is not None:
            speedup = min(speedup, self._sessions / needs) if speedup else None
            needs += later if slot.kind == "gpu" else 0.0
            free = self._cpus - len(held)
            cpus = cpus_need(*now, free, undecided, max(needs, self._beside)) if free else None
        if not self._awake:
            later += wakes(self.estimates, nbytes, self._now - self._begun)
        busy = self._running.on_gpus(self.estimates, self._size, self._now)
        view = View(undecided, self._gpus, busy, speedup, cpus_need=cpus, gpu_needs=needs, later=later, beside=self._beside)
        return self._policy.takes(view, slot.kind)

    def _release(self, attempt: Attempt) -> Run:
        """The attempt has ended: its slot is free. Returns what it was."""
        self._require(attempt in self._running, f"attempt {attempt} does not run")
        self._put_back(attempt.slot)
        return self._running.remove(attempt)

    def _put_back(self, slot: Slot) -> None:
        self._free.append(slot)
        self._free.sort(key=_gpu_first)

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
        self._running.check()
        running, over = set(self._tasks_in(RUNNING)), {*self._tasks_in(DONE), *self._tasks_in(WAITING)}
        attempted = {task for attempt in self.running() for task in attempt.tasks}
        assert running == attempted - over, "running tasks and running attempts differ"
        assert self.phase == "closing" or self._running.wanted() == running, "a running task was given up"
        known = [*(attempt.slot for attempt in self.running()), *self._free, *self._late]
        assert sorted(slot.number for slot in known) == sorted(slot.number for slot in self.slots), "a slot was lost"
        for kind in ("map", "reduce"):
            assert self._done[kind] == self._states[kind].count(DONE), f"{kind}: wrong count of tasks done"
        if any(self._states["reduce"]):
            assert self.phase != "map", "a reduce task began before the last map task was done"
        assert all(n <= self._limit(t) for t, n in self._tries.items()), "a task was tried too often"
        assert not (self.phase == "ended" and self._running), "the job ended with attempts running"
        if self.phase in ("map", "reduce"):
            assert self._running or not self._awake, "tasks wait, nothing runs"

    def _tasks_in(self, state: int) -> Iterator[TaskId]:
        kinds: tuple[TaskKind, TaskKind] = ("map", "reduce")
        return (TaskId(k, i) for k in kinds for i, s in enumerate(self._states[k]) if s == state)


def _gpu_first(slot: Slot) -> tuple[bool, int]:
    """On a tie the GPU slot asks first."""
    return slot.kind == "cpu", slot.number
