"""What a file is by its bytes: every format by as little as makes it one, and texts that only begin like it."""

from __future__ import annotations

import bz2
import gzip
import lzma
import struct
import tarfile
import zipfile
from pathlib import Path

import pytest

from heterodoop.errors import Limitation
from heterodoop.storage.contents import content, look_at
from heterodoop.storage.inputs import resolve

TEXT = b"org.apache.hadoop.io.Text"
SEQUENCE = b"SEQ\x06" + (bytes([len(TEXT)]) + TEXT) * 2 + b"\0\0" + b"\0" * 40
OLD_SEQUENCE = b"SEQ\x03" + (struct.pack(">H", len(TEXT)) + TEXT) * 2 + b"\0" * 40
PARQUET = b"PAR1" + b"\x15\x00" * 30 + struct.pack("<I", 60) + b"PAR1"
AVRO = b"Obj\x01\x04\x16avro.schema\x08\"int\"\x14avro.codec\x08null\x00" + b"0123456789abcdef"
AVRO_SIZED = b"Obj\x01\x03\x40\x16avro.schema\x08\"int\"" + b"\0" * 40
ORC = b"ORC" + b"\0" * 50 + b"\x08\x10\x10\x00\x22\x02\x00\x0c\x82\xf4\x03\x03ORC" + b"\x0f"
CONTAINERS = {
    "a SequenceFile": SEQUENCE, "a Parquet file": PARQUET, "an Avro file": AVRO, "an ORC file": ORC,
    "an RCFile": b"RCF\x01\x00" + b"\0" * 20, "a 7z archive": b"7z\xbc\xaf\x27\x1c\0\4" + b"\0" * 20,
}
COMPRESSED = {
    "gzip": gzip.compress(b"x\n"), "bzip2": bz2.compress(b"x\n"), "xz": lzma.compress(b"x\n"),
    "zstd": b"\x28\xb5\x2f\xfd\x04\x08" + b"\0" * 9, "lz4": b"\x04\x22\x4d\x18\x64\x40\xa7" + b"\0" * 9,
    "snappy": b"\xff\x06\x00\x00sNaPpY\x01" + b"\0" * 9,
}
TEXTS = [
    b"ORC\nORC", b"ORCs are not elves\n", b"ORC" + b"x" * 60 + b"ORC\n", b"PAR1\n", b"PAR1" * 10, b"PAR1 a text\nPAR1",
    b"SEQ\n", b"SEQ 1 org.apache\n", b"SEQ\x06", b"SEQ\x06\x04a b \x04text", b"SEQ\x07" + SEQUENCE[4:], b"Obj\n", b"Obj\x01",
    b"Obj\x01\x00" + b"\0" * 20, b"Obj\x01 text\n", b"PK\n",
    b"PK\x03\x04 is how a zip begins\n", b"BZh9 is bzip2\n", b"7z\n",
    b"x" * 257 + b"ustar is the magic of tar\n", b"x" * 257 + b"ustar  word\n", b"x" * 200 + b"ustar\x0000",
    b"RCF 1\n", b"\xef\xbb\xbfword\n", b"x" * 600, b"\n",
]


def kind(data: bytes) -> tuple[str, str]:
    found = content(data[:512], data[-16:], len(data))
    return found.container, found.compressed


@pytest.mark.parametrize(("data", "name"), [
    *((data, name) for name, data in CONTAINERS.items()), (OLD_SEQUENCE, "a SequenceFile"), (AVRO_SIZED, "an Avro file"),
    (b"PARE" + PARQUET[4:-4] + b"PARE", "a Parquet file"),
])
def test_containers(data: bytes, name: str) -> None:
    assert kind(data) == (name, "")


@pytest.mark.parametrize("name", COMPRESSED)
def test_compressed_data(name: str) -> None:
    assert kind(COMPRESSED[name]) == ("", name)


@pytest.mark.parametrize("text", TEXTS)
def test_texts_are_texts(text: bytes) -> None:
    assert kind(text) == ("", "")


def test_every_part_of_a_container_but_the_whole_is_not_one() -> None:
    for name, data in CONTAINERS.items():
        assert [n for n in range(4) if kind(data[:n])[0]] == [], name
    assert kind(PARQUET[:-1]) == kind(ORC[:-1]) == ("", "")


@pytest.mark.parametrize("format", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_a_tar_archive_that_python_made(tmp_path: Path, format: int) -> None:
    (tmp_path / "in.txt").write_bytes(b"x\n")
    with tarfile.open(tmp_path / "a", "w", format=format) as archive:
        archive.add(tmp_path / "in.txt", "in.txt")
    assert look_at(str(tmp_path / "a"), (tmp_path / "a").stat().st_size).container == "a tar archive"


def test_an_archive_that_python_made(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a", "w") as archive:
        archive.writestr("in.txt", "x\n")
    assert look_at(str(tmp_path / "a"), (tmp_path / "a").stat().st_size).container == "a zip archive"


@pytest.mark.parametrize("name", CONTAINERS)
def test_a_container_is_refused_by_name_unless_it_is_meant(name: str, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "part-0").write_bytes(CONTAINERS[name])
    with pytest.raises(Limitation, match=rf"part-0' is {name}, and holds no lines") as caught:
        resolve([str(tmp_path / "in")])
    assert caught.value.code == "HD047" and "heterodoop.input.as.text=true" in caught.value.help
    assert len(resolve([str(tmp_path / "in")], as_text=True).files) == 1


def test_compressed_data_under_another_name_is_read_with_a_warning(tmp_path: Path) -> None:
    for name in ("a.GZ", "b.tgz", "c.bgz", "d", "good.gz"):
        (tmp_path / name).write_bytes(COMPRESSED["gzip"])
    (tmp_path / "e").write_bytes(COMPRESSED["zstd"])
    listing = resolve([str(tmp_path)])
    assert [f.codec for f in listing.files] == ["", "", "", "", "", "gzip"]
    first, second = listing.warnings
    assert (first.code, first.help) == ("HD050", "name the file *.gz") and "a.GZ' and 3 more: gzip data" in first.message
    assert (second.code, second.help) == ("HD050", "name the file *.zst") and "e': zstd data" in second.message


def test_text_of_wide_characters_is_read_with_a_warning(tmp_path: Path) -> None:
    for name, encoding in (("a", "utf-16-le"), ("b", "utf-16-be"), ("c", "utf-32-be"), ("d", "utf-8")):
        (tmp_path / name).write_bytes("\ufeffä b\n".encode(encoding))
    first, second = resolve([str(tmp_path)]).warnings
    assert first.code == second.code == "HD710" and first.help == "convert it first: iconv -f UTF-16 -t UTF-8 PATH > FILE"
    assert "a' and 1 more: UTF-16 text is read as the bytes that it is" in first.message
    assert "c': UTF-32 text" in second.message


def test_a_file_whose_size_is_not_told_is_refused() -> None:
    with pytest.raises(Limitation, match="/proc/self/status' holds data, and has the size 0") as caught:
        resolve(["/proc/self/status"])
    assert caught.value.code == "HD048" and "cat PATH > FILE" in caught.value.help
