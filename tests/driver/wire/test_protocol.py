"""Frames: what is written is read again, and what is not exactly a frame is an error, whatever the bytes."""

from __future__ import annotations

import os
import socket
import struct
import tempfile
import threading
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heterodoop.driver.wire import protocol
from heterodoop.driver.wire.protocol import (
    CONTROL,
    ConnectionClosed,
    Malformed,
    Message,
    PeerFailed,
    PeerSilent,
    Stream,
    Type,
    decode,
    encode,
)

from .. import client

NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,20}", fullmatch=True)


@pytest.fixture
def ends() -> Iterator[tuple[Stream, socket.socket]]:
    ours, theirs = socket.socketpair()
    with theirs:
        stream = Stream(ours)
        yield stream, theirs
        stream.close()


@given(st.lists(st.tuples(NAMES, st.binary(max_size=300)), max_size=8))
def test_fields_come_back_as_they_were(fields: list[tuple[str, bytes]]) -> None:
    frame = encode(Type.OFFER, fields)
    assert struct.unpack_from(">IB", frame) == (len(frame) - 4, 1)
    assert decode(Type.OFFER, frame[5:]).fields == tuple(fields)
    assert client.unpack(frame[5:]) == fields and client.pack(1, list(fields)) == frame


@settings(max_examples=400)
@given(st.binary(max_size=80))
def test_any_bytes_are_a_message_or_malformed(payload: bytes) -> None:
    try:
        message = decode(Type.RUN, payload)
    except Malformed:
        return
    assert encode(Type.RUN, message.fields)[5:] == payload


@given(st.lists(st.tuples(NAMES, st.binary(max_size=40)), min_size=1, max_size=4), st.data())
def test_a_cut_or_longer_payload_is_malformed(fields: list[tuple[str, bytes]], data: st.DataObject) -> None:
    payload = encode(Type.RUN, fields)[5:]
    for wrong in (payload[: data.draw(st.integers(0, len(payload) - 1))], payload + b"\0"):
        with pytest.raises(Malformed):
            decode(Type.RUN, wrong)


def test_values() -> None:
    fields = ("n", b"12"), ("s", b"1.5"), ("t", b"\xc3\xa9"), ("twice", b"1"), ("twice", b"2"), ("bad", b"\xff")
    message = Message(Type.OFFER, fields)
    assert (message.number("n"), message.seconds("s"), message.text("t")) == (12, 1.5, "é")
    assert message.all("twice") == [b"1", b"2"]
    assert (message.text("none", "x"), message.number("none", 3), message.flag("none")) == ("x", 3, False)
    for call in (
        lambda: message.raw("twice"), lambda: message.raw("none"), lambda: message.text("bad"), lambda: message.number("s"),
        lambda: message.number("n", most=11), lambda: message.flag("n"), lambda: message.seconds("t"),
    ):
        with pytest.raises(Malformed):
            call()


@pytest.mark.parametrize("word", ["-1", "1e3", " 1", "0x1", "", "1_0", "99999999999999999999", "٣"])
def test_what_is_no_number(word: str) -> None:
    with pytest.raises(Malformed):
        Message(Type.OFFER, (("n", word.encode()),)).number("n")


@pytest.mark.parametrize("word", ["nan", "inf", "-1", "1e9", "1" * 40, ""])
def test_what_is_no_time(word: str) -> None:
    with pytest.raises(Malformed):
        Message(Type.CPU_DONE, (("seconds", word.encode()),)).seconds("seconds")


@pytest.mark.parametrize(("raw", "what"), [
    (struct.pack(">IB", 0xFFFFFFFF, 1), "at most"), (struct.pack(">IB", CONTROL + 2, 1), "at most"),
    (struct.pack(">IB", 0, 1), "without a type"), (struct.pack(">IB", 3, 99), "does not belong"),
    (struct.pack(">IB", 3, 2) + b"\0\0", "does not belong"),
])
def test_a_head_that_cannot_be(ends: tuple[Stream, socket.socket], raw: bytes, what: str) -> None:
    stream, theirs = ends
    theirs.sendall(raw)
    with pytest.raises(Malformed, match=what):
        stream.receive((Type.OFFER,), 5)


def test_a_close_that_fails_is_a_close() -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        stream = Stream(ours)
        os.close(ours.fileno())  # behind its back
        stream.close()
        assert stream.gone() and theirs.recv(1) == b""


def test_nothing_and_half_a_message_are_silence(ends: tuple[Stream, socket.socket]) -> None:
    stream, theirs = ends
    with pytest.raises(PeerSilent):
        stream.receive((Type.OFFER,), 0.05)
    theirs.sendall(encode(Type.OFFER, [("a", b"1" * 100)])[:50])
    with pytest.raises(PeerSilent):
        stream.receive((Type.OFFER,), 0.1)


def test_a_drip_does_not_hold_a_connection(ends: tuple[Stream, socket.socket]) -> None:
    """The time is for the whole message, not for each byte."""
    stream, theirs = ends
    stop = threading.Event()

    def drip() -> None:
        for byte in encode(Type.OFFER, [("a", b"1" * 100)]):
            if stop.wait(0.05):
                return
            theirs.sendall(bytes([byte]))

    thread = threading.Thread(target=drip)
    thread.start()
    with pytest.raises(PeerSilent):
        stream.receive((Type.OFFER,), 0.3)
    stop.set()
    thread.join()


def test_the_other_end_closes(ends: tuple[Stream, socket.socket]) -> None:
    stream, theirs = ends
    assert not stream.gone()
    theirs.sendall(b"\0\0")
    theirs.close()
    assert stream.gone()
    with pytest.raises(ConnectionClosed):
        stream.receive((Type.OFFER,), 5)


def send_bytes(stream: Stream, data: bytes) -> None:
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.flush()
        stream.send_file(file.fileno(), len(data))


def test_data_goes_both_ways(ends: tuple[Stream, socket.socket]) -> None:
    stream, theirs = ends
    other = Stream(theirs)
    content = bytes(range(256)) * 5000

    def send() -> None:
        send_bytes(other, content)
        send_bytes(other, b"")

    thread = threading.Thread(target=send)
    thread.start()
    assert [b"".join(stream.receive_data(n, 5)) for n in (len(content), 0)] == [content, b""]
    thread.join()


def test_more_data_than_was_asked_for(ends: tuple[Stream, socket.socket]) -> None:
    stream, theirs = ends
    send_bytes(Stream(theirs), b"12345")
    with pytest.raises(Malformed, match="more data"):
        list(stream.receive_data(4, 5))


def test_a_task_can_say_that_it_has_no_data(ends: tuple[Stream, socket.socket]) -> None:
    stream, theirs = ends
    Stream(theirs).send(Type.FAILED, ("reason", "no such file"))
    with pytest.raises(PeerFailed, match="no such file"):
        list(stream.receive_data(4, 5))


def test_who_takes_nothing_is_silent(ends: tuple[Stream, socket.socket], monkeypatch: pytest.MonkeyPatch) -> None:
    stream, _ = ends
    stream.socket.settimeout(0.1)
    with pytest.raises(PeerSilent):
        send_bytes(stream, bytes(50 << 20))
    monkeypatch.setattr(protocol, "SEND_SECONDS", 0.1)
    with open("/dev/zero", "rb"), pytest.raises(ConnectionClosed):
        stream.send(Type.STATE, ("json", bytes(9 << 20)))
