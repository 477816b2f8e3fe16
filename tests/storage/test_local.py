"""Compressed inputs: every member, every damage."""

from __future__ import annotations

import bz2
import gzip
import os
import zlib
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from heterodoop.storage import codecs
from heterodoop.storage.codecs import DamagedInput, decompressed
from heterodoop.storage.local import Pump

PACK = {
    "gzip": gzip.compress, "bzip2": bz2.compress, "deflate": zlib.compress,
    "zstd": zstandard.ZstdCompressor(write_checksum=True).compress,
}
CODECS = sorted(PACK)


def text_of(path: Path, codec: str) -> bytes:
    return b"".join(decompressed(str(path), codec))  # type: ignore[arg-type]


@pytest.mark.parametrize("codec", CODECS)
@given(members=st.lists(st.binary(max_size=300), min_size=1, max_size=4), chunk=st.integers(1, 200))
@settings(max_examples=40)
def test_all_members_whatever_the_read_size(tmp_path: Path, codec: str, members: list[bytes], chunk: int):
    path = tmp_path / "x"
    path.write_bytes(b"".join(map(PACK[codec], members)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(codecs, "CHUNK", chunk)
        assert text_of(path, codec) == b"".join(members)


@pytest.mark.parametrize("codec", CODECS)
def test_a_big_text_from_a_small_file(tmp_path: Path, codec: str):
    data = b"abc\n" * 500_000
    (tmp_path / "x").write_bytes(PACK[codec](data))
    pieces = list(decompressed(str(tmp_path / "x"), codec))  # type: ignore[arg-type]
    assert b"".join(pieces) == data and max(map(len, pieces)) <= (codecs.CHUNK if codec != "zstd" else 64 << 20)


@pytest.mark.parametrize("codec", CODECS)
def test_every_truncation_is_an_error(tmp_path: Path, codec: str):
    packed = PACK[codec](b"one\n" * 10) + PACK[codec](b"two\n")
    first = len(PACK[codec](b"one\n" * 10))
    for size in range(len(packed)):
        (tmp_path / "x").write_bytes(packed[:size])
        if size == first:
            assert text_of(tmp_path / "x", codec) == b"one\n" * 10
        else:
            with pytest.raises(DamagedInput):
                text_of(tmp_path / "x", codec)


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("damage", [b"garbage behind the end", b"BZh9garbage", b"\x1f\x8b\x08garbage.........."])
def test_garbage_behind_a_member_is_an_error(tmp_path: Path, codec: str, damage: bytes):
    (tmp_path / "x").write_bytes(PACK[codec](b"one\n") + damage)
    with pytest.raises(DamagedInput, match=codec):
        text_of(tmp_path / "x", codec)


@pytest.mark.parametrize("codec", CODECS)
def test_a_flipped_byte_is_an_error(tmp_path: Path, codec: str):
    packed = bytearray(PACK[codec](bytes(range(256)) * 20))
    packed[len(packed) // 2] ^= 0x55
    (tmp_path / "x").write_bytes(packed)
    with pytest.raises(DamagedInput):
        text_of(tmp_path / "x", codec)


def test_padding_behind_a_gzip_member_is_legal(tmp_path: Path):
    (tmp_path / "x").write_bytes(gzip.compress(b"one\n") + bytes(1000) + gzip.compress(b"two\n") + bytes(600_000))
    assert text_of(tmp_path / "x", "gzip") == b"one\ntwo\n"


def pump(path: Path, codec: str) -> Pump:
    return Pump(decompressed(str(path), codec))  # type: ignore[arg-type]


def test_the_pump_fills_a_pipe(tmp_path: Path):
    data = os.urandom(3 << 20)
    (tmp_path / "x.gz").write_bytes(gzip.compress(data, 1))
    with pump(tmp_path / "x.gz", "gzip") as source, os.fdopen(os.dup(source.read_fd), "rb") as reader:
        assert reader.read() == data
    assert not source.error


def test_the_pump_says_what_was_wrong(tmp_path: Path):
    (tmp_path / "x.gz").write_bytes(gzip.compress(b"one\n")[:-4])
    with pump(tmp_path / "x.gz", "gzip") as source, os.fdopen(os.dup(source.read_fd), "rb") as reader:
        reader.read()
    assert source.damaged and "too early" in source.error
    with pump(tmp_path / "missing.gz", "gzip") as source, os.fdopen(os.dup(source.read_fd), "rb") as reader:
        assert reader.read() == b""
    assert not source.damaged and "No such file" in source.error


def test_a_reader_that_leaves_early_is_no_fault(tmp_path: Path):
    (tmp_path / "x.gz").write_bytes(gzip.compress(os.urandom(4 << 20), 1))
    with pump(tmp_path / "x.gz", "gzip") as source:
        os.read(source.read_fd, 10)
    assert not source.error and not source._thread.is_alive()
