"""What a file is by its own bytes: containers that are no lines of text, and compressed data that its name does not tell.

Enough of each format is looked at that no text is taken for one: a word like ORC at the start of a file says nothing.
Formats: SequenceFile.java of Hadoop; the specifications of Parquet, Avro 1.11 (Object Container Files) and ORC v1; the
magic numbers of the rest.
"""

from __future__ import annotations

import os
import re
from typing import NamedTuple

_HEAD, _TAIL = 512, 16
_CLASS = rb"[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*"
_SEQUENCE_VERSIONS = 6
_ORC_END = b"\x82\xf4\x03\x03ORC"  # field 8000 of the postscript, its magic; the postscript's length follows
_PARQUET = (b"PAR1", b"PARE")
_AVRO = b"Obj\x01"
_FIRST = "make lines of it first"

# What such bytes are -> how they begin.
_CONTAINERS: dict[str, re.Pattern[bytes]] = {
    "a zip archive": re.compile(rb"PK\x03\x04[\x00-\x3f]\x00..[\x00-\x63]\x00", re.DOTALL),
    "a tar archive": re.compile(rb"[^\x00\n].{256}ustar(?:\x0000|  \x00)", re.DOTALL),
    "a 7z archive": re.compile(rb"7z\xbc\xaf\x27\x1c"),
    "an RCFile": re.compile(rb"RCF\x01[\x00\x01]"),
    "an Arrow file": re.compile(rb"ARROW1\x00\x00"),
    "an HDF5 file": re.compile(rb"\x89HDF\r\n\x1a\n"),
}
_COMPRESSED: dict[str, re.Pattern[bytes]] = {
    "gzip": re.compile(rb"\x1f\x8b\x08[\x00-\x1f]"),
    "bzip2": re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"),
    "zstd": re.compile(rb"\x28\xb5\x2f\xfd"),
    "xz": re.compile(rb"\xfd7zXZ\x00"),
    "lz4": re.compile(rb"\x04\x22\x4d\x18"),
    "snappy": re.compile(rb"\xff\x06\x00\x00sNaPpY"),
    "lzop": re.compile(rb"\x89LZO\x00\r\n\x1a\n"),
    "compress": re.compile(rb"\x1f\x9d[\x80-\x9f]"),
}
_WIDE = {b"\xff\xfe\0\0": "UTF-32", b"\0\0\xfe\xff": "UTF-32", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}  # longest first


class Content(NamedTuple):
    """container   "a Parquet file" and the like: it holds no lines. "" for everything else.
    compressed  the format of data that is compressed, "" for everything else.
    text        how a container becomes lines, as an error says it.
    wide        "UTF-16" and the like: a text's encoding, where its byte order mark says so. "" for everything else.
    empty       there is nothing in it, whatever size the system gives.
    """

    container: str = ""
    compressed: str = ""
    text: str = ""
    wide: str = ""
    empty: bool = False


def look_at(path: str, size: int) -> Content:
    """What the file's first and last bytes say. `size`: of the file. Raises OSError."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)  # a job may have thousands: no object for each
    try:
        head = os.read(file, _HEAD)
        tail = os.pread(file, _TAIL, max(size - _TAIL, 0)) if size > len(head) else head
    finally:
        os.close(file)
    return content(head, tail, size)


def content(head: bytes, tail: bytes, size: int) -> Content:
    """As `look_at`. `tail`: the last bytes of the file, 16 or all."""
    if not head:
        return Content(empty=True)
    if _is_sequence_file(head):
        return Content("a SequenceFile", text="-inputformat SequenceFileAsTextInputFormat reads its records as lines")
    if head.startswith(_AVRO) and _avro_metadata(head[len(_AVRO):]):
        return Content("an Avro file", text=f"{_FIRST} (hadoop fs -text PATH > FILE)")
    if _is_parquet(head, tail, size):
        return Content("a Parquet file", text=f"{_FIRST} (parquet cat PATH > FILE)")
    if head.startswith(b"ORC") and tail[-8:-1] == _ORC_END:
        return Content("an ORC file", text=f"{_FIRST} (orc-contents PATH > FILE)")
    for name, begins in _CONTAINERS.items():
        if begins.match(head):
            return Content(name, text=_FIRST)
    wide = next((name for mark, name in _WIDE.items() if head.startswith(mark)), "")
    return Content(compressed=next((name for name, begins in _COMPRESSED.items() if begins.match(head)), ""), wide=wide)


def _is_sequence_file(head: bytes) -> bool:
    """SEQ, a version, the names of the classes of key and value: each behind its length, of one byte or (before 4) two."""
    if head[:3] != b"SEQ" or len(head) < 5 or head[3] > _SEQUENCE_VERSIONS:
        return False
    at = 4
    for _ in range(2):
        width = 1 if head[3] >= 4 else 2
        length = int.from_bytes(head[at:at + width], "big")
        name = head[at + width:at + width + length]
        if length > 127 or not re.fullmatch(_CLASS, name):
            return False
        at += width + length
    return True


def _avro_metadata(data: bytes) -> bool:
    """A map of at least one entry, whose first key is a word."""
    count, at = _zigzag(data, 0)
    if count < 0:
        _, at = _zigzag(data, at)
    length, at = _zigzag(data, at)
    key = data[at:at + max(length, 0)]
    return count != 0 and 0 < length == len(key) and re.fullmatch(rb"[\x21-\x7e]+", key) is not None


def _zigzag(data: bytes, at: int) -> tuple[int, int]:
    """The number at this place and the place behind it; (0, end) where there is none."""
    value = shift = 0
    while at < len(data) and shift < 64:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return (value >> 1) ^ -(value & 1), at
    return 0, len(data)


def _is_parquet(head: bytes, tail: bytes, size: int) -> bool:
    """The magic at both ends, and a footer between them that is as long as it says."""
    if head[:4] not in _PARQUET or tail[-4:] != head[:4] or size < 12:
        return False
    return 0 < int.from_bytes(tail[-8:-4], "little") <= size - 12
