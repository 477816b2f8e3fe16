"""Inputs in HDFS: which files an address stands for, and their copies here."""

from __future__ import annotations

import fnmatch
import os
import sys
import types
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from heterodoop.errors import JobFailed, Limitation, ToolError, UsageError
from heterodoop.storage import hdfs_inputs
from heterodoop.storage.inputs import Listing, resolve

FILES = {
    "/in/b": b"b\n", "/in/a": b"a\n" * 50, "/in/_SUCCESS": b"", "/in/.x": b"x", "/deep/in/c": b"c",
    "/packed.gz": b"\x1f\x8b",
    "/columns": b"Obj\x01\x04\x16avro.schema\x08\"int\"\x14avro.codec\x08null\x00" + b"0123456789abcdef", "/_named": b"n\n",
}
FOLDERS = ["/in", "/deep", "/deep/in", "/empty"]


class Client:
    """hdfs_native's, of a cluster with these files."""

    asked: list[str] = []

    def __init__(self, url: str, config: dict[str, str]) -> None:
        if url == "hdfs://gone":
            raise RuntimeError("no NameNode")
        self.asked.append(url)

    def get_file_info(self, path: str) -> SimpleNamespace:
        if path not in FILES and path not in FOLDERS:
            raise FileNotFoundError(path)
        return SimpleNamespace(path=path, isdir=path in FOLDERS, length=len(FILES.get(path, b"")))

    def list_status(self, folder: str) -> list[SimpleNamespace]:
        return [self.get_file_info(path) for path in [*FILES, *FOLDERS] if os.path.dirname(path) == folder]

    def glob_status(self, pattern: str) -> list[SimpleNamespace]:
        found = [path for path in [*FILES, *FOLDERS] if path.count("/") == pattern.count("/")]
        return [self.get_file_info(path) for path in fnmatch.filter(found, pattern)]

    def read(self, path: str) -> Any:
        return SimpleReader(FILES[path])


class SimpleReader:
    def __init__(self, data: bytes) -> None:
        self.data = data

    def __len__(self) -> int:
        return len(self.data)

    def read_range(self, offset: int, size: int) -> bytes:
        if self.data == b"n\n":
            raise RuntimeError("no DataNode")
        return self.data[offset:offset + size]


@pytest.fixture
def listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Listing]:
    module: Any = types.ModuleType("hdfs_native")
    module.Client = Client
    monkeypatch.setitem(sys.modules, "hdfs_native", module)
    monkeypatch.setattr(Client, "asked", [])
    monkeypatch.setattr(hdfs_inputs, "_RANGE", 7)
    conf = tmp_path / "conf"
    conf.mkdir()
    (conf / "core-site.xml").write_text(
        "<configuration><property><name>fs.defaultFS</name><value>hdfs://nn:1</value></property></configuration>")
    monkeypatch.setenv("HADOOP_CONF_DIR", str(conf))
    return lambda *names, **options: resolve([str(name) for name in names], kept=tmp_path / "kept", **options)


def contents(listing: Listing) -> list[tuple[str, bytes]]:
    return [(file.uri, Path(file.path).read_bytes()) for file in listing.files]


def test_files_folders_and_patterns_in_their_order(listed: Callable[..., Listing], tmp_path: Path) -> None:
    (tmp_path / "here").write_bytes(b"here\n")
    found = listed("hdfs://other:2/in/b", tmp_path / "here", "hdfs:///in", "hdfs:/i*", "HDFS://nn:1/_named/../in/a")
    a, b = ("hdfs://nn:1/in/a", FILES["/in/a"]), ("hdfs://nn:1/in/b", b"b\n")
    other, here = ("hdfs://other:2/in/b", b"b\n"), (f"file:{tmp_path}/here", b"here\n")
    assert contents(found) == [other, here, a, b, a, b, a]
    assert [file.name for file in found.files[:2]] == ["hdfs://other:2/in/b", f"{tmp_path}/here"]
    assert Client.asked == ["hdfs://other:2", "hdfs://nn:1"], "one connection for each cluster"
    assert all(file.stamp and file.size == len(data) for file, (_, data) in zip(found.files, contents(found), strict=True))


def test_what_is_in_them_is_looked_at(listed: Callable[..., Listing]) -> None:
    assert [file.codec for file in listed("hdfs:/packed.gz").files] == ["gzip"]
    with pytest.raises(Limitation, match="hdfs://nn:1/columns' is an Avro file") as caught:
        listed("hdfs:/columns")
    assert caught.value.code == "HD047"


def test_an_empty_folder_is_empty_input(listed: Callable[..., Listing]) -> None:
    found = listed("hdfs:/empty")
    assert found.files == () and [warning.code for warning in found.warnings] == ["HD015"]


@pytest.mark.parametrize(("name", "kind", "code", "said"), [
    ("hdfs:/none", UsageError, "HD010", "no such file"), ("hdfs:/none*", UsageError, "HD012", "no input file matches"),
    ("hdfs:/deep", UsageError, "HD011", "holds a folder: '/deep/in'"), ("hdfs://gone/x", ToolError, "HD632", "no NameNode"),
    ("hdfs:/_named", ToolError, "HD632", "hdfs://nn:1/_named': no DataNode"),
    ("hdfs:/_nam*", UsageError, "HD012", "no input file matches"),
])
def test_errors(listed: Callable[..., Listing], name: str, kind: type[Exception], code: str, said: str) -> None:
    with pytest.raises(kind, match=said) as caught:
        listed(name)
    assert caught.value.code == code  # type: ignore[attr-defined]


def test_without_a_cluster_or_the_package(listed: Callable[..., Listing], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hdfs_native", None)
    with pytest.raises(ToolError, match="hdfs:/in': Python module hdfs_native is missing") as caught:
        listed("hdfs:/in")
    assert caught.value.code == "HD636" and "heterodoop[hdfs]" in caught.value.help
    monkeypatch.delenv("HADOOP_CONF_DIR")
    monkeypatch.delenv("HADOOP_HOME", raising=False)
    with pytest.raises(Limitation, match="names no cluster") as refused:
        listed("hdfs:/in")
    assert refused.value.code == "HD013"


def test_room_is_asked_for_before_anything_is_copied(
    listed: Callable[..., Listing], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "statvfs", lambda path: SimpleNamespace(f_bavail=10, f_frsize=10))
    with pytest.raises(JobFailed, match="have 102 bytes, and '.*kept' has room for 100") as caught:
        listed("hdfs:/in")
    assert caught.value.code == "HD053" and "heterodoop submit" in caught.value.help
    assert not list((tmp_path / "kept").iterdir())


def test_copying_can_be_stopped(listed: Callable[..., Listing]) -> None:
    calls = iter(range(3))
    with pytest.raises(StopIteration):
        listed("hdfs:/in", check=lambda: next(calls))
