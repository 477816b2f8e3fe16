"""A split's bytes: at their own offsets, as far as the last record goes, from whoever can read them."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heterodoop.driver.job import fetch
from heterodoop.driver.job.fetch import OwnFiles, SplitMemory, SplitRequest, TaskReader, TooBig, TooLong, fetched, local_path
from heterodoop.executor.native.runtime import Native
from heterodoop.storage.hadoop_conf import HadoopConf, hadoop_user

CONF = HadoopConf(None, {"fs.defaultFS": "hdfs://nn:1"}, {})


class FakeFile:
    def __init__(self, content: bytes, fail: Callable[[int], None] = lambda offset: None) -> None:
        self.content = content
        self.fail = fail
        self.length = len(content)
        self.asked: list[tuple[int, int]] = []

    def read(self, offset: int, size: int, part: int = 0) -> bytes:
        self.fail(offset)
        self.asked.append((offset, size))
        return self.content[offset : offset + size]


class FakeData:
    """Stands for storage.hdfs.HdfsData."""

    file: FakeFile

    def __init__(self, filesystem: str, conf: HadoopConf) -> None:
        assert filesystem == "hdfs://nn:1"

    def open(self, path: str) -> FakeFile:
        assert path == "/in/a b"
        return self.file


@pytest.fixture
def hdfs(monkeypatch: pytest.MonkeyPatch) -> type[FakeData]:
    monkeypatch.setattr(fetch, "HdfsData", FakeData)
    return FakeData


def request(start: int, length: int, delimiter: bytes = b"", uri: str = "hdfs://nn:1/in/a%20b") -> SplitRequest:
    return SplitRequest(uri, start, length, delimiter, hadoop_user())


def nobody(offset: int, size: int, part: int) -> bytes:
    raise AssertionError("the task need not read")


def got(wanted: SplitRequest, ask: Callable[[int, int, int], bytes] = nobody) -> tuple[str, int, bytes, int]:
    cluster = OwnFiles(CONF)
    with fetched(wanted, cluster, TaskReader(ask), lambda: None) as found:
        data = Path(found.path).read_bytes()
        blocks = os.stat(found.path).st_blocks * 512
    cluster.close()
    assert len(data) == found.size
    return found.read, found.nbytes, data, blocks


def test_bytes_lie_at_their_offsets_and_holes_take_no_memory(hdfs: type[FakeData]) -> None:
    content = b"x" * 99 + b"\n"
    hdfs.file = FakeFile(content * 2_000_00)
    read, nbytes, data, blocks = got(request(16_000_000, 100_000))
    assert read == "driver" and data[:16_000_000].count(0) == 16_000_000
    assert data[16_000_000:] == hdfs.file.content[16_000_000 : len(data)] and len(data) > 16_100_000
    assert nbytes == len(data) - 16_000_000 and blocks < 1 << 20


def test_large_splits_are_read_in_ranges(hdfs: type[FakeData], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "RANGE", 1000)
    hdfs.file = FakeFile(b"line\n" * 3000)
    _, nbytes, data, _ = got(request(500, 9000))
    assert data[500:] == hdfs.file.content[500 : len(data)] and nbytes == len(data) - 500
    assert sorted(hdfs.file.asked)[:9] == [(500 + 1000 * n, 1000) for n in range(9)]


@pytest.mark.parametrize("delimiter", [b"", b"\n", b"|a", b"|", b"a"])
@settings(max_examples=60)
@given(data=st.data())
def test_records_are_those_of_the_whole_file(
    hdfs: type[FakeData], delimiter: bytes, tmp_path: Path, data: st.DataObject,
) -> None:
    """Whatever the split: reading what was fetched gives the records that reading the file gives."""
    content = data.draw(st.binary(max_size=60)) if data.draw(st.booleans()) else bytes(
        data.draw(st.lists(st.sampled_from(b"a|\n\rx"), max_size=60)))
    start = data.draw(st.integers(0, len(content)))
    length = data.draw(st.integers(0, len(content) - start))
    past = data.draw(st.integers(1, 5))
    whole = tmp_path / "whole"
    whole.write_bytes(content)
    native, old = Native.load(), fetch.PAST_END
    hdfs.file = FakeFile(content)
    fetch.PAST_END = past  # look a few bytes behind the end at a time
    try:
        cluster = OwnFiles(CONF)
        with fetched(request(start, length, delimiter), cluster, TaskReader(nobody), lambda: None) as found:
            assert native.read_records(found.path, start, length, delimiter) == native.read_records(
                whole, start, length, delimiter)
        cluster.close()
    finally:
        fetch.PAST_END = old


def test_the_task_reads_where_the_driver_cannot() -> None:
    content = b"one\ntwo\nthree\n"
    asked = []

    def ask(offset: int, size: int, part: int) -> bytes:
        asked.append((offset, size))
        return content[offset : offset + size]

    for uri in ("s3a://bucket/x", "hdfs://other:1/x", "hdfs:///x", "/x", "viewfs://c/x"):
        read, nbytes, data, _ = got(request(4, 4, uri=uri), ask)
        assert (read, data[4:], nbytes) == ("task", b"two\nthree\n", 10)
    assert asked[:2] == [(4, 4), (8, fetch.PAST_END)]


def test_the_task_reads_where_reading_fails(hdfs: type[FakeData], monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of it was there already."""
    monkeypatch.setattr(fetch, "RANGE", 8)
    content = b"0123456\n" * 8

    def fail(offset: int) -> None:
        if offset >= 32:
            raise OSError("the DataNode is gone")

    hdfs.file = FakeFile(content, fail)
    read, _, data, _ = got(request(8, 48), lambda offset, size, part: content[offset : offset + size])
    assert read == "task" and data[8:] == content[8:]


