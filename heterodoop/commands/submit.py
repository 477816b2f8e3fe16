"""`heterodoop submit`: a job of a cluster, run as any job (`execute`), or only printed, or left alone once it runs."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from ..errors import UsageError
from ..hadoop.job.told import FORMAT
from ..hadoop.runner import HadoopRunner
from ..hadoop.submit.job_options import SubmitOptions
from ..job.spec import JobSpec
from ..job.stopping import IterateOptions
from .execute import Show, execute, shown_to


def submit(
    bundle: str, inputs: tuple[str, ...], output: str, again: IterateOptions | None, *, show: Show, dry_run: bool,
    detach: bool,
    kill_on_exit: bool, quiet: bool, as_json: bool, **options: Any,
) -> None:
    """Raises as `HadoopRunner`; UsageError HD032 (--detach with --iterate); JobFailed HD628 and its like."""
    if detach and again:
        raise UsageError("--detach and --iterate exclude each other: somebody must wait for a round to start the next",
                         code="HD032", help="leave --detach out; after an interrupt the same command goes on")
    given = SubmitOptions(**{field.name: options[field.name] for field in fields(SubmitOptions)})
    spec = JobSpec.of(Path(bundle), inputs, output, given, again)
    runner, shown = HadoopRunner(given, kill_on_exit=kill_on_exit), shown_to(show, quiet=quiet, as_json=as_json)
    if dry_run:
        line = runner.line(spec, shown, background=detach)
        if again:
            click.echo("the first round; each further one has the output of the round before as its side file", err=True)
        click.echo(line)
    elif detach:
        job = runner.submit(spec, shown)
        click.echo(json.dumps({"format": FORMAT, "job": job}, indent=1) if as_json else job)
    else:
        execute(runner, spec, shown, as_json=as_json)
