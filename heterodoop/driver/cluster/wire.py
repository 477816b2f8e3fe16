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

import json
import re
from pathlib import Path
from typing import Any, Literal

from ...daemon import secret
from ...errors import UsageError

PROTOCOL = 1
LIMIT = 1 << 20  # bytes of a frame
GREETING_LIMIT = 1024
TAG = 32
GREETING_SECONDS = 5.0

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
        return secret.read(path)
    except secret.Unfit as why:
        raise _bad_secret(path, why) from None


def make_secret(path: Path) -> None:
    """Write a new secret. Raises UsageError HD641."""
    try:
        secret.make(path)
    except secret.Unfit as why:
        raise _bad_secret(path, why) from None


def _bad_secret(path: Path, why: secret.Unfit) -> UsageError:
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

    def __init__(self, key: bytes, side: Side) -> None:
        self._key, self._side = key, side
        self._nonce = secret.nonce()
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
        if not secret.proves(_bytes(message, "proof"), self._key, _label(label), self._nonces):
            raise BadFrame("it does not know the secret")

    def _proof(self, label: str) -> bytes:
        return secret.proof(self._key, _label(label), self._nonces)


def _label(who: str) -> bytes:
    return f"heterodoop {PROTOCOL} {who}\0".encode()


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
        return (TAG + len(body)).to_bytes(4, "big") + secret.proof(self._key, _numbered(self._side, self._sent), body) + body

    def open(self, frame: bytes) -> Message:
        """The message of a frame without its length. Raises BadFrame."""
        self._got += 1
        other = "coordinator" if self._side == "driver" else "driver"
        if not secret.proves(frame[:TAG], self._key, _numbered(other, self._got), frame[TAG:]):
            raise BadFrame("a frame that its sender did not seal")
        return unpack(frame[TAG:])


def _numbered(side: str, number: int) -> bytes:
    return f"{side} {number}\0".encode()


def length(head: bytes, limit: int) -> int:
    """The length of the frame that four bytes begin. Raises BadFrame where it is more than `limit` or nothing."""
    found = int.from_bytes(head, "big")
    if not 0 < found <= limit:
        raise BadFrame(f"a frame of {found} bytes")
    return found
