"""How the output of a task on a device gets into its files: random texts and runs, and where writing fails, in C++; with and
without ThreadSanitizer."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from .. import kept
from .programs import OUTPUT, build, environment, thread_sanitized


@pytest.fixture
def folder() -> Iterator[Path]:
    """On a disk, where files are mapped: temporary files may lie in memory."""
    kept.FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept.FOLDER.parent) as name:
        yield Path(name)


def checked(program: Path, folder: Path, rounds: int) -> None:
    run = subprocess.run([program, folder, str(rounds)], capture_output=True, text=True, env=environment(), timeout=300)
    said = re.fullmatch(r"(\d+) ranges were mapped\n0 failures\n", run.stdout)
    assert said and (run.returncode, run.stderr) == (0, ""), run.stdout + run.stderr
    kind = subprocess.run(["stat", "-f", "-c", "%T", folder], capture_output=True, text=True, check=True).stdout.strip()
    assert (int(said[1]) > 0) == (kind in ("ext2/ext3", "xfs")), "a mapping is for file systems that are good at it"


def test_the_files_have_what_the_device_gave(folder: Path) -> None:
    checked(build("output_checks"), folder, 300)


@pytest.mark.unsanitized(reason="AddressSanitizer and ThreadSanitizer exclude each other")
def test_threads_do_not_race(tmp_path: Path, folder: Path) -> None:
    checked(thread_sanitized("output_checks", OUTPUT, tmp_path), folder, 20)
