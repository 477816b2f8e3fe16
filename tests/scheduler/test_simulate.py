"""Jobs in virtual time through the code that decides under Hadoop, against the table and an independent simulation."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from heterodoop.scheduler import simulate as module
from heterodoop.scheduler.compare import CLUSTERS, SPEEDUPS, compare
from heterodoop.scheduler.node.model import Knowledge
from heterodoop.scheduler.policies import POLICIES
from heterodoop.scheduler.simulate import Besides, Conditions, Outcome, Shape, simulate

from . import simulator
from .test_policies import TABLE, shapes

TAIL, GPU_FIRST = POLICIES["tail"], POLICIES["gpu-first"]
WORDCOUNT = Shape(48, 1, 20, 5760, 6.0)
BLACKSCHOLES = Shape(48, 1, 20, 3600, 47.0)


def of(shape: simulator.Shape) -> Shape:
    return Shape(shape.nodes, shape.gpus, shape.cpus, shape.tasks, shape.t_cpu, shape.t_gpu)


@pytest.mark.parametrize(("shape", "cpu_only", "gpu_first", "tail", "forced", "paper_tail"), TABLE)
def test_makespans(
    shape: simulator.Shape, cpu_only: int, gpu_first: int, tail: int, forced: int, paper_tail: int,
) -> None:
    found = {name: simulate(of(shape), POLICIES[name]) for name in ("cpu-only", "gpu-first", "tail", "paper-tail")}
    assert {name: outcome.makespan for name, outcome in found.items()} == {
        "cpu-only": cpu_only, "gpu-first": gpu_first, "tail": tail, "paper-tail": paper_tail}
    assert found["tail"].forced == forced


@given(shapes(6), st.sampled_from(["cpu-only", "gpu-first", "tail", "paper-tail"]))
@settings(max_examples=300)
def test_as_a_simulation_that_does_without_nodes(shape: simulator.Shape, policy: str) -> None:
    expected = simulator.nodes(shape, POLICIES[policy])
    outcome = simulate(of(shape), POLICIES[policy])
    assert (outcome.makespan, outcome.forced) == (expected.makespan, expected.forced)


@given(shapes(6))
@settings(max_examples=300)
def test_tail_loses_one_gpu_task_at_most_against_gpu_first(shape: simulator.Shape) -> None:
    assert simulate(of(shape), TAIL).makespan <= simulate(of(shape), GPU_FIRST).makespan + shape.t_gpu


@given(shapes(4), st.sampled_from(sorted(POLICIES)), st.sampled_from([0.0, 0.3]), st.booleans(),
       st.sampled_from([0.0, 0.07, 2.5]), st.booleans())
@example(simulator.Shape(9, 2, 2, 3, 5, 3), "gpu-only", 0.0, False, 2.5, True)
@example(simulator.Shape(102, 1, 1, 3, 1, 1), "tail", 0.3, False, 0.0, False)  # slower, then faster, while lent
@settings(max_examples=200)
def test_every_task_runs_once_and_no_slot_twice_at_a_time(
    shape: simulator.Shape, policy: str, jitter: float, learn: bool, heartbeat: float, cap: bool,
) -> None:
    conditions = Conditions(heartbeat, cap and heartbeat > 0, jitter, learn)
    outcome = simulate(of(shape), POLICIES[policy], conditions, spans=True)
    spans = outcome.spans
    assert len(spans) == shape.tasks and outcome.on_gpus == sum(span.gpu for span in spans)
    assert outcome.makespan == max(span.end for span in spans)
    for node in range(shape.nodes):
        here = [span for span in spans if span.node == node]
        assert at_once([(s.start, s.end) for s in here if s.gpu]) <= shape.gpus
        assert at_once([(s.asked, s.end) for s in here]) <= shape.cpus + shape.gpus
        slower = policy == "tail" and shape.speedup < 2  # or measured so: a GPU's container is a CPU slot
        slots = shape.cpus + slower * shape.gpus
        assert at_once([(s.asked, s.end) for s in here if s.forced or not s.gpu]) <= slots
    assert all(span.asked <= span.start < span.end for span in spans)
    assert 0 <= outcome.gpus_busy <= 1.0001 and 0 <= outcome.cpus_busy <= 1.0001


@given(shapes(3), st.sampled_from(sorted(POLICIES)), st.booleans(), st.lists(st.integers(1, 30), max_size=3),
       st.none() | st.tuples(st.integers(0, 20), st.integers(1, 40)))
@settings(max_examples=150)
def test_jobs_beside_each_other_and_a_gpu_that_fails(
    shape: simulator.Shape, policy: str, learn: bool, jobs: list[int], down: tuple[int, int] | None,
) -> None:
    besides = Besides(tuple(jobs), (down[0], down[0] + down[1]) if down else None)
    outcome = simulate(of(shape), POLICIES[policy], Conditions(learn=learn), besides, spans=True)
    assert len(outcome.spans) == shape.tasks + sum(jobs) and len(outcome.ends) == 1 + len(jobs)
    assert outcome.makespan == max(outcome.ends) == max(span.end for span in outcome.spans)
    for node in range(shape.nodes):
        here = [span for span in outcome.spans if span.node == node]
        assert at_once([(s.start, s.end) for s in here if s.gpu]) <= shape.gpus
        assert at_once([(s.asked, s.end) for s in here]) <= shape.cpus + shape.gpus
        if besides.down and node == 0:
            start, end = besides.down
            during = [(max(s.start, start), min(s.end, end)) for s in here if s.gpu and s.start < end and s.end > start]
            assert at_once(during) < shape.gpus, "one of them is out of service"
    assert 0 <= outcome.gpus_busy <= 1.0001 and 0 <= outcome.cpus_busy <= 1.0001


def test_a_small_job_has_its_turns_beside_a_large_one() -> None:
    """Both wait for one GPU: four tasks of the one are done when eight of both are."""
    outcome = simulate(Shape(1, 1, 10, 100, 6.0), POLICIES["gpu-only"], besides=Besides((4,)))
    assert outcome.ends == (104, 8) and outcome.forced == 103
    alone = simulate(Shape(1, 1, 10, 4, 6.0), POLICIES["gpu-only"])
    assert alone.ends == (4,)


def test_no_task_that_another_node_has_decided_on_counts_as_left_whatever_other_jobs_have() -> None:
    """A large job beside the small one has the most of all tasks without a container."""
    original, seen = module._Run._known, 0

    def known(self: module._Run, place: module._Place, job: module._Job) -> Knowledge:
        nonlocal seen
        found, seen = original(self, place, job), seen + 1
        assert found.decided_elsewhere >= job.tasks - job.left - place.mine[job.name]
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module._Run, "_known", known)
        simulate(Shape(4, 1, 3, 300, 6.0), TAIL, besides=Besides((40,)))
    assert seen == 340


def test_what_a_gpu_has_when_it_fails_runs_in_its_container_and_so_does_what_waits() -> None:
    """At 2 s a task runs on the GPU and three wait for it. All begin anew on the CPU; the fifth has the GPU at 10 s."""
    outcome = simulate(Shape(1, 1, 3, 6, 6.0), POLICIES["gpu-only"], besides=Besides(down=(2.5, 8.0)), spans=True)
    assert sorted((span.gpu, span.start, span.end) for span in outcome.spans) == [
        (False, 2.5, 8.5)] * 4 + [(True, 0, 1), (True, 1, 2)]
    tail = [simulate(Shape(1, 1, 2, 19, 6.0), TAIL, besides=Besides(down=down)).makespan for down in (None, (3.0, 6.0))]
    assert tail == [15, 18], "the three seconds that the GPU did nothing"


def at_once(intervals: list[tuple[float, float]]) -> int:
    events = sorted([(start, 1) for start, _ in intervals] + [(end, -1) for _, end in intervals])
    most = now = 0
    for _, change in events:
        now += change
        most = max(most, now)
    return most


@given(shapes(6))
@example(simulator.Shape(20, 1, 1, 16, 1, 20))
@example(simulator.Shape(96, 8, 4, 6, 49, 10))  # a node has had its share, and the others could do all that is left
@example(simulator.Shape(15, 1, 4, 1, 16, 11))  # a GPU that is about to end its task is as good as free
@settings(max_examples=200)
def test_tail_is_not_slower_than_either_side_alone(shape: simulator.Shape) -> None:
    tail, cpus, gpus = (simulate(of(shape), POLICIES[name]).makespan for name in ("tail", "cpu-only", "gpu-only"))
    assert tail <= 1.05 * min(cpus, gpus)


@given(shapes(1), st.integers(1, 60))
@example(simulator.Shape(30, 1, 1, 4, 1), 199)  # nobody knew, and the GPU had the first task until all others were done
@settings(max_examples=200)
def test_nor_is_it_where_a_gpu_turns_out_to_be_slower(shape: simulator.Shape, slower: int) -> None:
    """The first task of a GPU is taken back as soon as one of the CPU's has ended. A job of several waves has the time."""
    shape = shape._replace(tasks=shape.tasks + shape.cpus + shape.gpus, t_gpu=shape.t_cpu + slower)
    tail, cpus = (simulate(of(shape), POLICIES[name], Conditions(learn=True)) for name in ("tail", "cpu-only"))
    assert tail.makespan <= 1.05 * cpus.makespan


