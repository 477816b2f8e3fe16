"""A driver for tests, on the emulated device and in a short folder of its own: `heterodoop driver start`, with instruments
(instrumented.py) where a test may ask for some, without them where the command itself is tested. Not a test module."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from heterodoop.driver.job.gpus import DeviceWish
from heterodoop.driver.server import Config, Server
from heterodoop.driver.wire.place import DriverPlace
from heterodoop.storage import hadoop_conf

from ..support import Done, alive, cli_process
from ..support import environment as with_checkout
from . import instrumented
from .client import STATUS, STOP, Attempt, Client, ClosedByDriver, unpack


@dataclass
class Driver:
    """A running driver. Its folder is below /tmp: a socket's path is short."""

    folder: Path
    environment: Mapping[str, str]

    @property
    def socket(self) -> Path:
        return self.folder / "driver.sock"

    def client(self, seconds: float = 30.0) -> Client:
        return Client(self.socket, seconds)

    def start(self, *options: object) -> Done:
        return self.command("start", "--device", "emulated", *options)

    def command(self, *words: object) -> Done:
        return cli_process("driver", *words, "--dir", self.folder, env=self.environment)

    def status(self) -> dict[str, Any]:
        return self._ask(STATUS)

    def stop(self, now: bool = False) -> None:
        """Tell it to end; returns at once."""
        self._ask(STOP, ("now", int(now)))

    def _ask(self, type: int, *fields: tuple[str, Any]) -> dict[str, Any]:
        with self.client() as client:
            client.send(type, *fields)
            _, payload = client.frame()
        return json.loads(dict(unpack(payload))["json"])

    def serve(self, *options: object) -> subprocess.Popen[bytes]:
        """As `start`, without the command in between: half the time. The caller waits for its end. It has instruments."""
        reader, writer = os.pipe()
        words = ["--ready-fd", writer, "--dir", self.folder, "--device", "emulated", *options]
        process = subprocess.Popen(
            [*instrumented.COMMAND, "driver", "start", "--foreground", *map(str, words)], pass_fds=[writer], cwd="/",
            env=with_checkout(self.environment), start_new_session=True,
        )
        os.close(writer)
        with open(reader, "rb") as ready:
            assert ready.read() == b"ready\n"
        return process

    def pid(self) -> int:
        return int(json.loads((self.folder / "driver.lock").read_text() or '{"pid": 0}')["pid"])

    def kill(self) -> None:
        """kill -9, and wait for the end."""
        pid = self.pid()
        os.kill(pid, signal.SIGKILL)
        wait_for(lambda: not alive(pid))

    def log(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.folder / "driver.log").read_text().splitlines()]

    def events(self, name: str) -> list[dict[str, Any]]:
        return [row for row in self.log() if row["event"] == name]


def slow(attempt: Attempt, seconds: float = 30) -> Attempt:
    """It holds its session for so long before it begins; its progress says `delayed`."""
    return replace(attempt, env={**attempt.env, instrumented.DELAY.replace(".", "_"): str(seconds)})


def wait_for(condition: Callable[[], Any], seconds: float = 20.0) -> Any:
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)
    return found


@contextmanager
def driver_folder(environment: Mapping[str, str] | None = None) -> Iterator[Driver]:
    """A place for a driver, which is ended with the block whatever happens."""
    base = Path(tempfile.mkdtemp(prefix="hdd-", dir="/tmp"))
    driver = Driver(base / "d", {"HETERODOOP_GPU_SHARES": str(base / "shares"), **(environment or {})})
    try:
        yield driver
    finally:
        if (driver.folder / "driver.lock").exists() and (pid := driver.pid()) and alive(pid):
            with suppress(ClosedByDriver, OSError):
                driver.stop(now=True)
            wait_for(lambda: not alive(pid))
        shutil.rmtree(base, ignore_errors=True)


@contextmanager
def running(*options: object, environment: Mapping[str, str] | None = None) -> Iterator[Driver]:
    """A driver that serves."""
    with driver_folder(environment) as driver:
        process = driver.serve(*options)
        try:
            yield driver
        finally:
            if process.poll() is None:
                with suppress(ClosedByDriver, OSError):  # it may be dying already
                    driver.stop(now=True)
            process.wait(20)


@contextmanager
def in_this_process(environment: Mapping[str, str], patch: pytest.MonkeyPatch) -> Iterator[Driver]:
    """A driver with one session and instruments, in threads of this process. It has ended with the block."""
    for name, value in environment.items():
        patch.setenv(name, value)
    for module, name, part in instrumented.replaced():
        patch.setattr(module, name, part)
    with driver_folder() as driver:
        place = DriverPlace(driver.folder)
        config = Config(place, driver.folder / "driver.work", DeviceWish("emulated", sessions=1))
        with Server(config, hadoop_conf.load()) as server:
            serving = threading.Thread(target=server.run)
            serving.start()
            try:
                yield driver
            finally:
                server.stop()
                serving.join(10)
                ended = not serving.is_alive()
                server.stop(now=True)
                serving.join()
        assert ended, "it has not ended within 10 s"
