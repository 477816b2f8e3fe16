"""The logs of an embedded cluster: of its servers, and of the containers of each application.

They are read from the cluster's folder, so also after it is down. Not here: logs of a job on another Hadoop.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ...errors import UsageError
from .folder import Folder

_APPLICATION = re.compile(r"(?:application|job)_(\d+_\d+)$")
_CONTAINER = re.compile(r"container_(?:e\d+_)?(\d+_\d+)_\d+_\d+$")


def listing(folder: Folder) -> Iterator[str]:
    """A line per server and per application that has logs."""
    for path in sorted(folder.log.glob("*.log")):
        yield f"{path.stem:40} {path.stat().st_size:10} bytes  {path}"
    for name in sorted({p.name for logs in folder.container_logs() for p in logs.glob("application_*")}):
        containers = [p for logs in folder.container_logs() for p in (logs / name).glob("container_*")]
        yield f"{name:40} {len(containers):10} containers"


def find(folder: Folder, name: str) -> list[Path]:
    """The files of a server (what it printed, its log), an application, a job or a container; without empty ones.

    Raises UsageError HD600 where there is nothing of that name.
    """
    files = [folder.log / f"{name}.{suffix}" for suffix in ("out", "log")] if "/" not in name else []
    if not any(path.is_file() for path in files):
        files = _containers(folder, name)
    if not files:
        raise UsageError(f"there are no logs of {name!r} in {folder.path}", code="HD600", help="heterodoop cluster logs")
    return [path for path in files if path.is_file() and path.stat().st_size]


def _containers(folder: Folder, name: str) -> list[Path]:
    found = _APPLICATION.match(name) or _CONTAINER.match(name)
    if not found:
        return []
    container = name if name.startswith("container_") else "container_*"
    pattern = f"application_{found[1]}/{container}/*"
    return sorted(
        (path for logs in folder.container_logs() for path in logs.glob(pattern) if path.is_file()),
        key=lambda path: (path.parent.name, path.name),
    )


def text(path: Path, lines: int) -> str:
    """A log file's text, or its last `lines` lines (0: all)."""
    content = path.read_text(encoding="utf-8", errors="replace")
    kept = content.splitlines(keepends=True)
    shown = "".join(kept[-lines:] if lines else kept)
    return shown if not shown or shown.endswith("\n") else f"{shown}\n"
