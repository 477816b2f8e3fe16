"""Drivers, a coordinator and a cluster's REST answers over real sockets."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

import pytest

from heterodoop.driver.cluster import client as coordinator_client
from heterodoop.driver.cluster.client import CoordinatorClient
from heterodoop.driver.cluster.yarn_rest import Rest
from heterodoop.scheduler.node.model import Decision, Knowledge
from heterodoop.scheduler.policies import TAIL

from ..coordinating import NOWHERE, SECRET, Heard, Running, client, until
from ..fake_yarn import JOB, OTHER, FakeYarn, app, job_says, page, proxied, says


@contextlib.contextmanager
def drivers(running: Running, *nodes: Heard, rest: Rest = NOWHERE) -> Iterator[list[CoordinatorClient]]:
    clients = [client(running.address, f"n{i}:1", rest) for i in range(len(nodes))]
    for one, node in zip(clients, nodes, strict=True):
        one.start(node)
        for job in node.report():
            one.watch(job)
    try:
        yield clients
    finally:
        for one in clients:
            one.stop()


def test_drivers_hear_of_each_other(yarn: FakeYarn) -> None:
    yarn.answers[proxied()] = job_says(100, 5)
    first, second, idle = Heard(), Heard(), Heard()
    for task in range(10):
        first.ask(JOB, task)
    for task in range(8, 12):
        second.ask(JOB, task)
    second.measured(JOB, 12.0, 2.0)
    with Running(Rest(yarn.where)) as running, drivers(running, first, second, idle) as clients:
        until(lambda: first.heard.get(JOB) == Knowledge(100, 5, 2, 2, (6.0,), second.room(JOB, 0.0), 0))
        until(lambda: second.heard.get(JOB) == Knowledge(100, 5, 7, 2, (), first.room(JOB, 0.0), 0))
        assert first.room(JOB, 0.0) == 5, "it has one of ten on its GPU, and S from the other"
        assert not idle.heard
        lease = first.ask(JOB, 50)
        until(lambda: (known := second.heard[JOB]) and known[:4] == (100, 5, 8, 2))
        first.closed(lease)
        until(lambda: (known := second.heard[JOB]) and known[:4] == (100, 5, 7, 2))
        assert clients[0].status()["source"] == "coordinator"
        status = running.status()
        assert {driver["node"]: driver["decided"] for driver in status["drivers"]} == {
            "n0:1": 10, "n1:1": 5, "n2:1": 0}
        assert status["jobs"][0]["decided"] == 12 and status["members"] == 4


def test_the_tail_starts_on_what_the_coordinator_says(yarn: FakeYarn) -> None:
    yarn.answers[proxied()] = job_says(100, 90)
    node, other = Heard(), Heard()
    node.ask(JOB, 1)
    other.measured(JOB, 60.0, 1.0)
    with Running(Rest(yarn.where)) as running, drivers(running, node, other):
        until(lambda: (known := node.heard.get(JOB)) and known.speedups and known.completed == 90)
        assert [node.offer(lease, JOB, f"t{lease}", 1, 100, TAIL) for lease in (98, 99)] == [
            Decision("gpu", True, 1), Decision("gpu", True, 2)]


def test_the_application_master_is_asked_once_a_second_for_all_drivers(yarn: FakeYarn) -> None:
    yarn.answers[proxied()] = job_says(100, 5)
    nodes = [Heard() for _ in range(6)]
    for node in nodes:
        node.ask(JOB, 1)
    with Running(Rest(yarn.where)) as running, drivers(running, *nodes):
        until(lambda: all(node.heard.get(JOB) for node in nodes))
        before, start = yarn.asked.count(proxied()), time.monotonic()
        time.sleep(2.2)
        assert yarn.asked.count(proxied()) - before <= (time.monotonic() - start) / 0.9 + 1
        assert set(yarn.asked) == {proxied()}


def test_an_application_master_that_does_not_answer_ends_the_tail(yarn: FakeYarn) -> None:
    yarn.answers[proxied()] = page()
    node = Heard()
    node.ask(JOB, 1)
    with Running(Rest(yarn.where)) as running, drivers(running, node):
        until(lambda: JOB in node.heard)
        assert node.heard[JOB] is None
        yarn.answers[proxied()] = job_says(100, 5)
        until(lambda: node.heard[JOB])


def test_a_driver_that_is_gone_takes_its_decisions_along(yarn: FakeYarn) -> None:
    yarn.answers[proxied()] = job_says(100, 5)
    first, second = Heard(), Heard()
    first.ask(JOB, 1)
    second.ask(JOB, 2)
    with Running(Rest(yarn.where)) as running, drivers(running, first, second) as clients:
        until(lambda: first.heard.get(JOB) == Knowledge(100, 5, 1, 2, (), pending=0))
        clients[1].stop()
        until(lambda: first.heard[JOB] == Knowledge(100, 5, 0, 1, (), pending=0))


def test_a_job_that_has_ended_is_forgotten_by_all(yarn: FakeYarn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heterodoop.driver.cluster.knowledge.END_PERIOD", 0.5)
    yarn.answers[proxied()] = yarn.answers[proxied(OTHER)] = job_says(100, 5)
    yarn.answers[proxied(OTHER)] = job_says(100, 5, job=OTHER)
    node = Heard()
    node.ask(JOB, 1)
    node.ask(OTHER, 1)
    with Running(Rest(yarn.where)) as running, drivers(running, node):
        until(lambda: node.heard.get(JOB) and node.heard.get(OTHER))
        yarn.answers[proxied()] = page(404)
        yarn.answers[app()] = says({"app": {"state": "FINISHED"}})
        until(lambda: set(node.report()) == {OTHER})
        until(lambda: [job["job"] for job in running.status()["jobs"]] == [OTHER])


def test_a_coordinator_that_comes_back_knows_all_within_two_seconds(yarn: FakeYarn) -> None:
    yarn.answers[proxied()] = job_says(100, 5, pending=60)
    first, second = Heard(), Heard()
    for task in range(10):
        (first if task % 2 else second).ask(JOB, task)
    expected = Knowledge(100, 5, 5, 2, (), pending=60)
    rest = Rest(yarn.where)
    with Running(rest) as running:
        port = running.address[1]
        with drivers(running, first, second, rest=rest) as clients:
            until(lambda: first.heard.get(JOB) == expected)
            running.end()
            # Alone: three active nodes, and 40 tasks that have a container, of which 5 are decided here.
            until(lambda: first.heard[JOB] == second.heard[JOB] == Knowledge(100, 5, 35, 3))
            assert clients[0].status()["source"] == "poll"
            assert "no coordinator" in str(clients[0].status()["detail"])
            with Running(rest, port):
                assert until(lambda: first.heard[JOB] == second.heard[JOB] == expected) < 2.0


def test_more_tasks_than_fit_a_message(yarn: FakeYarn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coordinator_client, "CHUNK", 10)
    monkeypatch.setattr(coordinator_client, "JOBS", 2)
    jobs = [f"job_1_{number}" for number in range(5)]
    node, other = Heard(), Heard()
    for job in jobs:
        yarn.answers[proxied(job)] = job_says(100, 5, job=job)
        other.ask(job, 99)
    leases = [node.ask(job, task) for task in range(35) for job in jobs[:3]]
    with Running(Rest(yarn.where)) as running, drivers(running, node, other):
        until(lambda: [(known := other.heard.get(job)) and known.decided_elsewhere for job in jobs] == [35, 35, 35, 0, 0])
        for lease in leases[:60]:
            node.closed(lease)
        until(lambda: [known.decided_elsewhere for job in jobs if (known := other.heard.get(job))] == [15, 15, 15, 0, 0])
        node.forget(jobs[0])
        until(lambda: (known := other.heard[jobs[0]]) and known[2:4] == (0, 1))


def test_a_driver_with_another_secret_polls_by_itself(yarn: FakeYarn) -> None:
    yarn.answers[proxied()] = job_says(100, 5, pending=90)
    node = Heard()
    node.ask(JOB, 1)
    with Running(Rest(yarn.where)) as running:
        stranger = client(running.address, rest=Rest(yarn.where), secret=SECRET[::-1])
        stranger.start(node)
        stranger.watch(JOB)
        until(lambda: node.heard.get(JOB) == Knowledge(100, 5, 9, 3))
        assert "does not know the secret" in str(stranger.status()["detail"])
        stranger.stop()
        assert running.status()["drivers"] == []
