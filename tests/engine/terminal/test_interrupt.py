"""Stopping a job by a signal: soon, exit 130, nothing left. And a killed engine takes its filters along."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import click
import pytest

from heterodoop.engine.terminal.signals import StopSignals
from heterodoop.errors import Interrupted

from ...support import cli_here
from ..conftest import CAT, SUM, names

# The job as a process of its own: what the command line does around run_local, and no more.
DRIVER = """
import sys
from pathlib import Path
from heterodoop.engine.run.local import run_local
from heterodoop.engine.run.plan import RunOptions
from heterodoop.errors import HeteroDoopError
bundle, source, out, split = sys.argv[1:]
print("ready", flush=True)
try:
    run_local(Path(bundle), [source], out, RunOptions(split_size=split, cpu_slots=2))
except HeteroDoopError as error:
    print(error.message)
    sys.exit(error.exit_code)
"""
SLEEPER = r"""
#include <stdio.h>
#include <unistd.h>
int main(void) { fprintf(stderr, "begun\n"); if (fork() == 0) sleep(600); sleep(600); return 0; }
"""
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in"
    path.write_bytes(b"abc\n" * 3000)
    return path


def start(bundle: Path, source: Path, split: int) -> subprocess.Popen[str]:
    arguments = [sys.executable, "-c", DRIVER, str(bundle), str(source), str(source.with_name("out")), str(split)]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    return process


def filters_of(bundle: Path) -> list[int]:
    """Processes that run a program of the bundle."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and os.readlink(entry / "exe").startswith(str(bundle)):
                found.append(int(entry.name))
        except OSError:
            pass
    return found


def wait_until(condition, seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.01)


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_stops_filters_that_hang_and_their_children(bundle, source: Path, number: signal.Signals):
    app = bundle(SLEEPER)
    process = start(app, source, 6000)
    wait_until(lambda: len(filters_of(app)) == 4)
    begun = time.monotonic()
    process.send_signal(number)
    text, errors = process.communicate(timeout=30)
    assert process.returncode == 130 and time.monotonic() - begun < 20
    assert number.name in text and errors == ""
    assert names(source.parent) == [app.name, "in"], "no output, no report"
    wait_until(lambda: not filters_of(app), 2)


def test_a_signal_at_any_moment(bundle, source: Path):
    app = bundle(CAT, SUM, SUM)
    for seed in range(9):
        process = start(app, source, 40)
        time.sleep(random.Random(seed).uniform(0, 0.6))
        process.send_signal(SIGNALS[seed % 3])
        begun = time.monotonic()
        process.communicate(timeout=30)
        assert process.returncode in (0, 130) and time.monotonic() - begun < 20
        if process.returncode == 0:
            assert (source.parent / "out/_SUCCESS").exists()
            subprocess.run(["rm", "-r", source.parent / "out", source.parent / "out.report"], check=True)
        assert names(source.parent) == [app.name, "in"] and not filters_of(app)


def test_more_signals_do_not_skip_the_clean_up(bundle, source: Path):
    app = bundle(SLEEPER)
    process = start(app, source, 6000)
    wait_until(lambda: len(filters_of(app)) == 4)
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
        time.sleep(0.001)
    text, errors = process.communicate()
    # A signal after the clean-up meets Python's own handler: the job is over then, and nothing is left either.
    assert process.returncode in (130, -signal.SIGINT, 1), errors
    assert names(source.parent) == [app.name, "in"]
    wait_until(lambda: not filters_of(app), 2)


@pytest.mark.parametrize("options", [[], ["--file", "/dev/null#n", "--iterate", "n", "--rounds=1"]])
def test_a_signal_after_the_output_is_in_place_is_too_late(tmp_path: Path, monkeypatch, options: list[str]):
    folder = tmp_path / "app"
    folder.mkdir()
    (folder / "map.c").write_text(CAT)
    shown, echo = [], click.echo

    def late(line: str, **how: Any) -> None:
        echo(line, **how)
        if line.startswith("result in "):
            shown.append(line)
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr("click.echo", late)
    (tmp_path / "in").touch()
    cli_here("run", folder, tmp_path / "in", "-o", tmp_path / "out", *options)
    assert shown and (tmp_path / "out/_SUCCESS").exists()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_of_two_blocks_of_signals_each_knows_what_the_other_noted():
    with StopSignals() as outer:
        os.kill(os.getpid(), signal.SIGINT)
        with StopSignals() as inner, pytest.raises(Interrupted, match="SIGINT"):
            inner.check()
    assert outer.request == inner.request
    with StopSignals() as outer:
        with StopSignals():
            os.kill(os.getpid(), signal.SIGTERM)
        with pytest.raises(Interrupted, match="SIGTERM"):
            outer.check()


def test_a_hangup_that_is_ignored_stays_ignored(bundle, source: Path):
    app = bundle(CAT)
    old = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        process = start(app, source, 100)
    finally:
        signal.signal(signal.SIGHUP, old)
    process.send_signal(signal.SIGHUP)
    process.communicate(timeout=30)
    assert process.returncode == 0


def test_filters_die_with_an_engine_that_is_killed(bundle, source: Path):
    app = bundle(SLEEPER.replace("if (fork() == 0) sleep(600);", ""))
    process = start(app, source, 6000)
    wait_until(lambda: len(filters_of(app)) == 2)
    process.kill()
    process.communicate()
    wait_until(lambda: not filters_of(app), 2)
