"""The same command again after kill -9 and after a full disk: what the dead one left is removed, and nothing else."""

from __future__ import annotations

import errno
import fcntl
import itertools
import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from heterodoop.engine.job.layout import Layout
from heterodoop.engine.run import commit, job_report
from heterodoop.errors import JobFailed, UsageError
from heterodoop.job.report import FORMAT

from ..conftest import CAT, names, parts
from ..dying import Killed, dying
from ..terminal.test_interrupt import SLEEPER, filters_of, start, wait_until
from .test_failures import put, refused


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return put(tmp_path / "in", b"a\nb\n" * 1000)


def test_the_same_command_runs_after_kill_9_and_says_so_while_it_runs(bundle, run, source: Path, tmp_path: Path):
    app = bundle(SLEEPER)
    process = start(app, source, 6000)
    wait_until(lambda: bool(filters_of(app)))
    refused(run, "HD020", bundle(CAT), source)
    process.kill()
    process.communicate()
    assert (tmp_path / "out/_temporary/job").exists() and not (tmp_path / "out.report/report.json").exists()
    assert json.loads((tmp_path / "out.report/report.json.partial").read_text())["state"] == "running"
    assert parts(run(bundle(CAT), source).output)
    assert json.loads((tmp_path / "out.report/report.json").read_text())["state"] == "succeeded"


def left(output: Path, *names: str, job: str | None = None) -> Layout:
    """What a killed job may leave: `names` in OUT, and what its file says."""
    layout = Layout(output)
    layout.done.mkdir(parents=True)
    if job is not None:
        layout.job.write_text(job)
    for name in names:
        put(output / name, b"x")
    return layout


@pytest.mark.parametrize(("names", "job"), [
    ((), ""), ((), "[]"), (("part-00000",), '["part-00000", "side"]'), (("part-00000", "side/f"), '["part-00000", "side"]'),
])
def test_a_job_that_was_killed_at_any_moment_is_no_obstacle(tmp_path: Path, names: tuple[str, ...], job: str):
    left(tmp_path / "out", *names, job=job)
    commit.reserve(str(tmp_path / "out")).discard()
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("names", "job"), [
    (("mine",), ""), (("mine",), '["part-00000"]'), (("_SUCCESS",), '["part-00000"]'), ((), None),
])
def test_what_is_not_of_a_dead_job_alone_stays(tmp_path: Path, names: tuple[str, ...], job: str | None):
    left(tmp_path / "out", *names, job=job)
    with pytest.raises(UsageError) as caught:
        commit.reserve(str(tmp_path / "out"))
    assert caught.value.code == "HD020" and all((tmp_path / "out" / name).exists() for name in names)


@pytest.mark.parametrize("filled", [False, True])
def test_a_job_killed_before_its_file_was_there(tmp_path: Path, monkeypatch, filled: bool):
    """The sticky bit says so, after a moment: until then a job may be making the folder."""
    monkeypatch.setattr(commit, "_FILLING_SECONDS", 0.2)
    output = tmp_path / "out"
    output.mkdir()
    with pytest.raises(UsageError):
        commit.reserve(str(output))
    output.chmod(0o1755)
    if filled:
        (output / "_temporary").mkdir()
    reservation = commit.reserve(str(output))
    assert not output.stat().st_mode & 0o1000
    reservation.discard()


def test_a_job_that_is_making_its_folder_is_waited_for(tmp_path: Path, monkeypatch):
    output = tmp_path / "out"
    output.mkdir(0o1755)
    output.chmod(0o1755)
    layout = Layout(output)

    def fill(seconds: float) -> None:
        layout.temporary.mkdir()
        held.append(os.open(layout.job, os.O_RDWR | os.O_CREAT))
        fcntl.flock(held[0], fcntl.LOCK_EX)

    held: list[int] = []
    monkeypatch.setattr(time, "sleep", fill)
    with pytest.raises(UsageError) as caught:
        commit.reserve(str(output))
    os.close(held[0])
    assert caught.value.code == "HD020" and layout.job.exists()


