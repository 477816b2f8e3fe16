"""Compressed files in Hadoop's own forms: what Hadoop wrote is read, what is written reads back, damage is told."""

from __future__ import annotations

import bz2
import gzip
import re
import sys
import zlib
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from heterodoop.errors import Limitation, ToolError
from heterodoop.storage import codecs
from heterodoop.storage.codecs import CLASSES, FORMS, DamagedInput, compress, decompressed
from heterodoop.storage.inputs import resolve

# Written by Lz4Codec and SnappyCodec of Hadoop 3.5.0 with buffers of 64 and 96 bytes: three writes, of which the second one
# is a block of several pieces.
TEXT = b"one two\n" + b" ".join([b"three"] * 17) + b"\nend\n"
LZ4 = bytes.fromhex(
    "0000000800000009806f6e652074776f0a00000066000000106f746872656520060012506872656520000000106f74687265652006001250"
    "6872656520000000076074687265650a0000000400000005" "40656e640a")
SNAPPY = bytes.fromhex(
    "000000080000000a081c6f6e652074776f0a000000660000000b3014746872656520a606000000000b3014746872656520a606000000000806"
    "1474687265650a0000000400000006040c656e640a")
HADOOPS = {"Hadoop lz4": LZ4, "Hadoop snappy": SNAPPY}
NOTHING = bytes(4)  # as Hadoop writes a file of no bytes
ALONE = {"gzip": gzip.decompress, "bzip2": bz2.decompress, "deflate": zlib.decompress,
         "zstd": lambda data: zstandard.ZstdDecompressor().decompressobj().decompress(data)}


def read(tmp_path: Path, data: bytes, codec: str) -> bytes:
    (tmp_path / "x").write_bytes(data)
    return b"".join(decompressed(str(tmp_path / "x"), codec))  # type: ignore[arg-type]


@pytest.mark.parametrize("codec", HADOOPS)
def test_what_hadoop_wrote(tmp_path: Path, codec: str) -> None:
    assert read(tmp_path, HADOOPS[codec], codec) == TEXT
    assert read(tmp_path, HADOOPS[codec] * 2 + NOTHING, codec) == TEXT * 2
    assert read(tmp_path, NOTHING, codec) == read(tmp_path, b"", codec) == b""


@pytest.mark.parametrize("codec", HADOOPS)
def test_every_truncation_is_an_error(tmp_path: Path, codec: str) -> None:
    packed = HADOOPS[codec]
    whole = {0, packed.index(b"\0\0\0\x66"), packed.index(b"\0\0\0\4\0\0\0")}  # where a block begins
    for size in range(len(packed)):
        if size in whole:
            assert TEXT.startswith(read(tmp_path, packed[:size], codec))
        else:
            with pytest.raises(DamagedInput, match=codec):
                read(tmp_path, packed[:size], codec)


@pytest.mark.parametrize("codec", HADOOPS)
@pytest.mark.parametrize(("damage", "said"), [
    (NOTHING + b"\0\0\0\1", "behind an empty block"), (b"\0\0\0\1\0\0\0\0", "a piece of 0 bytes"),
    (b"\0\0\0\1\xff\0\0\0x", "a piece of 4278190080 bytes"), (b"\0\0\0\1\0\0\0\1\xff", "damaged|too early"),
    (b"\x7f\xff\xff\xff\0\0\0\5\xff\xff\xff\xff\x07", "damaged|too early"),
])
def test_damage_is_told_and_takes_no_memory(tmp_path: Path, codec: str, damage: bytes, said: str) -> None:
    with pytest.raises(DamagedInput, match=said):
        read(tmp_path, damage, codec)


@pytest.mark.parametrize("codec", HADOOPS)
@given(at=st.integers(0, 60), bits=st.integers(1, 255))
@settings(max_examples=60)
def test_no_byte_makes_it_fail_otherwise(tmp_path: Path, codec: str, at: int, bits: int) -> None:
    packed = bytearray(HADOOPS[codec])
    packed[at] ^= bits
    try:
        text = read(tmp_path, bytes(packed), codec)
    except DamagedInput as error:
        assert codec in str(error)
    else:
        assert len(text) <= 1 << 20


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.codec)
@pytest.mark.parametrize("text", [b"", b"a\tb\n", b"the same words again\n" * 20_000], ids=["none", "line", "long"])
def test_what_is_written_reads_back(tmp_path: Path, form: codecs.Form, text: bytes) -> None:
    (tmp_path / "plain").write_bytes(text)
    compress(tmp_path / "plain", tmp_path / "packed", form.codec, lambda: None)
    packed = (tmp_path / "packed").read_bytes()
    assert read(tmp_path, packed, form.codec) == text and len(packed) < max(len(text), 50)
    if form.codec in ALONE:
        assert ALONE[form.codec](packed) == text
    elif not text:
        assert packed == NOTHING
    compress(tmp_path / "plain", tmp_path / "again", form.codec, lambda: None)
    assert (tmp_path / "again").read_bytes() == packed


def test_the_table_has_hadoops_names() -> None:
    assert {name.rpartition(".")[2]: form.suffix for name, form in CLASSES.items()} == {
        "GzipCodec": ".gz", "BZip2Codec": ".bz2", "DefaultCodec": ".deflate", "DeflateCodec": ".deflate",
        "ZStandardCodec": ".zst", "Lz4Codec": ".lz4", "SnappyCodec": ".snappy"}


@pytest.mark.parametrize(("suffix", "package"), [(".zst", "zstandard"), (".lz4", "cramjam"), (".snappy", "cramjam")])
def test_a_missing_package_is_named(tmp_path: Path, suffix: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    (tmp_path / f"x{suffix}").write_bytes(b"")
    with pytest.raises(ToolError, match=f"x{re.escape(suffix)}': the Python package {package} is missing") as caught:
        resolve([str(tmp_path)])
    assert caught.value.code == "HD054" and "heterodoop[codecs]" in caught.value.help


@pytest.mark.parametrize(("name", "magic"), [("x.lz4", b"\x04\x22\x4d\x18"), ("x.snappy", b"\xff\x06\0\0sNaPpY")])
def test_files_of_the_tools_are_told_apart(tmp_path: Path, name: str, magic: bytes) -> None:
    (tmp_path / name).write_bytes(magic + b"\0" * 20)
    with pytest.raises(Limitation, match="Hadoop's own form") as caught:
        resolve([str(tmp_path / name)])
    assert caught.value.code == "HD014" and " -d" in caught.value.help
