"""Faults of driver and worker at every moment: the attempt sees a closed socket or a refusal, never a wrong result."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from heterodoop.executor.worker import client as worker_client

from ..support import ROOT, Bundles, alive, changed_kernel
from .client import CPU_DONE, INSTALLED, RUN, Attempt, ClosedByDriver
from .conftest import OnCpu
from .instrumented import DELAY, Faults
from .instrumented import VARIABLE as FAULT
from .running import Driver, in_this_process, running, slow, wait_for

Environment = Callable[[str], dict[str, str]]


@pytest.fixture
def faulty(cache: dict[str, str]) -> Environment:
    return lambda fault: {**cache, FAULT: fault}


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


def test_a_driver_that_says_nothing_more(faulty: Environment, attempt: Attempt) -> None:
    with running(environment=faulty("hang@running*1")) as driver, driver.client(seconds=3) as client:
        with pytest.raises(TimeoutError):
            client.map(attempt)


@pytest.mark.parametrize("text", ["die@nowhere", "burn", "die@run@run", "cut*x"])
def test_a_fault_that_is_none(text: str) -> None:
    with pytest.raises(ValueError, match=f"{FAULT}=.*: must be"):
        Faults({FAULT: text})
    assert not Faults({}) and Faults({FAULT: "die"})


def test_the_product_has_no_word_for_them() -> None:
    """What fails or waits on purpose is in the tests' driver alone."""
    for path in sorted([*(ROOT / "heterodoop").rglob("*.py"), *(ROOT / "runtime").rglob("*.java")]):
        assert not any(word in path.read_text() for word in (FAULT, DELAY, "HETERODOOP_DRIVER_TESTS", "on purpose\"")), path


def test_a_worker_that_is_killed_is_replaced(cache: dict[str, str], attempt: Attempt, sample: Path, on_cpu: OnCpu) -> None:
    """Between tasks and under one: another process does them, with the same bytes."""
    with running(environment=cache) as driver:
        _, index, data = on_cpu(attempt, sample)
        killed: list[int] = []

        def strike() -> None:
            (gpu,) = wait_for(lambda: [g for g in driver.status()["gpus"] if g["ready"] and g["pid"] not in killed])
            os.kill(gpu["pid"], signal.SIGKILL)
            killed.append(gpu["pid"])

        def run(task: int, meanwhile: Callable[[], None] | None = None) -> str:
            one = replace(slow(attempt, 2) if meanwhile else attempt, task=task, job="job_1_0011")
            with driver.client() as client:
                if client.offer(one)["run"] == "cpu":
                    return "cpu"
                client.send(RUN, *one.run())
                if meanwhile:
                    client.until(one, lambda said: "delayed" in said["text"])
                    meanwhile()
                outcome = client.rest(one)
                if outcome.kind == "result":
                    assert (outcome.index, outcome.data) == (index, data)
                    client.send(INSTALLED)
                return outcome.kind

        assert run(0) == "result"
        strike()
        assert {run(task) for task in (1, 2)} <= {"result", "refused", "cpu"}
        wait_for(lambda: driver.status()["gpus"][0]["pid"] not in killed and driver.status()["gpus"][0]["ready"])
        assert run(3, strike) in ("result", "refused")
        gpu = wait_for(lambda: next((g for g in driver.status()["gpus"] if g["ready"] and g["restarts"] == 2), None))
        assert alive(gpu["pid"]) and gpu["pid"] not in killed and not any(map(alive, killed))
        assert run(4) == "result"


def test_a_job_whose_kernel_makes_a_gpu_fail_gets_none_any_more(
    cache: dict[str, str], attempt: Attempt, bundle_that_crashes: Attempt,
) -> None:
    """The GPU is not to blame, and other jobs use it; however many such jobs come."""
    with running(environment=cache) as driver:
        for n in range(3):
            bad = replace(bundle_that_crashes, job=f"job_1_002{n}")
            with driver.client() as client:
                first = client.map(bad)
            assert (first.kind, first.text("code")) == ("refused", "HD619") and "not there" in first.text("reason")
            for more in (replace(bad, number=1), replace(bad, task=1)):
                with driver.client() as client:
                    again = client.map(more)
                assert (again.kind, again.text("code")) == ("cpu", "HD619") and "made a GPU fail" in again.text("reason")
        with driver.client() as client:
            assert client.map(replace(attempt, job="job_1_0015")).kind == "result"
        (gpu,) = driver.status()["gpus"]
        assert gpu["restarts"] == 6 and gpu["out_of_service"] == ""


