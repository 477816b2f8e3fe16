"""How drivers and the coordinator speak: frames over TCP that only holders of the cluster's secret can make.

    frame       u32be length of what follows | 32 bytes HMAC (not while greeting) | JSON object
    greeting    driver: {protocol, nonce}; coordinator: {protocol, nonce, proof}; driver: {proof}

Each side proves that it knows the secret over both nonces, with its own label, so that neither a recorded greeting nor one's
own proof is worth anything. The session's key comes from both nonces too; every later frame is sealed with it, its direction
and its number, so that nobody on the way can add, change, repeat or leave out one. Nothing is encrypted: task numbers, node
names and speedups can be read by who can read the network.

Without input or output: callers hand bytes in and out. Not here: who connects to whom, what the messages say.
"""

from __future__ import annotations

import hmac
import json
import os
import re
import stat
from pathlib import Path
from typing import Any, Literal

from ... import scratch
from ...errors import UsageError

PROTOCOL = 1
LIMIT = 1 << 20  # bytes of a frame
GREETING_LIMIT = 1024
TAG = 32
GREETING_SECONDS = 5.0
_SECRET = re.compile(rb"[0-9a-f]{64}\Z")

Message = dict[str, Any]
Side = Literal["driver", "coordinator"]


class BadFrame(Exception):
    """Bytes that a peer with the secret would not have sent."""


def parse_address(text: str) -> tuple[str, int]:
    """HOST:PORT, or [IPV6]:PORT. Raises UsageError HD642."""
    host, _, port = text.rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        host = ""
    if not host or not re.fullmatch(r"[0-9]{1,5}", port) or int(port) > 65535:
        raise UsageError(f"{text!r} is no address", code="HD642", help="HOST:PORT, as in master:7077")
    return host, int(port)


def read_secret(path: Path) -> bytes:
    """The cluster's secret. Raises UsageError HD641 where the file is missing, open to others, or no secret."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        with os.fdopen(fd, "rb") as file:
            found = os.fstat(fd)
            text = file.read(256) if stat.S_ISREG(found.st_mode) else b""
    except OSError as error:
        raise _bad_secret(path, error.strerror or str(error)) from None
    if found.st_uid != os.getuid():
        raise _bad_secret(path, f"it belongs to user {found.st_uid}")
    if found.st_mode & 0o377:
        raise _bad_secret(path, f"its mode is {stat.S_IMODE(found.st_mode):04o}, not 0400")
    if not _SECRET.match(text.strip()):
        raise _bad_secret(path, "it is not 64 hexadecimal digits")
    return bytes.fromhex(text.strip().decode())


def make_secret(path: Path) -> None:
    """Write a new secret, mode 0400 from the first moment, whole or not at all. Raises UsageError HD641."""
    try:
        with scratch.folder(".making-", path.parent) as folder:
            fd = os.open(folder / path.name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o400)
            with os.fdopen(fd, "wb") as file:
                file.write(os.urandom(32).hex().encode() + b"\n")
                file.flush()
                os.fsync(fd)
            os.link(folder / path.name, path)  # of several that make one, one succeeds
    except OSError as error:
        raise _bad_secret(path, error.strerror or str(error)) from None


def _bad_secret(path: Path, why: str) -> UsageError:
    help = "the same file must lie on the coordinator's and every driver's machine, chmod 0400, owned by who runs them"
    return UsageError(f"{path} cannot be the cluster's secret: {why}", code="HD641", help=help)


def pack(message: Message) -> bytes:
    """A frame of the greeting."""
    body = json.dumps(message).encode()
    return len(body).to_bytes(4, "big") + body


def unpack(body: bytes) -> Message:
    """The JSON object of a frame, without its length and tag. Raises BadFrame."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        raise BadFrame("no JSON") from None
    if not isinstance(found, dict):
        raise BadFrame("JSON, and no object")
    return found


class Greeting:
    """One side of the greeting of one connection.

    A driver sends hello(), hands the answer to meet() and sends what that returns. A coordinator hands the hello to
    answer(), sends what that returns, and hands the driver's proof to admit(). Then sealed() of both fit each other.
    """

    def __init__(self, secret: bytes, side: Side) -> None:
        self._secret, self._side = secret, side
        self._nonce = os.urandom(32)
        self._nonces = b""

    def hello(self) -> bytes:
        return pack({"protocol": PROTOCOL, "nonce": self._nonce.hex()})

    def answer(self, body: bytes) -> bytes:
        """The coordinator's answer to a hello. Raises BadFrame."""
        self._nonces = self._theirs(unpack(body)) + self._nonce
        return pack({"protocol": PROTOCOL, "nonce": self._nonce.hex(), "proof": self._proof("coordinator").hex()})

    def meet(self, body: bytes) -> bytes:
        """The driver's proof, once the coordinator has given its own. Raises BadFrame."""
        message = unpack(body)
        self._nonces = self._nonce + self._theirs(message)
        self._check(message, "coordinator")
        return pack({"proof": self._proof("driver").hex()})

    def admit(self, body: bytes) -> None:
        """Check the driver's proof. Raises BadFrame."""
        self._check(unpack(body), "driver")

    def sealed(self) -> Sealed:
        """The session that follows the greeting."""
        return Sealed(self._proof("session"), self._side)

    def _theirs(self, message: Message) -> bytes:
        if message.get("protocol") != PROTOCOL:
            raise BadFrame(f"it speaks version {str(message.get('protocol'))[:20]} of the protocol, not {PROTOCOL}")
        return _bytes(message, "nonce")

    def _check(self, message: Message, label: str) -> None:
        if not hmac.compare_digest(_bytes(message, "proof"), self._proof(label)):
            raise BadFrame("it does not know the secret")

    def _proof(self, label: str) -> bytes:
        return hmac.digest(self._secret, f"heterodoop {PROTOCOL} {label}\0".encode() + self._nonces, "sha256")


def _bytes(message: Message, name: str) -> bytes:
    value = message.get(name)
    if not isinstance(value, str) or len(value) != 64:
        raise BadFrame(f"a greeting without {name}")
    try:
        return bytes.fromhex(value)
    except ValueError:
        raise BadFrame(f"a greeting without {name}") from None


class Sealed:
    """Frames of a session: seal() for what goes out, open() for what came in."""

    def __init__(self, key: bytes, side: Side) -> None:
        self._key, self._side = key, side
        self._sent = self._got = 0

    def seal(self, message: Message) -> bytes:
        """A frame. Raises ValueError for one that would be too long."""
        body = json.dumps(message, separators=(",", ":")).encode()
        if TAG + len(body) > LIMIT:
            raise ValueError(f"a message of {len(body)} bytes")
        self._sent += 1
        return (TAG + len(body)).to_bytes(4, "big") + self._tag(self._side, self._sent, body) + body

    def open(self, frame: bytes) -> Message:
        """The message of a frame without its length. Raises BadFrame."""
        self._got += 1
        other = "coordinator" if self._side == "driver" else "driver"
        if not hmac.compare_digest(frame[:TAG], self._tag(other, self._got, frame[TAG:])):
            raise BadFrame("a frame that its sender did not seal")
        return unpack(frame[TAG:])

    def _tag(self, side: str, number: int, body: bytes) -> bytes:
        return hmac.digest(self._key, f"{side} {number}\0".encode() + body, "sha256")


def length(head: bytes, limit: int) -> int:
    """The length of the frame that four bytes begin. Raises BadFrame where it is more than `limit` or nothing."""
    found = int.from_bytes(head, "big")
    if not 0 < found <= limit:
        raise BadFrame(f"a frame of {found} bytes")
    return found
