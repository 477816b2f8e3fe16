"""Map tasks that a GPU slot does several of in one: how many, what becomes of them where that fails, what it costs."""

from __future__ import annotations

import random

import pytest

from heterodoop.scheduler.estimates import Estimates, Remembered
from heterodoop.scheduler.machine import Machine
from heterodoop.scheduler.model import (
    Attempt,
    Commit,
    Ended,
    Failed,
    Finish,
    Instruction,
    JobShape,
    Kill,
    Launch,
    Slot,
    Start,
    Succeeded,
    TaskId,
)
from heterodoop.scheduler.policies import POLICIES
from heterodoop.scheduler.several import LEAST, NO_SMALL, SECONDS, Several, Small, fair, small_files, splits

from .simulator import Shape, Warmth, engine, known

CPU, GPU = Slot(0, "cpu"), Slot(1, "gpu")
ANY = Several(8, follows=lambda number: True)


def machine(maps: int, several: Several = ANY, *, policy: str = "tail", cpus: int = 1, speedup: float = 10.0) -> Machine:
    """A GPU of one slot, of number `cpus`, and so many CPU slots; a task takes a CPU slot a tenth of a second."""
    slots = (*(Slot(number, "cpu") for number in range(cpus)), Slot(cpus, "gpu"))
    return Machine(JobShape(maps, 0), slots, POLICIES[policy], estimates=known(0.1, 0.1 / speedup), several=several)


def launched(instructions: list[Instruction], kind: str = "gpu") -> list[Attempt]:
    return [one.attempt for one in instructions if isinstance(one, Launch) and one.attempt.slot.kind == kind]


def warm(job: Machine) -> Attempt:
    """The GPU slot's second attempt, which may be of several splits."""
    (first,) = launched(job.handle(Start(), 0.0))
    assert first.splits == 1, "the first one shows how long a task takes"
    (second,) = launched(job.handle(Succeeded(first), 0.01))
    return second


def test_a_slots_share_of_what_is_left() -> None:
    assert fair(100, 1, 4, 0, None) == 25, "its share: no other slot takes map tasks"
    assert fair(100, 2, 4, 8, 16.0) == pytest.approx(100 * 4 / (2 * (2 * 16 + 8)))
    assert [fair(100, 1, 4, 8, speedup) for speedup in (None, 4.0, 0.5)] == [1, 1, 1], "nothing known, or nothing to gain"


def test_a_first_job_learns_from_tasks_that_cpu_slots_have_not_ended() -> None:
    job = Machine(JobShape(99, 0), (CPU, GPU), POLICIES["tail"], several=ANY)
    found, counts = launched(job.handle(Start(), 0.0)), []
    for now in (0.01, 0.02, 0.03, 0.04):
        found = launched(job.handle(Succeeded(found[0]), now))
        counts.append(found[0].splits)
    assert job.speedup is None and counts == [1, 8, 8, 8], "as long as it is not known that the CPU slot takes longer, one"


def test_the_neighbours_that_are_wanted_and_allowed() -> None:
    def some(several: Several, wanted: float = 99.0, first: int = 0, gpu: float = 0.001) -> int:
        return splits(first, several, wanted, 20, lambda number: 1, known(1.0, gpu))

    assert (some(ANY), some(ANY, 3.9), some(ANY, first=17), some(Several())) == (8, 3, 3, 1)
    assert some(ANY._replace(nbytes=5)) == 5
    assert some(ANY._replace(follows=lambda number: number != 4), first=1) == 3, "another file, or not behind it"
    assert some(ANY, gpu=SECONDS / 3) == 3 and some(ANY, gpu=1.0) == 1, "they must be short"
    assert splits(0, ANY, 99.0, 20, lambda number: 1, Estimates()) == 1, "nothing is known"


def test_a_gpu_slot_that_has_no_others_beside_it_does_all_in_few_attempts() -> None:
    job, counts, now = machine(40, policy="gpu-only"), [], 0.01
    waiting, committed = [warm(job)], list[TaskId]()
    while waiting:
        attempt, now = waiting.pop(), now + 0.01
        counts.append(attempt.splits)
        found = job.handle(Succeeded(attempt), now)
        assert found[0] == Commit(attempt)
        committed += attempt.tasks
        waiting = launched(found)
        job.validate()
    assert sum(counts) == 39 and committed == [TaskId("map", number) for number in range(1, 40)]
    assert counts == [8, 8, 8, 8, 7]
    assert found[-1] == Finish("succeeded") and job.several["tasks"] == 39
    assert all(job.state(task) == "done" for task in committed)


def test_where_it_fails_each_task_is_tried_by_itself_as_often_as_any() -> None:
    job = machine(40, speedup=8.0)
    attempt = warm(job)
    assert (attempt.splits, str(attempt)) == (8, "m_000002_0")
    (again,) = launched(job.handle(Failed(attempt, "why", permanent=True), 0.02))
    assert again == Attempt(TaskId("map", 2), 1, GPU), "it has a number of its own"
    assert job.several == {"attempts": 0, "tasks": 0, "given_back": 1}
    steps = [step.text for step in job.story(TaskId("map", 9))]
    assert steps == ["attempt 0 on gpu slot 1, 8 tasks from 2 on in one", "attempt 0 of 8 tasks failed: why"]
    for number in range(4):
        job.validate()
        found = job.handle(Failed(again._replace(number=number + 1), "why"), 0.03)
        others = launched(found)
        while number < 3 and others and others[0].task != again.task:  # those that waited longer
            assert others[0].splits == 1
            others = launched(job.handle(Succeeded(others[0]), 0.04))
    assert isinstance(found[-1], Kill) or isinstance(found[-1], Finish)
    assert job.phase != "map", "its four tries are used up"


