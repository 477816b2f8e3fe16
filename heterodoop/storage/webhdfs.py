"""Names in HDFS: list, put, get, read, rename, remove, over WebHDFS with the `hdfs` package (docs/decisions: not for data).

A file appears under its name only when it is whole: it is written as NAME._COPYING_ and renamed, as `hadoop fs -put` does;
the same for files that are fetched. Where the cluster has Kerberos it is asked with a ticket (spnego.py). Not here: reading
splits (`hdfs`), what commands print.
"""

from __future__ import annotations

import contextlib
import os
import posixpath
import re
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from .. import scratch
from ..errors import HeteroDoopError, Limitation, ToolError, UsageError
from . import hdfs_causes, spnego
from .hadoop_conf import HadoopConf

try:
    import hdfs
    from hdfs.util import HdfsError
except ImportError:  # an extra
    hdfs = None

CONNECT_SECONDS, READ_SECONDS = 10, 120
CHUNK = 1 << 20
COPYING = "._COPYING_"
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):/")


class FileStatus(NamedTuple):
    """An entry. `modified`: ms since 1970."""

    name: str
    folder: bool
    size: int
    owner: str
    group: str
    mode: int
    modified: int


class Namespace:
    """The default file system of a configuration, as a user.

    Errors of all its methods: UsageError HD634 (a path), ToolError HD632 (a server does not answer), HD658 (safe mode),
    HD661 (no room); Limitation HD635 (a login that we have not).
    """

    def __init__(self, conf: HadoopConf, user: str | None = None) -> None:
        """Raises ToolError HD636 (no `hdfs` package), Limitation HD635 (Kerberos, and no ticket), HD637 (no HDFS)."""
        self.address = conf.default_fs()
        webs = conf.nn_webs()
        if not webs:
            raise Limitation(f"the cluster's file system is {self.address}, not HDFS", code="HD637", help="use: hadoop fs")
        if hdfs is None:
            raise ToolError("the Python package `hdfs` is missing", code="HD636", help="pip install 'heterodoop[hdfs]'")
        self._webs = webs
        timeout = (CONNECT_SECONDS, READ_SECONDS)
        self.user = user or spnego.user_of(conf)
        urls = ";".join(webs)
        self._client: Any = (
            hdfs.Client(urls, timeout=timeout) if conf.secure else hdfs.InsecureClient(urls, user=self.user, timeout=timeout)
        )
        self._client._session.auth = spnego.negotiate
        self._client.resolve = lambda path: path  # the package would take #LATEST in a name for a mark of its own
        self._client._session.trust_env = False  # no proxy of the environment is between us and the cluster

    def close(self) -> None:
        self._client._session.close()

    def resolve(self, name: str) -> str:
        """The absolute path behind a name: /x, hdfs:///x, hdfs://HOST:PORT/x of this cluster, or x below the user's home.

        Raises UsageError HD634 for an empty name or one with a colon, which HDFS does not take; Limitation HD637 for another
        file system.
        """
        path = name
        if match := _SCHEME.match(name):
            if match[1].lower() != "hdfs":
                raise self._elsewhere(name)
            rest = name[len(match[0]):]
            authority, _, below = rest[1:].partition("/") if rest.startswith("/") else ("", "", rest)  # hdfs:/x
            if authority and f"hdfs://{authority}" != self.address:
                raise self._elsewhere(name)
            path = "/" + below
        if not path or "\0" in path or any("\udc80" <= letter <= "\udcff" for letter in path):
            raise UsageError(f"{name!r} can be no name in HDFS, which takes UTF-8 text", code="HD634")
        if ":" in path:
            raise UsageError(f"{name!r}: HDFS takes no name with a colon", code="HD634", help="give it another name there")
        return posixpath.normpath(posixpath.join("/user", self.user, path))

    def _elsewhere(self, name: str) -> Limitation:
        return Limitation(f"{name!r} is in another file system than {self.address}", code="HD637", help="use: hadoop fs")

    def status(self, path: str) -> FileStatus | None:
        """The entry at an absolute path, None where there is none."""
        with self._errors(path):
            found = self._client.status(path, strict=False)
        return _status(path, found) if found else None

    def list(self, path: str) -> list[FileStatus]:
        """The entries of a folder, in order of their names' bytes; of a file, itself."""
        with self._errors(path):
            found = self._client._list_status(path).json()["FileStatuses"]["FileStatus"]
        entries = [_status(posixpath.join(path, one["pathSuffix"]) if one["pathSuffix"] else path, one) for one in found]
        return sorted(entries, key=lambda entry: entry.name.encode())

    def read(self, path: str, offset: int = 0) -> Iterator[bytes]:
        """A file's bytes, piece by piece."""
        with self._errors(path), self._client.read(path, offset=offset, chunk_size=CHUNK) as pieces:
            yield from pieces

    def put(self, local: Path, path: str) -> None:
        """Copy a local file. Raises UsageError HD634: the target exists, the source cannot be read."""
        if self.status(path):
            raise UsageError(f"{path} exists already", code="HD634", help=f"hadoop fs -rm {path}, or name another target")
        partial = path + COPYING
        try:
            with open(local, "rb") as file, self._errors(path):
                self._client.write(partial, data=_pieces(file), overwrite=True)
        except BaseException as error:
            with contextlib.suppress(HeteroDoopError), self._errors(partial):
                self._client.delete(partial)
            if isinstance(error, OSError) and not isinstance(error, HeteroDoopError):
                raise UsageError(f"{local}: {error.strerror or error}", code="HD634") from None
            raise
        with self._errors(path):
            self._client._rename(partial, destination=path)
        if not self.status(path):
            raise UsageError(f"{path}: HDFS did not rename {partial}", code="HD634")

    def get(self, path: str, local: Path) -> None:
        """Copy a file of HDFS. Raises UsageError HD634: the target exists or cannot be written."""
        if os.path.lexists(local):
            raise UsageError(f"{local} exists already", code="HD634", help="name another target")
        try:
            with scratch.folder(".heterodoop-get-", local.parent) as folder:
                partial = folder / "file"
                with open(partial, "wb") as file:
                    for piece in self.read(path):
                        file.write(piece)
                scratch.into_place(partial, local)
        except OSError as error:
            raise UsageError(f"{local}: {error.strerror or error}", code="HD634") from None

    def write(self, path: str, data: bytes) -> None:
        """A small file, whole or not at all, in the place of one that may be there. Folders above it are made."""
        partial = path + COPYING
        with self._errors(path):
            self._client.write(partial, data=data, overwrite=True)
            self._client._rename(partial, destination=path, renameoptions="OVERWRITE")

    def create(self, path: str, data: bytes) -> bool:
        """A small file, unless there is one: of several that create it at once one gets True."""
        try:
            with self._errors(path):
                self._client.write(path, data=data, overwrite=False)
        except UsageError:
            if self.status(path) is None:
                raise
            return False
        return True

    def move(self, path: str, target: str) -> None:
        """Rename a file or folder, in one step. Raises UsageError HD634 also where the target exists."""
        with self._errors(target):
            self._client._rename(path, destination=target, renameoptions="NONE")  # without it: into a folder that exists

    def remove(self, path: str) -> None:
        """A file, or a folder with all that is in it, for good; what is not there is no error."""
        with self._errors(path):
            self._client.delete(path, recursive=True)

    def remove_empty(self, path: str) -> None:
        """A folder with nothing in it; any other one is an error, and stays."""
        with self._errors(path):
            self._client.delete(path, recursive=False)

    def make_folder(self, path: str) -> None:
        with self._errors(path):
            self._client.makedirs(path)

    @contextlib.contextmanager
    def _errors(self, path: str) -> Iterator[None]:
        """The package's errors as ours."""
        try:
            yield
        except HdfsError as error:
            said = str(error).splitlines()[0]
            if said.startswith("Authentication failure"):  # the package's words for a 401
                raise spnego.LoginFailed("the NameNode's web server does not take ours, or wants another one") from None
            if cause := hdfs_causes.find(said):
                raise ToolError(f"{path}: {cause.meaning}: {said}", code=cause.code, help=cause.help) from None
            raise UsageError(f"{path}: {said}", code="HD634") from None
        except OSError as error:  # of requests, too
            request = getattr(error, "request", None)
            if request is None:
                raise
            raise self._unreachable(path, urllib.parse.urlsplit(request.url).netloc, error) from None

    def _unreachable(self, path: str, server: str, error: OSError) -> ToolError:
        if any(urllib.parse.urlsplit(web).netloc == server for web in self._webs):
            return ToolError(f"the NameNode's web server {server} does not answer: {_plain(error)}", code="HD632",
                             help="heterodoop cluster status; heterodoop doctor")
        return ToolError(
            f"{path}: the NameNode answers, its DataNode {server} does not: {_plain(error)}", code="HD632",
            help="this machine must resolve and reach that name: /etc/hosts, dfs.client.use.datanode.hostname, or HttpFS",
        )


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    while piece := file.read(CHUNK):
        yield piece


def _plain(error: OSError) -> str:
    """The innermost reason of an error of requests, whose own text nests several."""
    text = str(error)
    found = re.findall(r"(?:\[Errno -?\d+\] |: )([A-Z][^:'\"()]+)", text)
    return found[-1].strip() if found else text


def _status(path: str, found: dict[str, Any]) -> FileStatus:
    return FileStatus(
        path, found["type"] == "DIRECTORY", int(found["length"]), found["owner"], found["group"],
        int(found["permission"], 8), int(found["modificationTime"]),
    )
