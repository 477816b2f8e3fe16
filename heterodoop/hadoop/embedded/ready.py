"""Whether a cluster can be used: not whether ports are open, but whether HDFS takes a file and every node takes a container.

Not here: giving up (`cluster`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

from .web import get_json, request

Check = Callable[[], bool]
# Folder -> mode. /tmp is everybody's, as on any cluster; a user's own folder is where jobs put what they need.
_FOLDERS = {"/tmp": "1777", "/user": "755", "/mr-history": "755"}


def checks(ports: Mapping[str, int], nodes: int, user: str) -> dict[str, Check]:
    """What must hold, by the words to say it with. `user`: HDFS's superuser.

    Each raises OSError, ValueError or LookupError while nobody answers.
    """
    web = {name: ports[f"{name}-web"] for name in ("namenode", "resourcemanager", "historyserver")}
    return {
        "HDFS takes files": lambda: _hdfs(web["namenode"]) and _make_folders(web["namenode"], user),
        f"all {nodes} NodeManagers run": lambda: active_nodes(web["resourcemanager"]) == nodes,
        "the job history answers": lambda: bool(get_json(web["historyserver"], "/ws/v1/history/info")["historyInfo"]),
    }


def answers(port: int) -> bool:
    """A server's web server does. A killed one still counts with the others for a while, so they are no help."""
    return bool(request(port, "GET", "/jmx?qry=java.lang:type=Runtime"))


def _hdfs(port: int) -> bool:
    safe_mode, nodes = _bean(port, "NameNodeInfo")["Safemode"], _bean(port, "FSNamesystemState")["NumLiveDataNodes"]
    return not safe_mode and int(nodes) > 0


def _bean(port: int, name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = get_json(port, f"/jmx?qry=Hadoop:service=NameNode,name={name}")["beans"][0]
    return found


def active_nodes(port: int) -> int:
    """NodeManagers that the ResourceManager counts on. `port`: its web port. Raises as `checks`."""
    return int(get_json(port, "/ws/v1/cluster/metrics")["clusterMetrics"]["activeNodes"])


def _make_folders(port: int, user: str) -> bool:
    """Make the folders of HDFS that users expect."""
    # Both: the history server may have made its folder already, for itself alone.
    for path, mode in {**_FOLDERS, f"/user/{user}": "755"}.items():
        for operation in ("MKDIRS", "SETPERMISSION"):
            query = urlencode({"op": operation, "permission": mode, "user.name": user})
            request(port, "PUT", f"/webhdfs/v1{path}?{query}")
    return True
