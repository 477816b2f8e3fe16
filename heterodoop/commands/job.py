"""`heterodoop job`: what is said of a cluster's jobs; the work is in `hadoop.job.jobs`."""

from __future__ import annotations

import json
import time
from pathlib import Path

import click

from ..errors import EXIT_JOB_FAILED, EXIT_OK
from ..hadoop.job import client, history, jobs
from ..hadoop.job.rest import ClusterClient, job_id
from . import report as of_a_page

_BAD = ("FAILED", "KILLED", "ERROR")


def _cluster() -> ClusterClient:
    return ClusterClient(client.configuration())


def listing(*, everything: bool, everybody: bool, as_json: bool) -> None:
    found = jobs.listing(_cluster(), everybody=everybody, everything=everything)
    if as_json:
        click.echo(json.dumps([{"job": app.job, **app._asdict()} for app in found], indent=1))
        return
    for app in found:
        started = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(app.started / 1000))
        state = app.final if app.over else app.state
        click.echo(f"{app.job}  {state:9}  {app.progress:3.0f} %  {started}  {app.user}  {app.name}")
    if not found:
        click.echo("no jobs" if everything else "no jobs that are not over; --all lists the others", err=True)


def status(text: str, *, as_json: bool) -> int:
    """Print it; the exit status: 1 for a job that failed or was killed."""
    found = jobs.status(_cluster(), job_id(text))
    if as_json:
        click.echo(json.dumps(found._asdict(), indent=1))
    else:
        click.echo(str(found))
        for line in [*found.diagnostics.splitlines(), found.url]:
            if line.strip():
                click.echo(f"  {line}")
    return EXIT_JOB_FAILED if found.state in _BAD else EXIT_OK


def kill(text: str) -> None:
    conf = client.configuration()
    click.echo(jobs.kill(ClusterClient(conf), conf, job_id(text)))


def logs(text: str, attempt: str, lines: int) -> None:
    conf = client.configuration()
    cluster, shown = ClusterClient(conf), False
    for title, content in jobs.log_texts(cluster, conf, jobs.attempts(cluster, job_id(text), attempt), lines):
        shown = True
        click.echo(f"==> {title} <==")
        click.echo(content.encode("utf-8", "surrogateescape"), nl=not content.endswith("\n"))
    if not shown:
        click.echo("no server has logs of it any more", err=True)


def report(text: str, output: str | None, svg: str | None, price: str | None, *, opens: bool) -> None:
    """See commands/report.py. Raises UsageError HD630, HD636."""
    name = job_id(text)
    of_a_page.write(history.of_job(_cluster(), name), Path(output or f"{name}.html"), svg, price, opens=opens)


def counters(text: str, *, as_json: bool) -> None:
    found = jobs.counters(_cluster(), job_id(text))
    if as_json:
        click.echo(json.dumps(found, indent=1))
        return
    for group, values in found.items():
        click.echo(group)
        for name, value in values.items():
            click.echo(f"  {name:40} {value:>16,}")
