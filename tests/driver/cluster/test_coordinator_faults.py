"""What a coordinator and its drivers do with peers that lie, repeat, stop in the middle or say nothing."""

from __future__ import annotations

import json
import os
import socket
import stat
import threading
from pathlib import Path

import pytest

from heterodoop.driver.cluster import coordinator
from heterodoop.driver.cluster.wire import LIMIT, BadFrame, Greeting, make_secret, pack, read_secret
from heterodoop.driver.cluster.yarn_rest import Rest
from heterodoop.errors import UsageError
from heterodoop.scheduler.node.model import Knowledge

from ..coordinating import NOWHERE, SECRET, Heard, Raw, Running, client, until
from ..fake_yarn import JOB, FakeYarn, job_says, proxied

GOOD = {"node": "n:1", "jobs": {JOB: {"add": [1, 2, 3], "speedup": 6.0}}}


def refused(running: Running) -> int:
    return int(running.status()["refused"])


def test_wrong_secret() -> None:
    with Running(NOWHERE) as running, Raw(running.address) as peer:
        with pytest.raises(BadFrame, match="secret"):
            peer.greet(SECRET[::-1])
        greeting = Greeting(SECRET, "driver")
        with Raw(running.address) as liar:
            liar.send(greeting.hello())
            liar.frame()
            liar.send(pack({"proof": "00" * 32}))
            assert liar.frame() == b"", "the connection is closed"
        assert refused(running) == 1


def test_a_recorded_greeting_is_worth_nothing() -> None:
    with Running(NOWHERE) as running:
        with Raw(running.address) as peer:
            greeting = Greeting(SECRET, "driver")
            hello = greeting.hello()
            peer.send(hello)
            proof = greeting.meet(peer.frame())
            peer.send(proof)
            report = greeting.sealed().seal(GOOD)
            peer.send(report)
            assert peer.frame()
        with Raw(running.address) as replay:
            replay.send(hello)
            assert replay.frame()
            replay.send(proof + report)
            assert replay.frame() == b""
        assert refused(running) == 1


def test_ones_own_proof_is_worth_nothing() -> None:
    """A peer that hands the coordinator's proof back to it, or to a driver its own nonce."""
    with Running(NOWHERE) as running, Raw(running.address) as mirror:
        mirror.send(Greeting(SECRET, "driver").hello())
        mirror.send(pack({"proof": json.loads(mirror.frame())["proof"]}))
        assert mirror.frame() == b""
    driver = Greeting(SECRET, "driver")
    echo = json.loads(driver.hello()[4:])
    with pytest.raises(BadFrame, match="secret"):
        driver.meet(pack({**echo, "proof": echo["nonce"]})[4:])


@pytest.mark.parametrize("change", ["flip", "repeat", "reorder", "back"])
def test_frames_that_were_tampered_with(change: str) -> None:
    with Running(NOWHERE) as running, Raw(running.address) as peer:
        sealed = peer.greet()
        first, second = sealed.seal(GOOD), sealed.seal(GOOD)
        if change == "flip":
            peer.send(first[:-5] + bytes([first[-5] ^ 1]) + first[-4:])
        elif change == "reorder":
            peer.send(second)
        else:
            peer.send(first)
            answer = peer.frame()
            assert "jobs" in sealed.open(answer)
            peer.send(first if change == "repeat" else len(answer).to_bytes(4, "big") + answer)
        assert peer.frame() == b""
        assert refused(running) == 1 and running.status()["jobs"] == []


GREETINGS = {
    "a length of 4 GB": b"\xff" * 4,
    "a length of nothing": b"\0" * 4,
    "too long a greeting": (5000).to_bytes(4, "big") + b"{}" * 2500,
    "HTTP": b"GET / HTTP/1.1\r\n\r\n",
    "no JSON": b"\0\0\0\x02{]",
    "an array": b"\0\0\0\x02[]",
    "another version": pack({"protocol": 2, "nonce": "00" * 32}),
    "no nonce": pack({"protocol": 1}),
    "a short nonce": pack({"protocol": 1, "nonce": "00"}),
    "a nonce of other letters": pack({"protocol": 1, "nonce": "zz" * 32}),
}


@pytest.mark.parametrize("name", GREETINGS)
def test_greetings_that_are_none(name: str) -> None:
    with Running(NOWHERE) as running, Raw(running.address) as peer:
        peer.send(GREETINGS[name])
        assert peer.frame() == b""
        assert refused(running) == 1


REPORTS = {
    "no node": {"jobs": {}},
    "a node without a name": {"node": "", "jobs": {}},
    "a long name": {"node": "n" * 301, "jobs": {}},
    "no jobs": {"node": "n"},
    "a job of another kind": {"node": "n", "jobs": {"job_1_1/../x": {}}},
    "a job that is a number": {"node": "n", "jobs": {JOB: 1}},
    "tasks that are texts": {"node": "n", "jobs": {JOB: {"add": ["1"]}}},
    "tasks that are truths": {"node": "n", "jobs": {JOB: {"add": [True]}}},
    "tasks below nothing": {"node": "n", "jobs": {JOB: {"add": [-1]}}},
    "tasks beyond all": {"node": "n", "jobs": {JOB: {"drop": [1 << 40]}}},
    "no list of tasks": {"node": "n", "jobs": {JOB: {"add": 5}}},
    "a speedup below nothing": {"node": "n", "jobs": {JOB: {"speedup": -1}}},
    "a room below nothing": {"node": "n", "jobs": {JOB: {"room": -1}}},
    "a room that is no whole number": {"node": "n", "jobs": {JOB: {"room": 1.5}}},
    "a speedup that is no number": {"node": "n", "jobs": {JOB: {"speedup": float("nan")}}},
    "too many jobs": {"node": "n", "jobs": {f"job_1_{number}": {} for number in range(1001)}},
}


