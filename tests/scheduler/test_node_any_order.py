"""A random walk of a node over every order of events of two jobs and of another process's: attempts that come, wait, start,
end, are given back, vanish or say nothing; devices that are lent, lost and back; knowledge that comes and goes; clocks that
jump; jobs that end, drivers that are restarted or stop.

Beside it stands a model that keeps whole lists where the node keeps counts, decides from the rule as it is written, and
knows whose turn it is. The machine's own invariants hold after each event (nodes.py)."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from heterodoop.scheduler.estimates import SAMPLES, WINDOW
from heterodoop.scheduler.node.job import MIB
from heterodoop.scheduler.node.machine import FULL, STOPPING
from heterodoop.scheduler.node.model import (
    HOST,
    Action,
    Advanced,
    Closed,
    Decision,
    DeviceFree,
    Done,
    Event,
    Knowledge,
    Lend,
    Ready,
    Refused,
    Run,
    Sent,
    Start,
    Stopping,
    TurnAway,
    Unfit,
    Why,
)
from heterodoop.scheduler.node.programs import REMEMBERED_SECONDS
from heterodoop.scheduler.policies import CPU_ONLY, GPU_ONLY, POLICIES, Policy
from heterodoop.scheduler.story import InvalidEvent

from .nodes import Node

JOBS = ("a", "b")
TASKS = 8
GPUS = st.sampled_from([0, 1, 1, 1, 2, 3])
KNOWLEDGE = st.builds(
    Knowledge, total=st.sampled_from([None, TASKS]), completed=st.integers(0, TASKS) | st.none(),
    decided_elsewhere=st.integers(0, TASKS // 2), nodes=st.integers(0, 3),
)
TAILS = [POLICIES["tail"]] * 5 + [POLICIES["paper-tail"]] * 2


USERS = ("one", "two")
MOST, LIMIT = 3, 4  # devices; leases that may wait


@dataclass
class Job:
    """What the model knows of a job since it began, or was forgotten."""

    known: Knowledge | None = None
    finished: list[str] = field(default_factory=list)
    rates: dict[str, list[float]] = field(default_factory=lambda: {"cpu": [], "gpu": [], "first": []})
    used: set[int] = field(default_factory=set)  # devices that did a task of it
    unfit: bool = False
    no_host: bool = False


@dataclass
class Queue:
    """Who waits for the GPUs, or for a slot for host kernels. waits: in the order in which they came; rounds: jobs that
    wait, in the order of their turns."""

    waits: list[Attempt] = field(default_factory=list)
    rounds: list[str] = field(default_factory=list)

    @property
    def first(self) -> Attempt:
        return next(attempt for attempt in self.waits if attempt.name == self.rounds[0])

    def enter(self, attempt: Attempt) -> None:
        self.waits.append(attempt)
        if attempt.name not in self.rounds:
            self.rounds.append(attempt.name)

    def leave(self, attempt: Attempt) -> None:
        self.waits.remove(attempt)
        if not any(one.name == attempt.name for one in self.waits):
            self.rounds.remove(attempt.name)


@dataclass
class Attempt:
    """A lease. `state`: asked (it was answered GPU, or host kernel), loads, waits, away (it gets no device), runs, has (its
    result), cpu."""

    lease: int
    job: Job
    name: str
    task: str
    kind: str
    state: str
    user: str = ""
    shared: int = 0  # GPU attempts that ran when it started, itself included
    device: int = -1


class AnyOrder(RuleBasedStateMachine):
    """See the module."""

    @initialize(gpus=GPUS, sessions=st.integers(1, 2), host=st.sampled_from([0, 0, 1, 2]))
    def begin(self, gpus: int, sessions: int, host: int) -> None:
        self.sessions, self.host = sessions, host
        self.lease = 0
        self.now = self.latest = 0.0
        self.restart(gpus)

    def restart(self, gpus: int) -> None:
        self.gpus = gpus
        self.node = Node(gpus, self.sessions, MOST, LIMIT, self.host)
        self.latest = max(0.0, self.now)
        self.live: list[Attempt] = []
        self.jobs: dict[str, Job] = {}
        self.gpu_queue, self.host_queue = Queue(), Queue()
        self.remembered, self.since = 0.0, 0.0  # S of the program's last job, and when that was
        self.stopped = False

    def handle(self, event: Event) -> list[Action]:
        """Tell it, and follow what it says about devices."""
        self.latest = max(self.latest, self.now)
        actions = self.node.handle(event, self.now)
        for action in actions:
            match action:
                case Start(lease, session, _):
                    attempt = next(one for one in self.live if one.lease == lease)
                    queue = self.queue(attempt)
                    assert queue.first is attempt, "it is another one's turn"
                    queue.leave(attempt)
                    if attempt.name in queue.rounds:  # all others have their turn before its next one
                        queue.rounds.append(queue.rounds.pop(queue.rounds.index(attempt.name)))
                    attempt.state, attempt.device = "runs", session.device
                    assert (session.device == HOST) == (attempt.kind == "host")
                    attempt.shared = self.running() + 1 if attempt.kind == "gpu" else 0
                case TurnAway(lease, why):
                    attempt = next(one for one in self.live if one.lease == lease)
                    expected = STOPPING if self.stopped else None if not self.gpus else FULL
                    assert expected in (why, None) and (attempt in self.waiting) == (attempt.state == "waits")
                    if attempt in self.waiting:
                        assert self.stopped or (not self.gpus and attempt.kind != "host")
                        self.queue(attempt).leave(attempt)
                    attempt.state = "away"
        assert not self.gpu_queue.waits or (self.gpus and not self.stopped), "they wait for what cannot come"
        assert not self.host_queue.waits or (self.host and not self.stopped), "they wait for what cannot come"
        return actions

    @property
    def waiting(self) -> list[Attempt]:
        return self.gpu_queue.waits + self.host_queue.waits

    def queue(self, attempt: Attempt) -> Queue:
        return self.host_queue if attempt.kind == "host" else self.gpu_queue

    def enter_line(self, attempt: Attempt, event: Run | Lend) -> None:
        """It waits, unless nobody may."""
        attempt.user = event.user
        may = attempt.kind == "host" or (self.gpus and len(self.gpu_queue.waits) < LIMIT)
        if not self.stopped and may:
            attempt.state = "waits"
            self.queue(attempt).enter(attempt)
        self.handle(event)

    @precondition(lambda self: len(self.gpu_queue.waits) == LIMIT)
    @rule(restarts=st.sampled_from([None, None, False, True]), gpus=GPUS)
    def driver_stops_or_is_killed(self, restarts: bool | None, gpus: int) -> None:
        if restarts:
            self.restart(gpus)
        elif restarts is False:
            self.stopped = True
            self.handle(Stopping())

    @rule(seconds=st.sampled_from([0.1, 1.0, 1e6, -5.0, -1e9]))
    def clock_jumps(self, seconds: float) -> None:
        self.now += seconds

    @rule(job=st.sampled_from(JOBS), task=st.integers(0, TASKS - 1), policy=st.sampled_from([*TAILS, *POLICIES.values()]),
          times=st.sampled_from([1, 2, 4]))
    def offer(self, job: str, task: int, policy: Policy, times: int) -> None:
        for _ in range(times):
            self.lease += 1
            self.latest = max(self.latest, self.now)
            expected, exact = self.decision(job, f"t{task}", policy), self.whole_tasks(job, policy)
            found = self.node.offer(self.lease, job, f"t{task}", MIB, TASKS, policy, "program", self.now)
            assert found == expected or not exact, (found, expected)
            self.live.append(Attempt(self.lease, self.jobs.setdefault(job, Job()), job, f"t{task}", found.kind,
                                     "cpu" if found.kind == "cpu" else "asked"))

    def whole_tasks(self, name: str, policy: Policy) -> bool:
        """By tail the node counts how long what GPUs have still takes. The model counts whole tasks, so it knows better only
        where they are of this job and have not begun."""
        return policy.name != "tail" or not any(
            a.kind == "gpu" and (a.job is not self.jobs.get(name) or a.shared) for a in self.live)

    @rule(job=st.sampled_from(JOBS), cpu=st.sampled_from([4.0, 7.0]), task=st.integers(0, TASKS - 1), again=st.booleans())
    def measure(self, job: str, cpu: float, task: int, again: bool) -> None:
        """Attempts of both kinds, all at once, so that there are estimates."""
        before = len(self.live)
        for policy in (CPU_ONLY, GPU_ONLY):
            self.offer(job, task, policy, SAMPLES)
        for attempt in self.live[before:]:
            self.wants_device(attempt)
        for attempt in self.live[before:]:
            if attempt.state in ("cpu", "runs"):
                self.done(attempt, 1.0 if attempt.kind == "gpu" else cpu)
        if again and self.live and self.live[-1].state == "cpu":
            self.done(self.live[-1], 1e3, again=True)

    def decision(self, name: str, task: str, policy: Policy) -> Decision:
        """A host kernel where a GPU is refused, the slots allow it, and nothing stands against it."""
        found = self.gpu_or_not(name, task, policy)
        here = sum(one.kind == "host" and one.state in ("asked", "loads", "waits", "away", "runs") for one in self.live)
        may = self.host and not self.stopped and not self.jobs.get(name, Job()).no_host
        return Decision("host", ahead=max(0, here - self.host + 1)) if (
            found.kind == "cpu" and may and here < 2 * self.host) else found

    def gpu_or_not(self, name: str, task: str, policy: Policy) -> Decision:
        """The rule as it is written, for an attempt that asks now."""
        job = self.jobs.get(name, Job())
        q, slots = sum(a.kind == "gpu" for a in self.live), self.gpus * self.sessions
        if policy is CPU_ONLY or not slots or self.stopped or job.unfit or len(self.gpu_queue.waits) >= LIMIT:
            return Decision("cpu")
        known = job.known or Knowledge()
        remembered = self.remembered if self.latest - self.since <= REMEMBERED_SECONDS else 0.0
        speedup = self.speedup(job) or remembered
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
        return {attempt.task for attempt in self.live if attempt.job is job and attempt.kind != "lent"} | set(job.finished)

    @staticmethod
    def speedup(job: Job) -> float | None:
        cpu, gpu = (job.rates[kind][-WINDOW:] for kind in ("cpu", "gpu"))
        if len(gpu) < SAMPLES:
            gpu = job.rates["first"][-WINDOW:] + gpu
        return fmean(cpu) / fmean(gpu) if min(len(cpu), len(gpu)) >= SAMPLES else None

    def running(self) -> int:
        return sum(attempt.kind == "gpu" and attempt.shared > 0 for attempt in self.live)

    def some(self, data: st.DataObject, *states: str) -> Attempt | None:
        found = [attempt for attempt in self.live if not states or attempt.state in states]
        return data.draw(st.sampled_from(found)) if found else None

    def wants_device(self, attempt: Attempt) -> None:
        if attempt.state == "asked":
            self.handle(Ready(attempt.lease))
            attempt.state = "loads"
        if attempt.state == "loads":
            self.enter_line(attempt, Run(attempt.lease, USERS[JOBS.index(attempt.name)]))

    def done(self, attempt: Attempt, seconds: float, *, again: bool = False) -> None:
        share = 1.0
        if attempt.kind == "gpu" and self.gpus and attempt.shared:
            share = max(1.0, (attempt.shared + self.running()) / 2 / self.gpus)
        self.live.remove(attempt)
        self.handle(Done(attempt.lease, seconds, again))
        if not again and attempt.kind != "host":
            first = attempt.kind == "gpu" and attempt.device not in attempt.job.used
            attempt.job.rates["first" if first else attempt.kind].append(seconds / share)
            attempt.job.used |= {attempt.device} if attempt.kind == "gpu" else set()
        attempt.job.finished.append(attempt.task)
        if attempt.kind != "host" and (speedup := self.speedup(attempt.job)):
            self.remembered, self.since = speedup, self.latest

    @rule(jobs=st.lists(st.sampled_from(JOBS), min_size=1, max_size=4), policy=st.sampled_from([GPU_ONLY, *TAILS]))
    def attempts_come_and_run(self, jobs: list[str], policy: Policy) -> None:
        for task, job in enumerate(jobs):
            self.offer(job, task, policy, 1)
            self.wants_device(self.live[-1])

    @rule(data=st.data(), loads=st.booleans())
    def one_is_ready(self, data: st.DataObject, loads: bool) -> None:
        if attempt := self.some(data, "asked", "loads"):
            if loads and attempt.state == "asked":
                self.handle(Ready(attempt.lease))
                attempt.state = "loads"
            else:
                self.wants_device(attempt)

    @rule(jobs=st.lists(st.sampled_from([*JOBS, "run"]), min_size=1, max_size=3), user=st.sampled_from(USERS))
    def another_process_wants_devices(self, jobs: list[str], user: str) -> None:
        for job in jobs:
            self.lease += 1
            self.live.append(Attempt(self.lease, Job(), job, "", "lent", "away"))
            self.enter_line(self.live[-1], Lend(self.lease, job, user))

    @rule(data=st.data())
    @precondition(lambda self: self.waiting)
    def one_has_left_its_device(self, data: st.DataObject) -> None:
        if attempt := self.some(data, "runs"):
            attempt.state = "has"
            self.handle(DeviceFree(attempt.lease))
            if attempt.kind != "lent" and data.draw(st.booleans()):
                self.handle(Sent(attempt.lease))

    @rule(data=st.data())
    def one_waits_no_longer(self, data: st.DataObject) -> None:
        if attempt := self.some(data, "waits"):
            attempt.state = "away"
            self.queue(attempt).leave(attempt)
            self.handle(DeviceFree(attempt.lease))

    @rule(data=st.data(), seconds=st.sampled_from([1.0, 3.0, 60.0]), again=st.sampled_from([False, False, False, True]))
    def one_is_done(self, data: st.DataObject, seconds: float, again: bool) -> None:
        attempt = self.some(data, "runs", "has", "cpu")
        if attempt and attempt.kind != "lent":
            self.done(attempt, seconds, again=again)

    @rule(data=st.data(), fraction=st.sampled_from([0.0, 0.1, 0.5, 1.0, -1.0, 9.0]))
    def one_advances(self, data: st.DataObject, fraction: float) -> None:
        """What follows of it changes the estimates, of which the model has none: only tail's own attempts are asked."""
        if attempt := self.some(data):
            slow = attempt.kind == "gpu" and attempt.state in ("loads", "waits", "away", "runs", "has")
            if not slow:
                assert not self.handle(Advanced(attempt.lease, fraction))

    @rule(data=st.data())
    def refused(self, data: st.DataObject) -> None:
        attempt = self.some(data)
        if attempt and attempt.kind != "lent":
            self.out_of_line(attempt)
            attempt.kind = attempt.state = "cpu"
            self.handle(Refused(attempt.lease))

    @rule(data=st.data(), all_of_them=st.sampled_from([False, False, False, True]))
    def closed(self, data: st.DataObject, all_of_them: bool) -> None:
        """A kill, of one or of all at once, at any moment."""
        one = self.some(data)
        for attempt in list(self.live) if all_of_them else [one] if one else []:
            self.out_of_line(attempt)
            self.live.remove(attempt)
            self.handle(Closed(attempt.lease))

    def out_of_line(self, attempt: Attempt) -> None:
        if attempt in self.waiting:
            self.queue(attempt).leave(attempt)

    @rule(lease=st.sampled_from([-1, 10**9]))
    def events_of_no_attempt(self, lease: int) -> None:
        for event in (Ready(lease), Run(lease), DeviceFree(lease), Sent(lease), Advanced(lease, 0.5), Refused(lease),
                      Closed(lease), Done(lease, 1.0)):
            assert self.handle(event) == []

    @precondition(lambda self: self.live)
    @rule(data=st.data())
    def what_only_a_bug_brings(self, data: st.DataObject) -> None:
        attempt = self.some(data)
        assert attempt
        events: list[Event] = [Lend(attempt.lease, "a")]
        if attempt.state in ("waits", "runs", "has", "cpu", "asked"):
            events.append(Run(attempt.lease))
        if attempt.state in ("cpu", "runs", "has"):
            events.append(Ready(attempt.lease))
        if attempt.state in ("asked", "loads", "waits", "cpu"):
            events.append(Sent(attempt.lease))
        for event in events:
            with pytest.raises(InvalidEvent, match=f"lease {attempt.lease} "):
                self.node.handle(event, self.now)

    @rule(job=st.sampled_from(JOBS), knowledge=KNOWLEDGE)
    def hear(self, job: str, knowledge: Knowledge | None) -> None:
        self.node.hear(job, knowledge)
        self.jobs.setdefault(job, Job()).known = knowledge

    @rule(speedup=st.sampled_from([0.5, 2.0, 4.0, 6.0]))
    def an_earlier_driver_had_measured(self, speedup: float) -> None:
        if not self.node.knows("program"):
            self.node.recall("program", speedup, 0.0)
            self.remembered, self.since = speedup, self.latest

    @rule()
    def yarn_is_silent(self) -> None:
        for name, job in self.jobs.items():
            self.node.hear(name, None)
            job.known = None

    @rule(job=st.sampled_from(JOBS), host=st.booleans())
    def job_makes_devices_fail(self, job: str, host: bool) -> None:
        if len(self.jobs) > 1:
            self.handle(Unfit(job, Why("it fails", "HD619"), "host" if host else "gpu"))
            known = self.jobs.setdefault(job, Job())
            known.unfit, known.no_host = known.unfit or not host, known.no_host or host

    @rule(job=st.sampled_from(JOBS))
    def job_ends(self, job: str) -> None:
        self.node.forget(job)
        self.jobs.pop(job, None)

    @rule(gpus=GPUS)
    def gpus_come_and_go(self, gpus: int) -> None:
        self.gpus = gpus
        self.handle(self.node.devices(gpus))

    @invariant()
    def nothing_leaks(self) -> None:
        if not hasattr(self, "node"):
            return
        assert self.node.busy == sum(attempt.kind == "gpu" for attempt in self.live) >= 0
        machine = self.node.machine
        assert (machine.waiting, machine.running) == (len(self.waiting), sum(a.state == "runs" for a in self.live))
        reports = self.node.report()
        assert set(reports) == set(self.jobs)
        for name, job in self.jobs.items():
            assert reports[name].decided == self.decided(job), name
            assert reports[name].live == sum(attempt.job is job for attempt in self.live), name
            assert reports[name].speedup == pytest.approx(self.speedup(job)) == self.node.speedup(name), name

    def teardown(self) -> None:
        """When all attempts are gone, nothing of them is left but what they have done."""
        if not hasattr(self, "node"):
            return
        for attempt in list(self.live):
            self.out_of_line(attempt)
            self.live.remove(attempt)
            self.handle(Closed(attempt.lease))
        self.nothing_leaks()
        assert self.node.busy == 0 and self.node.machine.running == 0


AnyOrder.TestCase.settings = settings(max_examples=200, stateful_step_count=30)
test_any_order = AnyOrder.TestCase


EVENTS = st.lists(st.tuples(st.sampled_from(["offer", "done", "closed"]), st.integers(0, 5)), max_size=40)


@given(EVENTS, EVENTS, st.lists(st.booleans(), max_size=80), st.sampled_from(["tail", "paper-tail", "gpu-first"]))
@settings(max_examples=150)
def test_a_job_that_takes_no_gpu_changes_no_decision(
    ours: list[tuple[str, int]], others: list[tuple[str, int]], order: list[bool], policy: str,
) -> None:
    def decisions(*, alone: bool) -> list[Decision]:
        node, found, first, second = Node(1), [], list(ours), list(others)
        node.recall("", 6.0, 0.0)
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
