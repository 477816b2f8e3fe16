"""The node half of the scheduler: what it decides, what it counts, and how long jobs take that ask it."""

from __future__ import annotations

import pytest

from heterodoop.scheduler.node.job import MIB
from heterodoop.scheduler.node.machine import HOST_BUSY
from heterodoop.scheduler.node.model import (
    Answer,
    Closed,
    Decision,
    Device,
    DeviceFree,
    Devices,
    Done,
    Knowledge,
    Lend,
    Offered,
    Ready,
    Session,
    Start,
    Unfit,
    Why,
)
from heterodoop.scheduler.node.programs import PROGRAMS, REMEMBERED_SECONDS
from heterodoop.scheduler.policies import CPU_ONLY, GPU_ONLY, POLICIES, TAIL, Policy
from heterodoop.scheduler.story import InvalidEvent

from .nodes import Node

ON_CPU, ON_GPU = Decision("cpu"), Decision("gpu")
GPU_FIRST = POLICIES["gpu-first"]
NOTHING = Why()
FORCED = [Decision("gpu", True, ahead) for ahead in range(9)]


def asked(node: Node, task: int, policy: Policy = TAIL, *, lease: int = -1, job: str = "j", maps: int = 10) -> Decision:
    """`lease`: by default the task's number."""
    return node.offer(task if lease < 0 else lease, job, f"t{task}", MIB, maps, policy)


def samples(node: Node, kind: str, seconds: float, count: int, *, nbytes: int = MIB, job: str = "j", maps: int = 10) -> None:
    """Attempts of a task that nobody waits for: they leave an estimate and one decided id."""
    for lease in range(10**6, 10**6 + count):
        node.offer(lease, job, f"sample {kind}", nbytes, maps, GPU_ONLY if kind == "gpu" else CPU_ONLY)
        node.started(lease)
        node.done(lease, seconds)


def test_gpu_first_takes_what_is_free_and_leaves_the_rest() -> None:
    node = Node(gpus=2, sessions=2)
    assert [asked(node, task, GPU_FIRST) for task in range(5)] == [ON_GPU] * 4 + [ON_CPU]
    node.done(0, 1.0)
    assert asked(node, 5, GPU_FIRST) == ON_GPU and node.busy == 4


def test_without_a_gpu_every_policy_says_cpu() -> None:
    for policy in POLICIES.values():
        assert asked(Node(gpus=0), 1, policy) == ON_CPU


def test_cpu_only_and_gpu_only() -> None:
    node = Node(gpus=1)
    assert [asked(node, task, CPU_ONLY) for task in range(2)] == [ON_CPU] * 2
    assert [asked(node, task, GPU_ONLY) for task in range(2, 5)] == [ON_GPU, FORCED[1], FORCED[2]]


def test_a_tail_needs_three_attempts_of_each_kind() -> None:
    node = Node(gpus=1)
    node.hear("j", Knowledge())
    asked(node, 0, maps=2)
    samples(node, "cpu", 6.0, 3, maps=3)
    samples(node, "gpu", 1.0, 2, maps=3)
    assert node.speedup("j") is None and asked(node, 1, maps=4) == ON_CPU
    node.closed(1)
    samples(node, "gpu", 1.0, 1, maps=3)
    assert node.speedup("j") == 6.0 and asked(node, 1, maps=4) == FORCED[1]


def test_without_knowledge_of_the_cluster_all_that_is_undecided_is_the_nodes_own() -> None:
    node = Node(gpus=1)
    samples(node, "cpu", 6.0, 3, maps=3)
    samples(node, "gpu", 1.0, 3, maps=3)
    assert asked(node, 0, maps=40) == ON_GPU and asked(node, 1, maps=40) == ON_CPU
    node.hear("j", Knowledge(decided_elsewhere=31))
    assert asked(node, 2, maps=40) == FORCED[1], "5 left and one on the GPU"
    node.hear("j", None)
    assert asked(node, 3, maps=40) == ON_CPU
    assert asked(node, 4, maps=9) == FORCED[2], "it is the tail whatever others do"


def measured(node: Node, job: str, program: str) -> None:
    """A job of six tasks, from its first attempt to its end: S is 6."""
    for policy, seconds in ((CPU_ONLY, 6.0), (GPU_ONLY, 1.0)):
        for lease in range(3):
            node.offer(lease, job, f"{policy.name} {lease}", MIB, 6, policy, program)
            node.started(lease)
            node.done(lease, seconds)
    node.forget(job)


def test_a_programs_next_job_knows_the_speedup_of_its_last() -> None:
    node = Node(gpus=1)
    measured(node, "first", "p")
    assert node.offer(1, "second", "t1", MIB, 6, TAIL, "p") == ON_GPU
    assert node.offer(2, "second", "t2", MIB, 6, TAIL, "p") == FORCED[1], "5 left and one on the GPU: 6 <= 6"
    assert node.offer(3, "third", "t1", MIB, 2, TAIL, "another") == ON_CPU


