"""Compressed files as Hadoop has them: how each form is read and written, and which Python package it takes.

`.lz4` and `.snappy` are no files of the tools of these names, but blocks in a form of Hadoop's own (BlockCompressorStream
and BlockDecompressorStream): a block's length, then pieces of it, each compressed by itself behind its own length; lengths
are 4 bytes, big end first. The packages are an extra (pip install 'heterodoop[codecs]') and imported when first needed.
"""

from __future__ import annotations

import bz2
import importlib
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple, Protocol

from ..errors import ToolError

Codec = Literal["", "gzip", "bzip2", "deflate", "zstd", "Hadoop lz4", "Hadoop snappy"]

EXTRA = "pip install 'heterodoop[codecs]'"
CHUNK = _BUFFER = 256 << 10
BLOCK = 128 << 10  # that we write: no longer than either codec's buffer in Hadoop, by default
_MOST_PIECE = 64 << 20  # bytes of one that is read; Hadoop's own readers stop at their buffer's 256 KiB
_ZSTD_FEED = 2 << 10  # bytes at a time: what comes of them is at most 64 MiB
_MOST_LZ4, _MOST_SNAPPY = 255, 64  # times as long is what is made of a byte, at most
_PACKAGE = "org.apache.hadoop.io.compress."


class DamagedInput(Exception):
    """A file that ends early or does not decode; the message says how, without the file's name. code: of the error index."""

    code = "HD404"


class Form(NamedTuple):
    """A codec. suffix: of its files. classes: Hadoop's names of it. package: the module, "" = the standard library."""

    codec: Codec
    suffix: str
    classes: tuple[str, ...]
    package: str = ""


FORMS = (
    Form("gzip", ".gz", (f"{_PACKAGE}GzipCodec",)),
    Form("bzip2", ".bz2", (f"{_PACKAGE}BZip2Codec",)),
    Form("deflate", ".deflate", (f"{_PACKAGE}DefaultCodec", f"{_PACKAGE}DeflateCodec")),
    Form("zstd", ".zst", (f"{_PACKAGE}ZStandardCodec",), "zstandard"),
    Form("Hadoop lz4", ".lz4", (f"{_PACKAGE}Lz4Codec",), "cramjam"),
    Form("Hadoop snappy", ".snappy", (f"{_PACKAGE}SnappyCodec",), "cramjam"),
)
SUFFIXES: dict[str, Codec] = {form.suffix: form.codec for form in FORMS}
CLASSES: dict[str, Form] = {name: form for form in FORMS for name in form.classes}
_OF_CODEC = {form.codec: form for form in FORMS}


def need(codec: Codec, what: str) -> None:
    """Import what the codec takes. `what`: for which file or setting. Raises ToolError HD054: the package is not there."""
    package = _OF_CODEC[codec].package
    if not package:
        return
    try:
        importlib.import_module(package)
    except ImportError:
        raise ToolError(f"{what}: the Python package {package} is missing", code="HD054", help=EXTRA) from None


class Decoder(Protocol):
    """Of one member of a file, as bz2.BZ2Decompressor, which keeps unread input."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class _Inflater:
    """zlib's inflater for one member."""

    def __init__(self, wbits: int) -> None:
        self._zlib = zlib.decompressobj(wbits=wbits)
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


class _Zstd:
    """One frame. What comes of a piece may be longer than asked for, by a bound (_ZSTD_FEED)."""

    def __init__(self) -> None:
        module: Any = importlib.import_module("zstandard")
        self._error = module.ZstdError
        self._frame = module.ZstdDecompressor().decompressobj()
        self._data, self._at = b"", 0

    @property
    def eof(self) -> bool:
        return bool(self._frame.eof)

    @property
    def unused_data(self) -> bytes:
        return bytes(self._frame.unused_data) + self._data[self._at:]

    @property
    def needs_input(self) -> bool:
        return not self.eof and self._at >= len(self._data)

    def decompress(self, data: bytes, max_length: int) -> bytes:
        if data:
            self._data, self._at = self._data[self._at:] + data, 0
        piece = self._data[self._at:self._at + _ZSTD_FEED]
        self._at += len(piece)
        try:
            return bytes(self._frame.decompress(piece))
        except self._error as error:
            raise DamagedInput(f"its zstd data is damaged ({error})") from None


_DECODERS: dict[Codec, Callable[[], Decoder]] = {
    "gzip": lambda: _Inflater(31), "deflate": lambda: _Inflater(15), "bzip2": bz2.BZ2Decompressor, "zstd": _Zstd,
}


def decompressed(path: str, codec: Codec) -> Iterator[bytes]:
    """The text of a compressed file in pieces, all its members one after the other. Raises DamagedInput, OSError."""
    with open(path, "rb", buffering=_BUFFER) as file:
        yield from of_file(file, codec)


