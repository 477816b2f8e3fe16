"""`heterodoop fs` against a played WebHDFS."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from heterodoop.errors import Limitation, ToolError
from heterodoop.hadoop.job import client
from heterodoop.storage import webhdfs
from heterodoop.storage.webhdfs import Namespace

from ..support import cli_here
from .fake_cluster import FakeCluster

NAMES = ["50%.txt", "a+b", "a b", "a#b", "a?b", "a&b", "Übung", "#LATEST", "it's", "a;b", "%20", "[x]", "empty"]


@pytest.fixture(autouse=True)
def played(fake: FakeCluster) -> FakeCluster:
    return fake


@pytest.mark.parametrize("name", NAMES)
def test_names_and_bytes_come_back_as_they_were(fake: FakeCluster, tmp_path: Path, name: str):
    data = b"" if name == "empty" else os.urandom(3000)
    (tmp_path / name).write_bytes(data)
    fake.folders.add("/in")
    cli_here("fs", "put", tmp_path / name, "/in")
    assert fake.files == {f"/in/{name}": data}
    assert f"/in/{name}\n" in cli_here("fs", "ls", "/in").out.decode()
    cli_here("fs", "get", f"hdfs:///in/{name}", tmp_path / "back")
    assert (tmp_path / "back").read_bytes() == data
    assert cli_here("fs", "cat", f"/in/{name}").out == data


def test_relative_names_are_below_home(fake: FakeCluster, tmp_path: Path):
    (tmp_path / "f").write_text("x")
    cli_here("fs", "put", tmp_path / "f", "dir/")
    assert fake.files == {"/user/ann/dir/f": b"x"} and "/user/ann/dir" in fake.folders
    fake.folders.add("/user/ann")
    assert json.loads(cli_here("fs", "ls", "--json").out)[0]["name"] == "/user/ann/dir"


def test_a_result_is_read_in_order_and_without_hidden_files(fake: FakeCluster, tmp_path: Path):
    fake.folders.add("/out")
    fake.files.update({"/out/part-00001": b"b\n", "/out/_SUCCESS": b"no", "/out/part-00000": b"a\n", "/out/.x": b"no"})
    assert cli_here("fs", "cat", "/out").out == b"a\nb\n"
    cli_here("fs", "get", "/out", tmp_path / "local")
    assert sorted(os.listdir(tmp_path / "local")) == ["part-00000", "part-00001"]


def test_files_and_folders_are_removed(fake: FakeCluster):
    fake.files.update({"/a": b"", "/d/b": b"", "/d/c/e": b"", "/user/ann/x": b""})
    fake.folders.update({"/d", "/d/c", "/user", "/user/ann"})
    assert "-r" in cli_here("fs", "rm", "/a", "/d", status=2).message and "/a" in fake.files
    assert "HD634" in cli_here("fs", "rm", "/a", "/none", status=2).message and "/a" in fake.files
    cli_here("fs", "rm", "/a", "x")
    cli_here("fs", "rm", "-r", "/d")
    assert not fake.files and fake.folders == {"/", "/user", "/user/ann"}


@pytest.mark.parametrize("path", ["/", "hdfs:///", "/user", "/user/ann", ".", "/user/ann/../ann/", "/user/bob", "/tmp"])
def test_homes_and_what_is_above_them_are_not_removed_by_a_slip(fake: FakeCluster, path: str):
    fake.folders.update({"/user", "/user/ann", "/user/bob", "/tmp"})
    fake.files["/user/ann/x"] = b""
    assert "HD660" in cli_here("fs", "rm", "-r", path, status=2).message
    assert "/user/ann/x" in fake.files and len(fake.folders) == 5
    if path != "/":
        cli_here("fs", "rm", "-r", "-f", path)


@pytest.mark.parametrize(("why", "code"), [
    ("Cannot create file/f. Name node is in safe mode.", "HD658"),
    ("The DiskSpace quota of /user/ann is exceeded: quota = 1000 B", "HD661"),
])
def test_what_keeps_hdfs_from_taking_anything_is_named(
    fake: FakeCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, why: str, code: str,
):
    fake.refuses = why
    (tmp_path / "f").write_text("x")
    message = cli_here("fs", "put", tmp_path / "f", "/f", status=5).message
    assert f"[{code}]" in message and why in message and "dfs" in message


def test_nothing_is_overwritten(fake: FakeCluster, tmp_path: Path):
    (tmp_path / "f").write_text("new")
    fake.files["/f"] = b"old"
    assert "HD634" in cli_here("fs", "put", tmp_path / "f", "/f", status=2).message and fake.files == {"/f": b"old"}
    assert "HD634" in cli_here("fs", "get", "/f", tmp_path / "f", status=2).message
    assert (tmp_path / "f").read_text() == "new" and sorted(os.listdir(tmp_path)) == ["cluster", "f", "heterodoop-mr.jar"]


def test_what_cannot_be_named_is_refused_before_an_upload(fake: FakeCluster, tmp_path: Path):
    (tmp_path / "a:b").write_text("x")
    for arguments in (("put", tmp_path / "a:b", "/d/"), ("put", tmp_path / "none", "/x"), ("put", tmp_path, "/x"),
                      ("get", "/none", tmp_path / "y"), ("cat", "/none"), ("ls", "/none"), ("cat", "")):
        assert "HD634" in cli_here("fs", *arguments, status=2).message
    assert not fake.files and fake.folders == {"/"}
    for name in ("s3a://b/x", "hdfs://other:8020/x"):
        assert "HD637" in cli_here("fs", "cat", name, status=4).message


def test_a_datanode_whose_name_does_not_resolve_is_named(fake: FakeCluster, tmp_path: Path):
    (tmp_path / "f").write_text("x")
    fake.datanode = "no-such-host.invalid:9864"
    message = cli_here("fs", "put", tmp_path / "f", "/f", status=5).message
    assert "HD632" in message and "no-such-host.invalid:9864" in message and "dfs.client.use.datanode.hostname" in message
    assert not fake.files


def test_a_namenode_that_is_gone(fake: FakeCluster):
    fake.close()
    message = cli_here("fs", "ls", "/", status=5).message
    assert "HD632" in message and fake.address in message


def test_what_it_needs(fake: FakeCluster, monkeypatch: pytest.MonkeyPatch):
    site = fake.folder / "conf" / "core-site.xml"
    text = site.read_text()
    site.write_text(text.replace("hdfs://namenode:8020", "s3a://bucket"))
    with pytest.raises(Limitation) as caught:
        Namespace(client.configuration())
    assert caught.value.code == "HD637"
    site.write_text(text)
    monkeypatch.setattr(webhdfs, "hdfs", None)
    with pytest.raises(ToolError) as missing:
        Namespace(client.configuration())
    assert missing.value.code == "HD636"
