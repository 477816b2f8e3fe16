"""Input files of this machine: what the planner must know of one, and the bytes of a compressed one as a stream.

Plain files are read by the native runtime itself, by path and byte range. A compressed file cannot be cut: it is one
split, decompressed (every member of it) and pushed through a pipe by `Pump`, as what input formats make is (readers.py).
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import threading
from collections.abc import Iterator
from types import TracebackType
from typing import NamedTuple

from .codecs import SUFFIXES, Codec, DamagedInput

# Suffix -> a command that turns such a file into text. Reading one as text would be a silent wrong answer.
UNSUPPORTED: dict[str, str] = {
    ".xz": "xz -d", ".lzo": "lzop -d", ".lzma": "xz -d", ".zip": "unzip", ".Z": "uncompress",
}

PIPE_BYTES = 1 << 20


class Stamp(NamedTuple):
    """Which file it was, and when it was last written (ns): with the size, what tells that it is still the same."""

    device: int
    inode: int
    written: int

    @classmethod
    def of(cls, status: os.stat_result) -> Stamp:
        return cls(status.st_dev, status.st_ino, status.st_mtime_ns)


class InputFile(NamedTuple):
    """One input file as it was when the job was planned.

    path     absolute.
    size     bytes on disk.
    stamp    None: not known, then a file that has not become shorter is taken for the same.
    address  where what is in it came from: the path of a stream, an hdfs: address; "": it is the user's own file.
    """

    path: str
    size: int
    codec: Codec = ""
    stamp: Stamp | None = None
    address: str = ""

    @property
    def name(self) -> str:
        """What the user knows it by."""
        return self.address or self.path

    @property
    def uri(self) -> str:
        """As filters are told."""
        return self.name if self.address.startswith("hdfs:") else "file:" + self.name

    @property
    def shown(self) -> str:
        """The name for messages: in quotes and with escapes where it has bytes that no line shows."""
        return self.name if self.name.isprintable() else repr(self.name)


def suffix_of(path: str) -> str:
    return os.path.splitext(path)[1]


def codec_of(path: str) -> Codec:
    """By the name's suffix alone, as Hadoop's CompressionCodecFactory decides."""
    return SUFFIXES.get(suffix_of(path), "")


class Pump:
    """Writes pieces of text into a pipe, in a thread of its own, while the `with` block reads `read_fd`.

    A fault ends the stream early and is left in `error`, with its code: the reader must look at it before it trusts what it
    read. A reader that goes away early is no fault.
    """

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self.error = ""
        self.code = DamagedInput.code
        self.damaged = False
        self.read_fd, self._write_fd = os.pipe()
        self._thread = threading.Thread(target=self._run, name="heterodoop-pump", daemon=True)

    def __enter__(self) -> Pump:
        with contextlib.suppress(OSError):  # the default 64 KiB only costs more switches
            fcntl.fcntl(self._write_fd, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        os.close(self.read_fd)  # the thread's next write fails with EPIPE and ends it
        self._thread.join()

    def _run(self) -> None:
        try:
            for piece in self._pieces:
                self._write(piece)
        except BrokenPipeError:
            pass
        except DamagedInput as error:
            self.error, self.code, self.damaged = str(error), error.code, True
        except OSError as error:
            self.error = error.strerror or str(error)
        finally:
            os.close(self._write_fd)

    def _write(self, piece: bytes) -> None:
        view = memoryview(piece)
        while view:
            view = view[os.write(self._write_fd, view):]