def refusing(monkeypatch, call: str, name: str) -> None:
    """The file system takes no such call on a path with this name."""
    real = getattr(os, call)

    def refuse(path: str | Path, *rest: Any, **how: Any) -> None:
        if Path(path).name == name:
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), str(path))
        real(path, *rest, **how)

    monkeypatch.setattr(os, call, refuse)


@pytest.mark.parametrize("stuck", [False, True])
def test_success_goes_first_or_nothing_does(tmp_path: Path, monkeypatch, stuck: bool):
    """A disk that fails after _SUCCESS is there."""
    reservation = commit.reserve(str(tmp_path / "out"))
    output = tmp_path / "out"
    put(reservation.layout.done / "part-00000", b"x")
    real = commit.sync

    def fail(path: str) -> None:
        if (output / "_SUCCESS").exists():
            raise OSError(errno.EIO, os.strerror(errno.EIO), path)
        real(path)

    with monkeypatch.context() as patch:
        patch.setattr(commit, "sync", fail)
        with pytest.raises(JobFailed):
            commit.commit_job(reservation.layout)
        refusing(patch, "unlink", "_SUCCESS" if stuck else "part-00000")
        reservation.discard()
    reservation.release()
    assert (output / "part-00000").exists() and (output / "_SUCCESS").exists() == stuck
    if not stuck:
        commit.reserve(str(output)).discard()
        assert not output.exists()


def test_a_folder_named_success_is_removed_with_the_rest(tmp_path: Path):
    reservation = commit.reserve(str(tmp_path / "out"))
    put(reservation.layout.done / "_SUCCESS/x", b"x")
    with pytest.raises(JobFailed):
        commit.commit_job(reservation.layout)
    reservation.discard()
    assert not (tmp_path / "out").exists()


def test_a_lock_that_will_not_close_does_not_fail_the_job(bundle, run, source: Path, monkeypatch):
    real, failed = os.close, []

    def close(file: int) -> None:
        name = os.readlink(f"/proc/self/fd/{file}")
        real(file)
        if "_temporary/job" in name:
            failed.append(name)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "close", close)
    assert parts(run(bundle(CAT), source).output) and failed


@pytest.mark.parametrize(
    ("call", "name"), [("unlink", "spill"), ("unlink", "job"), ("rmdir", "_temporary"), ("rmdir", "out")],
)
def test_what_a_job_could_not_remove_is_no_obstacle(tmp_path: Path, monkeypatch, call: str, name: str):
    output = tmp_path / "out"
    reservation = commit.reserve(str(output))
    put(reservation.layout.maps / "spill", b"x")
    with monkeypatch.context() as patch:
        refusing(patch, call, name)
        reservation.discard()
        reservation.release()
    assert output.exists()
    again = commit.reserve(str(output))
    again.discard()
    again.release()
    assert not output.exists()


@pytest.mark.parametrize("content", [b"", b"{", None])
def test_a_report_that_a_full_disk_cut_short_is_ours(bundle, run, source: Path, tmp_path: Path, content: bytes | None):
    put(tmp_path / "out.report/report.json.partial", content or b"")
    if content is None:
        put(tmp_path / "out.report/attempts.jsonl", b"")
        put(tmp_path / "out.report/logs/x.log", b"")
    assert parts(run(bundle(CAT), source).output)


def test_a_report_that_could_not_be_taken_away_is_ours(bundle, run, source: Path, tmp_path: Path, monkeypatch):
    real = open

    def full(path: Any, *rest: Any, **how: Any) -> Any:
        if Path(path).name == "attempts.jsonl":
            raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT), str(path))
        return real(path, *rest, **how)

    with monkeypatch.context() as patch:
        patch.setattr(job_report, "open", full, raising=False)
        refusing(patch, "rmdir", "logs")
        refused(run, "HD021", bundle(CAT), source)
    assert (tmp_path / "out.report/logs").exists()
    assert parts(run(bundle(CAT), source).output)


