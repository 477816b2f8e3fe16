"""`heterodoop job` against a played cluster."""

from __future__ import annotations

import json
from typing import Any

import pytest

from heterodoop.hadoop.job import client, killing

from ..support import cli_here
from .fake_cluster import APP, CONTAINER, HISTORY, JOB, LIVE, FakeCluster
from .test_submit import ATTEMPT, PIPE, TASK, failing

APPS = "/ws/v1/cluster/apps"


def listed(**more: Any) -> dict[str, Any]:
    return {"id": APP, "name": "words", "user": "ann", "state": "RUNNING", "finalStatus": "UNDEFINED", "progress": 40.0,
            "startedTime": 1_700_000_000_000, **more}


def test_jobs_are_listed_newest_first(fake: FakeCluster):
    older = listed(id="application_1700000000000_0000", name="old", startedTime=1_600_000_000_000)
    fake.answers[APPS] = {"apps": {"app": [older, listed()]}}
    lines = cli_here("job", "list").out.decode().splitlines()
    assert [line.split()[0] for line in lines] == [JOB, "job_1700000000000_0000"]
    assert "RUNNING" in lines[0] and "40 %" in lines[0]
    assert "user=ann" in fake.asked[-1] and "states=" in fake.asked[-1]
    cli_here("job", "list", "--all", "--users")
    assert "user=" not in fake.asked[-1] and "states=" not in fake.asked[-1]
    assert json.loads(cli_here("job", "list", "--json").out)[0]["job"] == JOB


def test_no_jobs(fake: FakeCluster):
    fake.answers[APPS] = {"apps": None}
    assert "--all" in cli_here("job", "list").message


def test_the_status_of_a_running_job(fake: FakeCluster):
    fake.application(("RUNNING", "UNDEFINED"))
    fake.answers[LIVE] = {"job": {"id": JOB, "state": "RUNNING", "mapsTotal": 9, "mapsCompleted": 4, "reducesTotal": 2,
                                  "reducesCompleted": 0, "failedMapAttempts": 1}}
    group = {"counterGroupName": "HeteroDoop", "counter": [{"name": "GPU_MAPS", "totalCounterValue": 3}]}
    fake.answers[f"{LIVE}/counters"] = {"jobCounters": {"counterGroup": [group]}}
    text = cli_here("job", "status", APP).out.decode()
    assert text.startswith(f"{JOB} RUNNING: map 4/9 (3 GPU, 0 CPU), reduce 0/2, 1 failed attempts\n")


def test_the_status_of_a_failed_job_is_its_exit_status(fake: FakeCluster):
    fake.application(("FINISHED", "FAILED"))
    fake.ended("FAILED", {}, "Task failed task_1")
    done = cli_here("job", "status", JOB, "--json", status=1)
    assert json.loads(done.out)["state"] == "FAILED" and json.loads(done.out)["diagnostics"] == "Task failed task_1"


def test_a_job_that_nobody_knows(fake: FakeCluster):
    for command in ("status", "kill", "logs", "counters"):
        assert "HD630" in cli_here("job", command, JOB, status=2).message
        assert "HD630" in cli_here("job", command, "job_x", status=2).message


def test_a_job_of_which_only_the_history_knows(fake: FakeCluster):
    fake.ended("SUCCEEDED", {"rows": {"comment": 5}})
    assert "SUCCEEDED: map 3/3" in cli_here("job", "status", JOB).out.decode()
    assert "comment" in cli_here("job", "counters", JOB).out.decode()
    assert json.loads(cli_here("job", "counters", JOB, "--json").out) == {"rows": {"comment": 5}}


STAGING = f"/tmp/hadoop-yarn/staging/ann/.staging/{JOB}"


