"""Peers that mean no good or mean nothing: the driver drops them, serves the others meanwhile, and does not grow (H15)."""

from __future__ import annotations

import os
import random
import struct
import time
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ..support import alive
from .client import DATA, END, INSTALLED, OFFER, RUN, Attempt, Client, ClosedByDriver, pack
from .running import Driver, wait_for


def closes(client: Client) -> bool:
    """Whether the driver closes the connection; it may answer before."""
    try:
        for _ in client.frames():
            pass
    except ClosedByDriver:
        return True
    return False


@pytest.mark.parametrize("raw", [
    struct.pack(">IB", 0xFFFFFFFF, OFFER), struct.pack(">IB", 5 << 20, OFFER), struct.pack(">IB", 0, OFFER),
    b"GET / HTTP/1.1\r\n\r\n",
    struct.pack(">IB", 3, 200) + b"\0\0", pack(RUN, []), pack(DATA, []), pack(END, []), pack(OFFER, []),
    pack(OFFER, [("version", "1"), ("version", "1")]), struct.pack(">IB", 3, OFFER) + b"\xff\xff", bytes(100),
])
def test_messages_that_cannot_be(driver: Driver, raw: bytes) -> None:
    with driver.client(seconds=5) as client:
        client.raw(raw)
        assert closes(client)


@pytest.mark.parametrize(("name", "value"), [
    ("job", "job_1_2"), ("attempt", "attempt_1_0001_r_000000_0"), ("attempt", "../x"), ("start", "-1"), ("length", "1e9"),
    ("length", "99999999999999999999"), ("bundle", "../../etc"), ("combine", "2"), ("user", b"\xff"), ("path", b"\xff"),
    ("reduces", ""),
])
def test_offers_that_cannot_be(driver: Driver, attempt: Attempt, name: str, value: str | bytes) -> None:
    with driver.client(seconds=5) as client:
        client.send(OFFER, *replace(attempt, change={name: value}).offer())
        assert closes(client)


def test_frames_out_of_order(driver: Driver, attempt: Attempt) -> None:
    for after in (pack(INSTALLED, []), pack(OFFER, attempt.offer()), pack(DATA, [("x", "y")])):
        with driver.client(seconds=5) as client:
            assert client.offer(attempt)["run"] == "gpu"
            client.raw(after)
            assert closes(client)
    wait_for(lambda: not driver.status()["leases"])


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 40), st.binary(max_size=200)), max_size=5), st.booleans())
def test_random_frames(driver: Driver, frames: list[tuple[int, bytes]], cut: bool) -> None:
    """Whatever is sent, the driver answers the next one."""
    raw = b"".join(struct.pack(">IB", len(payload) + 1, type) + payload for type, payload in frames if type not in (32, 34))
    with driver.client() as client:
        try:
            client.raw(raw[: len(raw) // 2] if cut else raw)
        except ClosedByDriver:
            pass
    assert driver.status()["counts"].get("internal_errors", 0) == 0


def test_silent_peers_do_not_keep_others_waiting(driver: Driver, attempt: Attempt) -> None:
    """Forty that say nothing, or half of something, beside one that works; each is dropped after ten seconds."""
    half = pack(OFFER, attempt.offer())[:60]
    before = driver.status()["counts"].get("silent", 0)
    silent = [driver.client() for _ in range(40)]
    for client in silent[::2]:
        client.raw(half)
    begun = time.monotonic()
    with driver.client() as client:
        assert client.map(replace(attempt, job="job_1_0077")).kind == "result"
        client.send(INSTALLED)
    assert time.monotonic() - begun < 9
    wait_for(lambda: driver.status()["counts"].get("silent", 0) >= before + 40, 30)
    for client in silent:
        client.socket.close()


def test_a_lease_that_is_not_used_ends(driver: Driver, attempt: Attempt) -> None:
    """Ten seconds from ANSWER to RUN."""
    with driver.client(seconds=20) as client:
        assert client.offer(replace(attempt, job="job_1_0078"))["run"] == "gpu"
        begun = time.monotonic()
        with pytest.raises(ClosedByDriver):
            client.frame()
        assert 8 < time.monotonic() - begun < 19


def test_many_connections_leave_nothing(driver: Driver, attempt: Attempt) -> None:
    """Descriptors, threads and memory are what they were."""
    pid = driver.pid()

    def used() -> tuple[int, int]:
        return len(os.listdir(f"/proc/{pid}/fd")), len(os.listdir(f"/proc/{pid}/task"))

    rng = random.Random(1)
    for _ in range(100):
        with driver.client():
            pass
    wait_for(lambda: driver.status()["connections"] == 1)
    before, resident = used(), driver.status()["memory"]["resident"]
    for n in range(1000):
        with driver.client() as client:
            if n % 4:
                client.socket.send(rng.randbytes(rng.randrange(1, 300)))
    wait_for(lambda: driver.status()["connections"] == 1)
    after = used()
    assert after[0] <= before[0] + 2 and after[1] <= before[1] + 2
    assert driver.status()["memory"]["resident"] - resident < 50 << 20
    assert alive(pid) and driver.status()["counts"].get("internal_errors", 0) == 0


def test_a_peer_that_takes_nothing_of_its_result(driver: Driver, attempt: Attempt) -> None:
    """It reads the head and goes away: the lease is closed."""
    with driver.client() as client:
        one = replace(attempt, job="job_1_0079")
        client.offer(one)
        client.send(RUN, *one.run())
        client.until(one, lambda said: True)
    wait_for(lambda: not driver.status()["leases"])