def test_a_report_hides_secrets(bundle, run, source: Path):
    secrets = {"a.password": "x1", "fs.s3a.secret.key": "x2", "fs.s3a.access.key": "x3", "my.api_key": "x4", "a.token": "x5"}
    shown = {"grep.pattern": "x", "my.keys.file": "k", "my.tokens": ""}
    settings = [f"{key}={value}" for key, value in {**secrets, **shown}.items()]
    result = run(bundle(CAT), source, settings=settings)
    found = json.loads((result.report_folder / "report.json").read_text())["settings"]
    assert all(found[key] == "(hidden)" for key in secrets) and all(found[key] == value for key, value in shown.items())
    assert job_report.without_secrets({"stream.num.map.output.key.fields": "1"}) == {"stream.num.map.output.key.fields": "1"}


def reported(folder: Path, *names: str) -> Path:
    """A report's folder with a user's file beside ours."""
    for name in names:
        put(folder / name, json.dumps({"format": FORMAT}).encode())
    return put(folder / "notes.txt", b"mine")


def again(folder: Path) -> None:
    job_report.claim(folder, {"format": FORMAT, "state": "running"})
    put(folder / "logs/m.log", b"x")
    put(folder / "attempts.jsonl", b"x")
    job_report.conclude(folder, {"format": FORMAT, "state": "succeeded"})


def taken_back(folder: Path) -> None:
    job_report.claim(folder, {"format": FORMAT, "state": "running"})
    job_report.withdraw(folder)


@pytest.mark.parametrize("job", [again, taken_back])
def test_a_report_with_a_user_s_file_in_it_is_ours_wherever_the_job_is_killed(tmp_path: Path, job):
    layout, ends = Layout(tmp_path / "out"), 0
    for steps in itertools.count():
        notes = reported(layout.report, "report.json", "attempts.jsonl", "logs/r.log", "rounds/0001/report.json")
        try:
            with dying(steps):
                job(layout.report)
        except Killed:
            ends += 1
        job_report.check_place(layout)
        assert notes.read_bytes() == b"mine"
        if ends <= steps:
            break
    assert ends > 8


def test_an_interrupted_job_leaves_a_user_s_file_and_is_no_obstacle(bundle, run, source: Path, tmp_path: Path):
    assert parts(run(bundle(CAT), source).output)
    notes = put(tmp_path / "out.report/notes.txt", b"mine")
    taken_back(tmp_path / "out.report")
    shutil.rmtree(tmp_path / "out")
    assert parts(run(bundle(CAT), source).output)
    assert notes.read_bytes() == b"mine" and names(tmp_path / "out.report") == ["attempts.jsonl", "notes.txt", "report.json"]


@pytest.mark.parametrize("name", ["_SUCCESS", "_temporary/job", "_temporary"])
def test_a_filter_s_file_with_a_name_of_ours_is_not_moved(tmp_path: Path, name: str):
    reservation = commit.reserve(str(tmp_path / "out"))
    put(reservation.layout.done / name, b"theirs")
    put(reservation.layout.done / "part-00000", b"x")
    commit.commit_job(reservation.layout)
    reservation.release()
    assert names(tmp_path / "out") == ["_SUCCESS", "part-00000"] and (tmp_path / "out/_SUCCESS").read_bytes() == b""


def test_a_killed_commit_with_such_a_file_looks_unfinished(tmp_path: Path):
    for steps in itertools.count():
        reservation = commit.reserve(str(tmp_path / "out"))
        put(reservation.layout.done / "_SUCCESS", b"theirs")
        put(reservation.layout.done / "part-00000", b"x")
        try:
            with dying(steps):
                commit.commit_job(reservation.layout)
        except Killed:
            reservation.release()
            if (tmp_path / "out/_SUCCESS").exists():  # ours: all the rest is there
                assert (tmp_path / "out/_SUCCESS").read_bytes() == b"" and (tmp_path / "out/part-00000").exists()
                shutil.rmtree(tmp_path / "out")
        else:
            break
    assert steps > 8
