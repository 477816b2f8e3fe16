"""An embedded Hadoop cluster on this machine: HDFS, YARN with several NodeManagers, the job history; started and ended.

Every server is a JVM of its own that lives on when the starter ends, unless it is bound to an owner (`keeper`). Whatever
goes wrong in a start ends what was started. Not here: fetching the jars (`jars`), the configuration (`site`), an existing
Hadoop, which needs nothing of this.
"""

from __future__ import annotations

import os
import pwd
import signal
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from .. import last_resort
from ..daemon import processes
from ..daemon.processes import Process
from ..daemon.start import reap
from ..errors import ToolError, UsageError
from .embedded import class_data, daemons, folder, jars, java, keeper_process, ports, proc, ready, site, state, wrappers
from .embedded.daemons import Starter
from .embedded.folder import Folder
from .embedded.jars import Say
from .embedded.state import ClusterState

READY_SECONDS = 240.0
GRACE_SECONDS = 10.0  # a NodeManager waits much longer for applications that ended just before
LOCK_SECONDS = READY_SECONDS + 60
LEAST_MEMORY = 1024
MOST_NODES = 64
_POLL = 0.1
_TRIES = 3
_SWEEPS = 20
_IN_USE = ("Address already in use", "BindException")


@dataclass(frozen=True)
class Options:
    """What `up` is told.

    memory   MiB that each NodeManager gives to containers, of which one takes 512.
    dir      the cluster's folder; None: the user's default one.
    owner    pid of the process after whose end, however it comes, the cluster is taken down; None: it stays until `down`.
    """

    nodes: int = 3
    memory: int = 2048
    dir: Path | None = None
    version: str = jars.DEFAULT
    owner: int | None = None


@dataclass(frozen=True)
class Cluster:
    """A cluster that was ready when this value was made."""

    state: ClusterState

    @property
    def dir(self) -> Path:
        return self.state.folder.path

    @property
    def conf_dir(self) -> Path:
        return self.state.folder.conf

    @property
    def streaming_jar(self) -> Path:
        return self.state.streaming_jar

    @property
    def fs(self) -> str:
        return self.state.fs

    def command(self, name: str) -> str:
        """Path of bin/hadoop, hdfs, yarn or mapred."""
        return str(self.state.folder.bin / name)

    def environment(self, base: Mapping[str, str] = os.environ) -> dict[str, str]:
        """`base` as it is after `eval "$(heterodoop cluster env)"`."""
        own = variables(self.state)
        return {**base, **own, "PATH": f"{self.state.folder.bin}{os.pathsep}{base.get('PATH', os.defpath)}"}

    def kill(self, name: str, number: int = 9) -> None:
        """Send a signal to a server, as a test of faults does."""
        processes.send(self.state.process(name), number)

    def restart(self, name: str) -> Cluster:
        """Start a server again that was killed, and wait until it is of use; what a dead NodeManager left is ended first."""
        return restart(self.dir, name)


def place(path: Path | None) -> Folder:
    """The folder that is meant: the one named, else the default."""
    return folder.at(path)


def variables(of: ClusterState) -> dict[str, str]:
    """What a shell needs to work with the cluster, without PATH."""
    return {
        "HADOOP_CONF_DIR": str(of.folder.conf), "HADOOP_HOME": str(of.folder.path), "JAVA_HOME": of.java,
        "HETERODOOP_STREAMING_JAR": str(of.streaming_jar), folder.ENVIRONMENT: str(of.folder.path),
    }


def up(options: Options, say: Say = lambda text: None) -> Cluster:
    """Start a cluster and wait until it can be used, about 20 s on two processors. `say` hears of what takes time.

    Raises ToolError HD601 to HD604 (Java, Maven, jars), HD609 (a server does not start; its reason is in the message);
    UsageError HD605 (options), HD606 (the folder), HD607 (one runs there already).
    """
    release = _checked(options)
    found = java.find(newest=release.newest_java)
    where = folder.at(options.dir)
    _refuse_second(where)
    folder.prepare(where, release.version)
    lib = jars.get(release, found, say)
    classes = class_data.get(release, lib, found, say)
    with folder.locked(where, 0):
        _refuse_second(where)
        _take_down(where)
        _links(where, lib, classes)
        wrappers.write(where, release, found)
        new = ClusterState(
            id=uuid.uuid4().hex, boot=processes.boot(), version=release.version, user=pwd.getpwuid(os.getuid()).pw_name,
            nodes=options.nodes, memory=options.memory, java=str(found.home), dir=str(where.path), ports={},
        )
        say(f"starting Hadoop {release.version} with {options.nodes} NodeManagers in {where.path}")
        return Cluster(_try_ports(new, found, options.owner))


