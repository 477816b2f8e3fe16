"""Starting the keeper: the process that takes a cluster down when its owner is gone, however that ends. See `keeper`."""

from __future__ import annotations

from ...daemon.processes import Process, identify
from ...daemon.start import leave, python
from ...errors import ToolError
from .state import ClusterState

MODULE = "heterodoop.hadoop.keeper"


def start(of: ClusterState, owner: int) -> Process:
    """Start the keeper of a cluster that is about to start, in a session of its own. Raises ToolError HD609: no owner."""
    bound = identify(owner)
    if bound is None:
        raise ToolError(f"the cluster's owner, process {owner}, has ended", code="HD609")
    words = ["-m", MODULE, of.dir, of.id, str(bound.pid), str(bound.start)]
    with open(of.folder.log / "keeper.out", "wb") as out:
        child = python(words, stdout=out, stderr=out)
    leave(child)
    return identify(child.pid) or Process(child.pid, 0)
