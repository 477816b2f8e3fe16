"""The tail through real drivers: attempts of a job on the emulated device, an ApplicationMaster that says how far it is."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from heterodoop.driver.wire import admin
from heterodoop.driver.wire.place import DriverPlace
from heterodoop.driver.wire.protocol import Type

from .client import CPU_DONE, INSTALLED, RUN, Attempt
from .fake_yarn import JOB, FakeYarn, job_says, page, proxied
from .running import Driver, running, slow, wait_for

MAPS = 8


@pytest.fixture
def environment(cache: Mapping[str, str], yarn: FakeYarn, tmp_path: Path) -> dict[str, str]:
    """A driver's, whose configuration leads to the fake cluster."""
    conf = tmp_path / "conf"
    conf.mkdir()
    (conf / "yarn-site.xml").write_text(
        "<configuration><property><name>yarn.resourcemanager.webapp.address</name>"
        f"<value>{yarn.url.removeprefix('http://')}</value></property></configuration>")
    yarn.answers[proxied()] = job_says(MAPS, 0, pending=0)
    return {**cache, "HADOOP_CONF_DIR": str(conf)}


def task(attempt: Attempt, number: int) -> Attempt:
    return replace(attempt, job=JOB, task=number, maps=MAPS, policy="tail")


def measure(driver: Driver, attempt: Attempt) -> None:
    """Tasks 0 to 2 on the CPU, a minute each, while the first of tasks 3 to 5 holds the GPU; those then run on it."""
    with driver.client() as first:
        assert first.offer(task(attempt, 3))["run"] == "gpu"
        for number in range(3):
            with driver.client() as client:
                assert client.offer(task(attempt, number))["run"] == "cpu"
                client.send(CPU_DONE, ("seconds", 60))
    for number in (3, 4, 5):
        idle(driver)
        with driver.client() as client:
            outcome = client.map(task(attempt, number))
            assert outcome.kind == "result", outcome.fields
            client.send(INSTALLED)
    idle(driver)
    assert len(driver.events("installed")) == 3 and len(driver.events("cpu_done")) == 3


def state(driver: Driver) -> dict[str, Any]:
    """As `driver status`, without a process."""
    return admin.ask(DriverPlace(driver.folder), Type.STATUS)


def idle(driver: Driver) -> None:
    """Wait until the driver has noticed that all attempts so far are gone."""
    wait_for(lambda: not state(driver)["leases"])


def told(driver: Driver, attempt: Attempt) -> str:
    """What an attempt of task 7 is told while one of task 6 holds the GPU; both then go away."""
    idle(driver)
    with driver.client() as first, driver.client() as second:
        assert first.offer(task(attempt, 6))["run"] == "gpu"
        answer = second.offer(task(attempt, 7))
        return f"{answer['run']} {answer['forced']} {answer['ahead']}"


def test_the_last_tasks_wait_for_the_gpu(environment: dict[str, str], attempt: Attempt, yarn: FakeYarn) -> None:
    with running("--sessions", 1, environment=environment) as driver:
        measure(driver, attempt)
        assert state(driver)["knowledge"]["source"] == "poll"
        wait_for(lambda: told(driver, attempt) == "gpu 1 1")
        yarn.answers[proxied()] = page(404)
        wait_for(lambda: "404" in state(driver)["knowledge"]["detail"])
        assert told(driver, attempt) == "gpu 1 1", "this node decided on all other tasks itself"


def delayed(said: dict[str, str]) -> bool:
    return said["text"].startswith("delayed")


def test_what_a_slow_gpu_has_is_taken_back(environment: dict[str, str], attempt: Attempt) -> None:
    """Nothing is known of the GPU but that it takes its time; the container would long have been done. An attempt of another
    policy keeps what it has."""
    with running("--sessions", 1, environment=environment) as driver:
        with driver.client() as first:
            assert first.offer(task(attempt, 0))["run"] == "gpu"
            first.send(RUN, *slow(attempt, 60).run())
            first.until(attempt, delayed)
            with driver.client() as second:
                assert second.offer(task(attempt, 1))["run"] == "cpu"
                second.send(CPU_DONE, ("seconds", 0.2))
            outcome = first.rest(attempt)
            assert outcome.kind == "refused" and "slower than this container" in outcome.text("reason")
            first.send(CPU_DONE, ("seconds", 0.2))
        idle(driver)
        assert len(driver.events("cpu_done")) == 2 and not driver.events("installed")
        with driver.client() as third:
            assert third.offer(replace(task(attempt, 2), policy="gpu-first"))["run"] == "gpu"
            third.send(RUN, *slow(attempt, 60).run())
            begun = time.monotonic()
            third.until(attempt, lambda said: delayed(said) and time.monotonic() > begun + 1.6)
