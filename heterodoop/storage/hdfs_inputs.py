"""Inputs of `heterodoop run` in HDFS: which files an address stands for, and copies of them on this machine.

Listed as files of this machine are (inputs.py); patterns are hdfs-native's. Each file is read in ranges, by several threads,
into a file of the job's. Not here: which cluster (hadoop_conf.py), the DataNodes' protocol (hdfs.py).
"""

from __future__ import annotations

import contextlib
import os
import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from ..errors import JobFailed, Limitation, ToolError, UsageError
from . import hadoop_conf, spnego
from .hdfs import EXTRA, Entry, HdfsData, RangeReader

_RANGE = 8 << 20
_READERS = 4
_MAGIC = re.compile(r"[*?\[{]")
_SUBMIT = "`heterodoop submit` runs the job where its input is"


class Found(NamedTuple):
    """A file in HDFS. address: as Hadoop has it, with the name of the file system."""

    address: str
    path: str
    length: int
    data: HdfsData


class HdfsInputs:
    """The file systems that a job's inputs are in; one connection for each."""

    def __init__(self) -> None:
        self._conf = hadoop_conf.load()
        self._systems: dict[str, HdfsData] = {}

    def find(self, name: str) -> list[Found]:
        """The files behind an address, those of a folder and matches of a pattern in byte order; [] for an empty folder.

        Raises UsageError HD010 (there is none, it cannot be read), HD011 (a folder in a folder), HD012 (no match);
        Limitation HD013 (no cluster is named), HD635 (no Kerberos ticket); ToolError HD632 (it does not answer),
        HD636 (no package).
        """
        system, path = self._parted(name)
        data = self._system(name, system)
        with _told(name):
            named = data.status(path)
            matches = data.glob(path) if named is None and _MAGIC.search(path) else []
        if named is None and not _MAGIC.search(path):
            raise UsageError(f"cannot read the input {name!r}: there is no such file", code="HD010", help="heterodoop fs ls")
        entries = [named] if named else sorted(filter(_visible, matches), key=lambda entry: entry.path.encode())
        if not entries:
            hint = "names that start with . or _ are not matched"
            raise UsageError(f"no input file matches {name!r}", code="HD012", help=hint)
        files = [file for entry in entries for file in (self._below(name, data, entry) if entry.folder else [entry])]
        return [Found(system + file.path, file.path, file.length, data) for file in files]

    def _below(self, name: str, data: HdfsData, folder: Entry) -> Iterator[Entry]:
        with _told(name):
            entries = sorted(data.entries(folder.path), key=lambda entry: entry.path.encode())
        for entry in filter(_visible, entries):
            if entry.folder:
                raise UsageError(
                    f"the input folder {folder.path!r} holds a folder: {entry.path!r}", code="HD011",
                    help=f"folders are read one level deep; name it as an input of its own, or use a glob like {name}/*/*",
                )
            yield entry

    def _parted(self, name: str) -> tuple[str, str]:
        """File system and absolute path of hdfs://HOST/x, hdfs:///x, hdfs:/x; not percent-decoded, as Hadoop's Path."""
        rest = name[len("hdfs:"):]
        authority, _, below = rest[2:].partition("/") if rest.startswith("//") else ("", "", rest[1:])
        system = f"hdfs://{authority}" if authority else self._conf.default_fs()
        if not system.startswith("hdfs://"):
            raise Limitation(
                f"{name!r} names no cluster, and Hadoop's configuration has none ({system})", code="HD013",
                help="write hdfs://HOST:PORT/PATH, or set HADOOP_CONF_DIR",
            )
        return system, posixpath.normpath("/" + below)

    def _system(self, name: str, system: str) -> HdfsData:
        if system not in self._systems:
            spnego.user_of(self._conf)  # without a ticket the package says nothing of one
            try:
                self._systems[system] = HdfsData(system, self._conf)
            except OSError as error:
                missing = EXTRA in str(error)
                help = f"{EXTRA}, or: hadoop fs -get PATH ." if missing else "heterodoop cluster status; heterodoop doctor"
                raise ToolError(f"the input {name!r}: {error}", code="HD636" if missing else "HD632", help=help) from None
        return self._systems[system]


def _visible(entry: Entry) -> bool:
    return posixpath.basename(entry.path)[:1] not in ("_", ".")


@contextlib.contextmanager
def _told(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ToolError(f"cannot read the input {name!r}: {error}", code="HD632",
                        help="heterodoop cluster status; heterodoop doctor") from None


def copy(wanted: Sequence[tuple[Found, Path]], check: Callable[[], None]) -> None:
    """Copy files, each to a path of its own below one folder, which is made.

    check  called for each range of 8 MiB; may raise to stop.
    Raises JobFailed HD053 (no room), ToolError HD632 (HDFS does not answer).
    """
    if not wanted:
        return
    folder = wanted[0][1].parent
    folder.mkdir(parents=True, exist_ok=True)
    total, disk = sum(found.length for found, _ in wanted), os.statvfs(folder)
    room = disk.f_bavail * disk.f_frsize
    if total > room:
        raise JobFailed(f"the inputs in HDFS have {total} bytes, and {str(folder)!r} has room for {room}", code="HD053",
                        help=f"name an output on a larger disk; {_SUBMIT}")
    for found, path in wanted:
        _copy(found, path, check)


def _copy(found: Found, path: Path, check: Callable[[], None]) -> None:
    with _told(found.address):
        reader = found.data.open(found.path)
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    pool = ThreadPoolExecutor(_READERS, thread_name_prefix="hdfs")
    try:
        for _ in pool.map(lambda offset: _range(reader, found, path, file, offset), range(0, reader.length, _RANGE)):
            check()
    finally:
        pool.shutdown(cancel_futures=True)
        os.close(file)


def _range(reader: RangeReader, found: Found, path: Path, file: int, offset: int) -> None:
    with _told(found.address):
        view = memoryview(reader.read(offset, _RANGE))
    try:
        while view:
            written = os.pwrite(file, view, offset)
            view, offset = view[written:], offset + written
    except OSError as error:
        raise JobFailed(f"the input {found.address!r} cannot be kept in {str(path)!r}: {error.strerror}", code="HD053",
                        help=f"name an output on a larger disk; {_SUBMIT}") from None
