"""Where a driver is met: whose folder it is, what mode a socket is born with, who holds the lock, who may connect."""

from __future__ import annotations

import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from heterodoop.daemon.lock import owner_of
from heterodoop.driver.wire import place
from heterodoop.driver.wire.place import (
    DriverPlace,
    check_folder,
    folder_of,
    listen,
    listen_tcp,
    locked,
    remove_leftovers,
)
from heterodoop.driver.wire.protocol import ConnectionClosed, Malformed, Stream, Type
from heterodoop.errors import UsageError

from ...support import environment
from ..client import Client, ClosedByDriver

ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become another user")
OTHER = 65534


@pytest.fixture
def here() -> Iterator[DriverPlace]:
    base = Path(tempfile.mkdtemp(prefix="hdd-", dir="/tmp"))
    check_folder(base / "d", create=True)
    yield DriverPlace(base / "d", 8041)
    shutil.rmtree(base)


def code(error: pytest.ExceptionInfo[UsageError]) -> str:
    return error.value.code


def test_names(monkeypatch: pytest.MonkeyPatch) -> None:
    found = DriverPlace(Path("/f"), 8041)
    assert (found.socket, DriverPlace(Path("/f")).socket) == (Path("/f/driver-8041.sock"), Path("/f/driver.sock"))
    assert (found.tcp_port, found.lock, found.secret) == (
        Path("/f/driver-8041.port"), Path("/f/driver-8041.lock"), Path("/f/secret"))
    assert folder_of("/a", {"HETERODOOP_DRIVER_DIR": "/b"}) == Path("/a")
    assert folder_of("", {"HETERODOOP_DRIVER_DIR": "/b"}) == Path("/b")
    monkeypatch.setattr(os, "getuid", lambda: 4242)
    assert folder_of("", {}) == Path("/tmp/heterodoop-4242")


def test_a_folder_is_made_private_whatever_the_umask(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        check_folder(tmp_path / "d", create=True)
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "d").stat().st_mode) == 0o700
    check_folder(tmp_path / "d")


def test_folders_that_are_not_ours_alone(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir(mode=0o755)
    (tmp_path / "own").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "own")
    (tmp_path / "file").write_text("")
    for name, why in (("open", "0755"), ("link", "a link is none"), ("file", "no folder"), ("none", "No such file")):
        with pytest.raises(UsageError, match=why) as caught:
            check_folder(tmp_path / name)
        assert code(caught) == "HD612"
    with pytest.raises(UsageError) as caught:
        check_folder(tmp_path / "none" / "below", create=True)
    assert code(caught) == "HD614"


