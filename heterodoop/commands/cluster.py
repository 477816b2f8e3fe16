"""`heterodoop cluster`: what is said about an embedded Hadoop; the work is in `hadoop.cluster`."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from shlex import quote

import click

from ..daemon import processes
from ..errors import EXIT_JOB_FAILED, EXIT_OK
from ..hadoop import cluster
from ..hadoop.embedded import daemons, jars, proc, state
from ..hadoop.embedded import logs as cluster_logs
from ..hadoop.embedded.state import ClusterState

MIB = 1 << 20


def up(folder: str | None, nodes: int, memory: int, hadoop_version: str | None, owner: int | None) -> None:
    """Start a cluster; says how to use it, and who else can reach it."""
    begun = time.monotonic()
    options = cluster.Options(nodes, memory, _path(folder), hadoop_version or jars.DEFAULT, owner)
    started = cluster.up(options, lambda text: click.echo(text, err=True)).state
    width = max(map(len, started.web))
    click.echo(f"Hadoop {started.version} is ready after {time.monotonic() - begun:.0f} s: {_what(started)}.")
    click.echo(f"{'HDFS':{width}}  {started.fs}")
    for title, address in started.web.items():
        click.echo(f"{title:{width}}  {address}")
    click.echo(_exposure(started))
    suffix = f" --dir {quote(folder)}" if folder else ""
    click.echo(f'Use it:  eval "$(heterodoop cluster env{suffix})"    End it:  heterodoop cluster down{suffix}')


def down(folder: str | None, *, delete: bool) -> None:
    """End a cluster, or say that there is none."""
    where = cluster.place(_path(folder))
    found = cluster.down(where.path, delete=delete)
    what = f"the cluster in {where.path} is down" if found else f"no cluster runs in {where.path}"
    click.echo(f"{what}, and its folder is removed" if delete and not where.path.exists() else what)


def status(folder: str | None, *, as_json: bool) -> int:
    """Print what runs; the exit status: 0 where all servers of a cluster do."""
    where = cluster.place(_path(folder))
    found = state.read(where)
    names = daemons.names(found.nodes) if found else []
    alive = {name: found.alive(name) for name in names} if found else {}
    whole = bool(alive) and all(alive.values())
    if as_json:
        click.echo(json.dumps({**(found.to_json() if found else {}), "alive": alive, "running": whole}, indent=1))
    elif found is None:
        click.echo(f"no cluster runs in {where.path}")
    else:
        _print_status(found, alive)
    return EXIT_OK if whole else EXIT_JOB_FAILED


def _print_status(of: ClusterState, alive: dict[str, bool]) -> None:
    word = "ready" if of.ready else "starting"
    click.echo(f"Hadoop {of.version} in {of.dir}: {_what(of)}, {word if all(alive.values()) else 'not all of it runs'}.")
    width = max(map(len, alive))
    for name, runs in alive.items():
        web = f"http://localhost:{of.ports[name + '-web']}"
        used = f"{processes.resident(of.process(name).pid) // MIB:5} MiB  {web}" if runs else "does not run"
        click.echo(f"{name:{width}}  {of.pids.get(name, '-'):>8}  {used}")
    if of.alive(state.KEEPER):
        click.echo(f"{state.KEEPER:{width}}  {of.pids[state.KEEPER]:>8}  takes the cluster down when its owner ends")


def _what(of: ClusterState) -> str:
    return f"{of.nodes} NodeManager{'s' if of.nodes > 1 else ''} with {of.memory} MiB each"


def _exposure(of: ClusterState) -> str:
    """Which ports are open to the network, from the kernel's own tables."""
    by_process = {of.process(name): name for name in daemons.names(of.nodes)}
    found = [(by_process[p], port) for p, port in proc.listening(by_process)]
    ports = ", ".join(f"{port} ({name})" for name, port in found)
    return (
        f"Open to the network, since Hadoop cannot bind them to one address: the NodeManagers' shuffle ports {ports}, and"
        " two ports of every running job's application master. Everything else listens on 127.0.0.1, where every user of"
        " this machine can use it."
    )


def logs(name: str | None, folder: str | None, lines: int) -> None:
    """Print logs, or list them. Also where no cluster runs any more."""
    where = cluster.place(_path(folder))
    if name is None:
        for line in cluster_logs.listing(where):
            click.echo(line)
        return
    for path in cluster_logs.find(where, name):
        click.echo(f"==> {path} <==")
        click.echo(cluster_logs.text(path, lines), nl=False)


def env(folder: str | None) -> None:
    """Print assignments for a shell."""
    of = cluster.running(_path(folder)).state
    for name, value in cluster.variables(of).items():
        click.echo(f"export {name}={quote(value)}")
    binaries = str(of.folder.bin)
    if binaries not in os.environ.get("PATH", "").split(os.pathsep):
        click.echo(f'export PATH={quote(binaries)}:"$PATH"')


def _path(given: str | None) -> Path | None:
    return Path(given) if given else None
