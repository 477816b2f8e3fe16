"""Hadoop's SequenceFiles: what is in the header, and keys and values as Hadoop Streaming hands them to a filter.

SequenceFile.java and SequenceFileRecordReader.java of Hadoop 3.5.0: records, values compressed one by one, and blocks. A
record belongs to the split that has the sync marker before it. Versions 4 to 6, which is what was written since 2006; keys
and values of those of Hadoop's own classes that have one form as text, whatever the Java (Java's text of a float differs).

Here a damaged file is always an error, with the byte where it is. Hadoop takes a block that is cut off for the file's end.
"""

from __future__ import annotations

import codecs as python_codecs
import io
import os
from collections.abc import Callable, Iterator
from typing import BinaryIO, NamedTuple

from . import codecs
from .codecs import CHUNK, Codec, DamagedInput

SYNC_INTERVAL = 100 * 1024  # bytes from marker to marker at least, and of the least split
_FIRST, _LAST = 4, 6
_WITH_CODEC, _WITH_METADATA = 5, 6
_SYNC = 16
_ESCAPE = b"\xff\xff\xff\xff"
_MOST = 256 << 20  # bytes of a part of a block, decompressed
_DEFAULT = "org.apache.hadoop.io.compress.DefaultCodec"
_IO = "org.apache.hadoop.io."


class CannotRead(Exception):
    """A file that is no SequenceFile, or one of a kind that is not read here; the message says what of it."""


class Header(NamedTuple):
    """key, value: Java classes. codec: "" = nothing is compressed. end: the byte where records begin."""

    key: str
    value: str
    blocks: bool
    codec: Codec
    sync: bytes
    end: int


def header(path: str) -> Header:
    """Raises CannotRead, DamagedInput, OSError; ToolError HD054: the codec's package is missing."""
    with open(path, "rb") as file:
        return _header(_Bytes(file, os.fstat(file.fileno()).st_size), path)


def text(
    path: str, start: int, length: int, between: bytes | None, as_text: bool, most: int,
) -> Iterator[bytes]:
    """Records of the split of these bytes: key, `between`, value and a newline; without `between` no key.

    as_text  as SequenceFileAsTextInputFormat has them; else as SequenceFileInputFormat.
    most     bytes of the longest record; 0: no limit.
    Raises DamagedInput, CannotRead, OSError.
    """
    with open(path, "rb", buffering=CHUNK) as file:
        data = _Bytes(file, os.fstat(file.fileno()).st_size)
        head = _header(data, path)
        key, value = (_TEXTS[name] if as_text else _RAW[name] for name in (head.key, head.value))
        records = _blocks if head.blocks else _records
        out: list[bytes] = []
        size = 0
        for at, one, other in records(data, head, start, start + length, most or _MOST):
            try:
                line = value(other) + b"\n"
                if between is not None:
                    line = key(one) + between + line
            except _Bad as error:
                raise _damage(at, str(error)) from None
            out.append(line)
            size += len(line)
            if size >= CHUNK:
                yield b"".join(out)
                out, size = [], 0
        yield b"".join(out)


class _Bad(Exception):
    """Bytes that are no value of their class."""


def _damage(at: int, why: str) -> DamagedInput:
    return DamagedInput(f"the SequenceFile is damaged at byte {at}: {why}")


