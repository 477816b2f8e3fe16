"""Temporary files of tests lie in memory where there is enough, and are gone afterwards."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from . import in_memory
from .support import ROOT

SHOWS = """
import os
from tests import in_memory
in_memory.NEEDED, in_memory.BESIDE = 1 << 20, 0
with in_memory.temporary_files():
    print(os.environ.get("TMPDIR"))
"""


def test_where_there_is_not_enough_they_stay_where_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "is no file system in memory" in in_memory.why_not(tmp_path)
    if not in_memory.why_not():
        monkeypatch.setattr(in_memory, "NEEDED", 1 << 60)
        assert "has less than" in in_memory.why_not()
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with in_memory.temporary_files():
        assert os.environ["TMPDIR"] == str(tmp_path)


def test_memory_for_the_processes_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_memory, "BESIDE", 1 << 60)
    assert in_memory.why_not()


def test_they_are_gone_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_memory, "NEEDED", 1 << 20)
    monkeypatch.setattr(in_memory, "BESIDE", 0)
    if why := in_memory.why_not():
        pytest.skip(why)
    environment = {name: value for name, value in os.environ.items() if name != "TMPDIR"}
    argv = [sys.executable, "-c", SHOWS]
    folder = Path(subprocess.run(argv, cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout.strip())
    assert folder.parent == in_memory.MEMORY and not folder.exists()
