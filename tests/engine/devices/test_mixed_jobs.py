"""Jobs whose map tasks run on a device and on CPU slots: the same bytes, tasks that run twice count once, nothing is left.

The device is the fake one, which runs a filter in the kernel's place; test_emulated_jobs.py has kernels.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from heterodoop.engine.job.layout import Layout
from heterodoop.engine.run import local
from heterodoop.engine.run.attempts import AttemptRunner
from heterodoop.errors import Interrupted, JobFailed
from heterodoop.executor.native.runtime import TaskStatus
from heterodoop.scheduler.model import Attempt, TaskId
from heterodoop.scheduler.policies import POLICIES

from ...support import COMMAND, ROOT, Bundles, cli_here, environment
from ..conftest import SUM, WORDS, names, parts
from ..fake_device import with_kernel
from ..terminal.test_interrupt import filters_of, wait_until

TEXT = b"".join(b"word%d and word%d\n" % (n % 7, n % 3) for n in range(600))
# A word count that waits (so many tenths of a second), says so, and ends with a status.
WAITS = WORDS.replace("int main(void) {", """#include <unistd.h>
int main(void) {
  fprintf(stderr, "waiting\\n"); usleep(TENTHS * 100000); if (STATUS) return STATUS;""")
FAILS_ONCE = WORDS.replace("int main(void) {", """
int main(void) {
  const char *id = getenv("mapreduce_task_attempt_id");
  if (id[strlen(id) - 1] == '0') return 3;""")


def waits(tenths: int, status: int = 0) -> str:
    return WAITS.replace("TENTHS", str(tenths)).replace("STATUS", str(status))


@pytest.fixture
def text(tmp_path: Path) -> Path:
    (tmp_path / "in.txt").write_bytes(TEXT)
    return tmp_path / "in.txt"


@pytest.fixture
def before_commit(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of what lies below the temporary folder and among the logs when the job is about to commit."""
    found: list[str] = []
    commit = local.commit_job

    def look(layout: Layout) -> None:
        found.extend(name for folder in (layout.attempts, layout.maps, layout.done, layout.logs) for name in names(folder))
        commit(layout)

    monkeypatch.setattr(local, "commit_job", look)
    return found


def rows(report: Path, start: str) -> list[dict[str, Any]]:
    lines = (report / "attempts.jsonl").read_text().splitlines()
    return [row for row in map(json.loads, lines) if row["attempt"].startswith(start)]


def then(*filters: Path) -> Any:
    """The device runs these in turn, the last one from then on."""
    left = list(filters)
    return lambda options: left.pop(0) if len(left) > 1 else left[0]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("reducers", [0, 2])
def test_every_policy_has_the_bytes_of_the_cpu(fake, bundle, run, text, policy: str, reducers: int) -> None:
    made = with_kernel(bundle(WORDS, SUM, SUM, fold=True))
    options = {"split_size": 300, "reducers": reducers, "cpu_slots": 2}
    cpu = run(made, text, out="cpu", **options)
    mixed = run(made, text, device="emulated", policy=policy, **options)
    assert parts(mixed.output) == parts(cpu.output) and any(parts(cpu.output)) and mixed.warnings == ()
    assert mixed.report["counters"]["MAP_INPUT_RECORDS"] == 600
    side = mixed.report["map"]
    assert side["device"]["tasks"] + side["cpu"]["tasks"] == cpu.report["map"]["cpu"]["tasks"] > 30
    assert side["device"]["bytes"] + side["cpu"]["bytes"] == len(TEXT)
    assert side["device"]["records"] + side["cpu"]["records"] == 600
    assert (side["device"]["tasks"] > 0) == (policy != "cpu-only") and (side["cpu"]["tasks"] > 0) == (policy != "gpu-only")
    assert side["policy"] == policy and mixed.report["device"]["asked"] == "emulated"
    assert {row["kind"] for row in rows(mixed.report_folder, "r_")} <= {"cpu"}


def test_slots_of_the_emulated_device(fake, bundle, run, text) -> None:
    made = with_kernel(bundle(WORDS, SUM, SUM))

    def slots(out: str, *settings: str, **options: object) -> tuple[str, int, int]:
        found = run(made, text, out=out, device="emulated", cpu_slots=3, settings=settings, **options).report["map"]
        return found["policy"], found["cpu_slots"], found["gpu_slots"]

    assert slots("all") == ("gpu-only", 3, 3), "all map tasks on the device, as many at a time as on the CPU"
    assert slots("mixed", policy="tail") == ("tail", 3, 1)
    assert slots("more", "heterodoop.emulated.slots=2", policy="gpu-first") == ("gpu-first", 3, 2)
    assert slots("fewer", "heterodoop.emulated.slots=2") == ("gpu-only", 3, 2)


def test_an_idle_device_does_what_a_cpu_slot_is_slow_at(fake, bundle, run, text, filters, before_commit) -> None:
    fake.program = lambda options: filters(WORDS)
    made = with_kernel(bundle(waits(600), SUM, SUM))
    begun = time.monotonic()
    result = run(made, text, device="emulated", policy="tail", cpu_slots=1, split_size=len(TEXT) // 2 + 1)
    assert time.monotonic() - begun < 20 and not filters_of(made)
    assert parts(result.output) == parts(run(bundle(WORDS, SUM, SUM), text, out="cpu").output)
    assert result.report["map"]["duplicates"] == {"won": 1, "lost": 0, "failed": 0}
    assert result.report["device"]["map_tasks"] == {"emulated": 2} and result.report["tasks"]["map"]["done"] == 2
    assert result.report["tasks"]["map"]["failed_attempts"] == 0 and result.report["failures"] == []
    found = rows(result.report_folder, "m_")
    assert {row["attempt"]: (row["kind"], row["outcome"], row.get("duplicate")) for row in found} == {
        "m_000000_0": ("gpu", "succeeded", None), "m_000001_1": ("gpu", "succeeded", True),
        "m_000001_0": ("cpu", "overtaken", None)}
    assert not any("m_000001_0" in name for name in before_commit), "the killed attempt left nothing, no log either"


def test_a_cpu_slot_that_is_sooner_after_all(fake, bundle, run, text, filters, before_commit) -> None:
    fake.program = then(filters(WORDS), filters(waits(600)))
    made = with_kernel(bundle(waits(15), SUM, SUM))
    begun = time.monotonic()
    result = run(made, text, device="emulated", policy="tail", cpu_slots=1, split_size=len(TEXT) // 2 + 1)
    assert time.monotonic() - begun < 20
    assert parts(result.output) == parts(run(bundle(WORDS, SUM, SUM), text, out="cpu").output)
    assert result.report["map"]["duplicates"] == {"won": 0, "lost": 1, "failed": 0}
    assert result.report["device"]["map_tasks"] == {"emulated": 1, "cpu": 1}
    assert not any("m_000001_1" in name for name in before_commit)


def test_a_duplicate_that_fails_costs_the_task_nothing(fake, bundle, run, text, filters) -> None:
    fake.program = lambda options: filters(WORDS)
    fake.answer = lambda spec: TaskStatus.IO_ERROR if spec.start else TaskStatus.OK
    made = with_kernel(bundle(waits(12), SUM, SUM))
    result = run(made, text, device="emulated", policy="tail", cpu_slots=1, max_attempts=1, split_size=len(TEXT) // 2 + 1)
    assert parts(result.output) == parts(run(bundle(WORDS, SUM, SUM), text, out="cpu").output)
    assert result.report["map"]["duplicates"] == {"won": 0, "lost": 0, "failed": 1}
    assert result.report["tasks"]["map"] == {"planned": 2, "done": 2, "attempts": 3, "failed_attempts": 1}


@pytest.mark.parametrize("status", [0, 4])
def test_a_cpu_attempt_that_fails_while_its_duplicate_runs(fake, bundle, run, text, filters, status: int) -> None:
    fake.program = then(filters(WORDS), filters(waits(20, status)))
    made = with_kernel(bundle(waits(12, 3), SUM, SUM))
    options = {"device": "emulated", "policy": "tail", "cpu_slots": 1, "max_attempts": 1, "split_size": len(TEXT) // 2 + 1}
    if status:
        with pytest.raises(JobFailed, match="exit status 4"):
            run(made, text, **options)
        assert not (text.parent / "out").exists()
        return
    result = run(made, text, **options)
    assert parts(result.output) == parts(run(bundle(WORDS, SUM, SUM), text, out="cpu").output)
    assert result.report["map"]["duplicates"]["won"] == 1 and len(result.report["failures"]) == 1


def test_attempts_that_fail_are_tried_again_on_either_side(fake, bundle, run, text) -> None:
    made = with_kernel(bundle(FAILS_ONCE, SUM, SUM))
    result = run(made, text, device="emulated", policy="gpu-first", cpu_slots=2, split_size=1000)
    assert parts(result.output) == parts(run(bundle(WORDS, SUM, SUM), text, out="cpu").output)
    tasks = result.report["tasks"]["map"]
    assert tasks["failed_attempts"] == tasks["done"] == tasks["planned"] > 9


def test_a_signal_stops_both_attempts_of_a_task(fake, bundle, run, text, filters, tmp_path: Path) -> None:
    fake.program = then(filters(WORDS), filters(waits(600)))
    made = with_kernel(bundle(waits(600), SUM, SUM))
    before = names(tmp_path)

    def strike() -> None:
        wait_until(lambda: len(fake.tasks) == 2 and len(filters_of(made)) == 1, 20)
        time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=strike)
    thread.start()
    begun = time.monotonic()
    with pytest.raises(Interrupted):
        run(made, text, device="emulated", policy="tail", cpu_slots=1, split_size=len(TEXT) // 2 + 1)
    thread.join()
    assert time.monotonic() - begun < 25 and names(tmp_path) == before and not filters_of(made)


@pytest.fixture
def slow_disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Commits that take so long that the other attempt of a task ends well before it is told to stop."""
    commit = AttemptRunner.commit

    def slowly(self: AttemptRunner, attempt: Attempt) -> None:
        if attempt.task == TaskId("map", 1):
            time.sleep(1.5)
        commit(self, attempt)

    monkeypatch.setattr(AttemptRunner, "commit", slowly)
    yield


def test_both_attempts_end_well_and_one_counts(fake, bundle, run, text, filters, slow_disk, before_commit) -> None:
    fake.program = then(filters(WORDS), filters(waits(14)))
    made = with_kernel(bundle(waits(22)))
    options = {"cpu_slots": 1, "split_size": len(TEXT) // 2 + 1, "reducers": 0}
    expected = parts(run(bundle(WORDS), text, out="cpu", **options).output)
    before_commit.clear()
    result = run(made, text, device="emulated", policy="tail", **options)
    assert parts(result.output) == expected
    assert result.report["counters"]["MAP_INPUT_RECORDS"] == 600 and result.report["tasks"]["map"]["attempts"] == 3
    assert sum(result.report["map"]["duplicates"].values()) == 1
    assert [row["outcome"] for row in rows(result.report_folder, "m_000001")].count("overtaken") == 1
    assert {name for name in before_commit if name.startswith("m_000001")} == {"m_000001_1", "m_000001_1.log"}


@pytest.mark.parametrize("workers", [0, 1])
def test_interrupts_at_any_moment(bundles: Bundles, kernel_cache, tmp_path: Path, workers: int) -> None:
    """Kernels and filters, as a process of its own; the kernels' pieces are so small that the job would last for long."""
    app = bundles.get(*((ROOT / "apps" / "wordcount" / f"{role}.c").read_text() for role in ("map", "combine", "reduce")))
    (tmp_path / "in").write_bytes(b"some words and some more\n")
    cli_here("run", app, tmp_path / "in", "-o", tmp_path / "warm", "--device", "emulated")  # the kernels are compiled then
    shutil.rmtree(tmp_path / "warm")
    shutil.rmtree(tmp_path / "warm.report")
    (tmp_path / "in").write_bytes(b"some words and some more\n" * 400_000)
    job = ["run", app, tmp_path / "in", "-o", tmp_path / "out", "--device", "emulated", "--policy", "gpu-first",
           "--cpu-slots", "1", "--split-size", "4k", "-D", "heterodoop.gpu.sub-split.bytes=100",
           "-D", f"heterodoop.emulated.workers={workers}"]
    for seed in range(3):
        process = subprocess.Popen([*COMMAND, *map(str, job)], env=environment(), stderr=subprocess.PIPE, text=True)
        wait_until((tmp_path / "out").exists, 60)
        time.sleep(random.Random(seed).uniform(0, 1))
        process.send_signal(signal.SIGINT)
        message = process.communicate(timeout=60)[1]  # far less than what the job has to do
        assert process.returncode == 130 and "interrupted by SIGINT" in message, message
        assert names(tmp_path) == ["in"]
        wait_until(lambda: not filters_of(app), 20)  # one that was killed may still be on its way out