class _Bytes:
    """A file that is read from its begin to its end, and how far that is."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file, self.size, self.at = file, size, 0

    def seek(self, at: int) -> None:
        self._file.seek(at)
        self.at = at

    @property
    def ended(self) -> bool:
        return self.at >= self.size

    def take(self, count: int, what: str) -> bytes:
        data = self._file.read(count) if 0 <= count <= self.size - self.at else b""
        if len(data) != count:
            raise _damage(self.at, f"{what} has {count} bytes, and the file {self.size - self.at} more")
        self.at += count
        return data

    def number(self, what: str) -> int:
        return int.from_bytes(self.take(4, what), "big", signed=True)

    def vint(self, what: str) -> int:
        data = self.take(1, what)
        return _vint(data + self.take(_more(data[0]), what), 0)[0]

    def string(self, what: str) -> str:
        return self.take(self.vint(what), what).decode("utf-8", "replace")

    def marker(self, sync: bytes) -> None:
        at = self.at
        if self.take(_SYNC, "a sync marker") != sync:
            raise _damage(at, "there is another sync marker than the header's")

    def find(self, sync: bytes, place: int) -> None:
        """Go to the first escape with the marker that begins at `place` or behind it, or to the end."""
        self.seek(min(place + len(_ESCAPE), self.size))
        kept, begin = b"", self.at
        while piece := self._file.read(CHUNK):
            found = (kept + piece).find(sync)
            if found >= 0:
                self.seek(begin + found - len(_ESCAPE))
                return
            whole = kept + piece
            kept = whole[-(_SYNC - 1):]
            begin += len(whole) - len(kept)
        self.seek(self.size)


def _header(data: _Bytes, path: str) -> Header:
    if data.size < 4 or data.take(3, "the header") != b"SEQ":
        raise CannotRead("is no SequenceFile")
    version = data.take(1, "the header")[0]
    if not _FIRST <= version <= _LAST:
        raise CannotRead(f"is a SequenceFile of version {version}: those of {_FIRST} to {_LAST} are read")
    key, value = data.string("the key's class"), data.string("the value's class")
    packed, blocks = data.take(2, "the header")
    name = data.string("the codec's class") if packed and version >= _WITH_CODEC else _DEFAULT
    if version >= _WITH_METADATA:
        for _ in range(2 * max(0, data.number("the metadata"))):
            data.string("the metadata")
    sync = data.take(_SYNC, "a sync marker")
    for role, found in (("keys", key), ("values", value)):
        if found not in _TEXTS:
            known = ", ".join(one.removeprefix(_IO) for one in _TEXTS)
            raise CannotRead(f"has {role} of the class {found}: those of {_IO} that are read are {known}")
    form = codecs.CLASSES.get(name)
    if packed and form is None:
        raise CannotRead(f"is compressed by {name}: there is no such codec here")
    if packed and form:
        codecs.need(form.codec, f"the input {path!r}")
    return Header(key, value, bool(blocks), form.codec if packed and form else "", sync, data.at)


def _begin(data: _Bytes, head: Header, start: int) -> None:
    if start <= head.end:
        data.seek(head.end)
    else:
        data.find(head.sync, start)


def _records(data: _Bytes, head: Header, start: int, end: int, most: int) -> Iterator[tuple[int, bytes, bytes]]:
    """Place, key and value, both as they are in the file."""
    _begin(data, head, start)
    if data.at >= end:
        return
    while not data.ended:
        at = data.at
        length = data.number("a record's length")
        if length == -1:
            data.marker(head.sync)
            if at >= end or data.ended:
                return
            length = data.number("a record's length")
        of_key = data.number("a key's length")
        if not 0 <= of_key <= length:
            raise _damage(at, f"a record of {length} bytes has a key of {of_key}")
        if length > most:
            raise _too_long(at, length, most)
        record = data.take(length, "a record")
        value = record[of_key:]
        yield at, record[:of_key], _expanded(value, head.codec, at, most) if head.codec else value


def _blocks(data: _Bytes, head: Header, start: int, end: int, most: int) -> Iterator[tuple[int, bytes, bytes]]:
    """The same, of blocks of records."""
    _begin(data, head, start)
    while not data.ended and data.at < end:
        at = data.at
        if data.take(4, "a block") != _ESCAPE:
            raise _damage(at, "there is no sync marker where a block begins")
        data.marker(head.sync)
        count = data.vint("a block's number of records")
        parts = []
        for name in ("lengths of keys", "keys", "lengths of values", "values"):
            part = data.take(data.vint(f"a block's {name}"), f"a block's {name}")
            parts.append(_expanded(part, head.codec, at, max(most, _MOST)))
        keys, values = _cut(at, count, *parts[:2]), _cut(at, count, *parts[2:])
        for key, value in zip(keys, values, strict=True):
            if len(key) + len(value) > most:
                raise _too_long(at, len(key) + len(value), most)
            yield at, key, value


def _cut(at: int, count: int, lengths: bytes, data: bytes) -> list[bytes]:
    found, place, begin = [], 0, 0
    try:
        for _ in range(count):
            length, place = _vint(lengths, place)
            if not 0 <= length <= len(data) - begin:
                raise _Bad
            found.append(data[begin:begin + length])
            begin += length
    except _Bad:
        begin = -1
    if begin != len(data) or place != len(lengths):
        raise _damage(at, "a block has other keys or values than it says")
    return found


def _too_long(at: int, length: int, most: int) -> DamagedInput:
    error = DamagedInput(f"the record at byte {at} has {length} bytes, and {most} at most are read")
    error.code = "HD051"
    return error


def _expanded(data: bytes, codec: Codec, at: int, most: int) -> bytes:
    pieces, size = [], 0
    try:
        for piece in codecs.of_file(io.BytesIO(data), codec):
            pieces.append(piece)
            size += len(piece)
            if size > most:
                raise _too_long(at, size, most)
    except DamagedInput as error:
        if error.code != DamagedInput.code:
            raise
        raise _damage(at, str(error)) from None
    return b"".join(pieces)


def _more(first: int) -> int:
    """Bytes behind the first one of a number as WritableUtils writes it."""
    if first <= 0x7F or first >= 0x90:
        return 0
    return 0x88 - first if first < 0x88 else 0x90 - first


def _vint(data: bytes, at: int) -> tuple[int, int]:
    """The number at this place, and the place behind it. Raises _Bad."""
    if at >= len(data):
        raise _Bad("a number has no bytes")
    first, behind = data[at], at + 1 + _more(data[at])
    if behind == at + 1:
        return first - (first >> 7 << 8), behind
    if behind > len(data):
        raise _Bad("a number ends too early")
    value = int.from_bytes(data[at + 1:behind], "big")
    return (~value if first < 0x88 else value), behind


def _of_text(data: bytes) -> bytes:
    length, at = _vint(data, 0)
    if length != len(data) - at:
        raise _Bad(f"a text of {length} bytes has {len(data) - at}")
    return data[at:]


def _decoded(data: bytes) -> bytes:
    """What Java makes of a text that is no UTF-8: U+FFFD in the place of what it cannot read."""
    found = _of_text(data)
    try:
        found.decode()
    except UnicodeDecodeError:
        return found.decode("utf-8", _AS_JAVA).encode()
    return found


def _replaced(error: UnicodeError) -> tuple[str, int]:
    """Python replaces each byte of an encoded surrogate, Java all that are there of the three."""
    assert isinstance(error, UnicodeDecodeError)
    data, at = error.object, error.start
    if data[at] != 0xED or not 0xA0 <= int.from_bytes(data[at + 1:at + 2], "big") <= 0xBF:
        return "\ufffd", error.end
    return "\ufffd", at + 2 + (at + 2 < len(data) and data[at + 2] & 0xC0 == 0x80)


_AS_JAVA = "utf-8-as-java"
python_codecs.register_error(_AS_JAVA, _replaced)


def _of_bytes(data: bytes) -> bytes:
    if int.from_bytes(data[:4], "big", signed=True) != len(data) - 4:
        raise _Bad("a BytesWritable has another length than it says")
    return data[4:]


def _fixed(width: int) -> Callable[[bytes], bytes]:
    def number(data: bytes) -> bytes:
        if len(data) != width:
            raise _Bad(f"a number of {width} bytes has {len(data)}")
        return b"%d" % int.from_bytes(data, "big", signed=True)

    return number


def _variable(data: bytes) -> bytes:
    value, behind = _vint(data, 0)
    if behind != len(data):
        raise _Bad("a number has other bytes than it says")
    return b"%d" % value


def _boolean(data: bytes) -> bytes:
    if len(data) != 1:
        raise _Bad(f"a BooleanWritable of 1 byte has {len(data)}")
    return b"true" if data[0] else b"false"


def _null(data: bytes) -> bytes:
    if data:
        raise _Bad(f"a NullWritable has {len(data)} bytes")
    return b"(null)"


# Class -> what its bytes in the file are to a filter.
_TEXTS: dict[str, Callable[[bytes], bytes]] = {
    f"{_IO}Text": _decoded, f"{_IO}BytesWritable": lambda data: _of_bytes(data).hex(" ").encode(),
    f"{_IO}IntWritable": _fixed(4), f"{_IO}LongWritable": _fixed(8), f"{_IO}VIntWritable": _variable,
    f"{_IO}VLongWritable": _variable, f"{_IO}ShortWritable": _fixed(2), f"{_IO}ByteWritable": _fixed(1),
    f"{_IO}BooleanWritable": _boolean, f"{_IO}NullWritable": _null,
}
_RAW = {**_TEXTS, f"{_IO}Text": _of_text, f"{_IO}BytesWritable": _of_bytes}
