"""Conversations with anything wrong in them, against one driver: it answers or closes, and serves the next one as ever."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .client import DATA, END, INSTALLED, OFFER, RUN, Attempt, ClosedByDriver, pack
from .conftest import OnCpu
from .running import Driver, running

Fields = list[tuple[str, Any]]
EDGES = [0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, (4 << 20) + 1, (1 << 20) + 1]
WORDS = [
    b"-1", b"0", b"9223372036854775807", b"9223372036854775808", b"9" * 400, b"1e9", b"nan", b"inf", b"+1", b" 1", b"0x10",
    b"\xd9\xa1", b"", b"\0", b"file:///dev/zero", b"file:///proc/self/mem", b"../x\0" + b"a" * 64 + b"\0001\0-",
    b"heterodoop.line.max.bytes=-9", b"heterodoop.gpu.sub-split.bytes=-1", b"heterodoop.gpu.sub-split.bytes=" + b"9" * 30,
    b"mapreduce.task.io.sort.mb=999999999999", b"heterodoop.bundle=..", b"heterodoop.bundle=a/b",
    b"heterodoop.emulated.order=zz", b"heterodoop.gpu.arena.bytes=1", b"heterodoop.emulated.memory.bytes=1",
]
NAMES = ["a", "conf", "env", "file", "version", "path", "start", "length", "user", "reduces", "now", "json"]
VALUES = st.sampled_from(WORDS) | st.binary(max_size=300)
CHANGES = st.tuples(
    st.sampled_from(["drop", "twice", "value", "flip", "rename", "longer", "tail", "many"]), st.integers(0, 10**6), VALUES,
    st.sampled_from(NAMES),
)
CUTS = st.tuples(
    st.sampled_from(["flip", "drop", "insert", "length", "edge"]), st.integers(0, 10**6), st.binary(min_size=1, max_size=20),
    st.sampled_from(EDGES),
)
SETTINGS = settings(max_examples=40)


@pytest.fixture(scope="module")
def target(cache: dict[str, str]) -> Iterator[Driver]:
    with running(environment=cache) as driver:
        yield driver


def changed(fields: Fields, changes: list[tuple[str, int, bytes, str]]) -> Fields:
    fields = [(name, value if isinstance(value, bytes) else str(value).encode()) for name, value in fields]
    for kind, at, value, name in changes:
        if not fields:
            break
        at %= len(fields)
        old = fields[at]
        if kind == "drop":
            del fields[at]
        elif kind == "twice":
            fields.insert(at, old)
        elif kind == "many":
            fields += [(name, b"k=v")] * 3000
        else:
            flipped = bytes([old[1][0] ^ 1]) + old[1][1:] if old[1] else b"x"
            fields[at] = {
                "value": (old[0], value), "flip": (old[0], flipped), "rename": (name, old[1]),
                "longer": (old[0], old[1] * 50), "tail": (old[0], old[1] + value),
            }[kind]
    return fields


def cut(data: bytes, cuts: list[tuple[str, int, bytes, int]]) -> bytes:
    for kind, at, piece, edge in cuts:
        at %= max(1, len(data))
        data = {
            "flip": data[:at] + bytes(b ^ 4 for b in data[at : at + 1]) + data[at + 1 :],
            "drop": data[:at] + data[at + len(piece) :],
            "insert": data[:at] + piece + data[at:], "length": struct.pack(">I", edge) + data[4:],
            "edge": data[:at] + struct.pack(">I", edge) + data[at + 4 :],
        }[kind]
    return data


def said(driver: Driver, *pieces: bytes) -> None:
    """Say that, and nothing more; the driver closes."""
    with driver.client() as client:
        try:
            for piece in pieces:
                client.raw(piece)
            client.socket.shutdown(socket.SHUT_WR)
            while client.socket.recv(65536):
                pass
        except (ClosedByDriver, OSError):
            pass


def harmless(raw: bytes) -> bytes:
    """The same, but no order to end the driver."""
    return raw if raw[4:5] not in (b"\x22", b"") else raw[:4] + b"\1" + raw[5:]


@SETTINGS
@given(st.lists(CHANGES, min_size=1, max_size=3), st.lists(CUTS, max_size=3))
def test_offers(target: Driver, attempt: Attempt, changes: list[Any], cuts: list[Any]) -> None:
    said(target, harmless(cut(pack(OFFER, changed(attempt.offer(), changes)), cuts)))
    assert target.status()["counts"].get("internal_errors", 0) == 0


@SETTINGS
@given(st.lists(CHANGES, min_size=1, max_size=3), st.lists(CUTS, max_size=3), st.integers(1, 10**6))
def test_what_comes_after_a_good_offer(
    target: Driver, attempt: Attempt, changes: list[Any], cuts: list[Any], job: int,
) -> None:
    one = replace(attempt, job=f"job_2_{job:04d}")
    data = struct.pack(">IB", 6, DATA) + b"hello" + pack(END, [])
    said(target, pack(OFFER, one.offer()), cut(pack(RUN, changed(one.run(), changes)), cuts), data)
    assert target.status()["counts"].get("internal_errors", 0) == 0


def test_a_good_attempt_after_all_of_them(target: Driver, attempt: Attempt, sample: Any, on_cpu: OnCpu) -> None:
    _, index, data = on_cpu(attempt, sample)
    with target.client() as client:
        outcome = client.map(replace(attempt, job="job_7_0001"))
        assert (outcome.kind, outcome.index, outcome.data) == ("result", index, data)
        client.send(INSTALLED)
    assert target.status()["gpus"][0]["out_of_service"] == ""
