"""The job's report, in OUT.report beside the output: report.json, attempts.jsonl (a line per attempt), logs/.

report.json is there when the job has ended: until then report.json.partial says "running", and it stays where the job is
killed. By either of the two a folder of ours is known as ours, whatever happens to the job: one of them is whole at every
moment, unless nothing else is there. A user's own files beside ours are never touched. Times are wall-clock seconds.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TextIO

from ...diag import Diagnostic
from ...errors import UsageError
from ...executor.task.report import AttemptResult, Totals
from ...job.report import ATTEMPTS, FORMAT, REPORT
from ...scheduler.model import Attempt, TaskKind
from ..devices.map_sides import Side
from ..job.device_names import CPU
from ..job.layout import SUCCESS, Layout, remove_tree, sync, sync_tree
from .plan import Plan
from .slots import AttemptEnd

PARTIAL = f"{REPORT}.partial"
FINAL = f"{REPORT}.new"  # becomes REPORT when it is whole
ROUNDS = "rounds"  # reports of an iterated job's earlier rounds
LOGS = "logs"
HOST_KERNEL, FILTERS = "host kernel", "filters"  # what a map task on the CPU ran as
MAX_REASONS = 20  # kinds of them in report.json and as warnings
MAX_FAILURES = 100  # kept in report.json; attempts.jsonl has all


def check_place(layout: Layout) -> None:
    """Raises UsageError HD022 where OUT.report is there and is no older report of ours; it is not touched."""
    folder = layout.report
    if not os.path.lexists(folder):
        return
    if folder.is_symlink() or not folder.is_dir() or (os.listdir(folder) and not _is_ours(folder)):
        raise UsageError(
            f"{str(folder)!r}, where the job's report goes, exists and is not a report of HeteroDoop", code="HD022",
            help="move it away, or name another output",
        )


def _is_ours(folder: Path) -> bool:
    """A disk may have been full, or the job killed, before there was anything in our files."""
    names = set(os.listdir(folder))
    if PARTIAL in names and names <= {REPORT, PARTIAL, FINAL, ATTEMPTS, LOGS, ROUNDS}:
        return True
    return any(_is_report(folder / name) for name in (REPORT, PARTIAL))


def _is_report(path: Path) -> bool:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(data, dict) and data.get("format") == FORMAT


def claim(folder: Path, content: Mapping[str, Any]) -> None:
    """Make the folder, or take over an older report's: of our files only `content`, as a partial report. Raises OSError."""
    folder.mkdir(exist_ok=True)
    _write(content, folder / PARTIAL)
    _clear(folder, but=PARTIAL)


def conclude(folder: Path, content: Mapping[str, Any]) -> None:
    """The final report takes the partial one's place, all of ours first to the disk. Raises OSError."""
    _write(content, folder / FINAL)
    for name in (ATTEMPTS, FINAL):
        sync(folder / name)
    for name in (LOGS, ROUNDS):
        sync_tree(folder / name)
    (folder / FINAL).replace(folder / REPORT)
    (folder / PARTIAL).unlink(missing_ok=True)
    sync(folder)
    sync(folder.parent)


def withdraw(folder: Path) -> None:
    """Remove our files, and the folder; beside a user's files a report stays and says whose it is. Raises OSError."""
    kept = PARTIAL if (folder / PARTIAL).exists() else REPORT
    _clear(folder, but=kept)
    if set(os.listdir(folder)) <= {kept}:
        (folder / kept).unlink(missing_ok=True)
        folder.rmdir()


def _clear(folder: Path, but: str) -> None:
    """Remove our files but one, by which the folder is known as ours. Raises OSError: something cannot be removed."""
    for inner in (folder / LOGS, folder / ROUNDS):
        if inner.is_dir():
            remove_tree(inner)
        if inner.is_dir():
            inner.rmdir()  # fails, and says why
    for name in {ATTEMPTS, FINAL, PARTIAL, REPORT} - {but}:
        (folder / name).unlink(missing_ok=True)