def of_file(file: BinaryIO, codec: Codec) -> Iterator[bytes]:
    """The same of a file that is open, from where it is; codec "": its bytes."""
    if not codec:
        yield from iter(lambda: file.read(CHUNK), b"")
    elif codec in ("Hadoop lz4", "Hadoop snappy"):
        yield from _blocks(file, codec)
    else:
        yield from _members(file, codec)


def _members(file: BinaryIO, codec: Codec) -> Iterator[bytes]:
    """Not Python's gzip.open and bz2.open: the latter takes a damaged second member for the end of the file and says
    nothing. NUL padding after a gzip member is legal.
    """
    decoder: Decoder | None = None
    members = 0
    try:
        while data := file.read(CHUNK):
            while data:
                if decoder is None:
                    data = data.lstrip(b"\0") if codec == "gzip" and members else data
                    if not data:
                        break
                    decoder = _DECODERS[codec]()
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


def _pieces(decoder: Decoder, data: bytes) -> Iterator[bytes]:
    """What one piece of compressed data gives; returns when the decoder wants more or its member is complete."""
    out = decoder.decompress(data, CHUNK)
    yield out
    while not decoder.eof and not decoder.needs_input:
        yield decoder.decompress(b"", CHUNK)


def _blocks(file: BinaryIO, codec: Codec) -> Iterator[bytes]:
    """Of Hadoop's own form. A file of no bytes is empty, and a block of none ends a file."""
    expand = _unpack_lz4 if codec == "Hadoop lz4" else _unpack_snappy
    while head := file.read(4):
        left = _number(head, codec)
        if not left and file.read(1):  # Hadoop takes this for the end, and drops the rest without a word
            raise DamagedInput(f"its {codec} data goes on behind an empty block")
        while left:
            length = _number(file.read(4), codec)
            piece = file.read(length) if length <= _MOST_PIECE else b""
            if length <= _MOST_PIECE and len(piece) < length:
                raise DamagedInput(f"its {codec} data ends too early")
            text = expand(piece, left) if piece else b""
            if not text or len(text) > left:
                raise DamagedInput(f"its {codec} data is damaged (a piece of {length} bytes)")
            left -= len(text)
            yield text


def _number(data: bytes, codec: Codec) -> int:
    if len(data) < 4:
        raise DamagedInput(f"its {codec} data ends too early")
    return int.from_bytes(data, "big")


def _unpack_lz4(piece: bytes, most: int) -> bytes:
    cramjam: Any = importlib.import_module("cramjam")
    room = bytearray(min(most, _MOST_LZ4 * len(piece)))
    try:
        return bytes(room[:cramjam.lz4.decompress_block_into(piece, room)])
    except cramjam.DecompressionError as error:
        raise DamagedInput(f"its Hadoop lz4 data is damaged ({error})") from None


def _unpack_snappy(piece: bytes, most: int) -> bytes:
    cramjam: Any = importlib.import_module("cramjam")
    try:
        if cramjam.snappy.decompress_raw_len(piece) > min(most, _MOST_SNAPPY * len(piece)):
            return b""
        return bytes(cramjam.snappy.decompress_raw(piece))
    except cramjam.DecompressionError as error:
        raise DamagedInput(f"its Hadoop snappy data is damaged ({error})") from None


def compress(source: Path, target: Path, codec: Codec, check: Callable[[], None]) -> None:
    """Write a file's bytes as a compressed one, always the same bytes for the same text.

    check  called for each piece; may raise to stop. Raises OSError; ToolError HD054.
    """
    need(codec, str(target))
    with open(source, "rb") as plain, open(target, "xb") as packed:
        if codec in ("Hadoop lz4", "Hadoop snappy"):
            _write_blocks(plain, packed, codec, check)
            return
        encoder = _ENCODERS[codec]()
        while data := plain.read(CHUNK):
            check()
            packed.write(encoder.compress(data))
        packed.write(encoder.flush())


def _zstd_encoder() -> Any:
    module: Any = importlib.import_module("zstandard")
    return module.ZstdCompressor(level=3).compressobj()


# Levels are Hadoop's defaults.
_ENCODERS: dict[Codec, Callable[[], Any]] = {
    "gzip": lambda: zlib.compressobj(6, zlib.DEFLATED, 31), "deflate": lambda: zlib.compressobj(6, zlib.DEFLATED, 15),
    "bzip2": bz2.BZ2Compressor, "zstd": _zstd_encoder,
}


def _write_blocks(plain: BinaryIO, packed: BinaryIO, codec: Codec, check: Callable[[], None]) -> None:
    cramjam: Any = importlib.import_module("cramjam")
    empty = True
    while data := plain.read(BLOCK):
        check()
        empty = False
        piece = bytes(cramjam.snappy.compress_raw(data) if codec == "Hadoop snappy"
                      else cramjam.lz4.compress_block(data, store_size=False))
        packed.write(len(data).to_bytes(4, "big") + len(piece).to_bytes(4, "big") + piece)
    if empty:
        packed.write(bytes(4))
