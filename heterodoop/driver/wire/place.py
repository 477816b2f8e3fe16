"""Where a driver is met: its folder, lock, sockets and secret, and who may connect.

Whoever can write to the folder could take the driver's place, and whoever connects can run programs in its name. So the
folder is our own and nobody else's, a socket has mode 0600 before it has a name, and the kernel says who is at the other
end. The lock, not a file with a number, says whether a driver lives: it ends with its process. Not here: what is said.
"""

from __future__ import annotations

import os
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from ... import scratch
from ...daemon import secret as secrets
from ...daemon.lock import Owner, held
from ...errors import UsageError
from ...executor.lent.meeting import NAME, peer
from ...executor.lent.meeting import folder_of as folder_of
from ...executor.lent.meeting import shared_folder as shared_folder
from ...private import OTHERS_ANYTHING, why_unsafe
from .protocol import ConnectionClosed, Malformed, Stream, Type

SOCKET_PATH_BYTES = 107  # struct sockaddr_un
HANDSHAKE_SECONDS = 10.0
HANDSHAKE_BYTES = 256  # of a message before it is known who sends it
_BACKLOG = 1024
# A connection is looked up by its ends: linux/inet_diag.h, nlmsghdr and inet_diag_req_v2; the uid is in inet_diag_msg.
_SOCK_DIAG, _BY_FAMILY, _REQUEST = 4, 20, 1
_ENDS = struct.Struct("!HH4s12x4s12x")
_DIAG = struct.Struct("=IHHIIBBxxI36sIII")
_ANY = 0xFFFFFFFF
_UID_AT = 80


class DriverPlace(NamedTuple):
    """The names of one driver in its folder; `port`: of the NodeManager that it serves, 0 = any."""

    folder: Path
    port: int = 0

    @property
    def name(self) -> str:
        return f"{NAME}-{self.port}" if self.port else NAME

    @property
    def socket(self) -> Path:
        return self.folder / f"{self.name}.sock"

    @property
    def lock(self) -> Path:
        return self.folder / f"{self.name}.lock"

    @property
    def log(self) -> Path:
        return self.folder / f"{self.name}.log"

    @property
    def tcp_port(self) -> Path:
        """Holds the TCP port's number, in decimal, where the driver listens at one."""
        return self.folder / f"{self.name}.port"

    @property
    def secret(self) -> Path:
        return self.folder / "secret"


def check_folder(folder: Path, create: bool = False) -> None:
    """Raises UsageError HD612: it is missing, no folder of our own, or others can get at it; HD614: it cannot be made."""
    if create:
        try:
            folder.mkdir(0o700)
        except FileExistsError:
            pass
        except OSError as error:
            raise UsageError(f"{folder}: {error.strerror}", code="HD614") from None
    try:
        why = why_unsafe(folder, OTHERS_ANYTHING)
    except OSError as error:
        raise UsageError(f"{folder}: {error.strerror}", code="HD612") from None
    if why:
        raise _unsafe(folder, why)


def _unsafe(folder: Path, why: str) -> UsageError:
    return UsageError(f"{folder} cannot hold the driver's socket: {why}", code="HD612", help="name another one with --dir")


@contextmanager
def locked(place: DriverPlace) -> Iterator[None]:
    """The driver's life. Raises UsageError HD611: another one lives."""
    def refuse(owner: Owner | None) -> UsageError:
        return UsageError(f"a driver runs there already: {owner or 'it is just starting'}", code="HD611",
                          help="heterodoop driver status, or: heterodoop driver stop")

    with held(place.lock, refuse) as lock:
        lock.sign()
        yield


def listen(place: DriverPlace) -> socket.socket:
    """The unix socket, which nobody but us could connect to at any moment. Call it with the lock held.

    Raises UsageError HD614: it cannot be made.
    """
    path = os.fspath(place.socket)
    if len(os.fsencode(path)) > SOCKET_PATH_BYTES:
        raise UsageError(f"{path}: a socket's path has at most {SOCKET_PATH_BYTES} bytes", code="HD614",
                         help="name a folder with a shorter path with --dir")
    with suppress(FileNotFoundError):
        os.unlink(path)  # of a driver that was killed: the lock says that it is gone
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    try:
        os.fchmod(sock.fileno(), 0o600)  # before it has a name: bind gives the file this mode, less the umask
        sock.bind(path)
        sock.listen(_BACKLOG)
    except OSError as error:
        sock.close()
        raise UsageError(f"{path}: {error.strerror}", code="HD614") from None
    return sock


