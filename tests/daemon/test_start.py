"""A process of ours that starts: what it imports, its session, and what its starter hears of it."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from heterodoop.daemon import start
from heterodoop.daemon.start import StartFailed, command, python

SAYS = "import os, sys; fd = int(sys.argv[sys.argv.index('--ready-fd') + 1])\n"
Started = Callable[[str, float | None], str | StartFailed]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Started:
    """What `command` makes of a process that runs this code."""
    def run(code: str, seconds: float | None) -> str | StartFailed:
        def stand_in(words: list[str], **options: object) -> start.Child:
            return python(["-S", "-c", SAYS + code, *words], **options)  # type: ignore[arg-type]

        monkeypatch.setattr(start, "python", stand_in)
        with tempfile.TemporaryFile() as said:
            return command(["driver"], said, seconds)

    return run


@pytest.mark.parametrize("seconds", [None, 60.0])
def test_it_serves_once_it_has_said_a_line(started: Started, seconds: float | None) -> None:
    code = "import time; os.write(fd, b'it '); time.sleep(0.05); os.write(fd, b'serves\\n'); time.sleep(0.1)"
    assert started(code, seconds) == "it serves"
    while start._behind:
        start.reap()
        time.sleep(0.01)


@pytest.mark.parametrize("seconds", [None, 60.0])
def test_one_that_ends_before(started: Started, seconds: float | None) -> None:
    assert started("os.write(fd, b'half'); sys.exit('no such luck')", seconds) == StartFailed(1, "no such luck")


def test_one_that_takes_too_long_is_killed(started: Started) -> None:
    begun = time.monotonic()
    assert started("import time; sys.stderr.write('well'); sys.stderr.flush(); time.sleep(600)", 1.0) == StartFailed(-9,
                                                                                                                     "well")
    assert time.monotonic() - begun < 60


def test_say_ready_is_what_the_starter_hears() -> None:
    reader, writer = os.pipe()
    start.say_ready(writer, "it listens")
    with open(reader, "rb") as heard:
        assert heard.read() == b"it listens\n"


def test_modules_of_the_working_folder_are_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours are, from wherever it is started; and a variable of the caller's PYTHONPATH stays."""
    (tmp_path / "json.py").write_text("raise SystemExit(3)")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    code = ("import json, os, sys, heterodoop.errors; assert '/nowhere' in sys.path and os.getsid(0) == os.getpid();"
            "print(os.environ['MORE'], os.getcwd())")
    for cwd, where in ((None, str(tmp_path)), ("/", "/")):
        with tempfile.TemporaryFile() as out:
            child = python(["-c", code], stdout=out, stderr=out, cwd=cwd, more={"MORE": "yes"})
            status = child.wait(60)
            out.seek(0)
            assert (status, out.read().decode()) == (0, f"yes {where}\n")
