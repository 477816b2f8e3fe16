"""Takes what is left to measure, part by part, and has child processes do it within the time there is."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from . import inputs
from .bundles import ROOT
from .lanes import Lane
from .options import Options
from .requests import CANNOT, Request
from .state import State
from .steps import INGEST, PARTS, START_SECONDS, Step, expected, pending, steps

HANGS_SECONDS = 120.0  # a measurement that takes longer, and HANGS_TIMES as long as expected, never ends
HANGS_TIMES = 6.0
GRACE_SECONDS = 20.0  # that a measurement may take longer than expected before its process is killed


@dataclass
class Running:
    """A child, what it was asked, when it began (seconds since the epoch, as files have them), and when it is killed at the
    latest (by the monotonic clock)."""

    request: Request
    process: subprocess.Popen[bytes]
    began: float
    ends: float


@dataclass
class Runner:
    """`arch`, `facts`: see Request. `ends`: by the monotonic clock. `lanes`: as many apps are measured at a time."""

    options: Options
    state: State
    arch: str
    facts: dict[str, str]
    ends: float
    say: Callable[[str], None]
    lanes: Sequence[Lane] = (Lane(),)
    _stopped: threading.Event = field(default_factory=threading.Event, init=False)

    def run(self, apps: Sequence[str], parts: Sequence[str]) -> list[Step]:
        """Measure; what is left."""
        with tempfile.TemporaryDirectory(prefix="figures-") as folder:
            for part in (p for p in PARTS if p in parts):
                self.say(f"{part}:")
                self._part(part, apps, Path(folder))
        return [step for part in parts for step in pending(steps(apps, part, self.options), self.state)]

    def _part(self, part: str, apps: Sequence[str], folder: Path) -> None:
        left = pending(steps(apps, part, self.options), self.state)
        trials = [step for step in left if step.name.startswith(INGEST)]
        if part == "cpu":
            batches = _by_app(left)
            for at in range(0, len(batches), self.options.cpu_at_a_time):
                self._side_by_side(batches[at : at + self.options.cpu_at_a_time], folder)
            return
        self._in_lanes(_by_app(trials), folder)  # first: all jobs have what they chose
        self._in_lanes(_by_app([step for step in left if step not in trials]), folder)

    def _in_lanes(self, batches: Sequence[list[Step]], folder: Path) -> None:
        """Each lane takes the next app's batch when it is done with one."""
        waiting: queue.SimpleQueue[list[Step]] = queue.SimpleQueue()
        for batch in batches:
            if len(self.lanes) > 1 and self._fits(batch[0]):
                inputs.fed(batch[0].app, self.options)  # before the other lanes measure
            waiting.put(batch)

        def take(lane: Lane) -> None:
            with contextlib.suppress(queue.Empty):
                while True:
                    self._side_by_side([waiting.get_nowait()], folder, lane)

        with ThreadPoolExecutor(len(self.lanes)) as pool:
            try:
                for done in [pool.submit(take, lane) for lane in self.lanes]:
                    done.result()
            except BaseException:
                self._stopped.set()
                raise

    def _side_by_side(self, batches: Sequence[list[Step]], folder: Path, lane: Lane | None = None) -> None:
        """One child per app, on a core of its own where there is no lane; it is started again behind a measurement that it
        died of."""
        batches = [batch for batch in batches if self._fits(batch[0])]
        for batch in batches:
            inputs.fed(batch[0].app, self.options)  # with all cores, and not in anybody's time
        waiting = [(lane or Lane((self._core(number),)), batch) for number, batch in enumerate(batches)]
        while waiting:
            running = [self._start(batch, place, folder) for place, batch in waiting]
            died = [self._wait(child) for child in running]
            waiting = [(place, left) for (place, batch), dead in zip(waiting, died, strict=True)
                       if dead and (left := pending(batch, self.state)) and self._fits(left[0])]

    def _fits(self, step: Step) -> bool:
        done = time.monotonic() + START_SECONDS + expected(step, self.options, self.state)
        return not self._stopped.is_set() and done <= self.ends

    def _start(self, batch: Sequence[Step], lane: Lane, folder: Path) -> Running:
        first = batch[0]
        request = Request(
            options=self.options, app=first.app, part=first.part, names=tuple(step.name for step in batch),
            seconds=max(0.0, self.ends - time.monotonic()), arch=self.arch, facts=self.facts,
            marker=folder / f"{first.app}-{first.part}", processors=lane.processors,
        )
        request.marker.unlink(missing_ok=True)
        command = [sys.executable, "-m", "bench.figures.child", request.to_json()]
        process = subprocess.Popen(command, cwd=ROOT, start_new_session=True, env=lane.environment())
        return Running(request, process, time.time(), self.ends + GRACE_SECONDS)

    def _core(self, number: int) -> int:
        """A processor for the child of this number: no two are threads of one core, while there are cores."""
        cores = one_per_core(sorted(os.sched_getaffinity(0)), _siblings)
        return cores[number * len(cores) // max(1, self.options.cpu_at_a_time) % len(cores)]

    def _wait(self, child: Running) -> bool:
        """Did it die of a measurement? Then that is noted as failed. One that began late and is cut off is left to do."""
        try:
            while (status := _ended(child.process)) is None:
                hung, late = self._hangs(child), self._stopped.is_set() or time.monotonic() > child.ends
                if hung or late:
                    self._kill(child)
                if hung:
                    self._failed(child.request, "it did not end")
                if hung or late:
                    return hung
        except BaseException:
            self._kill(child)
            raise
        if status in (0, CANNOT):
            return False
        how = f"signal {-status}" if status < 0 else f"exit status {status}"
        self._failed(child.request, f"its process ended with {how}")
        return True

    def _hangs(self, child: Running) -> bool:
        request, begun = child.request, child.request.marker.exists()
        step = Step(request.app, request.part, (request.marker.read_text() if begun else "") or request.names[0])
        most = max(HANGS_SECONDS, HANGS_TIMES * expected(step, self.options, self.state))
        return time.time() - (request.marker.stat().st_mtime if begun else child.began) > most

    def _failed(self, request: Request, why: str) -> None:
        name = request.marker.read_text() if request.marker.exists() else request.names[0]
        if name not in self.state.records(request.app, request.part):
            self.state.put(request.app, request.part, name, {**request.facts, "failed": why})
            self.say(f"  {request.app}, {request.part}, {name}: {why}")

    def _kill(self, child: Running) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.process.pid, signal.SIGKILL)
        child.process.wait()


