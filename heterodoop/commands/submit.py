"""`heterodoop submit`: a job of a cluster, and what is said of it. The work is in `hadoop.submit.submission`."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from ..diag import Diagnostic, render
from ..engine.terminal.progress import make_display
from ..hadoop.job import plugin_counters
from ..hadoop.job.follow import HADOOPS, SUCCEEDED, Ended, Say
from ..hadoop.job.logs import Cause
from ..hadoop.job.plugin_counters import CPU_MAPS, EMULATED_MAPS, GPU_MAPS
from ..hadoop.submit import submission
from ..hadoop.submit.job_options import SubmitOptions
from ..source import SourceMap

FORMAT = "heterodoop-job-1"
# Hadoop counts some sixty things; these tell a person what the job did. `heterodoop job counters` has all.
_SHOWN = (
    "MAP_INPUT_RECORDS", "MAP_OUTPUT_RECORDS", "MAP_OUTPUT_BYTES", "COMBINE_OUTPUT_RECORDS", "SPILLED_RECORDS",
    "REDUCE_SHUFFLE_BYTES", "REDUCE_INPUT_GROUPS", "REDUCE_INPUT_RECORDS", "REDUCE_OUTPUT_RECORDS",
)


def submit(
    bundle: str, inputs: tuple[str, ...], output: str, *, dry_run: bool, detach: bool, kill_on_exit: bool, quiet: bool,
    as_json: bool, **options: Any,
) -> None:
    """Raises as `submission.plan`, `submit`, `run`; JobFailed HD628 and its like for a job that failed."""
    chosen = chosen_of(options)
    say = sayer(quiet=quiet)
    plan = submission.plan(Path(bundle), inputs, output, chosen, say, dry=dry_run)
    warn(plan.warnings)
    if dry_run:
        click.echo(plan.line(background=detach))
        return
    if detach:
        job = submission.submit(plan)
        click.echo(json.dumps({"format": FORMAT, "job": job}, indent=1) if as_json else job)
        return
    end = submission.run(plan, make_display(sys.stderr, quiet=quiet), say, kill_on_exit=kill_on_exit)
    warn(submission.lost(plan, end))
    failure = None if end.state == SUCCEEDED else submission.failure(plan.hadoop.conf, end)
    if as_json:
        click.echo(json.dumps(report(end, output, failure[0] if failure else None), indent=1))
    if failure:
        raise failure[1]
    for line in [*summary(end, submission.sentences(plan, end)), f"result in {output}"]:
        say(line)


def chosen_of(options: Mapping[str, Any]) -> SubmitOptions:
    """What of a command line's options says what the job is."""
    return SubmitOptions(**{field.name: options[field.name] for field in fields(SubmitOptions)})


def warn(warnings: list[Diagnostic]) -> None:
    for warning in warnings:
        click.echo(render(warning, SourceMap()), err=True)


def sayer(*, quiet: bool) -> Say:
    return _silent if quiet else _say


def _say(text: str) -> None:
    click.echo(text, err=True)


def _silent(text: str) -> None:
    pass


def report(end: Ended, output: str, cause: Cause | None) -> dict[str, Any]:
    """The end of a job, for programs. None: nobody knows."""
    found: dict[str, Any] = {
        "format": FORMAT, "job": end.job, "state": end.state, "seconds": end.seconds, "maps": end.maps,
        "reduces": end.reduces, "gpu_maps": end.maps_on(GPU_MAPS), "cpu_maps": end.maps_on(CPU_MAPS),
        "emulated_maps": end.maps_on(EMULATED_MAPS), "reasons": plugin_counters.reasons(end.plugin),
        "failed_attempts": end.failed_attempts, "output": output, "counters": end.counters or None,
    }
    if cause:
        attempt = cause.attempt
        found["cause"] = {
            "error": cause.what, "code": cause.known.code if cause.known else "", "attempt": attempt.id if attempt else "",
            "node": attempt.node if attempt else "", "split": cause.split, "command": cause.command, "stderr": cause.stderr,
        }
    return found


def summary(end: Ended, sentences: Mapping[str, str]) -> list[str]:
    """A job that succeeded, for people: tasks, why some left the GPU (`plugin_counters.told`), then counters."""
    sides = f" ({plugin_counters.sides(end.plugin)})" if end.plugin else ""
    tasks = "" if end.maps is None else f": {end.maps} maps{sides}, {end.reduces} reduces"
    lines = [f"{end.job} succeeded in {end.seconds:.0f} s{tasks}", *plugin_counters.told(end.plugin, sentences)]
    rows = [(name, value) for group in end.counters.values() for name, value in group.items() if name in _SHOWN and value]
    for group, counters in end.counters.items():
        if group != plugin_counters.GROUP and not group.startswith(HADOOPS):
            rows += [(f"{group}: {name}", value) for name, value in counters.items()]
    width = max((len(name) for name, _ in rows), default=0)
    return lines + [f"  {name:{width}}  {value:>14,}" for name, value in rows]