def test_a_task_that_a_slower_gpu_has_is_taken_back() -> None:
    """At 1 s the first CPU tasks end; the GPU's begins anew in its container, and so do all others."""
    outcome = simulate(Shape(1, 1, 4, 12, 1.0, 100.0), TAIL, Conditions(learn=True), spans=True)
    assert (outcome.makespan, outcome.on_gpus, len(outcome.spans)) == (3, 0, 12)
    assert outcome.gpus_busy == pytest.approx(1 / 3), "it worked for a second, in vain"
    assert simulate(Shape(1, 1, 4, 12, 1.0, 100.0), GPU_FIRST, Conditions(learn=True)).makespan == 100


def test_the_job_trackers_half() -> None:
    """A late tail is spread over heartbeats, so that every node's GPU gets some of it; an early one is only held up."""
    apart = Conditions(heartbeat=0.1)
    assert 68 <= simulate(BLACKSCHOLES, TAIL, apart).makespan < 68.5
    assert 55 <= simulate(BLACKSCHOLES, TAIL, apart._replace(cap=True)).makespan < 57
    assert 30 <= simulate(WORDCOUNT, TAIL, apart).makespan < 30.5
    assert 31 <= simulate(WORDCOUNT, TAIL, apart._replace(cap=True)).makespan < 32.5


