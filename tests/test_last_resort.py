"""A signal ends the command: at once, after what it waits for, or the second time."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from heterodoop.driver.wire.place import DriverPlace

from .support import COMMAND, environment

STUCK = """
import math, signal, time
from contextlib import nullcontext
from heterodoop import last_resort
for number in last_resort.SIGNALS:
    signal.signal(number, lambda *told: None)
with last_resort.watching({seconds}, {again}), {block}, last_resort.cleaning(lambda: print("cleaned", flush=True)):
    print("ready", flush=True)
    end = time.monotonic() + 20
    while time.monotonic() < end:
        time.sleep(1)
"""
ALLOWED = 'last_resort.allowing(9, "the job is killed")'
SAID = "heterodoop: interrupted by SIGTERM\n"


def stuck(seconds: str, again: str = "0.0", block: str = "nullcontext()") -> subprocess.Popen[str]:
    words = [sys.executable, "-c", STUCK.format(seconds=seconds, again=again, block=block)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout and process.stdout.readline() == "ready\n"
    return process


def end(process: subprocess.Popen[str]) -> tuple[float, str]:
    """Seconds to its end, and stderr; what is part of an end by force is done."""
    begun = time.monotonic()
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=15)
    assert process.returncode == 130 and out == "cleaned\n"
    return time.monotonic() - begun, err


def test_a_signal_ends_what_does_not_hear_it() -> None:
    seconds, said = end(stuck("0.4"))
    assert 0.3 < seconds < 5 and said == SAID


@pytest.mark.parametrize(("first", "again"), [("9.0", "0.0"), ("math.inf", "0.3")])
def test_twice_means_now(first: str, again: str) -> None:
    process = stuck(first, again)
    process.send_signal(signal.SIGTERM)
    time.sleep(0.4)
    seconds, said = end(process)
    assert float(again) <= seconds < 5 and said == SAID


def test_who_waits_for_something_says_so_and_twice_means_now() -> None:
    process = stuck("0.1", block=ALLOWED)
    process.send_signal(signal.SIGTERM)
    time.sleep(0.4)
    assert process.poll() is None
    seconds, said = end(process)
    told = "heterodoop: interrupted; the job is killed: at most 9 s more, a second signal ends it now\n"
    assert seconds < 5 and said == told + SAID


def test_what_begins_after_the_signal_is_waited_for_too() -> None:
    waits = "time.sleep(0.3)\n        with last_resort.allowing(1.2, 'it ends'): time.sleep(0.8)\n        break"
    code = STUCK.format(seconds="0.5", again="0.0", block="nullcontext()").replace("time.sleep(1)", waits)
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout and process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=15)
    assert process.returncode == 0 and "interrupted; it ends: at most 1 s more" in said


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_command_of_a_service_that_does_not_answer_ends(number: signal.Signals) -> None:
    """A driver's socket on which nobody speaks."""
    folder = Path(tempfile.mkdtemp(prefix="hd-"))  # a socket's path is short: not pytest's deep folder
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(DriverPlace(folder).socket))
        server.listen()
        words = ["driver", "status", "--dir", str(folder)]
        process = subprocess.Popen([*COMMAND, *words], stderr=subprocess.PIPE, env=environment(), text=True)
        with server.accept()[0]:
            begun = time.monotonic()
            process.send_signal(number)
            said = process.communicate(timeout=15)[1]
    shutil.rmtree(folder)
    assert process.returncode == 130 and time.monotonic() - begun < 14 and "Traceback" not in said


def test_an_interrupt_while_python_starts_is_no_traceback() -> None:
    command = Path(sys.executable).with_name("heterodoop")
    started = []
    for number in range(16):
        started.append(subprocess.Popen([command, "doctor"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True))
        time.sleep(0.004 * (number % 4) + 0.002 * number)
        started[-1].send_signal(signal.SIGINT)
    said = [process.communicate(timeout=20)[1] for process in started]
    assert said == [""] * len(said) and {process.returncode for process in started} <= {-signal.SIGINT, 130}
