"""The configuration of an embedded cluster: what core-site.xml and its like say, and why it is not the default.

One folder serves every NodeManager: Hadoop expands ${env.NAME:-default} in values, and each NodeManager is started with
other values of a few variables. Not here: options of the JVMs that are servers (`daemons`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from xml.sax.saxutils import escape

from . import class_data
from .folder import Folder
from .jars import Release

NODE = "HETERODOOP_NODE"
# Short lives: twice as fast with C1 alone; Hadoop's classes take 60 MB and more, and collections at 20 MB find nothing.
SMALL_JVM = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:MetaspaceSize=128m -XX:-UsePerfData"
OPENS = "--add-opens=java.base/java.lang=ALL-UNNAMED"
SERVER_PORTS = (
    "namenode", "namenode-web", "datanode", "datanode-ipc", "datanode-web", "resourcemanager", "resourcemanager-scheduler",
    "resourcemanager-tracker", "resourcemanager-admin", "resourcemanager-web", "historyserver", "historyserver-web",
    "historyserver-admin",
)
NODE_PORTS = {"address": "", "localizer.address": "-localizer", "webapp.address": "-web"}
CONTAINER_MB = 512
Settings = dict[str, str | int]

_LOG4J = """# Containers have their own: container-log4j.properties in Hadoop's jar.
hadoop.root.logger=INFO,console
log4j.rootLogger=${hadoop.root.logger}
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.target=System.err
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d{ISO8601} %p %c{2}: %m%n
log4j.appender.RFA=org.apache.log4j.RollingFileAppender
log4j.appender.RFA.File=${hadoop.log.dir}/${hadoop.log.file}
log4j.appender.RFA.MaxFileSize=32MB
log4j.appender.RFA.MaxBackupIndex=2
log4j.appender.RFA.layout=org.apache.log4j.PatternLayout
log4j.appender.RFA.layout.ConversionPattern=%d{ISO8601} %p %c{2}: %m%n
log4j.logger.org.apache.hadoop.util.NativeCodeLoader=ERROR
"""


def port_names(nodes: int) -> list[str]:
    return [*SERVER_PORTS, *(f"nodemanager{n}{kind}" for n in range(1, nodes + 1) for kind in NODE_PORTS.values())]


def node_environment(number: int, ports: Mapping[str, int]) -> dict[str, str]:
    """What makes a NodeManager, which reads the common configuration, the one of this number (from 1)."""
    own = {_variable(kind): str(ports[f"nodemanager{number}{kind}"]) for kind in NODE_PORTS.values()}
    return {NODE: str(number), **own}


def _variable(kind: str) -> str:
    return f"{NODE}_PORT{kind.upper().replace('-', '_')}"


def write(folder: Folder, release: Release, ports: Mapping[str, int], memory: int, user: str) -> None:
    """Write the configuration folder. `memory`: MiB that each NodeManager gives to containers; `user`: HDFS's superuser."""
    files = {
        "core-site": _core(folder, ports, user),
        "hdfs-site": _hdfs(folder, ports),
        "yarn-site": _yarn(folder, ports, memory),
        "mapred-site": _mapred(folder, release, ports),
        "capacity-scheduler": _scheduler(),
    }
    for name, settings in files.items():
        (folder.conf / f"{name}.xml").write_text(_xml(settings), encoding="utf-8")
    (folder.conf / "log4j.properties").write_text(_LOG4J)
    for application in ("hdfs", "datanode"):  # NameNode and DataNode do not start without these; the jars lack them
        (folder.conf / "webapps" / application).mkdir(parents=True, exist_ok=True)


def _xml(settings: Settings) -> str:
    pairs = [(name, escape(str(value))) for name, value in settings.items()]
    rows = "".join(f"  <property><name>{name}</name><value>{value}</value></property>\n" for name, value in pairs)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<configuration>\n{rows}</configuration>\n'


def _local(ports: Mapping[str, int], name: str) -> str:
    return f"localhost:{ports[name]}"


def _core(folder: Folder, ports: Mapping[str, int], user: str) -> Settings:
    return {
        "fs.defaultFS": f"hdfs://{_local(ports, 'namenode')}",
        "hadoop.tmp.dir": f"{folder.path}/tmp",
        "hadoop.http.staticuser.user": user,
    }


def _hdfs(folder: Folder, ports: Mapping[str, int]) -> Settings:
    return {
        "dfs.namenode.http-address": _local(ports, "namenode-web"),
        "dfs.namenode.name.dir": f"file://{folder.path}/name",
        "dfs.datanode.data.dir": f"file://{folder.path}/data",
        "dfs.datanode.address": f"127.0.0.1:{ports['datanode']}",
        "dfs.datanode.ipc.address": f"127.0.0.1:{ports['datanode-ipc']}",
        "dfs.datanode.http.address": f"127.0.0.1:{ports['datanode-web']}",
        "dfs.datanode.hostname": "localhost",
        "dfs.replication": 1,
        "dfs.blocksize": "64m",
        "dfs.namenode.fs-limits.min-block-size": 65536,  # so that a small file can have many maps
        "dfs.namenode.safemode.extension": 0,
    }


