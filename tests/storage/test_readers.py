"""Text of lines with keys, and of SequenceFiles: whatever the splits, and damage at every place. That it is Hadoop's text,
and that Hadoop's own SequenceFiles are read, is in tests/keys/test_streaming.py."""

from __future__ import annotations

import bz2
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from heterodoop.errors import Limitation
from heterodoop.storage import readers, sequence_file
from heterodoop.storage.codecs import DamagedInput
from heterodoop.storage.inputs import resolve
from heterodoop.storage.local import InputFile
from heterodoop.storage.readers import LongRecord, Reader

LINES = b"\xef\xbb\xbfone\t1\r\ntwo\n\n\xef\xbb\xbf\r\r\nfive\t5\tv\r=\nend"
OFFSETS = b"0\tone\t1\n10\ttwo\n14\t\n15\t\xef\xbb\xbf\n19\t\n21\tfive\t5\tv\n30\t=\n32\tend\n"
PARTED = b"one\t1\ntwo\t\n\t\n\xef\xbb\xbf\t\n\t\nfive\t5\tv\n=\t\nend\t\n"
SYNC = bytes(range(200, 216))
DEFAULT, BZIP2 = "org.apache.hadoop.io.compress.DefaultCodec", "org.apache.hadoop.io.compress.BZip2Codec"
RECORDS = [(b"Ulm", 1), (b"\xef\xbb\xbf\n\t\r", -2), (b"", 300), (b"\xff", -70_000), (b"x" * 200, 2**31 - 1)]
TEXT = b"Ulm\t1\n\xef\xbb\xbf\n\t\r\t-2\n\t300\n\xef\xbf\xbd\t-70000\n" + b"x" * 200 + b"\t2147483647\n"


def in_splits(reader: Reader, path: Path, size: int, data: bytes) -> bytes:
    path.write_bytes(data)
    file = InputFile(str(path), len(data))
    texts = [b"".join(reader.text(file, at, min(size, len(data) - at))) for at in range(0, len(data), size)]
    return b"".join(text[3:] if text.startswith(readers.MARK) else text for text in texts)


