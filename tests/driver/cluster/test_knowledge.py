"""What a driver asks, how often, and what its node then knows."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from heterodoop.driver.cluster.knowledge import GIVE_UP, STALE, Nothing, Poller, Polls, alone
from heterodoop.driver.cluster.yarn_rest import Addresses, JobState, Rest
from heterodoop.scheduler.node.model import JobReport, Knowledge
from heterodoop.scheduler.policies import POLICIES

from ...scheduler.nodes import Node
from ..fake_yarn import JOB, METRICS, OTHER, FakeYarn, app, job_says, page, proxied, redirect, says

REPORT = JobReport(frozenset(f"t{i}" for i in range(10)), 100, 0, None, None, None)


class Told(Node):
    """A node that keeps what it heard."""

    def __init__(self) -> None:
        super().__init__(1)
        self.heard: list[tuple[str, Knowledge | None]] = []

    def hear(self, job: str, knowledge: Knowledge | None) -> None:
        self.heard.append((job, knowledge))
        super().hear(job, knowledge)


def asking(node: Node, *jobs: str) -> None:
    for lease, job in enumerate(jobs):
        node.offer(lease, job, "t0", 1, 100, POLICIES["tail"])


def until(condition: Callable[[], object], seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "did not happen"
        time.sleep(0.01)


@pytest.mark.parametrize(("state", "nodes", "expected"), [
    (JobState("RUNNING", 100, 20, 50), 3, Knowledge(100, 20, 40, 3)),
    (JobState("RUNNING", 100, 20, 95), 3, Knowledge(100, 20, 0, 3)),
    (JobState("RUNNING", 100, 20, None), 3, Knowledge(100, 20, 0, 3)),
    (JobState("RUNNING", 100, 20, 50), 1, Knowledge(100, 20, 0, 1)),
    (JobState("RUNNING", 100, 20, 50), None, None),
    (None, 3, None),
])
def test_what_follows_for_a_driver_alone(state: JobState | None, nodes: int | None, expected: Knowledge | None) -> None:
    assert alone(state, nodes, REPORT) == expected


def test_a_poller_tells_and_ends(yarn: FakeYarn) -> None:
    node = Told()
    asking(node, JOB)
    yarn.answers[proxied()] = job_says(100, 20, pending=50)
    poller = Poller(Rest(yarn.where))
    poller.start(node)
    for _ in range(100):
        poller.watch(JOB)
        poller.watch("job_1_2/../../3")
    until(lambda: node.heard)
    poller.stop()
    assert node.heard[0] == (JOB, Knowledge(100, 20, 49, 3))
    assert yarn.asked.count(proxied()) <= 2 and len(set(yarn.asked)) == 2
    assert poller.status() == {"source": "poll", "detail": "the ApplicationMasters answer", "jobs": 1}


class At:
    """A clock that a test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def stepped(yarn: FakeYarn, *jobs: str) -> tuple[Poller, Told, At]:
    clock, node = At(), Told()
    poller = Poller(Rest(yarn.where), clock)
    poller.attach(node)
    asking(node, *jobs)
    for job in jobs:
        poller.watch(job)
    return poller, node, clock


def test_once_a_second_at_most_for_each_job(yarn: FakeYarn) -> None:
    yarn.answers[proxied()] = yarn.answers[proxied(OTHER)] = page()
    poller, _, clock = stepped(yarn, JOB, OTHER)
    for _ in range(40):
        poller.step()
        clock.now += 0.25
    assert yarn.asked.count(proxied()) == yarn.asked.count(proxied(OTHER)) == 10
    assert yarn.asked.count(METRICS) == 1


def test_all_nodes_of_a_large_cluster_ask_a_hundred_times_a_second(yarn: FakeYarn) -> None:
    """Of 400 nodes each asks once in four seconds, and believes an answer for twenty."""
    yarn.answers[METRICS] = says({"clusterMetrics": {"activeNodes": 400}})
    yarn.answers[proxied()] = job_says(100, 20, pending=50)
    poller, node, clock = stepped(yarn, JOB)
    for _ in range(40):
        poller.step()
        clock.now += 0.5
    assert yarn.asked.count(proxied()) == 6, "the first answer came before it knew how many nodes there are"
    yarn.answers[proxied()] = redirect("/cluster")
    clock.now = 17 + 4 * STALE - 1
    poller.step()
    assert node.heard[-1][1] is not None, "the last answer came at 17 s"
    clock.now += 2
    poller.step()
    assert node.heard[-1][1] is None


