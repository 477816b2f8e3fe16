"""Input files of this machine: what the planner must know of one, and the bytes of a compressed one as a stream.

Plain files are read by the native runtime itself, by path and byte range. A compressed file cannot be cut: it is one
split, decompressed here (every member of it) and pushed through a pipe by `Pump`.
"""

from __future__ import annotations

import bz2
import contextlib
import fcntl
import os
import threading
import zlib
from collections.abc import Iterator
from types import TracebackType
from typing import Literal, NamedTuple

Codec = Literal["", "gzip", "bzip2"]

SUFFIXES: dict[str, Codec] = {".gz": "gzip", ".bz2": "bzip2"}

# Suffix -> a command that turns such a file into text. Reading one as text would be a silent wrong answer.
UNSUPPORTED: dict[str, str] = {
    ".zst": "zstd -d", ".lz4": "lz4 -d", ".snappy": "snzip -d", ".xz": "xz -d", ".deflate": "pigz -dz",
    ".lzo": "lzop -d", ".lzma": "xz -d", ".zip": "unzip", ".Z": "uncompress",
}

CHUNK = 256 << 10
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


class DamagedInput(Exception):
    """A compressed file that ends early or does not decode; the message says how, without the file's name."""


def suffix_of(path: str) -> str:
    return os.path.splitext(path)[1]


def codec_of(path: str) -> Codec:
    """By the name's suffix alone, as Hadoop's CompressionCodecFactory decides."""
    return SUFFIXES.get(suffix_of(path), "")


class _Inflater:
    """zlib's inflater for one gzip member, with the interface of bz2.BZ2Decompressor (which keeps unread input)."""

    def __init__(self) -> None:
        self._zlib = zlib.decompressobj(wbits=31)
        self._full = False  # the last piece filled its limit: more may wait inside

    @property
    def eof(self) -> bool:
        return self._zlib.eof

    @property
    def unused_data(self) -> bytes:
        return self._zlib.unused_data

    @property
    def needs_input(self) -> bool:
        return not (self.eof or self._full or self._zlib.unconsumed_tail)

    def decompress(self, data: bytes, max_length: int) -> bytes:
        out = self._zlib.decompress(self._zlib.unconsumed_tail + data, max_length)
        self._full = len(out) == max_length
        return out


def decompressed(path: str, codec: Codec) -> Iterator[bytes]:
    """The text of a compressed file in pieces of at most CHUNK bytes, all its members one after the other.

    Not Python's gzip.open and bz2.open: the latter takes a damaged second member for the end of the file and says
    nothing. NUL padding after a gzip member is legal. Raises DamagedInput, OSError.
    """
    decoder: _Inflater | bz2.BZ2Decompressor | None = None
    members = 0
    try:
        with open(path, "rb", buffering=0) as file:
            while data := file.read(CHUNK):
                while data:
                    if decoder is None:
                        data = data.lstrip(b"\0") if codec == "gzip" and members else data
                        if not data:
                            break
                        decoder = _Inflater() if codec == "gzip" else bz2.BZ2Decompressor()
                        members += 1
                    yield from _pieces(decoder, data)
                    data = decoder.unused_data if decoder.eof else b""
                    decoder = None if decoder.eof else decoder
    except (zlib.error, EOFError) as error:
        raise DamagedInput(f"its {codec} data is damaged ({error})") from None
    except OSError as error:
        if error.errno is not None:  # bz2 reports bad data as an OSError without a number
            raise
        raise DamagedInput(f"its {codec} data is damaged ({error})") from None
    if decoder is not None or not members:
        raise DamagedInput(f"its {codec} data ends too early")


def _pieces(decoder: _Inflater | bz2.BZ2Decompressor, data: bytes) -> Iterator[bytes]:
    """What one piece of compressed data gives; returns when the decoder wants more or its member is complete."""
    out = decoder.decompress(data, CHUNK)
    yield out
    while not decoder.eof and not decoder.needs_input:
        yield decoder.decompress(b"", CHUNK)


class Pump:
    """Decompresses a file into a pipe, in a thread of its own, while the `with` block reads `read_fd`.

    A fault ends the stream early and is left in `error`: the reader must look at it before it trusts what it read.
    A reader that goes away early is no fault.
    """

    def __init__(self, file: InputFile) -> None:
        self.file = file
        self.error = ""
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
            for piece in decompressed(self.file.path, self.file.codec):
                self._write(piece)
        except BrokenPipeError:
            pass
        except DamagedInput as error:
            self.error, self.damaged = str(error), True
        except OSError as error:
            self.error = error.strerror or str(error)
        finally:
            os.close(self._write_fd)

    def _write(self, piece: bytes) -> None:
        view = memoryview(piece)
        while view:
            view = view[os.write(self._write_fd, view):]
