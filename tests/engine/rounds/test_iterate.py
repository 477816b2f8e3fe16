"""Jobs that run again and again: when they end, what is left of the rounds, going on after an interrupt or a failure."""

from __future__ import annotations

import fcntl
import hashlib
import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from heterodoop.engine.job.layout import Layout
from heterodoop.engine.rounds.folder import FolderStore
from heterodoop.engine.rounds.iterate import run_iterated
from heterodoop.engine.run.job_report import check_place
from heterodoop.engine.run.local import JobResult
from heterodoop.engine.run.plan import RunOptions
from heterodoop.errors import JobFailed, UsageError
from heterodoop.job import criterion
from heterodoop.job.rounds import Rounds
from heterodoop.job.spec import JobSpec
from heterodoop.job.stopping import IterateOptions, Round

from ..conftest import CAT, names
from ..dying import Killed, dying

# Counts from what n.txt says up to 5, one a round; `left` says how far it is. Fails while the file of -D gate exists.
COUNT = r"""
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void) {
  int n = 0; FILE *f = fopen("n.txt", "r"); char *gate = getenv("gate"), *show = getenv("show");
  while (getchar() != EOF) ;
  if (fscanf(f, "%d", &n) != 1) return 2;
  if (n == 2 && gate && access(gate, F_OK) == 0) { fprintf(stderr, "the gate is shut\n"); return 3; }
  if (n < 5) n++;
  printf("%d\t%s\n", n, show ? getenv("heterodoop_iterate_round") : "");
  fprintf(stderr, "reporter:counter:test,left,%d\n", 5 - n);
  return 0;
}
"""


@pytest.fixture
def job(bundle, tmp_path: Path):
    """Run the counting job in tmp_path; `told` gets its rounds."""
    app = bundle(COUNT)
    (tmp_path / "in").write_bytes(b"abc\n")
    (tmp_path / "zero").write_bytes(b"0\n")

    def go(
        *, rounds: int | None = None, until: str | None = None, told: list[Round] | None = None, side: str = "n.txt",
        settings: tuple[str, ...] = (), **options: object,
    ) -> JobResult:
        given = RunOptions(quiet=True, files=[f"{tmp_path / 'zero'}#n.txt"], settings=settings, max_attempts=1)
        told = [] if told is None else told
        given = given._replace(**options)  # type: ignore[arg-type]
        spec = JobSpec.of(app, [str(tmp_path / "in")], str(tmp_path / "out"), given, IterateOptions(side, rounds, until))
        return run_iterated(spec, given, tell=told.append)

    return go


def test_until_a_counter_says_so(job, tmp_path: Path):
    told: list[Round] = []
    result = job(until="test:left<=1", settings=("show=1",), told=told)
    assert (tmp_path / "out/part-00000").read_text() == "4\t4\n" and names(tmp_path / "out") == ["_SUCCESS", "part-00000"]
    assert [(done.number, done.earlier, done.report["user_counters"]["test"]["left"]) for done in told] == [
        (1, False, 4), (2, False, 3), (3, False, 2), (4, False, 1)]
    found = json.loads((tmp_path / "out.report/report.json").read_text())
    assert found == result.report and result.warnings == ()
    iterate = found["iterate"]
    assert (iterate["stopped"], iterate["until"], iterate["side_file"]) == ("until", "test:left<=1", "n.txt")
    assert [(one["round"], one["value"]) for one in iterate["rounds"]] == [(1, 4), (2, 3), (3, 2), (4, 1)]
    assert found["job"]["output"] == str(tmp_path / "out") and found["state"] == "succeeded"
    assert names(tmp_path / "out.report/rounds") == ["0001", "0002", "0003"]
    assert not (tmp_path / "out.rounds").exists()


def test_until_nothing_changes(job, tmp_path: Path):
    result = job()
    assert (tmp_path / "out/part-00000").read_text() == "5\t\n"
    assert result.report["iterate"]["stopped"] == "unchanged" and len(result.report["iterate"]["rounds"]) == 6


def test_a_side_file_is_not_compressed(job, tmp_path: Path):
    with pytest.raises(UsageError, match="next one's side file") as caught:
        job(settings=("mapreduce.output.fileoutputformat.compress=true",))
    assert caught.value.code == "HD031" and not (tmp_path / "out").exists()


