"""Silent, slow and huge peers have limits of their own, before anybody knows who they are, and the owner always gets in."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from heterodoop.driver import server
from heterodoop.driver.server import SILENT, UNPROVEN
from heterodoop.driver.wire import place
from heterodoop.driver.wire.lobby import Lobby
from heterodoop.driver.wire.place import HANDSHAKE_BYTES, DriverPlace, check_folder
from heterodoop.driver.wire.protocol import ConnectionClosed, Malformed, PeerSilent, Stream, Type

from ...support import environment
from ..client import HELLO, INSTALLED, OFFER, Attempt, Client, ClosedByDriver, pack
from ..running import Driver, in_this_process, running, wait_for

OTHER = 65534
TWO_USERS = pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs root and setpriv")


@pytest.fixture(scope="module")
def open_driver(cache: dict[str, str]) -> Iterator[Driver]:
    """One that listens at a TCP port too."""
    with running("--tcp", environment=cache) as driver:
        yield driver


def port_of(driver: Driver) -> int:
    return int((driver.folder / "driver.port").read_text())


def owner(driver: Driver) -> Client:
    return Client(seconds=60, port=port_of(driver), secret=bytes.fromhex((driver.folder / "secret").read_text()))


@contextlib.contextmanager
def silent(count: int, connect: object, said: bytes = b"") -> Iterator[list[socket.socket]]:
    """Connections that say this, or nothing, and wait."""
    held = []
    try:
        for _ in range(count):
            held.append(connect())  # type: ignore[operator]
            with contextlib.suppress(OSError):
                held[-1].sendall(said)
        yield held
    finally:
        for sock in held:
            sock.close()


HUGE = struct.pack(">IB", 4 << 20, HELLO) + b"\0" * 100


@pytest.mark.parametrize("said", [b"", b"\0\0\0", HUGE, pack(HELLO, [("nonce", b"n" * 32)])])
def test_the_owner_gets_in_over_tcp_beside_many_who_prove_nothing(
    open_driver: Driver, attempt: Attempt, said: bytes,
) -> None:
    """More than any limit; each says nothing, half a head, too much, or greets and says no more."""
    port = port_of(open_driver)
    with silent(400, lambda: socket.create_connection(("127.0.0.1", port), 5), said):
        with owner(open_driver) as client:
            assert client.map(replace(attempt, job=f"job_3_{len(said)}")).kind == "result"
            client.send(INSTALLED)
        with open_driver.client() as client:
            assert client.map(replace(attempt, job=f"job_4_{len(said)}")).kind == "result"
        status = open_driver.status()
        assert status["connections"] < UNPROVEN + SILENT
        assert status["counts"].get("internal_errors", 0) == 0


def test_many_silent_ones_of_our_own_keep_nobody_out(open_driver: Driver, attempt: Attempt) -> None:
    def connect() -> socket.socket:
        sock = socket.socket(socket.AF_UNIX)
        sock.connect(str(open_driver.socket))
        return sock

    with silent(SILENT + 100, connect, pack(OFFER, attempt.offer())[:50]) as held:
        assert open_driver.status()["counts"]["pushed_out"] >= 50
        with open_driver.client() as client:
            assert client.map(replace(attempt, job="job_5_0001")).kind == "result"
        held[0].settimeout(5)
        assert held[0].recv(1) == b""  # the oldest went first


def test_what_leaves_the_lobby_makes_room() -> None:
    lobby = Lobby(2)
    pairs = [socket.socketpair() for _ in range(4)]
    streams = [Stream(one) for one, _ in pairs]
    assert [lobby.enter(stream) for stream in streams[:3]] == [False, False, True] and streams[0].gone()
    assert pairs[0][1].recv(1) == b""
    lobby.leave(streams[1])
    lobby.leave(streams[0])  # it is not there any more
    assert not lobby.enter(streams[3])
    for one, other in pairs:
        one.close()
        other.close()


def shaken(said: bytes) -> Exception | None:
    """How a handshake with a peer that says this ends."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(said)
        try:
            place.handshake(Stream(ours), b"k" * 32)
        except ConnectionClosed as error:
            return error
    return None


