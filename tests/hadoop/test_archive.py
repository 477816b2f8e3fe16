"""Bundles as archives, and names that Hadoop can carry."""

from __future__ import annotations

import hashlib
import os
import shutil
import tarfile
import time
from pathlib import Path

import pytest

from heterodoop.errors import UsageError
from heterodoop.hadoop.submit import archive

from ..support import Bundles

MAP = """
#include <stdio.h>
int main(void) {
  char *line = NULL; size_t cap = 0;
  while (getline(&line, &cap, stdin) != -1) printf("k\\t1\\n");
  return 0;
}
"""


@pytest.fixture
def bundle(bundles: Bundles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return Path(shutil.copytree(bundles.get(MAP), tmp_path / "wc.hdp"))


def test_an_archive_holds_the_bundle_executable_as_nodes_make_it(bundle: Path, tmp_path: Path):
    packed = archive.pack(bundle)
    assert packed.name == "wc.hdp" and packed.path.name == "wc.hdp.tgz"
    with tarfile.open(packed.path) as tar:
        tar.extraction_filter = getattr(tarfile, "data_filter", None)  # Python 3.11.2 has none
        tar.extractall(tmp_path / "there")
        assert {entry.mtime for entry in tar} == {0} and [e.name for e in tar] == sorted(e.name for e in tar)
    assert all(os.access(path, os.X_OK) for path in (tmp_path / "there").rglob("*"))
    for file in archive.bundle_files(bundle):
        assert (tmp_path / "there" / file.name).read_bytes() == file.path.read_bytes()


def test_the_hash_is_over_names_and_contents(bundle: Path):
    lines = sorted(
        b"%s\0%s\0x\n" % (os.fsencode(path.relative_to(bundle)), hashlib.sha256(path.read_bytes()).hexdigest().encode())
        for path in bundle.rglob("*") if path.is_file()
    )
    assert archive.pack(bundle).sha256 == hashlib.sha256(b"".join(lines)).hexdigest()


def test_equal_bundles_give_equal_archives_and_are_packed_once(bundle: Path, tmp_path: Path):
    first = archive.pack(bundle)
    data = first.path.read_bytes()
    time.sleep(0.01)
    again = archive.pack(Path(shutil.copytree(bundle, tmp_path / "other" / "wc.hdp")))
    assert again == first
    first.path.unlink()
    for path in bundle.rglob("*"):
        os.utime(path, (1, 1))
    assert archive.pack(bundle).path.read_bytes() == data


def test_another_file_is_another_bundle(bundle: Path):
    first = archive.pack(bundle)
    (bundle / "src" / "notes.txt").write_text("x")
    assert archive.pack(bundle).sha256 != first.sha256


def test_a_link_in_a_bundle_is_refused(bundle: Path):
    (bundle / "src" / "link").symlink_to("/etc/passwd")
    with pytest.raises(UsageError, match="link") as caught:
        archive.pack(bundle)
    assert caught.value.code == "HD633"


def test_a_bundle_gets_a_name_that_needs_no_quoting(bundle: Path):
    odd = bundle.rename(bundle.with_name("my job's (größe).hdp"))
    assert archive.SAFE.match(archive.pack(odd).name) and archive.pack(odd).name.endswith(".hdp")
    assert archive.safe_name("..") == "bundle" and archive.safe_name("-x") == "x"


def test_the_archive_lies_where_hadoops_client_can_name_it(bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "my cache"))
    monkeypatch.setattr(archive.tempfile, "gettempdir", lambda: str(tmp_path))
    packed = archive.pack(bundle)
    assert packed.path.is_file() and archive.SAFE.match(str(packed.path))


def test_an_address_that_does_not_survive_is_linked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    odd = tmp_path / "it's a file #1"
    odd.write_text("x")
    linked = archive.shippable(odd, "f")
    assert archive.SAFE.match(str(linked)) and linked.read_text() == "x" and archive.shippable(odd, "f") == linked
    plain = tmp_path / "plain"
    assert archive.shippable(plain, "f") == plain


@pytest.mark.parametrize("size", [0, 2000])
def test_a_truncated_archive_in_the_cache_is_made_again(bundle: Path, size: int):
    first = archive.pack(bundle)
    right = first.path.read_bytes()
    os.truncate(first.path, size)
    assert archive.pack(bundle) == first and first.path.read_bytes() == right
