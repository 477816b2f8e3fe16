"""The state machine of a job: stories of what happens. Tasks that run twice are in test_duplicates.py."""

from __future__ import annotations

import pytest

from heterodoop.scheduler.machine import InvalidEvent, Machine
from heterodoop.scheduler.model import (
    Attempt,
    Commit,
    Ended,
    Failed,
    Finish,
    JobShape,
    Kill,
    Launch,
    Slot,
    SlotKind,
    Start,
    Stop,
    Succeeded,
    TaskId,
)
from heterodoop.scheduler.policies import POLICIES, Policy, View

CPUS = (Slot(0, "cpu"), Slot(1, "cpu"))


def m(number: int) -> TaskId:
    return TaskId("map", number)


def r(number: int) -> TaskId:
    return TaskId("reduce", number)


def try_(task: TaskId, number: int = 0, slot: int = 0) -> Attempt:
    return Attempt(task, number, CPUS[slot])


def test_maps_fill_the_slots_then_reduces_begin_when_the_last_map_is_done():
    machine = Machine(JobShape(maps=3, reduces=1), CPUS)
    assert machine.handle(Start()) == [Launch(try_(m(0))), Launch(try_(m(1), slot=1))]
    assert machine.handle(Succeeded(try_(m(1), slot=1))) == [Commit(try_(m(1), slot=1)), Launch(try_(m(2), slot=1))]
    assert machine.handle(Succeeded(try_(m(0)))) == [Commit(try_(m(0)))], "the slot idles: no reduce before the last map"
    last = try_(m(2), slot=1)
    assert machine.handle(Succeeded(last)) == [Commit(last), Launch(try_(r(0)))]
    assert machine.handle(Succeeded(try_(r(0)))) == [Commit(try_(r(0))), Finish("succeeded")]
    machine.validate()


def test_a_job_without_tasks_finishes_at_once():
    assert Machine(JobShape(0, 0), CPUS).handle(Start()) == [Finish("succeeded")]


def test_reduces_run_even_where_there_is_no_map():
    assert Machine(JobShape(0, 1), CPUS).handle(Start()) == [Launch(try_(r(0)))]


def test_a_failed_task_runs_again_before_tasks_never_tried():
    machine = Machine(JobShape(maps=9, reduces=0), CPUS)
    machine.handle(Start())
    assert machine.handle(Failed(try_(m(0)), "exit status 3")) == [Launch(try_(m(0), number=1))]
    assert "exit status 3" in machine.story(m(0))[-2].text


def test_the_last_failed_attempt_ends_the_job_and_kills_the_others():
    machine = Machine(JobShape(maps=9, reduces=0, map_attempts=2), CPUS)
    machine.handle(Start())
    machine.handle(Failed(try_(m(0)), "exit status 3"))
    other = try_(m(1), slot=1)
    assert machine.handle(Failed(try_(m(0), 1), "exit status 4")) == [Kill(other, "exit status 4")]
    assert machine.handle(Ended(other)) == [Finish("failed", "exit status 4", try_(m(0), 1))]


def test_a_permanent_failure_is_not_tried_again():
    machine = Machine(JobShape(maps=1, reduces=0), CPUS)
    machine.handle(Start())
    assert machine.handle(Failed(try_(m(0)), "damaged", permanent=True)) == [Finish("failed", "damaged", try_(m(0)))]


def test_reduce_tasks_have_their_own_limit_of_attempts():
    machine = Machine(JobShape(maps=0, reduces=1, map_attempts=4, reduce_attempts=1), CPUS)
    machine.handle(Start())
    assert machine.handle(Failed(try_(r(0)), "no")) == [Finish("failed", "no", try_(r(0)))]


@pytest.mark.parametrize("event", [Ended, Succeeded, lambda a: Failed(a, "killed")])
def test_whatever_a_killed_attempt_reports_its_output_is_not_committed(event):
    machine = Machine(JobShape(maps=2, reduces=1), CPUS[:1])
    machine.handle(Start())
    assert machine.handle(Stop("stopped", "signal 2")) == [Kill(try_(m(0)), "signal 2")]
    assert machine.handle(event(try_(m(0)))) == [Finish("stopped", "signal 2")]


def test_the_first_cause_is_reported_and_a_second_stop_changes_nothing():
    machine = Machine(JobShape(maps=2, reduces=0), CPUS[:1])
    machine.handle(Start())
    machine.handle(Stop("stopped", "signal 2"))
    assert machine.handle(Stop("failed", "disk full")) == []
    assert machine.handle(Ended(try_(m(0)))) == [Finish("stopped", "signal 2")]
    assert machine.handle(Stop("stopped", "signal 15")) == []


def test_stop_before_the_start():
    machine = Machine(JobShape(maps=2, reduces=0), CPUS)
    assert machine.handle(Stop("stopped", "signal 2")) == [Finish("stopped", "signal 2")]


def test_an_event_that_cannot_happen_carries_the_story():
    machine = Machine(JobShape(maps=1, reduces=0), CPUS)
    machine.handle(Start())
    with pytest.raises(InvalidEvent, match="not told to stop"):
        machine.handle(Ended(try_(m(0))))
    machine.handle(Succeeded(try_(m(0))))
    with pytest.raises(InvalidEvent, match=r"does not run(.|\n)*map phase of 1 tasks(.|\n)*succeeded"):
        machine.handle(Succeeded(try_(m(0))))
    with pytest.raises(InvalidEvent, match="begun already"):
        machine.handle(Start())


def test_gpu_slots_idle_under_cpu_only_and_take_maps_but_no_reduces_under_another_policy():
    both = (Slot(0, "cpu"), Slot(1, "gpu"))
    assert Machine(JobShape(2, 0), both).handle(Start()) == [Launch(Attempt(m(0), 0, both[0]))]
    seen: list[View] = []

    def anywhere(view: View, kind: SlotKind) -> bool:
        seen.append(view)
        return True

    machine = Machine(JobShape(2, 2), both, Policy("anywhere", anywhere))
    seen.clear()
    first, second = Attempt(m(0), 0, both[1]), Attempt(m(1), 0, both[0])
    assert machine.handle(Start()) == [Launch(first), Launch(second)], "on a tie the GPU asks first"
    assert seen == [View(undecided=2, gpus=1, gpu_busy=0), View(undecided=1, gpus=1, gpu_busy=1)]
    machine.handle(Succeeded(first))
    assert machine.handle(Succeeded(second))[1:] == [Launch(Attempt(r(0), 0, both[0]))]


def test_a_job_needs_a_cpu_slot():
    with pytest.raises(ValueError, match="CPU slot"):
        Machine(JobShape(1, 0), [Slot(0, "gpu")])


def test_a_policy_that_no_slot_satisfies():
    with pytest.raises(ValueError, match="under policy gpu-only"):
        Machine(JobShape(1, 0), CPUS, POLICIES["gpu-only"])
    assert Machine(JobShape(0, 0), CPUS, POLICIES["gpu-only"]).handle(Start()) == [Finish("succeeded")]
