"""`heterodoop submit` against a played cluster: what is looked at first, what is shown, how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from heterodoop.cli.submit import _ELSEWHERE, _ELSEWHERE_FLAGS
from heterodoop.hadoop.job import follow
from heterodoop.hadoop.job.plugin_counters import GROUP as PLUGIN_GROUP

from ..support import COMMAND, Bundles, Done, cli_here, environment
from .fake_cluster import APP, CONTAINER, HISTORY, JOB, LIVE, FakeCluster
from .test_job_options import MAP, PLAIN

FILE_SYSTEMS = "org.apache.hadoop.mapreduce.FileSystemCounter"
TASK = "task_1700000000000_0001_m_000002"
ATTEMPT = "attempt_1700000000000_0001_m_000002_3"


@pytest.fixture
def bundle(fake: FakeCluster, bundles: Bundles, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A bundle, and a cluster that has its input and runs it well."""
    monkeypatch.setattr(follow, "PERIOD", 0.01)
    monkeypatch.setattr(follow, "HISTORY_SECONDS", 0.5)
    fake.files["/in"] = b"x\n"
    fake.application(("ACCEPTED", "UNDEFINED"), ("RUNNING", "UNDEFINED"), ("FINISHED", "SUCCEEDED"))
    counters = {
        FILE_SYSTEMS: {"HETERODOOP-GPU_READ_OPS": 2, "HETERODOOP-CPU_READ_OPS": 1, "HDFS_BYTES_READ": 7},
        "org.apache.hadoop.mapreduce.TaskCounter": {"MAP_INPUT_RECORDS": 1234}, "rows": {"comment": 5},
    }
    fake.ended("SUCCEEDED", counters)
    return bundles.get(MAP, reduce=PLAIN)


def submit(bundle: Path, *more: object, status: int = 0) -> Done:
    return cli_here("submit", bundle, "-i", "/in", "-o", "/out", *more, status=status)


def test_a_job_is_submitted_and_followed_to_its_end(bundle: Path, fake: FakeCluster):
    done = submit(bundle)
    assert fake.arguments()[:1] == ["jar"] and fake.arguments()[-3:] == ["-output", "/out", "-background"]
    assert f"{JOB} succeeded in 4 s: 3 maps (2 GPU, 1 CPU), 1 reduces" in done.message
    assert "MAP_INPUT_RECORDS" in done.message and "1,234" in done.message and "rows: comment" in done.message
    assert f"heterodoop job kill {JOB}" in done.message and not done.out


def test_a_job_in_its_application_master_is_told(bundle: Path, fake: FakeCluster):
    assert ", in its application master" not in submit(bundle).message
    fake.ended("SUCCEEDED", {}, uberized=True)
    assert f"{JOB} succeeded in 4 s, in its application master: 3 maps, 1 reduces" in submit(bundle).message
    fake.application(("FINISHED", "FAILED"))
    fake.ended("FAILED", {}, "odd", uberized=True)
    done = submit(bundle, "--json", status=1)
    assert json.loads(done.out)["uber"] is True and "ubertask.enable=false: tasks in containers" in done.message


def test_json_has_the_counters(bundle: Path):
    found = json.loads(submit(bundle, "--json", "--quiet").out)
    assert (found["state"], found["gpu_maps"], found["cpu_maps"], found["output"]) == ("SUCCEEDED", 2, 1, "/out")
    assert found["counters"]["rows"] == {"comment": 5} and found["job"] == JOB
    assert found["counters"][PLUGIN_GROUP] == {"GPU_MAPS": 2, "CPU_MAPS": 1}
    assert found["counters"][FILE_SYSTEMS] == {"HDFS_BYTES_READ": 7} and found["reasons"] == {}


def test_splits_that_maps_did_together_are_told(bundle: Path, fake: FakeCluster):
    own = {"HETERODOOP-CPU_READ_OPS": 3, "HETERODOOP-HOST_READ_OPS": 2, "HETERODOOP-GROUPED_READ_OPS": 200}
    fake.ended("SUCCEEDED", {FILE_SYSTEMS: own})
    done = submit(bundle, "--json")
    assert "3 maps (0 GPU, 3 CPU, 2 of them as host kernels), 200 splits in maps of several, 1 reduces" in done.message
    found = json.loads(done.out)
    assert (found["grouped_splits"], found["cpu_maps"], found["host_kernel_maps"]) == (200, 3, 2)


