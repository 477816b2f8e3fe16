"""One lane of a soak, a process of its own: takes seeds on stdin, does their cases one by one, tells each on stdout.

    python -m tests.soak.lane SETTING.json

Started by the harness with the shim loaded (runner.py). It has imported what a job needs, so that a run is a fork of it.
"""

from __future__ import annotations

import gc
import json
import os
import random
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..support import Bundles
from . import driver_faults, jobs, page, verdict
from .damage import spoil
from .driver_faults import DriverCases
from .drivers import Driver
from .faults import DEVICES, PLACES, Case, Choice, Damage, Normal, hinders
from .jobs import Job, Result
from .page import COMMAND, SIGNAL, WORKER, Page, Rule
from .processes import Ended, Family, Strike
from .room import Room
from .verdict import Expected, Problem


class Lane:
    """A folder, a page, and the children of this process. `setting`: what runner.py wrote."""

    def __init__(self, setting: dict[str, Any]) -> None:
        self.limit = float(setting["limit"])
        self.sabotage = str(setting["sabotage"])
        self.jobs = jobs.make_jobs(Bundles(Path(setting["bundles"])))
        self.room = Room(Path(setting["room"]), Path(setting["pattern"]))
        self.text = jobs.make_text()
        self.room.furnish(self.text)
        self.can_mount = bool(setting["mount"]) and self.room.mount()
        self.page = Page(self.room.page)
        self.family = Family()
        self.normals: dict[tuple[str, str], Normal] = {}
        self.results: dict[str, Result] = {}
        self.choice = Choice(tuple(setting["devices"]), setting["families"], self.can_mount, self.normal)
        self.driver = Driver(self.room, self.family, self._driver_device(), self.room.bundle(self.jobs["combined"].bundle),
                             min(20.0, self.limit))
        self.drivers = DriverCases(self.driver, self.page)

    def normal(self, job: str, device: str) -> Normal:
        """How the job runs on the device without a fault, measured once."""
        if (job, device) not in self.normals:
            self.normals[job, device] = self._measure(self.jobs[job], device)
        return self.normals[job, device]

    def _measure(self, job: Job, device: str) -> Normal:
        self.page.arm(*(Rule((place.call,), page.COUNT, roles=COMMAND | WORKER, pattern=self._pattern(place.pattern))
                        for place in PLACES))
        ended = self._run(Case(0, "", job.name, device))
        calls = {place: seen for number, place in enumerate(PLACES) if (seen := self.page.seen(number))}
        rule = Rule(page.TAKES_ROOM, page.FULL, 1 << 30, pattern=str(self.room.output))
        self.page.arm(rule)
        found = Result.read(self.room.output)
        assert ended.status == 0, f"without any fault: exit status {ended.status}\n{ended.err}"
        jobs.check_reference(job, found, self.text)
        assert self.results.setdefault(job.name, found) == found, f"{job.name}: {device} makes another output"
        self.room.clear_output()
        self._run(Case(0, "", job.name, device))
        written = self.page.used()
        self.page.disarm()
        self.room.clear_output()
        return Normal(ended.seconds, calls, written)

    def _driver_device(self) -> str:
        return "cuda" if "cuda" in self.choice.devices else "emulated"

    def _pattern(self, pattern: str) -> str:
        """Of this lane's files only, where the pattern names one of our folders."""
        return f"{self.room.root}{pattern}" if pattern.startswith("/") and pattern not in _ANYWHERE_BELOW else pattern

    def do(self, seed: int) -> dict[str, Any]:
        """The case of a seed, judged."""
        begun = time.monotonic()
        if self.choice.family(seed) == driver_faults.FAMILY:
            told = self.drivers.do(seed)
        else:
            told = self._job_case(self.choice.case(seed))
        return {"seed": seed, **told, "seconds": round(time.monotonic() - begun, 3)}

    def _job_case(self, case: Case) -> dict[str, Any]:
        right = self.results[case.job]
        output = self._output(case)
        damaged = [self._damage(one) for one in case.damage]
        ballast = self._fill(case)
        self.page.arm(*(Rule(**{**rule.__dict__, "pattern": self._pattern(rule.pattern)}) for rule in case.rules))
        ended = self._run(case, strikes=case.strikes)
        struck = [self.page.struck(number) for number in range(len(case.rules))]
        where = [self.page.where(number) for number, n in enumerate(struck) if n]
        self.page.disarm()
        full = int(case.room is not None and not os.statvfs(self.room.disk).f_bavail)
        ballast.unlink(missing_ok=True)
        self._sabotage(output)
        problems = verdict.of_run(ended, output, Expected(right, self._signals(case), self._hindered(case)))
        hits = sum(map(bool, struck)) + ended.struck + sum(map(bool, damaged)) + full
        problems += self._afterwards(case, ended, output, right, hits)
        return {
            "family": case.family, "job": case.job, "device": case.device, "fresh": case.fresh, "faults": case.faults(),
            "where": [*where, *filter(None, damaged)], "meant": len(case.faults()), "struck": min(hits, len(case.faults())),
            "status": ended.status, "problems": problems, "said": ended.err[-600:],
        }

    def _signals(self, case: Case) -> frozenset[int]:
        """What the command may die by: what was sent to it."""
        sent = [rule.value for rule in case.rules if rule.action == SIGNAL]
        return frozenset([*sent, *(s.signal for s in case.strikes if s.target in ("command", "group"))])

    def _afterwards(self, case: Case, ended: Ended, output: Path, right: Result, hits: int) -> list[Problem]:
        """The same command without a fault where the first one failed, and what lies about in the end."""
        problems: list[Problem] = []
        excused = ended.status is None or ended.status < 0 or self._hindered(case)
        if ended.status == 0 or (output / "_SUCCESS").exists():
            problems += self._leftovers(excused)
            self.room.clear_output()
        elif not excused:
            problems += self._leftovers(False, output)
        if case.damage:
            self._repair(case)
        if ended.status != 0 or (hits and case.heal):
            again = self._run(case)
            problems += verdict.of_repetition(again, output, right)
            problems += self._leftovers(False)
        self.room.clear_output()
        self._sweep()
        if case.damage or problems:
            self.room.restore()
        return problems

    def _hindered(self, case: Case) -> bool:
        """Whether the run cannot be asked to have removed everything: it was not let."""
        return any(map(hinders, case.rules))

    def _leftovers(self, excused: bool, output: Path | None = None) -> list[Problem]:
        """What lies in the folder beside output and report; the output too, of a run that failed."""
        if excused:
            return []
        found = [name for name in self.room.left() if not name.startswith(("out", "disk/out"))]
        if output and output.exists():
            found += [f"{output.name}/{path.name}" for path in output.iterdir()] or [output.name]
        return [Problem("leftover", ", ".join(found[:10]))] if found else []

    def _sweep(self) -> None:
        """Nothing of this case is there when the next one begins."""
        for name in reversed(self.room.left()):
            path = self.room.root / name
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()

    def _output(self, case: Case) -> Path:
        return self.room.disk / "out" if case.room is not None else self.room.output

    def _run(self, case: Case, strikes: Sequence[Strike] | None = None) -> Ended:
        """strikes: of a run that is struck, if only by rules; None: of one without a fault."""
        job = self.jobs[case.job]
        words = jobs.command(job, self.room.bundle(job.bundle), [self.room.text], self._output(case), DEVICES[case.device])
        log = self.room.root / "log" / "said"
        struck_one = strikes is not None
        if self.sabotage == "orphan" and struck_one:
            leave_an_orphan()
        start = self.family.start if case.fresh and struck_one else self.family.fork
        begun = time.monotonic()
        pid = start(words, self.room.root, log, {})
        limit = 0.005 if self.sabotage == "hang" and struck_one else self.limit
        status, struck = self.family.watch(pid, strikes or (), limit, self.page)
        if status is None:
            os.kill(pid, signal.SIGUSR2)
            time.sleep(0.3)
            self.family.end([pid])
        seconds = time.monotonic() - begun
        orphans = self.family.orphans()
        return Ended(status, seconds, log.read_text(errors="replace"), struck, orphans)

    def _fill(self, case: Case) -> Path:
        """Leave so much room on the small file system."""
        path = self.room.disk / "ballast"
        if case.room is not None:
            state = os.statvfs(self.room.disk)
            path.write_bytes(bytes(max(0, state.f_bavail * state.f_frsize - case.room)))
        return path

    def _damage(self, damage: Damage) -> str:
        """Change a file as it was asked for; says which, "" where there is none."""
        rnd = random.Random(damage.value)
        files = sorted(path for path in (self.room.root / damage.where).rglob("*") if path.is_file())
        if not files:
            return ""
        path = rnd.choice(files)
        spoil(path, damage.how, rnd)
        return f"{damage.how} {path.relative_to(self.room.root)}"

    def _repair(self, case: Case) -> None:
        """A bundle's owner compiles it again; a cache must heal by itself."""
        if any(one.where == "bundles" for one in case.damage):
            self.room.restore()

    def _sabotage(self, output: Path) -> None:
        """For tests of the harness: what a run must never do, done in its place."""
        part = next(iter(sorted(output.glob("part-*"))), None)
        if self.sabotage == "wrong" and part:
            part.write_bytes(part.read_bytes().replace(b"\t1", b"\t2", 1))
        elif self.sabotage == "lost" and part:
            part.write_bytes(part.read_bytes().partition(b"\n")[2])
        elif self.sabotage == "leftover":
            (self.room.root / "tmp" / "forgotten").touch()

    def close(self) -> None:
        if self.driver.alive:
            self.driver.stop()
        if self.driver.problems:
            raise RuntimeError(f"at the driver's end: {self.driver.problems}")
        self.family.end(self.family.others())
        self.room.unmount()


_ANYWHERE_BELOW = ("/spill", "/maps/", "/merge-")  # parts of a path, below no folder of the room's own


def leave_an_orphan() -> None:
    """For tests of the harness: a process whose parent ends."""
    if (pid := os.fork()) == 0:
        if os.fork() == 0:
            os.execvp("sleep", ["sleep", "600"])
        os._exit(0)
    os.waitpid(pid, 0)


def main() -> None:
    import heterodoop.commands.early
    import heterodoop.commands.run
    import heterodoop.engine.devices.devices
    import heterodoop.executor.kernel.emulated  # noqa: F401 - a fork has what a run imports
    from heterodoop.executor.native.runtime import Native

    Native.load()
    lane = Lane(json.loads(Path(sys.argv[1]).read_text()))
    gc.collect()
    gc.freeze()
    out = os.fdopen(os.dup(1), "w")
    try:
        print("ready", file=out, flush=True)
        for line in sys.stdin:
            print(json.dumps(lane.do(int(line))), file=out, flush=True)
    finally:
        lane.close()


if __name__ == "__main__":
    main()