def test_speedups_of_programs_are_forgotten_in_turn() -> None:
    node = Node(gpus=1)
    for number in range(PROGRAMS + 1):
        measured(node, f"j{number}", f"p{number}")
    node.offer(1, "again", "t0", MIB, 3, GPU_ONLY)
    assert node.offer(2, "again", "t1", MIB, 3, TAIL, "p0") == ON_CPU
    assert node.offer(3, "again", "t2", MIB, 3, TAIL, "p1") == FORCED[1]


def test_a_slow_gpu_gets_no_task_and_is_never_forced() -> None:
    node = Node(gpus=1)
    node.recall("", 0.99, 0.0)
    assert [asked(node, task, maps=2) for task in range(2)] == [ON_CPU, ON_CPU]


def test_seconds_are_means_per_byte_of_the_job_alone() -> None:
    node = Node(gpus=1)
    samples(node, "cpu", 70.0, 2, nbytes=10 * MIB)
    samples(node, "cpu", 1.0, 10)
    samples(node, "gpu", 2.0, 3, nbytes=2 * MIB)
    samples(node, "cpu", 1.0, 5, job="other")
    report = node.report()
    assert (report["j"].cpu_seconds, report["j"].gpu_seconds, report["j"].speedup) == (5.0, 1.0, 5.0)
    assert (report["other"].cpu_seconds, report["other"].gpu_seconds, report["other"].speedup) == (1.0, None, None)


def test_attempts_that_share_a_gpu_do_not_make_it_slower() -> None:
    node = Node(gpus=1, sessions=2)
    for task in range(8):
        assert asked(node, task, GPU_FIRST, maps=99) == ON_GPU
        node.started(task)
        if task:
            node.done(task - 1, 2.0)  # two at a time, two seconds each: one a second
    assert node.report()["j"].gpu_seconds == 1.0


def test_what_the_last_job_measured_serves_until_there_are_own_attempts() -> None:
    node = Node(gpus=1)
    node.recall("", 4.0, 0.0)
    assert asked(node, 0, maps=5) == ON_GPU
    assert asked(node, 1, maps=5) == ON_CPU, "4 left and one on the GPU: more than 4"
    assert asked(node, 2, maps=5) == FORCED[1], "3 left and one on the GPU"


def test_undecided_is_bounded_by_what_the_application_master_says() -> None:
    def decision(knowledge: Knowledge) -> Decision:
        node = Node(gpus=1)
        node.recall("", 6.0, 0.0)
        node.hear("j", knowledge)
        asked(node, 0, maps=100)
        return asked(node, 1, maps=100)

    assert decision(Knowledge()) == ON_CPU
    assert decision(Knowledge(decided_elsewhere=93)) == ON_CPU, "6 left, one on the GPU: 7 > 6"
    assert decision(Knowledge(decided_elsewhere=94)) == FORCED[1]
    assert decision(Knowledge(total=100, completed=94)) == ON_CPU
    assert decision(Knowledge(total=100, completed=95)) == FORCED[1]
    assert decision(Knowledge(nodes=20)) == FORCED[1], "99 / 20 + 1 <= 6"
    assert decision(Knowledge(decided_elsewhere=500)) == FORCED[1], "more than there are: the asking one is left"


def test_decided_counts_tasks_not_attempts() -> None:
    node = Node(gpus=1)
    for lease in range(3):
        asked(node, 7, lease=lease)
    assert node.report()["j"].decided == {"t7"}
    node.done(0, 1.0)
    node.closed(1)
    node.closed(2)
    assert node.report()["j"].decided == {"t7"}, "one attempt has given a result"
    asked(node, 8)
    node.closed(8)
    node.closed(8)
    assert node.report()["j"].decided == {"t7"}


def test_a_refused_attempt_leaves_the_gpu_and_counts_as_one_of_the_cpu() -> None:
    node = Node(gpus=1)
    for task in range(3):
        assert asked(node, task) == ON_GPU
        node.started(task)
        node.refused(task)
        node.refused(task)
        assert node.busy == 0
        node.done(task, 5.0)
    report = node.report()["j"]
    assert (report.cpu_seconds, report.gpu_seconds) == (5.0, None) and len(report.decided) == 3


def test_a_refused_attempt_shares_no_gpu_any_more() -> None:
    node = Node(gpus=1, sessions=2)
    for task in range(2):
        assert asked(node, task, GPU_FIRST) == ON_GPU
        node.started(task)
    node.refused(0)
    node.refused(1)
    for task in range(2):
        node.done(task, 6.0)
    samples(node, "cpu", 6.0, 1)
    assert node.report()["j"].cpu_seconds == 6.0