def test_every_reason_against_a_gpu_has_a_line(bundle: Path, fake: FakeCluster):
    own = {"HETERODOOP-GPU_READ_OPS": 2, "HETERODOOP-EMULATED_READ_OPS": 2, "HETERODOOP-CPU_READ_OPS": 9,
           "HETERODOOP-FALLBACK_READ_OPS": 4, "HETERODOOP-DECLINED_READ_OPS": 5}
    details = {"FALLBACK_HD619": 3, "FALLBACK_NODE_DISK": 1, "DECLINED_NO_DRIVER": 2, "GPU_READ_MS": 7}
    fake.ended("SUCCEEDED", {FILE_SYSTEMS: own, PLUGIN_GROUP: details})
    done = submit(bundle, "--json")
    for line in ("3 maps (2 emulated, 9 CPU)", "3 maps fell back to the CPU: ", "[HD619]", "of the task's node is full",
                 "2 maps ran on the CPU: no driver listens", "3 maps ran on the CPU: the logs of their attempts say why"):
        assert line in done.message
    assert "GPU_READ_MS" not in done.message and " GPU" not in done.message.split("emulated")[0]
    left_gpu(fake, "goes on on the CPU: the driver gives it back: its store is gone [FALLBACK_HD619]")
    assert "3 maps fell back to the CPU: the driver gives it back: its store is gone [HD619]" in submit(bundle).message
    left_gpu(fake, "runs on the CPU: no driver listens in [/run/x] [DECLINED_NO_DRIVER]")
    assert "2 maps ran on the CPU: no driver listens in [/run/x]\n" in submit(bundle).message
    found = json.loads(done.out)
    assert found["reasons"] == {key: value for key, value in details.items() if key != "GPU_READ_MS"}
    assert (found["gpu_maps"], found["emulated_maps"], found["cpu_maps"]) == (2, 2, 9)


def left_gpu(fake: FakeCluster, says: str) -> None:
    """What the log of one of the job's map attempts says."""
    attempt = {"id": ATTEMPT, "state": "SUCCEEDED", "nodeHttpAddress": fake.address, "assignedContainerId": CONTAINER}
    fake.answers[f"{HISTORY}/tasks"] = {"tasks": {"task": {"id": TASK, "state": "SUCCEEDED"}}}
    fake.answers[f"{HISTORY}/tasks/{TASK}/attempts"] = {"taskAttempts": {"taskAttempt": attempt}}
    fake.answers[f"/ws/v1/node/containers/{CONTAINER}/logs/stderr"] = f"log4j:WARN x\nheterodoop: {ATTEMPT} {says}\nmore\n"


def test_reasons_that_had_no_room_are_those_of_the_logs(bundle: Path, fake: FakeCluster):
    fake.ended("SUCCEEDED", {FILE_SYSTEMS: {"HETERODOOP-CPU_READ_OPS": 9, "HETERODOOP-DECLINED_READ_OPS": 9}})
    left_gpu(fake, "runs on the CPU: no driver listens in [/run/x] [DECLINED_NO_DRIVER]")
    assert "9 maps ran on the CPU: no driver listens in [/run/x]\n" in submit(bundle).message


def test_lost_counters_are_told_and_are_no_zeros(bundle: Path, fake: FakeCluster):
    fake.answers[f"{HISTORY}/counters"] = 500
    done = submit(bundle, "--json", "--quiet")
    found = json.loads(done.out)
    assert "HD657" in done.message and "mapreduce.job.counters.max" in done.message
    assert (found["maps"], found["gpu_maps"], found["cpu_maps"], found["counters"]) == (3, None, None, None)
    del fake.answers[HISTORY]
    found = json.loads(submit(bundle, "--json", "--quiet").out)
    assert (found["maps"], found["failed_attempts"], found["state"]) == (None, None, "SUCCEEDED")


@pytest.mark.parametrize("option", [*_ELSEWHERE, *_ELSEWHERE_FLAGS])
def test_streamings_other_options_are_named(option: str):
    words = [f"-{option}", *(["x"] if option in _ELSEWHERE else [])]
    done = cli_here("submit", "x.hdp", "-i", "/in", "-o", "/out", *words, status=2)
    assert "HD659" in done.message and f"-{option} is an option of Hadoop Streaming: " in done.message


def test_detached_only_the_id_is_printed(bundle: Path, fake: FakeCluster):
    assert submit(bundle, "--detach").out == f"{JOB}\n".encode()
    assert not [line for line in fake.asked if APP in line]


