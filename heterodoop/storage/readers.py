"""Input formats: the text that a map filter reads of a split, where that is not the lines of the file as they are.

As Hadoop Streaming has it: the format's record reader makes key and value, PipeMapper and TextInputWriter write them, a
separator between them and a newline behind. Lines are those of Hadoop's LineRecordReader with the three line ends, keys of
lines the offsets where they begin. Not here: where splits end (executor/task/split.py), SequenceFiles (sequence_file.py),
lines without keys, which the native runtime reads itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from . import sequence_file
from .codecs import CHUNK, DamagedInput, decompressed
from .local import InputFile

# lines: the key is the line's offset. key value: KeyValueTextInputFormat. sequence text: SequenceFileAsTextInputFormat.
# sequence: SequenceFileInputFormat, whose Text and BytesWritable are written as the bytes that they are.
Form = Literal["lines", "key value", "sequence text", "sequence"]

MARK = b"\xef\xbb\xbf"  # a byte order mark
_LINE = re.compile(rb"([^\r\n]*)(?:\r\n|\r|\n|\Z)")
_END = re.compile(rb"\r\n|\r|\n")


class LongRecord(DamagedInput):
    """A record longer than heterodoop.line.max.bytes."""

    code = "HD051"


class Reader(NamedTuple):
    """What makes text of a split's records.

    keys       the filter reads key, `between` and value; else the value alone.
    separator  byte that ends the key of a line, of the form "key value".
    skip_from  lines of so many bytes, their ends included, are passed over; 0: none is.
    line_max   bytes of the longest record; 0: no limit.
    """

    form: Form
    keys: bool = True
    between: bytes = b"\t"
    separator: bytes = b"\t"
    skip_from: int = 0
    line_max: int = 0

    @property
    def of_sequence_files(self) -> bool:
        return self.form in ("sequence", "sequence text")

    def text(self, file: InputFile, start: int, length: int) -> Iterator[bytes]:
        """Of the split's records, in pieces; a newline ends each. Raises DamagedInput, OSError.

        A mark at its beginning is doubled: whoever reads text takes one away there, and this one is a record's.
        """
        if self.of_sequence_files:
            most, as_text = self.line_max, self.form == "sequence text"
            pieces = sequence_file.text(file.path, start, length, self.between if self.keys else None, as_text, most)
        else:
            records = _of_split(file, start, length, self.line_max)
            pieces = self._keyed(records) if self.form == "lines" else self._parted(records)
        return _doubled_mark(pieces)

    def _keyed(self, records: Iterable[tuple[int, bytes]]) -> Iterator[bytes]:
        """Offset, separator, line."""
        limit = self.skip_from
        for at, data in records:
            found = ((match.start(), match.end(), match[1]) for match in _LINE.finditer(data))
            yield b"".join(b"%d%b%b\n" % (at + begin, self.between, line) for begin, end, line in found
                           if end > begin and not 0 < limit <= end - begin)

    def _parted(self, records: Iterable[tuple[int, bytes]]) -> Iterator[bytes]:
        """The line up to its first separator, and what is behind it; a line without one is all key."""
        pattern, text = self._parting()
        for _, data in records:
            if self.skip_from:
                data = b"".join(match[0] for match in _LINE.finditer(data) if len(match[0]) < self.skip_from)
            if b"\r" in data:
                data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            if data and not data.endswith(b"\n"):
                data += b"\n"
            yield pattern.sub(text, data)

    def _parting(self) -> tuple[re.Pattern[bytes], bytes]:
        """What to look for in lines, and what to put in its place."""
        text = rb"\1" + self.between.replace(b"\\", rb"\\") if self.keys else b""
        if self.separator == b"\n":  # is in no line
            return re.compile(rb"(?m)^(?!\Z)([^\n]*)$"), text
        one = re.escape(self.separator)
        if self.keys and self.between == self.separator:  # only lines that have none change
            return re.compile(rb"(?m)^(?!\Z)([^\n" + one + rb"]*)$"), text
        return re.compile(rb"(?m)^(?!\Z)([^\n" + one + rb"]*)(?:" + one + rb"|$)"), text


def _of_split(file: InputFile, start: int, length: int, most: int) -> Iterator[tuple[int, bytes]]:
    """Records of the split with their ends: those that begin behind its first byte (of the first split, from it on) and no
    further than its end. Of each piece where it begins; a mark at the file's begin is taken away, and counted."""
    end = None if file.codec else start + length
    at = start
    for piece in _whole(decompressed(file.path, file.codec) if file.codec else _bytes(file.path, start), at, most):
        behind = at + len(piece)
        if at == start and start:
            piece = piece[_first(piece):]
        elif at == 0 and piece.startswith(MARK):
            first = _first(piece)
            if first > len(MARK):
                yield 0, piece[len(MARK):first]
            piece = piece[first:]
        at = behind - len(piece)
        if end is not None and at > end:
            return
        if end is not None and behind > end:
            yield at, piece[:_behind(piece, end - at)]
            return
        yield at, piece
        at = behind


def _first(piece: bytes) -> int:
    """Where its first record ends."""
    found = _END.search(piece)
    return found.end() if found else len(piece)


def _behind(piece: bytes, place: int) -> int:
    """Where the last record ends that begins at `place` or before."""
    ends = (match.end() for match in _END.finditer(piece, max(place - 1, 0)))
    return next((end for end in ends if end > place), len(piece))


def _bytes(path: str, start: int) -> Iterator[bytes]:
    with open(path, "rb", buffering=0) as file:
        file.seek(start)
        while piece := file.read(CHUNK):
            yield piece


def _whole(pieces: Iterable[bytes], at: int, most: int) -> Iterator[bytes]:
    """The same bytes, cut where records end. Raises LongRecord."""
    parts: list[bytes] = []
    size, half = 0, b""  # a \r that may be half of a record's end
    for piece in pieces:
        piece = half + piece
        half = b"\r" if piece.endswith(b"\r") else b""
        piece = piece[:len(piece) - len(half)]
        cut = max(piece.rfind(b"\n"), piece.rfind(b"\r")) + 1
        if cut:
            whole = b"".join([*parts, piece[:cut]])
            yield whole
            at, parts, size = at + len(whole), [], 0
        parts.append(piece[cut:])
        size += len(piece) - cut
        if 0 < most < size:
            raise LongRecord(f"the record that begins at byte {at} has no end within {most} bytes")
    if rest := b"".join([*parts, half]):
        yield rest


def _doubled_mark(pieces: Iterator[bytes]) -> Iterator[bytes]:
    head = b""
    for piece in pieces:
        head += piece
        if len(head) >= len(MARK):
            break
    yield MARK + head if head.startswith(MARK) else head
    yield from pieces
