"""A random walk of the state machine over every order of events, with slots of both kinds and every policy."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from heterodoop.scheduler.estimates import Estimates, Remembered
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
    SlotKind,
    Start,
    Stop,
    Succeeded,
    TaskId,
    Tick,
)
from heterodoop.scheduler.policies import CPU_ONLY, POLICIES, Policy
from heterodoop.scheduler.several import Several

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
        self.policy = policy if gpus else CPU_ONLY
        self.prepare(JobShape(maps, reduces, tries, tries), cpus, gpus, spare=spare, late=late,
                     estimates=known(9.0, 0.1) if self.policy is EAGER else None)
        self.obey(Start())

    def prepare(
        self, shape: JobShape, cpus: int, gpus: int, *, spare: int = 0, late: int = 0, estimates: Estimates | None = None,
        apart: set[int] | None = None,
    ) -> None:
        """`apart`: map tasks whose splits do not follow the one before; None: all are."""
        self.shape, self.apart = shape, apart
        slots = [*(Slot(i, "cpu") for i in range(cpus)), *(Slot(cpus + i, "gpu") for i in range(gpus))]
        self.late = [] if self.policy.name == "gpu-only" else slots[cpus:][:late]
        several = Several() if apart is None else Several(8, follows=lambda number: number not in apart)
        self.machine = Machine(self.shape, slots, self.policy, late=self.late, gpus=(gpus + 1) // 2,
                               estimates=estimates, spare=slots[1:cpus][:spare], several=several)
        self.slots = len(slots)
        self.now = 0.0
        self.live: list[Attempt] = []
        self.killed: set[Attempt] = set()
        self.launched: list[Attempt] = []
        self.duplicates: set[Attempt] = set()
        self.tried: set[TaskId] = set()
        self.failed: dict[TaskId, int] = {}  # attempts of one task, but for duplicates that left another one running
        self.committed: list[TaskId] = []
        self.finish: list[Finish] = []

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
                    self.committed += attempt.tasks
                case Finish():
                    assert not self.live
                    self.finish.append(instruction)

    def launch(self, attempt: Attempt, duplicate: bool) -> None:
        others = [other for task in attempt.tasks for other in self.of(task)]
        if attempt.splits > 1:
            assert self.apart is not None and not self.apart & {*attempt.numbers[1:]}
            assert attempt.slot.kind == "gpu" and not duplicate
            assert self.tried.isdisjoint(attempt.tasks), "only tasks that never ran"
        self.tried |= {*attempt.tasks}
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
        """Attempts of a task, but for those of several that have given it back."""
        return [attempt for attempt in self.live
                if task in attempt.tasks and not (attempt.splits > 1 and attempt in self.killed)]

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
        alone = attempt.splits == 1 and not (attempt in self.duplicates and self.of(attempt.task))
        if attempt not in self.killed and alone:
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


class Fixed(Estimates):
    """Knows, and learns nothing more."""

    def finished(self, kind: SlotKind, size: int, seconds: float, *, first: bool = False) -> None:
        pass


class SeveralInAnyOrder(AnyOrder):
    """The same where GPU slots do several tasks as one attempt: all of their first ones have succeeded."""

    @initialize(maps=st.integers(12, 24), reduces=st.integers(0, 2), cpus=st.integers(1, 3), gpus=st.integers(1, 2),
                tries=st.integers(1, 3), apart=st.sets(st.integers(6, 24), max_size=4),
                policy=st.sampled_from([EAGER, EAGER, POLICIES["tail"], POLICIES["gpu-only"]]))
    def begin(  # type: ignore[override]
        self, maps: int, reduces: int, cpus: int, gpus: int, tries: int, apart: set[int], policy: Policy,
    ) -> None:
        self.policy = policy
        estimates = Fixed(Remembered(100.0 * gpus / ((gpus + 1) // 2), 1.0, 0.01))
        self.prepare(JobShape(maps, reduces, tries, tries), cpus, gpus, estimates=estimates, apart=apart)
        self.obey(Start())
        for attempt in [a for a in self.live if a.slot.kind == "gpu"]:
            self.live.remove(attempt)
            self.obey(Succeeded(attempt))

    @precondition(lambda self: any(a.splits > 1 for a in self.live))
    @rule(succeeds=st.booleans())
    def one_of_several_ends(self, succeeds: bool) -> None:
        attempt = next(a for a in self.live if a.splits > 1)
        self.live.remove(attempt)
        self.obey(Succeeded(attempt) if succeeds else Failed(attempt, "why", permanent=True))

    @precondition(lambda self: any(a.splits > 1 for a in self.live))
    @rule(seconds=st.sampled_from([0.0, 50.0]))
    def cpus_do_the_rest(self, seconds: float) -> None:
        """What is left besides it, and then time passes."""
        while attempt := next((a for a in self.live if (a.slot.kind, a.task.kind) == ("cpu", "map")), None):
            self.live.remove(attempt)
            self.obey(Succeeded(attempt))
            self.machine.validate()
        self.now += seconds
        self.obey(Tick())


SeveralInAnyOrder.TestCase.settings = settings(max_examples=60, stateful_step_count=30)
test_several_in_any_order = SeveralInAnyOrder.TestCase
AnyOrder.TestCase.settings = settings(max_examples=300, stateful_step_count=30)
test_any_order = AnyOrder.TestCase