@pytest.mark.parametrize(("reader", "wanted"), [(Reader("lines"), OFFSETS), (Reader("key value"), PARTED)])
def test_lines_are_the_same_whatever_the_splits(
    reader: Reader, wanted: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    for chunk in (1, 3, 100):
        monkeypatch.setattr(readers, "CHUNK", chunk)
        for size in range(1, len(LINES) + 1):
            assert in_splits(reader, tmp_path / "x", size, LINES) == wanted, (chunk, size)


def test_what_ends_a_key_and_what_stands_in_its_place(tmp_path: Path) -> None:
    def of(**options: object) -> bytes:
        return in_splits(Reader("key value", **options), tmp_path / "x", 1000, b"a=b=\n=\r\nc\\d\n")  # type: ignore[arg-type]

    assert of(separator=b"=", between=rb"\1") == b"a\\1b=\n\\1\nc\\d\\1\n"
    assert of(separator=b"\\", between=b"=") == b"a=b==\n==\nc=d\n"
    assert of(separator=b"\n") == b"a=b=\t\n=\t\nc\\d\t\n"
    assert of(separator=b"=", keys=False) == b"b=\n\n\n"
    assert of(separator=b"=", skip_from=4) == b"\t\n", "ends count"


def test_a_line_that_is_too_long(tmp_path: Path) -> None:
    with pytest.raises(LongRecord, match=r"begins at byte 4 has no end within 9 bytes"):
        in_splits(Reader("lines", line_max=9), tmp_path / "x", 100, b"one\n" + b"x" * 10)


def number(value: int) -> bytes:
    return value.to_bytes(4, "big", signed=True)


def vint(value: int) -> bytes:
    return bytes([value]) if value < 128 else b"\x8e" + value.to_bytes(2, "big")


def string(text: bytes) -> bytes:
    return vint(len(text)) + text


def head(version: int = 6, key: str = "Text", value: str = "IntWritable", codec: str = "", blocks: bool = False) -> bytes:
    classes = b"".join(string(f"org.apache.hadoop.io.{name}".encode()) for name in (key, value))
    packed = string(codec.encode()) if codec and version >= 5 else b""
    metadata = number(1) + string(b"made") + string(b"here") if version >= 6 else b""
    return b"SEQ" + bytes([version]) + classes + bytes([bool(codec), blocks]) + packed + metadata + SYNC


def records(pack: Callable[[bytes], bytes] = bytes) -> bytes:
    """A marker before every second one."""
    out = b""
    for place, (key, value) in enumerate(RECORDS):
        body = string(key) + pack(number(value))
        out += (number(-1) + SYNC) * (place % 2) + number(len(body)) + number(len(string(key))) + body
    return out


def blocks(pack: Callable[[bytes], bytes]) -> bytes:
    out = b""
    for part in (RECORDS[:2], RECORDS[2:]):
        keys, values = [string(key) for key, _ in part], [number(value) for _, value in part]
        parts = [pack(b"".join(one)) for one in ([vint(len(key)) for key in keys], keys, [vint(4)] * len(part), values)]
        out += number(-1) + SYNC + vint(len(part)) + b"".join(map(string, parts))
    return out


FILES = {
    "plain": head() + records(), "version 5": head(5) + records(),
    "version 4": head(4, codec=DEFAULT) + records(zlib.compress),
    "packed records": head(codec=BZIP2) + records(bz2.compress),
    "blocks": head(codec=DEFAULT, blocks=True) + blocks(zlib.compress),
}


@pytest.mark.parametrize("name", FILES)
def test_sequence_files_are_the_same_whatever_the_splits(name: str, tmp_path: Path) -> None:
    for size in range(16, len(FILES[name]) + 1, 17):
        assert in_splits(Reader("sequence text"), tmp_path / "x", size, FILES[name]) == TEXT, size


@pytest.mark.parametrize("name", FILES)
def test_a_sequence_file_that_ends_early_is_an_error(name: str, tmp_path: Path) -> None:
    whole = 0
    for size in range(len(head()) - 30, len(FILES[name]), 2):
        try:
            text = in_splits(Reader("sequence text"), tmp_path / "x", size, FILES[name][:size])
        except DamagedInput as error:
            assert "damaged at byte " in str(error)
            continue
        whole += 1
        assert TEXT.startswith(text) and (not text or text.endswith(b"\n"))
    assert whole < 8, "only where a record, a marker or a block ends"


@pytest.mark.parametrize(("data", "why"), [
    (head() + number(-1) + b"x" * 16, f"byte {len(head()) + 4}: there is another sync marker"),
    (head() + number(5) + number(6) + b"x" * 5, "a record of 5 bytes has a key of 6"),
    (head() + number(-2) + number(0), "a record of -2 bytes"),
    (head() + number(6) + number(2) + b"\5xabcd", f"byte {len(head())}: a text of 5 bytes has 1"),
    (head() + number(4) + number(2) + b"\1xab", "a number of 4 bytes has 2"),
    (head(codec=DEFAULT) + number(6) + number(2) + b"\1xabcd", f"byte {len(head(codec=DEFAULT))}: its deflate data"),
    (head(codec=DEFAULT, blocks=True) + number(7), "there is no sync marker where a block begins"),
    (head(codec=DEFAULT, blocks=True) + number(-1) + SYNC + b"\1" + string(zlib.compress(b"\3")) * 4, "has other keys or"),
])
def test_a_damaged_sequence_file(data: bytes, why: str, tmp_path: Path) -> None:
    with pytest.raises(DamagedInput) as caught:
        in_splits(Reader("sequence text"), tmp_path / "x", 1 << 20, data)
    assert why in str(caught.value)


def test_a_record_that_is_too_long(tmp_path: Path) -> None:
    for name in ("plain", "blocks"):
        with pytest.raises(DamagedInput, match="and 100 at most are read") as caught:
            in_splits(Reader("sequence", line_max=100), tmp_path / "x", 1 << 20, FILES[name])
        assert caught.value.code == "HD051"


@pytest.mark.parametrize(("data", "why"), [
    (b"", "is no SequenceFile"), (b"one\n", "is no SequenceFile"),
    (head(7), "is a SequenceFile of version 7: those of 4 to 6 are read"),
    (head(value="FloatWritable"), "has values of the class org.apache.hadoop.io.FloatWritable"),
    (head(codec="my.Codec"), "is compressed by my.Codec: there is no such codec here"),
    (head()[:50], ": the SequenceFile is damaged at byte "),
])
def test_what_the_formats_do_not_read_is_refused_before_the_job(data: bytes, why: str, tmp_path: Path) -> None:
    (tmp_path / "x.xz").write_bytes(data)
    with pytest.raises(Limitation) as caught:
        resolve([str(tmp_path / "x.xz")], sequence=True)
    assert caught.value.code == "HD056" and caught.value.message.startswith(f"the input {str(tmp_path / 'x.xz')!r}")
    assert why in caught.value.message


def test_texts_that_are_no_utf_8_as_java_has_them() -> None:
    """What Hadoop makes of more of them is in tests/keys."""
    one = "\ufffd".encode()
    for data, wanted in {b"\xed\xa0\x80x": one + b"x", b"\xed\xa0": one, b"\xed\xa0A": one + b"A", b"\xf5\x80": one * 2,
                         b"\xe1\x80x": one + b"x", b"\xed\x41": one + b"A"}.items():
        assert sequence_file._decoded(string(data)) == wanted
