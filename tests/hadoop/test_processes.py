"""Finding and ending processes: by start time, by a word of their command line, by what YARN gives to containers."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from heterodoop.daemon import processes
from heterodoop.daemon.processes import Process
from heterodoop.hadoop.embedded import ports, proc

Spawn = Callable[..., Process]


@pytest.fixture
def spawn() -> Iterator[Spawn]:
    """Start a program; it is killed after the test."""
    running: list[subprocess.Popen[bytes]] = []

    def start(*argv: str, env: Mapping[str, str] | None = None, cwd: Path | None = None) -> Process:
        child = subprocess.Popen(argv, env=env, cwd=cwd, start_new_session=True)
        running.append(child)
        # Popen returns when the pipe to the child closes, which in exec is a little before there are its arguments.
        while not Path(f"/proc/{child.pid}/cmdline").read_bytes():
            time.sleep(0.001)
        found = processes.identify(child.pid)
        assert found is not None
        return found

    yield start
    for child in running:
        child.kill()
        child.wait()


def test_a_pid_of_another_time_is_another_process(spawn: Spawn) -> None:
    real = spawn("sleep", "60")
    reused = Process(real.pid, real.start - 1)
    assert processes.alive(real) and not processes.alive(reused)
    processes.send(reused, signal.SIGKILL)
    assert processes.end([reused], 1) == [] and processes.alive(real)
    assert processes.resident(real.pid) > 0 and processes.resident(0) == 0


def test_who_does_not_end_is_killed(spawn: Spawn) -> None:
    stubborn = spawn("sh", "-c", "trap '' TERM; while :; do sleep 0.1; done")
    willing = spawn("sleep", "60")
    assert processes.end([stubborn, willing], 0.5) == []
    assert not processes.alive(stubborn) and not processes.alive(willing)
    assert processes.wait_end(stubborn, 0)


def test_waiting_for_an_end(spawn: Spawn) -> None:
    assert not processes.wait_end(spawn("sleep", "60"), 0.05)
    assert processes.wait_end(spawn("sleep", "0.2"), 10)


def test_a_word_of_the_command_line(spawn: Spawn) -> None:
    sleeper = spawn("sleep", "3597")
    assert proc.with_argument("3597") == [sleeper] and proc.with_argument("359") == []


def test_containers_of_one_cluster_and_one_node(spawn: Spawn, tmp_path: Path) -> None:
    def container(folder: Path, port: int) -> Process:
        where = f"{folder}/node1/local-a/usercache/u/appcache/application_1_1"
        return spawn("sleep", "60", env={"CONTAINER_ID": "container_1_1_01_1", "LOCAL_DIRS": where, "NM_PORT": str(port)})

    ours, theirs, other = container(tmp_path / "c", 1), container(tmp_path / "c2", 1), container(tmp_path / "c", 2)
    spawn("sleep", "60", env={"LOCAL_DIRS": f"{tmp_path}/c/node1"})
    assert sorted(proc.containers(tmp_path / "c")) == sorted([ours, other])
    assert proc.containers(tmp_path / "c", node_port=2) == [other]
    assert proc.containers(tmp_path / "c2") == [theirs]


def test_a_filter_without_an_environment(spawn: Spawn, tmp_path: Path) -> None:
    inside = tmp_path / "node1/local-b/usercache/u/appcache/application_17_0001/container_17_0001_01_000002"
    inside.mkdir(parents=True)
    bare = spawn("sleep", "60", env={}, cwd=inside)
    spawn("sleep", "60", env={}, cwd=inside.parent.parent)
    assert proc.containers(tmp_path) == [bare]
    assert proc.containers(tmp_path / "node2") == []


def test_ports_that_are_open_to_all() -> None:
    me = processes.identify(os.getpid())
    assert me is not None
    with socket.socket() as everywhere, socket.socket() as here:
        everywhere.bind(("0.0.0.0", 0))
        here.bind(("127.0.0.1", 0))
        everywhere.listen()
        here.listen()
        found = [port for _, port in proc.listening([me])]
        assert everywhere.getsockname()[1] in found and here.getsockname()[1] not in found


def test_free_ports() -> None:
    names = ["a", "b", "c"]
    chosen = ports.free(names)
    assert len(set(chosen.values())) == 3 and ports.free(names, chosen) == chosen
    assert ports.free(names, {"a": chosen["a"], "b": chosen["a"]})["b"] != chosen["a"]
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", chosen["b"]))
        taken.listen()
        again = ports.free(names, chosen)
    assert again["b"] != chosen["b"] and (again["a"], again["c"]) == (chosen["a"], chosen["c"])


def test_no_free_port(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "_is_free", lambda port: False)
    with pytest.raises(ports.ToolError) as caught:
        ports.free(["a"])
    assert caught.value.code == "HD609"
