"""`heterodoop verify`: the map tasks of a job on a device and on the CPU, and what to tell the user of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from ..diag import Diagnostic
from ..engine import verify as engine
from ..engine.checker import Verdict
from ..engine.compare import WHOLE_TASK, Difference
from ..engine.plan import RunOptions
from ..errors import JobFailed

Show = Callable[[list[Diagnostic]], None]


def verify(bundle: Path, inputs: tuple[str, ...], *, show: Show, as_json: bool, **options: Any) -> None:
    """Print a line per task, or with `as_json` everything at the end. Raises JobFailed HD412 where a task differs."""
    found = engine.verify(bundle, inputs, RunOptions(**options), tell=(lambda verdict: None) if as_json else _print)
    show(list(found.warnings))
    if as_json:
        click.echo(json.dumps(found.to_json(), indent=1))
    else:
        click.echo(_summary(found))
    if found.count("different"):
        count = f"{found.count('different')} of {len(found.verdicts)} map tasks"
        what = f"{count} have another result on the {found.device} device"
        raise JobFailed(what, code="HD412", help="heterodoop explain HD412")


def _print(verdict: Verdict) -> None:
    head = f"task {verdict.task}: {verdict.split}"
    if verdict.outcome == "cpu-only":
        click.echo(f"{head}: CPU only: {verdict.reason}")
        return
    click.echo(f"{head}: {verdict.records} records, {verdict.pairs} pairs: {verdict.outcome}")
    if verdict.difference:
        for line in _lines(verdict.difference):
            click.echo(f"  {line}")


def _lines(difference: Difference) -> list[str]:
    if difference.where == WHOLE_TASK:
        return [f"device:  {difference.configuration}", f"output:  {difference.device}"]
    lines = [
        f"device:  {difference.configuration}",
        f"where:   {difference.where}" + (f", key {difference.key!r}" if difference.key else ""),
        f"CPU:     {_side(difference.cpu)}",
        f"device:  {_side(difference.device)}",
    ]
    if difference.record is not None:
        lines.append(f"record:  {difference.record} of the split: {difference.record_text!r}")
    if difference.note:
        lines.append(f"note:    {difference.note}")
    return lines


def _side(text: str | None) -> str:
    return "nothing more" if text is None else repr(text)


def _summary(found: engine.Verification) -> str:
    equal, cpu_only, different = (found.count(outcome) for outcome in ("equal", "cpu-only", "different"))
    return f"map tasks: {equal} equal, {cpu_only} on the CPU only, {different} different"
