"""CPU slots whose processors read for GPUs; GPUs that sleep at first; and what `tail` so takes against either side alone."""

from __future__ import annotations

import random

import pytest

from heterodoop.scheduler.estimates import Estimates, Remembered
from heterodoop.scheduler.machine import Machine
from heterodoop.scheduler.model import Instruction, JobShape, Launch, Opened, Slot, Start, Succeeded, Tick
from heterodoop.scheduler.policies import POLICIES

from .simulator import Shape, Warmth, engine, known

CPUS = tuple(Slot(number, "cpu") for number in range(3))
GPU = Slot(3, "gpu")
SPARE = CPUS[1:]


def machine(maps: int, estimates: Estimates, *, late: bool = False, reduces: int = 0) -> Machine:
    return Machine(JobShape(maps, reduces), (*CPUS, GPU), POLICIES["tail"], late=[GPU] if late else [], spare=SPARE,
                   estimates=estimates)


def used(instructions: list[Instruction]) -> list[int]:
    """The slots on which something begins."""
    return [one.attempt.slot.number for one in instructions if isinstance(one, Launch)]


def test_spare_slots_work_until_a_gpu_that_is_worth_it_has_done_a_task() -> None:
    job = machine(99, Estimates(Remembered(5.0, 5.0, 1.0)))
    launched = job.handle(Start(), 0.0)
    assert used(launched) == [3, 0, 1, 2]
    on_gpu, *on_cpus = (one.attempt for one in launched if isinstance(one, Launch))
    assert used(job.handle(Succeeded(on_gpu), 1.0)) == [3]
    assert [used(job.handle(Succeeded(attempt), 1.2)) for attempt in on_cpus] == [[0], [], []]
    job.validate()


@pytest.mark.parametrize(("speedup", "held"), [(2.5, True), (2.0, False), (0.5, False)])
def test_they_are_held_where_a_gpu_does_more_than_they_would(speedup: float, held: bool) -> None:
    job = machine(99, known(speedup, 1.0))
    on_gpu = next(one.attempt for one in job.handle(Start(), 0.0) if isinstance(one, Launch))
    job.handle(Succeeded(on_gpu), 1.0)
    spare = next(attempt for attempt in job.running() if attempt.slot == SPARE[0])
    assert used(job.handle(Succeeded(spare), 1.5)) == ([] if held else [1])


def test_a_gpu_that_turns_out_to_be_slow_frees_them() -> None:
    """Its second task takes longer and longer: the CPU slots' two are free again before it has ended."""
    job = machine(99, known(5.0, 1.0))
    launched = [one.attempt for one in job.handle(Start(), 0.0) if isinstance(one, Launch)]
    job.handle(Succeeded(launched[0]), 1.0)
    assert [used(job.handle(Succeeded(attempt), 1.0)) for attempt in launched[2:]] == [[], []]
    assert used(job.handle(Tick(), 2.5)) == [], "S may still be more than 2"
    assert used(job.handle(Tick(), 3.0)) == [1, 2]


@pytest.mark.parametrize(("speedup", "policy", "begun"), [
    (25.0, "tail", [3]), (24.0, "tail", [3, 0, 1, 2]), (25.0, "gpu-first", [3, 0, 1, 2]), (25.0, "paper-tail", [3, 0, 1, 2]),
])
def test_all_are_in_the_way_of_a_gpu_that_does_more_than_eight_times_as_much(
    speedup: float, policy: str, begun: list[int],
) -> None:
    job = Machine(JobShape(99, 0), (*CPUS, GPU), POLICIES[policy], estimates=known(speedup, 1.0))
    assert used(job.handle(Start(), 0.0)) == begun


def test_they_begin_when_such_a_gpu_does_not_get_on() -> None:
    """It is worth at most eight times as much as the three when its task has taken a 24th of what theirs take."""
    job = machine(99, known(48.0, 1.0))
    assert [used(job.handle(event, now)) for event, now in ((Start(), 0.0), (Tick(), 1.9), (Tick(), 2.1))] == [
        [3], [], [0, 1, 2]]


def test_a_first_task_may_take_as_much_longer_as_it_did_last_time() -> None:
    """Of 48 times as fast a GPU; without that it would have been late from two seconds on, as above."""
    job = machine(99, Estimates(Remembered(48.0, 48.0, 1.0, first=5.0)))
    assert [used(job.handle(event, now)) for event, now in ((Start(), 0.0), (Tick(), 6.9), (Tick(), 7.1))] == [
        [3], [], [0, 1, 2]]