def test_each_round_reads_the_input_so_it_is_no_stream(job, tmp_path: Path):
    (tmp_path / "in").unlink()
    os.mkfifo(tmp_path / "in")
    with pytest.raises(UsageError, match="read once only") as caught:
        job()
    assert caught.value.code == "HD011" and not (tmp_path / "out.rounds").exists()


def test_a_side_file_that_comes_back_at_once(job, tmp_path: Path):
    (tmp_path / "zero").write_bytes(b"5\t\n")
    assert len(job().report["iterate"]["rounds"]) == 1


@pytest.mark.parametrize("how", ["option", "setting"])
def test_so_many_rounds(job, tmp_path: Path, how: str):
    if how == "option":
        result = job(rounds="2")
    else:
        result = job(settings=("heterodoop.iterate.rounds=2", "heterodoop.iterate.until=test:left==3"))
    assert (tmp_path / "out/part-00000").read_text() == "2\t\n" and result.warnings == ()
    assert result.report["iterate"]["stopped"] == ("rounds" if how == "option" else "until")


def test_a_criterion_that_was_not_met_is_said(job):
    (warning,) = job(rounds=3, until="test:left==0").warnings
    assert warning.code == "HD045" and "not met after 3 rounds: test:left is 2" in warning.message


def test_the_parts_of_several_tasks_are_one_side_file(bundle, tmp_path: Path):
    copy = r"""
    #include <stdio.h>
    int main(void) { int c; FILE *f = fopen("all", "r"); while ((c = getc(f)) != EOF) putchar(c);
      while ((c = getchar()) != EOF) putchar(c); return 0; }
    """
    (tmp_path / "in").write_bytes(b"aa\nbb\n")
    (tmp_path / "first").write_bytes(b"")
    options = RunOptions(quiet=True, split_size=2, files=[f"{tmp_path / 'first'}#all"])
    run_iterated(JobSpec.of(bundle(copy), [str(tmp_path / "in")], str(tmp_path / "out"), options, IterateOptions("all", 2)),
                 options)
    parts = [path.read_text() for path in sorted((tmp_path / "out").glob("part-*"))]
    assert parts == ["aa\t\nbb\t\naa\t\n", "aa\t\nbb\t\nbb\t\n", ""]


def test_a_failed_round_can_be_tried_again(job, tmp_path: Path):
    gate = tmp_path / "gate"
    gate.touch()
    with pytest.raises(JobFailed) as failed:
        job(settings=(f"gate={gate}",))
    assert failed.value.message.startswith("round 3: map task 0 failed") and "the gate is shut" in failed.value.message
    assert "tries round 3 again" in failed.value.help
    log = failed.value.message.split("log: ")[1].strip()
    assert Path(log).parent == tmp_path / "out.report/logs" and Path(log).exists()
    assert json.loads((tmp_path / "out.report/report.json").read_text())["state"] == "failed"
    assert not (tmp_path / "out").exists()
    gate.unlink()
    told: list[Round] = []
    job(settings=(f"gate={gate}",), told=told)
    assert [done.earlier for done in told] == [True, True, False, False, False, False]
    assert (tmp_path / "out/part-00000").read_text() == "5\t\n" and names(tmp_path / "out.report") == [
        "attempts.jsonl", "report.json", "rounds"]


def test_a_failed_first_round_leaves_its_report_only(job, tmp_path: Path):
    (tmp_path / "zero").write_bytes(b"none\n")
    before = names(tmp_path)
    with pytest.raises(JobFailed, match="round 1: "):
        job()
    assert names(tmp_path) == sorted([*before, "out.report"])


def test_of_many_rounds_the_last_two_outputs_stay(job, tmp_path: Path):
    with pytest.raises(JobFailed):
        job(until="test:nobody==0", rounds=1)
    assert names(tmp_path / "out.rounds/0001") == ["_SUCCESS", "part-00000"]
    kept: list[list[str]] = []
    class Watch(list):
        def append(self, done: Round) -> None:
            folders = sorted((tmp_path / "out.rounds").glob("000?"))
            kept.append([folder.name for folder in folders if (folder / "part-00000").exists()])

    job(rounds=4, told=Watch())
    assert kept[-1] == ["0003", "0004"]


@pytest.mark.parametrize("side", ["m.txt", "zero", ""])
def test_a_side_file_must_be_there_for_the_first_round(job, side: str):
    with pytest.raises(UsageError, match="there is no --file of this name") as refused:
        job(side=side)
    assert refused.value.code == "HD040"