@pytest.mark.parametrize("name", REPORTS)
def test_reports_that_no_driver_sends(name: str) -> None:
    with Running(NOWHERE) as running, Raw(running.address) as peer:
        peer.send(peer.greet().seal(REPORTS[name]))
        assert peer.frame() == b""
        assert refused(running) == 1 and running.status()["drivers"] == []


def test_half_messages_and_silence_disturb_nobody(yarn: FakeYarn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coordinator, "GREETING_SECONDS", 0.5)
    monkeypatch.setattr(coordinator, "FRAME_SECONDS", 0.5)
    yarn.answers[proxied()] = job_says(100, 5)
    node = Heard()
    node.ask(JOB, 1)
    with Running(Rest(yarn.where)) as running, Raw(running.address) as silent, Raw(running.address) as half:
        half.send(half.greet().seal(GOOD)[:20])
        silent.send(Greeting(SECRET, "driver").hello()[:9])
        good = client(running.address)
        good.start(node)
        good.watch(JOB)
        until(lambda: node.heard.get(JOB) == Knowledge(100, 5, 0, 1, (), pending=0))
        assert silent.frame() == b"" and half.frame() == b""
        good.stop()
        assert running.status()["drivers"] == []


def test_many_strangers_do_not_keep_drivers_out_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coordinator, "STRANGERS", 5)
    monkeypatch.setattr(coordinator, "GREETING_SECONDS", 0.5)
    with Running(NOWHERE) as running:
        crowd = [socket.create_connection(running.address) for _ in range(30)]
        node = Heard()
        late = client(running.address)
        late.start(node)
        until(lambda: late.status()["source"] == "coordinator")
        late.stop()
        assert refused(running) >= 25
        for one in crowd:
            one.close()


def test_a_driver_that_says_nothing_is_taken_for_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coordinator, "SILENCE", 0.3)
    with Running(NOWHERE) as running, Raw(running.address) as peer:
        peer.send(peer.greet().seal(GOOD))
        assert peer.frame() and running.status()["jobs"]
        assert peer.frame() == b"" and not running.status()["jobs"]


NO_COORDINATORS = [b"", b"\xff" * 4, (LIMIT + 1).to_bytes(4, "big"), pack({"protocol": 1, "nonce": "00" * 32})]


@pytest.mark.parametrize("says", NO_COORDINATORS)
def test_a_coordinator_that_is_none(says: bytes, yarn: FakeYarn) -> None:
    """The driver tells it nothing but its nonce, and asks the ApplicationMaster itself."""
    yarn.answers[proxied()] = job_says(100, 5, pending=99)
    got: list[bytes] = []

    def serve(server: socket.socket) -> None:
        while True:
            try:
                peer, _ = server.accept()
            except OSError:
                return
            with peer:
                peer.settimeout(0.5)
                got.append(peer.recv(4096))
                peer.sendall(says)

    node = Heard()
    node.ask(JOB, 1)
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve, args=(server,))
        thread.start()
        driver = client(server.getsockname(), rest=Rest(yarn.where))
        driver.start(node)
        driver.watch(JOB)
        until(lambda: node.heard.get(JOB) == Knowledge(100, 5, 0, 3))
        driver.stop()
        server.shutdown(socket.SHUT_RDWR)
        thread.join()
    assert {frozenset(json.loads(hello[4:])) for hello in got} == {frozenset({"protocol", "nonce"})}


def test_the_secret_is_private_from_its_first_moment(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    old = os.umask(0)
    try:
        make_secret(path)
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o400 and len(read_secret(path)) == 32
    with pytest.raises(UsageError, match="exists"):
        make_secret(path)


@pytest.mark.parametrize(("mode", "text", "why"), [
    (0o440, "ab" * 32, "0440"), (0o600, "ab" * 32, "0600"), (0o400, "ab", "64 hexadecimal"),
    (0o400, "zz" * 32, "64 hexadecimal"), (0o400, "ab" * 33, "64 hexadecimal"),
])
def test_secrets_that_are_none(tmp_path: Path, mode: int, text: str, why: str) -> None:
    path = tmp_path / "secret"
    path.write_text(text)
    path.chmod(mode)
    with pytest.raises(UsageError, match=why) as error:
        read_secret(path)
    assert error.value.code == "HD641"


def test_a_secret_behind_a_link_or_a_pipe(tmp_path: Path) -> None:
    make_secret(tmp_path / "secret")
    (tmp_path / "link").symlink_to("secret")
    os.mkfifo(tmp_path / "pipe", 0o400)
    for name in ("link", "pipe", "missing"):
        with pytest.raises(UsageError, match="cannot be the cluster's secret"):
            read_secret(tmp_path / name)
