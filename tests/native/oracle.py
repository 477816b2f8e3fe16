"""What the collector must write, said in plain Python: partition, order, IFile and index (Hadoop 3, Text, no codec)."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path

Pair = tuple[bytes, bytes]
INDEX_ENTRY = struct.Struct(">qqq")


def partition_of(key: bytes, partitions: int) -> int:
    """Hadoop's HashPartitioner over a Text: hash of signed bytes in int32."""
    h = 1
    for byte in key:
        h = (31 * h + (byte - 256 if byte > 127 else byte)) & 0xFFFFFFFF
    return (h & 0x7FFFFFFF) % partitions


def sorted_partitions(pairs: Iterable[Pair], partitions: int) -> list[list[Pair]]:
    """The pairs of each partition, stably sorted by key."""
    cut: list[list[Pair]] = [[] for _ in range(partitions)]
    for pair in pairs:
        cut[partition_of(pair[0], partitions)].append(pair)
    return [sorted(part, key=lambda pair: pair[0]) for part in cut]


def vint(n: int) -> bytes:
    if -112 <= n <= 127:
        return struct.pack("b", n)
    magnitude = n if n >= 0 else ~n
    body = magnitude.to_bytes((magnitude.bit_length() + 7) // 8, "big")
    return struct.pack("b", (-112 if n >= 0 else -120) - len(body)) + body


def text(data: bytes) -> bytes:
    return vint(len(data)) + data


def segment(pairs: Iterable[Pair]) -> bytes:
    """One partition's bytes, with its end mark and checksum."""
    records = [(text(key), text(value)) for key, value in pairs]
    raw = b"".join(vint(len(key)) + vint(len(value)) + key + value for key, value in records) + b"\xff\xff"
    return raw + struct.pack(">I", zlib.crc32(raw))


def ifile(partitions: Sequence[Sequence[Pair]]) -> tuple[bytes, bytes]:
    """The bytes of a map output and of its index."""
    segments = [segment(pairs) for pairs in partitions]
    entries, start = b"", 0
    for data in segments:
        entries += INDEX_ENTRY.pack(start, len(data) - 4, len(data))
        start += len(data)
    return b"".join(segments), entries + struct.pack(">q", zlib.crc32(entries))


def read_ifile(path: Path) -> list[list[Pair]]:
    """The partitions of `path` and `path`.index; every length and checksum is asserted."""
    data, index = path.read_bytes(), Path(f"{path}.index").read_bytes()
    assert struct.unpack(">q", index[-8:])[0] == zlib.crc32(index[:-8])
    partitions: list[list[Pair]] = []
    end = 0
    for start, raw, part in INDEX_ENTRY.iter_unpack(index[:-8]):
        assert start == end and part == raw + 4
        end = start + part
        assert struct.unpack(">I", data[end - 4 : end])[0] == zlib.crc32(data[start : end - 4])
        partitions.append(_records(data[start : end - 4]))
    assert end == len(data)
    return partitions


def _take_vint(data: bytes, at: int) -> tuple[int, int]:
    first = struct.unpack_from("b", data, at)[0]
    if first >= -112:
        return first, at + 1
    size = -112 - first if first >= -120 else -120 - first
    magnitude = int.from_bytes(data[at + 1 : at + 1 + size], "big")
    return (magnitude if first >= -120 else ~magnitude), at + 1 + size


def _records(raw: bytes) -> list[Pair]:
    pairs: list[Pair] = []
    at = 0
    while True:
        key_size, at = _take_vint(raw, at)
        value_size, at = _take_vint(raw, at)
        if (key_size, value_size) == (-1, -1):
            assert at == len(raw)
            return pairs
        n, key_at = _take_vint(raw, at)
        assert key_at + n == at + key_size
        m, value_at = _take_vint(raw, at + key_size)
        assert value_at + m == at + key_size + value_size
        pairs.append((raw[key_at : key_at + n], raw[value_at : value_at + m]))
        at += key_size + value_size


def to_text(pairs: Iterable[Pair]) -> bytes:
    """As a filter writes or reads them."""
    return b"".join(key + b"\t" + value + b"\n" for key, value in pairs)