@pytest.mark.parametrize("text", ["", "left", "test:left", "test:left=1", "a:b:c<1", "test:left<x", "<1", "test:left<1.5"])
def test_a_criterion_that_cannot_be_read(job, text: str, tmp_path: Path):
    with pytest.raises(UsageError) as refused:
        job(until=text)
    assert refused.value.code == "HD041" and not (tmp_path / "out.rounds").exists()


def test_criteria() -> None:
    report = {"user_counters": {"my group": {"a b": 3}}, "counters": {"SPILLS": 0}}
    for text, met in (("my group:a b<4", True), (" my group : a b >= 4", False), ("SPILLS==0", True), ("SPILLS>0", False),
                      ("my group:a b<=3", True), ("my group:a b>-1", True)):
        assert criterion.parse(text).met([report]) is met


def test_a_counter_that_nobody_has(job, tmp_path: Path):
    with pytest.raises(JobFailed, match="no round has had a counter 'test:lefd'") as failed:
        job(until="test:lefd==0")
    assert failed.value.code == "HD044" and "test:left" in failed.value.help
    told: list[Round] = []
    job(until="test:left==0", told=told)
    assert told[0].earlier and len(told) == 5


@pytest.mark.parametrize(("change", "what"), [
    ({"settings": ("show=1",)}, "settings"), ({"reducers": 0}, "settings"), ({"side": "p.txt"}, "side files"),
])
def test_rounds_of_another_job_are_not_gone_on_with(job, tmp_path: Path, change: dict[str, object], what: str):
    with pytest.raises(JobFailed):
        job(until="test:nobody==0")
    with pytest.raises(UsageError) as refused:
        job(**{"files": [f"{tmp_path / 'zero'}#n.txt", f"{tmp_path / 'zero'}#p.txt"] if what == "side files" else
               [f"{tmp_path / 'zero'}#n.txt"], **change})
    assert refused.value.code == "HD042" and f"of another job: {what} differ" in refused.value.message
    assert (tmp_path / "out.rounds/0001/_SUCCESS").exists()
    os.utime(tmp_path / "in", (1, 1))
    with pytest.raises(UsageError, match="of another job: input differ"):
        job()


def test_somebody_elses_folder_is_left_alone(job, tmp_path: Path):
    (tmp_path / "out.rounds").mkdir()
    (tmp_path / "out.rounds/thesis.tex").touch()
    with pytest.raises(UsageError, match="is not of HeteroDoop") as refused:
        job()
    assert refused.value.code == "HD042" and names(tmp_path / "out.rounds") == ["thesis.tex"]


IDENTITY = {"program": "p"}
REPORT = {"format": "heterodoop-job-report-1", "state": "succeeded", "job": {}}


def opened(root: Path) -> tuple[FolderStore, Rounds[dict[str, Any]]]:
    """Rounds on disk; where there were none, three are made."""
    store = FolderStore(Layout(root / "out"))
    rounds = Rounds(store)
    rounds.open(IDENTITY)
    for number in (1, 2, 3) if not rounds.done else ():
        for path, text in ((store.output(number) / "_SUCCESS", ""), (store.output(number) / "part-00000", str(number)),
                           (store.root / f"{number:04d}.report/report.json", json.dumps(REPORT))):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        rounds.add(REPORT)
    return store, rounds


@pytest.mark.parametrize(
    "end", [lambda store: store.commit(3, REPORT, {}), lambda store: store.discard()], ids=["commit", "discard"])
def test_rounds_go_on_or_begin_anew_wherever_their_end_is_killed(tmp_path: Path, end):
    for steps in itertools.count():
        store, rounds = opened(tmp_path)
        notes = store.layout.report / "notes.txt"
        check_place(store.layout)
        assert len(rounds.done) == 3 and rounds.fetch(3, store.side) == hashlib.sha256(b"3").hexdigest()
        store.layout.report.mkdir(exist_ok=True)
        if not names(store.layout.report):
            (store.layout.report / "report.json").write_text(json.dumps(REPORT))
            notes.touch()
        try:
            with dying(steps):
                end(store)
        except Killed:
            store.release()
            if (tmp_path / "out").exists():
                assert names(tmp_path / "out") == ["_SUCCESS", "part-00000"]
                shutil.rmtree(tmp_path / "out")
                again = opened(tmp_path)
                assert again[1].done in ([REPORT] * 2, [REPORT] * 3)  # the last round runs again, or all do
                again[0].release()
                shutil.rmtree(store.root)
        else:
            break
        assert notes.exists()
    assert steps > 10 and notes.exists() and not store.root.exists()


