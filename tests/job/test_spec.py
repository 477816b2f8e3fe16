"""What `run` and `submit` share: a job from either's options, and the body that runs it and says how it ended."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from heterodoop.commands.execute import execute, shown_to, wish
from heterodoop.diag import Diagnostic
from heterodoop.engine.run.plan import RunOptions
from heterodoop.errors import JobFailed, UsageError
from heterodoop.hadoop.submit.job_options import SubmitOptions
from heterodoop.job.runner import JobEnd, Shown
from heterodoop.job.spec import JobSpec
from heterodoop.job.stopping import IterateOptions
from heterodoop.storage.shipped import parted

COMMON: dict[str, Any] = {"reducers": "3", "record_delimiter": r"\x01", "settings": ("a=b",), "files": ("x#y",)}


def test_the_same_options_are_the_same_job():
    jobs = [JobSpec.of("app.hdp", ["in"], "out", options) for options in (RunOptions(**COMMON), SubmitOptions(**COMMON))]
    assert jobs[0] == jobs[1] and (jobs[0].bundle, jobs[0].inputs) == (Path("app.hdp"), ("in",))
    assert list(jobs[0].options.values()) == [("--reducers", "3"), ("--record-delimiter", "\x01")]


def test_a_file_may_have_a_name_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a#b").touch()
    assert [parted(text) for text in ("a#b", "a#b#c", "a", "a#c")] == [("a#b", ""), ("a#b", "c"), ("a", ""), ("a", "c")]


def test_options_of_iterate_stand_with_it_only():
    assert wish(None, None, None) is None and wish("n", "2", None) == IterateOptions("n", "2", None)
    with pytest.raises(UsageError) as refused:
        wish(None, None, "a<1")
    assert refused.value.code == "HD040"


class Played:
    """A place where every job ends in one way."""

    def __init__(self, end: JobEnd) -> None:
        self._end = end

    def run(self, spec: JobSpec, shown: Shown) -> JobEnd:
        shown.say("under way")
        return self._end


def played(
    end: JobEnd, capsys: pytest.CaptureFixture[str], *, quiet: bool = False, as_json: bool = False,
) -> tuple[str, list[str]]:
    """What a command prints of a job: to stdout, and the lines to stderr."""
    def show(found: Sequence[Diagnostic]) -> None:
        for one in found:
            shown.say(one.code)

    shown = shown_to(show, quiet=quiet, as_json=as_json)
    spec = JobSpec(Path("b"), ("in",), "out", again=IterateOptions("n") if "iterate" in end.report else None)
    execute(Played(end), spec, shown, as_json=as_json)
    told = capsys.readouterr()
    return told.out, told.err.splitlines()


def test_a_job_that_ended_well(capsys: pytest.CaptureFixture[str]):
    end = JobEnd({"state": "succeeded"}, "result in out", [Diagnostic("warning", "HD657", "lost")], ["one map"])
    assert played(end, capsys) == ("", ["under way", "HD657", "one map", "result in out"])
    assert played(end, capsys, quiet=True) == ("", [])
    out, lines = played(end, capsys, as_json=True)
    assert json.loads(out) == end.report and lines[-1] == "result in out"


def test_of_rounds_it_says_why_they_are_enough(capsys: pytest.CaptureFixture[str]):
    end = JobEnd({"iterate": {"rounds": [1, 2], "stopped": "until"}}, "result in out", summary=["of one job"])
    assert played(end, capsys)[1] == ["under way", "2 rounds: the criterion is met", "result in out"]


def test_a_failure_comes_after_its_report(capsys: pytest.CaptureFixture[str]):
    end = JobEnd({"state": "FAILED"}, "result in out", failure=JobFailed("it failed", code="HD628"))
    with pytest.raises(JobFailed):
        played(end, capsys, as_json=True)
    told = capsys.readouterr()
    assert json.loads(told.out) == end.report and told.err == "under way\n"
