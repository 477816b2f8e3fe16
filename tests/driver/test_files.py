"""Files of jobs: names that lead elsewhere, bytes that are not those of the hash, a store that stays within its size."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heterodoop.driver.files import Folders, JobFile, Store, bundle_hash, parse_files
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
    store = Store(tmp_path / "s", 100)
    name = os.fsdecode(b"\xff\xfe")
    files = parse_files([entry(name, hashlib.sha256(b"x").hexdigest())])
    folder = Folders(store, tmp_path / "f").make(files, lambda lacking: store.take(lacking[0], [b"x"]))
    assert os.listdir(os.fsencode(folder)) == [b"\xff\xfe"]


def test_bytes_must_be_those_of_the_hash(tmp_path: Path) -> None:
    store = Store(tmp_path, 100)
    for pieces in ([b"abd"], [b"ab"], [b"abc", b"d"], []):
        with pytest.raises(UsageError, match="not the file that was named") as caught:
            store.take(file("a", b"abc"), pieces)
        assert caught.value.code == "HD616"
    assert os.listdir(tmp_path) == [] and store.missing([file("a", b"abc")])


def test_a_folder_of_links_that_nobody_can_write_through(tmp_path: Path) -> None:
    store = Store(tmp_path / "s", 100)
    folders = Folders(store, tmp_path / "f")
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
    assert folders.make(files, fetch) == folder == folders.find(files) and len(asked) == 1
    other = folders.make(files[:2], fetch)
    assert other != folder and len(asked) == 1  # nothing is asked for twice
    folders.forget(folder)
    assert not folder.exists() and folders.find(files) is None and (other / "data").read_bytes() == b"abc"


def test_the_store_keeps_to_its_size(tmp_path: Path) -> None:
    store = Store(tmp_path / "s", 10)
    folders = Folders(store, tmp_path / "f")
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


def test_the_identity_of_a_bundle() -> None:
    files = [file("app.hdp/b", b"1"), file("app.hdp/a/x", b"2", "x"), file("other", b"3")]
    rows = [f"a/x\0{files[1].sha256}\0x\n", f"b\0{files[0].sha256}\0-\n"]
    assert bundle_hash(files, "app.hdp") == hashlib.sha256("".join(rows).encode()).hexdigest()