def test_they_begin_where_such_a_gpu_would_sleep_longer_than_a_task_takes() -> None:
    job = machine(99, Estimates(Remembered(50.0, 1.0, 0.02, wakes=1.5)), late=True)
    assert used(job.handle(Start(), 0.0)) == [0, 1, 2]
    soon = machine(99, Estimates(Remembered(50.0, 1.0, 0.02, wakes=0.5)), late=True)
    assert [used(soon.handle(event, now)) for event, now in ((Start(), 0.0), (Tick(), 1.4), (Tick(), 1.6))] == [
        [], [], [0, 1, 2]]


def test_reduce_tasks_have_all_cpu_slots() -> None:
    job = machine(1, known(50.0, 1.0), reduces=3)
    (first,) = job.handle(Start(), 0.0)
    assert isinstance(first, Launch) and used(job.handle(Succeeded(first.attempt), 1.0)) == [0, 1, 2]


def test_a_job_must_have_a_slot_that_is_not_spare() -> None:
    with pytest.raises(ValueError, match="more than spare"):
        Machine(JobShape(1, 0), (*CPUS, GPU), POLICIES["tail"], spare=CPUS)


def test_a_gpu_that_sleeps_is_waited_for_as_long_as_it_pays() -> None:
    job = machine(2, Estimates(Remembered(8.0, 8.0, 1.0, wakes=0.5)), late=True)
    assert [used(job.handle(event, now)) for event, now in ((Start(), 0.0), (Tick(), 2.0))] == [[], []]
    job.validate()
    assert used(job.handle(Opened(GPU), 2.5)) == [3]
    assert job.estimates.wakes == 2.5
    small = machine(2, Estimates(Remembered(8.0, 0.5, 0.0625, wakes=0.5)), late=True)
    assert used(small.handle(Start(), 0.0)) == [0, 1], "it would be done before the GPU is awake"


@pytest.mark.parametrize(("remembered", "at"), [(Remembered(50.0), 1.0), (Remembered(50.0, 1.0, 0.02, wakes=0.3), 1.3)])
def test_a_gpu_that_never_wakes_is_not_waited_for(remembered: Remembered, at: float) -> None:
    job = machine(2, Estimates(remembered), late=True)
    assert [used(job.handle(event, now)) for event, now in ((Start(), 0.0), (Tick(), at - 0.1))] == [[], []]
    assert used(job.handle(Tick(), at + 0.1)) == [0, 1]


def sweep(count: int, *, second: bool) -> list[float]:
    """Of jobs of random shapes, what `tail` takes by the better of cpu-only and gpu-only; the greatest first.

    second  the job begins with what one before it measured.
    """
    chance = random.Random(1)
    ratios = []
    for _ in range(count):
        cpus = chance.choice([1, 2, 4, 8, 12, 24])
        spare = min(4, cpus) if chance.random() < 0.8 else 0
        shape = Shape(chance.randint(1, 120), 1, chance.randint(1, 4), cpus, 2 ** chance.uniform(-3, 5),
                      2 ** chance.uniform(-5, 3))
        warmth = Warmth(chance.choice([0, 0.3, 0.6]), chance.choice([0, 0.1, 0.4]), spare)
        sessions = chance.choice([1, 4])
        kept = Remembered(shape.speedup, shape.t_cpu, shape.t_gpu * sessions, warmth.opens, warmth.first)
        tail, cpu, gpu = (
            engine(shape, POLICIES[name], sessions=sessions, estimates=Estimates(kept if second else None), tick=0.1,
                   warmth=warmth)
            for name in ("tail", "cpu-only", "gpu-only")
        )
        ratios.append(tail / min(cpu, gpu))
    return sorted(ratios, reverse=True)


def test_tail_is_hardly_ever_slower_than_the_better_side_alone() -> None:
    """Of 1,000 such jobs 229 took more than 1.05 times as long, up to 2.6, without spare slots and kept seconds."""
    ratios = sweep(90, second=True)
    assert sum(ratio > 1.05 for ratio in ratios) <= 1 and ratios[0] < 1.2
    assert sum(ratios) / len(ratios) < 0.92


def test_nor_often_in_a_first_job() -> None:
    """There it is small jobs whose tasks the CPU slots have when the GPU wakes, which lets them run for a second."""
    ratios = sweep(60, second=False)
    assert sum(ratio > 1.05 for ratio in ratios) <= 4 and ratios[0] < 4
