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
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ... import scratch
from ...daemon.lock import Lock
from ...errors import JobFailed, UsageError
from ...job.report import FORMAT as REPORT_FORMAT
from ...job.report import REPORT
from ...job.rounds import not_ours
from ..job.layout import SUCCESS, Layout, remove_tree, sync
from ..run import job_report
from ..run.job_report import ROUNDS

FORMAT = "heterodoop-rounds-1"
STATE = "rounds.json"
PARTIAL = "rounds.partial"
LOCK = "lock"


class FolderStore:
    """The folder, held by a lock that ends with this process. All methods raise OSError."""

    anew = "or remove the folder to begin anew"

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.root = layout.output.with_name(layout.output.name + ".rounds")
        self.where = repr(str(self.root))
        self.side = self.root / "side"
        self._lock = -1

    def take(self, identity: Mapping[str, Any]) -> Mapping[str, Any]:
        """As `Store.take`."""
        if self.root.exists():
            self._check_ours()
        else:
            self.root.mkdir(parents=True)
        self._lock = os.open(self.root / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        if not Lock(self._lock).take():
            raise UsageError(f"another process works on the rounds in {self.where}", code="HD043")
        if not (self.root / STATE).exists():
            self._remove_but(LOCK, PARTIAL)
            partial = self.root / PARTIAL
            partial.write_text(json.dumps({"format": FORMAT, "job": identity}, indent=1) + "\n", encoding="ascii")
            scratch.into_place(partial, self.root / STATE)
        there: Mapping[str, Any] = json.loads((self.root / STATE).read_text(encoding="utf-8"))["job"]
        return there

    def release(self) -> None:
        if self._lock >= 0:
            os.close(self._lock)
        self._lock = -1

    def discard(self) -> None:
        """What is killed meanwhile leaves a folder without STATE: its rounds count no more."""
        if self._lock < 0:
            return
        with contextlib.suppress(OSError):
            (self.root / STATE).rename(self.root / PARTIAL)
            self._remove_but(LOCK, PARTIAL)
            self._remove_but()
            self.root.rmdir()
        self.release()

    def done(self, number: int) -> dict[str, Any] | None:
        """The report of a round; None too where an interrupt came between its two files, or the disk was full."""
        if not self.has_output(number):
            return None
        try:
            report: dict[str, Any] = json.loads((self._report(number) / REPORT).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return report if report.get("format") == REPORT_FORMAT and report.get("state") == "succeeded" else None

    def has_output(self, number: int) -> bool:
        return (self.output(number) / SUCCESS).exists()

    def write(self, number: int, ended: dict[str, Any]) -> None:
        """Nothing: the job itself has left its report."""

    def thin(self, number: int) -> None:
        for part in self._parts(number):
            part.unlink()

    def clear(self, number: int) -> None:
        remove_tree(self.output(number))

    def pieces(self, number: int) -> Iterator[bytes]:
        for part in self._parts(number):
            with part.open("rb") as file:
                while block := file.read(1 << 20):
                    yield block

    def report(self, ended: dict[str, Any]) -> dict[str, Any]:
        return ended

    def output(self, number: int) -> Path:
        return self.root / f"{number:04d}"

    def _report(self, number: int) -> Path:
        return self.root / f"{number:04d}.report"

    def publish(self, number: int, message: str) -> str:
        """Make a failed round's report the job's; returns `message` with the paths as they are then."""
        here, there = self._report(number), self.layout.report
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
        _copy_report(self._report(number), folder)
        for one in earlier:
            shutil.copytree(self._report(one), folder / ROUNDS / f"{one:04d}")
        job_report.conclude(folder, content)

    def _parts(self, number: int) -> list[Path]:
        return sorted(self.output(number).glob("part-*"))

    def commit(self, last: int, report: Mapping[str, Any], summary: Mapping[str, Any]) -> dict[str, Any]:
        """The last round's output becomes the job's; returns its report with `summary` as "iterate".

        Raises JobFailed HD406; the rounds are still there then.
        """
        output = self.layout.output
        content = {**report, "iterate": dict(summary)}
        content["job"] = {**content["job"], "output": str(output)}
        try:
            self._publish(last, content, range(1, last))
            self.output(last).rename(output)
            sync(output.parent)
        except OSError as error:
            what = f"cannot put the output in place: {str(error.filename)!r}: {error.strerror}"
            raise JobFailed(what, code="HD406") from None
        self.discard()
        return content

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
            raise not_ours(self.where)


def _copy_report(source: Path, target: Path) -> None:
    """What lies beside report.json. Raises OSError."""
    shutil.copytree(source, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns(f"{REPORT}*"))
