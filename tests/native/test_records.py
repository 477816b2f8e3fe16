"""The record rule against an independent model of Hadoop's LineRecordReader: every cut, tiny buffers, random bytes."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heterodoop.executor.native.runtime import Native

BOM = b"\xef\xbb\xbf"


def read_line(data: bytes, pos: int, delimiter: bytes) -> tuple[bytes, int]:
    """The record at `pos` and where the next one starts (LineReader.readLine)."""
    if delimiter:
        hit = data.find(delimiter, pos)
        return (data[pos:], len(data)) if hit < 0 else (data[pos:hit], hit + len(delimiter))
    ends = [hit for hit in (data.find(b"\n", pos), data.find(b"\r", pos)) if hit >= 0]
    if not ends:
        return data[pos:], len(data)
    end = min(ends)
    return data[pos:end], end + (2 if data[end : end + 2] == b"\r\n" else 1)


def split_records(data: bytes, start: int, length: int, delimiter: bytes) -> list[bytes]:
    """LineRecordReader's loop: drop the first line unless at 0, then read while the record starts in reach."""
    reach = start + length + max(len(delimiter), 1) - 1
    pos = read_line(data, start, delimiter)[1] if start else 0
    records = []
    while pos <= reach and pos < len(data):
        record, after = read_line(data, pos, delimiter)
        if pos == 0 and record.startswith(BOM):
            record = record[3:]
            if not record and after == 3:  # the mark alone: nothing was read
                break
        records.append(record)
        pos = after
    return records


def check_all_cuts(native: Native, path: Path, data: bytes, delimiter: bytes, size: int, chunk: int) -> list[bytes]:
    found: list[bytes] = []
    for start in range(0, max(len(data), 1), size):
        length = min(size, len(data) - start)
        expected = split_records(data, start, length, delimiter)
        stdin, count = native.read_records(path, start, length, delimiter, chunk)
        assert stdin == b"".join(record + b"\n" for record in expected), (start, length, chunk)
        assert count == len(expected), (start, length, chunk)
        found += expected
    return found


MIXED = b"ab\r\ncd\n\n\r\r\nef\rgh\r\r\n\r\n\x00\nlong line here\r\n\n\rlast"
CONTENTS = [
    b"", b"\n", b"\r", b"\r\n", b"\n\n\n\n", b"\r\r\r", b"\r\n\r\n", b"abc\ndef\nghi\n", b"no end", MIXED, MIXED + b"\n",
    MIXED + b"\r", BOM, BOM + b"\n", BOM + b"\r", BOM + b"the the\n" + BOM + b"x\n", BOM[:2] + b"\nx", BOM + MIXED,
    b"\n" + BOM,
]


@pytest.mark.parametrize("data", CONTENTS)
@pytest.mark.parametrize("chunk", [1, 2, 5, 64])
def test_every_split_size_and_cut(native: Native, tmp_path: Path, data: bytes, chunk: int) -> None:
    path = tmp_path / "data"
    path.write_bytes(data)
    whole = split_records(data, 0, len(data), b"")
    for size in range(1, 17):
        assert check_all_cuts(native, path, data, b"", size, chunk) == whole


@pytest.mark.parametrize("delimiter", [b"\n", b"\r", b"\r\n", b"|", b"ab", b"\n\nEND", b"\xbb", BOM, b"\x00"])
@pytest.mark.parametrize("chunk", [1, 3, 64])
def test_custom_delimiters_at_every_cut(native: Native, tmp_path: Path, delimiter: bytes, chunk: int) -> None:
    path = tmp_path / "data"
    for data in (
        BOM + b"ab|cabab\r\n\n\nENDx\n\nEN|ab\x00\x00|\r\r\na",
        b"x" + delimiter + delimiter + b"yy" + delimiter[:-1] + b"z" + delimiter,
        delimiter, delimiter[:-1], b"end without" + delimiter[:1],
    ):
        path.write_bytes(data)
        whole = split_records(data, 0, len(data), delimiter)
        for size in range(1, 17):
            assert check_all_cuts(native, path, data, delimiter, size, chunk) == whole


def records_with_starts(data: bytes, delimiter: bytes) -> list[tuple[int, bytes]]:
    """As a reader of the whole file finds them, from left to right."""
    found, pos = [], 0
    while pos < len(data):
        record, after = read_line(data, pos, delimiter)
        found.append((pos, record))
        pos = after
    return found


def check_as_the_whole_file(native: Native, path: Path, data: bytes, delimiter: bytes, size: int, chunk: int) -> None:
    """A record is the split's that has the first byte of the delimiter before it."""
    path.write_bytes(data)
    whole = records_with_starts(data, delimiter)
    for start in range(0, len(data), size):
        low, high = start + len(delimiter) - 1, min(start + size, len(data)) + len(delimiter) - 1
        expected = [record for at, record in whole if low < at <= high or at == start == 0]
        stdin, count = native.read_records(path, start, min(size, len(data) - start), delimiter, chunk)
        assert (stdin, count) == (b"".join(record + b"\n" for record in expected), len(expected)), (start, size, chunk)


