"""What the bench of whole jobs computes: one GPU and two that take the same time for a task are a factor of two apart."""

from __future__ import annotations

import pytest

from bench import gpu_job


def attempts(slots: int, tasks: int, start: float = 3.0, each: float = 0.5) -> list[gpu_job.Attempt]:
    """`tasks` on `slots` slots that take turns; a slot's first task waits for its start-up as well."""
    free = [0.0] * slots
    found = []
    for number in range(tasks):
        slot = number % slots
        ended = free[slot] + each + (start + slot * 0.1 if not free[slot] else 0)
        found.append(gpu_job.Attempt(slot, free[slot], ended))
        free[slot] = ended
    return found


def test_two_equal_gpus_are_twice_as_fast_as_one() -> None:
    one, two = (gpu_job.map_seconds(attempts(slots, 64), warm=True) for slots in (1, 2))
    assert one == pytest.approx(32.0)
    assert one / two == pytest.approx(2.0, rel=0.05)


def test_an_attempt_of_several_tasks_counts_as_many() -> None:
    """The same work in fewer attempts takes as long."""
    one = attempts(1, 64)
    three = [one[0], *(gpu_job.Attempt(0, one[first].started, one[last].ended, 1 + last - first)
                       for first, last in ((1, 40), (41, 63)))]
    assert gpu_job.map_seconds(three, warm=True) == pytest.approx(gpu_job.map_seconds(one, warm=True))


def test_a_cold_map_phase_goes_from_the_first_start_to_the_last_end() -> None:
    assert gpu_job.map_seconds(attempts(1, 4), warm=False) == pytest.approx(5.0)


def test_one_task_each_is_too_little_to_tell() -> None:
    with pytest.raises(SystemExit, match="too few map tasks"):
        gpu_job.map_seconds(attempts(2, 2), warm=True)
