"""A compressed map output: each segment a stream of its own, checksums over what is stored, lengths as IFile wants them."""

from __future__ import annotations

import gzip
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from heterodoop.driver.job.codec import CODECS, compress

PACKAGE = "org.apache.hadoop.io.compress."


def ifile(folder: Path, raws: list[bytes]) -> tuple[Path, Path]:
    data, index = folder / "file.out", folder / "file.out.index"
    segments = [raw + zlib.crc32(raw).to_bytes(4, "big") for raw in raws]
    data.write_bytes(b"".join(segments))
    rows = b""
    at = 0
    for raw, segment in zip(raws, segments, strict=True):
        rows += struct.pack(">qqq", at, len(raw), len(segment))
        at += len(segment)
    index.write_bytes(rows + struct.pack(">q", zlib.crc32(rows)))
    return data, index


@pytest.mark.parametrize(("codec", "decode"), [
    ("DefaultCodec", zlib.decompress), ("DeflateCodec", zlib.decompress), ("GzipCodec", gzip.decompress),
])
def test_segments_decompress_to_what_they_were(tmp_path: Path, codec: str, decode: Callable[[bytes], bytes]) -> None:
    raws = [b"\xff\xff", b"abc" * 1_000_000 + b"\xff\xff", bytes(range(256)) * 30 + b"\xff\xff", b"\xff\xff"]
    data, index = ifile(tmp_path, raws)
    compress(data, index, PACKAGE + codec, lambda: None)
    stored, rows = data.read_bytes(), index.read_bytes()
    assert struct.unpack(">q", rows[-8:])[0] == zlib.crc32(rows[:-8]) and len(stored) < 100_000
    end = 0
    for raw, (start, raw_length, length) in zip(raws, struct.iter_unpack(">qqq", rows[:-8]), strict=True):
        body, crc = stored[start : start + length - 4], stored[start + length - 4 : start + length]
        assert (start, raw_length, crc) == (end, len(raw), zlib.crc32(body).to_bytes(4, "big"))
        assert decode(body) == raw
        end = start + length
    assert end == len(stored) and sorted(p.name for p in tmp_path.iterdir()) == ["file.out", "file.out.index"]


def test_no_codec_changes_nothing(tmp_path: Path) -> None:
    data, index = ifile(tmp_path, [b"\xff\xff"])
    before = data.read_bytes(), index.read_bytes()
    compress(data, index, "", lambda: None)
    assert (data.read_bytes(), index.read_bytes()) == before


def test_it_can_be_stopped(tmp_path: Path) -> None:
    data, index = ifile(tmp_path, [b"x" * 5_000_000])

    class Gone(Exception):
        pass

    def check() -> None:
        raise Gone

    with pytest.raises(Gone):
        compress(data, index, f"{PACKAGE}GzipCodec", check)


def test_a_file_that_became_shorter_is_an_error(tmp_path: Path) -> None:
    data, index = ifile(tmp_path, [b"x" * 100])
    data.write_bytes(b"x" * 50)
    with pytest.raises(OSError, match="shorter"):
        compress(data, index, f"{PACKAGE}GzipCodec", lambda: None)


def test_other_codecs_are_known_as_such() -> None:
    assert f"{PACKAGE}SnappyCodec" not in CODECS