@pytest.mark.parametrize("chunk", [1, 3, 64])
@pytest.mark.parametrize("delimiter", [b"aa", b"aab", b"aba", b"abab", b"aaa"])
def test_a_delimiter_that_overlaps_itself_is_the_same_one_at_every_cut(
    native: Native, tmp_path: Path, delimiter: bytes, chunk: int,
) -> None:
    for data in (b"aaaaxaaaabaabaaab", b"abababababxaba", b"a" * 23, b"xaaaaaaa", delimiter * 3):
        for size in range(1, 17):
            check_as_the_whole_file(native, tmp_path / "data", data, delimiter, size, chunk)


@settings(max_examples=200)
@given(
    data=st.lists(st.sampled_from([b"a", b"b", b"aa", b"ab", b"\n"]), max_size=60).map(b"".join),
    size=st.integers(1, 40), chunk=st.integers(1, 70), delimiter=st.sampled_from([b"aa", b"aba", b"\n\n", b"abaab"]),
)
def test_random_cuts_of_such_a_delimiter(
    native: Native, tmp_path: Path, data: bytes, size: int, chunk: int, delimiter: bytes,
) -> None:
    check_as_the_whole_file(native, tmp_path / "data", data, delimiter, size, chunk)


def test_a_split_looks_back_as_far_as_delimiters_overlap(native: Native, tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_bytes(b"x" + b"a" * 300_000 + b"y")
    for start in (299_998, 299_999, 150_000, 150_001):
        expected = [b""] * ((299_999 - (start | 1)) // 2) + [b"y"]  # delimiters at 1, 3, ..., 299,999
        assert native.read_records(path, start, 300_002 - start, b"aa") == (
            b"".join(record + b"\n" for record in expected), len(expected))


PIECES = [b"\n", b"\r", b"\r\n", b"a", b"bc", b"\0", BOM, b"|", b"\xff"]


@settings(max_examples=300)
@given(
    data=st.lists(st.sampled_from(PIECES), max_size=60).map(b"".join),
    size=st.integers(1, 40), chunk=st.integers(1, 70), delimiter=st.sampled_from([b"", b"", b"", b"|", b"a\n", b"bc|"]),
)
def test_random_bytes(native: Native, tmp_path: Path, data: bytes, size: int, chunk: int, delimiter: bytes) -> None:
    path = tmp_path / "data"
    path.write_bytes(data)
    found = check_all_cuts(native, path, data, delimiter, size, chunk)
    assert found == split_records(data, 0, len(data), delimiter)


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("length", [4095, 4096, 4097, 65535, 65536, 1048575, 1048577])
def test_long_records_are_one_record(native: Native, tmp_path: Path, length: int, end: bytes) -> None:
    path = tmp_path / "data"
    path.write_bytes(b"a" * length + b" b" + end + b"c" + end)
    assert native.read_records(path) == (b"a" * length + b" b\nc\n", 2)


def test_default_buffers_on_megabytes_of_every_byte(native: Native, tmp_path: Path) -> None:
    data = (bytes(range(256)) * 7 + b"\n" * 300 + b"x" * 70000 + b"\r\n") * 40
    path = tmp_path / "data"
    path.write_bytes(data)
    for size in (len(data), 262144, 100003):
        assert check_all_cuts(native, path, data, b"", size, 0) == split_records(data, 0, len(data), b"")


def test_length_none_reads_to_the_end(native: Native, tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_bytes(b"a\nb\nc")
    assert native.read_records(path, 2) == (b"c\n", 1)
    assert native.read_records(path, 5) == (b"", 0)
    assert native.read_records(path, 9) == (b"", 0)


@pytest.mark.parametrize("chunk", [1, 4, 0])
def test_a_pipe_is_read_to_its_end(native: Native, chunk: int) -> None:
    read, write = os.pipe()
    data = BOM + b"one\r\ntwo\r" + b"x" * 200000

    def feed() -> None:
        with os.fdopen(write, "wb", buffering=0) as pipe:
            for begin in range(0, len(data), 50021):
                pipe.write(data[begin : begin + 50021])

    thread = threading.Thread(target=feed)
    thread.start()
    try:
        assert native.read_records(read, chunk=chunk) == (b"one\ntwo\n" + b"x" * 200000 + b"\n", 3)
    finally:
        thread.join()
        os.close(read)


def test_a_file_that_was_cut_short_is_an_error_that_names_it(native: Native, tmp_path: Path) -> None:
    path = tmp_path / "short"
    path.write_bytes(b"a\nb\n")
    for start, length in ((0, 9), (2, 9), (8, 4)):
        with pytest.raises(OSError, match="short ends at byte .* cut short"):
            native.read_records(path, start, length)


@pytest.mark.parametrize("kind", ["missing", "folder", "fifo"])
def test_what_is_not_a_readable_file_is_refused(native: Native, tmp_path: Path, kind: str) -> None:
    path = tmp_path / kind
    if kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)  # must not wait for a writer
    with pytest.raises(OSError, match="No such file" if kind == "missing" else "not a regular file"):
        native.read_records(path)


def test_names_of_any_bytes(native: Native, tmp_path: Path) -> None:
    for name in (b"caf\xe9", b"a\nb.txt", "größe".encode(), b"n" * 200):
        path = os.fsencode(tmp_path) + b"/" + name
        Path(os.fsdecode(path)).write_bytes(b"x")
        assert native.read_records(path) == (b"x\n", 1)
    with pytest.raises(ValueError, match="NUL"):
        native.read_records(b"a\0b")


MEMORY = """
import resource, sys
from heterodoop.executor.native.runtime import FilterCommand, MapSpec, Native
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
result = Native.load().map_task(MapSpec(FilterCommand(["/usr/bin/wc", "-lc"]), sys.argv[1], sys.argv[2], reducers=0))
assert result.ok, result
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_a_96_mib_line_takes_no_memory(tmp_path: Path) -> None:
    path, target = tmp_path / "line", tmp_path / "out"
    with path.open("wb") as file:
        for _ in range(96):
            file.write(b"q" * (1 << 20))
    done = subprocess.run([sys.executable, "-c", MEMORY, path, target], capture_output=True, text=True, check=True)
    assert target.read_text().split() == ["1", "100663297"]
    assert int(done.stdout) < 24 << 10  # KiB


# ------------------------------------------------------------------------------------------ lengths


def lengths(data: bytes, start: int, length: int, delimiter: bytes) -> list[tuple[int, bytes, int]]:
    """Of each record of a split: where it begins, its bytes, and how many there are with its end (LineReader's count)."""
    reach = start + length + max(len(delimiter), 1) - 1
    pos = read_line(data, start, delimiter)[1] if start else 0
    found = []
    while pos <= reach and pos < len(data):
        record, after = read_line(data, pos, delimiter)
        mark = 3 if pos == 0 and record.startswith(BOM) else 0
        if after - pos > mark:
            found.append((pos + mark, record[mark:], after - pos - mark))
        pos = after
    return found


LONG = b"aa\r\nbbb\rc\n\r\n\n" + b"d" * 9 + b"\r\n" + b"e" * 8 + b"\n|f\r" + b"g" * 20


@pytest.mark.parametrize("data", [LONG, LONG + b"\r", LONG + b"\r\n", BOM + b"abcd\n" + LONG, b"x" * 40])
@pytest.mark.parametrize("delimiter", [b"", b"\n", b"\r\n", b"|"])
@pytest.mark.parametrize("chunk", [1, 3, 64])
def test_long_records_are_passed_over_as_hadoop_does_at_every_cut(
    native: Native, tmp_path: Path, data: bytes, delimiter: bytes, chunk: int,
) -> None:
    path = tmp_path / "data"
    path.write_bytes(data)
    for size in (1, 5, 100):
        for start in range(0, len(data), size):
            for longest in (1, 4, 5, 10, 50):
                kept = [r for _, r, n in lengths(data, start, min(size, len(data) - start), delimiter) if n < longest]
                found = native.read_records(
                    path, start, min(size, len(data) - start), delimiter, chunk, line_max=60, skip_from=longest)
                assert found == (b"".join(r + b"\n" for r in kept), len(kept)), (start, size, longest)


@pytest.mark.parametrize("data", [LONG, LONG + b"\r\n", BOM + b"abcd\n" + LONG])
@pytest.mark.parametrize("delimiter", [b"", b"\n", b"|"])
@pytest.mark.parametrize("chunk", [1, 3, 64])
def test_a_record_that_is_too_long_is_named_by_its_place(
    native: Native, tmp_path: Path, data: bytes, delimiter: bytes, chunk: int,
) -> None:
    path = tmp_path / "data"
    path.write_bytes(data)
    for size in (5, 100):
        for start in range(0, len(data), size):
            split = lengths(data, start, min(size, len(data) - start), delimiter)
            for longest in (1, 3, 8, 19, 60):
                at = next((at for at, record, _ in split if len(record) > longest), None)
                arguments = path, start, min(size, len(data) - start), delimiter, chunk, longest
                if at is None:
                    assert native.read_records(*arguments)[1] == len(split)
                    continue
                what = f"{path}: the record that begins at byte {at} has more than {longest} bytes"
                with pytest.raises(OSError, match=what):
                    native.read_records(*arguments)


def test_a_line_of_a_pipe_that_never_ends_ends_the_task(native: Native) -> None:
    reader, writer = os.pipe()
    os.write(writer, b"short\n" + b"x" * 1000)
    try:
        with pytest.raises(OSError, match="the record that begins at byte 6 has more than 999 bytes"):
            native.read_records(reader, chunk=100, line_max=999)
    finally:
        os.close(reader)
        os.close(writer)
