"""Seconds of map tasks by kind of slot, and the speedup."""

from __future__ import annotations

import pytest

from heterodoop.scheduler.estimates import SAMPLES, WINDOW, Estimates, Remembered


def test_nothing_is_known_before_a_task_has_finished_and_no_speedup_before_three_of_each_kind() -> None:
    estimates = Estimates()
    assert estimates.seconds("cpu", 10) is None and estimates.speedup() is None
    for number in range(SAMPLES):
        assert estimates.speedup() is None
        estimates.finished("cpu", 10, 8.0)
        assert estimates.speedup() is None
        estimates.finished("gpu", 10, 2.0)
        assert (estimates.speedup() is not None) == (number == SAMPLES - 1)
    assert estimates.speedup() == 4.0 and estimates.speedup(sessions=2) == 8.0


def test_seconds_are_by_bytes_and_a_large_task_weighs_more() -> None:
    estimates = Estimates()
    estimates.finished("cpu", 1000, 10.0)
    estimates.finished("cpu", 0, 0.01)  # an empty file
    assert estimates.seconds("cpu", 100) == pytest.approx(1.0, rel=0.01)
    assert estimates.seconds("cpu", 0) == pytest.approx(0.01)
    assert estimates.seconds("gpu", 100) is None


def test_only_the_last_tasks_count() -> None:
    estimates = Estimates()
    for _ in range(WINDOW):
        estimates.finished("gpu", 1, 100.0)
    for _ in range(WINDOW):
        estimates.finished("gpu", 1, 1.0)
    assert estimates.seconds("gpu", 5) == 5.0


def test_what_a_gpu_slot_did_first_counts_only_as_long_as_there_is_nothing_better() -> None:
    estimates = Estimates()
    for _ in range(SAMPLES):
        estimates.finished("cpu", 1, 10.0, first=True)
        estimates.finished("gpu", 1, 12.0, first=True)
    assert estimates.speedup() == pytest.approx(10 / 12), "a CPU slot does not warm up"
    for number in range(SAMPLES):
        estimates.finished("gpu", 1, 1.0)
        assert (estimates.seconds("gpu", 1) == 1.0) == (number == SAMPLES - 1)
    assert estimates.speedup() == 10.0


def test_a_clock_too_coarse_to_see_a_task_gives_no_speedup() -> None:
    estimates = Estimates()
    for kind in ("cpu", "gpu"):
        for _ in range(SAMPLES):
            estimates.finished(kind, 1, 0.0)  # type: ignore[arg-type]
    assert estimates.speedup() is None and estimates.seconds("cpu", 1) == 0.0


def test_tasks_that_were_overtaken_give_the_least_that_s_can_be() -> None:
    estimates = Estimates()
    for number in range(SAMPLES):
        assert estimates.speedup() is None
        estimates.overtaken(10, 4.0)
        estimates.finished("gpu", 10, 0.1)
        assert (estimates.speedup() is None) == (number < SAMPLES - 1)
    assert estimates.speedup() == estimates.measured() == pytest.approx(40.0) and estimates.speedup(2) == pytest.approx(80.0)
    assert estimates.seconds("cpu", 10) is None, "what a task takes is more"
    for _ in range(SAMPLES):
        estimates.finished("cpu", 10, 9.0)
    assert estimates.speedup() == pytest.approx(90.0), "those that finished tell it"


@pytest.mark.parametrize(("remembered", "measured"), [(100.0, None), (30.0, 40.0)])
def test_less_than_is_remembered_is_nothing_new(remembered: float, measured: float | None) -> None:
    estimates = Estimates(Remembered(remembered))
    for _ in range(SAMPLES):
        estimates.overtaken(10, 4.0)
        estimates.finished("gpu", 10, 0.1)
    assert estimates.measured() == (measured and pytest.approx(measured))
    assert estimates.speedup() == pytest.approx(measured or remembered)


def test_what_the_next_job_begins_with() -> None:
    estimates = Estimates()
    assert estimates.to_remember(4) is None
    estimates.wakes = 0.5
    for _ in range(SAMPLES):
        estimates.finished("gpu", 10, 3.0, first=True)
        estimates.finished("gpu", 10, 2.0)
        estimates.finished("cpu", 10, 4.0)
    kept = estimates.to_remember(4)
    assert kept == Remembered(8.0, pytest.approx(0.4), 0.2, 0.5, 1.0)
    again = Estimates(kept)
    assert again.speedup(4) == 8.0 and again.seconds("gpu", 100) == 20.0 and again.seconds("cpu", 100) == pytest.approx(40.0)
    again.finished("gpu", 100, 7.0)
    assert again.seconds("gpu", 100) == 7.0 and again.seconds("cpu", 0) == pytest.approx(0.4), "its own tasks tell it better"
    assert Estimates(Remembered(3.0)).seconds("cpu", 1) is None, "S alone tells no seconds"


def test_a_job_whose_gpu_did_nothing_first_remembers_so() -> None:
    estimates = Estimates()
    for _ in range(SAMPLES):
        estimates.finished("gpu", 10, 1.0, first=True)
        estimates.finished("cpu", 10, 4.0)
    assert estimates.to_remember() == Remembered(4.0, pytest.approx(0.4), 0.1), "its first tasks are all there is"
