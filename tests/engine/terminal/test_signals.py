"""Signals end a command, whatever it is doing: also in a system call, also before it has begun."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ...support import COMMAND, alive
from ..conftest import CAT
from ..run.test_failures import put
from .test_interrupt import wait_until

DAEMON = """
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void) {
  int c;
  if (fork() == 0) {
    setsid();
    if (fork() == 0) {
      FILE *f = fopen(getenv("PIDS"), "a");
      fprintf(f, "%d\\n", getpid()); fclose(f);
      close(0); close(1); close(2);
      sleep(600);
    }
    _exit(0);
  }
  while ((c = getchar()) != EOF) putchar(c);
  return 0;
}
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_command_that_sits_in_a_system_call_ends(bundle, tmp_path: Path, number: int):
    app = tmp_path / "held.hdp"
    shutil.copytree(bundle(CAT), app)
    (app / "bin/map").unlink()
    os.mkfifo(app / "bin/map")  # nobody writes into it
    put(tmp_path / "in", b"a\n")
    held = "import os, sys; from heterodoop import manifest; manifest.load = lambda path: open(path / 'bin/map');" \
        "from heterodoop.__main__ import start; sys.argv = ['heterodoop', *sys.argv[1:]]; start()"
    process = subprocess.Popen(
        [sys.executable, "-c", held, "run", app, tmp_path / "in", "-o", tmp_path / "out", "--device", "cpu"],
        stderr=subprocess.PIPE,
    )
    wait_until(lambda: (tmp_path / "out/_temporary/job").exists())
    time.sleep(0.3)
    process.send_signal(number)
    process.communicate(timeout=20)
    assert process.returncode == 130 and not (tmp_path / "out").exists() and not (tmp_path / "out.report").exists()


def test_an_interrupt_while_it_imports_is_no_traceback():
    hook = (
        "import builtins, os, signal, sys\n"
        "real = builtins.__import__\n"
        "def strike(name, *more, **options):\n"
        "    if name == 'click': os.kill(os.getpid(), signal.SIGINT)\n"
        "    return real(name, *more, **options)\n"
        "builtins.__import__ = strike\n"
        "from heterodoop.__main__ import start\n"
    )
    done = subprocess.run([sys.executable, "-c", hook], capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGINT and done.stderr == ""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize(("option", "status"), [("--version", 0), ("--none", 2)])
def test_a_signal_while_the_watch_ends_does_not_change_the_status(option: str, status: int, number: int):
    hook = (
        "import os, sys\n"
        "from heterodoop import last_resort\n"
        "from heterodoop.__main__ import start\n"
        "real = last_resort._end\n"
        "def strike(*given):\n"
        f"    os.kill(os.getpid(), {int(number)})\n"
        "    real(*given)\n"
        "last_resort._end = strike\n"
        f"sys.argv = ['heterodoop', '{option}']\n"
        "start()\n"
    )
    done = subprocess.run([sys.executable, "-c", hook], capture_output=True, text=True, check=False)
    assert done.returncode == status and "Traceback" not in done.stderr


def test_a_daemon_of_a_filter_ends_with_the_job(bundle, tmp_path: Path):
    put(tmp_path / "in", b"a\n")
    environment = {**os.environ, "PIDS": str(tmp_path / "pids")}
    command = [*COMMAND, "run", bundle(DAEMON), tmp_path / "in", "-o", tmp_path / "out", "--device", "cpu"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    pids = [int(line) for line in (tmp_path / "pids").read_text().split()]
    assert pids and not any(map(alive, pids))


def test_who_ignores_the_end_of_children_can_run_jobs(bundle, tmp_path: Path):
    put(tmp_path / "in", b"a\n")
    ignore = "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
    job = [*COMMAND, "run", bundle(CAT), tmp_path / "in", "-o", tmp_path / "out", "--device", "cpu"]
    done = subprocess.run([sys.executable, "-c", ignore, *job], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
