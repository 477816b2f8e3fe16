"""Temporary folders: held while their command lives, removed by the next one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from heterodoop import last_resort, scratch
from heterodoop.errors import UsageError

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


def test_among_temporary_files_any_command_removes_what_another_one_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left = [tmp_path / f"heterodoop-{what}-abcdefgh.hd-tmp" for what in ("tool", "doctor", "client", "app", "verify")]
    others = [tmp_path / "heterodoop-1000", tmp_path / "heterodoop-cache-abcdefgh", tmp_path / "tool-abcdefgh.hd-tmp"]
    for path in [*left, *others]:
        path.mkdir()
    with scratch.folder("run-") as mine:
        assert sorted(tmp_path.iterdir()) == sorted([*others, mine])


def test_an_interrupt_in_the_removal_is_made_up_for_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    plain = scratch.shutil.rmtree

    def cut(*words: object, **options: object) -> None:
        monkeypatch.setattr(scratch.shutil, "rmtree", plain)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), scratch.folder("t-", tmp_path):
        monkeypatch.setattr(scratch.shutil, "rmtree", cut)
    assert list(tmp_path.iterdir())
    last_resort.settle()
    assert not list(tmp_path.iterdir()) and not last_resort._owed


@pytest.mark.parametrize("fails", [False, True])
def test_an_interrupt_while_a_folder_is_made_leaves_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: bool):
    plain = scratch._make

    def interrupted(*words: Any) -> tuple[Path, int]:
        signal.raise_signal(signal.SIGINT)
        if fails:
            raise OSError("no room")
        return plain(*words)

    monkeypatch.setattr(scratch, "_make", interrupted)
    with pytest.raises(KeyboardInterrupt), scratch.folder("t-", tmp_path):
        raise AssertionError("the interrupt is lost")
    assert not list(tmp_path.iterdir()) and signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_folders_that_are_made_and_swept_at_the_same_time(tmp_path: Path):
    def use(number: int) -> bool:
        with scratch.folder("t-", tmp_path) as folder:
            return folder.is_dir()

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(use, range(400)))
    assert not list(tmp_path.iterdir())


def test_a_folder_in_use_stays(tmp_path: Path):
    waits = [sys.executable, "-c", HELD + "sys.stdin.read()", tmp_path]
    with subprocess.Popen(waits, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout and other.stdin
        theirs = Path(other.stdout.readline().strip())
        with scratch.folder("t-", tmp_path):
            assert (theirs / "file").exists()
        other.stdin.close()
        other.kill()


def test_a_folder_for_temporary_files_that_others_could_change_is_refused(tmp_path: Path, monkeypatch) -> None:
    """Programs are built and run there. Without the sticky bit anybody could put his own folder into its place."""
    (shared := tmp_path / "shared").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(shared))
    for mode, refused in ((0o777, True), (0o1777, False), (0o755, False)):
        shared.chmod(mode)
        with pytest.raises(UsageError, match="others may write") if refused else nullcontext():
            with scratch.folder("t-") as folder:
                assert folder.parent == shared
        assert not os.listdir(shared)
