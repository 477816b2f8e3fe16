"""A soak as a whole: makes shim, bundles and caches once, starts the lanes, hands out seeds, adds up what they tell."""

from __future__ import annotations

import json
import os
import selectors
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..support import COMMAND, ROOT, Bundles
from . import jobs, page
from .faults import DEVICES
from .room import Room

Told = dict[str, Any]  # what a lane says of a case
LIMIT_SECONDS = 60.0


@dataclass(frozen=True)
class Setting:
    """scratch: an empty folder with a short path. families: weight by name. limit: seconds of one run, then it hangs.

    sabotage  what every run is to do wrong, for tests of the harness: wrong, lost, leftover, orphan, hang.
    """

    scratch: Path
    lanes: int
    devices: tuple[str, ...]
    families: dict[str, int]
    limit: float = LIMIT_SECONDS
    mount: bool = True
    sabotage: str = ""


@dataclass
class Lane:
    process: subprocess.Popen[str]
    seed: int | None = None
    pending: str = ""


@dataclass
class Pool:
    """The lanes of a soak. Use it as a context."""

    setting: Setting
    bundles: Bundles | None = None
    lanes: list[Lane] = field(default_factory=list)

    def __enter__(self) -> Pool:
        self.bundles = self.bundles or Bundles(self.setting.scratch / "bundles")
        self.shim = prepare(self.setting, self.bundles)
        try:
            self.lanes = [self._start(number) for number in range(self.setting.lanes)]
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        for lane in self.lanes:
            if lane.process.stdin:
                lane.process.stdin.close()
        for lane in self.lanes:
            try:
                lane.process.wait(60)
            except subprocess.TimeoutExpired:
                lane.process.kill()
                lane.process.wait()
            if lane.process.stdout:
                lane.process.stdout.close()

    def _start(self, number: int) -> Lane:
        setting = self.setting
        assert self.bundles
        room = Room(setting.scratch / f"l{number}", setting.scratch / "pattern")
        room.page.parent.mkdir(parents=True)
        page.Page(room.page)
        said = setting.scratch / f"l{number}.json"
        said.write_text(json.dumps({
            "bundles": str(self.bundles.folder), "pattern": str(room.pattern), "room": str(room.root),
            "devices": setting.devices, "families": setting.families, "limit": setting.limit, "mount": setting.mount,
            "sabotage": setting.sabotage,
        }))
        env = {**room.environment(self.shim), "PYTHONPATH": str(ROOT)}
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.soak.lane", str(said)], cwd=ROOT, env=env, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, start_new_session=True, bufsize=1,
        )
        return Lane(process)

    def run(self, seeds: Iterator[int], enough: Callable[[], bool], take: Callable[[Told], None]) -> None:
        """Hand out seeds until it is enough, and every result to `take`. Raises RuntimeError: a lane has died."""
        with selectors.DefaultSelector() as waiting:
            for lane in self.lanes:
                waiting.register(lane.process.stdout.fileno(), selectors.EVENT_READ, lane)  # type: ignore[union-attr]
            while waiting.get_map():
                for key, _ in waiting.select():
                    if not self._heard(key.data, seeds, enough, take):
                        waiting.unregister(key.fd)

    def _heard(self, lane: Lane, seeds: Iterator[int], enough: Callable[[], bool], take: Callable[[Told], None]) -> bool:
        """Whether the lane has something to do again."""
        line = lane.process.stdout.readline()  # type: ignore[union-attr]
        if not line:
            raise RuntimeError(f"a lane has died at seed {lane.seed}: exit status {lane.process.wait()}")
        if line.strip() != "ready":
            take(json.loads(line))
        if enough():
            return False
        lane.seed = next(seeds, None)
        if lane.seed is None:
            return False
        lane.process.stdin.write(f"{lane.seed}\n")  # type: ignore[union-attr]
        return True


def prepare(setting: Setting, bundles: Bundles) -> Path:
    """Compile all that the lanes share, each thing once; returns the shim."""
    pattern = setting.scratch / "pattern"
    (pattern / "cache" / "heterodoop").mkdir(parents=True, mode=0o700)
    shim = page.build(setting.scratch)
    made = jobs.make_jobs(bundles)
    text = setting.scratch / "text"
    text.write_bytes(jobs.make_text())
    for job in made.values():
        shutil.copytree(job.bundle, pattern / "bundles" / job.bundle.name, dirs_exist_ok=True)
        for device in setting.devices:
            _fill_cache(setting.scratch, job, text, device)
    return shim


def _fill_cache(scratch: Path, job: jobs.Job, text: Path, device: str) -> None:
    """Run a job once, so that the compiled modules of its device lie in the cache."""
    output = scratch / "first"
    env = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(scratch / "pattern" / "cache")}
    words = jobs.command(job, job.bundle, [text], output, DEVICES[device])
    done = subprocess.run([*COMMAND, *words], env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"without any fault: exit status {done.returncode}\n{done.stderr}")
    for path in (output, Path(f"{output}.report")):
        shutil.rmtree(path)


def seeds(first: int) -> Iterator[int]:
    """Seeds of the cases of a soak with this seed."""
    number = first * 10_000_000
    while True:
        yield number
        number += 1