def test_a_dry_run_asks_no_server_about_the_job_and_runs_nothing(bundle: Path, fake: FakeCluster):
    done = submit(bundle, "--dry-run", "-D", "a=$(touch PWNED)", "-numReduceTasks", "7", "-cmdenv", "X=1")
    text = done.out.decode()
    assert text.endswith("-output /out\n") and "-D 'a=$(touch PWNED)'" in text and "-cmdenv X=1" in text
    assert "mapreduce.job.reduces=7" in text and not (fake.folder / "argv").exists()
    (archive,) = (word for word in text.replace("'", " ").split() if ".tgz#" in word)
    assert Path(archive.partition("#")[0]).is_file()


def test_an_output_that_exists_is_refused_before_anything_is_done(bundle: Path, fake: FakeCluster):
    fake.folders.add("/out")
    assert "HD020" in submit(bundle, status=2).message
    assert not (fake.folder / "argv").exists() and "/out" in fake.folders


def test_a_missing_input_is_refused(bundle: Path, fake: FakeCluster):
    fake.files.clear()
    assert "HD010" in submit(bundle, status=2).message and not (fake.folder / "argv").exists()


@pytest.mark.parametrize(("said", "code", "status"), [
    ("FileAlreadyExistsException: Output directory hdfs://n/out already exists", "HD020", 2),
    ("InvalidInputException: Input Pattern hdfs://n/x* matches 0 files", "HD012", 2),
    ("InvalidInputException: Input path does not exist: hdfs://n/in", "HD010", 2),
    ("YarnException: Failed to submit application_1 to YARN : Application rejected: to unknown queue: fast", "HD623", 2),
    ("-inputformat : class not found : NoFormat", "HD623", 2),
    ("ERROR streaming.StreamJob: Error Launching job : Cannot create directory /x. Name node is in safe mode.", "HD658", 5),
    ("File /x could only be written to 0 of the 1 minReplication nodes. There are 0 datanode(s) running", "HD661", 5),
    ("The DiskSpace quota of /user/ann is exceeded: quota = 1000 B = 1000 B but diskspace consumed = 64 MB", "HD661", 5),
    ("java.net.ConnectException: Call From a/1 to namenode:8020 failed on connection exception", "HD622", 5),
    ("Exception in thread \"main\" java.lang.NoClassDefFoundError: x/Y", "HD625", 1),
])
def test_what_hadoops_client_says_is_explained(bundle: Path, fake: FakeCluster, said: str, code: str, status: int):
    fake.client(said, 1)
    assert f"[{code}]" in submit(bundle, status=status).message


def test_what_kept_streaming_from_launching_a_job_is_the_message(bundle: Path, fake: FakeCluster):
    fake.client("ERROR x.StreamJob: Error Launching job : Permission denied: user=ann\n\tat a.B.c(B.java:1)\nFailed!", 5)
    message = submit(bundle, status=1).message
    assert "did not take the job: Permission denied: user=ann" in message and "a.B.c" not in message and "Failed!" in message


def test_a_client_that_names_no_job_is_an_error(bundle: Path, fake: FakeCluster):
    fake.client("all is well")
    assert "HD625" in submit(bundle, status=1).message


def test_a_command_that_no_system_takes(bundle: Path, fake: FakeCluster):
    assert "HD624" in submit(bundle, "-D", "a=" + "x" * 200_000, status=4).message
    (fake.folder / "bin" / "hadoop").write_text("#!/none/sh\n")
    assert "HD620" in submit(bundle, status=5).message


def test_a_cluster_that_does_not_answer(bundle: Path, fake: FakeCluster):
    fake.answers["/ws/v1/cluster/info"] = 500
    assert "HD622" in submit(bundle, status=5).message
    fake.answers["/ws/v1/cluster/info"] = 401
    assert "HD635" in submit(bundle, status=4).message and not (fake.folder / "argv").exists()