def listen_tcp(place: DriverPlace) -> socket.socket:
    """A port on 127.0.0.1, for Java before 16; its number goes to `place.tcp_port`. Raises UsageError HD614."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    try:
        sock.bind(("127.0.0.1", 0))
        sock.listen(_BACKLOG)
        _write_private(place.tcp_port, str(sock.getsockname()[1]), 0o600)
    except OSError as error:
        sock.close()
        raise UsageError(f"no TCP port on 127.0.0.1: {error.strerror}", code="HD614") from None
    return sock


def secret(place: DriverPlace) -> bytes:
    """What both ends of a TCP connection know; made where there is none. Raises UsageError HD612: it is not ours alone."""
    if not place.secret.exists():
        with suppress(secrets.SecretUnfit):  # a driver of another NodeManager makes it, too
            secrets.make(place.secret)
    try:
        return secrets.read(place.secret, OTHERS_ANYTHING)
    except secrets.SecretNotPrivate:
        raise _unsafe(place.secret, "others may read it") from None
    except secrets.SecretUnfit as why:
        raise _unsafe(place.secret, str(why)) from None


def _write_private(path: Path, text: str, mode: int) -> None:
    """A whole file under its name at once."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    with suppress(FileNotFoundError):
        os.unlink(partial)
    fd = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    with open(fd, "w", encoding="ascii") as file:
        file.write(text)
    scratch.into_place(partial, path)


def admit(sock: socket.socket) -> None:
    """Raises Closed: the process at the other end of a unix socket is another user's."""
    uid = peer(sock)[1]
    if uid != os.getuid():
        raise ConnectionClosed(f"a process of uid {uid} connected")


def peer_uid(sock: socket.socket) -> int | None:
    """Whose the other end of a TCP connection of this machine is; None: the kernel does not say."""
    (own, own_port), (peer, peer_port) = sock.getsockname(), sock.getpeername()
    ends = _ENDS.pack(peer_port, own_port, socket.inet_aton(peer), socket.inet_aton(own))
    kind = socket.AF_INET, socket.IPPROTO_TCP, _ANY  # in any state
    request = _DIAG.pack(_DIAG.size, _BY_FAMILY, _REQUEST, 1, 0, *kind, ends, 0, _ANY, _ANY)  # and with any cookie
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, _SOCK_DIAG) as kernel:
            kernel.settimeout(1)
            kernel.send(request)
            said = kernel.recv(4096)
    except OSError:
        return None
    is_answer = len(said) >= _UID_AT + 4 and struct.unpack_from("=H", said, 4) == (_BY_FAMILY,)
    return int(struct.unpack_from("=I", said, _UID_AT)[0]) if is_answer else None


def handshake(stream: Stream, key: bytes) -> None:
    """Over TCP: both ends prove that they know the secret, the driver first. Raises Malformed: the task does not; Silent:
    it has not done so in HANDSHAKE_SECONDS."""
    end = time.monotonic() + HANDSHAKE_SECONDS
    theirs = stream.receive((Type.HELLO,), HANDSHAKE_SECONDS, HANDSHAKE_BYTES).raw("nonce")
    if len(theirs) != secrets.BYTES:
        raise Malformed(f"a nonce of {len(theirs)} bytes")
    ours = secrets.nonce()
    stream.send(Type.CHALLENGE, ("nonce", ours), ("proof", secrets.proof(key, b"driver", theirs)))
    said = stream.receive((Type.PROOF,), end - time.monotonic(), HANDSHAKE_BYTES).raw("proof")
    if not secrets.proves(said, key, b"task", ours):
        raise Malformed("the proof is wrong: the task does not know the secret")


def remove_leftovers(place: DriverPlace) -> None:
    """What a driver that was killed has left; call it with the lock held."""
    for path in (place.socket, place.tcp_port):
        with suppress(FileNotFoundError):
            os.unlink(path)
