"""The part of `heterodoop doctor` that is about Hadoop: Java, a Hadoop or the jars of one, and what its configuration says.

Only files are read; nobody on the network is asked.
"""

from __future__ import annotations

import importlib.util
import os
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from ..daemon.lock import owner_of
from ..driver.wire import place
from ..driver.wire.place import DriverPlace
from ..errors import HeteroDoopError
from ..executor.lent.lender import Connection
from ..hadoop.embedded import jars, java
from ..storage import hadoop_conf, spnego
from ..storage.hadoop_conf import HadoopConf
from ..toolchain import plugin
from .doctor_check import Check, program

MIB = 1 << 20
DRIVER_MIB = 5120  # of the host's memory: `driver start --memory` as it is by default, and 1 GiB for a worker
_LOOPBACK = ("localhost", "127.", "[::1]", "::1")
_DRIVER_HELP = "for a cluster's nodes, and for `heterodoop run` without the start of a GPU: heterodoop driver start"
_NO_CONF = "no configuration: neither HADOOP_CONF_DIR nor HADOOP_HOME is set"
_OPEN = (
    "let a firewall keep others away from it, or set hadoop.security.authentication=kerberos; on a single machine, bind it"
    " to localhost (yarn.resourcemanager.hostname)"
)


def checks() -> Iterator[Check]:
    """Everything that jobs on a cluster need on this machine."""
    yield program("Java", "java", "JAVA_HOME", "-version", f"only for Hadoop: apt install {java.PACKAGE}")
    help = f"only for `heterodoop cluster up`, the first time: apt install {jars.MAVEN_PACKAGE}"
    yield program("Maven", "mvn", "MAVEN_HOME", "-version", help)
    help = "only for jobs on a cluster: set HADOOP_HOME, or `heterodoop cluster up`"
    yield program("Hadoop", "hadoop", "HADOOP_HOME", "version", help)
    yield _embedded()
    yield _plugin()
    yield _hdfs()
    yield _driver(place.folder_of())
    try:
        conf = hadoop_conf.load()
        yield _resource_manager(conf)
        if conf.secure:
            yield _ticket()
        yield _memory(conf)
        yield _executor(conf)
    except HeteroDoopError as error:
        yield Check("Hadoop configuration", "no", error.message, error.help)


def _embedded() -> Check:
    name = "embedded Hadoop"
    try:
        there = [release.version for release in jars.RELEASES.values() if jars.cached(release)]
        found = java.find()
    except HeteroDoopError as error:
        return Check(name, "none" if error.code == "HD601" else "no", error.message, error.help)
    if not there:
        return Check(name, "none", "its jars are not here yet", "`heterodoop cluster up` fetches them with Maven")
    return Check(name, "yes", f"jars of {' and '.join(there)}, Java {found.version}")


def _plugin() -> Check:
    """The jar that jobs take along."""
    name = "Hadoop plug-in"
    try:
        jar = plugin.existing()
        if jar is None:
            plugin.check_tools()
    except HeteroDoopError as error:
        return Check(name, "none", error.message, f"only for jobs on a cluster: {error.help}")
    if jar is None:
        help = f"the first job builds it with Maven; or: {plugin.BUILD_HADOOP}"
        return Check(name, "none", "it is not built yet", help)
    return Check(name, "yes", str(jar))


def _hdfs() -> Check:
    """Without them the driver lets tasks read their splits, and `heterodoop fs` does not work."""
    missing = [name for name in ("hdfs", "hdfs_native") if importlib.util.find_spec(name) is None]
    if missing:
        return Check("HDFS packages", "none", f"no Python module {' and '.join(missing)}", "pip install 'heterodoop[hdfs]'")
    return Check("HDFS packages", "yes", "hdfs, hdfs-native")