def test_an_attempt_that_ran_twice_says_nothing_of_others() -> None:
    node = Node(gpus=1)
    for seconds, again in ((1.0, False), (60.0, True), (1.0, False), (1.0, False)):
        assert asked(node, 0, GPU_FIRST) == ON_GPU
        node.started(0)
        node.handle(Done(0, seconds, again))
    assert node.report()["j"].gpu_seconds == 1.0


def test_a_first_attempt_on_a_gpu_counts_until_there_are_three_others() -> None:
    node = Node(gpus=1)
    seen = []
    for seconds in (7.0, 1.0, 1.0, 1.0):
        assert asked(node, 0, GPU_FIRST) == ON_GPU
        node.started(0)
        node.done(0, seconds)
        seen.append(node.report()["j"].gpu_seconds)
    assert seen == [None, None, 3.0, 1.0]


def test_who_waits_for_a_device_of_his_own_is_not_passed_and_keeps_nobody_when_he_leaves() -> None:
    """The GPU has a task of one's; two waits until it is empty, and one's next behind him."""
    node = Node(gpus=1, sessions=2)
    assert node.handle(Lend(1, "a", "one")) == [Start(1, Session(0, 0), False)]
    assert node.handle(Lend(2, "b", "two")) == node.handle(Lend(3, "a", "one")) == []
    assert node.handle(DeviceFree(2)) == [Start(3, Session(0, 1), False)]
    assert node.handle(Lend(4, "b", "two")) == node.handle(Closed(1)) == []
    assert node.handle(Closed(3)) == [Start(4, Session(0, 0), True)], "with a new process"


def test_a_story_says_what_became_of_a_lease() -> None:
    node = Node(gpus=1)
    asked(node, 0, GPU_FIRST)
    node.started(0, 2.0)
    node.handle(Devices((Device("it broke"),)), 3.0)
    node.closed(0)
    assert [step.text for step in node.machine.story(0)] == [
        "j t0 gpu ", "waits, ahead: 0", "has session 0 of device 0", "closed", "has left session 0 of device 0"]
    assert str(node.machine.story()[-3]) == "5: 3.000 s: node: device 0 is out of service: it broke"
    asked(node, 7)
    with pytest.raises(InvalidEvent, match="lease 7 is for its container\n  7: 3.000 s: lease 7: j t7 cpu no GPU is in"):
        node.handle(Ready(7))


def test_q_counts_all_jobs_and_outlives_a_forgotten_one() -> None:
    node = Node(gpus=1)
    asked(node, 1, GPU_ONLY, job="a")
    assert asked(node, 2, GPU_ONLY, job="b") == FORCED[1]
    node.forget("a")
    assert node.busy == 2 and set(node.report()) == {"b"}
    asked(node, 1, GPU_ONLY, job="a", lease=3)
    node.closed(1)
    assert node.busy == 2 and node.report()["a"].decided == {"t1"}, "the attempt of before is not the one of now"


def test_a_lost_gpu_takes_no_more() -> None:
    node = Node(gpus=2)
    assert [asked(node, task, GPU_FIRST) for task in range(2)] == [ON_GPU] * 2
    node.resize(1)
    node.refused(0)
    assert asked(node, 2, GPU_FIRST) == ON_CPU
    node.resize(2)
    assert asked(node, 3, GPU_FIRST) == ON_GPU


def test_a_lease_is_one_attempt() -> None:
    node = Node(gpus=1)
    asked(node, 1)
    with pytest.raises(InvalidEvent, match="lease 1 is taken"):
        asked(node, 2, lease=1)
    for late in (node.started, node.refused, node.closed):
        late(99)
    node.done(99, 1.0)
    assert node.busy == 1


def on_gpu(node: Node, task: int, now: float, policy: Policy = TAIL, lease: int = -1) -> None:
    lease = task if lease < 0 else lease
    assert node.offer(lease, "j", f"t{task}", MIB, 10, policy, "p", now).kind == "gpu"
    node.started(lease, now)


def on_cpu(node: Node, task: int, seconds: float, now: float) -> None:
    node.offer(task, "j", f"t{task}", MIB, 10, CPU_ONLY, "p", now)
    node.done(task, seconds)


def test_a_slow_attempt_is_taken_back_by_its_rate_and_the_next_job_knows() -> None:
    node = Node(gpus=1)
    on_gpu(node, 0, 0.0)
    assert not node.overtaken(0, 0.01, 1.0) and not node.overtaken(0, 0.02, 2.0), "nothing is known of the CPU"
    on_cpu(node, 1, 5.0, 3.0)
    assert node.overtaken(0, 0.03, 3.0)
    node.refused(0)
    assert node.speedup("j") == pytest.approx(0.05) and node.offer(2, "j", "t2", MIB, 10, TAIL, "p", 3.0) == ON_CPU
    node.done(0, 5.0)
    node.forget("j")
    assert node.offer(3, "next", "t0", MIB, 10, TAIL, "p", 9.0) == ON_CPU
    assert node.offer(4, "other day", "t0", MIB, 10, TAIL, "p", 10.0 + REMEMBERED_SECONDS) == ON_GPU, "it is tried again"