def _by_app(of_part: Sequence[Step]) -> list[list[Step]]:
    return [list(group) for _, group in groupby(of_part, key=lambda step: step.app)]


def one_per_core(processors: Sequence[int], siblings: Callable[[int], str]) -> list[int]:
    """The first processor of each core; `siblings` names a core by its processors."""
    return list({siblings(number): number for number in reversed(processors)}.values())[::-1]


def _siblings(number: int) -> str:
    path = Path(f"/sys/devices/system/cpu/cpu{number}/topology/thread_siblings_list")
    try:
        return path.read_text().strip()
    except OSError:
        return str(number)


def _ended(process: subprocess.Popen[bytes]) -> int | None:
    """Its exit status; None where it still runs a second later."""
    try:
        return process.wait(1.0)
    except subprocess.TimeoutExpired:
        return None


def told(left: Sequence[Step], options: Options, state: State) -> Iterator[str]:
    """A line per part: how many measurements, how many seconds they are expected to take; and one of all together."""
    together = 0.0
    for part in PARTS:
        of_part = [step for step in left if step.part == part]
        if of_part:
            of_apps = len({step.app for step in of_part})
            side_by_side = min(of_apps, max(1, options.cpu_at_a_time if part == "cpu" else options.lanes))
            starts = START_SECONDS * of_apps
            seconds = (starts + sum(expected(step, options, state) for step in of_part)) / side_by_side
            together += seconds
            apps = list(dict.fromkeys(step.app for step in of_part))
            yield f"{part}: {len(of_part)} measurements, about {seconds:.0f} s ({', '.join(apps)})"
    if together:
        yield f"together about {together:.0f} s"
