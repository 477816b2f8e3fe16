"""What cannot be removed at once is removed later."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from heterodoop.driver.job.removals import Removals
from heterodoop.driver.job.tasks import Tasks
from heterodoop.driver.job.work import MARKER, WorkFolder

from ..client import Attempt
from .test_checked import offer_of


@contextmanager
def no_descriptors() -> Iterator[None]:
    """Nothing can be opened in this process."""
    most, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def test_an_attempts_folder_goes_when_descriptors_are_back(attempt: Attempt, tmp_path: Path) -> None:
    removals, nothing = Removals(), None
    tasks = Tasks(*[nothing] * 4, tmp_path / "attempts", removals, nothing)  # type: ignore[arg-type]
    offer = offer_of(attempt)
    with no_descriptors(), tasks.folder(offer, 1) as folder:
        (folder / "work").mkdir()
    assert folder.exists()
    removals.again()
    assert not folder.exists() and not removals._left


def test_what_still_cannot_be_removed_is_tried_once_more(tmp_path: Path) -> None:
    removals = Removals()
    (tmp_path / "a" / "b").mkdir(parents=True)
    with no_descriptors():
        removals.remove(tmp_path / "a")
        removals.again()
    assert (tmp_path / "a" / "b").exists()
    removals.again()
    assert not (tmp_path / "a").exists()


def test_a_folder_that_could_not_be_emptied_is_the_next_drivers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with WorkFolder(tmp_path / "w", ["store"]) as work:
        (work.path / "store" / "x").write_text("x")
        monkeypatch.setattr(WorkFolder, "_empty", lambda self: None)
    monkeypatch.undo()
    assert (tmp_path / "w" / MARKER).exists()
    with WorkFolder(tmp_path / "w", ["store"]) as work:
        assert not (work.path / "store" / "x").exists()
    assert not (tmp_path / "w").exists()
