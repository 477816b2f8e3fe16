"""`heterodoop coordinator start|stop|status` as processes."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from heterodoop.daemon.lock import owner_of
from heterodoop.driver.cluster.client import source_for
from heterodoop.driver.cluster.wire import parse_address
from heterodoop.errors import UsageError
from heterodoop.scheduler.node.model import Knowledge
from heterodoop.storage.hadoop_conf import load

from ...support import Done, cli_process, environment
from ..coordinating import Heard, until
from ..fake_yarn import JOB, FakeYarn, job_says, proxied


class Home:
    """A private folder and a Hadoop configuration that leads to a fake cluster."""

    def __init__(self, folder: Path, yarn: FakeYarn) -> None:
        self.conf = folder / "conf"
        self.conf.mkdir()
        address = yarn.url.removeprefix("http://")
        (self.conf / "yarn-site.xml").write_text(
            "<configuration><property><name>yarn.resourcemanager.webapp.address</name>"
            f"<value>{address}</value></property></configuration>")
        self.dir = folder / "private"
        self.secret, self.lock = self.dir / "coordinator.secret", self.dir / "coordinator.lock"
        self.environment = {"HETERODOOP_DRIVER_DIR": str(self.dir), "HADOOP_CONF_DIR": str(self.conf)}

    def run(self, *arguments: object, status: int = 0, env: Mapping[str, str] | None = None) -> Done:
        done = cli_process("coordinator", *arguments, env={**self.environment, **(env or {})})
        assert done.status == status, done.message
        return done

    def start(self) -> tuple[str, int]:
        line = self.run("start", "--listen", "127.0.0.1:0").out.decode()
        host, _, port = line.split()[3].rstrip(",").rpartition(":")
        return host, int(port)

    def status(self) -> dict[str, object]:
        found: dict[str, object] = json.loads(self.run("status", "--json").out)
        return found

    def end(self) -> None:
        if owner := owner_of(self.lock):
            os.kill(owner.pid, signal.SIGKILL)
            until(lambda: owner_of(self.lock) is None)


@pytest.fixture
def home(tmp_path: Path, yarn: FakeYarn) -> Iterator[Home]:
    found = Home(tmp_path, yarn)
    try:
        yield found
    finally:
        found.end()


def test_a_life(home: Home, yarn: FakeYarn) -> None:
    yarn.answers[proxied()] = job_says(100, 5)
    address = home.start()
    assert [stat.S_IMODE(path.stat().st_mode) for path in (home.dir, home.secret)] == [0o700, 0o400]
    node = Heard()
    node.measured(JOB, 30.0, 1.0)
    source = source_for(load(home.conf), "n1:1", f"{address[0]}:{address[1]}", home.secret)
    source.start(node)
    source.watch(JOB)
    until(lambda: node.heard.get(JOB) == Knowledge(100, 5, 0, 1, (), pending=0))
    text = home.run("status").out.decode()
    assert "1 drivers, 1 jobs" in text and "n1:1: 1 map tasks decided" in text
    assert f"{JOB}: 5 of 100 map tasks done, 1 decided, 95 left, speedup 30 to 30" in text
    other = home.run("start", "--listen", "127.0.0.1:0", status=2)
    assert "HD643" in other.message and str(home.status()["pid"]) in other.message
    elsewhere = home.run("status", "--connect", f"127.0.0.1:{address[1]}", "--secret", home.secret, "--json")
    assert "pid" not in json.loads(elsewhere.out) and json.loads(elsewhere.out)["members"] == 2
    source.stop()
    assert "has ended" in home.run("stop").out.decode()
    assert owner_of(home.lock) is None
    rows = [json.loads(row) for row in (home.dir / "coordinator.log").read_text().splitlines()]
    assert [row["event"] for row in rows] == ["started", "stopped"] and rows[0]["port"] == address[1], rows


def test_killed_and_started_again(home: Home) -> None:
    home.start()
    os.kill(int(str(home.status()["pid"])), signal.SIGKILL)
    until(lambda: owner_of(home.lock) is None)
    assert "HD645" in home.run("status", status=5).message and "HD645" in home.run("stop", status=5).message
    home.start()
    home.run("stop")


def test_a_taken_port(home: Home) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        found = home.run("start", "--listen", f"127.0.0.1:{server.getsockname()[1]}", status=2)
    assert "HD642" in found.message and "in use" in found.message


def test_what_cannot_start(home: Home, tmp_path: Path) -> None:
    assert "HD642" in home.run("start", "--listen", "7077", status=2).message
    assert "HD642" in home.run("start", "--listen", "192.0.2.1:7077", status=2).message, "another machine's address"
    missing = home.run("start", "--listen", "127.0.0.1:0", "--secret", tmp_path / "none", status=2)
    assert "HD641" in missing.message
    alone = home.run("start", "--listen", "127.0.0.1:0", status=5, env={"HADOOP_CONF_DIR": "", "HADOOP_HOME": ""})
    assert "HD646" in alone.message
    broken = home.run("start", "--listen", "127.0.0.1:0", "--log", tmp_path / "no" / "log", status=2)
    assert "HD644" in broken.message and "No such file" in broken.message


def test_one_that_dies_before_it_listens(home: Home, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nif '--foreground' in sys.orig_argv: sys.exit('no such luck')\n")
    path = os.pathsep.join([str(tmp_path), environment()["PYTHONPATH"]])
    found = home.run("start", "--listen", "127.0.0.1:0", status=5, env={"PYTHONPATH": path})
    assert "HD644" in found.message and "no such luck" in found.message


def test_one_that_does_not_answer(home: Home) -> None:
    address = home.start()
    (home.dir / "other").write_text("ab" * 32)
    (home.dir / "other").chmod(0o400)
    where = f"{address[0]}:{address[1]}"
    assert "does not know the secret" in home.run("status", "--secret", home.dir / "other", status=5).message
    home.run("stop")
    gone = home.run("status", "--connect", where, status=5)
    assert "HD645" in gone.message and "refused" in gone.message


def test_sources_of_a_driver(home: Home) -> None:
    assert source_for(load(None, {}), "n:1").status()["source"] == "none"
    assert source_for(load(home.conf), "n:1").status()["source"] == "poll"
    with pytest.raises(UsageError, match="secret"):
        source_for(load(home.conf), "n:1", "master:7077")


@pytest.mark.parametrize(("text", "address"), [
    ("master:7077", ("master", 7077)), ("[::1]:1", ("::1", 1)), ("0.0.0.0:0", ("0.0.0.0", 0)),
])
def test_addresses(text: str, address: tuple[str, int]) -> None:
    assert parse_address(text) == address


@pytest.mark.parametrize("text", ["", "host", ":1", "host:", "host:x", "host:70000", "::1:5", "host:-1"])
def test_no_addresses(text: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_address(text)
    assert error.value.code == "HD642"
