"""A bundle as one archive for Hadoop's distributed cache, and the hashes by which a driver knows the job's files.

Equal bundles give equal archives (sorted names, no times, no owners), and an archive stays where it is: a line that
`heterodoop submit --dry-run` printed works later too. Not here: how an archive is named to Hadoop (`streaming`).
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import re
import stat
import tarfile
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from ... import manifest
from ...errors import UsageError
from ...toolchain import cache

# What may stand in a URI, on a command line of the Hadoop client and in a name on a node, with no quoting anywhere:
# Hadoop decodes the addresses of shipped files once and parses them again, so that escapes do not survive.
SAFE = re.compile(r"[A-Za-z0-9._/+@-]+\Z")
_CHUNK = 1 << 20


class Packed(NamedTuple):
    """An archive of a bundle. `name`: of the folder in which a task finds it; `sha256`: of the files in it (hex)."""

    path: Path
    name: str
    sha256: str


class BundleFile(NamedTuple):
    path: Path
    name: str


def pack(bundle: Path) -> Packed:
    """The archive of a bundle, made if it is not there yet. Raises UsageError HD310-HD313 (no bundle, damaged),
    HD633 (it holds something that is no file), ToolError HD516 (nowhere to keep the archive)."""
    manifest.load(bundle)
    files = list(bundle_files(bundle))
    digest = bundle_sha256(files)
    name = f"{safe_name(bundle.name.removesuffix('.hdp'))}.hdp"
    path = shelf("bundles") / digest / f"{name}.tgz"
    return Packed(cache.get(path, lambda target: _write(files, target)), name, digest)


def safe_name(text: str) -> str:
    """`text` as a name that needs no quoting: what does may be in no argument that Hadoop splits itself."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", text).lstrip(".-") or "bundle"


def bundle_files(bundle: Path) -> Iterable[BundleFile]:
    """The bundle's files in the order of their names' bytes. Raises UsageError HD633 for links, devices and the like."""
    found = []
    for folder, folders, names in os.walk(bundle):
        for name in names + [f for f in folders if os.path.islink(os.path.join(folder, f))]:
            path = Path(folder, name)
            status = path.lstat()
            inside = str(path.relative_to(bundle))
            if not stat.S_ISREG(status.st_mode):
                raise UsageError(
                    f"{bundle}: {inside} is no ordinary file and is not shipped", code="HD633",
                    help="compile the program again",
                )
            found.append(BundleFile(path, inside))
    return sorted(found, key=lambda file: os.fsencode(file.name))


def bundle_sha256(files: Iterable[BundleFile]) -> str:
    """The bundle's identity on a cluster: SHA-256 over a line `name NUL sha256 NUL x` per file.

    The x stands for "may be executed": a NodeManager makes every file that it localizes so (FSDownload), and so does the
    archive, that a node and a driver see the same in every case.
    """
    digest = hashlib.sha256()
    for file in files:
        fields = (os.fsencode(file.name), manifest.sha256(file.path).encode(), b"x")
        digest.update(b"\0".join(fields) + b"\n")
    return digest.hexdigest()


def _write(files: list[BundleFile], target: Path) -> None:
    with open(target, "wb") as raw, gzip.GzipFile("", "wb", 6, raw, mtime=0) as zipped:
        with tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as tar:
            for file in files:
                entry = tarfile.TarInfo(file.name)
                entry.mode = 0o755
                data = file.path.read_bytes()
                entry.size = len(data)
                tar.addfile(entry, io.BytesIO(data))


def shelf(kind: str) -> Path:
    """A folder of the cache whose path Hadoop's client takes as it is. Raises ToolError HD516."""
    for environ in (os.environ, {"XDG_CACHE_HOME": os.path.join(tempfile.gettempdir(), f"heterodoop-cache-{os.getuid()}")}):
        path = cache.folder(environ) / kind
        if SAFE.match(str(path)):
            break
    path.mkdir(mode=0o700, exist_ok=True)
    return path


def shippable(path: Path, name: str) -> Path:
    """`path`, or a link to it (under `name`) where its own address does not survive Hadoop's client."""
    if SAFE.match(str(path)):
        return path
    key = hashlib.sha256(os.fsencode(path)).hexdigest()[:32]
    link = shelf("shipped") / key / name
    link.parent.mkdir(mode=0o700, exist_ok=True)
    if not (link.is_symlink() and os.readlink(link) == str(path)):
        link.unlink(missing_ok=True)
        link.symlink_to(path)
    return link
