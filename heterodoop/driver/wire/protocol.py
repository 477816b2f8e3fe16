"""The wire between a map attempt and its node's GPU driver, version 3 (docs/driver-protocol.md): frames, fields, limits.

A frame is a length, a type and a payload; all but DATA carry named fields. Everything that comes in is foreign: lengths are
checked before anything is kept, a field that does not belong is an error, and an error closes the connection. Not here: what
a message causes (conversation.py), who may connect (place.py).
"""

from __future__ import annotations

import os
import re
import select
import socket
import struct
import time
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from threading import Lock

VERSION = 3
DATA_BYTES = 1 << 20  # most that one DATA frame holds
BIG_CONTROL = 4 << 20  # OFFER and RUN: the environment alone is about 95 KB
CONTROL = 64 << 10
SEND_SECONDS = 30.0  # for a peer that does not take what was sent

_HEAD = struct.Struct(">IB")
_COUNT = struct.Struct(">H")
_VALUE = struct.Struct(">I")
_NAME = re.compile(rb"[a-z][a-z0-9_]*")
_NUMBER = re.compile(r"[0-9]{1,19}")
_DECIMAL = re.compile(r"[0-9]{1,15}(\.[0-9]{1,15})?([eE]-[0-9]{1,2})?")


class Type(IntEnum):
    """What a frame is. From 32 on: requests of `heterodoop driver`, not of a task."""

    OFFER = 1
    ANSWER = 2
    RUN = 3
    NEED = 4
    PROGRESS = 5
    READ = 6
    RESULT = 7
    REFUSED = 8
    DATA = 9
    END = 10
    INSTALLED = 11
    CPU_DONE = 12
    FAILED = 13
    HELLO = 14
    CHALLENGE = 15
    PROOF = 16
    WAIT = 17
    STATUS = 32
    STATE = 33
    STOP = 34
    LEND = 48  # from `heterodoop run`: what follows are no frames (executor/lent/words.py)


class ConnectionClosed(Exception):
    """The connection is over: the peer is gone."""


class Malformed(ConnectionClosed):
    """The peer says what it may not say."""


class PeerSilent(ConnectionClosed):
    """The peer says nothing, or takes nothing, for too long."""


Value = bytes | str | int | float
Field = tuple[str, Value]


@dataclass(frozen=True)
class Message:
    """A frame with fields, in their order; a name may stand several times."""

    type: Type
    fields: tuple[tuple[str, bytes], ...] = ()

    def all(self, name: str) -> list[bytes]:
        return [value for key, value in self.fields if key == name]

    def raw(self, name: str, default: bytes | None = None) -> bytes:
        """The one value of a name. Raises Malformed: there are several, or none and no default."""
        values = self.all(name)
        if len(values) > 1 or (not values and default is None):
            raise Malformed(f"{self.type.name} has {len(values)} fields {name}")
        return values[0] if values else default or b""

    def text(self, name: str, default: str | None = None) -> str:
        """As `raw`, as UTF-8."""
        return text_of(self.raw(name, None if default is None else default.encode()), f"{self.type.name} {name}")

    def number(self, name: str, default: int | None = None, most: int = 2**63 - 1) -> int:
        """As `raw`, a whole number from 0 to `most`."""
        word = self.text(name, None if default is None else str(default))
        if not _NUMBER.fullmatch(word) or int(word) > most:
            raise Malformed(f"{self.type.name}: {name} is no number from 0 to {most}")
        return int(word)

    def seconds(self, name: str) -> float:
        """As `raw`, a time that is not negative."""
        word = self.text(name)
        if not _DECIMAL.fullmatch(word):
            raise Malformed(f"{self.type.name}: {name} is no time")
        return float(word)

    def flag(self, name: str) -> bool:
        """As `raw`, "0" or "1"; not there is "0"."""
        return self.number(name, 0, 1) == 1


def text_of(data: bytes, what: str) -> str:
    """UTF-8 as text. Raises Malformed."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Malformed(f"{what} is not UTF-8") from None


def encode(type: Type, fields: Iterable[Field] = ()) -> bytes:
    """A frame with fields. Texts that hold surrogate escapes give the bytes that they stand for."""
    rows = list(fields)
    parts = [_COUNT.pack(len(rows))]
    for name, value in rows:
        data = _bytes(value)
        parts += [bytes([len(name)]), name.encode("ascii"), _VALUE.pack(len(data)), data]
    payload = b"".join(parts)
    return _HEAD.pack(len(payload) + 1, type) + payload


def _bytes(value: Value) -> bytes:
    if isinstance(value, bytes):
        return value
    if isinstance(value, float):
        return f"{value:.6f}".encode()
    return str(value).encode("utf-8", "surrogateescape")


def decode(type: Type, payload: bytes) -> Message:
    """A frame's payload. Raises Malformed: it is not exactly a list of named fields."""
    try:
        (count,) = _COUNT.unpack_from(payload)
        at = _COUNT.size
        fields = []
        for _ in range(count):
            name_end = at + 1 + payload[at]
            name = payload[at + 1 : name_end]
            (size,) = _VALUE.unpack_from(payload, name_end)
            at = name_end + _VALUE.size + size
            if not _NAME.fullmatch(name) or at > len(payload):
                raise Malformed(f"{type.name}: a field that is none")
            fields.append((name.decode("ascii"), payload[at - size : at]))
    except (struct.error, IndexError):
        raise Malformed(f"{type.name} ends in the middle of a field") from None
    if at != len(payload):
        raise Malformed(f"{type.name} goes on behind its last field")
    return Message(type, tuple(fields))