def _yarn(folder: Folder, ports: Mapping[str, int], memory: int) -> Settings:
    node = f"{folder.path}/node${{env.{NODE}:-1}}"
    addresses = {
        f"yarn.nodemanager.{key}": f"127.0.0.1:${{env.{_variable(kind)}:-{ports[f'nodemanager1{kind}']}}}"
        for key, kind in NODE_PORTS.items()
    }
    manager = {
        "address": "", "scheduler.address": "-scheduler", "resource-tracker.address": "-tracker", "admin.address": "-admin",
        "webapp.address": "-web",
    }
    return {
        "yarn.resourcemanager.hostname": "localhost",
        **{f"yarn.resourcemanager.{key}": _local(ports, f"resourcemanager{kind}") for key, kind in manager.items()},
        **addresses,
        "yarn.nodemanager.local-dirs": f"{node}/local-a,{node}/local-b",  # two, as on a node with two disks
        "yarn.nodemanager.log-dirs": f"{node}/log",
        "yarn.nodemanager.aux-services": "mapreduce_shuffle",
        "yarn.nodemanager.resource.memory-mb": memory,
        "yarn.nodemanager.resource.cpu-vcores": max(1, memory // CONTAINER_MB),
        "yarn.scheduler.minimum-allocation-mb": 128,
        "yarn.scheduler.maximum-allocation-mb": memory,
        "yarn.nodemanager.vmem-check-enabled": "false",
        "yarn.nodemanager.pmem-check-enabled": "false",
        "yarn.nodemanager.disk-health-checker.enable": "false",  # a disk over 90 % full would stop all jobs
        "yarn.application.classpath": f"{folder.conf},{folder.lib}/*",
        # By default containers are given out at nodes' heartbeats, one a second. Shorter ones
        # would cost a cluster that waits two thirds more.
        "yarn.scheduler.capacity.schedule-asynchronously.enable": "true",
        "yarn.scheduler.capacity.schedule-asynchronously.scheduling-interval-ms": 100,
        # How soon a dead NodeManager is noticed by the ResourceManager, and given up by an application master that wants
        # to stop a container there. By default a job waits for many minutes.
        "yarn.nm.liveness-monitor.expiry-interval-ms": 10000,
        "yarn.client.nodemanager-connect.max-wait-ms": 5000,
        "yarn.client.nodemanager-connect.retry-interval-ms": 1000,
    }


def _mapred(folder: Folder, release: Release, ports: Mapping[str, int]) -> Settings:
    opens = f" {OPENS}" if release.opens else ""
    task = f"-Xmx320m {SMALL_JVM}"
    return {
        "mapreduce.framework.name": "yarn",
        "mapreduce.shuffle.port": 0,  # any; in yarn-site it would be overridden by mapred-default.xml
        "mapreduce.application.classpath": f"{folder.conf},{folder.lib}/*",
        "yarn.app.mapreduce.am.staging-dir": "/user",  # a user's own folder: no common one that all must be able to write
        "mapreduce.jobhistory.intermediate-done-dir": "/mr-history/tmp",
        "mapreduce.jobhistory.done-dir": "/mr-history/done",
        "mapreduce.jobhistory.address": _local(ports, "historyserver"),
        "mapreduce.jobhistory.webapp.address": _local(ports, "historyserver-web"),
        "mapreduce.jobhistory.admin.address": _local(ports, "historyserver-admin"),
        "yarn.app.mapreduce.am.resource.mb": CONTAINER_MB,
        "yarn.app.mapreduce.am.command-opts": f"-Xmx384m {SMALL_JVM}{opens}",
        **_prepared(folder),
        "mapreduce.map.memory.mb": CONTAINER_MB,
        "mapreduce.map.java.opts": task,
        "mapreduce.reduce.memory.mb": CONTAINER_MB,
        "mapreduce.reduce.java.opts": task,
        "mapreduce.task.io.sort.mb": 64,
        "mapreduce.reduce.shuffle.connect.timeout": 5000,  # a reducer's tries to fetch from a dead node
        # Small jobs spend most of their time waiting for the next poll.
        "mapreduce.client.progressmonitor.pollinterval": 200,
        "mapreduce.client.completion.pollinterval": 200,
        "yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms": 200,
    }


def _prepared(folder: Folder) -> Settings:
    """Settings that give containers Hadoop's prepared classes, beside the users' own options of their JVMs.

    The class path must begin with the jars for them. A container's begins with its own folder and what
    mapreduce.application.classpath says; bash puts the jars in front. One of another form stays: that of
    mapreduce.job.user.classpath.first.
    """
    if not folder.classes.exists():
        return {}
    begins = re.sub(r"([/*])", r"\\\1", f":{folder.conf}:{folder.lib}/*")
    path = f"${{CLASSPATH/#$PWD{begins}/{folder.lib}/*:$PWD:{folder.conf}}}"
    own = f"{class_data.options(folder.classes)} -cp {path}"
    task = f"-Djava.net.preferIPv4Stack=true -Dhadoop.metrics.log.level=WARN {own}"  # the first two: Hadoop's default
    return {
        "yarn.app.mapreduce.am.admin-command-opts": own,
        "mapreduce.admin.map.child.java.opts": task,
        "mapreduce.admin.reduce.child.java.opts": task,
    }


def _scheduler() -> Settings:
    return {
        "yarn.scheduler.capacity.root.queues": "default",
        "yarn.scheduler.capacity.root.default.capacity": 100,
        "yarn.scheduler.capacity.maximum-am-resource-percent": "0.5",
    }
