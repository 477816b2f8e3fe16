"""`heterodoop coordinator`: what is said about it; the work is in `driver.cluster.process`."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import click

from ..driver.cluster import process as process


def start(listen: str, secret: str | None, folder: str, *, foreground: bool, log: str | None, ready_fd: int) -> None:
    """Be the coordinator, or start one and say where it is."""
    if foreground:
        process.run(listen, _path(secret), folder, _path(log), ready_fd)
    else:
        click.echo(process.start(listen, _path(secret), folder, _path(log)))


def stop(folder: str) -> None:
    """End it."""
    click.echo(f"the coordinator on {process.stop(folder)} has ended")


def status(folder: str, connect: str, secret: str | None, *, as_json: bool) -> None:
    """Print what it knows."""
    found = process.status(folder, connect, _path(secret))
    if as_json:
        click.echo(json.dumps(found, indent=1))
        return
    since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(found["started"]))
    pid = f", process {found['pid']}" if "pid" in found else ""
    drivers, jobs = len(found["drivers"]), len(found["jobs"])
    click.echo(f"coordinator on {found['address']}{pid}, since {since}: {drivers} drivers, {jobs} jobs")
    if found["error"]:
        click.echo(f"no answer: {found['error']}")
    if found["refused"]:
        click.echo(f"{found['refused']} connections were sent away")
    for job in found["jobs"]:
        click.echo(_job(job))
    for driver in found["drivers"]:
        click.echo(f"{driver['node']}: {driver['decided']} map tasks decided, of {driver['jobs']} jobs")


def _job(job: dict[str, Any]) -> str:
    state = job["state"]
    what = "its ApplicationMaster does not answer: no tail"
    if state:
        left = min(state["total"] - job["decided"], state["total"] - state["completed"])
        what = f"{state['completed']} of {state['total']} map tasks done, {job['decided']} decided, {max(left, 0)} left"
    known = sorted(speedup for speedup in job["speedups"].values() if speedup)
    return f"{job['job']}: {what}" + (f", speedup {known[0]:.3g} to {known[-1]:.3g}" if known else "")


def _path(given: str | None) -> Path | None:
    return Path(given) if given else None