def test_two_at_a_time_are_refused(job, tmp_path: Path):
    with pytest.raises(JobFailed):
        job(until="test:nobody==0")
    with open(tmp_path / "out.rounds/lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(UsageError) as refused:
            job()
        assert refused.value.code == "HD043"
    assert len(job().report["iterate"]["rounds"]) == 6


def command(tmp_path: Path, app: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "heterodoop", "run", str(app), str(tmp_path / "in"), "-o", str(tmp_path / "out"),
            "--file", f"{tmp_path / 'zero'}#n.txt", "--iterate", "n.txt", *options]


# What the command line does around run_iterated, and no more: most signals strike the rounds, none an import.
DRIVER = """
import sys
from pathlib import Path
from heterodoop.engine.rounds.iterate import run_iterated
from heterodoop.engine.run.plan import RunOptions
from heterodoop.job.spec import JobSpec
from heterodoop.job.stopping import IterateOptions
from heterodoop.errors import HeteroDoopError
bundle, folder = sys.argv[1:]
print("ready", flush=True)
try:
    options = RunOptions(files=[folder + "/zero#n.txt"])
    run_iterated(JobSpec.of(bundle, [folder + "/in"], folder + "/out", options, IterateOptions("n.txt")), options)
except HeteroDoopError as error:
    print(error.message, error.help)
    sys.exit(error.exit_code)
"""


def stopped_after(app: Path, folder: Path, seconds: float, number: signal.Signals) -> tuple[int, str]:
    """Exit status and message of a job that a signal struck so long after its start."""
    argv = [sys.executable, "-c", DRIVER, str(app), str(folder)]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(number)
    text, _ = process.communicate(timeout=20)
    return process.returncode, text


@pytest.mark.parametrize("seed", range(4))
def test_a_signal_at_any_moment_and_going_on(bundle, tmp_path: Path, seed: int):
    app = bundle(COUNT.replace("if (n < 5)", "usleep(100000); if (n < 5)"))
    (tmp_path / "in").write_bytes(b"abc\n")
    (tmp_path / "zero").write_bytes(b"0\n")
    rng = random.Random(seed)
    stops = 0
    while (found := stopped_after(app, tmp_path, rng.uniform(0, 0.15) if stops < 4 else 60, signal.SIGINT))[0]:
        stops += 1
        # A signal before the job took them over, or after, meets Python's own handler.
        assert found[0] in (130, 1, -signal.SIGINT), found
        assert names(tmp_path) in ([app.name, "in", "zero"], [app.name, "in", "out.rounds", "zero"])
        if found[0] == 130 and "in round" in found[1]:
            assert "interrupted by SIGINT in round" in found[1] and "the same command goes on there" in found[1]
    assert stops and (tmp_path / "out/part-00000").read_text() == "5\t\n"
    assert names(tmp_path) == [app.name, "in", "out", "out.report", "zero"]
    report = json.loads((tmp_path / "out.report/report.json").read_text())
    assert [one["round"] for one in report["iterate"]["rounds"]] == [1, 2, 3, 4, 5, 6]


def test_the_command(bundle, tmp_path: Path):
    app = bundle(COUNT)
    (tmp_path / "in").write_bytes(b"abc\n")
    (tmp_path / "zero").write_bytes(b"0\n")
    done = subprocess.run(command(tmp_path, app, "--until", "test:left<4"), capture_output=True, text=True, check=True)
    lines = done.stderr.splitlines()
    assert lines[0].startswith("round 1: ") and lines[0].endswith(" s, test:left = 4")
    assert lines[2] == "2 rounds: the criterion is met" and lines[3].startswith(f"result in {tmp_path / 'out'}")
    subprocess.run(["rm", "-r", tmp_path / "out"], check=True)
    done = subprocess.run(command(tmp_path, app, "--rounds=3", "--json"), capture_output=True, text=True, check=True)
    assert len(json.loads(done.stdout)["iterate"]["rounds"]) == 3 and done.stderr == ""


@pytest.mark.parametrize("option", ["--rounds=2", "--until=a:b<1"])
def test_options_of_iterate_stand_with_it_only(bundle, tmp_path: Path, option: str):
    argv = [sys.executable, "-m", "heterodoop", "run", bundle(CAT), "/dev/null", "-o", tmp_path / "out", option]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "error[HD040]" in done.stderr and "add --iterate NAME" in done.stderr