def failing(fake: FakeCluster, diagnostics: str, stderr: str) -> None:
    fake.application(("FINISHED", "FAILED"))
    fake.ended("FAILED", {}, "Task failed", failedMapAttempts=4)
    fake.answers[f"{HISTORY}/tasks"] = {"tasks": {"task": [{"id": "task_1700000000000_0001_m_000000", "state": "SUCCEEDED"},
                                                          {"id": TASK, "state": "FAILED"}]}}
    attempt = {"id": ATTEMPT, "state": "FAILED", "nodeHttpAddress": fake.address, "assignedContainerId": CONTAINER,
               "diagnostics": diagnostics, "finishTime": 9}
    fake.answers[f"{HISTORY}/tasks/{TASK}/attempts"] = {"taskAttempts": {"taskAttempt": attempt}}
    conf = [{"name": "stream.map.streamprocessor", "value": "wc.hdp%2Fbin%2Fmap"}, {"name": "a", "value": "b"}]
    fake.answers[f"{HISTORY}/conf"] = {"conf": {"property": conf}}
    logs = f"/ws/v1/node/containers/{CONTAINER}/logs"
    fake.answers[f"{logs}/stderr"] = f"LogType:stderr\nLogContents:\n{stderr}\nEnd of LogType:stderr.\n*****\n"
    fake.answers[f"{logs}/syslog"] = (
        "LogContents:\n2026 INFO [main] mapred.MapTask: Processing split: hdfs://n:1/in/f x:4+44\nEnd of LogType:syslog.\n"
    )


PIPE = "Error: java.lang.RuntimeException: PipeMapRed.waitOutputThreads(): subprocess failed with code {}\n\tat x.Y"


def test_a_failed_job_names_attempt_node_split_command_and_stderr(bundle: Path, fake: FakeCluster):
    failing(fake, PIPE.format(3), "log4j:WARN no appenders\nbad record")
    done = submit(bundle, "--json", status=1)
    for text in (ATTEMPT, fake.address, "hdfs://n:1/in/f x:4+44", "wc.hdp/bin/map", "exit status 3", "bad record", "HD628"):
        assert text in done.message
    assert "log4j" not in done.message and f"heterodoop job logs {JOB}" in done.message
    cause = json.loads(done.out)["cause"]
    assert (cause["attempt"], cause["stderr"], cause["command"]) == (ATTEMPT, "bad record", "wc.hdp/bin/map")


def test_of_an_attempt_of_several_splits_the_one_is_named_that_failed(bundle: Path, fake: FakeCluster):
    failing(fake, PIPE.format(3), f"bad record\nheterodoop: {ATTEMPT} failed in the split hdfs://n:1/in/g:7+9")
    cause = json.loads(submit(bundle, "--json", status=1).out)["cause"]
    assert (cause["split"], cause["stderr"]) == ("hdfs://n:1/in/g:7+9", "bad record")


@pytest.mark.parametrize(("diagnostics", "stderr", "code", "help"), [
    (PIPE.format(1), "wc.hdp/bin/map: /lib/libc.so.6: version `GLIBC_2.38' not found (required by map)", "HD631", "compile"),
    (PIPE.format(127), "map: error while loading shared libraries: libfoo.so.1: cannot open", "HD631", "link it"),
    ("Error: Cannot run program: error=7, Argument list too long", "", "HD638", "truncate.limit"),
    ("Container [x] is running 1B beyond the 'PHYSICAL' memory limit. Killed", "", "HD639", "mapreduce.map.memory.mb"),
    ("Error: SafeModeException: Cannot create file /out/x. Name node is in safe mode.", "", "HD658", "dfsadmin -safemode"),
    ("Error: File /o could only be written to 0 of the 1 minReplication nodes.", "", "HD661", "dfsadmin -report"),
    ("AttemptID:x Timed out after 600 secs", "", "HD628", "mapreduce.task.timeout"),
    (PIPE.format(139), "", "HD628", "signal SIGSEGV"),
])
def test_known_causes_come_with_advice(bundle: Path, fake: FakeCluster, diagnostics: str, stderr: str, code: str, help: str):
    failing(fake, diagnostics, stderr)
    done = submit(bundle, status=1)
    assert f"[{code}]" in done.message and help in done.message
    assert not stderr or stderr in done.message


def test_a_log_that_only_this_machine_has(bundle: Path, fake: FakeCluster, tmp_path: Path):
    failing(fake, PIPE.format(3), "")
    for name in ("stderr", "syslog"):
        del fake.answers[f"/ws/v1/node/containers/{CONTAINER}/logs/{name}"]
    folder = tmp_path / "nm" / APP / CONTAINER
    folder.mkdir(parents=True)
    (folder / "stderr").write_text("bad here\n")
    site = fake.folder / "conf" / "yarn-site.xml"
    row = f"<property><name>yarn.nodemanager.log-dirs</name><value>{tmp_path}/none,{tmp_path}/nm</value></property>"
    site.write_text(site.read_text().replace("<configuration>", f"<configuration>{row}"))
    assert "bad here" in submit(bundle, status=1).message


