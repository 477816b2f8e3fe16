"""A cluster's folder: where what lies in it, whether it may be used, and the lock that its commands hold.

Layout: cluster.json (while something may run), version (marks the folder as ours), lock, ports.json, conf/, bin/, log/,
tmp/, lib, share/ and etc/ (links to the jars and conf/, where tutorials look for them), classes.jsa (another, `class_data`),
name/ and data/ (HDFS), formatted (it was made), node1/ ... (a NodeManager's local and log folders). Not here: what the
configuration says (`site`), who runs (`cluster`).
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from ...daemon import lock
from ...errors import UsageError

ENVIRONMENT = "HETERODOOP_CLUSTER_DIR"
_PLAIN = re.compile(r"[A-Za-z0-9._/@=-]+")


@dataclass(frozen=True)
class Folder:
    """`path` is absolute."""

    path: Path

    @property
    def state(self) -> Path:
        return self.path / "cluster.json"

    @property
    def version(self) -> Path:
        return self.path / "version"

    @property
    def ports(self) -> Path:
        return self.path / "ports.json"

    @property
    def conf(self) -> Path:
        return self.path / "conf"

    @property
    def bin(self) -> Path:
        return self.path / "bin"

    @property
    def log(self) -> Path:
        return self.path / "log"

    @property
    def lib(self) -> Path:
        return self.path / "lib"

    @property
    def classes(self) -> Path:
        """A link to Hadoop's prepared classes (`class_data`); not there: JVMs do without."""
        return self.path / "classes.jsa"

    @property
    def marker(self) -> str:
        """A word on the command line of every server, by which it is found even if nobody wrote its pid down."""
        return f"-Dheterodoop.cluster={self.path}"

    def container_logs(self) -> Iterator[Path]:
        """The NodeManagers' log folders, with a folder per application in each."""
        return iter(sorted(self.path.glob("node*/log")))


def default(environ: Mapping[str, str] = os.environ) -> Path:
    """$HETERODOOP_CLUSTER_DIR, else heterodoop/cluster in $XDG_STATE_HOME or ~/.local/state: the same from every folder."""
    if environ.get(ENVIRONMENT):
        return Path(environ[ENVIRONMENT])
    state = environ.get("XDG_STATE_HOME", "")
    return (Path(state) if os.path.isabs(state) else Path.home() / ".local" / "state") / "heterodoop" / "cluster"


def at(path: Path | None) -> Folder:
    """The folder as a value; nothing is looked at. None: the default one."""
    return Folder(Path(os.path.abspath(path if path is not None else default())))


def prepare(folder: Folder, version: str) -> None:
    """Make the folder, or accept one that an earlier cluster of the same release left.

    Raises UsageError HD606 where it cannot be made, holds something else, or has a name that Hadoop's settings cannot hold.
    """
    if not _PLAIN.fullmatch(str(folder.path)):
        bad = _PLAIN.sub("", str(folder.path))[:1]
        raise _refused(folder, f"Hadoop's settings cannot hold the character {bad!r}", "name another folder with --dir")
    try:
        folder.path.mkdir(parents=True, exist_ok=True)
        ours = folder.version.is_file()
        if not ours and any(name != "lock" for name in os.listdir(folder.path)):
            raise _refused(folder, "it holds something else", "name an empty or new folder with --dir")
        was = folder.version.read_text().strip() if ours else version
        if was != version:
            fix = f"use --hadoop-version {was}, another --dir, or `heterodoop cluster down --delete` to lose its data"
            raise _refused(folder, f"it holds the HDFS of Hadoop {was}", fix)
        folder.version.write_text(f"{version}\n")
        for name in ("conf", "bin", "log", "tmp"):
            (folder.path / name).mkdir(exist_ok=True)
    except OSError as error:
        raise _refused(folder, error.strerror or str(error), "name another folder with --dir") from None


def _refused(folder: Folder, why: str, help: str) -> UsageError:
    return UsageError(f"{folder.path} cannot be a cluster's folder: {why}", code="HD606", help=help)


def link(place: Path, target: Path) -> None:
    """Make or renew a symbolic link."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.unlink(missing_ok=True)
    place.symlink_to(target)


def locked(folder: Folder, seconds: float) -> AbstractContextManager[lock.Lock]:
    """One command at a time changes a cluster. Raises UsageError HD607 where another one takes longer than `seconds`."""
    def refuse(_: lock.Owner | None) -> UsageError:
        return UsageError(f"another `heterodoop cluster up` or `down` is at work in {folder.path}", code="HD607",
                          help="wait for it; `heterodoop cluster status` says what runs")

    return lock.held(folder.path / "lock", refuse, seconds)


def delete(folder: Folder) -> None:
    """Remove a cluster's folder with its data; anything that is none stays."""
    if folder.version.is_file():
        shutil.rmtree(folder.path)
