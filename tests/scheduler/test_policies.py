"""The policies, by what jobs take under them: the design's table of makespans, and bounds for every shape of job."""

from __future__ import annotations

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from heterodoop.scheduler.estimates import Estimates
from heterodoop.scheduler.policies import OUTWEIGHS, POLICIES, View

from .simulator import Shape, Warmth, engine, nodes

TAIL = POLICIES["tail"]._replace(yields=False)
TAIL_ALONE = TAIL._replace(duplicates=False)
SIMPLE = {**POLICIES, "tail": TAIL_ALONE}

# shape, then makespans under cpu-only, gpu-first, tail (tasks forced), paper-tail.
TABLE = [
    (Shape(19, 1, 1, 2, 6), 60, 18, 15, 2, 15),  # the paper's figure 3
    (Shape(10, 1, 1, 4, 4), 12, 8, 6, 1, 6),
    (Shape(4, 1, 1, 3, 10), 20, 10, 4, 3, 4),
    (Shape(30, 1, 1, 20, 6), 12, 12, 10, 3, 10),
    (Shape(30, 1, 3, 4, 6), 48, 12, 9, 4, 9),
    (Shape(26, 1, 1, 20, 6), 12, 6, 6, 0, 7),
    (Shape(5, 1, 1, 2, 1, 2), 3, 2, 2, 0, 2),
    (Shape(38, 2, 1, 2, 6), 60, 18, 15, 4, 15),
    (Shape(5760, 48, 1, 20, 6), 36, 30, 30, 180, 45),
    (Shape(3600, 48, 1, 20, 47), 188, 94, 68, 336, 68),
]


@pytest.mark.parametrize(("shape", "cpu_only", "gpu_first", "tail", "forced", "paper_tail"), TABLE)
def test_makespans(shape: Shape, cpu_only: int, gpu_first: int, tail: int, forced: int, paper_tail: int) -> None:
    found = {name: nodes(shape, policy) for name, policy in SIMPLE.items() if name != "gpu-only"}
    assert {name: ran.makespan for name, ran in found.items()} == {
        "cpu-only": cpu_only, "gpu-first": gpu_first, "tail": tail, "paper-tail": paper_tail}
    assert found["tail"].forced == forced


