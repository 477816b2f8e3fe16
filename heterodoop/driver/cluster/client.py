"""A driver's link to the coordinator: tells it what its node decides, and the node what all others do.

While there is no coordinator the driver asks the ApplicationMasters itself (knowledge.Poller), and tries twice a second.
A new connection begins with all that the node knows, so a coordinator that was started again knows it within a second.
"""

from __future__ import annotations

import contextlib
import random
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ...errors import UsageError
from ...scheduler.node.model import JobReport, Knowledge
from ...storage.hadoop_conf import HadoopConf
from .knowledge import GIVE_UP, Node, Nothing, Poller, Source, Ticker
from .wire import (
    GREETING_LIMIT,
    GREETING_SECONDS,
    LIMIT,
    BadFrame,
    Greeting,
    Message,
    Sealed,
    length,
    parse_address,
    read_secret,
)
from .yarn_rest import JOB, TASK, Rest, of_conf

RETRY = 0.5  # seconds between two tries to connect
CONNECT_SECONDS = 1.0
ANSWER_SECONDS = 5.0
LONGEST_WAIT = 10.0
CHUNK = 50_000  # task numbers of one message: at most 12 bytes each
JOBS = 200  # of one message


class Link:
    """A connection that has greeted. Blocking; raises OSError and BadFrame."""

    def __init__(self, address: tuple[str, int], secret: bytes) -> None:
        self._socket = socket.create_connection(address, timeout=CONNECT_SECONDS)
        try:
            self._socket.settimeout(GREETING_SECONDS)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            greeting = Greeting(secret, "driver")
            self._socket.sendall(greeting.hello())
            self._socket.sendall(greeting.meet(self._frame(GREETING_LIMIT)))
            self._sealed: Sealed = greeting.sealed()
            self._socket.settimeout(ANSWER_SECONDS)
        except BaseException:
            self._socket.close()
            raise

    def ask(self, message: Message) -> Message:
        """Send a message and return the answer."""
        self._socket.sendall(self._sealed.seal(message))
        return self._sealed.open(self._frame(LIMIT))

    def close(self) -> None:
        self._socket.close()

    def _frame(self, limit: int) -> bytes:
        return self._exactly(length(self._exactly(4), limit))

    def _exactly(self, size: int) -> bytes:
        found = bytearray()
        while len(found) < size:
            piece = self._socket.recv(size - len(found))
            if not piece:
                raise ConnectionResetError("the coordinator closed the connection")
            found += piece
        return bytes(found)