def test_the_next_ones_are_of_half_as_many() -> None:
    job = machine(90, policy="gpu-only")
    waiting, now, counts = launched(job.handle(Failed(warm(job), "why"), 0.02)), 0.02, []
    while waiting:
        counts.append(waiting[0].splits)
        now += 0.01
        waiting = launched(job.handle(Succeeded(waiting[0]), now))
    assert counts[:8] == [1] * 8 and max(counts) == 4


def test_idle_cpu_slots_take_them_singly_where_they_are_sooner() -> None:
    """The GPU hangs at four tasks. The CPU slots do all others and then, since it is late by more than they need, these."""
    job, now, found = machine(17, Several(4, follows=lambda number: True), cpus=2), 0.01, list[Instruction]()
    attempt = warm(job)
    assert attempt.splits == 4
    while busy := [one for one in job.running() if one.slot.kind == "cpu"]:
        now += 0.1
        for one in busy:
            found += job.handle(Succeeded(one), now)
            job.validate()
    assert [one.attempt for one in found if isinstance(one, Kill)] == [attempt]
    assert [one.task.number for one in launched(found, "cpu")] == [*range(7, 17), *attempt.numbers]
    assert job.several == {"attempts": 0, "tasks": 0, "given_back": 1}
    assert job.handle(Ended(attempt), now) == [Finish("succeeded")]


def test_what_is_left_of_it_is_what_a_cpu_slot_is_refused_for() -> None:
    """R + q <= G * S: of four tasks in one three are done when it has run for three quarters of its time."""
    job = machine(30, Several(4, follows=lambda number: True))
    warm(job)
    running = job._running.on_gpus
    assert [running(job.estimates, lambda number: 1, 0.01 + 0.01 * tasks) for tasks in (0, 1, 3.5, 99)] == [4, 3, 1, 1]


def sweep(count: int, start: float) -> list[float]:
    """Of jobs of short tasks of random shapes, what `tail` takes with attempts of up to eight by what it takes without.

    start  share of a GPU's time for a task that an attempt has but once.
    """
    chance, ratios = random.Random(2), []
    for _ in range(count):
        shape = Shape(chance.randint(1, 120), 1, chance.randint(1, 4), chance.choice([1, 2, 4, 8, 12, 24]),
                      2 ** chance.uniform(-3, 5), 2 ** chance.uniform(-8, -2))
        warmth = Warmth(chance.choice([0, 0.3]), chance.choice([0, 0.1]), chance.choice([0, 4]))
        sessions = chance.choice([1, 4])
        kept = Remembered(shape.speedup, shape.t_cpu, shape.t_gpu * sessions, warmth.opens, warmth.first)
        many, one = (
            engine(shape, POLICIES["tail"], sessions=sessions, estimates=Estimates(kept), tick=0.1,
                   warmth=warmth._replace(most=most, start=start))
            for most in (8, 1)
        )
        ratios.append(many / one)
    return ratios


def test_they_never_make_a_job_longer_and_gain_what_an_attempt_costs() -> None:
    assert max(sweep(15, 0.0)) < 1.01
    gains = sweep(15, 0.5)
    assert max(gains) < 1.01 and sum(gains) / len(gains) < 0.95


def test_a_cpu_slot_takes_small_files_in_ever_smaller_shares() -> None:
    small = Small(9 * LEAST, lambda number: number != 30)
    job = Machine(JobShape(40, 0), (CPU, Slot(1, "cpu")), size=lambda number: LEAST // 2, small=small)
    first, second = launched(job.handle(Start()), "cpu")
    assert (first.splits, second.splits) == (10, 7), "a quarter of what is left for each of two slots"
    (third,) = launched(job.handle(Succeeded(first)), "cpu")
    assert third.numbers == range(17, 22)
    (fourth,) = launched(job.handle(Succeeded(second)), "cpu")
    (fifth,) = launched(job.handle(Succeeded(third)), "cpu")
    assert (fourth.numbers, fifth.numbers) == (range(22, 26), range(26, 29)), "in the end so many as a process is worth"
    (sixth,) = launched(job.handle(Succeeded(fourth)), "cpu")
    assert sixth.numbers == range(29, 30), "what comes behind is no small file"
    (last,) = launched(job.handle(Failed(fifth, "left")), "cpu")
    assert last.splits == 1 and job.several["given_back"] == 1, "and from then on each is alone"
    job.validate()


def test_small_files_are_together_no_longer_than_allowed() -> None:
    small = Small(1000, lambda number: True)
    assert small_files(0, small, 99, 50, lambda number: 300) == 3
    assert small_files(48, small, 99, 50, lambda number: 300) == 2
    assert small_files(0, NO_SMALL, 99, 50, lambda number: 0) == 1