def _write(content: Mapping[str, Any], path: Path) -> None:
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="ascii")


_SECRET = re.compile(
    r"pass(word|wd|phrase)|secret|token|credential|(access|api|private|account|encryption)[._-]?key|[._-]key$", re.I)


def without_secrets(settings: Mapping[str, str]) -> dict[str, str]:
    """Settings for a file that is kept and shown around: the values of those whose names speak of secrets are left out."""
    return {key: "(hidden)" if _SECRET.search(key) and value else value for key, value in settings.items()}


@dataclass
class LeftTasks:
    """Map tasks that something else ran than what was meant to: the first reason of its kind, and how many tasks."""

    reason: str
    tasks: int = 0


class Reasons:
    """Such tasks by kind of reason. Reasons that differ in numbers only (of records, of lines) are one kind."""

    def __init__(self) -> None:
        self._kinds: dict[str, LeftTasks] = {}

    def add(self, reason: str) -> None:
        kind = re.sub(r"\d+", "0", reason)
        if kind not in self._kinds and len(self._kinds) >= MAX_REASONS:
            kind = ""
        self._kinds.setdefault(kind, LeftTasks(reason if kind else "other reasons (attempts.jsonl has all)")).tasks += 1

    @property
    def kinds(self) -> list[LeftTasks]:
        return list(self._kinds.values())

    def to_json(self) -> list[dict[str, Any]]:
        return [asdict(kind) for kind in self.kinds]


@dataclass
class _SlotUse:
    slot: int
    kind: str
    attempts: int = 0
    seconds: float = 0.0


