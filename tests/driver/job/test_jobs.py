"""Bundles that a driver cannot load: no folder stays, and the next attempt loads the bundle anew."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from heterodoop import manifest
from heterodoop.driver.job.files import FileStore, Folders, JobFile, bundle_hash
from heterodoop.driver.job.jobs import Bundle, Jobs
from heterodoop.driver.job.removals import Removals
from heterodoop.errors import HeteroDoopError

from ..client import files_of, mode_of, sha


class Sent:
    """A job's bundle as an attempt sends it; `asked`: files that were missing."""

    def __init__(self, bundle: Path, base: Path) -> None:
        self.sources = files_of(bundle, "app.hdp/")
        self.files = [JobFile(name, sha(p.read_bytes()), p.stat().st_size, mode_of(p)) for name, p in self.sources.items()]
        self.offer = cast(Any, SimpleNamespace(bundle_name="app.hdp", bundle=bundle_hash(self.files, "app.hdp")))
        self.store, self.place = FileStore(base / "s", 10**8), base / "f"
        self.asked: list[str] = []
        self.jobs = Jobs(cast(Any, None), "emulated", Folders(self.store, self.place, Removals()),
                         lambda job, why, side: None)

    def fetch(self, lacking: Sequence[JobFile]) -> None:
        for one in lacking:
            self.asked.append(one.name)
            self.store.take(one, [self.sources[one.name].read_bytes()])

    def bundle(self, used: ExitStack) -> Bundle:
        return self.jobs.bundle(self.offer, self.files, self.fetch, used)

    def folders(self) -> list[str]:
        return os.listdir(self.place)


@pytest.fixture
def broken(wordcount: Path, tmp_path: Path) -> Sent:
    """A manifest that is cut off."""
    text = (wordcount / manifest.FILE).read_text()
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / manifest.FILE).write_text(text[: len(text) // 2])
    return Sent(tmp_path / "b", tmp_path)


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Path]]:
    """Folders that bundles were loaded from."""
    seen: list[Path] = []
    real = manifest.load

    def load(folder: Path) -> manifest.Manifest:
        seen.append(folder)
        return real(folder)

    monkeypatch.setattr(manifest, "load", load)
    yield seen


def test_it_leaves_no_folder_and_is_loaded_anew(broken: Sent, loads: list[Path]) -> None:
    for number in (1, 2, 3):
        with ExitStack() as used, pytest.raises(HeteroDoopError):
            broken.bundle(used)
        assert broken.folders() == [] and len(loads) == number and len(set(loads)) == number
    assert broken.asked == [f"app.hdp/{manifest.FILE}"], "its bytes were the right ones"


def test_attempts_that_have_it_at_the_same_time_hear_the_same(broken: Sent, loads: list[Path]) -> None:
    with ExitStack() as one:
        with ExitStack() as other:
            said = []
            for used in (one, other):
                with pytest.raises(HeteroDoopError) as caught:
                    broken.bundle(used)
                said.append((caught.value.code, type(caught.value)))
            assert said[0] == said[1]
        assert len(broken.folders()) == 1, "the first attempt's, which still uses it"
    assert broken.folders() == []


def test_one_that_another_attempt_gave_up_meanwhile(broken: Sent, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both have the same folder, and the other one is sooner."""
    real, times = Jobs._loaded, []

    def loaded(self: Jobs, bundle: str, folder: Path) -> Bundle:
        times.append(folder)
        self._folders.forget(folder.parent)
        return real(self, bundle, folder)

    monkeypatch.setattr(Jobs, "_loaded", loaded)
    with ExitStack() as used, pytest.raises(HeteroDoopError):
        broken.bundle(used)
    assert len(times) == 2 and broken.folders() == []


def test_one_that_can_be_loaded_is_loaded_once(wordcount: Path, tmp_path: Path, loads: list[Path]) -> None:
    sent = Sent(wordcount, tmp_path)
    with ExitStack() as used:
        first = sent.bundle(used)
        assert sent.bundle(used) is first
    with ExitStack() as used:
        assert sent.bundle(used) is first
    assert len(loads) == 1 and len(sent.folders()) == 1
