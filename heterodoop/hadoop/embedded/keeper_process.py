"""Starting the keeper: the process that takes a cluster down when its owner is gone, however that ends. See `keeper`."""

from __future__ import annotations

import os
import subprocess
import sys

from ...errors import ToolError
from ...resources import PACKAGE
from .processes import Process, identify
from .state import State

MODULE = "heterodoop.hadoop.keeper"
_children: list[subprocess.Popen[bytes]] = []  # kept, so that none is forgotten before it has ended


def start(of: State, owner: int) -> Process:
    """Start the keeper of a cluster that is about to start, in a session of its own. Raises ToolError HD609: no owner."""
    bound = identify(owner)
    if bound is None:
        raise ToolError(f"the cluster's owner, process {owner}, has ended", code="HD609")
    argv = [sys.executable, "-m", MODULE, of.dir, of.id, str(bound.pid), str(bound.start)]
    path = os.pathsep.join(filter(None, [str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")]))
    with open(of.folder.log / "keeper.out", "wb") as out:
        child = subprocess.Popen(
            argv, env={**os.environ, "PYTHONPATH": path}, cwd="/", stdin=subprocess.DEVNULL, stdout=out, stderr=out,
            start_new_session=True,
        )
    _children.append(child)
    return identify(child.pid) or Process(child.pid, 0)


def reap() -> None:
    """Take notice of keepers that have ended."""
    _children[:] = [child for child in _children if child.poll() is None]