def begun(fake: FakeCluster) -> None:
    """A running job that has written something, and a file of another in the same output."""
    fake.application(*[("RUNNING", "UNDEFINED")] * 3, ("FINISHED", "KILLED"))
    fake.folders.update({"/out", "/out/_temporary", STAGING})
    fake.files.update({f"{STAGING}/job.xml": b"x", "/out/_temporary/1/x": b"y", "/out/kept": b"z"})
    conf = [{"name": "mapreduce.output.fileoutputformat.outputdir", "value": "hdfs://namenode:8020/out"}]
    fake.answers[f"{LIVE}/conf"] = {"conf": {"property": conf}}


def test_a_job_is_killed_as_hadoops_client_does_it(fake: FakeCluster):
    begun(fake)
    fake.client(f"Killed job {JOB}", name="mapred")
    assert cli_here("job", "kill", JOB).out.decode() == f"{JOB} is killed\n"
    words = fake.arguments()
    assert words[0] == "job" and words[-2:] == ["-kill", JOB] and not [line for line in fake.asked if "/state" in line]
    fake.application(("FINISHED", "SUCCEEDED"))
    assert "is over already" in cli_here("job", "kill", JOB).out.decode()


@pytest.mark.parametrize("mapred", ["none", "fails", "hangs"])
def test_what_yarns_own_kill_leaves_is_put_away(fake: FakeCluster, mapred: str, monkeypatch: pytest.MonkeyPatch):
    begun(fake)
    fake.application(("RUNNING", "UNDEFINED"))
    fake.answers[f"{APPS}/{APP}/state"] = {"state": "KILLED"}
    if mapred != "none":
        fake.client("Could not connect", 255, name="mapred")
    if mapred == "hangs":
        (fake.folder / "bin" / "mapred").write_text("#!/bin/sh\nexec sleep 60\n")
        monkeypatch.setattr(client, "_KILL_MS", -29_800)
    assert "is killed" in cli_here("job", "kill", JOB).out.decode()
    assert f"PUT {APPS}/{APP}/state?user.name=ann" in fake.asked
    assert fake.files == {"/out/kept": b"z"} and "/out" in fake.folders and STAGING not in fake.folders


def test_an_output_with_nothing_in_it_goes_with_the_killed_job(fake: FakeCluster):
    begun(fake)
    del fake.files["/out/kept"]
    fake.client(f"Killed job {JOB}", name="mapred")
    assert "is killed" in cli_here("job", "kill", JOB).out.decode()
    assert "/out" not in fake.folders and not fake.files


def test_a_kill_that_takes_long_is_not_waited_for(fake: FakeCluster, monkeypatch: pytest.MonkeyPatch):
    begun(fake)
    monkeypatch.setattr(killing, "OVER_SECONDS", 0.0)
    fake.application(("RUNNING", "UNDEFINED"))
    fake.client(f"Killed job {JOB}", name="mapred")
    assert "is being killed" in cli_here("job", "kill", JOB).out.decode() and f"{STAGING}/job.xml" in fake.files


def test_logs_of_failed_attempts_come_whole(fake: FakeCluster):
    failing(fake, PIPE.format(3), "one\ntwo\nthree")
    text = cli_here("job", "logs", JOB).out.decode()
    assert f"==> {ATTEMPT} FAILED on {fake.address}: stderr <==\none\ntwo\nthree\n" in text and "Processing split" in text
    assert "one" not in cli_here("job", "logs", JOB, "-n", "1", "--attempt", TASK).out.decode()
    assert "HD630" in cli_here("job", "logs", JOB, "--attempt", "attempt_x", status=2).message
    for name in ("stderr", "syslog"):
        fake.answers[f"/ws/v1/node/containers/{CONTAINER}/logs/{name}"] = 404
    assert "no server has logs" in cli_here("job", "logs", JOB).message


def test_a_resource_manager_that_is_gone(fake: FakeCluster):
    fake.answers[APPS] = fake.answers[f"{APPS}/{APP}"] = 500
    for arguments in (("list",), ("status", JOB), ("kill", JOB)):
        assert "HD622" in cli_here("job", *arguments, status=5).message
    fake.answers[f"{HISTORY}/tasks"] = 500
