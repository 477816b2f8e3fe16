"""Hadoop's configuration files: order, `final`, variables, defaults, addresses, and what is wrong with a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from heterodoop.errors import UsageError
from heterodoop.storage import hadoop_conf
from heterodoop.storage.hadoop_conf import HadoopConf


def site(folder: Path, name: str, *properties: tuple[str, str] | tuple[str, str, bool], extra: str = "") -> None:
    rows = [
        f"<property><name>{row[0]}</name><value>{row[1]}</value>{'<final>true</final>' if len(row) == 3 else ''}</property>"
        for row in properties
    ]
    (folder / name).write_text("<?xml version='1.0'?>\n<configuration>\n" + "\n".join(rows) + extra + "</configuration>\n")


def conf(**values: str) -> HadoopConf:
    return HadoopConf(None, {key.replace("_", "."): value for key, value in values.items()}, {"HOST": "h1", "EMPTY": ""})


def test_later_files_win_but_not_over_final(tmp_path: Path) -> None:
    site(tmp_path, "core-site.xml", ("a", "1"), ("b", "1", True), ("fs.default.name", "hdfs://nn:1/"))
    site(tmp_path, "yarn-site.xml", ("a", "2"), ("b", "2"))
    loaded = hadoop_conf.load(tmp_path)
    assert (loaded.get("a"), loaded.get("b"), loaded.get("none", "x")) == ("2", "1", "x")
    assert loaded.default_fs() == "hdfs://nn:1" and loaded.folder == tmp_path


def test_the_folder_comes_from_the_environment(tmp_path: Path) -> None:
    site(tmp_path, "core-site.xml", ("a", "1"))
    assert hadoop_conf.load(environ={"HADOOP_CONF_DIR": str(tmp_path)}).get("a") == "1"
    home = tmp_path / "home"
    (home / "etc" / "hadoop").mkdir(parents=True)
    site(home / "etc" / "hadoop", "core-site.xml", ("a", "2"))
    assert hadoop_conf.load(environ={"HADOOP_HOME": str(home)}).get("a") == "2"
    empty = hadoop_conf.load(environ={})
    assert empty.folder is None and empty.default_fs() == "file:" + "//"


@pytest.mark.parametrize(("text", "value"), [
    ("${env.HOST}:1", "h1:1"), ("${env.NONE}", "${env.NONE}"), ("${env.NONE:-d}", "d"), ("${env.NONE-d}", "d"),
    ("${env.EMPTY:-d}", "d"), ("${env.EMPTY-d}", ""), ("${other}/${other}", "o/o"), ("${inner.${part}}", "nested"),
    ("  ${unknown} ", "${unknown}"), ("${unknown} ${other}", "${unknown} o"), ("$other ${}", "$other ${}"),
])
def test_variables(text: str, value: str) -> None:
    assert conf(key=text, other="o", part="x", inner_x="nested").get("key") == value


def test_variables_in_a_circle_are_named() -> None:
    with pytest.raises(UsageError) as caught:
        conf(a="${b}", b="${a}").get("a")
    assert caught.value.code == "HD610" and "a:" in caught.value.message


def test_includes(tmp_path: Path) -> None:
    xi = '<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="{}">{}</xi:include>'
    site(tmp_path, "more.xml", ("a", "1"))
    site(tmp_path, "core-site.xml", extra=xi.format("more.xml", "") + xi.format("none.xml", "<xi:fallback/>"))
    assert hadoop_conf.load(tmp_path).get("a") == "1"
    site(tmp_path, "core-site.xml", extra=xi.format("none.xml", ""))
    with pytest.raises(UsageError, match=r"none\.xml"):
        hadoop_conf.load(tmp_path)
    site(tmp_path, "core-site.xml", extra=xi.format("core-site.xml", ""))
    with pytest.raises(UsageError, match="include each other"):
        hadoop_conf.load(tmp_path)


@pytest.mark.parametrize("text", ["<configuration>", "<conf/>", "\0"])
def test_a_damaged_file_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "hdfs-site.xml").write_text(text)
    with pytest.raises(UsageError, match=r"hdfs-site\.xml") as caught:
        hadoop_conf.load(tmp_path)
    assert caught.value.code == "HD610"


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="HADOOP_CONF_DIR|no such folder"):
        hadoop_conf.load(tmp_path / "none")


def test_addresses() -> None:
    plain = HadoopConf(None, {"fs.defaultFS": "hdfs://nn:8020", "yarn.resourcemanager.hostname": "rm"}, {})
    assert plain.rm_webs() == ("http://rm:8088",) and plain.nn_webs() == ("http://nn:9870",)
    assert plain.jhs_web() == "http://127.0.0.1:19888" and not plain.secure
    https = HadoopConf(None, {"yarn.http.policy": "HTTPS_ONLY", "yarn.resourcemanager.hostname": "rm"}, {})
    assert https.rm_webs() == ("https://rm:8090",) and https.nn_webs() == ()


def test_addresses_with_high_availability() -> None:
    values = {
        "yarn.resourcemanager.ha.enabled": "true", "yarn.resourcemanager.ha.rm-ids": "r1, r2",
        "yarn.resourcemanager.hostname.r1": "a", "yarn.resourcemanager.webapp.address.r2": "b:99",
        "fs.defaultFS": "hdfs://ns", "dfs.ha.namenodes.ns": "n1,n2",
        "dfs.namenode.http-address.ns.n1": "x:1", "dfs.namenode.http-address.ns.n2": "y:2",
    }
    ha = HadoopConf(None, values, {})
    assert ha.rm_webs() == ("http://a:8088", "http://b:99") and ha.nn_webs() == ("http://x:1", "http://y:2")
