"""`heterodoop coordinator`: what the drivers of a cluster share."""

from __future__ import annotations

import click


@click.group("coordinator")
def coordinator_command() -> None:
    """The daemon that tells the GPU drivers of a cluster how much of a job is left.

    One for a cluster, on any machine that drivers reach and that reaches the ResourceManager. Jobs run without it too;
    each driver then asks by itself and knows less (docs/scheduling.md).
    """


_DIR = click.option(
    "--dir", "folder", default="", metavar="DIR",
    help="This user's private folder (default: $HETERODOOP_DRIVER_DIR, /run/heterodoop-UID, else"
         " ~/.local/state/heterodoop/coordinator).",
)
_SECRET = click.option(
    "--secret", type=click.Path(), metavar="FILE",
    help="The cluster's secret, mode 0400 (default: coordinator.secret in DIR).",
)


@coordinator_command.command("start")
@click.option("--listen", required=True, metavar="HOST:PORT", help="Where drivers connect to.")
@_SECRET
@_DIR
@click.option("--foreground", is_flag=True, help="Do not go behind, and log to stderr. For systemd.")
@click.option("--log", type=click.Path(), metavar="FILE", help="Log to this file, which is rotated.")
@click.option("--ready-fd", type=int, default=-1, hidden=True)
def start_command(listen: str, secret: str | None, folder: str, foreground: bool, log: str | None, ready_fd: int) -> None:
    """Start the coordinator.

    The ResourceManager comes from $HADOOP_CONF_DIR. A secret that is missing in DIR is made; drivers need the same file:
    heterodoop driver start --coordinator HOST:PORT --coordinator-secret FILE.
    """
    from ..commands import coordinator

    coordinator.start(listen, secret, folder, foreground=foreground, log=log, ready_fd=ready_fd)


@coordinator_command.command("stop")
@_DIR
def stop_command(folder: str) -> None:
    """End the coordinator. Drivers go on without it."""
    from ..commands import coordinator

    coordinator.stop(folder)


@coordinator_command.command("status")
@click.option("--connect", default="", metavar="HOST:PORT", help="Ask this coordinator (default: the one that runs in DIR).")
@_SECRET
@_DIR
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def status_command(connect: str, secret: str | None, folder: str, as_json: bool) -> None:
    """Say which drivers are connected and what is left of each job."""
    from ..commands import coordinator

    coordinator.status(folder, connect, secret, as_json=as_json)
