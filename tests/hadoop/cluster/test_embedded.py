"""The embedded cluster is a Hadoop: HDFS keeps files, commands work. A plain streaming job is on its page."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from heterodoop.daemon import processes
from heterodoop.hadoop.cluster import Cluster
from heterodoop.hadoop.embedded import proc
from heterodoop.hadoop.embedded.web import get_json

from ...support import cli_here

Hadoop = Callable[..., str]


@pytest.fixture
def hadoop(cluster: Cluster) -> Hadoop:
    """Run one of the cluster's commands; returns what it printed."""

    def run(*words: object, status: int = 0) -> str:
        argv = [cluster.command(str(words[0])), *map(str, words[1:])]
        done = subprocess.run(argv, env=cluster.environment(), capture_output=True, text=True, timeout=180, check=False)
        assert done.returncode == status, f"{argv}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr

    return run


def test_hdfs_gives_back_what_it_got(hadoop: Hadoop, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(bytes(range(256)) * 2000)
    hadoop("hdfs", "dfs", "-D", "dfs.blocksize=65536", "-put", source, "/tmp/source")
    hadoop("hadoop", "fs", "-get", "/tmp/source", tmp_path / "back")
    assert (tmp_path / "back").read_bytes() == source.read_bytes()
    assert "Total blocks (validated):\t8 " in hadoop("hdfs", "fsck", "/tmp/source")


def test_everybody_may_use_tmp_and_nobody_else_s_folder(hadoop: Hadoop) -> None:
    listed = {line.split()[-1]: line.split()[0] for line in hadoop("hadoop", "fs", "-ls", "/").splitlines()[1:]}
    assert listed["/tmp"] == "drwxrwxrwt" and listed["/user"] == listed["/mr-history"] == "drwxr-xr-x"
    assert hadoop("hdfs", "getconf", "-confKey", "dfs.permissions.enabled").strip() == "true"


def test_the_usual_commands(cluster: Cluster, hadoop: Hadoop) -> None:
    assert hadoop("hadoop", "version").startswith("Hadoop 3.5.0")
    assert "org.apache.hadoop.fs.FsShell" not in hadoop("mapred", "job", "-list")
    assert "there are: " in hadoop("hdfs", "namenode", status=1)
    assert hadoop("hadoop", "org.apache.hadoop.util.VersionInfo").startswith("Hadoop 3.5.0")
    assert hadoop("hadoop", "--config", cluster.conf_dir, "classpath").endswith(f"/lib/*:{cluster.conf_dir}\n")


def test_status_env_and_logs(cluster: Cluster) -> None:
    told = json.loads(cli_here("cluster", "status", "--json", "--dir", cluster.dir).out)
    assert told["running"] and told["version"] == "3.5.0" and len(told["node_ports"]) == 3
    listed = get_json(cluster.state.ports["resourcemanager-web"], "/ws/v1/cluster/nodes?states=RUNNING")["nodes"]["node"]
    assert {int(node["id"].rpartition(":")[2]) for node in listed} == set(told["node_ports"])
    lines = cli_here("cluster", "env", "--dir", cluster.dir).out.decode()
    script = f'{lines}\ncommand -v hadoop; echo "$HADOOP_CONF_DIR"; ls "$HETERODOOP_STREAMING_JAR"'
    shown = subprocess.run(["sh", "-euc", script], capture_output=True, text=True, check=True).stdout.splitlines()
    assert shown == [cluster.command("hadoop"), told["conf_dir"], told["streaming_jar"]]
    assert b"FSNamesystem" in cli_here("cluster", "logs", "namenode", "--dir", cluster.dir).out


def test_only_the_shuffle_is_open_to_the_network(cluster: Cluster) -> None:
    servers = {cluster.state.process(name): name for name in cluster.state.pids}
    found = [servers[process] for process, _ in proc.listening(servers)]
    assert found == ["nodemanager1", "nodemanager2", "nodemanager3"]


def test_a_second_up_names_the_running_one(cluster: Cluster) -> None:
    done = cli_here("cluster", "up", "--dir", cluster.dir, status=2)
    pid = cluster.state.pids["namenode"]
    assert f"error[HD607]: a cluster of Hadoop 3.5.0 runs in {cluster.dir} already" in done.message
    assert f"namenode has pid {pid}" in done.message and cluster.state.alive("namenode")


def test_a_killed_server_is_started_again(cluster: Cluster) -> None:
    with killed(cluster, "nodemanager2"):
        assert cli_here("cluster", "status", "--dir", cluster.dir, status=1).out.decode().count("does not run") == 1
    assert "does not run" not in cli_here("cluster", "status", "--dir", cluster.dir).out.decode()


@contextmanager
def killed(cluster: Cluster, name: str) -> Iterator[None]:
    cluster.kill(name)
    assert processes.wait_end(cluster.state.process(name), 10)
    try:
        yield
    finally:
        cluster.restart(name)