def _checked(options: Options) -> jars.Release:
    release = jars.release(options.version)
    if not 1 <= options.nodes <= MOST_NODES:
        raise UsageError(f"a cluster has 1 to {MOST_NODES} NodeManagers, not {options.nodes}", code="HD605")
    if options.memory < LEAST_MEMORY:
        why = f"{options.memory} MiB do not hold an application master and a task"
        raise UsageError(f"{why}; a NodeManager needs {LEAST_MEMORY} or more", code="HD605")
    if options.owner is not None and processes.identify(options.owner) is None:
        raise UsageError(f"the owner, process {options.owner}, does not exist", code="HD605")
    return release


def _refuse_second(where: Folder) -> None:
    running = state.read(where)
    if running is not None and (servers := [n for n in daemons.names(running.nodes) if running.alive(n)]):
        first = f"{servers[0]} has pid {running.pids[servers[0]]}"
        raise UsageError(
            f"a cluster of Hadoop {running.version} runs in {where.path} already ({len(servers)} servers, {first})",
            code="HD607", help=f"end it with `heterodoop cluster down --dir {where.path}`, or name another --dir",
        )


def _links(where: Folder, lib: Path, classes: Path | None) -> None:
    folder.link(where.lib, lib)
    where.classes.unlink(missing_ok=True)
    if classes:
        folder.link(where.classes, classes)
    folder.link(where.path / "etc" / "hadoop", where.conf)  # $HADOOP_HOME/etc/hadoop, where HADOOP_CONF_DIR is not set
    folder.link(where.path / "share" / "hadoop" / "tools" / "lib", where.lib)  # $HADOOP_HOME/share/..., as tutorials write


def _try_ports(new: ClusterState, found: java.Java, owner: int | None) -> ClusterState:
    """Start on free ports; on others where somebody takes one in the moment between."""
    preferred = state.last_ports(new.folder)
    for left in range(_TRIES - 1, -1, -1):
        chosen = ports.free(site.port_names(new.nodes), preferred)
        try:
            return _start(replace(new, ports=chosen), found, owner)
        except ToolError as error:
            if not left or not any(words in error.message for words in _IN_USE):
                raise
            preferred = {}
    raise AssertionError("the last try raises")


def _start(new: ClusterState, found: java.Java, owner: int | None) -> ClusterState:
    """Start everything and wait. Ends it all again on any error, Ctrl-C among them."""
    state.write(new)
    with last_resort.cleaning(lambda: _kill(new.folder)):
        try:
            return _started(new, found, owner)
        except BaseException as error:
            with last_resort.allowing(GRACE_SECONDS + 10, "the servers that have started end"):
                _take_down(new.folder)
            if isinstance(error, OSError):
                raise ToolError(f"the cluster does not start: {error}", code="HD609", help=f"see {new.folder.log}") from None
            raise


def _started(new: ClusterState, found: java.Java, owner: int | None) -> ClusterState:
    if owner is not None:
        new = _recorded(new, state.KEEPER, keeper_process.start(new, owner))
    site.write(new.folder, new.release, new.ports, new.memory, new.user)
    starter = Starter(new.folder, new.release, found, new.ports)
    starter.format()
    for name in daemons.names(new.nodes):
        new = _recorded(new, name, starter.start(name))
    _wait_ready(new)
    new = replace(new, ready=True)
    state.write(new)
    return new


def _kill(where: Folder) -> None:
    """End all servers at once, whoever waits for them."""
    for process in _servers(where, state.read(where)):
        processes.send(process, signal.SIGKILL)


def _recorded(of: ClusterState, name: str, process: Process) -> ClusterState:
    after = of.with_process(name, process)
    state.write(after)
    return after


