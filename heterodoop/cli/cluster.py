"""`heterodoop cluster`: an embedded Hadoop on this machine."""

from __future__ import annotations

from typing import Any

import click


def _folder(command: Any) -> Any:
    help = "The cluster's folder (default: heterodoop/cluster in ~/.local/state; $HETERODOOP_CLUSTER_DIR)."
    return click.option("--dir", "folder", type=click.Path(), envvar="HETERODOOP_CLUSTER_DIR", help=help)(command)


@click.group("cluster")
def cluster_command() -> None:
    """A real Hadoop on this machine: HDFS, YARN with several NodeManagers, the job history.

    For trying things out and for tests; nothing of it is needed where there is a Hadoop already.
    """


@cluster_command.command("up")
@_folder
@click.option("--nodes", type=int, default=3, show_default=True, metavar="N", help="NodeManagers.")
@click.option(
    "--memory", type=int, default=2048, show_default=True, metavar="MIB",
    help="Memory that each NodeManager gives to containers; a task takes 512.",
)
@click.option("--hadoop-version", metavar="VERSION", help="3.5.0 (the default) or 3.4.2.")
@click.option("--owner", type=int, metavar="PID", help="Take the cluster down when this process ends, however it ends.")
def up_command(**options: Any) -> None:
    """Start a cluster and wait until it can be used.

    Java 17 and, the first time, Maven are needed. The cluster runs until `heterodoop cluster down`. HDFS keeps its
    files from one start to the next.
    """
    from ..commands import cluster

    cluster.up(**options)


@cluster_command.command("down")
@_folder
@click.option("--delete", is_flag=True, help="Remove the folder too, with all of HDFS.")
def down_command(folder: str | None, delete: bool) -> None:
    """End the cluster and everything that its jobs left running."""
    from ..commands import cluster

    cluster.down(folder, delete=delete)


@cluster_command.command("status")
@_folder
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def status_command(folder: str | None, as_json: bool) -> None:
    """Say what runs. Exit status 0: all servers of a cluster; 1: none, or not all."""
    from ..commands import cluster

    if status := cluster.status(folder, as_json=as_json):
        raise click.exceptions.Exit(status)


@cluster_command.command("logs")
@click.argument("name", required=False)
@_folder
@click.option("-n", "--lines", type=click.IntRange(min=0), default=0, metavar="N", help="Only the last N of each file.")
def logs_command(name: str | None, folder: str | None, lines: int) -> None:
    """Print the log of a server or the logs of an application's containers.

    NAME is a server as `heterodoop cluster status` lists them, or an application, job or container id. Without it: what
    there is.
    """
    from ..commands import cluster

    cluster.logs(name, folder, lines)


@cluster_command.command("env")
@_folder
def env_command(folder: str | None) -> None:
    """Print the lines that make a shell use the cluster: eval "$(heterodoop cluster env)"."""
    from ..commands import cluster

    cluster.env(folder)
