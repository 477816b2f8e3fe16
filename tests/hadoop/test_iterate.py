"""`heterodoop submit --iterate` against played jobs: when rounds end, what HDFS holds meanwhile, going on after anything."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from heterodoop.daemon import processes
from heterodoop.hadoop.job import follow
from heterodoop.job.rounds import Rounds

from ..support import COMMAND, Bundles, Done, cli_here, environment
from .fake_cluster import FakeCluster
from .fake_rounds import Counting, Job, visible
from .test_job_options import MAP, PLAIN


@pytest.fixture
def played(fake: FakeCluster, monkeypatch: pytest.MonkeyPatch) -> Counting:
    monkeypatch.setattr(follow, "PERIOD", 0.01)
    monkeypatch.setattr(follow, "HISTORY_SECONDS", 0.1)
    fake.files["/in"] = b"x\n"
    return Counting(fake)


@pytest.fixture
def argv(bundles: Bundles, tmp_path: Path) -> list[object]:
    (tmp_path / "zero").write_text("0\n")
    bundle = bundles.get(MAP, reduce=PLAIN)
    return ["submit", bundle, "-i", "/in", "-o", "/out", "--file", f"{tmp_path / 'zero'}#n.txt", "--iterate", "n.txt"]


def go(argv: list[object], *more: object, status: int = 0) -> Done:
    return cli_here(*argv, *more, status=status)


def sides(jobs: list[Job]) -> list[str]:
    return [job.side for job in jobs]


def test_until_a_counter_says_so(played: Counting, argv: list[object], fake: FakeCluster):
    done = go(argv, "--until", "test:left<=1")
    assert fake.files["/out/part-00000"] == b"4\t\n" and visible(fake, "/out.rounds") == []
    assert visible(fake, "/out") == ["/out", "/out/_SUCCESS", "/out/part-00000"]
    assert sides(played.jobs) == ["0\n", "1\t\n", "2\t\n", "3\t\n"]
    assert [job.output for job in played.jobs] == [f"/out.rounds/000{n}" for n in (1, 2, 3, 4)]
    assert [job.setting("heterodoop.iterate.round") for job in played.jobs] == ["1", "2", "3", "4"]
    lines = done.message.splitlines()
    assert "round 1: 3.0 s, test:left = 4" in lines and "4 rounds: the criterion is met" in lines
    assert lines[-1] == "result in /out" and not done.out


def test_until_nothing_changes(played: Counting, argv: list[object], fake: FakeCluster):
    assert "6 rounds: the output is the side file that it was made with" in go(argv).message
    assert fake.files["/out/part-00000"] == b"5\t\n"


def test_a_side_file_that_comes_back_at_once(played: Counting, argv: list[object], tmp_path: Path):
    (tmp_path / "zero").write_text("5\t\n")
    assert "1 rounds: the output is the side file" in go(argv).message


@pytest.mark.parametrize("how", [["--rounds", "2"], ["-D", "heterodoop.iterate.rounds=2"]])
def test_so_many_rounds(played: Counting, argv: list[object], how: list[str], fake: FakeCluster):
    done = go(argv, *how, "--until", "test:left==0")
    assert fake.files["/out/part-00000"] == b"2\t\n" and "2 rounds: so many were asked for" in done.message
    assert "[HD045]" in done.message and "not met after 2 rounds: test:left is 3" in done.message


def test_json_has_the_rounds(played: Counting, argv: list[object]):
    done = go(argv, "--until", "test:left<4", "--json", "--quiet")
    found = json.loads(done.out)
    assert (found["state"], found["job"], found["output"]) == ("SUCCEEDED", played.jobs[1].id, "/out") and done.message == ""
    iterate = found["iterate"]
    assert (iterate["side_file"], iterate["until"], iterate["stopped"]) == ("n.txt", "test:left<4", "until")
    assert [(one["round"], one["value"], one["job"]) for one in iterate["rounds"]] == [
        (1, 4, played.jobs[0].id), (2, 3, played.jobs[1].id)]
    assert iterate["rounds"][0]["counters"]["MAP_OUTPUT_RECORDS"] == 1


def test_a_counter_of_hadoop_can_be_the_criterion(played: Counting, argv: list[object]):
    assert "1 rounds: the criterion is met" in go(argv, "--until", "MAP_OUTPUT_RECORDS==1").message


def test_a_counter_that_nobody_has(played: Counting, argv: list[object]):
    message = go(argv, "--until", "test:lefd==0", status=1).message
    assert "[HD044]" in message and "test:left" in message
    assert "5 rounds" in go(argv, "--until", "test:left==0").message and len(played.jobs) == 5


def test_the_parts_of_several_reducers_are_one_side_file(played: Counting, argv: list[object], fake: FakeCluster):
    played.parts = 3
    go(argv, "-r", 3, "--rounds", 2)
    assert sides(played.jobs) == ["0\n", "1\t\n"]
    assert [fake.files[f"/out/part-0000{n}"] for n in range(3)] == [b"2", b"\t", b"\n"]


def test_other_files_and_tags_stay(played: Counting, argv: list[object], tmp_path: Path):
    (tmp_path / "other").write_text("o")
    go(argv, "--rounds", 2, "--file", tmp_path / "other", "-D", "mapreduce.job.tags=mine")
    for job in played.jobs:
        files = job.argv[job.argv.index("-files") + 1].split(",")
        assert [name.replace("#", "/").rpartition("/")[2] for name in files] == ["n.txt", "other"]
        assert job.setting("mapreduce.job.tags").startswith("mine,heterodoop-")
        assert job.setting("heterodoop.files.sha256").count("n.txt=") == 1
    hashes = {job.setting("heterodoop.files.sha256") for job in played.jobs}
    assert len(hashes) == 2


def test_of_many_rounds_the_last_two_outputs_stay(played: Counting, argv: list[object], fake: FakeCluster):
    played.states[5] = "FAILED"
    go(argv, status=1)
    folders = [name for name in visible(fake, "/out.rounds") if name in fake.folders]
    assert folders == ["/out.rounds", "/out.rounds/0003", "/out.rounds/0004"] and "/out.rounds/lock" not in fake.files


def test_a_failed_round_can_be_tried_again(played: Counting, argv: list[object], fake: FakeCluster):
    played.states[3] = "FAILED"
    done = go(argv, "--json", status=1)
    assert "round 3: job_1700000000000_0003 failed" in done.message and "[HD628]" in done.message
    assert "tries round 3 again" in done.message
    found = json.loads(done.out)
    assert found["state"] == "FAILED" and found["iterate"]["stopped"] == "failed" and len(found["iterate"]["rounds"]) == 2
    done = go(argv, "--json", "-D", "mapreduce.map.memory.mb=2048")
    assert "round 3 of an earlier command, ended FAILED: the round runs again" in done.message
    assert [one["earlier"] for one in json.loads(done.out)["iterate"]["rounds"]] == [True, True, False, False, False, False]
    assert fake.files["/out/part-00000"] == b"5\t\n" and played.jobs[3].side == "2\t\n"


def test_a_first_round_that_fails_leaves_nothing(played: Counting, argv: list[object], fake: FakeCluster):
    played.states[1] = "FAILED"
    assert "round 1: " in go(argv, status=1).message and visible(fake, "/out.rounds") == []
    fake.client("Application rejected: to unknown queue: fast", 1)
    assert "[HD623]" in go(argv, status=2).message and visible(fake, "/out.rounds") == []


@pytest.mark.parametrize("side", ["m.txt", "zero", ""])
def test_a_side_file_must_be_there_for_the_first_round(played: Counting, argv: list[object], side: str):
    assert "[HD040]" in go([*argv[:-1], side], status=2).message and not played.jobs


def test_a_folder_is_no_side_file(played: Counting, argv: list[object], tmp_path: Path):
    assert "[HD040]" in go([*argv[:-1], "d"], "--file", f"{tmp_path}#d", status=2).message


@pytest.mark.parametrize(("more", "code"), [
    (["--until", "test:left"], "HD041"), (["--rounds", "0"], "HD032"), (["--detach"], "HD032"),
    (["-D", "mapreduce.output.fileoutputformat.compress=true"], "HD031"),
])
def test_what_cannot_be_is_refused_before_anything_is_done(
    played: Counting, argv: list[object], more: list[str], code: str, fake: FakeCluster,
):
    assert f"[{code}]" in go(argv, *more, status=2).message
    assert not played.jobs and visible(fake, "/out.rounds") == []


def test_detached_nobody_would_start_the_next_round(played: Counting, argv: list[object]):
    assert "somebody must wait for a round to start the next" in go(argv, "--detach", status=2).message


@pytest.mark.parametrize("option", ["--rounds=2", "--until=a:b<1"])
def test_options_of_iterate_stand_with_it_only(played: Counting, argv: list[object], option: str):
    assert "[HD040]" in go(argv[:-2], option, status=2).message


def test_a_dry_run_prints_the_first_round(played: Counting, argv: list[object], fake: FakeCluster):
    done = go(argv, "--dry-run")
    assert done.out.decode().endswith("-output /out.rounds/0001\n") and "heterodoop.iterate.round=1" in done.out.decode()
    assert "the first round" in done.message and not played.jobs and visible(fake, "/out.rounds") == []


def test_an_output_that_exists_is_refused(played: Counting, argv: list[object], fake: FakeCluster):
    fake.folders.add("/out")
    assert "[HD020]" in go(argv, status=2).message and not played.jobs


def test_an_output_that_comes_up_meanwhile_is_not_replaced(played: Counting, argv: list[object], fake: FakeCluster):
    plain = fake.otherwise

    def answer(path: str) -> object:
        if len(played.jobs) == 2:
            fake.folders.add("/out")
        return plain(path)

    fake.otherwise = answer
    assert "[HD406]" in go(argv, "--rounds", 2, status=1).message
    assert visible(fake, "/out") == ["/out"] and "/out.rounds/0002/part-00000" in fake.files
    fake.folders.remove("/out")
    fake.otherwise = plain
    go(argv, "--rounds", 2)
    assert fake.files["/out/part-00000"] == b"2\t\n" and len(played.jobs) == 2


@pytest.mark.parametrize(("change", "what"), [
    (["-D", "a=b"], "settings"), (["-r", "2"], "settings"), (["-cmdenv", "A=b"], "settings"), (["-i", "/more"], "input"),
    (["--file", f"{__file__}#p"], "side files"),
])
def test_rounds_of_another_job_are_not_gone_on_with(
    played: Counting, argv: list[object], change: list[str], what: str, fake: FakeCluster,
):
    fake.files["/more"] = b"y\n"
    go(argv, "--until", "test:nobody==0", status=1)
    message = go(argv, *change, status=2).message
    assert "[HD042]" in message and f"of another job: {what}" in message
    assert "/out.rounds/0001/part-00000" in fake.files and "/out.rounds/lock" not in fake.files


@pytest.mark.parametrize("name", ["/in", "/i?", "/{in,of}", "hdfs:///in"])
def test_an_input_that_changed_makes_another_job(played: Counting, argv: list[object], fake: FakeCluster, name: str):
    argv[argv.index("/in")] = name
    go(argv, "--until", "test:nobody==0", status=1)
    fake.files["/in"] = b"longer\n"
    assert "of another job: input differ" in go(argv, status=2).message


def test_somebody_elses_folder_is_left_alone(played: Counting, argv: list[object], fake: FakeCluster):
    fake.folders.add("/out.rounds")
    fake.files["/out.rounds/thesis.tex"] = b"x"
    assert "[HD042]" in go(argv, status=2).message
    assert visible(fake, "/out.rounds") == ["/out.rounds", "/out.rounds/thesis.tex"]


def lock(pid: int, host: str = "", boot: str = "") -> bytes:
    process = processes.identify(pid) or (pid, 1)
    return json.dumps({"host": host or socket.gethostname(), "boot": boot or processes.boot(), "process": process}).encode()


def test_two_at_a_time_are_refused(played: Counting, argv: list[object], fake: FakeCluster):
    go(argv, "--until", "test:nobody==0", status=1)
    for held in (lock(os.getpid()), lock(2**22 + 1, host="elsewhere"), b""):
        fake.files["/out.rounds/lock"] = held
        message = go(argv, status=2).message
        assert "[HD043]" in message and "hadoop fs -rm /out.rounds/lock" in message
        assert fake.files["/out.rounds/lock"] == held
    for left in (lock(2**22 + 1), lock(os.getpid(), boot="an earlier one")):
        fake.files["/out.rounds/lock"] = left
        assert "[HD044]" in go(argv, "--until", "test:nobody==0", status=1).message


def test_the_job_of_a_command_that_ended_between_two_steps(played: Counting, argv: list[object], fake: FakeCluster):
    """Submitted and not noted: found by its tag. Done and not written down: found by its id."""
    go(argv, "--until", "test:nobody==0", status=1)
    for gone in ("0001.json", "0001.job"):
        fake.files.pop(f"/out.rounds/{gone}")
    done = go(argv, "--until", "test:nobody==0", status=1)
    assert f"round 1: {played.jobs[0].id}, which an earlier command submitted" in done.message and len(played.jobs) == 1
    fake.files["/out.rounds/0001.json"] = b'{"job": "job_17'
    go(argv, "--until", "test:nobody==0", status=1)
    assert len(played.jobs) == 1


def test_a_job_that_no_server_knows_any_more_runs_again(played: Counting, argv: list[object], fake: FakeCluster):
    go(argv, "--until", "test:nobody==0", status=1)
    fake.files.pop("/out.rounds/0001.json")
    fake.files["/out.rounds/0001/part-00000"] = b"half"
    played.forgotten.add(1)
    go(argv, "--rounds", 1)
    assert len(played.jobs) == 2 and fake.files["/out/part-00000"] == b"1\t\n"


@pytest.mark.parametrize("last", [2, 3])  # of three the first one's is not there any more
def test_an_output_that_was_taken_away_is_made_again(
    played: Counting, argv: list[object], fake: FakeCluster, last: int,
):
    played.states[last + 1] = "FAILED"
    go(argv, status=1)
    for name in visible(fake, f"/out.rounds/000{last}"):
        fake.files.pop(name, None)
        fake.folders.discard(name)
    go(argv, "--rounds", last)
    assert fake.files["/out/part-00000"] == f"{last}\t\n".encode() and len(played.jobs) == last + 2


def test_counters_that_nobody_knows_are_not_zero(played: Counting, argv: list[object], fake: FakeCluster):
    played.silent.add(2)
    message = go(argv, "--until", "test:left<1", status=5).message
    assert "[HD046]" in message and played.jobs[1].id in message
    played.silent.clear()
    go(argv, "--until", "test:left<1")
    assert len(played.jobs) == 5 and fake.files["/out/part-00000"] == b"5\t\n"


def interrupted(argv: list[object], after: str, *more: str) -> tuple[int, str]:
    """The command, struck when it has printed a line with this text; exit status and what it said afterwards."""
    process = started([*argv, *more])
    assert process.stderr
    while after not in process.stderr.readline():
        assert process.poll() is None
    return strike(process)


def started(argv: list[object]) -> subprocess.Popen[str]:
    told = environment({"PYTHONFAULTHANDLER": "1"})
    return subprocess.Popen([*COMMAND, *map(str, argv)], stderr=subprocess.PIPE, env=told, text=True)


def strike(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Interrupt a command; exit status and what it said afterwards. One that does not end has to say where it stands."""
    process.send_signal(signal.SIGINT)
    try:
        return process.wait(60), process.communicate()[1]
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGABRT)
        process.wait()
        assert process.stderr
        os.set_blocking(process.stderr.fileno(), False)  # a process that it started may still hold the other end
        pytest.fail(f"the interrupted command did not end:\n{process.stderr.read()}")