class CoordinatorClient:
    """The source of a driver that has a coordinator (knowledge.Source).

    name      the node's, as in NM_HOST:NM_PORT.
    fallback  asks while there is no coordinator.
    """

    def __init__(self, address: tuple[str, int], secret: bytes, name: str, fallback: Poller) -> None:
        self._address, self._secret, self._name, self._fallback = address, secret, name, fallback
        self._ticker = Ticker("coordinator", self._step)
        self._link: Link | None = None
        self._told: dict[str, set[int]] = {}  # what this connection's coordinator knows
        self._heard: dict[str, float] = {}  # job -> when the coordinator last knew something of it
        self._retry = 0.0
        self._error = "not connected yet"
        self._known: set[str] = set()
        self._node: Node | None = None
        self._lock = threading.Lock()

    def start(self, node: Node) -> None:
        self._node = node
        self._fallback.attach(node)
        self._ticker.start()

    def watch(self, job: str) -> None:
        if job not in self._known and JOB.match(job):
            with self._lock:
                self._known.add(job)
            self._fallback.watch(job)
            self._ticker.wake()

    def stop(self) -> None:
        self._ticker.stop()
        self._drop("")

    def status(self) -> dict[str, object]:
        if self._link:
            host, port = self._address
            return {"source": "coordinator", "detail": f"connected to {host}:{port}", "jobs": len(self._told)}
        found = self._fallback.status()
        return {**found, "detail": f"no coordinator: {self._error}; {found['detail']}"}

    def _step(self) -> float:
        try:
            if self._link or self._connect():
                return self._exchange()
        except (OSError, BadFrame) as error:
            self._drop(str(error) or type(error).__name__)
        self._fallback.step()
        return RETRY / 2

    def _connect(self) -> bool:
        if time.monotonic() < self._retry:
            return False
        self._retry = time.monotonic() + RETRY * random.uniform(0.5, 1.0)  # not all drivers at once
        self._link = Link(self._address, self._secret)
        self._told, self._error = {}, ""
        return True

    def _drop(self, error: str) -> None:
        if self._link:
            self._link.close()
        self._link, self._told, self._error = None, {}, error

    def _exchange(self) -> float:
        """Tell what is new and take in the answer; returns the seconds until the next time."""
        assert self._link and self._node
        reports = self._node.report()
        answer: Message = {}
        for jobs in self._news(reports):
            answer = self._link.ask({"node": self._name, "jobs": jobs})
            self._take(answer)
        self._clean(reports)
        wait = answer.get("wait")
        return min(max(float(wait), 0.05), LONGEST_WAIT) if isinstance(wait, int | float) else 1.0

    def _news(self, reports: Mapping[str, JobReport]) -> Iterator[dict[str, Message]]:
        """What the coordinator does not know yet, in pieces that fit a frame; one piece at least."""
        piece: dict[str, Message] = {}
        weight = 0
        for job, change, tasks in self._changes(reports):
            if job in piece or len(piece) >= JOBS or weight + tasks > CHUNK:
                yield piece
                piece, weight = {}, 0
            piece[job] = change
            weight += tasks
        yield piece

    def _changes(self, reports: Mapping[str, JobReport]) -> Iterator[tuple[str, Message, int]]:
        """(job, change, task numbers in it), CHUNK of them at most."""
        for job in [job for job in self._told if job not in reports]:
            del self._told[job]
            yield job, {"gone": True}, 0
        for job, report in reports.items():
            if not JOB.match(job):
                continue
            told, now = self._told.get(job, set()), _numbers(job, report.decided)
            self._told[job] = now
            parts = [*_parts("add", now - told), *_parts("drop", told - now)] or [("add", [])]
            for name, tasks in parts:
                yield job, {name: tasks, "speedup": report.speedup, "room": report.room}, len(tasks)

    def _take(self, answer: Message) -> None:
        assert self._node
        jobs, ended = answer.get("jobs"), answer.get("ended")
        for job, values in jobs.items() if isinstance(jobs, dict) else ():
            knowledge = _knowledge(values)
            if job in self._told:
                self._node.hear(job, knowledge)
                if knowledge:
                    self._heard[job] = time.monotonic()
        for job in ended if isinstance(ended, list) else ():
            self._forget(str(job))

    def _clean(self, reports: Mapping[str, JobReport]) -> None:
        """Forget jobs of which nobody knows anything any more."""
        now = time.monotonic()
        for job, report in reports.items():
            if now - self._heard.setdefault(job, now) >= GIVE_UP and not report.live:
                self._forget(job)
        for job in self._heard.keys() - reports.keys():
            del self._heard[job]
        with self._lock:
            self._known &= reports.keys()

    def _forget(self, job: str) -> None:
        assert self._node
        self._node.forget(job)
        self._fallback.unwatch(job)


def source_for(conf: HadoopConf, name: str, coordinator: str = "", secret: Path | None = None) -> Source:
    """What a driver asks: the coordinator where one is named (HOST:PORT and the file of the cluster's secret), else the
    ApplicationMasters, else nobody. `name`: the node's. Raises UsageError HD641, HD642."""
    where = of_conf(conf)
    if coordinator:
        if secret is None:
            raise UsageError("a coordinator needs the file of its secret", code="HD641")
        return CoordinatorClient(parse_address(coordinator), read_secret(secret), name, Poller(Rest(where)))
    return Poller(Rest(where)) if where.resource_managers else Nothing()


def _numbers(job: str, tasks: frozenset[str]) -> set[int]:
    """The numbers of map tasks; ids of another job, or of nothing, have none."""
    prefix = job.removeprefix("job_")
    found = (TASK.match(task) for task in tasks)
    return {int(match[2]) for match in found if match and match[1] == prefix}


def _parts(name: str, tasks: set[int]) -> Iterator[tuple[str, list[int]]]:
    ordered = sorted(tasks)
    for start in range(0, len(ordered), CHUNK):
        yield name, ordered[start:start + CHUNK]


def _knowledge(values: object) -> Knowledge | None:
    """Read back what board.py wrote: a Knowledge as an array."""
    if not isinstance(values, list) or len(values) != len(Knowledge._fields):
        return None
    total, completed, elsewhere, nodes, speedups, room, pending = values
    return Knowledge(total, completed, elsewhere, nodes, tuple(speedups), room, pending)


def ask_status(address: tuple[str, int], secret: bytes) -> dict[str, Any]:
    """What a coordinator says of itself. Raises OSError and BadFrame."""
    with contextlib.closing(Link(address, secret)) as link:
        return link.ask({"ask": "status"})