def _driver(folder: Path) -> Check:
    name = "GPU driver process"
    if not folder.exists():
        return Check(name, "none", f"none runs: there is no {folder}", _DRIVER_HELP)
    try:
        place.check_folder(folder)
    except HeteroDoopError as error:
        return Check(name, "no", error.message, error.help)
    ports = [0, *(int(p.stem.removeprefix("driver-")) for p in sorted(folder.glob("driver-*.lock")) if p.stem[7:].isdigit())]
    found = [(port, owner) for port in ports if (owner := owner_of(DriverPlace(folder, port).lock))]
    if not found:
        return Check(name, "none", f"none runs in {folder}", _DRIVER_HELP)
    told = [
        f"pid {owner.pid}{f' for the NodeManager of port {port}' if port else ''}, since"
        f" {time.strftime('%Y-%m-%d %H:%M', time.localtime(owner.since))}" for port, owner in found
    ]
    return Check(name, "yes", f"in {folder}: {'; '.join(told)}; {_lending(folder)}")


def _lending(folder: Path) -> str:
    """Whether `heterodoop run` would use it."""
    try:
        with closing(Connection(folder)) as connection:
            lender = connection.lender
            return f"`heterodoop run` uses its devices ({len(lender.gpus)} {lender.device})"
    except HeteroDoopError as error:
        return f"`heterodoop run` does without it: {error.message}"


def _executor(conf: HadoopConf) -> Check:
    """A driver serves one uid. Whose tasks have it is YARN's choice."""
    name = "container executor"
    if conf.folder is None:
        return Check(name, "none", _NO_CONF)
    chosen = conf.get("yarn.nodemanager.container-executor.class").rpartition(".")[2] or "DefaultContainerExecutor"
    if chosen == "DefaultContainerExecutor":
        text = "containers of all users run as the NodeManager's user: they share one driver, which cannot tell them apart"
        return Check(name, "yes", f"{chosen}: {text}")
    return Check(name, "yes", f"{chosen}: a driver serves the tasks of the one user that it runs as")


def _resource_manager(conf: HadoopConf) -> Check:
    """Without Kerberos, whoever can reach the ResourceManager may run programs on every node."""
    name = "ResourceManager"
    if conf.folder is None:
        return Check(name, "none", _NO_CONF)
    key = "yarn.resourcemanager."
    host = conf.get(f"{key}bind-host") or conf.get(f"{key}address").rpartition(":")[0] or conf.get(f"{key}hostname")
    if conf.secure:
        return Check(name, "yes", f"{host}, with Kerberos")
    if host.startswith(_LOOPBACK):
        return Check(name, "yes", f"{host}: this machine's users alone can reach it")
    text = f"at {host} it takes jobs from everybody who can reach it, under any name, and runs them on the nodes"
    return Check(name, "no", f"{text} (hadoop.security.authentication=simple)", _OPEN)


def _ticket() -> Check:
    """Who we are to a cluster with Kerberos."""
    name = "Kerberos ticket"
    try:
        return Check(name, "yes", f"of {spnego.user()}")
    except spnego.LoginFailed as failed:
        return Check(name, "no", failed.message, failed.help)


def _memory(conf: HadoopConf) -> Check:
    """The driver lives beside the NodeManager, which must not give away all of the machine's memory."""
    name = "NodeManager memory"
    if conf.folder is None:
        return Check(name, "none", _NO_CONF)
    key = "yarn.nodemanager.resource.memory-mb"
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // MIB
    said = conf.get(key)
    given = int(said) if said.lstrip("-").isdigit() else -1
    if given < 0:  # Hadoop works it out: 80 % of what it finds
        return Check(name, "yes", f"{key}={said}: Hadoop decides")
    left = whole - given
    text = f"{given} of this machine's {whole} MiB go to containers"
    if left < DRIVER_MIB:
        fix = f"lower {key} to {max(0, whole - DRIVER_MIB)}"
        return Check(name, "no", f"{text}; the driver needs about {DRIVER_MIB}", fix)
    return Check(name, "yes", f"{text}; {left} are left for the driver and the system")
