"""The check of a finished map output: what is right passes, and every kind of damage is found and named."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heterodoop.errors import HeteroDoopError
from heterodoop.executor.native.runtime import Native, Progress

from .oracle import Pair, ifile, segment, sorted_partitions

PAIRS = [(b"b", b"2"), (b"a", b"1"), (b"", b""), (b"\xff\xfe", b"x" * 300), (b"k" * 200, b""), (b"a", b"3"), (b"\r", b"\0")]


def index_of(rows: Sequence[tuple[int, int, int]]) -> bytes:
    body = b"".join(struct.pack(">qqq", *row) for row in rows)
    return body + struct.pack(">q", zlib.crc32(body))


class Files:
    def __init__(self, folder: Path, partitions: Sequence[Sequence[Pair]]) -> None:
        self.data, self.index = folder / "file.out", folder / "file.out.index"
        data, index = ifile(partitions)
        self.data.write_bytes(data)
        self.index.write_bytes(index)
        self.rows = list(struct.iter_unpack(">qqq", index[:-8]))


def check(native: Native, files: Files, reducers: int) -> int:
    return native.check_map_output(files.data, files.index, reducers)


def fault(native: Native, files: Files, reducers: int) -> str:
    with pytest.raises(HeteroDoopError) as caught:
        check(native, files, reducers)
    assert caught.value.code == "HD405"
    return caught.value.message


@pytest.mark.parametrize("reducers", [1, 2, 7, 40])
def test_a_right_output_passes(native: Native, tmp_path: Path, reducers: int) -> None:
    assert check(native, Files(tmp_path, sorted_partitions(PAIRS, reducers)), reducers) == len(PAIRS)


def test_an_empty_output_passes(native: Native, tmp_path: Path) -> None:
    assert check(native, Files(tmp_path, [[], [], []]), 3) == 0


def test_keys_out_of_order(native: Native, tmp_path: Path) -> None:
    assert "keys are not in order" in fault(native, Files(tmp_path, [[(b"b", b""), (b"a", b"")]]), 1)
    assert "keys are not in order" in fault(native, Files(tmp_path, [[(b"\xff", b""), (b"a", b"")]]), 1)
    assert "keys are not in order" in fault(native, Files(tmp_path, [[(b"ab", b""), (b"a", b"")]]), 1)


def test_a_key_in_a_wrong_partition_is_named(native: Native, tmp_path: Path) -> None:
    right = sorted_partitions([(b"a\xff", b"1")], 2)
    message = fault(native, Files(tmp_path, right[::-1]), 2)
    assert r"key a\xff is in partition" in message


def test_another_number_of_partitions(native: Native, tmp_path: Path) -> None:
    assert "2 partitions, not 3" in fault(native, Files(tmp_path, [[], []]), 3)


@pytest.mark.parametrize(
    "change", [(1, 0, 0), (0, 1, 1), (0, 0, 1), (0, 1, 0), (-1, 0, 0), (0, -10**6, -10**6), (2**62, 0, 0)])
@pytest.mark.parametrize("row", [0, 1])
def test_an_index_that_lies(native: Native, tmp_path: Path, change: tuple[int, int, int], row: int) -> None:
    files = Files(tmp_path, sorted_partitions(PAIRS, 2))
    rows = [tuple(a + b for a, b in zip(r, change, strict=True)) if i == row else r for i, r in enumerate(files.rows)]
    files.index.write_bytes(index_of(rows))  # type: ignore[arg-type]
    assert "map output is damaged" in fault(native, files, 2)


def test_segments_that_overlap_or_leave_a_gap(native: Native, tmp_path: Path) -> None:
    files = Files(tmp_path, [[], []])
    files.index.write_bytes(index_of([(0, 2, 6), (0, 2, 6)]))
    assert "does not fit" in fault(native, files, 2)
    files.data.write_bytes(segment([]) + b"xx" + segment([]))
    files.index.write_bytes(index_of([(0, 2, 6), (8, 2, 6)]))
    assert "does not fit" in fault(native, files, 2)


def test_bytes_behind_the_last_segment(native: Native, tmp_path: Path) -> None:
    files = Files(tmp_path, sorted_partitions(PAIRS, 2))
    files.data.write_bytes(files.data.read_bytes() + b"!")
    assert "1 bytes follow" in fault(native, files, 2)


def test_missing_files(native: Native, tmp_path: Path) -> None:
    files = Files(tmp_path, [[]])
    files.data.unlink()
    assert "file.out" in fault(native, files, 1)
    files.index.unlink()
    assert "file.out.index" in fault(native, files, 1)


@settings(max_examples=150)
@given(st.data())
def test_no_changed_byte_goes_unseen(native: Native, tmp_path: Path, data: st.DataObject) -> None:
    """One changed byte, or a cut anywhere, of the file or its index."""
    files = Files(tmp_path, sorted_partitions(PAIRS, 3))
    path = data.draw(st.sampled_from([files.data, files.index]))
    content = bytearray(path.read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    if data.draw(st.booleans()):
        content[at] ^= data.draw(st.integers(1, 255))
    else:
        del content[at:]
    path.write_bytes(content)
    assert fault(native, files, 3)


def test_it_can_be_stopped(native: Native, tmp_path: Path) -> None:
    files = Files(tmp_path, [[(b"k", b"v")] * 200_000])
    progress = Progress()
    progress.cancel()
    with pytest.raises(HeteroDoopError, match="cancelled"):
        native.check_map_output(files.data, files.index, 1, progress)
