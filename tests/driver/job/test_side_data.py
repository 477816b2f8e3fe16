"""Large files of a job: the lease lives while they are hashed, a full disk costs one attempt, sizes are bounded first."""

from __future__ import annotations

import hashlib
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from heterodoop.driver import conversation
from heterodoop.driver.cluster.knowledge import Ticker
from heterodoop.driver.job import files
from heterodoop.manifest import MOST_BYTES

from ..client import CPU_DONE, INSTALLED, NEED, PROGRESS, REFUSED, RUN, Attempt, Client, ClosedByDriver, unpack
from ..running import in_this_process, running, wait_for

WAIT = 17


def test_a_lease_lives_while_the_task_says_that_it_is_at_work(
    cache: dict[str, str], attempt: Attempt, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(conversation, "RUN_SECONDS", 1.0)
    with in_this_process(cache, monkeypatch) as driver:
        with driver.client() as client:
            answer = client.offer(attempt)
            assert (answer["run"], answer["waits"]) == ("gpu", "1")
            for _ in range(4):
                time.sleep(0.3)
                client.send(WAIT)
            (lease,) = driver.status()["leases"]
            assert lease["text"] == "the task prepares its files"
            client.send(RUN, *attempt.run())
            assert client.rest(attempt).kind == "result"
            client.send(INSTALLED)
        with driver.client() as client:
            client.offer(replace(attempt, task=1))
            client.send(WAIT)
            with pytest.raises(ClosedByDriver):  # it says nothing more
                client.frame()
        monkeypatch.setattr(conversation, "PREPARE_SECONDS", 0.6)
        monkeypatch.setattr(conversation, "RUN_SECONDS", 30.0)
        with driver.client() as client:
            client.offer(replace(attempt, task=2))
            with pytest.raises(ClosedByDriver):  # it says so for too long
                for _ in range(100):
                    time.sleep(0.05)
                    client.send(WAIT)
        wait_for(lambda: any("prepared its files for" in row["reason"] for row in driver.events("dropped")))


def test_a_full_disk_costs_an_attempt_and_not_the_connection(
    cache: dict[str, str], attempt: Attempt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In the middle of the second of three files: the rest is read, and what the task says next is understood."""
    extra = {}
    for n in range(3):
        extra[f"f{n}"] = tmp_path / f"f{n}"
        extra[f"f{n}"].write_bytes(bytes([n]) * (3 << 20))
    taken: list[str] = []
    private = files._private

    def full(path: str, flags: int) -> int:
        taken.append(path)
        if len(taken) == 2:
            raise OSError(28, "No space left on device")
        return private(path, flags)

    monkeypatch.setattr(files, "_private", full)
    with in_this_process(cache, monkeypatch) as driver:
        job = replace(attempt, extra=extra)
        with driver.client() as client:
            outcome = client.map(job)
            assert (outcome.kind, outcome.text("code")) == ("refused", "HD616") and "No space left" in outcome.text("reason")
            client.send(CPU_DONE, ("seconds", "1"))
            wait_for(lambda: driver.events("cpu_done"))
        with driver.client() as client:
            again = client.map(replace(job, task=1))
            assert again.kind == "result" and len(again.asked) == 1  # the others are here
            client.send(INSTALLED)


def refusal(client: Client, data: bytes) -> dict[str, str]:
    """What is said to a task that sends this for each file that is needed, and has sent RUN."""
    for type, payload in client.frames():
        if type == NEED:
            client.data(data)
        elif type == REFUSED:
            return {name: value.decode() for name, value in unpack(payload)}
        else:
            assert type == PROGRESS
    raise AssertionError


def test_a_manifest_of_any_size_does_not_fill_the_memory(cache: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Millions of lists in a few bytes of JSON each."""
    data = b'{"version":4,"x":[' + b"[]," * (MOST_BYTES // 2) + b"[]]}"
    sha = hashlib.sha256(data).hexdigest()
    bundle = hashlib.sha256(f"manifest.json\0{sha}\0-\n".encode()).hexdigest()
    with running(environment=cache) as driver:
        before = driver.status()["memory"]["resident"]
        with driver.client() as client:
            offer = Attempt(Path("/nonexistent"), "file:/etc/hostname", length=1, reduces=0, combine=False)
            monkeypatch.setattr("tests.driver.client.bundle_sha", lambda path: bundle)
            assert client.offer(offer)["run"] == "gpu"
            client.send(RUN, ("env", "PATH=/bin"), ("file", f"app.hdp/manifest.json\0{sha}\0{len(data)}\0-"))
            said = refusal(client, data)
        assert said["code"] == "HD312" and "larger than" in said["reason"]
        assert driver.status()["memory"]["resident"] - before < 64 << 20


def test_files_that_do_not_fit_are_refused_before_a_byte_of_them(cache: dict[str, str], attempt: Attempt) -> None:
    with running("--store", "20m", environment=cache) as driver, driver.client() as client:
        client.offer(attempt)
        client.send(RUN, *attempt.run(), ("file", f"big\0{'0' * 64}\0{10**17}\0-"))
        said = refusal(client, b"")
    assert said["code"] == "HD616" and "larger than the driver's store" in said["reason"]


def test_damage_of_one_bundle_is_healed_and_spoils_no_other(cache: dict[str, str], attempt: Attempt) -> None:
    """Whatever befalls the driver's copies, the bytes are asked for again, and the log says why."""
    with running(environment=cache) as driver:
        work = driver.folder / "driver.work"

        def served(task: int, job: str = "job_1_0001") -> list[str]:
            with driver.client() as client:
                outcome = client.map(replace(attempt, task=task, job=job))
                assert outcome.kind == "result", outcome.fields
                client.send(INSTALLED)
                return outcome.asked

        assert served(0) and not served(1)
        program = next((work / "folders").rglob("bin/map.prologue"), None) or next((work / "folders").rglob("bin/map"))
        os.truncate(program, 10)  # of the store's file too: they are links
        assert len(served(2)) == 1
        for path in (work / "store").iterdir():
            path.unlink()
        assert not served(3)  # its folder is whole
        next((work / "folders").rglob("manifest.json")).unlink()
        assert "app.hdp/manifest.json" in served(4, "job_1_0002")
        said = " ".join(row["what"] for row in driver.events("store"))
        assert "bytes, not" in said and "it is gone" in said


def test_a_source_s_thread_outlives_what_it_raises() -> None:
    calls: list[int] = []

    def step() -> float:
        calls.append(1)
        if len(calls) == 1:
            raise KeyError("an answer that nobody thought of")
        return 60.0

    ticker = Ticker("test", step)
    ticker.start()
    ticker.wake()
    end = time.monotonic() + 10
    while len(calls) < 2 and time.monotonic() < end:
        time.sleep(0.02)
    assert len(calls) == 2 and "KeyError" in ticker.failed
    ticker.stop()
    assert not ticker._thread.is_alive()
