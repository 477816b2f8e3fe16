"""`heterodoop driver`: starting, asking, ending; a second start, tasks that run at its end, what is said if it cannot."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from heterodoop.daemon import log

from ...support import COMMAND, alive, cli_here, environment
from ..client import INSTALLED, RUN, Attempt, Client, ClosedByDriver
from ..running import Driver, driver_folder, running, slow, wait_for


@pytest.fixture
def place(cache: dict[str, str]) -> Iterator[Driver]:
    with driver_folder(cache) as driver:
        yield driver


def listening_ports(pid: int) -> set[str]:
    """Addresses of TCP sockets that the process holds and listens at."""
    own = {os.readlink(fd) for fd in Path("/proc", str(pid), "fd").iterdir()}
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return {row[1] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in own}


def test_the_life_of_a_driver(place: Driver, attempt: Attempt) -> None:
    """start, status, a second start, restart, stop: the words of the command line."""
    done = place.start("--queue", 7)
    assert done.status == 0 and b"serves 1 emulated device" in done.out, done.message
    first = place.pid()
    assert not listening_ports(first)  # H13
    assert stat.S_IMODE(place.socket.stat().st_mode) == 0o600 and stat.S_IMODE(place.folder.stat().st_mode) == 0o700
    with place.client() as client:
        assert client.map(attempt).kind == "result"
        client.send(INSTALLED)
    wait_for(lambda: place.status()["counts"].get("installed"))
    status = place.command("status")
    for text in (f"driver {first} since", "queue 0 of 7", "answered_gpu 1", "installed 1", "0 emulated", "ready"):
        assert text in status.out.decode(), status.out
    gpu = json.loads(place.command("status", "--json").out)["gpus"][0]
    assert (gpu["tasks"], gpu["bytes"], gpu["restarts"]) == (1, 60_000, 0) and gpu["seconds"] > 0
    second = place.start()
    assert second.status == 2 and f"[HD611]: a driver runs there already: process {first}, since 20" in second.message
    restarted = place.command("restart")
    assert restarted.status == 0 and place.pid() != first and not alive(first)
    assert place.status()["queue"]["limit"] == 7  # the same options
    assert b"has ended" in place.command("stop").out
    assert not place.socket.exists() and not (place.folder / "driver.work").exists()
    gone = place.command("status")
    assert gone.status == 5 and "[HD613]" in gone.message and place.command("stop").status == 5


def test_stop_waits_for_running_tasks_and_gives_no_new_leases(place: Driver, attempt: Attempt) -> None:
    process = place.serve()
    with place.client() as client:
        client.offer(slow(attempt, 2))
        client.send(RUN, *slow(attempt, 2).run())
        client.until(attempt, lambda said: "delayed" in said["text"])
        place.stop()
        with place.client() as late:
            answer = late.offer(replace(attempt, task=1))
            assert (answer["run"], answer["code"]) == ("cpu", "HD619") and "stopping" in answer["reason"]
        assert place.status()["stopping"]
        assert client.rest(attempt).kind == "result"
        assert process.poll() is None  # until it is installed
        client.send(INSTALLED)
    assert process.wait(20) == 0


def test_stop_now_ends_running_tasks(place: Driver, attempt: Attempt) -> None:
    process = place.serve()
    with place.client() as client:
        client.offer(slow(attempt, 60))
        client.send(RUN, *slow(attempt, 60).run())
        client.until(attempt, lambda said: "delayed" in said["text"])
        workers = [gpu["pid"] for gpu in place.status()["gpus"]]
        place.stop(now=True)
        with pytest.raises(ClosedByDriver):
            client.rest(attempt)
    assert process.wait(20) == 0 and not any(map(alive, workers))


def test_signals_end_it_as_stop_does(place: Driver, attempt: Attempt) -> None:
    process = place.serve()
    with place.client() as client:
        client.offer(slow(attempt, 60))
        client.send(RUN, *slow(attempt, 60).run())
        client.until(attempt, lambda said: "delayed" in said["text"])
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGTERM)
        wait_for(lambda: place.status()["stopping"])
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0


def test_a_driver_that_does_not_answer_is_ended_all_the_same(place: Driver) -> None:
    process = place.serve()
    place.socket.unlink()
    assert place.command("stop").status == 0 and process.wait(20) == 0


def test_over_tcp_both_ends_know_the_secret(cache: dict[str, str], attempt: Attempt) -> None:
    with running("--tcp", environment=cache) as driver:
        port = int((driver.folder / "driver.port").read_text())
        secret = bytes.fromhex((driver.folder / "secret").read_text())
        with Client(port=port, secret=secret) as client:
            assert client.map(attempt).kind == "result"
        with socket.create_connection(("127.0.0.1", port), timeout=20) as stranger:
            stranger.sendall(b"\0\0\0\3\1\0\0")  # OFFER at once
            assert stranger.recv(1) == b""


def test_several_workers(cache: dict[str, str], attempt: Attempt) -> None:
    with running("--gpus", "0,1", "--sessions", 1, environment=cache) as driver:
        used: list[str] = []

        def run(task: int) -> None:
            one = replace(slow(attempt, 1), task=task)
            with driver.client() as client:
                used.append(client.map(one).text("gpu"))

        threads = [threading.Thread(target=run, args=(n,)) for n in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert sorted(used) == ["emulated 0", "emulated 1"]


def test_a_split_beyond_the_memory_is_refused(cache: dict[str, str], attempt: Attempt) -> None:
    with running("--memory", "1m", environment=cache) as driver, driver.client() as client:
        outcome = client.map(attempt)
    assert (outcome.kind, outcome.text("code")) == ("refused", "HD617") and "--memory" in outcome.text("reason")


@pytest.mark.parametrize(("words", "text"), [
    (["--device", "abacus"], "[HD032]"), (["--queue", "0"], "[HD032]"), (["--memory", "lots"], "[HD032]"),
    (["--node-port", "0"], "[HD032]"), (["--gpu-memory-share", "101"], "[HD032]"),
    (["--device", "emulated", "--gpus", "none"], "[HD614]"),
    (["--device", "emulated", "--gpus", "x"], "[HD037]"),
])
def test_a_start_that_cannot_be(place: Driver, words: list[str], text: str) -> None:
    done = place.command("start", *words)
    assert done.status in (2, 5) and text in done.message and not place.socket.exists()


def test_a_folder_that_is_not_safe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "open").mkdir(mode=0o755)
    for words in (("start", "--device", "emulated"), ("status",)):
        done = cli_here("driver", *words, "--dir", tmp_path / "open", status=2)
        assert "[HD612]" in done.message


@pytest.mark.skipif(os.path.exists("/dev/nvidiactl"), reason="this machine has GPUs")
def test_a_machine_without_gpus(place: Driver) -> None:
    done = place.command("start", "--device", "cuda")
    assert done.status == 5 and "[HD614]: this machine has no GPU" in done.message and not place.socket.exists()


def test_top_shows_the_state_until_the_driver_ends(place: Driver) -> None:
    process = place.serve()
    words = ["driver", "top", "--dir", str(place.folder), "--seconds", "0.2"]
    with subprocess.Popen(
        [*COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(place.environment),
    ) as top:
        assert top.stdout and top.stderr
        seen = b""
        while seen.count(b"driver ") < 2:
            piece = os.read(top.stdout.fileno(), 65536)
            assert piece
            seen += piece
        place.stop()
        assert top.wait(20) == 5 and b"[HD613]" in top.stderr.read()
    process.wait(20)


def test_the_log_is_rotated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "_BYTES", 2000)
    written = log.Log(tmp_path / "x.log")
    for n in range(300):
        written.event("something", n=n, empty="", none=None)
    written.close()
    assert len(list(tmp_path.iterdir())) == 5
    row = json.loads((tmp_path / "x.log").read_text().splitlines()[-1])
    assert row["n"] == 299 and set(row) == {"time", "event", "n"}
    datetime.fromisoformat(row["time"])
