"""`heterodoop driver`: words of the command line, no more."""

from __future__ import annotations

from typing import Any

import click


@click.group()
def driver() -> None:
    """The node's driver, which runs map tasks of Hadoop jobs on this machine's GPUs, or as host kernels (docs/driver.md)."""


def _place(command: Any) -> Any:
    options = [
        click.option("--dir", metavar="DIR", help="Folder of socket and log (default: $HETERODOOP_DRIVER_DIR, else"
                                                  " /run/heterodoop-UID if it exists, else /tmp/heterodoop-UID)."),
        click.option("--node-port", metavar="PORT", help="Serve the NodeManager of this port only."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


@driver.command()
@_place
@click.option("--device", metavar="NAME", default="cuda", show_default=True, help="cuda, or emulated (for tests).")
@click.option("--gpus", metavar="LIST", default="all", show_default=True,
              help="GPUs to use: all, or numbers (0,1); emulated: as many workers as there are numbers.")
@click.option("--cpu", metavar="[N]", is_flag=False, flag_value="auto",
              help="Host kernels too, N at a time (default: one per processor); no GPU is needed then.")
@click.option("--sessions", metavar="N", default="2", show_default=True,
              help="Tasks at a time on a GPU: one is read while another computes.")
@click.option("--memory", metavar="BYTES", default="4g", show_default=True, help="For splits that are read, together.")
@click.option("--gpu-memory", metavar="BYTES", help="Of a GPU's memory, about what tasks may take (default: what is free).")
@click.option("--gpu-memory-share", metavar="PERCENT",
              help="Of each GPU's memory, where drivers of several users share them (default: what no other one has).")
@click.option("--queue", metavar="N", default="64", show_default=True, help="Attempts that may wait for a GPU.")
@click.option("--store", metavar="BYTES", default="8g", show_default=True, help="For jobs' files on disk.")
@click.option("--work", metavar="DIR", help="Folder for jobs' files and results (default: in --dir, else this user's own).")
@click.option("--tcp", is_flag=True, help="Listen on 127.0.0.1 too, for Java before 16; a secret in --dir proves both ends.")
@click.option("--foreground", is_flag=True, help="Stay, and log to stderr too (systemd).")
@click.option("--ready-fd", type=int, default=-1, hidden=True)
def start(**options: Any) -> None:
    """Start the driver; returns when it serves."""
    from ..commands import driver as commands

    if status := commands.start(**options):
        raise click.exceptions.Exit(status)


@driver.command()
@_place
@click.option("--now", is_flag=True, help="End running tasks too; their attempts run on the CPU.")
def stop(**options: Any) -> None:
    """End the driver, after its running tasks."""
    from ..commands import driver as commands

    commands.stop(**options)


@driver.command()
@_place
@click.option("--now", is_flag=True, help="End running tasks too; their attempts run on the CPU.")
def restart(**options: Any) -> None:
    """End the driver and start it again with the same options."""
    from ..commands import driver as commands

    if status := commands.restart(**options):
        raise click.exceptions.Exit(status)


@driver.command()
@_place
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.option("--metrics", is_flag=True, help="As Prometheus's text (docs/operating.md).")
@click.option("--output", metavar="FILE", help="Write the metrics there, whole or not at all.")
def status(metrics: bool, output: str | None, **options: Any) -> None:
    """Say what the driver does: GPUs, queue, attempts."""
    if metrics or output:
        from ..commands import driver_metrics

        driver_metrics.metrics(options["dir"], options["node_port"], output)
        return
    from ..commands import driver as commands

    commands.status(**options)


@driver.command()
@click.argument("name", type=click.Choice(["service", "environment", "metrics-service", "metrics-timer"]), default="service")
def unit(name: str) -> None:
    """Print a systemd unit of this installation, or the file of its variables (docs/driver.md)."""
    from ..commands import driver_metrics

    driver_metrics.unit(name)


@driver.command()
@_place
@click.option("--seconds", type=float, default=1.0, show_default=True, help="Between two looks.")
def top(**options: Any) -> None:
    """As status, again and again."""
    from ..commands import driver as commands

    commands.top(**options)
