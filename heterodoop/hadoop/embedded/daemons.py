"""The servers of an embedded cluster: names, classes, how each is started, and what it says when it ends.

Not here: when to start and stop them (`cluster`), whether they can be used (`ready`).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from ...daemon.processes import Process, identify
from ...errors import ToolError
from . import class_data, site
from .folder import Folder
from .jars import Release
from .java import Java

HADOOP = "org.apache.hadoop."
NAMENODE = HADOOP + "hdfs.server.namenode.NameNode"
_CLASSES = {
    "namenode": NAMENODE,
    "datanode": HADOOP + "hdfs.server.datanode.DataNode",
    "resourcemanager": HADOOP + "yarn.server.resourcemanager.ResourceManager",
    "nodemanager": HADOOP + "yarn.server.nodemanager.NodeManager",
    "historyserver": HADOOP + "mapreduce.v2.hs.JobHistoryServer",
}
_STOP_ORDER = ("historyserver", "nodemanager", "resourcemanager", "datanode", "namenode")
# Variables of ours or of another Hadoop that would change what a server does.
_FOREIGN = ("HADOOP_", "HDFS_", "YARN_", "MAPRED_", "HETERODOOP_", "CLASSPATH", "PYTHON")
_REASONS = (
    r"^Caused by: (.*)", r"^(?:Exception in thread \S+ )?([\w.$]+(?:Exception|Error): .*)", r" (?:FATAL|ERROR) (.*)",
)
_TAIL_BYTES = 65536
_TAIL_LINES = 30
_children: dict[int, subprocess.Popen[bytes]] = {}  # our own, until they end: they are reaped here and nowhere else


def names(nodes: int) -> list[str]:
    """Every server of a cluster, in the order in which they are started."""
    managers = [f"nodemanager{n}" for n in range(1, nodes + 1)]
    return ["namenode", "datanode", "resourcemanager", *managers, "historyserver"]


def kind(name: str) -> str:
    return name.rstrip("0123456789")


def stop_order(name: str) -> int:
    """Sorts servers so that nobody misses another one: NodeManagers tell the ResourceManager, the history goes to HDFS."""
    return _STOP_ORDER.index(kind(name))


class Starter:
    """Starts the servers of one cluster. `ports` is what the configuration was written with."""

    def __init__(self, folder: Folder, release: Release, java: Java, ports: Mapping[str, int]) -> None:
        self.folder = folder
        self._release = release
        self._java = java
        self._ports = ports

    def start(self, name: str) -> Process:
        """Start one server; its output goes to log/NAME.out, its log to log/NAME.log, and those of before to NAME.*.1."""
        for suffix in ("log", "out"):
            path = self.folder.log / f"{name}.{suffix}"
            with suppress(FileNotFoundError):
                path.replace(path.with_name(f"{path.name}.1"))
        with open(self.folder.log / f"{name}.out", "wb") as out:
            child = subprocess.Popen(
                self._argv(name, _CLASSES[kind(name)]), env=self._environment(name), cwd=self.folder.log,
                stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True,
            )
        _children[child.pid] = child
        return identify(child.pid) or Process(child.pid, 0)

    def format(self) -> None:
        """Make an empty HDFS, if there is none yet or its making was interrupted. Raises ToolError HD609."""
        formatted = self.folder.path / "formatted"
        if formatted.exists():
            return
        for half in ("name", "data"):
            shutil.rmtree(self.folder.path / half, ignore_errors=True)
        with open(self.folder.log / "format.out", "wb") as out:
            argv = [*self._argv("format", NAMENODE), "-format", "-nonInteractive"]
            done = subprocess.run(
                argv, env=self._environment("format"), cwd=self.folder.log, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                start_new_session=True, check=False,
            )
        if done.returncode:
            raise failed(self.folder, "format", done.returncode)
        formatted.touch()

    def _argv(self, name: str, main: str) -> list[str]:
        folder = self.folder
        options = [*([site.OPENS] if self._release.opens else []), *site.SMALL_JVM.split(), "-Xmx512m"]
        logger = [f"-Dhadoop.log.dir={folder.log}", f"-Dhadoop.log.file={name}.log", "-Dhadoop.root.logger=INFO,RFA"]
        places = [f"-Djava.io.tmpdir={folder.path}/tmp", f"-XX:ErrorFile={folder.log}/{name}.crash", folder.marker]
        network = ["-Djava.net.preferIPv4Stack=true"]
        prepared = class_data.options(folder.classes).split() if folder.classes.exists() else []
        path = ["-cp", f"{folder.lib}/*:{folder.conf}"]  # jars first: so the prepared classes were made
        return [self._java.command, *options, *prepared, *network, *logger, *places, *path, main]

    def _environment(self, name: str) -> dict[str, str]:
        own = {"JAVA_HOME": str(self._java.home), "HADOOP_CONF_DIR": str(self.folder.conf)}
        number = name[len(kind(name)):]
        node = site.node_environment(int(number), self._ports) if number else {}
        return {**{k: v for k, v in os.environ.items() if not k.startswith(_FOREIGN)}, **own, **node}


def exit_status(process: Process) -> int | None:
    """How a server that this process started ended: exit status, or -signal; None: it runs, or somebody else started it."""
    child = _children.get(process.pid)
    if child is None or child.poll() is None:
        return None
    return child.returncode


def reap() -> None:
    """Take notice of those of our own that have ended."""
    for pid, child in list(_children.items()):
        if child.poll() is not None:
            del _children[pid]


def failed(folder: Folder, name: str, status: int | None) -> ToolError:
    """A server that ended by itself: ToolError HD609 with the reason that its log gives."""
    how = "ended" if status is None else f"ended with exit status {status}" if status >= 0 else f"died of signal {-status}"
    lines = tail(folder, name)
    reason = why(lines)
    shown = f"{lines[0]}: see it" if lines else f"it said nothing; see {folder.log}"
    return ToolError(f"the {name} {how}{': ' + reason if reason else ''}", code="HD609", help=f"its log is {shown}")


def tail(folder: Folder, name: str) -> list[str]:
    """The path of the file in which a server told most at its end, and that file's last lines; empty: nothing was said."""
    for suffix in ("log", "out"):
        path = folder.log / f"{name}.{suffix}"
        lines = last_lines(path, _TAIL_LINES)
        if lines and (suffix == "out" or why([str(path), *lines])):
            return [str(path), *lines]
    return []


def last_lines(path: Path, count: int) -> list[str]:
    """The last lines of a text file, `count` at most; none where there is no such file."""
    try:
        with open(path, "rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - _TAIL_BYTES))
            return file.read().decode("utf-8", "replace").splitlines()[-count:]
    except OSError:
        return []


def why(lines: list[str]) -> str:
    """The line of a Java log's end that says most: the innermost cause, else an exception, else an error."""
    for pattern in _REASONS:
        found = [m[1] for line in lines[1:] if (m := re.search(pattern, line))]
        if found:
            return found[-1].strip()
    return lines[-1].strip() if len(lines) > 1 and lines[0].endswith(".out") else ""
