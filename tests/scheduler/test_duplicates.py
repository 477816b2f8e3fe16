"""Map tasks that run on a CPU slot and once more on an idle GPU slot: the first result counts, and the task counts once."""

from __future__ import annotations

import pytest

from heterodoop.scheduler.estimates import Estimates
from heterodoop.scheduler.machine import InvalidEvent, Machine
from heterodoop.scheduler.model import (
    Attempt,
    Commit,
    Ended,
    Event,
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
from heterodoop.scheduler.policies import POLICIES

from .simulator import known

CPU, GPU = Slot(0, "cpu"), Slot(1, "gpu")
ON_GPU = Attempt(TaskId("map", 0), 0, GPU)
ON_CPU = Attempt(TaskId("map", 1), 0, CPU)
AGAIN = Attempt(TaskId("map", 1), 1, GPU)
SOONER = Kill(ON_CPU, "attempt 1 of the task was sooner")


def two_tasks(estimates: Estimates | None = None, *, reduces: int = 0, attempts: int = 4, policy: str = "tail") -> Machine:
    """One task on each slot, since nothing is known yet or the CPU slot is expected to be in time."""
    machine = Machine(JobShape(2, reduces, attempts), (CPU, GPU), POLICIES[policy], estimates=estimates)
    assert machine.handle(Start(), 0.0) == [Launch(ON_GPU), Launch(ON_CPU)]
    return machine


def duplicated(**options: int) -> Machine:
    """Task 1 runs on both slots: the GPU took a second, the CPU slot (late by 9) is expected to take nine more."""
    machine = two_tasks(**options)  # type: ignore[arg-type]
    assert machine.handle(Succeeded(ON_GPU), 1.0) == [Commit(ON_GPU)], "the CPU slot may have needed a second too"
    assert machine.handle(Tick(), 9.0) == [Launch(AGAIN, duplicate=True)]
    machine.validate()
    return machine


def end(machine: Machine, *events: Event) -> list[object]:
    found: list[object] = []
    for event in events:
        found += machine.handle(event, 10.0)
        machine.validate()
    return found


def test_the_duplicate_is_first() -> None:
    machine = duplicated()
    assert end(machine, Succeeded(AGAIN)) == [Commit(AGAIN), SOONER]
    assert end(machine, Ended(ON_CPU)) == [Finish("succeeded")], "the job ends when the killed attempt has"
    assert machine.duplicates == {"won": 1, "lost": 0, "failed": 0} and machine.finished("map") == 2


def test_a_job_whose_cpu_tasks_were_all_overtaken_knows_that_its_gpu_is_faster() -> None:
    """The next one, which begins with that, gives the CPU slots nothing."""
    slots = (*(Slot(number, "cpu") for number in range(3)), Slot(3, "gpu"))
    machine = Machine(JobShape(9, 0, 1), slots, POLICIES["tail"])
    waiting, now = [launch for launch in machine.handle(Start(), 0.0) if isinstance(launch, Launch)], 0.0
    late = [launch.attempt for launch in waiting if launch.attempt.slot.kind == "cpu"]
    assert len(late) == 3
    waiting = [launch for launch in waiting if launch.attempt.slot.kind == "gpu"]
    while waiting:
        now += 1.0
        done = machine.handle(Succeeded(waiting.pop(0).attempt), now)
        waiting += [launch for launch in done if isinstance(launch, Launch)]
        for kill in done:
            if isinstance(kill, Kill):
                machine.handle(Ended(kill.attempt), now)
        machine.validate()
    assert machine.finished("map") == 9 and machine.duplicates["won"] == 3
    kept = machine.to_remember
    assert kept is not None and kept.speedup >= 6, "three ran for 7, 8 and 9 s, a task of the GPU 1 s"
    again = Machine(JobShape(6, 0, 1), slots, POLICIES["tail"], estimates=Estimates(kept))
    assert [launch.attempt.slot.kind for launch in again.handle(Start(), 0.0) if isinstance(launch, Launch)] == ["gpu"]


def test_the_cpu_slot_is_first() -> None:
    machine = duplicated()
    assert end(machine, Succeeded(ON_CPU)) == [Commit(ON_CPU), Kill(AGAIN, "attempt 0 of the task was sooner")]
    assert end(machine, Ended(AGAIN)) == [Finish("succeeded")]
    assert machine.duplicates == {"won": 0, "lost": 1, "failed": 0}


@pytest.mark.parametrize("event", [Ended, Succeeded, lambda a: Failed(a, "killed", permanent=True)])
def test_whatever_the_loser_reports_changes_nothing(event) -> None:
    machine = duplicated(reduces=1)
    reduce = Attempt(TaskId("reduce", 0), 0, CPU)
    assert end(machine, Succeeded(AGAIN)) == [Commit(AGAIN), SOONER], "its slot is not free yet"
    assert end(machine, event(ON_CPU)) == [Launch(reduce)]
    assert end(machine, Succeeded(reduce)) == [Commit(reduce), Finish("succeeded")]


def test_reduce_tasks_do_not_wait_for_a_duplicate_that_lost() -> None:
    machine = duplicated(reduces=1)
    reduce = Attempt(TaskId("reduce", 0), 0, CPU)
    assert end(machine, Succeeded(ON_CPU))[-1] == Launch(reduce)
    assert end(machine, Succeeded(reduce)) == [Commit(reduce)] and machine.phase == "closing"
    assert end(machine, Ended(AGAIN)) == [Finish("succeeded")]


def test_a_lost_output_is_made_again_when_the_attempt_that_was_overtaken_has_ended() -> None:
    machine = duplicated(reduces=1)
    reduce = Attempt(TaskId("reduce", 0), 0, CPU)
    assert end(machine, Succeeded(ON_CPU))[-1] == Launch(reduce)
    assert end(machine, Lost(reduce, (1,), "damaged"), Tick()) == [], "two attempts at a time, and none a duplicate"
    assert end(machine, Ended(AGAIN)) == [Launch(Attempt(AGAIN.task, 2, CPU))]
    third = Attempt(AGAIN.task, 3, CPU)
    assert end(machine, Failed(Attempt(AGAIN.task, 2, CPU), "exit status 3")) == [Launch(third)]
    assert end(machine, Succeeded(third)) == [Commit(third), Launch(Attempt(reduce.task, 1, CPU))]


def test_a_last_try_that_a_duplicate_saved_is_not_counted_once_more() -> None:
    machine = duplicated(reduces=1, attempts=1)
    assert end(machine, Failed(ON_CPU, "why"), Succeeded(AGAIN))[0] == Commit(AGAIN)
    (reduce,) = (a for a in machine.running() if a.task.kind == "reduce")
    assert end(machine, Lost(reduce, (1,), "damaged")) == [Finish("failed", "damaged", reduce)]


def test_a_duplicates_failure_is_nobodys_and_it_is_not_tried_again() -> None:
    machine = duplicated(attempts=1)
    assert end(machine, Failed(AGAIN, "out of memory", permanent=True), Tick()) == []
    assert machine.handle(Tick(), 1000.0) == [], "a task has one duplicate"
    assert end(machine, Succeeded(ON_CPU)) == [Commit(ON_CPU), Finish("succeeded")]
    assert machine.duplicates == {"won": 0, "lost": 0, "failed": 1}


def test_a_task_goes_on_as_its_duplicate_where_its_first_attempt_fails() -> None:
    machine = duplicated(attempts=1)
    assert end(machine, Failed(ON_CPU, "exit status 3", permanent=True)) == [], "the other may still succeed"
    assert end(machine, Succeeded(AGAIN)) == [Commit(AGAIN), Finish("succeeded")]


def test_both_fail_and_the_job_with_them_when_the_tries_are_used_up() -> None:
    machine = duplicated(attempts=1)
    assert end(machine, Failed(ON_CPU, "exit status 3"), Failed(AGAIN, "exit status 4")) == [
        Finish("failed", "exit status 4", AGAIN)]


def test_both_fail_and_the_task_is_tried_again() -> None:
    machine = duplicated(attempts=3)
    third = Attempt(TaskId("map", 1), 2, GPU)
    assert end(machine, Failed(ON_CPU, "exit status 3"), Failed(AGAIN, "exit status 4")) == [Launch(third)]
    assert end(machine, Failed(third, "exit status 5")) == [Finish("failed", "exit status 5", third)]


def test_stopping_a_job_kills_both() -> None:
    machine = duplicated()
    assert set(end(machine, Stop("stopped", "signal 2"))) == {Kill(ON_CPU, "signal 2"), Kill(AGAIN, "signal 2")}
    assert end(machine, Succeeded(ON_CPU)) == []
    assert end(machine, Ended(AGAIN)) == [Finish("stopped", "signal 2")]
    assert machine.state(TaskId("map", 1)) == "dropped"


def test_a_job_that_fails_while_the_loser_stops() -> None:
    machine = duplicated(reduces=1)
    end(machine, Succeeded(AGAIN), Stop("failed", "disk full"))
    assert end(machine, Ended(ON_CPU)) == [Finish("failed", "disk full")]


@pytest.mark.parametrize(("cpu", "gpu", "at", "worth_it"), [
    (10.0, 1.0, 1.0, True),  # nine seconds are left
    (2.5, 1.0, 1.0, True), (2.0, 1.0, 1.0, False), (1.5, 1.0, 1.0, False),
    (1.5, 1.0, 2.0, False), (1.5, 1.0, 2.6, True),  # late by more than a GPU needs
])
def test_a_duplicate_is_worth_it_where_it_is_expected_to_be_sooner(
    cpu: float, gpu: float, at: float, worth_it: bool,
) -> None:
    policy = POLICIES["gpu-first"]._replace(duplicates=True)
    machine = Machine(JobShape(2, 0), (CPU, GPU), policy, estimates=known(cpu, gpu))
    machine.handle(Start(), 0.0)
    launched = [*machine.handle(Succeeded(ON_GPU), 1.0)[1:], *machine.handle(Tick(), at)]
    assert launched == ([Launch(AGAIN, duplicate=True)] if worth_it else [])


def test_the_task_that_gains_most_is_first_and_other_policies_have_no_duplicates() -> None:
    slots = (CPU, Slot(2, "cpu"), GPU)
    sizes = [1, 5, 9]
    first = POLICIES["gpu-first"]
    machine = Machine(JobShape(3, 0), slots, first._replace(duplicates=True), size=sizes.__getitem__, estimates=known(9, 1))
    machine.handle(Start(), 0.0)
    assert machine.handle(Succeeded(ON_GPU), 1.0)[1] == Launch(Attempt(TaskId("map", 2), 1, GPU), duplicate=True)
    for policy in ("gpu-first", "paper-tail"):
        machine = Machine(JobShape(2, 0), (CPU, GPU), POLICIES[policy])
        machine.handle(Start(), 0.0)
        assert [*machine.handle(Succeeded(ON_GPU), 1.0), *machine.handle(Tick(), 1000.0)] == [Commit(ON_GPU)]


def test_a_slot_that_opens_late_takes_what_is_left_or_tries_what_runs() -> None:
    machine = Machine(JobShape(3, 0), (CPU, GPU), POLICIES["tail"], late=[GPU])
    first = Attempt(TaskId("map", 0), 0, CPU)
    assert machine.handle(Start(), 0.0) == [Launch(first)]
    assert machine.handle(Opened(GPU), 1.0) == [Launch(Attempt(TaskId("map", 1), 0, GPU))]
    machine.validate()
    machine = Machine(JobShape(1, 0), (CPU, GPU), POLICIES["tail"], late=[GPU])
    machine.handle(Start(), 0.0)
    assert machine.handle(Opened(GPU), 0.9) == [], "a task that may end soon"
    assert machine.handle(Tick(), 1.1) == [Launch(Attempt(TaskId("map", 0), 1, GPU), duplicate=True)]
    with pytest.raises(InvalidEvent, match="slot 1 is open"):
        machine.handle(Opened(GPU))


def test_slots_that_open_late_are_of_no_use_to_a_policy_that_needs_them() -> None:
    with pytest.raises(ValueError, match="gpu-only"):
        Machine(JobShape(1, 0), (CPU, GPU), POLICIES["gpu-only"], late=[GPU])


def test_a_task_that_failed_first_may_be_duplicated_later() -> None:
    machine = two_tasks()
    second = Attempt(TaskId("map", 1), 1, CPU)
    assert end(machine, Failed(ON_CPU, "exit status 3")) == [Launch(second)]
    machine.handle(Succeeded(ON_GPU), 11.0)
    third = Attempt(TaskId("map", 1), 2, GPU)
    assert machine.handle(Tick(), 100.0) == [Launch(third, duplicate=True)]
    machine.validate()
