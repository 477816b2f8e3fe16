"""Data in HDFS, by `hdfs-native`, which speaks the DataNodes' own protocol (docs/decisions/0012).

The package is an extra (pip install 'heterodoop[hdfs]') and is imported when it is first needed. Every failure is an
OSError. Not here: names for `heterodoop fs` (webhdfs.py), which cluster (hadoop_conf.py), splits and records.
"""

from __future__ import annotations

import importlib
from typing import Any, NamedTuple, Protocol
from urllib.parse import unquote

from .hadoop_conf import HadoopConf

EXTRA = "pip install 'heterodoop[hdfs]'"


class RangeReader(Protocol):
    """A file whose ranges can be read in any order, by several threads."""

    @property
    def length(self) -> int: ...

    def read(self, offset: int, size: int) -> bytes:
        """Up to `size` bytes from `offset` on; fewer only at the end of the file. Raises OSError."""
        ...


class Entry(NamedTuple):
    """A file or folder, by its absolute path."""

    path: str
    folder: bool
    length: int


class HdfsData:
    """Reading of a cluster's files. Files under construction have the length that the NameNode says."""

    def __init__(self, filesystem: str, conf: HadoopConf) -> None:
        """filesystem: as in hdfs://host:8020. Raises OSError: there is no package, or no such cluster can be named."""
        module = _module("hdfs_native")
        settings = {key: conf.get(key) for key in conf.values}
        self._client = _call(lambda: module.Client(filesystem, settings))

    def open(self, path: str) -> RangeReader:
        """A file by its absolute path. Raises OSError: it is missing, no file, or may not be read."""
        return _HdfsFile(_call(lambda: self._client.read(path)))

    def status(self, path: str) -> Entry | None:
        """What is there; None: nothing. Raises OSError."""
        def ask() -> Entry | None:
            try:
                return _entry(self._client.get_file_info(path))
            except FileNotFoundError:
                return None

        found: Entry | None = _call(ask)
        return found

    def entries(self, folder: str) -> list[Entry]:
        """What a folder holds. Raises OSError."""
        return [_entry(one) for one in _call(lambda: list(self._client.list_status(folder)))]

    def glob(self, pattern: str) -> list[Entry]:
        """What a pattern of an absolute path matches. Raises OSError."""
        return [_entry(one) for one in _call(lambda: self._client.glob_status(pattern))]


def _entry(found: Any) -> Entry:
    return Entry("/" + found.path.strip("/"), bool(found.isdir), int(found.length))


class _HdfsFile:
    def __init__(self, reader: Any) -> None:
        self._reader = reader
        self._length: int = _call(lambda: len(reader))

    @property
    def length(self) -> int:
        return self._length

    def read(self, offset: int, size: int) -> bytes:
        size = min(size, self._length - offset)  # beyond the end hdfs-native panics
        if size <= 0:
            return b""
        data: bytes = _call(lambda: self._reader.read_range(offset, size))
        if len(data) != size:
            raise OSError(f"{len(data)} bytes instead of {size} at {offset}")
        return data


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise OSError(f"Python module {error.name or name} is missing: {EXTRA}") from None


def _call(function: Any) -> Any:
    """hdfs-native raises RuntimeError, OSError and, for a bug of its own, PanicException, which is no Exception."""
    try:
        return function()
    except OSError as error:
        raise OSError(_line(error)) from None
    except Exception as error:
        raise OSError(_line(error)) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise OSError(f"hdfs-native failed: {error}") from None


def _line(error: Exception) -> str:
    """What the NameNode says, without the trace of its own methods."""
    return str(error).partition("\n")[0]


def split_uri(uri: str) -> tuple[str, str, str]:
    """Scheme, authority and path of a Hadoop Path as a URI (org.apache.hadoop.fs.Path.toUri().toString())."""
    scheme, colon, rest = uri.partition(":")
    if not colon or not scheme.isalnum():
        return "", "", unquote(uri)
    authority = ""
    if rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        rest = slash + path
    return scheme.lower(), authority, unquote(rest)