@ROOT_ONLY
def test_a_folder_of_another_user(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir(mode=0o700)
    os.chown(tmp_path / "theirs", OTHER, OTHER)
    with pytest.raises(UsageError, match=f"belongs to uid {OTHER}"):
        check_folder(tmp_path / "theirs", create=True)


def test_a_socket_is_private_from_its_first_moment(here: DriverPlace) -> None:
    old = os.umask(0)
    try:
        made = socket.socket.listen
        modes = []

        def listening(self: socket.socket, backlog: int) -> None:
            modes.append(stat.S_IMODE(os.stat(here.socket).st_mode))  # it has its name, and nobody could connect yet
            made(self, backlog)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(place.socket.socket, "listen", listening)
            with listen(here):
                assert modes == [0o600] and stat.S_IMODE(os.stat(here.socket).st_mode) == 0o600
    finally:
        os.umask(old)


def test_a_stale_socket_is_replaced_and_a_long_path_is_named(here: DriverPlace, tmp_path: Path) -> None:
    listen(here).close()
    assert here.socket.exists()
    listen(here).close()
    with pytest.raises(UsageError, match="at most 107 bytes") as caught:
        listen(DriverPlace(tmp_path / ("x" * 100)))
    assert code(caught) == "HD614"


def test_a_second_one_is_told_of_the_first(here: DriverPlace) -> None:
    assert owner_of(here.lock) is None
    with locked(here):
        owner = owner_of(here.lock)
        assert owner and owner.pid == os.getpid()
        with pytest.raises(UsageError, match=f"process {os.getpid()}, since 20") as caught, locked(here):
            raise AssertionError
        assert code(caught) == "HD611"
        with locked(DriverPlace(here.folder, 8042)):  # of another NodeManager
            pass
    assert owner_of(here.lock) is None
    with locked(here):
        pass


def test_what_is_left_over_is_removed(here: DriverPlace) -> None:
    listen(here).close()
    here.tcp_port.write_text("1")
    remove_leftovers(here)
    assert not here.socket.exists() and not here.tcp_port.exists()


CONNECT = """
import socket, sys
sock = socket.socket(socket.AF_UNIX)
try:
    sock.connect(sys.argv[1])
    sock.settimeout(10)
    print("connected", sock.recv(1))
except PermissionError:
    print("refused")
"""


@ROOT_ONLY
def test_another_user_is_not_served(here: DriverPlace) -> None:
    """The folder keeps him out; where it did not, the kernel says who he is."""
    with listen(here) as sock:
        other = ["setpriv", f"--reuid={OTHER}", f"--regid={OTHER}", "--clear-groups"]
        argv = [*other, sys.executable, "-c", CONNECT, str(here.socket)]

        def connect() -> str:
            return subprocess.run(argv, capture_output=True, text=True, env=environment(), timeout=60).stdout.strip()

        if not os.path.exists("/usr/bin/setpriv"):
            pytest.skip("needs setpriv")
        assert connect() == "refused"
        for path in (here.folder, here.folder.parent):
            path.chmod(0o755)
        here.socket.chmod(0o666)
        refused: list[str] = []

        def serve() -> None:
            peer, _ = sock.accept()
            with peer:
                try:
                    place.admit(peer)
                except ConnectionClosed as error:
                    refused.append(str(error))

        thread = threading.Thread(target=serve)
        thread.start()
        assert connect() == "connected b''"
        thread.join(10)
        assert refused == [f"a process of uid {OTHER} connected"]


def test_our_own_processes_are_served(here: DriverPlace) -> None:
    with listen(here) as sock, socket.socket(socket.AF_UNIX) as client:
        client.connect(str(here.socket))
        peer, _ = sock.accept()
        with peer:
            place.admit(peer)


def shaken(key: bytes, theirs: bytes) -> object:
    """What the driver's end of a handshake came to, with a task that has the key `theirs`."""
    ours, other = socket.socketpair()
    outcome: list[object] = []

    def serve() -> None:
        stream = Stream(ours)
        try:
            place.handshake(stream, key)
            outcome.append("proved")
            stream.send(Type.END)
        except ConnectionClosed as error:
            outcome.append(error)
        stream.close()

    thread = threading.Thread(target=serve)
    thread.start()
    client = Client.__new__(Client)
    client.socket = other
    with other:
        try:
            client.prove(theirs)
            client.frame()
        except (AssertionError, ClosedByDriver):
            pass
    thread.join(10)
    return outcome[0]


def test_both_ends_prove_that_they_know_the_secret(here: DriverPlace) -> None:
    key = place.secret(here)
    assert len(key) == 32 and place.secret(here) == key and stat.S_IMODE(here.secret.stat().st_mode) == 0o400
    assert shaken(key, key) == "proved"
    assert isinstance(shaken(key, b"x" * 32), ConnectionClosed)


def test_a_wrong_proof_is_refused() -> None:
    ours, other = socket.socketpair()
    with other:
        stream, task = Stream(ours), Stream(other)
        task.send(Type.HELLO, ("nonce", b"n" * 32))
        task.send(Type.PROOF, ("proof", b"p" * 32))
        with pytest.raises(Malformed, match="does not know the secret"):
            place.handshake(stream, b"k" * 32)
        task.send(Type.HELLO, ("nonce", b"short"))
        with pytest.raises(Malformed, match="nonce of 5"):
            place.handshake(stream, b"k" * 32)
        stream.close()


def test_a_secret_that_others_can_read_is_none(here: DriverPlace) -> None:
    place.secret(here)
    here.secret.chmod(0o444)
    with pytest.raises(UsageError, match="others may read it"):
        place.secret(here)
    here.secret.unlink()
    here.secret.write_text("zz")
    here.secret.chmod(0o400)
    with pytest.raises(UsageError, match="hexadecimal"):
        place.secret(here)


def test_tcp_is_this_machines_alone(here: DriverPlace) -> None:
    with listen_tcp(here) as sock:
        assert sock.getsockname() == ("127.0.0.1", int(here.tcp_port.read_text()))
        assert stat.S_IMODE(here.tcp_port.stat().st_mode) == 0o600