def test_nodes_that_have_to_measure_first() -> None:
    """Three tasks of each kind are known when the tail comes, and the table's numbers come out all the same."""
    learnt = simulate(WORDCOUNT, TAIL, Conditions(learn=True))
    assert (learnt.makespan, learnt.forced) == (30, 180)
    short = Shape(1, 1, 3, 4, 10.0)
    assert simulate(short, TAIL).makespan == 4 and simulate(short, TAIL, Conditions(learn=True)).makespan == 10


def test_jitter_is_the_same_every_time_and_changes_little() -> None:
    one, two = (simulate(WORDCOUNT, TAIL, Conditions(jitter=0.2, seed=7), spans=True) for _ in range(2))
    assert one == two != simulate(WORDCOUNT, TAIL, Conditions(jitter=0.2, seed=8), spans=True)
    assert one.makespan <= simulate(WORDCOUNT, GPU_FIRST, Conditions(jitter=0.2, seed=7)).makespan * 1.02


def test_what_cannot_run() -> None:
    for shape in (Shape(0, 1, 1, 1, 1.0), Shape(1, 1, 1, 0, 1.0), Shape(1, 0, 0, 1, 1.0)):
        with pytest.raises(ValueError, match="no task"):
            simulate(shape, TAIL)
    with pytest.raises(ValueError, match="no task"):
        simulate(Shape(1, 1, 0, 5, 1.0), POLICIES["cpu-only"])
    assert simulate(Shape(1, 1, 0, 5, 9.0), TAIL).makespan == 5, "a node whose GPU is all it has"


def test_a_hundred_thousand_tasks_on_a_thousand_nodes() -> None:
    """Seconds here, so that an algorithm that looks at every node for every task shows (bench: about 1.5 s)."""
    calls = 0
    original = module._Run._offer

    def counting(self: object, *args: object, **options: object) -> None:
        nonlocal calls
        calls += 1
        original(self, *args, **options)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module._Run, "_offer", counting)
        outcome = simulate(Shape(1000, 1, 20, 100_000, 6.0), TAIL)
    assert calls == 100_000 and outcome.makespan == 25  # a GPU task more than gpu-first


def test_both_clusters_of_the_paper() -> None:
    """One speedup; docs/scheduling.md has all, and its command is run."""
    found = compare((47,))
    assert {row.cluster for row in found} == set(CLUSTERS) and len(found) == 4
    assert min(SPEEDUPS) == 3 and max(SPEEDUPS) == 47
    assert [row[3:] for row in found if row[1:3] == (3600, 47)] == [(188, 94, 68, 336)]
    for row in found:
        assert row.tail <= row.gpu_first + 1 and row.gpu_first <= row.cpu_only
    best = max(found, key=lambda row: row.gpu_first / row.tail)
    assert best.gpu_first / best.tail > 1.3


def test_an_outcome_prints_its_shares() -> None:
    outcome = simulate(Shape(1, 1, 2, 19, 6.0), TAIL)
    assert isinstance(outcome, Outcome) and (outcome.on_gpus, outcome.makespan) == (15, 15)
    assert (outcome.gpus_busy, outcome.cpus_busy) == (1.0, 24 / 30)
