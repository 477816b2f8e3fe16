"""`heterodoop verify`: map tasks on a device, or tasks as host kernels, and by filters; and what to tell the user of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click

from ..diag import Diagnostic
from ..engine.devices.compare import WHOLE_TASK, Difference
from ..engine.job.device_names import CPU, EMULATED
from ..engine.run.plan import RunOptions
from ..engine.verify import verify as engine
from ..engine.verify.checker import Verdict
from ..errors import JobFailed, UsageError
from ..scheduler.model import TaskKind

Show = Callable[[list[Diagnostic]], None]
_KINDS: tuple[TaskKind, ...] = ("map", "reduce")


class _Words(NamedTuple):
    """How the two sides are called; `only`: what one side alone did."""

    reference: str
    other: str
    only: str
    code: str


_DEVICE = _Words("CPU", "device", "on the CPU only", "HD412")
_HOST = _Words("filters", "host", "by filters only", "HD433")


def device_of(name: str | None, *, host: bool) -> str:
    """What `--device` and `--host` mean together. Raises UsageError HD032: both are given."""
    if host and name is not None:
        raise UsageError("--host compares the CPU with itself: it takes no --device", code="HD032")
    return CPU if host else name or EMULATED


def verify(
    bundle: Path, inputs: tuple[str, ...], *, show: Show, as_json: bool, host: bool, **options: Any,
) -> None:
    """Print a line per task, or with `as_json` everything at the end.

    Raises JobFailed HD412 (HD433 with `host`) where a task differs.
    """
    words = _HOST if host else _DEVICE
    tell = (lambda verdict: None) if as_json else partial(_print, words)
    found = engine.verify(bundle, inputs, RunOptions(**options), tell=tell, host=host)
    show(list(found.warnings))
    if as_json:
        click.echo(json.dumps(found.to_json(), indent=1))
    else:
        click.echo(_summary(words, found))
    if found.count("different"):
        count = " and ".join(_count(found, kind) for kind in _KINDS if found.count("different", kind))
        place = "as the host kernel" if host else f"on the {found.device} device"
        raise JobFailed(f"{count} have another result {place}", code=words.code, help=f"heterodoop explain {words.code}")


def _print(words: _Words, verdict: Verdict) -> None:
    head = f"{'' if verdict.kind == 'map' else 'reduce '}task {verdict.task}: {verdict.split}"
    if verdict.outcome == "cpu-only":
        click.echo(f"{head}: {words.reference} only: {verdict.reason}")
        return
    read, wrote = ("records", "pairs") if verdict.kind == "map" else ("pairs", "lines")
    click.echo(f"{head}: {verdict.records} {read}, {verdict.pairs} {wrote}: {verdict.outcome}")
    if verdict.difference:
        for line in _lines(words, verdict.difference):
            click.echo(f"  {line}")


def _lines(words: _Words, difference: Difference) -> list[str]:
    ran = [f"device:  {difference.configuration}"] if words is _DEVICE else []
    if difference.where == WHOLE_TASK:
        return [*ran, f"output:  {difference.device}"]
    lines = [
        *ran,
        f"where:   {difference.where}" + (f", key {difference.key!r}" if difference.key else ""),
        f"{words.reference + ':':8} {_side(difference.cpu)}",
        f"{words.other + ':':8} {_side(difference.device)}",
    ]
    if difference.record is not None:
        lines.append(f"record:  {difference.record} of the split: {difference.record_text!r}")
    if difference.note:
        lines.append(f"note:    {difference.note}")
    return lines


def _side(text: str | None) -> str:
    return "nothing more" if text is None else repr(text)


def _summary(words: _Words, found: engine.Verification) -> str:
    def line(kind: TaskKind) -> str:
        equal, cpu_only, different = (found.count(outcome, kind) for outcome in ("equal", "cpu-only", "different"))
        return f"{kind} tasks: {equal} equal, {cpu_only} {words.only}, {different} different"

    return "\n".join(line(kind) for kind in _KINDS if kind == "map" or _tasks(found, kind))


def _count(found: engine.Verification, kind: TaskKind) -> str:
    return f"{found.count('different', kind)} of {_tasks(found, kind)} {kind} tasks"


def _tasks(found: engine.Verification, kind: TaskKind) -> int:
    return sum(verdict.kind == kind for verdict in found.verdicts)
