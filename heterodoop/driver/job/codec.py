"""A map output compressed as Hadoop's codec would: each segment for itself, with a new index.

Not here: codecs that need a library (Snappy, LZ4, ZStandard), whose jobs run their maps on the CPU.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

_PIECE = 1 << 20
_ENTRY = struct.Struct(">qqq")
_CRC_BYTES = 4
_PACKAGE = "org.apache.hadoop.io.compress."
# Class -> zlib's window bits: 15 = a zlib stream, 31 = a gzip stream; 0 = as it is.
CODECS = {"": 0, f"{_PACKAGE}DefaultCodec": 15, f"{_PACKAGE}DeflateCodec": 15, f"{_PACKAGE}GzipCodec": 31}


def compress(data: Path, index: Path, codec: str, check: Callable[[], None]) -> None:
    """Replace a checked map output without a codec by the same with one. `check` is called meanwhile, and may raise.

    IFile: body(p) = codec(raw(p)), then the CRC-32 of the body, big-endian; partLength counts both. Raises OSError.
    """
    if not CODECS[codec]:
        return
    rows = list(_ENTRY.iter_unpack(index.read_bytes()[:-8]))
    target = data.with_name(data.name + ".codec")
    with open(data, "rb") as source, open(target, "wb") as out:
        made = []
        at = 0
        for start, raw, _ in rows:
            source.seek(start)
            size = _segment(source, raw, out, CODECS[codec], check)
            made.append((at, raw, size))
            at += size
    body = b"".join(_ENTRY.pack(*row) for row in made)
    index.write_bytes(body + struct.pack(">q", zlib.crc32(body)))
    os.replace(target, data)


def _segment(source: BinaryIO, raw: int, out: BinaryIO, bits: int, check: Callable[[], None]) -> int:
    encoder = zlib.compressobj(wbits=bits)
    crc = size = 0

    def put(packed: bytes) -> None:
        nonlocal crc, size
        crc = zlib.crc32(packed, crc)
        size += len(packed)
        out.write(packed)

    while raw:
        check()
        piece = source.read(min(raw, _PIECE))
        if not piece:
            raise OSError("the map output became shorter")
        raw -= len(piece)
        put(encoder.compress(piece))
    put(encoder.flush())
    out.write(crc.to_bytes(_CRC_BYTES, "big"))
    return size + _CRC_BYTES