def test_kernels_that_load_do_not_make_a_gpu_slow() -> None:
    """Before the first bytes are done an attempt is late, not slow: three of them are."""
    node = Node(gpus=1)
    on_cpu(node, 9, 2.0, 0.0)
    for lease in range(3):
        assert node.speedup("j") is None
        on_gpu(node, 0, 10.0 * lease, lease=lease + 20)
        assert not node.overtaken(lease + 20, 0.0, 10.0 * lease + 1.9), "it may be done at once"
        assert node.overtaken(lease + 20, 0.0, 10.0 * lease + 2.1)
        node.refused(lease + 20)
    on_cpu(node, 9, 2.0, 30.0)
    on_cpu(node, 9, 2.0, 30.0)
    assert node.speedup("j") == pytest.approx(2 / 4.2)
    on_gpu(node, 1, 30.0, GPU_FIRST)
    assert not node.overtaken(1, 0.0, 99.0), "of another policy"


def test_attempts_that_wait_for_the_same_kernels_count_once() -> None:
    node = Node(gpus=1, sessions=4)
    on_cpu(node, 9, 2.0, 0.0)
    for lease in range(4):
        on_gpu(node, lease, 0.0, lease=lease)
    for lease in range(4):
        assert node.overtaken(lease, 0.0, 2.1)
        node.refused(lease)
    for _ in range(3):
        on_cpu(node, 9, 2.0, 4.0)
    assert node.speedup("j") is None
    on_gpu(node, 5, 5.0)


def test_a_fast_gpu_keeps_its_attempts_and_one_that_waits_too_long_is_taken_back() -> None:
    node = Node(gpus=1)
    node.recall("p", 4.0, 0.0)
    on_cpu(node, 9, 8.0, 0.0)
    for lease in range(4):  # 2 s each
        assert node.offer(lease, "j", f"t{lease}", MIB, 5, TAIL, "p", 0.0).kind == "gpu"
        node.started(lease, 0.0)
    assert not any(node.overtaken(lease, 0.0, 1.0) for lease in range(4))
    assert [node.overtaken(lease, 0.0, 8.5) for lease in range(4)] == [False, True, True, True], "it is 6.5 s late"
    assert node.overtaken(0, 0.0, 10.5)


def test_a_gpu_that_is_about_to_end_a_task_has_room() -> None:
    """The last task of two: 11 s on a GPU that is done in 1 s, or 16 s here."""
    for now, kind in ((0.0, "cpu"), (10.0, "gpu")):
        node = Node(gpus=1)
        samples(node, "cpu", 16.0, 3)
        samples(node, "gpu", 11.0, 3)
        on_gpu(node, 0, 0.0)
        assert node.offer(1, "j", "t1", MIB, 4, TAIL, "p", now).kind == kind


def test_why_an_attempt_is_a_host_kernel_or_the_filter() -> None:
    """A host kernel's answer says what stands against GPUs for the job; a node without devices says nothing of these."""
    node = Node(gpus=1, host=1)
    node.handle(Unfit("bad", Why("it makes GPUs fail", "HD619")))

    def answer(lease: int, job: str, why: Why = NOTHING) -> tuple[Decision, Why]:
        (said,) = node.handle(Offered(lease, job, f"t{lease}", MIB, 9, GPU_FIRST, why=why))
        assert isinstance(said, Answer)
        return said.decision, said.why

    assert answer(0, "bad") == (Decision("host"), Why("it makes GPUs fail", "HD619"))
    assert answer(1, "other", Why("its codec", "HD615")) == (ON_CPU, Why("its codec", "HD615")), "no driver does it"
    assert answer(2, "good") == (ON_GPU, NOTHING)
    assert answer(3, "good") == (Decision("host", ahead=1), NOTHING), "the GPU is busy: no reason to tell"
    assert answer(4, "good") == (ON_CPU, HOST_BUSY), "and so is the slot, for which one waits"
    node = Node(gpus=0, host=1)
    assert answer(0, "j") == (Decision("host"), NOTHING)
    node.handle(Unfit("j", Why("no host kernel", "HD615"), "host"))
    assert answer(1, "j") == (ON_CPU, Why("no host kernel", "HD615"))
    assert answer(2, "k") == (Decision("host", ahead=1), NOTHING) and answer(3, "k") == (ON_CPU, HOST_BUSY)
    node.started(0)
    node.done(0, 1.0)
    assert node.measured() == {}, "a host kernel's seconds say nothing of containers"