def test_after_an_interrupt_the_job_that_went_on_is_taken_up(played: Counting, argv: list[object], fake: FakeCluster):
    played.states[2] = "RUNNING"
    status, said = interrupted(argv, "0002 is submitted")
    assert status == 130 and "round 2: interrupted; job_1700000000000_0002 goes on" in said and "the same command" in said
    assert not played.killed() and "/out.rounds/lock" not in fake.files
    played.states[2] = "SUCCEEDED"
    done = go(argv)
    assert "round 1: 3.0 s, by an earlier run" in done.message
    assert sides(played.jobs) == ["0\n", *(f"{n}\t\n" for n in range(1, 6))] and fake.files["/out/part-00000"] == b"5\t\n"


def test_an_interrupt_of_the_first_round_keeps_it(played: Counting, argv: list[object], fake: FakeCluster):
    played.states[1] = "RUNNING"
    assert interrupted(argv, "is submitted")[0] == 130
    played.states[1] = "SUCCEEDED"
    go(argv, "--rounds", 1)
    assert len(played.jobs) == 1 and fake.files["/out/part-00000"] == b"1\t\n"


def test_an_interrupt_can_kill_the_rounds_job(played: Counting, argv: list[object], fake: FakeCluster):
    played.states[2] = "RUNNING"
    status, said = interrupted(argv, "0002 is submitted", "--kill-on-exit")
    assert status == 130 and "job_1700000000000_0002 is killed" in said and len(played.killed()) == 1
    done = go(argv)
    assert "ended KILLED: the round runs again" in done.message and len(played.jobs) == 7
    assert fake.files["/out/part-00000"] == b"5\t\n"


