"""A random walk of the state machine over every order of events, with slots of both kinds and every policy."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from heterodoop.scheduler.machine import Machine
from heterodoop.scheduler.model import (
    Attempt,
    Commit,
    Ended,
    Failed,
    Finish,
    JobShape,
    Kill,
    Launch,
    Lost,
    Opened,
    Slot,
    Start,
    Stop,
    Succeeded,
    TaskId,
    Tick,
)
from heterodoop.scheduler.policies import CPU_ONLY, POLICIES, Policy

from .simulator import known

EAGER = POLICIES["gpu-first"]._replace(duplicates=True)  # CPU slots take what they can, so that there is much to duplicate


class AnyOrder(RuleBasedStateMachine):
    """Attempts end in any order and any way, after any time; the job may be stopped at any moment."""

    @initialize(maps=st.integers(0, 7), reduces=st.integers(0, 3), cpus=st.integers(1, 3), gpus=st.integers(0, 4),
                late=st.integers(0, 2), spare=st.integers(0, 2), tries=st.integers(1, 3),
                policy=st.sampled_from([*POLICIES.values(), *[EAGER] * 7]))
    def begin(
        self, maps: int, reduces: int, cpus: int, gpus: int, late: int, spare: int, tries: int, policy: Policy,
    ) -> None:
        self.shape = JobShape(maps, reduces, tries, tries)
        slots = [*(Slot(i, "cpu") for i in range(cpus)), *(Slot(cpus + i, "gpu") for i in range(gpus))]
        self.policy = policy if gpus else CPU_ONLY
        self.late = [] if policy.name == "gpu-only" else slots[cpus:][:late]
        estimates = known(9.0, 0.1) if self.policy is EAGER else None
        self.machine = Machine(self.shape, slots, self.policy, late=self.late, gpus=(gpus + 1) // 2,
                               estimates=estimates, spare=slots[1:cpus][:spare])
        self.slots = len(slots)
        self.now = 0.0
        self.live: list[Attempt] = []
        self.killed: set[Attempt] = set()
        self.launched: list[Attempt] = []
        self.duplicates: set[Attempt] = set()
        self.failed: dict[TaskId, int] = {}  # attempts, but for duplicates that left another one running
        self.committed: list[TaskId] = []
        self.finish: list[Finish] = []
        self.obey(Start())

    def obey(self, event: object) -> None:
        for instruction in self.machine.handle(event, self.now):  # type: ignore[arg-type]
            assert not self.finish, "no instruction after the end"
            match instruction:
                case Launch(attempt, duplicate):
                    self.launch(attempt, duplicate)
                case Kill(attempt):
                    assert attempt in self.live and attempt not in self.killed
                    self.killed.add(attempt)
                case Commit(attempt):
                    assert attempt not in self.killed
                    self.committed.append(attempt.task)
                case Finish():
                    assert not self.live
                    self.finish.append(instruction)

    def launch(self, attempt: Attempt, duplicate: bool) -> None:
        others = self.of(attempt.task)
        assert len(others) == duplicate, "a task runs twice only as a duplicate"
        assert all(other.slot.kind != attempt.slot.kind and other not in self.killed for other in others)
        assert not duplicate or (attempt.task.kind, self.policy.duplicates) == ("map", True)
        assert attempt.task.kind == "map" or attempt.slot.kind == "cpu"
        assert attempt.slot not in self.late
        self.live.append(attempt)
        self.launched.append(attempt)
        if duplicate:
            self.duplicates.add(attempt)

    def of(self, task: TaskId) -> list[Attempt]:
        return [attempt for attempt in self.live if attempt.task == task]

    def pick(self, data: st.DataObject) -> Attempt:
        attempt = data.draw(st.sampled_from(self.live))
        self.live.remove(attempt)
        return attempt

    @rule(seconds=st.sampled_from([0.0, 0.1, 1.0, 50.0]))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @precondition(lambda self: self.late)
    @rule()
    def open(self) -> None:
        self.obey(Opened(self.late.pop()))

    @rule()
    def tick(self) -> None:
        self.obey(Tick())

    @precondition(lambda self: self.live)
    @rule(data=st.data(), seconds=st.sampled_from([0.0, 0.1, 1.0]))
    def succeed(self, data: st.DataObject, seconds: float) -> None:
        self.now += seconds
        self.obey(Succeeded(self.pick(data)))

    @precondition(lambda self: any(a.slot.kind == "gpu" for a in self.live))
    @rule()
    def a_gpu_succeeds(self) -> None:
        """More often than chance has it, so that GPU slots idle while CPU slots have work."""
        attempt = next(a for a in self.live if a.slot.kind == "gpu")
        self.live.remove(attempt)
        self.obey(Succeeded(attempt))

    @precondition(lambda self: self.live)
    @rule(data=st.data(), permanent=st.sampled_from([False, False, False, True]))
    def fail(self, data: st.DataObject, permanent: bool) -> None:
        attempt = self.pick(data)
        if attempt not in self.killed and not (attempt in self.duplicates and self.of(attempt.task)):
            self.failed[attempt.task] = self.failed.get(attempt.task, 0) + (9 if permanent else 1)
        self.obey(Failed(attempt, "why", permanent))

    @precondition(lambda self: any(a.task.kind == "reduce" for a in self.live))
    @rule(data=st.data())
    def lose(self, data: st.DataObject) -> None:
        """A reduce attempt finds map outputs damaged: these tasks are done once more, and count as tried."""
        attempt = data.draw(st.sampled_from([a for a in self.live if a.task.kind == "reduce"]))
        maps = tuple(data.draw(st.sets(st.integers(0, self.shape.maps - 1)))) if self.shape.maps else ()
        self.live.remove(attempt)
        if attempt not in self.killed:
            for task in (TaskId("map", number) for number in maps):
                if self.machine.state(task) == "done":
                    self.failed[task] = self.failed.get(task, 0) + 1
                    self.failed[attempt.task] = self.failed.get(attempt.task, 0) + self.failed[task]
                    self.committed.remove(task)
        self.obey(Lost(attempt, maps, "damaged"))

    @precondition(lambda self: set(self.live) & self.killed)
    @rule()
    def end(self) -> None:
        attempt = next(a for a in self.live if a in self.killed)
        self.live.remove(attempt)
        self.obey(Ended(attempt))

    @rule(outcome=st.sampled_from(["stopped", "failed"]), really=st.sampled_from([False] * 9 + [True]))
    def stop(self, outcome: str, really: bool) -> None:
        if really:
            self.obey(Stop(outcome, "because"))  # type: ignore[arg-type]

    @invariant()
    def holds(self) -> None:
        if not hasattr(self, "machine"):
            return
        self.machine.validate()
        assert len({a.slot for a in self.live}) == len(self.live) <= self.slots
        assert len({str(a) for a in self.launched}) == len(self.launched), "an attempt's name serves twice"
        assert len(set(self.committed)) == len(self.committed), "no task is committed twice"
        assert self.live or self.finish, "the job neither runs nor has ended"
        for finish in self.finish:
            self.ended(finish)

    def ended(self, finish: Finish) -> None:
        if finish.outcome == "succeeded":
            every = {TaskId("map", i) for i in range(self.shape.maps)} | {
                TaskId("reduce", i) for i in range(self.shape.reduces)}
            assert set(self.committed) == every
        if finish.cause:
            assert self.failed[finish.cause.task] >= self.shape.map_attempts, "its task was not tried enough"
            assert finish.cause.task not in self.committed

    def teardown(self) -> None:
        if hasattr(self, "machine"):
            counted = self.machine.duplicates
            assert sum(counted.values()) <= len(self.duplicates)
            assert not self.finish or self.finish[0].outcome != "succeeded" or sum(counted.values()) == len(self.duplicates)


AnyOrder.TestCase.settings = settings(max_examples=300, stateful_step_count=30, deadline=None)
test_any_order = AnyOrder.TestCase