def _wait_ready(of: ClusterState, again: str = "") -> None:
    """Wait until the cluster can be used. `again`: the one server that is new."""
    waiting = ready.checks(of.ports, of.nodes, of.user)
    if again:
        waiting[f"the {again} answers"] = lambda: ready.answers(of.ports[f"{again}-web"])
    deadline = time.monotonic() + READY_SECONDS
    while True:
        for name in daemons.names(of.nodes):
            if not of.alive(name):
                raise daemons.failed(of.folder, name, daemons.exit_status(of.process(name)))
        waiting = {what: check for what, check in waiting.items() if not _holds(check)}
        if not waiting:
            return
        if time.monotonic() > deadline:
            missing = "; ".join(waiting)
            raise ToolError(
                f"the cluster is not ready after {READY_SECONDS:.0f} s. Still missing: {missing}", code="HD609",
                help=f"the servers' logs are in {of.folder.log}",
            )
        time.sleep(_POLL)


def _holds(check: ready.Check) -> bool:
    try:
        return check()
    except (OSError, ValueError, LookupError):
        return False


def down(path: Path | None = None, *, delete: bool = False) -> bool:
    """End the cluster of a folder and everything that its jobs left running. Was there any?

    delete   remove the folder too, HDFS with it. Safe to call at any time, and again.
    Raises ToolError HD609 where a process cannot be ended, UsageError HD607 where another command is at work for long.
    """
    where = folder.at(path)
    if not where.version.is_file():
        return False
    with folder.locked(where, LOCK_SECONDS):
        found = _take_down(where)
        if delete:
            folder.delete(where)
    return found


def _take_down(where: Folder) -> bool:
    """End servers, then containers, then the keeper (unless it is the one that does this), and forget them."""
    old = state.read(where)
    found = where.state.exists()
    left = processes.end(_servers(where, old), GRACE_SECONDS)
    for _ in range(_SWEEPS):  # a container that is being started may start another process yet
        containers = proc.containers(where.path)
        if not containers:
            break
        found = True
        left = processes.end(containers, 0)
    if old is not None and old.alive(state.KEEPER) and old.pids[state.KEEPER] != os.getpid():
        left += processes.end([old.process(state.KEEPER)], 1)
    daemons.reap()
    reap()
    if left:
        pids = ", ".join(str(p.pid) for p in left)
        raise ToolError(f"processes {pids} of the cluster in {where.path} cannot be ended", code="HD609", help="see `ps`")
    where.state.unlink(missing_ok=True)
    return found


def _servers(where: Folder, old: ClusterState | None) -> list[Process]:
    """By pid and start time as written down, in order; then those that nobody came to write down."""
    known: list[Process] = []
    if old is not None:
        names = sorted((n for n in old.pids if n != state.KEEPER), key=daemons.stop_order)
        known = [old.process(n) for n in names if old.alive(n)]
    return [*known, *(p for p in proc.with_argument(where.marker) if p not in known)]


def restart(path: Path | None, name: str) -> Cluster:
    """Start one server of a running cluster again, ending it first if it runs. Raises as `up`, UsageError HD608."""
    where = folder.at(path)
    with folder.locked(where, LOCK_SECONDS):
        of = running(path).state
        if name not in of.pids or name == state.KEEPER:
            raise UsageError(f"the cluster has no server {name}", code="HD608", help=", ".join(daemons.names(of.nodes)))
        processes.end([of.process(name)], GRACE_SECONDS)
        if daemons.kind(name) == "nodemanager":
            processes.end(proc.containers(where.path, node_port=of.ports[name]), 0)
        found = java.find({"JAVA_HOME": of.java})
        of = _recorded(of, name, Starter(where, of.release, found, of.ports).start(name))
        _wait_ready(of, again=name)
    return Cluster(of)


def running(path: Path | None = None) -> Cluster:
    """The cluster of a folder. Raises UsageError HD608 where none runs there, or one that is not ready yet."""
    where = folder.at(path)
    of = state.read(where)
    servers = [] if of is None else [n for n in daemons.names(of.nodes) if of.alive(n)]
    if of is None or not servers:
        help = "start one with `heterodoop cluster up`, or name its folder with --dir"
        raise UsageError(f"no cluster runs in {where.path}", code="HD608", help=help)
    if not of.ready:
        raise UsageError(f"the cluster in {where.path} is still starting", code="HD608", help="wait for it")
    return Cluster(of)
