"""A coordinator in a thread of the test, and drivers as sockets that may misbehave. Not a test module."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

from heterodoop.driver.cluster.client import CoordinatorClient, ask_status
from heterodoop.driver.cluster.coordinator import Coordinator
from heterodoop.driver.cluster.knowledge import Poller
from heterodoop.driver.cluster.wire import Greeting, Sealed
from heterodoop.driver.cluster.yarn_rest import Addresses, Rest
from heterodoop.scheduler.node.job import MIB
from heterodoop.scheduler.node.model import Knowledge
from heterodoop.scheduler.policies import CPU_ONLY, GPU_ONLY, POLICIES

from ..scheduler.nodes import Node

SECRET = bytes(range(32))
NOWHERE = Rest(Addresses(()))


class Running:
    """A coordinator from `with` to its end. `port`: 0 for any."""

    def __init__(self, rest: Rest, port: int = 0) -> None:
        self._listening = threading.Event()
        self.coordinator = Coordinator(SECRET, rest, self._ready)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, args=(port,))
        self.address = ("", 0)

    def _ready(self, host: str, port: int) -> None:
        self.address = (host, port)
        self._listening.set()

    def _run(self, port: int) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self.coordinator.run("127.0.0.1", port, signals=False))

    def __enter__(self) -> Running:
        self._thread.start()
        assert self._listening.wait(10)
        return self

    def __exit__(self, *error: object) -> None:
        self.end()

    def end(self) -> None:
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self.coordinator.stop)
        self._thread.join(10)
        assert not self._thread.is_alive()

    def status(self) -> dict[str, Any]:
        return ask_status(self.address, SECRET)


class Heard(Node):
    """A node of one GPU that keeps what it heard last of each job."""

    def __init__(self) -> None:
        super().__init__(1)
        self.heard: dict[str, Knowledge | None] = {}
        self.leases = 0

    def hear(self, job: str, knowledge: Knowledge | None) -> None:
        self.heard[job] = knowledge
        super().hear(job, knowledge)

    def ask(self, job: str, task: int, policy: str = "tail") -> int:
        """An attempt of a map task asks; returns its lease."""
        self.leases += 1
        self.offer(self.leases, job, f"task_{job.removeprefix('job_')}_m_{task:06d}", MIB, 100, POLICIES[policy])
        return self.leases

    def measured(self, job: str, cpu: float, gpu: float) -> None:
        """Three attempts of each kind of task 0 have ended."""
        for policy, seconds in [(CPU_ONLY, cpu), (GPU_ONLY, gpu)] * 3:
            self.done(self.ask(job, 0, policy.name), seconds)


def client(address: tuple[str, int], name: str = "n1:1", rest: Rest = NOWHERE, secret: bytes = SECRET) -> CoordinatorClient:
    return CoordinatorClient(address, secret, name, Poller(rest))


def until(condition: Callable[[], object], seconds: float = 10.0) -> float:
    """Wait for something; returns how long it took."""
    start = time.monotonic()
    while not condition():
        assert time.monotonic() - start < seconds, "did not happen"
        time.sleep(0.01)
    return time.monotonic() - start


class Raw:
    """A socket that speaks frames, well or badly."""

    def __init__(self, address: tuple[str, int]) -> None:
        self.socket = socket.create_connection(address, timeout=10)
        self.sealed: Sealed | None = None

    def __enter__(self) -> Raw:
        return self

    def __exit__(self, *error: object) -> None:
        self.socket.close()

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def frame(self) -> bytes:
        """The next frame, b"" where the other side has closed."""
        head = self._exactly(4)
        return self._exactly(int.from_bytes(head, "big")) if head else b""

    def _exactly(self, size: int) -> bytes:
        found = b""
        while len(found) < size:
            try:
                piece = self.socket.recv(size - len(found))
            except ConnectionResetError:
                return b""
            if not piece:
                return b""
            found += piece
        return found

    def greet(self, secret: bytes = SECRET) -> Sealed:
        greeting = Greeting(secret, "driver")
        self.send(greeting.hello())
        self.send(greeting.meet(self.frame()))
        self.sealed = greeting.sealed()
        return self.sealed