def test_an_interrupt_while_a_job_is_being_submitted(played: Counting, argv: list[object], fake: FakeCluster):
    """The client is killed when the job is submitted and nobody has been told its id: its tag finds it."""
    mark = fake.folder / "submitted"
    played.client(after=f"sys.stdout.flush(); pathlib.Path({str(mark)!r}).touch(); import time; time.sleep(60)")
    process = started(argv)
    while not mark.exists():
        assert process.poll() is None
    status, said = strike(process)
    assert status == 130 and "the cluster is asked whether it has the job" in said
    assert "heterodoop job kill job_1700000000000_0001" in said
    played.client()
    go(argv)
    assert len(played.jobs) == 6 and fake.files["/out/part-00000"] == b"5\t\n"


@pytest.mark.parametrize(("step", "said"), [
    ("fetch", "interrupted; the rounds are kept in /out.rounds"),
    ("_find_done", "interrupted\nhelp: the same command goes on"),
])
def test_an_interrupt_between_two_jobs(
    played: Counting, argv: list[object], fake: FakeCluster, monkeypatch: pytest.MonkeyPatch, step: str, said: str,
):
    def struck(*words: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Rounds, step, struck)
        assert said in go(argv, status=130).message and "/out.rounds/lock" not in fake.files
    go(argv)
    assert len(played.jobs) == 6 and fake.files["/out/part-00000"] == b"5\t\n"


def test_no_room_for_a_side_file(played: Counting, argv: list[object], monkeypatch: pytest.MonkeyPatch, fake: FakeCluster):
    def full(*words: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Rounds, "fetch", full)
    message = go(argv, status=2).message
    assert "[HD021]" in message and "No space left" in message and "/out.rounds/0001.json" in fake.files