def test_what_is_old_is_not_known(yarn: FakeYarn) -> None:
    yarn.answers[proxied()] = job_says(100, 20, pending=50)
    poller, node, clock = stepped(yarn, JOB)
    poller.step()
    yarn.answers[proxied()] = redirect("/cluster")
    for seconds in (1.0, STALE, STALE + 1):
        clock.now = seconds
        poller.step()
    assert [known is not None for _, known in node.heard] == [True, True, True, False]
    assert "302" in str(poller.status()["detail"])
    yarn.answers[proxied()] = job_says(100, 10, pending=50)
    clock.now += 1
    poller.step()
    assert node.heard[-1] == (JOB, Knowledge(100, 10, 49, 3)), "a new ApplicationMaster has begun again"


def test_a_job_that_has_ended_is_forgotten(yarn: FakeYarn) -> None:
    yarn.answers[proxied()] = job_says(100, 99)
    poller, node, clock = stepped(yarn, JOB, OTHER)
    poller.step()
    yarn.answers[proxied()] = page(404)
    yarn.answers[app()] = says({"app": {"state": "FINISHED"}})
    clock.now = 5.0
    poller.step()
    assert JOB in node.report(), "silent for a moment only"
    clock.now = 15.0
    poller.step()
    assert set(node.report()) == {OTHER} and poller.status()["jobs"] == 1


def test_the_end_of_a_job_is_no_fault(yarn: FakeYarn) -> None:
    """From its end on the proxy answers with a redirect to a page for people."""
    yarn.answers[proxied()], yarn.answers[proxied(OTHER)] = job_says(100, 99), job_says(100, 9, job=OTHER)
    poller, node, clock = stepped(yarn, JOB, OTHER)
    poller.step()
    yarn.answers[proxied()] = redirect("/jobhistory/job/x")
    yarn.answers[app()] = says({"app": {"state": "FINISHED"}})
    clock.now = 1.0
    poller.step()
    assert set(node.report()) == {OTHER}
    assert poller.status() == {"source": "poll", "detail": "the ApplicationMasters answer", "jobs": 1}


def test_a_job_that_nobody_knows_is_forgotten_when_its_attempts_are_gone(yarn: FakeYarn) -> None:
    poller, node, clock = stepped(yarn, JOB)
    clock.now = 1.0
    poller.step()
    clock.now = GIVE_UP + 2
    poller.step()
    assert JOB in node.report(), "an attempt lives"
    node.closed(0)
    clock.now += 1
    poller.step()
    assert not node.report() and poller.status()["jobs"] == 0


def test_a_node_count_that_is_not_known_yet_is_asked_for_again(yarn: FakeYarn) -> None:
    good = yarn.answers.pop(METRICS)
    clock = At()
    polls = Polls(Rest(yarn.where), clock)
    assert polls.nodes() is None
    yarn.answers[METRICS] = good
    clock.now = 1.0
    assert polls.nodes() == 3
    yarn.answers[METRICS] = page()
    for clock.now in (2.0, 31.0, 62.0):
        assert polls.nodes() == 3, "nodes change rarely"
    assert yarn.asked == [METRICS] * 4


def test_a_cluster_that_does_not_answer_delays_nobody() -> None:
    node = Node(1)
    poller = Poller(Rest(Addresses(("http://127.0.0.1:1",)), timeout=0.5))
    poller.start(node)
    asking(node, JOB)
    poller.watch(JOB)
    until(lambda: "127.0.0.1:1" in str(poller.status()["detail"]))
    assert node.offer(9, JOB, "t9", 1, 100, POLICIES["tail"]).kind == "cpu"
    poller.stop()


def test_no_cluster_at_all() -> None:
    source, node = Nothing(), Node(1)
    source.start(node)
    source.watch(JOB)
    assert source.status()["source"] == "none"
    source.stop()