def test_an_application_that_failed_before_its_tasks(bundle: Path, fake: FakeCluster):
    why = "Application failed 2 times due to AM Container exited with exitCode: 1"
    fake.application(("FAILED", "FAILED"), diagnostics=why)
    del fake.answers[HISTORY]
    assert why in submit(bundle, status=1).message


def test_a_killed_job(bundle: Path, fake: FakeCluster):
    fake.application(("KILLED", "KILLED"))
    fake.ended("KILLED", {}, "Kill job received from ann")
    assert "HD629" in submit(bundle, status=1).message


def test_what_is_shown_meanwhile(bundle: Path, fake: FakeCluster, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("heterodoop.engine.terminal.progress.LINE_SECONDS", 0.0)
    fake.application(*[("RUNNING", "UNDEFINED")] * 4, ("FINISHED", "SUCCEEDED"))
    job = {"id": JOB, "state": "RUNNING", "mapsTotal": 9, "mapsCompleted": 4, "reducesTotal": 2, "reducesCompleted": 0}
    fake.answers[LIVE] = [302, {"jobs": {}}, {"job": job}]
    group = {"counterGroupName": PLUGIN_GROUP, "counter": [{"name": "GPU_MAPS", "totalCounterValue": 3}]}
    fake.answers[f"{LIVE}/counters"] = {"jobCounters": {"counterGroup": [group]}}
    assert "map 4/9 (3 GPU, 1 CPU), reduce 0/2" in submit(bundle).message


@pytest.mark.parametrize(("emulated", "shown"), [(0, "4 GPU, 0 CPU"), (5, "4 emulated, 0 CPU")])
def test_attempts_that_count_before_they_are_done(bundle: Path, fake: FakeCluster, monkeypatch: pytest.MonkeyPatch,
                                                  emulated: int, shown: str):
    monkeypatch.setattr("heterodoop.engine.terminal.progress.LINE_SECONDS", 0.0)
    fake.application(*[("RUNNING", "UNDEFINED")] * 4, ("FINISHED", "SUCCEEDED"))
    fake.answers[LIVE] = {"job": {"id": JOB, "state": "RUNNING", "mapsTotal": 9, "mapsCompleted": 4}}
    counted = {"HETERODOOP-GPU_READ_OPS": 5, "HETERODOOP-EMULATED_READ_OPS": emulated}
    counter = [{"name": name, "totalCounterValue": value} for name, value in counted.items()]
    group = {"counterGroupName": FILE_SYSTEMS, "counter": counter}
    fake.answers[f"{LIVE}/counters"] = {"jobCounters": {"counterGroup": group}}
    assert f"map 4/9 ({shown})" in submit(bundle).message


def test_a_job_that_waits_for_long_says_why(bundle: Path, fake: FakeCluster, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(follow, "QUEUE_HINT", -1.0)
    fake.application(*[("ACCEPTED", "UNDEFINED")] * 3, ("FINISHED", "SUCCEEDED"), diagnostics="queue's limit exceeded")
    report = "1/1 local-dirs usable space is below configured utilization percentage"
    nodes = {"nodes": {"node": [{"id": "n1:8041", "healthReport": report}]}}
    fake.answers["/ws/v1/cluster/nodes?states=UNHEALTHY"] = nodes
    message = submit(bundle).message
    assert message.count("queue's limit exceeded") == 1 and f"node n1:8041 takes no tasks: {report}" in message


def test_a_silent_cluster_is_given_up_and_the_job_is_not(bundle: Path, fake: FakeCluster, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(follow, "GIVE_UP", 0.05)
    fake.answers[f"/ws/v1/cluster/apps/{APP}"] = 503
    del fake.answers[HISTORY]
    message = submit(bundle, status=5).message
    assert "HD622" in message and f"heterodoop job status {JOB}" in message


def test_a_resource_manager_that_forgot_the_job(bundle: Path, fake: FakeCluster, monkeypatch: pytest.MonkeyPatch):
    fake.answers[f"/ws/v1/cluster/apps/{APP}"] = 404
    assert "succeeded" in submit(bundle).message
    monkeypatch.setattr(follow, "GIVE_UP", 0.05)
    del fake.answers[HISTORY]
    assert "does not know it" in submit(bundle, status=5).message


@pytest.mark.parametrize("kill", [False, True])
def test_an_interrupt_leaves_the_job_running_or_kills_it(bundle: Path, fake: FakeCluster, kill: bool):
    fake.application(("RUNNING", "UNDEFINED"))
    fake.answers[f"/ws/v1/cluster/apps/{APP}/state?user.name=ann"] = {"state": "KILLED"}
    argv = [*COMMAND, "submit", str(bundle), "-i", "/in", "-o", "/out", *(["--kill-on-exit"] if kill else [])]
    process = subprocess.Popen(argv, stderr=subprocess.PIPE, env=environment(), text=True)
    assert process.stderr
    first = process.stderr.readline()
    process.send_signal(signal.SIGINT)
    rest = process.communicate()[1]
    assert process.returncode == 130 and JOB in first
    killed = [line for line in fake.asked if line.startswith("PUT /ws/v1/cluster/apps")]
    assert bool(killed) == kill
    assert "interrupted" in rest
    assert "is killed" in rest if kill else f"heterodoop job kill {JOB}" in rest


def test_an_interrupt_while_the_client_runs_ends_it(bundle: Path, fake: FakeCluster, tmp_path: Path):
    """And takes what it has unpacked along."""
    pid = fake.folder / "pid"
    unpack = "mkdir ${HADOOP_CLIENT_OPTS##*=}/hadoop-unjar1"
    (fake.folder / "bin" / "hadoop").write_text(
        f"#!/bin/sh\n{unpack} && echo $$ > {pid}.new; mv {pid}.new {pid}; exec sleep 60\n")
    process = subprocess.Popen([*COMMAND, "submit", str(bundle), "-i", "/in", "-o", "/out"], stderr=subprocess.PIPE,
                               env=environment({"TMPDIR": str(tmp_path)}), text=True)
    while not pid.exists():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    assert "heterodoop job list" in process.communicate()[1] and process.returncode == 130
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)
    assert not list(tmp_path.glob("heterodoop-client-*"))


@pytest.mark.parametrize("taken", [False, True])
def test_of_a_job_that_was_not_submitted_yet_nothing_stays(bundle: Path, fake: FakeCluster, taken: bool):
    """The client names the job when it begins to copy its files."""
    staging = f"/tmp/hadoop-yarn/staging/ann/.staging/{JOB}"
    fake.folders |= {staging}
    fake.files[f"{staging}/job.xml"] = b"x"
    if taken:
        fake.application(("ACCEPTED", "UNDEFINED"))
    else:
        fake.answers[f"/ws/v1/cluster/apps/{APP}"] = 404
    named = fake.folder / "named"
    (fake.folder / "bin" / "hadoop").write_text(
        f"#!/bin/sh\necho INFO: Disabling Erasure Coding for path: {staging}; touch {named}; exec sleep 60\n")
    process = subprocess.Popen([*COMMAND, "submit", str(bundle), "-i", "/in", "-o", "/out"], stderr=subprocess.PIPE,
                               env=environment(), text=True)
    while not named.exists():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    said = process.communicate()[1]
    assert process.returncode == 130 and (staging in fake.folders) == taken
    assert (f"{JOB} goes on" if taken else "while the job was being submitted") in said


def test_without_hadoop_the_message_says_how_to_get_one(bundle: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.delenv("HETERODOOP_STREAMING_JAR")
    assert "HD620" in submit(bundle, status=5).message
    monkeypatch.setenv("HETERODOOP_STREAMING_JAR", "/none.jar")
    assert "/none.jar" in submit(bundle, status=5).message
    monkeypatch.delenv("HADOOP_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "no `hadoop` in PATH" in submit(bundle, status=5).message
    monkeypatch.delenv("HADOOP_CONF_DIR")
    message = submit(bundle, status=5).message
    assert "HADOOP_CONF_DIR" in message and "heterodoop cluster up" in message


def test_a_release_has_its_streaming_jar_in_its_own_place(bundle: Path, fake: FakeCluster, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("HETERODOOP_STREAMING_JAR")
    folder = fake.folder / "share" / "hadoop" / "tools" / "lib"
    folder.mkdir(parents=True)
    for name in ("hadoop-streaming-3.4.2.jar", "hadoop-streaming-3.4.2-sources.jar"):
        (folder / name).touch()
    submit(bundle)
    assert fake.arguments()[1] == str(folder / "hadoop-streaming-3.4.2.jar")


def test_a_configuration_without_yarn_is_no_cluster(bundle: Path, fake: FakeCluster):
    (fake.folder / "conf" / "mapred-site.xml").unlink()
    assert "HD621" in submit(bundle, status=5).message