@pytest.mark.parametrize(("shape", "cpu_only", "gpu_first", "tail", "forced", "paper_tail"), TABLE[:7])
def test_makespans_of_the_state_machine(
    shape: Shape, cpu_only: int, gpu_first: int, tail: int, forced: int, paper_tail: int,
) -> None:
    found = {name: engine(shape, policy) for name, policy in SIMPLE.items() if name != "gpu-only"}
    assert found == {"cpu-only": cpu_only, "gpu-first": gpu_first, "tail": tail, "paper-tail": paper_tail}
    assert engine(shape, POLICIES["gpu-only"]) == -(-shape.tasks // shape.gpus) * shape.t_gpu
    assert engine(shape, POLICIES["tail"]) <= tail, "duplicates cost nothing"


def shapes(most_nodes: int) -> st.SearchStrategy[Shape]:
    return st.builds(
        Shape, tasks=st.integers(1, 120), nodes=st.integers(1, most_nodes), gpus=st.integers(1, 4), cpus=st.integers(1, 12),
        t_cpu=st.integers(1, 60), t_gpu=st.integers(1, 12),
    )


@given(shapes(6))
@settings(max_examples=400)
def test_tail_loses_one_gpu_task_at_most_against_gpu_first(shape: Shape) -> None:
    assert nodes(shape, TAIL_ALONE).makespan <= nodes(shape, POLICIES["gpu-first"]).makespan + shape.t_gpu


@given(shapes(1), st.integers(1, 3), st.booleans())
@settings(max_examples=150)
def test_so_it_does_in_the_state_machine_where_duplicates_only_help(shape: Shape, sessions: int, known: bool) -> None:
    first, alone, tail = (
        engine(shape, policy, sessions=sessions, estimates=None if known else Estimates())
        for policy in (POLICIES["gpu-first"], TAIL_ALONE, TAIL)
    )
    assert tail <= alone <= first + sessions * shape.t_gpu


@given(shapes(1), st.integers(1, 3))
@example(Shape(29, 1, 2, 1, 13, 3), 1)
@settings(max_examples=100)
def test_cpu_slots_that_yield_cost_an_eighth_at_most_and_a_task(shape: Shape, sessions: int) -> None:
    """Where reading for GPUs would lose nothing by them."""
    yielding, working = (engine(shape, policy, sessions=sessions) for policy in (POLICIES["tail"], TAIL))
    assert yielding <= working * (1 + 1 / OUTWEIGHS) + sessions * shape.t_gpu


@given(shapes(1), st.integers(1, 4), st.booleans())
@example(Shape(20, 1, 1, 16, 1, 20), 1, False)  # one task on a GPU that nobody knows to be slow, and nobody overtook it
@example(Shape(20, 1, 1, 16, 1, 20), 1, True)
@example(Shape(4, 1, 1, 4, 3, 2), 4, True)  # a GPU that is faster than a core, with sessions that are slower each
@example(Shape(1, 1, 3, 1, 9, 3), 4, True)  # GPUs for which a CPU slot would yield, if there were tasks for them all
@settings(max_examples=150)
def test_tail_is_not_slower_than_either_side_alone(shape: Shape, sessions: int, known: bool) -> None:
    found = {}
    for name in ("tail", "cpu-only", "gpu-only"):
        estimates = None if known else Estimates()
        found[name] = engine(shape, POLICIES[name], sessions=sessions, estimates=estimates, tick=0.02 * shape.t_gpu)
    assert found["tail"] <= 1.05 * min(found["cpu-only"], found["gpu-only"])


@given(shapes(1), st.integers(1, 4), st.floats(1, 2))
@settings(max_examples=100)
def test_nor_is_it_where_cpu_slots_begin_less_as_they_are_in_the_way(shape: Shape, sessions: int, beside: float) -> None:
    """They leave more to GPUs that are sooner; where the CPU alone is sooner it has the tasks all the same."""
    found = {
        name: engine(shape, POLICIES[name], sessions=sessions, tick=0.02 * shape.t_gpu, warmth=Warmth(beside=beside))
        for name in ("tail", "cpu-only", "gpu-only")
    }
    assert found["tail"] <= 1.05 * min(found["cpu-only"], found["gpu-only"])


def test_a_cpu_slot_that_takes_longer_beside_gpus_leaves_them_the_last_tasks() -> None:
    view = View(8, 1, 0, 7.0, cpus_need=2.0)  # done by a GPU in 8/7 of the time of one task of the CPU
    assert TAIL.takes(view, "cpu") and not TAIL.takes(view._replace(beside=1.25), "cpu")
    assert TAIL.takes(view._replace(undecided=9, beside=1.25), "cpu")
    assert TAIL.takes(view._replace(beside=1.25, cpus_need=1.0), "cpu"), "the CPU alone is sooner"


@given(shapes(1))
@settings(max_examples=100)
def test_both_forms_of_the_rule_take_the_same_time(shape: Shape) -> None:
    """But that a node, which has no duplicates to make up for it, counts what is left of tasks on its GPUs."""
    assume(shape.speedup >= 1)  # under Hadoop a slower GPU's container runs its tasks itself: a slot more
    for name in ("cpu-only", "gpu-first", "paper-tail"):
        assert engine(shape, SIMPLE[name]) == nodes(shape, SIMPLE[name]).makespan, name
    assert nodes(shape, TAIL_ALONE).makespan <= engine(shape, TAIL_ALONE)


def test_a_task_that_nobody_knows_of_is_not_left_on_a_slow_cpu_slot() -> None:
    """No CPU task has finished when the last one begins, so the policy cannot know; the duplicate makes up for it."""
    shape = Shape(8, 1, 1, 3, t_cpu=500)
    assert engine(shape, TAIL_ALONE, estimates=Estimates()) == 500
    assert engine(shape, POLICIES["tail"], estimates=Estimates()) == 8


def test_sessions_are_one_gpu() -> None:
    """Two slots that take twice as long each are the same GPU: the rule forces as many tasks."""
    for shape, *_ in TABLE[:7]:
        one, two = (engine(shape, TAIL_ALONE, sessions=sessions) for sessions in (1, 2))
        assert abs(one - two) <= shape.t_gpu


@pytest.mark.parametrize("speedup", [None, 0.5])
def test_without_a_gpu_that_is_known_to_be_faster_tail_is_gpu_first(speedup: float | None) -> None:
    for name in ("tail", "paper-tail"):
        assert POLICIES[name].takes(View(1, 1, 0, speedup), "cpu")


def test_the_rule_at_its_edge() -> None:
    def refuses(name: str, undecided: int, busy: int) -> bool:
        return not POLICIES[name].takes(View(undecided, 2, busy, 3.0, nodes=4), "cpu")

    assert refuses("tail", 16, 2) and not refuses("tail", 17, 2) and not refuses("tail", 16, 3)
    assert refuses("paper-tail", 24, 99) and not refuses("paper-tail", 25, 0)
    assert refuses("tail", 1, 5) and not refuses("tail", 1, 6), "a node's share is one task at least"
    assert all(POLICIES[name].takes(View(1, 1, 9, 9.0), "gpu") for name in POLICIES if name != "cpu-only")