class Stream:
    """A connection. One thread receives; any thread may send. Raises Closed, Malformed, Silent."""

    def __init__(self, sock: socket.socket) -> None:
        self.socket = sock
        self._lock = Lock()
        sock.settimeout(SEND_SECONDS)

    def send(self, type: Type, *fields: Field) -> None:
        frame = encode(type, fields)
        with self._lock:
            self._send(frame)

    def send_file(self, fd: int, size: int) -> None:
        """The first `size` bytes of a file as DATA frames and END; the kernel copies them."""
        with self._lock:
            for at in range(0, size, DATA_BYTES):
                piece = min(DATA_BYTES, size - at)
                self._send(_HEAD.pack(piece + 1, Type.DATA))
                self._copy(fd, at, piece)
            self._send(encode(Type.END))

    def receive(self, allowed: Collection[Type], seconds: float | None, limit: int = CONTROL) -> Message:
        """The next message, of one of these types. `seconds`: until it is whole; None: it may begin at any time."""
        if seconds is None:
            self._wait_readable(None)
            seconds = SEND_SECONDS
        deadline = time.monotonic() + seconds
        size, type = self._head(allowed, deadline)
        if size > limit:
            raise Malformed(f"{type.name} of {size} bytes: at most {limit} are allowed")
        return decode(type, bytes(self._exactly(size, deadline)))

    def receive_data(self, most: int, seconds: float) -> Iterator[bytes]:
        """The bytes of DATA frames up to END, at most `most`. `seconds`: for each frame. FAILED ends it with Failed."""
        total = 0
        while True:
            deadline = time.monotonic() + seconds
            size, type = self._head((Type.DATA, Type.END, Type.FAILED), deadline)
            if type is Type.DATA:
                total += size
                if size > DATA_BYTES or total > most:
                    raise Malformed("more data than was asked for")
                yield bytes(self._exactly(size, deadline))
                continue
            if size > CONTROL:
                raise Malformed(f"{type.name} of {size} bytes")
            message = decode(type, bytes(self._exactly(size, deadline)))
            if type is Type.FAILED:
                raise PeerFailed(message.text("reason", ""))
            return

    def wait(self, seconds: float | None) -> None:
        """Until there is something to read. `seconds` None: however long. Raises Closed, Silent."""
        self._wait_readable(seconds)

    def gone(self) -> bool:
        """Whether the peer has closed its end; bytes that it sent before may still wait to be read."""
        poll = select.poll()
        try:
            poll.register(self.socket, select.POLLRDHUP)
            return any(event & (select.POLLRDHUP | select.POLLHUP | select.POLLERR | select.POLLNVAL)
                       for _, event in poll.poll(0))
        except (OSError, ValueError):  # it was closed here
            return True

    def close(self) -> None:
        """Any thread that waits for the peer gets Closed."""
        self.shut()
        try:
            self.socket.close()
        except OSError:  # its descriptor is free all the same
            pass

    def shut(self) -> None:
        """As `close`, where another thread may still use the connection."""
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def _send(self, data: bytes) -> None:
        try:
            self.socket.sendall(data)
        except TimeoutError:
            raise PeerSilent("the peer does not take what is sent") from None
        except OSError as error:
            raise ConnectionClosed(str(error)) from None

    def _copy(self, fd: int, at: int, size: int) -> None:
        end = at + size
        while at < end:
            try:
                done = os.sendfile(self.socket.fileno(), fd, at, end - at)
            except BlockingIOError:
                self._wait_writable()
                continue
            except OSError as error:
                raise ConnectionClosed(str(error)) from None
            if not done:
                raise ConnectionClosed("the file became shorter while it was sent")
            at += done

    def _wait_writable(self) -> None:
        poll = select.poll()
        poll.register(self.socket, select.POLLOUT)
        if not poll.poll(SEND_SECONDS * 1000):
            raise PeerSilent("the peer does not take what is sent")

    def _wait_readable(self, seconds: float | None) -> None:
        poll = select.poll()
        try:
            poll.register(self.socket, select.POLLIN)
            if not poll.poll(None if seconds is None else max(0.0, seconds) * 1000):
                raise PeerSilent("the peer says nothing")
        except (OSError, ValueError) as error:
            raise ConnectionClosed(str(error)) from None

    def _head(self, allowed: Collection[Type], deadline: float) -> tuple[int, Type]:
        size, number = _HEAD.unpack(self._exactly(_HEAD.size, deadline))
        if number not in allowed:
            raise Malformed(f"a frame of type {number} does not belong here")
        if not size:
            raise Malformed("a frame without a type")
        return size - 1, Type(number)

    def _exactly(self, size: int, deadline: float) -> bytearray:
        data = bytearray()
        while len(data) < size:
            self._wait_readable(deadline - time.monotonic())
            try:
                piece = self.socket.recv(min(DATA_BYTES, size - len(data)))
            except TimeoutError:
                raise PeerSilent("the peer says nothing") from None
            except OSError as error:
                raise ConnectionClosed(str(error)) from None
            if not piece:
                raise ConnectionClosed("the peer has closed the connection")
            data += piece
        return data


class PeerFailed(Exception):
    """The task cannot give what was asked of it; the connection goes on."""
