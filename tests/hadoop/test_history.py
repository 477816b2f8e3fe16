"""A job of a cluster as a page: rows from what the JobHistory server says, whichever way it says it."""

from __future__ import annotations

from pathlib import Path

import pytest

from heterodoop.hadoop.job import client, history, rest

from ..support import cli_here
from .fake_cluster import APP, HISTORY, JOB, FakeCluster

BEGAN = 1_700_000_000_000
TASK = f"task_{JOB.removeprefix('job_')}"


def attempt(task: str, start: int, finish: int, node: str = "n1:8042", state: str = "SUCCEEDED", **more: object) -> dict:
    return {"id": f"attempt_{JOB.removeprefix('job_')}_{task}_0", "startTime": BEGAN + start, "finishTime": BEGAN + finish,
            "state": state, "type": "REDUCE" if task[0] == "r" else "MAP", "nodeHttpAddress": node, **more}


@pytest.fixture
def job(fake: FakeCluster) -> FakeCluster:
    detail = {"id": JOB, "name": "<words>", "state": "SUCCEEDED", "submitTime": BEGAN, "startTime": BEGAN + 900,
              "finishTime": BEGAN + 20_000, "mapsTotal": 3, "mapsCompleted": 3, "reducesTotal": 1, "reducesCompleted": 1}
    attempts = {
        "m_000000": [attempt("m_000000", 2000, 6000, status="GPU 0 of n1")], "m_000001": attempt("m_000001", 3000, 7000),
        "m_000002": [attempt("m_000002", 6500, 8000, "n2:8042", "FAILED", diagnostics="exit status 3"),
                     attempt("m_000002", 8000, 9000)],
        "r_000000": [attempt("r_000000", 9000, 15000, elapsedShuffleTime=4000, elapsedMergeTime=500,
                             elapsedReduceTime=1500)],
    }
    tasks = [{"id": f"{TASK}_{name}", "type": "REDUCE" if name[0] == "r" else "MAP", "state": "SUCCEEDED",
              "startTime": BEGAN + 2000, "finishTime": BEGAN + 6000} for name in attempts]
    counters = {"jobCounters": {"counterGroup": [
        {"counterGroupName": "org.apache.hadoop.mapreduce.TaskCounter", "counter": [{"name": "X", "totalCounterValue": 7}]},
        {"counterGroupName": "mine", "counter": {"name": "Y", "totalCounterValue": 8}}]}}
    fake.answers |= {HISTORY: {"job": detail}, f"{HISTORY}/tasks": {"tasks": {"task": tasks}},
                     f"{HISTORY}/counters": counters}
    for name, found in attempts.items():
        fake.answers[f"{HISTORY}/tasks/{TASK}_{name}/attempts"] = {"taskAttempts": {"taskAttempt": found}}
    return fake


def read():
    return history.of_job(rest.ClusterClient(client.configuration()), JOB)


def test_attempts_lie_on_rows_of_their_node(job: FakeCluster) -> None:
    found = read()
    assert [(row.name, row.seconds) for row in found.rows] == [("n1 1", 11), ("n1 2", 4), ("n2 1", 1.5)]
    bars = {(bar.name, bar.outcome): bar for bar in found.bars}
    assert (bars["m_000000_0", "succeeded"].row, bars["m_000001_0", "succeeded"].row) == (0, 1)
    assert bars["m_000000_0", "succeeded"].note == "GPU 0 of n1" and bars["m_000000_0", "succeeded"].start == 2
    assert bars["m_000002_0", "failed"].note == "exit status 3" and bars["m_000002_0", "succeeded"].row == 0
    assert bars["r_000000_0", "succeeded"].stages == {"shuffle": 4.0, "merge": 0.5, "reduce": 1.5}
    assert found.seconds == 20 and found.report["counters"] == {"X": 7}
    assert found.report["user_counters"] == {"mine": {"Y": 8}}


def test_a_large_job_has_its_tasks(job: FakeCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "MOST_TASKS", 2)
    found = read()
    assert [row.name for row in found.rows] == [f"task {n}" for n in (1, 2, 3, 4)] and len(found.bars) == 4
    assert not [path for path in job.asked if path.endswith("/attempts")]


def test_the_command(job: FakeCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli_here("job", "report", APP, "--svg", "x.svg").out.decode() == f"page: {JOB}.html, picture: x.svg\n"
    assert "&lt;words&gt;" in (tmp_path / f"{JOB}.html").read_text() and "n2 1" in (tmp_path / "x.svg").read_text()


def test_a_job_that_no_history_has(fake: FakeCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "LAG_SECONDS", 0.0)
    assert "HD640" in cli_here("job", "report", JOB, status=2).message
