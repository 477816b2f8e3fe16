"""Faults of driver and worker at every moment: the attempt sees a closed socket or a refusal, never a wrong result."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from heterodoop.driver.faults import Faults
from heterodoop.errors import UsageError

from ..support import Bundles, alive
from .client import CPU_DONE, INSTALLED, RUN, Attempt, ClosedByDriver
from .conftest import OnCpu
from .running import Driver, running, wait_for

FAULT = "HETERODOOP_DRIVER_FAULT"
Environment = Callable[[str], dict[str, str]]


@pytest.fixture
def faulty(cache: dict[str, str]) -> Environment:
    return lambda fault: {**cache, FAULT: fault}


def slow(attempt: Attempt, seconds: float = 30) -> Attempt:
    return replace(attempt, conf={"heterodoop.gpu.delay": str(seconds)})


@pytest.mark.parametrize("moment", ["offer", "answer", "run", "queued", "running", "result", "data", "sent"])
def test_a_driver_that_is_killed(faulty: Environment, attempt: Attempt, moment: str) -> None:
    """The attempt sees a closed socket; the next driver finds nothing in its way and nothing of the old one."""
    with running(environment=faulty(f"die@{moment}")) as driver:
        pid = driver.pid()
        workers = [gpu["pid"] for gpu in driver.status()["gpus"]]
        with driver.client() as client, pytest.raises(ClosedByDriver):
            client.map(attempt)
            assert moment == "sent"
            client.send(INSTALLED)
            client.frame()
        wait_for(lambda: not any(map(alive, [pid, *workers])))


def test_what_a_killed_driver_left_is_in_nobodys_way(faulty: Environment, attempt: Attempt) -> None:
    with running(environment=faulty("die@running")) as driver:
        with driver.client() as client, pytest.raises(ClosedByDriver):
            client.map(attempt)
        attempts = driver.folder / "driver.work" / "attempts"
        assert driver.socket.exists() and list(attempts.iterdir())
        again = Driver(driver.folder, {**driver.environment, FAULT: ""})
        process = again.serve()
        assert list(attempts.iterdir()) == []
        with again.client() as client:
            assert client.map(attempt).kind == "result"
        again.stop()
        assert process.wait(20) == 0


def test_faults_of_a_result(faulty: Environment, attempt: Attempt, sample: Path, on_cpu: OnCpu) -> None:
    """In turn: refused, cut in the middle of its data, damaged on the way, right."""
    with running(environment=faulty("error*1,cut*1,corrupt*1")) as driver:
        with driver.client() as client:
            refused = client.map(attempt)
            assert (refused.kind, refused.text("reason")) == ("refused", "refused on purpose")
            client.send(CPU_DONE, ("seconds", "1"))
        _, index, data = on_cpu(attempt, sample)
        # Both belong to the data of the next result: it is damaged and cut.
        with driver.client() as client, pytest.raises(ClosedByDriver):
            client.map(replace(attempt, task=1))
        with driver.client() as client:
            right = client.map(replace(attempt, task=2))
            assert (right.index, right.data) == (index, data)


def test_a_damaged_byte(faulty: Environment, attempt: Attempt, sample: Path, on_cpu: OnCpu) -> None:
    with running(environment=faulty("corrupt")) as driver, driver.client() as client:
        outcome = client.map(attempt)
        _, index, data = on_cpu(attempt, sample)
        assert outcome.index == index and outcome.data != data and len(outcome.data) == len(data)
        assert any(row.get("faults") for row in driver.log())  # nobody leaves this on by mistake


def test_a_driver_that_says_nothing_more(faulty: Environment, attempt: Attempt) -> None:
    with running(environment=faulty("hang@running*1")) as driver, driver.client(seconds=3) as client:
        with pytest.raises(TimeoutError):
            client.map(attempt)


@pytest.mark.parametrize("text", ["die@nowhere", "burn", "die@run@run", "cut*x"])
def test_a_fault_that_is_none(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        Faults({FAULT: text})
    assert caught.value.code == "HD614"
    assert not Faults({}) and Faults({FAULT: "die"})


def test_a_worker_that_is_killed_is_replaced(cache: dict[str, str], attempt: Attempt, sample: Path, on_cpu: OnCpu) -> None:
    """Before, between and under tasks: another process does them, with the same bytes."""
    with running(environment=cache) as driver:
        _, index, data = on_cpu(attempt, sample)
        done = threading.Event()
        killed = []

        def strike() -> None:
            while not done.wait(0.3):
                for gpu in driver.status()["gpus"]:
                    if gpu["ready"] and len(killed) < 2:
                        killed.append(gpu["pid"])
                        os.kill(gpu["pid"], signal.SIGKILL)

        thread = threading.Thread(target=strike)
        thread.start()
        try:
            for task in range(8):
                with driver.client() as client:
                    outcome = client.map(replace(attempt, task=task, job="job_1_0011"))
                    assert outcome.kind in ("result", "refused", "cpu")
                    if outcome.kind == "result":
                        assert (outcome.index, outcome.data) == (index, data)
                        client.send(INSTALLED)
                time.sleep(0.2)
        finally:
            done.set()
            thread.join()
        assert killed and not any(map(alive, killed))
        (gpu,) = driver.status()["gpus"]
        assert gpu["restarts"] == len(killed) and alive(gpu["pid"])


def test_a_gpu_out_of_service_gives_no_leases(
    cache: dict[str, str], attempt: Attempt, bundle_that_crashes: Attempt,
) -> None:
    """Three faults without a task that was done: two of one task's tries, one of another job's."""
    with running(environment=cache) as driver:
        for job in ("job_1_0021", "job_1_0022"):
            with driver.client() as client:
                client.map(replace(bundle_that_crashes, job=job))
        wait_for(lambda: driver.status()["gpus"][0]["out_of_service"])
        with driver.client() as client:
            outcome = client.map(replace(attempt, job="job_1_0013"))
        assert (outcome.kind, outcome.text("code")) == ("cpu", "HD619") and "out of service" in outcome.text("reason")


def test_another_attempt_of_a_task_that_a_gpu_failed_at_is_not_taken(
    cache: dict[str, str], attempt: Attempt, bundle_that_crashes: Attempt,
) -> None:
    with running(environment=cache) as driver:
        with driver.client() as client:
            first = client.map(bundle_that_crashes)
        assert (first.kind, first.text("code")) == ("refused", "HD619")
        with driver.client() as client:
            again = client.map(replace(bundle_that_crashes, number=1))
        assert again.kind == "cpu" and "failed on a GPU before" in again.text("reason")
        with driver.client() as client:
            assert client.map(replace(attempt, job="job_1_0015")).kind == "result"  # wipes out the faults before
        with driver.client() as client:
            assert client.map(replace(bundle_that_crashes, task=1)).kind == "refused"
        with driver.client() as client:
            third = client.map(replace(bundle_that_crashes, task=2))
        assert third.kind == "cpu" and "2 tasks of the job failed on a GPU" in third.text("reason")
        with driver.client() as client:
            assert client.map(replace(attempt, job="job_1_0016")).kind == "result"


CRASHES = r"""
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  char k[32], *line = NULL; size_t cap = 0; ssize_t n; int v; long at; int tab[16];
  #pragma mapreduce mapper key(k) value(v) keylength(32) vallength(1)
  while ((n = getline(&line, &cap, stdin)) != -1) {
    at = atol(line);
    tab[at] = 1;
    v = tab[at];
    sprintf(k, "n%d", (int)n);
    printf("%s\t%d\n", k, v);
  }
  free(line);
  return 0;
}
"""


@pytest.fixture
def bundle_that_crashes(bundles: Bundles, tmp_path: Path) -> Attempt:
    content = b"3\n99999999999\n"
    (tmp_path / "poison").write_bytes(content)
    return Attempt(bundles.get(CRASHES), f"file:{tmp_path / 'poison'}", length=len(content), combine=False, job="job_1_0014")


def test_attempts_that_go_away(cache: dict[str, str], attempt: Attempt) -> None:
    """Their leases are closed, their tasks stopped, their places free for the next ones."""
    with running("--sessions", 1, "--queue", 1, environment=cache) as driver:
        with driver.client() as client:
            client.offer(slow(attempt))
        wait_for(lambda: not driver.status()["leases"])
        with driver.client() as client:
            client.offer(slow(attempt))
            client.send(RUN, *slow(attempt).run())
            client.until(attempt, lambda said: "delayed" in said["text"])
            assert [lease["state"] for lease in driver.status()["leases"]] == ["running"]
        wait_for(lambda: not driver.status()["leases"])
        status = driver.status()
        assert status["queue"]["running"] == 0 and status["counts"]["closed"] == 2
        assert list((driver.folder / "driver.work" / "attempts").iterdir()) == []
        with driver.client() as first:
            first.offer(slow(attempt))
            first.send(RUN, *slow(attempt).run())
            first.until(attempt, lambda said: "delayed" in said["text"])
            with driver.client() as second:
                second.offer(replace(attempt, task=1, policy="gpu-only"))
                second.send(RUN, *attempt.run())
                second.until(attempt, lambda said: said.get("ahead") == "0")
                assert driver.status()["queue"]["waiting"] == 1
                with driver.client() as third:
                    answer = third.offer(replace(attempt, task=2, policy="gpu-only"))
                    assert (answer["run"], answer["code"]) == ("cpu", "HD619") and "queue is full" in answer["reason"]
            wait_for(lambda: driver.status()["queue"]["waiting"] == 0)
        wait_for(lambda: not driver.status()["leases"])
        with driver.client() as client:
            assert client.map(replace(attempt, task=3)).kind == "result"


def test_two_users_do_not_share_a_process(cache: dict[str, str], attempt: Attempt) -> None:
    """H12: what one job left in a device's memory is gone before another user's runs."""
    with running(environment=cache) as driver:
        pids = []
        for user in ("ann", "ann", "bob", "ann"):
            with driver.client() as client:
                assert client.map(replace(attempt, user=user, job=f"job_1_{len(pids)}")).kind == "result"
                pids.append(driver.status()["gpus"][0]["pid"])
        assert pids[0] == pids[1] and len(set(pids)) == 3
        assert driver.status()["gpus"][0]["restarts"] == 0  # no fault of the GPU
