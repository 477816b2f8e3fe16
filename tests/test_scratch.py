"""Temporary folders: held while their command lives, removed by the next one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from heterodoop import scratch

HELD = "import os, pathlib, sys; from heterodoop import scratch; held = scratch.folder('t-', pathlib.Path(sys.argv[1]));" \
    "path = held.__enter__(); (path / 'file').touch(); print(path, flush=True); "


def test_what_a_killed_command_left_is_removed_by_the_next_one(tmp_path: Path):
    subprocess.run([sys.executable, "-c", HELD + "os._exit(9)", tmp_path], check=False, capture_output=True)
    (left,) = tmp_path.iterdir()
    assert (left / "file").exists()
    for other in ("t-abcdefgh", "t-abcdefghi.hd-tmp", "other-abcdefgh.hd-tmp"):  # not of this form
        (tmp_path / other).mkdir()
    with scratch.folder("t-", tmp_path) as mine:
        assert mine.is_dir() and not left.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other-abcdefgh.hd-tmp", "t-abcdefgh", "t-abcdefghi.hd-tmp"]


def test_a_folder_in_use_stays(tmp_path: Path):
    waits = [sys.executable, "-c", HELD + "sys.stdin.read()", tmp_path]
    with subprocess.Popen(waits, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout and other.stdin
        theirs = Path(other.stdout.readline().strip())
        with scratch.folder("t-", tmp_path):
            assert (theirs / "file").exists()
        other.stdin.close()
        other.kill()
