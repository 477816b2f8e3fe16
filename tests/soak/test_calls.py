"""Calls that failed and cost pairs, or the whole job: each once more, by the soak's own library."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from ..support import Bundles, cli_process
from . import jobs, page
from .jobs import Result
from .page import COMMAND, FAIL, Page, Rule


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return page.build(tmp_path_factory.mktemp("shim"))


@pytest.mark.parametrize("call", ["write", "read"])
@pytest.mark.parametrize("nth", [1, 7])
def test_a_pipe_that_fails_loses_no_pairs(tmp_path: Path, bundles: Bundles, shim: Path, call: str, nth: int) -> None:
    """Only a reader that has gone (EPIPE) and a writer that has ended are the end of a pipe."""
    job, text, shared = jobs.make_jobs(bundles)["spilled"], tmp_path / "text", Page(tmp_path / "page")
    text.write_bytes(jobs.make_text())
    shared.arm(Rule((call,), FAIL, errno.EIO, nth, COMMAND, "pipe:"))
    words = jobs.command(job, job.bundle, [text], tmp_path / "out", ("--device", "cpu", "--filters"))
    done = cli_process(*words, env={"LD_PRELOAD": str(shim), page.VARIABLE: str(tmp_path / "page")})
    assert done.status == 0 and shared.struck(), done.message
    assert Result.read(tmp_path / "out") == jobs.expected(job, text.read_bytes())


@pytest.mark.parametrize("call", ["pipe", "thread", "close"])
def test_no_command_ends_in_a_traceback_for_want_of_a_pipe_or_thread(
    tmp_path: Path, bundles: Bundles, shim: Path, call: str,
) -> None:
    job, text, shared = jobs.make_jobs(bundles)["combined"], tmp_path / "text", Page(tmp_path / "page")
    text.write_bytes(jobs.make_text())
    shared.arm(Rule((call,), FAIL, errno.EMFILE, 1, COMMAND, "pipe" if call == "close" else "", sticky=True))
    words = jobs.command(job, job.bundle, [text], tmp_path / "out", ("--device", "cpu"))
    done = cli_process(*words, env={"LD_PRELOAD": str(shim), page.VARIABLE: str(tmp_path / "page")})
    assert shared.struck() and "Traceback" not in done.message
    assert done.status == 0 or "heterodoop: error" in done.message and not (tmp_path / "out").exists()


@pytest.mark.parametrize("call", ["read", "write"])
def test_a_watch_whose_pipe_fails_says_nothing(tmp_path: Path, bundles: Bundles, shim: Path, call: str) -> None:
    """Signals are then what they are without the watch."""
    job, text, shared = jobs.make_jobs(bundles)["mapped"], tmp_path / "text", Page(tmp_path / "page")
    text.write_bytes(jobs.make_text())
    shared.arm(Rule((call,), FAIL, errno.EIO, 1, COMMAND, "pipe:", sticky=True))
    words = jobs.command(job, job.bundle, [text], tmp_path / "out", ("--device", "emulated"))
    done = cli_process(*words, env={"LD_PRELOAD": str(shim), page.VARIABLE: str(tmp_path / "page")})
    assert shared.struck() and "Traceback" not in done.message
