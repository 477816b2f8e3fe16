"""The same command again after kill -9 and after a full disk: what the dead one left is removed, and nothing else."""

from __future__ import annotations

import errno
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from heterodoop.engine import commit, job_report
from heterodoop.engine.layout import Layout
from heterodoop.errors import UsageError

from .conftest import CAT, parts
from .test_failures import put, refused
from .test_interrupt import SLEEPER, filters_of, start, wait_until


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


def test_a_folder_that_was_only_just_made(tmp_path: Path):
    """Killed between the first mkdir and the job's file: the sticky bit says so, after a moment."""
    (tmp_path / "out").mkdir()
    with pytest.raises(UsageError):
        commit.reserve(str(tmp_path / "out"))
    (tmp_path / "out").chmod(0o1755)
    with pytest.raises(UsageError):
        commit.reserve(str(tmp_path / "out"))
    os.utime(tmp_path / "out", (time.time() - 9, time.time() - 9))
    reservation = commit.reserve(str(tmp_path / "out"))
    assert not (tmp_path / "out").stat().st_mode & 0o1000
    reservation.discard()


@pytest.mark.parametrize(
    ("call", "name"), [("unlink", "spill"), ("unlink", "job"), ("rmdir", "_temporary"), ("rmdir", "out")],
)
def test_what_a_job_could_not_remove_is_no_obstacle(tmp_path: Path, monkeypatch, call: str, name: str):
    output, real = tmp_path / "out", getattr(os, call)

    def refuse(path: str | Path, **how: Any) -> None:
        if Path(path).name == name:
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), str(path))
        real(path, **how)

    reservation = commit.reserve(str(output))
    put(reservation.layout.maps / "spill", b"x")
    with monkeypatch.context() as patch:
        patch.setattr(os, call, refuse)
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


def test_a_report_hides_secrets(bundle, run, source: Path):
    secrets = {"a.password": "x1", "fs.s3a.secret.key": "x2", "fs.s3a.access.key": "x3", "my.api_key": "x4", "a.token": "x5"}
    shown = {"grep.pattern": "x", "my.keys.file": "k", "my.tokens": ""}
    settings = [f"{key}={value}" for key, value in {**secrets, **shown}.items()]
    result = run(bundle(CAT), source, settings=settings)
    found = json.loads((result.report_folder / "report.json").read_text())["settings"]
    assert all(found[key] == "(hidden)" for key in secrets) and all(found[key] == value for key, value in shown.items())
    assert job_report.without_secrets({"stream.num.map.output.key.fields": "1"}) == {"stream.num.map.output.key.fields": "1"}
