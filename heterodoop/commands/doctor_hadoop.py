"""The part of `heterodoop doctor` that is about Hadoop: Java, a Hadoop or the jars of one, and what its configuration says.

Only files are read; nobody on the network is asked. Not here: the GPU driver process.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from ..errors import HeteroDoopError
from ..hadoop import jars, java
from ..storage import hadoop_conf
from ..storage.hadoop_conf import HadoopConf
from .doctor_check import Check, program

MIB = 1 << 20
DRIVER_MIB = 2048  # of the host's memory, for the supervisor, its workers and what they read ahead
_LOOPBACK = ("localhost", "127.", "[::1]", "::1")
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
    try:
        conf = hadoop_conf.load()
        yield _resource_manager(conf)
        yield _memory(conf)
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
