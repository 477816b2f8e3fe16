"""How a task on a device gets its input: random files, splits and sub-splits against RecordSource, in C++; with and without
ThreadSanitizer."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from .programs import INGEST, build, environment, thread_sanitized


def checked(program: Path, folder: Path, rounds: int) -> None:
    run = subprocess.run([program, folder, str(rounds)], capture_output=True, text=True, env=environment(), timeout=300)
    assert (run.returncode, run.stdout, run.stderr) == (0, "0 failures\n", "")


def test_the_device_gets_the_records_of_the_filter(tmp_path: Path) -> None:
    checked(build("ingest_checks"), tmp_path, 5000)


@pytest.mark.unsanitized(reason="AddressSanitizer and ThreadSanitizer exclude each other")
def test_threads_do_not_race(tmp_path: Path) -> None:
    checked(thread_sanitized("ingest_checks", INGEST, tmp_path), tmp_path, 200)
