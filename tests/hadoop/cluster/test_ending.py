"""Nothing stays behind: not after `down`, not when the owner is killed, not when a NodeManager left its containers."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from heterodoop.hadoop import cluster as hadoop
from heterodoop.hadoop import processes
from heterodoop.hadoop.cluster import Cluster
from heterodoop.hadoop.folder import Folder

from ...support import cli_process

UP = 300


@pytest.fixture
def owner() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "3600"]) as process:
        yield process
        process.kill()


def wait_for(what: str, holds: Callable[[], object], seconds: float = 90) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"not after {seconds} s: {what}"
        time.sleep(0.2)


def left_of(folder: Path) -> list[processes.Process]:
    words = (Folder(folder).marker, str(folder))  # of a server, of a keeper
    return [*processes.containers(folder), *(p for word in words for p in processes.with_argument(word))]


def start_job(cluster: Cluster) -> subprocess.Popen[bytes]:
    """A map task whose filter runs for long, without an environment by which it could be found."""
    subprocess.run([cluster.command("hdfs"), "dfs", "-put", __file__, "/tmp/kept"], env=cluster.environment(), check=True)
    argv = [cluster.command("mapred"), "streaming", "-D", "mapreduce.job.maps=1", "-D", "mapreduce.job.reduces=0"]
    argv += ["-input", "/tmp/kept", "-output", "/tmp/never", "-mapper", "env -i /bin/sleep 3599"]
    return subprocess.Popen(argv, env=cluster.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def test_a_killed_owner_and_a_killed_node_leave_nothing(tmp_path: Path, owner: subprocess.Popen[bytes]) -> None:
    folder = tmp_path / "cluster"
    options = ["--nodes", 1, "--hadoop-version", "3.4.2", "--dir", folder]
    done = cli_process("cluster", "up", *options, "--owner", owner.pid, timeout=UP)
    assert done.status == 0, done.message
    told = done.out.decode()
    assert "Hadoop 3.4.2 is ready" in told and "Open to the network" in told and "(nodemanager1)" in told
    started = hadoop.running(folder)
    with start_job(started) as client:
        try:
            wait_for("the filter runs", lambda: processes.with_argument("3599"))
            started.kill("nodemanager1")
            owner.kill()
            owner.wait()
            wait_for("all is gone", lambda: not left_of(folder) and not processes.with_argument("3599"))
        finally:
            client.kill()
            hadoop.down(folder)
    assert not (folder / "cluster.json").exists()
    the_files_are_there_again(folder, options)


def the_files_are_there_again(folder: Path, options: list[object]) -> None:
    """Continues the test above, whose cluster took half a minute to make."""
    assert cli_process("cluster", "up", "--hadoop-version", "3.5.0", "--dir", folder).status == 2
    done = cli_process("cluster", "up", *options, timeout=UP)
    assert done.status == 0, done.message
    again = hadoop.running(folder)
    argv = [again.command("hdfs"), "dfs", "-cat", "/tmp/kept"]
    kept = subprocess.run(argv, env=again.environment(), capture_output=True, check=True).stdout
    assert kept == Path(__file__).read_bytes()
    assert cli_process("cluster", "down", "--dir", folder).out.decode() == f"the cluster in {folder} is down\n"
    assert not left_of(folder) and (folder / "name").exists()
    assert cli_process("cluster", "down", "--dir", folder, "--delete").out.decode().startswith("no cluster runs in ")
    assert not folder.exists()