def test_little_is_read_of_who_has_proved_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place, "HANDSHAKE_SECONDS", 0.3)
    big = pack(HELLO, [("nonce", b"n" * HANDSHAKE_BYTES)])
    assert "at most" in str(shaken(big)) and isinstance(shaken(big), Malformed)
    begun = time.monotonic()
    assert isinstance(shaken(pack(HELLO, [("nonce", b"n" * 32)])), PeerSilent)  # no proof comes
    assert isinstance(shaken(b"\0"), PeerSilent)
    assert time.monotonic() - begun < 20


def test_the_kernel_says_whose_a_connection_is() -> None:
    for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::ffff:127.0.0.1")):
        with socket.create_server(("127.0.0.1", 0)) as listener, socket.socket(family) as client:
            try:
                client.connect((address, listener.getsockname()[1]))
            except OSError:
                pytest.skip("this machine has no IPv6 sockets")
            accepted, _ = listener.accept()
            with accepted:
                assert place.peer_uid(accepted) == os.getuid()


STRANGERS = """
import resource, select, socket, sys, time
port, count, end = int(sys.argv[1]), int(sys.argv[2]), time.time() + float(sys.argv[3])
resource.setrlimit(resource.RLIMIT_NOFILE, (count + 64, count + 64))
held = []
print("strange", flush=True)
while time.time() < end:
    while len(held) < count:
        sock = socket.socket()
        sock.settimeout(2)
        try:
            sock.connect(("127.0.0.1", port))
        except OSError:
            sock.close()
            break
        held.append(sock)
    poll = select.poll()
    for sock in held:
        poll.register(sock, select.POLLIN)
    gone = {fd for fd, _ in poll.poll(100)}
    for sock in held[:]:
        if sock.fileno() in gone:
            held.remove(sock)
            sock.close()
"""


@TWO_USERS
def test_another_users_connections_are_dropped_before_a_word(open_driver: Driver, attempt: Attempt) -> None:
    """They come again and again, as fast as they can."""
    words = ["setpriv", f"--reuid={OTHER}", f"--regid={OTHER}", "--clear-groups", sys.executable, "-c", STRANGERS]
    with subprocess.Popen(
        [*words, str(port_of(open_driver)), "1000", "8"], stdout=subprocess.PIPE, env=environment(),
    ) as strangers:
        try:
            assert strangers.stdout
            if strangers.stdout.readline() != b"strange\n":
                pytest.skip("another user cannot run this Python")
            wait_for(lambda: open_driver.status()["counts"].get("strangers", 0) > 20)
            for n in range(3):
                with owner(open_driver) as client:
                    assert client.map(replace(attempt, job="job_6_0001", task=n)).kind == "result"
                    client.send(INSTALLED)
        finally:
            strangers.kill()


def test_an_administrator_gets_in_beside_as_many_attempts_as_may_be(
    cache: dict[str, str], attempt: Attempt, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server, "CONNECTIONS", 2)
    with in_this_process(cache, monkeypatch) as driver, contextlib.ExitStack() as stack:
        for task in range(2):
            client = stack.enter_context(driver.client())
            assert client.offer(replace(attempt, task=task, policy="cpu-only"))["run"] == "cpu"
        with driver.client() as third, pytest.raises(ClosedByDriver):
            third.offer(replace(attempt, task=2))
        assert driver.status()["counts"]["too_many_connections"] == 1


def test_who_does_not_take_an_answer_does_not_keep_the_next_one_waiting_for_ever(open_driver: Driver) -> None:
    threads = [threading.Thread(target=open_driver.status) for _ in range(3)]
    with open_driver.client() as slow:
        slow.send(32)
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(15)
        assert not any(thread.is_alive() for thread in threads)


def test_a_place_with_a_parent_of_others_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o777)
    with pytest.raises(Exception, match="others may write") as caught:
        check_folder(tmp_path / "shared" / "d", create=True)
    assert getattr(caught.value, "code", "") == "HD612"
    assert DriverPlace(tmp_path).socket.name == "driver.sock" and Type.WAIT == 17
