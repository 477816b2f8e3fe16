"""Files of jobs: names that lead elsewhere, bytes that are not those of the hash, a store that stays within its size."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heterodoop.driver.job.files import IDLE_SECONDS, FileStore, Folders, JobFile, bundle_hash, parse_files
from heterodoop.driver.job.removals import Removals
from heterodoop.errors import UsageError

HASH = "0" * 64


def entry(name: str, sha256: str = HASH, size: object = 1, mode: str = "-") -> bytes:
    return os.fsencode(name) + f"\0{sha256}\0{size}\0{mode}".encode()


def file(name: str, data: bytes, mode: str = "-") -> JobFile:
    return JobFile(name, hashlib.sha256(data).hexdigest(), len(data), mode)


@pytest.mark.parametrize("name", [
    "/etc/passwd", "../x", "a/../../x", "a/..", "..", ".", "", "a//b", "a/", "./a", "/", "x" * 256, "a/" * 1024 + "b",
])
def test_names_that_lead_elsewhere(name: str) -> None:
    with pytest.raises(UsageError) as caught:
        JobFile.parse(entry(name))
    assert caught.value.code == "HD616"


@pytest.mark.parametrize("field", [
    b"a", b"a\0" + HASH.encode() + b"\0" + b"1", entry("a", "x" * 64), entry("a", HASH.upper().replace("0", "A")),
    entry("a", size="-1"), entry("a", size=""), entry("a", mode="w"), entry("a\0b"), entry("a", "../" + HASH),
])
def test_entries_that_are_none(field: bytes) -> None:
    with pytest.raises(UsageError, match="HD616|the job's files"):
        JobFile.parse(field)


def test_files_that_cannot_be_together() -> None:
    with pytest.raises(UsageError, match="twice"):
        parse_files([entry("a"), entry("a", mode="x")])
    with pytest.raises(UsageError, match="below another file"):
        parse_files([entry("a"), entry("a/b")])
    assert [f.name for f in parse_files([entry("b/c"), entry("b/a"), entry("...")])] == ["...", "b/a", "b/c"]


@given(st.binary(max_size=60))
def test_no_name_leaves_the_folder(raw: bytes) -> None:
    name = os.fsdecode(raw)
    try:
        found = JobFile.parse(entry(name))
    except UsageError:
        return
    inside = os.path.normpath(os.path.join("/job", found.name))
    assert inside.startswith("/job/") and inside == os.path.join("/job", found.name)


def test_names_need_not_be_utf8(tmp_path: Path) -> None:
    store = FileStore(tmp_path / "s", 100)
    name = os.fsdecode(b"\xff\xfe")
    files = parse_files([entry(name, hashlib.sha256(b"x").hexdigest())])
    folder = Folders(store, tmp_path / "f", Removals()).make(files, lambda lacking: store.take(lacking[0], [b"x"]))
    assert os.listdir(os.fsencode(folder)) == [b"\xff\xfe"]


def test_bytes_must_be_those_of_the_hash(tmp_path: Path) -> None:
    store = FileStore(tmp_path, 100)
    for pieces in ([b"abd"], [b"ab"], [b"abc", b"d"], []):
        with pytest.raises(UsageError, match="not the file that was named") as caught:
            store.take(file("a", b"abc"), pieces)
        assert caught.value.code == "HD616"
    assert os.listdir(tmp_path) == [] and store.missing([file("a", b"abc")])


def test_a_folder_of_links_that_nobody_can_write_through(tmp_path: Path) -> None:
    store = FileStore(tmp_path / "s", 100)
    folders = Folders(store, tmp_path / "f", Removals())
    files = [file("bin/map", b"abc", "x"), file("data", b"abc"), file("sub/more", b"xy")]
    asked: list[list[str]] = []

    def fetch(lacking: list[JobFile]) -> None:
        asked.append(sorted(f.name for f in lacking))
        for one in lacking:
            store.take(one, [b"abc" if one.size == 3 else b"xy"])

    folder = folders.make(files, fetch)
    assert asked == [["bin/map", "data", "sub/more"]]
    assert (folder / "bin/map").read_bytes() == b"abc" and os.access(folder / "bin/map", os.X_OK)
    assert (folder / "data").stat().st_mode & 0o777 == 0o444 and (folder / "bin/map").stat().st_mode & 0o777 == 0o555
    assert folders.make(files, fetch) == folder and folders.has(folder) and len(asked) == 1
    other = folders.make(files[:2], fetch)
    assert other != folder and len(asked) == 1  # nothing is asked for twice
    folders.forget(folder)
    assert not folder.exists() and not folders.has(folder) and (other / "data").read_bytes() == b"abc"


def test_the_store_keeps_to_its_size(tmp_path: Path) -> None:
    store = FileStore(tmp_path / "s", 10)
    folders = Folders(store, tmp_path / "f", Removals())
    files = [file(f"f{n}", bytes([n]) * 4) for n in range(4)]

    def fetch(lacking: list[JobFile]) -> None:
        for one in lacking:
            store.take(one, [bytes([int(one.name[1:])]) * 4])

    first = folders.make(files[:2], fetch)
    folders.make(files[2:], fetch)
    assert store.used <= 10 and len(os.listdir(tmp_path / "s")) == 2
    assert (first / "f0").read_bytes() == bytes(4)  # a folder keeps what it has
    with pytest.raises(OSError, match="larger than the driver's store"):
        folders.make(files, fetch)
    assert sorted(os.listdir(tmp_path / "f")) == ["1", "2"]


DAMAGE: dict[str, Callable[[Path], object]] = {
    "gone": lambda path: path.unlink(),
    "shorter": lambda path: os.truncate(path, 1),
    "another byte, an old time": lambda path: (path.chmod(0o600), path.write_bytes(b"abx"), os.utime(path, (1, 1))),
    "a link": lambda path: (path.unlink(), path.symlink_to("/etc/passwd")),
    "a pipe": lambda path: (path.unlink(), os.mkfifo(path)),
    "a folder": lambda path: (path.unlink(), path.mkdir(), (path / "x").touch()),
}


class Told:
    """A store with folders, what it was told of damage, and what was asked for. All files hold `abc`."""

    def __init__(self, base: Path) -> None:
        self.said: list[str] = []
        self.asked: list[str] = []
        self.store = FileStore(base / "s", 100, self.said.append)
        self.folders = Folders(self.store, base / "f", Removals())

    def fetch(self, lacking: list[JobFile]) -> None:
        for one in lacking:
            self.asked.append(one.name)
            self.store.take(one, [b"abc"])

    def make(self, *files: JobFile) -> Path:
        return self.folders.make(files, self.fetch)


@pytest.mark.parametrize("kind", DAMAGE)
def test_what_is_gone_or_damaged_in_the_store_is_asked_for_again(tmp_path: Path, kind: str) -> None:
    told = Told(tmp_path)
    one = file("b/bin/map", b"abc", "x")
    told.folders.forget(told.make(one))
    (kept,) = (tmp_path / "s").iterdir()
    DAMAGE[kind](kept)
    folder = told.make(one)
    assert (folder / one.name).read_bytes() == b"abc" and told.asked == [one.name] * 2
    assert len(told.said) == 1 and "b/bin/map" in told.said[0] and "asked for again" in told.said[0]


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_folder_is_made_again_and_spoils_no_other(tmp_path: Path, kind: str) -> None:
    """Two bundles share a file, and with it an inode."""
    told = Told(tmp_path)
    mine, theirs = file("a/data", b"abc"), file("b/data", b"abc")
    first = told.make(mine)
    told.make(theirs)
    with told.folders.use([mine], told.fetch) as used:  # its attempt goes on as it can
        DAMAGE[kind](first / "a/data")
        again = told.make(mine)
        assert used == first != again and first.exists() and told.folders.damaged(first)
    assert not first.exists() and (again / "a/data").read_bytes() == b"abc"
    assert (told.make(theirs) / "b/data").read_bytes() == b"abc" and any("a/data" in what for what in told.said)
    assert told.make(mine) == again


def test_a_file_that_something_always_removes_is_said_to_be_so(tmp_path: Path) -> None:
    told = Told(tmp_path)

    def fetch(lacking: list[JobFile]) -> None:
        told.fetch(lacking)
        for path in (tmp_path / "s").iterdir():
            path.unlink()

    with pytest.raises(OSError, match="something removes them"):
        told.folders.make([file("x", b"abc")], fetch)
    assert not told.store.used and os.listdir(tmp_path / "f") == []


def test_files_that_cannot_fit_are_not_even_asked_for(tmp_path: Path) -> None:
    told = Told(tmp_path)
    with pytest.raises(OSError, match="larger than the driver's store"):
        told.make(JobFile("x", HASH, 10**17, "-"))
    assert told.asked == []


def test_folders_are_forgotten_when_nobody_has_used_them_for_long(tmp_path: Path) -> None:
    told = Told(tmp_path)
    one, two = file("one", b"abc"), file("two", b"abc")
    idle = told.make(one)
    later = time.monotonic() + 2 * IDLE_SECONDS
    with told.folders.use([two], told.fetch) as busy:
        told.folders.forget_idle(later)
        assert not idle.exists() and busy.exists()
    told.folders.forget_idle(time.monotonic())
    assert busy.exists()
    told.folders.forget_idle(later)
    assert not busy.exists()


def test_the_identity_of_a_bundle() -> None:
    files = [file("app.hdp/b", b"1"), file("app.hdp/a/x", b"2", "x"), file("other", b"3")]
    rows = [f"a/x\0{files[1].sha256}\0x\n", f"b\0{files[0].sha256}\0-\n"]
    assert bundle_hash(files, "app.hdp") == hashlib.sha256("".join(rows).encode()).hexdigest()
