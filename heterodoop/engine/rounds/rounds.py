"""The rounds of an iterated job on disk, in OUT.rounds beside the output, so that it can go on after an interrupt.

    OUT.rounds/rounds.json       what job this is
    OUT.rounds/lock              held by the process that works here
    OUT.rounds/0001/             the output of a round, _SUCCESS and all: with it the round is done. Of rounds before the
                                 last two only _SUCCESS is left
    OUT.rounds/0001.report/      its report and logs
    OUT.rounds/side              the next round's side file, made anew from a round's part files whenever it is needed

When the job ends, the last round's output becomes OUT, its report OUT.report with the others' in OUT.report/rounds.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ... import scratch
from ...errors import JobFailed, UsageError
from ...job.rounds import check_same, not_ours
from ..job.layout import SUCCESS, Layout, remove_tree, sync
from ..run import job_report
from ..run.job_report import FORMAT as REPORT_FORMAT
from ..run.job_report import REPORT, ROUNDS

FORMAT = "heterodoop-rounds-1"
STATE = "rounds.json"
PARTIAL = "rounds.partial"
LOCK = "lock"


class Rounds:
    """The folder. `open` takes it for this process; `close` lets it go."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.root = layout.output.with_name(layout.output.name + ".rounds")
        self.reports: list[dict[str, Any]] = []  # of the rounds that are done
        self._lock = -1

    def open(self, identity: Mapping[str, Any]) -> None:
        """Make the folder, or find the rounds that an earlier run of the same job left there.

        identity  what decides the rounds' results; as JSON.
        Raises UsageError HD021 (cannot be made), HD042 (of another job, or not ours), HD043 (another process is at it).
        """
        try:
            self._open(identity)
        except OSError as error:
            self._let_go()
            why = error.strerror or str(error)
            raise UsageError(f"cannot keep rounds in {str(self.root)!r}: {why}", code="HD021") from None
        except UsageError:
            self._let_go()
            raise

    def _open(self, identity: Mapping[str, Any]) -> None:
        if self.root.exists():
            self._check_ours()
        else:
            self.root.mkdir(parents=True)
        self._lock = os.open(self.root / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f"another process works on the rounds in {str(self.root)!r}", code="HD043") from None
        if not (self.root / STATE).exists():
            self._remove_but(LOCK, PARTIAL)
            partial = self.root / PARTIAL
            partial.write_text(json.dumps({"format": FORMAT, "job": identity}, indent=1) + "\n", encoding="ascii")
            scratch.into_place(partial, self.root / STATE)
        there = json.loads((self.root / STATE).read_text(encoding="utf-8"))["job"]
        check_same(repr(str(self.root)), there, identity, "or remove the folder to begin anew")
        self._find_done()

    def close(self) -> None:
        """Let others have the folder; without a round that is done nothing stays."""
        if self._lock >= 0 and not self.reports:
            self._remove()
        self._let_go()

    def _let_go(self) -> None:
        if self._lock >= 0:
            os.close(self._lock)
        self._lock = -1

    def add(self, report: dict[str, Any]) -> None:
        """A round is done. Of outputs the last two are kept: many rounds would fill a disk."""
        self.reports.append(report)
        for part in self._parts(len(self.reports) - 2):
            part.unlink()

    def output(self, number: int) -> Path:
        return self.root / f"{number:04d}"

    def report(self, number: int) -> Path:
        return self.root / f"{number:04d}.report"

    def begin(self, number: int) -> Path:
        """Where a round's output goes; what an attempt at it left is removed."""
        remove_tree(self.output(number))
        return self.output(number)

    def side_file(self) -> Path:
        """The last round's part files, one after the other."""
        partial, side = self.root / "side.partial", self.root / "side"
        with partial.open("wb") as joined:
            for part in self._parts(len(self.reports)):
                with part.open("rb") as file:
                    shutil.copyfileobj(file, joined, 1 << 20)
        partial.replace(side)
        return side

    def digest(self, number: int) -> str:
        """SHA-256 of what a round gave as a side file."""
        digest = hashlib.sha256()
        for part in self._parts(number):
            with part.open("rb") as file:
                while block := file.read(1 << 20):
                    digest.update(block)
        return digest.hexdigest()

    def publish(self, number: int, message: str) -> str:
        """Make a failed round's report the job's; returns `message` with the paths as they are then."""
        here, there = self.report(number), self.layout.report
        with contextlib.suppress(OSError, ValueError):  # the message is worth more than the report
            text = (here / REPORT).read_text(encoding="ascii").replace(str(here), str(there))
            self._publish(number, json.loads(text))
            remove_tree(here)
            return message.replace(str(here), str(there))
        return message

    def _publish(self, number: int, content: Mapping[str, Any], earlier: Iterable[int] = ()) -> None:
        """Make a round's report the job's, with the `earlier` ones in it. Raises OSError."""
        folder = self.layout.report
        job_report.claim(folder, content)
        _copy_report(self.report(number), folder)
        for one in earlier:
            shutil.copytree(self.report(one), folder / ROUNDS / f"{one:04d}")
        job_report.conclude(folder, content)

    def _parts(self, number: int) -> list[Path]:
        return sorted(self.output(number).glob("part-*"))

    def commit(self, summary: Mapping[str, Any]) -> dict[str, Any]:
        """The last round's output becomes the job's; returns the report, with `summary` as its "iterate".

        Raises JobFailed HD406; the rounds are still there then.
        """
        last, output = len(self.reports), self.layout.output
        content = {**self.reports[-1], "iterate": dict(summary)}
        content["job"] = {**content["job"], "output": str(output)}
        try:
            self._publish(last, content, range(1, last))
            self.output(last).rename(output)
            sync(output.parent)
        except OSError as error:
            what = f"cannot put the output in place: {str(error.filename)!r}: {error.strerror}"
            raise JobFailed(what, code="HD406") from None
        self._remove()
        return content

    def _remove(self) -> None:
        """Remove the folder. What is killed meanwhile leaves one without STATE: its rounds count no more."""
        with contextlib.suppress(OSError):
            (self.root / STATE).rename(self.root / PARTIAL)
            self._remove_but(LOCK, PARTIAL)
            self._remove_but()
            self.root.rmdir()

    def _remove_but(self, *names: str) -> None:
        for name in set(os.listdir(self.root)) - set(names):
            path = self.root / name
            remove_tree(path) if path.is_dir() else path.unlink()

    def _check_ours(self) -> None:
        """An empty folder is taken as ours: a process may have ended between its first two steps."""
        for name in (STATE, PARTIAL):
            with contextlib.suppress(OSError, ValueError, AttributeError, RecursionError):
                if json.loads((self.root / name).read_text(encoding="utf-8")).get("format") == FORMAT:
                    return
        if not set(os.listdir(self.root)) <= {LOCK, PARTIAL}:
            raise not_ours(repr(str(self.root)))

    def _find_done(self) -> None:
        while (self.output(len(self.reports) + 1) / SUCCESS).exists():
            try:
                text = (self.report(len(self.reports) + 1) / REPORT).read_text(encoding="utf-8")
                report = json.loads(text)
            except (OSError, ValueError):
                break  # interrupted between the two, or the disk was full: that round runs again
            if report.get("format") != REPORT_FORMAT or report.get("state") != "succeeded":
                break
            self.reports.append(report)


def _copy_report(source: Path, target: Path) -> None:
    """What lies beside report.json. Raises OSError."""
    shutil.copytree(source, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns(f"{REPORT}*"))
