"""A map attempt's side of the driver's protocol, in Python, written from docs/driver-protocol.md and not from the driver's
code: what both have wrong would pass otherwise. Not a test module.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import socket
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

OFFER, ANSWER, RUN, NEED, PROGRESS, READ, RESULT, REFUSED, DATA, END, INSTALLED, CPU_DONE, FAILED = range(1, 14)
HELLO, CHALLENGE, PROOF = 14, 15, 16
STATUS, STATE, STOP = 32, 33, 34
Fields = list[tuple[str, bytes]]


class ClosedByDriver(Exception):
    """The driver has closed the connection."""


def pack(type: int, fields: list[tuple[str, Any]]) -> bytes:
    payload = struct.pack(">H", len(fields))
    for name, value in fields:
        data = value if isinstance(value, bytes) else str(value).encode()
        payload += struct.pack(">B", len(name)) + name.encode() + struct.pack(">I", len(data)) + data
    return struct.pack(">IB", 1 + len(payload), type) + payload


def unpack(payload: bytes) -> Fields:
    (count,) = struct.unpack_from(">H", payload)
    at, found = 2, []
    for _ in range(count):
        length = payload[at]
        name = payload[at + 1 : at + 1 + length].decode()
        at += 1 + length
        (size,) = struct.unpack_from(">I", payload, at)
        found.append((name, payload[at + 4 : at + 4 + size]))
        at += 4 + size
    assert at == len(payload)
    return found


@dataclass
class Outcome:
    """How a conversation ended. `kind`: result, refused or cpu."""

    kind: str
    fields: Fields = field(default_factory=list)
    index: bytes = b""
    data: bytes = b""
    progress: list[dict[str, str]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)  # names of NEED
    reads: list[tuple[int, int]] = field(default_factory=list)  # of READ

    def text(self, name: str) -> str:
        return dict(self.fields)[name].decode()

    def pairs(self, name: str) -> dict[str, str]:
        return dict(value.decode().split("=", 1) for key, value in self.fields if key == name)


def files_of(folder: Path, prefix: str = "") -> dict[str, Path]:
    """Name in the working folder -> file, of all files below `folder`."""
    return {f"{prefix}{path.relative_to(folder)}": path for path in sorted(folder.rglob("*")) if path.is_file()}


def mode_of(path: Path) -> str:
    return "x" if os.access(path, os.X_OK) and path.stat().st_mode & 0o100 else "-"


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def bundle_sha(bundle: Path) -> str:
    rows = [
        f"{name}\0{sha(path.read_bytes())}\0{mode_of(path)}\n".encode() for name, path in files_of(bundle).items()
    ]
    return sha(b"".join(sorted(rows)))


@dataclass
class Attempt:
    """One map attempt: what it offers, the files it has, the file that its split is of."""

    bundle: Path
    path: str
    start: int = 0
    length: int = 0
    reduces: int = 1
    combine: bool = True
    job: str = "job_1_0001"
    task: int = 0
    number: int = 0
    codec: str = ""
    policy: str = "gpu-first"
    delimiter: bytes = b""
    user: str = "me"
    maps: int = 1
    version: int = 3
    conf: dict[str, str] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=dict)
    extra: dict[str, Path] = field(default_factory=dict)
    content: bytes = b""  # of the split's file, for READ
    contents: list[bytes] = field(default_factory=list)  # of the files of `parts`
    change: dict[str, Any] = field(default_factory=dict)  # fields of OFFER that are other ones
    parts: list[tuple[str, int, int]] = field(default_factory=list)  # address, start and length of each of several splits

    @property
    def id(self) -> str:
        return f"attempt{self.job[3:]}_m_{self.task:06d}_{self.number}"

    def offer(self) -> list[tuple[str, Any]]:
        conf = {"heterodoop.bundle": "app.hdp", **self.conf}
        fields: dict[str, Any] = {
            "version": self.version, "job": self.job, "attempt": self.id, "path": self.path, "start": self.start,
            "length": self.length, "maps": self.maps, "reduces": self.reduces, "bundle": bundle_sha(self.bundle),
            "codec": self.codec, "delimiter": self.delimiter, "user": self.user, "node": "host:1",
            "combine": int(self.combine), "policy": self.policy, **self.change,
        }
        parts = (("part", f"{path}\0{start}\0{length}") for path, start, length in self.parts)
        return [*fields.items(), *(("conf", f"{key}={value}") for key, value in conf.items()), *parts]

    def files(self) -> dict[str, Path]:
        return {**files_of(self.bundle, "app.hdp/"), **self.extra}

    def run(self) -> list[tuple[str, Any]]:
        environment = {"PATH": os.environ["PATH"], "mapreduce_task_attempt_id": self.id, **self.env}
        fields: list[tuple[str, Any]] = [("env", f"{name}={value}") for name, value in environment.items()]
        for name, path in self.files().items():
            data = path.read_bytes()
            fields.append(("file", f"{name}\0{sha(data)}\0{len(data)}\0{mode_of(path)}"))
        return fields


class Client:
    """A connection. Every wait ends after `seconds`."""

    def __init__(self, path: Path | None = None, seconds: float = 30.0, port: int = 0, secret: bytes = b"") -> None:
        self.socket = socket.socket(socket.AF_INET if port else socket.AF_UNIX)
        self.socket.settimeout(seconds)
        try:
            self.socket.connect(("127.0.0.1", port) if port else str(path))
            if port:
                self.prove(secret)
        except BaseException:
            self.socket.close()
            raise

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, type: int, *fields: tuple[str, Any]) -> None:
        self.raw(pack(type, list(fields)))

    def raw(self, data: bytes) -> None:
        try:
            self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            raise ClosedByDriver from None

    def data(self, data: bytes) -> None:
        for at in range(0, len(data), 1 << 20):
            piece = data[at : at + (1 << 20)]
            self.raw(struct.pack(">IB", 1 + len(piece), DATA) + piece)
        self.send(END)

    def frame(self) -> tuple[int, bytes]:
        length, type = struct.unpack(">IB", self.exactly(5))
        return type, self.exactly(length - 1)

    def exactly(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            try:
                piece = self.socket.recv(min(1 << 20, size - len(data)))
            except ConnectionResetError:
                piece = b""
            if not piece:
                raise ClosedByDriver
            data += piece
        return bytes(data)

    def prove(self, secret: bytes) -> None:
        nonce = os.urandom(32)
        self.send(HELLO, ("nonce", nonce))
        type, payload = self.frame()
        said = dict(unpack(payload))
        assert type == CHALLENGE and said["proof"] == hmac.digest(secret, b"driver" + nonce, "sha256")
        self.send(PROOF, ("proof", hmac.digest(secret, b"task" + said["nonce"], "sha256")))

    def offer(self, attempt: Attempt) -> dict[str, str]:
        self.send(OFFER, *attempt.offer())
        return self.answer()

    def answer(self) -> dict[str, str]:
        type, payload = self.frame()
        assert type == ANSWER, type
        return {name: value.decode() for name, value in unpack(payload)}

    def map(self, attempt: Attempt) -> Outcome:
        """The whole of it up to the result, which is not yet installed; or up to what makes it a CPU attempt."""
        answer = self.offer(attempt)
        if answer["run"] == "cpu":
            return Outcome("cpu", [(name, value.encode()) for name, value in answer.items()])
        self.send(RUN, *attempt.run())
        return self.rest(attempt)

    def rest(self, attempt: Attempt) -> Outcome:
        """From RUN on."""
        outcome = Outcome("result")
        for type, payload in self.frames():
            fields = unpack(payload)
            if type == PROGRESS:
                outcome.progress.append({name: value.decode() for name, value in fields})
            elif type == NEED:
                for _, name in fields:
                    outcome.asked.append(name.decode())
                    self.data(attempt.files()[name.decode()].read_bytes())
            elif type == READ:
                said = dict(fields)
                offset, length = int(said["offset"]), int(said["length"])
                outcome.reads.append((offset, length))
                content = attempt.contents[int(said["part"])] if attempt.contents else attempt.content
                self.data(content[offset : offset + length])
            elif type == REFUSED:
                outcome.kind, outcome.fields = "refused", fields
                return outcome
            else:
                assert type == RESULT, type
                outcome.fields = fields
                break
        if outcome.text("text") == "0":
            outcome.index = self.received(int(outcome.text("index")))
        outcome.data = self.received(int(outcome.text("data")))
        return outcome

    def until(self, attempt: Attempt, wanted: Callable[[dict[str, str]], object]) -> None:
        """From RUN on, until a PROGRESS is as wanted."""
        for type, payload in self.frames():
            if type == NEED:
                for _, name in unpack(payload):
                    self.data(attempt.files()[name.decode()].read_bytes())
            else:
                assert type == PROGRESS, type
                if wanted({name: value.decode() for name, value in unpack(payload)}):
                    return

    def frames(self) -> Iterator[tuple[int, bytes]]:
        while True:
            yield self.frame()

    def received(self, size: int) -> bytes:
        data = b""
        for type, payload in self.frames():
            if type == END:
                break
            assert type == DATA and payload, type
            data += payload
        assert len(data) == size
        return data
