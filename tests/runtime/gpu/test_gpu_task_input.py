"""What a task on a device reads: the records of its split, however sub-splits and splits cut the file."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from heterodoop.executor.native.runtime import TaskStatus

from .gpu_programs import Kernel
from .gpu_tasks import MAP_COUNTERS, Run, same

WORDS, IDENTITY = Kernel("words_cursor"), Kernel("identity")
SUB_SPLITS = (1, 7, 64, 0)
TEXTS = {
    "plain": b"one\ntwo words\n\nfour\n",
    "no final newline": b"one\ntwo words\n\nfour",
    "empty lines": b"\n\n\n",
    "crlf": b"one\r\ntwo\r\n\r\nfour\r\n",
    "cr": b"one\rtwo\r\rfour\r",
    "mixed": b"a\nb\rc\r\n\rd\n\r\ne\r",
    "mark": b"\xef\xbb\xbfone\ntwo\n",
    "mark alone": b"\xef\xbb\xbf\n",
    "two marks": b"\xef\xbb\xbf\xef\xbb\xbfone\n\xef\xbb\xbftwo\n",
    "a tab": b"\tx\n\t\n",
    "every byte": bytes(c for c in range(256) if c not in b"\r") * 2,
}


@pytest.mark.parametrize("sub_split", SUB_SPLITS)
@pytest.mark.parametrize("name", TEXTS)
def test_records_are_the_cpu_s(on_device: Run, on_cpu: Run, name: str, sub_split: int) -> None:
    for reducers in (0, 2):
        same(on_device(TEXTS[name], IDENTITY, reducers=reducers, options={"sub_split_bytes": sub_split}),
             on_cpu(TEXTS[name], IDENTITY, reducers=reducers), MAP_COUNTERS)


@pytest.mark.parametrize("ingest", [(5, 3), (1, 1000)])
def test_many_readers_bring_what_one_brings(on_device: Run, on_cpu: Run, ingest: tuple[int, int]) -> None:
    data = b"".join(b"some words of line %d%s" % (i, (b"\n", b"\r\n", b"\r")[i % 3]) for i in range(2000))
    options = {"sub_split_bytes": 9000, "ingest_threads": ingest[0], "ingest_piece": ingest[1]}
    for reducers in (0, 2):
        ours = on_device(data, WORDS, reducers=reducers, options=options)
        same(ours, on_cpu(data, WORDS, reducers=reducers), MAP_COUNTERS)


@pytest.mark.parametrize("name", ["mixed", "crlf", "no final newline", "mark"])
def test_splits_cut_at_every_byte_share_the_records_out(on_device: Run, on_cpu: Run, name: str) -> None:
    data = TEXTS[name]
    whole = on_cpu(data, IDENTITY, reducers=0).data
    for cut in range(1, len(data)):
        parts = b""
        for start, length in ((0, cut), (cut, len(data) - cut)):
            theirs = on_cpu(data, IDENTITY, reducers=0, start=start, length=length)
            ours = on_device(data, IDENTITY, reducers=0, start=start, length=length, options={"sub_split_bytes": 3})
            if theirs.result.counters["MAP_INPUT_RECORDS"] == 0:
                assert ours.result.status is TaskStatus.RUN_ON_CPU and ours.data is None
            else:
                same(ours, theirs, MAP_COUNTERS)
            parts += theirs.data or b""
        assert parts == whole


@pytest.mark.parametrize("sub_split", SUB_SPLITS)
@pytest.mark.parametrize("delimiter", [b"\n", b";", b"--", b"\r\n", b"\n\n"])
@pytest.mark.parametrize("reducers", [0, 2])
def test_delimiters_of_the_user(on_device: Run, on_cpu: Run, delimiter: bytes, sub_split: int, reducers: int) -> None:
    data = delimiter.join([b"one two", b"", b"a\nb", b"-", b"last"])
    fields = {"delimiter": delimiter, "reducers": reducers}
    same(on_device(data, WORDS, options={"sub_split_bytes": sub_split}, **fields), on_cpu(data, WORDS, **fields),
         MAP_COUNTERS)


@pytest.mark.parametrize("sub_split", [0, 20])
def test_a_delimited_split_in_the_middle(on_device: Run, on_cpu: Run, sub_split: int) -> None:
    data = b";".join(b"record %d" % i for i in range(20))
    for start in range(1, 60, 7):
        fields = {"delimiter": b";", "start": start, "length": 40, "reducers": 1}
        same(on_device(data, WORDS, options={"sub_split_bytes": sub_split}, **fields), on_cpu(data, WORDS, **fields),
             MAP_COUNTERS)


@pytest.mark.parametrize("sub_split", [5, 0])
def test_a_pipe_is_read_to_its_end(on_device: Run, on_cpu: Run, sub_split: int) -> None:
    data = b"\xef\xbb\xbfone two\r\nthree\n" * 3000  # more than a pipe holds
    read_end, write_end = os.pipe()

    def feed() -> None:
        with os.fdopen(write_end, "wb") as pipe:
            pipe.write(data)

    writer = threading.Thread(target=feed)
    writer.start()
    options = {"sub_split_bytes": sub_split * 1000}
    ours = on_device(b"", WORDS, input=read_end, options=options)
    writer.join()
    os.close(read_end)
    same(ours, on_cpu(data, WORDS), MAP_COUNTERS)


def test_a_record_longer_than_a_sub_split(on_device: Run, on_cpu: Run) -> None:
    data = b"short\n" + b"x" * 300_000 + b"\nshort\n" + b"y" * 700 + b" z"
    same(on_device(data, WORDS, options={"sub_split_bytes": 100}), on_cpu(data, WORDS), MAP_COUNTERS)


@pytest.mark.parametrize("reducers", [0, 2])
def test_a_split_without_records_is_the_filter_s(on_device: Run, reducers: int) -> None:
    ours = on_device(b"", WORDS, reducers=reducers)
    assert ours.result.status is TaskStatus.RUN_ON_CPU and "no record" in ours.result.message
    assert ours.data is None


def test_records_without_output_give_an_empty_file(on_device: Run, on_cpu: Run) -> None:
    for reducers in (0, 3):
        same(on_device(b"\n \n", WORDS, reducers=reducers), on_cpu(b"\n \n", WORDS, reducers=reducers))


def test_a_missing_file_is_an_input_error(on_device: Run, tmp_path: Path) -> None:
    ours = on_device(b"", WORDS, input=tmp_path / "missing")
    assert ours.result.status is TaskStatus.IO_ERROR and "missing" in ours.result.message


def test_a_file_that_has_become_shorter_is_an_input_error(on_device: Run) -> None:
    ours = on_device(b"one\ntwo\n", WORDS, length=100)
    assert ours.result.status is TaskStatus.IO_ERROR and "cut short" in ours.result.message
    assert ours.data is None
