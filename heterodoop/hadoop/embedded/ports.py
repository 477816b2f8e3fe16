"""Free TCP ports for the servers of a cluster.

Chosen below the range that the kernel gives to outgoing connections, so that none of those takes one before its server is
up. Two clusters that start at the same moment may still choose the same; `cluster` then starts again with others.
"""

from __future__ import annotations

import random
import socket
from collections.abc import Iterable
from pathlib import Path

from ...errors import ToolError

_LOWEST = 10240
_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
_TRIES = 20000


def free(names: Iterable[str], preferred: dict[str, int] | None = None) -> dict[str, int]:
    """A free port for each name: the preferred one if it is free, else one at random. Raises ToolError HD609."""
    chosen: dict[str, int] = {}
    for name in names:
        wanted = (preferred or {}).get(name, 0)
        chosen[name] = wanted if wanted and wanted not in chosen.values() and _is_free(wanted) else _any(chosen.values())
    return chosen


def _any(taken: Iterable[int]) -> int:
    highest = _highest()
    for _ in range(_TRIES):
        port = random.randrange(_LOWEST, highest)
        if port not in taken and _is_free(port):
            return port
    raise ToolError(f"no free port between {_LOWEST} and {highest}", code="HD609", help="ss -tln lists who listens")


def _highest() -> int:
    low = int(_RANGE.read_text().split()[0])
    return low if low > _LOWEST + 2000 else 32768


def _is_free(port: int) -> bool:
    """Nobody listens on it, on any address. A connection that is closing does not count: servers reuse its port."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", port))
            probe.listen(1)
        except OSError:
            return False
    return True