def test_neighbours_of_a_bad_kernel_run_again_and_are_not_blamed(
    cache: dict[str, str], attempt: Attempt, bundle_that_crashes: Attempt, sample: Path, on_cpu: OnCpu,
) -> None:
    _, index, data = on_cpu(attempt, sample)
    stop = threading.Event()
    seen: list[str] = []

    def run_good_tasks(job: str) -> None:
        task = 0
        while not stop.is_set():
            one = replace(attempt, job=job, task=task, maps=1000, policy="gpu-only",
                          conf={"heterodoop.gpu.sub-split.bytes": "8000"})
            task += 1
            with driver.client() as client:
                outcome = client.map(one)
                assert outcome.kind != "result" or (outcome.index, outcome.data) == (index, data)
                seen.append(outcome.kind if outcome.kind == "result" else f"{outcome.kind}: {outcome.text('reason')}")
                client.send(INSTALLED)

    with running(environment=cache) as driver:
        threads = [threading.Thread(target=run_good_tasks, args=(f"job_9_{n}",)) for n in range(2)]
        for thread in threads:
            thread.start()
        wait_for(lambda: len(seen) >= 2)
        for n in range(3):
            with driver.client(60) as client:
                bad = client.map(replace(bundle_that_crashes, job=f"job_666_{n}", policy="gpu-only"))
            assert bad.kind == "refused" and "not there" in bad.text("reason")
        stop.set()
        for thread in threads:
            thread.join(60)
        (gpu,) = driver.status()["gpus"]
        assert gpu["out_of_service"] == "" and gpu["restarts"] >= 6
    assert set(seen) == {"result"}


def test_attempts_that_wait_for_a_gpu_that_will_not_come_are_told_at_once(
    cache: dict[str, str], attempt: Attempt, monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No worker process can be started any more; and the driver ends when it is told to."""
    def none(*arguments: object) -> None:
        raise OSError(12, "Cannot allocate memory")

    with in_this_process(cache, monkeypatch) as driver:
        with driver.client() as first, driver.client() as second, driver.client() as third:
            first.offer(slow(attempt, 3))
            first.send(RUN, *slow(attempt, 3).run())
            first.until(attempt, lambda said: "delayed" in said["text"])
            for task, client in ((1, second), (2, third)):
                client.offer(replace(attempt, task=task, policy="gpu-only"))
                client.send(RUN, *attempt.run())
                client.until(attempt, lambda said: "ahead" in said)
            monkeypatch.setattr(worker_client, "spawn", none)
            os.kill(driver.status()["gpus"][0]["pid"], signal.SIGKILL)
            begun = time.monotonic()
            for client in (second, third):
                outcome = client.rest(attempt)
                assert (outcome.kind, outcome.text("code")) == ("refused", "HD619"), outcome
                assert "no GPU is in service" in outcome.text("reason") and "allocate memory" in outcome.text("reason")
            assert time.monotonic() - begun < 10
            with driver.client() as late:
                assert "no GPU is in service" in late.offer(replace(attempt, task=3))["reason"]


def test_attempts_that_wait_run_on_the_cpu_when_the_driver_is_told_to_end(cache: dict[str, str], attempt: Attempt) -> None:
    with running("--sessions", 1, environment=cache) as driver:
        with driver.client() as first, driver.client() as second, driver.client() as third:
            first.offer(slow(attempt, 2))
            first.send(RUN, *slow(attempt, 2).run())
            first.until(attempt, lambda said: "delayed" in said["text"])
            second.offer(replace(attempt, task=1, policy="gpu-only"))
            second.send(RUN, *attempt.run())
            second.until(attempt, lambda said: "ahead" in said)
            third.offer(replace(attempt, task=2))  # and says nothing more
            pid = driver.pid()
            driver.stop()
            assert "stopping" in second.rest(attempt).text("reason")
            assert first.rest(attempt).kind == "result"
            first.send(INSTALLED)
            wait_for(lambda: not alive(pid), 10)


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
    """Its kernel has lost the checks that keep it in its array."""
    unchecked = partial(re.sub, r"hd::within<16>\(hd, at, \d+\)", "at")
    bundle = changed_kernel(bundles.get(CRASHES), tmp_path / "crashes.hdp", unchecked)
    content = b"3\n99999999999\n"
    (tmp_path / "poison").write_bytes(content)
    return Attempt(bundle, f"file:{tmp_path / 'poison'}", length=len(content), combine=False, job="job_1_0014")


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
