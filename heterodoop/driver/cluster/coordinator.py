"""The coordinator of a cluster: tells every driver how many map tasks of a job nobody has decided on, how many nodes serve
it, and how fast their GPUs are.

It asks each job's ApplicationMaster once a second, whatever the number of drivers, and limits nothing: a container already
sits on its node, so a refused one could only wait. It keeps nothing on disk; drivers that find it again tell it all they
know. Without it, or while it is gone, each driver asks by itself (knowledge.Poller). Nobody who does not know the cluster's
secret gets further than the greeting (wire.py), and few at a time get that far.

One thread serves all connections, another one asks. Not here: files, daemons (process.py).
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import signal
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from ... import last_resort
from ...daemon.log import Log
from .board import Board
from .knowledge import PERIOD, Polls
from .wire import GREETING_LIMIT, GREETING_SECONDS, LIMIT, TAG, BadFrame, Greeting, Message, Sealed, length
from .yarn_rest import Rest

STRANGERS = 1024  # connections at a time that have not proven anything yet; all drivers of a cluster may come at once
MOST_DRIVERS = 10_000
SILENCE = 30.0  # seconds after which a driver that says nothing is taken for gone
FRAME_SECONDS = 10.0  # for a frame that has begun
SHORTEST_WAIT = 0.25  # seconds between two messages of a driver
MESSAGES_A_SECOND = 400  # of all drivers; with more of them each waits longer
END_SECONDS = 1.5  # after a signal
ENDED = 1000  # jobs that are remembered to have ended


class Coordinator:
    """See the module. `ready` is called with the address once connections are taken."""

    def __init__(
        self, secret: bytes, rest: Rest, ready: Callable[[str, int], None] = lambda host, port: None, log: Log | None = None,
    ) -> None:
        self._secret, self._ready, self._log = secret, ready, log or Log()
        self._polls = Polls(rest)
        self._board = Board()
        self._numbers = itertools.count(1)
        self._strangers = 0
        self._members: dict[int, asyncio.StreamWriter] = {}
        self._ended: deque[str] = deque(maxlen=ENDED)
        self._wake = asyncio.Event()
        self._stop = asyncio.Event()
        self._started = time.time()
        self._warned = float("-inf")
        self._counts = {"messages": 0, "refused": 0}

    async def run(self, host: str, port: int, *, signals: bool = True) -> None:
        """Serve until `stop` or a signal. Raises OSError where the address cannot be listened on."""
        server = await asyncio.start_server(self._serve, host, port, backlog=512)
        if signals:
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                asyncio.get_running_loop().add_signal_handler(number, self._signalled, number)
        address = server.sockets[0].getsockname()
        self._log.event("started", pid=os.getpid(), host=address[0], port=address[1])
        self._ready(address[0], address[1])
        poll = asyncio.create_task(self._poll())
        await self._stop.wait()
        server.close()
        for writer in list(self._members.values()):
            writer.close()
        self._wake.set()
        await poll
        self._log.event("stopped")

    def stop(self) -> None:
        """End `run`; to be called in its loop."""
        self._stop.set()

    def _signalled(self, number: int) -> None:
        """End in order; by force where a server that is being asked does not answer, or the second time."""
        last_resort.leave_within(0.0 if self._stop.is_set() else END_SECONDS, number)
        self.stop()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number, peer = next(self._numbers), writer.get_extra_info("peername")
        try:
            if self._strangers >= STRANGERS or len(self._members) >= MOST_DRIVERS:
                raise BadFrame("too many connections")
            sealed = await self._greet(reader, writer)
            self._members[number] = writer
            self._board.join(number)
            await self._talk(number, reader, writer, sealed)
        except BadFrame as error:
            self._refused(peer, error)
        except (OSError, asyncio.IncompleteReadError, TimeoutError):
            pass  # gone, or silent
        finally:
            if self._members.pop(number, None):
                self._board.leave(number)
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    def _refused(self, peer: object, error: BadFrame) -> None:
        """Count all, and say one a second: a stranger must not fill the log."""
        self._counts["refused"] += 1
        if time.monotonic() - self._warned >= 1.0:
            self._warned = time.monotonic()
            self._log.event("refused", peer=peer, reason=str(error))

    async def _greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Sealed:
        self._strangers += 1
        try:
            async with asyncio.timeout(GREETING_SECONDS):
                greeting = Greeting(self._secret, "coordinator")
                writer.write(greeting.answer(await _frame(reader, GREETING_LIMIT)))
                greeting.admit(await _frame(reader, GREETING_LIMIT))
                return greeting.sealed()
        finally:
            self._strangers -= 1

    async def _talk(
        self, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, sealed: Sealed,
    ) -> None:
        while True:
            async with asyncio.timeout(SILENCE):
                message = sealed.open(await _frame(reader, LIMIT, least=TAG))
            self._counts["messages"] += 1
            answer = self._status() if message.get("ask") == "status" else self._answer(number, message)
            writer.write(sealed.seal(answer))
            async with asyncio.timeout(FRAME_SECONDS):
                await writer.drain()

    def _answer(self, number: int, message: Message) -> Message:
        known = set(self._board.jobs())
        self._board.hear(number, message)
        if not known.issuperset(self._board.jobs()):
            self._wake.set()  # ask for a new job at once
        told = message["jobs"]
        jobs = {job: self._board.knowledge(number, job, self._polls.state(job)) for job in self._board.jobs_of(number)}
        wait = max(SHORTEST_WAIT, len(self._members) / MESSAGES_A_SECOND)
        return {"jobs": jobs, "ended": [job for job in self._ended if job in told or job in jobs], "wait": wait}

    def _status(self) -> Message:
        states = {job: self._polls.state(job) for job in self._board.jobs()}
        found = self._board.status(states)
        # A cluster may be larger than a frame: what does not fit is counted only.
        return {
            "started": self._started, "members": len(self._members), **self._counts, "error": self._polls.error,
            "drivers": found["drivers"][:500], "jobs": [_short(job) for job in found["jobs"][:50]],
        }

    async def _poll(self) -> None:
        while not self._stop.is_set():
            jobs = self._board.jobs()
            before = self._polls.error
            for job in await asyncio.to_thread(self._polls.refresh, jobs):
                self._log.event("job_ended", job=job)
                self._board.forget(job)
                self._ended.append(job)
            if self._polls.error and self._polls.error != before:
                self._log.event("no_answer", reason=self._polls.error)
            self._wake.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(PERIOD):
                    await self._wake.wait()


def _short(job: dict[str, Any]) -> dict[str, Any]:
    return {**job, "speedups": dict(list(job["speedups"].items())[:10])}


async def _frame(reader: asyncio.StreamReader, limit: int, least: int = 1) -> bytes:
    """The next frame without its length."""
    head = await reader.readexactly(4)
    size = length(head, limit)
    if size < least:
        raise BadFrame(f"a frame of {size} bytes")
    async with asyncio.timeout(FRAME_SECONDS):
        return await reader.readexactly(size)
