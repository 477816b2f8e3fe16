"""Map attempts as host kernels of a driver without a GPU, against what the CPU filters make of the same split, byte for
byte; and what is the filters' again: maps without a host kernel, what one leaves, and more than the slots can take."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from heterodoop.driver.job.host import processors
from heterodoop.manifest import FILE, sha256

from ...support import ROOT, Bundles, alive
from ..client import CPU_DONE, INSTALLED, RUN, Attempt, Client, ClosedByDriver, Outcome
from ..conftest import SAMPLE, OnCpu
from ..running import Driver, running, slow, wait_for
from .test_tasks import ADDS, NO_REGION


@pytest.fixture(scope="module")
def host(cache: dict[str, str]) -> Iterator[Driver]:
    with running("--gpus", "none", "--cpu", 1, environment=cache) as found:
        yield found


def mapped(driver: Driver, attempt: Attempt) -> Outcome:
    with driver.client() as client:
        outcome = client.map(attempt)
        if outcome.kind == "result":
            assert outcome.text("side") == "host" and outcome.text("gpu") == ""
            client.send(INSTALLED)
        else:
            client.send(CPU_DONE, ("seconds", "1"))
        return outcome


def with_host_kernel(bundle: Path, folder: Path, script: str) -> Path:
    """The bundle with another program for its host kernel."""
    shutil.copytree(bundle, folder)
    program = folder / "bin" / "map.host"
    program.unlink()
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    data = json.loads((folder / FILE).read_text())
    for item in data["binaries"]:
        item["sha256"] = sha256(folder / item["path"])
    (folder / FILE).write_text(json.dumps(data))
    return folder


def test_they_equal_the_filters(
    host: Driver, attempt: Attempt, bundles: Bundles, sample: Path, tmp_path: Path, on_cpu: OnCpu,
) -> None:
    """With a combiner, without one, without reducers; two splits in one attempt; one in the middle, which the task reads;
    code before the loop that asks its environment and a file."""
    (tmp_path / "table.txt").write_text("5")
    adds = Attempt(bundles.get(ADDS), attempt.path, length=len(SAMPLE), reduces=2, combine=False, env={"ADD": "100"},
                   extra={"table.txt": tmp_path / "table.txt"}, job="job_1_0002")
    part = replace(attempt, path="s3a://bucket/in.txt", start=20_000, length=20_000, content=SAMPLE)
    several = replace(attempt, parts=[(attempt.path, 0, 20_000), (attempt.path, 20_000, 40_000)])
    every = [attempt, replace(attempt, combine=False), replace(attempt, reduces=0, combine=False), several, part]
    for number, one in enumerate(every):
        outcome = mapped(host, replace(one, task=number))
        cpu, index, data = on_cpu(one, sample)
        shutil.rmtree(tmp_path / "cpu")
        assert (outcome.kind, outcome.index, outcome.data) == ("result", index, data), number
        assert outcome.pairs("counter")["MAP_INPUT_RECORDS"] == str(cpu.counters["MAP_INPUT_RECORDS"])
        assert outcome.text("read") == ("task" if one is part else "driver")
    outcome = mapped(host, adds)
    records = outcome.pairs("counter")["MAP_INPUT_RECORDS"].encode()
    assert outcome.kind == "result" and ("user", b"mine\0lines\0" + records) in outcome.fields
    wait_for(lambda: len(host.events("installed_host")) == 6)
    status = host.status()
    assert status["gpus"] == [] and (status["host"]["slots"], status["host"]["tasks"]) == (1, 6)
    assert b"host kernels" in host.command("status").out


def test_what_is_the_filters(
    host: Driver, attempt: Attempt, bundles: Bundles, tmp_path: Path,
) -> None:
    """A program without a host kernel, and one whose host kernel fails: that is tried three times."""
    none = Attempt(bundles.get(NO_REGION), attempt.path, length=len(SAMPLE), combine=False, job="job_1_0003")
    first, second = mapped(host, none), mapped(host, replace(none, task=1))
    assert (first.kind, second.kind) == ("refused", "cpu")
    assert "no host kernel" in first.text("reason") and first.fields[:2] == second.fields[1:3]
    failing = replace(attempt, job="job_1_0004",
                      bundle=with_host_kernel(attempt.bundle, tmp_path / "failing", "exit 3"))
    outcomes = [mapped(host, replace(failing, task=task)) for task in range(4)]
    assert [one.kind for one in outcomes] == ["refused"] * 3 + ["cpu"]
    assert all(one.text("code") == "HD615" for one in outcomes)
    assert "leaves it to the filters" in outcomes[0].text("reason") and "exit status 3" in outcomes[0].text("reason")
    assert "not tried any more" in outcomes[3].text("reason")
    assert mapped(host, replace(attempt, job="job_1_0005")).kind == "result", "other jobs have theirs"


def test_who_waits_and_who_does_not(host: Driver, attempt: Attempt) -> None:
    """Of one slot: one has it, one waits for it, the others run their filters; as does the attempt of a failed task."""
    with host.client() as first, host.client() as second:
        holds = slow(replace(attempt, job="job_1_0006"))
        assert first.offer(holds)["run"] == "host"
        first.send(RUN, *holds.run())
        first.until(holds, lambda said: said["text"].startswith("delayed"))
        waits = replace(holds, task=1)
        assert second.offer(waits)["ahead"] == "1"
        second.send(RUN, *waits.run())
        second.until(waits, lambda said: said["text"] == "waiting for a slot for host kernels, 0 ahead")
        busy = mapped(host, replace(holds, task=2))
        assert (busy.kind, busy.text("code")) == ("cpu", "") and "slots for host kernels are busy" in busy.text("reason")
        assert host.status()["queue"] == {"waiting": 1, "running": 1, "limit": 64}
    failed = mapped(host, replace(attempt, job="job_1_0007", number=1, change={"retry": "1"}))
    assert (failed.kind, failed.text("reason")) == ("cpu", "an earlier attempt of the task failed")


def test_a_driver_that_is_killed_takes_its_host_kernels_along(
    cache: dict[str, str], attempt: Attempt, tmp_path: Path,
) -> None:
    bundle = with_host_kernel(attempt.bundle, tmp_path / "long", f"echo $$ > {tmp_path}/pid\nexec sleep 1000")
    with running("--gpus", "none", "--cpu", environment=cache) as driver:
        assert driver.status()["host"]["slots"] == processors()
        with driver.client() as client, pytest.raises(ClosedByDriver):
            long = replace(attempt, bundle=bundle)
            client.offer(long)
            client.send(RUN, *long.run())
            client.until(long, lambda said: said["text"] == "running" and (tmp_path / "pid").exists())
            pid = wait_for(lambda: int((tmp_path / "pid").read_text() or 0))
            driver.kill()
            finish(client)
        wait_for(lambda: not alive(pid))


def finish(client: Client) -> None:
    while True:
        client.frame()


@pytest.mark.parametrize(("quotas", "count"), [
    ({"": "max 100000", "a": "max 100000", "a/b": "max 100000"}, None), ({"a/b": "100000 100000"}, 1),
    ({"a": "50000 100000", "a/b": "max 100000"}, 1), ({"a/b": "nonsense"}, None), ({}, None),
])
def test_processors_are_those_of_the_cgroup(quotas: dict[str, str], count: int | None, tmp_path: Path) -> None:
    for name, text in quotas.items():
        (tmp_path / name).mkdir(parents=True, exist_ok=True)
        (tmp_path / name / "cpu.max").write_text(f"{text}\n")
    assert processors("/a/b", tmp_path) == (count or processors("/none", ROOT / "apps"))
