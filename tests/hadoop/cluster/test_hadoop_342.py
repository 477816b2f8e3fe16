"""Hadoop 3.4.2 from its start to its end: it takes the same plug-in, and nothing of it stays behind.

One cluster for all tests here, made by the command that users type. The last test ends it: its owner is killed.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from heterodoop.daemon.processes import Process
from heterodoop.hadoop import cluster as hadoop
from heterodoop.hadoop.cluster import Cluster
from heterodoop.hadoop.embedded import proc
from heterodoop.hadoop.embedded.folder import Folder

from ...support import cli_here, cli_process
from .site import CONTAINERS, UBER, Book, Site, drivers

UP = 300
OPTIONS = ("--nodes", 1, "--hadoop-version", "3.4.2")
MAPS = ("-r", 1, "-D", "mapreduce.job.maps=2")


@dataclass(frozen=True)
class Owned:
    cluster: Cluster
    owner: subprocess.Popen[bytes]
    told: str  # what `up` printed


@pytest.fixture(scope="module")
def owned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Owned]:
    folder = tmp_path_factory.mktemp("cluster-3.4.2") / "cluster"
    with subprocess.Popen(["sleep", "3600"]) as owner:
        try:
            done = cli_process("cluster", "up", *OPTIONS, "--dir", folder, "--owner", owner.pid, timeout=UP)
            assert done.status == 0, done.message
            yield Owned(hadoop.running(folder), owner, done.out.decode())
        finally:
            owner.kill()
            hadoop.down(folder)


@pytest.fixture(scope="module")
def site(owned: Owned, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    cluster = owned.cluster
    with pytest.MonkeyPatch.context() as patch:
        for name, value in cluster.environment().items():
            patch.setenv(name, value)
        yield Site(cluster, tmp_path_factory.mktemp("site-342"), f"/user/{cluster.state.user}/jobs-{os.getpid()}")


def test_a_plain_job(site: Site, words: Path, book: Book):
    output = site.output()
    line = cli_here("submit", words, "-i", book.path, "-o", output, *MAPS, *UBER, "--cpu-only",
                    "--dry-run").out.decode()
    subprocess.run(["bash", "-c", line], env=site.environment, check=True, capture_output=True)
    assert site.parts(output) == book.wanted(1)


def test_a_mixed_job(site: Site, words: Path, book: Book):
    """A job of GPUs and CPUs, in containers: the driver gives its first attempt back."""
    ports = site.node_ports()
    with drivers(ports, faults=dict.fromkeys(ports, "error@running*1")) as started:
        options = (*CONTAINERS, "--policy", "gpu-only", "-D", "heterodoop.verify=true", *started.options)
        done = site.submit(words, [book.path], *MAPS, *options)
    gpu, cpu = done.sides
    assert done.parts == book.wanted(1) and gpu and cpu and gpu + cpu == done.report["maps"]


def test_a_killed_owner_and_a_killed_node_leave_nothing(owned: Owned) -> None:
    """Not after `down`, not when the owner is killed, not when a NodeManager left its containers."""
    folder = owned.cluster.dir
    assert "Hadoop 3.4.2 is ready" in owned.told and "Open to the network" in owned.told and "(nodemanager1)" in owned.told
    with start_job(owned.cluster) as client:
        try:
            wait_for("the filter runs", lambda: proc.with_argument("3599"))
            owned.cluster.kill("nodemanager1")
            owned.owner.kill()
            owned.owner.wait()
            wait_for("all is gone", lambda: not left_of(folder) and not proc.with_argument("3599"))
        finally:
            client.kill()
            hadoop.down(folder)
    assert not (folder / "cluster.json").exists()
    the_files_are_there_again(folder)


def start_job(cluster: Cluster) -> subprocess.Popen[bytes]:
    """A map task whose filter runs for long, without an environment by which it could be found."""
    subprocess.run([cluster.command("hdfs"), "dfs", "-put", __file__, "/tmp/kept"], env=cluster.environment(), check=True)
    argv = [cluster.command("mapred"), "streaming", "-D", "mapreduce.job.maps=1", "-D", "mapreduce.job.reduces=0"]
    argv += ["-input", "/tmp/kept", "-output", "/tmp/never", "-mapper", "env -i /bin/sleep 3599"]
    return subprocess.Popen(argv, env=cluster.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def wait_for(what: str, holds: Callable[[], object], seconds: float = 90) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"not after {seconds} s: {what}"
        time.sleep(0.2)


def left_of(folder: Path) -> list[Process]:
    words = (Folder(folder).marker, str(folder))  # of a server, of a keeper
    return [*proc.containers(folder), *(p for word in words for p in proc.with_argument(word))]


def the_files_are_there_again(folder: Path) -> None:
    """Continues the test above, whose cluster took half a minute to make."""
    assert cli_process("cluster", "up", "--hadoop-version", "3.5.0", "--dir", folder).status == 2
    done = cli_process("cluster", "up", *OPTIONS, "--dir", folder, timeout=UP)
    assert done.status == 0, done.message
    again = hadoop.running(folder)
    argv = [again.command("hdfs"), "dfs", "-cat", "/tmp/kept"]
    kept = subprocess.run(argv, env=again.environment(), capture_output=True, check=True).stdout
    assert kept == Path(__file__).read_bytes()
    assert cli_process("cluster", "down", "--dir", folder).out.decode() == f"the cluster in {folder} is down\n"
    assert not left_of(folder) and (folder / "name").exists()
    assert cli_process("cluster", "down", "--dir", folder, "--delete").out.decode().startswith("no cluster runs in ")
    assert not folder.exists()
