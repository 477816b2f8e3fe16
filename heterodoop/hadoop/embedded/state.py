"""cluster.json: what runs in a cluster's folder. It is there from before the first process starts until the last has ended.

Other programs may read it; keys are only added. Not here: starting and ending (`cluster`).
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from ...daemon import processes
from ...daemon.processes import Process
from .folder import Folder
from .jars import RELEASES, Release, streaming_jar

KEEPER = "keeper"
FORMAT = "heterodoop-cluster-1"


@dataclass(frozen=True)
class ClusterState:
    """A cluster that runs, is being started, or was left by a process that was killed.

    id       of this start. boot: the kernel's run in which the pids are valid. memory: MiB per NodeManager.
    java     what JAVA_HOME is for it. pids, starts: by server name (`namenode`, `nodemanager1`), and of the `keeper`.
    ports    by server name; `-web`, `-localizer` and so on are further ports of a server.
    ready    it could be used once.
    """

    id: str
    boot: str
    version: str
    user: str
    nodes: int
    memory: int
    java: str
    dir: str
    ports: dict[str, int]
    pids: dict[str, int] = field(default_factory=dict)
    starts: dict[str, int] = field(default_factory=dict)
    ready: bool = False

    @property
    def release(self) -> Release:
        return RELEASES[self.version]

    @property
    def folder(self) -> Folder:
        return Folder(Path(self.dir))

    @property
    def fs(self) -> str:
        """HDFS's address: hdfs://localhost:PORT."""
        return f"hdfs://localhost:{self.ports['namenode']}"

    @property
    def web(self) -> dict[str, str]:
        """Addresses for a browser, by the servers' usual names."""
        managers = {f"NodeManager {n}": f"nodemanager{n}-web" for n in range(1, self.nodes + 1)}
        names = {"NameNode": "namenode-web", "ResourceManager": "resourcemanager-web", "JobHistory": "historyserver-web"}
        return {title: f"http://localhost:{self.ports[name]}" for title, name in {**names, **managers}.items()}

    @property
    def node_ports(self) -> list[int]:
        """The port of each NodeManager, as containers see it in NM_PORT."""
        return [self.ports[f"nodemanager{n}"] for n in range(1, self.nodes + 1)]

    @property
    def streaming_jar(self) -> Path:
        return streaming_jar(self.folder.lib, self.release)

    def process(self, name: str) -> Process:
        """Raises KeyError: no server of that name was started."""
        return Process(self.pids[name], self.starts[name])

    def alive(self, name: str) -> bool:
        return name in self.pids and self.boot == processes.boot() and processes.alive(self.process(name))

    def with_process(self, name: str, process: Process) -> ClusterState:
        pids, starts = {**self.pids, name: process.pid}, {**self.starts, name: process.start}
        return replace(self, pids=pids, starts=starts)

    def to_json(self) -> dict[str, Any]:
        derived = {
            "web": self.web, "node_ports": self.node_ports, "fs": self.fs,
            "conf_dir": str(self.folder.conf), "lib": str(self.folder.lib), "streaming_jar": str(self.streaming_jar),
        }
        return {"format": FORMAT, **asdict(self), **derived}


def write(state: ClusterState) -> None:
    _replace(state.folder.state, state.to_json())
    _replace(state.folder.ports, state.ports)  # stays, so that the next start takes the same ones


def _replace(path: Path, content: object) -> None:
    partial = path.with_name(f".{path.name}")
    partial.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    partial.replace(path)


def read(folder: Folder) -> ClusterState | None:
    """None: nothing runs there, or the file is of another HeteroDoop."""
    content = _json(folder.state)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        return None
    try:
        return ClusterState(**{name: content[name] for name in ClusterState.__dataclass_fields__})
    except KeyError:
        return None


def last_ports(folder: Folder) -> dict[str, int]:
    """The ports of the cluster that ran here before; empty where there was none."""
    content = _json(folder.ports)
    return content if isinstance(content, dict) else {}


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
