"""A random walk of a node over every order of events of two jobs: attempts that come, start, end, are given back or vanish,
knowledge that comes and goes, GPUs that are lost, jobs that end, drivers that are restarted.

Beside it stands a model that keeps whole lists where the node keeps counts, and decides from the rule as it is written."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil
from statistics import median

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from heterodoop.scheduler.estimates import SAMPLES, WINDOW
from heterodoop.scheduler.node import MIB, Decision, Knowledge, Node
from heterodoop.scheduler.policies import CPU_ONLY, GPU_ONLY, POLICIES, Policy

JOBS = ("a", "b")
TASKS = 8
GPUS = st.sampled_from([0, 1, 1, 1, 2, 3])
KNOWLEDGE = st.builds(
    Knowledge, total=st.sampled_from([None, TASKS]), completed=st.integers(0, TASKS) | st.none(),
    decided_elsewhere=st.integers(0, TASKS // 2), nodes=st.integers(0, 3),
    # With S between 1 and 2 the node looks at parts of tasks that its GPUs still have to do; the model has whole ones.
    speedups=st.lists(st.sampled_from([2.0, 4.0, 6.0, 0.5]), max_size=3).map(tuple).filter(
        lambda found: sorted(found) != [0.5, 2.0]),
)
TAILS = [POLICIES["tail"]] * 5 + [POLICIES["paper-tail"]] * 2


@dataclass
class Job:
    """What the model knows of a job since it began, or was forgotten."""

    known: Knowledge | None = None
    finished: list[str] = field(default_factory=list)
    rates: dict[str, list[float]] = field(default_factory=lambda: {"cpu": [], "gpu": []})


@dataclass
class Attempt:
    lease: int
    job: Job
    task: str
    kind: str
    shared: int = 0  # GPU attempts that ran when it started, itself included


class AnyOrder(RuleBasedStateMachine):
    """See the module."""

    @initialize(gpus=GPUS, sessions=st.integers(1, 2))
    def begin(self, gpus: int, sessions: int) -> None:
        self.sessions = sessions
        self.lease = 0
        self.restart(gpus)

    def restart(self, gpus: int) -> None:
        self.gpus = gpus
        self.node = Node(gpus, self.sessions)
        self.live: list[Attempt] = []
        self.jobs: dict[str, Job] = {}
        self.remembered = 0.0  # S of the program's last job

    @rule(gpus=GPUS)
    def driver_restarts(self, gpus: int) -> None:
        self.restart(gpus)

    @rule(job=st.sampled_from(JOBS), task=st.integers(0, TASKS - 1), policy=st.sampled_from([*TAILS, *POLICIES.values()]),
          times=st.sampled_from([1, 2, 4]))
    def offer(self, job: str, task: int, policy: Policy, times: int) -> None:
        for _ in range(times):
            self.lease += 1
            expected, others = self.decision(job, f"t{task}", policy), self.others_on_gpus(job)
            found = self.node.offer(self.lease, job, f"t{task}", MIB, TASKS, policy, "program")
            assert found == expected or (others and policy.name == "tail"), (found, expected)
            self.live.append(Attempt(self.lease, self.jobs.setdefault(job, Job()), f"t{task}", found.kind))

    def others_on_gpus(self, name: str) -> bool:
        """Has a GPU tasks of another job, too? By tail the node counts how long those take, the model how many they are."""
        return any(a.kind == "gpu" and a.job is not self.jobs.get(name) for a in self.live)

    @rule(job=st.sampled_from(JOBS), cpu=st.sampled_from([4.0, 7.0]), task=st.integers(0, TASKS - 1))
    def measure(self, job: str, cpu: float, task: int) -> None:
        """Attempts of both kinds, all at once, so that there are estimates."""
        before = len(self.live)
        for policy in (CPU_ONLY, GPU_ONLY):
            self.offer(job, task, policy, SAMPLES)
        for attempt in self.live[before:]:
            self.start(attempt)
        for attempt in self.live[before:]:
            self.done(attempt, cpu if attempt.kind == "cpu" else 1.0)

    def decision(self, name: str, task: str, policy: Policy) -> Decision:
        """The rule as it is written, for an attempt that asks now."""
        job = self.jobs.get(name, Job())
        q, slots = sum(a.kind == "gpu" for a in self.live), self.gpus * self.sessions
        if policy is CPU_ONLY or not slots:
            return Decision("cpu")
        known = job.known or Knowledge()
        speedup = self.speedup(job) or (median(known.speedups) if known.speedups else self.remembered)
        if q < slots:
            return Decision("cpu" if policy.name == "tail" and 0 < (speedup or 0) < 1 else "gpu")
        force = policy is GPU_ONLY
        if policy.name in ("tail", "paper-tail"):
            left = TASKS - len(self.decided(job) - {task}) - known.decided_elsewhere
            if known.total is not None and known.completed is not None:
                left = min(left, known.total - known.completed)
            share = max(1, left / max(known.nodes, 1))
            tasks = share + (q if policy.name == "tail" else 0)
            force = speedup >= 1 and ceil(tasks / self.gpus) <= speedup
        return Decision("gpu", True, q - slots + 1) if force else Decision("cpu")

    def decided(self, job: Job) -> set[str]:
        return {attempt.task for attempt in self.live if attempt.job is job} | set(job.finished)

    @staticmethod
    def speedup(job: Job) -> float | None:
        cpu, gpu = (job.rates[kind][-WINDOW:] for kind in ("cpu", "gpu"))
        return median(cpu) / median(gpu) if min(len(cpu), len(gpu)) >= SAMPLES else None

    def running(self) -> int:
        return sum(attempt.kind == "gpu" and attempt.shared > 0 for attempt in self.live)

    def start(self, attempt: Attempt) -> None:
        self.node.started(attempt.lease)
        if attempt.kind == "gpu" and not attempt.shared:
            attempt.shared = self.running() + 1

    def done(self, attempt: Attempt, seconds: float) -> None:
        share = 1.0
        if attempt.kind == "gpu" and self.gpus:
            share = max(1.0, (attempt.shared + self.running()) / 2 / self.gpus)
        self.live.remove(attempt)
        self.node.done(attempt.lease, seconds)
        attempt.job.rates[attempt.kind].append(seconds / share)
        attempt.job.finished.append(attempt.task)
        self.remembered = self.speedup(attempt.job) or self.remembered

    @precondition(lambda self: self.live)
    @rule(data=st.data())
    def one_starts(self, data: st.DataObject) -> None:
        self.start(data.draw(st.sampled_from(self.live)))

    @precondition(lambda self: self.live)
    @rule(data=st.data(), seconds=st.sampled_from([1.0, 3.0, 60.0]))
    def one_is_done(self, data: st.DataObject, seconds: float) -> None:
        self.done(data.draw(st.sampled_from(self.live)), seconds)

    @precondition(lambda self: self.live)
    @rule(data=st.data())
    def refused(self, data: st.DataObject) -> None:
        attempt = data.draw(st.sampled_from(self.live))
        self.node.refused(attempt.lease)
        attempt.kind = "cpu"

    @precondition(lambda self: self.live)
    @rule(data=st.data(), all_of_them=st.sampled_from([False, False, False, True]))
    def closed(self, data: st.DataObject, all_of_them: bool) -> None:
        gone = list(self.live) if all_of_them else [data.draw(st.sampled_from(self.live))]
        for attempt in gone:
            self.live.remove(attempt)
            self.node.closed(attempt.lease)

    @rule(lease=st.sampled_from([-1, 10**9]))
    def events_of_no_attempt(self, lease: int) -> None:
        for event in (self.node.started, self.node.refused, self.node.closed):
            event(lease)
        self.node.done(lease, 1.0)

    @rule(job=st.sampled_from(JOBS), knowledge=KNOWLEDGE)
    def hear(self, job: str, knowledge: Knowledge | None) -> None:
        self.node.hear(job, knowledge)
        self.jobs.setdefault(job, Job()).known = knowledge

    @rule()
    def coordinator_is_lost(self) -> None:
        for name, job in self.jobs.items():
            self.node.hear(name, None)
            job.known = None

    @rule(job=st.sampled_from(JOBS))
    def job_ends(self, job: str) -> None:
        self.node.forget(job)
        self.jobs.pop(job, None)

    @rule(gpus=GPUS)
    def gpus_come_and_go(self, gpus: int) -> None:
        self.node.resize(gpus)
        self.gpus = gpus

    @invariant()
    def nothing_leaks(self) -> None:
        if not hasattr(self, "node"):
            return
        assert self.node.busy == sum(attempt.kind == "gpu" for attempt in self.live) >= 0
        reports = self.node.report()
        assert set(reports) == set(self.jobs)
        for name, job in self.jobs.items():
            assert reports[name].decided == self.decided(job), name
            assert reports[name].live == sum(attempt.job is job for attempt in self.live), name
            assert reports[name].speedup == self.speedup(job) == self.node.speedup(name), name

    def teardown(self) -> None:
        """When all attempts are gone, nothing of them is left but what they have done."""
        if not hasattr(self, "node"):
            return
        for attempt in self.live:
            self.node.closed(attempt.lease)
        self.live = []
        self.nothing_leaks()
        assert self.node.busy == 0


AnyOrder.TestCase.settings = settings(max_examples=120, stateful_step_count=30, deadline=None)
test_any_order = AnyOrder.TestCase


EVENTS = st.lists(st.tuples(st.sampled_from(["offer", "done", "closed"]), st.integers(0, 5)), max_size=40)


@given(EVENTS, EVENTS, st.lists(st.booleans(), max_size=80), st.sampled_from(["tail", "paper-tail", "gpu-first"]))
@settings(max_examples=150, deadline=None)
def test_a_job_that_takes_no_gpu_changes_no_decision(
    ours: list[tuple[str, int]], others: list[tuple[str, int]], order: list[bool], policy: str,
) -> None:
    def decisions(*, alone: bool) -> list[Decision]:
        node, found, first, second = Node(1), [], list(ours), list(others)
        node.hear("ours", Knowledge(speedups=(6.0,)))
        for other in [*order, *[False] * len(ours), *[True] * len(others)]:
            if other and second:
                event, number = second.pop(0)
                if not alone:
                    step(node, "others", event, 100 + number, CPU_ONLY)
            elif not other and first:
                event, number = first.pop(0)
                found += step(node, "ours", event, number, POLICIES[policy])
        return found

    assert decisions(alone=True) == decisions(alone=False)


def step(node: Node, job: str, event: str, lease: int, policy: Policy) -> list[Decision]:
    if event == "done":
        node.done(lease, 5.0 + lease)
    elif event == "closed":
        node.closed(lease)
    else:
        node.closed(lease)  # its number serves again
        return [node.offer(lease, job, f"t{lease}", MIB, 6, policy)]
    return []