class JobReport:
    """Collects what happened; `begin` makes the folder, `finish` writes report.json, `remove` takes it away."""

    def __init__(self, layout: Layout, plan: Plan) -> None:
        self.layout = layout
        self.plan = plan
        self.totals: dict[TaskKind, Totals] = {"map": Totals(), "reduce": Totals()}
        self.attempts: dict[TaskKind, int] = {"map": 0, "reduce": 0}
        self.failed: dict[TaskKind, int] = {"map": 0, "reduce": 0}
        self.done: dict[TaskKind, int] = {"map": 0, "reduce": 0}
        self.seconds: dict[str, float] = {}
        self.devices: Counter[str] = Counter()  # done map tasks by what ran them
        self.remade: set[int] = set()  # map tasks whose output was damaged after it was committed
        self.sides = {"device": Side(), "cpu": Side()}
        self.duplicates: Mapping[str, int] = {"won": 0, "lost": 0, "failed": 0}
        self.several: Mapping[str, int] = {"attempts": 0, "tasks": 0, "given_back": 0}  # of several splits
        self.speedup: float | None = None  # of one GPU against a CPU slot, at the end
        self.remembered: Mapping[str, Any] | None = None  # what the job began with, of an earlier one
        self.on_cpu = Reasons()  # map tasks that a device left to the CPU
        self.to_filters = Reasons()  # map tasks that the host kernel left to filters, and no device before
        self.reduces_left, self.host_reduces = Reasons(), 0  # reduce tasks that it left, whatever else; those that it did
        self.device_stats: Mapping[str, int] = {}
        self.driver: Mapping[str, Any] = plan.offload.driver if plan.offload else {}  # whose the devices are
        self.device_check: Mapping[str, Any] = {}  # what the comparison of device and CPU found
        self.device_warnings: Sequence[Diagnostic] = ()
        self._slots = {slot.number: _SlotUse(slot.number, slot.kind) for slot in plan.slots.every}
        self._failures: list[dict[str, Any]] = []
        self._started = time.time()
        self._clock = time.monotonic()
        self._lines: TextIO | None = None

    def begin(self) -> None:
        """Replace an older report of ours (its own files only) by one that says "running". Raises UsageError HD021."""
        try:
            claim(self.layout.report, self.content("running", None, ()))
            self.layout.logs.mkdir()
            self._lines = open(self.layout.report / ATTEMPTS, "w", encoding="ascii")
        except OSError as error:
            self.remove()
            what = f"cannot make the report folder {str(self.layout.report)!r}: {error.strerror}"
            raise UsageError(what, code="HD021") from None

    def ended(self, end: AttemptEnd, result: AttemptResult, *, duplicate: bool = False, overtaken: bool = False) -> None:
        """Note an attempt's end, whatever it was.

        duplicate  its task ran already when it began.  overtaken: the task's other attempt was sooner.
        """
        kind = end.attempt.task.kind
        slot = self._slots[end.attempt.slot.number]
        slot.attempts += 1
        slot.seconds += end.seconds
        self.attempts[kind] += 1
        row = self._row(end, result)
        if duplicate:
            row["duplicate"] = True
        if overtaken:
            row["outcome"] = "overtaken"
        elif result.failure and end.attempt.splits > 1:  # no failure: each of its tasks is tried by itself
            row["outcome"] = "given back"
        elif result.failure:
            self.failed[kind] += 1
            if len(self._failures) < MAX_FAILURES:
                self._failures.append(row)
        try:
            if self._lines:
                self._lines.write(json.dumps(row) + "\n")
        except OSError:  # a full disk: the job itself will say so
            self._lines = None

    def committed(self, attempt: Attempt, result: AttemptResult, seconds: float) -> None:
        """Note a task that is done, or several, in so many seconds: only such attempts count in the job's counters."""
        self.done[attempt.task.kind] += attempt.splits
        self.totals[attempt.task.kind].add(result)
        if attempt.task.kind == "map":
            self.devices[result.device] += attempt.splits
            side = self.sides["cpu" if result.device == CPU else "device"]
            side.add(result, self.plan.bytes_of(attempt), seconds, attempt.splits)
            if not result.counters.get("MAP_INPUT_RECORDS"):
                return  # a split without a record is nobody's concern
            if result.reason:
                self.on_cpu.add(result.reason)
            elif result.left:
                self.to_filters.add(result.left)
            return
        self.host_reduces += result.host
        if result.left:
            self.reduces_left.add(result.left)

    @property
    def counters(self) -> dict[str, int]:
        total = Counter(self.totals["map"].counters)
        total.update(self.totals["reduce"].counters)  # not `+`, which drops zeros
        return dict(sorted(total.items()))

    @property
    def user_counters(self) -> dict[str, dict[str, int]]:
        groups: dict[str, dict[str, int]] = {}
        for kind in self.totals.values():
            for (group, name), amount in kind.user_counters.items():
                counters = groups.setdefault(group, {})
                counters[name] = counters.get(name, 0) + amount
        return groups

    def content(self, state: str, error: Exception | None, warnings: Sequence[Diagnostic]) -> dict[str, Any]:
        """What report.json holds."""
        shape = self.plan.shape
        planned: Mapping[TaskKind, int] = {"map": shape.maps, "reduce": shape.reduces}
        check = {"check": dict(self.device_check)} if self.device_check else {}
        driver = {"driver": dict(self.driver)} if self.driver else {}
        asleep = {"asleep": self.plan.asleep} if self.plan.asleep else {}
        return {
            "format": FORMAT,
            "state": state,
            "error": {"code": getattr(error, "code", ""), "message": str(error)} if error else None,
            "job": {"id": self.plan.job_id, "name": self.plan.name, "bundle": str(self.plan.bundle),
                    "output": str(self.layout.output), "input_bytes": self.plan.input_bytes},
            "started": self._started,
            "seconds": {"total": time.monotonic() - self._clock, **self.seconds},
            "tasks": {kind: {"planned": planned[kind], "done": self.done[kind], "attempts": self.attempts[kind],
                             "failed_attempts": self.failed[kind]} for kind in planned},
            "slots": [asdict(slot) for slot in self._slots.values()],
            "device": {"asked": self.plan.device, "map_tasks": dict(self.devices), **self.device_stats, **self._gpus(),
                       "left_to_cpu": self.on_cpu.to_json(), **check, **driver, **asleep},
            "map": self._map_phase(),
            "reduce": {"host_kernel": self.plan.host_reduce is not None, "host_kernels": self.host_reduces,
                       "left_to_filters": self.reduces_left.to_json()},
            "stages": {kind: totals.seconds for kind, totals in self.totals.items()},
            "counters": self.counters,
            "user_counters": self.user_counters,
            "warnings": [{"code": w.code, "message": w.message} for w in warnings],
            "failures": self._failures,
            "settings": without_secrets(self.plan.settings),
        }

    def _gpus(self) -> dict[str, Any]:
        """The devices that have worker processes; memory in bytes."""
        gpus = self.plan.offload.gpus if self.plan.offload else ()
        return {"gpus": [gpu._asdict() for gpu in gpus]} if gpus else {}

    def _map_phase(self) -> dict[str, Any]:
        slots, seconds = self.plan.slots, self.seconds.get("map", 0.0)
        return {
            "policy": slots.policy.name, "cpu_slots": slots.cpu, "spare_slots": len(slots.spare),
            "gpu_slots": len(slots.every) - slots.cpu, "gpus": slots.gpus, "speedup": self.speedup,
            "remembered": self.remembered, "seconds": seconds,
            **{name: side.to_json(seconds) for name, side in self.sides.items()},
            "duplicates": dict(self.duplicates),
            "several_splits": {"most": self.plan.together.most, "why_one": self.plan.together.why, **self.several},
            "host_kernel": self.plan.host is not None,
            "left_to_filters": self.to_filters.to_json(),
        }

    def finish(self, content: Mapping[str, Any]) -> list[Diagnostic]:
        """Write the final report.json. A report that cannot be written is a warning: it must not cost the result."""
        try:
            if self._lines:
                self._lines.close()
            conclude(self.layout.report, content)
            if not os.listdir(self.layout.logs):
                self.layout.logs.rmdir()
        except OSError as error:
            return [Diagnostic("warning", "HD036", f"the job's report could not be written: {error}")]
        return []

    def remove(self) -> None:
        """Take the report away again (an interrupted job leaves nothing)."""
        with contextlib.suppress(OSError):
            if self._lines:
                self._lines.close()
        with contextlib.suppress(OSError):  # what cannot be removed stays
            withdraw(self.layout.report)

    def remove_unfinished(self) -> None:
        """`remove`, of a job that is not complete."""
        if not os.path.lexists(self.layout.output / SUCCESS):
            self.remove()

    def _row(self, end: AttemptEnd, result: AttemptResult) -> dict[str, Any]:
        task = end.attempt.task
        outcome = "cancelled" if result.cancelled else "failed" if result.failure else "succeeded"
        row: dict[str, Any] = {
            "attempt": str(end.attempt), "slot": end.attempt.slot.number, "kind": end.attempt.slot.kind, "outcome": outcome,
            "started": round(end.started, 3), "seconds": round(end.seconds, 6), "runs": result.runs,
            "stages": {name: round(seconds, 6) for name, seconds in result.seconds.items()},
        }
        if result.device == CPU:
            row["ran"] = HOST_KERNEL if result.host else FILTERS
        if result.left:
            row["left"] = result.left
        if task.kind == "map":
            row["device"] = result.device
            if result.reason:
                row["reason"] = result.reason
            if result.retried:
                row["retried"] = result.retried
            split = self.plan.splits[task.number]
            row["split"] = {"file": split.file.name, "start": split.start, "length": self.plan.bytes_of(end.attempt)}
            if end.attempt.splits > 1:
                row["tasks"] = list(end.attempt.numbers)
        if result.status_text:
            row["status"] = result.status_text
        if result.failure:
            row["code"], row["message"], row["stderr"] = result.failure.code, result.failure.message, result.failure.stderr
        return row
