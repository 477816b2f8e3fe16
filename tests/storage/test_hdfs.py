"""Reading HDFS through `hdfs-native`: clamped at the end, every kind of failure an OSError of one line."""

from __future__ import annotations

import sys
import types
from typing import Any

import pytest

from heterodoop.storage.hadoop_conf import HadoopConf
from heterodoop.storage.hdfs import HdfsData, split_uri


class PanicException(BaseException):
    """What pyo3 raises for a panic in Rust: no Exception."""


class Reader:
    def __init__(self, content: bytes) -> None:
        self.content = content
        self.short = False

    def __len__(self) -> int:
        return len(self.content)

    def read_range(self, offset: int, size: int) -> bytes:
        if offset + size > len(self.content):
            raise PanicException("range end out of range")
        if self.content == b"broken":
            raise RuntimeError("no DataNode")
        return self.content[offset : offset + size - self.short]


class FakeClient:
    reader = Reader(b"0123456789")

    def __init__(self, url: str, config: dict[str, str]) -> None:
        if url == "hdfs://none":
            raise RuntimeError("no NameNode")
        self.url, self.config = url, config

    def read(self, path: str) -> Reader:
        if path == "/panic":
            raise PanicException("oops")
        if path == "/trace":
            raise FileNotFoundError("not there\n\tat org.apache...")
        if path == "/stop":
            raise KeyboardInterrupt
        if path != "/f":
            raise FileNotFoundError(path)
        return self.reader


@pytest.fixture
def native(monkeypatch: pytest.MonkeyPatch) -> type[FakeClient]:
    module: Any = types.ModuleType("hdfs_native")
    module.Client = FakeClient
    monkeypatch.setitem(sys.modules, "hdfs_native", module)
    monkeypatch.setattr(FakeClient, "reader", Reader(b"0123456789"))
    return FakeClient


CONF = HadoopConf(None, {"fs.defaultFS": "hdfs://nn:1", "a": "${fs.defaultFS}/x"}, {})


def test_ranges_are_clamped_at_the_end(native: type[FakeClient]) -> None:
    file = HdfsData("hdfs://nn:1", CONF).open("/f")
    assert (file.length, file.read(2, 3), file.read(8, 100)) == (10, b"234", b"89")
    assert file.read(10, 5) == file.read(99, 1) == b""


def test_the_cluster_is_the_configurations(native: type[FakeClient]) -> None:
    client = HdfsData("hdfs://nn:1", CONF)._client
    assert client.url == "hdfs://nn:1" and client.config["a"] == "hdfs://nn:1/x"


def test_every_failure_is_an_oserror(native: type[FakeClient]) -> None:
    data = HdfsData("hdfs://nn:1", CONF)
    for path, what in (("/none", "none"), ("/panic", "hdfs-native failed: oops")):
        with pytest.raises(OSError, match=what):
            data.open(path)
    with pytest.raises(OSError) as caught:
        data.open("/trace")
    assert str(caught.value) == "not there"
    with pytest.raises(OSError, match="no NameNode"):
        HdfsData("hdfs://none", CONF)
    native.reader.short = True
    with pytest.raises(OSError, match="2 bytes instead of 3"):
        data.open("/f").read(0, 3)
    native.reader = Reader(b"broken")
    with pytest.raises(OSError, match="no DataNode"):
        data.open("/f").read(0, 3)
    with pytest.raises(KeyboardInterrupt):
        data.open("/stop")


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hdfs_native", None)
    with pytest.raises(OSError, match="heterodoop\\[hdfs\\]"):
        HdfsData("hdfs://nn:1", CONF)


@pytest.mark.parametrize(("uri", "parts"), [
    ("hdfs://nn:1/a/b", ("hdfs", "nn:1", "/a/b")), ("file:/x%20y", ("file", "", "/x y")), ("file:///x", ("file", "", "/x")),
    ("/a:b", ("", "", "/a:b")), ("HDFS://h", ("hdfs", "h", "")), ("s3a://b/k%25", ("s3a", "b", "/k%")), ("", ("", "", "")),
])
def test_uris(uri: str, parts: tuple[str, str, str]) -> None:
    assert split_uri(uri) == parts