def test_another_users_file_is_read_by_the_task(hdfs: type[FakeData]) -> None:
    wanted = request(0, 3)._replace(user="somebody")
    assert got(wanted, lambda offset, size, part: b"abc"[offset : offset + size])[0] == "task"


def test_kerberos_is_the_tasks_business(hdfs: type[FakeData]) -> None:
    cluster = OwnFiles(HadoopConf(None, {**CONF.values, "hadoop.security.authentication": "kerberos"}, {}))
    with pytest.raises(OSError, match="Kerberos"):
        cluster.open(request(0, 1))
    cluster.close()


def test_a_file_that_became_shorter_is_an_error(hdfs: type[FakeData]) -> None:
    hdfs.file = FakeFile(b"12345")
    with pytest.raises(OSError, match="ends at 5, before the split does at 9"):
        got(request(2, 7))
    with pytest.raises(OSError, match="before the split does"):
        got(request(2, 7, uri="s3a://b/x"), lambda offset, size, part: b"12345"[offset : offset + size])


@pytest.mark.parametrize("by_task", [False, True])
def test_a_record_without_end_behind_the_split_is_not_read_to_its_end(hdfs: type[FakeData], by_task: bool) -> None:
    """Of a megabyte it takes two looks; it is not known before how far it would go."""
    hdfs.file = FakeFile(b"a\n" + b"x" * (1 << 20))
    wanted = request(0, 10)._replace(longest=100 << 10)
    if by_task:
        wanted = wanted._replace(uri="s3a://b/x")
    with pytest.raises(TooLong, match=f"at byte 10 has more than {100 << 10} bytes"):
        got(wanted, hdfs.file.read if by_task else nobody)
    assert sum(size for _, size in hdfs.file.asked) < 300 << 10
    assert len(got(wanted._replace(longest=2 << 20), hdfs.file.read if by_task else nobody)[2]) == (1 << 20) + 2


def test_a_task_that_is_gone_ends_it(hdfs: type[FakeData]) -> None:
    class Gone(Exception):
        pass

    def check() -> None:
        raise Gone

    hdfs.file = FakeFile(b"12345")
    cluster = OwnFiles(CONF)
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(Gone), fetched(request(0, 5), cluster, TaskReader(nobody), check):
        raise AssertionError
    assert len(os.listdir("/proc/self/fd")) == before
    cluster.close()


def test_local_files_are_taken_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "a b"
    path.write_text("x")
    uri = f"file:{tmp_path}/a%20b"
    assert local_path(uri) == local_path(f"file://{tmp_path}/a%20b") == str(path)
    for other in (f"file:{tmp_path}", f"file:{path}%00", "file:none", "s3a:/x", f"file:{path}.no"):
        assert local_path(other) == ""
    with fetched(request(0, 1, uri=uri), OwnFiles(CONF), TaskReader(nobody), lambda: None) as found:
        assert found == fetch.SplitInput(str(path), 1, "driver", 0)


def test_memory_is_waited_for() -> None:
    memory = SplitMemory(100)
    order = []
    with pytest.raises(TooBig, match="--memory"), memory.reserved(101, lambda: None):
        raise AssertionError

    def second() -> None:
        with memory.reserved(60, lambda: None):
            order.append("second")

    with memory.reserved(60, lambda: None):
        thread = threading.Thread(target=second)
        thread.start()
        threading.Event().wait(0.2)
        order.append("first")
    thread.join()
    assert order == ["first", "second"] and memory.used == 0
